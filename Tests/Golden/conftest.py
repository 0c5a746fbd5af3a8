"""Pictures decoded by the library, through the package, from bytes."""

import hashlib
import os
import sys
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np
import nuthatch
import pytest
from testserver import TestServer

sys.path.insert(0, str(Path(__file__).parent))
TestServer.__test__ = False  # type: ignore[attr-defined]  # its name begins with "Test", but it is not a test class

Decode = Callable[..., Any]


@pytest.fixture(scope="session")
def image_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Decode]:
    """Decodes bytes. Default: full size."""
    folder = tmp_path_factory.mktemp("pictures")
    with TestServer() as server, nuthatch.Cache(folder / "cache") as cache:
        server.serve(folder, at="/p/")

        def decode(data: bytes, size: Any = 65535, **options: Any) -> nuthatch.Image:
            # A different URL for each picture, because pictures are cached by URL.
            name = hashlib.sha256(data).hexdigest()
            (folder / name).write_bytes(data)
            return cache.get(server.url(f"/p/{name}")).image(size, **options)

        yield decode


@pytest.fixture(scope="session")
def pixels_of(image_of: Decode) -> Decode:
    """Decodes bytes into an array of RGBA."""
    return lambda data, size=65535, **options: np.array(image_of(data, size, **options))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of unusual pictures from other projects."""
    folder = os.environ.get("NUTHATCH_CORPUS")
    if not folder:
        pytest.skip("NUTHATCH_CORPUS names no folder of odd pictures")
    return Path(folder)
