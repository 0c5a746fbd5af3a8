"""Requests that wait for the network, and their outcomes."""

import asyncio
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import nuthatch
import pytest
from asleep import wait_until_asleep
from testserver import HEAD, TestServer, answer, body, ok, script, wait


def freeze(cache: nuthatch.Cache, url: str, **options: Any) -> int:
    with pytest.raises(nuthatch.Frozen) as raised:
        cache.request("POST", url, **{"body": b"seeds", "freezable": True, **options})
    assert raised.value.code == "frozen" and raised.value.url == url
    assert isinstance(raised.value.outbox_id, int) and raised.value.outbox_id > 0
    return raised.value.outbox_id


def run(program: str, *arguments: str, env: Optional[Dict[str, str]] = None) -> List[str]:
    """Runs a program in another process. Returns its output."""
    done = subprocess.run(
        [sys.executable, "-c", "import sys, nuthatch\n" + program, *arguments],
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def is_on_disk(secret: bytes, directory: Path) -> bool:
    files = [path for path in directory.rglob("*") if path.is_file()]
    assert any(path.name == "log" for path in files)
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)
    return any(secret in path.read_bytes() for path in files)


# Freezing and sending


def test_a_frozen_request_is_sent_when_its_server_is_there(
    offline: TestServer, cache: nuthatch.Cache
) -> None:
    url = offline.url("/a")
    heard: List[nuthatch.Outcome] = []
    cache.outbox.attach("rows", heard.append)
    id = freeze(cache, url, headers={"X-Row": "7"}, outbox_handler="rows", tag="t", outbox_queue="q")
    (item,) = cache.outbox.list()
    assert (item.id, item.method, item.url, item.queue) == (id, "POST", url, "q")
    assert (item.handler, item.tag, item.body_size) == ("rows", "t", 5)
    assert item.state in ("waiting", "sending") and abs(item.frozen_at - time.time()) < 60
    offline.go_up()
    cache.outbox.replay(id)
    assert cache.outbox.dispatch(30) == 1
    (outcome,) = heard
    assert (outcome.id, outcome.ok, outcome.status, outcome.reason) == (id, True, 200, None)
    assert outcome.response is not None and outcome.response.text == "thanks"
    # Its handler has returned, so it is removed.
    assert cache.outbox.list() == [] and cache.outbox.get(id) is None
    (sent,) = offline.requests("/a")
    assert (
        sent.body == b"seeds" and sent.header("X-Row") == "7" and sent.header("Idempotency-Key") == item.key
    )


@pytest.mark.parametrize("size", [1 << 20, (1 << 20) + 1])
def test_the_beginning_of_a_long_answer_is_kept(
    offline: TestServer, cache: nuthatch.Cache, size: int
) -> None:
    offline.on("/long", ok(b"x" * size))
    id = freeze(cache, offline.url("/long"))
    offline.go_up()
    cache.outbox.replay(id)
    outcome = cache.outbox.wait(id, 30)
    assert outcome is not None and outcome.ok and outcome.response is not None
    assert len(outcome.response.body) == 1 << 20 and outcome.response.is_cut == (size > 1 << 20)
    assert pickle.loads(pickle.dumps(outcome.response)).is_cut == outcome.response.is_cut
    assert not cache.get(offline.url("/long")).is_cut


def test_the_frozen_event_has_the_requests_number(offline: TestServer, cache: nuthatch.Cache) -> None:
    ticket = cache.submit(offline.url("/a"), method="PUT", body=b"x", freezable=True, outbox_durable=True)
    (event,) = ticket.events()
    assert event.kind == "frozen" and event.is_final and isinstance(event.error, nuthatch.Frozen)
    assert event.error.outbox_id == cache.outbox.list()[0].id
    offline.go_up()
    assert ticket.state == "done"
    outcome = cache.outbox.wait(event.error.outbox_id, 30)
    assert outcome.ok and cache.outbox.collect(outcome.id) is not None
    assert cache.outbox.collect(outcome.id) is None


def keys(server: TestServer, path: str) -> List[Optional[str]]:
    return [request.header("Idempotency-Key") for request in server.requests(path)]


