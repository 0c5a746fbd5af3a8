"""Many URLs, sites, and what requests ask their program."""

import asyncio
import builtins
import pickle
import sys
import threading
import time
from pathlib import Path
from typing import Any, AsyncIterator, Iterator, List

import nuthatch
import pytest
from pictures import png
from testserver import TestServer, answer, body, ok, script


def numbered(server: TestServer, count: int, first: int = 0) -> Iterator[str]:
    return (server.url(f"/n/{number}") for number in range(first, first + count))


def test_prefetch_tells_how_each_ended(server: TestServer, cache: nuthatch.Cache) -> None:
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


def test_prefetch_is_lazy_and_ends_with_its_loop(server: TestServer, cache: nuthatch.Cache) -> None:
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
    assert 5 <= taken <= 5 + 16 and cache.activity == 0


def test_prefetch_and_the_rest_of_a_cache(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/never", script(steps=[server.gate("never").step, body("x")]))
    server.on_prefix("/n/", ok("x", headers=[("Cache-Control", "max-age=60")]))
    # Two at once don't take each other's.
    left, right = cache.prefetch(numbered(server, 50), ()), cache.prefetch(numbered(server, 50, 50), ())
    assert [(one.ok, other.ok) for one, other in zip(left, right)] == [(True, True)] * 50
    # It is part of what the cache cancels.
    items = cache.prefetch([server.url("/never")], (), tag="mine")
    threading.Timer(0.2, lambda: cache.cancel_all("mine")).start()
    assert [item.error and item.error.code for item in items] == ["cancelled"]
    # And it ends with it.
    threading.Timer(0.2, cache.close).start()
    with pytest.raises(nuthatch.Closed):
        list(cache.prefetch([server.url("/never")], ()))
    with pytest.raises(nuthatch.Closed):
        cache.prefetch([])


def test_lists_with_gaps(server: TestServer, cache: nuthatch.Cache) -> None:
    """None and the like stop nothing, and aren't the end."""
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


def test_other_threads_prefetch_meanwhile(cache: nuthatch.Cache) -> None:
    failures: List[BaseException] = []
    is_over = threading.Event()

    def work() -> None:
        try:
            while not is_over.is_set():
                # Left in the middle, so that some are under way and some just end.
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
def test_progress(
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


def test_progress_that_nobody_can_see(
    server: TestServer, cache: nuthatch.Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a service that was started without standard error."""
    server.on("/a", ok(png(64, 48), "image/png"))
    monkeypatch.setattr(sys, "stderr", None)
    assert [item.ok for item in cache.prefetch([server.url("/a")], 32, progress=True)] == [True]
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert [item.ok for item in cache.prefetch([server.url("/a")], 32, progress=True)] == [True]


def test_one_size(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok(png(64, 48), "image/png"))
    (item,) = cache.prefetch([server.url("/a")], 32, images=True)
    assert [image.size for image in item.images] == [(32, 24)]


def test_what_prefetch_refuses(cache: nuthatch.Cache) -> None:
    with pytest.raises(TypeError):
        cache.prefetch("http://x/")
    with pytest.raises(nuthatch.Invalid):
        cache.prefetch(["http://x/"], sizes=[0])
    with pytest.raises(nuthatch.Invalid):
        list(cache.prefetch(["http://x/"], mode="stretch"))
    with pytest.raises(TypeError):
        list(cache.prefetch(["http://x/"], nonsense=1))  # type: ignore[call-arg]


def test_a_site(server: TestServer, cache: nuthatch.Cache) -> None:
    server.echo("/api/echo")
    server.echo("/echo")
    server.on("/api/a.png", ok(png(64, 48), "image/png"))
    site = cache.site(
        server.url("/api/"), headers=[("X-Api", "1")], user=("me", "secret"), timeout=5, user_agent="own/1"
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


def test_forms_and_files(server: TestServer, cache: nuthatch.Cache, tmp_path: Path) -> None:
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


def test_questions(server: TestServer, cache: nuthatch.Cache) -> None:
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


def test_a_cache_that_asks(server: TestServer, tmp_path: Path) -> None:
    server.on("/a.png", ok(png(64, 48), "image/png"))
    names = iter(["one", "two", "two"])
    with nuthatch.Cache(tmp_path / "c", ask_headers=lambda url: {"X-Token": next(names)}) as cache:
        # Whose answer it is depends on what is said, so that nothing is shown before.
        for _ in range(3):
            assert cache.thumbnail(server.url("/a.png"), 16).size == (16, 12)
            assert cache.peek(server.url("/a.png"), 16) is None
    assert [one.header("X-Token") for one in server.requests("/a.png")] == ["one", "two"]
