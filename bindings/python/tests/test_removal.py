"""A removed answer stays removed: whichever process removed it, and while answers are under way."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nuthatch
import pytest
from pictures import png
from testserver import Script, TestServer, answer, body, ok, script, wait

FRESH = ("Cache-Control", "max-age=600")
STALE = ("Cache-Control", "max-age=0")
OLD, NEW = png(32, 32, seed=1), png(32, 32, seed=2)

REMOVER = """
import sys
import nuthatch

folder, way, url = sys.argv[1:]
with nuthatch.Cache(folder) as cache:
    if way == "remove":
        cache.remove(url)
    elif way == "clear":
        cache.clear()
    else:
        assert cache.request("POST", url, body=b"x").status == 200
"""


def remove(cache: nuthatch.Cache, folder: Path, way: str, url: str, is_other: bool) -> None:
    """Removes in this process or in another one."""
    if is_other:
        subprocess.run([sys.executable, "-c", REMOVER, str(folder), way, url], check=True, timeout=60)
    elif way == "remove":
        cache.remove(url)
    elif way == "clear":
        cache.clear()
    else:
        assert cache.request("POST", url, body=b"x").status == 200


def held(content: bytes, gate: str) -> Script:
    """Returns an answer with a long lifetime that stops in the middle of its body until the gate is opened."""
    return script(headers=[FRESH], steps=[body(content[:20]), wait(gate), body(content[20:])])


@pytest.mark.parametrize("is_other", [False, True], ids=["same process", "another process"])
@pytest.mark.parametrize("way", ["remove", "clear", "post"])
@pytest.mark.parametrize("kind", ["answer", "picture", "not modified"])
def test_an_answer_that_is_removed_while_under_way_is_not_stored(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path, kind: str, way: str, is_other: bool
) -> None:
    url, bystander = server.url("/a"), server.url("/b")
    server.on("/b", held(OLD, "b"))
    done = [answer(200, b"done")] if way == "post" else []
    if kind == "not modified":
        again = script(304, [FRESH, ("ETag", '"1"')], [wait("a")])
        server.on("/a", ok(OLD, headers=[STALE], etag='"1"'), again, *done, ok(NEW, headers=[FRESH]))
        assert cache.get(url).body == OLD
    else:
        server.on("/a", held(OLD, "a"), *done, ok(NEW, headers=[FRESH]))

    def fetch(url: str) -> object:
        if kind == "picture":
            return cache.thumbnail(url, 8).pixels.tobytes()
        return bytes(cache.get(url).body)

    with ThreadPoolExecutor(2) as pool:
        on_its_way = pool.submit(fetch, url)
        other = pool.submit(fetch, bystander)
        assert server.gate("a").wait_until_reached() and server.gate("b").wait_until_reached()
        try:
            remove(cache, tmp_path / "cache", way, url, is_other)
        finally:
            server.gate("a").open()
            server.gate("b").open()
        # The request from before the removal gets the answer that was under way.
        old = on_its_way.result(60)
        assert other.result(60) == old
    before = server.count("/a")
    assert fetch(url) != old
    assert server.count("/a") == before + 1
    if kind == "not modified":
        assert server.requests("/a")[-1].header("If-None-Match") is None
    # Removing one URL doesn't affect another one.
    assert cache.get(bystander).is_in_cache == (way != "clear")


@pytest.mark.parametrize("way", ["remove", "clear", "post"])
@pytest.mark.parametrize("spill", ["eager", "pressure"])
def test_an_answer_that_another_process_removes_is_no_hit(
    server: TestServer, tmp_path: Path, way: str, spill: str
) -> None:
    done = [answer(200, b"done")] if way == "post" else []
    server.on("/a", ok(OLD, headers=[FRESH]), *done, ok(NEW, headers=[FRESH]))
    url = server.url("/a")
    with nuthatch.Cache(tmp_path / "cache", spill=spill) as cache:
        first = cache.thumbnail(url, 8)
        for _ in range(3):
            assert cache.peek(url, 8) is not None and cache.get(url).is_in_cache
        remove(cache, tmp_path / "cache", way, url, is_other=True)
        assert cache.peek(url, 8) is None
        again = cache.thumbnail(url, 8)
        assert not again.is_in_cache and again.pixels.tobytes() != first.pixels.tobytes()


def test_a_newer_answer_of_another_process_replaces_the_one_in_memory(
    server: TestServer, tmp_path: Path
) -> None:
    server.on("/a", ok(b"old", headers=[FRESH]), ok(b"new", headers=[FRESH]))
    url = server.url("/a")
    reload = (
        "import sys, nuthatch\n"
        "with nuthatch.Cache(sys.argv[1]) as cache:\n"
        "    assert bytes(cache.get(sys.argv[2], policy='reload').body) == b'new'"
    )
    with nuthatch.Cache(tmp_path / "cache", spill="pressure") as cache:
        assert bytes(cache.get(url).body) == b"old"
        subprocess.run([sys.executable, "-c", reload, str(tmp_path / "cache"), url], check=True, timeout=60)
        assert bytes(cache.get(url).body) == b"new"
        with nuthatch.Cache(tmp_path / "cache", spill="pressure") as handle:
            assert bytes(handle.get(url).body) == b"new"
        cache.flush()
        assert bytes(cache.get(url).body) == b"new"
    with nuthatch.Cache(tmp_path / "cache") as cache:
        assert bytes(cache.get(url).body) == b"new" and server.count("/a") == 2


def test_removing_a_url_removes_it_for_all_callers_and_keys(
    server: TestServer, cache: nuthatch.Cache
) -> None:
    server.on_prefix("/", ok(b"x", headers=[FRESH]))
    url = server.url("/a?b=1")
    ways = [{}, {"user": ("ann", "pw")}, {"partition": "p"}, {"cache_key": "name"}, {"ignore_query": True}]
    for options in ways:
        cache.get(url, **options)
        assert cache.get(url, **options).is_in_cache
    cache.get(server.url("/a?b=2"))
    # With an option, less is removed.
    cache.remove(url, partition="p")
    assert not cache.get(url, partition="p").is_in_cache
    assert cache.get(url).is_in_cache and cache.get(url, user=("ann", "pw")).is_in_cache
    cache.remove(url)
    for options in ways:
        assert not cache.get(url, **options).is_in_cache, options
    assert cache.get(server.url("/a?b=2")).is_in_cache


def test_removing_a_url_keeps_a_cache_key_that_another_url_uses(
    server: TestServer, cache: nuthatch.Cache
) -> None:
    server.on_prefix("/", ok(b"x", headers=[FRESH]))
    cache.get(server.url("/a"), cache_key="name")
    cache.get(server.url("/b"), cache_key="name", policy="reload")
    cache.remove(server.url("/a"))
    assert cache.get(server.url("/b"), cache_key="name").is_in_cache
    cache.remove(server.url("/b"))
    assert not cache.get(server.url("/b"), cache_key="name").is_in_cache
