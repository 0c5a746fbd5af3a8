"""The lists of `nuthatch prefetch`: formats, files that are no lists, lists of failures, and shards."""

from __future__ import annotations

import gzip
import hashlib
import json
import signal
import subprocess
from pathlib import Path
from typing import Any, Dict, List

import pytest
from command import COMMAND, Runner, heed_signals, lines, names
from pictures import png
from testserver import TestServer, answer, body, ok, script


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
def test_lists_of_all_formats_are_read(
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
        wanted[1] = wanted[1].split(",")[0]  # in these formats a comma ends the column
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
        (b"id,name\n1,b\n", ["--input=csv", "list"], "there is no column 'url'"),
        (b"a,b\n", ["--input=csv", "--url-field=c", "list"], "there is no column 'c'"),
        (
            gzip.compress(b"http://x/\n" * 100, mtime=0)[:-9],
            ["list"],
            "list ends in the middle of its gzip stream",
        ),
        (
            gzip.compress(b"http://x/\n", mtime=0) + b"\0\0http://y/\n",
            ["list"],
            "other data after the end of the gzip stream",
        ),
        (b'url\n"http://x/\n', ["--input=csv", "list"], "are never closed"),
        (b"http://x/\n", ["--shard=2/2", "list"], "is not I/N"),
        (b"http://x/\n", ["--min-success=2", "list"], "it must be 0 to 1"),
        (b"http://x/\n", ["--input=xml", "list"], "it must be auto, lines, csv, tsv or jsonl"),
    ],
)
def test_a_list_that_can_not_be_read_is_a_usage_error(
    content: bytes | None, arguments: List[str], hint: str, nuthatch: Runner, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "list").write_bytes(content)
    done = nuthatch("prefetch", "--dry-run", *arguments)
    assert (done.returncode, hint in done.stderr.decode()) == (2, True), done.stderr


def test_a_report_does_not_overwrite_a_list(nuthatch: Runner, tmp_path: Path) -> None:
    """Nor the other file that a run writes."""
    (tmp_path / "list").write_bytes(b"ftp://x/\n")
    (tmp_path / "link").symlink_to("list")
    for arguments in [
        ["--report=list", "list"],
        ["--report", "link", "list"],
        ["--report=list", "--failed-out=link", "-"],
        ["--report=new", "--failed-out=new", "-"],
    ]:
        done = nuthatch("prefetch", *arguments, given=b"ftp://x/\n")
        assert done.returncode == 2 and b"--report" in done.stderr, done
    assert (tmp_path / "list").read_bytes() == b"ftp://x/\n" and names(tmp_path) == ["link", "list"]
    # A path that isn't a plain file may be used for both.
    assert nuthatch("prefetch", "--report=/dev/null", "--failed-out=/dev/null", "list").returncode == 4


def test_open_quotes_take_little_time_and_memory(environment: Dict[str, str], tmp_path: Path) -> None:
    """With one quote too many, the rest of the list is one row. It is read once, up to a limit."""
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


def test_the_list_of_failures_can_be_tried_again(
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


@pytest.mark.parametrize(
    "way", ["interrupted", "dry", "shard", "broken", "standard input", "link", "sign-in"]
)
def test_a_list_that_was_not_finished_is_not_replaced(
    way: str, server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    """--failed-out may name the list itself, but the URLs that were not tried must stay in it."""
    server.on("/a", answer(404))
    server.on_prefix("/slow", script(steps=[server.gate("g").step, body(png(9, 9))]))
    urls = lines([server.url("/a"), *[server.url(f"/slow{number}") for number in range(2000)]])
    place = tmp_path / "list"
    place.write_bytes(urls)
    (tmp_path / "link").symlink_to("list")
    (tmp_path / "broken.gz").write_bytes(gzip.compress(b"http://127.0.0.1/")[:20])
    name = "link" if way == "link" else "list"
    arguments = {
        "dry": ["--dry-run", name],
        "shard": ["--shard=0/2", "--shard-by=url", "--policy=offline", name],
        "broken": ["broken.gz", name],
        "standard input": [],
        "sign-in": ["--user=ann:secret", name],
    }.get(way, [name])
    with subprocess.Popen(
        [COMMAND, "prefetch", "--failed-out=list", *arguments],
        cwd=str(tmp_path),
        env=environment,
        stdin=place.open() if way == "standard input" else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=heed_signals,
    ) as process:
        assert process.stderr is not None
        said = b""
        if way in ("interrupted", "standard input", "link", "sign-in"):
            said = process.stderr.readline()
            process.send_signal(signal.SIGINT)
        said += process.stderr.read()
    assert b"list stays as it was" in said
    assert place.read_bytes() == urls


def test_lines_without_a_url_do_not_break_the_list_of_failures(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    """Each text, in the first line, would change the format of the list, or has two lines."""
    server.on("/later", answer(404))
    later = server.url("/later")
    given = [
        {"url": None},
        {"url": "#1"},
        {"url": "a\nhttp://b/"},
        {"url": ""},
        {"url": "\ta\turl"},
        {"url": "a;url"},
        {"url": "sep=;"},
        {"url": "[["},
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
def test_a_line_with_a_url_is_not_a_header(text: str, nuthatch: Runner) -> None:
    """Text after its comma or tabulator was once taken for names of columns."""
    url = "http://example.invalid/1"
    given = text.replace("{}", url).encode()
    done = nuthatch("prefetch", "--dry-run", "--format=jsonl", given=given)
    wanted = [url if "\t" in text else line for line in given.decode().splitlines()]
    assert [json.loads(line)["url"] for line in done.stdout.splitlines()] == wanted
    assert done.returncode == 0


def test_shards_divide_a_list(nuthatch: Runner) -> None:
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
