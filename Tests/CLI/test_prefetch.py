"""`nuthatch prefetch`: reads lists, stores thumbnails, and writes records and a summary."""

from __future__ import annotations

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
from command import COMMAND, Outcome, Runner, heed_signals, lines, names, wait_until_it_waits
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
    "is_stored",
    "source",
    "original_width",
    "original_height",
    "format",
    "is_animated",
    "frame_count",
    "depth",
    "thumbs",
    "bytes",
    "content_type",
    "attempts",
    "ms",
]
TIMES = ["queue", "dns", "connect", "tls", "first_byte", "transfer", "decode", "store", "total"]


def records(done: Outcome[bytes]) -> Tuple[List[Dict[str, Any]], Dict[str, Any]]:
    """Returns the records in the order of the list, and the summary."""
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return sorted(found, key=lambda record: int(record["index"])), json.loads(done.stderr.splitlines()[-1])


def test_prefetch_writes_a_record_for_each_url_and_a_summary(
    server: TestServer, pictures: List[str], nuthatch: Runner
) -> None:
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


def test_a_stored_picture_beyond_max_pixels_is_not_a_hit(
    server: TestServer, pictures: List[str], nuthatch: Runner
) -> None:
    assert nuthatch("prefetch", "-s16", given=lines(pictures[:1])).returncode == 0
    asked = server.count()
    for limit, code in [("1K", 4), ("2400", 0)]:  # the picture has 60x40 pixels
        options = ["--format=jsonl", f"--max-pixels={limit}", "-s16"]
        done = nuthatch("prefetch", *options, given=lines(pictures[:1]))
        (record,), summary = records(done)
        assert (done.returncode, record["ok"], record.get("error")) == (
            code,
            code == 0,
            "too_many_pixels" if code else None,
        )
        assert summary["hits"] == (0 if code else 1)
    assert server.count() == asked


