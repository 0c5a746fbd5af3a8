"""Files that another user of the machine puts where the library makes its own."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import Callable, List

import pytest

#: The user who attacks.
OTHER = "nobody"

Plant = Callable[[Path], None]


def given_away(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make a file of another user")
    os.chown(path, pwd.getpwnam(OTHER).pw_uid, -1)


def linked(path: Path) -> None:
    os.link(path, path.with_name(f"another-{path.name}"))


def writable(path: Path) -> None:
    path.chmod(0o666)


FORGERIES: List[Plant] = [given_away, linked, writable]


def untouched(path: Path) -> object:
    """Returns the facts of a file that change if another user changes it."""
    status = path.lstat()
    return status.st_ino, status.st_mode, status.st_uid, status.st_mtime_ns, path.read_bytes()
