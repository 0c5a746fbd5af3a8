"""Caches for programs that run on an event loop."""

import asyncio
import contextlib
import ctypes
import inspect
import os
import weakref
from collections import deque
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Coroutine,
    Deque,
    Dict,
    Generator,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
    Type,
    TypeVar,
    Union,
    cast,
    overload,
)

from . import _prototypes as abi
from ._cache import Cache
from ._errors import BadURL, Closed, Error, error_for
from ._fetching import Fetching
from ._frozen import FrozenRequest, Outcome
from ._image import Image, Size
from ._library import bare
from ._outbox import News, Outbox, Secret, heard
from ._prefetch import Arrivals, Item, Run, item
from ._questions import ask, tell
from ._response import Response
from ._site import Site
from ._stats import Stats
from ._ticket import EVENT_SIZE, NO_WAIT, Asked, Event

if TYPE_CHECKING:
    from ._request import CacheWishes, Sending, SiteWishes, Unpack, Wishes

T = TypeVar("T")

#: After so many hits in a row that needed no wait, the loop has its turn.
TURN = 512


class AsyncTicket(Asked[T]):
    """A request under way. Letting go of a ticket never cancels it; cancelling a task that waits for one does.

    Awaiting it gives its result.

    >>> async def main():
    ...     async with nuthatch.AsyncCache(directory) as cache:
    ...         ticket = cache.submit(picture_url, size=64)
    ...         return (await ticket).size, ticket.state
    >>> asyncio.run(main())
    ((64, 48), 'done')
    """

    def __init__(
        self,
        port: "_Port",
        number: int,
        fetching: Fetching,
        handle: ctypes.c_void_p,
        url: str,
        size: Optional[Size],
        sizes: Any,
        options: Mapping[str, Any],
    ) -> None:
        super().__init__(fetching, handle, url, size, sizes, options)
        self._port = port
        self._number = number
        #: What came and nobody has asked for.
        self._news: List[Event[T]] = []
        self._waiting: List[asyncio.Future[None]] = []
        self._listener: Optional[Callable[[], None]] = None

    def resubmit(self) -> "AsyncTicket[T]":
        """The same request once more."""
        size, sizes = self._wanted
        return cast(
            "AsyncTicket[T]", self._port.submit(self._fetching, self.url, size, sizes, dict(self._options))
        )

    async def result(self, timeout: Optional[float] = None) -> T:
        """Waits for the final event and gives its response, image, or images; raises its error.

        :param timeout: bounds the wait in seconds, and not the request.
        """
        due = None if timeout is None else self._port.loop.time() + timeout
        while not self._is_over:
            if not await self._wait(due):
                raise error_for(abi.TIMEOUT, f"no answer within {timeout} s: {self.url}", self.url)
        return self._result()

    def __await__(self) -> Generator[Any, None, T]:
        return self.result().__await__()

    async def events(self, timeout: Optional[float] = None) -> AsyncIterator[Event[T]]:
        """The events as they come, the final one last.

        :raises TimeoutError: when none came for ``timeout`` seconds.
        """
        while True:
            while self._news:
                yield self._news.pop(0)
            if self._is_over:
                break
            due = None if timeout is None else self._port.loop.time() + timeout
            if not await self._wait(due):
                raise error_for(abi.TIMEOUT, f"no event within {timeout} s: {self.url}", self.url)
        if self._failure is not None:
            raise self._failure

    async def _wait(self, due: Optional[float]) -> bool:
        """Until something has come. False when the time was over before."""
        loop = self._port.loop
        if asyncio.get_running_loop() is not loop:
            raise RuntimeError("a ticket is waited for on the event loop that it was submitted on")
        future: asyncio.Future[None] = loop.create_future()
        self._waiting.append(future)
        timer = None if due is None else loop.call_at(due, _over, future)
        try:
            await future
        except asyncio.CancelledError:
            self.cancel()
            raise
        finally:
            if timer is not None:
                timer.cancel()
            if future in self._waiting:
                self._waiting.remove(future)
        return self._is_over or bool(self._news)

    @property
    def _is_over(self) -> bool:
        return self._final is not None or self._failure is not None

    def _fail(self, failure: BaseException) -> None:
        super()._fail(failure)
        self._wake()

    def _came(self, event: Event[T]) -> None:
        self._news.append(event)
        self._wake()

    def _wake(self) -> None:
        if self._listener is not None:
            self._listener()
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def _take(self, told: abi.nh_event) -> None:
        """An event of the library's, on the loop's thread."""
        question = told.question
        event = self._event(told)
        if not question:
            self._came(event)
            return
        try:
            given: Any = ask(self._options, question, event)
            if inspect.isawaitable(given):
                self._port.begin(self._answer(question, given))
            else:
                tell(self._handle, question, given, self.url)
        except Exception as failure:
            self._fail(failure)

    async def _answer(self, question: int, given: Any) -> None:
        try:
            tell(self._handle, question, await given, self.url)
        except Exception as failure:
            self._fail(failure)


