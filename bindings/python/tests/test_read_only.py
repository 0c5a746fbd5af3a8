"""A cache on a read-only file system, in Python and so in C."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nuthatch
import pytest
from pictures import png
from read_only import age, everything, mounted
from testserver import TestServer, ok

READER = """
import json, sys
import nuthatch

folder, stored, other, cookies = sys.argv[1:]

def failure(call):
    try:
        call()
    except nuthatch.Error as error:
        return f"{type(error).__name__} {error.code}: {error}"
    return None

with nuthatch.Cache(folder, disk_bytes=64 << 20, spill="pressure") as cache:
    found = {}
    image = cache.peek(stored, (64, 64))
    found["peeked"] = image is not None and [image.width, image.height]
    offline = cache.get(stored, policy="offline")
    found["offline"] = [len(offline.body), offline.source]
    small = cache.thumbnail(stored, (32, 32), policy="offline")
    found["made"] = [small.width, small.height]
    found["again"] = cache.thumbnail(stored, (32, 32), policy="offline").width
    found["miss"] = failure(lambda: cache.get(other, policy="offline"))
    found["fetched"] = [len(cache.get(other).body) for _ in range(2)]
    found["posted"] = cache.request("POST", other, body=b"x").status
    site = cache.site(cookies, cookie_jar="disk")
    found["site"] = [site.get("/cookie").status for _ in range(2)]
    for name, call in {
        "remove": lambda: cache.remove(stored),
        "clear": cache.clear,
        "trim": lambda: cache.trim(0),
        "flush": cache.flush,
    }.items():
        found[name] = failure(call)
    found["warning"] = cache.stats()["warning"]
    found["bodies"] = cache.stats()["bodies"]
    found["outbox"] = len(cache.outbox.list())
    with nuthatch.Cache(folder) as twin:
        found["twin"] = len(twin.get(stored, policy="offline").body)
print(json.dumps(found))
"""


@pytest.fixture
def filled(server: TestServer, tmp_path: Path) -> Path:
    server.on("/a", ok(png(300, 200, seed=1), "image/png", etag='"1"'))
    server.on("/b", ok(png(40, 30, seed=2), "image/png", etag='"2"'))
    server.on("/cookie", ok("x", headers=[("Set-Cookie", "a=b")]))
    with nuthatch.Cache(tmp_path / "cache") as cache:
        cache.get(server.url("/a"))
        cache.thumbnail(server.url("/a"), (64, 64))
    return tmp_path / "cache"


def read(server: TestServer, folder: Path) -> Any:
    command = mounted(folder, sys.executable, "-c", READER, str(folder), server.url("/a"), server.url("/b"))
    done = subprocess.run(
        [*command, server.url("/")],
        env=dict(os.environ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("state", ["as it is", "after a restart", "without an index"])
def test_a_read_only_cache_is_read_and_delivers_other_answers(
    state: str, server: TestServer, filled: Path
) -> None:
    if state == "after a restart":
        age(filled / "index")
    elif state == "without an index":
        (filled / "index").unlink()
    before = everything(filled)
    found = read(server, filled)
    assert everything(filled) == before
    assert found["peeked"] == [64, 43]
    assert found["offline"] == [len(png(300, 200, seed=1)), "disk"]
    assert (found["made"], found["again"]) == ([32, 21], 32)
    assert found["miss"].startswith("Offline offline: ")
    assert found["fetched"] == [len(png(40, 30, seed=2))] * 2
    assert len(server.requests("/b")) == 3
    assert found["posted"] == 200
    assert found["site"] == [200, 200]
    for name in ["remove", "clear", "trim", "flush"]:
        assert " io: " in found[name] and "the file system is read-only" in found[name], found
    assert found["warning"] == "the cache can only be read: the file system is read-only"
    assert (found["bodies"], found["outbox"], found["twin"]) == (1, 0, found["offline"][0])


def test_the_outbox_of_a_read_only_cache_can_be_read(server: TestServer, filled: Path) -> None:
    server.go_down()
    with nuthatch.Cache(filled) as cache, pytest.raises(nuthatch.Frozen):
        cache.request("POST", server.url("/later"), body=b"x", freezable=True)
    server.go_up()
    assert read(server, filled)["outbox"] == 1
    assert server.requests("/later") == []


def test_no_cache_is_created_in_a_read_only_folder(tmp_path: Path) -> None:
    script = "import sys, nuthatch as n\ntry:\n    n.Cache(sys.argv[1])\nexcept n.Error as error:\n    print(error)"
    for path in [tmp_path, tmp_path / "cache"]:
        command = mounted(tmp_path, sys.executable, "-c", script, str(path))
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert "Read-only file system" in done.stdout, done.stderr
