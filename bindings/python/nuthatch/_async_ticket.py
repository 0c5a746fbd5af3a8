"""Requests under way, for programs that run on an event loop."""

from __future__ import annotations

import asyncio
import ctypes
import inspect
from collections import deque
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Callable,
    Deque,
    Generator,
    List,
    Mapping,
    Optional,
    TypeVar,
    cast,
)

from . import _prototypes as abi
from ._async_saving import Stream
from ._errors import error_for
from ._fetching import Fetching
from ._image import Size
from ._library import shown
from ._quantities import Duration, lasting, moment
from ._questions import ask, tell
from ._ticket import BaseTicket, Event

if TYPE_CHECKING:
    from ._port import Port
else:
    # Not imported: that module imports this one. At run time, the type hint is Any.
    Port = Any

T = TypeVar("T")


class AsyncTicket(BaseTicket[T]):
    """A request under way.

    Deleting a ticket does not cancel its request. If a task that waits for the ticket is cancelled, the request is
    cancelled, too. Awaiting a ticket gives its result.

    >>> async def main():
    ...     async with nuthatch.AsyncCache(directory) as cache:
    ...         ticket = cache.submit(picture_url, size=64)
    ...         return (await ticket).size, ticket.state
    >>> asyncio.run(main())
    ((64, 48), 'done')
    """

    def __init__(
        self,
        port: Port,
        fetching: Fetching,
        handle: ctypes.c_void_p,
        url: str,
        size: Optional[Size],
        sizes: Any,
        options: Mapping[str, Any],
    ) -> None:
        super().__init__(fetching, handle, url, size, sizes, options)
        self._port = port
        #: Events that have come and were not taken.
        self._news: Deque[Event[T]] = deque()
        self._waiting: List[asyncio.Future[None]] = []
        self._listener: Optional[Callable[[], None]] = None
        #: The task that gives pieces of the answer to functions; and the final event, held back until that task ends.
        self._saving: Optional[asyncio.Future[None]] = None
        self._held: Optional[Event[T]] = None
        #: The number of loops over the events. If there are some, each piece of the answer is also an event.
        self._readers = 0
        #: The number of tasks that wait for the result. If there are some, a piece doesn't wait for a loop to take it.
        self._result_waiters = 0
        #: Bytes of the answer that were given to functions.
        self._given = 0
        self._taken: Optional[asyncio.Future[None]] = None

    def resubmit(self) -> AsyncTicket[T]:
        """Submits the same request again, as :meth:`Ticket.resubmit`."""
        return cast("AsyncTicket[T]", self._port.resubmit(self))

    async def result(self, timeout: Duration = None) -> T:
        """Waits for the final event. Returns its response, image, or images, or raises its error.

        :param timeout: the longest wait in seconds. It limits the wait, not the request.
        """
        due = moment(timeout, self._port.loop.time())
        self._result_waiters += 1
        self._all_taken()
        try:
            while not self._is_over:
                if not await self._wait(due):
                    raise error_for(
                        abi.TIMEOUT, f"no answer within {lasting(timeout)}: {shown(self.url)}", self.url
                    )
        finally:
            self._result_waiters -= 1
        return self._result()

    def __await__(self) -> Generator[Any, None, T]:
        return self.result().__await__()

    async def events(self, timeout: Duration = None) -> AsyncIterator[Event[T]]:
        """Gives the events as they come, the final one last.

        :raises TimeoutError: if none comes for ``timeout`` seconds.
        """
        self._readers += 1
        try:
            while True:
                while self._news:
                    yield self._news.popleft()
                self._all_taken()
                if self._is_over:
                    break
                due = moment(timeout, self._port.loop.time())
                if not await self._wait(due):
                    raise error_for(
                        abi.TIMEOUT, f"no event within {lasting(timeout)}: {shown(self.url)}", self.url
                    )
        finally:
            self._readers -= 1
            self._all_taken()
        if self._failure is not None:
            raise self._failure

    async def _wait(self, due: Optional[float]) -> bool:
        """Waits for an event. Returns False if none came in time."""
        loop = self._port.loop
        if asyncio.get_running_loop() is not loop:
            raise RuntimeError("a ticket can be awaited only on the event loop that it was submitted on")
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
        self._stop_saving()
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
        """Takes an event of the library, on the loop's thread."""
        question = told.question
        event = self._event(told)
        if not question:
            if event.is_final and self._saving is not None:
                self._hold(event)
            else:
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

    # Saving by functions

    def _save(self, stream: Stream) -> None:
        """Starts to give the answer to functions while it comes."""
        self._saving = self._port.begin(stream.give(self._tell_of))

        def ended(saving: asyncio.Future[None]) -> None:
            stream.close()
            self._saving = None
            held, self._held = self._held, None
            failure = None if saving.cancelled() else saving.exception()
            if saving.cancelled() and not self._is_over and (held is None or held.error is None):
                # Something else cancelled the task: the request has not failed, and the cache was not closed.
                failure = error_for(
                    abi.CANCELLED, f"a function that saves {shown(self.url)} was cancelled", self.url
                )
            if failure is not None:
                self._fail(failure)
            if held is not None:
                self._final = held
                self._came(held)

        self._saving.add_done_callback(ended)

    def _hold(self, event: Event[T]) -> None:
        """Holds the final event back until the functions have been given all pieces."""
        self._final, self._held = None, event
        if event.error is not None:
            self._stop_saving()

    def _stop_saving(self) -> None:
        if self._saving is not None:
            self._saving.cancel()

    async def _tell_of(self, piece: bytes) -> None:
        """Gives a piece to the loops over the events, and waits until they have taken it."""
        self._given += len(piece)
        if not self._readers:
            return
        told = abi.nh_event()
        told.kind, told.bytes_done, told.bytes_total = abi.EVENT_DATA, self._given, -1
        event: Event[T] = Event(told, self.url, False)
        event.data = piece
        self._came(event)
        while self._news and self._readers and not self._result_waiters and self._failure is None:
            self._taken = self._port.loop.create_future()
            await self._taken

    def _all_taken(self) -> None:
        if self._taken is not None and not self._taken.done():
            self._taken.set_result(None)

    async def _answer(self, question: int, given: Any) -> None:
        try:
            tell(self._handle, question, await given, self.url)
        except asyncio.CancelledError:
            # The function was cancelled, or the cache is being closed. Then the ticket has failed already.
            if not self._is_over:
                why = f"the function that answers a question about {shown(self.url)} was cancelled"
                self._fail(error_for(abi.CANCELLED, why, self.url))
            raise
        except Exception as failure:
            self._fail(failure)


def _over(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
