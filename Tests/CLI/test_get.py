"""`nuthatch get`: what it writes where, and what it ends with."""

import os
import signal
import stat
import struct
import subprocess
from pathlib import Path
from typing import Dict

import pytest
from command import COMMAND, Runner, heed_signals
from pictures import png
from testserver import TestServer, answer, body, ok, redirect, script, truncated


def names(folder: Path) -> list:
    return sorted(path.name for path in folder.iterdir() if path.name != "cache")


def test_to_standard_output(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", ok(bytes(range(256)) * 1000))
    for arguments in ([], ["-o", "-"]):
        done = nuthatch("get", server.url("/a"), *arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, bytes(range(256)) * 1000, b"")


def test_to_files(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    server.on("/a", redirect("/b"))
    server.on("/b", ok("nut"))
    done = nuthatch("get", "-o", "one", server.url("/a"), "--output=two", "-o-")
    assert (done.returncode, done.stdout) == (0, b"nut")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() == b"nut"
    assert names(tmp_path) == ["one", "two"]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "one").stat().st_mode) == 0o666 & ~umask


def test_a_file_stays_when_there_is_no_new_one(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    server.on("/cut", truncated(100, "short"))
    server.on("/404", answer(404, "nothing here"))
    for path, word in [("/cut", b"truncated: "), ("/404", b"HTTP 404 ")]:
        done = nuthatch("get", server.url(path), "-o", "file")
        assert done.returncode == 4
        assert done.stderr.startswith(b"nuthatch: get: " + word) and server.url(path).encode() in done.stderr
        assert (tmp_path / "file").read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_a_file_is_replaced_at_once(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    server.on("/a", ok("new"))
    (tmp_path / "file").write_text("old and longer")
    (tmp_path / "link").symlink_to("file")
    inode = (tmp_path / "file").stat().st_ino
    assert nuthatch("get", server.url("/a"), "-o", "link").returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
    assert (tmp_path / "file").stat().st_ino != inode


def test_devices_are_written_into(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", ok("x"))
    assert nuthatch("get", server.url("/a"), "-o", "/dev/null").returncode == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    full = nuthatch("get", server.url("/a"), "-o", "/dev/full")
    assert (full.returncode, full.stderr[:22]) == (1, b"nuthatch: get: no_spac")


def test_an_error_page_goes_to_standard_output(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", answer(500, "oops"))
    done = nuthatch("get", server.url("/a"))
    assert (done.returncode, done.stdout) == (4, b"oops")


def test_what_is_sent(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    server.on("/a", ok("x"))
    (tmp_path / "form").write_bytes(b"from=a&file")
    url = server.url("/a")
    nuthatch("get", url, "-H", "X-A: 1", "--header", "X-A:2", "--user", "u:p:q", "--user-agent", "own/1")
    nuthatch("get", url, "-d", "a=b")
    nuthatch("get", url, "-d@form", "-X", "PUT", "-HContent-Type: x/y")
    nuthatch("get", url, "--data", "@-", given=b"typed")
    nuthatch("get", url, "--method", "HEAD")
    one, two, three, four, five = server.requests("/a")
    assert (one.method, one.values("X-A"), one.header("User-Agent")) == ("GET", ["1", "2"], "own/1")
    assert one.header("Authorization") == "Basic dTpwOnE="
    assert (two.method, two.body) == ("POST", b"a=b")
    assert two.header("Content-Type") == "application/x-www-form-urlencoded"
    assert (three.method, three.body, three.values("Content-Type")) == ("PUT", b"from=a&file", ["x/y"])
    assert four.body == b"typed"
    assert five.method == "HEAD"


def test_limits(server: TestServer, nuthatch: Runner) -> None:
    server.on("/never", script(steps=[server.gate("g").step, body("x")]))
    server.on("/large", ok("x" * 2000))
    for arguments, word in [
        (["--timeout", "0.2", server.url("/never")], b"timeout"),
        (["--timeout=none", "--deadline=0.2", server.url("/never")], b"timeout"),
        (["--max-bytes", "1K", server.url("/large")], b"too_large"),
    ]:
        done = nuthatch("get", *arguments)
        assert (done.returncode, done.stderr.split(b": ")[2]) == (4, word)
    assert nuthatch("get", "--max-bytes", "2k", server.url("/large")).returncode == 0


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted(
    server: TestServer, environment: Dict[str, str], tmp_path: Path, number: int, code: int
) -> None:
    gate = server.gate("never")
    server.on("/a", script(steps=[body("x"), gate.step, body("y")]))
    command = [COMMAND, "get", server.url("/a"), "-o", str(tmp_path / "file")]
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, preexec_fn=heed_signals
    ) as process:
        assert gate.wait_until_reached()
        process.send_signal(number)
        assert process.wait(60) == code
    assert names(tmp_path) == []


def test_an_ignored_interrupt_stays_ignored(
    server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    gate = server.gate("g")
    server.on("/a", script(steps=[gate.step, body("x")]))
    command = ["sh", "-c", f"trap '' INT; exec '{COMMAND}' get '{server.url('/a')}'"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        assert gate.wait_until_reached()
        process.send_signal(signal.SIGINT)
        gate.open()
        assert process.communicate(timeout=60)[0] == b"x"
    assert process.returncode == 0


def test_a_closed_pipe_is_quiet(server: TestServer, environment: Dict[str, str]) -> None:
    server.on("/a", ok("x" * 1_000_000))
    command = f"'{COMMAND}' get '{server.url('/a')}'; echo $? >&2"
    done = subprocess.run(
        ["bash", "-c", f"{{ {command}; }} | head -c 1"], env=environment, capture_output=True, check=False
    )
    assert (done.stdout, done.stderr) == (b"x", b"141\n")


def test_no_cache_to_be_had(nuthatch: Runner) -> None:
    done = nuthatch("get", "http://127.0.0.1:1/", "--cache", "/dev/null/x")
    assert (done.returncode, done.stderr[:18]) == (1, b"nuthatch: get: io:")


def test_passwords_are_not_shown(nuthatch: Runner) -> None:
    done = nuthatch("get", "http://user:sesame@127.0.0.1:1/")
    assert done.returncode == 4
    assert b"sesame" not in done.stderr and b"***@127.0.0.1" in done.stderr


def test_pictures_of_a_size(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    server.on("/a", ok(png(640, 480), "image/png"))
    url = server.url("/a")
    done = nuthatch("get", url, "--size", "64", "-o", "a.png", "-o", "a.jpg", "-o-")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == (tmp_path / "a.png").read_bytes()
    assert struct.unpack(">II", done.stdout[16:24]) == (64, 48)
    assert (tmp_path / "a.jpg").read_bytes().startswith(b"\xff\xd8\xff")
    for arguments, size in [
        (["--size=100x30"], (40, 30)),
        (["-s100x30", "--mode=fill"], (100, 30)),
        (["-s", "1000", "--quality", "fast"], (640, 480)),
        (["-s", "1000", "--enlarge"], (1000, 750)),
    ]:
        assert struct.unpack(">II", nuthatch("get", url, *arguments).stdout[16:24]) == size


def test_no_picture_no_file(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    server.on("/text", ok("hello"))
    server.on("/404", answer(404, png(8, 8)))
    server.on("/cut", ok(png(64, 64)[:-200]))
    for path, word in [("/text", b"not_an_image"), ("/404", b"HTTP 404 Not Found"), ("/cut", b"truncated")]:
        done = nuthatch("get", server.url(path), "--size", "64", "-o", "a.png", "-o", "-")
        assert (done.returncode, done.stdout) == (4, b"")
        assert done.stderr.split(b": ")[2] == word
    assert names(tmp_path) == []
    assert nuthatch("get", server.url("/cut"), "--size=64", "--allow-truncated").stdout.startswith(b"\x89PNG")
