"""Waits until a thread sleeps: it has come to the call in which it waits."""

from __future__ import annotations

import re
import time
from pathlib import Path


def wait_until_asleep(thread: int, seconds: float = 60) -> None:
    """Waits until a thread of any process sleeps in the kernel, from one look to the next.

    A short sleep, such as for a lock, doesn't count: the thread must not have run between two looks.

    :param thread: the number of the thread in the system. The number of a process is that of its first thread.
    """
    before, due = None, time.monotonic() + seconds
    while time.monotonic() < due:
        status = Path(f"/proc/{thread}/status").read_text()
        slept = re.search(r"^State:\s+S.*^voluntary_ctxt_switches:\s+(\d+)", status, re.DOTALL | re.MULTILINE)
        now = slept and slept.group(1)
        if now is not None and now == before:
            return
        before = now
        time.sleep(0.02)
    raise AssertionError(f"thread {thread} does not sleep")
