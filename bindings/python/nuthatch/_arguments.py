"""Checks of arguments, and the errors for wrong ones."""

from __future__ import annotations

from operator import index
from typing import Any, List, Tuple

from . import _prototypes as abi
from ._errors import error_for
from ._library import shown
from ._option_table import ROWS


def wrong(what: str, wanted: str, value: Any) -> TypeError:
    """Returns the error for an argument of a wrong type."""
    return TypeError(f"{what} must be {wanted}, not {shown(repr(value)):.80}")


def number(value: Any, what: str, wanted: str) -> Any:
    """Returns a number of any type; a bool is refused."""
    if isinstance(value, (int, float)) and not _is_flag(value):
        return value
    # Also a Decimal, a Fraction or a number of NumPy. A str has no __float__.
    if hasattr(value, "__float__") and not _is_flag(value):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise wrong(what, wanted, value)


def whole(value: Any, what: str, wanted: str = "a whole number") -> int:
    """Returns a whole number of any type; a bool is refused."""
    try:
        if not _is_flag(value):
            return index(value)
    except TypeError:
        pass
    raise wrong(what, wanted, value)


def flag(value: Any, what: str) -> int:
    """Returns 0 or 1 for a bool or an int. Other types are refused: the word "no", for example, would count as true."""
    if isinstance(value, int) or _is_flag(value):
        return int(bool(value))
    raise wrong(what, "True or False", value)


def _is_flag(value: Any) -> bool:
    # NumPy's bool is another type.
    return type(value).__name__ in ("bool", "bool_")


def chosen(word: str, name: str) -> int:
    """Returns the number that an option's word stands for."""
    words = ROWS[name].words or {}
    if not isinstance(word, str) or word not in words:
        raise error_for(
            abi.INVALID, f"{name} is {shown(repr(word)):.80}; it must be one of {', '.join(words)}", None
        )
    return words[word]


def called(value: Any, what: str) -> Any:
    """Returns the value if it can be called."""
    if not callable(value):
        raise wrong(what, "a function", value)
    return value


def fields(given: Any, what: str) -> List[Tuple[Any, Any]]:
    """Returns a mapping, or an iterable of pairs, as a list of pairs."""
    lines: Any = given.items() if hasattr(given, "items") else () if given is None else given
    wanted = f"{what} must be a mapping, or pairs of name and value"
    if isinstance(lines, (str, bytes)) or not hasattr(lines, "__iter__"):
        # Don't show the value: it may be a secret.
        raise TypeError(f"{wanted}, not {type(given).__name__}")
    made = list(lines)
    for line in made:
        # A str of two letters would pass as a pair, too.
        if not isinstance(line, (tuple, list)) or len(line) != 2:
            size = f" of {len(line)}" if isinstance(line, (tuple, list)) else ""
            raise TypeError(f"{wanted}; one of them is a {type(line).__name__}{size}")
    return made
