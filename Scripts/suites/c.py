"""Programs in C over the header and the library, also under valgrind."""

import contextlib
import re
import subprocess
from pathlib import Path
from typing import Iterator, List, Optional

from suites import python
from suites.running import MINUTE, OUT, ROOT, Suite, Wanted, ending

SERVER = ROOT / "build" / "nuthatch-testserver"
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", "-pthread"]
# Without fair scheduling, a thread may wait for minutes while others are busy.
VALGRIND = ["valgrind", "-q", "--fair-sched=yes", "--leak-check=full", "--show-leak-kinds=definite"]
VALGRIND += ["--errors-for-leak-kinds=definite", "--error-exitcode=9", "--num-callers=30"]
# Programs that end while requests are under way, or whose children do; or that count or measure memory themselves.
NOT_UNDER_VALGRIND = {"allocations", "beginning", "exiting", "forking", "outbox", "shortage", "soak"}


def run(suite: Suite, wanted: Wanted) -> None:
    """Runs each program, and the tests in Python beside them."""
    _run_programs(suite, wanted, [])
    python.folders("Tests/ABI")(suite, wanted)


def run_under_valgrind(suite: Suite, wanted: Wanted) -> None:
    """Runs each program that can run under valgrind."""
    _run_programs(suite, wanted, VALGRIND)


def _run_programs(suite: Suite, wanted: Wanted, under: List[str]) -> None:
    sources = wanted.files or sorted((ROOT / "Tests" / "ABI").glob("*.c"))
    try:
        with _server(suite) as url:
            for source in sources:
                if source.suffix != ".c" or (under and source.stem in NOT_UNDER_VALGRIND):
                    continue
                if not wanted.filter or re.search(wanted.filter, source.stem):
                    _run_program(suite, source, url, under)
    except OSError as problem:
        suite.fail("test server", str(problem))
    if suite.passed == 0 and not wanted.filter and not wanted.files:
        suite.fail("Tests/ABI", "has no C program")


@contextlib.contextmanager
def _server(suite: Suite) -> Iterator[str]:
    """Runs the test server during the `with` block. Gives its URL."""
    process = subprocess.Popen(
        [str(SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=suite.environment(),
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        url = process.stdout.readline().decode().strip()
        if not url:
            raise OSError("%s did not start" % SERVER.name)
        yield url.rstrip("/")
    finally:
        process.communicate()


def _run_program(suite: Suite, source: Path, url: str, under: List[str]) -> None:
    program = OUT / suite.name / source.stem
    program.parent.mkdir(parents=True, exist_ok=True)
    build = ["gcc", *FLAGS, "-I", str(ROOT / "include"), str(source), "-o", str(program)]
    build += ["-L", str(ROOT / "build"), "-lnuthatch", "-Wl,-rpath," + str(ROOT / "build")]
    compiled = subprocess.run(build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    suite.say("%s" % source.relative_to(ROOT))
    if compiled.returncode != 0:
        suite.say(compiled.stdout.decode(errors="replace"))
        suite.fail(source.name, "does not compile")
        return

    def show(line: str) -> Optional[str]:
        return None if line.startswith("ok ") else "  " + line

    log = program.parent / (source.stem + ".log")
    status, output = suite.run([*under, str(program), url], 5 * MINUTE, show, log, suite.environment())
    checks = 0
    for line in output.splitlines():
        verdict = re.match(r"^(ok|not ok|skip) (.*?)(?:: (.*))?$", line)
        if not verdict:
            continue
        word, check, reason = verdict.groups()
        check = "%s: %s" % (source.stem, check if word != "ok" else line[3:])
        if word == "ok":
            checks += 1
            suite.passed += 1
        elif word == "not ok":
            checks += 1
            suite.fail(check, reason or "no reason given")
        else:
            suite.skip(check, reason or "no reason given")
    if status != 0 and not any(name.startswith(source.stem + ": ") for name, _ in suite.failed):
        suite.fail(source.name, ending(status))
    elif checks == 0:
        suite.fail(source.name, "made no check")
