"""The amount of output: --quiet, --verbose, --progress, and narrow terminals."""

import re
import subprocess
from pathlib import Path
from typing import Dict, List

import pytest
from command import COMMAND, Runner, lines, on_terminal
from pictures import png
from testserver import HEAD, TestServer, answer, body, drip, ok, script

NAMES = [
    "prefetch",
    "get",
    "stat",
    "ls",
    "explain",
    "rm",
    "verify",
    "trim",
    "clear",
    "export",
    "outbox",
    "help",
]


@pytest.fixture
def mixed(server: TestServer, pictures: List[str]) -> bytes:
    """A list with a failure and a line that isn't a URL."""
    server.on("/missing", answer(404))
    return lines([*pictures, server.url("/missing"), "ftp://x/"])


def test_a_quiet_run_prints_only_errors(nuthatch: Runner, server: TestServer, mixed: bytes) -> None:
    quiet = nuthatch("prefetch", "--quiet", "--progress=always", given=mixed)
    assert (quiet.returncode, quiet.stdout) == (4, b"")
    said = sorted(quiet.stderr.decode().splitlines())
    assert len(said) == 2 and "bad_url" in said[0] and server.url("/missing") in said[1]
    records = nuthatch("prefetch", "-q", "--format", "jsonl", given=mixed)
    assert (records.returncode, records.stderr) == (4, b"")
    assert records.stdout.count(b"\n") == 10
    assert nuthatch("prefetch", "-q", "--dry-run", given=mixed).stdout == b""


def test_a_quiet_run_prints_why_it_failed(nuthatch: Runner, tmp_path: Path, mixed: bytes) -> None:
    (tmp_path / "cut.csv").write_bytes(b"no,such\n1,2\n")
    broken = nuthatch("prefetch", "-q", "cut.csv")
    assert broken.returncode == 2 and broken.stdout == b"" and b"url" in broken.stderr
    unwritable = nuthatch("prefetch", "-q", "--failed-out=none/f", given=mixed)
    assert unwritable.returncode == 1 and b"none/f" in unwritable.stderr


def test_a_verbose_run_prints_the_outcome_of_each_url(
    nuthatch: Runner, server: TestServer, pictures: List[str], mixed: bytes
) -> None:
    planned = nuthatch("prefetch", "-v", "--dry-run", given=lines(pictures)).stderr.decode()
    assert sorted(planned.splitlines()) == sorted(f"nuthatch: prefetch: fetch: {url}" for url in pictures)
    for form, word in (("text", "fetched"), ("jsonl", "hit, disk")):
        done = nuthatch("prefetch", "--verbose", "--format", form, given=mixed)
        said = done.stderr.decode().splitlines()
        for url in pictures:
            (line,) = [line for line in said if line.endswith(url)]
            assert line.startswith(f"nuthatch: prefetch: {word}, ") and "\u00d740, image/png, " in line
        assert len([line for line in said if "/missing" in line or "bad_url" in line]) == 2 + (
            form == "jsonl"
        )
    server.on("/0", ok(png(60, 40), "image/png", etag='"0"', headers=[("Cache-Control", "no-cache")]))
    again = ["prefetch", "-v", "--no-cache-ttl=0", "-s32"]
    nuthatch(*again, "--policy=reload", given=lines(pictures[:1]))
    assert b"revalidated, " in nuthatch(*again, given=lines(pictures[:1])).stderr


def test_a_verbose_get_prints_the_outcome(nuthatch: Runner, server: TestServer, tmp_path: Path) -> None:
    server.on("/a", ok(png(60, 40), "image/png", headers=[("Cache-Control", "max-age=60")]))
    url = server.url("/a")
    first = nuthatch("get", "--verbose", url).stderr.decode()
    assert re.fullmatch(rf"nuthatch: get: HTTP 200 OK, fetched, image/png, .*, [\d.]+ ms: {url}\n", first)
    second = nuthatch("get", "-v", url, "-o", "a.png").stderr.decode()
    assert second.startswith("nuthatch: get: HTTP 200 OK, hit, disk, image/png, ")
    picture = nuthatch("get", "-v", "-s", "20", "-o", "b.png", url).stderr.decode()
    assert picture.startswith("nuthatch: get: HTTP 200, 20\u00d713 of 60\u00d740, hit, disk, ")
    secret = nuthatch("get", "-v", url.replace("//", "//ann:secret@"), "-o", "c.png").stderr
    assert b"ms: " in secret and b"secret" not in secret
    assert nuthatch("get", url, "-o", "d.png").stderr == b""
    missing = nuthatch("get", "-q", server.url("/status/404"))
    assert missing.returncode == 4 and missing.stderr.count(b"\n") == 1


