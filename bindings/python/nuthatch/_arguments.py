"""What arguments must be, and what is said of those that aren't."""

from operator import index
from typing import Any, List, Optional, Tuple

from . import _prototypes as abi
from ._errors import error_for
from ._library import shown
from ._option_table import ROWS

#: The largest number that the C side takes.
LARGEST = 2**63 - 1


def wrong(what: str, wanted: str, value: Any) -> TypeError:
    """What is raised for an argument of a type that it can't have."""
    return TypeError(f"{what} must be {wanted}, not {shown(repr(value)):.80}")


def number(value: Any, what: str, wanted: str) -> Any:
    """A number of any kind."""
    if isinstance(value, (int, float)):
        return value
    # Also what counts exactly, and what others count with; a text has no such method.
    if hasattr(value, "__float__"):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise wrong(what, wanted, value)


def whole(value: Any, what: str, wanted: str = "a whole number") -> int:
    """A whole number of any kind."""
    try:
        return index(value)
    except TypeError:
        raise wrong(what, wanted, value) from None


def amount(value: Any, what: str) -> int:
    """How many, or how many bytes, as the C side has it; without end is as many as there can be."""
    given = LARGEST if isinstance(value, float) and value == float("inf") else whole(value, what)
    if given < 0:
        raise error_for(abi.INVALID, f"{what} must be a positive number, not {given}", None)
    return min(given, LARGEST)


def flag(value: Any, what: str) -> int:
    """Yes or no. What is merely taken for yes, as the word "no" would be, was meant otherwise."""
    if isinstance(value, int) or type(value).__name__ in ("bool_", "bool"):
        return int(bool(value))
    raise wrong(what, "True or False", value)


def chosen(word: str, name: str) -> int:
    """The number that an option's word stands for."""
    words = ROWS[name].words or {}
    if not isinstance(word, str) or word not in words:
        raise error_for(abi.INVALID, f"{name} must be one of {list(words)}, not {word!r}", None)
    return words[word]


def called(value: Any, what: str) -> Any:
    """What can be called."""
    if not callable(value):
        raise wrong(what, "a function", value)
    return value


def moment(seconds: Any, now: float, what: str = "timeout") -> Optional[float]:
    """When a wait of so many seconds from now is over; None for never."""
    if seconds is None:
        return None
    given = number(seconds, what, "a number of seconds or None")
    if given != given:
        raise error_for(abi.INVALID, f"{what} must be a number of seconds or None, not nan", None)
    return None if given > 2**52 else now + given


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
