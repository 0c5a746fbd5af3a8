"""Answers that are saved while they arrive."""

import asyncio
import bz2
import functools
import gc
import gzip
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, List

import nuthatch
import pytest
from testserver import HEAD, Script, TestServer, body, chunk, fill, ok, script

CONTENT = bytes(range(256)) * 2000


def test_an_answer_is_saved_to_several_places(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on("/a", ok(CONTENT))
    pieces: List[bytes] = []
    with open(tmp_path / "open", "wb") as opened:
        sinks = [tmp_path / "one", str(tmp_path / "two"), opened, pieces.append]
        response = cache.get(server.url("/a"), save_to=sinks)
    assert response.body == b"".join(pieces) == CONTENT
    assert [(tmp_path / name).read_bytes() == CONTENT for name in ("one", "two", "open")] == [True] * 3
    cache.get(server.url("/a"), save_to=tmp_path / "one", append=True)
    assert (tmp_path / "one").read_bytes() == CONTENT * 2


def test_an_answer_is_saved_to_a_file_in_memory(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok(CONTENT))
    memory = io.BytesIO()
    cache.get(server.url("/a"), save_to=[memory])
    assert memory.getvalue() == CONTENT


class Doubled(io.BufferedWriter):
    """A file object that changes the bytes."""

    def write(self, piece: Any) -> int:
        super().write(bytes(piece).upper())
        return len(piece)


def test_file_objects_that_change_bytes_get_them_by_write(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    """Bytes go to their ``write``, not directly to their descriptor."""
    content = b"seeds and nuts" * 50_000
    server.on("/a", ok(content))
    packed, other = gzip.open(tmp_path / "a.gz", "wb"), bz2.open(tmp_path / "a.bz2", "wb")  # noqa: SIM115
    with packed, other, Doubled(io.FileIO(tmp_path / "own", "w")) as own:
        response = cache.get(server.url("/a"), save_to=[packed, other, own])
    assert response.body == content
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == content
    assert bz2.decompress((tmp_path / "a.bz2").read_bytes()) == content
    assert (tmp_path / "own").read_bytes() == content.upper()

    async def main() -> None:
        async with nuthatch.AsyncCache(tmp_path / "other") as loops:
            with gzip.open(tmp_path / "b.gz", "wb") as packed:
                await loops.get(server.url("/a"), save_to=packed)

    asyncio.run(main())
    assert gzip.decompress((tmp_path / "b.gz").read_bytes()) == content


class Slow(io.RawIOBase):
    """A raw file that takes a part of the bytes at a time."""

    def __init__(self) -> None:
        self.content = b""

    def writable(self) -> bool:
        return True

    def write(self, piece: Any) -> int:
        self.content += bytes(piece[:700])
        return len(piece[:700])


def test_raw_files_get_the_rest_by_further_writes(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    content = b"seeds and nuts" * 50_000
    server.on("/a", ok(content))
    slow = Slow()
    cache.get(server.url("/a"), save_to=slow)
    assert slow.content == content

    async def main() -> None:
        async with nuthatch.AsyncCache(tmp_path / "other") as loops:
            await loops.get(server.url("/a"), save_to=other)

    other = Slow()
    asyncio.run(main())
    assert other.content == content


def test_plain_files_are_saved_to_by_their_descriptors(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on("/a", ok(CONTENT))
    names = ["plain", "both", "unbuffered"]
    plain, both = open(tmp_path / "plain", "wb"), open(tmp_path / "both", "w+b")  # noqa: SIM115
    with plain, both, open(tmp_path / "unbuffered", "wb", buffering=0) as unbuffered:
        files: List[Any] = [plain, both, unbuffered]
        for file in files:
            file.write(b"before ")
        ticket = cache.submit(server.url("/a"), save_to=files)
        assert [event.kind for event in ticket.events(60)] == ["fresh"]
    # Earlier writes come first.
    assert [(tmp_path / name).read_bytes() == b"before " + CONTENT for name in names] == [True] * 3


def test_files_that_are_opened_for_text_are_refused(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on("/a", ok(CONTENT))
    with open(tmp_path / "text", "w") as text, gzip.open(tmp_path / "packed", "wt") as packed:
        for file in (text, packed, io.StringIO()):
            for sink in (file, [tmp_path / "one", file]):
                with pytest.raises(TypeError, match="text"):
                    cache.get(server.url("/a"), save_to=sink)
    assert server.count() == 0 and (tmp_path / "text").read_bytes() == b""


class Later:
    """An object that returns an awaitable when it is called."""

    def __init__(self) -> None:
        self.pieces: List[bytes] = []

    async def __call__(self, piece: bytes) -> None:
        self.pieces.append(piece)

    async def method(self, piece: bytes) -> None:
        self.pieces.append(piece)


def test_async_functions_are_refused_without_an_event_loop(
    server: TestServer, cache: nuthatch.Cache, recwarn: pytest.WarningsRecorder
) -> None:
    server.on("/a", ok(CONTENT))
    later = Later()
    for taker in (later, later.method, [io.BytesIO(), later.method]):
        with pytest.raises(nuthatch.Invalid, match="async"):
            cache.get(server.url("/a"), save_to=taker)
        with pytest.raises(nuthatch.Invalid, match="async"):
            cache.submit(server.url("/a"), save_to=taker)
        with pytest.raises(nuthatch.Invalid, match="async"):
            list(cache.prefetch([server.url("/a")], (), save_to=taker))
    assert server.count() == 0
    # If a function is not recognizably async, the request ends with the first piece.
    hidden = functools.partial(later.method)
    ticket = cache.submit(server.url("/a"), save_to=lambda piece: later(piece))
    for _ in range(2):
        with pytest.raises(nuthatch.Invalid, match="async"):
            ticket.result(60)
    for call in (cache.get, lambda url, save_to: list(cache.prefetch([url], (), save_to=save_to))):
        with pytest.raises(nuthatch.Invalid, match="async"):
            call(server.url("/a"), save_to=lambda piece: hidden(piece))
    assert cache.wait_idle(60) and later.pieces == []
    del ticket
    gc.collect()
    assert [str(warning.message) for warning in recwarn if "never awaited" in str(warning.message)] == []


def test_a_saving_function_that_raises_ends_the_request(server: TestServer, cache: nuthatch.Cache) -> None:
    # More than may wait, so the rest has not come when the function raises.
    server.on("/a", script(steps=[fill(16 << 20)]))

    def fail(piece: bytes) -> None:
        raise LookupError("no room")

    ticket = cache.submit(server.url("/a"), save_to=fail)
    for _ in range(2):
        with pytest.raises(LookupError):
            ticket.result(60)
    assert ticket.state == "cancelled" and cache.wait_idle(60)


def test_prefetch_saves_to_functions_too(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok(CONTENT))
    pieces: List[bytes] = []
    memory = io.BytesIO()
    site = cache.site(server.url("/"))
    assert [item.ok for item in cache.prefetch([server.url("/a")], (), save_to=[pieces.append, memory])] == [
        True
    ]
    assert b"".join(pieces) == memory.getvalue() == CONTENT
    assert [item.ok for item in site.prefetch(["/a"], (), save_to=memory)] == [True]
    assert memory.getvalue() == CONTENT * 2

    def fail(piece: bytes) -> None:
        raise LookupError("no room")

    with pytest.raises(LookupError):
        list(cache.prefetch([server.url("/a")], (), save_to=fail))
    assert cache.wait_idle(60)


def test_a_body_larger_than_the_cache_is_saved(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on("/a", ok(CONTENT))
    with nuthatch.Cache(tmp_path / "small", max_bytes=1000) as small:
        assert small.get(server.url("/a"), save_to=tmp_path / "one").body == b""
    with pytest.raises(nuthatch.TooLarge):
        cache.get(server.url("/a"), save_to=tmp_path / "two", max_bytes=1000)
    assert (tmp_path / "one").read_bytes() == CONTENT
    with pytest.raises(nuthatch.Error) as caught:
        cache.get(server.url("/a?full"), save_to="/dev/full")
    assert caught.value.code == "no_space"


def test_another_cache_resumes_a_broken_download(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    head = [("ETag", '"1"'), ("Content-Length", str(len(CONTENT)))]
    server.on("/a", script(headers=head, steps=[body(CONTENT[:100_000])]))
    with pytest.raises(nuthatch.Error) as caught:
        cache.get(server.url("/a"), save_to=tmp_path / "file", retries=0)
    assert caught.value.code == "truncated" and not (tmp_path / "file").exists()
    server.on("/a", ok(CONTENT, etag='"1"', ranges=True))
    with nuthatch.Cache(tmp_path / "other") as other:
        assert other.get(server.url("/a"), save_to=tmp_path / "file").status == 200
    assert server.requests("/a")[-1].header("Range") == "bytes=100000-"
    assert (tmp_path / "file").read_bytes() == CONTENT


def part(first: int, end: int, total: str = str(len(CONTENT)), etag: str = '"1"') -> Script:
    head = [("ETag", etag), ("Content-Range", f"bytes {first}-{end - 1}/{total}")]
    return script(
        206, headers=[*head, ("Content-Length", str(end - first))], steps=[body(CONTENT[first:end])]
    )


def broken_off(server: TestServer, cache: nuthatch.Cache, path: Path) -> None:
    head = [("ETag", '"1"'), ("Content-Length", str(len(CONTENT)))]
    server.on("/a", script(headers=head, steps=[body(CONTENT[:100_000])]))
    with pytest.raises(nuthatch.Error):
        cache.get(server.url("/a"), save_to=path, retries=0)


def test_a_download_resumes_with_smaller_ranges_than_requested(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    broken_off(server, cache, tmp_path / "file")
    places = [100_000, 250_000, 250_001, len(CONTENT)]
    server.on("/a", *(part(*both) for both in zip(places, places[1:])))
    assert cache.get(server.url("/a"), save_to=tmp_path / "file", retries=0).status == 200
    sent = server.requests("/a")[1:]
    assert [request.header("Range") for request in sent] == [f"bytes={place}-" for place in places[:-1]]
    assert {request.header("If-Range") for request in sent} == {'"1"'}
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_download_resumes_only_with_parts_of_the_same_answer(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    broken_off(server, cache, tmp_path / "file")
    # Another answer comes in the middle. Then all of it is fetched.
    server.on("/a", part(100_000, 200_000), part(200_000, 300_000, etag='"2"'), ok(b"other", etag='"2"'))
    assert cache.get(server.url("/a"), save_to=tmp_path / "file", retries=0).status == 200
    assert (tmp_path / "file").read_bytes() == b"other"
    assert [request.header("Range") for request in server.requests("/a")[1:]] == [
        "bytes=100000-",
        "bytes=200000-",
        None,
    ]


def test_a_download_resumes_while_each_answer_brings_more(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    broken_off(server, cache, tmp_path / "file")
    # The server returns bytes that are there already, and no new ones.
    server.on("/a", part(100_000, 200_000), part(100_000, 200_000))
    with pytest.raises(nuthatch.Error) as caught:
        cache.get(server.url("/a"), save_to=tmp_path / "file", retries=0)
    assert caught.value.code == "truncated" and len(server.requests("/a")) == 3
    # The received part can be resumed later.
    server.on("/a", ok(CONTENT, etag='"1"', ranges=True))
    cache.get(server.url("/a"), save_to=tmp_path / "file", retries=0)
    assert server.requests("/a")[-1].header("Range") == "bytes=200000-"
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_range_of_unknown_total_length_is_not_a_whole_answer(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on("/a", script(headers=[("ETag", '"1"')], steps=[HEAD, chunk(CONTENT[:100_000])]))
    with pytest.raises(nuthatch.Error):
        cache.get(server.url("/a"), save_to=tmp_path / "file", retries=0)
    server.on("/a", part(100_000, 200_000, total="*"), ok(CONTENT, etag='"1"'))
    cache.get(server.url("/a"), save_to=tmp_path / "file", retries=0)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_data_events_have_the_pieces_of_the_body(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok(CONTENT))
    seen: List[bytes] = []
    ticket = cache.submit(server.url("/a"), save_to=lambda piece: None)
    for event in ticket.events(30):
        if event.kind == "data":
            seen.append(event.data)
            assert event.bytes_done == sum(map(len, seen))
    assert b"".join(seen) == CONTENT


FULL = """
import os, subprocess, sys, nuthatch
folder, cache, url = sys.argv[1:]
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", folder]).returncode != 0:
    sys.exit(77)
before = b"before" * 1000
for name in ("old", "all"):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(before)
with nuthatch.Cache(cache) as cache:
    for name, append, sinks in [("new", 0, []), ("old", 0, []), ("all", 1, []), ("copy", 0, [sys.argv[2] + "-copy"])]:
        try:
            cache.get(url, save_to=[*sinks, os.path.join(folder, name)], append=bool(append))
        except nuthatch.Error as error:
            print(error.code, "full" in str(error) or "space" in str(error), sorted(os.listdir(folder)))
    # The part that fits is saved.
    cache.get(url + "&small", save_to=os.path.join(folder, "new"))
print(sorted(os.listdir(folder)), open(os.path.join(folder, "old"), "rb").read() == before)
print(open(os.path.join(folder, "all"), "rb").read() == before, os.path.exists(sys.argv[2] + "-copy"))
"""


def test_a_download_to_a_full_disk_fails_and_keeps_its_part(server: TestServer, tmp_path: Path) -> None:
    server.on("/a?x", ok(CONTENT))
    server.on("/a?x&small", ok(b"small"))
    (tmp_path / "disk").mkdir()
    inside = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    arguments = [str(tmp_path / "disk"), str(tmp_path / "cache"), server.url("/a?x")]
    done = subprocess.run(
        [*inside, sys.executable, "-c", FULL, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip("no file system can be mounted here")
    assert done.returncode == 0, done.stderr
    told = "no_space True ['all', 'old']\n"
    assert done.stdout == told * 4 + "['all', 'new', 'old'] True\nTrue False\n"


def test_a_saved_body_that_expands_a_thousandfold_is_too_large(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    headers = [("Content-Encoding", "gzip")]
    server.on("/bomb", ok(gzip.compress(bytes(100 << 20), 9), headers=headers))
    pieces: List[int] = []
    for sink in (tmp_path / "file", lambda piece: pieces.append(len(piece))):
        with pytest.raises(nuthatch.Error, match="expands too much: ") as caught:
            cache.get(server.url("/bomb"), save_to=sink)
        assert caught.value.code == "too_large"
    assert sum(pieces) <= 65 << 20
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []
    cache.get(server.url("/bomb"), save_to=tmp_path / "file", max_bytes=100 << 20)
    assert (tmp_path / "file").stat().st_size == 100 << 20
