"""What arguments must be, and what is said of those that aren't."""

from operator import index
from typing import Any, List, Tuple

from . import _prototypes as abi
from ._errors import error_for
from ._library import shown
from ._option_table import ROWS


def wrong(what: str, wanted: str, value: Any) -> TypeError:
    """What is raised for an argument of a type that it can't have."""
    return TypeError(f"{what} must be {wanted}, not {shown(repr(value)):.80}")


def number(value: Any, what: str, wanted: str) -> Any:
    """A number of any kind, of which yes and no are none."""
    if isinstance(value, (int, float)) and not _is_flag(value):
        return value
    # Also what counts exactly, and what others count with; a text has no such method.
    if hasattr(value, "__float__") and not _is_flag(value):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise wrong(what, wanted, value)


def whole(value: Any, what: str, wanted: str = "a whole number") -> int:
    """A whole number of any kind, of which yes and no are none."""
    try:
        if not _is_flag(value):
            return index(value)
    except TypeError:
        pass
    raise wrong(what, wanted, value)


def flag(value: Any, what: str) -> int:
    """Yes or no. What is merely taken for yes, as the word "no" would be, was meant otherwise."""
    if isinstance(value, int) or _is_flag(value):
        return int(bool(value))
    raise wrong(what, "True or False", value)


def _is_flag(value: Any) -> bool:
    # NumPy's is no bool.
    return type(value).__name__ in ("bool", "bool_")


def chosen(word: str, name: str) -> int:
    """The number that an option's word stands for."""
    words = ROWS[name].words or {}
    if not isinstance(word, str) or word not in words:
        raise error_for(
            abi.INVALID, f"{name} is {shown(repr(word)):.80}; it must be one of {', '.join(words)}", None
        )
    return words[word]


def called(value: Any, what: str) -> Any:
    """What can be called."""
    if not callable(value):
        raise wrong(what, "a function", value)
    return value


def fields(given: Any, what: str) -> List[Tuple[Any, Any]]:
    """A mapping, or an iterable of pairs, as a list of pairs."""
    lines: Any = given.items() if hasattr(given, "items") else () if given is None else given
    wanted = f"{what} must be a mapping, or pairs of name and value"
    if isinstance(lines, (str, bytes)) or not hasattr(lines, "__iter__"):
        # What it is may be a secret.
        raise TypeError(f"{wanted}, not {type(given).__name__}")
    made = list(lines)
    for line in made:
        # A text of two letters would be a pair, too.
        if not isinstance(line, (tuple, list)) or len(line) != 2:
            size = f" of {len(line)}" if isinstance(line, (tuple, list)) else ""
            raise TypeError(f"{wanted}; one of them is a {type(line).__name__}{size}")
    return made
