"""Makes the man pages of the command and docs/OPTIONS.md from the table and the command's description of itself."""

import re
from pathlib import Path
from typing import Any, Dict, List, Tuple

import options_c
from option_table import Row, Table, grouped, places

SOURCE = "Generated from options.toml and Sources/NuthatchCLI by Scripts/make-header; edit those instead."
ENVIRONMENT = {
    "NUTHATCH_CACHE": "The cache directory if there is no --cache.",
    "XDG_CACHE_HOME": "Without NUTHATCH_CACHE, the cache is the folder nuthatch in it, else ~/.cache/nuthatch.",
    "http_proxy, https_proxy, all_proxy, no_proxy": "The proxy of requests if there is no --proxy.",
    "XDG_CONFIG_HOME": "The user's config file is nuthatch/config.toml in it, else in ~/.config (nuthatch-config(1)).",
    "NETRC": "The file of --netrc. Default: ~/.netrc.",
    "NUTHATCH_LOG": "error, warning, info or debug: write a log with this level to standard error.",
    "NO_COLOR": "If it is not empty, no colours are used. If TERM is dumb, none are used, either.",
}


def pages(table: Table, described: Dict[str, Any]) -> Dict[Path, str]:
    """Returns the man pages by their paths below share/man/man1."""
    commands = described["commands"]
    docs = {row.name: row.doc for row in table.rows}
    found = {Path("nuthatch.1"): _overview(commands, described["remarks"])}
    for command in commands:
        found[Path(f"nuthatch-{command['name']}.1")] = _page(command, docs)
    return found


# Roff


def roff(text: str, is_code: bool = False) -> str:
    """Returns a text that roff prints unchanged. Text between backticks becomes bold."""
    special = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "^": "\\(ha", "~": "\\(ti"}
    if is_code:
        special["`"] = "\\(ga"
    made = "".join(special.get(c, c if ord(c) < 128 else f"\\[u{ord(c):04X}]") for c in text)
    return made if is_code else re.sub(r"`([^`]*)`", r"\\fB\1\\fR", made)


def roff_line(text: str, is_code: bool = False) -> str:
    """Returns a line that roff doesn't read as a request."""
    made = roff(text, is_code)
    return "\\&" + made if made.startswith((".", "\\(aq")) else made


def _head(name: str, summary: str, synopsis: List[str]) -> List[str]:
    lines = [f'.\\" {SOURCE}', f'.TH {roff(name.upper())} 1 "" "" Nuthatch', ".SH NAME"]
    lines += [f"{roff(name)} \\- {roff(summary)}", ".SH SYNOPSIS"]
    return [*lines, *synopsis]


def _page(command: Dict[str, Any], docs: Dict[str, str]) -> str:
    name = command["name"]
    lines = _head(
        f"nuthatch-{name}", command["summary"], [f".B nuthatch {name}", roff_line(command["usage"])]
    )
    details, status, examples = _parts(command["details"])
    if details:
        lines += [".SH DESCRIPTION", *details]
    lines.append(".SH OPTIONS")
    groups = list(dict.fromkeys(option["group"] for option in command["options"]))
    for group in groups:
        lines += [f'.SS "{roff(group)}"'] if group else []
        for option in command["options"]:
            if option["group"] == group:
                lines += _option(option, docs)
    if command["notation"]:
        lines.append(".SH VALUES")
        for entry in command["notation"].splitlines():
            value, _, words = entry.partition(": ")
            lines += [".TP", f".I {value}", roff_line(words[0].upper() + words[1:])]
    lines += [".SH EXIT STATUS", *status] if status else []
    if examples:
        lines += [".SH EXAMPLES", ".EX", *[roff_line(example, is_code=True) for example in examples], ".EE"]
    lines += [".SH SEE ALSO", ".BR nuthatch (1)"]
    return "\n".join(lines) + "\n"


def _option(option: Dict[str, Any], docs: Dict[str, str]) -> List[str]:
    letter = f"\\fB\\-{option['letter']}\\fR, " if option["letter"] else ""
    value = f" \\fI{roff(option['value'], is_code=True)}\\fR" if option["value"] else ""
    lines = [".TP", f"{letter}\\fB\\-\\-{roff(option['name'])}\\fR{value}"]
    text = (
        option["help"] if ":" in option["help"].split()[0] else option["help"][0].upper() + option["help"][1:]
    )
    lines.append(roff_line(_sentence(text)))
    doc = docs.get(option["row"] or "", "")
    for paragraph in filter(None, doc.split("\n\n")):
        lines += [".IP", *[roff_line(line) for line in paragraph.splitlines()]]
    return lines


def _sentence(text: str) -> str:
    return text if text.endswith(".") else text + "."


