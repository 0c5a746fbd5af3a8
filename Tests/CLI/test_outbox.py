"""`nuthatch get --freezable` and `nuthatch outbox`: requests that wait for their server."""

import json
import re
import socket
import time
from pathlib import Path
from typing import Iterator

import pytest
from command import Runner
from testserver import HEAD, TestServer, answer, body, ok, pause, script


@pytest.fixture
def nobody() -> Iterator[str]:
    """Returns a URL at which no server listens, and no other program can."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{reserved.getsockname()[1]}/a"


def test_a_freezable_request_is_answered_if_its_server_is_there(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    server.echo("/a")
    done = nuthatch("get", "--freezable", "-d", "seeds=3", server.url("/a"))
    assert done.returncode == 0 and b"seeds=3" in done.stdout
    assert nuthatch("get", "--freezable", "-d", "x", "-o", "answer", server.url("/a")).returncode == 0
    assert b"x" in (tmp_path / "answer").read_bytes()
    assert nuthatch("outbox", "list").stdout == b""
    assert nuthatch("get", "--freezable", "-d", "x", server.url("/status/404")).returncode == 4


def test_collect_writes_the_beginning_of_a_long_answer(server: TestServer, nuthatch: Runner) -> None:
    server.on("/long", ok(b"x" * ((1 << 20) + 1)))
    server.go_down()
    assert nuthatch("get", "--freezable", "-d", "x", server.url("/long")).returncode == 4
    server.go_up()
    assert nuthatch("outbox", "replay").returncode == 0
    collected = nuthatch("outbox", "collect", "1")
    assert collected.returncode == 0 and len(collected.stdout) == 1 << 20
    assert b"request 1: the answer was cut off after 1 MiB" in collected.stderr


def test_a_frozen_request_waits_until_it_is_dropped(nobody: str, nuthatch: Runner) -> None:
    done = nuthatch("get", "--freezable", "-d", "x", nobody)
    assert done.returncode == 4 and b"kept in the outbox as 1: " + nobody.encode() in done.stderr
    (listed,) = json.loads(nuthatch("outbox", "list", "--format=json").stdout)
    assert (listed["id"], listed["state"], listed["method"], listed["url"]) == (1, "waiting", "POST", nobody)
    replayed = nuthatch("outbox", "replay", "--wait=2")
    # It is between two attempts, or an attempt is under way.
    assert replayed.returncode == 4 and re.match(
        rb"nuthatch: outbox: 1  (waiting|sending)  POST", replayed.stderr
    )
    assert nuthatch("get", "--freezable", "-d", "x", nobody).returncode == 4
    # The existing requests are dropped even if others are missing.
    ids = [item["id"] for item in json.loads(nuthatch("outbox", "list", "--format=json").stdout)]
    assert len(ids) == 2
    dropped = nuthatch("outbox", "drop", "999", *map(str, ids), "--format=json")
    assert dropped.returncode == 4 and b"there is no request 999" in dropped.stderr
    told = [(item["id"], item["was_there"]) for item in json.loads(dropped.stdout)]
    assert told == [(999, False), (ids[0], True), (ids[1], True)]
    assert json.loads(nuthatch("outbox", "list", "--format=json").stdout) == []
    assert nuthatch("outbox", "list").stdout == nuthatch("outbox", "list", "--format=jsonl").stdout == b""
    # Its nanoseconds don't fit into 64 bits.
    assert nuthatch("outbox", "replay", "--wait=200000d").returncode == 0
    assert nuthatch("outbox", "drop", "1").returncode == 4


def test_replay_sends_a_frozen_request_when_its_server_is_there(
    server: TestServer, nobody: str, nuthatch: Runner
) -> None:
    # It waits for the request before it in its queue, though its own server is there.
    server.echo("/b")
    for url in (nobody, server.url("/b")):
        assert nuthatch("get", "--freezable", "--outbox-queue", "q", "-d", "y", url).returncode == 4
    assert len(server.requests("/b")) == 0
    assert nuthatch("outbox", "drop", "1").returncode == 0
    assert nuthatch("outbox", "replay").returncode == 0
    collected = nuthatch("outbox", "collect", "2")
    assert collected.returncode == 0 and b"y" in collected.stdout
    assert nuthatch("outbox", "list").stdout == b""


def test_replay_of_several_ids_sends_those_that_exist(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", ok("thanks"))
    server.go_down()
    for _ in range(2):
        assert nuthatch("get", "--freezable", "-d", "x", server.url("/a")).returncode == 4
    ids = [item["id"] for item in json.loads(nuthatch("outbox", "list", "--format=json").stdout)]
    server.go_up()
    replayed = nuthatch("outbox", "replay", *map(str, ids), "999", "--format=json")
    assert replayed.returncode == 4
    assert replayed.stderr == b"nuthatch: outbox: there is no request 999\n"
    assert [item["state"] for item in json.loads(replayed.stdout)] == ["done", "done"]
    # A request that is done isn't sent again, and isn't missing.
    replayed = nuthatch("outbox", "replay", str(ids[0]), "--format=json")
    assert replayed.returncode == 0 and json.loads(replayed.stdout)[0]["state"] == "done"
    assert len(server.requests("/a")) == 2


def test_replay_continues_a_paused_queue(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", answer(403), answer(404, b"no such row"), ok("now"))
    server.on("/b", ok("b"))
    server.go_down()
    more = ["--tag=t", "--outbox-attempts=3", "--outbox-max-age=1h", "--outbox-key-lifetime=none"]
    assert nuthatch("get", "--freezable", "-d", "x", *more, server.url("/a")).returncode == 4
    assert nuthatch("get", "--freezable", "-d", "y", server.url("/b")).returncode == 4
    server.go_up()
    began = time.monotonic()
    replayed = nuthatch("outbox", "replay", "--format=json")
    # Replay doesn't wait for a queue that can't continue.
    assert replayed.returncode == 4 and time.monotonic() - began < 30
    first, second = json.loads(replayed.stdout)
    assert (first["state"], first["status"], first["tag"], second["state"]) == ("paused", 403, "t", "waiting")
    assert [attempt["status"] for attempt in first["history"]][-1] == 403
    # The replayed request is sent, and those after it, too.
    replayed = nuthatch("outbox", "replay", "--format=jsonl")
    first, second = (json.loads(line) for line in replayed.stdout.splitlines())
    assert replayed.returncode == 4 and (first["state"], first["reason"]) == ("dead", "HTTP 404")
    assert second["state"] == "done" and "tag" not in second
    collected = nuthatch("outbox", "collect", "1")
    assert collected.returncode == 4 and collected.stdout == b"no such row"
    assert nuthatch("outbox", "replay", "1").returncode == 0
    assert nuthatch("outbox", "collect", "1").stdout == b"now"
    assert len({request.header("Idempotency-Key") for request in server.requests("/a")}) == 1
    for option in (["--outbox-attempts=0"], ["--outbox-max-age=-1"], ["--outbox-key-lifetime=x"]):
        assert nuthatch("get", "--freezable", "-d", "x", *option, server.url("/b")).returncode == 2


def test_limits_of_a_frozen_request_apply_in_later_processes(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", answer(500))
    server.go_down()
    assert nuthatch("get", "--freezable", "-d", "x", "--outbox-attempts=1", server.url("/a")).returncode == 4
    server.go_up()
    assert nuthatch("outbox", "replay").returncode == 4
    (item,) = json.loads(nuthatch("outbox", "list", "--format=json").stdout)
    assert (item["state"], item["reason"], server.count("/a")) == ("dead", "too many attempts: 1", 1)


def test_a_freezable_request_with_netrc_needs_a_password_provider(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ann password hush\n")
    server.on("/a", ok("a"))
    command = ["get", "--freezable", "-d", "x", "--netrc-file", "netrc", server.url("/a")]
    done = nuthatch(*command)
    assert done.returncode == 4 and b"secret_needs_provider: " in done.stderr and server.count("/a") == 0


def test_a_damaged_outbox_is_moved_away_and_reported(nobody: str, nuthatch: Runner, tmp_path: Path) -> None:
    for text in ("row 1", "row 2", "row 3"):
        assert nuthatch("get", "--freezable", "-d", text, nobody).returncode == 4
    log = tmp_path / "cache/outbox/log"
    log.write_bytes(log.read_bytes().replace(b"row 2", b"row x"))
    # Every command reports it until the file is removed.
    nuthatch("get", "--freezable", "-d", "row 4", nobody)
    for _ in range(2):
        listed = nuthatch("outbox", "list", "--format=jsonl")
        assert [json.loads(line)["id"] for line in listed.stdout.splitlines()] == [1, 3, 4]
        assert b"damaged data was moved to " in listed.stderr
    (aside,) = (tmp_path / "cache/outbox").glob("damaged-*")
    assert b"row x" in aside.read_bytes() and str(aside).encode() in listed.stderr
    aside.unlink()
    assert nuthatch("outbox", "list").stderr == b""


def test_only_outbox_replay_sends_requests(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    server.on("/a", ok("a"))
    # A second for the first retry, and more: a process that sends requests of the outbox would have sent it by then.
    server.on("/slow", script(steps=[HEAD, pause(1500), body("slow")]))
    server.go_down()
    assert nuthatch("get", "--freezable", "-d", "x", server.url("/a")).returncode == 4
    server.go_up()
    (tmp_path / "urls").write_text(server.url("/slow?2") + "\n")
    for command in [
        ["get", server.url("/slow")],
        ["prefetch", "urls"],
        ["stat"],
        ["ls"],
        ["explain", server.url("/a")],
        ["verify"],
        ["outbox", "list"],
    ]:
        nuthatch(*command)
    assert server.count("/slow") + server.count("/slow?2") >= 1 and server.count("/a") == 0
    assert nuthatch("outbox", "replay").returncode == 0
    assert server.count("/a") == 1


def test_the_outbox_has_no_secret_on_disk(nobody: str, nuthatch: Runner, tmp_path: Path) -> None:
    done = nuthatch("get", "--freezable", "-d", "x", "-H", "Authorization: Bearer t0ken", nobody)
    assert done.returncode == 4 and b"secret_needs_provider: " in done.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"t0ken" in path.read_bytes()]


def test_the_password_of_a_frozen_request_comes_from_the_environment(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    server.on("/a", ok("a"))
    server.go_down()
    (tmp_path / "seeds").write_bytes(b"seeds" * 100_000)
    command = [
        "get",
        "--freezable",
        "--user",
        "ann",
        "--password-provider",
        "env:PW",
        "-F",
        "f=@seeds",
        server.url("/a"),
    ]
    done = nuthatch(*command, PW="hush")
    assert done.returncode == 4 and b"kept in the outbox" in done.stderr
    server.go_up()
    # The variable is not set here, so the request waits.
    assert nuthatch("outbox", "replay", "--wait=500ms").returncode == 4 and server.count("/a") == 0
    assert nuthatch("outbox", "replay", PW="hush").returncode == 0
    (sent,) = server.requests("/a")
    assert sent.header("Authorization") == "Basic YW5uOmh1c2g=" and b"seeds" * 100_000 in sent.body
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"hush" in path.read_bytes()]
    assert nuthatch("get", "--freezable", "--password-provider", "env:PW", server.url("/a")).returncode == 2
    assert (
        nuthatch("get", "--freezable", "-u", "a", "--password-provider", "hush", server.url("/a")).returncode
        == 2
    )
    assert nuthatch("get", "-u", "a", "--password-provider", "env:PW", server.url("/a")).returncode == 2


def test_a_get_can_not_be_freezable(server: TestServer, nuthatch: Runner) -> None:
    for more in ([], ["-X", "get"], ["-X", "HEAD"], ["-X", "REPORT", "-d", "x"], ["--size=16"]):
        done = nuthatch("get", "--freezable", *more, server.url("/a"))
        assert done.returncode == 2 and b"freezable" in done.stderr
    assert server.count() == 0


def test_the_outbox_stores_a_method_in_small_letters(nobody: str, nuthatch: Runner) -> None:
    assert nuthatch("get", "--freezable", "-X", "patch", "-d", "x", nobody).returncode == 4
    (item,) = json.loads(nuthatch("outbox", "list", "--format=json").stdout)
    assert item["method"] == "PATCH"


def test_requests_before_one_that_lacks_a_secret_are_sent(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", ok("a"))
    server.go_down()
    for name in ("ONE", "OTHER"):
        secret = ["--secrets", f"Authorization: Bearer env:{name}"]
        assert nuthatch("get", "--freezable", "-d", "x", *secret, server.url("/a")).returncode == 4
    server.go_up()
    began = time.monotonic()
    replayed = nuthatch("outbox", "replay", "--format=json", ONE="1")
    # Replay doesn't wait for the other request.
    assert replayed.returncode == 4 and time.monotonic() - began < 30
    assert [item["state"] for item in json.loads(replayed.stdout)] == ["done", "waiting"]
    assert [request.header("Authorization") for request in server.requests("/a")] == ["Bearer 1"]


@pytest.mark.parametrize(
    "more", [["--outbox-durable"], ["--outbox-queue=q"], ["--tag=t"], ["--freezable", "--append", "-o", "a"]]
)
def test_outbox_options_that_exclude_each_other_are_refused(
    more: "list[str]", nobody: str, nuthatch: Runner
) -> None:
    assert nuthatch("get", *more, nobody).returncode == 2
