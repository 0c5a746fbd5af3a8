"""The command's launcher: where it finds the library, and what it says if it finds none."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Dict, List

import pytest

MULTIARCH = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}.get(os.uname().machine, "")
LIBRARY = "libnuthatch.so.1"


def run(command: Path, env: Dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([str(command), *arguments], env=env, capture_output=True, text=True, timeout=60)


@pytest.fixture
def command(build: Path, tmp_path: Path) -> Path:
    """A copy of the launcher without a library."""
    (tmp_path / "usr" / "bin").mkdir(parents=True)
    return Path(shutil.copy(build / "nuthatch", tmp_path / "usr" / "bin" / "nuthatch"))


@pytest.fixture
def env(clean_environment: Dict[str, str]) -> Dict[str, str]:
    return {**clean_environment, "LD_LIBRARY_PATH": ""}


@pytest.mark.parametrize("folder", ["bin", "lib", "lib64", "lib/" + MULTIARCH])
def test_the_library_is_found(folder: str, command: Path, build: Path, env: Dict[str, str]) -> None:
    place = command.parent.parent / folder
    place.mkdir(parents=True, exist_ok=True)
    (place / LIBRARY).symlink_to(build / LIBRARY)
    # A link to the command leads to the library of the command.
    link = command.parent.parent / "link"
    link.symlink_to(command)
    for path in (command, link):
        done = run(path, env, "--version")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("nuthatch ")


def test_the_loader_finds_the_library(command: Path, build: Path, env: Dict[str, str]) -> None:
    done = run(command, {**env, "LD_LIBRARY_PATH": str(build)}, "--version")
    assert (done.returncode, done.stdout[:9]) == (0, "nuthatch ")


def test_a_missing_library_is_said(command: Path, env: Dict[str, str]) -> None:
    done = run(command, env, "--version")
    if done.returncode == 0:
        pytest.skip("this machine has libnuthatch.so.1 installed")
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr.startswith("nuthatch: the library of this command can't be loaded: " + LIBRARY)
    assert "Install the command and libnuthatch.so.1 of one version" in done.stderr


def test_a_library_of_another_version_is_said(command: Path, env: Dict[str, str]) -> None:
    older = command.parent / LIBRARY
    subprocess.run(["cc", "-shared", "-xc", "/dev/null", "-o", str(older)], check=True)
    done = run(command, env, "--version")
    assert (done.returncode, done.stdout) == (127, "")
    assert f"/{LIBRARY} is of another version than this command" in done.stderr


def test_arguments_and_exit_statuses_pass_through(build: Path, env: Dict[str, str]) -> None:
    cases: List[List[str]] = [["no such command"], ["get"], ["--version", "extra"]]
    for arguments in cases:
        assert run(build / "nuthatch", env, *arguments).returncode == 2, arguments
    assert run(build / "nuthatch", env, "get", "é ü").stderr.count("é ü") >= 1
