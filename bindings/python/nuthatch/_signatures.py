"""Adds all options to the signatures and docstrings of functions, for help(), editors and other tools."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any, Dict, List, Type, TypeVar

from ._later import _wishes, loading
from ._option_help import HELP, MORE, TAKEN

Kind = TypeVar("Kind", bound=Type[Any])

#: Functions with the full text of each option. Others have a line on each.
_IN_FULL = frozenset(("Cache", "Cache.site", "Fetching.submit"))
#: The beginning of the annotation that says which options a function takes.
_TAKES = "_wishes.Unpack[_wishes."
#: The lists of options, by the kind of call and whether they are in full. Each is made once.
_made: Dict[Any, str] = {}


def explained(kind: Kind) -> Kind:
    """Adds the options of a class's functions to their signatures and docstrings. A decorator."""
    for function in list(vars(kind).values()):
        taken = getattr(function, "__annotations__", {}).get("options")
        if not isinstance(taken, str) or not taken.startswith(_TAKES):
            continue
        wishes = taken[len(_TAKES) : -1]
        function.__signature__ = _Signature(function, wishes)
        if function.__name__ == "__init__":
            kind.__doc__ = _with_list(kind.__doc__, wishes, kind.__name__)
        elif function.__doc__:
            function.__doc__ = _with_list(function.__doc__, wishes, function.__qualname__)
        else:
            # A faster version of a method of the base class. Use the docstring of that method.
            function.__doc__ = getattr(kind.__mro__[1], function.__name__).__doc__
    return kind


def _with_list(doc: Any, wishes: str, name: str) -> Any:
    if not doc:
        return doc  # python -OO removes docstrings
    lines: List[str] = doc.split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    text = "\n".join([lines[0], *(line[margin:] for line in lines[1:])]).rstrip()
    in_full = name in _IN_FULL
    if (wishes, in_full) not in _made:
        _made[wishes, in_full] = "\n".join(
            ":param " + HELP[name] + (_more(name) if in_full else "") for name in TAKEN[wishes].split()[1:]
        )
    return f"{text}\n\n{_made[wishes, in_full]}\n"


def _more(name: str) -> str:
    return MORE[name].partition(":")[2].rstrip("\n") if name in MORE else ""


class _Signature:
    """A signature that is made at its first use, because making it takes longer than loading the package.
    ``isinstance`` accepts it as a ``Signature``, because its ``__class__`` says so."""

    def __init__(self, function: Any, wishes: str) -> None:
        self._function = function
        self._wishes = wishes

    if not TYPE_CHECKING:

        @property
        def __class__(self) -> Any:
            with loading:
                from inspect import Signature
            return Signature

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made(), name)

    def __str__(self) -> str:
        return str(self._made())

    __repr__ = __str__

    def __eq__(self, other: Any) -> bool:
        return bool(self._made() == other)

    def __hash__(self) -> int:
        return hash(self._made())

    def _made(self) -> Any:
        from inspect import Parameter, Signature

        function, options = self._function, getattr(_wishes, self._wishes).__annotations__
        # A copy of the function without this placeholder.
        bound = function.__name__, function.__defaults__, function.__closure__
        bare = FunctionType(function.__code__, function.__globals__, *bound)
        bare.__kwdefaults__, bare.__annotations__ = function.__kwdefaults__, function.__annotations__
        plain = Signature.from_callable(bare)
        own = [one for one in plain.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        own += [
            Parameter(name, Parameter.KEYWORD_ONLY, default=..., annotation=options[name])
            for name in TAKEN[self._wishes].split()[1:]
        ]
        function.__signature__ = made = plain.replace(parameters=own)
        return made
