#!/usr/bin/env python3
"""Runs everything that takes too long for `make test`, and writes build/reliability/table.md.

`make reliability SECONDS=3600` calls this. docs/RELIABILITY.md says what the parts are. The last line is `N passed,
N failed, N skipped`; a part that this checkout or this machine can't run counts as skipped.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional

from part import OUT, ROOT, Part, Program

HERE = Path(__file__).resolve().parent
SHARES = {"file systems": 0.4, "faults": 0.2, "model": 0.2, "crashes": 0.2}
#: Swift suites, and how often they repeat their work in one run; `make test` has other numbers.
CRASHES = [
    (["CrashTests", "KillTests", "SpillCrashTests", "OutboxCrashTests"], {"NUTHATCH_CRASH_ROUNDS": "30"}),
    (["MixTests", "StepTests", "HostileProcessTests"], {"NUTHATCH_CRASH_ROUNDS": "4"}),
    (["ModelTests", "CollisionTests", "OutboxCallTests"], {"NUTHATCH_MODEL_RUNS": "40"}),
]
#: The seconds that a program may take beyond --seconds, for its last round or for a build.
GRACE = 3600


def parts(seconds: float, build: Path, old: Optional[Path], seed: Optional[int]) -> List[Part]:
    share = {name: seconds * part for name, part in SHARES.items()}
    seeded = ["--seed", str(seed)] if seed is not None else []

    def program(name: str, *words: str) -> Program:
        return [sys.executable, str(HERE / name), *words], {}

    def told(name: str) -> List[str]:
        return ["--json", str(results(name)), "--build", str(build), *seeded]

    length = "%d" % share["file systems"]
    systems = program("filesystems.py", "--seconds", length, *told("file systems"))
    races = "%d" % max(30, seconds / 10)
    older = ["--old", str(old)] if old else []
    versions = program("versions.py", "--rounds", races, *older, *told("old and new"))
    held = program("held.py", "--build", str(build))
    absence = program("absence.py", "--build", str(build))
    faults = program("faults.py", "--seconds", "%d" % share["faults"])
    # OPTIONS is empty: otherwise make would pass on the options of this program.
    words = ["make", "--no-print-directory", "model", "SECONDS=%d" % share["model"], "OPTIONS="]
    model: Program = ([*words, *(["SEED=%d" % seed] if seed is not None else [])], {})
    swift = ["Scripts/test", "--only", "swift", "--filter"]
    crashes: List[Program] = [([*swift, r"\.(%s)/" % "|".join(names)], rounds) for names, rounds in CRASHES]
    return [
        Part("file systems", "they fill, shut down, turn read-only, fail", [systems], share["file systems"]),
        Part("old and new", "version 0.1 and this one on one directory", [versions], 0),
        Part("faults", "every kind of system call fails, once or for good", [faults], share["faults"]),
        Part("model", "processes that are stopped and killed, against a model", [model], share["model"]),
        Part("crashes", "kills at any moment, call or instruction", crashes, share["crashes"], again=True),
        Part("held lock", "a list is fetched while a stopped process holds the lock", [held], 0),
        Part("absence", "a server comes back for whom a request waits", [absence], 0),
    ]


def results(name: str) -> Path:
    """Returns the file where the program of a part writes the results of its rounds."""
    return OUT / (name.replace(" ", "-") + ".json")


def row(*cells: object) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def details(part: Part) -> List[str]:
    """Returns the table of a part that has results for each scenario, with what was wrong."""
    if not part.times or not results(part.name).is_file():
        return []
    rows: List[Dict[str, Any]] = json.loads(results(part.name).read_text())
    lines = ["", "### %s" % part.name.capitalize(), ""]
    lines.append(row("what", "rounds", "calls and commands", "failed", "what was wrong (rounds)"))
    lines.append(row("---", "---:", "---:", "---:", "---"))
    for found in rows:
        faults = sorted(found.get("faults", {}).items(), key=lambda fault: -fault[1])
        wrong = "; ".join("%s (%d)" % (fault[:100], count) for fault, count in faults[:3])
        if found["skipped"]:
            wrong = "skipped: " + found["skipped"]
        counts = [found["rounds"], found.get("calls", ""), found["failed"]]
        lines.append(row(found["name"], *counts, wrong.replace(str(ROOT) + "/", "")))
    return lines


def table(found: List[Part], seconds: float) -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    words = ["git", "describe", "--always", "--dirty"]
    commit = (
        subprocess.run(words, cwd=str(ROOT), capture_output=True, text=True).stdout.strip() or "no commit"
    )
    machine = "Linux %s, %d cores, %.0f GiB" % (platform.release().split("-")[0], os.cpu_count() or 0, memory)
    lines = ["`make reliability SECONDS=%d` at %s; %s." % (seconds, commit, machine), ""]
    lines.append(row("part", "what happens", "runs", "passed", "failed", "skipped", "seconds"))
    lines.append(row("---", "---", "---:", "---:", "---:", "---:", "---:"))
    for part in found:
        what = "%s (%s)" % (part.what, part.reason) if part.reason else part.what
        counts = [part.times, part.passed, part.failed, part.skipped, "%.0f" % part.seconds]
        lines.append(row(part.name, what, *counts))
    for part in found:
        lines += details(part)
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=1800, help="for how long, builds left out (1800)")
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build", help="the folder with what was built (build)"
    )
    parser.add_argument("--old", type=Path, help="the folder with version 0.1; without it, it is built")
    parser.add_argument("--seed", type=int, help="of the first rounds")
    parser.add_argument("--only", action="append", metavar="PART", help="this part (may be repeated)")
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    # A shell starts background programs with SIGINT ignored, which the parts would inherit. `finish` needs SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    found = parts(options.seconds, options.build.resolve(), options.old, options.seed)
    names = [part.name for part in found]
    if not set(options.only or names) <= set(names):
        parser.error("the parts are: " + ", ".join(names))
    found = [part for part in found if not options.only or part.name in options.only]
    for part in found:
        print("== %s" % part.name, flush=True)
        results(part.name).unlink(missing_ok=True)
        part.run(options.seconds + GRACE)
    made = table(found, options.seconds)
    (OUT / "table.md").write_text(made)
    failed = sum(part.failed for part in found)
    counts = sum(part.passed for part in found), failed, sum(part.skipped for part in found)
    print("\n%s\n%d passed, %d failed, %d skipped" % (made, *counts))
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
