"""Caches for programs that run on an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import sys
from types import TracebackType
from typing import Any, Callable, Dict, List, Optional, Tuple, Type, Union, cast

from ._async_fetching import AsyncFetching
from ._async_outbox import AsyncOutbox
from ._async_site import AsyncSite
from ._cache import Cache
from ._errors import Closed
from ._fetching import Fetching
from ._image import Image, Size
from ._later import _wishes
from ._options import CACHE, ready, refuse_unknown
from ._pickling import added_to, copied, remade
from ._port import TURN, Port
from ._quantities import ByteCount, Duration, moment
from ._response import Response
from ._secrets import refuse_secrets
from ._signatures import explained
from ._stats import Stats
from ._values import repeatable


@explained
class AsyncCache(AsyncFetching):
    """A :class:`Cache` for programs that run on an event loop. Its options are those of ``Cache``.

    Each event loop that uses it gets its own handle of the directory, so threads with event loops can share one object.
    If a task is cancelled while it waits, its request is cancelled. Opening and closing run in a thread.

    >>> async def main():
    ...     async with nuthatch.AsyncCache(directory) as cache:
    ...         image = await cache.thumbnail(picture_url, 64)
    ...         async for event in cache.events(picture_url, 64):
    ...             print(event.kind, event.is_final, event.image.size)
    ...         async for item in cache.prefetch([picture_url, missing_url], sizes=[64]):
    ...             print(item.index, item.ok)
    >>> asyncio.run(main())
    cached True (64, 48)
    0 True
    1 False
    """

    def __init__(
        self,
        path: Union[str, os.PathLike[str], None] = None,
        **options: _wishes.Unpack[_wishes.CacheWishes],
    ) -> None:
        self._path: Union[str, os.PathLike[str], None] = path
        self._options: Dict[str, Any] = dict(options)
        # Other errors in the options are raised when a handle is opened.
        refuse_unknown(options, CACHE)
        # Each event loop reads the options again.
        repeatable(self._options)
        self._ports: Dict[asyncio.AbstractEventLoop, Port] = {}
        self._is_closed: bool = False

    # At once

    def site(self, base_url: str, **options: _wishes.Unpack[_wishes.SiteWishes]) -> AsyncSite:
        """As :meth:`Cache.site`, with methods to be awaited."""
        return AsyncSite(self, base_url, dict(options))

    def cancel_all(self, tag: Optional[str] = None) -> None:
        """As :meth:`Cache.cancel_all`."""
        for port in self._own():
            port.cache.cancel_all(tag)

    @property
    def activity(self) -> int:
        """As :attr:`Cache.activity`."""
        return sum(port.cache.activity for port in self._own())

    @property
    def outbox(self) -> AsyncOutbox:
        """The requests that wait for the network, and their outcomes."""
        return AsyncOutbox(self)

    @property
    def options(self) -> _wishes.CacheWishes:
        """As :attr:`Cache.options`."""
        return self._port().cache.options

    def stats(self) -> Stats:
        """As :meth:`Cache.stats`."""
        stats = self._port().cache.stats()
        stats["activity"] = self.activity
        return stats

    @property
    def closed(self) -> bool:
        """Whether the cache has been closed."""
        return self._is_closed

    # To be awaited

    async def remove(self, url: str, **options: _wishes.Unpack[_wishes.Naming]) -> None:
        """As :meth:`Cache.remove`."""
        await self._off_the_loop("remove", url, **options)

    async def clear(self) -> None:
        """As :meth:`Cache.clear`."""
        await self._off_the_loop("clear")

    async def trim(self, disk_bytes: ByteCount) -> None:
        """As :meth:`Cache.trim`."""
        await self._off_the_loop("trim", disk_bytes)

    async def flush(self) -> None:
        """As :meth:`Cache.flush`."""
        await self._off_the_loop("flush")

    async def wait_idle(self, timeout: Duration = None) -> bool:
        """As :meth:`Cache.wait_idle`."""
        loop = asyncio.get_running_loop()
        due, pause = moment(timeout, loop.time()), 0.001
        while self.activity:
            if due is not None and loop.time() >= due:
                return False
            await asyncio.sleep(pause)
            pause = min(0.05, pause * 1.5)
        return True

    async def close(self, drain: Duration = None) -> None:
        """Closes the cache on every event loop. Requests under way raise :class:`Closed`. May be called again.

        :param drain: as for :meth:`Cache.close`. If the task is cancelled while it waits, the cache is closed all the
            same.
        """
        try:
            if drain is not None and not self._is_closed:
                loop = asyncio.get_running_loop()
                waits = [loop.run_in_executor(None, port.cache._drain, drain) for port in self._own()]
                await asyncio.gather(*waits)
        except asyncio.CancelledError:
            # The threads that drain would delay the end of the loop.
            for port in self._own():
                port.cache._is_hurried = True
            raise
        finally:
            await self._close_all()

    async def _close_all(self) -> None:
        self._is_closed = True
        here = asyncio.get_running_loop()
        while self._ports:
            loop, port = self._ports.popitem()
            if loop is here:
                await port.close()
            elif port.process == os.getpid() and loop.is_running():
                there = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(port.close(), loop))
                # If that loop stops now, the future never ends.
                await asyncio.wait([there], timeout=5)
            else:
                port.detach()
                await here.run_in_executor(None, port.cache.close)

    async def __aenter__(self) -> AsyncCache:
        await self._opened()
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.close()

    def __del__(self, _is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if _is_ending():
            return
        for loop, port in list(getattr(self, "_ports", {}).items()):
            if port.process == os.getpid() and not loop.is_closed():
                # The loop may run in another thread.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(port.detach)

    def _reduced(self) -> Tuple[Any, ...]:
        arguments = (type(self), AsyncCache, (self._path,), self._options)
        return remade, arguments, added_to(self, AsyncCache, "_is_closed", "_options", "_path", "_ports")

    def __reduce__(self) -> Tuple[Any, ...]:
        refuse_secrets(self, self._options)
        return self._reduced()

    def __copy__(self) -> AsyncCache:
        return cast(AsyncCache, copied(self._reduced()))

    def __deepcopy__(self, memo: Any) -> AsyncCache:
        return cast(AsyncCache, copied(self._reduced(), memo))

    def __repr__(self) -> str:
        path = None if self._path is None else os.fspath(self._path)
        return f"<AsyncCache {path!r}{' closed' if self._is_closed else ''}>"

    async def get(self, url: str, **options: _wishes.Unpack[_wishes.Wishes]) -> Response:
        port = self._ports.get(asyncio.get_running_loop()) or await self._opened()
        place = ready(options) if options else None
        if place is not None or not options:
            response = port.cache._stored(url, place)
            if response is not None:
                port.hits += 1
                if port.hits % TURN == 0:
                    await asyncio.sleep(0)
                return response
        return cast(Response, await self._perform(url, None, dict(options)))

    async def thumbnail(self, url: str, size: Size, **options: _wishes.Unpack[_wishes.Wishes]) -> Image:
        port = self._ports.get(asyncio.get_running_loop()) or await self._opened()
        image = port.cache._ready(url, size, options)
        if image is not None:
            port.hits += 1
            if port.hits % TURN == 0:
                await asyncio.sleep(0)
            return image
        return await super().thumbnail(url, size, **options)

    # How it is done

    @property
    def _owner(self) -> AsyncCache:
        return self

    def _by(self, port: Port) -> Fetching:
        return port.cache

    def _own(self) -> List[Port]:
        return [port for port in list(self._ports.values()) if port.process == os.getpid()]

    def _make(self) -> Cache:
        options: Any = self._options
        return Cache(self._path, **options)

    def _check(self) -> None:
        if self._is_closed:
            raise Closed("the cache has been closed", "closed")

    async def _opened(self) -> Port:
        """Returns the running loop's port. Opens it in a thread if there is none."""
        loop = asyncio.get_running_loop()
        self._check()
        known = self._ports.get(loop)
        if known is not None:
            return known
        cache = await loop.run_in_executor(None, self._make)
        # Close the handles of loops that have ended.
        for other in [loop for loop in list(self._ports) if loop.is_closed()]:
            old = self._ports.pop(other, None)
            if old is not None:
                await loop.run_in_executor(None, old.cache.close)
        return await self._add(loop, cache)

    async def _add(self, loop: asyncio.AbstractEventLoop, cache: Cache) -> Port:
        port = Port(loop, cache)
        first = self._ports.setdefault(loop, port)
        if first is not port or self._is_closed:
            # Another task opened a handle first, or closed the cache.
            self._ports.pop(loop) if first is port else None
            await loop.run_in_executor(None, cache.close)
            self._check()
        return first

    def _port(self) -> Port:
        """Returns the running loop's port. Opens it without waiting if there is none."""
        loop = asyncio.get_running_loop()
        self._check()
        known = self._ports.get(loop)
        return known if known is not None else self._ports.setdefault(loop, Port(loop, self._make()))

    async def _off_the_loop(self, what: str, *arguments: Any, **options: Any) -> None:
        port = await self._opened()
        call = functools.partial(getattr(port.cache, what), *arguments, **options)
        await port.loop.run_in_executor(None, call)
