"""Durations, sizes and counts: how they are written, alike for all options and all waits."""

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
    # Loading it takes longer than all of this; type hints that are read at run time say no more.
    timedelta = Any

#: Seconds, a text such as "250ms", "15m" or "forever", or a timedelta; None for no limit.
Duration = Union[float, str, timedelta, None]
#: Bytes, or a text such as "64K" or "1.5G".
ByteCount = Union[int, str, None]
#: How many, or a text such as "100M".
PixelCount = Union[int, str, None]

_TIMES = {"ms": 1, "": 1000, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_BYTES = {"": 1, **{unit + end: 1024**power for power, unit in enumerate("KMGT", 1) for end in ("", "IB")}}
_PIXELS = {"": 1, **{unit: 1000**power for power, unit in enumerate("KMG", 1)}}
_TEXT = r"([0-9]{1,30})(?:\.([0-9]{1,30}))?([A-Za-z]*)"

#: What each kind is, and how a text of it is written, as messages say it.
_WANTED = {
    "duration": ("a duration", ", such as 90, '250ms', '15m' or '7d'"),
    "bytes": ("a number of bytes", ", such as 500000, '64K' or '1.5G'"),
    "pixels": ("a whole number", ", such as 500000 or '100M'"),
    "count": ("a whole number", ""),
    "share": ("a number", ""),
    "rate": ("a number", ""),
}


def milliseconds(value: Any, what: str, allowed: str) -> Any:
    """A duration in milliseconds, not rounded; NaN for a text that is none."""
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
    """A count in whole numbers; infinity is as many as there can be, and NaN stands for a text that is no count."""
    if isinstance(value, float) and value == math.inf:
        return value
    if kind == "count" or not isinstance(value, str):
        return whole(value, what, wanted(kind, allowed))
    read = _read(value.upper(), _BYTES if kind == "bytes" else _PIXELS)
    # Half a byte is none, unless it is half a kilobyte.
    if read is None or (read[1] > 1 and value[-1:].isdigit()):
        return math.nan
    return -(-read[0] // read[1])


def rounded(value: Any) -> int:
    """The next whole number, so that what is little isn't nothing. What differs by less than a millionth has that from
    its way through binary fractions."""
    return value if type(value) is int else math.ceil(round(value, 6)) or int(value > 0)


def amount(value: Any, what: str, kind: str = "bytes") -> int:
    """How many, as the C side has it; without end is as many as there can be."""
    made = counted(value, what, kind, "0 or more")
    if not made >= 0:
        raise out_of_range(what, value, "0 or more", kind)
    return int(min(made, abi.FOREVER))


def moment(timeout: Any, now: float, what: str = "timeout") -> Optional[float]:
    """When a wait from now on is over; None for never."""
    if timeout is None or (isinstance(timeout, str) and timeout == "none"):
        return None
    given = milliseconds(timeout, what, "of any length or None")
    if given != given:
        raise out_of_range(what, timeout, "a duration or None", "duration")
    return None if given > 2**62 else now + given / 1000


def left_until(due: Optional[float], now: float, most: int) -> int:
    """Milliseconds until then, no more than ``most``. What is less than one isn't nothing."""
    return most if due is None else max(0, min(most, math.ceil((due - now) * 1000)))


def lasting(timeout: Any) -> str:
    """A duration as messages say it."""
    return f"{timeout} s" if isinstance(timeout, (int, float)) else str(timeout)


def wanted(kind: str, allowed: str) -> str:
    """What an argument of a kind must be, as messages say it."""
    noun, how = _WANTED[kind]
    return f"{noun}, {allowed}{how}"


def out_of_range(what: str, value: Any, allowed: str, kind: str) -> Exception:
    """What is raised for a number that can't be had, or a text that is none."""
    how = _WANTED[kind][1] if isinstance(value, str) else ""
    return error_for(abi.INVALID, f"{what} is {shown(repr(value)):.80}; it must be {allowed}{how}", None)


def _read(text: str, units: Mapping[str, int]) -> Optional[Tuple[int, int]]:
    """A number with a unit, as numerator and denominator."""
    found = re.fullmatch(_TEXT, text)
    digits, fraction, unit = found.groups("") if found else ("", "", "")
    if not found or unit not in units:
        return None
    return int(digits + fraction) * units[unit], 10 ** len(fraction)
