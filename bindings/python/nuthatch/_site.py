"""Sites: options that requests to one server share."""

from __future__ import annotations

import contextlib
import ctypes
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Set, Tuple, cast

from . import _prototypes as abi
from ._arguments import called
from ._errors import Closed
from ._fetching import Fetching
from ._in_force import empty, told
from ._later import _wishes
from ._library import bare, check, encode, library, quick, shown
from ._options import SITE, options_struct
from ._pickling import added_to, copied, remade
from ._secrets import refuse_secrets, resolved
from ._values import QUESTIONS, repeatable

if TYPE_CHECKING:
    from ._cache import Cache
else:
    # Not imported: that module imports this one. At run time, the type hint is Any.
    Cache = Any


class Site(Fetching):
    """A base URL, and the options that requests to it share. :meth:`Cache.site` makes one.

    URLs of requests are resolved against the base URL, as links on a page there. User, password and headers are sent to
    its origin only. Harmless headers (such as ``Accept`` and ``Range``, see docs/HTTP.md) and those that
    ``keep_headers_across_origins`` names are also sent to other origins.

    With ``cookie_jar``, cookies of its servers are stored and sent back to them.

    >>> site = cache.site(base_url + "/api/", headers={"X-Api-Key": "seed"}, cookie_jar="memory", timeout=5)
    >>> site.get("statuses").json()
    ['nesting']
    >>> site.get("/hello").text
    'hello'
    """

    _is_site = True

    def __init__(self, cache: Cache, base_url: str, options: Dict[str, Any]) -> None:
        #: The URL that relative URLs are resolved against.
        self.base_url = base_url
        self._owner = cache
        repeatable(options)
        self._arguments = options
        own = {name: options[name] for name in QUESTIONS if name in options}
        # A question that is not given is that of the cache. None means that it is not asked.
        self._asks = {
            name: called(function, name)
            for name, function in {**cache._asks, **own}.items()
            if function is not None
        }
        #: The options with the values of the secrets.
        self._resolved = resolved(options)
        given = {name: value for name, value in self._resolved.items() if name not in QUESTIONS}
        self._options, self._kept = options_struct(given, SITE)
        self._base = encode(base_url, "url")
        #: The same site with other handles.
        self._twins: Set[Site] = set()
        #: The library's site for each handle of the cache. After a fork the cache has another handle.
        self._handles: Dict[Optional[int], ctypes.c_void_p] = {}
        cache._call(lambda handle: self._opened(handle)[1], base_url)

    @property
    def options(self) -> _wishes.SiteWishes:
        """The options of its requests, as :attr:`Cache.options`, but without user and password."""
        struct = empty()
        made: Dict[str, Any] = {}

        def tell(site: ctypes.c_void_p) -> int:
            status = int(quick.nh_site_get_options(site, ctypes.byref(struct)))
            made.update(told(struct, SITE) if status == abi.OK else ())
            return status

        self._with(tell)
        return cast("_wishes.SiteWishes", made)

    @property
    def reachable(self) -> Optional[bool]:
        """Whether the site's host could be reached recently; None if there was no attempt."""
        told = ctypes.c_uint32()
        self._with(lambda site: quick.nh_site_reachable(site, ctypes.byref(told)))
        return {abi.YES: True, abi.NO: False}.get(told.value)

    def watch_reachability(self, function: Callable[[bool], Any]) -> None:
        """Calls a function with the new value whenever :attr:`reachable` changes. :meth:`Outbox.dispatch` calls it;
        with :class:`AsyncCache` it runs on the event loop. Sites with the same base URL share one function, the
        last one given."""
        self._cache._listeners.sites[self.base_url] = called(function, "function")
        self._with(lambda site: library.nh_site_watch(site, None, None))

    def cancel_all(self) -> None:
        """Cancels the requests of this site that are under way."""
        struct = abi.nh_options(ctypes.sizeof(abi.nh_options))

        def cancel(cache: ctypes.c_void_p) -> int:
            status = self._place(cache, struct)
            return int(quick.nh_cancel_all(cache, ctypes.byref(struct))) if status == abi.OK else status

        self._cache._call(cancel, self.base_url)
        for twin in list(self._twins):
            with contextlib.suppress(Closed):
                twin.cancel_all()

    @property
    def _cache(self) -> Cache:
        return self._owner

    def _with(self, use: Callable[[ctypes.c_void_p], int]) -> None:
        def used(cache: ctypes.c_void_p) -> int:
            site, status = self._opened(cache)
            return status if site is None else use(site)

        self._cache._call(used, self.base_url)

    def _place(self, cache: ctypes.c_void_p, struct: abi.nh_options) -> int:
        site, status = self._opened(cache)
        struct.site = None if site is None else site.value
        return status

    def _opened(self, cache: ctypes.c_void_p) -> Tuple[Optional[ctypes.c_void_p], int]:
        """Returns the library's site for a handle of the cache, and a status."""
        known = self._handles.get(cache.value)
        if known is not None:
            return known, abi.OK
        made = ctypes.c_void_p()
        status = quick.nh_site_open(cache, self._base, ctypes.byref(self._options), ctypes.byref(made))
        if status != abi.OK:
            return None, int(status)
        if self.base_url in self._owner._listeners.sites:
            check(library.nh_site_watch(made, None, None))
        first = self._handles.setdefault(cache.value, made)
        if first is not made:
            quick.nh_site_close(made)  # another thread has opened it first
        return first, abi.OK

    def _for(self, cache: Cache) -> Site:
        twin = Site(cache, self.base_url, dict(self._resolved))
        self._twins.add(twin)
        return twin

    def clear_cookies(self) -> None:
        """Deletes the site's cookies, in memory and in the cache's directory."""

        def clear(handle: ctypes.c_void_p) -> int:
            site, status = self._opened(handle)
            return int(library.nh_site_clear_cookies(site)) if status == abi.OK else status

        self._cache._call(clear, self.base_url)

    def __del__(self, _release: Callable[[ctypes.c_void_p], int] = bare.nh_site_close) -> None:
        for handle in getattr(self, "_handles", {}).values():
            _release(handle)

    def _reduced(self, cache: Cache) -> Tuple[Any, ...]:
        arguments: Tuple[Any, ...] = (type(self), Site, (cache, self.base_url, dict(self._arguments)), {})
        return remade, arguments, added_to(self, Site, *_OWN)

    def __reduce__(self) -> Tuple[Any, ...]:
        refuse_secrets(self, self._arguments, self.base_url)
        return self._reduced(self._cache)

    def __copy__(self) -> Site:
        return cast(Site, copied(self._reduced(self._cache)))

    def __deepcopy__(self, memo: Any) -> Site:
        from copy import deepcopy  # it calls this function, so it is loaded

        return cast(Site, copied(self._reduced(deepcopy(self._cache, memo)), memo))

    def __repr__(self) -> str:
        return f"<Site {shown(self.base_url)}>"


#: The attributes of a site. A program may add others.
_OWN = (
    "_arguments",
    "_asks",
    "_base",
    "_handles",
    "_kept",
    "_options",
    "_owner",
    "_resolved",
    "_twins",
    "base_url",
)
