"""Caches on event loops."""

import asyncio
import gc
import os
import pickle
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any, AsyncIterator, Awaitable, Callable, List

import nuthatch
import pytest
from pictures import png
from testserver import TestServer, answer, body, fill, ok, script

Main = Callable[[nuthatch.AsyncCache], Awaitable[Any]]


@pytest.fixture
def url(server: TestServer) -> str:
    server.on("/a.png", ok(png(640, 480), "image/png"))
    return server.url("/a.png")


@pytest.fixture
def run(tmp_path: Path) -> Callable[[Main], Any]:
    """Runs a coroutine with a cache, and closes the cache afterwards."""

    def run(main: Main) -> Any:
        async def with_cache() -> Any:
            async with nuthatch.AsyncCache(tmp_path / "cache") as cache:
                return await asyncio.wait_for(main(cache), 60)

        return asyncio.run(with_cache())

    return run


def test_async_answers_and_hits_are_those_of_a_cache(
    run: Callable[[Main], Any], server: TestServer, url: str
) -> None:
    server.on("/b", ok("hello", "text/plain", headers=[("Cache-Control", "max-age=60")]))
    server.echo("/echo")

    async def main(cache: nuthatch.AsyncCache) -> None:
        first, again = await cache.thumbnail(url, 64), await cache.thumbnail(url, 64)
        assert (first.is_in_cache, again.is_in_cache, again.size) == (False, True, (64, 48))
        assert cache.peek(url, 64) is not None and cache.peek(url, 65) is None
        assert (await cache.get(server.url("/b"))).text == "hello"
        assert (await cache.get(server.url("/b"))).is_in_cache
        sent = (await cache.request("POST", server.url("/echo"), json=[1])).json()
        assert (sent["method"], sent["body"]) == ("POST", "[1]")
        small, large = await cache.submit(url, sizes=[16, 32])
        assert (small.width, large.width) == (16, 32)
        with pytest.raises(nuthatch.TransportError):
            await cache.get("http://127.0.0.1:1/", retries=0)
        with pytest.raises(nuthatch.BadURL):
            await cache.get("nonsense")
        assert cache.stats()["hits"] >= 3 and cache.activity == 0

    run(main)
    assert server.count("/a.png") == server.count("/b") == 1


def test_an_async_hit_needs_no_turn_of_the_loop(
    run: Callable[[Main], Any], server: TestServer, url: str
) -> None:
    server.on("/b", ok("hello", headers=[("Cache-Control", "max-age=60")]))

    async def main(cache: nuthatch.AsyncCache) -> None:
        await cache.thumbnail(url, 64)
        await cache.get(server.url("/b"))
        for coroutine in (cache.thumbnail(url, 64), cache.get(server.url("/b"))):
            with pytest.raises(StopIteration) as ended:
                coroutine.send(None)
            assert ended.value.value.is_in_cache

    run(main)


def test_many_async_hits_give_other_tasks_a_turn(run: Callable[[Main], Any], url: str) -> None:
    async def main(cache: nuthatch.AsyncCache) -> None:
        turns = 0
        is_over = False

        async def count() -> None:
            nonlocal turns
            while not is_over:
                turns += 1
                await asyncio.sleep(0)

        await cache.thumbnail(url, 64)
        counting = asyncio.ensure_future(count())
        for _ in range(5000):
            await cache.thumbnail(url, 64)
        is_over = True
        await counting
        assert turns > 5

    run(main)


def test_many_async_requests_run_at_once(run: Callable[[Main], Any], server: TestServer) -> None:
    server.on_prefix("/n/", ok("x", headers=[("Cache-Control", "max-age=60")]))

    async def main(cache: nuthatch.AsyncCache) -> None:
        answers = await asyncio.gather(*(cache.get(server.url(f"/n/{number}")) for number in range(500)))
        assert {answer.text for answer in answers} == {"x"}

    run(main)
    assert server.count() == 500


