"""The code that decides whether a stored answer is a hit is in one folder. Two places could decide differently."""

import re
from pathlib import Path
from typing import Dict, Tuple

import pytest

LOOKUP = "Sources/NuthatchCore/Lookup/"

# Each topic: a pattern of its code, and the files that may have it.
PLACES: Dict[str, Tuple[str, str]] = {
    "judging how fresh a stored answer is": (
        r"\.freshness\(for:|Freshness\.Grade",
        LOOKUP + "(Reader|Decision|StoredAnswer)",
    ),
    "asking for the grade of a stored answer": (r"\.grade\b|isTolerated|mayServeOnError", LOOKUP),
    "following vary records": (
        r"isVaryRecord|Caching\.variant",
        LOOKUP + "Reader|Sources/NuthatchCore/Sharing/SharedCache.(Records|Removal)",
    ),
    "looking for thumbnails": (
        r"ThumbList\.read|StoredDecodeFailure\.read|ThumbRecord\.Stored\(",
        LOOKUP + "Thumbnails",
    ),
    "looking records up": (
        r"\bstore\.(lookup|recall|mark)\(",
        LOOKUP
        + "|Sources/NuthatchCore/(Records/(StoredDecodeFailure|ThumbList)|Sharing/SharedCache.Removal)",
    ),
    "comparing marks": (r"\bstore\.isCurrent\(\w*[mM]ark", LOOKUP + "AnswerMarks"),
    "deciding": (
        r"\bDecision\(",
        LOOKUP
        + "|Sources/NuthatchCore/(Sharing/SharedCache|Fetching/(RequestTask|Revalidation)|Inspection/Cache.Inspect)",
    ),
    "limits of what is remembered": (
        r"freshUntil|secondsFresh",
        LOOKUP + "|Sources/NuthatchCore/Inspection/StoredAnswerInfo",
    ),
    "a rule of the bindings about hits": (
        r"ask_headers.{0,40}return None|is_stale\s*=\s*(True|False)",
        "nowhere",
    ),
}

# Files that define these words, or show them to users.
APART = re.compile(
    r"Sources/(NuthatchHTTP/Caching|NuthatchStore)/|Sources/NuthatchCLI/Inspect/ExplainCommand\.swift"
)


def code(path: Path) -> str:
    """Returns a file without its comments."""
    mark = "#" if path.suffix == ".py" else "//"
    return "\n".join(line.split(mark)[0] for line in path.read_text().split("\n"))


@pytest.mark.parametrize("what", PLACES)
def test_a_decision_about_stored_answers_is_in_one_place(root: Path, what: str) -> None:
    pattern, places = PLACES[what]
    files = [*(root / "Sources").rglob("*.swift"), *(root / "bindings/python/nuthatch").glob("*.py")]
    names = {str(path.relative_to(root)): path for path in files}
    assert len(names) > 100
    having = [
        name for name, path in names.items() if not APART.match(name) and re.search(pattern, code(path))
    ]
    assert [name for name in having if not re.match(places, name)] == [], (
        f"{what}: use Reader and Decision instead"
    )
    assert having or places == "nowhere", f"{what}: nothing has it any more, so that this test sees nothing"
