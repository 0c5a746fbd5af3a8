"""Reachability of sites, and requests under way that are cancelled, closed, or given another priority."""

import threading
import time
from pathlib import Path
from typing import List, Optional

import nuthatch
import pytest
from asleep import wait_until_asleep
from testserver import HEAD, TestServer, body, script, wait


def test_sites_report_whether_they_can_be_reached(offline: TestServer, cache: nuthatch.Cache) -> None:
    heard: List[bool] = []
    site = cache.site(offline.url("/"))
    site.watch_reachability(heard.append)
    with pytest.raises(nuthatch.TransportError):
        site.get("a", retries=0)
    assert cache.outbox.dispatch(30) == 1 and heard == [False] and site.reachable is False
    offline.go_up()
    assert site.get("a").ok
    assert cache.outbox.dispatch(30) == 1 and heard == [False, True] and site.reachable is True
    assert cache.site("http://nobody.example/").reachable is None


def test_a_site_cancels_only_its_own_requests(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on_prefix("/slow", script(200, steps=[wait("g"), HEAD, body("x")]))
    site, same = cache.site(server.url("/")), cache.site(server.url("/"))
    mine = [site.submit(f"slow/{number}") for number in range(2)]
    others = [same.submit("slow/3"), cache.submit(server.url("/slow/4"), tag="t")]
    items = site.prefetch([f"slow/{number}" for number in (5, 6)], sizes=[])
    ended: List[Optional[str]] = []
    thread = threading.Thread(target=lambda: ended.extend(item.error and item.error.code for item in items))
    thread.start()
    for _ in range(3000):
        if cache.activity == 6:
            break
        time.sleep(0.01)
    site.cancel_all()
    thread.join(30)
    assert ended == ["cancelled", "cancelled"]
    assert [ticket.state for ticket in mine] == ["cancelled"] * 2 and cache.activity == 2
    cache.cancel_all(tag="t")
    assert [ticket.state == "cancelled" for ticket in others] == [False, True]
    server.gate("g").open()
    assert others[0].result(timeout=30).ok and cache.wait_idle(30)
    for ticket in mine:
        assert ticket.resubmit().result(timeout=30).text == "x"


def test_close_with_drain_waits_for_requests_under_way(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", script(200, steps=[HEAD, wait("slow"), body("slow")]))
    cache = nuthatch.Cache(tmp_path / "cache")
    ticket = cache.submit(server.url("/a"))
    assert server.wait_for_requests(1, "/a")

    def let_it_end(closer: int) -> None:
        wait_until_asleep(closer)
        server.gate("slow").open()

    thread = threading.Thread(target=let_it_end, args=[threading.get_native_id()])
    thread.start()
    cache.close(drain=30)
    assert ticket.result().text == "slow"
    thread.join()
    cache = nuthatch.Cache(tmp_path / "cache")
    server.on("/b", script(200, steps=[wait("g"), HEAD, body("x")]))
    ticket = cache.submit(server.url("/b"))
    begin = time.monotonic()
    cache.close(drain=0.3)
    assert 0.25 < time.monotonic() - begin < 20
    with pytest.raises(nuthatch.Closed):
        ticket.result()
    server.gate("g").open()


def test_the_priority_of_a_waiting_request_can_change(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on_prefix("/", script(200, steps=[wait("g"), HEAD, body("x")]))
    # A request that waits for its answer doesn't always count for `concurrency`, but always for `per_host`.
    nuthatch.queue(concurrency=1, per_host=1)
    try:
        first = cache.submit(server.url("/first"))
        assert server.wait_for_requests(1)
        tickets = [cache.submit(server.url(f"/{number}"), priority=5 - number) for number in range(3)]
        tickets[2].set_priority(10)
        # A request that has joined another one's shows that this one is in the queue.
        joining = [cache.submit(server.url(f"/{number}"), priority=-10) for number in range(3)]
        for _ in range(3000):
            if cache.stats()["joined"] == 3:
                break
            time.sleep(0.01)
        assert cache.stats()["joined"] == 3
        server.gate("g").open()
        for ticket in [first, *tickets, *joining]:
            assert ticket.result(timeout=30).ok
    finally:
        nuthatch.queue()
    assert [request.path for request in server.requests()] == ["/first", "/2", "/0", "/1"]
