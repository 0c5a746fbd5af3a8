"""The processes of a round (workers, server, command), the size of the directory, and the plan of events."""

import contextlib
import json
import mmap
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from judge import Call

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
#: The layout of `struct page` in shim.c.
_FRONT, _ENTRY, _MOST = struct.Struct("=qqqq"), struct.Struct("=qq"), 16000


def build_shim(folder: Path) -> Path:
    shim = folder / "shim.so"
    flags = ["-std=gnu11", "-O2", "-fPIC", "-shared", "-pthread"]
    subprocess.run(["gcc", *flags, "-o", str(shim), str(HERE / "shim.c"), "-ldl"], check=True)
    return shim


class Build(NamedTuple):
    """The build under test, and the shim."""

    library: Path
    command: Optional[Path]
    shim: Path

    @property
    def bindings(self) -> Path:
        """The Python package that fits the library: of the library's checkout, if it lies in one, else of this one."""
        own = self.library.parent.parent / "bindings" / "python"
        return own if own.is_dir() else ROOT / "bindings" / "python"

    def environment(self) -> Dict[str, str]:
        own = {
            "NUTHATCH_LIBRARY": str(self.library),
            "PYTHONPATH": str(self.bindings),
            "PYTHONDONTWRITEBYTECODE": "1",
            # Without this, a crash leaves a process that waits for input.
            "SWIFT_BACKTRACE": "enable=no",
        }
        return {**os.environ, **own}


class Page:
    """The memory that the driver shares with a worker's shim."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_bytes(bytes(_FRONT.size + _ENTRY.size * _MOST))
        with path.open("r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)

    def arm(self, locks: int) -> None:
        """Makes the process stop itself when it gets the index's lock for the `locks`-th time from now. 0: never."""
        struct.pack_into("=q", self.memory, 0, locks)

    @property
    def locks(self) -> int:
        return int(_FRONT.unpack_from(self.memory)[1])

    @property
    def stops(self) -> int:
        return int(_FRONT.unpack_from(self.memory)[2])

    def late(self) -> List[Tuple[int, int]]:
        count = _FRONT.unpack_from(self.memory)[3]
        return [
            (int(due), int(woke))
            for due, woke in (
                _ENTRY.unpack_from(self.memory, _FRONT.size + _ENTRY.size * at) for at in range(count)
            )
        ]


class Worker:
    """A process of worker.py. `ended` is the time of its end, 0 before."""

    def __init__(
        self, number: int, folder: Path, build: Build, setting: Dict[str, Any], label: str, is_private: bool
    ) -> None:
        self.number, self.label, self.is_private = number, label, is_private
        self.log = folder / ("calls.%d" % number)
        self.page = Page(folder / ("page.%d" % number))
        self.errors = folder / ("errors.%d" % number)
        env = build.environment()
        env.update(LD_PRELOAD=str(build.shim), NUTHATCH_MODEL_PAGE=str(self.page.path))
        command = [sys.executable, str(HERE / "worker.py"), json.dumps({**setting, "log": str(self.log)})]
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                command, env=env, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors
            )
        self.ended = 0
        self.was_killed = False
        #: While it is stopped: when it continues, and since when it is stopped.
        self.resumes: Optional[float] = None
        self.stopped_since = 0
        #: The stops: begin, end, and whether it had just got the lock.
        self.stops: List[Tuple[int, int, bool]] = []
        self.has_lock = False
        #: Whether the driver kills it instead of letting it continue.
        self.dies = False
        #: The length of the stop when it stops itself.
        self.stopped_for = 1.0

    def state(self) -> str:
        try:
            line = Path("/proc/%d/stat" % self.process.pid).read_text()
        except OSError:
            return "Z"
        return line.rpartition(") ")[2][:1]

    def stop(self, until: float) -> None:
        if self.resumes is None:
            self.process.send_signal(signal.SIGSTOP)
        self.is_stopped(until, False)

    def is_stopped(self, until: float, has_lock: bool) -> None:
        if self.resumes is None:
            self.stopped_since, self.has_lock = time.monotonic_ns(), has_lock
        self.resumes = max(until, self.resumes or 0)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.note_stop()

    def note_stop(self) -> None:
        if self.resumes is not None:
            self.stops.append((self.stopped_since, time.monotonic_ns(), self.has_lock))
            self.resumes = None

    def kill(self) -> None:
        """Kills the process. Does nothing if it has ended."""
        if self.is_over():
            return
        self.was_killed = True
        # A call that has not returned by now is judged by the time until now.
        self.ended = time.monotonic_ns()
        self.process.kill()
        self.process.wait()
        self.note_stop()

    def write_stacks(self) -> None:
        """Writes the stacks of its threads beside its log, to explain a call that doesn't end. Needs gdb."""
        if shutil.which("gdb"):
            command = ["gdb", "-batch", "-ex", "thread apply all bt 30", "-p", str(self.process.pid)]
            with (
                self.log.with_name("stacks.%d" % self.number).open("wb") as file,
                contextlib.suppress(subprocess.TimeoutExpired),
            ):
                subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, timeout=30)

    def is_over(self) -> bool:
        if self.ended == 0 and self.process.poll() is not None:
            self.ended = time.monotonic_ns()
        return self.ended != 0

    def late(self) -> List[Tuple[int, int]]:
        """Returns the intervals in which it could not run, by a stop or a busy machine: disjoint and in order."""
        found: List[Tuple[int, int]] = []
        for begin, end in sorted([*self.page.late(), *(stop[:2] for stop in self.stops)]):
            if found and begin <= found[-1][1]:
                found[-1] = (found[-1][0], max(found[-1][1], end))
            else:
                found.append((begin, end))
        return found


