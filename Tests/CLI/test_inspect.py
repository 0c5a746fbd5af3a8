"""Commands for a cache: stat, ls, explain, rm, verify, trim, clear, export."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from command import COMMAND, ROOT, Runner, heed_signals, names
from pictures import png
from testserver import TestServer, ok


@pytest.fixture
def urls(server: TestServer, nuthatch: Runner) -> list[str]:
    server.on("/a", ok(png(300, 200, seed=1), "image/png", etag='"1"'))
    server.on("/b", ok(png(40, 30, seed=2), "image/png", headers=[("Cache-Control", "max-age=0")]))
    urls = [server.url("/a"), server.url("/b")]
    assert nuthatch("prefetch", "-s64", given="\n".join(urls).encode()).returncode == 0
    return urls


def parsed(nuthatch: Runner, *arguments: str, given_exit: int = 0) -> Any:
    done = nuthatch(*arguments, "--format", "json")
    assert done.returncode == given_exit, done.stderr
    return json.loads(done.stdout)


def test_stat_shows_the_figures_of_the_cache(urls: list[str], nuthatch: Runner) -> None:
    found = parsed(nuthatch, "stat")
    assert (found["answers"], found["fresh"]) == (2, 1)
    assert (found["originals"], found["thumbnails"]) == (2, 2)
    assert 0 < found["disk_bytes"] < found["disk_limit"] == 4 << 30
    assert b"thumbnails  2\n" in nuthatch("stat").stdout
    assert b"answers     2, 1 of them fresh\n" in nuthatch("stat").stdout


def test_stat_reads_the_same_amount_of_a_large_cache(
    server: TestServer, nuthatch: Runner, environment: dict[str, str], tmp_path: Path
) -> None:
    """Counts system calls and pages, so that a slow machine doesn't matter."""
    server.on_prefix("/p", ok(png(8, 8), "image/png"))

    def filled(count: int) -> dict[str, str]:
        env = {**environment, "NUTHATCH_CACHE": str(tmp_path / str(count))}
        given = "".join(server.url(f"/p{number}") + "\n" for number in range(count)).encode()
        assert nuthatch("prefetch", "-s8", given=given, **env).returncode == 0
        return env

    def cost(env: dict[str, str], *options: str) -> tuple[int, int]:
        """Returns the system calls and the touched pages of a command."""
        trace = tmp_path / "trace"
        done = subprocess.run(
            ["strace", "-f", "-o", str(trace), COMMAND, "stat", "--format=json", *options],
            env=env,
            capture_output=True,
            check=True,
        )
        calls = len(trace.read_text().splitlines())
        child = subprocess.Popen([COMMAND, "stat", *options], env=env, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        assert status == 0 and json.loads(done.stdout)["records"] > 200
        return calls, usage.ru_minflt + usage.ru_majflt

    few, many = filled(200), filled(6000)
    (calls, pages), (more_calls, more_pages) = cost(few), cost(many)
    assert more_calls < 2000 and more_calls < calls + 100 and more_pages < pages + 60
    assert cost(many, "--count")[0] > 6000, "what this test would see"
    found = json.loads(nuthatch("stat", "--format=json", **many).stdout)
    assert (found["answers"], found["fresh"]) == (None, None)
    # The answers, the body and the thumbnail; a list of sizes, if two answers came at the same moment.
    assert found["records"] in (6002, 6003)
    found = json.loads(nuthatch("stat", "--format=json", "--count", **many).stdout)
    assert (found["answers"], found["fresh"]) == (6000, 6000)
    assert b"answers     not counted; --count counts them\n" in nuthatch("stat", **many).stdout


def test_ls_lists_all_answers(urls: list[str], nuthatch: Runner) -> None:
    found = sorted(parsed(nuthatch, "ls"), key=lambda answer: answer["url"])
    assert [answer["url"] for answer in found] == urls
    assert [answer["fresh"] for answer in found] == [True, False]
    assert [answer["rule"] for answer in found] == ["validator", "max-age"]
    text = nuthatch("ls").stdout.decode()
    assert f"image/png  {urls[0]}\n" in text and len(text.splitlines()) == 2
    assert parsed(nuthatch, "ls", "--cache=empty") == []
    lines = nuthatch("ls", "--format=jsonl").stdout.splitlines()
    again = sorted((json.loads(line) for line in lines), key=lambda answer: answer["url"])
    moving = {"age": 0, "fresh_until": 0}
    assert [answer | moving for answer in again] == [answer | moving for answer in found]


def test_explain_says_whether_a_url_would_hit_and_why(urls: list[str], nuthatch: Runner) -> None:
    hit = parsed(nuthatch, "explain", urls[0], "--size=64")
    assert (hit["prospect"], hit["rule"], hit["lifetime"]) == ("hit", "validator", 86400)
    assert hit["thumbs"][0] | {"bytes": 0} == {"width": 64, "height": 43, "form": "raw", "bytes": 0}
    assert hit["fresh_until"] == pytest.approx(hit["stored_at"] + 86400, abs=5)
    assert hit["has_body"], "it is there, though the thumbnails are enough"
    text = nuthatch("explain", urls[0], "--size=64", TZ="UTC").stdout.decode()
    until = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(hit["fresh_until"]))[:15]
    assert f"fresh     until {until}" in text and "original  stored" in text
    assert "rule      validator (a picture with ETag" in text
    source = {"format": "png", "is_animated": False, "frame_count": 1, "depth": 8}
    assert "picture   png, 8 bits a channel" in text
    # Thumbnails say it; without them, the original does.
    for size in (["--size=64"], ["--size=65"], []):
        assert source.items() <= parsed(nuthatch, "explain", urls[0], *size).items()
    other = parsed(nuthatch, "explain", urls[0], "--size=65")
    assert (other["prospect"], other["has_body"], other["thumbs"]) == ("hit", True, [])
    assert parsed(nuthatch, "explain", urls[1])["prospect"] == "revalidate"
    assert parsed(nuthatch, "explain", urls[1], "--policy=offline")["prospect"] == "hit"
    assert nuthatch("explain", urls[1], "--policy=offline").stdout.startswith(b"hit: stale, but good enough")
    none = parsed(nuthatch, "explain", urls[0] + "?x")
    assert (none["prospect"], none["stored"], none["reason"]) == ("fetch", False, "nothing is stored")
    away = parsed(nuthatch, "explain", urls[0] + "?x", "--policy=offline")
    assert (away["prospect"], away["refusal"], away["stored"]) == ("refuse", "offline", False)
    assert nuthatch("explain", urls[0] + "?x", "--policy=offline").stdout.startswith(
        b"refuse: nothing is stored for http"
    )
    assert nuthatch("explain", urls[1]).stdout.startswith(b"revalidate: stale; the server is asked")
    assert nuthatch("explain", "ftp://x").returncode == 2


