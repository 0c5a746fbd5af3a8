"""Output to a terminal: text only, and no wrapped or hidden lines."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Dict, List

import pytest
from command import COMMAND, Runner, heed_signals, lines, names, on_terminal
from pictures import png
from testserver import HEAD, TestServer, answer, body, ok, script

PICTURE = png(60, 40)


def test_get_does_not_write_a_picture_to_a_terminal(
    server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    server.on("/a", ok(PICTURE, "image/png"))
    for options in ([], ["--size", "16"], ["-X", "POST", "-d", "x", "--size", "16"]):
        code, said = on_terminal(["get", *options, server.url("/a")], environment, tmp_path)
        assert code == 2, said
        assert "-o FILE" in said and "-o -" in said and "PNG" not in said
    # With --size it is refused before anything is sent.
    assert [request.method for request in server.requests("/a")] == ["GET"]


def test_get_writes_a_picture_to_a_terminal_that_is_named(
    server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    server.on("/a", ok(PICTURE, "image/png"))
    for options in (["-o", "-"], ["-o", "/dev/stdout"], ["-o-", "--size=16"]):
        code, said = on_terminal(["get", *options, server.url("/a")], environment, tmp_path)
        assert code == 0 and "PNG" in said, options


def test_get_writes_a_picture_to_a_pipe_or_file(
    server: TestServer, nuthatch: Runner, environment: Dict[str, str], tmp_path: Path
) -> None:
    server.on("/a", ok(PICTURE, "image/png"))
    assert nuthatch("get", server.url("/a")).stdout == PICTURE
    for _ in range(2):
        code, said = on_terminal(["get", "-o", "a.png", server.url("/a")], environment, tmp_path)
        assert (code, said) == (0, "")
        assert (tmp_path / "a.png").read_bytes() == PICTURE


def test_get_writes_text_to_a_terminal_piece_by_piece(
    server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    gate = server.gate("g")
    server.on("/a", script(steps=[HEAD, body("caf\u00e9 \x1b[1mfirst\x1b[0m\t"), gate.step, body("second")]))
    # The server sends the second piece only after the first one was read from the terminal.
    code, said = on_terminal(["get", server.url("/a")], environment, tmp_path, meanwhile=gate.open)
    assert (code, said) == (0, "caf\u00e9 \x1b[1mfirst\x1b[0m\tsecond")
    # Again from the cache, and with another method.
    server.on("/b", ok("text\n", headers=[("Cache-Control", "max-age=60")]))
    for options in ([], [], ["-X", "PUT", "-d", "x"]):
        assert on_terminal(["get", *options, server.url("/b")], environment, tmp_path) == (0, "text\r\n")


def test_get_stops_at_bytes_on_a_terminal_that_are_not_text(
    server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    gate = server.gate("g")
    server.on("/a", script(steps=[HEAD, body("text\n"), gate.step, body(b"\x00\x01\x02")]))
    code, said = on_terminal(["get", server.url("/a")], environment, tmp_path, meanwhile=gate.open)
    assert code == 2 and said.startswith("text\r\n") and "-o FILE" in said and "\x00" not in said


def test_get_writes_an_error_page_to_a_terminal_only_if_it_is_text(
    server: TestServer, environment: Dict[str, str], tmp_path: Path
) -> None:
    server.on("/text", answer(500, "oops\n"))
    server.on("/picture", answer(500, PICTURE))
    code, said = on_terminal(["get", server.url("/text")], environment, tmp_path)
    assert code == 4 and "oops\r\n" in said and "HTTP 500" in said
    code, said = on_terminal(["get", server.url("/picture")], environment, tmp_path)
    assert code == 4 and "HTTP 500" in said and "PNG" not in said


def test_a_terminal_that_goes_away_ends_a_run_cleanly(
    server: TestServer, pictures: List[str], environment: Dict[str, str], tmp_path: Path
) -> None:
    """The report and the list of failures are written."""
    gate = server.gate("never")
    server.on("/never", script(steps=[gate.step, body("x")]))
    server.on("/missing", answer(404))
    (tmp_path / "list").write_bytes(lines([server.url("/missing"), *pictures, server.url("/never")]))
    command = [COMMAND, "prefetch", "--report=r.html", "--failed-out=failed", "--verbose", "list"]
    leader, follower = os.openpty()
    with subprocess.Popen(
        command, env=environment, cwd=str(tmp_path), stdin=follower, stdout=follower, stderr=follower,
        preexec_fn=heed_signals,
    ) as process:  # fmt: skip
        os.close(follower)
        said = b""
        while said.count(b"http") < 1 + len(pictures):
            said += os.read(leader, 65536)
        assert gate.wait_until_reached()
        os.close(leader)
        process.send_signal(signal.SIGHUP)
        assert process.wait(60) == 129
    assert names(tmp_path) == ["failed", "list", "r.html"]
    assert (tmp_path / "failed").read_text() == server.url("/missing") + "\n"
    assert '"interrupted":"SIGHUP"' in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize("format", ["text", "jsonl"])
def test_a_run_under_nohup_goes_on(
    server: TestServer, environment: Dict[str, str], tmp_path: Path, format: str
) -> None:
    gate = server.gate("g")
    server.on("/a", script(steps=[gate.step, body(PICTURE)]))
    (tmp_path / "list").write_text(server.url("/a") + "\n")
    command = ["nohup", COMMAND, "prefetch", "--format", format, "list"]
    with subprocess.Popen(
        command, env=environment, cwd=str(tmp_path), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert gate.wait_until_reached()
        process.send_signal(signal.SIGHUP)
        gate.open()
        process.communicate(timeout=60)
    assert process.returncode == 0
