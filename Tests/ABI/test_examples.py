"""The examples of bindings/c, compiled and run as a user would."""

import os
import subprocess
from pathlib import Path
from typing import Iterator, List

import pytest
from testserver import TestServer, answer, ok

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def server() -> Iterator[TestServer]:
    with TestServer() as server:
        yield server


def run(name: str, arguments: List[str], folder: Path, given: str = "") -> "subprocess.CompletedProcess[str]":
    program = folder / name
    if not program.exists():
        source = ROOT / "bindings" / "c" / "examples" / f"{name}.c"
        command = [
            "cc",
            "-Wall",
            "-Wextra",
            "-Werror",
            f"-I{ROOT / 'include'}",
            str(source),
            "-o",
            str(program),
        ]
        command += [f"-L{ROOT / 'build'}", "-lnuthatch", f"-Wl,-rpath,{ROOT / 'build'}"]
        subprocess.run(command, check=True)
    env = {**os.environ, "NUTHATCH_CACHE": str(folder / "cache"), "SWIFT_BACKTRACE": "enable=no"}
    return subprocess.run(
        [str(program), *arguments],
        env=env,
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_thumbnail(server: TestServer, tmp_path: Path) -> None:
    done = run("thumbnail", [server.url("/png/400/200"), str(tmp_path / "a.png")], tmp_path)
    assert (done.returncode, done.stdout) == (0, "256 x 128 of 400 x 200\n")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    failed = run("thumbnail", [server.url("/status/404"), str(tmp_path / "b.png")], tmp_path)
    assert failed.returncode == 1
    assert "404" in failed.stderr


def test_get(server: TestServer, tmp_path: Path) -> None:
    done = run("get", [server.url("/bytes/1000"), str(tmp_path / "a")], tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a").read_bytes() == b"x" * 1000


def test_many(server: TestServer, tmp_path: Path) -> None:
    urls = "".join(server.url(f"/bytes/{n % 50}?{n}\n") for n in range(1000))
    done = run("many", [str(tmp_path / "cache")], tmp_path, urls)
    assert (done.returncode, done.stdout) == (0, "1000 of 1000, 0 failed\n"), done.stderr
    done = run("many", [str(tmp_path / "cache")], tmp_path, server.url("/truncated") + "\nnonsense\n")
    assert done.returncode == 1
    assert "/truncated" in done.stderr
    assert "nonsense" in done.stderr


def test_mainloop(server: TestServer, tmp_path: Path) -> None:
    picture, nothing = server.url("/png/512/256"), server.url("/bytes/10")
    done = run("mainloop", [picture, nothing], tmp_path)
    assert done.returncode == 1
    assert f"{picture}: 256 x 128\n" in done.stdout
    assert done.stdout.count("\n") == 2


def test_site(server: TestServer, tmp_path: Path) -> None:
    done = run("site", [server.url("/"), "hazel", "echo", "headers?Cache-Control=max-age%3D60"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Bearer hazel" in done.stdout
    assert "application/json" in done.stdout
    again = run("site", [server.url("/"), "walnut", "headers?Cache-Control=max-age%3D60"], tmp_path)
    assert "(cached)" in again.stdout


def test_outbox(server: TestServer, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    server.on("/rows", ok("thanks"))
    url = server.url("/rows")
    assert run("outbox", [cache, "0", url, "now"], tmp_path).stdout == "200\n"
    server.go_down()
    kept = run("outbox", [cache, "0", url, "seeds"], tmp_path)
    assert kept.returncode == 0 and kept.stdout.startswith("can't be sent yet; kept in the outbox as 1")
    server.go_up()
    assert run("outbox", [cache, "5"], tmp_path).stdout == f"POST {url}: done\n"
    assert run("outbox", [cache, "0"], tmp_path).stdout == ""
    assert [request.body for request in server.requests("/rows")] == [b"now", b"seeds"]


def test_upload(server: TestServer, tmp_path: Path) -> None:
    server.on(
        "/a",
        answer(401, "who?", [("WWW-Authenticate", 'Digest realm="r", nonce="n", qop="auth"')]),
        ok("danke"),
    )
    (tmp_path / "nut.jpg").write_bytes(b"\xff\xd8" * 100_000)
    done = run("upload", [server.url("/a"), str(tmp_path / "nut.jpg"), "ann", "pw"], tmp_path)
    assert (done.returncode, done.stdout) == (0, "200 danke\n"), done.stderr
    sent = server.requests("/a")[-1]
    assert (sent.header("Authorization") or "").startswith('Digest username="ann"')
    assert b'name="picture"; filename="nut.jpg"\r\nContent-Type: image/jpeg\r\n\r\n\xff\xd8\xff' in sent.body
    refused = run("upload", [server.url("/status/413"), str(tmp_path / "nut.jpg")], tmp_path)
    assert (refused.returncode, refused.stdout[:4]) == (1, "413 ")
    missing = run("upload", [server.url("/a"), str(tmp_path / "missing")], tmp_path)
    assert missing.returncode == 1 and "missing can't be read" in missing.stderr


def test_signin(server: TestServer, tmp_path: Path) -> None:
    url = server.url("/basic-auth/u/p")
    done = run("signin", [url, "u", "p"], tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("200, "), done.stderr
    refused = run("signin", [url + "?2", "u", "wrong"], tmp_path)
    assert refused.returncode == 1
    server.on("/empty", ok(""))
    empty = run("signin", [server.url("/empty"), "u", "p"], tmp_path)
    assert (empty.returncode, empty.stdout) == (1, "")
    assert "an empty answer is none" in empty.stderr
