"""What a cache holds: stat, ls, explain, rm, verify, trim, clear, export."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from command import Runner, names
from pictures import png
from testserver import TestServer, ok


@pytest.fixture
def urls(server: TestServer, nuthatch: Runner) -> list[str]:
    server.on("/a", ok(png(300, 200, seed=1), "image/png", etag='"1"'))
    server.on("/b", ok(png(40, 30, seed=2), "image/png", headers=[("Cache-Control", "max-age=0")]))
    urls = [server.url("/a"), server.url("/b")]
    assert nuthatch("prefetch", "-s64", given="\n".join(urls).encode()).returncode == 0
    return urls


def parsed(nuthatch: Runner, *arguments: str) -> Any:
    done = nuthatch(*arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_stat(urls: list[str], nuthatch: Runner) -> None:
    found = parsed(nuthatch, "stat")
    assert (found["answers"], found["fresh"]) == (2, 1)
    assert (found["originals"], found["thumbnails"]) == (2, 2)
    assert 0 < found["disk_bytes"] < found["disk_limit"] == 4 << 30
    assert b"thumbnails  2\n" in nuthatch("stat").stdout


def test_ls(urls: list[str], nuthatch: Runner) -> None:
    found = sorted(parsed(nuthatch, "ls"), key=lambda answer: answer["url"])
    assert [answer["url"] for answer in found] == urls
    assert [answer["fresh"] for answer in found] == [True, False]
    assert [answer["rule"] for answer in found] == ["validator", "max-age"]
    text = nuthatch("ls").stdout.decode()
    assert f"image/png  {urls[0]}\n" in text and len(text.splitlines()) == 2
    assert parsed(nuthatch, "ls", "--cache=empty") == []


def test_explain(urls: list[str], nuthatch: Runner) -> None:
    hit = parsed(nuthatch, "explain", urls[0], "--size=64")
    assert (hit["prospect"], hit["rule"], hit["lifetime"]) == ("hit", "validator", 86400)
    assert hit["thumbs"][0] | {"bytes": 0} == {"width": 64, "height": 43, "form": "raw", "bytes": 0}
    assert hit["fresh_until"] == pytest.approx(hit["stored_at"] + 86400, abs=5)
    other = parsed(nuthatch, "explain", urls[0], "--size=65")
    assert (other["prospect"], other["has_body"], other["thumbs"]) == ("hit", True, [])
    assert parsed(nuthatch, "explain", urls[1])["prospect"] == "revalidate"
    assert parsed(nuthatch, "explain", urls[1], "--policy=offline")["prospect"] == "hit"
    none = parsed(nuthatch, "explain", urls[0] + "?x")
    assert (none["prospect"], none["stored"]) == ("fetch", False)
    assert nuthatch("explain", urls[1]).stdout.startswith(b"revalidate: stale; the server is asked")
    assert nuthatch("explain", "ftp://x").returncode == 2


def test_rm_and_clear(urls: list[str], nuthatch: Runner) -> None:
    assert nuthatch("rm", urls[1]).returncode == 0
    assert [answer["url"] for answer in parsed(nuthatch, "ls")] == urls[:1]
    assert nuthatch("clear").returncode == 0
    assert parsed(nuthatch, "ls") == [] and parsed(nuthatch, "stat")["thumbnails"] == 0


def test_verify(urls: list[str], nuthatch: Runner, tmp_path: Path) -> None:
    assert parsed(nuthatch, "verify")["intact"] >= 6
    [bulk] = [
        path
        for path in (tmp_path / "cache" / "packs").iterdir()
        if png(300, 200, seed=1) in path.read_bytes()
    ]
    whole = bulk.read_bytes()
    place = whole.index(png(300, 200, seed=1))
    with bulk.open("r+b") as pack:
        pack.seek(place + 100)
        pack.write(b"damage")
    found = nuthatch("verify")
    assert found.returncode == 4 and b"1 damaged and taken out" in found.stdout
    assert nuthatch("verify").returncode == 0


def test_trim(urls: list[str], nuthatch: Runner) -> None:
    assert b"left on disk" in nuthatch("trim").stdout
    assert len(parsed(nuthatch, "ls")) == 2
    assert nuthatch("trim", "--to=1").returncode == 0
    assert parsed(nuthatch, "stat")["thumbnails"] == 0


def test_export(urls: list[str], server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    asked = server.count()
    (tmp_path / "list").write_text("\n".join([*urls, server.url("/missing")]))
    done = nuthatch("export", "out", "list", "-s64,20")
    assert (done.returncode, done.stdout) == (4, b"4 files, 1 URLs not in the cache\n")
    files = ["00000000-20.jpg", "00000000-64.jpg", "00000001-20.jpg", "00000001-64.jpg"]
    assert names(tmp_path / "out") == [*files, "manifest.jsonl"]
    lines = [json.loads(line) for line in (tmp_path / "out" / "manifest.jsonl").read_text().splitlines()]
    assert lines[0] == {"file": files[1], "url": urls[0], "index": 0, "width": 64, "height": 43}
    assert (lines[-1]["index"], lines[-1]["error"]) == (2, "offline")
    done = nuthatch("export", "all", "--as=png", "--name", "hash", "--size=64")
    assert done.returncode == 0
    hashes = sorted(hashlib.sha256(url.encode()).hexdigest() + ".png" for url in urls)
    assert names(tmp_path / "all") == [*hashes, "manifest.jsonl"]
    assert server.count() == asked


@pytest.mark.parametrize(
    "line, hint",
    [
        ("stat x", "takes no arguments"),
        ("ls --format xml", "is none of json, text"),
        ("explain", "exactly one URL"),
        ("rm", "at least one URL"),
        ("export", "a directory is needed"),
        ("export out missing", "missing can't be read"),
        ("trim --to all", "not a number of bytes"),
    ],
)
def test_wrong_usage(line: str, hint: str, nuthatch: Runner) -> None:
    done = nuthatch(*line.split())
    assert (done.returncode, hint in done.stderr.decode()) == (2, True)


def test_every_command_has_help_with_examples(nuthatch: Runner) -> None:
    for name in ["prefetch", "get", "stat", "ls", "explain", "rm", "verify", "trim", "clear", "export"]:
        page = nuthatch("help", name).stdout.decode()
        assert f"Usage: nuthatch {name} " in page and f"Examples:\n  nuthatch {name}" in page, name
