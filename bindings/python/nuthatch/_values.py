"""Converts values for the library."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple, Union

from . import _prototypes as abi
from ._arguments import fields, wrong
from ._errors import error_for
from ._image import Size, sides
from ._library import encode
from ._option_table import ROWS

if TYPE_CHECKING:
    from ._option_values import HeaderArgument

#: The bit of each question that a request may ask its program.
QUESTIONS: Dict[str, int] = {
    name: getattr(abi, row.member) for name, row in ROWS.items() if row.kind == "question"
}


def pairs(headers: HeaderArgument) -> List[Tuple[str, str]]:
    """Returns headers as a list of pairs."""
    lines = fields(headers, "headers")
    for name, value in lines:
        if not isinstance(name, str):
            raise TypeError(f"headers: a name must be a str, not {type(name).__name__}")
        if not isinstance(value, str):
            raise TypeError(f"headers: the value of {name!r} must be a str, not {type(value).__name__}")
    return lines


#: Options that may be given as an iterator.
_LISTS = {name: row.kind for name, row in ROWS.items() if row.kind in ("headers", "secrets")}


def repeatable(options: Dict[str, Any]) -> None:
    """Replaces iterators among the options by lists."""
    for name in _LISTS.keys() & options.keys():
        value = options[name]
        options[name] = pairs(value) if _LISTS[name] == "headers" else fields(value, name)


def signature(user: Any, url: Optional[str]) -> Tuple[bytes, bytes]:
    """Returns user and password."""
    # A str of two letters would pass as a pair.
    if not isinstance(user, (tuple, list)) or len(user) != 2:
        raise error_for(
            abi.INVALID, "user must be (name, password), or for a request (name, password, host)", url
        )
    return encode(user[0], "user"), encode(user[1], "password")


def several(sizes: Any) -> List[Size]:
    """Returns sizes as a list."""
    # Letters of a str and numbers of bytes would pass as sizes.
    if not hasattr(sizes, "__iter__") or isinstance(sizes, (str, bytes, Mapping)):
        raise wrong("sizes", "a sequence of sizes", sizes)
    return list(sizes)


def names(value: Any, what: str) -> str:
    """Returns several names, with commas between them."""
    if not hasattr(value, "__iter__") or isinstance(value, (str, bytes)):
        raise wrong(what, "a sequence of names", value)
    listed = list(value)
    if not all(isinstance(name, str) for name in listed):
        raise wrong(what, "a sequence of names", value)
    return ",".join(listed)


def boxes_of(sizes: List[Size], url: str) -> List[Tuple[int, int]]:
    """Returns width and height of several boxes."""
    boxes = [sides(size, url) for size in sizes]
    if len(boxes) > 64:
        raise error_for(abi.INVALID, f"sizes has {len(boxes)} sizes; 64 are allowed", url)
    return boxes


def encode_path(path: Union[str, bytes, os.PathLike[str]], url: Optional[str], what: str = "path") -> bytes:
    """Returns the path of a file as bytes for the library."""
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        raise error_for(abi.INVALID, f"{what}: {path!r} has half a surrogate pair", url) from None
    except TypeError:
        raise wrong(what, "a str, bytes or a Path", path) from None
    if b"\0" in encoded:
        raise error_for(abi.INVALID, f"{what}: {path!r} has a NUL character", url)
    return encoded
