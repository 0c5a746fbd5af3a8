"""The test server for Python tests."""

from __future__ import annotations

import http.client
import json
import socket
import struct
import subprocess
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pictures import pixel, png
from testserver import (
    HEAD,
    RESET,
    TestServer,
    answer,
    body,
    chunked,
    executable,
    fill,
    interim,
    ok,
    redirect,
    script,
    truncated,
)


@pytest.fixture(scope="module")
def process() -> Iterator[TestServer]:
    with TestServer() as server:
        yield server


@pytest.fixture
def server(process: TestServer) -> TestServer:
    process.reset()
    return process


def fetch(
    server: TestServer, path: str, method: str = "GET", content: Any = None, **headers: str
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, content, names)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_the_server_answers_and_logs_requests(server: TestServer) -> None:
    picture = png(32, 24)
    server.on("/a.png", ok(picture, "image/png", etag='"1"', ranges=True))
    assert fetch(server, "/a.png") == (200, picture)
    assert fetch(server, "/a.png", If_None_Match='"1"') == (304, b"")
    assert fetch(server, "/a.png", Range="bytes=1-3") == (206, b"PNG")
    assert fetch(server, "/a.png?q", "POST", b"\xff\x00") == (200, picture)
    assert server.count("/a.png") == 4 and server.count("/a.png?q") == 1 and server.count() == 4
    first, *_, last = server.requests("/a.png")
    assert (first.method, first.target, first.number, first.outcome) == ("GET", "/a.png", 1, "answered")
    assert (last.body, last.query, last.header("content-length")) == (b"\xff\x00", "q", "2")
    assert server.counts()["connections"] == server.counts()["accepted"] == 4
    assert server.high_water() == server.high_water(f"127.0.0.1:{server.port}") == 1


def test_the_server_gives_scripts_in_order(server: TestServer) -> None:
    server.on("/a", answer(503), redirect("/b"), chunked(["one", b"two"]))
    answers = [fetch(server, "/a") for _ in range(4)]
    assert answers == [(503, b""), (302, b""), (200, b"onetwo"), (200, b"onetwo")]
    server.on_prefix("/p/", answer(500), ok("later"))
    assert [fetch(server, f"/p/{name}") for name in "ab"] == [(500, b""), (200, b"later")]
    server.off("/a")
    assert fetch(server, "/a")[0] == 404


def test_the_server_makes_faults(server: TestServer) -> None:
    server.on("/cut", truncated(100, "some"))
    with pytest.raises(http.client.IncompleteRead):
        fetch(server, "/cut")
    server.on("/reset", script(headers=[("Content-Length", "9")], steps=[HEAD, body("some"), RESET]))
    with pytest.raises(ConnectionResetError):
        fetch(server, "/reset")
    server.reset_connections(1)
    with pytest.raises(ConnectionError):
        fetch(server, "/cut")
    server.on("/hint", ok("x", before=[interim(103, [("Link", "</x>")])]))
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
        client.sendall(b"GET /hint HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        received = client.makefile("rb").read()
    assert received.startswith(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200")


def test_the_server_waits_at_gates(server: TestServer) -> None:
    gate = server.gate("g")
    server.on("/a", script(steps=[fill(3, 65), gate.step, body("end")]))
    answers: list[tuple[int, bytes]] = []
    threads = [threading.Thread(target=lambda: answers.append(fetch(server, "/a"))) for _ in range(5)]
    for thread in threads:
        thread.start()
    assert gate.wait_until_reached(5)
    assert (gate.waiting, server.counts()["underWay"], server.high_water(), answers) == (5, 5, 5, [])
    gate.admit(2)
    assert server.wait_for_answers(2, "/a")
    gate.open()
    for thread in threads:
        thread.join()
    assert answers == [(200, b"AAAend")] * 5
    assert server.wait_for_requests(5) and server.wait_until_idle()
    assert not server.wait_for_requests(6, seconds=0.01)


def test_the_server_notices_a_client_that_leaves(server: TestServer) -> None:
    gate = server.gate("g")
    server.on("/a", script(steps=[gate.step, body("never")]))
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"GET /a HTTP/1.1\r\n\r\n")
        assert gate.wait_until_reached()
    assert server.wait_for_disconnect(path="/a")
    assert server.requests("/a")[0].outcome == "clientLeft"


def test_the_server_goes_down_and_up(server: TestServer) -> None:
    server.on("/a", ok("x"))
    assert fetch(server, "/a") == (200, b"x")
    server.go_down()
    with pytest.raises(ConnectionRefusedError):
        fetch(server, "/a")
    server.go_up()
    assert fetch(server, "/a") == (200, b"x")


def test_the_server_echoes_requests_and_reports_errors(server: TestServer) -> None:
    server.echo("/e")
    seen: dict[str, Any] = json.loads(fetch(server, "/e?x=1", "PUT", b"text", X_Name="value")[1])
    assert (seen["method"], seen["query"], seen["body"]) == ("PUT", "x=1", "text")
    assert ["X-Name", "value"] in seen["headers"]
    with pytest.raises(ValueError, match="needed"):
        server.call("on", {"path": "/a"})
    with pytest.raises(ValueError):
        server.on("/a", {"steps": ["nonsense"]})


def test_the_server_serves_a_folder_and_writes_its_urls(tmp_path: Path) -> None:
    (tmp_path / "b.png").write_bytes(png(3, 2))
    (tmp_path / "a b.png").write_bytes(png(2, 3))
    (tmp_path / "notes.txt").write_text("text")
    urls = tmp_path / "urls"
    with TestServer("--folder", str(tmp_path), "--urls", str(urls)) as server:
        expected = [server.url("/files/a%20b.png"), server.url("/files/b.png")]
        assert urls.read_text().splitlines() == expected
        assert fetch(server, "/files/")[1].decode().splitlines() == expected
        assert fetch(server, "/files/b.png") == (200, png(3, 2))
        server.serve(tmp_path, "/again/")
        assert fetch(server, "/again/notes.txt") == (200, b"text")


def test_the_server_ends_with_its_standard_input() -> None:
    process = subprocess.Popen([executable()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline().startswith("http://127.0.0.1:")
    assert process.communicate(timeout=60)[0] == ""
    assert process.returncode == 0
    refused = subprocess.run([executable(), "--nonsense"], capture_output=True, text=True)
    assert refused.returncode == 2 and "--nonsense" in refused.stderr
    told = subprocess.run([executable(), "--help"], capture_output=True, text=True)
    assert told.returncode == 0 and "/_control/on" in told.stdout


@pytest.mark.parametrize("mode,channels", [("grey", 1), ("rgb", 3), ("grey+alpha", 2), ("rgba", 4)])
def test_made_pictures_are_valid(mode: str, channels: int) -> None:
    content = png(20, 10, mode=mode)
    chunks: dict[bytes, bytes] = {}
    place = 8
    while place < len(content):
        (size,) = struct.unpack_from(">I", content, place)
        name, value = content[place + 4 : place + 8], content[place + 8 : place + 8 + size]
        assert struct.unpack_from(">I", content, place + 8 + size)[0] == zlib.crc32(name + value)
        chunks[name] = value
        place += size + 12
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    rows = zlib.decompress(chunks[b"IDAT"])
    assert len(rows) == 10 * (20 * channels + 1)
    if mode == "rgba":
        assert tuple(rows[1 + 19 * 4 : 1 + 20 * 4]) == pixel(19, 0, 20, 10)
    assert png(20, 10, mode=mode, seed=1) != content
