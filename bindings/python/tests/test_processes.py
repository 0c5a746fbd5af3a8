"""Several processes on one cache directory."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nuthatch
import pytest
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


FORKING = """
import os, sys, time
import nuthatch

folder, url = sys.argv[1:]
cache = nuthatch.Cache(folder)
cache.get(url + "/parent")
child = os.fork()
if child == 0:
    # Idle, with everything that its parent had open.
    time.sleep(600)
print(child, flush=True)
for number in range(100000):
    cache.get(f"{url}/{number}")
"""


def test_a_killed_parent_leaves_no_locks_with_its_child(server: TestServer, tmp_path: Path) -> None:
    server.on_prefix("/a/", ok("x" * 1000, headers=FRESH))
    parent = subprocess.Popen(
        [sys.executable, "-c", FORKING, str(tmp_path / "c"), server.url("/a")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    try:
        server.wait_for_answers(50)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        # Locks that were the parent's would hold this up, or make it wait for a fetch that nobody carries out.
        began = time.monotonic()
        with nuthatch.Cache(tmp_path / "c") as cache:
            assert cache.get(server.url("/a/parent")).is_in_cache
            for number in range(200):
                assert cache.get(server.url(f"/a/{number}")).ok
            assert time.monotonic() - began < 30
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_child_opens_anew_while_its_parent_goes_on(server: TestServer, tmp_path: Path) -> None:
    server.on_prefix("/a/", ok("x" * 1000, headers=FRESH))
    with nuthatch.Cache(tmp_path / "c") as cache:
        cache.get(server.url("/a/first"))
        child = os.fork()
        if child == 0:
            status = 1
            try:
                hit = cache.get(server.url("/a/first")).is_in_cache
                own = [cache.get(server.url(f"/a/child/{number}")).ok for number in range(50)]
                status = 0 if hit and all(own) else 2
            finally:
                os._exit(status)
        for number in range(50):
            assert cache.get(server.url(f"/a/parent/{number}")).ok
        assert os.waitpid(child, 0)[1] == 0
        # Both see what either kept.
        assert cache.get(server.url("/a/child/49")).is_in_cache


def test_a_small_cache_stays_small(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("x" * 20000, headers=FRESH))
    with nuthatch.Cache(tmp_path / "c") as cache:
        cache.get(server.url("/a"))
    taken = subprocess.run(
        ["du", "-s", "-B1", str(tmp_path / "c")], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    assert int(taken.split()[0]) < 1 << 20


def test_the_directory_is_for_its_owner_only(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("x", headers=FRESH))
    with nuthatch.Cache(tmp_path / "c") as cache:
        cache.get(server.url("/a"))
        for folder, _, files in os.walk(tmp_path / "c"):
            assert os.stat(folder).st_mode & 0o077 == 0
            for name in files:
                assert os.stat(os.path.join(folder, name)).st_mode & 0o177 == 0
    open_to_all = tmp_path / "d"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    with pytest.raises(nuthatch.Denied):
        nuthatch.Cache(open_to_all)
