"""Several processes on one cache directory."""

import fcntl
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import asleep
import nuthatch
import pytest
from testserver import TestServer, body, drip, ok, script, wait

FRESH = [("Cache-Control", "max-age=600")]

WORKER = """
import sys
from concurrent.futures import ThreadPoolExecutor
import nuthatch

folder, *urls = sys.argv[1:]
with nuthatch.Cache(folder) as cache, ThreadPoolExecutor(16) as pool:
    sys.stdin.readline()
    bodies = list(pool.map(lambda url: cache.get(url).body, urls))
    print(len(bodies), len(set(bodies)), cache.stats()["held_up"])
"""


def start(folder: Path, *urls: str) -> "subprocess.Popen[str]":
    """Starts a process that fetches the URLs when it is told to."""
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(folder), *urls],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


# The second request joins the fetch of the first one, which is in the queue then. Later requests to the same host come
# after it: when one is answered, the first one has been sent, or waits for another process.
SURE = """
import os, sys, time
import nuthatch

folder, url, later = sys.argv[1:]
with nuthatch.Cache(folder) as cache:
    tickets = [cache.submit(url) for _ in range(2)]
    while cache.stats()["joined"] < 1:
        time.sleep(0.01)
    for number in range(10):
        cache.get(f"{later}{os.getpid()}/{number}")
    bodies = [ticket.result().body for ticket in tickets]
print(len(bodies), len(set(bodies)))
"""


