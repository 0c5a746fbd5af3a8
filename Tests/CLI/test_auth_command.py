"""Programs that sign in at a host (`auth_command` in config files): what they print, how they run, what goes wrong."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Callable, Dict, List

import pytest
from command import Runner
from pictures import png
from testserver import TestServer, answer, ok, redirect

Tool = Callable[[str], Path]
Write = Callable[..., None]

#: An answer that isn't stored.
UNSTORED = [("Cache-Control", "no-store")]


@pytest.fixture
def environment(environment: Dict[str, str], tmp_path: Path) -> Dict[str, str]:
    return {**environment, "HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    """Writes a program that notes each run."""

    def tool(script: str) -> Path:
        path = tmp_path / "tool"
        path.write_text(f"#!/bin/sh\necho run >> '{tmp_path}/runs'\n{script}\n")
        path.chmod(0o755)
        (tmp_path / "runs").write_text("")
        return path

    return tool


@pytest.fixture
def runs(tmp_path: Path) -> Callable[[], int]:
    return lambda: (tmp_path / "runs").read_text().count("run")


@pytest.fixture
def write(tmp_path: Path, server: TestServer) -> Write:
    """Writes the user's file with a section for the server."""

    def write(command: List[str], more: str = "") -> None:
        path = tmp_path / "xdg/nuthatch/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'[host."{server.url("")}"]\nauth_command = {json.dumps(command)}\n{more}\n')
        path.chmod(0o600)

    return write


def header(server: TestServer, path: str, name: str) -> List[object]:
    return [request.header(name) for request in server.requests(path)]


def test_a_token_is_sent_to_the_host_and_nowhere_else(
    nuthatch: Runner, server: TestServer, tool: Tool, write: Write
) -> None:
    with TestServer() as other:
        other.on("/b", ok("x"))
        server.on("/a", redirect(other.url("/b")))
        write([str(tool("printf '  hunter2.A-b_~+/==\\r\\n\\n'"))])
        assert nuthatch("get", server.url("/a")).stdout == b"x"
        assert header(server, "/a", "Authorization") == ["Bearer hunter2.A-b_~+/=="]
        assert nuthatch("get", other.url("/b")).returncode == 0
        assert header(other, "/b", "Authorization") == [None, None][: other.count("/b")]


def test_headers_are_sent_and_replace_those_of_the_section(
    nuthatch: Runner, server: TestServer, tool: Tool, write: Write
) -> None:
    server.on("/a", ok("x", headers=UNSTORED))
    write(
        [str(tool("echo 'X-Key: a b:c'; echo; echo X-Kind:tool"))],
        'headers = { X-Kind = "file", X-More = "1" }',
    )
    assert nuthatch("get", server.url("/a")).returncode == 0
    assert [header(server, "/a", name) for name in ("X-Key", "X-Kind", "X-More")] == [
        ["a b:c"],
        ["tool"],
        ["1"],
    ]
    # The command line's header counts before the program's.
    write([str(tool("echo X-Key: tool"))])
    assert nuthatch("get", "-H", "Authorization: Bearer own", server.url("/a")).returncode == 0
    assert header(server, "/a", "X-Key")[1:] == [None]


def test_arguments_pass_unchanged_and_no_shell_reads_them(
    nuthatch: Runner, server: TestServer, tool: Tool, write: Write, tmp_path: Path
) -> None:
    server.on("/a", ok("x", headers=UNSTORED))
    words = ["$HOME; touch /tmp/no", "a \"b\" 'c'", "", "*", "é"]
    path = tool(
        f"for word; do printf '[%s]' \"$word\"; done > '{tmp_path}/words'\n"
        f"{{ pwd; cat; ls -l /proc/self/fd | grep -vc pipe; }} > '{tmp_path}/around'\necho token"
    )
    write([str(path), *words])
    assert nuthatch("get", server.url("/a")).returncode == 0
    assert (tmp_path / "words").read_text() == "".join(f"[{word}]" for word in words)
    assert (tmp_path / "around").read_text().splitlines()[0] == "/"


def test_a_name_is_found_in_path(
    nuthatch: Runner, server: TestServer, tool: Tool, write: Write, tmp_path: Path
) -> None:
    server.on("/a", ok("x", headers=UNSTORED))
    tool("echo token")
    write(["tool"])
    assert nuthatch("get", server.url("/a"), PATH=f"{tmp_path}:{os.environ['PATH']}").returncode == 0
    assert header(server, "/a", "Authorization") == ["Bearer token"]
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "tool").rename(tmp_path / "home/tool")
    write(["~/tool"])
    assert nuthatch("get", server.url("/a")).returncode == 0


def test_it_runs_once_for_many_requests(
    nuthatch: Runner, server: TestServer, tool: Tool, write: Write, tmp_path: Path, runs: Callable[[], int]
) -> None:
    paths = [f"/{number}" for number in range(40)]
    for path in paths:
        server.on(path, ok(png(8, 8), "image/png"))
    (tmp_path / "list").write_text("".join(server.url(path) + "\n" for path in paths))
    write([str(tool("echo token"))])
    assert nuthatch("prefetch", "list").returncode == 0
    assert runs() == 1
    # If the server stops for some seconds, prefetch asks again.
    assert all(set(header(server, path, "Authorization")) == {"Bearer token"} for path in paths)
    # The same token leads to the same stored answers: for prefetch, explain, export and rm.
    assert b"40 hits" in nuthatch("prefetch", "list").stdout
    assert nuthatch("explain", "--size", "256", server.url("/1")).stdout.startswith(b"hit")
    assert nuthatch("export", str(tmp_path / "out"), "list").returncode == 0
    assert len(list((tmp_path / "out").glob("*.jpg"))) + len(list((tmp_path / "out").glob("*.png"))) == 40