class Server:
    """A process of server.py."""

    def __init__(self, folder: Path, seed: str, is_slow: bool) -> None:
        self.log = folder / "requests"
        command = [
            sys.executable,
            str(HERE / "server.py"),
            str(self.log),
            seed,
            *([] if is_slow else ["--at-once"]),
        ]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        port = self.process.stdout.readline().strip()
        if not port:
            raise OSError("the check's server did not start")
        self.url = "http://127.0.0.1:%d" % int(port)

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


class Commands:
    """Runs the command on the directory, one process at a time."""

    def __init__(self, build: Build, cache: Path, number: int) -> None:
        self.build, self.cache, self.number = build, cache, number
        self.calls: List[Call] = []
        self.process: Optional[subprocess.Popen[bytes]] = None
        self.front: Tuple[Any, ...] = ()

    def start(self, operation: str, path: str, server: str) -> None:
        if self.process is not None or self.build.command is None:
            return
        word = {"remove": "rm", "stats": "stat"}.get(operation, operation)
        command = [str(self.build.command), word, "--cache", str(self.cache)] + (
            [server + path] if path else []
        )
        front = ("command.%d" % len(self.calls), time.monotonic_ns(), operation, path, "")
        self.process = subprocess.Popen(
            command,
            env=self.build.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.front = front

    def look(self) -> None:
        if self.process is None or self.process.poll() is None:
            return
        end = time.monotonic_ns()
        text = self.process.communicate()[0].decode(errors="replace").strip()[-300:]
        status, operation = self.process.returncode, self.front[2]
        outcome: Dict[str, Any] = {"none": True, "kept": True}
        if status < 0 or (operation == "verify" and status == 4):
            outcome = {"error": "exit status %d" % status, "text": text}
        elif status != 0 and not (operation == "remove" and status == 4):
            outcome = {"error": "busy", "text": text}
        self.add(end, outcome)

    def add(self, end: int, outcome: Optional[Dict[str, Any]]) -> None:
        # The bound includes the start and the end of a process.
        self.calls.append(Call(self.number, *self.front, 6.0, end, outcome))
        self.process = None

    def finish(self, seconds: float) -> None:
        """Waits for the running command, then kills it."""
        due = time.monotonic() + seconds
        while self.process is not None and time.monotonic() < due:
            time.sleep(0.01)
            self.look()
        self.kill()

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.add(time.monotonic_ns(), None)


class Disk:
    """The size of the directory on the disk, without the outbox."""

    def __init__(self, cache: Path, bound: int) -> None:
        self.cache, self.bound = cache, bound
        self.samples, self.most, self.beyond = 0, 0, 0
        #: Time and size of the first sample beyond the bound.
        self.first: Optional[Tuple[int, int]] = None
        self.row: List[int] = []

    def sample(self) -> None:
        # A pack that is removed and a pack that is created during one walk may both count. So three walks must agree.
        self.row = [*self.row[-2:], taken(str(self.cache), "outbox")]
        least = min(self.row) if len(self.row) == 3 else 0
        self.samples += 1
        self.most = max(self.most, least)
        if least > self.bound:
            self.beyond += 1
            self.first = self.first or (time.monotonic_ns(), least)


def taken(folder: str, without: str = "") -> int:
    total = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False) and entry.name != without:
                        total += taken(entry.path)
                except FileNotFoundError:
                    continue
    except FileNotFoundError:
        pass
    return total


class Plan:
    """Events and their times."""

    def __init__(self) -> None:
        self.events: List[Tuple[float, Callable[[], None]]] = []

    def add(self, time: float, event: Callable[[], None]) -> None:
        self.events.append((time, event))
        self.events.sort(key=lambda one: one[0])

    def due(self, now: float) -> List[Callable[[], None]]:
        found = [event for time, event in self.events if time <= now]
        self.events = [one for one in self.events if one[0] > now]
        return found
