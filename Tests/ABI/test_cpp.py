"""include/nuthatch.hpp: compiled with all warnings, for each version of C++ that it supports, and used."""

import subprocess
from pathlib import Path
from typing import Iterator

import pytest
from cpp import ENVIRONMENT, ROOT, build
from testserver import TestServer


@pytest.fixture(scope="module")
def server() -> Iterator[TestServer]:
    with TestServer() as server:
        yield server


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_the_cpp_layer_compiles_and_works(
    compiler: str, standard: str, server: TestServer, tmp_path: Path
) -> None:
    build(ROOT / "Tests" / "ABI" / "layer.cpp", tmp_path / "layer", compiler, standard)
    command = [str(tmp_path / "layer"), server.url(""), str(tmp_path / "cache")]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_the_cpp_example_writes_a_thumbnail(compiler: str, server: TestServer, tmp_path: Path) -> None:
    example = ROOT / "bindings" / "c" / "examples" / "thumbnail.cpp"
    build(example, tmp_path / "thumbnail", compiler, "c++17")
    env = {**ENVIRONMENT, "NUTHATCH_CACHE": str(tmp_path / "cache")}
    for path, outcome in {"/png/400/200": (0, "256 x 128\n"), "/status/404": (1, "")}.items():
        command = [str(tmp_path / "thumbnail"), server.url(path), str(tmp_path / "a.png")]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
        assert (done.returncode, done.stdout) == outcome, done.stderr
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
