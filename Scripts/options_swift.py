"""Makes the Swift options from the table: the words, one struct for all levels with its merge, and the ranges."""

import textwrap
from typing import List

from option_table import GREATEST, LEVELS, LISTS, NUMBERS, Row, Table, Words, places

BANNER = "// Generated from options.toml by Scripts/make-header; edit that instead.\n"
TYPES = {
    "bytes": "Int64",
    "count": "Int",
    "share": "Double",
    "rate": "Double",
    "flag": "Bool",
    "text": "String",
}
TYPES |= {"path": "String", "secret": "String", "names": "[String]", "questions": "Set<Question.Kind>"}
TYPES |= {"headers": "[(name: String, value: String)]"}
# Keywords of Swift.
KEYWORDS = ("public", "internal", "default")
# Two options that are one choice: a level that sets either replaces both.
PAIR = ("caFile", "caDir")


def words_file(table: Table) -> str:
    """OptionWords.swift."""
    return (
        BANNER
        + "\n"
        + "\n\n".join(_enumeration(words) for words in table.words if "." not in words.swift)
        + "\n"
    )


def options_file(table: Table) -> str:
    """Options.swift."""
    rows = [row for row in table.rows if row.swift]
    inline = [row for row in rows if is_inline(row)]
    boxed = [row for row in rows if not is_inline(row)]
    parts = [
        BANNER,
        *HEAD,
        "public struct Options: Sendable, Equatable {",
        *[line for row in inline for line in _stored(row, "public ")],
        *[line for row in boxed for line in _computed(row)],
        BOX,
        "}",
        "",
        "extension Options {",
        "  /// Options that change which stored answer is returned, and options that few requests have. Compared as a",
        "  /// whole, so that no option is forgotten.",
        "  struct Special: Sendable, Equatable {",
        *["  " + line for row in boxed for line in _stored(row, "", with_doc=False)],
        "    /// The sections for hosts of the cache's config files.",
        "    var hosts: HostSections?",
        "",
        "    static let none = Special()",
        "",
        *_equality(boxed),
        "  }",
        "",
        "  /// The defaults.",
        "  enum Standard {",
        *[line for row in rows if not row.is_said_once for line in _standard(row)],
        "  }",
        "",
        *_equal_terms(inline),
        "",
        *_merge(inline, boxed),
        "",
        *_check(inline, boxed),
        "",
        *_settled(rows),
        "}",
    ]
    return "\n".join(parts) + "\n"


HEAD = """\
/// Options of a cache, a site, a request, or the process's queue (`ProcessQueue`). An option of a request that is not
/// set is that of its site, then that of the cache, then the default. An option that a level doesn't have is the error
/// `invalid` there.
""".splitlines()

BOX = """
  /// Makes options of which none is set.
  public init() {}

  /// Empty, or one element. An array is one pointer, and is copied only when it is changed while it is shared. So
  /// requests with the same options share their memory.
  private var box: [Special] = []

  var special: Special {
    _read {
      if box.isEmpty { yield Special.none } else { yield box[0] }
    }
    _modify {
      if box.isEmpty {
        var new = Special()
        // If the new values are the defaults, the options stay plain.
        defer { if new != Special.none { box = [new] } }
        yield &new
      } else {
        yield &box[0]
      }
    }
  }

  /// Returns one field without a copy of the others.
  @inline(__always)
  private func read<Value>(_ field: KeyPath<Special, Value>) -> Value {
    box.isEmpty ? Special.none[keyPath: field] : box[0][keyPath: field]
  }

  /// The sections for hosts of the cache's config files.
  var hosts: HostSections? {
    get { read(\\.hosts) }
    set { special.hosts = newValue }
  }

  /// Whether no option is set that changes which stored answer is returned. Only then can a request be answered by its
  /// URL and its size alone (`HitTable`).
  var isPlain: Bool { box.isEmpty }"""


# Rows


def is_inline(row: Row) -> bool:
    """Returns whether an option is stored in the struct itself, because it doesn't change which answer is returned."""
    return "request" in row.levels and "hit" not in row.reaches


def _type(row: Row) -> str:
    if row.type:
        return row.type
    if row.words:
        return row.words.swift
    if row.kind == "duration":
        # A lifetime may be zero; a limit may be none.
        return "Duration" if row.none == "zero" else "Request.Limit"
    return TYPES[row.kind]


