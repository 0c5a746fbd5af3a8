"""The queue of the process, which all caches share."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, Optional, Union

from ._library import check, library
from ._options import PROCESS, options_struct
from ._quantities import ByteCount

#: The assumed number of requests that run at once, if the program sets none.
AUTOMATIC = 64
_room = AUTOMATIC


def room() -> int:
    """Returns about how many requests run at once."""
    return _room


def queue(
    *,
    concurrency: Union[int, str, None] = None,
    per_host: Union[int, str, None] = None,
    per_host_grows: Optional[bool] = None,
    rate: Optional[float] = None,
    inflight_bytes: ByteCount = None,
) -> None:
    """Sets the limits of this process, for all caches together. A limit that is not given is set to its default.

    :param concurrency: the most requests that run at once, 1 to 512. Default: "auto", as many as the network carries.
    :param per_host: the most requests at one host. Default: 6, or 32 with HTTP/2. "auto" sets per_host_grows.
    :param per_host_grows: whether a prefetch tries more requests at a host, up to 32. The first 429, 503 or broken
        connection halves the number.
    :param rate: the most requests that start in a second at one host. Default: no limit.
    :param inflight_bytes: the memory for all bodies that are being received. Default: 64 MiB, or an eighth of the
        memory of the machine or its control group if that is less.

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
