"""Answers that are saved while they come."""

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import List

import nuthatch
import pytest
from testserver import HEAD, Script, TestServer, body, chunk, ok, script

CONTENT = bytes(range(256)) * 2000


def test_several_sinks(server: TestServer, cache: nuthatch.Cache, tmp_path: Path) -> None:
    server.on("/a", ok(CONTENT))
    pieces: List[bytes] = []
    with open(tmp_path / "open", "wb") as opened:
        sinks = [tmp_path / "one", str(tmp_path / "two"), opened, pieces.append]
        response = cache.get(server.url("/a"), save_to=sinks)
    assert response.body == b"".join(pieces) == CONTENT
    assert [(tmp_path / name).read_bytes() == CONTENT for name in ("one", "two", "open")] == [True] * 3
    cache.get(server.url("/a"), save_to=tmp_path / "one", append=True)
    assert (tmp_path / "one").read_bytes() == CONTENT * 2


def test_into_memory(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok(CONTENT))
    memory = io.BytesIO()
    cache.get(server.url("/a"), save_to=[memory])
    assert memory.getvalue() == CONTENT


def test_larger_than_what_is_kept(server: TestServer, cache: nuthatch.Cache, tmp_path: Path) -> None:
    server.on("/a", ok(CONTENT))
    with nuthatch.Cache(tmp_path / "small", max_bytes=1000) as small:
        assert small.get(server.url("/a"), save_to=tmp_path / "one").body == b""
    with pytest.raises(nuthatch.TooLarge):
        cache.get(server.url("/a"), save_to=tmp_path / "two", max_bytes=1000)
    assert (tmp_path / "one").read_bytes() == CONTENT
    with pytest.raises(nuthatch.Error) as caught:
        cache.get(server.url("/a?full"), save_to="/dev/full")
    assert caught.value.code == "no_space"


def test_gone_on_with_by_another_cache(server: TestServer, cache: nuthatch.Cache, tmp_path: Path) -> None:
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


def test_gone_on_with_in_smaller_parts_than_asked_for(
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


def test_gone_on_with_in_parts_of_one_answer_only(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    broken_off(server, cache, tmp_path / "file")
    # Another answer in the middle: all of that one.
    server.on("/a", part(100_000, 200_000), part(200_000, 300_000, etag='"2"'), ok(b"other", etag='"2"'))
    assert cache.get(server.url("/a"), save_to=tmp_path / "file", retries=0).status == 200
    assert (tmp_path / "file").read_bytes() == b"other"
    assert [request.header("Range") for request in server.requests("/a")[1:]] == [
        "bytes=100000-",
        "bytes=200000-",
        None,
    ]


def test_gone_on_with_as_long_as_there_is_more(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    broken_off(server, cache, tmp_path / "file")
    # It gives what is there already, and nothing that isn't.
    server.on("/a", part(100_000, 200_000), part(100_000, 200_000))
    with pytest.raises(nuthatch.Error) as caught:
        cache.get(server.url("/a"), save_to=tmp_path / "file", retries=0)
    assert caught.value.code == "truncated" and len(server.requests("/a")) == 3
    # What there is of it is gone on with later.
    server.on("/a", ok(CONTENT, etag='"1"', ranges=True))
    cache.get(server.url("/a"), save_to=tmp_path / "file", retries=0)
    assert server.requests("/a")[-1].header("Range") == "bytes=200000-"
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_a_part_of_nobody_knows_how_much_is_not_taken_for_all(
    server: TestServer, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    server.on("/a", script(headers=[("ETag", '"1"')], steps=[HEAD, chunk(CONTENT[:100_000])]))
    with pytest.raises(nuthatch.Error):
        cache.get(server.url("/a"), save_to=tmp_path / "file", retries=0)
    server.on("/a", part(100_000, 200_000, total="*"), ok(CONTENT, etag='"1"'))
    cache.get(server.url("/a"), save_to=tmp_path / "file", retries=0)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_data_events(server: TestServer, cache: nuthatch.Cache) -> None:
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
    # What fits is saved.
    cache.get(url + "&small", save_to=os.path.join(folder, "new"))
print(sorted(os.listdir(folder)), open(os.path.join(folder, "old"), "rb").read() == before)
print(open(os.path.join(folder, "all"), "rb").read() == before, os.path.exists(sys.argv[2] + "-copy"))
"""


def test_a_disk_that_is_really_full(server: TestServer, tmp_path: Path) -> None:
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