def test_a_second_prefetch_sends_no_requests(
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
    # Another size is made from the stored original.
    other, summary = records(nuthatch("prefetch", "--format=jsonl", "-s30", given=lines(pictures)))
    assert other[3]["thumbs"] == [{"size": 30, "width": 30, "height": 19}] and other[3]["is_in_cache"]
    assert (summary["hits"], len(server.requests())) == (8, asked)


def test_prefetch_revalidates_a_stale_answer(server: TestServer, nuthatch: Runner) -> None:
    headers = [("Cache-Control", "max-age=0")]
    server.on("/a", ok(png(20, 20), "image/png", etag='"1"', headers=headers))
    given = lines([server.url("/a")])
    assert nuthatch("prefetch", given=given).returncode == 0
    planned = nuthatch("prefetch", "--dry-run", "--format=jsonl", given=given)
    assert json.loads(planned.stdout)["plan"] == "revalidate"
    [record], summary = records(nuthatch("prefetch", "--format=jsonl", given=given))
    assert (record["is_in_cache"], record["source"], summary["revalidated"]) == (True, "revalidated", 1)
    assert server.requests("/a")[-1].header("If-None-Match") == '"1"'


def test_prefetch_revalidates_in_the_background_within_stale_while_revalidate(
    server: TestServer, nuthatch: Runner
) -> None:
    headers = [("Cache-Control", "max-age=0, stale-while-revalidate=600")]
    server.on("/a", ok(png(20, 20), "image/png", etag='"1"', headers=headers))
    given = lines([server.url("/a")])
    assert nuthatch("prefetch", given=given).returncode == 0
    [record], summary = records(nuthatch("prefetch", "--format=jsonl", given=given))
    assert (record["is_in_cache"], summary["hits"], summary["revalidated"]) == (True, 1, 0)
    assert server.count("/a") == 2
    assert server.requests("/a")[-1].header("If-None-Match") == '"1"'


def test_a_stale_answer_that_a_request_accepts_counts_as_stale(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", ok(png(20, 20), "image/png", headers=[("Cache-Control", "max-age=0")]))
    given = lines([server.url("/a")])
    assert nuthatch("prefetch", given=given).returncode == 0
    words = ["prefetch", "--format=jsonl", "--header=Cache-Control: max-stale=600"]
    _, summary = records(nuthatch(*words, given=given))
    assert (summary["hits"], summary["stale"], server.count("/a")) == (1, 1, 1)


def test_prefetch_fetches_a_url_of_several_lines_once(server: TestServer, nuthatch: Runner) -> None:
    gate = server.gate("g")
    server.on("/a", script(headers=[("Content-Type", "image/png")], steps=[gate.step, body(png(20, 20))]))
    gate.open()
    found, summary = records(nuthatch("prefetch", "--format=jsonl", given=lines([server.url("/a")] * 700)))
    assert [record["index"] for record in found] == list(range(700))
    assert all(record["ok"] for record in found)
    assert server.count("/a") == 1 and summary["urls"] == 700


def test_dry_run_shows_hits_and_fetches_and_sends_nothing(
    server: TestServer, pictures: List[str], nuthatch: Runner
) -> None:
    nuthatch("prefetch", given=lines(pictures[:3]))
    asked = len(server.requests())
    done = nuthatch("prefetch", "--dry-run", given=lines(pictures))
    assert (done.returncode, done.stdout) == (
        0,
        b"8 URLs: 3 would hit, 0 would be revalidated, 5 would be fetched\n",
    )
    assert len(server.requests()) == asked


@pytest.mark.parametrize("number, code", [(signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_prefetch_ends_within_two_seconds(
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
    # The promise is two seconds. Try again, because the machine may be busy.
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


def test_prefetch_can_be_interrupted_while_it_waits_for_its_list(environment: Dict[str, str]) -> None:
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


@pytest.mark.parametrize(
    "chosen, expected", [(os.SCHED_OTHER, os.SCHED_BATCH), (os.SCHED_IDLE, os.SCHED_IDLE)]
)
def test_prefetch_runs_its_threads_with_batch_scheduling(
    chosen: int, expected: int, server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    """So that a thread that wakes up doesn't preempt another thread or program."""
    gate = server.gate("never")
    server.on("/never", script(steps=[gate.step, body("x")]))
    (tmp_path / "list").write_bytes(lines([server.url("/never")]))

    def choose() -> None:
        heed_signals()
        os.sched_setscheduler(0, chosen, os.sched_param(0))

    with subprocess.Popen(
        [COMMAND, "prefetch", "list"],
        env=environment,
        cwd=str(tmp_path),
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        preexec_fn=choose,
    ) as process:
        assert gate.wait_until_reached()
        found = [os.sched_getscheduler(int(thread)) for thread in os.listdir(f"/proc/{process.pid}/task")]
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
    assert len(found) > 1 and set(found) == {expected}


def test_prefetch_into_a_closed_pipe_prints_nothing(
    pictures: List[str], environment: Dict[str, str], tmp_path: Path
) -> None:
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
def test_prefetch_fails_if_records_can_not_be_written(
    is_in_cache: bool,
    pictures: List[str],
    environment: Dict[str, str],
    nuthatch: Runner,
    tmp_path: Path,
) -> None:
    """Also if there are so few records that they are written at the end."""
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


def test_a_slow_reader_of_records_slows_the_run(
    server: TestServer, pictures: List[str], environment: Dict[str, str], tmp_path: Path
) -> None:
    """If the records are not read, the run stops when the pipe is full and its limit of requests is reached."""
    urls = [server.url(f"/png/8/8?seed={number}") for number in range(3000)]
    (tmp_path / "list").write_bytes(lines(urls))
    command = [COMMAND, "prefetch", "--format=jsonl", "--concurrency=4", "list"]
    with subprocess.Popen(command, env=environment, cwd=str(tmp_path), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        wait_until_it_waits(process.pid)
        seen = server.count()
        assert 0 < seen < 1500 and process.poll() is None
        assert len(process.stdout.read().splitlines()) == 3000
    assert process.returncode == 0


def test_respect_noai_removes_marked_pictures(server: TestServer, nuthatch: Runner) -> None:
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
    # A picture that was stored before is removed, too.
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
def test_respect_noai_reads_directives_with_values(
    value: str, is_refused: bool, server: TestServer, nuthatch: Runner
) -> None:
    """The word before a colon is the name of a robot, or of a directive, or a part of a date."""
    server.on("/a", ok(png(9, 9), "image/png", headers=[("X-Robots-Tag", value)]))
    given = lines([server.url("/a")])
    found, _ = records(nuthatch("prefetch", "--respect-noai", "--format=jsonl", given=given))
    assert found[0].get("error") == ("denied" if is_refused else None)


def test_a_list_that_needs_more_than_disk_bytes_is_reported(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
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
    # The warning during the run estimates the rest of the list.
    named = re.search(rb"--disk-bytes (\d+)M", warning)
    assert named and 0.7 * suggested < int(named[1]) << 20 < 1.5 * suggested
    done = nuthatch("prefetch", *arguments, f"--disk-bytes={suggested}", "--cache=other", given=lines(urls))
    assert records(done)[1]["disk"] == {
        **records(done)[1]["disk"],
        "fits": True,
        "dropped_records": 0,
    }


def list_noise(server: TestServer, folder: Path, seed: int) -> None:
    """A list of 160 pictures that can't be compressed."""
    noise = random.Random(seed)
    urls = []
    for number in range(160):
        rows = b"".join(b"\0" + noise.randbytes(128 * 3) for _ in range(128))
        server.on(f"/{number}.png", ok(png_of(rows, 128, 128), "image/png"))
        urls.append(server.url(f"/{number}.png"))
    (folder / "list").write_bytes(lines(urls))


def test_hits_count_for_the_size_of_a_list(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    """In the second run, the fetched part alone would fit, but not the whole list."""
    list_noise(server, tmp_path, seed=2)
    # The first thumbnails are dropped, so the second run starts with those that are still there.
    urls = (tmp_path / "list").read_text().splitlines()
    (tmp_path / "backwards").write_text("\n".join(reversed(urls)))
    suggested = []
    for name in ["list", "backwards"]:
        done = nuthatch(
            "prefetch", "--size=128", "--thumb-store=raw", "--keep-source=no", "--disk-bytes=8M", name
        )
        said = re.search(
            rb"does not fit into the limit of 8M: .*; --disk-bytes (\d+)M would be enough", done.stdout
        )
        assert said, done.stdout
        assert b"--keep-source" not in done.stdout, "they aren't kept"
        suggested.append(int(said[1]))
    assert b"160 URLs: 0 hits" not in done.stdout
    assert 0.7 * suggested[0] < suggested[1] < 1.5 * suggested[0], suggested
    arguments = [
        "--size=128",
        "--thumb-store=raw",
        "--keep-source=no",
        f"--disk-bytes={suggested[1]}M",
        "--cache=other",
    ]
    assert b"fit" not in nuthatch("prefetch", *arguments, "list").stdout
    assert nuthatch("prefetch", *arguments, "list").stdout.startswith(b"160 URLs: 160 hits")


def test_thumbnails_that_fit_without_originals_are_not_reported_as_dropped(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    """They may use the space that originals leave, which is more than half."""
    list_noise(server, tmp_path, seed=3)
    done = nuthatch("prefetch", "--size=128", "--thumb-store=raw", "--disk-bytes=16M", "list")
    assert (
        b"the originals don't fit into the limit of 16M beside the thumbnails, which stay" in done.stdout
    ), done
    planned = nuthatch("prefetch", "--size=128", "--dry-run", "list").stdout
    assert planned == b"160 URLs: 160 would hit, 0 would be revalidated, 0 would be fetched\n"


def test_prefetch_without_a_usable_cache_fails(nuthatch: Runner) -> None:
    done = nuthatch("prefetch", "--cache", "/dev/null/x", given=b"http://x/\n")
    assert (done.returncode, done.stderr[:23]) == (1, b"nuthatch: prefetch: io:")


def test_progress_and_colours_are_for_terminals(pictures: List[str], nuthatch: Runner) -> None:
    shown = nuthatch("prefetch", "--progress=always", given=lines(pictures)).stderr
    assert b"done" in shown and b"\x1b[3" not in shown, "colours are for terminals"
    assert nuthatch("prefetch", given=lines(pictures)).stderr == b""
