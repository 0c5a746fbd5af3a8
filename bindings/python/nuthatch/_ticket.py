"""Requests under way."""

import ctypes
import threading
import time
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Union

from . import _prototypes as abi
from ._errors import Error, error_for
from ._image import SOURCES, Image
from ._library import check, library
from ._response import Response

if TYPE_CHECKING:
    from ._cache import Cache

#: A blocking call looks this often (in milliseconds) whether Ctrl-C was pressed.
PATIENCE = 100

_KINDS = {
    abi.EVENT_PROGRESS: "progress",
    abi.EVENT_CACHED: "cached",
    abi.EVENT_UNCHANGED: "unchanged",
    abi.EVENT_FRESH: "fresh",
    abi.EVENT_FAILED: "failed",
    abi.EVENT_CANCELLED: "cancelled",
    abi.EVENT_FROZEN: "frozen",
    abi.EVENT_QUESTION: "question",
}
_STATES = {
    abi.TICKET_QUEUED: "queued",
    abi.TICKET_RUNNING: "running",
    abi.TICKET_DONE: "done",
    abi.TICKET_CANCELLED: "cancelled",
}


class Event:
    """What happened to a request. Exactly one event of a ticket is final, and it is the last."""

    __slots__ = (
        "bytes_done",
        "bytes_total",
        "error",
        "images",
        "is_final",
        "is_in_cache",
        "is_stale",
        "kind",
        "response",
        "source",
        "url",
    )

    #: "progress", "cached", "unchanged", "fresh", "failed" or "cancelled".
    kind: str
    is_final: bool
    #: True when the bytes were in the cache before the request was submitted.
    is_in_cache: bool
    #: True when the answer is older than it should be.
    is_stale: bool
    #: "memory", "disk", "revalidated" or "network"; None where there is no answer.
    source: Optional[str]
    #: The answer, where no sizes were asked for.
    response: Optional[Response]
    #: The images, in the order of the sizes.
    images: List[Image]
    #: Why there is none.
    error: Optional[Error]
    #: Of "progress": bytes of the body that are there, and that there will be (None: not known).
    bytes_done: int
    bytes_total: Optional[int]
    #: The URL as it was passed.
    url: str

    def __init__(self, told: abi.nh_event, url: str) -> None:
        self.url = url
        self.kind = _KINDS.get(told.kind, "failed")
        self.is_final = bool(told.is_final)
        self.is_in_cache = bool(told.is_in_cache)
        self.is_stale = bool(told.is_stale)
        self.source = SOURCES.get(told.source)
        self.bytes_done = told.bytes_done
        self.bytes_total = None if told.bytes_total < 0 else told.bytes_total
        self.error = None
        if told.code != abi.OK:
            message = ctypes.string_at(told.message).decode("utf-8", "replace") if told.message else ""
            self.error = error_for(told.code, message, url)
            self.error.status = told.http_status or None
            self.error.retry_after = told.retry_after if told.retry_after > 0 else None
        self.response = None
        if told.response:
            handle, told.response = told.response, None
            self.response = Response(handle, url)
        self.images = []
        if told.images:
            handles = (ctypes.c_void_p * told.image_count).from_address(told.images)
            for place in range(told.image_count):
                # Taken out one by one: what is left of them is the event's to release.
                handle, handles[place] = handles[place], None
                self.images.append(Image(handle, url))

    @property
    def image(self) -> Optional[Image]:
        """The first of the images."""
        return self.images[0] if self.images else None

    def result(self) -> Union[Response, Image, List[Image]]:
        """The response, the image, or the images of several sizes; raises the error where there is one."""
        if self.error is not None:
            raise self.error
        if self.response is not None:
            return self.response
        return self.images[0] if len(self.images) == 1 else self.images

    def __repr__(self) -> str:
        return f"<Event {self.kind}{' final' if self.is_final else ''} {self.url}>"


class Ticket:
    """A request under way. Letting go of a ticket never cancels it.

    >>> ticket = cache.submit(picture_url, size=64, priority=5)
    >>> ticket.result(timeout=30).size
    (64, 48)
    >>> ticket.state
    'done'
    """

    def __init__(self, cache: "Cache", handle: int, url: str, arguments: Dict[str, Any]) -> None:
        #: The URL as it was passed.
        self.url = url
        self._cache = cache
        self._handle = handle
        self._arguments = arguments
        self._final: Optional[Event] = None
        self._lock = threading.Lock()

    @property
    def state(self) -> str:
        """ "queued", "running", "done" or "cancelled"."""
        state = ctypes.c_uint32()
        check(library.nh_ticket_state(self._handle, ctypes.byref(state)), self.url)
        return _STATES.get(state.value, "done")

    def cancel(self) -> None:
        """Ends the request: its final event is "cancelled", unless it had one before."""
        library.nh_cancel(self._handle)

    def set_priority(self, priority: int) -> None:
        """Gives it another place in the queue, -10 to 10, higher ones first."""
        check(library.nh_set_priority(self._handle, priority), self.url)

    def resubmit(self) -> "Ticket":
        """The same request once more."""
        return self._cache.submit(self.url, **self._arguments)

    def events(self, timeout: Optional[float] = None) -> Iterator[Event]:
        """The events as they come, the final one last.

        :raises TimeoutError: when none came for ``timeout`` seconds.
        """
        while self._final is None:
            event = self._next(timeout)
            if event is None:
                if self._final is not None:
                    break
                raise error_for(abi.TIMEOUT, f"no event within {timeout} s: {self.url}", self.url)
            yield event

    def result(self, timeout: Optional[float] = None) -> Union[Response, Image, List[Image]]:
        """Waits for the final event and gives its response, image, or images; raises its error.

        :param timeout: bounds the wait in seconds, and not the request.
        """
        due = None if timeout is None else time.monotonic() + timeout
        while self._final is None:
            left = None if due is None else max(0.0, due - time.monotonic())
            if self._next(left) is None and self._final is None:
                raise error_for(abi.TIMEOUT, f"no answer within {timeout} s: {self.url}", self.url)
        return self._final.result()

    def _next(self, timeout: Optional[float]) -> Optional[Event]:
        """The next event; None when none came, or another thread took the last one."""
        due = None if timeout is None else time.monotonic() + timeout
        # In slices, because a signal's Python handler runs only between two calls.
        while True:
            left = PATIENCE if due is None else min(PATIENCE, int((due - time.monotonic()) * 1000))
            # One thread waits for all: the final event is given once, and is everybody's.
            if self._lock.acquire(timeout=max(0, left) / 1000):
                try:
                    if self._final is not None:
                        return None
                    event = self._take(max(0, left))
                finally:
                    self._lock.release()
                if event is not None:
                    return event
            if due is not None and time.monotonic() >= due:
                return None

    def _take(self, milliseconds: int) -> Optional[Event]:
        told = abi.nh_event()
        status = library.nh_wait(self._handle, milliseconds, ctypes.byref(told), ctypes.sizeof(told))
        if status == abi.TIMEOUT:
            return None
        check(status, self.url)
        try:
            event = Event(told, self.url)
        finally:
            library.nh_event_clear(ctypes.byref(told))
        if event.is_final:
            self._final = event
        return event

    def __del__(self) -> None:
        library.nh_ticket_release(self._handle)

    def __repr__(self) -> str:
        return f"<Ticket {self.url}>"
