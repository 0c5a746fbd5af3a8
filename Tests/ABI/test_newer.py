"""Programs in Python and C++ that are newer than the library.

The library knows only the place of an option that it lacks. The programs know the option's name. The library is that of
this build; the programs are made from the table with an additional row.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterator

import pytest
from cpp import ENVIRONMENT, ROOT, build
from testserver import TestServer

sys.path.insert(0, str(ROOT / "Scripts"))

import option_table
import options_cpp
import options_python
import options_stubs

ROW = """
[option.shine]
kind = "count"
levels = ["cache", "site", "request"]
default = 1
range = [1, 9]
reaches = ["fetch", "name"]
since = "9.0"
help = "how much a nut shines"
"""
PYTHON = """
import asyncio, sys
import nuthatch
url, folder = sys.argv[1:]

def tried(call):
    try:
        call()
    except nuthatch.Invalid as error:
        print(f"{error.code}: {error}")
    else:
        print("taken")

async def waits():
    async with nuthatch.AsyncCache(folder) as ac:
        await ac.get(url, shine=2)

tried(lambda: nuthatch.Cache(folder + "-2", shine=2))
with nuthatch.Cache(folder, retries=0) as cache:
    tried(lambda: cache.site(url, shine=2))
    tried(lambda: cache.get(url, shine=2))
    tried(lambda: cache.get(url, shine=2, headers={"X-Nut": "hazel"}))
    tried(lambda: cache.request("POST", url, body=b"seeds", shine=2))
    tried(lambda: cache.submit(url, size=8, shine=9))
    tried(lambda: cache.thumbnail(url, 8, shine=2))
    tried(lambda: cache.peek(url, 8, shine=2))
    tried(lambda: cache.remove(url, shine=2))
    tried(lambda: asyncio.run(waits()))
    tried(lambda: next(cache.prefetch([url], [8], shine=2)))
    cache.get(url, timeout=60)
    cache.thumbnail(url, 8, fit="cover")
    print("shine" in cache.options, cache.options["retries"], cache.site(url, timeout=5).options["timeout"])
"""
CPP = """
#include <nuthatch.hpp>
#include <iostream>

template <typename Call>
static void tried(Call call) {
  try {
    call();
    std::cout << "taken\\n";
  } catch (const nuthatch::Error &error) {
    std::cout << error.word() << ": " << error.what() << "\\n";
  }
}

int main(int, char **arguments) {
  const std::string url = arguments[1], folder = arguments[2];
  const auto shine = nuthatch::Options().shine(2);
  tried([&] { nuthatch::Cache(folder + "-2", shine); });
  nuthatch::Cache cache(folder, nuthatch::Options().retries(0));
  tried([&] { nuthatch::Site(cache, url, shine); });
  tried([&] { cache.get(url, shine); });
  tried([&] { cache.submit(url, shine); });
  tried([&] { cache.peek(url, nuthatch::Options().size(8).shine(2)); });
  tried([&] { nuthatch::Request(url).set(shine); });
  tried([&] { cache.thumbnail(url, nuthatch::Options().size(8)); });
}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[TestServer]:
    with TestServer() as server:
        yield server


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> option_table.Table:
    path = tmp_path_factory.mktemp("table") / "options.toml"
    path.write_text(option_table.TABLE.read_text() + ROW)
    return option_table.load(path)


def lacking() -> str:
    header = (ROOT / "Sources" / "NuthatchCore" / "Cache.swift").read_text()
    version = header.partition('static let string = "')[2].partition('"')[0]
    return f"shine: the library is Nuthatch {version}, which doesn't have this option (it came with 9.0)"


def with_member(text: str, begins: str, ends: str, member: str) -> str:
    """Adds a member to the end of the struct."""
    place = text.index(ends, text.index(begins))
    return text[:place] + member + text[place:]


def test_python_names_an_option_that_an_old_library_lacks(
    table: option_table.Table, server: TestServer, tmp_path: Path
) -> None:
    package = tmp_path / "newer" / "nuthatch"
    shutil.copytree(ROOT / "bindings" / "python" / "nuthatch", package)
    for name, text in {**options_python.files(table), **options_stubs.files(table, package)}.items():
        (package / name).write_text(text)
    prototypes = package / "_prototypes.py"
    field = '        ("shine", ctypes.c_int64),\n'
    prototypes.write_text(with_member(prototypes.read_text(), "class nh_options(", "    ]\n", field))
    library = str(ROOT / "build" / "libnuthatch.so.1")
    env = {**os.environ, "PYTHONPATH": str(package.parent), "NUTHATCH_LIBRARY": library}
    command = [sys.executable, "-c", PYTHON, server.url("/png/16/16"), str(tmp_path / "cache")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    told = [f"invalid: {lacking()}"] * 11 + ["False 0 5.0"]
    assert (done.returncode, done.stdout.splitlines()) == (0, told), done.stderr


def test_cpp_names_an_option_that_an_old_library_lacks(
    table: option_table.Table, server: TestServer, tmp_path: Path
) -> None:
    header = (ROOT / "include" / "nuthatch.h").read_text()
    (tmp_path / "nuthatch.h").write_text(
        with_member(header, "typedef struct nh_options {", "} nh_options;", "    int64_t shine;\n")
    )
    (tmp_path / "nuthatch.hpp").write_text(options_cpp.header(table))
    (tmp_path / "newer.cpp").write_text(CPP)
    build(tmp_path / "newer.cpp", tmp_path / "newer", "g++", "c++17", tmp_path)
    command = [str(tmp_path / "newer"), server.url("/png/16/16"), str(tmp_path / "cache")]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False)
    told = [f"invalid: {lacking()}"] * 6 + ["taken"]
    assert (done.returncode, done.stdout.splitlines()) == (0, told), done.stderr
