"""Fixtures for the tests of the finished build."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Callable, Dict, Iterator, List

import pytest
from commands import make_wheel, sh

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def build() -> Path:
    return ROOT / "build"


@pytest.fixture(scope="session")
def clean_environment() -> Dict[str, str]:
    """A user's environment. Nothing in it leads to this checkout."""
    env = dict(os.environ)
    for name in (
        "NUTHATCH_LIBRARY",
        "PYTHONPATH",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
        "PKG_CONFIG_PATH",
        "VIRTUAL_ENV",
    ):
        env.pop(name, None)
    return env


@pytest.fixture(scope="session")
def prefix(clean_environment: Dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which `make install` has installed."""
    folder = tmp_path_factory.mktemp("installed") / "usr"
    sh(["make", "install", "PREFIX=%s" % folder], clean_environment, ROOT)
    return folder


@pytest.fixture(scope="session")
def user(prefix: Path, clean_environment: Dict[str, str]) -> Dict[str, str]:
    """The environment of a user who has installed there."""
    return dict(
        clean_environment,
        PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig"),
        LD_LIBRARY_PATH=str(prefix / "lib"),
        PATH="%s:%s" % (prefix / "bin", os.environ["PATH"]),
    )


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def python(wheel: Path, clean_environment: Dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with only the wheel, which was installed without network."""
    folder = tmp_path_factory.mktemp("empty") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, env=clean_environment)
    python = folder / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    subprocess.run(command, check=True, env=clean_environment)
    return python


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The base URL of a loopback test server without a slash at its end."""
    command = [str(ROOT / "build" / "nuthatch-testserver")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield process.stdout.readline().decode().strip().rstrip("/")
        process.communicate()


@pytest.fixture(scope="session")
def header_functions() -> List[str]:
    """The functions that include/nuthatch.h declares, sorted."""
    text = (ROOT / "include" / "nuthatch.h").read_text()
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    # A declaration is a name, parentheses and a semicolon. A type of function pointers is not one.
    return sorted(set(re.findall(r"\b(nh_\w+)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*;", text)))


@pytest.fixture(scope="session")
def figure() -> Callable[[str, str], None]:
    """Stores a measured figure. The test runner prints it with its summary."""

    def note(name: str, value: str) -> None:
        path = os.environ.get("NUTHATCH_TEST_FIGURES")
        if path:
            with open(path, "a") as file:
                file.write("%-40s %s\n" % (name, value))

    return note
