#!/usr/bin/env python3
"""Makes the kth call of each kind fail, once or from then on, in runs of the command and of the Python binding.

Each run of a step (`get`, `prefetch`, `rm`, …) has a directory of its own. The first run of a step has no faults and
counts its calls. The other runs have one fault each: a kind, the number of its call, and a way to fail. --seed sets
their order; they begin until the time is over. A run fails if one of these is true:

- A signal ends the process, or the process doesn't end, or its exit status is not one that its help names.
- An answer has wrong bytes, or something removed is there again.
- Afterwards, without faults, `verify` finds damage, or the directory doesn't work.

The last line is `N passed, N failed`.

    Tests/Reliability/faults.py --seconds 600 --table table.md
    Tests/Reliability/faults.py --kinds lock,malloc --steps get
    Tests/Reliability/faults.py --only get:lock:2:once
"""

import argparse
import concurrent.futures
import contextlib
import hashlib
import importlib
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "support"))

from pictures import png  # noqa: E402
from testserver import TestServer, body, ok, script  # noqa: E402

KINDS = [
    *(
        "malloc",
        "calloc",
        "realloc",
        "aligned_alloc",
        "mmap",
        "mremap",
        "open",
        "read",
        "write",
        "write_full",
    ),
    *("write_short", "sync", "rename", "link", "unlink", "mkdir", "ftruncate", "fallocate", "stat", "statfs"),
    *(
        "opendir",
        "readdir",
        "lock",
        "unlock",
        "lock_interrupted",
        "thread",
        "socket",
        "connect",
        "recv",
        "send",
    ),
    *("setsockopt", "epoll", "epoll_ctl", "wait_interrupted", "eventfd", "pipe", "getrandom", "getaddrinfo"),
]
# Kinds that fail only once: a real machine doesn't interrupt every wait.
ONCE_ONLY = {"wait_interrupted", "lock_interrupted"}
LIBRARIES = ["libcurl.so.4", "libcrypto.so.3", "libssl.so.3", "libjpeg.so.62", "libpng16.so.16"]
PICTURES = ["a.png", "b.png", "c.jpg"]
NAMES = [*PICTURES, "d.txt"]
LIMIT = 60.0
TERMS = ["--retries", "0", "--timeout", "5", "--deadline", "8"]


class Step(NamedTuple):
    """A run of the command (or of scenario.py), and what to check afterwards."""

    name: str
    arguments: List[str]
    begins: str = "warm"
    statuses: Tuple[int, ...] = (0, 1, 4)
    removes: Tuple[str, ...] = ()
    given: str = ""


class Round(NamedTuple):
    """One fault."""

    step: str
    kind: str
    number: int
    is_for_good: bool

    def __str__(self) -> str:
        return f"{self.step}:{self.kind}:{self.number}:{'good' if self.is_for_good else 'once'}"


class Result(NamedTuple):
    """The result of a round."""

    round: Round
    hits: int
    problems: List[str]


#: Mangled names of the accessors `_read` and `_modify` of subscripts and variables.
LENDS = re.compile(r"^\$s.*(ci|v)[rM](Z|TW|Tm|[A-Z_]\w*T[gG]\d)?$")


def spare_ranges(binary: Path, unstripped: Path) -> Optional[str]:
    """Returns the code that allocates memory for Swift itself, which can't go on without it.

    Returns None if there is no unstripped file of the same build.
    """

    def identity(path: Path) -> str:
        notes = subprocess.run(["readelf", "-n", str(path)], capture_output=True, text=True, check=False)
        found = re.search(r"Build ID: (\w+)", notes.stdout)
        return found.group(1) if found else str(path)

    if not unstripped.exists() or identity(binary) != identity(unstripped):
        return None
    listing = subprocess.run(["nm", "-n", "--defined-only", str(unstripped)], capture_output=True, text=True)
    ranges: List[List[int]] = []
    is_open = False
    for line in listing.stdout.splitlines():
        address, kind, name = line.split(maxsplit=2)
        if kind not in "tTwWi":
            continue
        place = int(address, 16)
        # Swift's runtime in C++, code that the compiler makes for generics, and the accessors above, whose frames the
        # compiler allocates.
        is_runtime = name.startswith(("_Z", "swift", "_swift", "__swift")) or bool(LENDS.search(name))
        if is_open and not is_runtime:
            ranges[-1][1] = place
        if is_runtime and not is_open:
            ranges.append([place, place + 1])
        elif is_runtime:
            ranges[-1][1] = place + 1
        is_open = is_runtime
    return ",".join(f"{first:x}-{end:x}" for first, end in ranges)


