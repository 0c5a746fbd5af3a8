"""`nuthatch prefetch` at scale: shards, kills, terminals, and servers that hang."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Dict, List

import pytest
from command import (
    COMMAND,
    ROOT,
    Runner,
    heed_signals,
    lines,
    names,
    on_terminal,
    summary,
    wait_until_it_waits,
)
from pictures import png
from testserver import TestServer, answer, body, ok, script


def test_the_example_with_parallel_and_shards_runs(
    server: TestServer, environment: Dict[str, str], nuthatch: Runner, tmp_path: Path
) -> None:
    """The example of docs/COMMAND.md and help, but with two shards. The two spellings of a host get one each."""
    line = "seq 0 7 | parallel nuthatch prefetch --shard {}/8 --cache shard-{} urls.txt"
    assert f"`{line}`" in (ROOT / "docs/COMMAND.md").read_text()
    assert line.encode() in nuthatch("help", "prefetch").stdout
    line = line.replace("seq 0 7", "seq 0 1").replace("/8", "/2").replace("urls", "--format jsonl urls")
    if shutil.which("parallel") is None:
        print("GNU parallel isn't installed: xargs takes its place")
        # Unlike parallel, this shell function doesn't separate the outputs of its processes.
        line = line.replace("parallel ", "xargs -P 2 -I {} sh -c '") + " > out-{}' && cat out-*"
    # At most six for each host: if others waited, requests that the server is slow to answer would be repeated.
    urls = [server.url(f"/{number}", host=["127.0.0.1", "0x7f.1"][number % 2]) for number in range(12)]
    for number in range(12):
        server.on(f"/{number}", ok(png(9, 9, seed=number), "image/png"))
    (tmp_path / "urls.txt").write_bytes(lines(urls))
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "nuthatch").symlink_to(COMMAND)
    path = f"{tools}:{os.environ['PATH']}"
    for run in range(2):
        done = subprocess.run(
            ["sh", "-c", line],
            env={**environment, "PATH": path},
            cwd=str(tmp_path),
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        records = [json.loads(text) for text in done.stdout.splitlines()]
        assert sorted((record["index"], record["url"]) for record in records) == list(enumerate(urls))
        assert {record["is_in_cache"] for record in records} == {run == 1}
    assert len(server.requests()) == 12
    assert sorted(path.name for path in tmp_path.glob("shard-*")) == ["shard-0", "shard-1"]


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_an_interrupted_run_ends_while_servers_hang(
    number: signal.Signals,
    code: int,
    server: TestServer,
    pictures: List[str],
    environment: Dict[str, str],
    nuthatch: Runner,
    tmp_path: Path,
) -> None:
    """The server hangs before the head, within the body, or before any byte. Finished URLs keep their records."""
    gate = server.gate("never")
    server.on("/head", script(steps=[gate.step, body("x")]))
    half = png(90, 90)[:100]
    server.on("/body", script(headers=[("Content-Length", "999")], steps=[body(half), gate.step, body("x")]))
    hanging = [server.url("/head"), server.url("/body")]
    (tmp_path / "list").write_bytes(lines([*pictures, *hanging]))
    seconds: List[float] = []
    # The promise is two seconds. Try again, because the machine may be busy.
    while not seconds or (seconds[-1] > 2 and len(seconds) < 3):
        with subprocess.Popen(
            [COMMAND, "prefetch", "--format=jsonl", "list"],
            env=environment,
            cwd=str(tmp_path),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=heed_signals,
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            for _ in pictures:
                process.stdout.readline()
            assert gate.wait_until_reached(2)
            begin = time.monotonic()
            process.send_signal(number)
            assert process.wait(30) == code
            seconds.append(time.monotonic() - begin)
            if number != signal.SIGKILL:
                said = summary(process.stderr.read())
                assert (said["urls"], said["ok"], said["failed"]) == (8, 8, 0)
                assert said["fetched" if len(seconds) == 1 else "hits"] == 8
    assert seconds[-1] <= 2, seconds
    server.off("/head")
    server.off("/body")
    asked = len(server.requests())
    again = nuthatch("prefetch", "--format=jsonl", "--retries=0", "list")
    said = summary(again.stderr)
    assert (said["hits"], said["failed"], len(server.requests()) - asked) == (8, 2, 2)


def test_a_second_run_tries_only_failed_urls_again(
    server: TestServer, pictures: List[str], nuthatch: Runner
) -> None:
    server.on("/flaky", answer(503), answer(503), ok(png(9, 9), "image/png"))
    server.on("/gone", answer(404))
    # At most six for each host: if others waited, requests that the server is slow to answer would be repeated.
    urls = [*pictures[:4], server.url("/flaky"), server.url("/gone")]
    done = nuthatch("prefetch", "--format=jsonl", given=lines(urls))
    found = {record["url"]: record for record in map(json.loads, done.stdout.splitlines())}
    assert found[server.url("/flaky")]["attempts"] == 3
    assert (server.count("/flaky"), server.count("/gone"), len(server.requests())) == (3, 1, 8)
    assert summary(done.stderr)["errors"] == {"http": 1}


def test_a_second_run_revalidates_stale_answers(server: TestServer, nuthatch: Runner) -> None:
    headers = [("Cache-Control", "max-age=0")]
    for number in range(5):
        server.on(
            f"/{number}", ok(png(20, 20, seed=number), "image/png", etag=f'"{number}"', headers=headers)
        )
    given = lines([server.url(f"/{number}") for number in range(5)])
    first = nuthatch("prefetch", "--format=jsonl", "--size=8,16", given=given)
    assert (len(server.requests()), summary(first.stderr)["not_kept"]) == (5, 0)
    server.clear_log()
    said = summary(nuthatch("prefetch", "--format=jsonl", "--size=8,16", given=given).stderr)
    assert (said["revalidated"], said["fetched"]) == (5, 0)
    assert all(request.header("If-None-Match") for request in server.requests())
    # With a longer lifetime nothing is sent, also not for a new size.
    server.clear_log()
    for arguments in (["--size=8"], ["--size=12"]):
        assert nuthatch("prefetch", *arguments, "--policy=offline", given=given).returncode == 0
    assert server.requests() == []


def test_lifetimes_of_policies_can_be_set(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", ok(png(20, 20), "image/png", etag='"a"'))
    server.on("/b", ok(png(20, 20, seed=1), "image/png"))
    given = lines([server.url("/a"), server.url("/b")])
    assert nuthatch("prefetch", given=given).returncode == 0

    def plan(*arguments: str) -> List[str]:
        done = nuthatch("prefetch", "--dry-run", "--format=jsonl", *arguments, given=given)
        return [json.loads(line)["plan"] for line in done.stdout.splitlines()]

    assert plan() == ["hit", "hit"]
    assert plan("--validator-ttl=0") == ["revalidate", "hit"]
    assert plan("--image-ttl=0") == ["hit", "revalidate"]
    assert plan("--policy=rfc9111") == ["revalidate", "revalidate"]


def test_cache_key_of_a_list_uses_the_url_without_query(server: TestServer, nuthatch: Runner) -> None:
    server.on("/a", ok(png(20, 20), "image/png"))
    for query in ("?signed=1", "?signed=2"):
        given = lines([server.url(f"/a{query}")])
        assert nuthatch("prefetch", "--cache-key", "spring/{}", given=given).returncode == 0
    assert len(server.requests()) == 1
    assert b"spring/" + server.url("/a").encode() in nuthatch("ls").stdout
    wrong = nuthatch("prefetch", "--cache-key", "all", given=b"http://x/\n")
    assert (wrong.returncode, b"{}" in wrong.stderr) == (2, True)


def test_progress_is_shown_on_a_terminal(
    server: TestServer, pictures: List[str], environment: Dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "list").write_bytes(lines([*pictures, server.url("/404")]))
    shown: Dict[str, str] = {}
    for name, extra in (("coloured", {}), ("plain", {"NO_COLOR": "1"})):
        env = {**environment, "TERM": "xterm", "NUTHATCH_CACHE": str(tmp_path / name), **extra}
        code, shown[name] = on_terminal(["prefetch", "list"], env, tmp_path)
        assert code == 4
    for said in shown.values():
        assert re.search(r"\r.* \d+ % .*\d+(/9)? done  .*/s  .*B  .*hits  .*failed", said), said
        assert "9 URLs: 0 hits, 8 fetched, 1 failed" in said.splitlines()[-2] + said.splitlines()[-1]
    assert "\x1b[3" in shown["coloured"] and "\x1b[3" not in shown["plain"]


@pytest.mark.parametrize("columns", [20, 40, 80, 200])
def test_the_progress_line_is_never_wrapped(
    columns: int, server: TestServer, pictures: List[str], environment: Dict[str, str], tmp_path: Path
) -> None:
    """A longer line would be wrapped, and each update would leave a line behind."""
    gate = server.gate("held")
    server.on("/held", script(steps=[gate.step, body("x")]))
    urls = [*pictures, *[server.url(f"/404/{n}") for n in range(2000)], server.url("/held")]
    (tmp_path / "list").write_bytes(lines(urls))
    begin = time.monotonic()
    _, said = on_terminal(
        ["prefetch", "--retries=0", "list"],
        {**environment, "TERM": "xterm"},
        tmp_path,
        columns=columns,
        # After one second, the line shows the time left.
        meanwhile=lambda: time.monotonic() - begin > 2 and gate.open(),
        answers_too=False,
    )
    shown = re.findall(r"\r([^\r\n]+)\x1b\[K", re.sub(r"\x1b\[[\d;]*m", "", said))
    assert shown
    # The last column stays free: some terminals start a new line when it is written.
    assert max(map(len, shown)) < columns, max(shown, key=len)
    assert "2,009/2,009 done" in shown[-1]
    words = ["█", "%", "done", "/s", "B", "hits", "failed", "left"]
    assert columns < 80 or any(all(word in line for word in words) for line in shown)


def test_records_and_progress_share_a_terminal(
    server: TestServer, pictures: List[str], environment: Dict[str, str], tmp_path: Path
) -> None:
    """Each record starts on its own line, not after the progress."""
    gate = server.gate("held")
    server.on("/held", script(steps=[gate.step, body("x")]))
    (tmp_path / "list").write_bytes(lines([*pictures, "no url", server.url("/held"), *pictures]))
    begin = time.monotonic()
    _, said = on_terminal(
        ["prefetch", "--format=jsonl", "list"],
        {**environment, "TERM": "xterm"},
        tmp_path,
        columns=80,
        meanwhile=lambda: time.monotonic() - begin > 1 and gate.open(),
    )
    shown = re.sub(r"\x1b\[[\d;]*m", "", said)
    assert shown.count("done") > 2, "the line is there, too"
    before = re.findall(r'([^\r\n]*)\{"(?:index|urls)"', shown)
    assert len(before) == 2 * len(pictures) + 3
    assert set(before) <= {"", "\x1b[K"}


def test_a_killed_run_leaves_no_files(
    server: TestServer, nuthatch: Runner, environment: Dict[str, str], tmp_path: Path
) -> None:
    gate = server.gate("never")
    server.on("/a", script(steps=[gate.step]))
    server.on("/b", ok("no picture"))
    (tmp_path / "slow").write_text(server.url("/a"))
    (tmp_path / "list").write_text(server.url("/b"))
    (tmp_path / "out").mkdir()
    # Files of other programs.
    left = [".nuthatch-1-2.part", ".nuthatch-1-x.part"]
    (tmp_path / "out" / left[0]).touch()
    (tmp_path / "out" / left[1]).symlink_to("../list")
    outputs = ["--report", "out/report.html", "--failed-out", "out/failed"]
    killed = subprocess.Popen(
        [COMMAND, "prefetch", "slow", *outputs],
        env=environment,
        cwd=str(tmp_path),
        stderr=subprocess.DEVNULL,
    )
    assert gate.wait_until_reached()
    assert names(tmp_path / "out") == left
    killed.kill()
    killed.wait(60)
    assert names(tmp_path / "out") == left
    nuthatch("prefetch", "list", *outputs)
    assert names(tmp_path / "out") == [*left, "failed", "report.html"]
    assert (tmp_path / "list").exists()


def test_files_of_a_running_process_are_not_removed(
    server: TestServer, nuthatch: Runner, environment: Dict[str, str], tmp_path: Path
) -> None:
    gate = server.gate("later")
    server.on("/a", script(steps=[gate.step, body("no picture")]))
    server.on("/b", ok("no picture"))
    (tmp_path / "slow").write_text(server.url("/a"))
    (tmp_path / "list").write_text(server.url("/b"))
    command = [COMMAND, "prefetch", "slow", "--failed-out", "failed", "--report", "report.html"]
    with subprocess.Popen(command, env=environment, cwd=str(tmp_path), stderr=subprocess.DEVNULL) as process:
        assert gate.wait_until_reached()
        nuthatch("prefetch", "list", "--failed-out", "other", "--report", "other.html")
        gate.open()
        assert process.wait(60) == 4
    assert names(tmp_path) == ["failed", "list", "other", "other.html", "report.html", "slow"]
    assert server.url("/a") in (tmp_path / "failed").read_text()


@pytest.mark.parametrize("when, is_shown", [("auto", False), ("always", True)])
def test_no_progress_on_a_dumb_terminal(
    when: str, is_shown: bool, pictures: List[str], environment: Dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "list").write_bytes(lines(pictures))
    env = {**environment, "TERM": "dumb"}
    code, said = on_terminal(["prefetch", f"--progress={when}", "list"], env, tmp_path, answers_too=False)
    assert code == 0
    assert ("\x1b" in said) == is_shown


def test_one_interrupt_that_arrives_twice_counts_once(
    pictures: List[str], environment: Dict[str, str], nuthatch: Runner
) -> None:
    """`timeout` signals its child and then the child's group. Wrappers pass on a signal that the terminal sent to
    all."""
    with subprocess.Popen(
        [COMMAND, "prefetch", "--format=jsonl", "--spill=pressure"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_signals,
    ) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        process.stdin.write(lines(pictures))
        process.stdin.flush()
        for _ in pictures:
            process.stdout.readline()
        # Both signals are pending when the process continues. Two of the same kind would be merged.
        for number in [signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT]:
            process.send_signal(number)
        code = process.wait(10)
        said = process.stderr.read()
    assert code in (130, 143) and summary(said)["exit"] == code
    again = nuthatch("prefetch", "--format=jsonl", given=lines(pictures))
    assert summary(again.stderr)["hits"] == len(pictures)


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_prefetch_can_be_interrupted_while_standard_error_has_no_reader(
    number: int, code: int, environment: Dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "list").write_bytes(b"ftp://x/\n" * 20_000)
    command = [COMMAND, "prefetch", "list"]
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
            assert process.stderr is not None and process.stdout is not None
            wait_until_it_waits(process.pid, heeding=number)
            begin = time.monotonic()
            process.send_signal(number)
            try:
                assert process.wait(10) == code
            finally:
                process.kill()
            seconds.append(time.monotonic() - begin)
            assert b"interrupted; run again to continue" in process.stdout.read()
    assert seconds[-1] <= 2, seconds


def test_prefetch_can_be_interrupted_while_no_output_has_a_reader(
    environment: Dict[str, str], tmp_path: Path
) -> None:
    """Waiting for the readers of both outputs together must end within two seconds."""
    (tmp_path / "list").write_bytes(b"ftp://x/\n" * 20_000)
    seconds: List[float] = []
    while not seconds or (seconds[-1] > 2 and len(seconds) < 3):
        with subprocess.Popen(
            ["bash", "-c", f"exec '{COMMAND}' prefetch list 2>&1"],
            env=environment,
            cwd=str(tmp_path),
            stdout=subprocess.PIPE,
            preexec_fn=heed_signals,
        ) as process:
            wait_until_it_waits(process.pid, heeding=signal.SIGINT)
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            try:
                assert process.wait(10) == 130
            finally:
                process.kill()
            seconds.append(time.monotonic() - begin)
    assert seconds[-1] <= 2, seconds


@pytest.mark.parametrize("command", [["prefetch"], ["export", "out"]])
def test_a_named_pipe_without_a_writer_does_not_stop_the_run(
    command: List[str],
    server: TestServer,
    pictures: List[str],
    environment: Dict[str, str],
    nuthatch: Runner,
    tmp_path: Path,
) -> None:
    """Other lists are fetched meanwhile, and the run can be interrupted."""
    (tmp_path / "list").write_bytes(lines(pictures))
    os.mkfifo(tmp_path / "pipe")
    if command != ["prefetch"]:
        assert nuthatch("prefetch", "list").returncode == 0
    for is_written in (False, True):
        with subprocess.Popen(
            [COMMAND, *command, "list", "pipe"],
            env=environment,
            cwd=str(tmp_path),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=heed_signals,
        ) as process:
            if command == ["prefetch"]:
                server.wait_for_requests(len(pictures))
            wait_until_it_waits(process.pid, heeding=signal.SIGINT)
            if is_written:
                (tmp_path / "pipe").write_bytes(lines(pictures[:1]))
            else:
                process.send_signal(signal.SIGINT)
            try:
                said, complaints = process.communicate(timeout=60)
            finally:
                process.kill()
        assert process.returncode == (0 if is_written else 130), complaints
        assert complaints == b""
        if command == ["prefetch"]:
            assert said.startswith(b"9 URLs: " if is_written else b"8 URLs: ")


def test_memory_stays_small_while_records_have_no_reader(
    server: TestServer, environment: Dict[str, str], nuthatch: Runner, tmp_path: Path
) -> None:
    urls = [server.url("/png/8/8?seed=1")] * 300_000
    (tmp_path / "list").write_bytes(lines(urls))
    with subprocess.Popen(
        [COMMAND, "prefetch", "--format=jsonl", "list"],
        env=environment,
        cwd=str(tmp_path),
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        wait_until_it_waits(process.pid)
        status = Path(f"/proc/{process.pid}/status").read_text()
        peak = re.search(r"VmHWM:\s+(\d+) kB", status)
        assert peak and int(peak.group(1)) < 128 << 10
        assert process.poll() is None
        process.kill()


def test_a_full_disk_does_not_damage_the_cache(
    server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    """A pack has 64 MiB if there is room. A disk that is full to its last page doesn't end a run."""
    urls = [server.url(f"/small/{n}.png") for n in range(40)]
    for n, _ in enumerate(urls):
        server.on(f"/small/{n}.png", ok(png(120, 60 + n), "image/png"))
    (tmp_path / "list").write_bytes(lines(urls))
    (tmp_path / "disk").mkdir()
    script = f"""
        mount -t tmpfs -o size=3m tmpfs disk || exit 77
        '{COMMAND}' prefetch --cache disk/cache --size 64 --format=jsonl list 2>&1 >/dev/null
        '{COMMAND}' prefetch --cache disk/cache --size 64 --format=jsonl list 2>&1 >/dev/null
        head -c 3000000 /dev/zero >disk/other 2>/dev/null
        '{COMMAND}' prefetch --cache disk/cache --size 64,96 --give-up-after 0 --format=jsonl list 2>&1 >/dev/null
        '{COMMAND}' verify --cache disk/cache"""
    done = subprocess.run(
        ["unshare", "-rm", "bash", "-c", script],
        env=environment,
        cwd=str(tmp_path),
        capture_output=True,
        timeout=120,
        check=False,
    )
    if done.returncode == 77 or done.stderr.startswith(b"unshare"):
        pytest.skip("no file system can be mounted here")
    assert b"are intact" in done.stdout, done.stderr
    first, again, full = [json.loads(line) for line in done.stdout.splitlines() if line[:1] == b"{"]
    assert (first["fetched"], first["not_kept"], first["exit"]) == (40, 0, 0)
    assert (again["hits"], again["exit"]) == (40, 0)
    assert (full["failed"], full["exit"], full["disk"]["full"]) == (0, 1, True)