@pytest.mark.parametrize("command", ["prefetch", "get"])
def test_quiet_and_verbose_exclude_each_other(nuthatch: Runner, command: str) -> None:
    done = nuthatch(command, "-qv", "http://127.0.0.1:1/")
    assert done.returncode == 2 and b"--quiet and --verbose exclude each other" in done.stderr


def plain_lines(command: List[str], environment: Dict[str, str], folder: Path, then: object) -> List[str]:
    """Runs a command with a pipe for standard error. Calls `then` after its first line. Returns the lines."""
    with subprocess.Popen(
        [COMMAND, *command], env=environment, cwd=str(folder), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stderr is not None and callable(then)
        first = process.stderr.readline()
        then()
        rest = process.stderr.read()
        assert process.wait(60) == 0
    return (first + rest).decode().splitlines()


def test_plain_progress_is_a_line_each_time(
    server: TestServer, pictures: List[str], environment: Dict[str, str], tmp_path: Path
) -> None:
    """Each update is a line without control sequences."""
    gate = server.gate("g")
    server.on("/last", script(steps=[gate.step, body(png(8, 8))]))
    (tmp_path / "list").write_bytes(lines([*pictures, server.url("/last")]))
    said = plain_lines(["prefetch", "--progress=plain", "list"], environment, tmp_path, gate.open)
    for line in said:
        assert re.match(r"nuthatch: prefetch: \d+ %  \d/9 done  .* hits  0 failed", line)
        assert "\r" not in line and "\x1b" not in line and "█" not in line


def test_plain_progress_of_a_download_is_a_line_each_time(
    server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    gate = server.gate("g")
    # Longer than the time before the first line.
    steps = [HEAD, drip("x" * 700, 10), gate.step, body("x" * 300)]
    server.on("/a", script(headers=[("Content-Length", "1000")], steps=steps))
    command = ["get", "--progress=plain", "-o", "a", server.url("/a")]
    said = plain_lines(command, environment, tmp_path, gate.open)
    assert re.fullmatch(r"nuthatch: get: \d+ %  \d+ B of 1.0 kB  .*/s  .* left", said[0])
    assert (tmp_path / "a").stat().st_size == 1000


def test_a_download_shows_its_progress_on_a_terminal(
    server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    gate = server.gate("g")
    # Longer than the time before the bar is shown.
    steps = [HEAD, drip("x" * 400, 10), gate.step, body("x" * 600)]
    server.on("/a", script(headers=[("Content-Length", "1000")], steps=steps))
    command = ["get", "-o", "a", server.url("/a")]
    code, said = on_terminal(command, environment, tmp_path, columns=40, meanwhile=gate.open)
    assert code == 0
    shown = said.split("\r")
    assert " of 1.0 kB" in shown[1] and shown[-1] == "\x1b[K"
    assert all(len(line.replace("\x1b[K", "")) < 40 for line in shown)
    # No progress without a terminal, and none with --progress=never.
    gate.open()
    for more in (["--quiet"], ["--progress", "never"]):
        assert on_terminal([*command, *more], environment, tmp_path) == (0, "")


def test_no_word_is_broken_at_40_columns(
    server: TestServer, mixed: bytes, environment: Dict[str, str], tmp_path: Path
) -> None:
    env = {**environment, "NO_COLOR": "1"}
    (tmp_path / "list").write_bytes(mixed)
    wordy = [
        ["help"],
        *(["help", name] for name in NAMES),
        ["prefetch", "list"],
        ["prefetch", "--verbose", "list"],
        ["prefetch", "--dry-run", "list"],
        ["stat"],
        ["explain", server.url("/0")],
        ["get", "--key", "k", server.url("/0")],
        ["get", server.url("/0")],
        ["get", "--size", "16", "-v", "-o", "a.png", server.url("/0")],
        ["get", server.url("/missing")],
        ["nonsense"],
        [],
    ]
    for command in wordy:
        said = on_terminal(command, env, tmp_path, columns=40)[1]
        shown = re.sub(r"\r[^\n]*\x1b\[K", "", said.replace("\r\n", "\n"))
        # Commands must stay copyable, and a single word may be too long.
        for line in shown.split("\nExamples:")[0].split("\n"):
            assert len(line) <= 40 or " " not in line.strip(), (command, line)
    # A summary in a file is not wrapped.
    (tmp_path / "again").write_bytes(mixed)
    done = subprocess.run(
        [COMMAND, "prefetch", "again"], env=env, cwd=str(tmp_path), capture_output=True, check=False
    )
    assert len(done.stdout.splitlines()[0]) > 40
