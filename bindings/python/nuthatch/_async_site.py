"""Sites, for programs that run on an event loop."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Tuple, cast

from ._async_fetching import AsyncFetching
from ._fetching import Fetching
from ._later import _wishes
from ._library import shown
from ._options import SITE, refuse_unknown
from ._pickling import added_to, copied, remade
from ._port import Port
from ._secrets import refuse_secrets
from ._site import Site
from ._values import repeatable

if TYPE_CHECKING:
    from ._async import AsyncCache
else:
    # Not imported: that module imports this one. At run time, the type hint is Any.
    AsyncCache = Any


class AsyncSite(AsyncFetching):
    """A :class:`Site` whose methods are awaited. :meth:`AsyncCache.site` makes one."""

    def __init__(self, owner: AsyncCache, base_url: str, options: Dict[str, Any]) -> None:
        #: The URL that relative URLs are resolved against.
        self.base_url = base_url
        self._of = owner
        refuse_unknown(options, SITE)
        # Each event loop reads the options again.
        repeatable(options)
        self._options = options

    @property
    def options(self) -> _wishes.SiteWishes:
        """As :attr:`Site.options`."""
        return cast(Site, self._by(self._owner._port())).options

    @property
    def reachable(self) -> Optional[bool]:
        """As :attr:`Site.reachable`."""
        return cast(Site, self._by(self._owner._port())).reachable

    def watch_reachability(self, function: Callable[[bool], Any]) -> None:
        """As :meth:`Site.watch_reachability`, on the running loop."""
        port = self._owner._port()
        port.listen()
        cast(Site, self._by(port)).watch_reachability(function)

    def cancel_all(self) -> None:
        """As :meth:`Site.cancel_all`."""
        for port in self._owner._own():
            site = port.sites.get(self)
            if site is not None:
                cast(Site, site).cancel_all()

    @property
    def _owner(self) -> AsyncCache:
        return self._of

    def _by(self, port: Port) -> Fetching:
        site = port.sites.get(self)
        if site is None:
            site = port.sites[self] = port.cache.site(self.base_url, **self._options)
        return site

    async def clear_cookies(self) -> None:
        """As :meth:`Site.clear_cookies`."""
        port = await self._of._opened()
        site: Any = self._by(port)
        await port.loop.run_in_executor(None, site.clear_cookies)

    def _reduced(self, owner: AsyncCache) -> Tuple[Any, ...]:
        arguments: Tuple[Any, ...] = (type(self), AsyncSite, (owner, self.base_url, dict(self._options)), {})
        return remade, arguments, added_to(self, AsyncSite, "_of", "_options", "base_url")

    def __reduce__(self) -> Tuple[Any, ...]:
        refuse_secrets(self, self._options, self.base_url)
        return self._reduced(self._owner)

    def __copy__(self) -> AsyncSite:
        return cast(AsyncSite, copied(self._reduced(self._owner)))

    def __deepcopy__(self, memo: Any) -> AsyncSite:
        return cast(AsyncSite, copied(self._reduced(deepcopy(self._owner, memo)), memo))

    def __repr__(self) -> str:
        return f"<AsyncSite {shown(self.base_url)}>"
