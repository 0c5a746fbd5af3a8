#!/usr/bin/env python3
"""Makes file systems fill, shut down, turn read-only and fail while programs use a cache on them.

`filesystems.py --seconds 600` runs rounds of all scenarios for ten minutes; `--only btrfs:fill` and `--only eio` choose
some. Every round has a seed. A failure names it, and `--seed` begins with it. The last line is `N passed, N failed,
N skipped`: rounds that passed and failed, and scenarios that this machine can't run.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Dict, List, Optional

import scenarios
import volumes
from stage import ROOT, Build, Pictures, Stage


class Row:
    """The results of the rounds of one scenario on one file system."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rounds = 0
        self.failed = 0
        #: The number of calls from Python, and of commands.
        self.calls = 0
        #: The longest time that a command took, in seconds.
        self.longest = 0.0
        self.skipped: Optional[str] = None
        self.faults: Counter = Counter()
        self.notes: Counter = Counter()

    def plain(self) -> Dict[str, object]:
        return dict(self.__dict__, faults=dict(self.faults), notes=dict(self.notes))


def say(text: str = "") -> None:
    print(text, flush=True)


def general(fault: str) -> str:
    """Returns a fault with "URL" in place of each URL, so that equal faults are counted together."""
    words = fault.split()
    return " ".join("URL" if word.lstrip("(").startswith("http://") else word for word in words)[:300]


def play(
    row: Row, build: Build, pictures: Pictures, kind: str, scenario: str, seed: int, seconds: float
) -> None:
    """Runs one round."""
    folder = Path(tempfile.mkdtemp(prefix="nuthatch-volume-"))
    volume = stage = None
    began = time.monotonic()
    try:
        volume = volumes.Volume(kind, folder)
        stage = Stage(build, pictures, volume, seed)
        try:
            scenarios.ALL[scenario][0](stage, seconds)
        except (volumes.Failed, OSError) as failure:
            stage.fault("the file system: %s" % failure)
        finally:
            stage.stop()
    except volumes.Unavailable as reason:
        row.skipped = str(reason)
        return
    finally:
        if volume is not None:
            volume.release()
        if stage is not None:
            shutil.rmtree(str(stage.scratch), ignore_errors=True)
        with contextlib.suppress(OSError):
            folder.rmdir()
    row.rounds += 1
    row.failed += bool(stage.faults)
    row.faults.update(general(fault) for fault in set(stage.faults))
    row.notes.update(stage.notes)
    row.calls += stage.commands + stage.notes["calls from Python"]
    row.longest = max(row.longest, stage.longest)
    ended = "passed" if not stage.faults else "FAILED"
    say("%-16s seed %-10d %5.1f s %s" % (row.name, seed, time.monotonic() - began, ended))
    for fault, count in Counter(general(fault) for fault in stage.faults).most_common(8):
        say("    %s%s" % (fault, " (%d times)" % count if count > 1 else ""))


def chosen(words: List[str]) -> List[str]:
    names = ["%s:%s" % (kind, name) for name, (_, kinds) in scenarios.ALL.items() for kind in kinds]
    wanted = [set(word.split(":")) for word in words] or [set()]
    picked = [name for name in names if any(words <= set(name.split(":")) for words in wanted)]
    if not picked:
        raise SystemExit("nothing is called %s; there are: %s" % (", ".join(words), " ".join(names)))
    return picked


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build", help="the folder with what was built (build)"
    )
    parser.add_argument("--seconds", type=float, default=300, help="for how long rounds are begun (300)")
    parser.add_argument(
        "--round", type=float, default=10, help="how long the fault lasts in a round, in seconds (10)"
    )
    parser.add_argument("--rounds", type=int, help="how many rounds of each, in place of --seconds")
    parser.add_argument(
        "--only", action="append", default=[], metavar="WORD", help="btrfs:fill, btrfs or fill"
    )
    parser.add_argument("--seed", type=int, help="of the first round")
    parser.add_argument("--json", type=Path, help="a file for the results, for the table")
    parser.add_argument("--notes", action="store_true", help="tell at the end how calls and commands ended")
    options = parser.parse_args()
    names = chosen(options.only)
    rows = {name: Row(name) for name in names}
    reason = volumes.reason_against_any()
    if reason:
        for row in rows.values():
            row.skipped = reason
    else:
        volumes.isolate()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        go_round(rows, options)
    return tell(rows, options)


def go_round(rows: Dict[str, Row], options: argparse.Namespace) -> None:
    # This tmpfs belongs to the namespace of `isolate`: it is gone when the last process ends.
    folder = ROOT / "build" / "reliability" / "mounts"
    folder.mkdir(parents=True, exist_ok=True)
    volumes.command("mount", "-t", "tmpfs", "-o", "size=25%", "nuthatch", str(folder))
    tempfile.tempdir = str(folder)
    os.environ["NUTHATCH_TESTSERVER"] = str(options.build.resolve() / "nuthatch-testserver")
    build, pictures = Build(options.build.resolve()), Pictures()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 30)
    end, times = time.monotonic() + options.seconds, 0
    while times < options.rounds if options.rounds else (times == 0 or time.monotonic() < end):
        for name, row in rows.items():
            if row.skipped is None:
                kind, scenario = name.split(":")
                play(row, build, pictures, kind, scenario, seed, options.round)
            seed += 1
            if not options.rounds and times and time.monotonic() > end:
                break
        times += 1
    pictures.server.stop()


def tell(rows: Dict[str, Row], options: argparse.Namespace) -> int:
    say()
    for row in rows.values():
        if row.skipped is not None:
            say("%-16s skipped: %s" % (row.name, row.skipped))
            continue
        say(
            "%-16s %d rounds, %d failed, longest command %.1f s"
            % (row.name, row.rounds, row.failed, row.longest)
        )
        for fault, count in row.faults.most_common(8):
            say("    in %d rounds: %s" % (count, fault))
        if options.notes:
            say("    " + "; ".join("%d x %s" % (count, name) for name, count in row.notes.most_common()))
    if options.json:
        options.json.write_text(json.dumps([row.plain() for row in rows.values()], indent=1))
    failed = sum(row.failed for row in rows.values())
    passed = sum(row.rounds for row in rows.values()) - failed
    skipped = sum(row.skipped is not None for row in rows.values())
    say()
    say("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