def test_explain_takes_the_options_of_prefetch_and_get(server: TestServer, nuthatch: Runner) -> None:
    url = server.url("/basic-auth/me/pa:ss")
    refused = nuthatch("prefetch", "--retries=0", given=url.encode())
    assert b"HTTP 401" in refused.stderr
    # With credentials, the answer is text, not a picture.
    assert b"not_an_image" in nuthatch("prefetch", "--user=me:pa:ss", given=url.encode()).stderr
    server.on("/a", ok(png(8, 8), "image/png"))
    for options, word in [(["--addresses=public"], b"denied"), (["--addresses", "any"], b"1 fetched")]:
        done = nuthatch("prefetch", *options, given=server.url("/a").encode())
        assert word in done.stdout + done.stderr
    assert nuthatch(
        "prefetch", "--image-ttl=0", "--dry-run", given=server.url("/a").encode()
    ).stdout.startswith(b"1 URL: 0 would hit, 1 would be revalidated")


def test_text_of_a_server_can_not_control_the_terminal(server: TestServer, nuthatch: Runner) -> None:
    path, hostile = "/hostile", "image/png\x1b]0;owned\x07\x1b[31m"
    server.on(
        path, ok(png(20, 20), hostile, headers=[("Vary", "Accept\x1b[2J"), ("Cache-Control", "max-age=60")])
    )
    url = server.url(path)
    assert nuthatch("get", url, "--cache-key", "na\x1bme", "-o", "a.png").returncode == 0
    assert nuthatch("prefetch", given=url.encode()).returncode == 0
    for arguments in (
        ["ls"],
        ["explain", url],
        ["explain", "--cache-key", "na\x1bme", url],
        ["prefetch", "--dry-run"],
    ):
        done = nuthatch(*arguments, given=url.encode())
        assert done.returncode == 0 and b"\x1b" not in done.stdout + done.stderr, done
    assert "image/png\\u{1B}]0;owned\\u{07}" in nuthatch("ls").stdout.decode()
    assert parsed(nuthatch, "ls", "--format=json")[0]["content_type"] == hostile


