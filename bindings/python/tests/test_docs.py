"""The examples of docstrings and docs/PYTHON.md run unchanged. Public names have docstrings and types."""

import asyncio
import doctest
import importlib
import inspect
import os
import pkgutil
import re
import socket
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any, Dict, Iterator, List

import nuthatch
import pytest
from pictures import png
from testserver import TestServer, ok

MODULES = [
    f"nuthatch.{module.name}"
    for module in pkgutil.iter_modules(nuthatch.__path__)
    if module.name != "__main__"
]


@pytest.fixture
def nobody() -> Iterator[str]:
    """A URL at which no server listens, and no other program can."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{reserved.getsockname()[1]}/a"


@pytest.fixture
def names(server: TestServer, tmp_path: Path, nobody: str) -> Iterator[Dict[str, Any]]:
    """Returns the names that the examples use."""
    server.on("/hello", ok("hello", "text/plain"))
    server.on("/api/statuses", ok('["nesting"]', "application/json"))
    server.on("/a.png", ok(png(640, 480), "image/png"))
    server.echo("/echo")
    with nuthatch.Cache(tmp_path / "cache") as cache:
        yield {
            "asyncio": asyncio,
            "base_url": server.url(""),
            "cache": cache,
            "directory": tmp_path / "directory",
            "echo_url": server.url("/echo"),
            "missing_url": server.url("/missing.png"),
            "nuthatch": nuthatch,
            "offline_url": nobody,
            "picture_url": server.url("/a.png"),
            "url": server.url("/hello"),
        }


def examples() -> List[Any]:
    finder = doctest.DocTestFinder()
    found = []
    for name in MODULES:
        for test in finder.find(importlib.import_module(name), name):
            if test.examples:
                found.append(pytest.param(test, id=test.name))
    return found


@pytest.mark.parametrize("example", examples())
def test_an_example_in_a_docstring_runs(example: doctest.DocTest, names: Dict[str, Any]) -> None:
    example.globs.update(names)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    lines: List[str] = []
    failed, tried = runner.run(example, out=lines.append, clear_globs=False)
    assert tried and not failed, "".join(lines)


def test_the_code_of_python_md_runs(server: TestServer, tmp_path: Path) -> None:
    """Its blocks are one program. example.org is the test server."""
    page = (Path(__file__).parents[3] / "docs" / "PYTHON.md").read_text()
    program = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    for name in ("nut", "hazel"):
        server.on(f"/{name}.png", ok(png(32, 24), "image/png"))
    for path in ("/seeds.json", "/api/statuses"):
        server.on(path, ok("[1]", "application/json"))
    server.echo("/echo")
    env = {**os.environ, "http_proxy": server.url(""), "no_proxy": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == ["(16, 12) (32, 24) False", "200 application/json [1]"]
    lines = done.stdout.splitlines()
    assert lines[-4:-2] == ["200 (16, 12)", "200"]
    assert lines[-2].startswith('waiting "') and lines[-2].endswith('" 12')
    assert lines[-1] == "0 outcomes came meanwhile"


def test_main_classes_and_methods_have_examples() -> None:
    shown = {param.values[0].name.split(".", 2)[2] for param in examples()}
    assert shown >= {
        "AsyncCache", "AsyncTicket", "Cache", "Cache.peek", "Cache.stats", "Event", "Fetching.get", "Fetching.prefetch",
        "Fetching.request", "Fetching.submit", "Fetching.thumbnail", "Image", "Image.convert", "Image.encode",
        "Response", "Site", "Ticket", "queue",
    }  # fmt: skip


@pytest.mark.parametrize("name", nuthatch.__all__)
def test_every_public_name_has_a_docstring(name: str) -> None:
    thing = getattr(nuthatch, name)
    if not inspect.isclass(thing):
        return
    assert thing.__doc__, name
    for member, value in vars(thing).items():
        if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
            assert inspect.getdoc(value), f"{name}.{member}"


def hinted() -> List[Any]:
    """Returns all public classes and functions, with inherited ones."""
    found: Dict[str, Any] = {}
    for name in nuthatch.__all__:
        thing = getattr(nuthatch, name)
        if not callable(thing):
            continue
        found[name] = thing
        for member in dir(thing) if inspect.isclass(thing) else []:
            value = inspect.getattr_static(thing, member)
            value = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            is_ours = str(getattr(value, "__module__", "")).startswith("nuthatch")
            if inspect.isfunction(value) and is_ours and (member == "__init__" or not member.startswith("_")):
                found[f"{name}.{member}"] = value
    return [pytest.param(thing, id=name) for name, thing in found.items()]


@pytest.mark.parametrize("thing", hinted())
def test_type_hints_can_be_read_at_run_time(thing: Any) -> None:
    hints = typing.get_type_hints(thing)
    if inspect.isfunction(thing):
        assert set(hints) == set(thing.__annotations__)


def test_type_hints_name_the_options() -> None:
    assert len(hinted()) > 150
    hints = typing.get_type_hints(nuthatch.Cache.get)
    assert hints["return"] is nuthatch.Response and hints["url"] is str
    options = getattr(hints["options"], "__args__", [hints["options"]])[0]
    assert {"headers", "timeout", "method", "ask_verdict"} <= set(typing.get_type_hints(options))


def test_the_package_is_marked_as_typed() -> None:
    assert (Path(nuthatch.__file__).parent / "py.typed").exists()


def test_loading_the_package_loads_few_modules() -> None:
    program = "import sys, nuthatch; print([name for name in ('asyncio', 'json', 'logging') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert {"AsyncCache", "Cache"} <= set(dir(nuthatch))


@pytest.mark.parametrize("of", ["AsyncCache", "AsyncSite"])
def test_async_classes_have_every_method(of: str) -> None:
    plain = getattr(nuthatch, of[len("Async") :])
    theirs = {name for name in dir(plain) if not name.startswith("_")}
    assert theirs - set(dir(getattr(nuthatch, of))) == set()
