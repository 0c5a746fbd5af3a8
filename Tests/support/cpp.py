"""Programs in C++, compiled with all warnings."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Wold-style-cast",
]
WARNINGS += ["-Wnon-virtual-dtor", "-Woverloaded-virtual", "-Werror"]
ENVIRONMENT = {**os.environ, "SWIFT_BACKTRACE": "enable=no"}


def build(
    source: Path, program: Path, compiler: str, standard: str, headers: Path = ROOT / "include"
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} in PATH")
    command = [
        compiler,
        f"-std={standard}",
        *WARNINGS,
        f"-I{headers}",
        str(source),
        "-o",
        str(program),
    ]
    command += [f"-L{ROOT / 'build'}", "-lnuthatch", f"-Wl,-rpath,{ROOT / 'build'}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
