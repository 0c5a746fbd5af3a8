"""Fixtures: a server and a cache."""

from pathlib import Path
from typing import Iterator

import nuthatch
import pytest
from testserver import TestServer, ok

TestServer.__test__ = False  # type: ignore[attr-defined]  # its name begins like a test's


@pytest.fixture
def server() -> Iterator[TestServer]:
    with TestServer() as server:
        yield server


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[nuthatch.Cache]:
    with nuthatch.Cache(tmp_path / "cache") as cache:
        yield cache


@pytest.fixture
def offline(server: TestServer) -> Iterator[TestServer]:
    """A server that is down at first."""
    server.on("/a", ok("thanks"))
    server.go_down()
    yield server
    server.go_up()
