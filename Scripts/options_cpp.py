"""Makes the C++ header from bindings/c/nuthatch.hpp.in and the table: enumerations, and a setter for each option."""

from pathlib import Path
from typing import List

from option_table import Row, Table, Words
from options_c import members

BANNER = (
    "/* Generated from options.toml by Scripts/make-header, in bindings/c/nuthatch.hpp.in; edit these. */\n"
)
TEMPLATE = Path(__file__).resolve().parent.parent / "bindings/c/nuthatch.hpp.in"
KEYWORDS = (
    "auto",
    "default",
    "delete",
    "new",
    "public",
    "private",
    "protected",
    "register",
    "switch",
    "this",
)


def header(table: Table) -> str:
    """nuthatch.hpp."""
    enumerations = "\n".join(_enumeration(words) for words in table.words)
    setters = "\n".join(line for row in table.rows for line in _setters(row))
    newer = "\n".join(_newer(row) for row in table.rows if row.since != "0.1")
    text = TEMPLATE.read_text().replace("@ENUMERATIONS@", enumerations).replace("@SETTERS@", setters)
    return BANNER + text.replace("@NEWER@", newer)


def _newer(row: Row) -> str:
    """Returns the entry of an option that is newer than 0.1: name, version, offset and size of its first member."""
    first = members(row)[0]
    return f'    {{"{row.name}", "{row.since}", offsetof(nh_options, {first}), sizeof(nh_options::{first})}},'


def _enumeration(words: Words) -> str:
    prefix = f"NH_{words.name.upper()}"
    names = ", ".join(
        f"{word}{'_' if word in KEYWORDS else ''} = {prefix}_{word.upper()}" for word, _ in words.members
    )
    return f"/** {words.doc} */\nenum class {_type(words)} {{ {names} }};\n"


def _type(words: Words) -> str:
    return "".join(part.capitalize() for part in words.name.split("_"))


def _setters(row: Row) -> List[str]:
    name, member = row.name, f"raw_.{members(row)[0]}"
    begins = row.help.split()[0].endswith(":")
    text = row.help if begins else row.help[0].upper() + row.help[1:]
    lines = [f"  /** {text}. */".replace("`", "")]
    if row.kind == "sizes":
        count = members(row)[2]
        lines.append(_assigning("size", "Number said", member, _number(row, "said.raw", "size")))
        lines.append(
            _returning(name, "std::vector<nh_size> said", f"list(raw_.{name}, raw_.{count}, std::move(said))")
        )
    elif row.kind in ("headers", "secrets"):
        kind = "const Headers &said" if row.kind == "headers" else "const std::vector<Secret> &said"
        lines.append(_returning(name, kind, f"list({member}, raw_.{members(row)[1]}, kept(said))"))
    elif row.kind == "names":
        lines.append(_assigning(name, "const std::vector<std::string> &said", member, "keep(joined(said))"))
    elif row.kind == "questions":
        body = f"for (nh_question one : said) {member} |= static_cast<std::uint64_t>(one);"
        lines.append(_setter(name, "std::initializer_list<nh_question> said", body))
    elif row.kind == "handle":
        lines.append(f"  Options &{name}(const {name.capitalize()} &said);")
    elif row.kind == "flag":
        lines.append(_assigning(name, "bool said = true", member, "said ? NH_YES : NH_NO"))
    elif row.words:
        lines.append(
            _assigning(name, f"{_type(row.words)} said", member, f"static_cast<nh_{row.words.name}>(said)")
        )
    elif row.kind in ("share", "rate"):
        lines.append(_assigning(name, "double said", member, _number(row, "said", name)))
        if row.none:
            lines.append(_assigning(name, "None", member, "static_cast<double>(NH_NONE)"))
    elif row.kind == "duration":
        lines.append(_assigning(name, "Duration said", member, _number(row, "said.raw", name)))
    elif row.kind in ("bytes", "count"):
        kind, said = ("Number said", "said.raw") if row.none else ("std::int64_t said", "said")
        lines.append(_assigning(name, kind, member, _number(row, said, name)))
    elif row.kind == "pointer":
        lines.append(_assigning(name, "void *said", member, "said"))
    elif row.kind == "function":
        lines.append(_assigning(name, "nh_callback said", member, "said"))
    else:
        lines.append(_assigning(name, "std::string said", member, "keep(std::move(said))"))
        if row.none == "off":
            lines.append(_assigning(name, "None", member, "NH_OFF"))
    return lines


def _number(row: Row, said: str, name: str) -> str:
    """Returns the value of the member. An option of 0 needs another value, because a member of 0 is not set."""
    if row.none == "zero":
        none = "static_cast<double>(NH_NONE)" if row.kind in ("share", "rate") else "NH_NONE"
        return f"{said} == 0 ? {none} : {said}"
    if row.range and row.range[0] == 0:
        return f"{said} == 0 ? 1 : {said}"  # a time of 0 becomes 1 ms
    return f'above_zero({said}, "{name} is 0; it must be {row.range_text}")'


def _assigning(name: str, parameter: str, member: str, value: str) -> str:
    return _setter(name, parameter, f"{member} = {value};")


def _returning(name: str, parameter: str, value: str) -> str:
    return f"  Options &{name}({parameter}) {{ return {value}; }}"


def _setter(name: str, parameter: str, body: str) -> str:
    return f"  Options &{name}({parameter}) {{ {body} return *this; }}"
