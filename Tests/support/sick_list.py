"""A list over many hosts, a tenth of which fail in different ways, and the conditions that a run over it must meet.

sick = SickList([hosts], Path("urls.txt"), urls=20_000, hosts=500)
first = sick.run(command, environment, kill_after=5000)
second = sick.run(command, environment)
assert sick.faults(first, second) == []
"""

from __future__ import annotations

import json
import random
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from sick_hosts import SickHosts, is_odd

# Kinds of bad hosts, and the error that their URLs may have; "" for none. At least one URL of each kind must end so.
WAYS = {
    "hang": "timeout",
    "refused": "refused",
    "drop2": "",
    "drop1000000": "reset",
    "away2": "",
    "limit10": "",
    "slots3": "",
    "odd25": "http",
    "each15": "",
    "after1": "",
    "tls": "tls",
    "gone": "http",
    "unknown": "dns",
}
MOST_MEMORY = 128  # MB
# URLs that a killed run may have fetched without a record: requests under way, and records that were not written yet.
MOST_AGAIN = 2048


class Run:
    """The results of a run over the list."""

    def __init__(self, urls: int) -> None:
        self.told = bytearray(urls)
        self.is_stored = bytearray(urls)
        self.was_stored = bytearray(urls)
        self.attempts = bytearray(urls)
        self.ends: Counter[str] = Counter()
        self.ends_by_way: Dict[str, Counter[str]] = {way: Counter() for way in ["", *WAYS]}
        # The first record of each kind and outcome.
        self.first: Dict[Tuple[str, str], Dict[str, Any]] = {}
        self.memory = self.seconds = 0.0
        self.status = 0
        self.summary: Dict[str, Any] = {}


