"""Command, library and Python package work on a system without Swift."""

import subprocess
import sys
from pathlib import Path
from typing import Dict

import hidden_toolchain
import pytest

pytestmark = pytest.mark.skipif(
    hidden_toolchain.namespace() is None,
    reason="no mount namespace can be made here, neither as root nor as a user",
)

FETCH = """
import nuthatch, sys
with nuthatch.Cache(sys.argv[1]) as cache:
    response = cache.get(sys.argv[2])
print(response.status, len(response.body))
"""


def test_the_swift_toolchain_is_really_hidden(root: Path, clean_environment: Dict[str, str]) -> None:
    outcome = hidden_toolchain.run(["sh", "-c", "swift --version"], clean_environment)
    assert outcome.returncode == 127, outcome.stderr
    # The test server needs Swift's libraries, so it must fail here.
    outcome = hidden_toolchain.run([str(root / "build" / "nuthatch-testserver"), "--help"], clean_environment)
    assert outcome.returncode == 127, outcome.stderr
    assert "libswift" in outcome.stderr


def test_the_command_prints_its_version_without_swift(build: Path, clean_environment: Dict[str, str]) -> None:
    outcome = hidden_toolchain.run([str(build / "nuthatch"), "--version"], clean_environment)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert "nuthatch" in outcome.stdout


def test_the_command_fetches_without_swift(
    build: Path, server: str, tmp_path: Path, clean_environment: Dict[str, str]
) -> None:
    file = tmp_path / "file"
    env = dict(clean_environment, NUTHATCH_CACHE=str(tmp_path / "cache"))
    command = [str(build / "nuthatch"), "get", server + "/bytes/100000", "-o", str(file)]
    outcome = hidden_toolchain.run(command, env)
    assert outcome.returncode == 0, outcome.stderr
    assert file.stat().st_size == 100_000


def test_a_c_program_fetches_without_swift(
    root: Path, build: Path, server: str, tmp_path: Path, clean_environment: Dict[str, str]
) -> None:
    program = tmp_path / "app"
    source = root / "Tests" / "House" / "app.c"
    include = "-I%s" % (root / "include")
    link = ["-L%s" % build, "-lnuthatch", "-Wl,-rpath,%s" % build]
    subprocess.run(["cc", str(source), include, *link, "-o", str(program)], check=True)
    command = [str(program), str(tmp_path / "cache"), server + "/bytes/100000"]
    outcome = hidden_toolchain.run(command, clean_environment)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == "200 100000\n"


def test_the_python_package_fetches_without_swift(
    root: Path, server: str, tmp_path: Path, clean_environment: Dict[str, str]
) -> None:
    env = dict(clean_environment, PYTHONPATH=str(root / "bindings" / "python"))
    command = [sys.executable, "-c", FETCH, str(tmp_path / "cache"), server + "/bytes/100000"]
    outcome = hidden_toolchain.run(command, env, tmp_path)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == "200 100000\n"
