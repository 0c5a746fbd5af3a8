"""A program in a control group with little memory."""

from __future__ import annotations

import ast
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Iterator

import pytest
from memory_group import MemoryGroup, NoGroupError
from pictures import png, png_of
from testserver import TestServer, ok

PROGRAM = """
import sys, nuthatch
large, small, cache = sys.argv[1:]
with nuthatch.Cache(cache) as cache:
    body = cache.get(large)
    for decode in (lambda: cache.thumbnail(large, 512), lambda: body.image(512)):
        try:
            decode()
        except nuthatch.Error as error:
            print((error.code, str(error)))
    print(cache.thumbnail(small, 16).original_size)
"""


@pytest.fixture
def group() -> Iterator[MemoryGroup]:
    try:
        with MemoryGroup(64 << 20) as group:
            yield group
    except NoGroupError as why:
        pytest.skip(str(why))


def test_a_picture_that_needs_too_much_memory_is_an_error(
    server: TestServer, group: MemoryGroup, tmp_path: Path
) -> None:
    # All pixels of an interlaced picture are in memory: 48 MB of them.
    plain = png_of(bytes((1 + 4000 * 3) * 3000), 4000, 3000)
    interlaced = plain[12:28] + b"\x01"
    large = plain[:12] + interlaced + zlib.crc32(interlaced).to_bytes(4, "big") + plain[33:]
    server.on("/large", ok(large, "image/png"))
    server.on("/small", ok(png(20, 10), "image/png"))
    command = [sys.executable, "-c", PROGRAM, server.url("/large"), server.url("/small"), str(tmp_path / "c")]
    done = subprocess.run([*group.prefix, *command], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, group.kills) == (0, 0), done.stderr
    *refusals, size = [ast.literal_eval(line) for line in done.stdout.splitlines()]
    assert len(refusals) == 2 and size == (20, 10)
    for code, message in refusals:
        assert code == "too_many_pixels"
        assert "an interlaced PNG of 4000x3000 needs 4" in message
        assert "of 64.0 MiB that the process's control group has" in message
