"""Reads and checks the table of options, Sources/NuthatchCore/Options/options.toml. The table explains its columns."""

import re
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import tomllib

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "Sources/NuthatchCore/Options/options.toml"

NUMBERS = ("duration", "bytes", "count", "share", "rate")
KINDS = (
    *NUMBERS,
    "flag",
    "words",
    "text",
    "path",
    "secret",
    "headers",
    "names",
    "sizes",
    "secrets",
    "questions",
)
KINDS += ("pointer", "function", "handle")
LISTS = ("headers", "names", "sizes", "questions")
LEVELS = ("cache", "site", "request", "image", "process")
REACHES = ("hit", "fetch", "name", "outbox")
COLUMNS = {
    "kind",
    "words",
    "levels",
    "default",
    "range",
    "none",
    "empty",
    "reaches",
    "merge",
    "swift",
    "type",
}
COLUMNS |= {"since", "help", "doc", "python", "python_levels", "unit", "cli"}

TIMES = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
BYTES = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
GREATEST = 2**63 - 1


class Words(NamedTuple):
    """The words that can be the value of an option."""

    name: str
    #: The type in Swift. If it is part of another type, it is not generated.
    swift: str
    doc: str
    members: List[Tuple[str, str]]


class Flag(NamedTuple):
    """An option of the command."""

    #: The commands that have it.
    commands: Tuple[str, ...]
    #: The name without its dashes.
    name: str
    #: Another name, which takes no value.
    bare: Optional[str]
    letter: Optional[str]
    #: The name of the value in help; None for a flag.
    value: Optional[str]
    #: An option that must be given, too.
    needs: Optional[str]
    #: Whether the number may end in K, M or G.
    units: bool
    help: str
    #: Names of version 0.1; "name=word" for a name that implied a word.
    old: Tuple[str, ...]
    old_words: Dict[str, str]
    #: The default for people.
    default: str


class Row(NamedTuple):
    """An option."""

    name: str
    kind: str
    levels: Tuple[str, ...]
    #: The default: a number, flag or word. None if code computes it, or if there is none.
    default: Any
    #: The default as text for the reference.
    default_text: str
    #: The least and the greatest value; durations in milliseconds, sizes in bytes.
    range: Optional[Tuple[Any, Any]]
    #: The range as text, with "none" if that is allowed.
    range_text: str
    #: The unit of a count that may end in K or M.
    unit: Optional[str]
    none: Optional[str]
    empty: Optional[str]
    reaches: Tuple[str, ...]
    merge: Optional[str]
    swift: Optional[str]
    type: Optional[str]
    #: The name in Python; None if Python has it in another form.
    python: Optional[str]
    python_levels: Tuple[str, ...]
    words: Optional[Words]
    since: str
    help: str
    doc: str
    #: The part of the table.
    group: str
    flag: Optional[Flag]

    @property
    def is_text(self) -> bool:
        """Whether the option is a text in Swift, too."""
        return self.kind == "text" or (self.kind == "path" and self.type is None)

    @property
    def is_said_once(self) -> bool:
        """Whether the member in Swift begins with the default instead of nil: for lists, and for options of one level
        whose default is known."""
        above = [level for level in self.levels if level != "image"]
        return self.kind in LISTS or (len(above) == 1 and self.default is not None)


class Argument(NamedTuple):
    """An argument in Python that is a function in C."""

    name: str
    levels: Tuple[str, ...]
    #: The type in Python.
    type: str
    #: The bit in C, for a question.
    asks: Optional[str]
    help: str
    doc: str


class Table(NamedTuple):
    rows: List[Row]
    arguments: List[Argument]
    words: List[Words]
    #: The bytes of the smallest nh_options that the library reads.
    oldest_struct: int
    #: The options that each command had in version 0.1.
    before: Dict[str, List[str]]


def places(row: Row) -> str:
    """Returns the levels of an option as text."""
    words = {"process": "the process", "image": "an image"}
    return " or ".join(words.get(level, f"a {level}") for level in row.levels)