def test_cancelling_a_task_cancels_its_request(run: Callable[[Main], Any], server: TestServer) -> None:
    gate = server.gate("never")
    server.on("/never", script(steps=[gate.step, body("x")]))

    async def main(cache: nuthatch.AsyncCache) -> None:
        task = asyncio.ensure_future(cache.get(server.url("/never")))
        await asyncio.get_running_loop().run_in_executor(None, gate.wait_until_reached)
        assert cache.activity == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert cache.activity == 0
        ticket = cache.submit(server.url("/never"))
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(ticket.result(), 0.05)
        assert ticket.state == "cancelled"

    run(main)
    assert server.wait_for_disconnect()


def test_the_timeout_of_a_wait_does_not_end_the_request(
    run: Callable[[Main], Any], server: TestServer
) -> None:
    gate = server.gate("gate")
    server.on("/slow", script(steps=[gate.step, body("late")]))

    async def main(cache: nuthatch.AsyncCache) -> None:
        ticket = cache.submit(server.url("/slow"), priority=3)
        with pytest.raises(nuthatch.TimeoutError):
            await ticket.result(timeout=0.05)
        assert ticket.state in ("queued", "running")
        assert await cache.wait_idle(0.05) is False
        ticket.set_priority(-3)
        gate.open()
        assert (await ticket).text == "late"
        assert await cache.wait_idle()
        assert (await ticket.resubmit()).text == "late"

    run(main)


def test_async_events_come_in_order(run: Callable[[Main], Any], server: TestServer) -> None:
    server.on("/a", script(headers=[["Cache-Control", "max-age=0"], ["ETag", '"1"']], steps=[body("x")]))

    async def main(cache: nuthatch.AsyncCache) -> None:
        kinds = [event.kind async for event in cache.events(server.url("/a"))]
        again = [(event.kind, event.is_final) async for event in cache.events(server.url("/a"))]
        assert kinds == ["fresh"]
        assert again == [("cached", False), ("fresh", True)]
        two = cache.submit(server.url("/a"))
        results = await asyncio.gather(*(two.result() for _ in range(3)))
        assert [result.text for result in results] == ["x"] * 3

    run(main)


def test_closing_an_async_cache_fails_requests_under_way(server: TestServer, tmp_path: Path) -> None:
    server.on("/never", script(steps=[server.gate("never").step, body("x")]))

    async def main() -> None:
        cache = nuthatch.AsyncCache(tmp_path / "c")
        tasks = [asyncio.ensure_future(cache.get(server.url("/never"))) for _ in range(3)]
        while cache.activity < 3:
            await asyncio.sleep(0.01)
        await cache.close()
        await cache.close()
        assert cache.closed
        for task in tasks:
            with pytest.raises(nuthatch.Closed):
                await task
        with pytest.raises(nuthatch.Closed):
            await cache.get(server.url("/never"))
        with pytest.raises(nuthatch.Closed):
            cache.submit(server.url("/never"))

    asyncio.run(main())


def test_an_async_cache_leaves_no_threads_and_descriptors(
    server: TestServer, tmp_path: Path, url: str
) -> None:
    async def main() -> None:
        async with nuthatch.AsyncCache(tmp_path / "c") as cache:
            await cache.get(url)
            await cache.thumbnail(url, 10)
        # A cache that is never closed.
        await nuthatch.AsyncCache(tmp_path / "c").thumbnail(url, 11)

    def descriptors() -> List[str]:
        return sorted(
            os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if name != "3"
        )

    asyncio.run(main())
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        asyncio.run(main())
    assert len(os.listdir("/proc/self/fd")) <= before + 1