class Bench:
    """The server, the directories and the tools that all rounds share."""

    def __init__(self, build: Path, folder: Path, server: TestServer) -> None:
        self.build = build
        self.folder = folder
        self.server = server
        self.command = str(build / "nuthatch")
        self.shim = folder / "faults.so"
        source = str(Path(__file__).with_name("faults.c"))
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(self.shim), source, "-ldl"], check=True)
        release = build.parent / ".build" / "release"
        spares = {
            "libnuthatch.so.1": spare_ranges(build / "libnuthatch.so.1", release / "libnuthatch-c.so"),
        }
        self.spare = ";".join(f"{name}={ranges}" for name, ranges in spares.items() if ranges)
        self.knows_swift = all(spares.values())
        self.offline = "http://127.0.0.1:1"
        self.expected: Dict[str, str] = {}
        self.bodies: Dict[str, bytes] = {}
        self.pixels: Dict[str, bytes] = {}
        self.found: List[str] = []
        os.environ["NUTHATCH_LIBRARY"] = str(build / "libnuthatch.so.1")
        sys.path.insert(0, str(build.parent / "bindings" / "python"))
        self.nuthatch = importlib.import_module("nuthatch")
        self.serve()

    def serve(self) -> None:
        headers = [("Cache-Control", "max-age=86400")]
        for number, name in enumerate(PICTURES[:2]):
            content = png(90 + number, 70, seed=number)
            self.server.on(f"/{name}", ok(content, "image/png", etag=f'"{number}"', headers=headers))
        first = self.folder / "c.jpg"
        get = [self.command, "get", "--cache", str(self.folder / "first"), "-s", "64", "-o", str(first)]
        subprocess.run([*get, self.server.url("/a.png")], check=True)
        self.server.on("/c.jpg", ok(first.read_bytes(), "image/jpeg", etag='"c"', headers=headers))
        self.server.on("/d.txt", ok("text " * 9000, "text/plain", etag='"d"', headers=headers))
        self.server.on("/post", script(201, [], [body("taken")], readsBody=True))

    def environment(self, **more: str) -> Dict[str, str]:
        env = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        env["SWIFT_BACKTRACE"] = "enable=no"
        env["NUTHATCH_LIBRARY"] = str(self.build / "libnuthatch.so.1")
        env["PYTHONPATH"] = str(self.build.parent / "bindings" / "python")
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        return {**env, **more}

    def steps(self) -> List[Step]:
        url = self.server.url
        pictures = "".join(url(f"/{name}") + "\n" for name in PICTURES)
        gone = tuple(NAMES)
        return [
            Step("get", ["get", *TERMS, "-o", "out", url("/d.txt")], "empty"),
            Step("get_stored", ["get", *TERMS, "-o", "out", url("/d.txt")]),
            Step("get_again", ["get", *TERMS, "--policy", "reload", "-o", "out", url("/d.txt")]),
            Step("thumbnail", ["get", *TERMS, "-s", "24", "-o", "out.png", url("/a.png")], "empty"),
            Step("thumbnail_stored", ["get", *TERMS, "-s", "24", "-o", "out.png", url("/a.png")]),
            Step(
                "prefetch",
                ["prefetch", *TERMS, "--give-up-after", "10", "-s", "24,40", "-"],
                "empty",
                (0, 1, 2, 4),
                given=pictures,
            ),
            Step(
                "prefetch_stored",
                ["prefetch", *TERMS, "--give-up-after", "10", "-s", "24,30", "-"],
                statuses=(0, 1, 2, 4),
                given=pictures,
            ),
            Step("rm", ["rm", url("/a.png")], removes=("a.png",)),
            Step("clear", ["clear"], removes=gone),
            Step("stat", ["stat", "--count"]),
            Step("ls", ["ls"]),
            Step("verify", ["verify"]),
            Step("trim", ["trim", "--to-bytes", "100K"]),
            Step("export", ["export", "-s", "24", "exported", "-"], statuses=(0, 1, 2, 4), given=pictures),
            Step("freeze", ["get", *TERMS, "--freezable", "-d", "x", f"{self.offline}/post"]),
            Step("replay", ["outbox", "replay", "--deadline", "8"], "frozen"),
            Step("python", [], "empty", (0,)),
        ]

    def prepare(self) -> None:
        """Makes the directories that steps begin with, and notes the right bytes and pixels."""
        for name in ("empty", "warm", "frozen"):
            (self.folder / name).mkdir()
        warm = self.folder / "warm"
        for name in NAMES:
            self.run(warm, ["get", "-o", str(self.folder / "body"), self.server.url(f"/{name}")], check=True)
            self.expected[name] = self.digest(self.folder / "body")
            self.bodies[name] = (self.folder / "body").read_bytes()
        for name in PICTURES:
            thumb = self.folder / "thumb.png"
            self.run(warm, ["get", "-s", "24", "-o", str(thumb), self.server.url(f"/{name}")], check=True)
            self.expected[f"{name} at 24"] = self.digest(thumb)
        with self.nuthatch.Cache(warm / "cache") as cache:
            for name in PICTURES:
                self.pixels[name] = bytes(cache.thumbnail(self.server.url(f"/{name}"), 24).pixels)
        frozen = self.folder / "frozen"
        shutil.copytree(warm / "cache", frozen / "cache")
        self.server.go_down()
        address = self.server.url("/post")
        done = self.run(frozen, ["get", "--retries", "0", "--freezable", "-d", "x", address])
        self.server.go_up()
        assert done.returncode != 0

    def digest(self, path: Path) -> str:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]

    def run(
        self, folder: Path, arguments: Sequence[str], check: bool = False, given: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """Runs the command without faults."""
        return subprocess.run(
            [self.command, *arguments, "--cache", str(folder / "cache")],
            cwd=str(folder),
            env=self.environment(),
            input=given,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=check,
        )

    def perform(self, step: Step, round: Round) -> Result:
        """Runs a step with a fault, and checks what it left."""
        with tempfile.TemporaryDirectory(dir=str(self.folder)) as name:
            folder = Path(name)
            shutil.copytree(self.folder / step.begins, folder, dirs_exist_ok=True)
            problems: List[str] = []
            hits = self.with_fault(step, round, folder, problems)
            if hits >= 0 and round.number > 0:
                self.check_after(step, folder, problems)
            return Result(round, hits, problems)

    def with_fault(self, step: Step, round: Round, folder: Path, problems: List[str]) -> int:
        counts = folder / "counts"
        counts.write_bytes(bytes(4096))
        env = self.environment(
            LD_PRELOAD=str(self.shim),
            FAULTS_KIND=round.kind,
            FAULTS_AT=str(round.number),
            FAULTS_GOOD="1" if round.is_for_good else "0",
            FAULTS_COUNT=str(counts),
            FAULTS_FILES=":".join(["libnuthatch.so.1", *LIBRARIES]) + ":",
            FAULTS_OWN="libnuthatch.so.1",
            FAULTS_SPARE=self.spare,
        )
        if step.arguments:
            command = [self.command, *step.arguments, "--cache", str(folder / "cache")]
        else:
            source = str(Path(__file__).with_name("scenario.py"))
            command = [sys.executable, source, str(folder / "cache"), self.server.url(""), self.offline]
            command += self.found
        process = subprocess.Popen(
            command,
            cwd=str(folder),
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(step.given, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            said, _ = process.communicate()
            problems.append(f"not done after {LIMIT:.0f} s")
        status = process.returncode
        lines = [line for line in said.splitlines() if line and not line.startswith("found ")]
        tail = " | ".join(lines[-3:])[:300]
        calls, hits = struct.unpack("qq", counts.read_bytes()[:16])
        if round.number == 0:
            if not step.arguments:
                self.found = [line[6:] for line in said.splitlines() if line.startswith("found ")]
            if status != 0 and step.name != "freeze":
                problems.append(f"status {status} without a fault: {tail}")
            return int(calls)
        if problems:
            return int(hits)
        if status < 0 or (status > 128 and status not in (130, 141, 143)):
            problems.append(f"ended by a signal, status {status}: {tail}")
        elif status not in step.statuses:
            problems.append(f"status {status}: {tail}")
        elif "internal:" in said:
            problems.append(f"said to be a fault of its own: {tail}")
        if status == 0:
            self.check_answer(step, folder, problems)
        return int(hits)

    def check_answer(self, step: Step, folder: Path, problems: List[str]) -> None:
        """Checks the file that the step wrote, and that what it removed is gone."""
        for name, key in (("out", "d.txt"), ("out.png", "a.png at 24")):
            if name in step.arguments:
                path = folder / name
                if not path.exists():
                    problems.append("said to be done, and there is no file")
                elif self.digest(path) != self.expected[key]:
                    problems.append(f"said to be done, and the file has other bytes ({path.stat().st_size})")
        if not step.removes:
            return
        with self.nuthatch.Cache(folder / "cache") as cache:
            for name in step.removes:
                with contextlib.suppress(self.nuthatch.Error):
                    cache.get(self.server.url(f"/{name}"), policy="offline")
                    problems.append(f"{name} is there after it was removed")

    def check_after(self, step: Step, folder: Path, problems: List[str]) -> None:
        """Checks without faults that the directory is in order, and that everything works."""
        try:
            self.verify(folder, problems)
            with self.nuthatch.Cache(folder / "cache") as cache:
                if step.name == "replay" and len(cache.outbox.list()) > 1:
                    problems.append("afterwards: the outbox has a request twice")
                for name in NAMES:
                    if cache.get(self.server.url(f"/{name}")).body != self.bodies[name]:
                        problems.append(f"afterwards: {name} has other bytes")
                for name in PICTURES:
                    image = cache.thumbnail(self.server.url(f"/{name}"), 24)
                    if bytes(image.pixels) != self.pixels[name]:
                        problems.append(f"afterwards: {name} at 24 has other pixels")
                cache.stats()
        except self.nuthatch.Error as error:
            problems.append(f"afterwards: {error}")
        except subprocess.TimeoutExpired as late:
            problems.append(f"afterwards: {late}")

    def verify(self, folder: Path, problems: List[str]) -> None:
        done = self.run(folder, ["verify", "--format", "json"])
        if done.returncode == 0:
            return
        said = (done.stdout + done.stderr).strip()
        problems.append(f"afterwards: verify ends with {done.returncode}: {said[:300]}")
        if self.run(folder, ["verify"]).returncode != 0:
            problems.append("afterwards: verify finds damage once more")


def several(jobs: int, work: Callable[[Round], Result], rounds: Sequence[Round], end: float) -> List[Result]:
    """Runs as many rounds as there is time for, on `jobs` threads. Returns their results."""
    results: List[Result] = []
    left = iter(rounds)
    lock = threading.Lock()

    def run() -> None:
        while time.monotonic() < end:
            with lock:
                round = next(left, None)
            if round is None:
                return
            result = work(round)
            with lock:
                results.append(result)
                if result.problems:
                    print(f"FAILED {result.round}: {'; '.join(result.problems)}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for thread in [pool.submit(run) for _ in range(jobs)]:
            thread.result()
    return results


def table(results: Sequence[Result], counts: Dict[Tuple[str, str], int]) -> str:
    """Returns a table in Markdown, with a line for each kind."""
    lines = ["| kind | calls in all steps | rounds | faults | passed | failed |", "|" + " --- |" * 6]
    for kind in KINDS:
        calls = sum(count for (_, other), count in counts.items() if other == kind)
        of_kind = [result for result in results if result.round.kind == kind]
        if not calls:
            continue
        failed = sum(1 for result in of_kind if result.problems)
        hits = sum(result.hits for result in of_kind)
        cells = [kind, calls, len(of_kind), hits, len(of_kind) - failed, failed]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def ordered(counts: Dict[Tuple[str, str], int], seed: int) -> List[Round]:
    """Returns all rounds, mixed, so that each kind and each step gets its share of the time."""
    chance = random.Random(seed)
    lines: List[List[Round]] = []
    for (step, kind), count in sorted(counts.items()):
        ways = [False] if kind in ONCE_ONLY else [False, True]
        line = [Round(step, kind, number, way) for number in range(1, count + 1) for way in ways]
        chance.shuffle(line)
        lines.append(line)
    chance.shuffle(lines)
    rounds: List[Round] = []
    while lines:
        rounds += [line.pop() for line in lines if line]
        lines = [line for line in lines if line]
    return rounds


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=300, help="how long new rounds begin (300)")
    parser.add_argument("--kinds", default="", help="of calls, with commas between them (all)")
    parser.add_argument("--steps", default="", help="with commas between them (all)")
    parser.add_argument("--seed", type=int, default=1, help="of the order of rounds (1)")
    parser.add_argument("--jobs", type=int, default=2, help="rounds at once (2)")
    parser.add_argument("--table", type=Path, help="a file for the table of results, in Markdown")
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build", help="where command and library are (build)"
    )
    parser.add_argument("--only", help="one round, STEP:KIND:NUMBER:once|good, as failures name it")
    options = parser.parse_args()
    build = options.build.resolve()
    os.environ.setdefault("NUTHATCH_TESTSERVER", str(build / "nuthatch-testserver"))
    with tempfile.TemporaryDirectory(prefix="nuthatch-faults-") as folder, TestServer() as server:
        bench = Bench(build, Path(folder), server)
        bench.prepare()
        steps = {step.name: step for step in bench.steps()}

        def perform(round: Round) -> Result:
            return bench.perform(steps[round.step], round)

        if not bench.knows_swift:
            print("no unstripped build: malloc fails in other libraries only")
        if options.only:
            name, kind, number, way = options.only.split(":")
            rounds = [Round(name, kind, int(number), way == "good")]
            bench.perform(steps[name], Round(name, kind, 0, False))
            counts = {(name, kind): int(number)}
        else:
            names = options.steps.split(",") if options.steps else list(steps)
            kinds = options.kinds.split(",") if options.kinds else KINDS
            counting = [Round(name, kind, 0, False) for name in names for kind in kinds]
            counted = several(options.jobs, perform, counting, float("inf"))
            if any(result.problems for result in counted):
                print("0 passed, 1 failed")
                return 1
            counts = {
                (result.round.step, result.round.kind): result.hits for result in counted if result.hits
            }
            rounds = ordered(counts, options.seed)
        print(f"{len(rounds)} rounds, seed {options.seed}, {options.seconds:.0f} s", flush=True)
        end = time.monotonic() + options.seconds
        results = several(options.jobs, perform, rounds, end)
    text = table(results, counts)
    print(text)
    if options.table:
        options.table.write_text(text)
    failed = sum(1 for result in results if result.problems)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