def _parts(details: str) -> Tuple[List[str], List[str], List[str]]:
    """Splits details into the description, the exit status, and the examples."""
    told: List[str] = []
    status: List[str] = []
    examples: List[str] = []
    for paragraph in details.strip().split("\n\n"):
        lines = paragraph.splitlines()
        if lines and lines[0] == "Examples:":
            examples = [line.strip() for line in lines[1:]]
        elif paragraph.startswith("Exit status:"):
            status = [roff_line(line) for line in paragraph[len("Exit status: ") :].splitlines()]
        elif all("  " in line for line in lines):
            for line in lines:
                word, _, text = line.partition(" ")
                told += [".TP", f".B {roff(word)}", roff_line(_sentence(text.strip()))]
        elif lines:
            told += [".PP", *[roff_line(line) for line in lines]]
    return told, status, examples


def _overview(commands: List[Dict[str, Any]], remarks: str) -> str:
    synopsis = [".B nuthatch", roff_line("COMMAND [OPTION…] [ARGUMENT…]")]
    lines = _head(
        "nuthatch", "fetch pictures and other assets once, and keep them and their thumbnails", synopsis
    )
    lines += [".SH DESCRIPTION", *[roff_line(line) for line in remarks.strip().splitlines()], ".SH COMMANDS"]
    for command in commands:
        lines += [".TP", f".BR nuthatch\\-{command['name']} (1)", roff_line(_sentence(command["summary"]))]
    lines += [".TP", '.BR "nuthatch \\-\\-version" " [\\-\\-verbose]"']
    lines += ["Show the version, and the libraries in use.", ".SH ENVIRONMENT"]
    for name, text in ENVIRONMENT.items():
        lines += [".TP", f".B {roff(name)}", roff_line(text)]
    lines += [".SH SEE ALSO", ".BR nuthatch (3)"]
    return "\n".join(lines) + "\n"


# The reference

REFERENCE_HEAD = f"""\
<!-- {SOURCE} -->
# Options

All options, with their names in C, Swift, Python and the command. An option of a request overrides that of its site,
and an option of a site overrides that of its cache. Without either, the default is used. *None* is `NH_NONE` in C
(`NH_OFF` for texts), `None` in Python if it means no limit or off, and `none` in the command. An option that a level
doesn't have, and a number out of range, is the error `invalid`.

[Config files](CONFIG.md) use the names of the headings.

*Reaches* names what an option changes: which stored answer is returned (hit), which requests share one transfer
(fetch), the cache key (name), and the requests in the outbox (outbox).
"""


def reference(table: Table) -> str:
    """docs/OPTIONS.md."""
    lines = [REFERENCE_HEAD]
    for group, rows in grouped(table):
        lines += [f"## {group}", ""]
        for row in rows:
            lines += _entry(row)
    return "\n".join(lines).rstrip() + "\n"


def _entry(row: Row) -> List[str]:
    first = row.help if row.help.split()[0].endswith(":") else row.help[0].upper() + row.help[1:]
    lines = [
        f"### {row.name}",
        "",
        _sentence(first) + (" " + " ".join(row.doc.split()) if row.doc else ""),
        "",
    ]
    if row.words:
        lines += [f"- `{word}`: {text}" for word, text in row.words.members] + [""]
    flag = row.flag
    named = "-"
    if flag:
        value = f" {flag.value}" if flag.value else ""
        named = (f"`-{flag.letter}`, " if flag.letter else "") + f"`--{flag.name}{value}`".replace("|", "\\|")
        named += f", `--{flag.bare}`" if flag.bare else ""
    members = ", ".join(
        f"`{kind}{'' if kind.endswith('*') else ' '}{name}`" for kind, name in options_c.typed_members(row)
    )
    python = f"`{row.python}=`" if row.python and not row.python.startswith("_") else "-"
    lines += ["| C | Swift | Python | command |", "| --- | --- | --- | --- |"]
    lines += [f"| {members} | {f'`{row.swift}`' if row.swift else '-'} | {python} | {named} |", ""]
    facts = [f"Default: {row.default_text}"]
    facts += [f"range: {row.range_text}"] if row.range_text else []
    facts += [f"none: {row.none}"] if row.none else []
    facts += [f"empty: {row.empty}"] if row.empty else []
    facts += [f"option of {places(row)}"]
    facts += [f"reaches: {', '.join(row.reaches)}"] if row.reaches else []
    facts += [f"merged {row.merge}"] if row.merge else []
    facts += [f"commands: {', '.join(flag.commands)}"] if flag else []
    return [*lines, "; ".join([*facts, f"since {row.since}"]) + ".", ""]
