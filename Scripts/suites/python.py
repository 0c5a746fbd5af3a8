"""Tests that pytest runs: the package, the command, attacks, pictures and what was built."""

import os
import subprocess
from pathlib import Path
from typing import Callable, List

from suites.running import MINUTE, OUT, ROOT, Suite, Wanted, ending

PYTHON = ROOT / "build" / "venv" / "bin" / "python"


def folders(*names: str, at_once: bool = True) -> Callable[[Suite, Wanted], None]:
    """Returns a suite that runs the tests in these folders."""

    def run_suite(suite: Suite, wanted: Wanted) -> None:
        present = [name for name in names if any((ROOT / name).glob("**/test_*.py"))]
        if wanted.files:
            present = [str(file) for file in wanted.files if file.suffix == ".py"]
        elif not present:
            suite.fail(", ".join(names), "no tests there")
        if present:
            run_pytest(suite, wanted if at_once else wanted._replace(at_once=1), present)

    return run_suite


def run(suite: Suite, wanted: Wanted) -> None:
    """Runs the package's tests, also under the interpreters that NUTHATCH_TEST_PYTHONS names."""
    folders("bindings/python/tests", "Tests/support")(suite, wanted)
    if wanted.files:
        return
    others = [path for path in os.environ.get("NUTHATCH_TEST_PYTHONS", "").split(os.pathsep) if path]
    if not others:
        suite.skip("other interpreters", "NUTHATCH_TEST_PYTHONS names none")
    for path in others:
        tell = "import sys, sysconfig, pytest, pytest_timeout\n"
        tell += "print(sysconfig.get_config_var('Py_GIL_DISABLED') or 0, sys.version)"
        told = subprocess.run([path, "-c", tell], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = told.stdout.decode(errors="replace").strip()
        if told.returncode != 0:
            suite.fail(path, "needs pytest and pytest-timeout:\n" + text)
            continue
        suite.say("under %s: %s" % (path, text[2:].replace("\n", " ")))
        # Without it, a module in C that another package brings may switch the interpreter's lock on again.
        more = {"PYTHON_GIL": "0"} if text.startswith("1") else {}
        alone = wanted._replace(at_once=1)
        run_pytest(suite, alone, ["bindings/python/tests"], Path(path), **more)


def run_pytest(suite: Suite, wanted: Wanted, names: List[str], python: Path = PYTHON, **more: str) -> None:
    """Runs the tests in these folders, or files."""
    report = OUT / (suite.name + "-pytest.xml")
    if report.exists():
        report.unlink()
    command = [str(python), "-m", "pytest", "-q", "--junitxml", str(report)]
    if wanted.filter:
        command += ["-k", wanted.filter]
    elif wanted.at_once > 1 and not wanted.files:
        # Keep the tests of a file in one process: fixtures that they share are then made once.
        command += ["-n", str(wanted.at_once), "--dist", "loadfile"]
    env = suite.environment(PYTHONDONTWRITEBYTECODE="1", PYTHONFAULTHANDLER="1", **more)
    log = OUT / (suite.name + "-pytest.log")
    status, _ = suite.run([*command, *names], 40 * MINUTE, lambda line: line or None, log, env)
    before = len(suite.failed)
    count = suite.read_junit(report)
    if status not in (0, 5) and len(suite.failed) == before:
        suite.fail("pytest " + " ".join(names), ending(status))
    elif count == 0 and not wanted.filter:
        suite.fail("pytest " + " ".join(names), "ran no test")
