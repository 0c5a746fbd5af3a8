"""A server, and what all attacks need."""

from typing import Iterator

import pytest
from testserver import TestServer

TestServer.__test__ = False  # type: ignore[attr-defined]  # its name begins like a test's


@pytest.fixture
def server() -> Iterator[TestServer]:
    with TestServer() as server:
        yield server
