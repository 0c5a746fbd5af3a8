"""Makes the C options from the table: the enumerations, one struct for all levels, and the Swift code that reads it."""

import re
import textwrap
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from option_table import GREATEST, Row, Table, Words, grouped, places
from options_swift import BANNER as SWIFT_BANNER
from options_swift import is_inline

BANNER = "/* Generated from options.toml by Scripts/make-header; edit that instead. */\n"
WIDTH = 118

HEAD = """\
#ifndef NH_OPTIONS_H
#define NH_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "nh_events.h"
#include "nh_handles.h"
#include "nh_values.h"
"""

STRUCT = """\
/** Options of a cache, a site, a request, or the process's queue (nh_queue_set). Set struct_size to sizeof(nh_options),
 *  set the options that you need, and leave the others 0. A member of 0, NULL or NH_UNSAID is not set: then the option
 *  of a request is that of its site, then that of the cache, then the default. NH_NONE and NH_FOREVER are for numbers,
 *  NH_OFF for texts. A number out of range, and an option that a level doesn't have, is NH_INVALID. Texts and lists are
 *  copied.
 *
 *      nh_options options = {.struct_size = sizeof options, .deadline_ms = 5000, .retries = NH_NONE};
 *
 *  The members by topic; newer ones are at the end of the struct:
 *
{index}
 */
typedef struct nh_options {
    uint32_t struct_size;"""

MACRO = """\
#if !defined __cplusplus && defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L
/** Options for one call: nh_thumbnail(cache, url, NH_OPTIONS(.size = 256, .priority = 5), &image). They are valid until
 *  the end of the enclosing block. */
#define NH_OPTIONS(...) (&(nh_options){.struct_size = sizeof(nh_options), __VA_ARGS__})
#endif
"""


def header(table: Table) -> str:
    """nh_options.h."""
    struct = STRUCT.replace("{index}", _index(table))
    enums = "\n".join(_enumeration(words) for words in table.words)
    members, padding, is_even, group = [], 0, False, ""
    for row in table.rows:
        for kind, name in typed_members(row):
            if not is_even and _is_wide(kind):
                padding += 1
                members.append(f"    /** Must be 0. */\n    uint32_t reserved_{padding};")
                is_even = True
            if row.group != group:
                group = row.group
                members.append(f"\n    /* {group} */\n")
            is_first = name == typed_members(row)[0][1]
            members.append((_comment(row) if is_first else "") + f"    {kind}{_space(kind)}{name};")
            if not _is_wide(kind):
                is_even = not is_even
    if not is_even:
        members.append(f"    /** Must be 0. */\n    uint32_t reserved_{padding + 1};")
    body = "\n".join(members)
    return f"{BANNER}{HEAD}\n{enums}\n{struct}\n{body}\n}} nh_options;\n\n{MACRO}\n#endif\n"


def _index(table: Table) -> str:
    """Returns the members by topic."""
    lines = []
    for group, rows in grouped(table):
        names = ", ".join(name for row in rows for name in members(row) if not name.endswith("_count"))
        lines += textwrap.wrap(f"{group}: {names}.", WIDTH - 6, subsequent_indent="  ")
    return "\n".join(f" *  {line}" for line in lines)


def members(row: Row) -> List[str]:
    """Returns the names of a row's members."""
    return [name for _, name in typed_members(row)]


def typed_members(row: Row) -> List[Tuple[str, str]]:
    """Returns the types and the names of a row's members."""
    name = row.name
    if row.kind == "duration":
        return [("int64_t", f"{name}_ms")]
    if row.kind in ("bytes", "count"):
        return [("int64_t", name)]
    if row.kind in ("share", "rate"):
        return [("double", name)]
    if row.kind == "flag":
        return [("nh_choice", name)]
    if row.words:
        return [(f"nh_{row.words.name}", name)]
    if row.kind == "headers":
        return [("const nh_header *", name), ("size_t", "header_count")]
    if row.kind == "sizes":
        return [("int64_t", "size"), ("const nh_size *", name), ("size_t", "size_count")]
    if row.kind == "secrets":
        return [("const nh_secret *", name), ("size_t", "secret_count")]
    if row.kind == "questions":
        return [("uint64_t", name)]
    if row.kind == "pointer":
        return [("void *", name)]
    if row.kind == "handle":
        return [(f"nh_{name} *", name)]
    if row.kind == "function":
        return [("nh_callback", name)]
    return [("const char *", name)]