def test_rm_removes_urls_and_clear_removes_everything(urls: list[str], nuthatch: Runner) -> None:
    done = nuthatch("rm", urls[1], urls[1] + "?", "--format=json")
    assert done.returncode == 4 and json.loads(done.stdout) == [
        {"url": urls[1], "was_stored": True, "removed": 1},
        {"url": urls[1] + "?", "was_stored": False, "removed": 0},
    ]
    assert [answer["url"] for answer in parsed(nuthatch, "ls")] == urls[:1]
    room = parsed(nuthatch, "clear")
    assert room["freed_bytes"] > 0 and set(room) == {"freed_bytes", "disk_bytes", "disk_limit"}
    assert b"freed" in nuthatch("clear").stdout
    assert parsed(nuthatch, "ls") == [] and parsed(nuthatch, "stat")["thumbnails"] == 0


def test_rm_removes_the_answers_for_all_callers_unless_options_narrow_it(
    server: TestServer, nuthatch: Runner
) -> None:
    server.on("/a", ok(png(90, 60, seed=1), "image/png", headers=[("Cache-Control", "max-age=600")]))
    url = server.url("/a?b=1")
    ways = [[], ["-u", "ann:pw"], ["--partition=p"], ["--cache-key=name-{}"], ["--ignore-query"]]
    for way in ways:
        assert nuthatch("prefetch", "-s8", *way, given=url.encode()).returncode == 0
        assert parsed(nuthatch, "explain", "-s8", *way, url)["prospect"] == "hit"
    done = nuthatch("rm", "-u", "ann:pw", url)
    assert done.returncode == 0 and done.stdout == b"removed 1 answer\n"
    assert parsed(nuthatch, "explain", "-s8", url)["prospect"] == "hit"
    assert nuthatch("export", "out", "-", "-s8", "-u", "ann:pw", given=url.encode()).returncode == 4
    done = nuthatch("rm", url)
    assert done.returncode == 0 and done.stdout == b"removed 4 answers\n"
    for way in ways:
        assert parsed(nuthatch, "explain", "-s8", *way, url)["prospect"] == "fetch", way
    done = nuthatch("rm", url)
    assert done.returncode == 4 and b"nothing is stored for" in done.stderr


def test_rm_with_a_bad_url_removes_nothing(urls: list[str], nuthatch: Runner) -> None:
    done = nuthatch("rm", *urls, "no url")
    assert done.returncode == 2 and b"bad_url" in done.stderr
    assert sorted(answer["url"] for answer in parsed(nuthatch, "ls")) == urls


def test_verify_removes_damaged_records(urls: list[str], nuthatch: Runner, tmp_path: Path) -> None:
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
    assert found.returncode == 4 and b"1 damaged and removed" in found.stdout
    assert nuthatch("verify").returncode == 0


def test_verify_removes_index_entries_without_a_record(
    urls: list[str], nuthatch: Runner, tmp_path: Path
) -> None:
    """As after power loss, or in an incomplete copy: zeros instead of records."""
    count = parsed(nuthatch, "verify")["intact"]
    for path in (tmp_path / "cache" / "packs").iterdir():
        size = path.stat().st_size
        os.truncate(path, 64)
        os.truncate(path, size)
    found = parsed(nuthatch, "verify", given_exit=4)
    assert (found["intact"], found["damaged"], found["gaps"]) == (0, count, 0)
    assert parsed(nuthatch, "stat")["records"] == 0
    assert parsed(nuthatch, "verify")["damaged"] == 0
    assert nuthatch("prefetch", "-s64", given="\n".join(urls).encode()).returncode == 0
    assert parsed(nuthatch, "verify")["intact"] > 0


