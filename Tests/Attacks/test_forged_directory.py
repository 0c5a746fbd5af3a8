"""A cache directory with files that another user has put there."""

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
    """Puts a request into the outbox. No server listens at its URL."""
    with pytest.raises(nuthatch.Frozen):
        cache.request("POST", "http://127.0.0.1:1/post", body=b"x", freezable=True, retries=0)


@pytest.fixture
def directory(server: TestServer, tmp_path: Path) -> Path:
    """A directory with an answer and a request in the outbox."""
    server.on("/a", ok(CONTENT, headers=KEPT))
    path = tmp_path / "cache"
    with nuthatch.Cache(path) as cache:
        cache.get(server.url("/a"))
        freeze(cache)
    return path


def use(path: Path, url: str) -> List[nuthatch.Error]:
    """Uses the directory as a program does. Returns the results."""
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
def test_a_second_name_of_a_pack_is_not_used(
    server: TestServer, directory: Path, tmp_path: Path, name: str
) -> None:
    """Nothing waits for its lock, which the pack's user may hold, and nothing is written into it."""
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
def test_a_file_of_another_user_is_not_used(
    server: TestServer, directory: Path, name: str, plant: Plant
) -> None:
    """It is neither used nor removed. Afterwards it is still there, possibly under another name."""
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
    # Some files are made again under their names. Without the others, the directory can't be used.
    assert bool(told) == (name in ("locks", "outbox/lock", "outbox/log")), told


@pytest.mark.parametrize("plant", FORGERIES)
def test_a_pack_of_another_user_is_ignored(server: TestServer, directory: Path, plant: Plant) -> None:
    for pack in (directory / "packs").glob("*.pack"):
        plant(pack)
    (directory / "index").unlink()
    with nuthatch.Cache(directory) as cache:
        response = cache.get(server.url("/a"))
        assert response.body == CONTENT and not response.is_in_cache


@pytest.mark.parametrize("how", ["given away", "writable"])
def test_an_outbox_that_others_can_write_to_is_refused(directory: Path, how: str) -> None:
    """Otherwise another user's requests would be sent with the owner's rights."""
    (given_away if how == "given away" else lambda path: path.chmod(0o777))(directory / "outbox")
    with nuthatch.Cache(directory) as cache:
        with pytest.raises(nuthatch.Error) as raised:
            cache.outbox.list()
        assert raised.value.code == "unsafe_file"


def test_cookies_of_another_user_are_not_used(server: TestServer, tmp_path: Path) -> None:
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
