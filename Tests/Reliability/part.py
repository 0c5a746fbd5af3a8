"""One part of `make reliability`: programs that end with `N passed, N failed` or `N passed, N failed, N skipped`."""

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Dict, List, Optional, TextIO, Tuple

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "reliability"
SUMMARY = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$")
#: Variables that make sets for the programs that it calls. Another make would obey them.
OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "SECONDS")

Program = Tuple[List[str], Dict[str, str]]


class Part:
    """Programs that run one after another, once, or again and again for a time."""

    def __init__(
        self, name: str, what: str, programs: List[Program], seconds: float, again: bool = False
    ) -> None:
        self.name = name
        self.what = what
        self.programs = programs
        self.share = seconds
        self.again = again
        self.times = self.passed = self.failed = self.skipped = 0
        self.reason = ""
        self.seconds = 0.0

    @property
    def file(self) -> str:
        return self.name.replace(" ", "-")

    def run(self, bound: float) -> None:
        """Runs the programs. Each is ended after `bound` seconds."""
        began = time.monotonic()
        with (OUT / (self.file + ".log")).open("w") as log:
            while self.times == 0 or (
                self.again and not self.reason and time.monotonic() - began < self.share
            ):
                self.times += 1
                for words, environment in self.programs:
                    self._run(words, environment, bound, log)
        self.seconds = time.monotonic() - began

    def _run(self, words: List[str], environment: Dict[str, str], bound: float, log: TextIO) -> None:
        kept = {name: text for name, text in os.environ.items() if name not in OF_MAKE}
        process = subprocess.Popen(
            words,
            cwd=str(ROOT),
            env={**kept, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        late: List[float] = []

        def end(*_: object) -> None:
            late.append(bound)
            finish(process)

        signal.signal(signal.SIGALRM, end)
        signal.setitimer(signal.ITIMER_REAL, bound)
        assert process.stdout is not None
        last = ""
        try:
            for line in (raw.decode(errors="replace").rstrip() for raw in process.stdout):
                log.write(line + "\n")
                log.flush()
                print("  " + line, flush=True)
                last = line or last
            status = process.wait()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            finish(process)
        counted: Optional[re.Match[str]] = SUMMARY.search(last)
        passed, failed, skipped = (int(count or 0) for count in counted.groups()) if counted else (0, 0, 0)
        if late:
            self.reason = "stopped after %.0f s" % bound
        elif not counted or (status != 0 and failed == 0):
            self.reason = "ended with status %d: %s" % (status, last)
        self.passed += passed
        self.failed += failed + bool(self.reason)
        self.skipped += skipped


def finish(process: "subprocess.Popen[bytes]") -> None:
    """Ends a program and its process group by SIGINT, so that it can end groups that it made, then by SIGKILL."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
        end = time.monotonic() + 20
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
