"""File systems on loop devices in memory, which can be filled, shut down, cut and mended. Only this process sees them.

They are mounted in a mount namespace of their own (`isolate`). The kernel releases a loop device when its file system
is unmounted and `Volume` has closed the device. So nothing is left when the process ends, even if it is killed.
"""

import contextlib
import ctypes
import fcntl
import os
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path
from typing import Dict, List, Optional

MIB = 1 << 20
SIZES = {"btrfs": 160 * MIB, "xfs": 320 * MIB, "ext4": 96 * MIB, "tmpfs": 48 * MIB}
MAKERS: Dict[str, List[str]] = {
    "btrfs": ["mkfs.btrfs", "--quiet", "--force"],
    "xfs": ["mkfs.xfs", "-q", "-f"],
    "ext4": ["mkfs.ext4", "-q", "-F"],
}
OPTIONS = {"btrfs": "commit=5", "ext4": "errors=remount-ro"}
MENDERS: Dict[str, List[str]] = {
    "btrfs": ["btrfs", "rescue", "zero-log"],
    "xfs": ["xfs_repair", "-L"],
    "ext4": ["e2fsck", "-f", "-y"],
}

LOOP_CONFIGURE, LOOP_CLEAR, LOOP_SET, LOOP_GET, LOOP_FREE = 0x4C0A, 0x4C01, 0x4C04, 0x4C05, 0x4C82
LOOP_INFO = "=5Q4I64s64s32s2Q"
LIMIT_AT = 4
AUTOCLEAR = 4
SHUT_DOWN = 0x8004587D  # XFS_IOC_GOINGDOWN and EXT4_IOC_SHUTDOWN are one number
NO_FLUSH = 2

libc = ctypes.CDLL(None, use_errno=True)
# The folders of mkfs and similar programs. Not every root has them in PATH.
os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", "/usr/bin:/bin"), "/usr/sbin", "/sbin"])


NEW_MOUNTS, NEW_PROCESSES, DEATH_SIGNAL = 0x20000, 0x20000000, 1


def isolate() -> None:
    """Returns in a child process that has a mount and a process namespace of its own.

    When the child ends, its mounts and all processes of its namespace end. The process that called this waits for the
    child, passes SIGTERM on to it, and ends with its status.
    """
    if libc.unshare(NEW_MOUNTS | NEW_PROCESSES) != 0:
        raise Failed("unshare: %s" % os.strerror(ctypes.get_errno()))
    child = os.fork()
    if child == 0:
        libc.prctl(DEATH_SIGNAL, signal.SIGKILL)
        command("mount", "--make-rprivate", "/")
        command("mount", "-t", "proc", "proc", "/proc")
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def reason_against_any() -> Optional[str]:
    """Returns why nothing can be mounted here, or None."""
    if os.geteuid() != 0:
        return "only root can mount file systems"
    trial = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "mount", "-t", "tmpfs", "none", "/mnt"]
    try:
        tried = subprocess.run(trial, capture_output=True, text=True)
    except OSError as error:
        return "no unshare: %s" % error
    return None if tried.returncode == 0 else "nothing can be mounted: %s" % tried.stderr.strip()


class Unavailable(Exception):
    """This machine has no such file system; the text says what is missing."""


class Failed(Exception):
    """The file system itself did not do as it was told; the text says what."""


def command(*words: str) -> None:
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise Failed("%s: %s" % (" ".join(words), said or "exit status %d" % done.returncode))


