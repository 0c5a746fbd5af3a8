"""Files that another user has put where the library makes its own: beside a download, or as a netrc file or key."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Optional

import nuthatch
import pytest
from forgeries import FORGERIES, Plant, given_away, linked, untouched, writable
from testserver import TestServer, body, ok, script

CONTENT = bytes(range(256)) * 4096
PART, INFO = ".out.nuthatch-part", ".out.nuthatch-info"


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder in which all users may make files."""
    path = tmp_path / "shared"
    path.mkdir()
    path.chmod(0o777)
    return path


@pytest.mark.parametrize("name", [PART, INFO, INFO + "-new"])
@pytest.mark.parametrize("plant", FORGERIES)
def test_a_download_never_continues_another_users_file(
    server: TestServer, shared: Path, tmp_path: Path, plant: Plant, name: str
) -> None:
    server.on("/a", ok(CONTENT, headers=[("ETag", '"1"')]))
    planted = shared / name
    planted.write_bytes(b"forged")
    plant(planted)
    before = untouched(planted)
    with nuthatch.Cache(tmp_path / "cache") as cache:
        cache.get(server.url("/a"), save_to=shared / "out", resume=True)
    out = shared / "out"
    assert out.read_bytes() == CONTENT
    assert (out.stat().st_uid, out.stat().st_nlink) == (os.geteuid(), 1)
    assert out.stat().st_mode & 0o022 == 0
    assert untouched(planted) == before


def leave_a_part(server: TestServer, folder: Path, cache: nuthatch.Cache) -> None:
    """A download that broke off after one half."""
    half = len(CONTENT) // 2
    head = [("ETag", '"1"'), ("Content-Length", str(len(CONTENT)))]
    server.on("/a", script(headers=head, steps=[body(CONTENT[:half])]), ok(CONTENT, etag='"1"', ranges=True))
    with pytest.raises(nuthatch.Error):
        cache.get(server.url("/a"), save_to=folder / "out", resume=True, retries=0)
    assert (folder / PART).stat().st_size == half


@pytest.mark.parametrize("plant", [None, *FORGERIES])
def test_a_download_resumes_only_its_own_partial_file(
    server: TestServer, shared: Path, tmp_path: Path, plant: Optional[Plant]
) -> None:
    with nuthatch.Cache(tmp_path / "cache") as cache:
        leave_a_part(server, shared, cache)
        part = shared / PART
        assert stat.S_IMODE(part.stat().st_mode) == 0o600
        if plant:
            plant(part)
            # The attacker knows the right content of the file beside it.
            part.write_bytes(b"x" * part.stat().st_size)
        before = untouched(part)
        cache.get(server.url("/a"), save_to=shared / "out", resume=True)
        asked = server.requests("/a")[-1].header("range")
    assert (shared / "out").read_bytes() == CONTENT
    if plant:
        assert asked is None
        assert untouched(part) == before
    else:
        assert asked is not None
        assert not part.exists()


def test_a_partial_file_that_a_group_may_write_is_used_in_a_private_folder(
    server: TestServer, tmp_path: Path
) -> None:
    folder = tmp_path / "ours"
    folder.mkdir(mode=0o755)
    with nuthatch.Cache(tmp_path / "cache") as cache:
        leave_a_part(server, folder, cache)
        (folder / PART).chmod(0o664)
        cache.get(server.url("/a"), save_to=folder / "out", resume=True)
        assert server.requests("/a")[-1].header("range") is not None
    assert (folder / "out").read_bytes() == CONTENT


def test_a_new_file_gets_the_umask_and_an_old_file_keeps_its_mode(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok(CONTENT, headers=[("ETag", '"1"')]))
    old = os.umask(0o027)
    try:
        with nuthatch.Cache(tmp_path / "cache") as cache:
            for mode in (0o640, 0o755):
                for resume in (False, True):
                    cache.get(server.url("/a"), save_to=tmp_path / "out", resume=resume)
                    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == mode
                (tmp_path / "out").chmod(0o755)
    finally:
        os.umask(old)


@pytest.mark.parametrize("plant", FORGERIES)
def test_a_netrc_file_that_others_may_have_written_is_refused(
    server: TestServer, tmp_path: Path, plant: Plant
) -> None:
    server.on("/a", ok("x"))
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login ann password pw\n")
    netrc.chmod(0o600)
    plant(netrc)
    (tmp_path / "link").symlink_to(netrc)
    with nuthatch.Cache(tmp_path / "cache") as cache:
        for path in (netrc, tmp_path / "link"):
            if plant is linked:
                # The user may give other names to his own file.
                cache.get(server.url("/a"), netrc=path)
                assert server.requests("/a")[-1].header("authorization") is not None
                continue
            with pytest.raises(nuthatch.Error) as caught:
                cache.get(server.url("/a"), netrc=path)
            assert caught.value.code == "unsafe_file"
            assert str(path) in str(caught.value)
            assert server.count("/a") == 0


def test_dev_null_is_accepted_as_a_netrc_file(server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok("x"))
    with nuthatch.Cache(tmp_path / "cache") as cache:
        assert cache.get(server.url("/a"), netrc="/dev/null").text == "x"
    assert server.requests("/a")[0].header("authorization") is None


@pytest.mark.parametrize("plant", [given_away, writable])
@pytest.mark.parametrize("which", ["certificate", "key"])
def test_a_certificate_that_others_may_have_written_is_refused(
    tmp_path: Path, plant: Plant, which: str
) -> None:
    files = {name: tmp_path / name for name in ("certificate", "key")}
    for path in files.values():
        path.write_text("-----BEGIN NOTHING-----\n")
        path.chmod(0o600)
    plant(files[which])
    with nuthatch.Cache(tmp_path / "cache") as cache, pytest.raises(nuthatch.Error) as caught:
        cache.get("https://127.0.0.1:1/a", cert=(files["certificate"], files["key"]), retries=0)
    assert caught.value.code == "unsafe_file"
    assert str(files[which]) in str(caught.value)
