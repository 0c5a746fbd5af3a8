"""The parts that all suites share: the report, and how a command is run."""

import contextlib
import os
import re
import signal
import subprocess
import threading
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "test"
MINUTE = 60.0
_under_way: Set[int] = set()


class Wanted(NamedTuple):
    """Which tests are asked for, and how they run."""

    filter: Optional[str]
    #: The files of tests that run. Empty: all.
    files: List[Path]
    #: How many tests may run at once in a suite whose tests don't disturb each other.
    at_once: int


class Suite:
    """The results of one suite."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.passed = 0
        self.failed: List[Tuple[str, str]] = []
        self.skipped: List[Tuple[str, str]] = []
        self.seconds = 0.0
        self.processor_seconds = 0.0

    def say(self, text: str) -> None:
        """Prints a line that begins with the suite's name: other suites may run at the same time."""
        print("%-8s %s" % (self.name, text), flush=True)

    def fail(self, test: str, reason: str) -> None:
        self.failed.append((test, reason))

    def add(self, part: "Suite") -> None:
        self.passed += part.passed
        self.failed += part.failed
        self.skipped += part.skipped
        self.processor_seconds += part.processor_seconds

    def skip(self, test: str, reason: str) -> None:
        self.skipped.append((test, reason))

    @property
    def figures(self) -> Path:
        """The file where the suite's tests write what they measured."""
        return OUT / (self.name + ".figures")

    def environment(self, **more: str) -> Dict[str, str]:
        """Returns the environment variables of the suite's tests."""
        env = dict(os.environ)
        # Otherwise, after a crash, a backtracing process would wait for input from a person.
        env["SWIFT_BACKTRACE"] = "enable=no"
        env["NUTHATCH_LIBRARY"] = str(ROOT / "build" / "libnuthatch.so.1")
        env["NUTHATCH_TEST_FIGURES"] = str(self.figures)
        env["PYTHONPATH"] = os.pathsep.join(
            [str(ROOT / "bindings" / "python"), str(ROOT / "Tests" / "support")]
        )
        # Programs that the tests start must not use the proxy or the make flags of the calling program.
        for name in list(env):
            if name.lower().endswith("_proxy") or name in (
                "MAKEFLAGS",
                "MFLAGS",
                "MAKELEVEL",
                "MAKEOVERRIDES",
            ):
                del env[name]
        env.update(more)
        return env

    @contextlib.contextmanager
    def timed(self) -> Iterator[None]:
        begin = time.monotonic()
        with contextlib.suppress(FileNotFoundError):
            self.figures.unlink()
        yield
        self.seconds = time.monotonic() - begin

    def run(
        self,
        command: List[str],
        limit: float,
        show: Callable[[str], Optional[str]],
        log: Path,
        env: Dict[str, str],
    ) -> Tuple[int, str]:
        """Runs a command in a process group of its own. Kills the group after `limit` seconds.

        `show` returns the text to print for a line, or None. Returns the exit status (negative: the signal) and the
        whole output, which is also written to `log`.
        """
        lines: List[str] = []
        process = subprocess.Popen(
            command,
            cwd=str(ROOT),
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert process.stdout is not None
        _under_way.add(process.pid)
        out_of_time = threading.Event()

        def end() -> None:
            out_of_time.set()
            _end(process.pid)

        timer = threading.Timer(limit, end)
        timer.start()
        try:
            with log.open("w") as file:
                for raw in process.stdout:
                    line = raw.decode(errors="replace").rstrip("\n")
                    lines.append(line)
                    file.write(line + "\n")
                    shown = show(line)
                    if shown is not None:
                        self.say(shown)
            _, waited, usage = os.wait4(process.pid, 0)
            status = process.returncode = os.waitstatus_to_exitcode(waited)
            self.processor_seconds += usage.ru_utime + usage.ru_stime
        finally:
            timer.cancel()
            _end(process.pid)
            _under_way.discard(process.pid)
        if out_of_time.is_set():
            lines.append("stopped after %.0f minutes" % (limit / MINUTE))
            self.say(lines[-1])
        return status, "\n".join(lines)

    def read_junit(self, path: Path) -> int:
        """Adds the cases of a JUnit file and returns how many there were."""
        try:
            cases = list(ElementTree.parse(str(path)).iter("testcase"))
        except (OSError, ElementTree.ParseError):
            return 0
        for case in cases:
            name = "%s.%s" % (case.get("classname", ""), case.get("name", ""))
            problem = case.find("failure")
            if problem is None:
                problem = case.find("error")
            skipped = case.find("skipped")
            if problem is not None:
                self.fail(name, problem.get("message") or (problem.text or "").strip())
            elif skipped is not None:
                self.skip(name, skipped.get("message") or (skipped.text or "").strip() or "no reason given")
            else:
                self.passed += 1
        return len(cases)


def end_all() -> None:
    """Kills every command that runs. Called when the tests are interrupted."""
    for group in list(_under_way):
        _end(group)


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def ending(status: int) -> str:
    """Returns in words how a process ended."""
    if status < 0:
        return "ended by %s" % signal.Signals(-status).name
    return "exit status %d" % status


def distinct(pattern: str, output: str) -> List[str]:
    """Returns what the pattern finds in the output, each text once."""
    return list(dict.fromkeys(re.findall(pattern, output, re.MULTILINE)))
