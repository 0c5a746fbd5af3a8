"""CMake and Meson find the installed library, shared and static."""

import shutil
import subprocess
from pathlib import Path
from typing import Dict

import elf
import pytest
from commands import sh

CMAKE = """
cmake_minimum_required(VERSION 3.13)
project(app C)
find_package(Nuthatch %s REQUIRED CONFIG)
find_package(Nuthatch REQUIRED CONFIG)
add_executable(app app.c)
target_link_libraries(app PRIVATE %s)
message(STATUS "found ${Nuthatch_VERSION}")
"""

MESON = """
project('app', 'c')
executable('app', 'app.c', dependencies: dependency('%s', static: %s, version: '%s'))
"""


@pytest.fixture
def project(root: Path, tmp_path: Path) -> Path:
    shutil.copy(root / "Tests" / "House" / "app.c", tmp_path)
    return tmp_path


def need(tool: str) -> None:
    if shutil.which(tool) is None:
        pytest.skip("no %s in PATH" % tool)


def check(program: Path, static: bool, user: Dict[str, str], server: str) -> None:
    """Checks which library of ours the program needs, and runs it."""
    needed = [name for name in elf.dynamic(program, "NEEDED") if "nuthatch" in name]
    assert needed == ([] if static else ["libnuthatch.so.1"])
    cache = str(program.parent / "cache")
    assert sh([str(program), cache, server + "/bytes/7000"], user, program.parent) == "200 7000\n"


@pytest.mark.parametrize("target", ["Nuthatch::nuthatch", "Nuthatch::static"])
def test_cmake_finds_the_library(
    target: str, project: Path, prefix: Path, user: Dict[str, str], root: Path, server: str
) -> None:
    need("cmake")
    number = sh(["sh", "Scripts/version"], user, root).strip()
    (project / "CMakeLists.txt").write_text(CMAKE % (number, target))
    said = sh(["cmake", "-S", ".", "-B", "out", "-DCMAKE_PREFIX_PATH=%s" % prefix], user, project)
    assert "found %s\n" % number in said
    sh(["cmake", "--build", "out"], user, project)
    check(project / "out" / "app", target == "Nuthatch::static", user, server)


@pytest.mark.parametrize("wanted", ["99.0", "0.999", "999"])
def test_cmake_refuses_another_version(
    wanted: str, project: Path, prefix: Path, user: Dict[str, str]
) -> None:
    need("cmake")
    (project / "CMakeLists.txt").write_text(CMAKE % (wanted, "Nuthatch::nuthatch"))
    command = ["cmake", "-S", ".", "-B", "out", "-DCMAKE_PREFIX_PATH=%s" % prefix]
    outcome = subprocess.run(command, env=user, cwd=str(project), capture_output=True, text=True)
    assert outcome.returncode != 0
    assert "version" in outcome.stderr and "NuthatchConfig.cmake" in outcome.stderr


@pytest.mark.parametrize(
    "name, static", [("nuthatch", False), ("nuthatch-static", False), ("nuthatch", True)]
)
def test_meson_finds_the_library(
    name: str, static: bool, project: Path, user: Dict[str, str], root: Path, server: str
) -> None:
    need("meson")
    number = sh(["sh", "Scripts/version"], user, root).strip()
    (project / "meson.build").write_text(MESON % (name, str(static).lower(), number))
    sh(["meson", "setup", "out"], user, project)
    sh(["meson", "compile", "-C", "out"], user, project)
    check(project / "out" / "app", static or name == "nuthatch-static", user, server)
