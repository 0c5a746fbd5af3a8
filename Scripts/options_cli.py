"""Makes the command's options from the table: names, help, and the code that reads their values."""

import json
import textwrap
from typing import List, Optional

from option_table import GREATEST, Row, Table, one_of
from options_swift import BANNER

# The members for options that have another form in Swift.
PLACES = {
    "method": "request.method",
    "user": "user",
    "bearer": "bearer",
    "cert": "cert",
    "cert_key": "certKey",
    "cert_password": "certPassword",
    "cache_key": "cacheKey",
    "fit": "box.fit",
    "enlarge": "box.enlarge",
    "scaling": "box.scaling",
    "freezable": "isFreezable",
    "outbox_durable": "freezing.isDurable",
    "outbox_queue": "freezing.queue",
    "outbox_handler": "freezing.handler",
    "outbox_attempts": "freezing.attempts",
    "outbox_max_age": "freezing.longest",
    "outbox_key_lifetime": "freezing.keyLifetime",
    "password_provider": "freezing.passwordProvider",
}
# Code for options that need special readers.
READINGS = {
    "accept": "$0.cache.accept = try $1.mediaTypes()",
    "headers": "$0.request.headers.append(try $1.header())",
    "netrc": "$0.cache.netrc = .file(try $1.filled())",
    "outbox_attempts": "$0.freezing.attempts = min(try $1.count(1, nil, none: .max), Int(Int32.max))",
    "concurrency": "try $0.takeConcurrency($1)",
    "per_host": "try $0.takePerHost($1)",
    "password_provider": "$0.freezing.passwordProvider = try $1.provider()",
    "secrets": "$0.freezing.secrets.append(try $1.secret())",
    "sizes": "$0.sizes = try $1.sizes()",
}


def options_file(table: Table) -> str:
    """LibraryOptions.swift."""
    rows = [row for row in table.rows if row.flag]
    names = [_name(row) + suffix for row in rows for suffix in _parts(row)]
    lines = [BANNER, "import NuthatchCore", "", "/// The library's options that the command has."]
    lines += ["enum LibraryOptions {", "  static let all: [Option] = ["]
    lines += [f"    {name}," for name in names]
    lines += ["  ]"]
    for row in rows:
        lines += ["", *_option(row)]
        if row.flag.bare:
            lines += ["", *_option(row, bare=row.flag.bare)]
    lines += [
        "",
        "  /// The names of each command's options in version 0.1.",
        "  static let before: [String: [String]] = [",
    ]
    for command, known in table.before.items():
        listed = textwrap.wrap(", ".join(swift_text(name) for name in known), 100, break_on_hyphens=False)
        lines += [f"    {swift_text(command)}: [", *[f"      {line}" for line in listed]]
        lines[-1] += "," if len(known) > 1 else ""
        lines.append("    ],")
    return "\n".join([*lines, "  ]", "}"]) + "\n"


def _parts(row: Row) -> List[str]:
    return ["", "Bare"] if row.flag.bare else [""]


def _name(row: Row) -> str:
    first, *rest = row.name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _option(row: Row, bare: Optional[str] = None) -> List[str]:
    flag = row.flag
    parts = [swift_text(bare or flag.name)]
    if not bare and flag.letter:
        parts.append(f'letter: "{flag.letter}"')
    if not bare and flag.value:
        parts.append(f"value: {swift_text(flag.value)}")
    help_line = f"the same with {row.empty}" if bare else flag.help
    lines = [f"  private static let {_name(row)}{'Bare' if bare else ''} = Option("]
    lines += [f"    {', '.join(parts)},", f"    {swift_text(help_line)},"]
    if row.words:
        lines.append(f"    words: [{', '.join(swift_text(word) for word, _ in row.words.members)}],")
    elif flag.value and "|" in flag.value:
        lines.append(f"    words: [{', '.join(swift_text(word) for word in flag.value.split('|'))}],")
    if not bare and not row.words and flag.value:
        lines.append(f"    range: {swift_text(allowed(row))},")
    if flag.needs:
        lines.append(f"    needs: {swift_text(flag.needs)},")
    if not bare and flag.old:
        olds = [old.partition("=") for old in flag.old]
        made = ", ".join(
            f"{swift_text(old)}: {swift_text(word) if equals else 'nil'}" for old, equals, word in olds
        )
        lines.append(f"    old: [{made}],")
    if flag.old_words:
        made = ", ".join(f"{swift_text(old)}: {swift_text(new)}" for old, new in flag.old_words.items())
        lines.append(f"    oldWords: [{made}],")
    lines.append(f"    group: {swift_text(row.group)},")
    lines.append("    library: Option.Library(")
    lines.append(f'      "{row.name}", commands: [{", ".join(swift_text(name) for name in flag.commands)}],')
    reading = "if $0.cache.netrc == nil { $0.cache.netrc = .standard }" if bare else _reading(row)
    reading = reading.replace("$0", "said").replace("$1", "value")
    arguments = "said, value" if "value" in reading.replace("(said", "") else "said, _"
    lines.append(f"      namesAnswers: {'true' if 'name' in row.reaches else 'false'}")
    lines.append(f"    ) {{ ({arguments}) throws(UsageError) in")
    lines += [f"      {reading}", "    })"]
    return lines


def allowed(row: Row) -> str:
    """Returns the allowed values, for messages."""
    if row.flag.value and "|" in row.flag.value:
        return one_of(row.flag.value.split("|"))
    if row.kind == "sizes":
        return f"N or NxM, {row.range[0]} to {row.range[1]}, at most 64 with commas between them"
    return row.range_text or {"headers": "a name, a colon and a value"}.get(
        row.kind, "a text that is not empty"
    )


def _reading(row: Row) -> str:
    if row.name in READINGS:
        return READINGS[row.name]
    if row.name in PLACES:
        target = f"$0.{PLACES[row.name]}"
    elif row.swift is None:
        raise SystemExit(f"{row.name}: PLACES needs the member for this option")
    elif "process" in row.levels:
        target = f"$0.process.{row.swift}"
    elif "cache" in row.levels:
        target = f"$0.cache.{row.swift}"
    else:
        target = f"$0.{'request.options' if 'request' in row.levels else 'site'}.{row.swift}"
    flag = "try $1.yesOrNo()" if row.flag.value else "false" if row.default is True else "true"
    return f"{target} = {value_of(row, '$1', flag)}"


def value_of(row: Row, written: str, flag: str) -> str:
    """Returns Swift code for the value of `written`, a WrittenValue. `flag` is the code for a flag's value."""
    if row.kind == "flag":
        return flag
    if row.words:
        return f"try {written}.word([{', '.join('.' + word for word, _ in row.words.members)}])"
    if row.kind == "duration":
        return f"try {written}.lifetime()" if row.none == "zero" else f"try {written}.limit({row.range[0]})"
    if row.kind == "names":
        return f"{written}.names()"
    if row.range:
        least, greatest = (f"{one:_}" if isinstance(one, int) else str(one) for one in row.range)
        if row.kind == "rate":
            return f"try {written}.rate({least}, {greatest})"
        top = "nil" if row.range[1] == GREATEST else greatest
        none = {"zero": "0", "unlimited": ".max", None: "nil"}[row.none]
        call = {"bytes": "bytes", "count": "count", "share": "share"}[row.kind]
        units = ", hasUnits: true" if row.flag.units else ""
        return f"try {written}.{call}({least}, {top}, none: {none}{units})"
    return f"{written}.text" if row.empty else f"try {written}.filled()"


def swift_text(text: str) -> str:
    """Returns a Swift literal."""
    return json.dumps(text, ensure_ascii=False)
