"""A cache on a file system that is mounted read-only."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Callable

import pytest
from command import COMMAND, Outcome, Runner, heed_signals
from pictures import png
from read_only import age, everything, mounted
from testserver import TestServer, ok

Reader = Callable[..., Outcome]


@pytest.fixture
def read(tmp_path: Path, environment: dict[str, str]) -> Reader:
    """Runs the command with a read-only cache."""

    def run(*arguments: str, given: bytes = b"", folder: str = "cache", **env: str) -> Outcome:
        return subprocess.run(
            mounted(tmp_path / folder, COMMAND, *arguments),
            cwd=str(tmp_path),
            env={**environment, "NUTHATCH_CACHE": str(tmp_path / folder), **env},
            input=given,
            capture_output=True,
            timeout=120,
            check=False,
        )

    return run


def as_it_is(cache: Path) -> None:
    """The cache is unchanged."""


def after_a_restart(cache: Path) -> None:
    """The index is from another boot."""
    age(cache / "index")


def without_index(cache: Path) -> None:
    """The index is missing, as in a copy of the packs alone."""
    for name in ["index", "locks", "lock", "limits", "flights"]:
        (cache / name).unlink(missing_ok=True)


STATES = [as_it_is, after_a_restart, without_index]


@pytest.mark.parametrize("state", STATES)
def test_a_read_only_cache_can_be_read(
    state: Callable[[Path], None], server: TestServer, nuthatch: Runner, read: Reader, tmp_path: Path
) -> None:
    first, second = png(300, 200, seed=1), png(40, 30, seed=2)
    server.on("/a", ok(first, "image/png", etag='"1"'))
    server.on("/b", ok(second, "image/png", etag='"2"'))
    stored, other = server.url("/a"), server.url("/b")
    assert nuthatch("prefetch", "-s64", given=stored.encode()).returncode == 0
    state(tmp_path / "cache")
    before = everything(tmp_path / "cache")
    server.go_down()

    done = read("stat", "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["answers"], found["originals"], found["thumbnails"]) == (1, 1, 1)
    assert found["warning"] == "the cache can only be read: the file system is read-only"
    done = read("ls")
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 1), done.stderr
    assert stored.encode() in done.stdout
    done = read("explain", stored)
    assert done.returncode == 0 and done.stdout.startswith(b"hit:"), done.stderr
    done = read("get", "--policy", "offline", "-o", "a.png", stored)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.png").read_bytes() == first
    # A size that isn't stored is made from the original, and delivered.
    done = read("get", "--policy", "offline", "-s", "32", "-o", "small.png", stored)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "small.png").stat().st_size > 0
    done = read("export", "-s64", "out")
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out").rglob("*.*"))) >= 1
    done = read("verify")
    assert (done.returncode, done.stdout[:2]) == (0, b"3 "), (done.stdout, done.stderr)
    done = read("outbox", "list")
    assert (done.returncode, done.stdout) == (0, b""), done.stderr

    # Answers of the network are delivered, but not stored.
    server.go_up()
    for _ in range(2):
        done = read("get", "-o", "b.png", other)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "b.png").read_bytes() == second
    assert len(server.requests("/b")) == 2
    for _ in range(2):
        done = read("get", "--policy", "reload", "-o", "a.png", stored)
        assert done.returncode == 0, done.stderr
    assert everything(tmp_path / "cache") == before


@pytest.mark.parametrize("command", [["clear"], ["trim", "--to-bytes", "1"], ["rm"]])
def test_commands_do_not_change_a_read_only_cache(
    command: list[str], server: TestServer, nuthatch: Runner, read: Reader
) -> None:
    server.on("/a", ok(png(30, 20), "image/png", etag='"1"'))
    assert nuthatch("prefetch", given=server.url("/a").encode()).returncode == 0
    if command == ["rm"]:
        command = ["rm", server.url("/a")]
    done = read(*command)
    assert done.returncode == 1
    assert b": io: the cache can only be read: the file system is read-only: " in done.stderr
    assert b" 200 " in read("ls").stdout


def test_prefetch_into_a_read_only_cache_is_reported(
    server: TestServer, nuthatch: Runner, read: Reader
) -> None:
    server.on_prefix("/", ok(png(30, 20), "image/png", etag='"1"'))
    stored, other = server.url("/a"), server.url("/b")
    assert nuthatch("prefetch", given=stored.encode()).returncode == 0
    # Stored thumbnails need no write.
    done = read("prefetch", given=stored.encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert read("prefetch", "--dry-run", given=other.encode()).returncode == 0
    done = read("prefetch", given=f"{stored}\n{other}\n".encode())
    assert done.returncode == 1
    assert b"  the cache can only be read: the file system is read-only\n" in done.stdout
    assert b"  1 fetched but not kept, because the cache can only be read\n" in done.stdout


def test_no_cache_is_created_in_a_read_only_folder(nuthatch: Runner, read: Reader, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for arguments in [["stat"], ["get", "http://127.0.0.1:1/"]]:
        done = read(*arguments, folder="empty")
        assert done.returncode == 1
        assert (
            b"io: there is no cache in the directory, and none can be created: Read-only file system"
            in done.stderr
        )
        done = read(*arguments, folder="empty", NUTHATCH_CACHE=str(tmp_path / "empty" / "cache"))
        assert done.returncode == 1
        assert b"can't be created" in done.stderr and b"Read-only file system" in done.stderr
    assert list((tmp_path / "empty").iterdir()) == []


def test_a_read_only_cache_can_be_read_after_a_writer_was_killed(
    server: TestServer, nuthatch: Runner, read: Reader, environment: dict[str, str], tmp_path: Path
) -> None:
    server.on_prefix("/", ok(png(60, 40), "image/png", etag='"1"'))
    urls = [server.url(f"/{number}") for number in range(4000)]
    for number, state in enumerate(STATES):
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        with subprocess.Popen(
            [COMMAND, "prefetch", "-s16", "--format", "jsonl"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            preexec_fn=heed_signals,
        ) as writer:
            assert writer.stdin is not None and writer.stdout is not None
            writer.stdin.write("".join(f"{url}\n" for url in urls).encode())
            writer.stdin.flush()
            done = [json.loads(writer.stdout.readline())["url"] for _ in range(50 + 20 * number)]
            writer.send_signal(signal.SIGKILL)
        state(tmp_path / "cache")
        listed = read("ls")
        assert listed.returncode == 0, listed.stderr
        there = {line.split()[-1].decode() for line in listed.stdout.splitlines()}
        # This record was reported before the kill.
        assert set(done) <= there
        found = read("get", "--policy", "offline", "-o", "a.png", done[0])
        assert found.returncode == 0, found.stderr
        assert read("verify").returncode == 0


def test_bodies_under_way_use_another_folder_if_the_cache_is_read_only(
    server: TestServer, nuthatch: Runner, read: Reader, tmp_path: Path
) -> None:
    server.on_prefix("/", ok(os.urandom(1 << 20), "application/octet-stream"))
    assert nuthatch("get", "-o", "a", server.url("/a")).returncode == 0
    done = read("get", "--inflight-bytes", "64K", "-o", "b", server.url("/b"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "b").read_bytes() == (tmp_path / "a").read_bytes()