def test_a_resubmitted_request_keeps_its_key_until_it_has_succeeded(
    offline: TestServer, cache: nuthatch.Cache
) -> None:
    ticket = cache.submit(offline.url("/a"), method="POST", body=b"x", freezable=True)
    with pytest.raises(nuthatch.Frozen) as caught:
        ticket.result()
    offline.go_up()
    assert cache.outbox.wait(caught.value.outbox_id, 30).ok
    # The server has received it already, and the same key tells it so.
    again = ticket.resubmit()
    assert again.result().text == "thanks"
    first, second = keys(offline, "/a")
    assert first == second is not None
    # After a success, it is a new request. That one keeps its key until it succeeds.
    offline.on("/a", answer(500, "later"), ok("thanks"))
    other = again.resubmit()
    assert other.result().status == 500
    assert other.resubmit().result().ok
    assert keys(offline, "/a")[2:] == [keys(offline, "/a")[2]] * 2 and keys(offline, "/a")[2] != first
    # A key that the program sets is kept.
    own = cache.submit(
        offline.url("/b"), method="POST", body=b"x", freezable=True, headers={"idempotency-key": '"7"'}
    )
    own.result()
    own.resubmit().result()
    assert keys(offline, "/b") == ['"7"', '"7"']


def test_a_success_that_the_program_has_not_seen_keeps_the_key(
    server: TestServer, cache: nuthatch.Cache
) -> None:
    server.on("/a", ok("thanks"))
    ticket = cache.submit(server.url("/a"), method="POST", body=b"x", freezable=True)
    assert server.wait_for_requests(1, "/a") and cache.wait_idle(30)
    assert ticket.resubmit().result().ok and ticket.result().ok
    first, second = keys(server, "/a")
    assert first == second is not None


