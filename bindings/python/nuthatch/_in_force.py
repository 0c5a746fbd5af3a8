"""Reads the options that are in force from the library."""

from __future__ import annotations

import ctypes
import math
from typing import Any, Dict

from . import _prototypes as abi
from ._option_table import ROWS, Row


def empty() -> abi.nh_options:
    """Returns an empty struct for the options."""
    return abi.nh_options(ctypes.sizeof(abi.nh_options))


def told(struct: abi.nh_options, level: int) -> Dict[str, Any]:
    """Returns the options by name. Call it while the cache or site is open: the texts belong to it."""
    made: Dict[str, Any] = {}
    for name, row in ROWS.items():
        # The library doesn't return credentials. Options that only Python has are not in the struct.
        if row.levels & level and row.kind not in ("argument", "question", "secret", "secrets"):
            value = _value(struct, row)
            if value is not None:
                made[name] = None if value is _NO_LIMIT else value
    return made


_NO_LIMIT = object()


def _value(struct: abi.nh_options, row: Row) -> Any:
    """Returns the value of an option, or None if it has none."""
    if row.kind in ("text", "path", "names"):
        # Read the pointer first: NULL and OFF point to no text.
        place = ctypes.c_void_p.from_buffer(struct, getattr(abi.nh_options, row.member).offset).value
        if place in (None, abi.OFF):
            return False if place else None
        text = getattr(struct, row.member).decode("utf-8", "surrogateescape")
        if row.member == "cert" and struct.cert_key:
            return text, struct.cert_key.decode("utf-8", "surrogateescape")
        return text.split(",") if row.kind == "names" else text
    if row.kind == "headers":
        lines = (abi.nh_header * struct.header_count).from_address(struct.headers) if struct.headers else ()
        return [(line.name.decode(), line.value.decode()) for line in lines] or None
    value = getattr(struct, row.member)
    if not value:
        return None
    if row.kind == "flag":
        return bool(value == abi.YES)
    if row.words:
        return next(word for word, number in row.words.items() if number == value)
    if value == abi.NONE:
        return 0
    if value == abi.FOREVER:
        return math.inf if row.none == "zero" else _NO_LIMIT
    return value / 1000 if row.kind == "duration" else value
