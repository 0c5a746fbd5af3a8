"""An answer that was downloaded but can't be decoded is remembered, too."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Tuple

import pytest
from command import Runner, lines, summary
from pictures import png
from testserver import TestServer, answer, ok

FRESH = [("Cache-Control", "max-age=600")]
TIFF = b"II*\x00\x08\x00\x00\x00" + bytes(range(256)) * 16
WHOLE = png(400, 300, seed=3)
BODIES = [
    ("not_an_image", b"<!doctype html><title>no picture</title>" + b" " * 3000, "text/html"),
    ("not_an_image", b"", "image/png"),
    ("unsupported_format", TIFF, "image/tiff"),
    ("truncated", WHOLE[:2000], "image/png"),
    ("corrupt", WHOLE[:500] + bytes(500) + WHOLE[1000:], "image/png"),
]


def run(nuthatch: Runner, urls: List[str], *arguments: str) -> Tuple[List[Dict[str, Any]], Dict[str, Any]]:
    done = nuthatch("prefetch", "--format=jsonl", *arguments, given=lines(urls))
    assert done.returncode in (0, 4), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], summary(done.stderr)


@pytest.mark.parametrize("keeping", ["yes", "no"])
@pytest.mark.parametrize("word,body,type", BODIES, ids=lambda value: str(value)[:20])
def test_an_undecodable_picture_is_downloaded_once(
    word: str, body: bytes, type: str, keeping: str, server: TestServer, nuthatch: Runner
) -> None:
    server.on("/a", ok(body, type, headers=FRESH))
    url = server.url("/a")
    (first,), told = run(nuthatch, [url], f"--keep-source={keeping}")
    assert (first["error"], first["is_in_cache"], first["attempts"]) == (word, False, 1)
    assert first["is_stored"]
    got = first["bytes"] or 0
    assert min(1, len(body)) <= got <= len(body) and told["bytes"] == got
    for size in ["--size=256", "--dry-run"]:
        (again,), told = run(nuthatch, [url], f"--keep-source={keeping}", size)
        assert server.count() == 1 and told["bytes"] == 0
    assert again["plan"] == "hit"
    (again,), told = run(nuthatch, [url], f"--keep-source={keeping}")
    assert (again["error"], again["message"]) == (word, first["message"])
    assert (again["is_in_cache"], again["is_stored"], again["attempts"]) == (True, True, 0)
    assert server.count() == 1
    explained = json.loads(nuthatch("explain", "--size=256", "--format=json", url).stdout)
    assert explained["prospect"] == "hit" and explained["undecodable"].startswith(word)
    assert nuthatch("verify").returncode == 0
    # Requests for the bytes get all of them.
    for _ in range(2):
        assert nuthatch("get", url).stdout == body
    (again,), told = run(nuthatch, [url], f"--keep-source={keeping}")
    assert again["error"] == word
    asked = server.count()
    run(nuthatch, [url], "--policy=reload")
    assert server.count() == asked + 1


def test_an_undecodable_answer_that_is_stale_is_revalidated(server: TestServer, nuthatch: Runner) -> None:
    old = [("Cache-Control", "max-age=0"), ("ETag", '"1"')]
    server.on("/a", ok(TIFF, "image/tiff", headers=old))
    url = server.url("/a")
    assert run(nuthatch, [url])[0][0]["error"] == "unsupported_format"
    server.on("/a", answer(304, headers=old))
    (again,), _ = run(nuthatch, [url])
    assert (again["error"], again["is_in_cache"]) == ("unsupported_format", True)
    assert server.requests("/a")[-1].header("If-None-Match") == '"1"'
    # A good picture that replaces it is decoded.
    server.on("/a", ok(png(30, 20), "image/png", headers=FRESH))
    (again,), _ = run(nuthatch, [url])
    assert (again["ok"], again["source"]) == (True, "network")


def test_a_picture_beyond_a_limit_is_fetched_again(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", ok(png(300, 200), "image/png", headers=FRESH))
    url = server.url("/a")
    assert run(nuthatch, [url], "--max-pixels=1000")[0][0]["error"] == "too_many_pixels"
    assert run(nuthatch, [url])[0][0]["ok"] is True


def test_a_page_instead_of_a_picture_is_not_remembered(server: TestServer, nuthatch: Runner) -> None:
    url = server.url("/a")
    server.on("/a", ok(png(30, 20), "image/png", headers=[("Cache-Control", "max-age=0")]))
    assert run(nuthatch, [url])[0][0]["ok"] is True
    server.on("/a", ok("<html>sign in first</html>", "text/html", headers=FRESH))
    assert run(nuthatch, [url])[0][0]["error"] == "not_an_image"
    server.on("/a", ok(png(30, 20), "image/png", headers=FRESH))
    assert run(nuthatch, [url])[0][0]["ok"] is True
