"""A cache directory with files in it that its owner didn't make."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import List

import nuthatch
import pytest
from forgeries import FORGERIES, Plant, given_away, writable
from testserver import TestServer, ok

CONTENT = bytes(range(256)) * 4096
KEPT = [("Cache-Control", "max-age=1000")]
FILES = ["lock", "locks", "index", "limits", "flights", "outbox/lock", "outbox/log"]


def freeze(cache: nuthatch.Cache) -> None:
    """Puts a request into the outbox: nobody listens there."""
    with pytest.raises(nuthatch.Frozen):
        cache.request("POST", "http://127.0.0.1:1/post", body=b"x", freezable=True, retries=0)


@pytest.fixture
def directory(server: TestServer, tmp_path: Path) -> Path:
    """One with an answer in it, and a request that waits."""
    server.on("/a", ok(CONTENT, headers=KEPT))
    path = tmp_path / "cache"
    with nuthatch.Cache(path) as cache:
        cache.get(server.url("/a"))
        freeze(cache)
    return path


def use(path: Path, url: str) -> List[nuthatch.Error]:
    """Does what a program does with a directory; what it is told."""
    told = []
    for step in (
        lambda cache: cache.get(url),
        freeze,
        lambda cache: cache.outbox.list(),
        lambda cache: cache.clear(),
        lambda cache: cache.get(url),
    ):
        try:
            with nuthatch.Cache(path) as cache:
                step(cache)
        except nuthatch.Error as error:
            told.append(error)
    return told


@pytest.mark.parametrize("name", FILES)
def test_a_pack_under_another_name(server: TestServer, directory: Path, tmp_path: Path, name: str) -> None:
    """Nothing waits for a lock that the pack's user has, and nothing is written into it."""
    pack = next((directory / "packs").glob("*.pack"))
    kept = tmp_path / "kept"
    shutil.copy(pack, kept)
    (directory / name).unlink(missing_ok=True)
    os.link(pack, directory / name)
    os.link(pack, tmp_path / "linked")
    for error in use(directory, server.url("/a")):
        assert error.code == "unsafe_file" and Path(name).name in str(error), error
    assert (tmp_path / "linked").read_bytes() == kept.read_bytes()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("plant", [given_away, writable])
def test_a_file_of_somebody_else(server: TestServer, directory: Path, name: str, plant: Plant) -> None:
    """It is neither used nor removed: under whatever name, it is there afterwards."""
    planted = directory / name
    planted.unlink(missing_ok=True)
    planted.write_bytes(b"forged" * 1000)
    planted.chmod(0o600)
    plant(planted)
    number = planted.stat().st_ino
    told = use(directory, server.url("/a"))
    for error in told:
        assert error.code == "unsafe_file" and Path(name).name in str(error), error
    (left,) = [one for one in directory.rglob("*") if one.lstat().st_ino == number]
    assert left.read_bytes() == b"forged" * 1000
    # What can be made anew is, under its name; without the others the directory can't be used.
    assert bool(told) == (name in ("locks", "outbox/lock", "outbox/log")), told


@pytest.mark.parametrize("plant", FORGERIES)
def test_a_pack_that_is_not_ours_is_no_pack(server: TestServer, directory: Path, plant: Plant) -> None:
    for pack in (directory / "packs").glob("*.pack"):
        plant(pack)
    (directory / "index").unlink()
    with nuthatch.Cache(directory) as cache:
        response = cache.get(server.url("/a"))
        assert response.body == CONTENT and not response.is_in_cache


@pytest.mark.parametrize("how", ["given away", "writable"])
def test_an_outbox_that_others_can_write_to(directory: Path, how: str) -> None:
    """Its requests would be sent in our name."""
    (given_away if how == "given away" else lambda path: path.chmod(0o777))(directory / "outbox")
    with nuthatch.Cache(directory) as cache:
        with pytest.raises(nuthatch.Error) as raised:
            cache.outbox.list()
        assert raised.value.code == "unsafe_file"


def test_cookies_that_others_could_have_set(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("x", headers=[("Set-Cookie", "id=1; Max-Age=1000")]))
    for _ in range(2):
        with nuthatch.Cache(tmp_path / "cache") as cache:
            site = cache.site(server.url("/"), cookie_jar="disk")
            site.get("a")
    assert server.requests("/a")[-1].header("Cookie") == "id=1"
    (jar,) = (tmp_path / "cache" / "cookies").glob("*.txt")
    jar.write_text(jar.read_text().replace("\t1\n", "\tforged\n"))
    writable(jar)
    with nuthatch.Cache(tmp_path / "cache") as cache:
        site = cache.site(server.url("/"), cookie_jar="disk")
        site.get("a")
    assert server.requests("/a")[-1].header("Cookie") is None
