"""A list with failing hosts: no URL is lost, and no host delays the URLs of another one."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections import Counter
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List

import pytest
from command import COMMAND, Runner, lines
from pictures import png
from sick_hosts import SickHosts, is_odd
from sick_list import SickList
from testserver import TestServer, answer, body, ok, redirect, script


@pytest.fixture
def hosts() -> Iterator[SickHosts]:
    with SickHosts() as hosts:
        yield hosts


def urls_of(hosts: SickHosts, host: str, count: int, at: str = "http") -> List[str]:
    return [hosts.url(host, f"/{number}", at) for number in range(count)]


def fetch(nuthatch: Runner, urls: List[str], *options: str) -> List[Dict[str, Any]]:
    """Returns the records of a run, one for each URL."""
    done = nuthatch("prefetch", "--format=jsonl", *options, given=lines(urls))
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(record["index"] for record in records) == list(range(len(urls))), done.stderr
    assert done.returncode == (0 if all(record["ok"] for record in records) else 4)
    return records


def errors(records: List[Dict[str, Any]]) -> Counter[str]:
    return Counter(record["error"] for record in records if not record["ok"])


def in_three_tries(check: Callable[[int], None]) -> None:
    """Calls a check with 1, then with 2 and 3 if it has failed: if the machine stops for a second, a host looks silent.

    :param check: uses other names of hosts each time.
    """
    for number in (1, 2):
        try:
            return check(number)
        except AssertionError as error:
            print(f"try {number}: {error}")
    return check(3)


@pytest.mark.parametrize("way", ["away1", "drop1"])
def test_no_url_is_lost_while_a_server_restarts(hosts: SickHosts, nuthatch: Runner, way: str) -> None:
    name = f"{way}.from1000.h"
    records = fetch(nuthatch, urls_of(hosts, name, 3000, "away"))
    assert errors(records) == {}
    answers = hosts.log()[name]["answers"]
    # A request that the server is slow to answer is repeated.
    assert answers["200"] >= 3000 and answers["-1"] > 0


@pytest.mark.parametrize("way", ["away2", "drop2"])
def test_the_only_url_of_a_restarting_host_is_not_lost(hosts: SickHosts, nuthatch: Runner, way: str) -> None:
    (record,) = fetch(nuthatch, [hosts.url(f"{way}.only", "/", "away")])
    assert record["ok"] and record["attempts"] > 1


@pytest.mark.parametrize("at, error", [("refused", "refused"), ("tls", "tls")])
def test_every_url_fails_with_the_error_of_its_host(
    hosts: SickHosts, nuthatch: Runner, at: str, error: str
) -> None:
    urls = urls_of(hosts, "h", 3000, at) + urls_of(hosts, "well", 10)
    assert errors(fetch(nuthatch, urls, "--give-up-after=1")) == {error: 3000}


@contextmanager
def patient(
    environment: Dict[str, str], urls: List[str], ends: bool = True, seconds: int = 60
) -> Iterator[Iterator[Dict[str, Any]]]:
    """Gives the records of a run as they come. Kills it at the end, or after some time: URLs that hang have no record
    for ten minutes.

    :param ends: whether the list ends. Otherwise more URLs may come.
    """
    command = [COMMAND, "prefetch", "--format=jsonl", "--timeout=600"]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(lines(urls))
        if ends:
            process.stdin.close()
        else:
            process.stdin.flush()
        watchdog = threading.Timer(seconds, process.kill)
        watchdog.start()
        try:
            # The last line of a killed process may be incomplete.
            yield (json.loads(line) for line in process.stdout if line.endswith(b"\n"))
        finally:
            watchdog.cancel()
            process.kill()


def test_a_host_that_hangs_does_not_delay_other_hosts(hosts: SickHosts, environment: Dict[str, str]) -> None:
    def check(number: int) -> None:
        name = f"hang.a{number}"
        urls = urls_of(hosts, name, 300) + urls_of(hosts, f"b{number}", 100)
        with patient(environment, urls) as answered:
            records = list(islice(answered, 100))
        assert sorted(record["index"] for record in records) == list(range(300, 400))
        assert all(record["ok"] for record in records)
        # The host gets no more requests at once than allowed.
        assert hosts.log()[name]["most"] <= 6

    in_three_tries(check)


def hung_beyond(hosts: SickHosts, name: str, count: int) -> int:
    """Waits until more than so many requests at a host hang, for at most a minute. Returns their number."""
    due = time.monotonic() + 60
    while True:
        hung: int = hosts.log()[name]["answers"]["0"]
        if hung > count or time.monotonic() > due:
            return hung
        time.sleep(0.1)


def test_urls_that_hang_do_not_delay_others_of_their_host(
    hosts: SickHosts, environment: Dict[str, str]
) -> None:
    def check(number: int) -> None:
        name = f"ms5.h{number}"
        hanging = [hosts.url(name, f"/hang/{page}") for page in range(12)]
        good = urls_of(hosts, name, 600)

        # Otherwise they would block the host, which has six requests at once.
        with patient(environment, good[:20] + hanging + good[20:]) as answered:
            records = list(islice(answered, len(good)))
            assert sorted(record["url"] for record in records) == sorted(good)
            assert all(record["ok"] for record in records)
            # They are tried again when there is no other URL.
            assert hung_beyond(hosts, name, len(hanging)) > len(hanging)

    in_three_tries(check)


def test_pages_that_fail_for_long_do_not_delay_others_of_their_host(
    hosts: SickHosts, environment: Dict[str, str]
) -> None:
    urls = urls_of(hosts, "ms5.odd10.h", 800)
    good = [url for url in urls if not is_odd("/" + url.rpartition("/")[2], 10)]
    # More than may be under way.
    assert len(urls) - len(good) > 64
    with patient(environment, urls) as answered:
        records = list(islice(answered, len(good)))
    assert sorted(record["url"] for record in records) == sorted(good)
    assert all(record["ok"] for record in records)


def test_pages_side_by_side_that_fail_for_long_do_not_delay_others(
    hosts: SickHosts, environment: Dict[str, str]
) -> None:
    good = urls_of(hosts, "ms5.side", 300)
    busy = [hosts.url("ms5.side", f"/busy/{page}") for page in range(100)]
    # Usually it takes eight seconds. How long depends on the order of answers.
    with patient(environment, good[:50] + busy + good[50:], seconds=240) as answered:
        records = list(islice(answered, len(good)))
    assert sorted(record["url"] for record in records) == sorted(good)
    assert all(record["ok"] for record in records)


def test_a_host_whose_bodies_stop_coming_is_given_up(server: TestServer, nuthatch: Runner) -> None:
    gate = server.gate("never")
    beginning = png(400, 300)[:200]
    server.on_prefix(
        "/stuck/", script(headers=[("Content-Length", "900")], steps=[body(beginning), gate.step])
    )
    urls = [server.url(f"/stuck/{number}") for number in range(100)]
    records = fetch(nuthatch, urls, "--timeout=1s", "--retries=0", "--give-up-after=3s")
    assert errors(records) == {"timeout": 100}
    assert sum(record["attempts"] for record in records) < 60


def test_all_attempts_of_a_deferred_url_are_counted(server: TestServer, nuthatch: Runner) -> None:
    gate = server.gate("second")
    server.on("/flaky", answer(503), script(503, steps=[gate.step]), ok(png(9, 9), "image/png"))
    server.on_prefix("/well/", ok(png(8, 8), "image/png"))

    def open_gate() -> None:
        # At most six are under way, so most of the good answers have come.
        server.wait_for_requests(22)
        gate.open()

    opener = threading.Thread(target=open_gate)
    opener.start()
    urls = [server.url("/flaky"), *(server.url(f"/well/{number}") for number in range(20))]
    records = fetch(nuthatch, urls)
    opener.join()
    (flaky,) = (record for record in records if record["index"] == 0)
    assert (flaky["ok"], flaky["attempts"], server.count("/flaky")) == (True, 3, 3)


def test_redirects_to_a_host_that_is_away_do_not_delay_others(
    server: TestServer, environment: Dict[str, str]
) -> None:
    server.on_prefix("/away/", redirect("http://127.0.0.1:1/"))
    server.on_prefix("/well/", ok(png(9, 9), "image/png"))
    away, well = ([server.url(f"/{way}/{number}") for number in range(200)] for way in ("away", "well"))
    with patient(environment, well[:50] + away + well[50:]) as answered:
        records = list(islice(answered, len(well)))
    assert sorted(record["url"] for record in records) == sorted(well)


def test_urls_that_hang_are_tried_again_when_no_others_are_answered(
    hosts: SickHosts, environment: Dict[str, str]
) -> None:
    def check(number: int) -> None:
        name, other = f"timed.ms5.h{number}", f"timed.ms50.other{number}"
        hanging = [hosts.url(name, f"/hang/{page}") for page in range(12)]
        good = urls_of(hosts, name, 60) + urls_of(hosts, other, 600)
        with patient(environment, good[:20] + hanging + good[20:]) as answered:
            records = list(islice(answered, len(good)))
        assert sorted(record["url"] for record in records) == sorted(good)
        log = hosts.log()
        requests = log[name]["requests"]
        asked = len(hanging) + 60
        # Not while another host has URLs left.
        assert len(requests) <= asked or requests[asked] > log[other]["requests"][-1]

    in_three_tries(check)


def test_urls_that_hang_are_tried_again_when_the_list_pauses(
    hosts: SickHosts, environment: Dict[str, str]
) -> None:
    def check(number: int) -> None:
        name = f"ms5.h{number}"
        hanging = [hosts.url(name, f"/hang/{page}") for page in range(12)]
        good = urls_of(hosts, name, 300)
        with patient(environment, good[:20] + hanging + good[20:], ends=False) as answered:
            records = list(islice(answered, len(good)))
            assert sorted(record["url"] for record in records) == sorted(good)
            # One at a time, because more URLs of the host may come.
            assert hung_beyond(hosts, name, len(hanging)) == len(hanging) + 1

    in_three_tries(check)


def test_per_host_auto_adds_requests_if_the_host_accepts_them(hosts: SickHosts, nuthatch: Runner) -> None:
    def check(number: int) -> None:
        name, limited = f"ms40.h{number}", f"ms40.slots6.h{number}"
        records = fetch(
            nuthatch, urls_of(hosts, name, 400) + urls_of(hosts, limited, 200), "--per-host-grows"
        )
        assert errors(records) == {}
        log = hosts.log()
        assert 16 <= log[name]["most"] <= 32
        # The seventh request at once was answered with 429.
        assert log[limited]["most"] <= 7
        assert 1 <= log[limited]["answers"].get("429", 0) <= 4

    in_three_tries(check)


def test_requests_keep_to_the_rate_that_a_host_accepts(hosts: SickHosts, nuthatch: Runner) -> None:
    assert errors(fetch(nuthatch, urls_of(hosts, "limit50.h", 300))) == {}
    log = hosts.log()["limit50.h"]
    # A request that the server is slow to answer is repeated.
    assert log["answers"]["200"] >= 300
    # The first requests started together.
    later = [time for time in log["overloads"] if time > log["overloads"][0] + 0.5]
    assert len(later) <= 15


def test_no_url_is_lost_after_retry_after(hosts: SickHosts, nuthatch: Runner) -> None:
    assert errors(fetch(nuthatch, urls_of(hosts, "after1.from20.h", 60))) == {}
    answers = hosts.log()["after1.from20.h"]["answers"]
    # A request that the server is slow to answer is repeated.
    assert set(answers) == {"200", "503"} and answers["200"] >= 60 and answers["503"] == 1


def test_a_host_that_is_overloaded_for_some_seconds_is_named(hosts: SickHosts, nuthatch: Runner) -> None:
    urls = urls_of(hosts, "busy4.h", 20)
    done = nuthatch("prefetch", given=lines(urls))
    host = urls[0].split("/")[2]
    said = done.stderr.decode()
    assert done.returncode == 0, said
    assert f"{host} answers 429 or 503: its URLs wait until it is back, for 5 min 0 s at most" in said


def test_a_deadline_during_retry_after_names_the_status(hosts: SickHosts, nuthatch: Runner) -> None:
    # Long enough for the first answers, even if the machine stops for some seconds.
    records = fetch(nuthatch, urls_of(hosts, "after100.h", 14), "--deadline=8")
    failed = [record for record in records if not record["ok"]]
    # Requests that were under way before the pause are answered.
    assert len(failed) >= 8
    assert {(record["error"], record["status"]) for record in failed} == {("http", 503)}
    assert all("the deadline has passed" in record["message"] for record in failed)


def test_request_starts_keep_to_the_rate(hosts: SickHosts, nuthatch: Runner) -> None:
    urls = urls_of(hosts, "timed.h", 600)
    best = 0.0
    # A busy machine makes it slower, never faster.
    for _ in range(3):
        begin = time.monotonic()
        fetch(nuthatch, urls, "--rate=200", "--policy=reload")
        requests = hosts.log()["timed.h"]["requests"][-600:]
        assert 600 / (requests[-1] - begin) <= 200 * 1.05
        best = max(best, 600 / (requests[-1] - requests[0]))
        if best >= 200 * 0.9:
            break
    assert best >= 200 * 0.9


def test_a_list_of_20_000_urls_over_500_hosts_loses_no_url(
    hosts: SickHosts, environment: Dict[str, str], tmp_path: Path
) -> None:
    many = SickList([hosts], tmp_path / "urls.txt", urls=20_000, hosts=500)
    # Much longer than a host is away, which takes its time on a busy machine.
    command = [COMMAND, "prefetch", "--timeout=2", "--give-up-after=20"]
    killed = many.run(command, environment, kill_after=5000)
    hosts.anew()
    whole = many.run(command, environment)
    assert many.faults(killed, whole) == []
