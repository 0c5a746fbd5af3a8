"""docs/ERRORS.md lists the reasons of failures: each word of the error table, with an existing file."""

import re
from pathlib import Path
from typing import Set

import pytest


@pytest.fixture
def page(root: Path) -> str:
    return (root / "docs/ERRORS.md").read_text()


@pytest.fixture
def words(root: Path) -> Set[str]:
    table = (root / "Sources/NuthatchCore/ErrorCode.swift").read_text()
    return set(re.findall(r'^    case \.\w+: "(\w+)"$', table, re.MULTILINE))


def test_errors_md_has_a_reason_for_every_error_word(page: str, words: Set[str]) -> None:
    assert len(words) > 30
    assert words - set(re.findall(r"`(\w+)`", page)) == set()


def test_every_reason_in_errors_md_has_an_error_word_and_a_file(
    root: Path, page: str, words: Set[str]
) -> None:
    rows = [line.split(" | ") for line in page.splitlines() if re.match(r"\| .*\.swift`", line)]
    assert len(rows) > 40
    for reason, error, places, _ in rows:
        codes = set(re.findall(r"`(\w+)`", error)) - {"retry_after"}
        assert codes <= words, f"{reason}: {codes - words} is no word of ErrorCode"
        assert codes or "that error again" in error or "that fault" in error, f"{reason}: no word"
        files = re.findall(r"`([\w/+]+\.swift)`", places)
        assert files and all((root / "Sources" / name).is_file() for name in files), f"{reason}: {places}"