def _literal(row: Row) -> str:
    if row.kind in LISTS:
        return "[]"
    if row.kind == "flag":
        return "true" if row.default else "false"
    if row.words:
        return f"{row.words.swift}.{row.default}"
    if row.kind == "duration":
        return f"{_type(row)}.milliseconds({row.default:_})"
    number = f"{row.default:_}" if isinstance(row.default, int) else str(row.default)
    return f"Int64({number})" if row.kind == "bytes" else number


def _declared(row: Row) -> str:
    """Returns the type and the first value of an option."""
    if not row.is_said_once:
        return f": {_optional(row)}"
    if row.kind in LISTS:
        return f": {_type(row)} = []"
    return f" = {_literal(row)}"


def _optional(row: Row) -> str:
    return f"({_type(row)})?" if _type(row).startswith("@") else f"{_type(row)}?"


def _stored(row: Row, access: str, with_doc: bool = True) -> List[str]:
    return [*(_doc(row) if with_doc else []), f"  {access}var {row.swift}{_declared(row)}"]


def _computed(row: Row) -> List[str]:
    kind = _type(row) if row.is_said_once else _optional(row)
    change = (
        f"    _modify {{ yield &special.{row.swift} }}"
        if kind.startswith(("[", "Set"))
        else f"    set {{ special.{row.swift} = newValue }}"
    )
    return [
        *_doc(row),
        f"  public var {row.swift}: {kind} {{",
        f"    get {{ read(\\.{row.swift}) }}",
        change,
        "  }",
    ]


def _standard(row: Row) -> List[str]:
    if row.default is None:
        return []
    return [f"    static let {row.swift} = {_literal(row)}"]


def _doc(row: Row) -> List[str]:
    begins = row.help.split()[0].endswith(":")
    facts = f"Default: {row.default_text}."
    if row.empty:
        facts += f" Empty: {row.empty}."
    facts += f" Option of {places(row)}."
    paragraphs = [row.help if begins else row.help[0].upper() + row.help[1:], *row.doc.split("\n\n"), facts]
    lines: List[str] = []
    for paragraph in filter(None, paragraphs):
        text = " ".join(paragraph.split())
        lines += ["", *textwrap.wrap(text if text.endswith(".") else text + ".", 118)]
    return [f"  /// {line}".rstrip() for line in lines[1:]]


# Equality


def _same(row: Row) -> List[str]:
    name = row.swift
    if row.kind == "headers":
        return [f"left.{name}.elementsEqual(right.{name}, by: ==)"]
    if _type(row).startswith("("):
        return [f"left.{name}?.{part} == right.{name}?.{part}" for part in ("name", "password")]
    return [f"left.{name} == right.{name}"]


def _equality(rows: List[Row]) -> List[str]:
    lines = ["    static func == (left: Special, right: Special) -> Bool {"]
    lines += [f"      guard {term} else {{ return false }}" for row in rows for term in _same(row)]
    lines.append("      guard left.hosts == right.hosts else { return false }")
    return [*lines, "      return true", "    }"]


def _equal_terms(inline: List[Row]) -> List[str]:
    """Returns a comparison of the options in the struct itself, without priority and tag."""
    names = [row for row in inline if row.name not in ("priority", "tag")]
    lines = [
        "  /// Returns whether the options outside of `special` are equal. Ignores priority and tag: they don't change",
        "  /// the answer.",
        "  func hasSameTerms(inPlace right: Options) -> Bool {",
        "    let left = self",
    ]
    lines += [f"    guard {term} else {{ return false }}" for row in names for term in _same(row)]
    return [*lines, "    return true", "  }"]


# Merge


def _merge(inline: List[Row], boxed: List[Row]) -> List[str]:
    lines = [
        "  /// Returns these options. Those that are not set come from the level above, `outer`.",
        "  func over(_ outer: Options) -> Options {",
        "    var result = self",
    ]
    lines += [_filled(row, "result", "outer", "    ") for row in inline if _merges(row)]
    lines += [
        "    guard !outer.box.isEmpty else { return result }",
        "    if box.isEmpty {",
        "      result.box = outer.box",
        "    } else {",
        "      result.box[0].fill(from: outer.box[0])",
        "    }",
        "    return result",
        "  }",
        "}",
        "",
        "extension Options.Special {",
        "  fileprivate mutating func fill(from outer: Options.Special) {",
    ]
    lines += [
        _filled(row, "self", "outer", "    ") for row in boxed if _merges(row) and row.swift not in PAIR
    ]
    one, two = PAIR
    lines += [f"    if {one} == nil, {two} == nil {{ ({one}, {two}) = (outer.{one}, outer.{two}) }}"]
    return [*lines, "  }", "}", "", "extension Options {"]


