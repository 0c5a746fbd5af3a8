"""Makes the man page nuthatch(3) from the overview of nuthatch.h."""

import re
from typing import List, Tuple

from manual import roff, roff_line

SOURCE = "Generated from nh_overview.h by Scripts/make-header; edit that instead."
#: A caveat begins with its word; all its text begins in this column.
COLUMN = 11


def page(overview: str, sections: List[Tuple[str, List[str]]]) -> str:
    """Returns the page.

    :param overview: the comment at the top of the header
    :param sections: the titles of the header's sections, with the names of their functions
    """
    lines = [re.sub(r"^ \* ?", "", line) for line in overview.strip().splitlines()[1:-1]]
    summary = lines[0].partition(": ")[2].rstrip(".")
    made = [f'.\\" {SOURCE}', '.TH NUTHATCH 3 "" "" Nuthatch', ".SH NAME"]
    made += [f"nuthatch \\- {roff(summary)}", ".SH SYNOPSIS", ".B #include <nuthatch.h>"]
    for paragraph in paragraphs(lines[1:]):
        made += _paragraph(paragraph)
    made.append(".SH FUNCTIONS")
    for title, names in sections:
        made += [".TP", f".B {roff(title)}", _words(", ".join(names) + ".")]
    made += [".SH SEE ALSO", ".BR nuthatch (1)", ".PP"]
    made += [
        "The installed header, nuthatch.h, has an example for each of these groups, and describes each function."
    ]
    return "\n".join(made) + "\n"


def _words(line: str) -> str:
    """Returns a line in which words with a name aren't hyphenated. The mark for that must begin a word."""
    return re.sub(r"(?<!\S)\S*\bnh_\w", r"\\%\g<0>", roff_line(line))


def paragraphs(lines: List[str]) -> List[List[str]]:
    """Splits lines at blank ones, at headings, and where a caveat or an entry of a list begins. Code stays whole."""
    found: List[List[str]] = [[]]
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        is_code = bool(found[-1]) and found[-1][0].startswith("    ")
        if not line and is_code and below.startswith("    "):
            found[-1].append(line)
        elif not line or re.fullmatch("=+", line):
            found.append([])
        elif re.match(r"  - ", line) or _is_caveat(line):
            found.append([line])
        else:
            found[-1].append(line)
    return [paragraph for paragraph in found if paragraph]


def _is_caveat(line: str) -> bool:
    return re.fullmatch(r"[A-Z]\w+\. *", line[:COLUMN]) is not None and len(line) > COLUMN


def _paragraph(lines: List[str]) -> List[str]:
    first = lines[0]
    if first.startswith("    "):
        return [".PP", ".EX", *[roff_line(line, is_code=True) for line in lines], ".EE"]
    if first.startswith("  - "):
        return [".IP \\(bu 2", *[_words(line[4:]) for line in lines]]
    if _is_caveat(first):
        word, rest = first[:COLUMN].strip().rstrip("."), [line[COLUMN:] for line in lines]
        return [".TP", f".B {roff(word)}", *[_words(line) for line in rest]]
    if len(lines) == 1 and not first.endswith((".", ":", ",", ";")):
        return [f".SH {roff(first.upper())}"]
    return [".PP", *[_words(line) for line in lines]]
