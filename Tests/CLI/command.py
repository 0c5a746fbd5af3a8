"""Runs the command for the tests."""

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
from typing import Any, Callable, Dict, List, Tuple

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


def wait_until_it_waits(pid: int) -> None:
    """Waits until a process uses no processor time for a second: all its threads wait, and not for a lock or a turn."""
    used, since = -1, time.monotonic()
    while time.monotonic() - since < 1:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        now = int(fields[11]) + int(fields[12])
        if now != used:
            used, since = now, time.monotonic()
        time.sleep(0.05)
