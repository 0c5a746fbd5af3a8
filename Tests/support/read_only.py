"""Mounts a folder read-only for one command and its children."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

SCRIPT = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
PREFIX = ["unshare", "--mount" if os.geteuid() == 0 else "-rm", "--", "sh", "-c", SCRIPT]


def mounted(folder: Path, *command: str) -> list[str]:
    """Returns the command with a prefix that mounts the folder read-only for it, in a new mount namespace.

    Skips the test if that is not permitted.
    """
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare")
    whole = [*PREFIX, str(folder)]
    tried = subprocess.run([*whole, "true"], capture_output=True, text=True, timeout=60, check=False)
    if tried.returncode != 0:
        pytest.skip(f"a folder can't be mounted read-only here: {tried.stderr.strip()}")
    written = subprocess.run(
        [*whole, "touch", str(folder / "new")], capture_output=True, timeout=60, check=False
    )
    assert written.returncode != 0
    return [*whole, *command]


def age(index: Path) -> None:
    """Changes an index so that it seems to be from before the last boot."""
    from store_format import hash64

    with open(index, "r+b") as file:
        head = bytearray(file.read(64))
        head[32] ^= 1
        head[56:64] = struct.pack("<Q", hash64(bytes(head[:56])))
        file.seek(0)
        file.write(head)


def everything(folder: Path) -> dict[str, bytes]:
    """Returns all files of a folder with their contents."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
