"""Fixtures for the attacks: a server."""

from typing import Iterator

import pytest
from testserver import TestServer

TestServer.__test__ = False  # type: ignore[attr-defined]  # its name begins with "Test", but it is not a test class


@pytest.fixture
def server() -> Iterator[TestServer]:
    with TestServer() as server:
        yield server
