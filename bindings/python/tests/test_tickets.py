"""Requests under way, and further calls of a cache."""

import os
import pickle
import signal
import threading
import time
from pathlib import Path

import nuthatch
import pytest
from pictures import png
from testserver import TestServer, body, ok, script


@pytest.fixture
def url(server: TestServer) -> str:
    server.on("/a.png", ok(png(640, 480), "image/png"))
    return server.url("/a.png")


def test_a_thumbnail_and_its_original_are_stored(server: TestServer, cache: nuthatch.Cache, url: str) -> None:
    first = cache.thumbnail(url, 64)
    again = cache.thumbnail(url, 64)
    other = cache.thumbnail(url, 32)
    assert (first.is_in_cache, again.is_in_cache, other.is_in_cache) == (False, True, True)
    assert first.pixels == again.pixels
    assert (again.source, again.is_stale, again.final_url) == ("memory", False, url)
    assert again.age >= 0
    # The same size is not decoded again, and the server got one request.
    assert cache.stats()["decodes"] == 2
    assert server.count("/a.png") == 1


def test_a_thumbnail_of_another_process_is_a_hit(tmp_path: Path, server: TestServer, url: str) -> None:
    with nuthatch.Cache(tmp_path / "c") as cache:
        cache.thumbnail(url, 64)
    with nuthatch.Cache(tmp_path / "c", policy="offline") as cache:
        assert cache.thumbnail(url, 64).is_in_cache
        assert cache.stats()["decodes"] == 0
        with pytest.raises(nuthatch.Offline):
            cache.get(server.url("/never"))


def test_several_sizes_are_one_fetch(server: TestServer, cache: nuthatch.Cache, url: str) -> None:
    images = cache.submit(url, sizes=[64, (10, 100)]).result(timeout=60)
    assert isinstance(images, list)
    assert [image.size for image in images] == [(64, 48), (10, 8)]
    image = cache.submit(url, size=16).result()
    assert isinstance(image, nuthatch.Image) and image.size == (16, 12)
    assert server.count("/a.png") == 1


def test_events_come_in_order(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", script(headers=[["Cache-Control", "max-age=0"], ["ETag", '"1"']], steps=[body("x")]))
    with nuthatch.Cache(tmp_path / "c") as cache:
        assert [event.kind for event in cache.submit(server.url("/a")).events(timeout=60)] == ["fresh"]
        ticket = cache.submit(server.url("/a"), progress_events=True)
        events = list(ticket.events(timeout=60))
        kinds = [event.kind for event in events if event.kind != "progress"]
        assert kinds == ["cached", "fresh"]
        assert [event.is_final for event in events][-1]
        assert events[0].is_stale and events[0].is_in_cache and not events[-1].is_in_cache
        assert events[0].response is not None and events[0].response.text == "x"
        assert ticket.state == "done"
        # A later caller gets the final event, too.
        response = ticket.result()
        assert isinstance(response, nuthatch.Response) and response.text == "x"


def test_the_timeout_of_a_wait_does_not_end_the_request(server: TestServer, cache: nuthatch.Cache) -> None:
    gate = server.gate("gate")
    server.on("/slow", script(steps=[gate.step, body("late")]))
    ticket = cache.submit(server.url("/slow"), priority=3)
    with pytest.raises(nuthatch.TimeoutError):
        ticket.result(timeout=0.05)
    with pytest.raises(nuthatch.TimeoutError):
        next(ticket.events(timeout=0.05))
    assert ticket.state in ("queued", "running") and cache.activity == 1
    assert cache.wait_idle(0.05) is False
    ticket.set_priority(-3)
    gate.open()
    response = ticket.result(timeout=60)
    assert isinstance(response, nuthatch.Response) and response.text == "late"
    assert cache.wait_idle() is True and cache.activity == 0


def test_cancelling_ends_a_request(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/never", script(steps=[server.gate("never").step, body("x")]))
    server.on("/b", ok("b"))
    tickets = [cache.submit(server.url("/never"), tag=tag) for tag in ("a", "a", "b")]
    cache.cancel_all(tag="a")
    for ticket in tickets[:2]:
        with pytest.raises(nuthatch.Cancelled):
            ticket.result()
        assert ticket.state == "cancelled"
    tickets[2].cancel()
    assert [event.kind for event in tickets[2].events()] == ["cancelled"]
    cache.cancel_all()
    again = cache.submit(server.url("/b"), priority=1)
    assert again.result(timeout=60).text == again.resubmit().result(timeout=60).text == "b"  # type: ignore[union-attr]


def test_deleting_a_ticket_does_not_cancel_its_request(server: TestServer, cache: nuthatch.Cache) -> None:
    gate = server.gate("gate")
    server.on("/a", script(headers=[["Cache-Control", "max-age=60"]], steps=[gate.step, body("x")]))
    cache.submit(server.url("/a"))
    gate.open()
    assert cache.wait_idle(60)
    assert cache.get(server.url("/a")).is_in_cache


def test_several_threads_can_wait_for_a_ticket(cache: nuthatch.Cache, url: str) -> None:
    ticket = cache.submit(url, size=64)
    sizes = []
    threads = [threading.Thread(target=lambda: sizes.append(ticket.result(60).size)) for _ in range(8)]  # type: ignore[union-attr]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sizes == [(64, 48)] * 8


def test_peek_returns_thumbnails_at_once_and_sends_nothing(
    server: TestServer, cache: nuthatch.Cache, url: str
) -> None:
    assert cache.peek(url, 64) is None
    shown = cache.thumbnail(url, 64)
    seen = cache.peek(url, 64)
    assert seen is not None and seen.is_in_cache and seen.pixels == shown.pixels
    assert cache.peek(url, 65) is None
    cache.remove(url)
    assert cache.peek(url, 64) is None
    assert server.count("/a.png") == 1
    assert not cache.thumbnail(url, 64).is_in_cache
    with pytest.raises(nuthatch.Invalid):
        cache.peek(url, 0)
    with pytest.raises(nuthatch.BadURL):
        cache.peek("nonsense", 64)


def test_upkeep_removes_trims_and_clears(cache: nuthatch.Cache, url: str) -> None:
    cache.thumbnail(url, 64)
    stats = cache.stats()
    assert stats["thumbs"] == 1 and stats["requests"] == 1 and stats["disk_bytes"] > 0
    cache.flush()
    cache.trim(0)
    assert cache.stats()["thumbs"] == 0
    cache.thumbnail(url, 64)
    cache.clear()
    assert cache.stats()["thumbs"] == 0


def test_options_of_a_cache_apply_to_all_requests(server: TestServer, tmp_path: Path) -> None:
    server.echo("/echo")
    with nuthatch.Cache(
        tmp_path / "c", headers={"X-Mine": "1"}, accept="text/plain", retries=0, partition="p", thumb_store="raw",
        spill="eager", keep_source=False, memory_bytes=1 << 20, memory_items=100, disk_bytes=8 << 20,
        max_pixels=1000, addresses="any", policy="rfc9111", proxy="",
    ) as cache:  # fmt: skip
        sent = cache.get(server.url("/echo")).json()["headers"]
        assert ["X-Mine", "1"] in sent and ["Accept", "text/plain"] in sent
        server.on("/a.png", ok(png(40, 30), "image/png"))
        with pytest.raises(nuthatch.TooLarge):
            cache.thumbnail(server.url("/a.png"), 10)
        again = pickle.loads(pickle.dumps(cache))
        assert ["X-Mine", "1"] in again.get(server.url("/echo")).json()["headers"]
        again.close()
        with pytest.raises(nuthatch.Conflict):
            nuthatch.Cache(tmp_path / "c", thumb_store="lossless")


@pytest.mark.parametrize(
    "wrong",
    [
        {"policy": "strict"}, {"addresses": "none"}, {"spill": "never"}, {"thumb_store": "gif"}, {"retries": -1},
        {"max_bytes": 0}, {"memory_bytes": -1}, {"disk_bytes": -1}, {"timeout": 0}, {"proxy": "ftp://x"},
    ],
)  # fmt: skip
def test_a_cache_refuses_values_that_make_no_sense(tmp_path: Path, wrong: dict) -> None:  # type: ignore[type-arg]
    with pytest.raises(nuthatch.Invalid):
        nuthatch.Cache(tmp_path / "c", **wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"size": 0}, {"sizes": [70_000]}, {"fit": "fill"}, {"scaling": "good"}, {"delivery": "never"},
        {"priority": 11}, {"policy": "strict"}, {"addresses": "none"}, {"retries": -1}, {"max_pixels": -1},
        {"sizes": [1] * 65}, {"body": b"x", "json": 1}, {"user": "me"}, {"user": ("me",)}, {"files": {"a": ("n",)}},
    ],
)  # fmt: skip
def test_a_request_refuses_values_that_make_no_sense(cache: nuthatch.Cache, url: str, wrong: dict) -> None:  # type: ignore[type-arg]
    with pytest.raises(nuthatch.Invalid):
        cache.submit(url, **wrong)
    assert cache.activity == 0


