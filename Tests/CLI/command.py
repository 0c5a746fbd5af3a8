"""Runs the command for the tests."""

import contextlib
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Set, Tuple

ROOT = Path(__file__).resolve().parents[2]
COMMAND = str(ROOT / "build" / "nuthatch")

Outcome = subprocess.CompletedProcess
Runner = Callable[..., "Outcome[bytes]"]


def heed_signals() -> None:
    """Restores the defaults of signals in a child. In the background of a script, SIGINT is ignored, and under nohup
    SIGHUP."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def names(folder: Path) -> List[str]:
    """Returns the names in a folder, without the cache."""
    return sorted(path.name for path in folder.iterdir() if path.name != "cache")


def lines(urls: List[str]) -> bytes:
    """Returns the lines of a list as bytes."""
    return "".join(f"{url}\n" for url in urls).encode()


def on_terminal(
    arguments: List[str],
    environment: Dict[str, str],
    folder: Path,
    *,
    columns: int = 0,
    meanwhile: Callable[[], object] = lambda: None,
    answers_too: bool = True,
) -> Tuple[int, str]:
    """Runs the command with standard error (and output, if `answers_too`) on a terminal. Returns its exit status and
    output."""
    leader, follower = pty.openpty()
    if columns:
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(
        [COMMAND, *arguments],
        env=environment,
        cwd=str(folder),
        stdin=subprocess.DEVNULL,
        stdout=follower if answers_too else subprocess.DEVNULL,
        stderr=follower,
    ) as process:
        os.close(follower)
        said = b""
        while True:
            try:
                piece = os.read(leader, 65536)
            except OSError:  # the command has closed it
                break
            if not piece:
                break
            said += piece
            meanwhile()
        code = process.wait(60)
    os.close(leader)
    return code, said.decode(errors="replace")


def summary(stderr: bytes) -> Dict[str, Any]:
    """Returns the summary that a run with --format jsonl prints at its end."""
    found: Dict[str, Any] = json.loads(stderr.splitlines()[-1])
    return found


def wait_until_it_waits(pid: int, heeding: int = 0) -> None:
    """Waits until all threads of a process sleep and use no processor time for a second: they wait, and not for a lock
    or a turn.

    :param heeding: a signal that the process must have a handler for, too.
    """
    used, looks, due = -1, 0, time.monotonic() + 120
    # Count looks, because the machine may stop for some seconds between two of them.
    while looks < 20:
        states, now = _work(pid)
        looks = looks + 1 if now == used and states == {"S"} and (not heeding or _heeds(pid, heeding)) else 0
        used = now
        if time.monotonic() > due:
            os.kill(pid, signal.SIGKILL)
            raise AssertionError("the process doesn't wait, or has no handler for the signal")
        time.sleep(0.05)


def _work(pid: int) -> Tuple[Set[str], int]:
    """Returns the states of a process's threads and the processor time that they have used."""
    states, used = set(), 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # a thread that has just ended
            fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
            states.add(fields[0])
            used += int(fields[11]) + int(fields[12])
    assert states - {"Z", "X"}, "the process has ended"
    return states, used


def _heeds(pid: int, number: int) -> bool:
    """Returns whether a process has a handler for a signal."""
    status = Path(f"/proc/{pid}/status").read_text()
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (number - 1) & 1)
