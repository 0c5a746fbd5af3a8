#!/usr/bin/env python3
"""Runs `nuthatch prefetch` over a million URLs at ten thousand hosts, a tenth of which fail in different ways.

A first run is killed in the middle, and a second one goes on. In the second run, every URL must have one record, with
the outcome that its host causes. Memory must stay below 128 MB, and no URL may be fetched again that the first run had
told to be stored. Prints figures. Exit status 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Dict

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "support"))

from sick_hosts import SickHosts  # noqa: E402
from sick_list import Run, SickList  # noqa: E402


def say(text: str) -> None:
    print(text, flush=True)


def tell(name: str, run: Run) -> None:
    count = sum(run.ends.values())
    say(
        f"{name}: {count:,} records in {run.seconds:,.0f} s, {count / run.seconds:,.0f} a second, "
        f"{run.memory:.0f} MB of memory, status {run.status}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1, help="of the order of the list (1)")
    parser.add_argument("--servers", type=int, default=2, help="processes that answer (2)")
    parser.add_argument("--most-seconds", type=float, default=3600, help="after which it has failed (3600)")
    parser.add_argument("options", nargs="*", help="options of the command, after --")
    options = parser.parse_args()

    timer = threading.Timer(options.most_seconds, lambda: os._exit(print("out of time", flush=True) or 1))
    timer.daemon = True
    timer.start()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        servers = [stack.enter_context(SickHosts()) for _ in range(options.servers)]
        sick = SickList(servers, folder / "urls.txt", options.urls, options.hosts, options.seed)
        command = [str(ROOT / "build" / "nuthatch"), "prefetch", "--timeout=10", "--give-up-after=60"]
        command += ["--cache", str(folder / "cache"), "--disk-bytes=16G", *options.options]
        say(f"{options.urls:,} URLs over {options.hosts:,} hosts, seed {options.seed}")
        killed = sick.run(command, os.environ, kill_after=options.urls // 3)
        tell("killed", killed)
        for server in servers:
            server.anew()
        whole = sick.run(command, os.environ)
        tell("whole", whole)
        for way, ends in whole.ends_by_way.items():
            kinds = ", ".join(f"{end or 'ok'} {count:,}" for end, count in ends.most_common())
            say(f"  {way or 'well':<14}{kinds}")
        answers: Counter[str] = Counter()
        for server in servers:
            for host in server.log().values():
                answers.update(host["answers"])
        say(f"requests: {sum(answers.values()):,}; {words(answers)}; fetched again: {len(sick.again()):,}")
        faults = sick.faults(killed, whole)
    for fault in faults:
        say(f"WRONG: {fault}")
    return 1 if faults else 0


def words(answers: Dict[str, int]) -> str:
    names = {"0": "never answered", "-1": "closed"}
    return ", ".join(f"{names.get(status, status)} {count:,}" for status, count in sorted(answers.items()))


if __name__ == "__main__":
    sys.exit(main())
