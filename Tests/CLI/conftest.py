"""Fixtures: the command, and a test server."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Sequence

import pytest
from pictures import png
from testserver import TestServer, ok

sys.path.insert(0, str(Path(__file__).parent))

from command import COMMAND, Outcome, Runner

TestServer.__test__ = False  # type: ignore[attr-defined]  # its name begins with "Test", but it is not a test class


@pytest.fixture
def server() -> Iterator[TestServer]:
    with TestServer() as server:
        yield server


@pytest.fixture
def pictures(server: TestServer) -> List[str]:
    """The URLs of eight pictures, each with an ETag."""
    for number in range(8):
        server.on(f"/{number}", ok(png(60 + number, 40, seed=number), "image/png", etag=f'"{number}"'))
    return [server.url(f"/{number}") for number in range(8)]


@pytest.fixture
def environment(tmp_path: Path) -> Dict[str, str]:
    # The config file of the user who runs the tests must not change them.
    return {**os.environ, "NUTHATCH_CACHE": str(tmp_path / "cache"), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}


@pytest.fixture
def nuthatch(tmp_path: Path, environment: Dict[str, str]) -> Runner:
    """Runs the command in a new folder."""

    def run(*arguments: str, given: bytes = b"", **env: str) -> "Outcome[bytes]":
        command: Sequence[str] = [COMMAND, *arguments]
        settings = {**environment, **env}
        return subprocess.run(
            command,
            cwd=str(tmp_path),
            env=settings,
            input=given,
            capture_output=True,
            timeout=120,
            check=False,
        )

    return run
