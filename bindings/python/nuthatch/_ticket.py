"""Requests under way."""

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
    # Which loads this; type hints that are read at run time say no more.
    Fetching = Any

#: A blocking call looks this often (in milliseconds) whether Ctrl-C was pressed.
PATIENCE = 100

#: How many forks lie between this process and the first that had the package.
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

#: In the shape in which they are passed unchecked.
NO_WAIT = ctypes.c_int64(0)
EVENT_SIZE = ctypes.c_size_t(ctypes.sizeof(abi.nh_event))


class Event(Generic[T]):
    """What happened to a request. Exactly one event of a ticket is final, and it is the last.

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

    #: "progress", "cached", "unchanged", "fresh", "failed", "cancelled" or "frozen" (``error.outbox_id`` says as what).
    kind: str
    is_final: bool
    #: True when the bytes were in the cache before the request was submitted.
    is_in_cache: bool
    #: True when the cache has the answer now: it was there, or has been kept.
    is_stored: bool
    #: True when the answer is older than it should be.
    is_stale: bool
    #: "memory", "disk", "revalidated" or "network"; None where there is no answer.
    source: Optional[str]
    #: The HTTP status of the answer, or of the one that was no success; None where there is none.
    status: Optional[int]
    #: The answer, where no sizes were asked for.
    response: Optional[Response]
    #: The images, in the order of the sizes.
    images: List[Image]
    #: Why there is none.
    error: Optional[Error]
    #: Of "progress": whether it tells of the request's body; bytes of the body that are there, or have been sent, and
    #: that there will be (None: not known).
    is_upload: bool
    bytes_done: int
    bytes_total: Optional[int]
    #: Of "data": a piece of the answer's body.
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
                # Taken out one by one: what is left of them is the event's to release.
                image, handles[place] = ctypes.c_void_p(handles[place]), None
                self.images.append(Image(image, url))

    @property
    def image(self) -> Optional[Image]:
        """The first of the images."""
        return self.images[0] if self.images else None

    def result(self) -> T:
        """The response, the image of ``size``, or the images of ``sizes`` in a list; raises what went wrong."""
        if self.error is not None:
            raise self.error
        if self.response is not None:
            return cast(T, self.response)
        return cast(T, self.images if self._many else self.images[0])

    def __repr__(self) -> str:
        return f"<Event {self.kind}{' final' if self.is_final else ''} {shown(self.url)}>"


class Asked(Generic[T]):
    """What tickets have in common, however they are waited for."""

    def __init__(
        self,
        fetching: "Fetching",
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
        """Ends the request: its final event is "cancelled", unless it had one before."""
        quick.nh_cancel(self._handle)

    def set_priority(self, priority: int) -> None:
        """Gives it another place in the queue, -10 to 10, higher ones first."""
        if not -10 <= whole(priority, "priority") <= 10:
            raise error_for(abi.INVALID, f"priority must be -10 to 10, not {priority}", self.url)
        check(quick.nh_ticket_set_priority(self._handle, priority), self.url)

    def __del__(self, _release: Callable[[ctypes.c_void_p], int] = bare.nh_ticket_release) -> None:
        _release(self._handle)

    def __reduce__(self) -> Any:
        what = f"{type(self).__name__} belongs to its process, and is neither copied nor pickled"
        raise TypeError(f"a {what}: take its url, or what its result() gives")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {shown(self.url)}>"

    @property
    def _is_keyed(self) -> bool:
        """Whether the library keeps its ``Idempotency-Key`` and has to submit it again. Others are described anew: the
        library keeps nothing of a picture that it showed at once, and what they save to may be another file by now."""
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
        """What a function that was asked raised ends the request, and is raised by who waits for it."""
        self._failure = failure
        self.cancel()


class Ticket(Asked[T]):
    """A request under way. Letting go of a ticket never cancels it.

    >>> ticket = cache.submit(picture_url, size=64, priority=5)
    >>> ticket.result(timeout=30).size
    (64, 48)
    >>> ticket.state
    'done'
    """

    def __init__(
        self,
        fetching: "Fetching",
        handle: ctypes.c_void_p,
        url: str,
        size: Optional[Size],
        sizes: Any,
        options: Mapping[str, Any],
    ) -> None:
        super().__init__(fetching, handle, url, size, sizes, options)
        self._lock = threading.Lock()
        self._born = _forks

    def resubmit(self) -> "Ticket[T]":
        """The same request once more, whatever became of it; after a failure, for instance.

        A freezable one keeps its ``Idempotency-Key``, so that a server that has had it doesn't do it twice; once
        it has been seen to succeed (2xx), it is another request, with another key. It is sent with the body that it had
        at first. For other requests, an open file of a form is read once more from where it stood at first.

        :raises Invalid: when such a file can't seek, or has been closed.
        """
        size, sizes = self._wanted
        if self._is_keyed:
            handle = self._fetching._start_again(self._handle, self.url)
            return Ticket(self._fetching, handle, self.url, size, sizes, self._options)
        again = self._fetching.submit(self.url, size=size, sizes=sizes, **self._options)
        return cast("Ticket[T]", again)

    def events(self, timeout: Duration = None) -> Iterator[Event[T]]:
        """The events as they come, the final one last.

        :raises TimeoutError: when none came for ``timeout`` seconds.
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
        """Waits for the final event and gives its response, image, or images; raises its error.

        :param timeout: bounds the wait in seconds, and not the request.
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
        """The next event; None when none came, or another thread took the last one."""
        due = moment(timeout, time.monotonic())
        left = 0
        # In slices, because a signal's Python handler runs only between two calls. The first doesn't wait.
        while True:
            # One thread waits for all: the final event is given once, and is everybody's.
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
                # Whoever has the lock is not in this process.
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
