"""Reads durations, sizes and counts, in the same way for all options and all waits."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Mapping, Optional, Tuple, Union

from . import _prototypes as abi
from ._arguments import number, whole
from ._errors import error_for
from ._library import shown

if TYPE_CHECKING:
    from datetime import timedelta
else:
    # Not imported: loading it takes longer than all of this module. At run time, the type hint is Any.
    timedelta = Any

#: Seconds, a text such as "250ms", "15m" or "forever", or a timedelta; None for no limit.
Duration = Union[float, str, timedelta, None]
#: Bytes, or a text such as "64K" or "1.5G".
ByteCount = Union[int, str, None]
#: A number, or a text such as "100M".
PixelCount = Union[int, str, None]

_TIMES = {"ms": 1, "": 1000, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_BYTES = {"": 1, **{unit + end: 1024**power for power, unit in enumerate("KMGT", 1) for end in ("", "IB")}}
_PIXELS = {"": 1, **{unit: 1000**power for power, unit in enumerate("KMG", 1)}}
_TEXT = r"([0-9]{1,30})(?:\.([0-9]{1,30}))?([A-Za-z]*)"

#: For messages: the noun of each kind, and examples.
_WANTED = {
    "duration": ("a duration", ", such as 90, '250ms', '15m' or '7d'"),
    "bytes": ("a number of bytes", ", such as 500000, '64K' or '1.5G'"),
    "pixels": ("a whole number", ", such as 500000 or '100M'"),
    "count": ("a whole number", ""),
    "share": ("a number", ""),
    "rate": ("a number", ""),
}


def milliseconds(value: Any, what: str, allowed: str) -> Any:
    """Returns a duration in milliseconds, not rounded; NaN for a text that is not a duration."""
    kind = type(value)
    if kind is float or kind is int:
        return value * 1000
    if isinstance(value, str):
        read = _read(value, _TIMES)
        return math.inf if value == "forever" else math.nan if read is None else read[0] / read[1]
    if hasattr(value, "total_seconds"):
        return value.total_seconds() * 1000
    return number(value, what, wanted("duration", allowed)) * 1000


def counted(value: Any, what: str, kind: str, allowed: str) -> Any:
    """Returns a whole number; infinity for no limit, and NaN for a text that is not a count."""
    if isinstance(value, float) and value == math.inf:
        return value
    if kind == "count" or not isinstance(value, str):
        return whole(value, what, wanted(kind, allowed))
    read = _read(value.upper(), _BYTES if kind == "bytes" else _PIXELS)
    # Refuse a fraction of a byte, such as "1.5". A fraction with a unit, such as "1.5K", is rounded up.
    if read is None or (read[1] > 1 and value[-1:].isdigit()):
        return math.nan
    return -(-read[0] // read[1])


def rounded(value: Any) -> int:
    """Rounds up to a whole number, so that a short time doesn't become 0. Ignores differences of less than a millionth,
    which come from binary fractions."""
    return value if type(value) is int else math.ceil(round(value, 6)) or int(value > 0)


def amount(value: Any, what: str, kind: str = "bytes") -> int:
    """Returns a number for the library. Infinity becomes the library's number for no limit."""
    made = counted(value, what, kind, "0 or more")
    if not made >= 0:
        raise out_of_range(what, value, "0 or more", kind)
    return int(min(made, abi.FOREVER))


def moment(timeout: Any, now: float, what: str = "timeout") -> Optional[float]:
    """Returns the time at which a wait that starts now is over; None: no limit."""
    if timeout is None or (isinstance(timeout, str) and timeout == "none"):
        return None
    given = milliseconds(timeout, what, "of any length or None")
    if given != given:
        raise out_of_range(what, timeout, "a duration or None", "duration")
    return None if given > 2**62 else now + given / 1000


def left_until(due: Optional[float], now: float, most: int) -> int:
    """Returns the milliseconds until ``due``, rounded up, at most ``most``."""
    return most if due is None else max(0, min(most, math.ceil((due - now) * 1000)))


def lasting(timeout: Any) -> str:
    """Returns a duration for a message."""
    return f"{timeout} s" if isinstance(timeout, (int, float)) else str(timeout)


def wanted(kind: str, allowed: str) -> str:
    """Returns the allowed values of a kind, for a message."""
    noun, how = _WANTED[kind]
    return f"{noun}, {allowed}{how}"


def out_of_range(what: str, value: Any, allowed: str, kind: str) -> Exception:
    """Returns the error for a number out of range, or a text that is not a number."""
    how = _WANTED[kind][1] if isinstance(value, str) else ""
    return error_for(abi.INVALID, f"{what} is {shown(repr(value)):.80}; it must be {allowed}{how}", None)


def _read(text: str, units: Mapping[str, int]) -> Optional[Tuple[int, int]]:
    """Reads a number with a unit. Returns numerator and denominator, or None."""
    found = re.fullmatch(_TEXT, text)
    digits, fraction, unit = found.groups("") if found else ("", "", "")
    if not found or unit not in units:
        return None
    return int(digits + fraction) * units[unit], 10 ** len(fraction)
