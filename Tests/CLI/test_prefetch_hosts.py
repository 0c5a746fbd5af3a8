"""Limits of prefetch for hosts: requests at once, rate, pauses, and hosts that are dead or slow."""

from __future__ import annotations

import json
import re
import subprocess
import time
from typing import Dict, List

import pytest
from command import COMMAND, Runner, lines, summary
from pictures import png
from testserver import TestServer, answer, body, drip, ok, pause, raw_answer, script


def test_per_host_and_rate_limit_requests_at_a_host(server: TestServer, nuthatch: Runner) -> None:
    gate = server.gate("g")
    for number in range(12):
        steps = [gate.step, body(png(9, 9, seed=number))]
        server.on(f"/{number}", script(headers=[("Content-Type", "image/png")], steps=steps))
    gate.open()
    given = lines([server.url(f"/{number}") for number in range(12)])
    assert nuthatch("prefetch", "--per-host=2", given=given).returncode == 0
    assert server.high_water() <= 2
    agents = {request.header("User-Agent") for request in server.requests()}
    version = nuthatch("--version").stdout.decode().split()[1]
    assert agents == {f"nuthatch/{version}"}
    server.clear_log()
    begin = time.monotonic()
    arguments = ["--rate=4", "--policy=reload", "--user-agent=seeds/1 (+http://example.org)"]
    assert nuthatch("prefetch", *arguments, given=given).returncode == 0
    # Twelve starts. The first few may come at once.
    assert time.monotonic() - begin > 1
    assert server.requests()[0].header("User-Agent") == "seeds/1 (+http://example.org)"


def test_rate_spaces_requests_but_not_hits(server: TestServer, pictures: List[str], nuthatch: Runner) -> None:
    given = lines(pictures[:4])
    assert nuthatch("prefetch", given=given).returncode == 0
    server.clear_log()
    done = nuthatch("prefetch", "--rate=1", "--policy=reload", "--format=jsonl", given=given)
    assert done.returncode == 0
    # One second between two requests.
    assert json.loads(done.stderr)["seconds"] >= 3
    assert len(server.requests()) == 4
    # If hits counted, this run would end after 40 seconds.
    done = nuthatch("prefetch", "--rate=1", "--format=jsonl", given=given * 10)
    assert done.returncode == 0
    assert json.loads(done.stderr)["seconds"] < 20
    assert len(server.requests()) == 4


def test_prefetch_waits_for_retry_after(server: TestServer, nuthatch: Runner) -> None:
    busy = answer(429, headers=[("Retry-After", "2")])
    server.on("/a", busy, ok(png(9, 9), "image/png"))
    begin = time.monotonic()
    done = nuthatch("prefetch", "--format=jsonl", given=lines([server.url("/a")]))
    assert (done.returncode, json.loads(done.stdout)["attempts"]) == (0, 2)
    assert time.monotonic() - begin > 1.9


def test_a_pause_beyond_give_up_after_is_named(server: TestServer, nuthatch: Runner) -> None:
    server.on_prefix("/", answer(503, headers=[("Retry-After", "60")]))
    given = lines([server.url("/a"), server.url("/b")])
    done = nuthatch("prefetch", "--format=jsonl", "--per-host=1", "--give-up-after=10", given=given)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, [(record["error"], record["status"]) for record in records]) == (
        4,
        [("http", 503)] * 2,
    )
    # The host wasn't overloaded for 10 s: nothing was waited for.
    said = [record["message"] for record in records if record["attempts"] == 0]
    assert len(said) == 1
    pause = re.search(
        r"503: the host's pause \(Retry-After\) lasts (\d+) s more, beyond give_up_after", said[0]
    )
    assert pause and 50 <= int(pause[1]) <= 60


@pytest.mark.parametrize("way", ["text", "jsonl", "never"])
def test_prefetch_reports_which_host_sent_retry_after(way: str, server: TestServer, nuthatch: Runner) -> None:
    # Long enough to be reported even if the machine stops for some seconds.
    busy = answer(503, headers=[("Retry-After", "8")])
    server.on("/a", busy, ok(png(9, 9), "image/png"))
    server.on("/b", answer(503, headers=[("Retry-After", "1")]), ok(png(9, 8), "image/png"))
    arguments = {"text": ["--progress=always"], "jsonl": ["--format=jsonl"], "never": ["--progress=never"]}
    urls = [server.url("/a"), server.url("/b", host="localhost")]
    done = nuthatch("prefetch", *arguments[way], given=lines(urls))
    assert done.returncode == 0
    host = server.url("").split("/")[2]
    said = done.stderr.decode()
    # A short pause is not reported.
    assert re.findall(r"nuthatch: prefetch: (.*)", said) == [f"{host} asks for a pause of 8 s (Retry-After)"]
    assert bool(re.search(rf"{re.escape(host)} paused, \d s", said)) == (way == "text")