def grouped(table: Table) -> List[Tuple[str, List[Row]]]:
    """Returns the parts of the table with their rows. In the table, newer rows are at the end, not in their part."""
    parts: Dict[str, List[Row]] = {}
    for row in table.rows:
        parts.setdefault(row.group, []).append(row)
    return list(parts.items())


def load(path: Path = TABLE) -> Table:
    """Returns the table. If it is wrong, ends the program with a message."""
    text = path.read_text()
    raw = tomllib.loads(text)
    groups = _groups(text)
    words = {name: _words(name, dict(given)) for name, given in raw.get("words", {}).items()}
    rows = [_row(name, given, words, groups[name]) for name, given in raw.get("option", {}).items()]
    unused = set(words) - {row.words.name for row in rows if row.words}
    if unused:
        _wrong(", ".join(sorted(unused)), "no option has these words")
    arguments = [
        Argument(
            name,
            tuple(given["levels"]),
            given["type"],
            given.get("asks"),
            given["help"],
            given.get("doc", ""),
        )
        for name, given in raw.get("python", {}).items()
    ]
    return Table(rows, arguments, list(words.values()), raw["oldest_struct"], _before(raw["before"]))


def _before(given: Dict[str, str]) -> Dict[str, List[str]]:
    """Returns the names of version 0.1 for each command. In the table, lists of several commands have a name."""
    shared = {name: given.pop(name) for name in ("fetching", "naming")}
    return {
        command: [name for word in names.split() for name in shared.get(word, word).split()]
        for command, names in given.items()
    }


def _groups(text: str) -> Dict[str, str]:
    """Returns the part of the table for each option."""
    found, group = {}, ""
    for mark, name in re.findall(r"^# MARK: (.*)$|^\[option\.(\w+)\]$", text, re.M):
        group = mark or group
        if name:
            found[name] = group
    return found


def _words(name: str, given: Dict[str, Any]) -> Words:
    swift, doc = given.pop("swift", ""), given.pop("doc", "")
    if not swift or not doc or not given or not all(given.values()):
        _wrong(name, "words need swift, doc, and what each of them means")
    return Words(name, swift, doc, [(word, " ".join(text.split())) for word, text in given.items()])


def _row(name: str, given: Dict[str, Any], words: Dict[str, Words], group: str) -> Row:
    unknown = set(given) - COLUMNS
    if unknown:
        _wrong(name, f"there is no column {', '.join(sorted(unknown))}")
    for column in ("kind", "levels", "default", "since", "help"):
        if column not in given:
            _wrong(name, f"{column} is missing")
    kind, levels = given["kind"], tuple(given["levels"])
    if kind not in KINDS or not levels or not set(levels) <= set(LEVELS):
        _wrong(name, "kind or levels is unknown")
    # Required, so that the author of a row checks whether stored answers and fetches can still be shared.
    if ("reaches" in given) != ("request" in levels or "site" in levels):
        _wrong(name, "rows of requests and sites need reaches, and other rows must not have it")
    reaches = tuple(given.get("reaches", ()))
    if not set(reaches) <= set(REACHES):
        _wrong(name, f"reaches is among {', '.join(REACHES)}")
    if "name" in reaches and "fetch" not in reaches:
        _wrong(name, "what reaches the name reaches fetch: requests of other names share no transfer")
    if (kind in NUMBERS or kind == "sizes") != ("range" in given):
        _wrong(name, "numbers need a range, and other kinds must not have one")
    if (kind == "words") != ("words" in given) or (kind == "words" and given["words"] not in words):
        _wrong(name, "the kind words needs words, the name of a table of words")
    if given.get("unit", "pixels") != "pixels" or ("unit" in given and kind != "count"):
        _wrong(name, "unit must be pixels, and belongs to a count")
    if "none" in given and given["none"] not in ("unlimited", "zero", "off"):
        _wrong(name, "none must be unlimited, zero or off")
    row_words = words[given["words"]] if kind == "words" else None
    limits = tuple(_number(kind, one) for one in given["range"]) if "range" in given else None
    default, text = _default(kind, given["default"], row_words)
    if limits and default is not None and not limits[0] <= default <= limits[1]:
        _wrong(name, "default is out of range")
    range_text = ""
    if limits:
        least, greatest = (_spaced(str(one)) for one in given["range"])
        range_text = f"{least} or more" if limits[1] == GREATEST else f"{least} to {greatest}"
        range_text += ", or none" if "none" in given else ""
    swift = given.get("swift", _camel(name)) or None
    column = lambda key: given.get(key)  # noqa: E731
    row = Row(
        name, kind, levels, default, text, limits, range_text, column("unit"), column("none"),
        column("empty"), reaches,
        column("merge"), swift, column("type"),
        given.get("python", name) or None, tuple(given.get("python_levels", levels)),
        row_words, given["since"], given["help"],
        given.get("doc", "").strip(), group, None,
    )  # fmt: skip
    return row._replace(flag=_flag(row, dict(given["cli"]))) if "cli" in given else row