class Volume:
    """A file system of a kind, and the folder where it is mounted."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.folder = folder
        self.size = SIZES[kind]
        self.device = ""
        self.descriptor = -1
        self.mounted = False
        folder.mkdir(parents=True, exist_ok=True)
        if kind == "tmpfs":
            return
        if shutil.which(MAKERS[kind][0]) is None:
            raise Unavailable("no %s" % MAKERS[kind][0])
        self._attach()
        try:
            command(*MAKERS[kind], self.device)
        except BaseException:
            self.release()
            raise

    def _attach(self) -> None:
        try:
            control = os.open("/dev/loop-control", os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            raise Unavailable("no loop devices: %s" % error) from error
        backing = os.memfd_create("nuthatch-volume")
        os.ftruncate(backing, self.size)
        info = struct.pack(LOOP_INFO, *[0] * 8, AUTOCLEAR, b"", b"", b"", 0, 0)
        wanted = struct.pack("=II", backing, 0) + info + bytes(64)
        try:
            for _ in range(20):
                # Another process may take the same device before LOOP_CONFIGURE.
                name = "/dev/loop%d" % fcntl.ioctl(control, LOOP_FREE)
                descriptor = os.open(name, os.O_RDWR | os.O_CLOEXEC)
                try:
                    fcntl.ioctl(descriptor, LOOP_CONFIGURE, wanted)
                except OSError as error:
                    os.close(descriptor)
                    failure = error
                    time.sleep(0.05)
                    continue
                self.device, self.descriptor = name, descriptor
                return
            raise Unavailable("no loop device can be set up: %s" % failure)
        except OSError as error:
            raise Unavailable("no loop device: %s" % error) from error
        finally:
            os.close(backing)
            os.close(control)

    def mount(self, read_only: bool = False) -> None:
        options = ",".join(["ro" if read_only else "rw", *filter(None, [OPTIONS.get(self.kind)])])
        if self.kind == "tmpfs":
            options += ",size=%d" % self.size
        try:
            command("mount", "-t", self.kind, "-o", options, self.device or "nuthatch", str(self.folder))
        except Failed as failure:
            if "unknown filesystem type" in str(failure):
                raise Unavailable("this kernel has no %s" % self.kind) from failure
            raise
        self.mounted = True

    def unmount(self) -> None:
        """Unmounts it. Tries for 20 s, because processes that are just ending may still use it."""
        end = time.monotonic() + 20
        while self.mounted:
            try:
                command("umount", str(self.folder))
                self.mounted = False
            except Failed:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def remount(self, *options: str) -> None:
        command("mount", "-o", ",".join(["remount", *options]), str(self.folder))

    def make_read_only(self) -> None:
        """Remounts it read-only. The kernel refuses this while a file is open for writing."""
        self.remount("ro", *(["size=%d" % self.size] if self.kind == "tmpfs" else []))

    def turn_read_only(self) -> None:
        """Makes it read-only as after an error, even if files are open. They can still be read."""
        if self.kind == "ext4":
            self.remount("abort")
        elif self.kind == "btrfs":
            self.cut(4096)
            try:
                self.write_and_flush()
            finally:
                self.mend()
        else:
            raise Unavailable("%s never turns read-only by itself" % self.kind)

    def shut_down(self) -> None:
        """Makes every call fail until it is unmounted and mounted again."""
        if self.kind == "btrfs":
            # btrfs has no such call. Without its device, it fails in the same way.
            self.cut(4096)
            self.write_and_flush()
            return
        folder = os.open(str(self.folder), os.O_RDONLY)
        try:
            fcntl.ioctl(folder, SHUT_DOWN, struct.pack("I", NO_FLUSH))
        finally:
            os.close(folder)

    def write_and_flush(self) -> None:
        """Makes the file system write its own state, so that it notices that this fails."""
        with contextlib.suppress(OSError):
            (self.folder / "flushed").write_bytes(os.urandom(64))
        self.flush()

    def flush(self) -> None:
        """Writes what this file system has in memory. After that, mapped pages are write-protected until the next write
        to them."""
        with contextlib.suppress(OSError):
            folder = os.open(str(self.folder), os.O_RDONLY)
            try:
                libc.syncfs(folder)
            finally:
                os.close(folder)

    def forget(self) -> None:
        """Drops the cached pages of all files, so that they must be read again. Mapped pages stay."""
        self.flush()
        for path in (Path(folder, name) for folder, _, names in os.walk(str(self.folder)) for name in names):
            with contextlib.suppress(OSError):
                descriptor = os.open(str(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
                try:
                    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
                finally:
                    os.close(descriptor)

    def cut(self, at: int) -> None:
        """Makes reads and writes behind the first `at` bytes of the device fail with EIO. 0: no limit."""
        info = bytearray(struct.calcsize(LOOP_INFO))
        fcntl.ioctl(self.descriptor, LOOP_GET, info)
        fields = list(struct.unpack(LOOP_INFO, bytes(info)))
        fields[LIMIT_AT] = at
        fcntl.ioctl(self.descriptor, LOOP_SET, struct.pack(LOOP_INFO, *fields))

    def mend(self) -> None:
        """Makes the whole device work again. Data that could not be written to it is lost."""
        if self.descriptor >= 0:
            self.cut(0)

    def mount_again(self) -> None:
        """Unmounts it, repairs it if needed, and mounts it writable."""
        if self.kind == "tmpfs":
            # A tmpfs that is unmounted loses its files.
            self.remount("rw", "size=%d" % self.size)
            return
        self.unmount()
        self.mend()
        if self.kind == "ext4":
            # An unrepaired error could make ext4 turn read-only again.
            self._repair()
        try:
            self.mount()
        except Failed:
            self._repair()
            self.mount()
        if os.statvfs(str(self.folder)).f_flag & os.ST_RDONLY:
            raise Failed("%s is read-only after it was mounted again" % self.kind)

    def _repair(self) -> None:
        subprocess.run([*MENDERS[self.kind], self.device], capture_output=True, stdin=subprocess.DEVNULL)

    def release(self) -> None:
        """Unmounts it, even if programs still use it, and releases the device."""
        if self.mounted:
            with contextlib.suppress(Failed):
                command("umount", "--lazy", str(self.folder))
            self.mounted = False
        if self.descriptor >= 0:
            with contextlib.suppress(OSError):
                fcntl.ioctl(self.descriptor, LOOP_CLEAR)
            os.close(self.descriptor)
            self.descriptor = -1
