"""Answers that are saved while they come."""

from pathlib import Path
from typing import List

import nuthatch
import pytest
from testserver import TestServer, body, ok, script

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


def test_data_events(server: TestServer, cache: nuthatch.Cache) -> None:
    server.on("/a", ok(CONTENT))
    seen: List[bytes] = []
    ticket = cache.submit(server.url("/a"), save_to=lambda piece: None)
    for event in ticket.events(30):
        if event.kind == "data":
            seen.append(event.data)
            assert event.bytes_done == sum(map(len, seen))
    assert b"".join(seen) == CONTENT
