#!/usr/bin/env python3
"""Runs `nuthatch prefetch` while a stopped process holds the cache's lock.

The run must pause after 30 s, and go on when the lock is free. Takes about 50 s. The last line is `N passed, N failed`.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Callable, List

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "support"))

from held_lock import HeldLock  # noqa: E402
from pictures import png  # noqa: E402
from testserver import TestServer, ok, pause  # noqa: E402

#: More than can be fetched in 40 s at the pace of this server.
COUNT = 40_000
FRESH = [("Cache-Control", "max-age=6000")]
SAID = "has held the lock of the cache for "


class Failed(Exception):
    """An expectation was not met. The text says which."""


def expect(is_so: bool, what: str) -> None:
    if not is_so:
        raise Failed(what)


def until(is_so: Callable[[], bool], what: str, seconds: float) -> None:
    due = time.monotonic() + seconds
    while not is_so():
        expect(time.monotonic() < due, what)
        time.sleep(0.05)


def held(command: Path, server: TestServer, folder: Path) -> None:
    server.on_prefix("/", ok(png(8, 8), "image/png", headers=FRESH, before=[pause(100)]))
    urls = "".join(server.url(f"/{number}") + "\n" for number in range(COUNT)).encode()
    said: List[str] = []
    run = subprocess.Popen(
        [str(command), "prefetch", "--cache", str(folder / "cache"), "--format", "jsonl", "--per-host", "32"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert run.stdin is not None and run.stderr is not None
    given, told = run.stdin, run.stderr

    def give() -> None:
        # The run ends before it has read all URLs.
        with contextlib.suppress(BrokenPipeError):
            given.write(urls)
            given.close()

    threads = [
        threading.Thread(target=give, daemon=True),
        threading.Thread(target=lambda: said.extend(line.decode() for line in told), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        expect(server.wait_for_requests(100), "nothing is fetched")
        with HeldLock(folder / "cache"):
            begin = time.monotonic()
            until(lambda: any(SAID in line for line in said), "the run doesn't stop", 60)
            expect(time.monotonic() - begin >= 29, "the run stops too early")
            # Requests that are under way end in this time.
            time.sleep(2)
            before = len(server.requests())
            time.sleep(3)
            expect(len(server.requests()) == before, "something is fetched while nothing can be stored")
            expect(before < COUNT, "the list was too short")
        until(lambda: any("the run goes on" in line for line in said), "the run doesn't go on", 60)
        expect(server.wait_for_requests(before + 100), "nothing is fetched afterwards")
        run.terminate()
        expect(run.wait(60) == 143, f"it ends with {run.returncode}")
        threads[1].join(60)
        summary = json.loads(said[-1])
        expect(summary["held_up"] > 0, "the summary doesn't count what wasn't stored")
    finally:
        run.kill()
        run.wait()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--build", type=Path, default=ROOT / "build", help="the folder with what was built (build)"
    )
    arguments = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder, TestServer() as server:
        try:
            held(arguments.build / "nuthatch", server, Path(folder))
        except Failed as failure:
            failed = 1
            print(f"failed: {failure}")
    print(f"{1 - failed} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main())
