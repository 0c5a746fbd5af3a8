"""The command as the tests run it."""

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import termios
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

ROOT = Path(__file__).resolve().parents[2]
COMMAND = str(ROOT / "build" / "nuthatch")

Outcome = subprocess.CompletedProcess
Runner = Callable[..., "Outcome[bytes]"]


def heed_signals() -> None:
    """For a child that is to be interrupted: a script in the background starts its children with SIGINT ignored, nohup
    with SIGHUP ignored."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def names(folder: Path) -> List[str]:
    """What stands in a folder beside the cache."""
    return sorted(path.name for path in folder.iterdir() if path.name != "cache")


def lines(urls: List[str]) -> bytes:
    """A list as it is read."""
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
    """How a command ends whose standard error (and output, if `answers_too`) is a terminal, and what it wrote there."""
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
            except OSError:  # everybody has closed it
                break
            if not piece:
                break
            said += piece
            meanwhile()
        code = process.wait(60)
    os.close(leader)
    return code, said.decode(errors="replace")


def summary(stderr: bytes) -> Dict[str, Any]:
    """What a run says of itself at its end, with --format jsonl."""
    found: Dict[str, Any] = json.loads(stderr.splitlines()[-1])
    return found