def start_surely(server: TestServer, folder: Path, path: str) -> "subprocess.Popen[str]":
    """Starts a process that fetches a path, and then ten others, which are answered at once."""
    server.on_prefix("/later/", ok("y"))
    return subprocess.Popen(
        [sys.executable, "-c", SURE, str(folder), server.url(path), server.url("/later/")],
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
    held_up = 0
    for process in processes:
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0 and output.startswith("200 1 ")
        held_up += int(output.split()[2])
    # An answer that isn't stored, because a process stopped while it held the cache's lock, is fetched again.
    assert server.count() == 200 or (held_up > 0 and server.count() > 200)


def test_a_killed_leader_is_replaced(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("x", headers=FRESH, before=[wait("gate")]))
    leader = start(tmp_path / "c", server.url("/a"))
    go(leader)
    server.gate("gate").wait_until_reached()
    follower = start_surely(server, tmp_path / "c", "/a")
    # It waits for the other process, and its own requests don't reach the server.
    assert server.wait_for_answers(10)
    assert server.count("/a") == 1
    leader.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    leader.communicate()
    assert server.gate("gate").wait_until_reached(2)
    # The promise is one second. It must not be the 30 s that the leader would have waited for its server.
    assert time.monotonic() - killed < 10
    server.gate("gate").open()
    output, _ = follower.communicate(timeout=60)
    assert (follower.returncode, output) == (0, "2 1\n")
    assert server.count("/a") == 2


def test_a_stopped_leader_is_not_waited_for(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("x", headers=FRESH, before=[wait("gate")]), ok("x", headers=FRESH))
    leader = start(tmp_path / "c", server.url("/a"))
    go(leader)
    server.gate("gate").wait_until_reached()
    leader.send_signal(signal.SIGSTOP)
    try:
        with nuthatch.Cache(tmp_path / "c", timeout=5) as cache:
            assert cache.submit(server.url("/a")).result(timeout=25).body == b"x"
    finally:
        leader.send_signal(signal.SIGCONT)
        server.gate("gate").open()
    output, _ = leader.communicate(timeout=60)
    assert leader.returncode == 0 and output.startswith("1 1 ")
    assert server.count("/a") == 2


@pytest.mark.parametrize("status, headers", [(200, [("Cache-Control", "no-store")]), (404, [])])
def test_answers_that_can_not_be_shared_are_fetched_by_all_at_once(
    server: TestServer, tmp_path: Path, status: int, headers: "list[tuple[str, str]]"
) -> None:
    def gated(gate: str) -> "dict[str, object]":
        return script(status, headers, [wait(gate), body(b"x")])

    server.on("/a", gated("first"), gated("others"))
    processes = [start_surely(server, tmp_path / "c", "/a") for _ in range(4)]
    server.gate("first").wait_until_reached()
    # The others wait for its answer.
    assert server.wait_for_answers(40)
    assert server.count("/a") == 1
    server.gate("first").open()
    # They don't wait for each other, which would take the sum of their times.
    assert server.gate("others").wait_until_reached(3)
    server.gate("others").open()
    for process in processes:
        output, _ = process.communicate(timeout=60)
        assert (process.returncode, output) == (0, "2 1\n")
    assert server.count("/a") == 4


def test_a_slow_leader_is_waited_for(server: TestServer, tmp_path: Path) -> None:
    # Longer than the seven seconds without a sign of the leader after which the other process would fetch it, too.
    server.on("/a", script(headers=[*FRESH, ("Content-Length", "100")], steps=[drip(b"x" * 100, 100)]))
    leader = start(tmp_path / "c", server.url("/a"))
    go(leader)
    server.wait_for_requests(1)
    with nuthatch.Cache(tmp_path / "c", timeout=5) as cache:
        response = cache.get(server.url("/a"))
    assert (response.body, response.is_in_cache) == (b"x" * 100, False)
    output, _ = leader.communicate(timeout=60)
    assert leader.returncode == 0 and output.startswith("1 1 ")
    assert server.count("/a") == 1


FORKING = """
import os, sys, time
import nuthatch

folder, url = sys.argv[1:]
cache = nuthatch.Cache(folder)
cache.get(url + "/parent")
if os.fork() == 0:
    # The fork handler has closed the locked files. On a busy machine `fork` may return late in the child.
    print(os.getpid(), flush=True)
    time.sleep(600)
for number in range(100000):
    cache.get(f"{url}/{number}")
"""


# Linux's F_OFD_GETLK. Python has neither it nor struct flock.
OFD_GETLK = 36
FLOCK = "@hhqqi0q"


def is_free(file: Path, byte: int) -> bool:
    """Returns whether no process holds a lock on a byte of a file, neither exclusive nor shared."""
    with open(file, "r+b") as opened:
        asked = struct.pack(FLOCK, fcntl.F_WRLCK, os.SEEK_SET, byte, 1, 0)
        return struct.unpack(FLOCK, fcntl.fcntl(opened, OFD_GETLK, asked))[0] == fcntl.F_UNLCK


def is_whole(folder: Path) -> bool:
    """Returns whether no process holds a lock of a cache's directory."""
    packs = list((folder / "packs").iterdir())
    return all(is_free(folder / "lock", byte) for byte in range(3)) and all(
        is_free(pack, 0) for pack in packs
    )


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
        assert not is_whole(tmp_path / "c")
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        # The child lives, but the locks were the parent's alone.
        assert is_whole(tmp_path / "c")
        packs = sorted((tmp_path / "c" / "packs").iterdir())
        # Locks of the parent would delay this, or make it wait for a fetch that no process runs.
        began = time.monotonic()
        with nuthatch.Cache(tmp_path / "c") as cache:
            assert cache.get(server.url("/a/parent")).is_in_cache
            for number in range(200):
                assert cache.get(server.url(f"/a/{number}")).ok
            assert time.monotonic() - began < 30
            # It continues in the packs of the killed process.
            assert sorted((tmp_path / "c" / "packs").iterdir()) == packs
        os.kill(child, 0)
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_child_with_its_own_cache_outlives_its_parent(server: TestServer, tmp_path: Path) -> None:
    server.on_prefix("/a/", ok("x" * 1000, headers=FRESH))
    program = """
import os, sys
import nuthatch

folder, url = sys.argv[1:]
cache = nuthatch.Cache(folder)
cache.get(url + "/parent")
if os.fork() == 0:
    print("ready", flush=True)
    # Wait until the parent has ended, and some time longer.
    for number in range(100):
        assert cache.get(f"{url}/child/{number}").ok
    sys.stdin.readline()
    assert cache.get(url + "/parent").is_in_cache and cache.get(url + "/child/0").is_in_cache
    for number in range(100, 200):
        assert cache.get(f"{url}/child/{number}").ok
    print("done", flush=True)
    os._exit(0)
for number in range(1000000):
    cache.get(f"{url}/{number}")
"""
    parent = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program, str(tmp_path / "c"), server.url("/a")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdin is not None and parent.stdout is not None
    assert parent.stdout.readline() == "ready\n"
    server.wait_for_answers(150)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdin.write("go on\n")
    parent.stdin.flush()
    assert parent.stdout.readline() == "done\n"
    with nuthatch.Cache(tmp_path / "c") as cache:
        for name in ["parent", "child/0", "child/199"]:
            assert cache.get(server.url(f"/a/{name}")).is_in_cache, name


def test_two_paths_of_a_directory_are_one_cache(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("x", headers=FRESH))
    (tmp_path / "real").mkdir(0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    with nuthatch.Cache(tmp_path / "real", disk_bytes=64 << 20, memory_bytes=1 << 20) as one:
        assert not one.get(server.url("/a")).is_in_cache
        with (
            nuthatch.Cache(tmp_path / "link") as two,
            nuthatch.Cache(tmp_path / "real" / ".." / "link") as three,
        ):
            for cache in [two, three]:
                assert cache.get(server.url("/a")).is_in_cache
                assert cache.stats()["disk_limit"] == 64 << 20 and cache.stats()["memory_limit"] == 1 << 20
            # One store has one set of packs and one set of options.
            assert len(list((tmp_path / "real" / "packs").iterdir())) == 2
            for wrong in [{"memory_bytes": 2 << 20}, {"disk_bytes": 65 << 20}, {"spill": "pressure"}]:
                with pytest.raises(nuthatch.Conflict):
                    nuthatch.Cache(tmp_path / "link", **wrong)
        # Closing one handle leaves the others open.
        assert one.get(server.url("/a")).is_in_cache
    assert server.count("/a") == 1


def test_a_child_reopens_the_cache_while_its_parent_goes_on(server: TestServer, tmp_path: Path) -> None:
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
        # Both see the answers that either has stored.
        assert cache.get(server.url("/a/child/49")).is_in_cache


LOADING = """
import os, signal, sys, threading
import nuthatch

folder, url, support = sys.argv[1:]
sys.path.append(support)
from asleep import wait_until_asleep

begun, forks = threading.Event(), threading.Event()
# Called before the package's own function, which waits for the module.
os.register_at_fork(before=forks.set)


class Slow:
    @staticmethod
    def find_spec(name, path, target=None):
        if name in ("json.decoder", "html.entities", "nuthatch._async_fetching"):
            begun.set()
            forks.wait()
            wait_until_asleep(os.getpid())


def send():
    cache.request("POST", url, json={})


def show():
    cache.stats()._repr_html_()


def load():
    nuthatch.AsyncCache(folder)


with nuthatch.Cache(folder) as cache:
    for name, use in [("nuthatch._async", load), ("json", send), ("html", show)]:
        for other in [other for other in sys.modules if other.split(".")[: name.count(".") + 1] == name.split(".")]:
            del sys.modules[other]
        begun.clear()
        forks.clear()
        sys.meta_path.insert(0, Slow)
        thread = threading.Thread(target=use)
        thread.start()
        assert begun.wait(10), name
        child = os.fork()
        if child == 0:
            signal.alarm(10)
            use()
            os._exit(0)
        print(name, os.waitpid(child, 0)[1])
        thread.join()
        sys.meta_path.remove(Slow)
"""


def test_a_fork_waits_for_modules_that_another_thread_loads(server: TestServer, tmp_path: Path) -> None:
    """A module that was half loaded at the fork would never be loaded in the child."""
    server.on("/post", ok("x"))
    support = str(Path(asleep.__file__).parent)
    command = [sys.executable, "-c", LOADING, str(tmp_path / "c"), server.url("/post"), support]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["nuthatch._async 0", "json 0", "html 0"]


def test_a_cache_of_one_answer_takes_less_than_1_mib(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("x" * 20000, headers=FRESH))
    with nuthatch.Cache(tmp_path / "c") as cache:
        cache.get(server.url("/a"))
    taken = subprocess.run(
        ["du", "-s", "-B1", str(tmp_path / "c")], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    assert int(taken.split()[0]) < 1 << 20


def test_the_cache_directory_is_readable_for_its_owner_only(server: TestServer, tmp_path: Path) -> None:
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
