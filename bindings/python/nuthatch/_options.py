"""Writes options of caches, sites and requests into the library's structs."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, Dict, Iterable, List, Mapping, Sequence, Tuple

from . import _prototypes as abi
from ._arguments import called, chosen, fields, flag, number
from ._errors import Error, error_for
from ._image import Size, sides
from ._library import encode
from ._option_table import CACHE, IMAGE, PROCESS, REQUEST, ROWS, SITE, Row
from ._quantities import counted, milliseconds, out_of_range, rounded, wanted
from ._questions import header_array
from ._saving import save
from ._sending import put_body
from ._values import QUESTIONS, encode_path, names, signature

__all__ = [
    "CACHE",
    "NO_LIMITS",
    "PROCESS",
    "SITE",
    "STRUCTURE",
    "image_place",
    "options_struct",
    "put_structure",
    "ready",
    "refuse_unknown",
    "request_struct",
    "squares",
]


def refuse_unknown(names: Iterable[str], level: int) -> None:
    """Raises an error for an option that a cache, a site or a request doesn't have."""
    for name in names:
        row = ROWS.get(name)
        if row is None:
            raise TypeError(f"{_PLACES[level]} has no option {name!r}")
        if not row.levels & level:
            places = " and ".join(word for number, word in _PLACES.items() if row.levels & number)
            raise error_for(abi.INVALID, f"{name} is an option of {places}, not of {_PLACES[level]}", None)


_PLACES = {
    CACHE: "a cache",
    SITE: "a site",
    REQUEST: "a request",
    IMAGE: "an image",
    PROCESS: "the process",
}


def options_struct(given: Mapping[str, Any], level: int) -> Tuple[abi.nh_options, List[Any]]:
    """Returns a struct of the given options, and the objects that must live while the struct is read."""
    struct = abi.nh_options()
    struct.struct_size = ctypes.sizeof(struct)
    kept: List[Any] = []
    refuse_unknown(given, level)
    for name, value in given.items():
        row = ROWS[name]
        if value is None:
            _put_none(struct, row, level)
        else:
            _PUTS[row.kind](struct, row, value, name, kept)
    return struct, kept


#: Options of a request that need other calls than the struct.
STRUCTURE = frozenset(("body", "save_to"))


def request_struct(
    options: Mapping[str, Any], boxes: Sequence[Tuple[int, int]], number: int
) -> Tuple[abi.nh_options, List[Any]]:
    """Returns the struct of a request, as ``options_struct``.

    :param number: marks its events for nh_poll; 0: its events come only by nh_wait."""
    said: Dict[str, Any] = {}
    asks = 0
    for name, value in options.items():
        if name in QUESTIONS:
            asks |= QUESTIONS[name] if value is not None and called(value, name) else 0
        elif name == "append":
            flag(value, name)
        elif name not in STRUCTURE:
            said[name] = value
    struct, kept = options_struct(said, REQUEST)
    _put_boxes(struct, boxes, kept)
    struct.asks = asks
    if number:
        struct.user_data = number
    else:
        # The ticket takes its events by nh_wait; they must not come by nh_poll, too.
        struct.quiet = abi.YES
    return struct, kept


def _put_boxes(struct: abi.nh_options, boxes: Sequence[Tuple[int, int]], kept: List[Any]) -> None:
    if boxes:
        sizes = (abi.nh_size * len(boxes))(*(abi.nh_size(*box) for box in boxes))
        struct.sizes, struct.size_count = ctypes.addressof(sizes), len(boxes)
        kept.append(sizes)


def put_structure(request: ctypes.c_void_p, options: Mapping[str, Any], url: str) -> None:
    """Adds to a request the options that the struct can't hold."""
    if "body" in options:
        put_body(request, options["body"], url)
    if "save_to" in options:
        save(request, options["save_to"], bool(options.get("append")), url)


#: Options that remove every limit of an image.
NO_LIMITS: Dict[str, Any] = {
    name: None for name, row in ROWS.items() if row.levels & IMAGE and row.none == "unlimited"
}


def image_place(size: Size, said: Mapping[str, Any], url: str) -> Tuple[Any, List[Any]]:
    """Returns a pointer to the options of a decode, and the objects that must live as long as it is used."""
    struct, kept = options_struct(said, IMAGE)
    _put_boxes(struct, [sides(size, url)], kept)
    return ctypes.byref(struct), kept


#: Pointers to filled structs, by their options.
_READY: Dict[Any, Any] = {}
_KINDS = frozenset(("duration", "bytes", "count", "pixels", "share", "flag", "words", "text"))
_SIMPLE = frozenset((str, int, float, bool))


def ready(options: Mapping[str, Any], size: int = 0, quiet: bool = False) -> Any:
    """Returns a pointer to a struct with these options. Calls with the same options share a struct. Returns None for
    options that are not simple. Secrets are never kept."""
    values = options.values()
    try:
        # Include the types: 1, 1.0 and True are equal as keys, but mean different things.
        key = (size, quiet, *options, *values, *map(type, values))
        known = _READY.get(key)
    except TypeError:
        return None
    if known is not None:
        return known
    rows = [ROWS.get(name) for name in options]
    if not _SIMPLE.issuperset(map(type, values)) or not all(row and row.kind in _KINDS for row in rows):
        return None
    try:
        struct, _ = options_struct(options, REQUEST)
    except (TypeError, ValueError, Error):
        return None  # the slow path raises the error
    struct.size = size
    if quiet:
        struct.quiet = abi.YES
    if len(_READY) >= 256:
        _READY.clear()
    _READY[key] = place = ctypes.byref(struct)
    return place