def test_several_event_loops_share_an_async_cache(server: TestServer, tmp_path: Path) -> None:
    server.on_prefix("/n/", ok(png(64, 48), "image/png"))
    cache = nuthatch.AsyncCache(tmp_path / "c")
    sizes = []

    async def work(first: int) -> None:
        urls = [server.url(f"/n/{(first + number) % 40}") for number in range(40)]
        for _ in range(3):
            images = await asyncio.gather(*(cache.thumbnail(url, 16) for url in urls))
            sizes.extend(image.size for image in images)

    threads = [threading.Thread(target=asyncio.run, args=[work(first)]) for first in range(0, 40, 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sizes == [(16, 12)] * 480
    assert server.count() == 40

    async def last() -> None:
        assert (await cache.thumbnail(server.url("/n/0"), 16)).is_in_cache
        await cache.close()

    asyncio.run(last())
    # If a loop didn't close the cache, the next loop opens it again.
    again = nuthatch.AsyncCache(tmp_path / "c")
    for _ in range(3):
        asyncio.run(_one(again, server.url("/n/0")))


async def _one(cache: nuthatch.AsyncCache, url: str) -> None:
    assert (await cache.thumbnail(url, 16)).is_in_cache


def test_an_async_cache_can_be_closed_from_another_loop(server: TestServer, tmp_path: Path) -> None:
    gate = server.gate("never")
    server.on("/never", script(steps=[gate.step, body("x")]))
    cache = nuthatch.AsyncCache(tmp_path / "c")
    caught = []

    async def wait() -> None:
        with pytest.raises(nuthatch.Closed) as closed:
            await cache.get(server.url("/never"))
        caught.append(closed.value.code)

    thread = threading.Thread(target=asyncio.run, args=[wait()])
    thread.start()
    assert gate.wait_until_reached()
    asyncio.run(cache.close())
    thread.join(30)
    assert caught == ["closed"]


def test_an_async_cache_can_be_closed_while_the_loop_ends(
    server: TestServer, tmp_path: Path, url: str
) -> None:
    async def main() -> None:
        cache = nuthatch.AsyncCache(tmp_path / "c")
        await cache.thumbnail(url, 64)
        port = cache._ports[asyncio.get_running_loop()]
        await asyncio.get_running_loop().shutdown_default_executor()
        await cache.close()
        assert cache.closed and port.cache.closed

    asyncio.run(main())


def test_questions_are_asked_on_the_event_loop(run: Callable[[Main], Any], server: TestServer) -> None:
    server.echo("/echo")
    server.on("/locked", answer(401, "who?", [("WWW-Authenticate", "Basic")]))

    async def token(url: str) -> Any:
        await asyncio.sleep(0)
        return {"X-Token": url[-4:]}

    def refuse(response: nuthatch.Response) -> bool:
        return response.status != 200

    async def fail(response: nuthatch.Response) -> Any:
        raise LookupError("nobody")

    async def main(cache: nuthatch.AsyncCache) -> None:
        sent = (await cache.get(server.url("/echo"), ask_headers=token)).json()["headers"]
        assert ["X-Token", "echo"] in sent
        with pytest.raises(nuthatch.HTTPStatusError):
            await cache.get(server.url("/echo?2"), ask_verdict=refuse)
        with pytest.raises(LookupError):
            await cache.get(server.url("/locked"), ask_credentials=fail)
        assert cache.activity == 0

    run(main)


def test_async_functions_that_save_are_awaited(run: Callable[[Main], Any], server: TestServer) -> None:
    content = bytes(range(256)) * 6_000
    server.on("/a", ok(content))
    server.on("/gone", answer(404, "gone"))
    later: List[bytes] = []
    at_once: List[bytes] = []

    async def save(piece: bytes) -> None:
        await asyncio.sleep(0)
        later.append(piece)

    async def main(cache: nuthatch.AsyncCache) -> None:
        site = cache.site(server.url("/"))
        for fetching in (cache, site):
            response = await fetching.get(server.url("/a"), save_to=[save, at_once.append])
            # The function has all pieces when the answer is returned.
            assert b"".join(later) == b"".join(at_once) == content == response.body
            # Also from the cache.
            again = await fetching.submit(server.url("/a"), save_to=save)
            assert b"".join(later) == content * 2 and again.ok
            later.clear()
            at_once.clear()
        ticket = cache.submit(server.url("/a"), save_to=save)
        assert (await ticket).ok and (await ticket.resubmit()).ok and b"".join(later) == content * 2
        later.clear()
        assert [item.ok async for item in cache.prefetch([server.url("/a")], (), save_to=save)] == [True]
        assert b"".join(later) == content
        later.clear()
        # The body of an error is saved nowhere.
        assert (await cache.get(server.url("/gone"), save_to=save)).status == 404 and later == []
        with pytest.raises(nuthatch.TransportError):
            await cache.get("http://127.0.0.1:1/", save_to=save, retries=0)
        with pytest.raises(nuthatch.BadURL):
            await cache.get("nonsense", save_to=save)
        assert cache.activity == 0 and later == []

    run(main)


def test_a_function_that_saves_and_fails_ends_its_request(
    run: Callable[[Main], Any], server: TestServer
) -> None:
    server.on("/a", script(steps=[fill(1 << 22)]))
    server.on("/small", ok(b"x"))
    begun: List[int] = []
    ended: List[str] = []

    async def fail(piece: bytes) -> None:
        raise LookupError("no room")

    async def wait(piece: bytes) -> None:
        begun.append(len(piece))
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.append("cancelled")

    def fail_at_once(piece: bytes) -> None:
        raise LookupError("no room")

    async def cancelled(piece: bytes) -> None:
        raise asyncio.CancelledError

    async def main(cache: nuthatch.AsyncCache) -> None:
        for path in ("/a", "/small"):
            with pytest.raises(nuthatch.Cancelled, match="saves"):
                await cache.get(server.url(path), save_to=cancelled)
        for taker in (fail, fail_at_once):
            with pytest.raises(LookupError):
                await cache.get(server.url("/a"), save_to=taker)
            with pytest.raises(LookupError):
                [item async for item in cache.prefetch([server.url("/a")], (), save_to=taker)]
        ticket = cache.submit(server.url("/a"), save_to=wait)
        while not begun:
            await asyncio.sleep(0.01)
        ticket.cancel()
        with pytest.raises(nuthatch.Cancelled):
            await ticket
        assert len(begun) == 1 and ended == ["cancelled"]
        task = asyncio.ensure_future(cache.get(server.url("/a"), save_to=wait))
        while len(begun) == 1:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # Closing the cache ends it, too.
        last = cache.submit(server.url("/a"), save_to=wait)
        while len(begun) == 2:
            await asyncio.sleep(0.01)
        await cache.close()
        with pytest.raises(nuthatch.Closed):
            await last
        assert ended == ["cancelled"] * 3

    run(main)


def test_pieces_of_a_saved_body_are_async_events_too(run: Callable[[Main], Any], server: TestServer) -> None:
    content = bytes(range(256)) * 6_000
    server.on("/a", ok(content))

    async def main(cache: nuthatch.AsyncCache) -> None:
        seen: List[bytes] = []
        kinds = []
        async for event in cache.events(server.url("/a"), save_to=lambda piece: None):
            kinds.append(event.kind)
            if event.kind == "data":
                seen.append(event.data)
                assert event.bytes_done == sum(map(len, seen)) and not event.is_final
                await asyncio.sleep(0)
        assert b"".join(seen) == content and kinds == ["data"] * len(seen) + ["fresh"]
        ticket = cache.submit(server.url("/a"), save_to=lambda piece: None)
        async for _ in ticket.events():
            break
        # If no loop takes the events, or one takes only the first piece, the transfer goes on.
        assert (await ticket).ok
        first = cache.submit(server.url("/a"), save_to=lambda piece: None)
        listening = first.events()
        assert (await listening.__anext__()).kind == "data"
        assert (await first).ok

    run(main)


HELD_UP = """
import asyncio, pathlib, re, sys, nuthatch

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text()).group(1))

async def main():
    given, gate = 0, asyncio.Event()

    async def save(piece):
        nonlocal given
        given += len(piece)
        await gate.wait()

    async with nuthatch.AsyncCache(sys.argv[1], max_bytes=1000) as cache:
        await cache.get(sys.argv[2] + "warm")
        pathlib.Path("/proc/self/clear_refs").write_text("5")
        before = peak()
        ticket = cache.submit(sys.argv[2], save_to=save)
        while not given and ticket.state != "done":
            await asyncio.sleep(0.01)
        # As large, and begun later.
        await cache.get(sys.argv[2] + "later", save_to=lambda piece: None)
        print("held", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        gate.set()
        response = await ticket
        print(given, len(response.body), peak() - before)

asyncio.run(main())
"""


def test_a_saved_body_is_never_whole_in_memory(server: TestServer, tmp_path: Path) -> None:
    """Pieces come as fast as the function takes them, and are freed then."""
    size = 48 << 20
    server.on("/a", script(steps=[fill(size)]))
    server.on("/alater", script(steps=[fill(size)]))
    server.on("/awarm", ok(b"x"))
    arguments = [sys.executable, "-c", HELD_UP, str(tmp_path / "cache"), server.url("/a")]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == "held\n"
        # While the function has the first piece, the server can't send the rest. It has sent the other body.
        assert server.wait_for_answers(1, "/alater")
        assert [request.outcome for request in server.requests("/a")] == ["pending"]
        process.stdin.write("\n")
        process.stdin.flush()
        given, kept, kilobytes = map(int, process.stdout.readline().split())
        assert process.wait(60) == 0
    print(f"{given >> 20} MB received with {kilobytes} KB more than before")
    assert (given, kept) == (size, 0) and kilobytes < 16 << 10


def test_async_prefetch_gives_an_item_for_each_url(run: Callable[[Main], Any], server: TestServer) -> None:
    server.on_prefix("/n/", ok(png(64, 48), "image/png"))
    urls = [server.url(f"/n/{number}") for number in range(600)]

    async def slowly() -> AsyncIterator[str]:
        for url in urls:
            await asyncio.sleep(0)
            yield url

    async def main(cache: nuthatch.AsyncCache) -> None:
        items = [item async for item in cache.prefetch(slowly(), [16, 32])]
        assert sorted(item.index for item in items) == list(range(600))
        assert all(item.ok and not item.images and not item.is_in_cache for item in items)
        again = [item async for item in cache.prefetch([*urls[:2], "no url"], [16], images=True)]
        assert [
            (item.index, item.ok, len(item.images)) for item in sorted(again, key=lambda item: item.index)
        ] == [
            (0, True, 1),
            (1, True, 1),
            (2, False, 0),
        ]
        async for _ in cache.prefetch([server.url(f"/n/x{number}") for number in range(5000)]):
            break
        # Leaving the loop has cancelled the requests under way.
        for _ in range(100):
            await asyncio.sleep(0.01)
            if cache.activity == 0:
                break
        assert cache.activity == 0

    run(main)
    assert server.count() < 1500


@pytest.mark.parametrize("count", [1, 5, 5000])
def test_an_async_prefetch_that_fails_raises(
    count: int, run: Callable[[Main], Any], server: TestServer, tmp_path: Path
) -> None:
    """Also if no request is under way any more: a failed run must not look like a finished one."""
    server.on_prefix("/n/", ok(png(64, 48), "image/png"))
    gate = server.gate("never")
    server.on_prefix("/never/", script(steps=[gate.step, body("x")]))

    async def fail(url: str) -> Any:
        raise LookupError("nobody")

    async def main(cache: nuthatch.AsyncCache) -> None:
        urls = [server.url(f"/n/{number}") for number in range(count)]
        with pytest.raises(LookupError):
            async for _ in cache.prefetch(urls, sizes=16, ask_headers=fail):
                pass

        async def close() -> None:
            await asyncio.get_running_loop().run_in_executor(None, gate.wait_until_reached)
            await other.close()

        other = nuthatch.AsyncCache(tmp_path / "other")
        closing = asyncio.ensure_future(close())
        with pytest.raises(nuthatch.Closed):
            async for _ in other.prefetch(
                [server.url(f"/never/{number}") for number in range(count)], sizes=16
            ):
                pass
        await closing

    run(main)


def test_a_cancelled_answer_to_a_question_ends_its_request(
    run: Callable[[Main], Any], server: TestServer
) -> None:
    server.echo("/echo")

    async def main(cache: nuthatch.AsyncCache) -> None:
        refreshing = asyncio.ensure_future(asyncio.sleep(60))

        async def token(url: str) -> Any:
            await refreshing

        asyncio.get_running_loop().call_later(0.1, refreshing.cancel)
        with pytest.raises(nuthatch.Cancelled):
            await asyncio.wait_for(cache.get(server.url("/echo"), ask_headers=token), 20)
        assert cache.activity == 0

    run(main)


def test_an_async_site_uses_its_base_url_and_options(run: Callable[[Main], Any], server: TestServer) -> None:
    server.echo("/api/echo")

    async def main(cache: nuthatch.AsyncCache) -> None:
        site = cache.site(server.url("/api/"), headers={"X-Api": "1"}, user=("me", "secret"))
        sent = (await site.get("echo")).json()["headers"]
        assert ["X-Api", "1"] in sent and any(name == "Authorization" for name, _ in sent)
        assert (await site.submit("echo")).status == 200

    run(main)


def test_async_upkeep_removes_trims_and_clears(
    run: Callable[[Main], Any], server: TestServer, url: str
) -> None:
    async def main(cache: nuthatch.AsyncCache) -> None:
        await cache.thumbnail(url, 64)
        await cache.remove(url)
        assert cache.peek(url, 64) is None
        await cache.thumbnail(url, 64)
        await cache.flush()
        await cache.trim(0)
        assert cache.stats()["thumbs"] == 0
        await cache.thumbnail(url, 64)
        await cache.clear()
        assert cache.stats()["thumbs"] == 0
        cache.cancel_all()

    run(main)


def test_an_async_cache_pickles_and_works_in_a_forked_child(
    server: TestServer, tmp_path: Path, url: str
) -> None:
    cache = nuthatch.AsyncCache(tmp_path / "c", user_agent="own/1")

    async def main(cache: nuthatch.AsyncCache) -> None:
        assert (await cache.thumbnail(url, 64)).size == (64, 48)

    asyncio.run(main(cache))
    asyncio.run(main(pickle.loads(pickle.dumps(cache))))
    child = os.fork()
    if child == 0:
        status = 1
        try:
            asyncio.run(main(cache))
            asyncio.run(cache.close())
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    asyncio.run(main(cache))
    asyncio.run(cache.close())
    assert server.requests("/a.png")[-1].header("User-Agent") == "own/1"


def test_an_async_cache_refuses_wrong_use(tmp_path: Path) -> None:
    async def main() -> None:
        with pytest.raises(nuthatch.Invalid):
            await nuthatch.AsyncCache(tmp_path / "c", policy="strict").get("http://x/")
        with pytest.raises(TypeError):
            await nuthatch.AsyncCache(tmp_path / "c", nonsense=1).get("http://x/")  # type: ignore[call-arg]

    asyncio.run(main())
    with pytest.raises(RuntimeError):
        nuthatch.AsyncCache(tmp_path / "c").submit("http://x/")


def test_an_async_cache_without_references_is_closed(server: TestServer, tmp_path: Path, url: str) -> None:
    """At once, without the garbage collector."""

    def fresh() -> "weakref.ref[nuthatch.Cache]":
        cache = nuthatch.Cache(tmp_path / "c")
        cache.thumbnail(url, 10)
        site = cache.site(url)
        site.get(url)
        for _ in cache.prefetch([url, url]):
            break
        return weakref.ref(cache)

    async def main() -> "weakref.ref[nuthatch.AsyncCache]":
        cache = nuthatch.AsyncCache(tmp_path / "c")
        await cache.thumbnail(url, 64)
        assert cache.site(url) is not None
        ticket = cache.submit(url, size=65)
        await ticket
        return weakref.ref(cache)

    gc.disable()
    try:
        assert fresh()() is None
        assert asyncio.run(main())() is None
        image = nuthatch.Cache(tmp_path / "c").thumbnail(url, 10)
        gone, view = weakref.ref(image), image.pixels
        del image
        assert gone() is not None
        del view
        assert gone() is None
    finally:
        gc.enable()
