"""`nuthatch get --size`: writes pictures instead of bodies."""

import struct
from pathlib import Path

from command import Runner, names
from pictures import png
from testserver import TestServer, answer, ok


def test_get_writes_a_picture_of_the_given_size(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    server.on("/a", ok(png(640, 480), "image/png"))
    url = server.url("/a")
    done = nuthatch("get", url, "--size", "64", "-o", "a.png", "-o", "a.jpg", "-o-")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == (tmp_path / "a.png").read_bytes()
    assert struct.unpack(">II", done.stdout[16:24]) == (64, 48)
    assert (tmp_path / "a.jpg").read_bytes().startswith(b"\xff\xd8\xff")
    assert nuthatch("get", url, "--size=64", "-o", "a.webp").returncode == 0
    assert (tmp_path / "a.webp").read_bytes()[:15][8:] == b"WEBPVP8"
    for arguments, size in [
        (["--size=100x30"], (40, 30)),
        (["-s100x30", "--fit=cover"], (100, 30)),
        (["-s", "1000", "--scaling", "fast"], (640, 480)),
        (["-s", "1000", "--enlarge"], (1000, 750)),
    ]:
        assert struct.unpack(">II", nuthatch("get", url, *arguments).stdout[16:24]) == size


def test_accept_modern_asks_for_webp(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", ok(png(64, 48), "image/png"))
    url = server.url("/a")
    for arguments in (["--size=8"], ["--size=8", "--data=x"], []):
        assert nuthatch("get", "--accept=modern", url, *arguments, "-o", "a.png").returncode == 0
    asked = [request.header("Accept") or "" for request in server.requests("/a")]
    assert ["image/webp" in accept for accept in asked] == [True, True, False]
    assert asked[2] == "*/*"


def test_get_of_a_bad_picture_leaves_no_file(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    server.on("/text", ok("hello"))
    server.on("/404", answer(404, png(8, 8)))
    server.on("/cut", ok(png(64, 64)[:-200]))
    for path, word in [("/text", b"not_an_image"), ("/404", b"http"), ("/cut", b"truncated")]:
        done = nuthatch("get", server.url(path), "--size", "64", "-o", "a.png", "-o", "-")
        assert (done.returncode, done.stdout) == (4, b"")
        assert done.stderr.split(b": ")[2] == word
    assert names(tmp_path) == []
    assert nuthatch("get", server.url("/cut"), "--size=64", "--allow-damaged").stdout.startswith(b"\x89PNG")


def test_get_takes_a_stored_thumbnail_without_server_and_original(nuthatch: Runner) -> None:
    with TestServer() as server:
        server.on("/a", ok(png(640, 480), "image/png"))
        url = server.url("/a")
        made = nuthatch("get", url, "-s64", "--keep-source=no")
        assert made.returncode == 0
    again = nuthatch("get", url, "-s64")
    assert (again.returncode, again.stdout) == (0, made.stdout)
    other = nuthatch("get", url, "-s65", "--retries=0")
    assert (other.returncode, other.stderr[:22]) == (4, b"nuthatch: get: refused")


def test_file_urls_are_read_only_with_allow_files(nuthatch: Runner, tmp_path: Path) -> None:
    (tmp_path / "own.png").write_bytes(png(64, 48))
    url = f"file://{tmp_path}/own.png"
    refused = nuthatch("get", url, "-s32", "-o", "a.png")
    assert refused.returncode == 4 and b"denied" in refused.stderr
    assert nuthatch("get", url, "-s32", "-o", "a.png", "--allow-files").returncode == 0
    assert struct.unpack(">II", (tmp_path / "a.png").read_bytes()[16:24]) == (32, 24)
    done = nuthatch("prefetch", "--allow-files", "--size", "16", "-", given=f"{url}\n".encode())
    assert done.returncode == 0, done.stderr
