"""Makes the options of config files from the table: their names, and the code that reads their values."""

from typing import List

from option_table import LISTS, Row, Table, one_of
from options_cli import allowed, swift_text, value_of
from options_swift import BANNER, is_said

#: Levels whose options stand in config files.
LEVELS = {"cache", "process", "site"}
# Code for options that have another form in Swift, or need special readers.
READINGS = {
    "headers": "draft.options.headers.append(try value.header())",
    "netrc": "draft.options.netrc = .file(try value.filled())",
    "user": "draft.options.user = try value.signIn()",
    "cert": "draft.cert = try value.filled()",
    "cert_key": "draft.certKey = try value.filled()",
    "cert_password": "draft.certPassword = value.text",
}


def rows_of_files(table: Table) -> List[Row]:
    """Returns the rows that config files may have: those of the command, except options of single requests."""
    return [row for row in table.rows if row.flag and LEVELS & set(row.levels)]


def rows_file(table: Table) -> str:
    """ConfigRows.swift."""
    lines = [BANNER, "/// The options of config files.", "package enum ConfigRows {"]
    lines += ["  static let ofTable: [ConfigRow] = ["]
    lines += [f"    {_name(row)}," for row in rows_of_files(table)]
    lines += [
        "  ]",
        "",
        "  /// Options of single requests, which files don't have, with the command's names for them.",
    ]
    lines += ["  static let ofRequests: [String: String] = ["]
    others = [row for row in table.rows if row.flag and not LEVELS & set(row.levels)]
    lines += [f"    {swift_text(row.name)}: {swift_text(row.flag.name)}," for row in others]
    lines += ["  ]"]
    for row in rows_of_files(table):
        lines += ["", *_row(row)]
    return "\n".join([*lines, "}"]) + "\n"


def _row(row: Row) -> List[str]:
    flag = row.flag
    levels = ", ".join(f".{level}" for level in row.levels if level in LEVELS)
    others = list(dict.fromkeys([flag.name, *[old.partition("=")[0] for old in flag.old]]))
    words = ", ".join(swift_text(word) for word, _ in row.words.members) if row.words else ""
    reading = (
        READINGS.get(row.name)
        or f"draft.options.{row.swift} = {value_of(row, 'value', 'try value.trueOrFalse()')}"
    )
    arguments = "draft, value" if "value" in reading else "draft, _"
    lines = [
        f"  private static let {_name(row)} = ConfigRow(",
        f'    "{row.name}", .{row.kind}, levels: [{levels}],',
        f"    range: {swift_text(_range(row))}, words: [{words}],",
        f"    names: [{', '.join(swift_text(name) for name in others if name != row.name)}],",
    ]
    lines.append(f"    usual: {swift_text(flag.default)},")
    if flag.needs == "cert":
        lines.append(f"    needs: {swift_text(flag.needs)},")
    # A site's options are set in sections only, where nothing overrides them.
    said = f"{{ {_said(row)} }}" if {"cache", "process"} & set(row.levels) else "{ _ in false }"
    lines += [
        f"    isSet: {said}",
        f"  ) {{ ({arguments}) throws(NuthatchError) in",
        f"    {reading}",
        "  }",
    ]
    return lines


def _range(row: Row) -> str:
    if row.words:
        return one_of([word for word, _ in row.words.members])
    return "true or false" if row.kind == "flag" else allowed(row)


def _said(row: Row) -> str:
    text = is_said(row)
    return f"!$0.{text[1:]}" if row.is_said_once and row.kind in LISTS else f"$0.{text}"


def _name(row: Row) -> str:
    first, *rest = row.name.split("_")
    return first + "".join(word.capitalize() for word in rest)