#: For each kind, the name of its value in help.
VALUES = {"duration": "TIME", "bytes": "SIZE", "count": "N", "share": "F", "rate": "N", "path": "FILE"}
VALUES |= {"text": "TEXT", "secret": "TEXT"}


def _flag(row: Row, given: Dict[str, Any]) -> Flag:
    sends = tuple(given.pop("commands", ("get", "prefetch")))
    needs, unstored = given.pop("needs", None), given.pop("unstored", False)
    commands = sends
    # explain and export need the option to find the stored answer, and rm to remove the right one.
    if not unstored and needs != "freezable" and {"hit", "name"} & set(row.reaches):
        also = ("explain", "export", "rm") if "name" in row.reaches else ("explain", "export")
        commands += tuple(name for name in also if name not in commands)
    value = given.pop("value", VALUES.get(row.kind))
    if row.words and value is None:
        listed = "|".join(word for word, _ in row.words.members)
        value = listed if len(listed) <= 24 else row.name.upper()
    name = given.pop("flag", ("no-" if row.default is True else "") + row.name.replace("_", "-"))
    text = given.pop("help", None)
    if text is None:
        text = row.help
        if row.words and "|" not in (value or ""):
            text += ": " + one_of([word for word, _ in row.words.members])
    if needs:
        text = f"with --{needs}: {text}"
    if given.get("units"):
        text += "; N may end in K, M or G"
    default = given.pop("default", row.default_text)
    if row.kind != "flag" or value:
        text += f" ({default})" if default not in ("none", "nobody", "nothing") else ""
    bare, letter, units = given.pop("bare", None), given.pop("letter", None), given.pop("units", False)
    old, old_words = tuple(given.pop("old", ())), given.pop("old_words", {})
    if given:
        _wrong(row.name, f"cli has no {', '.join(given)}")
    return Flag(commands, name, bare, letter, value, needs, units, text, old, old_words, default)


def one_of(words: List[str]) -> str:
    """Returns words as "a, b or c"."""
    return ", ".join(words[:-1]) + " or " + words[-1]


def _default(kind: str, said: Any, words: Optional[Words]) -> Tuple[Any, str]:
    if kind == "flag" and isinstance(said, bool):
        return said, "yes" if said else "no"
    if kind in NUMBERS:
        try:
            return _number(kind, said), str(said) if kind in ("duration", "bytes") else f"{said:,}"
        except (KeyError, ValueError):
            return None, said
    if words and said in [word for word, _ in words.members]:
        return said, said
    return None, said


def _number(kind: str, said: Any) -> Any:
    if said in ("forever", "unlimited"):
        return GREATEST
    if not isinstance(said, str):
        return said
    digits = said.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    unit = said[len(digits) :]
    if kind == "duration" and said != "0":
        return int(digits) * TIMES[unit]
    if kind == "rate":
        return float(said)
    return int(digits) * BYTES[unit]


def _spaced(said: str) -> str:
    """Returns a number with a space before its unit."""
    digits = said.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return f"{digits} {said[len(digits) :]}".strip() if digits else said


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _wrong(name: str, what: str) -> None:
    sys.exit(f"{TABLE.name}: {name}: {what}")