def test_a_resubmitted_request_with_an_open_file_has_the_same_body(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on("/a", answer(503, "later"), ok("thanks"))
    (tmp_path / "nut").write_bytes(b"hazelnut")
    with open(tmp_path / "nut", "rb") as file:
        ticket = cache.submit(server.url("/a"), method="POST", files={"f": file}, freezable=True, retries=0)
        assert ticket.result().status == 503
    assert ticket.resubmit().result().ok
    first, second = server.requests("/a")
    assert b"hazelnut" in first.body and b"hazelnut" in second.body
    assert first.header("Idempotency-Key") == second.header("Idempotency-Key") is not None


def test_each_resubmitted_request_on_a_loop_gets_its_answer(server: TestServer, tmp_path: Path) -> None:
    gate = server.gate("gate")
    server.on("/a", script(steps=[gate.step, body("first")]), ok("second"))

    async def send() -> None:
        async with nuthatch.AsyncCache(tmp_path / "cache") as cache:
            ticket = cache.submit(server.url("/a"), method="PUT", body=b"x", freezable=True)
            assert await asyncio.to_thread(server.wait_for_requests, 1, "/a")
            again = ticket.resubmit()
            assert (await again).text == "second"
            gate.open()
            assert (await ticket).text == "first"

    asyncio.run(send())
    first, second = keys(server, "/a")
    assert first == second is not None


def test_a_request_resubmitted_on_a_loop_keeps_its_key(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", answer(503, "later"), ok("thanks"), ok("thanks"))

    async def send() -> None:
        async with nuthatch.AsyncCache(tmp_path / "cache") as cache:
            ticket = cache.submit(server.url("/a"), method="PUT", body=b"x", freezable=True, retries=0)
            assert (await ticket).status == 503
            again = ticket.resubmit()
            assert (await again).ok and (await again.resubmit()).ok

    asyncio.run(send())
    first, second, third = keys(server, "/a")
    assert first == second is not None and third not in (None, first)


def test_a_request_waits_in_the_outbox_during_retry_after(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", answer(503, "busy", [("Retry-After", "300")]))
    server.on("/b", ok("thanks"))
    server.on("/c", ok("thanks"))
    server.go_down()
    first = freeze(cache, server.url("/a"), outbox_queue="one")
    server.go_up()
    cache.outbox.replay(first)
    for _ in range(3000):
        item = cache.outbox.get(first)
        assert item is not None
        if item.status == 503:
            break
        time.sleep(0.02)
    assert item.status == 503
    # In another queue, but to the same host.
    second = freeze(cache, server.url("/b"), outbox_queue="two", deadline=0.5)
    for _ in range(3000):
        item = cache.outbox.get(second)
        assert item is not None
        if item.wait:
            break
        time.sleep(0.02)
    # It is not about to be sent, so it can be dropped at once. When the third one is sent, each queue was looked at.
    third = freeze(cache, server.url("/c", "localhost"), outbox_queue="three", secrets={"X-Token": "token"})
    cache.outbox.provide("token", "hush")
    assert cache.outbox.wait(third, 30).ok
    item = cache.outbox.get(second)
    assert item is not None and item.state == "waiting" and item.wait is not None and 0 < item.wait <= 300
    assert item.attempts == 0
    assert server.requests("/b") == []


def test_a_frozen_request_of_a_site_has_its_absolute_url(offline: TestServer, cache: nuthatch.Cache) -> None:
    offline.on("/api/a", ok("thanks"))
    site = cache.site(offline.url("/api/"))
    with pytest.raises(nuthatch.Frozen) as caught:
        site.request("POST", "a?b=1", body=b"x", freezable=True, outbox_queue="q")
    (item,) = cache.outbox.list()
    # Another process that lists it later doesn't know the site.
    assert item.url == offline.url("/api/a?b=1")
    offline.go_up()
    assert cache.outbox.wait(caught.value.outbox_id, 30).request.url == item.url


def test_each_request_of_a_prefetch_has_its_own_key(server: TestServer, tmp_path: Path) -> None:
    paths = [f"/n/{number}" for number in range(5)]
    options: Dict[str, Any] = {"sizes": (), "method": "POST", "body": b"x", "freezable": True}
    server.on_prefix("/n/", ok("thanks"))

    async def awaited() -> None:
        async with nuthatch.AsyncCache(tmp_path / "cache") as cache:
            urls = [server.url(path) for path in paths]
            assert [item.ok async for item in cache.prefetch(urls, **options)] == [True] * 5

    with nuthatch.Cache(tmp_path / "cache") as cache:
        for fetching in (cache, cache.site(server.url("/"))):
            assert [item.ok for item in fetching.prefetch(map(server.url, paths), **options)] == [True] * 5
        own = list(cache.prefetch(map(server.url, paths), **options, headers={"Idempotency-Key": '"7"'}))
    asyncio.run(awaited())
    for path in paths:
        assert keys(server, path)[2] == '"7"' and len(keys(server, path)) == 4
    sent = [key for path in paths for key in keys(server, path) if key != '"7"']
    assert len(own) == 5 and None not in sent and len(set(sent)) == 15


@pytest.mark.parametrize("method", ["post", "Put", "PATCH", "delete"])
def test_a_frozen_request_keeps_a_method_in_small_letters(
    offline: TestServer, cache: nuthatch.Cache, method: str
) -> None:
    with pytest.raises(nuthatch.Frozen) as frozen:
        cache.request(method, offline.url("/a"), body=b"x", freezable=True)
    (item,) = cache.outbox.list()
    assert (item.id, item.method) == (frozen.value.outbox_id, method.upper())
    offline.go_up()
    assert cache.outbox.wait(item.id, 60).ok
    assert [request.method for request in offline.requests("/a")] == [method.upper()]
    ticket = cache.submit(offline.url("/b"), method=method, body=b"x", freezable=True)
    assert ticket.result().status == ticket.resubmit().result().status == 404
    assert len(keys(offline, "/b")) == 2 and len(set(keys(offline, "/b"))) == 1


def test_a_get_can_not_be_freezable(offline: TestServer, cache: nuthatch.Cache, tmp_path: Path) -> None:
    site = cache.site(offline.url("/"))
    for fetching in (cache, site):
        for method in ("GET", "get", "HEAD", "OPTIONS", "REPORT"):
            with pytest.raises(nuthatch.Invalid, match="freezable"):
                fetching.request(method, offline.url("/a"), freezable=True)
        with pytest.raises(nuthatch.Invalid, match="freezable"):
            fetching.thumbnail(offline.url("/a"), 16, freezable=True)
        with pytest.raises(nuthatch.Invalid, match="freezable"):
            list(fetching.prefetch([offline.url("/a")], (), freezable=True))

    async def main() -> None:
        async with nuthatch.AsyncCache(tmp_path / "other") as other:
            with pytest.raises(nuthatch.Invalid, match="freezable"):
                await other.get(offline.url("/a"), freezable=True)

    asyncio.run(main())


def test_secrets_may_be_an_iterator(offline: TestServer, cache: nuthatch.Cache) -> None:
    asked: List[str] = []
    cache.outbox.provide("token", lambda name: asked.append(name) or "hush")  # type: ignore[func-returns-value]
    id = freeze(cache, offline.url("/a"), secrets=iter([("X-Token", "token")]))
    offline.go_up()
    assert cache.outbox.wait(id, 60).ok
    assert offline.requests("/a")[-1].header("X-Token") == "hush" and asked[0] == "token"


def test_a_request_that_is_answered_is_not_frozen(offline: TestServer, cache: nuthatch.Cache) -> None:
    offline.go_up()
    offline.on("/b", answer(503))
    assert cache.request("POST", offline.url("/b"), freezable=True).status == 503
    assert cache.outbox.list() == []


def test_another_process_sends_a_frozen_request(offline: TestServer, tmp_path: Path) -> None:
    directory = str(tmp_path / "cache")
    offline.on("/b", ok("thanks"))
    with nuthatch.Cache(directory, outbox="off") as cache, nuthatch.Cache(tmp_path / "other") as other:
        ids = [freeze(cache, offline.url("/a"), body=text.encode(), freezable=True) for text in "abc"]
        others = [freeze(other, offline.url("/b")) for _ in ids]
        offline.go_up()
        cache.outbox.replay()
        other.outbox.replay()
        # Those of a cache that sends were sent meanwhile, one after the other.
        assert [other.outbox.wait(id, 30).ok for id in others] == [True] * 3
        assert [item.state for item in cache.outbox.list()] == ["waiting"] * 3 and offline.count("/a") == 0
        told = run(
            "cache = nuthatch.Cache(sys.argv[1])\n"
            "for id in sys.argv[2:]: print(cache.outbox.wait(int(id), 60).ok)",
            directory,
            *map(str, ids),
        )
        assert told == ["True"] * 3
        assert [item.state for item in cache.outbox.list()] == ["done"] * 3
    assert [request.body for request in offline.requests("/a")] == [b"a", b"b", b"c"]


def test_handlers_get_outcomes_after_a_restart(offline: TestServer, tmp_path: Path) -> None:
    directory = str(tmp_path / "cache")
    freezing = (
        "cache = nuthatch.Cache(sys.argv[1])\n"
        "try: cache.request('POST', sys.argv[2], json={'seeds': 3}, freezable=True, outbox_handler='rows')\n"
        "except nuthatch.Frozen as frozen: print(frozen.outbox_id)"
    )
    (id,) = run(freezing, directory, offline.url("/a"))
    offline.go_up()
    sending = "cache = nuthatch.Cache(sys.argv[1])\nprint(cache.outbox.wait(int(sys.argv[2]), 60).ok)"
    assert run(sending, directory, id) == ["True"]
    hearing = (
        "cache = nuthatch.Cache(sys.argv[1])\n"
        "def hear(outcome):\n"
        "    print(outcome.id, outcome.ok, outcome.response.text)\n"
        "    if sys.argv[2] == 'fail': raise SystemExit(0)\n"
        "cache.outbox.attach('rows', hear)\n"
        "cache.outbox.dispatch(float(sys.argv[3]))"
    )
    # A process that ends before its handler returns gets the outcome again. After the handler has returned, it doesn't.
    for way in ("fail", "take"):
        assert run(hearing, directory, way, "60") == [f"{id} True thanks"]
    offline.go_down()
    (later,) = run(freezing, directory, offline.url("/a"))
    offline.go_up()
    assert run(sending, directory, later) == ["True"]
    assert run(hearing, directory, "take", "60") == [f"{later} True thanks"]
    assert offline.count("/a") == 2


def test_an_exception_of_a_handler_is_raised_and_the_outcome_stays(
    offline: TestServer, tmp_path: Path
) -> None:
    def refuse(outcome: nuthatch.Outcome) -> None:
        raise KeyError(outcome.id)

    heard: List[int] = []
    with nuthatch.Cache(tmp_path / "cache") as cache:
        cache.outbox.attach("rows", refuse)
        id = freeze(cache, offline.url("/a"), outbox_handler="rows")
        offline.go_up()
        cache.outbox.replay()
        with pytest.raises(KeyError):
            cache.outbox.dispatch(30)
        outcome = cache.outbox.outcome(id)
        assert outcome is not None and outcome.ok
    with nuthatch.Cache(tmp_path / "cache") as cache:
        cache.outbox.attach("rows", lambda outcome: heard.append(outcome.id))
        assert cache.outbox.dispatch(30) == 1 and heard == [id]
        assert cache.outbox.list() == []


def test_a_forked_child_gets_outcomes_for_its_parents_handlers(
    offline: TestServer, cache: nuthatch.Cache
) -> None:
    heard: List[int] = []
    cache.outbox.attach("rows", lambda outcome: heard.append(outcome.id))
    id = freeze(cache, offline.url("/a"), outbox_handler="rows")
    begun, begin = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(begin, b"x")
            offline_up = cache.outbox.dispatch(60)
            os._exit(0 if offline_up == 1 and heard == [id] else 1)
        finally:
            os._exit(2)
    os.read(begun, 1)
    wait_until_asleep(child)
    os.close(begun)
    os.close(begin)
    offline.go_up()
    cache.outbox.replay()
    assert os.waitpid(child, 0)[1] == 0


def test_a_refused_request_is_dead_until_it_is_replayed(offline: TestServer, cache: nuthatch.Cache) -> None:
    offline.on("/a", answer(422, b"no such row"), ok("now"))
    id = freeze(cache, offline.url("/a"))
    offline.go_up()
    outcome = cache.outbox.wait(id, 30)
    assert (outcome.ok, outcome.status, outcome.reason) == (False, 422, "HTTP 422")
    assert outcome.response is not None and outcome.response.text == "no such row"
    assert outcome.request.state == "dead" and outcome.request.code == "http"
    assert cache.outbox.collect(id) is not None and cache.outbox.get(id) is not None
    assert cache.outbox.replay(id) == 1 and cache.outbox.replay(id + 100) == 0
    assert cache.outbox.wait(id, 30).ok
    first, second = offline.requests("/a")
    assert first.header("Idempotency-Key") == second.header("Idempotency-Key") and first.body == second.body
    assert cache.outbox.drop(id) is True and cache.outbox.drop(id) is False
    with pytest.raises(nuthatch.Invalid):
        cache.outbox.wait(id, 30)


def test_attempts_and_age_limit_a_frozen_request(offline: TestServer, cache: nuthatch.Cache) -> None:
    offline.on("/a", answer(500))
    id = freeze(cache, offline.url("/a"), outbox_attempts=1, outbox_max_age=3600, outbox_key_lifetime=None)
    offline.go_up()
    outcome = cache.outbox.wait(id, 30)
    assert (outcome.ok, outcome.reason) == (False, "too many attempts: 1")
    assert [attempt.status for attempt in outcome.request.history][-1] == 500
    offline.go_down()
    for wrong in [{"outbox_attempts": -1}, {"outbox_max_age": 0}, {"outbox_key_lifetime": -3}]:
        with pytest.raises(nuthatch.Invalid):
            freeze(cache, offline.url("/a"), **wrong)


def test_freezing_beyond_outbox_items_raises_no_space(offline: TestServer, tmp_path: Path) -> None:
    with nuthatch.Cache(tmp_path / "cache", outbox_items=1, outbox_bytes=100_000) as cache:
        id = freeze(cache, offline.url("/a"))
        with pytest.raises(nuthatch.Error) as raised:
            cache.request("POST", offline.url("/a"), freezable=True)
        assert raised.value.code == "no_space"
        assert [item.id for item in cache.outbox.list()] == [id]


def test_files_and_forms_are_stored_when_a_request_is_frozen(
    offline: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    seeds = tmp_path / "seeds.bin"
    bytes_ = os.urandom(1_000_000)
    seeds.write_bytes(bytes_)
    file = freeze(cache, offline.url("/a"), body=seeds)
    form = freeze(cache, offline.url("/a"), body=None, form={"kind": "hazel"}, files={"seeds": seeds})
    seeds.unlink()
    offline.on("/a", answer(503), ok("thanks"), ok("thanks"))
    offline.go_up()
    assert cache.outbox.wait(file, 60).ok and cache.outbox.wait(form, 60).ok
    first, again, third = offline.requests("/a")
    assert first.body == again.body == bytes_
    assert first.header("Idempotency-Key") == again.header("Idempotency-Key")
    kind = third.header("Content-Type") or ""
    assert kind.startswith("multipart/form-data; boundary=")
    boundary = kind.split("=")[1].encode()
    assert bytes_ in third.body and b'name="kind"\r\n\r\nhazel' in third.body
    assert third.body.endswith(b"--" + boundary + b"--\r\n")


def test_large_frozen_uploads_take_little_memory(offline: TestServer, tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.bin"
    with seeds.open("wb") as file:
        for _ in range(100):
            file.write(os.urandom(1 << 20))
    program = (
        "import pathlib, resource\n"
        "cache = nuthatch.Cache(sys.argv[1])\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024\n"
        "if sys.argv[3] == 'freeze':\n"
        "    begin = peak()\n"
        "    try: cache.request('PUT', sys.argv[2], body=pathlib.Path(sys.argv[4]), freezable=True)\n"
        "    except nuthatch.Frozen as frozen: print(frozen.outbox_id, peak() - begin)\n"
        "else:\n"
        "    begin = peak()\n"
        "    print(cache.outbox.wait(int(sys.argv[4]), 100).ok, peak() - begin)\n"
    )
    directory = str(tmp_path / "cache")
    id, frozen = run(program, directory, offline.url("/a"), "freeze", str(seeds))[0].split()
    offline.on("/a", script(200, steps=[HEAD, body("ok")]))
    offline.go_up()
    is_done, sent = run(program, directory, offline.url("/a"), "send", id)[0].split()
    assert is_done == "True" and offline.requests("/a")[0].body == seeds.read_bytes()
    assert int(frozen) < 8 and int(sent) < 8, f"{frozen} and {sent} MB"


# Secrets


def test_no_secret_of_a_frozen_request_is_written(
    offline: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    with pytest.raises(nuthatch.Error) as raised:
        cache.request("POST", offline.url("/a"), headers={"Authorization": "Bearer hush-0"}, freezable=True)
    assert raised.value.code == "secret_needs_provider" and "hush" not in str(raised.value)
    asked: List[str] = []

    def token(provider: str) -> str:
        asked.append(provider)
        return f"hush-{len(asked)}"

    cache.outbox.provide("token", token)
    os.environ["NUTHATCH_TEST_KEY"] = "hush-of-the-environment"
    secrets: Dict[str, Any] = {"Authorization": ("Bearer ", "token"), "X-Api-Key": "env:NUTHATCH_TEST_KEY"}
    id = freeze(cache, offline.url("/a"), secrets=secrets)
    assert asked == ["token"] and not is_on_disk(b"hush", tmp_path / "cache")
    # The server refuses the first secret by now.
    offline.on("/a", answer(401), ok("thanks"))
    offline.go_up()
    assert cache.outbox.wait(id, 30).ok
    first, second = offline.requests("/a")
    assert (
        first.header("Authorization") == "Bearer hush-1" and second.header("Authorization") == "Bearer hush-2"
    )
    assert second.header("X-Api-Key") == "hush-of-the-environment"
    assert not is_on_disk(b"hush", tmp_path / "cache")


def test_a_freezable_request_with_a_password_needs_a_provider(
    offline: TestServer, cache: nuthatch.Cache
) -> None:
    asked: Dict[str, Any] = {"ask_credentials": lambda response: ("ann", "hush"), "freezable": True}
    with pytest.raises(nuthatch.Invalid, match="needs a password provider"):
        cache.request("POST", offline.url("/a"), **asked)
    id = freeze(cache, offline.url("/a"), password_provider="shop", **asked)
    offline.on("/a", answer(401, "who?", [("WWW-Authenticate", "Basic")]), ok("thanks"))
    offline.go_up()
    cache.outbox.provide("shop", "ann:hush")
    assert cache.outbox.wait(id, 30).ok
    assert [sent.header("Authorization") for sent in offline.requests("/a")] == [None, "Basic YW5uOmh1c2g="]


@pytest.mark.parametrize("listens", [False, True])
@pytest.mark.parametrize("is_needed", [False, True])
def test_a_frozen_request_waits_for_its_secret(
    server: TestServer, tmp_path: Path, is_needed: bool, listens: bool
) -> None:
    server.on_prefix("/", ok("thanks"))
    asked: List[str] = []
    directory = tmp_path / "cache"
    with nuthatch.Cache(directory) as cache:
        id = freeze(
            cache, server.url("/a"), secrets={"X-Token": "token"}, user=("ann", ""), password_provider="pw"
        )
        # Each has its own queue. When one of them is sent, all queues were looked at.
        first, second = [
            freeze(cache, server.url("/b"), secrets={"X-Token": name}, outbox_queue=name)
            for name in ("own", "pw")
        ]
    with nuthatch.Cache(directory) as cache:
        if listens:
            cache.outbox.attach("rows", print)
        # The function may be attached before the secret is needed. It is called once all the same.
        if is_needed:
            cache.outbox.provide("own", "hush")
            assert cache.outbox.wait(first, 30).ok
        cache.outbox.provide("pw", asked.append)
        assert cache.outbox.dispatch(30) == 1 and asked == ["pw"]
        cache.outbox.provide("pw", "hush-pw")
        assert cache.outbox.wait(second, 30).ok
        assert cache.outbox.dispatch(0) == 0 and server.count("/a") == 0
        cache.outbox.provide("token", "hush-token")
        assert cache.outbox.wait(id, 30).ok
    (sent,) = server.requests("/a")
    assert sent.header("X-Token") == "hush-token" and (sent.header("Authorization") or "").startswith(
        "Basic "
    )
    assert not is_on_disk(b"hush", directory)


def test_the_last_secret_of_a_provider_is_used(offline: TestServer, cache: nuthatch.Cache) -> None:
    cache.outbox.provide("token", lambda name: "hush-asked-for")
    cache.outbox.provide("token", "hush-given")
    id = freeze(cache, offline.url("/a"), secrets={"X-Token": "token"})
    offline.go_up()
    assert cache.outbox.wait(id, 30).ok
    assert offline.requests("/a")[0].header("X-Token") == "hush-given"


# On an event loop


def test_an_async_outbox_sends_lists_and_delivers(offline: TestServer, tmp_path: Path) -> None:
    heard: List[Tuple[int, bool]] = []
    asked: List[str] = []
    reached: List[bool] = []

    async def hear(outcome: nuthatch.Outcome) -> None:
        await asyncio.sleep(0)
        heard.append((outcome.id, outcome.ok))

    async def token(provider: str) -> str:
        await asyncio.sleep(0)
        asked.append(provider)
        return "hush"

    async def until(condition: Any) -> None:
        for _ in range(3000):
            if condition():
                return
            await asyncio.sleep(0.01)
        raise AssertionError("not in time")

    async def main() -> None:
        async with nuthatch.AsyncCache(tmp_path / "cache") as cache:
            cache.outbox.attach("rows", hear)
            cache.outbox.provide("token", token)
            site = cache.site(offline.url("/"))
            site.watch_reachability(reached.append)
            with pytest.raises(nuthatch.Frozen) as raised:
                await site.request(
                    "POST",
                    "a",
                    body=b"x",
                    freezable=True,
                    outbox_handler="rows",
                    secrets={"X-Token": "token"},
                )
            id = raised.value.outbox_id
            assert id is not None and (await cache.outbox.get(id)) is not None
            # The function on the loop has given the secret. The server is still down.
            await until(lambda: asked == ["token"])
            with pytest.raises(nuthatch.TimeoutError):
                await cache.outbox.wait(id, 0.2)
            await until(lambda: False in reached and site.reachable is False)
            offline.go_up()
            await cache.outbox.replay()
            await until(lambda: heard == [(id, True)])
            await until(lambda: reached[-1] is True)
            await until(lambda: site.reachable)
            assert await cache.outbox.outcome(id) is None and await cache.outbox.list() == []
            offline.go_down()
            with pytest.raises(nuthatch.Frozen) as raised:
                await cache.request("POST", offline.url("/a"), freezable=True)
            assert await cache.outbox.drop(raised.value.outbox_id)
            assert await cache.outbox.collect(raised.value.outbox_id) is None
            cache.outbox.detach("rows")
            offline.go_up()
            gate = offline.gate("g")
            offline.on("/slow", script(200, steps=[wait("g"), HEAD, body("x")]))
            tickets = [site.submit("slow?1"), cache.submit(offline.url("/slow?2"))]
            site.cancel_all()
            assert [ticket.state == "cancelled" for ticket in tickets] == [True, False]
            gate.open()
            await cache.close(drain=30)

    asyncio.run(main())
    assert offline.requests("/a")[0].header("X-Token") == "hush"
