"""The parts of a cache that belong to one event loop."""

from __future__ import annotations

import asyncio
import ctypes
import inspect
import os
import weakref
from typing import TYPE_CHECKING, Any, Coroutine, Dict, Optional, Sequence, Set

from . import _prototypes as abi
from ._async_saving import Stream
from ._async_ticket import AsyncTicket
from ._cache import Cache
from ._errors import Closed, Error
from ._fetching import Fetching
from ._image import Size
from ._library import bare
from ._outbox import News, heard
from ._prefetch import Arrivals
from ._ticket import EVENT_SIZE, NO_WAIT
from ._values import several

if TYPE_CHECKING:
    from ._async_fetching import AsyncFetching

#: After so many hits without a wait, other tasks of the loop get a turn.
TURN = 512
#: Marks the requests of a loop for nh_poll. All have the same number: an event also has the handle of its ticket.
NUMBER = 1


class Port:
    """A handle of the directory for one event loop. Takes the handle's events, and passes them to the tickets.

    Only the loop's thread uses it. Exception: if the loop doesn't run, closing the cache on another loop calls
    ``detach``."""

    def __init__(self, loop: asyncio.AbstractEventLoop, cache: Cache) -> None:
        self.loop = loop
        self.cache = cache
        #: Tasks that run functions of the program.
        self.tasks: Set[asyncio.Future[None]] = set()
        self.process: int = os.getpid()
        self.hits: int = 0
        #: Tickets by handle. A task that waits for a ticket references it. Tickets without references need no events.
        self.tickets: weakref.WeakValueDictionary[int, AsyncTicket[Any]] = weakref.WeakValueDictionary()
        self.sites: weakref.WeakKeyDictionary[AsyncFetching, Fetching] = weakref.WeakKeyDictionary()
        self.arrivals: Optional[Arrivals] = None

    def listen(self) -> Arrivals:
        """Starts to take events. Called at the first request that isn't a hit."""
        if self.arrivals is None:
            self.arrivals = Arrivals(self.cache._usable(None))
            self.loop.add_reader(self.arrivals.descriptor, self.drain)
        return self.arrivals

    def drain(self) -> None:
        """Takes the events that have come."""
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
        # Events that are left make the descriptor readable again. Other tasks get a turn in between.
        for one in told:
            if not one.ticket:
                self.begin(self._tell(heard(one)))
                continue
            ticket = self.tickets.get(one.ticket)
            if ticket is None:
                bare.nh_event_clear(ctypes.byref(one))
                continue
            try:
                ticket._take(one)
            except Exception as failure:  # an unexpected event of this ticket must not stop the others
                ticket._fail(failure)

    def begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Future[None]:
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def _tell(self, news: News) -> None:
        """Calls the function for an event without a ticket."""
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
    ) -> AsyncTicket[Any]:
        options = fetching._complete(url, options)
        sizes = None if sizes is None else several(sizes)
        self.listen()
        stream = Stream.of(options)
        try:
            told_of = options if stream is None else stream.begun(options)
            handle = fetching._start(url, size, sizes, told_of, NUMBER)
        except BaseException:
            if stream is not None:
                stream.close()
            raise
        ticket: AsyncTicket[Any] = AsyncTicket(self, fetching, handle, url, size, sizes, options)
        if stream is not None:
            stream.handed_over()
            ticket._save(stream)
        return self._follow(ticket)

    def resubmit(self, before: AsyncTicket[Any]) -> AsyncTicket[Any]:
        fetching, url, (size, sizes) = before._fetching, before.url, before._wanted
        if not before._is_keyed:
            return self.submit(fetching, url, size, sizes, dict(before._options))
        self.listen()
        handle = fetching._start_again(before._handle, url)
        return self._follow(AsyncTicket(self, fetching, handle, url, size, sizes, before._options))

    def _follow(self, ticket: AsyncTicket[Any]) -> AsyncTicket[Any]:
        """Takes an event that is there already, for example of a hit. ``drain`` takes the others."""
        told = abi.nh_event()
        if bare.nh_wait(ticket._handle, NO_WAIT, ctypes.byref(told), EVENT_SIZE) == abi.OK:
            ticket._take(told)
        number = ticket._handle.value
        if ticket._final is None and number is not None:
            self.tickets[number] = ticket
        return ticket

    async def turn(self) -> None:
        """Call it for each hit. A hit doesn't wait, so this gives other tasks of the loop a turn from time to time."""
        self.hits += 1
        if self.hits % TURN == 0:
            await asyncio.sleep(0)

    def detach(self) -> None:
        """Stops taking events."""
        arrivals, self.arrivals = self.arrivals, None
        if arrivals is None:
            return
        if not self.loop.is_closed():
            self.loop.remove_reader(arrivals.descriptor)

    async def close(self) -> None:
        """Fails all tickets, cancels all tasks, and closes the handle in a thread."""
        self.detach()
        for ticket in list(self.tickets.values()):
            ticket._fail(Closed("the cache has been closed", "closed", ticket.url))
        for task in list(self.tasks):
            task.cancel()
        try:
            await self.loop.run_in_executor(None, self.cache.close)
        except asyncio.CancelledError:
            self.cache._is_hurried = True
            raise
        except RuntimeError:
            self.cache.close()  # the loop is ending, and takes no more work
