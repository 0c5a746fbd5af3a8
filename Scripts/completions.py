"""Makes completions for bash, zsh and fish from the command's description of itself."""

import re
from typing import Any, Dict, List

SOURCE = "Generated from options.toml and Sources/NuthatchCLI by Scripts/make-header; edit those instead."
Command = Dict[str, Any]
Option = Dict[str, Any]
#: The arguments of commands that take no URL.
OPERANDS = {"prefetch": "files", "export": "files", "outbox": "list replay collect drop", "help": "commands"}


def _value(option: Option) -> str:
    """Returns the words of an option's value, "files", "folders", or "" if it can't be completed."""
    if option["words"]:
        return " ".join(option["words"])
    kind = re.match(r"[A-Z]*", option["value"] or "")
    return {"FILE": "files", "DIR": "folders"}.get(kind.group() if kind else "", "")


def _flags(option: Option) -> List[str]:
    return ([f"-{option['letter']}"] if option["letter"] else []) + [f"--{option['name']}"]


def _operands(command: Command, commands: List[Command]) -> str:
    kind = OPERANDS.get(command["name"], "")
    return " ".join(one["name"] for one in commands) if kind == "commands" else kind


# bash

BASH_HEAD = f"""\
# bash completion of nuthatch. {SOURCE}
_nuthatch() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} option=${{COMP_WORDS[COMP_CWORD - 1]}} command=${{COMP_WORDS[1]}} words=
  COMPREPLY=()
  # Bash gives an equals sign as a separate word.
  if [[ $current == = ]]; then
    current=
  elif [[ $option == = ]]; then
    option=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
"""

BASH_TAIL = """\
  case $words in
    files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    folders) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
  esac
}
complete -F _nuthatch nuthatch
"""


def bash(commands: List[Command]) -> str:
    names = " ".join(command["name"] for command in commands)
    lines = [BASH_HEAD + "  if ((COMP_CWORD == 1)); then", f'    words="{names} --version --help"', "  else"]
    lines += ['    case "$command $option" in']
    values: Dict[str, List[str]] = {}
    for command in commands:
        for option in command["options"]:
            if option["value"]:
                for flag in _flags(option):
                    values.setdefault(_value(option), []).append(f'"{command["name"]} {flag}"')
    for words, patterns in values.items():
        lines += ["      " + " | \\\n        ".join(_rows(patterns)) + ")", f'        words="{words}" ;;']
    lines += ["      *)", "        if [[ $current == -* ]]; then", "          case $command in"]
    for command in commands:
        flags = [flag for option in command["options"] for flag in _flags(option)]
        lines += [
            f'            {command["name"]}) words="' + "\n              ".join(_rows(flags, " ")) + '" ;;'
        ]
    lines += ["          esac", "        else", "          case $command in"]
    for command in commands:
        operands = _operands(command, commands)
        if operands:
            lines.append(f'            {command["name"]}) words="{operands}" ;;')
    lines += ["          esac", "        fi ;;", "    esac", "  fi"]
    return "\n".join(lines) + "\n" + BASH_TAIL


def _rows(words: List[str], between: str = " | ") -> List[str]:
    """Joins words to lines of at most 100 characters."""
    rows = [""]
    for word in words:
        if rows[-1] and len(rows[-1]) + len(between) + len(word) > 100:
            rows.append("")
        rows[-1] += (between if rows[-1] else "") + word
    return rows


# zsh


def zsh(commands: List[Command]) -> str:
    lines = ["#compdef nuthatch", f"# {SOURCE}", "_nuthatch() {", "  local -a commands=("]
    lines += [f"    '{command['name']}:{_quoted(command['summary'])}'" for command in commands]
    lines += [
        "  )",
        "  if ((CURRENT == 2)); then",
        "    _describe -t commands command commands",
        "    return",
    ]
    lines += ["  fi", "  local command=$words[2]", "  shift words", "  ((CURRENT--))", "  case $command in"]
    for command in commands:
        lines += [f"    {command['name']})", "      _arguments -s -S \\"]
        for option in command["options"]:
            lines.append(f"        {_zsh_option(option)} \\")
        operands = _operands(command, commands)
        lines += [f"        '*:argument:{_zsh_action(operands) or ' '}' ;;"]
    return "\n".join([*lines, "  esac", "}", '_nuthatch "$@"']) + "\n"


def _zsh_action(words: str) -> str:
    if words in ("files", "folders"):
        return "_files" if words == "files" else "_files -/"
    return f"({words})" if words else ""


def _zsh_option(option: Option) -> str:
    text = re.sub(r"([\[\]:\\])", r"\\\1", option["help"])
    value = ""
    if option["value"]:
        called = re.sub(r"([\[\]:\\])", r"\\\1", option["value"])
        value = f":{_quoted(called)}:{_zsh_action(_value(option)) or ' '}"
    ends = f"[{_quoted(text)}]{value}"
    equals, plus = ("=", "+") if option["value"] else ("", "")
    if option["letter"]:
        return f"'*'{{-{option['letter']}{plus},--{option['name']}{equals}}}'{ends}'"
    return f"'*--{option['name']}{equals}{ends}'"


def _quoted(text: str) -> str:
    """Returns a text that can stand between single quotes."""
    return text.replace("'", "'\\''")


# fish


def fish(commands: List[Command]) -> str:
    names = " ".join(command["name"] for command in commands)
    lines = [f"# {SOURCE}", "complete -c nuthatch -f"]
    lines.append("complete -c nuthatch -n __fish_use_subcommand -l version -d 'show the version'")
    for command in commands:
        summary = _fish_quoted(command["summary"])
        lines.append(f"complete -c nuthatch -n __fish_use_subcommand -a {command['name']} -d '{summary}'")
    for command in commands:
        seen = f"complete -c nuthatch -n '__fish_seen_subcommand_from {command['name']}'"
        for option in command["options"]:
            letter = f" -s {option['letter']}" if option["letter"] else ""
            lines.append(
                f"{seen}{letter} -l {option['name']}{_fish_value(option)} -d '{_fish_quoted(option['help'])}'"
            )
        operands = _operands(command, commands)
        if operands == "files":
            lines.append(f"{seen} -F")
        elif operands:
            lines.append(
                f"complete -c nuthatch -n '__fish_seen_subcommand_from {command['name']}' -a '{operands}'"
            )
    return "\n".join(lines) + "\n" if names else ""


def _fish_value(option: Option) -> str:
    words = _value(option)
    if not option["value"]:
        return ""
    if words == "files":
        return " -r -F"
    if words == "folders":
        return " -x -a '(__fish_complete_directories)'"
    return f" -x -a '{words}'" if words else " -x"


def _fish_quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