def test_cache_keys_partitions_and_retries_are_used(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", script(headers=[["Cache-Control", "max-age=60"]], steps=[body("x")]))
    signed = [server.url(f"/a?signature={number}") for number in range(3)]
    assert not cache.get(signed[0], ignore_query=True).is_in_cache
    assert cache.get(signed[1], ignore_query=True).is_in_cache
    assert not cache.get(signed[2], cache_key="mine").is_in_cache
    assert cache.get(signed[0], cache_key="mine").is_in_cache
    assert not cache.get(signed[0], cache_key="mine", partition="other").is_in_cache
    server.on("/busy", script(status=503, headers=[["Retry-After", "7"]]))
    assert cache.get(server.url("/busy"), retries=0).status == 503
    with pytest.raises(nuthatch.HTTPStatusError) as caught:
        cache.thumbnail(server.url("/busy"), 16, retries=0)
    assert caught.value.status == 503


def test_queue_takes_valid_limits_and_refuses_others() -> None:
    nuthatch.queue(concurrency=4, per_host=2, rate=1000, inflight_bytes=1 << 20)
    nuthatch.queue()
    for wrong in [
        {"concurrency": 0},
        {"per_host": 513},
        {"per_host": -1},
        {"rate": 0},
        {"inflight_bytes": -1},
    ]:
        with pytest.raises(nuthatch.Invalid):
            nuthatch.queue(**wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="concurrency must be a whole number"):
        nuthatch.queue(concurrency="many")
    nuthatch.queue(concurrency="auto", per_host="auto")
    nuthatch.queue(per_host_grows=True)
    nuthatch.queue()


@pytest.mark.parametrize("waits", [False, True])
def test_a_ticket_can_not_be_used_in_a_forked_child(
    server: TestServer, cache: nuthatch.Cache, waits: bool
) -> None:
    server.on("/never", script(steps=[server.gate("never").step, body("x")]))
    ticket = cache.submit(server.url("/never"))
    thread = threading.Thread(target=lambda: pytest.raises(nuthatch.Cancelled, ticket.result))
    if waits:
        # The child has the lock that the thread holds, but not the thread.
        thread.start()
        while not ticket._lock.locked():
            time.sleep(0.001)
    child = os.fork()
    if child == 0:
        status = 1
        signal.alarm(60)
        try:
            ticket.result()
        except nuthatch.Forked:
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    ticket.cancel()
    if waits:
        thread.join()
