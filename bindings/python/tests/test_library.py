"""The package finds its library, and examples of its modules run."""

import ctypes
import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Dict

import nuthatch
import pytest
from nuthatch import _cache, _image, _response
from pictures import png
from testserver import TestServer, ok

PACKAGE = Path(nuthatch.__file__).parent.parent


def import_with(**env: str) -> "subprocess.CompletedProcess[str]":
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("NUTHATCH", "LD_"))}
    command = [sys.executable, "-c", "import nuthatch; print(nuthatch.__version__)"]
    return subprocess.run(
        command, env={**clean, "PYTHONPATH": str(PACKAGE), **env}, capture_output=True, text=True, check=False
    )


def test_the_library_is_found_in_the_checkout() -> None:
    assert import_with().stdout.strip() == nuthatch.__version__


def test_only_the_library_of_nuthatch_library_is_loaded() -> None:
    done = import_with(NUTHATCH_LIBRARY="/nothing/libnuthatch.so.1")
    assert done.returncode != 0
    assert "ImportError: libnuthatch.so.1 can't be loaded" in done.stderr and "/nothing/" in done.stderr


def test_a_library_that_is_not_nuthatch_is_refused() -> None:
    done = import_with(NUTHATCH_LIBRARY="libm.so.6")
    assert "ImportError" in done.stderr and "different versions" in done.stderr


def test_build_info_names_the_libraries_with_the_versions_that_are_loaded() -> None:
    told = nuthatch.build_info
    assert told is nuthatch.build_info and "build_info" in dir(nuthatch)
    assert told["version"] == nuthatch.__version__ and told["simd"] in ("avx2", "sse2", "scalar")
    libraries = {library["name"]: library for library in told["libraries"]}
    for name, version in versions_by_other_means().items():
        assert libraries[name]["version"] == version and libraries[name]["version_from"] == "library", name
    curl = libraries["libcurl"]
    assert "SSL" in curl["features"] and any(used.startswith("OpenSSL/") for used in curl["uses"])


def versions_by_other_means() -> Dict[str, str]:
    """Asks the loaded libraries, each as its documents say."""
    mapped = re.findall(r"/\S+\.so[.\d]*", Path("/proc/self/maps").read_text())

    def asked(library: str, function: str, *arguments: object) -> str:
        path = next(path for path in mapped if Path(path).name.startswith(library))
        call = ctypes.CDLL(path)[function]
        call.restype = ctypes.c_char_p
        return str(call(*arguments).decode())

    return {
        "libcurl": asked("libcurl", "curl_version").split()[0].partition("/")[2],
        "OpenSSL": asked("libcrypto", "OpenSSL_version", 0).split()[1],
        "libpng": asked("libpng16", "png_get_libpng_ver", None),
        "zlib": asked("libz.", "zlibVersion"),
    }


@pytest.mark.parametrize("module", [_cache, _image, _response])
def test_examples_in_docstrings_of_modules_run(module: object, server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("hello", "text/plain"))
    server.on("/p", ok(png(640, 480), "image/png"))
    with nuthatch.Cache(tmp_path / "c") as cache:
        names = {"nuthatch": nuthatch, "cache": cache, "url": server.url("/a"), "directory": tmp_path / "d"}
        names["picture_url"] = server.url("/p")
        failed, tried = doctest.testmod(module, extraglobs=names)  # type: ignore[arg-type]
    assert tried > 0 and failed == 0