def test_verify_names_damaged_packs(urls: list[str], nuthatch: Runner, tmp_path: Path) -> None:
    packs = tmp_path / "cache" / "packs"
    assert parsed(nuthatch, "verify")["troubled"] == []
    (packs / "00000077.pack").write_bytes(b"garbage")
    (packs / "00000078.pack").mkdir()
    (bulk,) = (
        path for path in packs.iterdir() if path.is_file() and png(300, 200, seed=1) in path.read_bytes()
    )
    with bulk.open("r+b") as pack:
        pack.seek(64)
        pack.write(b"no header")
    found = nuthatch("verify")
    assert found.returncode == 4
    assert b"2 packs can't be read" in found.stdout
    lines = found.stdout.decode().splitlines()[1:]
    assert lines == [
        f"packs/{bulk.name}: something other than records in 1 place",
        "packs/00000077.pack: not a pack that this version reads",
        "packs/00000078.pack: not a pack that this version reads",
    ]
    troubled = parsed(nuthatch, "verify", given_exit=4)["troubled"]
    assert troubled[0] == {"file": f"packs/{bulk.name}", "why": "something other than records in 1 place"}
    assert [entry["file"][6:14] for entry in troubled[1:]] == ["00000077", "00000078"]


def test_trim_frees_disk_space(urls: list[str], nuthatch: Runner) -> None:
    assert b"left on disk" in nuthatch("trim").stdout
    assert len(parsed(nuthatch, "ls")) == 2
    assert parsed(nuthatch, "trim", "--to-bytes=1")["freed_bytes"] > 0
    assert parsed(nuthatch, "stat")["thumbnails"] == 0


def test_trim_leaves_as_much_as_it_is_told(server: TestServer, nuthatch: Runner) -> None:
    """Also if all records are in one pack."""
    noise = random.Random(1)
    urls = [server.url(f"/{number}") for number in range(300)]
    for number, _ in enumerate(urls):
        server.on(f"/{number}", ok(png(8, 8, seed=number) + noise.randbytes(40_000), "image/png"))
    for part in [urls[:200], urls[200:295], urls[295:]]:  # within a run any answer may be the last one
        assert nuthatch("prefetch", "-s8", given="\n".join(part).encode()).returncode == 0
    assert parsed(nuthatch, "stat")["disk_bytes"] > 12_000_000
    for wanted in [9 << 20, 5 << 20, 3 << 20, 1 << 20]:
        left = parsed(nuthatch, "trim", f"--to-bytes={wanted >> 20}M")["disk_bytes"]
        assert 0.85 * wanted <= left <= wanted
    assert parsed(nuthatch, "stat")["thumbnails"] == 300, "originals go first, the oldest of them"
    stored = [parsed(nuthatch, "explain", url)["has_body"] for url in [*urls[:200:10], *urls[-5:]]]
    assert stored == [False] * 20 + [True] * 5
    assert parsed(nuthatch, "verify")["damaged"] == 0


