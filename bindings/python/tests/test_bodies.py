"""What is sent: bytes, files, forms, JSON."""

import email
import email.policy
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, List, Tuple

import nuthatch
import pytest
from testserver import Request, TestServer, body, ok, script


def parts(request: Request) -> List[Tuple[str, str, str, bytes]]:
    """Name, file name, type and bytes of each part of a form, as the standard library reads it."""
    head = f"Content-Type: {request.header('Content-Type')}\r\n\r\n".encode()
    message: Any = email.message_from_bytes(head + request.body, policy=email.policy.HTTP)
    return [
        (
            part.get_param("name", header="content-disposition"),
            part.get_filename() or "",
            part["Content-Type"] or "",
            part.get_payload(decode=True),
        )
        for part in message.iter_parts()
    ]


def test_plain_forms(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok("thanks"))
    cache.request("POST", server.url("/a"), form={"a b": "ü&", "c": ""})
    cache.request("POST", server.url("/a"), form=[("a", "1"), ("a", "2")], headers={"Content-Type": "x/y"})
    one, two = server.requests("/a")
    assert (one.body, one.header("Content-Type")) == (
        b"a+b=%C3%BC%26&c=",
        "application/x-www-form-urlencoded",
    )
    assert (two.body, two.values("Content-Type")) == (b"a=1&a=2", ["x/y"])


def test_multipart_forms(server: TestServer, cache: nuthatch.Cache, tmp_path: Path) -> None:
    server.on("/a", ok("thanks"))
    (tmp_path / "nut.jpg").write_bytes(b"\xff\xd8file")
    with open(tmp_path / "nut.jpg", "rb") as opened:
        cache.request(
            "POST",
            server.url("/a"),
            form={"title": "Grüße"},
            files=[
                ("path", tmp_path / "nut.jpg"),
                ("bytes", b"\x00\xff"),
                ("named", ("other.jpg", tmp_path / "nut.jpg", "image/jpeg")),
                ("open", opened),
                ("made", ("made.txt", io.BytesIO(b"made"))),
            ],
        )
    data = "application/octet-stream"
    assert parts(server.requests("/a")[0]) == [
        ("title", "", "", "Grüße".encode()),
        ("path", "nut.jpg", data, b"\xff\xd8file"),
        ("bytes", "bytes", data, b"\x00\xff"),
        ("named", "other.jpg", "image/jpeg", b"\xff\xd8file"),
        ("open", "nut.jpg", data, b"\xff\xd8file"),
        ("made", "made.txt", data, b"made"),
    ]


def test_files(server: TestServer, cache: nuthatch.Cache, tmp_path: Path) -> None:
    gate = server.gate("sent")
    server.on("/a", script(steps=[gate.step, body("thanks")]))
    (tmp_path / "file").write_bytes(b"nut" * 500_000)
    done = []
    ticket = cache.submit(server.url("/a"), method="PUT", body=tmp_path / "file", progress=True)
    for event in ticket.events(60):
        if event.is_upload:
            done.append((event.bytes_done, event.bytes_total))
            if event.bytes_done == 1_500_000:
                gate.open()
    assert ticket.result() is not None
    assert server.requests("/a")[0].body == b"nut" * 500_000
    assert done and all(total == 1_500_000 for _, total in done)
    with pytest.raises(nuthatch.Error) as caught:
        cache.request("PUT", server.url("/a"), body=tmp_path / "missing")
    assert caught.value.code == "io"
    with pytest.raises(nuthatch.Invalid):
        cache.request("POST", server.url("/a"), body=b"x", json=1)


GROWTH = """
import sys, pathlib, re, nuthatch
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text()).group(1))
with nuthatch.Cache(sys.argv[1]) as cache:
    cache.request("PUT", sys.argv[2], body=b"warm")
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    response = cache.request("PUT", sys.argv[2], **{sys.argv[3]: eval(sys.argv[4])})
    assert response.ok
    print(peak() - before)
"""


@pytest.mark.parametrize("kind", ["body", "files"])
def test_a_large_upload_needs_little_memory(server: TestServer, tmp_path: Path, kind: str) -> None:
    """NUTHATCH_LARGE_UPLOAD=200 for as many megabytes."""
    size = int(os.environ.get("NUTHATCH_LARGE_UPLOAD", "32")) << 20
    server.on("/a", ok("thanks"))
    with open(tmp_path / "large", "wb") as large:
        large.truncate(size)
    path = f"pathlib.Path({str(tmp_path / 'large')!r})"
    what = path if kind == "body" else f"{{'file': {path}}}"
    arguments = [sys.executable, "-c", GROWTH, str(tmp_path / "cache"), server.url("/a"), kind, what]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert server.requests("/a")[-1].header("Content-Length") >= str(size)
    kilobytes = int(done.stdout)
    print(f"{size >> 20} MB sent with {kilobytes} KB more than before")
    assert kilobytes < 8192


def test_a_server_that_is_killed_in_the_middle_of_an_upload(cache: nuthatch.Cache, tmp_path: Path) -> None:
    with open(tmp_path / "large", "wb") as large:
        large.truncate(256 << 20)
    for method in ("PUT", "POST"):
        with TestServer() as server:
            server.on("/a", ok("thanks"))
            ticket = cache.submit(
                server.url("/a"),
                method=method,
                body=tmp_path / "large",
                retries=1,
                progress=True,
                deadline=60,
            )
            for event in ticket.events(60):
                if event.is_upload and 0 < event.bytes_done < 256 << 20:
                    server.kill()
            with pytest.raises(nuthatch.TransportError) as caught:
                ticket.result()
            assert caught.value.code in ("reset", "refused")
            # What isn't safe to repeat has been sent once.
            assert caught.value.code == "reset" or method == "PUT"
