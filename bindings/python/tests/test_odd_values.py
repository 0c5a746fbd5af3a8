"""Odd values for every option of the table, at every level that has it. Each is used exactly, or refused in one line
with option, value and range."""

import math
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import numpy
import nuthatch
import pytest
from nuthatch._option_table import CACHE, PROCESS, REQUEST, ROWS, SITE, Row
from nuthatch._options import options_struct
from nuthatch._prototypes import FOREVER, NONE
from testserver import TestServer, body, script

URL = "http://127.0.0.1:9/"
NUMBERS = ("duration", "bytes", "count", "pixels", "share", "rate")

#: Durations in milliseconds, computed by hand, without the reader under test.
DURATIONS: Dict[Any, float] = {
    "250ms": 250, "90": 90_000, "90s": 90_000, "15m": 900_000, "1.5h": 5_400_000, "7d": 604_800_000, "0": 0, "0s": 0,
    "500000": 500_000_000, "0.4ms": 0.4, "0.9": 900, "1.5ms": 1.5, "forever": math.inf, timedelta(0): 0,
    timedelta(days=-1): -86_400_000, timedelta(microseconds=400): 0.4, timedelta(milliseconds=250): 250,
}  # fmt: skip
BYTES: Dict[Any, float] = {
    "500000": 500_000, "64K": 65_536, "64k": 65_536, "1.5G": 1_610_612_736, "2T": 2_199_023_255_552, "64KiB": 65_536,
    "100M": 104_857_600, "0.0001K": 1, "0": 0, "90": 90, "1M": 1_048_576, "15m": 15_728_640,
}  # fmt: skip
PIXELS: Dict[Any, float] = {
    "500000": 500_000, "64K": 64_000, "64k": 64_000, "1.5G": 1_500_000_000, "100M": 100_000_000, "0.0001K": 1, "0": 0,
    "90": 90, "1M": 1_000_000, "15m": 15_000_000,
}  # fmt: skip
TEXTS: List[Any] = [
    "", " ", "  90", "90 ", "1 s", "ms", "s", "d", "K", "KiB", "iB", "-1", "+1", "-1s", "1e3", "0x10", "1,5", "1_000",
    "nan", "NaN", "inf", "infinity", "null", "None", "NONE", "Forever", "true", "yes", "auto", "\u0663", "\uff11",
    "\u00bd", "1.", ".5", "1.5.2", "1..5", "5 min", "1w", "1us", "64KB", "1P", "9" * 400, "a\0b", "\ud800", "\n", "1\n",
    "kit ", "KIT", "\U0001f43f", "none",
]  # fmt: skip
#: The meaning of numbers, if they are in range.
COUNTED: List[Any] = [
    -1, 0, 1, 2, -11, 11, 1000, 1001, -(2**63), 2**62 + 1, 2**63 - 1, 2**63, 2**64, 2**64 + 1, 10**400, -(10**400),
    numpy.int64(-1), numpy.int64(3),
]  # fmt: skip
MEASURED: List[Any] = [
    0.1, 0.9, 1.5, -0.0, -0.5, 0.0004, 5e-324, 1e308, math.nan, math.inf, -math.inf, Decimal("0.5"), Decimal("NaN"),
    Decimal(-1), Fraction(1, 3), numpy.float64(0.25),
]  # fmt: skip
THINGS: List[Any] = [
    True, False, numpy.bool_(True), 1j, b"", b"1", b"90s", bytearray(b"1"), memoryview(b"1"), [], [1], ["a"], (), (1,),
    {}, {"a": 1}, {"a": "b"}, {1: "a"}, set(), object(), type, len, Path("x"), ..., range(3),
    date(2026, 1, 1), Exception("x"), [None], ("a", "b", "c", "d"),
    numpy.array([1, 2]), numpy.array([]),
]  # fmt: skip


def values(row: Row) -> Iterator[Any]:
    """Returns all values, and those just out of range."""
    yield from [*DURATIONS, *BYTES, *TEXTS, *COUNTED, *MEASURED, *THINGS]
    if row.kind in NUMBERS:
        step = 0.001 if row.kind == "duration" else 1
        unit = 1000 if row.kind == "duration" else 1
        yield from (row.least / unit, row.least / unit - step)
        yield from () if row.greatest is None else (row.greatest, row.greatest + 1)


def number(row: Row, value: Any) -> Any:
    """Returns a value in milliseconds or bytes, or the number itself; None if it is no number for this option."""
    if isinstance(value, (bool, numpy.bool_)):
        return None
    texts = {"duration": DURATIONS, "bytes": BYTES, "pixels": PIXELS}.get(row.kind, {})
    try:
        if value in texts:
            return texts[value]
    except TypeError:
        return None
    is_measure = row.kind in ("duration", "share", "rate") or (isinstance(value, float) and value == math.inf)
    if type(value) in (int, numpy.int64) or (type(value) in map(type, MEASURED) and is_measure):
        value = value if isinstance(value, (int, float)) else float(value)
        return value * 1000 if row.kind == "duration" else value
    return None


def may_be(row: Row, name: str, value: Any) -> bool:
    """Returns whether an option that isn't a number accepts a value."""
    if row.kind == "flag":
        return isinstance(value, (int, numpy.bool_))
    if row.kind == "words":
        return value in (row.words or {})
    if name == "user":
        return isinstance(value, (tuple, list)) and len(value) in (2, 3)
    if row.kind == "path":
        return isinstance(value, (str, bool, bytes, Path, tuple, list))
    if row.kind in ("headers", "secrets"):
        return len(value) == 0 or value == {"a": "b"}
    if row.kind == "names":
        return all(isinstance(one, str) for one in value)
    return isinstance(value, str)


