"""If a type is @unchecked Sendable, a comment says why threads may share it."""

import re
from pathlib import Path
from typing import List

DECLARED = re.compile(r"\b(?:class|struct)\s+(\w+).*@unchecked Sendable")
#: A comment on a property within so many lines below the declaration counts, too.
BELOW = 15


def unexplained(text: str) -> List[str]:
    lines = text.split("\n")
    names = []
    for number, line in enumerate(lines):
        found = DECLARED.search(line)
        if not found:
            continue
        first = number
        while first > 0 and lines[first - 1].strip().startswith("//"):
            first -= 1
        comments = [line for line in lines[first : number + BELOW] if "//" in line]
        if not any("Sendable" in comment.split("//", 1)[1] for comment in comments):
            names.append(found.group(1))
    return names


def test_every_unchecked_sendable_type_has_a_reason(root: Path) -> None:
    found = {
        path.name: names
        for path in sorted((root / "Sources").rglob("*.swift"))
        for names in [unexplained(path.read_text())]
        if names
    }
    assert not found


def test_an_unchecked_sendable_type_without_a_reason_is_found() -> None:
    assert unexplained("final class A: @unchecked Sendable {\n  var a = 1\n}\n") == ["A"]
    assert unexplained("/// Never changes, hence Sendable.\nstruct B: @unchecked Sendable {}\n") == []
