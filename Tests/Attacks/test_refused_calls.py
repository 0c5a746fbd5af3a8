"""The kernel refuses system calls that the library needs: to start a thread, or to wait for events."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Callable, Dict, List, Tuple

import pytest
from testserver import HEAD, TestServer, body, ok, script, wait

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = Path(os.environ.get("NUTHATCH_LIBRARY", ROOT / "build" / "libnuthatch.so.1"))

#: The call, the word of its status, the message.
Said = List[Tuple[str, ...]]
Run = Callable[[str], Said]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("refused") / "program"
    command = [
        "cc",
        "-D_GNU_SOURCE",
        f"-I{ROOT / 'include'}",
        str(Path(__file__).with_name("refused_calls.c")),
    ]
    subprocess.run([*command, "-o", str(path), str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}"], check=True)
    return path


@pytest.fixture
def run(program: Path, server: TestServer, tmp_path: Path) -> Run:
    server.on("/a", ok("x"))
    server.on_prefix("/slow", script(200, steps=[wait("never"), HEAD, body("x")]))

    def run(what: str) -> Said:
        done = subprocess.run(
            [str(program), str(tmp_path / "cache"), server.url("/a"), server.url("/slow"), what],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode == 77:
            pytest.skip(f"no call can be refused here: {done.stdout.strip()}")
        assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
        return [tuple(line.split(": ", 2)) for line in done.stdout.splitlines()]

    return run


@pytest.mark.parametrize("what", ["wait", "wait, unknown", "watch"])
def test_a_loop_that_can_not_wait_fails_all_requests(run: Run, what: str) -> None:
    said = run(what)
    words: Dict[str, str] = {name: word for name, word, *_ in said}
    for name in ("get", "ticket", "again", "another handle"):
        assert words[name] == "internal", said
    for _, word, *message in said:
        if word == "internal":
            assert "epoll" in message[0], said
    assert [word for name, word, *_ in said if name == "ticket"] == ["internal"] * 3
    assert words["lines of the log"] == "1"
    assert (words["idle"], words["drain"], words["close"]) == ("ok", "ok", "ok")
    assert words["handle of the child"] == "forked"
    assert "internal" in (words["open in the child"], words.get("get in the child"))


@pytest.mark.parametrize("missing", ["waiting", "watching", "epoll", "eventfd"])
def test_opening_a_cache_without_the_loops_system_calls_fails(run: Run, missing: str) -> None:
    [(_, word, message)] = run(f"open without {missing}")
    assert word == "internal"
    assert "epoll or eventfd" in message


@pytest.mark.parametrize("what", ["open without a thread", "worker", "worker for what is here", "name"])
def test_a_thread_that_can_not_start_is_reported(run: Run, what: str) -> None:
    said = run(what)
    name, word, message = said[0]
    assert (name, word) == ("open" if what.startswith("open") else "get", "out_of_memory"), said
    assert "no thread could be started: Resource temporarily unavailable" in message
    assert said[1:] in ([], [("close", "ok", "")])
