"""The Python wheel: made twice the same, and at home in an empty environment."""

import base64
import hashlib
import subprocess
import zipfile
from pathlib import Path
from typing import Callable, Dict, List

import hidden_toolchain
import pytest
from commands import make_wheel

WHAT_IS_LOADED = """
import sys, nuthatch
cache = nuthatch.Cache(sys.argv[1])
response = cache.get(sys.argv[2])
print(response.status, len(response.body))
print(nuthatch.__file__)
print(next(line.split()[-1] for line in open("/proc/self/maps") if "libnuthatch" in line))
"""

IMPORT_TIME = """
import time, ctypes, sys
begin = time.perf_counter()
import nuthatch
print(time.perf_counter() - begin)
"""


def test_the_same_sources_make_the_same_bytes(wheel: Path, root: Path, tmp_path: Path) -> None:
    assert make_wheel(root, tmp_path).read_bytes() == wheel.read_bytes()


def test_it_says_what_it_holds(wheel: Path, figure: Callable[[str, str], None]) -> None:
    figure("size of the wheel", "%.2f MB" % (wheel.stat().st_size / 1e6))
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (record,) = [name for name in names if name.endswith("/RECORD")]
        lines = dict(line.split(",", 1) for line in archive.read(record).decode().splitlines())
        assert sorted(lines) == sorted(names)
        for name, rest in lines.items():
            data = archive.read(name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert rest == ("," if name == record else "sha256=%s,%d" % (digest, len(data)))
    for needed in ("nuthatch/__init__.py", "nuthatch/py.typed", "nuthatch/libnuthatch.so.1"):
        assert needed in names
    assert [name for name in names if "__pycache__" in name or name.startswith("tests/")] == []


def test_it_works_in_an_empty_environment(
    python: Path, server: str, tmp_path: Path, clean_environment: Dict[str, str]
) -> None:
    outcome = subprocess.run(
        [str(python), "-c", WHAT_IS_LOADED, str(tmp_path / "cache"), server + "/bytes/5000"],
        cwd=str(tmp_path),
        env=clean_environment,
        capture_output=True,
        text=True,
    )
    assert outcome.returncode == 0, outcome.stderr
    check_output(outcome.stdout.splitlines(), python)


@pytest.mark.skipif(hidden_toolchain.namespace() is None, reason="no mount namespace can be made here")
def test_it_works_where_there_is_no_swift(
    python: Path, server: str, tmp_path: Path, clean_environment: Dict[str, str]
) -> None:
    command = [str(python), "-c", WHAT_IS_LOADED, str(tmp_path / "cache"), server + "/bytes/5000"]
    outcome = hidden_toolchain.run(command, clean_environment, tmp_path)
    assert outcome.returncode == 0, outcome.stderr
    check_output(outcome.stdout.splitlines(), python)


def check_output(lines: List[str], python: Path) -> None:
    fetched, package, library = lines
    environment = python.parent.parent
    assert fetched == "200 5000"
    assert environment in Path(package).parents
    assert environment in Path(library).parents


def test_the_import_is_quick(
    python: Path, clean_environment: Dict[str, str], figure: Callable[[str, str], None]
) -> None:
    times = []
    for _ in range(5):
        printed = subprocess.run(
            [str(python), "-c", IMPORT_TIME], env=clean_environment, stdout=subprocess.PIPE, check=True
        )
        times.append(float(printed.stdout) * 1000)
    figure("import nuthatch, best of 5", "%.1f ms beyond ctypes" % min(times))
    assert min(times) < 200
