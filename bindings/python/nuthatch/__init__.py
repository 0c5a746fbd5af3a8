"""An HTTP client with a cache on disk for pictures and other files: it downloads each URL once.

    import nuthatch

    with nuthatch.Cache("assets.cache") as cache:
        response = cache.get("https://example.org/a.jpg")
        response.status, len(response.body), response.final_url
        image = cache.thumbnail("https://example.org/a.jpg", 256)
        image.width, image.height, image.pixels

        ticket = cache.submit("https://example.org/b.jpg", sizes=[64, 256], priority=5)
        small, large = ticket.result(timeout=30)

Answers are stored in the directory. Any number of processes may use it at the same time. ``is_in_cache`` tells whether
an answer was stored before the request, and ``source`` where it came from.

A request that can't reach its server can wait for it, also through a restart: ``freezable=True`` and
:attr:`Cache.outbox`.

Further parts: :class:`AsyncCache` for event loops, :meth:`Cache.prefetch` for many URLs, :meth:`Cache.peek` for
thumbnails that can be drawn at once, :meth:`Cache.site` for options that requests to one server share.

Errors are :class:`nuthatch.Error` and its subclasses, with a stable word in ``.code`` and the URL in ``.url``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List

from ._cache import Cache
from ._errors import (
    BadHeader,
    BadURL,
    Cancelled,
    CircuitOpen,
    Closed,
    Conflict,
    Corrupt,
    Denied,
    Error,
    Forked,
    Frozen,
    HTTPStatusError,
    Invalid,
    NotAnImage,
    Offline,
    TimeoutError,
    TooLarge,
    TooManyRedirects,
    TransportError,
    UnsupportedFormat,
    WrongFormat,
)
from ._frozen import Attempt, FrozenRequest, Outcome
from ._image import Image
from ._later import loading
from ._outbox import Outbox
from ._queue import queue
from ._response import Headers, Response
from ._site import Site
from ._stats import Stats
from ._ticket import Event, Ticket

if TYPE_CHECKING:
    from ._async import AsyncCache
    from ._async_outbox import AsyncOutbox
    from ._async_site import AsyncSite
    from ._async_ticket import AsyncTicket
    from ._prefetch import Item

__version__: str
#: What is in use in this process: ``version``, ``simd`` and ``libraries``, as in ``nuthatch --version --format json``.
build_info: Dict[str, Any]

__all__ = [
    "AsyncCache",
    "AsyncOutbox",
    "AsyncSite",
    "AsyncTicket",
    "Attempt",
    "BadHeader",
    "BadURL",
    "Cache",
    "Cancelled",
    "CircuitOpen",
    "Closed",
    "Conflict",
    "Corrupt",
    "Denied",
    "Error",
    "Event",
    "Forked",
    "Frozen",
    "FrozenRequest",
    "HTTPStatusError",
    "Headers",
    "Image",
    "Invalid",
    "Item",
    "NotAnImage",
    "Offline",
    "Outbox",
    "Outcome",
    "Response",
    "Site",
    "Stats",
    "Ticket",
    "TimeoutError",
    "TooLarge",
    "TooManyRedirects",
    "TransportError",
    "UnsupportedFormat",
    "WrongFormat",
    "__version__",
    "build_info",
    "queue",
]


#: Loaded at the first use, because asyncio takes three times as long to load as the rest of the package.
_LATER = {
    "AsyncCache": "_async",
    "AsyncOutbox": "_async_outbox",
    "AsyncSite": "_async_site",
    "AsyncTicket": "_async_ticket",
    "Item": "_prefetch",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from ._library import version

        globals()[name] = version()
        return globals()[name]
    if name == "build_info":
        from ._library import build_info

        globals()[name] = build_info()
        return globals()[name]
    if name in _LATER:
        from importlib import import_module

        with loading:
            globals()[name] = getattr(import_module(f".{_LATER[name]}", __name__), name)
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
