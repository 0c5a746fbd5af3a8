"""Bodies of requests: bytes, files, forms, JSON."""

import asyncio
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
from testserver import Request, TestServer, body, ok, script, wait


def parts(request: Request) -> List[Tuple[str, str, str, bytes]]:
    """Returns name, file name, type and bytes of each part of a form, read by the standard library."""
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


def test_a_form_is_sent_url_encoded(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok("thanks"))
    cache.request("POST", server.url("/a"), form={"a b": "ü&", "c": ""})
    cache.request("POST", server.url("/a"), form=[("a", "1"), ("a", "2")], headers={"Content-Type": "x/y"})
    one, two = server.requests("/a")
    assert (one.body, one.header("Content-Type")) == (
        b"a+b=%C3%BC%26&c=",
        "application/x-www-form-urlencoded",
    )
    assert (two.body, two.values("Content-Type")) == (b"a=1&a=2", ["x/y"])


def test_a_form_with_files_is_sent_as_multipart(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
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


def test_form_fields_that_are_none_are_left_out(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok("thanks"))
    form = {"a": None, "b": ["1", None, "2"], "c": "", "d": [None]}
    cache.request("POST", server.url("/a"), form=form)
    cache.request("POST", server.url("/a"), form=form, files={"f": b"x"})
    plain, whole = server.requests("/a")
    assert plain.body == b"b=1&b=2&c="
    assert [(name, data) for name, _, _, data in parts(whole)] == [
        ("b", b"1"), ("b", b"2"), ("c", b""), ("f", b"x"),
    ]  # fmt: skip


def test_a_value_that_json_can_not_hold_is_refused(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    round: List[Any] = []
    round.append(round)
    for value in (float("nan"), {"a": [float("inf")]}, -float("inf"), round):
        with pytest.raises(nuthatch.Invalid, match="json"):
            cache.request("POST", server.url("/a"), json=value)
        with pytest.raises(nuthatch.Invalid, match="json"):
            list(cache.prefetch([server.url("/a")], (), method="POST", json=value))

    async def main() -> None:
        async with nuthatch.AsyncCache(tmp_path / "other") as other:
            with pytest.raises(nuthatch.Invalid, match="json"):
                await other.request("POST", server.url("/a"), json=float("nan"))

    asyncio.run(main())
    assert server.count() == 0


class Once(io.RawIOBase):
    """A file that can be read but not rewound."""

    def __init__(self) -> None:
        self.left = [b"once", b""]

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self.left.pop(0)


def test_open_files_are_sent_again_from_their_first_position(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on("/a", ok("thanks"))
    (tmp_path / "nut").write_bytes(b"hazelnut")

    def sent() -> List[bytes]:
        return [parts(request)[0][3] for request in server.requests("/a")]

    with open(tmp_path / "nut", "rb") as opened:
        opened.seek(5)
        for files in ({"f": opened}, {"f": ("name", opened, "text/plain")}):
            opened.seek(5)
            ticket = cache.submit(server.url("/a"), method="POST", files=files)
            assert ticket.result().ok and ticket.resubmit().result().ok
        assert sent() == [b"nut"] * 4
        opened.seek(5)
        urls = [server.url("/a")] * 3
        assert [item.ok for item in cache.prefetch(urls, (), method="POST", files={"f": opened})] == [
            True
        ] * 3
        memory = io.BytesIO(b"seed")

        async def main() -> None:
            async with nuthatch.AsyncCache(tmp_path / "other") as other:
                ticket = other.submit(urls[0], method="POST", files={"f": memory})
                assert (await ticket).ok and (await ticket.resubmit()).ok
                options: Any = {"method": "POST", "files": {"f": opened}}
                opened.seek(5)
                assert [item.ok async for item in other.prefetch(urls, (), **options)] == [True] * 3

        asyncio.run(main())
        assert sent() == [b"nut"] * 7 + [b"seed"] * 2 + [b"nut"] * 3
        server.clear_log()
        closed = cache.submit(server.url("/a"), method="POST", files={"f": opened})
        assert closed.result().ok
    for ticket in (closed, cache.submit(server.url("/a"), method="POST", files={"f": Once()})):
        assert ticket.result().ok
        with pytest.raises(nuthatch.Invalid, match="read again"):
            ticket.resubmit()
    assert sent() == [b"", b"once"]


def test_files_are_sent_as_bodies_and_parts(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    gate = server.gate("sent")
    server.on("/a", script(steps=[gate.step, body("thanks")]))
    (tmp_path / "file").write_bytes(b"nut" * 500_000)
    done = []
    ticket = cache.submit(server.url("/a"), method="PUT", body=tmp_path / "file", progress_events=True)
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
    """NUTHATCH_LARGE_UPLOAD=200 uploads so many megabytes."""
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


def test_an_upload_to_a_killed_server_is_repeated_only_if_that_is_safe(
    cache: nuthatch.Cache, tmp_path: Path
) -> None:
    with open(tmp_path / "large", "wb") as large:
        large.truncate(256 << 20)
    for method in ("PUT", "POST"):
        with TestServer() as server:
            server.on("/a", script(steps=[wait("never"), body("thanks")]))
            ticket = cache.submit(
                server.url("/a"),
                method=method,
                body=tmp_path / "large",
                retries=1,
                progress_events=True,
                deadline=60,
            )
            for event in ticket.events(60):
                if event.is_upload and event.bytes_done > 0:
                    server.kill()
            with pytest.raises(nuthatch.TransportError) as caught:
                ticket.result()
            assert caught.value.code in ("reset", "refused")
            # A request that isn't safe to repeat was sent once.
            assert caught.value.code == "reset" or method == "PUT"