def cases() -> List[Tuple[str, str]]:
    levels = {"cache": CACHE, "site": SITE, "request": REQUEST, "process": PROCESS}
    return [
        (level, name)
        for level, bit in levels.items()
        for name, row in ROWS.items()
        if row.levels & bit and not name.startswith("_") and row.kind not in ("argument", "question")
    ]


#: Words that a message has instead of the option's name: the header or the file that it becomes.
OTHERWISE = {
    "user_agent": "User-Agent",
    "accept": "Accept",
    "bearer": "Authorization",
    "netrc": "can't be read",
}


def test_the_table_gives_many_odd_values() -> None:
    assert len(list(values(ROWS["timeout"]))) > 130
    assert len(cases()) > 80


@pytest.mark.parametrize(("level", "name"), cases())
def test_an_odd_value_is_used_exactly_or_refused_by_name(
    level: str, name: str, cache: nuthatch.Cache, tmp_path: Path
) -> None:
    row = ROWS[name]
    for value in values(row):
        given: Dict[str, Any] = {name: value}
        try:
            if level == "cache":
                nuthatch.Cache(tmp_path / "other", **given).close()
            elif level == "site":
                cache.site(URL, **given)
            elif level == "process":
                nuthatch.queue(**given)
                nuthatch.queue()
            else:
                cache.submit(URL, **given).cancel()
        except (TypeError, ValueError, nuthatch.Error) as error:
            refused(row, name, value, error)
        else:
            meant = number(row, value)
            is_none = isinstance(value, str) and value == "none" and row.none is not None
            # For arguments of the queue, "auto" is the default.
            is_none |= (
                level == "process" and row.kind == "count" and isinstance(value, str) and value == "auto"
            )
            if row.kind in NUMBERS:
                assert is_none or (meant is not None and is_within(row, meant)), f"{name}={value!r} is taken"
            else:
                assert may_be(row, name, value), f"{name}={value!r} is taken"


def is_within(row: Row, meant: Any) -> bool:
    return bool(row.least <= meant and (row.greatest is None or meant <= row.greatest))


def refused(row: Row, name: str, value: Any, error: Exception) -> None:
    said = str(error)
    assert type(error) in (TypeError, ValueError) or isinstance(error, nuthatch.Error), (
        f"{type(error)}: {said}"
    )
    is_named = name in said or OTHERWISE.get(name, name) in said
    is_named = is_named and ("\n" not in said or row.kind == "path")  # the name of a file is shown unchanged
    assert is_named and len(said) < 600, f"{name}={value!r}: {said}"
    if row.kind not in NUMBERS:
        return
    meant = number(row, value)
    assert meant is None or not is_within(row, meant), f"{name}={value!r}: {said}"
    assert repr(value)[:60] in said and row.range in said, f"{name}={value!r}: {said}"
    # A value of the right type is never a TypeError.
    assert isinstance(error, nuthatch.Invalid) or (meant is None and not isinstance(error, ValueError)), said


def test_large_and_small_numbers_are_not_cut() -> None:
    def said(name: str, member: str, value: Any, level: int = REQUEST) -> int:
        return int(getattr(options_struct({name: value}, level)[0], member))

    timeouts: Dict[Any, int] = {
        0.9: 900,
        "0.9": 900,
        1.1: 1100,
        "1.1s": 1100,
        "1.5ms": 2,
        0.001: 1,
        "1ms": 1,
        2.001: 2001,
    }
    timeouts.update(
        {"none": NONE, "forever": FOREVER, math.inf: FOREVER, 10**400: FOREVER, Decimal("0.25"): 250}
    )
    for value, milliseconds in timeouts.items():
        assert said("timeout", "timeout_ms", value) == milliseconds, value
    for little in (0.0004, "0.4ms", "0.000001ms", 5e-324, timedelta(microseconds=1)):
        assert said("image_ttl", "image_ttl_ms", little) == 1, little
        with pytest.raises(nuthatch.Invalid, match="it must be 1 ms or more, or none"):
            said("timeout", "timeout_ms", little)
    for zero in (0, "0", 0.0, "none"):
        assert said("image_ttl", "image_ttl_ms", zero) == NONE
    assert said("give_up_after", "give_up_after_ms", 0) == 1
    assert said("max_bytes", "max_bytes", "8.0G") == 8 << 30
    assert said("disk_bytes", "disk_bytes", "9007199.254740993K", CACHE) == -(
        -9007199254740993 * 1024 // 10**9
    )
    assert said("max_pixels", "max_pixels", "100M") == 100_000_000


@pytest.mark.parametrize("wait", ["30ms", timedelta(milliseconds=30), "0.0004", 0.0004, 0, -1])
def test_waits_have_the_notation_of_durations(wait: Any, server: TestServer, cache: nuthatch.Cache) -> None:
    gate = server.gate("answered after all")
    server.on("/a", script(steps=[gate.step, body("late")]))
    ticket = cache.submit(server.url("/a"))
    with pytest.raises(nuthatch.TimeoutError, match="no answer within"):
        ticket.result(wait)
    assert cache.wait_idle(wait) is False
    assert cache.outbox.dispatch(wait) == 0
    ticket.cancel()
    gate.open()
    for endless in ("none", "forever", math.inf, None):
        assert cache.wait_idle(endless)
    cache.close("5s")
