"""The command while a stopped process holds the cache's lock."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Dict

from command import COMMAND, Runner, summary
from held_lock import HeldLock
from pictures import png
from testserver import TestServer, ok


def test_get_reports_a_removal_that_is_due(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    fresh = [("Cache-Control", "max-age=600")]
    server.on("/a", ok("x", headers=fresh))
    url = server.url("/a")
    assert nuthatch("get", url).returncode == 0
    with HeldLock(tmp_path / "cache"):
        found = nuthatch("get", url)
        assert (found.returncode, found.stdout, found.stderr) == (0, b"x", b"")
        told = nuthatch("get", "--data", "y", url)
        assert told.returncode == 0
        assert b"the stored answer could not be removed yet: " + url.encode() in told.stderr
        # The removal stays due after the process has ended.
        server.on("/a", ok("z", headers=fresh))
        assert nuthatch("get", url).stdout == b"z"
    server.on("/a", ok("new", headers=fresh))
    for _ in range(2):
        assert nuthatch("get", url).stdout == b"new"
    assert nuthatch("verify").returncode == 0


def test_prefetch_and_stat_count_records_that_a_held_lock_kept_from_being_stored(
    server: TestServer, nuthatch: Runner, environment: Dict[str, str], tmp_path: Path
) -> None:
    server.on("/a", ok(png(9, 9), "image/png", headers=[("Cache-Control", "max-age=600")]))
    # This process has the cache open, so that the command needs no lock to open it.
    with subprocess.Popen(
        [COMMAND, "prefetch"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment
    ) as keeper:
        assert keeper.stdin is not None
        keeper.stdin.write(server.url("/a").encode() + b"\n")
        keeper.stdin.flush()
        assert server.wait_for_answers(1)
        with HeldLock(tmp_path / "cache"):
            done = nuthatch("prefetch", "--policy", "reload", given=server.url("/a").encode())
            assert done.returncode == 0, done.stderr
            assert b" records not kept while another process held the lock of the cache\n" in done.stdout
            done = nuthatch(
                "prefetch", "--policy", "reload", "--format", "jsonl", given=server.url("/a").encode()
            )
            assert summary(done.stderr)["held_up"] > 0
            assert [json.loads(line)["is_stored"] for line in done.stdout.splitlines()] == [False]
        keeper.stdin.close()
        assert keeper.wait(60) == 0
    done = nuthatch("prefetch", "--format", "jsonl", given=server.url("/a").encode())
    assert summary(done.stderr)["not_kept"] == 0
    assert [json.loads(line)["is_stored"] for line in done.stdout.splitlines()] == [True]
    found = json.loads(nuthatch("stat", "--format", "json").stdout)
    assert found["held_up"] == 0
