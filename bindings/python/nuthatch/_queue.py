"""The process's one queue."""

import ctypes
from typing import Optional, Union

from . import _prototypes
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
    per_host: Optional[int] = None,
    rate: Optional[float] = None,
    inflight_bytes: Optional[int] = None,
) -> None:
    """Says how much this process asks for at once, of all caches together. What isn't given is as at the start.

    :param concurrency: how many requests run at once, 1 to 512; "auto" for as many as the way to the network carries.
    :param per_host: how many of them at one host; 6, or 32 where it speaks HTTP/2.
    :param rate: starts a second for each host; no limit.
    :param inflight_bytes: what all bodies that are being received may hold in memory; 64 MiB.

    >>> nuthatch.queue(per_host=2)
    >>> nuthatch.queue()
    """
    global _room
    wanted = _prototypes.nh_queue_options()
    wanted.struct_size = ctypes.sizeof(wanted)
    for name, number in [("concurrency", concurrency), ("per_host", per_host)]:
        if number is None or number == "auto":
            continue
        if not isinstance(number, int) or not 1 <= number <= 512:
            raise error_for(_prototypes.INVALID, f"{name} must be 1 to 512, not {number!r}", None)
        setattr(wanted, name, number)
    if rate is not None:
        if not rate > 0:
            raise error_for(_prototypes.INVALID, f"rate must be positive, not {rate!r}", None)
        wanted.rate = rate
    if inflight_bytes is not None:
        if not 0 <= inflight_bytes < 2**62:
            raise error_for(
                _prototypes.INVALID, f"inflight_bytes must be 0 or more, not {inflight_bytes}", None
            )
        wanted.inflight_bytes = inflight_bytes or -1
    check(library.nh_queue_set(ctypes.byref(wanted)))
    _room = concurrency if isinstance(concurrency, int) else AUTOMATIC
