"""Prefetches, sites, and questions of requests."""

import asyncio
import builtins
import pickle
import sys
import threading
import time
from itertools import islice
from pathlib import Path
from typing import Any, AsyncIterator, Callable, Iterator, List

import nuthatch
import pytest
from pictures import png
from testserver import TestServer, answer, body, ok, script


def numbered(server: TestServer, count: int, first: int = 0) -> Iterator[str]:
    return (server.url(f"/n/{number}") for number in range(first, first + count))


def test_prefetch_gives_an_item_for_each_url(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on_prefix("/n/", ok(png(64, 48), "image/png"))
    server.on("/gone", answer(404, "gone"))
    urls = [*numbered(server, 3), server.url("/gone"), "no url"]
    items = sorted(cache.prefetch(urls, sizes=[16, (8, 8)]), key=lambda item: item.index)
    assert [item.url for item in items] == urls
    assert [item.ok for item in items] == [True, True, True, False, False]
    assert [item.error and item.error.code for item in items] == [None, None, None, "http", "bad_url"]
    assert (items[3].status, items[0].source, items[0].is_in_cache) == (404, "network", False)
    assert not items[0].images
    again = list(cache.prefetch(urls[:3], sizes=[16, (8, 8)], images=True))
    assert all(
        item.is_in_cache and [image.size for image in item.images] == [(16, 12), (8, 6)] for item in again
    )
    bodies = list(cache.prefetch([urls[0], urls[3]], sizes=(), images=True))
    assert {item.response and item.response.status for item in bodies} == {200, 404}
    assert {(item.ok, item.error and item.error.code) for item in bodies} == {(True, None), (False, "http")}
    assert server.count("/n/0") == 1


def test_an_item_of_a_failed_url_says_whether_its_answer_is_stored(
    server: TestServer, cache: nuthatch.Cache
) -> None:
    server.on("/page", ok("<!doctype html>", "text/html", headers=[("Cache-Control", "max-age=600")]))
    for was_there in (False, True):
        (item,) = cache.prefetch([server.url("/page")], sizes=[64])
        assert item.error and item.error.code == "not_an_image"
        assert item.is_in_cache == was_there and item.is_stored
        (event,) = cache.submit(server.url("/page"), size=64).events()
        assert event.is_in_cache and event.is_stored
    assert server.count() == 1


def test_a_url_that_is_not_allowed_does_not_end_a_prefetch(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on_prefix("/n/", ok("x"))
    urls = [server.url("/n/0"), "file:///etc/hostname", server.url("/n/1"), "no url"]
    items = sorted(cache.prefetch(urls, sizes=()), key=lambda item: item.index)
    assert [item.error and item.error.code for item in items] == [None, "denied", None, "bad_url"]

    async def prefetch() -> List[nuthatch.Item]:
        async with nuthatch.AsyncCache(tmp_path / "other") as other:
            return [item async for item in other.prefetch(urls, sizes=())]

    others = sorted(asyncio.run(prefetch()), key=lambda item: item.index)
    assert [item.error and item.error.code for item in others] == [None, "denied", None, "bad_url"]


def test_a_deadline_counts_the_wait_in_the_queue_except_in_a_prefetch(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    gate = server.gate("held")
    server.on_prefix("/held/", script(steps=[gate.step, body("x")]))
    server.on_prefix("/n/", ok("x"))
    held = [cache.submit(server.url(f"/held/{number}")) for number in range(6)]
    assert gate.wait_until_reached(6)
    items: List[nuthatch.Item] = []

    def prefetch() -> None:
        items.extend(cache.prefetch(numbered(server, 2), sizes=(), deadline=8))

    async def prefetch_too() -> None:
        async with nuthatch.AsyncCache(tmp_path / "cache") as other:
            async for item in other.prefetch(numbered(server, 2, 2), sizes=(), deadline=8):
                items.append(item)

    threads = [
        threading.Thread(target=prefetch),
        threading.Thread(target=lambda: asyncio.run(prefetch_too())),
    ]
    for thread in threads:
        thread.start()
    # The requests of the batches have waited longer than their deadline when this one fails.
    with pytest.raises(nuthatch.TimeoutError, match="still waited for its turn"):
        cache.get(server.url("/n/9"), deadline=10)
    assert not items and server.count("/n/9") == 0
    gate.open()
    for thread in threads:
        thread.join()
    assert [item.ok for item in items] == [True] * 4
    assert [ticket.result().body for ticket in held] == [b"x"] * 6


def test_prefetch_reads_urls_as_needed_and_ends_with_its_loop(
    server: TestServer, cache: nuthatch.Cache
) -> None:
    gate = server.gate("never")
    server.on_prefix("/n/", ok("x", headers=[("Cache-Control", "max-age=60")]))
    server.on_prefix("/never/", script(steps=[gate.step, body("x")]))
    taken = 0

    def urls() -> Iterator[str]:
        nonlocal taken
        for number in range(100_000):
            taken += 1
            yield server.url(f"/n/{number}" if number < 5 else f"/never/{number}")

    nuthatch.queue(concurrency=4)
    try:
        for count, _ in enumerate(cache.prefetch(urls(), sizes=()), 1):
            if count == 5:
                assert cache.activity > 0
                break
    finally:
        nuthatch.queue()
    # Sixteen are under way, and eight times as many wait for their host.
    assert 5 <= taken <= 5 + 16 + 128 and cache.activity == 0


def test_hosts_that_hang_or_refuse_do_not_delay_others(server: TestServer, tmp_path: Path) -> None:
    server.on_prefix("/hang/", script(steps=[server.gate("never").step, body("x")]))
    server.on_prefix("/n/", ok("x"))
    count = 5000
    # Requests that hang, and those to a port without a server, never end.
    first = [server.url(f"/hang/{number}") for number in range(count)]
    first += [f"http://127.0.0.1:1/{number}" for number in range(count)]
    urls = first + [server.url(f"/n/{number}", host="b.localhost") for number in range(100)]

    def good(items: Iterator[nuthatch.Item]) -> List[int]:
        return sorted(item.index for item in islice((item for item in items if item.ok), 100))

    async def main() -> List[int]:
        async with nuthatch.AsyncCache(tmp_path / "other", timeout=600) as other:
            done = []
            async for item in other.prefetch(urls, sizes=()):
                if item.ok:
                    done.append(item.index)
                if len(done) == 100:
                    break
            return sorted(done)

    with nuthatch.Cache(tmp_path / "c", timeout=600) as cache:
        assert good(cache.prefetch(iter(urls), sizes=())) == list(range(2 * count, 2 * count + 100))
    assert asyncio.run(main()) == list(range(2 * count, 2 * count + 100))


def test_pages_side_by_side_that_fail_for_long_do_not_delay_others(
    server: TestServer, cache: nuthatch.Cache
) -> None:
    server.on_prefix("/busy/", answer(503))
    server.on_prefix("/n/", ok("x"))
    good = list(numbered(server, 250))
    busy = [server.url(f"/busy/{number}") for number in range(100)]
    items = cache.prefetch(good[:30] + busy + good[30:], sizes=())
    assert sorted(item.url for item in islice(items, len(good))) == sorted(good)


def test_a_host_that_refuses_is_given_up_after_give_up_after(cache: nuthatch.Cache) -> None:
    urls = [f"http://127.0.0.1:1/{number}" for number in range(50)]
    items = list(cache.prefetch(urls, sizes=(), give_up_after=0.5, retries=0))
    assert {item.error and item.error.code for item in items} == {"refused"}
    with pytest.raises(nuthatch.Invalid):
        list(cache.prefetch(urls, give_up_after=-1))


def test_several_prefetches_of_a_cache_run_side_by_side(server: TestServer, cache: nuthatch.Cache) -> None:
    never = server.gate("never")
    server.on("/never", script(steps=[never.step, body("x")]))
    server.on_prefix("/n/", ok("x", headers=[("Cache-Control", "max-age=60")]))

    def when_reached(count: int, do: Callable[[], None]) -> None:
        if never.wait_until_reached(count):
            do()

    # Two prefetches at once don't take each other's events.
    left, right = cache.prefetch(numbered(server, 50), ()), cache.prefetch(numbered(server, 50, 50), ())
    assert [(one.ok, other.ok) for one, other in zip(left, right)] == [(True, True)] * 50
    # cancel_all of the cache also cancels a prefetch.
    items = cache.prefetch([server.url("/never")], (), tag="mine")
    threading.Thread(target=when_reached, args=[1, lambda: cache.cancel_all("mine")]).start()
    assert [item.error and item.error.code for item in items] == ["cancelled"]
    # Closing the cache ends a prefetch.
    threading.Thread(target=when_reached, args=[2, cache.close]).start()
    with pytest.raises(nuthatch.Closed):
        list(cache.prefetch([server.url("/never")], ()))
    with pytest.raises(nuthatch.Closed):
        cache.prefetch([])


def test_none_in_a_list_is_a_failure_of_its_item(server: TestServer, cache: nuthatch.Cache) -> None:
    """None and other wrong values stop nothing, and are not the end."""
    server.on_prefix("/n/", ok("x"))
    first, last = numbered(server, 2)
    urls: List[Any] = [first, None, 5.5, last]

    async def later() -> AsyncIterator[str]:
        for url in urls:
            yield url

    async def main(given: Any) -> List[nuthatch.Item]:
        async with nuthatch.AsyncCache(**cache._arguments) as other:
            return [item async for item in other.prefetch(given, ())]

    for items in (list(cache.prefetch(urls, ())), asyncio.run(main(urls)), asyncio.run(main(later()))):
        told = sorted((item.index, item.ok, item.error and item.error.code) for item in items)
        assert told == [(0, True, None), (1, False, "bad_url"), (2, False, "bad_url"), (3, True, None)]


def test_several_threads_prefetch_at_once(cache: nuthatch.Cache) -> None:
    failures: List[BaseException] = []
    is_over = threading.Event()

    def work() -> None:
        try:
            while not is_over.is_set():
                # Leave the loop in its middle, while some requests are under way and some just end.
                for _ in cache.prefetch(["data:,x"] * 3, ()):
                    break
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work) for _ in range(3)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        end = time.monotonic() + 2
        while time.monotonic() < end:
            cache.cancel_all("none")
            assert cache.activity >= 0
            cache.wait_idle(0)
    finally:
        is_over.set()
        sys.setswitchinterval(before)
        for thread in threads:
            thread.join()
    assert not failures and not cache._twins


@pytest.mark.parametrize("has_tqdm", [True, False])
def test_prefetch_shows_its_progress(
    server: TestServer, cache: nuthatch.Cache, capsys: Any, monkeypatch: Any, has_tqdm: bool
) -> None:
    server.on_prefix("/n/", ok("x", headers=[("Cache-Control", "max-age=60")]))
    if has_tqdm:
        pytest.importorskip("tqdm")
    else:
        imported = builtins.__import__

        def without(name: str, *arguments: Any) -> Any:
            if name.startswith("tqdm"):
                raise ImportError(name)
            return imported(name, *arguments)

        monkeypatch.setattr(builtins, "__import__", without)
        monkeypatch.setitem(__import__("sys").modules, "tqdm", None)
        monkeypatch.setitem(__import__("sys").modules, "tqdm.auto", None)
    assert len(list(cache.prefetch([*numbered(server, 9), "no url"], (), progress=True))) == 10
    shown = capsys.readouterr().err
    assert "10/10" in shown if has_tqdm else shown.startswith("10 of 10 URLs, 1 failed, ")


def test_progress_without_standard_error_is_ignored(
    server: TestServer, cache: nuthatch.Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a service that was started without standard error."""
    server.on("/a", ok(png(64, 48), "image/png"))
    monkeypatch.setattr(sys, "stderr", None)
    assert [item.ok for item in cache.prefetch([server.url("/a")], 32, progress=True)] == [True]
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert [item.ok for item in cache.prefetch([server.url("/a")], 32, progress=True)] == [True]


def test_sizes_may_be_one_number(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok(png(64, 48), "image/png"))
    (item,) = cache.prefetch([server.url("/a")], 32, images=True)
    assert [image.size for image in item.images] == [(32, 24)]


def test_prefetch_refuses_wrong_arguments(cache: nuthatch.Cache) -> None:
    with pytest.raises(TypeError):
        cache.prefetch("http://x/")
    with pytest.raises(nuthatch.Invalid):
        cache.prefetch(["http://x/"], sizes=[0])
    with pytest.raises(nuthatch.Invalid):
        list(cache.prefetch(["http://x/"], fit="fill"))
    with pytest.raises(TypeError):
        list(cache.prefetch(["http://x/"], nonsense=1))  # type: ignore[call-arg]


def test_prefetch_of_a_site_uses_its_base_url(
    server: TestServer, cache: nuthatch.Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUT_PASSWORD", "secret")
    server.echo("/api/echo")
    server.echo("/echo")
    server.on("/api/a.png", ok(png(64, 48), "image/png"))
    site = cache.site(
        server.url("/api/"),
        headers=[("X-Api", "1")],
        user=("me", ""),
        password_provider="env:NUT_PASSWORD",
        timeout=5,
        user_agent="own/1",
    )
    for again in (site, pickle.loads(pickle.dumps(site))):
        sent = again.get("echo").json()["headers"]
        assert ["X-Api", "1"] in sent and ["User-Agent", "own/1"] in sent
        assert any(name == "Authorization" for name, _ in sent)
    assert (
        site.request("POST", "/echo", form={"a": ["1", "2"], "b": "ü"}).json()["body"] == "a=1&a=2&b=%C3%BC"
    )
    image = site.thumbnail("a.png", 16)
    assert (image.url, image.final_url) == ("a.png", server.url("/api/a.png"))
    assert site.peek("a.png", 16) is not None and site.peek("a.png", 17) is None
    assert site.submit("a.png", size=16).result().is_in_cache
    assert [item.ok for item in site.prefetch(["a.png", "b.png"], [16])].count(True) == 1
    assert "api" in repr(site)
    with pytest.raises(nuthatch.Invalid):
        cache.site(server.url("/"), disk_bytes=1 << 30)  # type: ignore[call-arg]
    with pytest.raises(nuthatch.BadURL):
        cache.site("nonsense")


def test_prefetch_sends_forms_and_files(server: TestServer, cache: nuthatch.Cache, tmp_path: Path) -> None:
    server.echo("/echo")
    (tmp_path / "nut.txt").write_text("hazel")
    sent = cache.request(
        "POST",
        server.url("/echo"),
        form={"kind": "nut"},
        files={"one": b"1", "two": ('a"b.bin', b"2"), "three": tmp_path / "nut.txt"},
    ).json()
    kind = dict(sent["headers"])["Content-Type"]
    assert kind.startswith("multipart/form-data; boundary=")
    parts = sent["body"].split("--" + kind.split("boundary=")[1])
    assert len(parts) == 6 and parts[-1] == "--\r\n"
    assert 'name="kind"\r\n\r\nnut\r\n' in parts[1]
    assert 'name="two"; filename="a%22b.bin"' in parts[3] and 'filename="nut.txt"' in parts[4]
    for wrong in ({"json": 1, "form": {}}, {"body": b"", "files": {}}):
        with pytest.raises(nuthatch.Invalid):
            cache.request("POST", server.url("/echo"), **wrong)  # type: ignore[arg-type]
    server.on("/xml", ok("<nuts><nut/></nuts>"))
    assert [child.tag for child in cache.get(server.url("/xml")).xml()] == ["nut"]


def test_functions_are_asked_the_questions_of_requests(server: TestServer, cache: nuthatch.Cache) -> None:
    server.echo("/echo")
    server.on("/locked", answer(401, "who?", [("WWW-Authenticate", 'Basic realm="nuts"')]))
    sent = cache.get(server.url("/echo"), ask_headers=lambda url: {"X-Asked": url}).json()["headers"]
    assert ["X-Asked", server.url("/echo")] in sent
    seen = []

    def credentials(response: nuthatch.Response) -> Any:
        seen.append(response.status)
        return "me", "secret"

    cache.get(server.url("/locked"), ask_credentials=credentials, retries=0)
    assert seen == [401]
    assert server.requests("/locked")[-1].header("Authorization") is not None
    with pytest.raises(nuthatch.HTTPStatusError):
        cache.get(server.url("/echo?1"), ask_verdict=lambda response: False)
    assert cache.get(server.url("/echo?1"), ask_verdict=lambda response: "accept").ok

    def broken(response: nuthatch.Response) -> bool:
        raise LookupError("nobody knows")

    with pytest.raises(LookupError):
        cache.get(server.url("/echo?2"), ask_verdict=broken)
    with pytest.raises(nuthatch.Invalid):
        cache.get(server.url("/echo?3"), ask_verdict=lambda response: "perhaps")
    with pytest.raises(nuthatch.BadHeader):
        cache.get(server.url("/echo?4"), ask_headers=lambda url: {"X": "a\nb"})
    with pytest.raises(LookupError):
        list(cache.prefetch([server.url("/echo?5")], (), ask_verdict=broken))
    assert cache.activity == 0


def test_prefetch_refuses_one_cache_key_for_all_urls(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on_prefix("/n/", ok("x"))
    site = cache.site(server.url("/"))
    for fetching in (cache, site):
        with pytest.raises(nuthatch.Invalid, match=r"cache.key"):
            list(fetching.prefetch(numbered(server, 2), (), cache_key="x"))
        for submit in (fetching.submit, fetching.get):
            with pytest.raises(nuthatch.Invalid, match=r"cache.key"):
                submit(server.url("/n/1"), cache_key="")
        with pytest.raises(nuthatch.Invalid, match=r"cache.key"):
            fetching.thumbnail(server.url("/n/1"), 16, cache_key="")

    async def main() -> None:
        async with nuthatch.AsyncCache(tmp_path / "other") as other:
            for prefetch in (other.prefetch, other.site(server.url("/")).prefetch):
                with pytest.raises(nuthatch.Invalid, match=r"cache.key"):
                    [item async for item in prefetch(numbered(server, 2), (), cache_key="x")]
            with pytest.raises(nuthatch.Invalid, match=r"cache.key"):
                await other.get(server.url("/n/1"), cache_key="")

    asyncio.run(main())
    assert server.count() == 0
    assert len(list(cache.prefetch(numbered(server, 2), (), cache_key=None))) == 2


def test_iterators_as_options_apply_to_all_requests(server: TestServer, tmp_path: Path) -> None:
    server.on_prefix("/n/", ok("x"))

    def headers() -> Any:
        return iter([("X-A", "1"), ("X-A", "2")])

    with nuthatch.Cache(tmp_path / "c") as cache:
        assert len(list(cache.prefetch(numbered(server, 3), (), headers=headers()))) == 3
        ticket = cache.submit(server.url("/n/3"), headers=headers(), policy="reload")
        assert ticket.result().ok and ticket.resubmit().result().ok

    async def main(cache: nuthatch.AsyncCache, site: nuthatch.AsyncSite) -> None:
        plain = nuthatch.AsyncCache(tmp_path / "c")
        ended = [item.ok async for item in plain.prefetch(numbered(server, 3, 4), (), headers=headers())]
        sent = [
            item.ok
            async for item in plain.prefetch(
                numbered(server, 3, 7), (), method="POST", form=iter([("a", "1")])
            )
        ]
        assert ended == sent == [True] * 3
        again = plain.submit(server.url("/n/10"), headers=headers(), policy="reload")
        assert (await again).ok and (await again.resubmit()).ok
        assert (await cache.get(server.url("/n/11"), policy="reload")).ok
        assert (await site.get("/n/12", policy="reload")).ok
        await plain.close()
        await cache.close()

    # Each event loop reads the options again.
    shared = nuthatch.AsyncCache(tmp_path / "c", headers=headers())
    below = shared.site(server.url("/"), headers=headers())

    async def first() -> None:
        assert (await shared.get(server.url("/n/11"), policy="reload")).ok
        assert (await below.get("/n/12", policy="reload")).ok

    asyncio.run(first())
    asyncio.run(main(shared, below))
    for number in [*range(7), *range(10, 13)]:
        requests = server.requests(f"/n/{number}")
        assert [request.values("X-A") for request in requests] == [["1", "2"]] * len(requests), number
        assert len(requests) == (1 if number not in (3, 10, 11, 12) else 2)
    assert [server.requests(f"/n/{number}")[0].body for number in range(7, 10)] == [b"a=1"] * 3


def test_sites_ask_the_questions_of_their_cache(server: TestServer, tmp_path: Path) -> None:
    """A question of a site or a request overrides the same one of the cache."""
    server.echo("/echo")
    server.on("/locked", answer(401, "who?", [("WWW-Authenticate", "Nut")]))
    heard: List[str] = []

    def token(url: str) -> Any:
        return {"X-Token": "cache"}

    def verdict(response: nuthatch.Response) -> bool:
        heard.append("verdict")
        return True

    def challenge(response: nuthatch.Response) -> Any:
        heard.append("challenge")

    def credentials(response: nuthatch.Response) -> Any:
        heard.append("credentials")

    asks: Any = {
        "ask_headers": token, "ask_verdict": verdict, "ask_challenge": challenge, "ask_credentials": credentials,
    }  # fmt: skip

    def tokens() -> List[Any]:
        return [request.header("X-Token") for request in server.requests("/echo")]

    with nuthatch.Cache(tmp_path / "c", **asks) as cache:
        site = cache.site(server.url("/"))
        own = cache.site(server.url("/"), ask_headers=lambda url: {"X-Token": "site"})
        none = cache.site(server.url("/"), ask_headers=None)
        assert site.get("/echo?1").ok and heard == ["verdict"]
        assert [item.ok for item in site.prefetch(["/echo?2"], ())] == [True] and heard == ["verdict"] * 2
        assert own.get("/echo?3").ok and none.get("/echo?4").ok and heard == ["verdict"] * 4
        assert site.get("/echo?5", ask_headers=lambda url: {"X-Token": "request"}).ok
        assert site.get("/echo?6", ask_headers=None, ask_verdict=None).ok and heard == ["verdict"] * 5
        assert tokens() == ["cache", "cache", "site", None, "request", None]
        heard.clear()
        assert site.get("/locked", ask_verdict=None).status == 401
        assert site.get("/locked", ask_verdict=None, ask_credentials=None).status == 401
        assert heard == ["credentials", "challenge"]
        # The answer depends on the function's result, so it must be asked first.
        assert site.peek("/echo?1", 16) is None

    async def main() -> None:
        async with nuthatch.AsyncCache(tmp_path / "c", **asks) as cache:
            heard.clear()
            assert (await cache.site(server.url("/")).get("/echo?7")).ok and heard == ["verdict"]
            other = cache.site(server.url("/"), ask_verdict=None)
            assert [item.ok async for item in other.prefetch(["/echo?8"], ())] == [True] and heard == [
                "verdict"
            ]

    asyncio.run(main())
    assert tokens()[6:] == ["cache", "cache"]


def test_a_cache_with_questions_asks_them_for_hits_too(server: TestServer, tmp_path: Path) -> None:
    server.on("/a.png", ok(png(64, 48), "image/png"))
    names = iter(["one", "two", "two"])
    with nuthatch.Cache(tmp_path / "c", ask_headers=lambda url: {"X-Token": next(names)}) as cache:
        # The answer depends on the function's result, so nothing is returned before.
        for _ in range(3):
            assert cache.thumbnail(server.url("/a.png"), 16).size == (16, 12)
            assert cache.peek(server.url("/a.png"), 16) is None
    assert [one.header("X-Token") for one in server.requests("/a.png")] == ["one", "two"]
