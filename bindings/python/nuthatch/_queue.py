"""The process's one queue."""

import ctypes
from typing import Any, Dict, Optional, Union

from ._library import check, library
from ._options import PROCESS, options_struct
from ._quantities import ByteCount

#: As many requests as are taken to run at once while nobody says how many may.
AUTOMATIC = 64
_room = AUTOMATIC


def room() -> int:
    """How many requests run at once, or so."""
    return _room


def queue(
    *,
    concurrency: Union[int, str, None] = None,
    per_host: Union[int, str, None] = None,
    per_host_grows: Optional[bool] = None,
    rate: Optional[float] = None,
    inflight_bytes: ByteCount = None,
) -> None:
    """Says how much this process asks for at once, of all caches together. What isn't given is as at the start.

    :param concurrency: how many requests run at once, 1 to 512; "auto" for as many as the way to the network carries.
    :param per_host: how many of them at one host; 6, or 32 where it speaks HTTP/2. "auto" is per_host_grows.
    :param per_host_grows: more at a host that bears it, for a prefetch, to 32; its first 429, 503 or reset halves that.
    :param rate: starts a second for each host; no limit.
    :param inflight_bytes: what all bodies that are being received may hold in memory; 64 MiB, or an
        eighth of what the machine or its control group has, where that is less.

    >>> nuthatch.queue(per_host=2)
    >>> nuthatch.queue()
    """
    global _room
    said: Dict[str, Any] = {
        "concurrency": concurrency,
        "per_host": per_host,
        "per_host_grows": per_host_grows,
    }
    said.update(rate=rate, inflight_bytes=inflight_bytes)
    if isinstance(concurrency, str) and concurrency == "auto":
        said["concurrency"] = None
    if isinstance(per_host, str) and per_host == "auto":
        said.update(per_host=None, per_host_grows=True)
    struct, _ = options_struct({name: value for name, value in said.items() if value is not None}, PROCESS)
    check(library.nh_queue_set(ctypes.byref(struct)))
    _room = concurrency if isinstance(concurrency, int) else AUTOMATIC
