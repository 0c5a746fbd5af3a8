"""Makes types, help and stubs of the Python options from the table, for type checkers, editors and help().

A module whose functions take `**options: "_wishes.Unpack[_wishes.Wishes]"` gets a stub beside it, made of its
source: there each option is a keyword with its type, and the docstring has a line on it. The sources stay short, and
calls fast.
"""

import ast
import textwrap
from pathlib import Path
from typing import Dict, Iterable, Iterator, List, Optional, Set, Tuple, Union

from option_table import Argument, Row, Table, Words

BANNER = "# Generated from options.toml by Scripts/make-header; edit that instead.\n"
# How a function says which options it takes.
TAKES = "_wishes.Unpack[_wishes."
STUB_BANNER = "# Generated from options.toml by Scripts/make-header, and from {name}; edit those instead.\n"
MODULES = ("_async", "_async_fetching", "_cache", "_fetching")

TYPES = {
    "duration": "Duration",
    "bytes": "ByteCount",
    "count": "Optional[int]",
    "share": "Optional[float]",
    "flag": "Optional[bool]",
    "headers": "HeaderArgument",
    "names": "Optional[Sequence[str]]",
    "secrets": "Secrets",
    "path": "FileName",
}
# Options that have another form in Python.
OWN_TYPES = {"user": "User", "cert": "Certificate", "netrc": "Netrc", "config": "ConfigFile"}
OWN_FACTS = {"netrc": " True: $NETRC, else ~/.netrc; False or None: none."}
OWN_FACTS["config"] = " True: the usual files; False or None: none."
OWN_FACTS["user"] = " None: don't sign in, even if the site or netrc has a user."
NONE = {"unlimited": " None: no limit.", "off": " None: off."}
# Functions with the full text of each option. Others have a line on each.
IN_FULL = ("Cache", "Cache.site", "Fetching.submit")

Option = Union[Row, Argument]


def groups(table: Table) -> Dict[str, List[Option]]:
    """Returns the options of each kind of call, by the name of its TypedDict."""
    every: List[Option] = [row for row in table.rows if python_name(row)[:1] not in ("", "_")]
    every += table.arguments
    wishes = [option for option in every if "request" in _levels(option)]
    sending = [option for option in wishes if option.name != "method"]
    return {
        "Wishes": wishes,
        # `decode` of `peek` has another meaning: whether a stored thumbnail is decoded, not where.
        "Peeking": [option for option in wishes if python_name(option) != "decode"],
        "Sending": sending,
        # Without cache_key: all URLs would share one answer.
        "Prefetching": [option for option in sending if option.name != "cache_key"],
        "Naming": [option for option in wishes if isinstance(option, Row) and "name" in option.reaches],
        "SiteWishes": [option for option in every if "site" in _levels(option)],
        "CacheWishes": [option for option in every if "cache" in _levels(option)],
    }


MEANINGS = {
    "Wishes": "The options of a request.",
    "Peeking": "The options of a peek.",
    "Sending": "The options of a request whose method is an argument.",
    "Prefetching": "The options of a prefetch.",
    "Naming": "The options that are part of the cache key.",
    "SiteWishes": "The options of a site.",
    "CacheWishes": "The options of a cache.",
}


def files(table: Table, package: Path) -> Dict[str, str]:
    """Returns the files by name."""
    stubs = {f"{name}.pyi": stub(package / f"{name}.py", table) for name in MODULES}
    return {"_option_help.py": help_file(table), "_wishes.py": types_file(table), **stubs}


def python_name(option: Option) -> str:
    """Returns the keyword; "" if Python has the option in another form."""
    if isinstance(option, Argument):
        return option.name
    return "" if option.kind in ("pointer", "function", "questions", "sizes") else option.python or ""


def _levels(option: Option) -> Tuple[str, ...]:
    return option.levels if isinstance(option, Argument) else option.python_levels


def _type(option: Option) -> str:
    if isinstance(option, Argument):
        return option.type
    if option.words:
        return f"Optional[{_alias(option.words)}]"
    if option.unit:
        return "PixelCount"
    return OWN_TYPES.get(option.name) or TYPES.get(option.kind, "Optional[str]")


def _alias(words: Words) -> str:
    """Returns the name of the type of a list of words."""
    return "".join(part.capitalize() for part in words.name.split("_")) if "." in words.swift else words.swift


# Help


def help_file(table: Table) -> str:
    """_option_help.py."""
    options = groups(table)
    taken = {python_name(option) for group in options.values() for option in group}
    listed = [option for option in [*table.rows, *table.arguments] if python_name(option) in taken]
    short = "".join(line(option) for option in listed)
    more = "".join(
        f":param {python_name(option)}:\n{more_on(option)}" for option in listed if more_on(option)
    )
    kinds = "".join(
        f":param {kind}:\n" + _indented(" ".join(map(python_name, group))) for kind, group in options.items()
    )
    return f'''{BANNER}"""Help for each option: one line, more text, and the options of each kind of call."""

from typing import Dict


def _entries(text: str) -> Dict[str, str]:
    entries = ("\\n" + text).split("\\n:param ")[1:]
    return {{entry.partition(":")[0]: entry for entry in entries}}


HELP = _entries("""\\
{short}""")

MORE = _entries("""\\
{more}""")

TAKEN = _entries("""\\
{kinds}""")
'''