def test_answers_are_kept_apart_by_token_unless_the_section_has_a_partition(
    nuthatch: Runner, server: TestServer, tool: Tool, write: Write, tmp_path: Path
) -> None:
    server.on("/a", ok("x", headers=[("Cache-Control", "max-age=600")]))
    for more, fetches in (("", 2), ('partition = "p"', 1)):
        before = server.count("/a")
        for token in ("one", "two"):
            write([str(tool(f"echo {token}"))], more)
            assert nuthatch("get", server.url("/a")).stdout == b"x"
        assert server.count("/a") - before == fetches


def test_after_a_401_it_runs_again_once(
    nuthatch: Runner, server: TestServer, tool: Tool, write: Write, tmp_path: Path, runs: Callable[[], int]
) -> None:
    counter = f"'{tmp_path}/runs'"
    server.on("/a", answer(401), ok("x", headers=UNSTORED))
    write([str(tool(f"echo token-$(wc -l < {counter})"))])
    assert nuthatch("get", server.url("/a")).stdout == b"x"
    assert header(server, "/a", "Authorization") == ["Bearer token-1", "Bearer token-2"]
    # If it prints the same again, or is refused again, the 401 is the answer.
    server.on("/b", answer(401))
    for script, sent in (("echo same", 1), (f"echo token-$(wc -l < {counter})", 2)):
        before = server.count("/b")
        write([str(tool(script))])
        assert nuthatch("get", server.url("/b")).returncode == 4
        assert (runs(), server.count("/b") - before) == (2, sent)


FAILURES = {
    "status": ("echo hunter2; exit 3", "ended with status 3"),
    "signal": ("echo hunter2; kill -9 $$", "was ended by signal 9"),
    "nothing": ("echo; echo", "printed nothing"),
    "words": ("echo hunter2 hunter2", "in line 1 that is neither"),
    "a token among headers": ("echo X-A: 1; echo hunter2", "in line 2 that is neither"),
    "a length": ("echo 'Content-Length: 3'", "in line 1 that is neither"),
    "control characters": ("printf 'X-A: hunter2\\033[31m\\n'", "in line 1 that is neither"),
    "not UTF-8": ("printf 'X-A: \\377\\n'", "not UTF-8"),
    "many lines": (
        "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do echo X-A: hunter2; done",
        "17 lines",
    ),
    "endless": ("while :; do echo hunter2hunter2hunter2hunter2; done", "printed more than 65536 bytes"),
}


@pytest.mark.parametrize("name", list(FAILURES))
def test_a_failure_names_host_and_program_and_nothing_secret(
    nuthatch: Runner, server: TestServer, tool: Tool, write: Write, name: str
) -> None:
    script, words = FAILURES[name]
    path = tool(script)
    write([str(path), "--secret=hunter2"])
    done = nuthatch("get", server.url("/a"), NUTHATCH_LOG="debug")
    said = done.stderr.decode()
    assert (done.returncode, done.stdout, server.count("/a")) == (4, b"", 0), said
    assert words in said and str(path) in said and server.url("").split("//")[1].rstrip("/") in said
    assert "hunter2" not in said


def test_a_missing_program_is_named(
    nuthatch: Runner, server: TestServer, write: Write, tmp_path: Path
) -> None:
    write([str(tmp_path / "missing")])
    done = nuthatch("get", server.url("/a"))
    assert done.returncode == 4 and b"can't be run: No such file or directory" in done.stderr
    (tmp_path / "missing").write_text("#!/bin/sh\n")
    assert b"Permission denied" in nuthatch("get", server.url("/a")).stderr
    for command in (["explain"], ["rm", "-H", "X-A: 1"]):
        assert b"can't be run" in nuthatch(*command, server.url("/a")).stderr


def test_a_slow_program_is_ended_with_what_it_has_started(
    nuthatch: Runner, server: TestServer, tool: Tool, write: Write, tmp_path: Path
) -> None:
    write([str(tool(f"sleep 600 & echo $! > '{tmp_path}/child'; sleep 600"))], 'auth_timeout = "5s"')
    begin = time.monotonic()
    done = nuthatch("get", server.url("/a"))
    assert done.returncode == 4 and b"took longer than 5000 ms (auth_timeout)" in done.stderr
    assert time.monotonic() - begin < 60
    child = int((tmp_path / "child").read_text())
    for _ in range(1000):
        state = Path(f"/proc/{child}/stat")
        if not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return
        time.sleep(0.01)
    raise AssertionError("the program's child still runs")


def test_a_program_that_leaves_another_one_running_has_ended(
    nuthatch: Runner, server: TestServer, tool: Tool, write: Write, tmp_path: Path
) -> None:
    """Such as an agent: it keeps the standard output open."""
    server.on("/a", ok("x", headers=UNSTORED))
    write([str(tool(f"echo token; sleep 600 2>&- & echo $! > '{tmp_path}/child'"))])
    try:
        assert nuthatch("get", server.url("/a")).stdout == b"x"
    finally:
        os.kill(int((tmp_path / "child").read_text()), 9)


def test_config_shows_the_program(nuthatch: Runner, tool: Tool, write: Write) -> None:
    path = tool("echo hunter2")
    write([str(path), "-a", "b"], 'auth_lifetime = "90s"')
    lines = nuthatch("config").stdout.decode()
    assert f"{path} -a b" in lines and "90s" in lines and "hunter2" not in lines
    assert nuthatch("config", "check").returncode == 0