def _over(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


class _Port:
    """What belongs to one event loop: a handle, whose events nobody else takes, and the tickets that wait for them.

    Only its loop's thread uses it, but for ``close``."""

    def __init__(self, loop: asyncio.AbstractEventLoop, cache: Cache) -> None:
        self.loop = loop
        self.cache = cache
        #: What is being asked of the program.
        self.tasks: Set[asyncio.Future[None]] = set()
        self.process = os.getpid()
        self.hits = 0
        #: By number. Whoever waits for a ticket holds it; what nobody holds is of no interest.
        self.tickets: weakref.WeakValueDictionary[int, AsyncTicket[Any]] = weakref.WeakValueDictionary()
        self.last = 0
        self.sites: weakref.WeakKeyDictionary[AsyncFetching, Fetching] = weakref.WeakKeyDictionary()
        self.arrivals: Optional[Arrivals] = None

    def listen(self) -> Arrivals:
        """From the first request on that isn't a hit."""
        if self.arrivals is None:
            self.arrivals = Arrivals(self.cache._usable(None))
            self.loop.add_reader(self.arrivals.descriptor, self.drain)
        return self.arrivals

    def drain(self) -> None:
        """Takes what has come."""
        arrivals = self.arrivals
        if arrivals is None:
            return
        try:
            told = arrivals.poll()
        except Error as failure:
            self.detach()
            for lost in list(self.tickets.values()):
                lost._fail(failure)
            return
        # What is left makes the descriptor readable again, after the others' turn.
        for one in told:
            if not one.ticket:
                self.begin(self._tell(heard(one)))
                continue
            ticket = self.tickets.get(one.user or 0)
            if ticket is None:
                bare.nh_event_clear(ctypes.byref(one))
                continue
            try:
                ticket._take(one)
            except Exception as failure:  # of a number that the library made up: nobody else may suffer
                ticket._fail(failure)

    def begin(self, work: "Coroutine[Any, Any, None]") -> None:
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _tell(self, news: News) -> None:
        """Calls who listens for what belongs to no ticket."""
        outbox = self.cache.outbox
        try:
            tell, told = await self.loop.run_in_executor(None, outbox._listener, news)
            if tell is None:
                return
            given = tell(told)
            if inspect.isawaitable(given):
                given = await given
            await self.loop.run_in_executor(None, outbox._settle, told, given)
        except Closed:
            pass
        except Exception as failure:
            self.loop.call_exception_handler(
                {"message": "a function that listens to an outbox or a site failed", "exception": failure}
            )

    def submit(
        self,
        fetching: Fetching,
        url: str,
        size: Optional[Size],
        sizes: Optional[Sequence[Size]],
        options: Dict[str, Any],
        kind: "Type[AsyncTicket[Any]]" = AsyncTicket,
    ) -> AsyncTicket[Any]:
        options = fetching._complete(url, options)
        self.listen()
        self.last += 1
        number = self.last
        handle = fetching._start(url, size, sizes, options, number)
        ticket: AsyncTicket[Any] = AsyncTicket(self, number, fetching, handle, url, size, sizes, options)
        # What the cache has is there, and need not go by the descriptor.
        told = abi.nh_event()
        if bare.nh_wait(handle, NO_WAIT, ctypes.byref(told), EVENT_SIZE) == abi.OK:
            ticket._take(told)
        if ticket._final is None:
            self.tickets[number] = ticket
        return ticket

    async def turn(self) -> None:
        """To be called for hits, which wait for nothing: now and then the others on the loop have their turn."""
        self.hits += 1
        if self.hits % TURN == 0:
            await asyncio.sleep(0)

    def detach(self) -> None:
        """Takes no more events. Those who wait are told that the cache is closed."""
        arrivals, self.arrivals = self.arrivals, None
        if arrivals is None:
            return
        if not self.loop.is_closed():
            self.loop.remove_reader(arrivals.descriptor)

    async def close(self) -> None:
        """Ends everything, tells those who wait, and closes the handle off the loop."""
        self.detach()
        for ticket in list(self.tickets.values()):
            ticket._fail(Closed("the cache has been closed", "closed", ticket.url))
        for task in list(self.tasks):
            task.cancel()
        await self.loop.run_in_executor(None, self.cache.close)


class _AsyncRun:
    """A prefetch on an event loop."""

    def __init__(self, plan: Run) -> None:
        self.plan = plan
        self.under_way: Set[AsyncTicket[Any]] = set()
        self.ended: Deque[Item] = deque()
        self.failure: Optional[BaseException] = None
        self.news: Optional[asyncio.Future[None]] = None

    def start(self, port: _Port, by: Fetching, url: str, index: int) -> None:
        """Submits the next URL."""
        try:
            ticket = port.submit(by, url, None, self.plan.sizes, dict(self.plan.options))
        except BadURL as error:
            self.ended.append(Item(index, url, error))
        else:
            ticket._listener = lambda: self.end(ticket, index)
            self.under_way.add(ticket)
            ticket._wake()

    def end(self, ticket: AsyncTicket[Any], index: int) -> None:
        """Called when a ticket has news. Takes them, so that no pixels are held that nobody wants."""
        if not ticket._is_over or ticket not in self.under_way:
            return
        self.under_way.discard(ticket)
        if ticket._failure is not None:
            self.failure = ticket._failure
        elif ticket._final is not None:
            self.ended.append(item(index, ticket._final, self.plan.keeps))
        ticket._listener, ticket._news = None, []
        self.wake()

    def wake(self) -> None:
        if self.news is not None and not self.news.done():
            self.news.set_result(None)


class AsyncFetching:
    """Requests, as :class:`AsyncCache` and :class:`AsyncSite` have them."""

    @property
    def _owner(self) -> "AsyncCache":
        """Whose handles requests go to."""
        raise NotImplementedError

    def _by(self, port: _Port) -> Fetching:
        raise NotImplementedError

    async def get(self, url: str, **options: "Unpack[Wishes]") -> Response:
        """As :meth:`Cache.get`."""
        return cast(Response, await self._perform(url, None, dict(options)))

    async def request(self, method: str, url: str, **options: "Unpack[Sending]") -> Response:
        """As :meth:`Cache.request`."""
        return cast(Response, await self._perform(url, None, {**options, "method": method}))

    async def thumbnail(self, url: str, size: Size, **options: "Unpack[Wishes]") -> Image:
        """As :meth:`Cache.thumbnail`. What is in memory is there without a turn of the loop."""
        return cast(Image, await self._perform(url, size, dict(options)))

    def peek(
        self, url: str, size: Size, *, decode: bool = False, **options: "Unpack[Wishes]"
    ) -> Optional[Image]:
        """As :meth:`Cache.peek`: at once, and not to be awaited."""
        return self._by(self._owner._port()).peek(url, size, decode=decode, **options)

    @overload
    def submit(
        self, url: str, *, size: None = None, sizes: None = None, **options: "Unpack[Wishes]"
    ) -> AsyncTicket[Response]: ...

    @overload
    def submit(
        self, url: str, *, size: Size, sizes: None = None, **options: "Unpack[Wishes]"
    ) -> AsyncTicket[Image]: ...

    @overload
    def submit(
        self, url: str, *, size: None = None, sizes: Sequence[Size], **options: "Unpack[Wishes]"
    ) -> AsyncTicket[List[Image]]: ...

    def submit(
        self,
        url: str,
        *,
        size: Optional[Size] = None,
        sizes: Optional[Sequence[Size]] = None,
        **options: Any,
    ) -> AsyncTicket[Any]:
        """As :meth:`Cache.submit`: at once, and not to be awaited; what it gives is."""
        port = self._owner._port()
        return port.submit(self._by(port), url, size, sizes, options)

    async def events(
        self,
        url: str,
        size: Optional[Size] = None,
        *,
        sizes: Optional[Sequence[Size]] = None,
        **options: "Unpack[Wishes]",
    ) -> AsyncIterator[Event[Any]]:
        """The events of a request as they come; leaving the loop over them cancels it."""
        port = await self._owner._opened()
        ticket = port.submit(self._by(port), url, size, sizes, dict(options))
        try:
            async for event in ticket.events():
                yield event
        finally:
            ticket.cancel()

    async def prefetch(
        self,
        urls: "Union[Iterable[str], AsyncIterable[str]]",
        sizes: Sequence[Size] = (256,),
        *,
        progress: bool = False,
        images: bool = False,
        **options: "Unpack[Sending]",
    ) -> AsyncIterator[Item]:
        """As :meth:`Cache.prefetch`; ``urls`` may be an asynchronous iterable, too."""
        port = await self._owner._opened()
        plan = Run(urls, sizes, progress, images, dict(options))
        run, by = _AsyncRun(plan), self._by(port)
        source = urls.__aiter__() if isinstance(urls, AsyncIterable) else None
        plain = iter(()) if isinstance(urls, AsyncIterable) else iter(urls)
        coming: Optional[asyncio.Future[Optional[str]]] = None
        index, is_open = 0, True
        try:
            while is_open or run.under_way or run.ended:
                while run.ended:
                    yield plan.ended(run.ended.popleft())
                if run.failure is not None:
                    raise run.failure
                url: Optional[str] = None
                if is_open and len(run.under_way) < plan.window:
                    if source is None:
                        url = next(plain, None)
                        is_open = url is not None
                    elif coming is None:
                        coming = asyncio.ensure_future(_next(source))
                    elif coming.done():
                        url, coming = coming.result(), None
                        is_open = url is not None
                if url is not None:
                    run.start(port, by, url, index)
                    index += 1
                    await port.turn()
                elif run.ended:
                    continue
                elif run.under_way or coming is not None:
                    run.news = port.loop.create_future()
                    if coming is not None:
                        coming.add_done_callback(lambda _: run.wake())
                    await run.news
        finally:
            if coming is not None:
                coming.cancel()
            under_way, run.under_way = run.under_way, set()
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


async def _next(source: "AsyncIterator[str]") -> Optional[str]:
    try:
        return await source.__anext__()
    except StopAsyncIteration:
        return None


class AsyncCache(AsyncFetching):
    """A :class:`Cache` for programs that run on an event loop. Its options are those of ``Cache``.

    It belongs to no loop: each that uses it gets a handle of its own on the directory, so that threads with loops may
    share one. A task that is cancelled while it waits cancels its request. Opening and closing happen off the loop.

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
        self, path: Union[str, "os.PathLike[str]", None] = None, **options: "Unpack[CacheWishes]"
    ) -> None:
        self._path = path
        self._options = dict(options)
        self._ports: Dict[asyncio.AbstractEventLoop, _Port] = {}
        self._is_closed = False

    # At once

    def site(self, base_url: str, **options: "Unpack[SiteWishes]") -> "AsyncSite":
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
    def outbox(self) -> "AsyncOutbox":
        """The requests that wait for the network, and what came of them."""
        return AsyncOutbox(self)

    def stats(self) -> Stats:
        """As :meth:`Cache.stats`."""
        stats = self._port().cache.stats()
        stats["activity"] = self.activity
        return stats

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""
        return self._is_closed

    # To be awaited

    async def remove(self, url: str) -> None:
        """As :meth:`Cache.remove`."""
        await self._off_the_loop("remove", url)

    async def clear(self) -> None:
        """As :meth:`Cache.clear`."""
        await self._off_the_loop("clear")

    async def trim(self, disk_bytes: int) -> None:
        """As :meth:`Cache.trim`."""
        await self._off_the_loop("trim", disk_bytes)

    async def flush(self) -> None:
        """As :meth:`Cache.flush`."""
        await self._off_the_loop("flush")

    async def wait_idle(self, timeout: Optional[float] = None) -> bool:
        """As :meth:`Cache.wait_idle`."""
        loop = asyncio.get_running_loop()
        due, pause = None if timeout is None else loop.time() + timeout, 0.001
        while self.activity:
            if due is not None and loop.time() >= due:
                return False
            await asyncio.sleep(pause)
            pause = min(0.05, pause * 1.5)
        return True

    async def close(self, drain: Optional[float] = None) -> None:
        """Closes it on every loop. Who waits for a request hears :class:`Closed`. May be repeated.

        :param drain: as of :meth:`Cache.close`.
        """
        if drain is not None and not self._is_closed:
            loop = asyncio.get_running_loop()
            await asyncio.gather(
                *(loop.run_in_executor(None, port.cache._drain, drain) for port in self._own())
            )
        self._is_closed = True
        here = asyncio.get_running_loop()
        while self._ports:
            loop, port = self._ports.popitem()
            if loop is here:
                await port.close()
            elif port.process == os.getpid() and loop.is_running():
                there = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(port.close(), loop))
                # A loop that stops meanwhile leaves nobody who waits.
                await asyncio.wait([there], timeout=5)
            else:
                port.detach()
                await here.run_in_executor(None, port.cache.close)

    async def __aenter__(self) -> "AsyncCache":
        await self._opened()
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        for loop, port in list(getattr(self, "_ports", {}).items()):
            if port.process == os.getpid() and not loop.is_closed():
                # Its loop may be another thread's.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(port.detach)

    def __reduce__(self) -> Tuple[Any, ...]:
        return (_made, (self._path, self._options))

    def __repr__(self) -> str:
        path = None if self._path is None else os.fspath(self._path)
        return f"<AsyncCache {path!r}{' closed' if self._is_closed else ''}>"

    async def thumbnail(self, url: str, size: Size, **options: "Unpack[Wishes]") -> Image:
        port = self._ports.get(asyncio.get_running_loop()) or await self._opened()
        if not options:
            cache = port.cache
            image = cache.peek(url, size)
            if image is not None:
                cache._shown += 1
                port.hits += 1
                if port.hits % TURN == 0:
                    await asyncio.sleep(0)
                return image
        return cast(Image, await self._perform(url, size, dict(options)))

    thumbnail.__doc__ = AsyncFetching.thumbnail.__doc__

    # How it is done

    @property
    def _owner(self) -> "AsyncCache":
        return self

    def _by(self, port: _Port) -> Fetching:
        return port.cache

    def _own(self) -> List[_Port]:
        return [port for port in list(self._ports.values()) if port.process == os.getpid()]

    def _make(self) -> Cache:
        options: Any = self._options
        return Cache(self._path, **options)

    def _check(self) -> None:
        if self._is_closed:
            raise Closed("the cache has been closed", "closed")

    async def _opened(self) -> _Port:
        """What the running loop has of it, opened off the loop."""
        loop = asyncio.get_running_loop()
        self._check()
        known = self._ports.get(loop)
        if known is not None:
            return known
        cache = await loop.run_in_executor(None, self._make)
        # A loop that has ended leaves a handle behind.
        for other in [loop for loop in list(self._ports) if loop.is_closed()]:
            old = self._ports.pop(other, None)
            if old is not None:
                await loop.run_in_executor(None, old.cache.close)
        return await self._add(loop, cache)

    async def _add(self, loop: asyncio.AbstractEventLoop, cache: Cache) -> _Port:
        port = _Port(loop, cache)
        first = self._ports.setdefault(loop, port)
        if first is not port or self._is_closed:
            # Another task was faster, or has closed it.
            self._ports.pop(loop) if first is port else None
            await loop.run_in_executor(None, cache.close)
            self._check()
        return first

    def _port(self) -> _Port:
        """The same for what can't wait."""
        loop = asyncio.get_running_loop()
        self._check()
        known = self._ports.get(loop)
        return known if known is not None else self._ports.setdefault(loop, _Port(loop, self._make()))

    async def _off_the_loop(self, what: str, *arguments: Any) -> None:
        port = await self._opened()
        await port.loop.run_in_executor(None, getattr(port.cache, what), *arguments)


class AsyncOutbox:
    """An :class:`Outbox` whose methods are awaited: :attr:`AsyncCache.outbox`. Functions that listen are called on
    the event loop that runs when they are attached, without further ado, and may be ``async``."""

    def __init__(self, owner: AsyncCache) -> None:
        self._owner = owner

    async def list(self) -> "List[FrozenRequest]":
        """As :meth:`Outbox.list`."""
        return cast("List[FrozenRequest]", await self._off_the_loop("list"))

    async def get(self, id: int) -> Optional[FrozenRequest]:
        """As :meth:`Outbox.get`."""
        return cast(Optional[FrozenRequest], await self._off_the_loop("get", id))

    async def outcome(self, id: int) -> Optional[Outcome]:
        """As :meth:`Outbox.outcome`."""
        return cast(Optional[Outcome], await self._off_the_loop("outcome", id))

    async def collect(self, id: int) -> Optional[Outcome]:
        """As :meth:`Outbox.collect`."""
        return cast(Optional[Outcome], await self._off_the_loop("collect", id))

    async def wait(self, id: int, timeout: Optional[float] = None) -> Outcome:
        """As :meth:`Outbox.wait`."""
        loop = asyncio.get_running_loop()
        due = None if timeout is None else loop.time() + timeout
        while True:
            outcome = await self.outcome(id)
            if outcome is not None:
                return outcome
            if await self.get(id) is None:
                raise error_for(abi.INVALID, f"there is no request {id} in the outbox", None)
            if due is not None and loop.time() >= due:
                raise error_for(abi.TIMEOUT, f"request {id} has not ended after {timeout} s", None)
            await asyncio.sleep(0.05)

    async def replay(self, id: Optional[int] = None) -> int:
        """As :meth:`Outbox.replay`."""
        return cast(int, await self._off_the_loop("replay", id))

    async def drop(self, id: int) -> bool:
        """As :meth:`Outbox.drop`."""
        return cast(bool, await self._off_the_loop("drop", id))

    def attach(self, handler: str, function: Callable[[Outcome], Any]) -> None:
        """As :meth:`Outbox.attach`."""
        self._here().attach(handler, function)

    def detach(self, handler: str) -> None:
        """As :meth:`Outbox.detach`."""
        for port in self._owner._own():
            port.cache.outbox.detach(handler)

    def provide(self, provider: str, secret: "Union[Secret, Callable[[str], Any]]") -> None:
        """As :meth:`Outbox.provide`. An ``async`` function is asked only for requests that wait."""
        self._here().provide(provider, cast(Any, secret))

    def _here(self) -> Outbox:
        port = self._owner._port()
        port.listen()
        return port.cache.outbox

    async def _off_the_loop(self, what: str, *arguments: Any) -> Any:
        port = await self._owner._opened()
        return await port.loop.run_in_executor(None, getattr(port.cache.outbox, what), *arguments)


class AsyncSite(AsyncFetching):
    """A :class:`Site` whose methods are awaited. :meth:`AsyncCache.site` makes one."""

    def __init__(self, owner: AsyncCache, base_url: str, options: Dict[str, Any]) -> None:
        #: What requests are resolved against.
        self.base_url = base_url
        self._of = owner
        self._options = options

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

    def _by(self, port: _Port) -> Fetching:
        site = port.sites.get(self)
        if site is None:
            site = port.sites[self] = port.cache.site(self.base_url, **self._options)
        return site

    async def clear_cookies(self) -> None:
        """As :meth:`Site.clear_cookies`."""
        port = await self._of._opened()
        site: Any = self._by(port)
        await port.loop.run_in_executor(None, site.clear_cookies)

    def __reduce__(self) -> Tuple[Any, ...]:
        return (AsyncSite, (self._owner, self.base_url, self._options))

    def __repr__(self) -> str:
        return f"<AsyncSite {self.base_url}>"


def _made(path: Any, options: Dict[str, Any]) -> AsyncCache:
    return AsyncCache(path, **options)
