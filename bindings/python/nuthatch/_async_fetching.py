"""Requests of caches and sites, for programs that run on an event loop."""

from __future__ import annotations

import asyncio
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterable,
    AsyncIterator,
    Dict,
    Iterable,
    List,
    Optional,
    Sequence,
    Union,
    cast,
    overload,
)

from ._async_ticket import AsyncTicket
from ._errors import BadURL, Denied
from ._fetching import Fetching
from ._image import Image, Size, sides
from ._later import _wishes
from ._port import Port
from ._prefetch import END, HOLD, READ, WAIT, Item, Run
from ._response import Response
from ._sign_in import needs_origin
from ._signatures import explained
from ._ticket import Event

if TYPE_CHECKING:
    from ._async import AsyncCache


class _AsyncRun:
    """A prefetch on an event loop."""

    def __init__(self, plan: Run) -> None:
        self.plan = plan
        self.failure: Optional[BaseException] = None
        self.news: Optional[asyncio.Future[None]] = None

    def start(self, port: Port, by: Fetching, number: int, url: str) -> None:
        """Submits the next URL."""
        try:
            ticket = port.submit(by, url, None, self.plan.sizes, dict(self.plan.options))
        except (BadURL, Denied) as error:
            self.plan.refuse(number, url, error)
        else:
            ticket._listener = lambda: self.end(ticket, number)
            self.plan.under_way[number] = ticket
            ticket._wake()

    def end(self, ticket: AsyncTicket[Any], number: int) -> None:
        """Called when a ticket has new events. After the final one, notes how the URL ended, and frees the events."""
        if not ticket._is_over or self.plan.under_way.pop(number, None) is None:
            return
        if ticket._failure is not None:
            self.failure = ticket._failure
        elif ticket._final is not None:
            self.plan.end(number, ticket._final)
        ticket._listener = None
        ticket._news.clear()
        self.wake()

    def wake(self) -> None:
        if self.news is not None and not self.news.done():
            self.news.set_result(None)


@explained
class AsyncFetching:
    """The requests of :class:`AsyncCache` and :class:`AsyncSite`."""

    @property
    def _owner(self) -> AsyncCache:
        """The cache whose handles requests use."""
        raise NotImplementedError

    def _by(self, port: Port) -> Fetching:
        raise NotImplementedError

    async def get(self, url: str, **options: _wishes.Unpack[_wishes.Wishes]) -> Response:
        """As :meth:`Cache.get`."""
        return cast(Response, await self._perform(url, None, dict(options)))

    async def request(self, method: str, url: str, **options: _wishes.Unpack[_wishes.Sending]) -> Response:
        """As :meth:`Cache.request`."""
        return cast(Response, await self._perform(url, None, {**options, "method": method}))

    async def thumbnail(self, url: str, size: Size, **options: _wishes.Unpack[_wishes.Wishes]) -> Image:
        """As :meth:`Cache.thumbnail`. Returns a thumbnail that is in memory without a turn of the loop."""
        return cast(Image, await self._perform(url, sides(size, url), dict(options)))

    def peek(
        self, url: str, size: Size, *, decode: bool = False, **options: _wishes.Unpack[_wishes.Peeking]
    ) -> Optional[Image]:
        """As :meth:`Cache.peek`. Returns at once; don't await it."""
        return self._by(self._owner._port()).peek(url, size, decode=decode, **options)

    @overload
    def submit(
        self, url: str, *, size: None = None, sizes: None = None, **options: _wishes.Unpack[_wishes.Wishes]
    ) -> AsyncTicket[Response]: ...

    @overload
    def submit(
        self, url: str, *, size: Size, sizes: None = None, **options: _wishes.Unpack[_wishes.Wishes]
    ) -> AsyncTicket[Image]: ...

    @overload
    def submit(
        self,
        url: str,
        *,
        size: None = None,
        sizes: Sequence[Size],
        **options: _wishes.Unpack[_wishes.Wishes],
    ) -> AsyncTicket[List[Image]]: ...

    def submit(
        self,
        url: str,
        *,
        size: Optional[Size] = None,
        sizes: Optional[Sequence[Size]] = None,
        **options: _wishes.Unpack[_wishes.Wishes],
    ) -> AsyncTicket[Any]:
        """As :meth:`Cache.submit`. Returns at once; await the ticket that it returns."""
        port = self._owner._port()
        return port.submit(self._by(port), url, size, sizes, dict(options))

    async def events(
        self,
        url: str,
        size: Optional[Size] = None,
        *,
        sizes: Optional[Sequence[Size]] = None,
        **options: _wishes.Unpack[_wishes.Wishes],
    ) -> AsyncIterator[Event[Any]]:
        """Gives the events of a request as they come. Leaving the loop cancels the request."""
        port = await self._owner._opened()
        ticket = port.submit(self._by(port), url, size, sizes, dict(options))
        try:
            async for event in ticket.events():
                yield event
        finally:
            ticket.cancel()

    async def prefetch(
        self,
        urls: Union[Iterable[str], AsyncIterable[str]],
        sizes: Union[int, Sequence[Size]] = (256,),
        *,
        progress: bool = False,
        images: bool = False,
        **options: _wishes.Unpack[_wishes.Prefetching],
    ) -> AsyncIterator[Item]:
        """As :meth:`Cache.prefetch`; ``urls`` may be an asynchronous iterable, too."""
        port = await self._owner._opened()
        if isinstance(urls, AsyncIterable) and needs_origin(dict(options)):
            urls = [url async for url in urls]
        plan = Run(urls, sizes, progress, images, dict(options), getattr(self, "base_url", None))
        urls = plan.urls
        run, by = _AsyncRun(plan), self._by(port)
        source = urls.__aiter__() if isinstance(urls, AsyncIterable) else None
        plain = iter(()) if isinstance(urls, AsyncIterable) else iter(urls)
        coming: Optional[asyncio.Future[Any]] = None
        try:
            while plan.goes_on:
                for one in plan.items():
                    yield one
                if run.failure is not None:
                    raise run.failure
                step = plan.step(port.cache._usable(None))
                if step is HOLD:
                    for ticket in plan.recall():
                        ticket.cancel()
                    await asyncio.sleep(0.1)
                elif step is READ and source is None:
                    plan.read(next(plain, END))
                elif step is READ and coming is None:
                    coming = asyncio.ensure_future(_next(cast("AsyncIterator[str]", source)))
                    coming.add_done_callback(lambda _: run.wake())
                elif step is READ and coming is not None and coming.done():
                    url, coming = coming.result(), None
                    plan.read(url)
                elif step is READ or step is WAIT:
                    run.news = port.loop.create_future()
                    await asyncio.wait([run.news], timeout=plan.patience)
                else:
                    run.start(port, by, *step)
                    await port.turn()
        finally:
            if coming is not None:
                coming.cancel()
            under_way = list(plan.under_way.values())
            plan.under_way.clear()
            for ticket in under_way:
                ticket.cancel()
            plan.close()

    async def _perform(self, url: str, size: Optional[Size], options: Dict[str, Any]) -> Any:
        port = self._owner._ports.get(asyncio.get_running_loop()) or await self._owner._opened()
        options.setdefault("delivery", "fresh")
        ticket = port.submit(self._by(port), url, size, None, options)
        if ticket._final is not None:
            await port.turn()
            return ticket._result()
        return await ticket.result()


async def _next(source: AsyncIterator[str]) -> Any:
    try:
        return await source.__anext__()
    except StopAsyncIteration:
        return END
