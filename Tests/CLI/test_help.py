"""The help: all commands and options, examples that run, and colours on terminals only."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command import COMMAND, Runner, on_terminal
from pictures import png
from testserver import TestServer, ok

NAMES = [
    *("prefetch", "get", "stat", "ls", "explain", "rm", "verify", "trim", "clear", "export", "outbox"),
    *("config", "completions", "help"),
]
STAND_INS = {
    "jq": "exec cat >/dev/null",
    "less": "exec cat",
    "parallel": 'while read -r n; do "${@//\\{\\}/$n}" || exit; done',
}


def examples(page: str) -> list[str]:
    return [line.strip() for line in page.split("Examples:\n")[1].splitlines() if line.strip()]


def test_the_overview_lists_every_command(nuthatch: Runner) -> None:
    overview = nuthatch("help").stdout.decode()
    assert re.findall(r"^  (\w+) ", overview, re.MULTILINE) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_lists_its_options(name: str, nuthatch: Runner) -> None:
    page = nuthatch("help", name).stdout.decode()
    assert page.startswith(f"nuthatch {name}: ") and f"Usage: nuthatch {name} " in page
    assert "Exit status:" in page or name == "help"
    for line in page.splitlines():
        assert len(line) <= 132, line
    for option in re.findall(r"^  (?:-\w, |    )--([\w-]+)", page, re.MULTILINE):
        assert option == option.lower()
    assert nuthatch(name, "--help").stdout.decode() == page
    assert nuthatch(name, "-h").stdout.decode() == page
    assert len(examples(page)) >= 1


@pytest.mark.parametrize("name", NAMES)
def test_every_example_of_the_help_runs(
    name: str, nuthatch: Runner, server: TestServer, tmp_path: Path
) -> None:
    """Runs each example in a shell. example.org is the test server."""
    server.on_prefix("/", ok(png(300, 200), "image/png"))
    server.echo("/api")
    for path in ("/upload", "/login", "/private"):
        server.echo(path)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "nuthatch").symlink_to(COMMAND)
    for tool, script in STAND_INS.items():
        if shutil.which(tool) is None:
            (tools / tool).write_text(f"#!/usr/bin/env bash\n{script}\n")
            (tools / tool).chmod(0o755)
    urls = [f"http://example.org/{letter}.jpg" for letter in "abc"]
    (tmp_path / "urls.txt").write_text("\n".join(urls) + "\n")
    (tmp_path / "urls.csv.gz").write_bytes(
        gzip.compress(("id,image\n" + "".join(f"1,{u}\n" for u in urls)).encode())
    )
    (tmp_path / "nut.jpg").write_bytes(png(8, 8))
    env = {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "NUTHATCH_CACHE": str(tmp_path / "cache"),
        "http_proxy": server.url(""),
        "TOKEN": "secret",
    }

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )

    # Fill the cache, so that the examples find something.
    assert run(COMMAND, "prefetch", "urls.txt").returncode == 0
    for example in examples(nuthatch("help", name).stdout.decode()):
        script = "set -o pipefail; " + example.replace("https://", "http://")
        done = run("bash", "-c", script)
        # The outbox is empty, so there are no requests with these IDs.
        nothing = done.returncode == 4 and "there is no request" in done.stderr and name == "outbox"
        assert done.returncode == 0 or nothing, f"{example}\n{done.stdout}{done.stderr}"


def on_a_terminal(arguments: list[str], cwd: Path, **more: str) -> bytes:
    """Runs a command with standard output and standard error on a terminal. Returns its output."""
    env = {**os.environ, "TERM": "xterm", "NUTHATCH_CACHE": str(cwd / "cache"), **more}
    if "NO_COLOR" not in more:
        env.pop("NO_COLOR", None)
    return on_terminal(arguments, env, cwd)[1].encode()


def test_colours_are_used_on_terminals_only(server: TestServer, nuthatch: Runner, tmp_path: Path) -> None:
    server.on("/a", ok(png(30, 20), "image/png"))
    (tmp_path / "list").write_text(server.url("/a") + "\n" + server.url("/status/404") + "\n")
    colour = re.compile(rb"\x1b\[[\d;]+m")
    lines = [
        ["prefetch", "-s8", "--report=r.html", "list"],
        ["ls"],
        ["explain", server.url("/a")],
        ["nonsense"],
        ["get", "--nonsense"],
        ["get", server.url("/status/404")],
        ["help"],
        *(["help", name] for name in NAMES),
    ]
    plain = [
        ["stat"],
        ["verify"],
        ["trim"],
        ["export", "out", "-s8"],
        ["rm", "http://x/"],
        ["clear"],
        ["--version"],
    ]
    for line in lines:
        assert colour.search(on_a_terminal(line, tmp_path)), line
    for line in [*lines, *plain]:
        assert not colour.search(on_a_terminal(line, tmp_path, NO_COLOR="1")), line
        assert not colour.search(on_a_terminal(line, tmp_path, TERM="dumb")), line
        done = nuthatch(*line, TERM="xterm")
        assert b"\x1b" not in done.stdout + done.stderr, line
    # An empty NO_COLOR doesn't count.
    assert colour.search(on_a_terminal(["help"], tmp_path, NO_COLOR=""))
    assert b"\x1b" not in (tmp_path / "r.html").read_bytes()
