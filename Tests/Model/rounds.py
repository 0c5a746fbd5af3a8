"""One round of the check: a directory, a server, workers for some seconds, and the judge's verdict."""

import contextlib
import random
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Set, Tuple

from judge import Call, History, Judge, Violation, lines, read_calls
from machine import Build, Commands, Disk, Plan, Server, Worker
from mix import COMMANDS, KINDS, WEIGHTS, chosen_path

MIB = 1 << 20
#: Seconds in which a busy machine starts the workers.
START = 30.0
#: Seconds after the end of a round in which every call must return.
PATIENCE = 9.0


class Mode(NamedTuple):
    """The options that all processes of a round share."""

    disk_bytes: int
    keeps_source: bool

    @property
    def drops(self) -> bool:
        """Whether the answers of a round need more room than `disk_bytes` allows, so that some are dropped."""
        return self.disk_bytes < 16 * MIB


MODES = (Mode(4 * MIB, True), Mode(256 * MIB, True), Mode(4 * MIB, False), Mode(256 * MIB, True))


class Wanted(NamedTuple):
    """The command line's options."""

    seed: str
    seconds: float
    processes: int
    threads: int
    invariants: Set[str]
    without: Set[str]


class Round:
    def __init__(self, number: int, wanted: Wanted, build: Build, folder: Path) -> None:
        self.number, self.wanted, self.build, self.folder = number, wanted, build, folder
        self.seed = "%s.%d" % (wanted.seed, number)
        self.chance = random.Random("round " + self.seed)
        self.mode = MODES[number % len(MODES)]
        self.cache = folder / "cache"
        self.workers: List[Worker] = []
        self.places: List[Worker] = []
        pack = max(64 << 10, self.mode.disk_bytes // 64)
        self.disk = Disk(self.cache, self.mode.disk_bytes + 2 * pack * wanted.processes)
        self.commands = Commands(build, self.cache, -1)
        self.plan = Plan()
        # After the cache has dropped a newer answer for want of room, it may store an older one that is under way.
        # So I3 is judged in rounds that drop nothing.
        self.without = wanted.without | (set() if self.mode.drops else {"trim"})
        self.invariants = wanted.invariants - ({"I3"} if self.mode.drops else set())
        self.counts = {"stops": 0, "stops with the lock": 0, "kills": 0}
        self.judge = Judge(History([], [], {}, {}))

    def run(self) -> List[Violation]:
        server = Server(self.folder, self.seed, "slow" not in self.without)
        try:
            self.server = server.url
            for place in range(self.wanted.processes):
                self.places.append(self.start(place))
            self.let_begin()
            self.schedule()
            self.drive(self.until)
            self.finish()
        finally:
            for worker in self.workers:
                worker.kill()
            self.commands.kill()
            server.end()
        violations = self.judged(server)
        shutil.rmtree(self.cache, ignore_errors=True)
        return violations

    def start(self, place: int) -> Worker:
        number = len(self.workers)
        chance = random.Random("worker %s.%d" % (self.seed, number))
        options: Dict[str, Any] = {
            "disk_bytes": self.mode.disk_bytes,
            "keep_source": self.mode.keeps_source,
            # Set by the worker's place, so that every round has each kind of worker.
            "spill": "pressure" if place % 3 == 1 and "pressure" not in self.wanted.without else "eager",
            "policy": "rfc9111" if place % 4 >= 2 else "kit",
            "memory_bytes": chance.choice((MIB, 64 * MIB)),
            "thumb_store": chance.choice(("packed", "lossless", "raw")),
            "deadline": 2.0,
            "retries": 1,
        }
        setting = {
            "cache": str(self.cache),
            "server": self.server,
            "seed": "%s.%d" % (self.seed, number),
            "until": str(self.folder / "until"),
            "threads": self.wanted.threads,
            "pause": 0.012,
            "without": sorted(self.without & {*WEIGHTS, *KINDS}),
            "options": options,
        }
        is_private = options["spill"] == "pressure"
        label = ", ".join(str(options[name]) for name in ("spill", "policy", "thumb_store"))
        worker = Worker(number, self.folder, self.build, setting, label, is_private)
        self.workers.append(worker)
        return worker

    def let_begin(self) -> None:
        """Waits until the workers have started, and tells them and their successors until when they make calls."""
        due = time.monotonic() + START
        while time.monotonic() < due and not all(worker.log.exists() for worker in self.places):
            time.sleep(0.01)
        self.begin = time.monotonic()
        self.until = self.begin + self.wanted.seconds
        told = self.folder / "until"
        told.with_suffix(".new").write_text(repr(self.until))
        told.with_suffix(".new").rename(told)

    # Events

    def schedule(self) -> None:
        """Plans stops, kills and commands at random times."""
        last = self.wanted.seconds - 1.5
        for kind, every, event in (
            ("stop", 0.9, self.stop), ("lockstop", 1.2, self.arm), ("kill", 3.0, self.kill),
            ("command", 0.9, self.command),
        ):  # fmt: skip
            at = self.chance.expovariate(1 / every) + 0.5
            while at < last and kind not in self.wanted.without:
                self.plan.add(self.begin + at, event)
                at += self.chance.expovariate(1 / every)
        # This stop is longer than the bound of remove, clear and the like.
        if last > 9 and not self.wanted.without & {"lockstop", "longstop"} and self.chance.random() < 0.5:
            self.plan.add(self.begin + self.chance.uniform(0.5, last - 8), lambda: self.arm(8.0))

    def stop(self) -> None:
        self.counts["stops"] += 1
        self.chance.choice(self.places).stop(time.monotonic() + self.chance.uniform(0.2, 3))

    def arm(self, seconds: float = 0) -> None:
        worker = self.chance.choice(self.places)
        worker.page.arm(self.chance.randrange(1, 12))
        worker.stopped_for = seconds or self.chance.uniform(0.2, 3)
        worker.dies = self.chance.random() < 0.15 and "kill" not in self.wanted.without

    def kill(self) -> None:
        self.replace(self.chance.randrange(len(self.places)))

    def replace(self, place: int) -> None:
        self.counts["kills"] += 1
        self.places[place].kill()
        self.places[place] = self.start(place)

    def command(self) -> None:
        names = [name for name in COMMANDS if name not in self.without]
        name = self.chance.choices(names, [COMMANDS[name] for name in names])[0]
        self.commands.start(
            name, chosen_path(self.chance, self.without) if name == "remove" else "", self.server
        )

    def drive(self, until: float) -> None:
        while time.monotonic() < until:
            for event in self.plan.due(time.monotonic()):
                event()
            self.look()
            time.sleep(0.015)

    def look(self) -> None:
        self.disk.sample()
        self.commands.look()
        now = time.monotonic()
        for place, worker in enumerate(self.places):
            if worker.resumes is None and worker.state() == "T":
                self.counts["stops with the lock"] += 1
                worker.is_stopped(min(now + worker.stopped_for, max(now, self.until - 0.5)), True)
            if worker.resumes is None or now < worker.resumes:
                continue
            if worker.dies and worker.page.stops:
                self.replace(place)
            else:
                worker.go_on()

    def finish(self) -> None:
        """Lets every process continue, and waits until the calls have returned."""
        for worker in self.places:
            worker.page.arm(0)
            worker.go_on()
        due = time.monotonic() + PATIENCE
        while time.monotonic() < due and not all(worker.is_over() for worker in self.places):
            self.look()
            time.sleep(0.015)
        for worker in self.places:
            if not worker.is_over():
                worker.write_stacks()
        self.commands.finish(max(0.0, due - time.monotonic()))

    # Verdict

    def judged(self, server: Server) -> List[Violation]:
        calls: List[Call] = list(self.commands.calls)
        late = {}
        for worker in self.workers:
            with contextlib.suppress(FileNotFoundError):
                calls += read_calls(str(worker.log), worker.number, worker.ended)
            late[worker.number] = worker.late()
        calls.sort(key=lambda call: call.begin)
        private = {
            worker.number: flushes(calls, worker.number) for worker in self.workers if worker.is_private
        }
        self.judge = judge = Judge(History(calls, list(lines(str(server.log))), late, private))
        judge.judge(self.invariants)
        return judge.violations + self.of_processes() + self.of_disk()

    def of_processes(self) -> List[Violation]:
        found = []
        for worker in self.workers:
            status = worker.process.returncode
            if "I6" in self.invariants and status != 0 and not worker.was_killed:
                said = worker.errors.read_text(errors="replace").strip()[-600:]
                words = "%s ended with %d: %s" % (self.name(worker), status, said)
                found.append(Violation("I6", words, [], worker.ended))
        if "I6" in self.invariants and not self.locks:
            words = "the shim saw no write lock on byte 0 of the file locks, so it can't stop an owner of that lock"
            found.append(Violation("I6", words, [], self.workers[0].ended))
        return found

    @property
    def locks(self) -> int:
        """The number of times that workers got the index's lock."""
        return sum(worker.page.locks for worker in self.workers)

    def of_disk(self) -> List[Violation]:
        if "I5" not in self.invariants:
            return []
        disk = self.disk
        self.judge.checks["I5"] += disk.samples
        if not disk.first:
            return []
        time_, least = disk.first
        words = "%d bytes at %.2f s, at most %d; %d of %d samples were beyond the bound of %d"
        found = words % (least, self.at(time_), disk.most, disk.beyond, disk.samples, disk.bound)
        return [Violation("I5", found, [], time_)]

    def summary(self) -> str:
        """Returns one line: the mode, how much was done, and which errors there were."""
        calls = self.judge.history.calls
        errors = Counter(call.outcome["error"] for call in calls if call.outcome and "error" in call.outcome)
        cached = sum(1 for call in calls if call.outcome and call.outcome.get("cached"))
        words = [
            "limit %d MiB%s" % (self.mode.disk_bytes // MIB, "" if self.mode.keeps_source else ", no sources")
        ]
        words += ["%d calls, %d from the cache" % (len(calls), cached)]
        words += ["%d %s" % (count, name) for name, count in self.counts.items()]
        words += [
            "%d locks" % self.locks,
            "latest %.2f s late" % self.judge.latest,
            "disk at most %.2f of %.2f MiB" % (self.disk.most / MIB, self.disk.bound / MIB),
        ]
        words += ["joined older fetches: %d" % self.judge.joined]
        words += [
            "errors: "
            + (", ".join("%d %s" % (count, name) for name, count in errors.most_common()) or "none")
        ]
        return "; ".join(words)

    def at(self, time_: int) -> float:
        return time_ / 1e9 - self.begin

    def show(self, call: Call) -> str:
        process = "command" if call.process < 0 else self.name(self.workers[call.process])
        times = "%9.4f to %9.4f s" % (self.at(call.begin), self.at(call.end))
        asked = " ".join(word for word in (call.operation, call.path, call.variant) if word)
        came = "no end"
        if call.outcome is not None:
            came = " ".join("%s=%s" % one for one in call.outcome.items() if one[0] != "text")
        return "%s  %s, call %s: %s -> %s" % (times, process, call.number, asked, came)

    def stops_during(self, call: Call) -> List[str]:
        """Returns the stops of other processes that overlap a call."""
        return [
            "%9.4f to %9.4f s  stop of %s%s"
            % (self.at(begin), self.at(end), self.name(worker), ", which had just got the lock" * has_lock)
            for worker in self.workers
            for begin, end, has_lock in worker.stops
            if worker.number != call.process and begin < call.end and end > call.begin
        ]

    def name(self, worker: Worker) -> str:
        return "process %d (pid %d, %s)" % (worker.number, worker.process.pid, worker.label)


def flushes(calls: List[Call], process: int) -> List[Tuple[int, int]]:
    own = [call for call in calls if call.process == process and call.operation == "flush"]
    return [(call.begin, call.end) for call in own if call.outcome and "error" not in call.outcome]
