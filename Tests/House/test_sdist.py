"""The source distribution for Python. A build takes minutes, so only its contents and its advice are tested."""

import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Dict

import pytest


@pytest.fixture(scope="module")
def sdist(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    subprocess.run([sys.executable, "Scripts/make-sdist", "--out", str(folder)], cwd=root, check=True)
    (made,) = folder.glob("nuthatch-*.tar.gz")
    return made


def test_the_source_distribution_has_what_a_build_needs(sdist: Path) -> None:
    top = sdist.name[: -len(".tar.gz")]
    with tarfile.open(sdist) as archive:
        names = {member.name for member in archive}
        information = archive.extractfile(top + "/PKG-INFO")
        assert information is not None
        assert b"Name: nuthatch\nVersion: " + top.rpartition("-")[2].encode() in information.read()
        executable = archive.getmember(top + "/Scripts/make-wheel").mode & 0o100
    for needed in (
        "Package.swift",
        "Makefile",
        "pyproject.toml",
        "bindings/python/nuthatch/__init__.py",
        "LICENSE",
    ):
        assert f"{top}/{needed}" in names
    assert executable
    assert [name for name in names if "/build/" in name or "__pycache__" in name] == []


def test_two_source_distributions_are_equal(sdist: Path, root: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "Scripts/make-sdist", "--out", str(tmp_path)], cwd=root, check=True)
    (again,) = tmp_path.glob("*.tar.gz")
    assert again.read_bytes() == sdist.read_bytes()


def test_an_unpacked_source_distribution_makes_the_same_one(sdist: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path)
    (unpacked,) = tmp_path.iterdir()
    subprocess.run([sys.executable, "Scripts/make-sdist"], cwd=unpacked, check=True)
    assert (unpacked / "dist" / sdist.name).read_bytes() == sdist.read_bytes()


def test_pip_says_what_to_do_without_swift(
    sdist: Path, tmp_path: Path, clean_environment: Dict[str, str]
) -> None:
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-index",
        "-w",
        str(tmp_path),
        str(sdist),
    ]
    done = subprocess.run(
        command, env={**clean_environment, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True
    )
    if done.returncode == 0:
        pytest.skip("Swift is installed in /usr/bin")
    assert "to build it from source, install Swift 6.2 or newer from swift.org" in done.stdout + done.stderr
