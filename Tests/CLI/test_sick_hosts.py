"""A list over hosts of which some are sick: no URL is lost, and none waits for another's host."""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest
from command import COMMAND, Runner, lines, summary
from sick_hosts import SickHosts


@pytest.fixture
def hosts() -> Iterator[SickHosts]:
    with SickHosts() as hosts:
        yield hosts


def urls_of(hosts: SickHosts, host: str, count: int, at: str = "http") -> List[str]:
    return [hosts.url(host, f"/{number}", at) for number in range(count)]


def fetch(nuthatch: Runner, urls: List[str], *options: str) -> List[Dict[str, Any]]:
    """The records of a run, one for each URL."""
    done = nuthatch("prefetch", "--format=jsonl", *options, given=lines(urls))
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(record["index"] for record in records) == list(range(len(urls))), done.stderr
    assert done.returncode == (0 if all(record["ok"] for record in records) else 4)
    return records


def errors(records: List[Dict[str, Any]]) -> Counter[str]:
    return Counter(record["error"] for record in records if not record["ok"])


@pytest.mark.parametrize("way", ["away1", "drop1"])
def test_a_server_that_restarts_loses_no_url(hosts: SickHosts, nuthatch: Runner, way: str) -> None:
    name = f"{way}.from1000.h"
    records = fetch(nuthatch, urls_of(hosts, name, 3000, "away"))
    assert errors(records) == {}
    answers = hosts.log()[name]["answers"]
    assert answers["200"] == 3000 and answers["-1"] > 0


@pytest.mark.parametrize("at, error", [("refused", "refused"), ("tls", "tls")])
def test_every_url_names_the_fault_of_its_host(
    hosts: SickHosts, nuthatch: Runner, at: str, error: str
) -> None:
    urls = urls_of(hosts, "h", 3000, at) + urls_of(hosts, "well", 10)
    assert errors(fetch(nuthatch, urls, "--give-up-after=1")) == {error: 3000}


def test_a_host_that_hangs_keeps_no_other_waiting(hosts: SickHosts, environment: Dict[str, str]) -> None:
    urls = urls_of(hosts, "hang.a", 300) + urls_of(hosts, "b", 100)
    command = [COMMAND, "prefetch", "--format=jsonl", "--timeout=600"]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(lines(urls))
        process.stdin.close()
        # Of the others, none would end for ten minutes.
        records = [json.loads(process.stdout.readline()) for _ in range(100)]
        process.kill()
    assert sorted(record["index"] for record in records) == list(range(300, 400))
    assert all(record["ok"] for record in records)
    # And it isn't asked for more than a host is asked for at once.
    assert hosts.log()["hang.a"]["most"] <= 6


def test_a_host_with_a_limit_is_asked_at_its_rate(hosts: SickHosts, nuthatch: Runner) -> None:
    assert errors(fetch(nuthatch, urls_of(hosts, "limit50.h", 300))) == {}
    log = hosts.log()["limit50.h"]
    assert log["answers"]["200"] == 300
    # The first are those that were under way together.
    later = [time for time in log["overloads"] if time > log["overloads"][0] + 0.5]
    assert len(later) <= 15


def test_a_host_that_wants_to_be_left_alone_loses_no_url(hosts: SickHosts, nuthatch: Runner) -> None:
    assert errors(fetch(nuthatch, urls_of(hosts, "after1.from20.h", 60))) == {}
    assert hosts.log()["after1.from20.h"]["answers"] == {"200": 60, "503": 1}


def test_a_deadline_names_the_status_that_it_cut_short(hosts: SickHosts, nuthatch: Runner) -> None:
    records = fetch(nuthatch, urls_of(hosts, "after100.h", 14), "--deadline=1")
    failed = [record for record in records if not record["ok"]]
    # Those that were under way together with the one that was told so are answered.
    assert len(failed) >= 8
    assert {(record["error"], record["status"]) for record in failed} == {("http", 503)}
    assert all("left alone" in record["message"] for record in failed)