class SickList:
    def __init__(
        self, servers: Sequence[SickHosts], file: Path, urls: int, hosts: int, seed: int = 1
    ) -> None:
        self.servers, self.file, self.urls, self.hosts = servers, file, urls, hosts
        self.pages = -(-urls // hosts)
        # For each place in the list: the host, times `pages`, and the page. 20 URLs of a host are in a row.
        runs = [range(first, min(first + 20, urls)) for first in range(0, urls, 20)]
        random.Random(seed).shuffle(runs)
        self.order = [number for run in runs for number in run]
        with file.open("w") as lines:
            lines.writelines(self._url(number) + "\n" for number in self.order)

    def way(self, index: int) -> str:
        """Returns the kind of a URL's host; empty for a good host, and for a good page of an odd host."""
        host, page = divmod(self.order[index], self.pages)
        way = self._way(host)
        return "" if way.startswith("odd") and not is_odd(f"/{page}", int(way[3:])) else way

    def _way(self, host: int) -> str:
        return "" if host % 10 else list(WAYS)[host // 10 % len(WAYS)]

    def _url(self, number: int) -> str:
        host, page = divmod(number, self.pages)
        server = self.servers[host % len(self.servers)]
        way = self._way(host)
        at = way if way in server.ports else "away" if way.startswith("away") else "http"
        url = server.url(f"{way}.h{host}" if way else f"h{host}", f"/{page}", at)
        return url.replace(".localhost", ".invalid") if way == "unknown" else url

    def run(
        self, command: Sequence[str], environment: Mapping[str, str], kill_after: Optional[int] = None
    ) -> Run:
        """Fetches the list. Kills the command by SIGKILL after so many records."""
        run = Run(self.urls)
        begin = time.monotonic()
        words = [*command, "--format=jsonl", str(self.file)]
        with (
            tempfile.TemporaryFile() as said,
            subprocess.Popen(words, env=dict(environment), stdout=subprocess.PIPE, stderr=said) as process,
        ):
            assert process.stdout is not None
            for count, line in enumerate(process.stdout, 1):
                self._take(json.loads(line), run)
                if count % 512 == 0 or count > self.urls - 64:
                    run.memory = max(run.memory, peak(process.pid))
                if count == kill_after:
                    process.kill()
                    break
            run.status = process.wait()
            run.seconds = time.monotonic() - begin
            said.seek(0)
            if kill_after is None:
                run.summary = json.loads(said.read().splitlines()[-1])
        return run

    def _take(self, record: Dict[str, Any], run: Run) -> None:
        index = record["index"]
        run.told[index] = min(run.told[index] + 1, 2)
        run.is_stored[index] = record["is_stored"]
        run.was_stored[index] = record["is_in_cache"]
        run.attempts[index] = min(record["attempts"], 255)
        end, way = record.get("error", ""), self.way(index)
        run.ends[end] += 1
        run.ends_by_way[way][end] += 1
        run.first.setdefault((way, end), record)

    def faults(self, killed: Run, whole: Run) -> List[str]:
        """Returns the problems of a run that was killed and of the next one."""
        found = [*self._faults_of_records(whole), *self._faults_of_summary(whole)]
        for way, ends in whole.ends_by_way.items():
            expected = WAYS.get(way, "")
            if expected not in ends:
                found.append(f"no URL of {way or 'well'} hosts ended with {expected or 'success'}")
            # If the machine stops for the length of a timeout, the last attempt may end with it.
            tolerated = {"timeout"} if expected else set()
            for end in set(ends) - {"", expected} - tolerated:
                message = whole.first[way, end]["message"]
                found.append(f"{ends[end]} of {sum(ends.values())} URLs of {way or 'well'} hosts: {message}")
        if not 0 < whole.memory <= MOST_MEMORY:
            found.append(f"it took {whole.memory:.0f} MB of memory")

        lost = sum(1 for was, has in zip(killed.is_stored, whole.was_stored) if was and not has)
        if lost:
            found.append(f"{lost} URLs that were stored before the kill were not in the cache")
        again = self.again()
        # If the machine stops for the length of a timeout, answers come too late, and URLs are asked for again.
        told = sum(
            1
            for number, index in self._places(again)
            if killed.is_stored[index] and again[number] > killed.attempts[index]
        )
        if told:
            found.append(f"{told} URLs were fetched again that had been told to be stored")
        if len(again) > MOST_AGAIN:
            found.append(f"{len(again)} URLs were fetched again")
        # On a busy machine an answer may come after the timeout, in each of the two runs.
        often = [
            again[number]
            for number, index in self._places(again)
            if again[number] > whole.attempts[index] + max(2, killed.attempts[index])
        ]
        if often:
            found.append(f"{len(often)} URLs were fetched too often, one of them {max(often)} times")
        return found

    def again(self) -> Dict[int, int]:
        """Returns how often each page was served, for pages that were served more than once."""
        found: Dict[int, int] = {}
        for server in self.servers:
            for url, count in server.served().items():
                name, page = url.split("//")[1].split("/")
                host = name.split(".localhost")[0].split(".")[-1]
                found[int(host[1:]) * self.pages + int(page)] = count
        return found

    def _places(self, numbers: Mapping[int, int]) -> List[Any]:
        return [(number, index) for index, number in enumerate(self.order) if number in numbers]

    def _faults_of_records(self, run: Run) -> List[str]:
        never, often = run.told.count(0), run.told.count(2)
        return [f"{never} URLs had no record, and {often} more than one"] if never or often else []

    def _faults_of_summary(self, run: Run) -> List[str]:
        failed = self.urls - run.ends[""]
        told = run.summary
        errors = {end: count for end, count in run.ends.items() if end}
        parts = told["hits"] + told["fetched"] + told["revalidated"]
        expected = (self.urls, self.urls - failed, failed, self.urls - failed, errors, 4, 4)
        counted = (told["urls"], told["ok"], told["failed"], parts, told["errors"], told["exit"], run.status)
        return [f"the summary says {counted}, and the records {expected}"] if counted != expected else []


def peak(pid: int) -> float:
    """Returns the peak memory of a process in MB; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(found[0]) / 1024 if found else 0
