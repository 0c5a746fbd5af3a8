"""Requests under way."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Generic,
    Iterator,
    List,
    Mapping,
    Optional,
    TypeVar,
    cast,
)

from . import _prototypes as abi
from ._arguments import whole
from ._errors import Error, Frozen, error_for
from ._image import SOURCES, Image, Size
from ._library import bare, check, library, quick, shown
from ._quantities import Duration, lasting, left_until, moment
from ._questions import ask, tell
from ._response import Response
from ._saving import give

if TYPE_CHECKING:
    from ._fetching import Fetching
else:
    # Not imported: that module imports this one. At run time, the type hint is Any.
    Fetching = Any

#: The longest wait in one call of the library, in milliseconds. Ctrl-C is handled between two calls.
PATIENCE = 100

#: The number of forks between the first process that loaded the package and this one.
_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)

T = TypeVar("T")

_KINDS = {
    abi.EVENT_PROGRESS: "progress",
    abi.EVENT_CACHED: "cached",
    abi.EVENT_UNCHANGED: "unchanged",
    abi.EVENT_FRESH: "fresh",
    abi.EVENT_FAILED: "failed",
    abi.EVENT_CANCELLED: "cancelled",
    abi.EVENT_FROZEN: "frozen",
    abi.EVENT_QUESTION: "question",
    abi.EVENT_DATA: "data",
}
_STATES = {
    abi.TICKET_QUEUED: "queued",
    abi.TICKET_RUNNING: "running",
    abi.TICKET_DONE: "done",
    abi.TICKET_CANCELLED: "cancelled",
}

#: Already converted for `bare`, which converts no arguments.
NO_WAIT = ctypes.c_int64(0)
EVENT_SIZE = ctypes.c_size_t(ctypes.sizeof(abi.nh_event))


class Event(Generic[T]):
    """An event of a request. Exactly one event of a ticket is final, and it is the last.

    >>> for event in cache.submit(picture_url, size=64).events():
    ...     print(event.kind, event.is_final, event.is_in_cache, event.image.size)
    fresh True False (64, 48)
    """

    __slots__ = (
        "_many",
        "bytes_done",
        "bytes_total",
        "data",
        "error",
        "images",
        "is_final",
        "is_in_cache",
        "is_stale",
        "is_stored",
        "is_upload",
        "kind",
        "response",
        "source",
        "status",
        "url",
    )

    #: "progress", "data", "cached", "unchanged", "fresh", "failed", "cancelled", or "frozen" (``error.outbox_id``).
    kind: str
    is_final: bool
    #: True if the bytes were in the cache before the request was submitted.
    is_in_cache: bool
    #: True if the answer is in the cache now: it was there before, or has been stored.
    is_stored: bool
    #: True if the answer is stale.
    is_stale: bool
    #: "memory", "disk", "revalidated" or "network"; None if there is no answer.
    source: Optional[str]
    #: The HTTP status of the answer, also of an error; None if there is none.
    status: Optional[int]
    #: The answer, if no sizes were given.
    response: Optional[Response]
    #: The images, in the order of the sizes.
    images: List[Image]
    #: The error, or None.
    error: Optional[Error]
    #: For "progress": whether it is about the body of the request, not of the answer. Then the bytes that were sent or
    #: received, and the total (None: unknown).
    is_upload: bool
    bytes_done: int
    bytes_total: Optional[int]
    #: For "data": a piece of the answer's body.
    data: bytes
    #: The URL as it was passed.
    url: str

    def __init__(self, told: abi.nh_event, url: str, many: bool) -> None:
        self.url = url
        self._many = many
        self.kind = _KINDS.get(told.kind, "failed")
        self.is_final = bool(told.is_final)
        self.is_in_cache = bool(told.is_in_cache)
        self.is_stale = bool(told.is_stale)
        self.is_stored = bool(told.is_stored)
        self.source = SOURCES.get(told.source)
        self.status = told.http_status or None
        self.is_upload = bool(told.is_upload)
        self.data = ctypes.string_at(told.data, told.data_size) if told.data else b""
        self.bytes_done = told.bytes_done
        self.bytes_total = None if told.bytes_total < 0 else told.bytes_total
        self.error = None
        if told.code != abi.OK:
            message = ctypes.string_at(told.message).decode("utf-8", "replace") if told.message else ""
            self.error = error_for(told.code, message, url)
            self.error.status = self.status
            self.error.retry_after = told.retry_after if told.retry_after > 0 else None
            if isinstance(self.error, Frozen):
                self.error.outbox_id = told.outbox_id
        self.response = None
        if told.response:
            handle, told.response = ctypes.c_void_p(told.response), None
            self.response = Response(handle, url)
        self.images = []
        if told.images:
            handles = (ctypes.c_void_p * told.image_count).from_address(told.images)
            for place in range(told.image_count):
                # Take them one by one. If this fails, clearing the event frees the others.
                image, handles[place] = ctypes.c_void_p(handles[place]), None
                self.images.append(Image(image, url))

    @property
    def image(self) -> Optional[Image]:
        """The first of the images."""
        return self.images[0] if self.images else None

    def result(self) -> T:
        """Returns the response, the image of ``size``, or the images of ``sizes`` in a list. Raises the error."""
        if self.error is not None:
            raise self.error
        if self.response is not None:
            return cast(T, self.response)
        return cast(T, self.images if self._many else self.images[0])

    def __repr__(self) -> str:
        return f"<Event {self.kind}{' final' if self.is_final else ''} {shown(self.url)}>"


class BaseTicket(Generic[T]):
    """The base class of tickets."""

    def __init__(
        self,
        fetching: Fetching,
        handle: ctypes.c_void_p,
        url: str,
        size: Optional[Size],
        sizes: Any,
        options: Mapping[str, Any],
    ) -> None:
        #: The URL as it was passed.
        self.url = url
        self._fetching = fetching
        self._handle = handle
        self._wanted = (size, sizes)
        self._options = options
        self._final: Optional[Event[T]] = None
        self._failure: Optional[BaseException] = None

    @property
    def state(self) -> str:
        """ "queued", "running", "done" or "cancelled"."""
        state = ctypes.c_uint32()
        check(quick.nh_ticket_state(self._handle, ctypes.byref(state)), self.url)
        return _STATES.get(state.value, "done")

    def cancel(self) -> None:
        """Cancels the request. Its final event is then "cancelled", unless it has ended before."""
        quick.nh_cancel(self._handle)

    def set_priority(self, priority: int) -> None:
        """Changes the priority in the queue: -10 to 10, the highest first."""
        if not -10 <= whole(priority, "priority") <= 10:
            raise error_for(abi.INVALID, f"priority must be -10 to 10, not {priority}", self.url)
        check(quick.nh_ticket_set_priority(self._handle, priority), self.url)

    def __del__(self, _release: Callable[[ctypes.c_void_p], int] = bare.nh_ticket_release) -> None:
        _release(self._handle)

    def __reduce__(self) -> Any:
        what = f"{type(self).__name__} belongs to its process, and can't be copied or pickled"
        raise TypeError(f"a {what}: use its url, or the value of result()")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {shown(self.url)}>"

    @property
    def _is_keyed(self) -> bool:
        """Whether the library must submit the request again, because it keeps the ``Idempotency-Key``. Other requests
        are made again from the options: the library doesn't keep requests for hits, and the descriptor of a file to
        save to may have changed."""
        return bool(self._options.get("freezable"))

    def _event(self, told: abi.nh_event) -> Event[T]:
        try:
            event: Event[T] = Event(told, self.url, self._wanted[0] is None)
        finally:
            bare.nh_event_clear(ctypes.byref(told))
        if event.is_final:
            self._final = event
        return event

    def _result(self) -> T:
        if self._failure is not None:
            raise self._failure
        assert self._final is not None
        return self._final.result()

    def _fail(self, failure: BaseException) -> None:
        """Cancels the request after a function of the program raised. Waiting for the ticket raises the exception."""
        self._failure = failure
        self.cancel()


class Ticket(BaseTicket[T]):
    """A request under way. Deleting a ticket does not cancel its request.

    >>> ticket = cache.submit(picture_url, size=64, priority=5)
    >>> ticket.result(timeout=30).size
    (64, 48)
    >>> ticket.state
    'done'
    """

    def __init__(
        self,
        fetching: Fetching,
        handle: ctypes.c_void_p,
        url: str,
        size: Optional[Size],
        sizes: Any,
        options: Mapping[str, Any],
    ) -> None:
        super().__init__(fetching, handle, url, size, sizes, options)
        self._lock = threading.Lock()
        self._born = _forks

    def resubmit(self) -> Ticket[T]:
        """Submits the same request again, for example after a failure.

        A freezable request keeps its ``Idempotency-Key``, so that a server doesn't process it twice. After it has
        succeeded (2xx), it is a new request with a new key. It is sent with its first body. For other requests, an open
        file of a form is read again from the position that it had at first.

        :raises Invalid: if such a file can't seek, or has been closed.
        """
        size, sizes = self._wanted
        if self._is_keyed:
            handle = self._fetching._start_again(self._handle, self.url)
            return Ticket(self._fetching, handle, self.url, size, sizes, self._options)
        again = self._fetching.submit(self.url, size=size, sizes=sizes, **self._options)
        return cast("Ticket[T]", again)

    def events(self, timeout: Duration = None) -> Iterator[Event[T]]:
        """Gives the events as they come, the final one last.

        :raises TimeoutError: if none comes for ``timeout`` seconds.
        """
        while self._final is None:
            event = self._next(timeout)
            if event is None:
                if self._final is not None:
                    break
                raise error_for(
                    abi.TIMEOUT, f"no event within {lasting(timeout)}: {shown(self.url)}", self.url
                )
            yield event
        if self._failure is not None:
            raise self._failure

    def result(self, timeout: Duration = None) -> T:
        """Waits for the final event. Returns its response, image, or images, or raises its error.

        :param timeout: the longest wait in seconds. It limits the wait, not the request.
        """
        due = moment(timeout, time.monotonic())
        while self._final is None:
            left = None if due is None else max(0.0, due - time.monotonic())
            if self._next(left) is None and self._final is None:
                raise error_for(
                    abi.TIMEOUT, f"no answer within {lasting(timeout)}: {shown(self.url)}", self.url
                )
        return self._result()

    def _next(self, timeout: Duration) -> Optional[Event[T]]:
        """Returns the next event; None if none came, or another thread took the final one."""
        due = moment(timeout, time.monotonic())
        left = 0
        # Wait in short steps: Python handles a signal only between two calls. The first call doesn't wait.
        while True:
            # Only one thread waits in the library: the final event comes once, and `_final` keeps it for all threads.
            if self._lock.acquire(timeout=left / 1000):
                try:
                    if self._final is not None:
                        return None
                    event = self._take(left)
                finally:
                    self._lock.release()
                if event is not None:
                    return event
            elif self._born != _forks:
                # A thread of the parent process has locked it.
                raise error_for(
                    abi.FORKED, f"the ticket belongs to the parent process: {shown(self.url)}", self.url
                )
            if due is not None and time.monotonic() >= due:
                return None
            left = left_until(due, time.monotonic(), PATIENCE)

    def _take(self, milliseconds: int) -> Optional[Event[T]]:
        told = abi.nh_event()
        if milliseconds:
            status = library.nh_wait(self._handle, milliseconds, ctypes.byref(told), EVENT_SIZE.value)
        else:
            status = bare.nh_wait(self._handle, NO_WAIT, ctypes.byref(told), EVENT_SIZE)
        if status == abi.TIMEOUT:
            return None
        check(status, self.url)
        question = told.question
        event = self._event(told)
        if not question and event.kind != "data":
            return event
        try:
            if not question:
                give(self._options.get("save_to"), event.data, self.url)
                return event
            tell(self._handle, question, ask(self._options, question, event), self.url)
        except BaseException as failure:
            self._fail(failure)
            if not isinstance(failure, Exception):
                raise
        return None
