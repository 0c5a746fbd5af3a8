"""Fills a file system to the last byte and frees it, again and again, as another program might."""

import contextlib
import errno
import os
import random
import shutil
import threading
import time

from volumes import Failed, Volume

PIECE = 256 << 10
MANY = 3000


class Filler(threading.Thread):
    """Fills `volume` until `stop`. `fills` is the number of times that it was full."""

    def __init__(self, volume: Volume, seed: int) -> None:
        super().__init__(daemon=True)
        self.volume = volume
        self.folder = volume.folder / "filler"
        self.random = random.Random(seed)
        self.ending = threading.Event()
        self.fills = 0
        self.filled = threading.Event()

    def run(self) -> None:
        ways = [self._reserve, self._write, self._write_many]
        while not self.ending.is_set():
            way = self.random.choice(ways)
            with contextlib.suppress(FileExistsError):
                self.folder.mkdir()
            try:
                way()
            except OSError as error:
                if error.errno == errno.ENOSPC:
                    self.fills += 1
                    self.filled.set()
            self._keep_full(self.random.uniform(0.05, 0.8))
            self._free()
            self.ending.wait(self.random.uniform(0.01, 0.3))

    def wait_until_full(self) -> None:
        """Waits until it was full once."""
        if not self.filled.wait(120):
            raise Failed("nothing filled it in 120 s")

    def stop(self) -> None:
        """Ends the thread, and frees everything."""
        self.ending.set()
        self.join()
        self._free()

    def _keep_full(self, seconds: float) -> None:
        """Takes the room that others free. Flushes, because on btrfs a change of flushed data needs room again."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.ending.is_set():
            self.volume.flush()
            with contextlib.suppress(OSError), open(str(self.folder / "kept"), "ab", buffering=0) as file:
                while not self.ending.is_set():
                    file.write(b"x" * 4096)
            self.ending.wait(0.03)

    def _free(self) -> None:
        shutil.rmtree(str(self.folder), ignore_errors=True)
        self.volume.flush()

    def _open(self, name: str) -> int:
        return os.open(str(self.folder / name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def _reserve(self) -> None:
        """Fills it by a large file that grows in ever smaller steps."""
        descriptor, end, step = self._open("reserved"), 0, 8 << 20
        try:
            while not self.ending.is_set():
                try:
                    os.posix_fallocate(descriptor, end, step)
                    end += step
                except OSError:
                    if step <= 4096:
                        raise
                    step //= 4
        finally:
            os.close(descriptor)

    def _write(self) -> None:
        """Fills it by bytes that can't be compressed, one piece after another, flushed now and then."""
        descriptor, piece, written = self._open("written"), self.random.randbytes(PIECE), 0
        try:
            while not self.ending.is_set():
                count = os.write(descriptor, piece)
                written += count
                if written % (8 << 20) < count:
                    os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _write_many(self) -> None:
        """Fills it by small files, which also need room for names, and then by a large one."""
        for number in range(MANY):
            if self.ending.is_set():
                return
            descriptor = self._open("small-%d" % number)
            try:
                os.write(descriptor, b"x" * self.random.choice([100, 1900, 5000]))
            finally:
                os.close(descriptor)
        self._reserve()