def _merges(row: Row) -> bool:
    return len([level for level in row.levels if level != "image"]) > 1 and (
        row.kind not in LISTS or row.merge is not None
    )


def _filled(row: Row, target: str, outer: str, indent: str) -> str:
    name = row.swift
    prefix = "" if target == "self" else f"{target}."
    if row.merge == "one by one":
        return f"{indent}{prefix}{name}.formUnion({outer}.{name}.subtracting({prefix}{name}Not))"
    if row.kind == "names":
        own = f"{prefix}{name}"
        return f"{indent}{own} +=\n{indent}  {outer}.{name}.filter {{ !{own}.contains($0) }}"
    if row.merge == "by name":
        return f"{indent}{prefix}{name} += {outer}.{name}.without(namesOf: {prefix}{name})"
    return f"{indent}if {prefix}{name} == nil {{ {prefix}{name} = {outer}.{name} }}"


def _settled(rows: List[Row]) -> List[str]:
    known = [row for row in rows if not row.is_said_once and row.default is not None]
    return [
        "  /// Returns these options. Those that are not set have their defaults.",
        "  var settled: Options {",
        "    var result = self",
        *[f"    result.{row.swift} = result.{row.swift} ?? Standard.{row.swift}" for row in known],
        "    return result",
        "  }",
    ]


# Ranges and levels


def _check(inline: List[Row], boxed: List[Row]) -> List[str]:
    return [
        "  /// Checks that the level has these options, and that numbers are in range.",
        "  ///",
        "  /// - Throws: `invalid`.",
        "  package func check(_ level: OptionLevel) throws(NuthatchError) {",
        *_checks(inline),
        "    guard !isPlain else { return }",
        *_checks(boxed),
        "  }",
    ]


def _checks(rows: List[Row]) -> List[str]:
    lines = []
    for level in LEVELS:
        others = [row for row in rows if level not in row.levels]
        if not others:
            continue
        lines.append(f"    if level == .{level} {{")
        for row in others:
            word = f'"{row.name}", [{", ".join("." + one for one in row.levels)}]'
            line = f"      if {is_said(row)} {{ throw level.doesNotHave({word}) }}"
            lines += (
                [line]
                if len(line) <= 110
                else [line.replace("{ throw", "{\n        throw")[:-2] + "\n      }"]
            )
        lines.append("    }")
    for row in rows:
        if row.kind in NUMBERS and row.range:
            least, greatest = row.range
            top = "nil" if greatest == GREATEST else f"{greatest:_}"
            bounds = f"{least}" if row.kind in ("duration", "rate") else f"{least:_}"
            bounds += "" if row.kind == "duration" else f", {top}"
            call = f'"{row.name}", {row.swift}, {bounds}, "{row.range_text}"'
            lines.append(f"    try OptionRange.check({call})")
    return lines


def is_said(row: Row) -> str:
    """Returns the condition that an option is set."""
    if row.is_said_once:
        if row.kind in LISTS:
            return f"!{row.swift}.isEmpty"
        return f"{row.swift} != {_literal(row)}"
    return f"{row.swift} != nil"


# Words


def _enumeration(words: Words) -> str:
    lines = [f"/// {line}" for line in textwrap.wrap(words.doc, 120)]
    lines.append(f"public enum {words.swift}: Int32, Sendable, CaseIterable {{")
    for number, (word, doc) in enumerate(words.members, 1):
        name = f"`{word}`" if word in KEYWORDS else word
        lines += [f"  /// {line}" for line in textwrap.wrap(doc, 118)]
        lines.append(f"  case {name} = {number}")
    lines += [
        "",
        "  /// The word of the command, Python and messages.",
        "  public var word: String {",
        "    switch self {",
        *[f'    case .{word}: "{word}"' for word, _ in words.members],
        "    }",
        "  }",
        "}",
    ]
    return "\n".join(lines)
