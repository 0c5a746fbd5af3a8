#!/usr/bin/env python3
"""The model check of the cache's promises: `make model SECONDS=60 SEED=…`, or this program with `--help`.

Six processes use one cache directory at once and make random calls: get, thumbnail, peek, reload, remove, clear,
trim, unsafe requests and others. The driver stops them, some of them right after they got the index's lock, lets
them continue, kills them and starts others. Every answer names its URL and its version. After a round the judge
reads all logs and finds broken promises; `judge.py` lists the promises. A round takes about 15 seconds and has its
own directory. The run ends with the first round that broke a promise, prints the calls concerned, and exits with 1.

The files: `mix.py` chooses, `content.py` makes bodies and pictures, `server.py` sends them, `worker.py` makes the
calls, `shim.c` stops a process that holds the lock, `machine.py` has the processes, `rounds.py` has a round,
`judge.py` judges.
"""

import argparse
import itertools
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Callable, Iterable, List, Set

from judge import NAMES, Violation
from machine import ROOT, Build, build_shim
from mix import KINDS, WEIGHTS
from rounds import MODES, Round, Wanted

ROUND = 15.0
#: The part of a round for starting, ending and judging, in seconds; an estimate.
AROUND = 3.0
SHOWN = 3
PARTS = (*WEIGHTS, *KINDS, "slow", "pressure", "stop", "lockstop", "longstop", "kill", "command")


def some_of(known: Iterable[str]) -> Callable[[str], Set[str]]:
    def read(text: str) -> Set[str]:
        found = {word for word in text.split(",") if word}
        if found - set(known):
            raise argparse.ArgumentTypeError("known are %s" % ", ".join(known))
        return found

    return read


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Runs processes on one cache directory and judges the answers that they got.",
        epilog="Invariants: " + "; ".join("%s %s" % one for one in NAMES.items()),
    )
    parser.add_argument("--seconds", type=float, default=60, help="how long the run takes, about (60)")
    parser.add_argument("--seed", default="", help="repeats the choices of an earlier run; random by default")
    parser.add_argument(
        "--build",
        type=Path,
        metavar="DIR",
        help="the folder of libnuthatch.so.1 and nuthatch ($NUTHATCH_LIBRARY, else build)",
    )
    parser.add_argument("--processes", type=int, default=6, help="how many workers (6)")
    parser.add_argument("--threads", type=int, default=3, help="how many threads a worker has (3)")
    parser.add_argument(
        "--rounds",
        metavar="N,N…",
        default="",
        help="only these rounds, repeated; a complaint names its round",
    )
    parser.add_argument(
        "--only",
        type=some_of(NAMES),
        default=set(NAMES),
        metavar="I1,I2…",
        help="judge these invariants only",
    )
    parser.add_argument(
        "--without",
        type=some_of(PARTS),
        default=set(),
        metavar="NAME,…",
        help="leave these out: " + ", ".join(PARTS),
    )
    parser.add_argument("--go-on", action="store_true", help="go on after a violation")
    return parser.parse_args()


def chosen_build(folder: Path, given: "Path | None") -> Build:
    """Returns the library of `--build`, else $NUTHATCH_LIBRARY, else the checkout's, and the command in its folder."""
    named = os.environ.get("NUTHATCH_LIBRARY")
    library = Path(named) if named and given is None else (given or ROOT / "build") / "libnuthatch.so.1"
    if not library.is_file():
        sys.exit("model: no %s; `make` builds it" % library)
    command = library.parent / "nuthatch"
    return Build(library.resolve(), command.resolve() if command.is_file() else None, build_shim(folder))


def complain(found: Round, violations: List[Violation], seed: str, begin: float) -> None:
    for name, count in sorted(Counter(one.invariant for one in violations).items()):
        own = [one for one in violations if one.invariant == name]
        first = min(one.time for one in own) / 1e9 - begin
        words = "\nBROKEN %s: %s (%d times, first after %.1f s; seed %s, round %d)"
        print(words % (name, NAMES[name], count, first, seed, found.number))
        for violation in own[:SHOWN]:
            print("  " + violation.words)
            for call in violation.calls:
                print("    " + found.show(call))
                for stop in found.stops_during(call) if name == "I4" else []:
                    print("    " + stop)


def main() -> int:
    wanted = options()
    seed = wanted.seed or str(int.from_bytes(os.urandom(4), "big"))
    print("model: seed %s" % seed, flush=True)
    begin = time.monotonic()
    numbers = [int(word) for word in wanted.rounds.split(",") if word]
    active = max(3.0, min(wanted.seconds, ROUND) - AROUND)
    passed: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="nuthatch-model-") as place:
        build = chosen_build(Path(place), wanted.build)
        for turn in itertools.count():
            # Rounds differ in length, and a busy machine makes them longer.
            if turn > 0 and time.monotonic() - begin > wanted.seconds - ROUND / 2:
                break
            number = numbers[turn % len(numbers)] if numbers else turn
            folder = Path(place) / ("round.%d" % turn)
            folder.mkdir()
            what = Wanted(seed, active, wanted.processes, wanted.threads, wanted.only, wanted.without)
            found = Round(number, what, build, folder)
            violations = found.run()
            print("round %d (%.0f s): %s" % (number, time.monotonic() - begin, found.summary()), flush=True)
            complain(found, violations, seed, begin)
            failed.update(one.invariant for one in violations)
            passed.update(found.judge.checks)
            if violations and not wanted.go_on:
                keep_logs(folder)
                break
            shutil.rmtree(folder)
    may_be_idle = turn < len(MODES) - 1 or wanted.without or numbers
    idle = [] if may_be_idle else [name for name in sorted(wanted.only) if not passed[name]]
    print()
    for name in sorted(wanted.only):
        print("%s  %8d checks %6d failed  %s" % (name, passed[name], failed[name], NAMES[name]))
    if idle:
        print("without any check: %s" % ", ".join(idle))
    print("model: seed %s, %.0f s" % (seed, time.monotonic() - begin))
    bad = sum(failed.values()) + len(idle)
    print("%d passed, %d failed" % (max(0, sum(passed.values()) - bad), bad))
    return 1 if bad else 0


def keep_logs(folder: Path) -> None:
    kept = ROOT / "build" / "model"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(folder, kept, ignore=shutil.ignore_patterns("cache", "page.*"))
    print("\nThe logs of the round: %s" % kept.relative_to(ROOT))


def end(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, end)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("model: interrupted", file=sys.stderr)
        sys.exit(130)
