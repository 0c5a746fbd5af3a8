"""A program assigns random values to all attributes of the package's objects, and then uses the objects."""

from __future__ import annotations

import contextlib
import ctypes
import subprocess
import sys
from pathlib import Path

import pytest
from pictures import png
from testserver import TestServer, ok

PROGRAM = """
import contextlib, copy, ctypes, pickle, sys, nuthatch

kind, picture, text, folder = sys.argv[1:]

def odd():
    other = cache.get(text)
    return [
        None, -1, 10**5, 2**31, 2**63, 10**30, float("nan"), "", "x" * 1000, b"\\0" * 100, (8, 10**9), [1], {},
        object(), int, ctypes.c_void_p(), ctypes.c_void_p(8), ctypes.c_void_p(2**63 - 1), other, other._handle,
    ]

# Functions that may wait for ever.
WAITING = {"dispatch", "wait", "result", "events", "wait_idle", "close", "prefetch"}

def made():
    site = cache.site(picture)
    ticket = cache.submit(text)
    return {
        "image": lambda: cache.thumbnail(picture, 8),
        "response": lambda: cache.get(text),
        "headers": lambda: cache.get(text).headers,
        "ticket": lambda: cache.submit(text),
        "event": lambda: next(cache.submit(text).events(30)),
        "item": lambda: next(iter(cache.prefetch([picture], sizes=[8]))),
        "site": lambda: cache.site(picture),
        "cache": lambda: nuthatch.Cache(folder),
        "error": lambda: failure(),
        "outbox": lambda: cache.outbox,
    }[kind]()

def failure():
    try:
        cache.get("http://[")
    except nuthatch.Error as error:
        return error

def use(thing):
    uses = [repr, str, bytes, memoryview, len, list, hash, copy.copy, copy.deepcopy, pickle.dumps, dict]
    for function in uses:
        with contextlib.suppress(Exception):
            function(thing)
    with contextlib.suppress(Exception):
        import numpy
        numpy.asarray(thing).sum()
    for name in dir(type(thing)):
        if name in WAITING or name in ("__class__", "__del__", "__init_subclass__", "__subclasshook__"):
            continue
        with contextlib.suppress(Exception):
            value = getattr(thing, name)
            bytes(value) if isinstance(value, memoryview) else repr(value)
            if callable(value) and not name.startswith("__"):
                repr(value())

cache = nuthatch.Cache(folder)
first = made()
names = [name for name in {*dir(first), *getattr(first, "__dict__", {})} if not name.startswith("__")] + ["__class__"]
for name in sorted(names):
    for value in odd():
        thing = made()
        # Alternately before and after attributes were read.
        if isinstance(value, (int, str, tuple)):
            repr(thing)
        with contextlib.suppress(Exception):
            setattr(thing, name, value)
        use(thing)
        with contextlib.suppress(Exception):
            delattr(thing, name)
        use(thing)
        del thing
print(len(names))
"""

KINDS = ["image", "response", "headers", "ticket", "event", "item", "site", "cache", "error", "outbox"]


@pytest.mark.parametrize("kind", KINDS)
def test_assignments_do_not_crash_the_process(kind: str, server: TestServer, tmp_path: Path) -> None:
    fresh = [("Cache-Control", "max-age=600")]
    server.on("/picture", ok(png(20, 10), "image/png", headers=fresh))
    server.on("/text", ok("[1]", "application/json", headers=fresh))
    command = [
        sys.executable,
        "-X",
        "faulthandler",
        "-c",
        PROGRAM,
        kind,
        server.url("/picture"),
        server.url("/text"),
    ]
    done = subprocess.run(
        [*command, str(tmp_path / "c")],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.splitlines()[-1]) > 3


def test_images_and_responses_can_not_be_changed(server: TestServer, tmp_path: Path) -> None:
    import nuthatch

    server.on("/picture", ok(png(20, 10), "image/png"))

    class Own(nuthatch.Image):
        note = ""

    with nuthatch.Cache(tmp_path / "c") as cache:
        image, answer = cache.thumbnail(server.url("/picture"), 8), cache.get(server.url("/picture"))
        for thing, names in (
            (image, ("height", "_address", "_handle", "url")),
            (answer, ("status", "_lies", "body")),
        ):
            for name in (*names, "__class__"):
                before = getattr(thing, name)
                with pytest.raises(AttributeError):
                    setattr(thing, name, 10**5)
                with pytest.raises(AttributeError):
                    delattr(thing, name)
                with contextlib.suppress(TypeError, ctypes.ArgumentError):
                    assert getattr(thing, name) == before
        own = Own(image._handle, image.url)
        own.note = "of mine"
        assert own.note == "of mine"
        with pytest.raises(AttributeError):
            own.width = 3
