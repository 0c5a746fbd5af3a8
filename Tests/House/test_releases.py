"""Cache directories and outboxes of earlier releases are read (docs/PROMISES.md). `releases/write.py` wrote them."""

import importlib.util
import json
import os
import subprocess
import tarfile
from pathlib import Path
from types import ModuleType
from typing import Any, Dict

import pytest
from pictures import png
from testserver import TestServer, ok

RELEASES = Path(__file__).parent / "releases"
ARCHIVES = sorted(RELEASES.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def written() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write", RELEASES / "write.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Release:
    """A cache directory that a release wrote, in a folder of its own."""

    def __init__(self, archive: Path, folder: Path, build: Path) -> None:
        self.folder, self.cache, self.command = folder, folder / "cache", build / "nuthatch"
        self.cache.mkdir(mode=0o700)
        with tarfile.open(archive) as file:
            for member in file.getmembers():
                # The directory must belong to the user who opens it.
                member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
                file.extract(member, self.cache)
                if member.isreg():
                    os.truncate(self.cache / member.name, int(member.pax_headers["NUTHATCH.size"]))

    def run(self, *words: str, **more: str) -> "subprocess.CompletedProcess[bytes]":
        env = {name: text for name, text in os.environ.items() if not name.lower().endswith("_proxy")}
        env.update(NUTHATCH_CACHE=str(self.cache), **more)
        return subprocess.run([self.command, *words], env=env, cwd=self.folder, capture_output=True)

    def asked(self, *words: str) -> Any:
        done = self.run(*words, "--format=json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(params=ARCHIVES, ids=lambda archive: archive.name[: -len(".tar.gz")])
def release(request: pytest.FixtureRequest, tmp_path: Path, build: Path) -> Release:
    return Release(request.param, tmp_path, build)


def test_there_is_a_small_directory_of_each_release() -> None:
    assert {"0.1.tar.gz", "0.2.tar.gz"} <= {archive.name for archive in ARCHIVES}
    assert all(archive.stat().st_size < 20_000 for archive in ARCHIVES)


def test_bodies_and_thumbnails_of_a_release_are_found(release: Release, written: ModuleType) -> None:
    for url, body in written.BODIES.items():
        done = release.run("get", url, "--policy=offline", "-o", "-")
        assert (done.returncode, done.stdout == body) == (0, True), done.stderr
        assert release.asked("explain", url, "--policy=offline")["prospect"] == "hit"
    for url in written.PICTURES:
        found = release.asked("explain", url, "--policy=offline", "--size=8")
        assert (found["prospect"], len(found["thumbs"])) == ("hit", 1)
        small = release.run("get", url, "--policy=offline", "--size=8", "-o", "-")
        assert small.returncode == 0 and small.stdout[:4] in (b"\x89PNG", b"\xff\xd8\xff\xe0"), small.stderr
    assert release.run("verify").returncode == 0


def test_a_stale_answer_of_a_release_is_replaced_and_removed(release: Release, written: ModuleType) -> None:
    url, newer = written.PICTURES[0], png(10, 10, seed=9)
    with TestServer() as server:
        server.on("/hazel.png", ok(newer, "image/png"))
        done = release.run("get", url, "--policy=reload", "-o", "-", http_proxy=server.url(""))
    assert done.stdout == newer, done.stderr
    assert release.run("get", url, "--policy=offline", "-o", "-").stdout == newer
    assert release.run("rm", url).returncode == 0
    assert release.asked("explain", url)["prospect"] == "fetch"


def test_the_outbox_of_a_release_is_listed_and_sent(release: Release, written: ModuleType) -> None:
    (item,) = release.asked("outbox", "list")
    facts: Dict[str, Any] = {name: item[name] for name in ("id", "method", "url", "bytes")}
    assert facts == {"id": 1, "method": "POST", "url": written.WAITING, "bytes": len(written.SENT)}
    with TestServer() as server:
        server.on("/seeds", ok("thanks", "text/plain"))
        replayed = release.run("outbox", "replay", "--wait=60", http_proxy=server.url(""))
        assert replayed.returncode == 0, replayed.stderr
        (request,) = server.requests()
    assert (request.body, request.header("Idempotency-Key")) == (written.SENT, item["key"])
    assert release.run("outbox", "collect", "1").stdout == b"thanks"
    assert release.asked("outbox", "list") == []
