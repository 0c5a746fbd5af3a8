"""A small body that decodes to a large one, saved without --max-bytes."""

import gzip
import random
from pathlib import Path

from command import Runner, names
from testserver import Script, TestServer, fill, ok, script

MIB = 1 << 20


def packed(content: bytes) -> Script:
    return ok(gzip.compress(content, 9), headers=[("Content-Encoding", "gzip")])


def test_a_saved_body_that_expands_a_thousandfold_is_refused(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    server.on("/bomb", packed(bytes(128 * MIB)))
    for options in (["-o", "f"], ["-o", "f", "--append"], []):
        done = nuthatch("get", *options, server.url("/bomb"))
        assert done.returncode == 4
        said = done.stderr.decode()
        assert "too_large" in said and "expands too much" in said and "--max-bytes" in said
        assert len(done.stdout) <= 65 * MIB
        assert names(tmp_path) == []
    limited = nuthatch("get", "-o", "f", "--max-bytes", "100M", server.url("/bomb"))
    assert limited.returncode == 4 and b"--max-bytes" not in limited.stderr
    # A full pipe pauses the transfer. The limit must also end it after a pause.
    piped = nuthatch("get", "--max-bytes", "100M", server.url("/bomb"))
    assert piped.returncode == 4 and b"too_large" in piped.stderr
    assert server.count("/bomb") == 5
    assert nuthatch("get", "-o", "f", "--max-bytes", "128M", server.url("/bomb")).returncode == 0
    assert (tmp_path / "f").stat().st_size == 128 * MIB


def test_a_saved_body_that_expands_less_or_is_small_may_have_any_size(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    server.on("/small", packed(bytes(64 * MIB)))
    # Expands about 330 to 1.
    server.on("/less", packed((random.Random(1).randbytes(8192) + bytes(4 * MIB)) * 20))
    server.on("/plain", script(steps=[fill(80 * MIB)]))
    for path, size in (("/small", 64 * MIB), ("/less", 80 * MIB + 163_840), ("/plain", 80 * MIB)):
        done = nuthatch("get", "-o", "f", server.url(path))
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "f").stat().st_size == size


def test_a_body_larger_than_the_cache_is_saved_while_the_disk_is_slow(
    server: TestServer, nuthatch: Runner
) -> None:
    # The part for the cache continues in a file. The last piece decodes to more than may wait for that file, and
    # exceeds the largest body that the cache stores.
    server.on("/long", packed((random.Random(1).randbytes(8192) + bytes(4 * MIB)) * 17))
    done = nuthatch("get", "--inflight-bytes", "64K", "-o", "/dev/null", server.url("/long"))
    assert done.returncode == 0, done.stderr
