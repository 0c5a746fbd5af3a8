"""Several processes on one cache directory."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from testserver import TestServer, ok, wait

FRESH = [("Cache-Control", "max-age=600")]

WORKER = """
import sys
from concurrent.futures import ThreadPoolExecutor
import nuthatch

folder, *urls = sys.argv[1:]
with nuthatch.Cache(folder) as cache, ThreadPoolExecutor(16) as pool:
    sys.stdin.readline()
    bodies = list(pool.map(lambda url: cache.get(url).body, urls))
print(len(bodies), len(set(bodies)))
"""


def start(folder: Path, *urls: str) -> "subprocess.Popen[str]":
    """A process that fetches the URLs, once it is told to go."""
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(folder), *urls],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def go(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def test_four_processes_fetch_each_url_once(server: TestServer, tmp_path: Path) -> None:
    server.on_prefix("/a/", ok("x", headers=FRESH))
    urls = [server.url(f"/a/{number}") for number in range(200)]
    processes = [start(tmp_path / "c", *urls) for _ in range(4)]
    for process in processes:
        go(process)
    for process in processes:
        output, _ = process.communicate(timeout=120)
        assert (process.returncode, output) == (0, "200 1\n")
    assert server.count() == 200


def test_a_killed_leader_is_replaced(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("x", headers=FRESH, before=[wait("gate")]))
    leader = start(tmp_path / "c", server.url("/a"))
    go(leader)
    server.gate("gate").wait_until_reached()
    follower = start(tmp_path / "c", server.url("/a"))
    go(follower)
    # It waits for the other process; nothing of its own reaches the server.
    time.sleep(1)
    assert server.count("/a") == 1
    leader.send_signal(signal.SIGKILL)
    leader.communicate()
    server.gate("gate").wait_until_reached(2)
    server.gate("gate").open()
    output, _ = follower.communicate(timeout=60)
    assert (follower.returncode, output) == (0, "1 1\n")
    assert server.count("/a") == 2
