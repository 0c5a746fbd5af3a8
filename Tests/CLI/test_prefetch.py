"""`nuthatch prefetch`: lists in, thumbnails into the cache, a record and a summary out."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest
from command import COMMAND, Outcome, Runner, heed_signals, names
from pictures import png, png_of
from testserver import TestServer, answer, body, ok, script

FIELDS = [
    "index",
    "line",
    "url",
    "final_url",
    "ok",
    "status",
    "is_in_cache",
    "source",
    "original_width",
    "original_height",
    "thumbs",
    "bytes",
    "content_type",
    "attempts",
    "ms",
]
TIMES = ["queue", "dns", "connect", "tls", "first_byte", "transfer", "decode", "store", "total"]


def records(done: Outcome[bytes]) -> Tuple[List[Dict[str, Any]], Dict[str, Any]]:
    """The records in the order of the list, and the summary."""
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return sorted(found, key=lambda record: int(record["index"])), json.loads(done.stderr.splitlines()[-1])


def lines(urls: List[str]) -> bytes:
    return "".join(f"{url}\n" for url in urls).encode()


@pytest.fixture
def pictures(server: TestServer) -> List[str]:
    for number in range(8):
        server.on(f"/{number}", ok(png(60 + number, 40, seed=number), "image/png", etag=f'"{number}"'))
    return [server.url(f"/{number}") for number in range(8)]


def test_records(server: TestServer, pictures: List[str], nuthatch: Runner) -> None:
    server.on("/404", answer(404))
    server.on("/text,with,commas", ok("no picture"))
    urls = [*pictures[:2], server.url("/404"), "ftp://x/", server.url("/text,with,commas")]
    given = b"# a comment\n\n  \n" + lines(urls)
    done = nuthatch("prefetch", "--format=jsonl", "-s", "16,32x8", given=given)
    assert done.returncode == 4
    found, summary = records(done)
    assert [record["url"] for record in found] == urls
    assert [record["line"] for record in found] == [4, 5, 6, 7, 8]
    for record in found[:2]:
        assert list(record) == FIELDS
        assert (record["ok"], record["status"], record["is_in_cache"]) == (True, 200, False)
        assert (record["source"], record["attempts"], record["content_type"]) == ("network", 1, "image/png")
    assert (found[0]["original_width"], found[0]["original_height"]) == (60, 40)
    assert found[0]["bytes"] == len(png(60, 40, seed=0))
    assert found[0]["thumbs"] == [
        {"size": 16, "width": 16, "height": 11},
        {"size": "32x8", "width": 12, "height": 8},
    ]
    assert list(found[0]["ms"]) == TIMES and found[0]["ms"]["total"] > 0
    for record, word in zip(found[2:], ["http", "bad_url", "not_an_image"]):
        assert list(record) == [*FIELDS, "error", "message"]
        assert (record["ok"], record["error"], record["thumbs"]) == (False, word, [])
    assert (found[2]["status"], found[2]["attempts"]) == (404, 1)
    assert (summary["urls"], summary["ok"], summary["failed"], summary["fetched"]) == (5, 2, 3, 2)
    assert summary["errors"] == {"http": 1, "bad_url": 1, "not_an_image": 1}
    assert summary["exit"] == 4


def test_a_second_run_asks_for_nothing(
    server: TestServer, pictures: List[str], nuthatch: Runner, environment: Dict[str, str]
) -> None:
    first = nuthatch("prefetch", "-", given=lines(pictures))
    assert (first.returncode, first.stderr) == (0, b"")
    assert first.stdout.startswith(b"8 URLs: 0 hits, 8 fetched, 0 failed; ")
    asked = len(server.requests())
    again, summary = records(nuthatch("prefetch", "--format", "jsonl", given=lines(pictures)))
    assert all(record["is_in_cache"] and record["source"] == "disk" for record in again)
    assert again[0]["thumbs"] == [{"size": 256, "width": 60, "height": 40}]
    assert (summary["hits"], summary["fetched"], summary["bytes"]) == (8, 0, 0)
    # Another size is made of what was kept.
    other, summary = records(nuthatch("prefetch", "--format=jsonl", "-s30", given=lines(pictures)))
    assert other[3]["thumbs"] == [{"size": 30, "width": 30, "height": 19}] and other[3]["is_in_cache"]
    assert (summary["hits"], len(server.requests())) == (8, asked)


def test_a_stale_answer_is_asked_about(server: TestServer, nuthatch: Runner) -> None:
    headers = [("Cache-Control", "max-age=0")]
    server.on("/a", ok(png(20, 20), "image/png", etag='"1"', headers=headers))
    given = lines([server.url("/a")])
    assert nuthatch("prefetch", given=given).returncode == 0
    planned = nuthatch("prefetch", "--dry-run", "--format=jsonl", given=given)
    assert json.loads(planned.stdout)["plan"] == "revalidate"
    [record], summary = records(nuthatch("prefetch", "--format=jsonl", given=given))
    assert (record["is_in_cache"], record["source"], summary["revalidated"]) == (True, "revalidated", 1)
    assert server.requests("/a")[-1].header("If-None-Match") == '"1"'


def test_one_fetch_for_all_who_are_alike(server: TestServer, nuthatch: Runner) -> None:
    gate = server.gate("g")
    server.on("/a", script(headers=[("Content-Type", "image/png")], steps=[gate.step, body(png(20, 20))]))
    gate.open()
    found, summary = records(nuthatch("prefetch", "--format=jsonl", given=lines([server.url("/a")] * 700)))
    assert [record["index"] for record in found] == list(range(700))
    assert all(record["ok"] for record in found)
    assert server.count("/a") == 1 and summary["urls"] == 700


def test_dry_run(server: TestServer, pictures: List[str], nuthatch: Runner) -> None:
    nuthatch("prefetch", given=lines(pictures[:3]))
    asked = len(server.requests())
    done = nuthatch("prefetch", "--dry-run", given=lines(pictures))
    assert (done.returncode, done.stdout) == (
        0,
        b"8 URLs: 3 would hit, 0 would be revalidated, 5 would be fetched\n",
    )
    assert len(server.requests()) == asked


@pytest.mark.parametrize(
    "name, content, arguments",
    [
        ("list.csv", 'id,title,url\n1,"a, ""b""\nc",{0}\n2,d,{1}\n', []),
        ("list.csv", "1,{0}\n2,{1}\n", []),
        ("list.tsv", "image\tid\n{0}\t1\n{1}\t2\n", []),
        ("list", "id,Picture\n1,{0}\n2,{1}\n", ["--input=csv", "--url-field=picture"]),
        ("list", "1;2,{0}\n2,{1}\n", ["--input", "csv", "--url-field", "2"]),
        ("list", "id,url\n1,{0}\n2,{1}\n", []),
        (
            "list",
            '{{"a": {{"url": [1, "}}"]}}, "url": "{0}"}}\n{{"url": "{1}"}}\n',
            [],
        ),
        ("list.jsonl", '{{"src": "{0}"}}\n{{"src": "{1}"}}\n', ["--url-field=src"]),
        ("list.txt", "\ufeff{0}\r\n# no\r\n\r\n  {1}", []),
        ("list", "{0}\ta nut\n{1}\tanother, larger\n", []),
        ("list", "a nut\t{0}\t1\nanother\t{1}\t2\n", []),
        ("list", "{0}\t \n \t{1}\n", []),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_lists_of_all_kinds(
    name: str,
    content: str,
    arguments: List[str],
    packed: bool,
    pictures: List[str],
    nuthatch: Runner,
    tmp_path: Path,
) -> None:
    text = content.format(pictures[0], f"{pictures[1]}?a,b").encode()
    path = tmp_path / (name + ".gz" if packed else name)
    path.write_bytes(gzip.compress(text[:20]) + gzip.compress(text[20:]) if packed else text)
    done = nuthatch("prefetch", "--dry-run", "--format=jsonl", path.name, *arguments)
    found = [json.loads(line)["url"] for line in done.stdout.splitlines()]
    wanted = [pictures[0], f"{pictures[1]}?a,b"]
    if not text.startswith(b"{") and b"," in text.split(b"\n")[0]:
        wanted[1] = wanted[1].split(",")[0]  # there a comma ends the column
    assert (found, done.returncode) == (wanted, 0), done.stderr


@pytest.mark.parametrize(
    "content, arguments, hint",
    [
        (None, ["missing.txt"], "missing.txt can't be read: No such file"),
        (None, ["."], "can't be read"),
        (
            None,
            ["http://x/a.png"],
            "http://x/a.png can't be read: No such file or directory; a list is expected",
        ),
        (b"id,name\n1,b\n", ["--input=csv", "list"], "no column is called url"),
        (b"a,b\n", ["--input=csv", "--url-field=c", "list"], "there is no column 'c'"),
        (gzip.compress(b"http://x/\n" * 100)[:-9], ["list"], "the gzip stream is cut off"),
        (
            gzip.compress(b"http://x/\n") + b"\0\0http://y/\n",
            ["list"],
            "what follows the gzip stream is none",
        ),
        (b'url\n"http://x/\n', ["--input=csv", "list"], "are never closed"),
        (b"http://x/\n", ["--shard=2/2", "list"], "is not I/N"),
        (b"http://x/\n", ["--min-success=2", "list"], "is not a share between 0 and 1"),
        (b"http://x/\n", ["--input=xml", "list"], "is none of auto, csv, jsonl, lines, tsv"),
    ],
)
def test_what_can_not_be_read(
    content: bytes | None, arguments: List[str], hint: str, nuthatch: Runner, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "list").write_bytes(content)
    done = nuthatch("prefetch", "--dry-run", *arguments)
    assert (done.returncode, hint in done.stderr.decode()) == (2, True), done.stderr


def test_quotes_that_stay_open_take_neither_long_nor_much(
    environment: Dict[str, str], tmp_path: Path
) -> None:
    """One quote too many makes a row of all that follows: it is read once, and not without end."""
    rows = b'1,"never closed\n' + b'2,http://x/a""b.png,more\n' * 2_000_000
    (tmp_path / "list.csv").write_bytes(b"id,url\n0,ftp://x/\n" + rows)
    command = [COMMAND, "prefetch", "--dry-run", "--format=jsonl", "list.csv"]
    with subprocess.Popen(
        command, env=environment, cwd=str(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            said, complaints = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 2 and len(said.splitlines()) == 1
    assert b"list.csv: the quotes of line 3 are never closed" in complaints


def test_what_failed_can_be_tried_again(
    server: TestServer, pictures: List[str], nuthatch: Runner, tmp_path: Path
) -> None:
    server.on("/later", answer(404))
    urls = [*pictures[:3], server.url("/later")]
    arguments = ["prefetch", "--failed-out=failed.txt"]
    assert nuthatch(*arguments, given=lines(urls)).returncode == 4
    assert (tmp_path / "failed.txt").read_text() == server.url("/later") + "\n"
    assert nuthatch(*arguments, "--min-success=0.75", given=lines(urls)).returncode == 0
    server.on("/later", ok(png(9, 9), "image/png"))
    again = nuthatch(*arguments, "failed.txt")
    assert (again.returncode, again.stdout[:27]) == (0, b"1 URL: 0 hits, 1 fetched, 0")
    assert (tmp_path / "failed.txt").read_text() == ""


def test_what_has_no_url_is_no_obstacle_to_trying_again(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    """Each of these, in the first line, would have the list read as something else, or is two lines."""
    server.on("/later", answer(404))
    later = server.url("/later")
    given = [
        {"url": None},
        {"url": "#1"},
        {"url": "a\nhttp://b/"},
        {"url": ""},
        {"url": "\ta\turl"},
        {"url": later},
    ]
    text = "\n".join(json.dumps(line) for line in given).encode()
    done = nuthatch("prefetch", "--failed-out=failed.txt", "--format=jsonl", given=text)
    assert json.loads(done.stderr)["failed"] == len(given)
    failed = (tmp_path / "failed.txt").read_text().splitlines()
    assert [line for line in failed if line[0] != "#"] == [later]
    assert '# line 1: {"url": null}' in failed and "# line 3: a\\nhttp://b/" in failed
    server.on("/later", ok(png(9, 9), "image/png"))
    again = nuthatch("prefetch", "failed.txt")
    assert (again.returncode, again.stdout[:27]) == (0, b"1 URL: 0 hits, 1 fetched, 0")


@pytest.mark.parametrize("text", ["{},url\n", "{},image\n", "{}\timage\n{}\tlink\n", "{}?a,src,href\n"])
def test_a_line_with_a_url_names_no_columns(text: str, nuthatch: Runner) -> None:
    """Whatever stands behind its comma or its tabulator: it was taken for the names of columns."""
    url = "http://example.invalid/1"
    given = text.replace("{}", url).encode()
    done = nuthatch("prefetch", "--dry-run", "--format=jsonl", given=given)
    wanted = [url if "\t" in text else line for line in given.decode().splitlines()]
    assert [json.loads(line)["url"] for line in done.stdout.splitlines()] == wanted
    assert done.returncode == 0


def test_shards(nuthatch: Runner) -> None:
    urls = [f"http://Host-{number % 7}.example/{number}" for number in range(70)]

    def shard(number: int, by: str) -> List[Dict[str, Any]]:
        arguments = ["--dry-run", "--format=jsonl", f"--shard={number}/3", f"--shard-by={by}"]
        return [
            json.loads(line)
            for line in nuthatch("prefetch", *arguments, given=lines(urls)).stdout.splitlines()
        ]

    def share(text: str) -> int:
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % 3

    for by in ["host", "url"]:
        parts = [shard(number, by) for number in range(3)]
        assert sorted(record["index"] for part in parts for record in part) == list(range(70))
        for number, part in enumerate(parts):
            for record in part:
                url = record["url"]
                assert urls[record["index"]] == url
                assert share(url.split("/")[2].lower() if by == "host" else url) == number


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted(
    number: int,
    code: int,
    server: TestServer,
    pictures: List[str],
    environment: Dict[str, str],
    nuthatch: Runner,
    tmp_path: Path,
) -> None:
    gate = server.gate("never")
    server.on("/never", script(steps=[gate.step, body("x")]))
    (tmp_path / "list").write_bytes(lines([*pictures, server.url("/never")]))
    command = [COMMAND, "prefetch", "--format=jsonl", "--spill=pressure", "--report=r.html", "list"]
    seconds: List[float] = []
    # Two seconds are promised. A machine may be busy with other things once, or twice.
    while not seconds or (seconds[-1] > 2 and len(seconds) < 3):
        with subprocess.Popen(
            command,
            env=environment,
            cwd=str(tmp_path),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=heed_signals,
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            done = [json.loads(process.stdout.readline()) for _ in pictures]
            assert gate.wait_until_reached()
            begin = time.monotonic()
            process.send_signal(number)
            assert process.wait(20) == code
            seconds.append(time.monotonic() - begin)
            assert process.stdout.read() == b""
            summary = json.loads(process.stderr.read())
        assert (summary["urls"], summary["ok"], summary["exit"]) == (len(done), len(done), code)
        assert summary["fetched" if len(seconds) == 1 else "hits"] == len(done)
        assert summary["interrupted"] == number.name
        assert names(tmp_path) == ["list", "r.html"]
    assert seconds[-1] <= 2, seconds
    planned = nuthatch("prefetch", "--dry-run", "list").stdout
    assert planned == b"9 URLs: 8 would hit, 0 would be revalidated, 1 would be fetched\n"


def test_interrupted_while_waiting_for_the_list(environment: Dict[str, str]) -> None:
    with subprocess.Popen(
        [COMMAND, "prefetch"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_signals,
    ) as process:
        assert process.stdin is not None and process.stderr is not None and process.stdout is not None
        process.stdin.write(b"ftp://x/\n")
        process.stdin.flush()
        assert b"bad_url" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        assert b"1 URL: 0 hits, 0 fetched, 1 failed" in process.stdout.read()


def test_a_closed_pipe_is_quiet(pictures: List[str], environment: Dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes(lines(pictures * 2000))
    command = f"'{COMMAND}' prefetch --format=jsonl list; echo $? >&2"
    done = subprocess.run(
        ["bash", "-c", f"{{ {command}; }} | head -c 1"],
        env=environment,
        cwd=str(tmp_path),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.stderr) == (b"{", b"141\n")


@pytest.mark.parametrize("is_in_cache", [False, True])
def test_records_that_can_not_be_written_are_no_success(
    is_in_cache: bool,
    pictures: List[str],
    environment: Dict[str, str],
    nuthatch: Runner,
    tmp_path: Path,
) -> None:
    """Also when there are so few that they are written at the end only."""
    (tmp_path / "list").write_bytes(lines(pictures))
    if is_in_cache:
        assert nuthatch("prefetch", "list").returncode == 0
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [COMMAND, "prefetch", "--format=jsonl", "list"],
            env=environment,
            cwd=str(tmp_path),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"nuthatch: standard output can't be written: No space left on device\n")
    assert json.loads(done.stderr.splitlines()[-1])["exit"] == 1


def test_a_slow_reader_slows_the_run(
    server: TestServer, pictures: List[str], environment: Dict[str, str], tmp_path: Path
) -> None:
    """Nobody reads the records: after what the pipe and the window hold, no more is asked for."""
    urls = [server.url(f"/png/8/8?seed={number}") for number in range(3000)]
    (tmp_path / "list").write_bytes(lines(urls))
    command = [COMMAND, "prefetch", "--format=jsonl", "--concurrency=4", "list"]
    with subprocess.Popen(command, env=environment, cwd=str(tmp_path), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        seen = -1
        while seen != len(server.requests()):
            seen = len(server.requests())
            try:
                process.wait(2)
            except subprocess.TimeoutExpired:
                continue
        assert 0 < seen < 1500 and process.poll() is None
        assert len(process.stdout.read().splitlines()) == 3000
    assert process.returncode == 0


def test_noai(server: TestServer, nuthatch: Runner) -> None:
    for path, value in [
        ("/a", "noindex, NoAI"),
        ("/b", "noindex"),
        ("/c", "otherbot: noai"),
        ("/d", "noimageai"),
    ]:
        headers = [("X-Robots-Tag", value)]
        server.on(path, ok(png(9, 9, seed=ord(path[1])), "image/png", headers=headers))
    given = lines([server.url(path) for path in ["/a", "/b", "/c", "/d"]])
    assert nuthatch("prefetch", given=given).returncode == 0
    # What was kept before is left out, too.
    for _ in range(2):
        found, _ = records(nuthatch("prefetch", "--respect-noai", "--format=jsonl", given=given))
        assert [record.get("error") for record in found] == ["denied", None, None, "denied"]
    planned = nuthatch("prefetch", "--dry-run", given=given).stdout
    assert planned.startswith(b"4 URLs: 2 would hit")


@pytest.mark.parametrize(
    "value, is_refused",
    [
        ("max-image-preview:large, noai", True),
        ("max-snippet: -1, max-video-preview: -1, NoImageAI", True),
        ("unavailable_after: Sat, 25 Jun 2050 15:00:00 GMT, noai", True),
        ("unavailable_after: Saturday, 25-Jun-50 15:00:00 GMT , noai", True),
        ("Nuthatch: max-snippet: 3, noai", True),
        ("otherbot: max-snippet: 3, noai", False),
        ("otherbot: noindex, *: noai", True),
        ("nuthatch: noindex, Other-Bot: unavailable_after: 25 Jun 2050 15:00:00 GMT, noai", False),
    ],
)
def test_noai_beside_what_has_a_value(
    value: str, is_refused: bool, server: TestServer, nuthatch: Runner
) -> None:
    """A name before a colon is a robot's, unless it is a directive's, or the hour of a date."""
    server.on("/a", ok(png(9, 9), "image/png", headers=[("X-Robots-Tag", value)]))
    given = lines([server.url("/a")])
    found, _ = records(nuthatch("prefetch", "--respect-noai", "--format=jsonl", given=given))
    assert found[0].get("error") == ("denied" if is_refused else None)


def test_a_list_that_does_not_fit(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    urls = [server.url(f"/bytes/{400_000 + number}") for number in range(30)]
    for number, url in enumerate(urls):
        path = url[len(server.url("")) :]
        large = png(8, 8, seed=number)
        server.on(path, ok(large + os.urandom(400_000), "image/png"))
    arguments = ["--disk-bytes=4M", "--format=jsonl", "--concurrency=1"]
    (tmp_path / "list").write_bytes(lines(urls))
    done = nuthatch("prefetch", *arguments, "list")
    _, summary = records(done)
    assert summary["disk"]["fits"] is False
    suggested = summary["disk"]["suggested_disk_bytes"]
    warning = done.stderr.splitlines()[0]
    assert b"--keep-source no" in warning
    # What is said while the run goes on reckons with what is still to come.
    named = re.search(rb"--disk-bytes (\d+)M", warning)
    assert named and 0.7 * suggested < int(named[1]) << 20 < 1.5 * suggested
    done = nuthatch("prefetch", *arguments, f"--disk-bytes={suggested}", "--cache=other", given=lines(urls))
    assert records(done)[1]["disk"] == {
        **records(done)[1]["disk"],
        "fits": True,
        "dropped_records": 0,
    }


def test_what_was_there_before_is_part_of_a_list_that_does_not_fit(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    """A second run finds some of it still there: what is left to fetch would fit, but the list doesn't."""
    noise = random.Random(2)
    urls = []
    for number in range(160):
        rows = b"".join(b"\0" + noise.randbytes(128 * 3) for _ in range(128))
        server.on(f"/{number}.png", ok(png_of(rows, 128, 128), "image/png"))
        urls.append(server.url(f"/{number}.png"))
    (tmp_path / "list").write_bytes(lines(urls))
    suggested = []
    for _ in range(2):
        done = nuthatch(
            "prefetch", "--size=128", "--store=raw", "--keep-source=no", "--disk-bytes=8M", "list"
        )
        said = re.search(rb"does not fit into 8.4 MB: .*; --disk-bytes (\d+)M would do", done.stdout)
        assert said, done.stdout
        assert b"--keep-source" not in done.stdout, "they aren't kept"
        suggested.append(int(said[1]))
    assert b"160 URLs: 0 hits" not in done.stdout, "what is dropped is what came first"
    assert 0.7 * suggested[0] < suggested[1] < 1.5 * suggested[0], suggested
    arguments = [
        "--size=128",
        "--store=raw",
        "--keep-source=no",
        f"--disk-bytes={suggested[1]}M",
        "--cache=other",
    ]
    assert b"fit" not in nuthatch("prefetch", *arguments, "list").stdout
    assert nuthatch("prefetch", *arguments, "list").stdout.startswith(b"160 URLs: 160 hits")


def test_no_cache_to_be_had(nuthatch: Runner) -> None:
    done = nuthatch("prefetch", "--cache", "/dev/null/x", given=b"http://x/\n")
    assert (done.returncode, done.stderr[:23]) == (1, b"nuthatch: prefetch: io:")


def test_progress_and_colours(pictures: List[str], nuthatch: Runner) -> None:
    shown = nuthatch("prefetch", "--progress=always", given=lines(pictures)).stderr
    assert b"done" in shown and b"\x1b[3" not in shown, "colours are for terminals"
    assert nuthatch("prefetch", given=lines(pictures)).stderr == b""
