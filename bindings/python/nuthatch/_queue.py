"""The process's one queue."""

import ctypes
from typing import Optional, Union

from . import _prototypes
from ._arguments import number, whole
from ._errors import error_for
from ._library import check, library

#: As many requests as are taken to run at once while nobody says how many may.
AUTOMATIC = 64
_room = AUTOMATIC


def room() -> int:
    """How many requests run at once, or so."""
    return _room


def queue(
    *,
    concurrency: Union[int, str] = "auto",
    per_host: Union[int, str, None] = None,
    rate: Optional[float] = None,
    inflight_bytes: Optional[int] = None,
) -> None:
    """Says how much this process asks for at once, of all caches together. What isn't given is as at the start.

    :param concurrency: how many requests run at once, 1 to 512; "auto" for as many as the way to the network carries.
    :param per_host: how many of them at one host; 6, or 32 where it speaks HTTP/2. "auto": 6, and more for a prefetch
        where the host bears it, to 32; its first 429, 503 or reset halves that.
    :param rate: starts a second for each host; no limit.
    :param inflight_bytes: what all bodies that are being received may hold in memory; 64 MiB, or an
        eighth of what the machine or its control group has, where that is less.

    >>> nuthatch.queue(per_host=2)
    >>> nuthatch.queue()
    """
    global _room
    wanted = _prototypes.nh_queue_options()
    wanted.struct_size = ctypes.sizeof(wanted)
    for name, given in [("concurrency", concurrency), ("per_host", per_host)]:
        if given is None or given == "auto":
            if name == "per_host" and given == "auto":
                wanted.per_host = -1
            continue
        if not isinstance(given, int) or not 1 <= given <= 512:
            raise error_for(_prototypes.INVALID, f"{name} must be 1 to 512, not {given!r}", None)
        setattr(wanted, name, given)
    if rate is not None:
        wanted.rate = number(rate, "rate", "a number of starts a second")
        if not wanted.rate > 0:
            raise error_for(_prototypes.INVALID, f"rate must be positive, not {rate!r}", None)
    if inflight_bytes is not None:
        inflight_bytes = whole(inflight_bytes, "inflight_bytes")
        if not 0 <= inflight_bytes < 2**62:
            raise error_for(
                _prototypes.INVALID, f"inflight_bytes must be 0 or more, not {inflight_bytes}", None
            )
        wanted.inflight_bytes = inflight_bytes or -1
    check(library.nh_queue_set(ctypes.byref(wanted)))
    _room = concurrency if isinstance(concurrency, int) else AUTOMATIC
