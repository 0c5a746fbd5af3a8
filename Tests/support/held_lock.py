"""A stopped process that holds the lock of a cache's index."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType

# Linux's F_OFD_SETLKW and struct flock. Python has neither.
HOLDER = """
import fcntl, os, struct, sys
file = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(file, 38, struct.pack("=hh4xqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0))
print("held", flush=True)
sys.stdin.read()
"""


class HeldLock:
    """Locks an existing directory and stops the process. When the block ends, the lock is released."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(folder / "locks")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "held\n"
        self.process.send_signal(signal.SIGSTOP)

    def free(self) -> None:
        self.process.kill()
        self.process.communicate()

    def __enter__(self) -> HeldLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.free()