def test_starts_keep_to_the_rate(hosts: SickHosts, nuthatch: Runner) -> None:
    urls = urls_of(hosts, "timed.h", 600)
    best = 0.0
    # A machine that is busy makes it slower, never faster.
    for _ in range(3):
        begin = time.monotonic()
        fetch(nuthatch, urls, "--rate=200", "--policy=reload")
        requests = hosts.log()["timed.h"]["requests"][-600:]
        assert 600 / (requests[-1] - begin) <= 200 * 1.05
        best = max(best, 600 / (requests[-1] - requests[0]))
        if best >= 200 * 0.9:
            break
    assert best >= 200 * 0.9


# How the sick ones of many are sick, and what becomes of their URLs.
WAYS = {
    "hang": "timeout",
    "refused": "refused",
    "drop2": "",
    "drop1000": "reset",
    "away2": "",
    "limit20": "",
    "slots3": "",
    "odd25": "http",
    "each15": "",
    "after1": "",
    "tls": "tls",
    "gone": "http",
    "unknown": "dns",
}


class Many:
    """20,000 URLs over 500 hosts, a tenth of which are sick, in a random order."""

    def __init__(self, hosts: SickHosts) -> None:
        self.ways: Dict[str, str] = {}
        sick = list(WAYS)
        for number in range(500):
            way = sick[number // 10 % len(sick)] if number % 10 == 0 else ""
            at = way if way in hosts.ports else "away" if way.startswith("away") else "http"
            name = f"{way}.h{number}" if way else f"h{number}"
            for page in range(40):
                url = hosts.url(name, f"/{page}", at)
                self.ways[url.replace("localhost", "invalid") if way == "unknown" else url] = way
        self.urls = list(self.ways)
        random.Random(1).shuffle(self.urls)


def peak(process: subprocess.Popen[bytes]) -> float:
    """Of its memory so far, in MB."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return 0
    found = [line for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(found[0].split()[1]) / 1024 if found else 0


def test_20_000_urls_over_500_hosts(hosts: SickHosts, environment: Dict[str, str], tmp_path: Path) -> None:
    many = Many(hosts)
    (tmp_path / "urls.txt").write_bytes(lines(many.urls))
    command = [COMMAND, "prefetch", "--format=jsonl", "--timeout=2", "--give-up-after=6"]
    command.append(str(tmp_path / "urls.txt"))
    stored = set()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout
        for _ in range(5000):
            record = json.loads(process.stdout.readline())
            if record["is_stored"]:
                stored.add(record["url"])
        process.kill()
    hosts.anew()

    memory = 0.0
    with (
        (tmp_path / "said").open("wb") as said,
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=said) as process,
    ):
        assert process.stdout
        records = []
        for line in process.stdout:
            records.append(json.loads(line))
            if len(records) % 500 == 0 or len(records) > 19_900:
                memory = max(memory, peak(process))
    told = summary((tmp_path / "said").read_bytes())
    assert sorted(record["index"] for record in records) == list(range(20_000))
    assert process.returncode == 4 and told["exit"] == 4
    failed = sum(not record["ok"] for record in records)
    assert told["urls"] == 20_000 and (told["ok"], told["failed"]) == (20_000 - failed, failed)
    assert told["hits"] + told["fetched"] + told["revalidated"] == told["ok"]
    assert told["errors"] == errors(records)
    assert 0 < memory <= 128

    found: Dict[str, Counter[str]] = {}
    for record in records:
        found.setdefault(many.ways[record["url"]], Counter())[record.get("error", "")] += 1
    assert set(found.pop("")) == {""}
    for way, kinds in found.items():
        assert set(kinds) <= {"", WAYS[way]} and WAYS[way] in kinds, (way, kinds)

    # What was stored is there after the kill, and only what was under way then is fetched again.
    again = hosts.served()
    assert {record["url"] for record in records if record["is_in_cache"]} >= stored
    assert not stored & set(again)
    assert len(again) <= 1024 and max(again.values(), default=0) <= 2
