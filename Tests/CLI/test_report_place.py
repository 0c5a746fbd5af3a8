"""The files that `--report` may replace, so that a list is never overwritten."""

import os
from pathlib import Path
from typing import List

import pytest
from command import Runner, lines


@pytest.mark.parametrize(
    "content", [b"http://127.0.0.1:1/a\n", b"<!doctype html>\n<title>mine</title>\n", b"\0"]
)
def test_a_report_does_not_replace_another_file(nuthatch: Runner, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "urls.txt").write_bytes(content)
    os.symlink("urls.txt", tmp_path / "link")
    for name in ("urls.txt", "link"):
        done = nuthatch("prefetch", "--report", name)
        assert done.returncode == 2
        assert f"--report: {name} exists and is not a report".encode() in done.stderr
        assert (tmp_path / "urls.txt").read_bytes() == content
    assert not (tmp_path / "cache").exists()


def test_a_report_may_be_a_new_file_an_empty_one_or_an_old_report(
    nuthatch: Runner, pictures: List[str], tmp_path: Path
) -> None:
    (tmp_path / "empty").touch()
    for name in ("new", "empty", "new", "/dev/null"):
        done = nuthatch("prefetch", "--report", name, given=lines(pictures))
        assert done.returncode == 0, done.stderr
    assert b"nuthatch prefetch" in (tmp_path / "empty").read_bytes()[:4096]
