"""The options of caches and sites, in the shape that the library reads."""

import ctypes
from typing import Any, List, Mapping, Tuple

from . import _prototypes as abi
from ._arguments import amount, flag
from ._errors import error_for
from ._library import encode
from ._questions import header_array
from ._values import (
    COOKIES,
    GUARDS,
    POLICIES,
    chosen,
    heuristic,
    lifetime,
    milliseconds,
    names,
    netrc_path,
    retries,
    signature,
)

_SPILLS = {"eager": abi.SPILL_EAGER, "pressure": abi.SPILL_PRESSURE}
_STORES = {"packed": abi.STORE_PACKED, "lossless": abi.STORE_LOSSLESS, "raw": abi.STORE_RAW}
_TEXTS = ("user_agent", "accept", "partition", "proxy")
_NUMBERS = (
    "max_bytes",
    "max_pixels",
    "memory_bytes",
    "memory_items",
    "disk_bytes",
    "outbox_bytes",
    "outbox_items",
)
_OUTBOXES = {"auto": abi.OUTBOX_AUTO, "off": abi.OUTBOX_OFF}
_CHOICES = ("keep_source", "allow_files")
_WORDS = {
    "policy": POLICIES,
    "guard": GUARDS,
    "spill": _SPILLS,
    "store": _STORES,
    "outbox": _OUTBOXES,
    "cookies": COOKIES,
}


def options_struct(given: Mapping[str, Any]) -> Tuple[abi.nh_options, List[Any]]:
    """What was given (None: nothing was), and what must live as long as the struct is read."""
    wanted = abi.nh_options()
    wanted.struct_size = ctypes.sizeof(wanted)
    kept: List[Any] = []
    for name, word in given.items():
        if word is None and name not in ("timeout", "deadline", "netrc"):
            continue
        value: Any = word
        if name in _NUMBERS:
            # 0 means "not given" there too, where it is one of ours.
            count = amount(value, name)
            if count == 0 and name == "max_bytes":
                raise error_for(abi.INVALID, f"{name} must be positive, not {value!r}", None)
            setattr(wanted, name, count)
        elif name in _TEXTS:
            setattr(wanted, name, encode(value, name))
        elif name in _WORDS:
            setattr(wanted, name, chosen(value, _WORDS[name], name))
        elif name in _CHOICES:
            setattr(wanted, name, abi.YES if flag(value, name) else abi.NO)
        elif name in ("timeout", "deadline"):
            setattr(wanted, name + "_ms", 0 if value == -1 else milliseconds(value, name))
        elif name in ("validator_ttl", "image_ttl", "no_cache_ttl"):
            setattr(wanted, name, lifetime(value, name))
        elif name == "heuristic":
            wanted.heuristic = heuristic(value)
        elif name == "cross_origin_headers":
            wanted.cross_origin_headers = encode(names(value, name), name)
        elif name == "netrc":
            wanted.netrc = netrc_path(value)
            wanted.no_netrc = abi.YES if wanted.netrc is None else abi.UNSAID
        elif name == "retries":
            wanted.retries = retries(value)
        elif name == "headers":
            lines = header_array(value)
            kept.append(lines)
            wanted.headers, wanted.header_count = ctypes.addressof(lines) if value else None, len(lines)
        elif name == "user":
            wanted.user, wanted.password = signature(value, None)
        else:
            raise TypeError(f"there is no option {name!r}")
    return wanted, kept
