"""Files of the cache that are truncated while they are mapped, as by a full or failing disk."""

import subprocess
import sys
from pathlib import Path

import pytest
from testserver import TestServer, ok

PROGRAM = """
import faulthandler, os, sys
faulthandler.enable()
import nuthatch

folder, url, name = sys.argv[1:]
path = os.path.join(folder, name)
with nuthatch.Cache(folder) as cache:
    body = cache.get(url).body
    assert len(body) == 50_000, len(body)
    if name == "packs":
        paths = [os.path.join(path, pack) for pack in os.listdir(path)]
    else:
        paths = [path]
    for path in paths:
        os.truncate(path, 0)
    for _ in range(100):
        try:
            assert bytes(cache.get(url).body) == b"x" * 50_000
        except nuthatch.Error as error:
            print(error, file=sys.stderr)
    cache.stats()
    for call in (cache.remove, cache.clear):
        try:
            call(url) if call == cache.remove else call()
        except nuthatch.Error as error:
            print(error, file=sys.stderr)
    # The cache goes on by itself.
    assert bytes(cache.get(url).body) == b"x" * 50_000
    assert cache.get(url).is_in_cache
print("ended")
"""


@pytest.mark.parametrize("name", ["index", "locks", "packs"])
def test_a_truncated_cache_file_does_not_end_the_program(
    server: TestServer, tmp_path: Path, name: str
) -> None:
    server.on("/a", ok("x" * 50_000, headers=[("Cache-Control", "max-age=600")]))
    program = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "c"), server.url("/a"), name],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (program.returncode, program.stdout) == (0, "ended\n"), program.stderr
