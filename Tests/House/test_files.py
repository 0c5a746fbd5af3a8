"""The files of the project have plain names, so that no file of a test is committed by mistake."""

import re
import subprocess
from pathlib import Path

import pytest

PLAIN = re.compile(r"[A-Za-z0-9._/+-]+")


def test_files_of_the_project_have_plain_names(root: Path) -> None:
    if not (root / ".git").exists():
        pytest.skip("not a checkout of git")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout
    names = listed.decode().rstrip("\0").split("\0")
    assert len(names) > 100
    assert [name for name in names if not PLAIN.fullmatch(name)] == []