def test_silent_hosts_do_not_delay_other_hosts_in_a_small_queue(
    server: TestServer, environment: Dict[str, str]
) -> None:
    gate = server.gate("g")
    for number in range(40):
        server.on(
            f"/silent/{number}",
            script(headers=[("Content-Type", "image/png")], steps=[gate.step, body(png(8, 8))]),
        )
    silent = [
        server.url(f"/silent/{number}", host=("localhost", "127.0.0.1")[number % 2]) for number in range(40)
    ]
    good = [server.url(f"/png/9/{number}", host="a.localhost") for number in range(1, 3)]
    with subprocess.Popen(
        [COMMAND, "prefetch", "--concurrency=2", "--format=jsonl"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(lines(silent + good))
        process.stdin.close()
        done = [json.loads(process.stdout.readline())["url"] for _ in good]
        assert sorted(done) == good
        gate.open()
        assert len(process.stdout.readlines()) == len(silent)
    assert process.returncode == 0


def test_slow_bodies_do_not_delay_other_hosts(server: TestServer, environment: Dict[str, str]) -> None:
    # 20 bytes a second, for half a minute.
    steps = [drip(png(300, 300)[:600], 50)]
    server.on_prefix("/drip/", script(headers=[("Content-Type", "image/png")], steps=steps))
    dripping = [
        server.url(f"/drip/{number}", host=("localhost", "127.0.0.1")[number % 2]) for number in range(40)
    ]
    good = [server.url(f"/png/9/{number}", host="a.localhost") for number in range(1, 20)]
    with subprocess.Popen(
        [COMMAND, "prefetch", "--concurrency=12", "--format=jsonl"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(lines(dripping + good))
        process.stdin.close()
        done = [json.loads(process.stdout.readline()) for _ in good]
        assert sorted(one["url"] for one in done) == sorted(good) and all(one["ok"] for one in done)
        # No host has more requests at once than allowed.
        assert server.high_water() <= 18
        process.terminate()
        process.stdout.read()


def test_a_deadline_of_prefetch_starts_with_the_first_attempt(server: TestServer, nuthatch: Runner) -> None:
    # All together take longer than the deadline. A single one doesn't, even if the machine stops for some seconds.
    steps = [pause(1100), body(png(9, 9))]
    server.on_prefix("/n/", script(headers=[("Content-Type", "image/png")], steps=steps))
    urls = [server.url(f"/n/{number}") for number in range(10)]
    done = nuthatch("prefetch", "--per-host=1", "--deadline=8", "--format=jsonl", given=lines(urls))
    assert done.returncode == 0 and summary(done.stderr)["ok"] == 10
    waits = [json.loads(line)["ms"]["queue"] for line in done.stdout.splitlines()]
    assert max(waits) > 8000


def test_urls_of_a_dead_host_fail_with_the_hosts_error(server: TestServer, nuthatch: Runner) -> None:
    # The server's port, at an address where it doesn't listen.
    urls = [server.url(f"/{number}", host="127.0.0.2") for number in range(200)] + [server.url("/png/9/9")]
    options = ["--format=jsonl", "--retries=0", "--give-up-after=1"]
    done = nuthatch("prefetch", *options, given=lines(urls))
    assert summary(done.stderr)["errors"] == {"refused": 200}
    assert summary(done.stderr)["ok"] == 1
    records = [json.loads(line) for line in done.stdout.splitlines()]
    # Most requests were never sent.
    assert sum(record["attempts"] == 0 for record in records if not record["ok"]) > 100


def test_the_summary_names_the_slowest_hosts(server: TestServer, nuthatch: Runner) -> None:
    gate = server.gate("g")
    server.on("/quick", ok(png(9, 9), "image/png"))
    server.on("/slow", script(headers=[("Content-Type", "image/png")], steps=[gate.step, body(png(8, 8))]))
    gate.open()
    server.on("/404", answer(404))
    urls = [server.url("/slow", host="localhost"), server.url("/quick"), server.url("/404"), "nonsense"]
    said = nuthatch("prefetch", given=lines(urls)).stdout.decode()
    assert re.search(r"slowest hosts: [a-z0-9.:]+ [\d.]+ m?s \(\d\), [a-z0-9.:]+ ", said), said
    assert "failed: " in said and "http 1" in said and "bad_url 1" in said


JUNK = b"what an earlier request has left\r\n\r\n"


def test_junk_on_a_kept_connection_costs_no_url(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", ok(png(9, 9, seed=1), "image/png"))
    server.on("/b", raw_answer(JUNK), ok(png(9, 9, seed=2), "image/png"))
    given = lines([server.url("/a"), server.url("/b")])
    done = nuthatch("prefetch", "--per-host=1", "--format=jsonl", given=given)
    assert done.returncode == 0, done.stdout
    assert [json.loads(line)["attempts"] for line in done.stdout.splitlines()] == [1, 2]


def test_a_server_that_speaks_no_http_is_asked_once(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", raw_answer(JUNK))
    done = nuthatch("prefetch", "--format=jsonl", given=lines([server.url("/a")]))
    record = json.loads(done.stdout)
    assert (done.returncode, record["error"], record["attempts"]) == (4, "http", 1)
