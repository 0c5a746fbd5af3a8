"""A cache while a stopped process holds its lock."""

import asyncio
import logging
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable, Iterator, List

import nuthatch
import pytest
from held_lock import HeldLock
from nuthatch import _library, _prefetch
from pictures import png
from testserver import TestServer, ok, pause

FRESH = [("Cache-Control", "max-age=600")]


def test_answers_that_can_not_be_stored_are_counted(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on("/a", ok("x", headers=FRESH))
    cache.get(server.url("/a"))
    assert cache.stats()["held_up"] == 0
    with HeldLock(tmp_path / "cache"):
        assert cache.get(server.url("/a"), policy="reload").body == b"x"
        assert cache.stats()["held_up"] > 0
        # Its nanoseconds don't fit into 64 bits.
        assert _library.quick.nh_is_held_up(cache._handle, 2**63 - 1) == 0


def test_answers_say_whether_they_are_stored(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on("/a", ok("x", headers=FRESH))
    server.on("/a.png", ok(png(64, 48), headers=FRESH))
    server.on("/never", ok("x", headers=[("Cache-Control", "no-store")]))
    text, picture = server.url("/a"), server.url("/a.png")
    for _ in range(2):
        assert cache.get(text).is_stored
        assert cache.thumbnail(picture, 8).is_stored
        assert [item.is_stored for item in cache.prefetch([picture], 8)] == [True]
        assert [event.is_stored for event in cache.submit(text).events()] == [True]
    assert pickle.loads(pickle.dumps(cache.get(text))).is_stored
    assert pickle.loads(pickle.dumps(cache.thumbnail(picture, 8))).is_stored
    assert not cache.get(server.url("/never")).is_stored
    with HeldLock(tmp_path / "cache"):
        assert not cache.get(text, policy="reload").is_stored
        assert not cache.thumbnail(picture, 8, policy="reload").is_stored
        assert not next(iter(cache.prefetch([picture], 8, policy="reload"))).is_stored
        assert cache.get(text).is_stored


def stored_by_another(folder: Path, url: str) -> bool:
    """Returns whether another process finds the answer."""
    code = (
        "import sys, nuthatch\n"
        "try: nuthatch.Cache(sys.argv[1]).get(sys.argv[2], policy='offline')\n"
        "except nuthatch.Error as error: sys.exit(error.code)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(folder), url], stderr=subprocess.PIPE, text=True, timeout=60
    )
    assert ended.returncode == 0 or ended.stderr == "offline\n", ended.stderr
    return ended.returncode == 0


@pytest.mark.parametrize("spill", ["eager", "pressure"])
def test_an_answer_that_a_post_can_not_remove_is_no_longer_used(
    server: TestServer, tmp_path: Path, spill: str
) -> None:
    server.on_prefix("/a", ok("x", headers=FRESH))
    url = server.url("/a")
    with nuthatch.Cache(tmp_path / "c", spill=spill) as cache:
        keys = [None, "one"]
        for key in keys:
            assert not cache.get(url, cache_key=key).is_in_cache
            assert cache.get(url, cache_key=key).is_in_cache
        assert not cache.request("POST", url).is_removal_due
        for key in keys:
            assert not cache.get(url, cache_key=key).is_in_cache
        with HeldLock(tmp_path / "c"):
            posted = cache.request("POST", url)
            assert posted.is_removal_due and not posted.is_stored
            again = cache.get(url)
            assert not again.is_in_cache and not again.is_stored
            with pytest.raises(nuthatch.Offline):
                cache.get(url, policy="offline")
        for key in keys:
            answer = cache.get(url, cache_key=key)
            assert not answer.is_in_cache and answer.is_stored
            assert cache.get(url, cache_key=key).is_in_cache


def test_an_answer_that_a_post_can_not_remove_is_removed_later(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on_prefix("/a", ok("x", headers=FRESH))
    url = server.url("/a")
    cache.get(url)
    assert stored_by_another(tmp_path / "cache", url)
    with HeldLock(tmp_path / "cache"):
        assert cache.request("POST", url).is_removal_due
    until(lambda: not stored_by_another(tmp_path / "cache", url))


def pending(server: TestServer, folder: Path) -> nuthatch.Cache:
    """Opens a cache with an answer that is in memory only."""
    server.on("/a", ok("x", headers=FRESH))
    cache = nuthatch.Cache(folder, spill="pressure")
    cache.get(server.url("/a"))
    assert cache.stats()["unwritten"] > 0
    return cache


def expect_busy(error: nuthatch.Error) -> None:
    assert error.code == "busy"
    assert str(error).startswith(
        "the cache is closed, but answers that were in memory only are lost: process "
    )


def test_a_close_that_loses_records_raises_busy_once(server: TestServer, tmp_path: Path) -> None:
    cache = pending(server, tmp_path / "c")
    with HeldLock(tmp_path / "c"):
        begin = time.monotonic()
        with pytest.raises(nuthatch.Error) as raised:
            cache.close()
        assert 4.9 < time.monotonic() - begin < 60
        expect_busy(raised.value)
        assert cache.closed
        cache.close()


def test_a_block_that_ends_with_an_error_raises_that_error(server: TestServer, tmp_path: Path) -> None:
    with pytest.raises(nuthatch.Error) as raised, pending(server, tmp_path / "c"):
        held = HeldLock(tmp_path / "c")
    expect_busy(raised.value)
    held.free()
    with pytest.raises(KeyError), pending(server, tmp_path / "d"):
        held = HeldLock(tmp_path / "d")
        raise KeyError
    held.free()


def test_closing_an_async_cache_that_loses_records_raises_busy(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("x", headers=FRESH))

    async def main() -> None:
        cache = nuthatch.AsyncCache(tmp_path / "c", spill="pressure")
        await cache.get(server.url("/a"))
        with HeldLock(tmp_path / "c"):
            with pytest.raises(nuthatch.Error) as raised:
                await cache.close()
            expect_busy(raised.value)

    asyncio.run(main())


def test_a_removal_that_is_due_survives_its_process(server: TestServer, tmp_path: Path) -> None:
    server.on_prefix("/a", ok("x", headers=FRESH))
    url = server.url("/a")
    cache = nuthatch.Cache(tmp_path / "c")
    assert cache.get(url).is_stored
    with HeldLock(tmp_path / "c"):
        code = (
            "import os, sys, nuthatch\n"
            "posted = nuthatch.Cache(sys.argv[1]).request('POST', sys.argv[2])\n"
            "os._exit(posted.is_removal_due)"
        )
        posting = [sys.executable, "-c", code, str(tmp_path / "c"), url]
        assert subprocess.run(posting, timeout=60, check=False).returncode == 1
        answer = cache.get(url)
        assert not answer.is_in_cache and not answer.is_stored
        assert not stored_by_another(tmp_path / "c", url)
    assert not stored_by_another(tmp_path / "c", url)
    # The first answer that is stored removes it.
    for is_first in (True, False):
        answer = cache.get(url)
        assert answer.is_stored and answer.is_in_cache is not is_first
    assert stored_by_another(tmp_path / "c", url)


def test_a_close_with_a_due_removal_does_not_wait(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("x", headers=FRESH))
    seconds: List[float] = []
    # It must not take the five seconds of a close that would lose records. Try again, because the machine may be busy.
    while not seconds or (seconds[-1] >= 4 and len(seconds) < 3):
        folder = tmp_path / f"c{len(seconds)}"
        cache = nuthatch.Cache(folder)
        cache.get(server.url("/a"))
        with HeldLock(folder):
            assert cache.request("POST", server.url("/a")).is_removal_due
            begin = time.monotonic()
            cache.close()
            seconds.append(time.monotonic() - begin)
        assert not stored_by_another(folder, server.url("/a"))
    assert seconds[-1] < 4, seconds


def test_a_close_with_nothing_to_write_does_not_wait(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("x", headers=FRESH))
    with nuthatch.Cache(tmp_path / "c") as cache:
        cache.get(server.url("/a"))
        held = HeldLock(tmp_path / "c")
    held.free()


@pytest.fixture
def told() -> Iterator[List[str]]:
    """Returns the lines of the log about the lock."""
    lines: List[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "lock of the cache" in record.getMessage():
                lines.append(record.getMessage())

    handler, logger = Handler(), logging.getLogger("nuthatch")
    logger.addHandler(handler)
    yield lines
    logger.removeHandler(handler)


def until(is_so: Callable[[], bool]) -> None:
    due = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < due
        time.sleep(0.01)


def run_plainly(folder: Path, urls: List[str], begin: Callable[[], None]) -> List[nuthatch.Item]:
    with nuthatch.Cache(folder) as cache:
        begin()
        return list(cache.prefetch(urls, ()))


def run_on_a_loop(folder: Path, urls: List[str], begin: Callable[[], None]) -> List[nuthatch.Item]:
    async def main() -> List[nuthatch.Item]:
        async with nuthatch.AsyncCache(folder) as cache:
            begin()
            return [item async for item in cache.prefetch(urls, ())]

    return asyncio.run(main())


@pytest.mark.parametrize("run", [run_plainly, run_on_a_loop])
def test_a_prefetch_stops_while_the_lock_is_held_and_continues(
    run: Any, server: TestServer, tmp_path: Path, told: List[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_prefetch, "HELD_UP", 0)
    next_step, holds = _prefetch.Run.step, [0]

    def step(self: _prefetch.Run, cache: Any) -> Any:
        chosen = next_step(self, cache)
        holds[0] += chosen is _prefetch.HOLD and not self.under_way
        return chosen

    def hold(count: int) -> None:
        """Waits until the run has found so many more times that it must not go on, and has nothing under way."""
        due = holds[0] + count
        until(lambda: holds[0] >= due)

    monkeypatch.setattr(_prefetch.Run, "step", step)
    # Slowly, so that requests are under way when the first answer can't be stored.
    server.on_prefix("/a/", ok("x", headers=FRESH, before=[pause(50)]))
    urls = [server.url(f"/a/{number}") for number in range(600)]
    counts: List[int] = []

    def watch() -> None:
        with HeldLock(tmp_path / "c"):
            is_held.set()
            until(lambda: bool(told))
            hold(1)
            assert server.wait_until_idle()
            counts.append(server.count())
            hold(10)
            counts.append(server.count())

    is_held = threading.Event()
    watcher = threading.Thread(target=watch)

    def begin() -> None:
        watcher.start()
        assert is_held.wait(60)

    nuthatch.Cache(tmp_path / "c").close()
    items = run(tmp_path / "c", urls, begin)
    watcher.join()
    assert counts[0] == counts[1] < 600
    stop, go_on = told
    assert " has held the lock of the cache for " in stop and "nothing is fetched" in stop
    assert go_on.startswith("the lock of the cache is free again, or has another owner: the run goes on")
    assert sorted(item.index for item in items) == list(range(600))
    assert all(item.ok for item in items)
    with nuthatch.Cache(tmp_path / "c") as cache:
        # The last URLs were fetched when they could be stored.
        assert all(cache.get(item.url, policy="offline").body == b"x" for item in items[-50:])