def _is_wide(kind: str) -> bool:
    return not kind.startswith("nh_") or kind.endswith("*") or kind == "nh_callback"


def _space(kind: str) -> str:
    return "" if kind.endswith("*") else " "


def _comment(row: Row) -> str:
    facts = f"Default: {row.default_text}."
    if row.range_text and row.kind != "sizes":
        facts = f"{row.range_text[0].upper()}{row.range_text[1:]}. {facts}"
    if row.none:
        facts += f" {'NH_OFF' if row.none == 'off' else 'NH_NONE'}: {row.none}."
    if row.empty:
        facts += f' "": {row.empty}.'
    if row.kind == "names":
        facts += " With commas between them."
    if row.kind == "sizes":
        facts += " size: one square."
    facts += f" Of {places(row)}."
    begins = row.help.split()[0].endswith(":")
    text = row.help if begins else row.help[0].upper() + row.help[1:]
    words = " ".join(f"{text}. {row.doc} {facts}".split()).replace("`", "")
    lines = textwrap.wrap(words, WIDTH - 11)
    if len(lines) == 1:
        return f"    /** {lines[0]} */\n"
    return "    /** " + "\n     *  ".join(lines) + " */\n"


def _enumeration(words: Words) -> str:
    prefix = f"NH_{words.name.upper()}"
    lines = [f"/** {words.doc} */", f"typedef enum nh_{words.name} {{", f"    {prefix}_UNSAID = 0,"]
    for number, (word, doc) in enumerate(words.members, 1):
        text = textwrap.wrap(doc.replace("`", ""), WIDTH - 11)
        lines.append("    /** " + "\n     *  ".join(text) + " */")
        comma = "," if number < len(words.members) else ""
        lines.append(f"    {prefix}_{word.upper()} = {number}{comma}")
    return "\n".join([*lines, f"}} nh_{words.name};", ""])


# How the library reads the struct


def reading(table: Table) -> str:
    """Options+Reading.swift."""
    lines = [
        SWIFT_BANNER,
        "import CNuthatch",
        "import NuthatchCore",
        "",
        "extension Options {",
        "  /// Takes the options that a C program has set. Leaves the others unchanged.",
        "  mutating func take(_ said: CallOptions) throws(NuthatchError) {",
        "    let raw = said.raw",
        *_by_word(table, "said.words", lambda member: _taken(member.row) if member.row else []),
        "  }",
        "}",
        "",
        "extension CallOptions {",
        "  /// Checks that the level has these options, and that reserved members are 0.",
        "  ///",
        "  /// - Throws: `invalid`.",
        "  func check(_ level: OptionLevel) throws(NuthatchError) {",
        *_by_word(table, "words", _checked),
        "  }",
        "}",
        "",
        "extension SaidWords {",
        "  /// The words of options that change which stored answer is returned, and of members that `Options` lacks.",
        f"  static var reachingHits: SaidWords {{ SaidWords({_words_of_hits(table)}) }}",
        "}",
        "",
    ]
    for words in table.words:
        lines += _word_reading(words)
    return "\n".join(lines).rstrip() + "\n"


class _Member(NamedTuple):
    """A member of the struct. A reserved one has no row."""

    name: str
    row: Optional[Row]
    #: The index of the eight bytes with this member, and whether it takes all of them.
    word: int
    is_wide: bool