class _Squares(Dict[int, Any]):
    """Pointers to structs that have only the side of a square box, by the side."""

    def __missing__(self, side: int) -> Any:
        if not 0 < side < 65536:
            raise ValueError(side)
        if len(self) >= 256:
            self.clear()
        self[side] = place = ready({}, side)
        return place


squares = _Squares()


def _put_none(struct: abi.nh_options, row: Row, level: int) -> None:
    """Writes None: no limit, or off, if the option can have that; else the default."""
    if row.none == "unlimited":
        setattr(struct, row.member, abi.NONE)
    elif row.none == "off" and not (level == SITE and row.member == "user"):
        setattr(struct, row.member, ctypes.c_char_p(abi.OFF))


_Put = Callable[[abi.nh_options, Row, Any, str, List[Any]], None]


#: A larger number counts as no limit.
_MANY = 2**62


def _number(struct: abi.nh_options, row: Row, value: Any, name: str, kept: List[Any]) -> None:
    kind, greatest = row.kind, row.greatest
    if type(value) is int:
        made = value * 1000 if kind == "duration" else value
    elif isinstance(value, str) and value == "none" and row.none:
        setattr(struct, row.member, abi.NONE)
        return
    elif kind == "duration":
        made = milliseconds(value, name, row.range)
    elif kind in ("share", "rate"):
        made = number(value, name, wanted(kind, row.range))
    else:
        made = counted(value, name, kind, row.range)
    if not row.least <= made or (greatest is not None and made > greatest):
        raise out_of_range(name, value, row.range, kind)
    if made > _MANY:
        made = abi.FOREVER
    elif kind == "duration":
        made = rounded(made)
    # In the struct, 0 means the default. So a 0 is written as NONE, or as 1: a wait of 0 becomes 1 ms.
    setattr(struct, row.member, made or (abi.NONE if row.none == "zero" else 1))


def _flag(struct: abi.nh_options, row: Row, value: Any, name: str, kept: List[Any]) -> None:
    setattr(struct, row.member, abi.YES if flag(value, name) else abi.NO)


def _word(struct: abi.nh_options, row: Row, value: Any, name: str, kept: List[Any]) -> None:
    setattr(struct, row.member, chosen(value, name))


def _text(struct: abi.nh_options, row: Row, value: Any, name: str, kept: List[Any]) -> None:
    setattr(struct, row.member, encode(value, name))


def _path(struct: abi.nh_options, row: Row, value: Any, name: str, kept: List[Any]) -> None:
    if name == "cert":
        parts = (value,) if isinstance(value, (str, os.PathLike)) else value
        if not isinstance(parts, (tuple, list)) or not 1 <= len(parts) <= 3:
            raise TypeError("cert must be a file, or a tuple of certificate, key and the key's password")
        # Keep the positions: a password must not become the name of a file.
        for member, part in zip(("cert", "cert_key", "cert_password"), parts):
            if part is not None or member == "cert":
                text = os.fspath(part) if isinstance(part, os.PathLike) else part
                setattr(struct, member, encode(text, "cert"))
    elif name == "config" and isinstance(value, bool):
        setattr(struct, row.member, b"" if value else None)
    elif name == "netrc" and isinstance(value, bool):
        setattr(struct, row.member, b"" if value else ctypes.c_char_p(abi.OFF))
    else:
        setattr(struct, row.member, encode_path(value, None, name))


def _secret(struct: abi.nh_options, row: Row, value: Any, name: str, kept: List[Any]) -> None:
    if name != "user":
        _text(struct, row, value, name, kept)
        return
    is_bound = isinstance(value, (tuple, list)) and len(value) == 3
    struct.user, struct.password = signature(value[:2] if is_bound else value, None)
    if is_bound:
        struct.user_place = encode(value[2], "the origin of user")


def _headers(struct: abi.nh_options, row: Row, value: Any, name: str, kept: List[Any]) -> None:
    if value:
        lines = header_array(value)
        kept.append(lines)
        struct.headers, struct.header_count = ctypes.addressof(lines), len(lines)


def _names(struct: abi.nh_options, row: Row, value: Any, name: str, kept: List[Any]) -> None:
    setattr(struct, row.member, encode(names(value, name), name))


def _secrets(struct: abi.nh_options, row: Row, value: Any, name: str, kept: List[Any]) -> None:
    lines = fields(value, name)
    made = (abi.nh_secret * len(lines))()
    for place, (header, given) in enumerate(lines):
        prefix, provider = given if isinstance(given, tuple) else ("", given)
        made[place].header, made[place].prefix = (
            encode(header, "header in secrets"),
            encode(prefix, "text before a secret in secrets"),
        )
        made[place].provider = encode(provider, "provider in secrets")
    if lines:
        kept.append(made)
        struct.secrets, struct.secret_count = ctypes.addressof(made), len(lines)


_PUTS: Dict[str, _Put] = {
    "duration": _number,
    "bytes": _number,
    "count": _number,
    "pixels": _number,
    "share": _number,
    "rate": _number,
    "flag": _flag,
    "words": _word,
    "text": _text,
    "path": _path,
    "secret": _secret,
    "headers": _headers,
    "names": _names,
    "secrets": _secrets,
}