def test_export_goes_on_after_a_picture_that_the_format_cannot_hold(
    urls: list[str], server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    server.on("/wide", ok(png(16_400, 2), "image/png", etag='"1"'))
    (tmp_path / "list").write_text("\n".join([urls[0], server.url("/wide"), urls[1]]))
    assert nuthatch("prefetch", "list", "-s16400").returncode == 0
    done = nuthatch("export", "out", "list", "-s16400", "--as=webp")
    assert done.returncode == 4, done.stderr
    assert done.stdout == b"2 files, 0 URLs not in the cache, 1 URL failed: see manifest.jsonl\n"
    assert names(tmp_path / "out") == ["00000000.webp", "00000002.webp", "manifest.jsonl"]
    lines = [json.loads(line) for line in (tmp_path / "out" / "manifest.jsonl").read_text().splitlines()]
    assert [line["error"] for line in lines if "error" in line] == ["invalid"]
    # The URL is counted once, though two of its files couldn't be made.
    both = ("-s16390,16400", "--as=webp", "--format=json")
    assert nuthatch("prefetch", "list", "-s16390,16400").returncode == 0
    done = nuthatch("export", "both", "list", *both)
    assert done.returncode == 4, done.stderr
    told = json.loads(done.stdout)
    assert (told["files"], told["missing"], told["failed"]) == (4, 0, 1)


def test_export_writes_files_and_a_manifest(
    urls: list[str], server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    asked = server.count()
    (tmp_path / "list").write_text("\n".join([*urls, server.url("/missing")]))
    done = nuthatch("export", "out", "list", "-s64,20")
    assert (done.returncode, done.stdout) == (4, b"4 files, 1 URL not in the cache\n")
    files = ["00000000-20.jpg", "00000000-64.jpg", "00000001-20.jpg", "00000001-64.jpg"]
    assert names(tmp_path / "out") == [*files, "manifest.jsonl"]
    lines = [json.loads(line) for line in (tmp_path / "out" / "manifest.jsonl").read_text().splitlines()]
    first = (tmp_path / "out" / files[1]).read_bytes()
    told = parsed(nuthatch, "explain", urls[0])
    assert lines[0] == {
        "file": files[1],
        "url": urls[0],
        "index": 0,
        "width": 64,
        "height": 43,
        "made": "64x64 inside best jpg",
        "record": told["record"],
        "content": hashlib.sha256(png(300, 200, seed=1)).hexdigest(),
        "bytes": len(first),
        "sha256": hashlib.sha256(first).hexdigest(),
    }
    assert (lines[-1]["index"], lines[-1]["error"]) == (2, "offline")
    done = nuthatch("export", "all", "--as=png", "--name", "hash", "--size=64")
    assert done.returncode == 0
    hashes = sorted(hashlib.sha256(url.encode()).hexdigest() + ".png" for url in urls)
    assert names(tmp_path / "all") == [*hashes, "manifest.jsonl"]
    assert nuthatch("export", "webp", "list", "--as=webp", "-s64").returncode == 4
    assert names(tmp_path / "webp") == ["00000000.webp", "00000001.webp", "manifest.jsonl"]
    assert (tmp_path / "webp" / "00000000.webp").read_bytes()[8:15] == b"WEBPVP8"
    assert (
        parsed(nuthatch, "export", "webp", "list", "--as=webp", "-s64", "--skip-existing", given_exit=4)[
            "left"
        ]
        == 2
    )
    assert server.count() == asked
    summary = parsed(nuthatch, "export", "json", "list", "-s64", "--input=lines", given_exit=4)
    assert summary == {"files": 2, "left": 0, "missing": 1, "failed": 0, "manifest": "json/manifest.jsonl"}


@pytest.mark.parametrize(
    "line",
    [
        "stat",
        "ls",
        "explain http://a/",
        "verify",
        "export out",
        "rm http://a/",
        "trim",
        "clear",
        "outbox list",
    ],
)
def test_commands_leave_a_folder_with_other_files_unchanged(
    line: str, nuthatch: Runner, tmp_path: Path
) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    # There is no URL that rm could remove.
    status = 4 if line.startswith("rm") else 0
    assert nuthatch(*line.split(), "--cache", folder).returncode == status, "an empty one is an empty cache"
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (folder / "notes.txt").touch()
    done = nuthatch(*line.split(), "--cache", folder)
    assert (done.returncode, names(folder)) == (1, ["notes.txt"])
    assert f"{folder} is not a cache".encode() in done.stderr


def test_export_continues_with_skip_existing(urls: list[str], nuthatch: Runner, tmp_path: Path) -> None:
    assert nuthatch("export", "out", "-s64").returncode == 0
    out = tmp_path / "out"
    manifest = (out / "manifest.jsonl").read_text()
    first, second = sorted(path for path in out.iterdir() if path.suffix == ".jpg")
    second.unlink()
    (out / "manifest.jsonl").unlink()
    before = first.stat().st_ino
    summary = parsed(nuthatch, "export", "out", "-s64", "--skip-existing")
    assert (summary["files"], summary["left"]) == (1, 1)
    assert first.stat().st_ino == before and second.exists()
    assert (out / "manifest.jsonl").read_text() == manifest
    # Without --skip-existing all files are written again.
    assert parsed(nuthatch, "export", "out", "-s64")["files"] == 2
    assert first.stat().st_ino != before
    assert names(out) == [first.name, second.name, "manifest.jsonl"], "no drafts are left"


def test_export_writes_files_again_that_the_manifest_does_not_prove(
    urls: list[str], server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    """An existing file may belong to another URL, size or source, or may be changed. Then it is written again."""
    out, listed = tmp_path / "out", tmp_path / "list"

    def resume(*lines: str, size: int = 64) -> tuple[int, int]:
        listed.write_text("\n".join(lines))
        found = parsed(
            nuthatch, "export", "out", "list", f"-s{size}", "--skip-existing", given_exit=len(lines) - 2 and 4
        )
        assert nuthatch("export", "fresh", "list", f"-s{size}").returncode == (len(lines) - 2 and 4)
        assert (out / "manifest.jsonl").read_text() == (tmp_path / "fresh" / "manifest.jsonl").read_text()
        for line in (out / "manifest.jsonl").read_text().splitlines():
            if name := json.loads(line).get("file"):
                assert (out / name).read_bytes() == (tmp_path / "fresh" / name).read_bytes()
        return found["files"], found["left"]

    assert resume(*urls) == (2, 0)
    inodes = [path.stat().st_ino for path in sorted(out.glob("*.jpg"))]
    assert resume(*urls) == (0, 2)
    assert [path.stat().st_ino for path in sorted(out.glob("*.jpg"))] == inodes
    # With another first line, the first name has no URL, the second name belongs to another picture, and the third is
    # new.
    assert resume(server.url("/missing"), *urls) == (2, 0)
    assert resume(server.url("/missing"), *urls) == (0, 2)
    # No manifest line has the first file, but its bytes are right.
    assert resume(*urls) == (1, 1)
    assert resume(*reversed(urls)) == (2, 0)
    # The file names don't have the size.
    assert resume(*urls, size=32) == (2, 0)
    assert resume(*urls) == (2, 0)
    # The changed file has the same length.
    first = out / "00000000.jpg"
    first.write_bytes(bytes(reversed(first.read_bytes())))
    assert resume(*urls) == (1, 1)
    server.on("/a", ok(png(300, 200, seed=3), "image/png"))
    assert nuthatch("get", urls[0], "--policy=reload", "-o", "new").returncode == 0
    assert resume(*urls) == (1, 1)
    # A manifest of another version proves nothing, so the bytes of the files are compared.
    (out / "manifest.jsonl").write_text('{"file": "00000000.jpg", "url": "x", "width": 64}\n{"file"\nno\n')
    assert resume(*urls) == (0, 2)


def test_export_without_a_list_never_takes_a_file_for_another_picture(
    urls: list[str], nuthatch: Runner, tmp_path: Path
) -> None:
    """After a removal, the cache has another order."""

    def files() -> dict[str, bytes]:
        listed = [json.loads(line) for line in (tmp_path / "out" / "manifest.jsonl").read_text().splitlines()]
        return {line["url"]: (tmp_path / "out" / line["file"]).read_bytes() for line in listed}

    assert nuthatch("export", "out", "-s64").returncode == 0
    before = files()
    first, second = before
    assert before[first] != before[second]
    assert nuthatch("rm", first).returncode == 0
    assert nuthatch("export", "out", "-s64", "--skip-existing").returncode == 0
    assert files() == {second: before[second]}


def test_export_finds_answers_by_their_cache_key(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    """Signed URLs are stored under a cache key. A list with other signatures finds them."""
    server.on("/a", ok(png(90, 60, seed=1), "image/png"))
    server.on("/b", ok(png(60, 90, seed=2), "image/png"))
    urls = [server.url("/a?signature=1"), server.url("/b?signature=2")]
    given = "\n".join(urls).encode()
    assert nuthatch("prefetch", "-s64", "--cache-key=photo {}", given=given).returncode == 0
    asked = server.count()
    (tmp_path / "list").write_text("\n".join(url.replace("signature=", "signature=other") for url in urls))
    found = parsed(nuthatch, "export", "listed", "list", "-s64", "--cache-key=photo {}")
    assert (found["files"], found["missing"]) == (2, 0)
    found = parsed(nuthatch, "export", "all", "-s64")
    assert (found["files"], found["missing"]) == (2, 0)
    lines = [json.loads(line) for line in (tmp_path / "all" / "manifest.jsonl").read_text().splitlines()]
    assert sorted(line["url"] for line in lines) == [f"photo {url.split('?')[0]}" for url in urls]
    assert sorted((line["width"], line["height"]) for line in lines) == [(43, 64), (64, 43)]
    assert parsed(nuthatch, "export", "all", "-s64", "--skip-existing")["left"] == 2
    assert server.count() == asked


def test_export_writes_answers_of_a_partition_or_credentials(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    server.on_prefix("/", ok(png(90, 60, seed=1), "image/png"))
    ways = [[], ["--partition=ann"], ["--header=Authorization: Bearer nut"], ["--proxy="], ["-u", "ann:pw"]]
    for number, whose in enumerate(ways):
        given = server.url(f"/{number}").encode()
        assert nuthatch("prefetch", "-s64", *whose, given=given).returncode == 0
        found = parsed(nuthatch, "export", "out", "-s64", *whose)
        assert (found["files"], found["missing"]) == (1, 0)
        line = json.loads((tmp_path / "out" / "manifest.jsonl").read_text())
        assert line["url"] == server.url(f"/{number}")
        assert parsed(nuthatch, "explain", line["url"], "-s64", *whose)["prospect"] == "hit"


def test_export_can_be_interrupted_and_continued(
    server: TestServer, nuthatch: Runner, environment: Any, tmp_path: Path
) -> None:
    """At any moment: between two files, and during a write."""
    server.on_prefix("/p", ok(png(90, 60, seed=1), "image/png"))
    text = "".join(server.url(f"/p{number}") + "\n" for number in range(2000))
    (tmp_path / "list").write_text(text)
    assert nuthatch("prefetch", "-s64", "list").returncode == 0
    # Without a writer, this second list keeps the export from ending by itself.
    os.mkfifo(tmp_path / "pipe")
    for round in range(5):
        folder = tmp_path / f"out{round}"
        with subprocess.Popen(
            [COMMAND, "export", folder.name, "list", "pipe", "-s64"],
            env=environment,
            cwd=str(tmp_path),
            stderr=subprocess.PIPE,
            preexec_fn=heed_signals,
        ) as process:
            # The next run removes an unfinished file.
            while (
                not folder.exists() or sum(name.endswith(".jpg") for name in os.listdir(folder)) < 20 + round
            ):
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        assert (process.returncode, said) == (130, b"")
        files = sorted(path.name for path in folder.iterdir())
        assert files.pop() == "manifest.part"
        assert 20 <= len(files) <= 2000 and all(name.endswith(".jpg") for name in files)
        told = [json.loads(line)["file"] for line in (folder / "manifest.part").read_text().splitlines()]
        assert len(files) - 1 <= len(told) <= len(files) and set(told) <= set(files)
    before = (folder / files[0]).stat().st_ino
    found = parsed(nuthatch, "export", folder.name, "list", "-s64", "--skip-existing")
    assert (found["files"], found["left"]) == (2000 - len(files), len(files))
    assert (folder / files[0]).stat().st_ino == before
    assert len(names(folder)) == 2001 and names(folder)[-1] == "manifest.jsonl"


def test_export_writes_only_into_its_folder(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    server.on_prefix("/", ok(png(30, 20), "image/png"))
    urls = [
        server.url("/../../../etc/passwd"),
        server.url("/%2e%2e%2f%2e%2e%2fx?/../../y"),
        server.url("/~/a;rm -rf"),
    ]
    given = "\n".join(urls).encode()
    assert nuthatch("prefetch", "-s16", given=given).returncode == 0
    out, precious = tmp_path / "out", tmp_path / "precious"
    out.mkdir()
    precious.write_text("precious")
    for name in ["00000000.jpg", "manifest.jsonl"]:
        (out / name).symlink_to(precious)
    os.mkfifo(out / "00000001.jpg")
    before = set(tmp_path.iterdir())
    for naming in ["index", "hash"]:
        done = nuthatch("export", "out", "-", "-s16", "--name", naming, given=given)
        assert done.returncode == 0, done.stderr
    assert set(tmp_path.iterdir()) == before
    assert precious.read_text() == "precious"
    files = list(out.iterdir())
    assert len(files) == 7 and all(path.is_file() and not path.is_symlink() for path in files)


def test_export_to_a_full_disk_fails(nuthatch: Runner, server: TestServer, tmp_path: Path) -> None:
    server.on_prefix("/p", ok(png(256, 256), "image/png"))
    given = "".join(server.url(f"/p{number}") + "\n" for number in range(60)).encode()
    assert nuthatch("prefetch", given=given).returncode == 0
    (tmp_path / "list").write_bytes(given)
    (tmp_path / "small").mkdir()
    script = 'mount -t tmpfs -o size=256k none small && "$0" export small/out list --as png; '
    script += 'echo "status $?"; ls -a small/out'
    for prefix in (["unshare", "-m"], ["unshare", "-rm"]):
        done = subprocess.run(
            [*prefix, "bash", "-c", script, COMMAND],
            cwd=tmp_path,
            env={**os.environ, "NUTHATCH_CACHE": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
        )
        if "status" in done.stdout and "mount:" not in done.stderr:
            break
    else:
        pytest.skip("a small disk can't be mounted on this machine")
    assert "status 1" in done.stdout and "no_space" in done.stderr
    left = done.stdout.split("status 1\n")[1].split()
    assert left and not [name for name in left if name.endswith(".part") or name == "manifest.jsonl"]


@pytest.mark.parametrize(
    "line, hint",
    [
        ("stat x", "takes no arguments"),
        ("ls --format xml", "it must be text, json or jsonl"),
        ("explain", "exactly one URL"),
        ("rm", "at least one URL"),
        ("export", "a directory is needed"),
        ("export out missing", "missing can't be read"),
        ("trim --to-bytes all", "--to-bytes: to-bytes is 'all'; it must be 1 or more"),
    ],
)
def test_wrong_usage_of_inspection_commands_is_refused_with_a_hint(
    line: str, hint: str, nuthatch: Runner
) -> None:
    done = nuthatch(*line.split())
    assert (done.returncode, hint in done.stderr.decode()) == (2, True)


def test_documented_json_members_are_those_that_commands_print(
    urls: list[str], nuthatch: Runner, tmp_path: Path
) -> None:
    """docs/COMMAND.md names every member that is printed, and no other."""
    text = (ROOT / "docs" / "COMMAND.md").read_text()
    rows = dict(
        re.findall(r"^\| (`[a-z`, ]+`) \| (.*) \|$", text.split("## `--format json`")[1], re.MULTILINE)
    )
    answer = set(re.findall(r"`(\w+)`", text.split("What is known of an answer: ")[1].split("\n\n")[0]))
    answer -= {"validator", "picture", "heuristic", "none", "expires"}

    def members(found: Any) -> set[str]:
        return set(found[0] if isinstance(found, list) else found)

    for command, arguments in {
        "stat": [],
        "ls": [],
        "explain": [urls[0], "-s64"],
        "rm": [urls[1]],
        "verify": [],
        "trim": [],
        "export": ["out", "-s64"],
        "config": [],
    }.items():
        row = next(row for names, row in rows.items() if f"`{command}`" in names)
        documented = set(re.findall(r"`(\w+)`", row)) - {"hit", "revalidate", "fetch", "refuse", "jsonl"}
        printed = members(parsed(nuthatch, command, *arguments))
        if command in ("ls", "explain"):
            documented |= answer
            documented -= {"width", "height", "form"}
        if command == "config":
            documented -= {"environment", "user", "system", "default"}
            documented |= {"file"}
        if command == "verify":
            documented -= {"file", "why"}
        assert printed == documented, command
    done = nuthatch("prefetch", "-s64", "--format=jsonl", given=(urls[0] + "\nbad").encode())
    good, bad = sorted(
        (json.loads(line) for line in done.stdout.splitlines()), key=lambda record: record["index"]
    )
    first = text.split("## Standard output")[0]
    table = "\n".join(re.findall(r"^\| (`.*?`) \|", first, re.MULTILINE))
    assert set(re.findall(r"`(\w+)`", table)) == set(bad) and set(good) == set(bad) - {"error", "message"}
    summary = json.loads(done.stderr.splitlines()[-1])
    assert set(summary) <= set(re.findall(r"`(\w+)`", first.split("the summary:")[1]))