def _layout(table: Table) -> List[_Member]:
    rows = {name: row for row in table.rows for name in members(row)}
    found, place = [], 4  # after struct_size
    for kind, name in re.findall(
        r"^    (\w.*?)(\w+);$", header(table).split("uint32_t struct_size;")[1], re.M
    ):
        is_wide = name in rows and _is_wide(kind.strip())
        place += place % 8 if is_wide else 0
        found.append(_Member(name, rows.get(name), place // 8, is_wide))
        place += 8 if is_wide else 4
    return found


def _by_word(table: Table, words: str, code: Callable[[_Member], List[str]]) -> List[str]:
    """Returns the code of the members, for each word of the struct that is not 0."""
    made: Dict[int, List[str]] = {}
    for member in _layout(table):
        made.setdefault(member.word, []).extend(code(member))
    lines = [f"    for word in {words} {{", "      switch word {"]
    for word, of_word in made.items():
        if of_word:
            lines += [f"      case {word}:", *(f"        {line}" for line in of_word)]
    return [*lines, "      default: break", "      }", "    }"]


def _checked(member: _Member) -> List[str]:
    name, row = member.name, member.row
    if row is None:
        return [f"if raw.{name} != 0 {{ throw raw.newer(\\.{name}) }}"]
    check = f'try level.check("{row.name}", [{", ".join("." + one for one in row.levels)}])'
    return [check if member.is_wide else f"if raw.{name}.rawValue != 0 {{ {check} }}"]


def _words_of_hits(table: Table) -> str:
    reaching = {
        member.word
        for member in _layout(table)
        if (row := member.row) and not (row.swift and row.kind != "sizes" and is_inline(row))
    }
    return f"bits: {sum(1 << word for word in reaching):#x}"


#: Options that have another form in Swift, or several members in C. For each, the function that reads it.
_BY_HAND = {"headers": "Headers", "asks": "Questions", "asks_not": "Questions", "netrc": "Netrc"}
_BY_HAND |= {"user": "User", "password": "User"}
_BY_HAND |= {"cert": "Cert", "cert_key": "Cert", "cert_password": "Cert"}


def _taken(row: Row) -> List[str]:
    raw = f"raw.{typed_members(row)[0][1]}"
    name, target = row.name, row.swift
    if name in _BY_HAND:
        return [f"try take{_BY_HAND[name]}(raw)"]
    if not target:
        return []
    if row.kind == "duration":
        call = "lifetime" if row.none == "zero" else "limit"
        return [f"if let said = {call}({raw}) {{ {target} = said }}"]
    if row.kind in ("bytes", "count", "share", "rate"):
        none = {"zero": "0", "unlimited": ".max", None: "nil"}[row.none]
        greatest = (
            ".max" if row.range and row.range[1] == GREATEST else f"{row.range[1]}" if row.range else ".max"
        )
        if row.kind in ("share", "rate"):
            call = "share" if row.kind == "share" else "startRate"
            return [f'if let said = try {call}({raw}, "{name}") {{ {target} = said }}']
        said = "Int(said)" if row.kind == "count" else "said"
        call = f'try number({raw}, "{name}", none: {none}, greatest: {greatest})'
        return [f"if let said = {call} {{", f"  {target} = {said}", "}"]
    if row.kind == "flag":
        return [f'if let said = try given({raw}, "{name}") {{ {target} = said }}']
    if row.words:
        return [f'if let said = try given({raw}, "{name}") {{ {target} = said }}']
    if row.is_text:
        empty = "true" if row.empty else "false"
        return [f'if let said = try text({raw}, "{name}", mayBeEmpty: {empty}) {{ {target} = said }}']
    if row.kind == "names":
        return [f'if let said = try names({raw}, "{name}") {{', f"  {target} = said", "}"]
    return []


def _word_reading(words: Words) -> List[str]:
    prefix = f"NH_{words.name.upper()}"
    kind = f"nh_{words.name}"
    lines = [
        f"func given(_ said: {kind}, _ name: String) throws(NuthatchError) -> {words.swift}? {{",
        "  switch said {",
        f"  case {prefix}_UNSAID: nil",
    ]
    for word, _ in words.members:
        lines.append(f"  case {prefix}_{word.upper()}: .{word}")
    lines += [
        f'  default: throw .unknownValue(name, said.rawValue, of: "{kind}")',
        "  }",
        "}",
        "",
    ]
    return lines


# How the library returns the options in force


def telling(table: Table) -> str:
    """Options+Telling.swift."""
    lines = [
        SWIFT_BANNER,
        "import CNuthatch",
        "import NuthatchCore",
        "",
        "extension nh_options {",
        "  /// Returns the options of a cache or a site for C programs, without secrets.",
        "  init(telling options: Options, _ level: OptionLevel, _ texts: ToldTexts) {",
        "    self.init()",
    ]
    told = [row for row in table.rows if row.swift and {"cache", "site"} & set(row.levels)]
    for row in told:
        if row.kind == "secret":
            continue
        line = _told(row)
        places_of_it = [level for level in ("cache", "site") if level in row.levels]
        if len(places_of_it) == 1:
            line = f"if level == .{places_of_it[0]} {{ {line} }}"
        lines.append(f"    {line}")
    return "\n".join([*lines, "  }", "}"]) + "\n"


def _told(row: Row) -> str:
    member, value = typed_members(row)[0][1], f"options.{row.swift}"
    if row.words:
        raw = f"{value}.rawValue" if row.is_said_once else f"({value}?.rawValue ?? 0)"
        return f"{member} = nh_{row.words.name}(UInt32({raw}))"
    if row.is_text and row.name != "proxy":
        return f"{member} = texts.pointer({value})"
    if row.kind in ("headers", "names", "questions", "path", "text"):
        return f"tell{row.swift[0].upper()}{row.swift[1:]}({value}, texts)"
    return f"{member} = told({value})"


# The table for programs at run time


def rows(table: Table) -> str:
    """option_rows.c."""
    lines = [BANNER + '#include "CNuthatch.h"', "", "static const nh_option rows[] = {"]
    for row in table.rows:
        least, greatest = row.range or (0, 0)
        doc = " ".join(row.doc.split())
        texts = [row.name, row.help, doc, row.default_text, row.range_text, row.none or "", row.empty or ""]
        name, help_text, doc, default, limits, none, empty = (_c_text(text) for text in texts)
        words = _c_text(",".join(word for word, _ in row.words.members) if row.words else "")
        levels = " | ".join(f"NH_LEVEL_{level.upper()}" for level in row.levels)
        reaches = " | ".join(f"NH_REACHES_{reach.upper()}" for reach in row.reaches) or "0"
        lines += [
            f"    {{sizeof(nh_option), NH_OPTION_{row.kind.upper()}, {name},",
            f"     {help_text},",
            f"     {doc},",
            f"     {default}, {limits}, {_c_number(least)}, {_c_number(greatest)}, {none}, {empty},",
            f'     {words}, "{row.since}", {levels}, {reaches},',
            f"     offsetof(nh_options, {members(row)[0]})}},",
        ]
    lines += ["};", "", f"const size_t nh_option_row_count = {len(table.rows)};"]
    lines += ["", "const nh_option *nh_option_rows(void) { return rows; }", ""]
    lines.append(f"const uint32_t nh_oldest_options_size = {table.oldest_struct};")
    lines.append('_Static_assert(sizeof(nh_options) >= %d, "options only grow");' % table.oldest_struct)
    last = _layout(table)[-1]
    lines.append(f"_Static_assert(offsetof(nh_options, {last.name}) / 8 == {last.word},")
    lines.append('               "the code that reads the struct knows the word of each member");')
    lines.append('_Static_assert(sizeof(nh_options) <= 128 * 8, "SaidWords has a bit for each word");')
    return "\n".join(lines) + "\n"


def _c_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("`", "")
    return f'"{escaped}"'


def _c_number(number: float) -> str:
    return "9223372036854775807.0" if number == GREATEST else f"{float(number)}"