def line(option: Option) -> str:
    """Returns the line on an option for a docstring."""
    text = f":param {python_name(option)}: {option.help}"
    if isinstance(option, Row) and option.words:
        *others, last = [f'"{word}"' for word, _ in option.words.members]
        text += f": {', '.join(others)} or {last}"
    text += "" if text.endswith(".") else "."
    if isinstance(option, Row):
        text += f" Default: {option.default_text}."
        if option.name in OWN_TYPES:
            text += OWN_FACTS.get(option.name, "")
        else:
            text += NONE.get(option.none or "", "") + (f' "": {option.empty}.' if option.empty else "")
    return textwrap.fill(text, 108, subsequent_indent="    ", break_on_hyphens=False) + "\n"


def more_on(option: Option) -> str:
    """Returns the paragraphs below that line."""
    words = option.words.members if isinstance(option, Row) and option.words else []
    paragraphs = [f'"{word}": {doc}' for word, doc in words] + option.doc.split("\n\n")
    made = (" ".join(paragraph.split()) for paragraph in paragraphs)
    return "".join(_indented(paragraph) for paragraph in made if paragraph)


def _indented(text: str) -> str:
    return (
        textwrap.fill(text, 108, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
        + "\n"
    )


# Types


def types_file(table: Table) -> str:
    """_wishes.py."""
    options = groups(table)
    keys: Dict[str, Option] = {}
    for group in options.values():
        keys.update((python_name(option), option) for option in group)
    # Options of the same calls are in one class, so that each option is written once.
    parts: Dict[Tuple[str, ...], List[Option]] = {}
    for name, option in keys.items():
        takers = tuple(kind for kind, group in options.items() if name in map(python_name, group))
        parts.setdefault(takers, []).append(option)
    lines = [
        f'{BANNER}"""Types of the options of requests, sites and caches, for type checkers."""',
        "",
        "from typing import Any, Literal, Optional, Sequence, TypedDict",
        "",
        "from ._option_values import (",
        *[f"    {name}," for name in VALUES],
        ")",
        "from ._option_values import Unpack as Unpack",
        "from ._quantities import ByteCount, Duration, PixelCount",
        "",
    ]
    for words in table.words:
        members = ", ".join(f'"{word}"' for word, _ in words.members)
        lines += [f"#: {words.doc}", f"{_alias(words)} = Literal[{members}]"]
    names = {takers: f"_Part{number}" for number, takers in enumerate(parts, 1)}
    for takers, part in parts.items():
        lines += ["", "", f"class {names[takers]}(TypedDict, total=False):"]
        lines += [f"    {python_name(option)}: {_type(option)}" for option in part]
    for kind in options:
        bases = ", ".join(name for takers, name in names.items() if kind in takers)
        lines += ["", "", f"class {kind}({bases}, total=False):", f'    """{MEANINGS[kind]}"""']
    return "\n".join(lines) + "\n"


VALUES = [
    "AskChallenge",
    "AskCredentials",
    "AskHeaders",
    "AskVerdict",
    "Body",
    "Certificate",
    "ConfigFile",
    "Fields",
    "FileName",
    "Files",
]
VALUES += ["HeaderArgument", "Netrc", "Secrets", "SinkArgument", "User"]


# Stubs


def stub(path: Path, table: Table) -> str:
    """Returns the stub of a module."""
    tree = ast.parse(path.read_text())
    body: List[str] = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            body += ["", *_class(node, table)]
        elif isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("TypeVar("):
            body += ["", ast.unparse(node)]
    used = {word.id for word in ast.walk(ast.parse("\n".join(body))) if isinstance(word, ast.Name)}
    used |= _quoted_names(body)
    imports: Dict[str, Set[str]] = {}
    for module, name in [*_imports(tree.body, used), *_imports(_option_imports(table), used)]:
        imports.setdefault(module, set()).add(name)
    head = []
    for module, names in sorted(imports.items(), key=lambda pair: (pair[0].startswith("."), pair[0])):
        head.append(
            f"import {module}" if names == {""} else f"from {module} import {', '.join(sorted(names))}"
        )
    return STUB_BANNER.format(name=path.name) + "\n" + "\n".join([*head, *body]) + "\n"


def _option_imports(table: Table) -> List[ast.stmt]:
    aliases = [_alias(words) for words in table.words]
    text = "from typing import Any, Optional, Sequence\n"
    text += f"from ._option_values import {', '.join(VALUES)}\n"
    text += "from ._quantities import ByteCount, Duration, PixelCount\n"
    return ast.parse(text + f"from ._wishes import {', '.join(aliases)}\n").body


def _quoted_names(body: List[str]) -> Set[str]:
    """Returns the names within annotations that are strings."""
    texts = [node.value for node in ast.walk(ast.parse("\n".join(body))) if isinstance(node, ast.Constant)]
    names: Set[str] = set()
    for text in texts:
        if isinstance(text, str) and "\n" not in text and len(text) < 100:
            try:
                names |= {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
            except SyntaxError:
                continue
    return names


def _imports(body: Iterable[ast.stmt], used: Set[str]) -> Iterator[Tuple[str, str]]:
    """Gives the imports among statements that are used."""
    for node in body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from _imports(node.body, used)
        elif isinstance(node, ast.Import):
            yield from ((name.name, "") for name in node.names if name.name.split(".")[0] in used)
        elif isinstance(node, ast.ImportFrom):
            of = "." * node.level + (node.module or "")
            for name in node.names:
                if (name.asname or name.name) in used:
                    yield of, name.name + (f" as {name.asname}" if name.asname else "")


def _class(node: ast.ClassDef, table: Table) -> List[str]:
    bases = f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else ""
    init = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
    kind = _kind(init[0]) if init else None
    lines = [f"class {node.name}{bases}:", *_doc(ast.get_docstring(node), kind, node.name, table, "    ")]
    overloaded: Set[str] = set()
    for one in node.body:
        if isinstance(one, ast.AnnAssign):
            lines.append(f"    {ast.unparse(one.target)}: {ast.unparse(one.annotation)}")
        elif isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) and not _is_bare(one):
            if _is_overload(one):
                # The overloads get the docstring of the implementation, which has no stub itself.
                overloaded.add(one.name)
                (work,) = [other for other in node.body if _is_work(other, one.name)]
                one.body[:0] = work.body[:1]
            elif one.name in overloaded:
                continue
            lines += _function(one, node.name, table)
    for attribute, annotation in _attributes(init[0]) if init else []:
        lines.append(f"    {attribute}: {annotation}")
    return lines


def _is_bare(node: Union[ast.FunctionDef, ast.AsyncFunctionDef]) -> bool:
    """Returns whether a function without a docstring overrides one of the base class. It needs no stub of its own."""
    return (
        _kind(node) is not None
        and ast.get_docstring(node) is None
        and node.name != "__init__"
        and not (_is_overload(node))
    )


def _is_overload(node: Union[ast.FunctionDef, ast.AsyncFunctionDef]) -> bool:
    return "overload" in [ast.unparse(one) for one in node.decorator_list]


def _is_work(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == name and not _is_overload(node)


def _attributes(init: ast.FunctionDef) -> Iterator[Tuple[str, str]]:
    """Gives the attributes that `__init__` sets, with their types."""
    for node in ast.walk(init):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
            yield node.target.attr, ast.unparse(node.annotation)


def _kind(node: Union[ast.FunctionDef, ast.AsyncFunctionDef]) -> Optional[str]:
    """Returns the name of the TypedDict of a function's options."""
    given = node.args.kwarg
    text = ast.unparse(given.annotation).strip("'\"") if given and given.annotation else ""
    return text[len(TAKES) : -1] if text.startswith(TAKES) else None


def _function(node: Union[ast.FunctionDef, ast.AsyncFunctionDef], owner: str, table: Table) -> List[str]:
    kind = _kind(node)
    lines = [f"    @{ast.unparse(one)}" for one in node.decorator_list]
    arguments = node.args
    for place, default in enumerate(arguments.defaults):
        if not isinstance(default, (ast.Constant, ast.Tuple)):
            arguments.defaults[place] = ast.Constant(...)
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    # An async function that yields is a generator, not a coroutine. Only its body shows that.
    is_generator = any(isinstance(one, ast.Yield) for one in ast.walk(node))
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) and not is_generator else "def"
    if kind is None:
        head = [f"    {word} {node.name}({ast.unparse(arguments)}){result}:"]
    else:
        arguments.kwarg = None
        star = [] if arguments.kwonlyargs else ["*"]
        own = [ast.unparse(arguments), *star]
        options = [f"{python_name(one)}: {_type(one)} = ..." for one in groups(table)[kind]]
        head = [
            f"    {word} {node.name}(",
            *[f"        {one}," for one in [*own, *options]],
            f"    ){result}:",
        ]
    doc = ast.get_docstring(node)
    if node.name.startswith("_") or doc is None:
        return [*lines, *head[:-1], head[-1] + " ..."]
    shown = _doc(doc, kind, f"{owner}.{node.name}", table, "        ")
    return [*lines, *head, *shown, *([] if shown else ["        ..."])]


def _doc(doc: Optional[str], kind: Optional[str], name: str, table: Table, indent: str) -> List[str]:
    if not doc:
        return []
    if kind is not None:
        entries = (line(one) + (more_on(one) if name in IN_FULL else "") for one in groups(table)[kind])
        doc += "\n\n" + "".join(entries).rstrip("\n")
    text = doc.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    lines = f'"""{text}"""'.split("\n") if "\n" not in text else f'"""{text}\n"""'.split("\n")
    return [(indent + one).rstrip() for one in lines]
