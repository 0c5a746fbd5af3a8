"""A control group with little memory, for commands that must work in it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import TracebackType


class NoGroupError(Exception):
    """No control group can be made. The text has the reason."""


class MemoryGroup:
    """A control group below this process's own, of version 1 or 2. It is removed at the end of the ``with`` block.

    >>> with MemoryGroup(64 << 20) as group:
    ...     subprocess.run([*group.prefix, "nuthatch", "prefetch", "urls.txt"])
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._path = Path()
        self._is_version1 = False

    def __enter__(self) -> MemoryGroup:
        parent, self._is_version1 = _own_group()
        self._path = parent / f"nuthatch-test-{os.getpid()}"
        try:
            self._path.mkdir()
        except OSError as error:
            raise NoGroupError(f"no control group can be made: {error}") from error
        try:
            self._set_limit()
        except OSError as error:
            self._path.rmdir()
            raise NoGroupError(f"control groups don't limit memory here: {error}") from error
        return self

    def _set_limit(self) -> None:
        if self._is_version1:
            self._write("memory.limit_in_bytes", self._limit)
            # Without swap accounting there is no such file.
            if (self._path / "memory.memsw.limit_in_bytes").exists():
                self._write("memory.memsw.limit_in_bytes", self._limit)
        else:
            # The open must not create the file: in a folder that is not a control group, it would.
            self._write("memory.max", self._limit)
            if (self._path / "memory.swap.max").exists():
                self._write("memory.swap.max", 0)

    def _write(self, name: str, value: int) -> None:
        with open(self._path / name, "r+") as file:
            file.write(str(value))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The last process stays in the group until the kernel has cleaned up.
        for _ in range(500):
            try:
                self._path.rmdir()
                return
            except OSError:
                time.sleep(0.01)

    @property
    def prefix(self) -> list[str]:
        """Returns the words before a command that run it in the group."""
        return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self._path / "cgroup.procs")]

    @property
    def kills(self) -> int:
        """Returns the number of processes that the kernel killed because the group had no memory left."""
        text = (self._path / ("memory.oom_control" if self._is_version1 else "memory.events")).read_text()
        return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("oom_kill "))


def _own_group() -> tuple[Path, bool]:
    """Returns the folder of this process's memory group, and whether it is of version 1."""
    groups = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    base = Path("/sys/fs/cgroup")
    for _, controllers, path in groups:
        if "memory" in controllers.split(","):
            own = base / "memory" / path.lstrip("/")
            return (own if own.is_dir() else base / "memory"), True
    for _, controllers, path in groups:
        own = base / path.lstrip("/")
        if controllers == "" and (own / "cgroup.procs").is_file():
            return own, False
    raise NoGroupError("no control groups are mounted")
