"""Makes the Python options from the table: the member of the library's struct, and the allowed values."""

from typing import Dict, Iterable, List

from option_table import GREATEST, Row, Table
from options_c import members

BANNER = "Generated from options.toml by Scripts/make-header; edit that instead."
LEVELS = {"cache": "CACHE", "site": "SITE", "request": "REQUEST", "image": "IMAGE", "process": "PROCESS"}


def files(table: Table) -> Dict[str, str]:
    """Returns the files by name."""
    return {"_option_table.py": table_file(table)}


def table_file(table: Table) -> str:
    """_option_table.py."""
    lines: List[str] = [
        f'"""The options. {BANNER}"""',
        "",
        "from typing import Dict, Mapping, Optional",
        "",
        "CACHE, SITE, REQUEST, IMAGE, PROCESS = 1, 2, 4, 8, 16",
        "",
        "",
        "class Row:",
        '    """An option: its kind, its member of the struct, the levels that have it, what None means, its words."""',
        "",
        "    def __init__(",
        "        self,",
        "        kind: str,",
        "        member: str,",
        "        levels: int,",
        "        none: Optional[str] = None,",
        "        least: float = 0,",
        "        greatest: Optional[float] = None,",
        '        range: str = "",',
        "        words: Optional[Mapping[str, int]] = None,",
        '        since: str = "0.1",',
        "    ) -> None:",
        "        self.kind, self.member, self.levels, self.none, self.words = kind, member, levels, none, words",
        "        #: The range, and its text in messages.",
        "        self.least, self.greatest, self.range = least, greatest, range",
        "        #: The version that added the option.",
        "        self.since = since",
        "",
        "",
        "ROWS: Dict[str, Row] = {",
    ]
    for row in table.rows:
        if row.python and row.kind not in ("pointer", "function", "questions", "sizes"):
            lines.append(f'    "{row.python}": {_row(row)},')
    for argument in table.arguments:
        kind = '"question"' if argument.asks else '"argument"'
        parts = [kind, f'"{argument.asks or ""}"', _levels(argument.levels)]
        lines.append(f'    "{argument.name}": {_made(parts)},')
    return "\n".join([*lines, "}"]) + "\n"


def _row(row: Row) -> str:
    parts = [
        f'"{"pixels" if row.unit else row.kind}"',
        f'"{members(row)[0]}"',
        _levels(row.python_levels),
    ]
    if row.none:
        parts.append(f'none="{row.none}"')
    if row.range:
        least, greatest = row.range
        parts += [f"least={least}"] if least else []
        parts += [f"greatest={greatest}"] if greatest != GREATEST else []
        parts.append(f'range="{row.range_text}"')
    if row.words:
        words = ", ".join(f'"{word}": {number}' for number, (word, _) in enumerate(row.words.members, 1))
        parts.append(f"words={{{words}}}")
    if row.since != "0.1":
        parts.append(f'since="{row.since}"')
    return _made(parts)


def _levels(levels: Iterable[str]) -> str:
    return " | ".join(LEVELS[level] for level in levels)


def _made(parts: List[str]) -> str:
    return "Row(\n        " + ",\n        ".join(parts) + ",\n    )"
