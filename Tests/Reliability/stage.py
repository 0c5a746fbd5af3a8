"""The parts of a round: a build, a test server with known pictures, a file system, programs on one cache directory."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "Tests" / "support"))

import content  # noqa: E402
from testserver import TestServer, ok  # noqa: E402
from volumes import Volume  # noqa: E402

URLS = 96
#: The longest time of a call, in seconds. Its deadline is 8 s; calls without one wait at most 5 s for a lock.
CALL_BOUND = 20.0
#: The longest time of a command, in seconds. A prefetch has all URLs.
COMMAND_BOUND = 90.0
DISK_LIMITS = ["6M", "16M", "40M"]


class Build:
    """The programs under test."""

    def __init__(self, folder: Path) -> None:
        self.command = folder / "nuthatch"
        self.library = folder / "libnuthatch.so.1"
        own = folder.parent / "bindings" / "python"
        self.bindings = own if own.is_dir() else ROOT / "bindings" / "python"

    def environment(self) -> Dict[str, str]:
        kept = {name: text for name, text in os.environ.items() if not name.lower().endswith("_proxy")}
        paths = [str(self.bindings), str(HERE), str(ROOT / "Tests" / "support")]
        # A crash would otherwise leave a backtracing process behind.
        return {
            **kept,
            "SWIFT_BACKTRACE": "enable=no",
            "NUTHATCH_LIBRARY": str(self.library),
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONDONTWRITEBYTECODE": "1",
        }


def ending(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else "exit status %d" % status


class Pictures:
    """The test server, and the versions of the pictures that it sends now."""

    def __init__(self) -> None:
        self.bodies, self.known = content.make(URLS)
        self.server = TestServer()
        self.versions = [0] * URLS
        self.urls = [self.server.url("/%d.png" % number) for number in range(URLS)]
        for number in range(URLS):
            self.show(number, 0)

    def show(self, number: int, version: int) -> None:
        self.versions[number] = version
        body, tag = self.bodies[number][version], '"%d-%d"' % (number, version)
        lines = [("Cache-Control", "max-age=3600")]
        self.server.on("/%d.png" % number, ok(body, "image/png", etag=tag, headers=lines))


class Stage:
    """One round on one file system. `faults` has what must not happen; `notes` counts other events."""

    def __init__(self, build: Build, pictures: Pictures, volume: Volume, seed: int) -> None:
        self.build = build
        self.pictures = pictures
        self.volume = volume
        self.seed = seed
        self.dice = random.Random(seed)
        self.cache = volume.folder / "cache"
        self.faults: List[str] = []
        self.notes: Counter = Counter()
        self.longest = 0.0
        self.commands = 0
        #: Whether the scenario may damage files.
        self.is_harmful = False
        #: Whether written data may be lost without an error, until a call fails.
        self.may_lose = False
        self.ending = threading.Event()
        self.threads: List[threading.Thread] = []
        self.workers: List[Worker] = []
        self.lock = threading.Lock()
        self.scratch = Path(tempfile.mkdtemp(prefix="nuthatch-"))
        self.list = self.scratch / "urls.txt"
        self.list.write_text("".join(url + "\n" for url in pictures.urls))
        self.limit = self.dice.choice(DISK_LIMITS)

    def fault(self, text: str) -> None:
        with self.lock:
            self.faults.append(text)

    def note(self, text: str, count: int = 1) -> None:
        with self.lock:
            self.notes[text] += count

    def nuthatch(self, *arguments: str, bound: float = COMMAND_BOUND) -> Tuple[int, bytes, bytes]:
        """Runs the command on the cache. Returns its status, its output and its errors. Notes signals and long runs as
        faults."""
        words = [str(self.build.command), arguments[0], "--cache", str(self.cache), *arguments[1:]]
        began = time.monotonic()
        with subprocess.Popen(
            words,
            env=self.build.environment(),
            cwd=str(self.scratch),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            wait, out, err = bound, b"", b""
            while wait > 0:
                try:
                    out, err = process.communicate(timeout=wait)
                    break
                except subprocess.TimeoutExpired:
                    wait = bound + starved(process.pid) - (time.monotonic() - began)
            else:
                self.fault("%s did not end in %.0f s (%s)" % (arguments[0], bound, where(process.pid)))
                process.kill()
                out, err = process.communicate()
                return 1, out, err
        self.note("%s: %s" % (arguments[0], ending(process.returncode)))
        self.commands += 1
        if process.returncode < 0:
            self.fault("%s ended by %s" % (arguments[0], ending(process.returncode)))
        self.longest = max(self.longest, time.monotonic() - began)
        return process.returncode, out, err

    def prefetch(self, *more: str) -> Tuple[int, List[Dict[str, Any]], bytes]:
        """Fetches the whole list. Returns the status, the records, and standard error."""
        given = [
            "prefetch",
            "--format",
            "jsonl",
            "--size",
            "8,16",
            "--disk-bytes",
            self.limit,
            "--timeout",
            "10",
        ]
        status, out, err = self.nuthatch(*given, *more, str(self.list))
        rows = []
        for line in out.splitlines():
            try:
                rows.append(json.loads(line))
            except ValueError:
                if status >= 0:
                    self.fault("prefetch wrote a line that is no JSON: %r" % line[:80])
        return status, rows, err

    def kill_prefetch(self) -> None:
        """Starts a prefetch of other versions, and kills it in the middle."""
        for number in range(URLS):
            self.pictures.show(number, self.dice.randrange(content.VERSIONS))
        words = [str(self.build.command), "prefetch", "--cache", str(self.cache), "--size", "8,16"]
        before = self.pictures.server.count()
        words += ["--policy", "reload", str(self.list)]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(words, env=self.build.environment(), **quiet) as process:
            self.pictures.server.wait_for_requests(before + self.dice.randrange(1, URLS))
            process.kill()

    # Programs that run during the scenario

    def start(self, workers: int = 3, commands: int = 2) -> None:
        self.ending.clear()
        for number in range(workers):
            self.workers.append(Worker(self, number))
        for number in range(commands):
            self._run(self._prefetch_again_and_again, number)
        self._run(self._look_around, 0)
        self._run(self._change_pictures, 0)

    def work(self, seconds: float) -> None:
        """Lets the programs run for a time; on a busy machine up to five times as long, until they made some calls."""
        end, wanted = time.monotonic() + seconds, self.progress() + int(40 * seconds)
        while time.monotonic() < end or (self.progress() < wanted and time.monotonic() < end + 4 * seconds):
            time.sleep(0.05)

    def progress(self) -> int:
        """Returns the number of calls and commands so far."""
        return self.commands + sum(worker.calls for worker in self.workers)

    def stop(self) -> None:
        """Ends all programs, and waits for them."""
        self.ending.set()
        for worker in self.workers:
            worker.finish()
        for thread in self.threads:
            thread.join()
        self.workers, self.threads = [], []

    def _run(self, work: Any, number: int) -> None:
        thread = threading.Thread(target=work, args=(random.Random(self.seed * 31 + number),), daemon=True)
        thread.start()
        self.threads.append(thread)

    def _prefetch_again_and_again(self, dice: random.Random) -> None:
        while not self.ending.is_set():
            status, rows, err = self.prefetch(*dice.choice([[], [], ["--policy", "reload"]]))
            if status >= 0:
                for row in rows:
                    if not row["ok"]:
                        self.fault("prefetch of %s: %s" % (row["url"], row.get("message")))
            if status == 1:
                self.note("prefetch says: %s" % plain(err))
            self.ending.wait(0.02)

    def _look_around(self, dice: random.Random) -> None:
        """Runs short commands, one after another."""
        while not self.ending.is_set():
            number = dice.randrange(URLS)
            url = self.pictures.urls[number]
            name = dice.choice(["get", "get", "stat", "ls", "explain", "verify", "rm", "trim"])
            if name == "get":
                status, out, err = self.nuthatch("get", url)
                if status == 0 and self.pictures.known.version(number, out) < 0:
                    self.fault("get %s: wrong bytes (%d)" % (url, len(out)))
            elif name in ("explain", "rm"):
                status, out, err = self.nuthatch(name, url)
            else:
                status, out, err = self.nuthatch(name)
            if b"is not a cache" in err:
                self.fault("%s: %s" % (name, plain(err)))
            if name == "verify" and status == 4 and not self.is_harmful:
                self.fault("verify meanwhile: %s" % plain(out))
            if status > 0:
                self.note("%s says: %s" % (name, plain(err or out)))
            self.ending.wait(0.02)

    def _change_pictures(self, dice: random.Random) -> None:
        while not self.ending.wait(0.1):
            self.pictures.show(dice.randrange(URLS), dice.randrange(content.VERSIONS))


class Worker:
    """Runs and watches `worker.py`. Starts it again if it ends before `finish`."""

    def __init__(self, stage: Stage, number: int) -> None:
        self.stage = stage
        self.number = number
        self.times = 0
        self.calls = 0
        self.ending = False
        self.process: Optional[subprocess.Popen] = None
        self.status = stage.scratch / ("status-%d" % number)
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def finish(self) -> None:
        self.ending = True
        self.thread.join()

    def _begin(self) -> "subprocess.Popen":
        self.status.write_bytes(bytes(content.STATUS.size))
        job = self.stage.scratch / ("job-%d.json" % self.number)
        seed = self.stage.seed * 100 + self.number * 10 + self.times
        told = {"seed": seed, "urls": self.stage.pictures.urls, "digests": self.stage.pictures.known.digests}
        told.update(cache=str(self.stage.cache), status=str(self.status))
        job.write_text(json.dumps(told))
        self.times += 1
        return subprocess.Popen(
            [sys.executable, str(HERE / "worker.py"), str(job)],
            env=self.stage.build.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def _watch(self) -> None:
        while not self.ending:
            before = self.calls
            process = self._begin()
            reader = threading.Thread(target=self._read, args=(process,), daemon=True)
            reader.start()
            told, at, before_it = False, 0, 0.0
            while process.poll() is None:
                if self.ending and not told:
                    told = True
                    process.stdin.close()
                calls, began, name = content.STATUS.unpack(self.status.read_bytes())
                self.calls = before + calls
                if calls != at:
                    at, before_it = calls, starved(process.pid)
                late = time.monotonic() - began > CALL_BOUND
                if (
                    began
                    and late
                    and time.monotonic() - began - starved(process.pid) + before_it > CALL_BOUND
                ):
                    word = name.rstrip(b"\0").decode()
                    place = where(process.pid)
                    self.stage.fault("%s did not return in %.0f s (%s)" % (word, CALL_BOUND, place))
                    process.kill()
                    process.wait()
                time.sleep(0.05)
            reader.join()
            calls, began, name = content.STATUS.unpack(self.status.read_bytes())
            if process.returncode < 0 and process.returncode != -signal.SIGKILL:
                word = name.rstrip(b"\0").decode() or "no call"
                self.stage.fault("Python ended by %s in %s" % (ending(process.returncode), word))
            elif process.returncode > 0:
                self.stage.fault("Python: exit status %d: %s" % (process.returncode, self.said[-600:]))
            self.stage.note("calls from Python", calls)

    def _read(self, process: "subprocess.Popen") -> None:
        said: List[bytes] = []
        errors = threading.Thread(target=lambda: said.append(process.stderr.read()), daemon=True)
        errors.start()
        for line in process.stdout:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            for kind in ("wrong", "unnoticed", "unexpected"):
                if kind not in row:
                    continue
                if kind == "unnoticed" and self.stage.may_lose:
                    self.stage.note("zeros before the first call failed")
                else:
                    self.stage.fault("Python: %s: %s" % (kind, row[kind]))
            for name, count in row.get("counts", {}).items():
                if ":" in name:
                    self.stage.note("Python " + name, count)
        errors.join()
        self.said = b"".join(said).decode(errors="replace")


def starved(pid: int) -> float:
    """Returns for how many seconds a thread of a process waited for a processor: the longest of its threads."""
    found = [0.0]
    for task in Path("/proc/%d/task" % pid).glob("*/schedstat"):
        with contextlib.suppress(OSError):
            found.append(int(task.read_text().split()[1]) / 1e9)
    return max(found)


def where(pid: int) -> str:
    """Returns the states of a process's threads, and the kernel functions in which they wait."""
    found: Counter = Counter()
    for task in Path("/proc/%d/task" % pid).glob("*"):
        try:
            state = (task / "stat").read_text().rsplit(")", 1)[1].split()[0]
            found["%s %s" % (state, (task / "wchan").read_text())] += 1
        except OSError:
            continue
    return ", ".join("%d x %s" % (count, name) for name, count in found.most_common(6))


def plain(said: bytes) -> str:
    """Returns the last line. Words that differ from run to run are replaced by "…"."""
    lines = said.decode(errors="replace").strip().splitlines()
    words = (lines[-1] if lines else "").split()
    varies = [word.startswith("/") or any(letter.isdigit() for letter in word) for word in words]
    return " ".join("…" if does else word for word, does in zip(words, varies))[:120]
