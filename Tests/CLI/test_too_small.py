"""A list that needs more than the cache's limit."""

from __future__ import annotations

import json
import random
import re
import subprocess
from pathlib import Path
from typing import Dict, List

import pytest
from command import COMMAND, Runner, lines, summary
from pictures import png, png_of
from testserver import TestServer, ok, redirect


def noise(server: TestServer, count: int, seed: int = 1) -> List[str]:
    """Pictures whose thumbnails of 64 pixels take 12 KB each."""
    source = random.Random(seed)
    for number in range(count):
        rows = b"".join(b"\0" + source.randbytes(64 * 3) for _ in range(64))
        server.on(f"/{number}.png", ok(png_of(rows, 64, 64), "image/png"))
    return [server.url(f"/{number}.png") for number in range(count)]


@pytest.mark.parametrize("arguments", [["--keep-source=no"], [], ["--size=64,48"]])
def test_dropped_thumbnails_are_counted(
    arguments: List[str], server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    (tmp_path / "list").write_bytes(lines(noise(server, 900)))
    options = ["--size=64", "--thumb-store=raw", "--format=jsonl", *arguments, "list"]
    done = nuthatch("prefetch", "--disk-bytes=4M", *options)
    assert done.returncode == 5, done.stderr
    told = summary(done.stderr)
    assert (told["ok"], told["failed"], told["exit"]) == (900, 0, 5)
    assert told["disk"]["fits"] is False
    *early, words = done.stderr.decode().splitlines()[:-1]
    sizes = 2 if "--size=64,48" in arguments else 1
    # A record that was not stored in time, because the disk was slow, is not dropped by the limit.
    made = (900 - told["not_kept"]) * sizes
    assert told["not_kept"] < 5 and f" of {made} " in words.replace(",", ""), (told, words)
    found = json.loads(nuthatch("stat", "--format=json").stdout)
    # If the answer of a thumbnail was dropped, the thumbnail can't be used.
    assert 0 <= told["dropped"] - (made - found["thumbnails"]) <= 10
    if "--keep-source=no" in arguments:
        planned = nuthatch("prefetch", "--size=64", "--dry-run", "list").stdout
        assert planned.startswith(b"900 URLs: %d would hit, " % (made - told["dropped"]))
    # The early warning, if there was time for one, has nearly the figures of the end. The suggested limit is enough.
    sure, *guessed = (int(re.findall(r"--disk-bytes (\d+)M", text)[0]) for text in [words, *early])
    assert all(0.7 * sure < guess < 1.5 * sure for guess in guessed), done.stderr
    again = nuthatch("prefetch", "--cache=other", f"--disk-bytes={sure}M", *options)
    told = summary(again.stderr)
    assert (again.returncode, told["dropped"], told["disk"]["dropped_records"]) == (0, 0, 0), again.stderr
    assert told["disk"]["used"] > 0.7 * (sure << 20)
    hint = re.search(r", or --disk-bytes (\d+)M with --keep-source no", words)
    assert (hint is None) == ("--keep-source=no" in arguments)
    if hint:
        options += ["--keep-source=no"]
        again = nuthatch("prefetch", "--cache=third", f"--disk-bytes={hint[1]}M", *options)
        assert (again.returncode, summary(again.stderr)["dropped"]) == (0, 0)


@pytest.mark.parametrize("policy", ["kit", "rfc9111"])
def test_dropped_thumbnails_behind_redirects_are_counted(
    policy: str, server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    urls = noise(server, 600)
    for number, url in enumerate(urls):
        server.on(f"/to/{number}", redirect(url))
    (tmp_path / "list").write_bytes(lines(server.url(f"/to/{number}") for number in range(len(urls))))
    options = ["--size=64", "--thumb-store=raw", "--format=jsonl", f"--policy={policy}", "list"]
    told = summary(nuthatch("prefetch", "--disk-bytes=4M", *options).stderr)
    found = json.loads(nuthatch("stat", "--format=json").stdout)
    made = 600 - told["not_kept"]
    assert (told["ok"], told["exit"]) == (600, 5) and told["not_kept"] < 5
    assert 0 <= told["dropped"] - (made - found["thumbnails"]) <= 10
    told = summary(nuthatch("prefetch", "--cache=other", "--disk-bytes=64M", *options).stderr)
    assert (told["ok"], told["exit"], told["dropped"]) == (600, 0, 0)


def test_failed_urls_decide_the_exit_status_before_dropped_thumbnails(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    urls = [*noise(server, 500), server.url("/missing")]
    done = nuthatch("prefetch", "--disk-bytes=4M", "--size=64", "--thumb-store=raw", given=lines(urls))
    assert done.returncode == 4
    assert b" thumbnails were dropped again; --disk-bytes " in done.stdout
    enough = ["--min-success=0.9", "--disk-bytes=4M", "--size=64", "--thumb-store=raw"]
    assert nuthatch("prefetch", *enough, given=lines(urls)).returncode == 5


def test_thumbnails_of_other_lists_do_not_count_as_dropped(
    server: TestServer, nuthatch: Runner, tmp_path: Path
) -> None:
    """The second list fits, because thumbnails of the first one are dropped for it."""
    urls = noise(server, 400)
    for given in (urls[:200], urls[200:]):
        done = nuthatch(
            "prefetch",
            "--disk-bytes=4M",
            "--size=64",
            "--thumb-store=raw",
            "--keep-source=no",
            given=lines(given),
        )
        assert (done.returncode, done.stderr, b"fit" in done.stdout) == (0, b"", False), done.stdout
    assert json.loads(nuthatch("stat", "--format=json").stdout)["thumbnails"] < 400


def test_a_small_list_gives_no_warning(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", ok(png(9, 9), "image/png"))
    done = nuthatch("prefetch", "--disk-bytes=4M", "--format=jsonl", given=lines([server.url("/a")] * 3))
    assert (done.returncode, summary(done.stderr)["dropped"]) == (0, 0)


def on_small_disk(
    script: str, environment: Dict[str, str], folder: Path, *, megabytes: int
) -> subprocess.CompletedProcess[bytes]:
    """Runs a script with a file system at `disk` in a new mount namespace. With `disk/ballast`, 1.5 MB are free."""
    (folder / "disk").mkdir()
    mounted = f"""
        mount -t tmpfs -o size={megabytes}m tmpfs disk || exit 77
        head -c {(megabytes << 20) - 1_500_000} /dev/zero >disk/ballast
        """
    done = subprocess.run(
        ["unshare", "-rm", "bash", "-c", mounted + script],
        env=environment,
        cwd=str(folder),
        capture_output=True,
        timeout=120,
        check=False,
    )
    if done.returncode == 77 or done.stderr.startswith(b"unshare"):
        pytest.skip("no file system can be mounted here")
    return done


PREFETCH = (
    f"'{COMMAND}' prefetch --cache disk/cache --size 64 --thumb-store raw --keep-source no --format jsonl"
)


def test_a_full_disk_stops_the_run_until_there_is_room(
    server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "list").write_bytes(lines(noise(server, 200)))
    script = f"""
        {PREFETCH} list >records 2>words &
        until grep -q 'the disk is full' words; do sleep 0.1; done
        rm disk/ballast
        wait $!
        echo $?
        {PREFETCH} list 2>again >/dev/null
        '{COMMAND}' verify --cache disk/cache"""
    done = on_small_disk(script, environment, tmp_path, megabytes=8)
    words = (tmp_path / "words").read_bytes()
    assert done.stdout.startswith(b"0\n"), (done, words)
    assert b"nothing is fetched until there is room" in words and b"the run goes on" in words
    told = summary(words)
    assert (told["ok"], told["not_kept"], told["disk"]["full"], told["dropped"]) == (200, 0, False, 0)
    records = [json.loads(line) for line in (tmp_path / "records").read_text().splitlines()]
    assert sorted(record["index"] for record in records) == list(range(200))
    assert all(record["is_stored"] for record in records)
    again = summary((tmp_path / "again").read_bytes())
    assert (again["hits"], again["exit"]) == (200, 0)
    assert b"are intact" in done.stdout


def test_a_disk_that_can_not_be_written_ends_the_run(
    server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "list").write_bytes(lines(noise(server, 200)))
    script = f"""
        {PREFETCH} list >records 2>words &
        until grep -q 'the disk is full' words; do sleep 0.1; done
        # Answers that are under way may make the directory again.
        while kill -0 $! 2>/dev/null; do rm -rf disk/cache; sleep 0.1; done
        wait $!
        echo $?"""
    done = on_small_disk(script, environment, tmp_path, megabytes=8)
    words = (tmp_path / "words").read_bytes()
    assert done.stdout == b"1\n", (done, words)
    why = b"nothing can be stored: No such file or directory: correct that, then run again for the rest of the list"
    assert words.count(why) == 1


def test_a_disk_that_stays_full_ends_the_run(
    server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "list").write_bytes(lines(noise(server, 2000)))
    script = f"""
        {PREFETCH} --give-up-after 1 list >records 2>words
        echo $?
        rm disk/ballast
        {PREFETCH} list 2>again >/dev/null"""
    done = on_small_disk(script, environment, tmp_path, megabytes=64)
    words = (tmp_path / "words").read_bytes()
    assert done.stdout == b"1\n", (done, words)
    assert b"the disk is still full: make room, then run again for the rest of the list" in words
    told = summary(words)
    kept = told["ok"]
    assert told["disk"]["full"] is True and 0 < kept < 100
    again = summary((tmp_path / "again").read_bytes())
    # Some more answers were stored while they were cancelled.
    assert kept <= again["hits"] < kept + 64
    assert (again["hits"] + again["fetched"], again["exit"]) == (2000, 0)
    # Only the requests under way when the disk became full, and few more, were fetched for nothing.
    assert server.count() < 2000 + 700


def test_no_limit_is_suggested_for_a_list_without_an_end(
    server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    command = [COMMAND, "prefetch", "--disk-bytes=4M", "--size=64", "--thumb-store=raw", "--format=jsonl"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write(lines(noise(server, 500)))
        process.stdin.flush()
        said = process.stderr.readline()
        assert b"does not fit into the limit of 4M" in said and b"would be enough" not in said
        process.stdin.close()
        assert b" would be enough" in process.stderr.readline()
        assert process.wait(60) == 5
