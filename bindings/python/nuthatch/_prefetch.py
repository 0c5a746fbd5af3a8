"""Fetches many URLs, a few at a time."""

from __future__ import annotations

import ctypes
import select
from collections import deque
from typing import (
    TYPE_CHECKING,
    Any,
    Deque,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
)

from . import _prototypes as abi
from ._arguments import wrong
from ._backlog import Backlog
from ._errors import BadURL, Closed, Denied, Error, error_for
from ._image import Image, Size
from ._library import bare, check, quick, shown
from ._progress import Progress
from ._questions import ask, tell
from ._queue import room
from ._response import Response
from ._saving import give, refuse_async
from ._sending import prepared
from ._sign_in import bind
from ._ticket import EVENT_SIZE, Event
from ._values import boxes_of, several

if TYPE_CHECKING:
    from ._fetching import Fetching

#: The most events that are taken at once.
BATCH = 64

#: After another process has held the cache's lock for so many milliseconds, nothing is fetched that must be stored.
HELD_UP = 30_000

#: Marks the end of the URLs.
END: Any = object()

#: The next step of a run (``Run.step``): cancel the requests under way, read a URL, or wait.
HOLD, READ, WAIT = object(), object(), object()


class Item:
    """The outcome of one URL of a :meth:`Cache.prefetch`."""

    __slots__ = (
        "error",
        "images",
        "index",
        "is_in_cache",
        "is_stored",
        "ok",
        "response",
        "source",
        "status",
        "url",
    )

    #: The position of the URL in ``urls``, from 0.
    index: int
    #: The URL as it was passed.
    url: str
    #: Whether the URL succeeded: there is no error, and the status is a success.
    ok: bool
    #: The error, or None.
    error: Optional[Error]
    #: With ``images=True``: the images in the order of the sizes; without sizes, the response.
    images: List[Image]
    response: Optional[Response]
    #: True if the answer was in the cache before.
    is_in_cache: bool
    #: True if the answer is in the cache now: it was there before, or has been stored.
    is_stored: bool
    #: "memory", "disk", "revalidated" or "network"; None if there is no answer.
    source: Optional[str]
    #: The HTTP status of the answer, also of an error; None if there is none.
    status: Optional[int]

    def __init__(self, index: int, url: str, error: Optional[Error] = None) -> None:
        self.index, self.url, self.error, self.ok = index, url, error, error is None
        self.images, self.response = [], None
        self.is_in_cache, self.is_stored, self.source, self.status = False, False, None, None

    @property
    def image(self) -> Optional[Image]:
        """The first of the images."""
        return self.images[0] if self.images else None

    def __repr__(self) -> str:
        return f"<Item {self.index} {'ok' if self.ok else self.error and self.error.code} {shown(self.url)}>"


def item(index: int, event: Event[Any], keeps: bool) -> Item:
    """Makes an item from a final event."""
    made = Item(index, event.url, event.error)
    made.is_in_cache, made.is_stored = event.is_in_cache, event.is_stored
    made.source, made.status = event.source, event.status
    if event.response is not None and not event.response.ok:
        made.ok = False
        made.error = error_for(
            abi.HTTP, f"HTTP {event.response.status}: {shown(event.response.final_url)}", event.url
        )
        made.error.status = made.status = event.response.status
    if keeps:
        made.images, made.response = event.images, event.response
    return made


class Run:
    """The state of a run, for both kinds of prefetch: the options, and the URLs that wait or are under way."""

    def __init__(
        self,
        urls: Any,
        sizes: Union[int, Sequence[Size]],
        progress: bool,
        keeps: bool,
        options: Dict[str, Any],
        base_url: Optional[str],
    ) -> None:
        given: Any = sizes
        self.sizes, self._keeps = several([given] if hasattr(given, "__index__") else given), keeps
        boxes_of(self.sizes, "")
        if isinstance(urls, (str, bytes)) or not (hasattr(urls, "__iter__") or hasattr(urls, "__aiter__")):
            raise wrong("urls", "an iterable of URLs", urls)
        if options.get("cache_key") is not None:
            raise error_for(
                abi.INVALID, "prefetch can't use cache_key: all URLs would share one answer", None
            )
        options.setdefault("delivery", "fresh")
        options.setdefault("priority", -5)
        options["_batched"] = True
        #: Whether the run only fills the cache. Then a request can be cancelled and started again.
        self._stores = options.get("method") in (None, "GET") and options.get("save_to") is None
        self.options = prepared(options, "")
        #: The URLs, which can be read only once.
        self.urls = bind(self.options, urls, base_url)
        total = len(urls) if hasattr(urls, "__len__") else None
        self._progress = Progress(total) if progress else None
        #: The URLs that were read and have not ended.
        self._backlog = Backlog(4 * room())
        self._count, self._is_open = 0, True
        #: Three collections: the requests under way, by number from 1; the numbers of those that were cancelled because
        #: nothing can be stored, and start again later; and the items that have not been given yet.
        self.under_way: Dict[int, Any] = {}
        self._recalled: Set[int] = set()
        self._ended: Deque[Item] = deque()

    @property
    def goes_on(self) -> bool:
        """Whether the run has a URL to read, a request to wait for, or an item to give."""
        return self._is_open or bool(self._backlog) or bool(self._ended)

    def step(self, cache: Optional[ctypes.c_void_p]) -> Any:
        """Returns the next step: ``HOLD``, ``READ``, ``WAIT``, or the number and the URL of a request to start.

        ``HOLD``: another process has held the cache's lock for long. A fetched answer would be lost. The log says so.
        """
        if self._stores and quick.nh_is_held_up(cache, HELD_UP) > 0:
            return HOLD
        following = self._backlog.next()
        return following or (READ if self._is_open and self._backlog.wants_more() else WAIT)

    @property
    def patience(self) -> float:
        """The longest wait in seconds. After it, the run checks which hosts are silent."""
        return 0.25 if self._is_open else 1

    def recall(self) -> List[Any]:
        """Returns the requests to cancel because nothing can be stored, and notes that they start again later."""
        numbers = [number for number in self.under_way if number not in self._recalled]
        self._recalled.update(numbers)
        return [self.under_way[number] for number in numbers]

    def read(self, url: Any) -> None:
        """Takes a URL that was read, or ``END``."""
        if url is END:
            self._is_open = False
            return
        self._count += 1
        if isinstance(url, str):
            self._backlog.add(self._count, url)
        else:
            # For example None, in a list with gaps.
            self.refuse(self._count, url, BadURL(f"{shown(repr(url))} is not a URL", "bad_url", url))

    def refuse(self, number: int, url: Any, error: Error) -> None:
        """Makes the item of a URL that can't start."""
        self._backlog.end(number, False)
        self._ended.append(Item(number - 1, url, error))

    def end(self, number: int, event: Event[Any]) -> None:
        """Takes the final event of a request."""
        one = item(number - 1, event, self._keeps)
        self._backlog.end(number, one.ok)
        is_recalled = number in self._recalled
        self._recalled.discard(number)
        if is_recalled and event.error is not None and event.error.code == "cancelled":
            self._backlog.add(number, event.url)
        else:
            self._ended.append(one)

    def items(self) -> Iterator[Item]:
        """Gives the items of URLs that have ended since the last call."""
        while self._ended:
            one = self._ended.popleft()
            if self._progress is not None:
                self._progress.add(one.ok)
            yield one

    def close(self) -> None:
        if self._progress is not None:
            self._progress.close()


def prefetch(
    fetching: Fetching,
    urls: Iterable[str],
    sizes: Union[int, Sequence[Size]],
    progress: bool,
    keeps: bool,
    options: Dict[str, Any],
) -> Iterator[Item]:
    """Gives the items of URLs, in the order in which they end."""
    fetching._cache._usable(None)
    run = Run(urls, sizes, progress, keeps, options, getattr(fetching, "base_url", None))
    refuse_async(run.options.get("save_to"), "")
    return _items(fetching, iter(run.urls), run)


def _items(fetching: Fetching, urls: Iterator[str], run: Run) -> Iterator[Item]:
    # Use another handle, so that no other thread takes the events of this run, and the run takes no events of others.
    cache = fetching._cache._twin()
    mine: Optional[Fetching] = None
    try:
        mine = fetching._for(cache)
        arrivals = Arrivals(cache._usable(None))
        descriptor = select.poll()
        descriptor.register(arrivals.descriptor, select.POLLIN)
        # The same options for all requests. The library gives each freezable one its own Idempotency-Key.
        options = mine._complete("", dict(run.options))
        while run.goes_on:
            step = run.step(cache._usable(None))
            if step is HOLD:
                for _, ticket in run.recall():
                    quick.nh_cancel(ticket)
                descriptor.poll(100)
            elif step is READ:
                run.read(next(urls, END))
            elif step is WAIT:
                # Ctrl-C ends the wait. Closing the cache makes the descriptor readable.
                descriptor.poll(1000 * run.patience)
            else:
                number, url = step
                try:
                    run.under_way[number] = (url, mine._start(url, None, run.sizes, options, number))
                except (BadURL, Denied) as error:
                    run.refuse(number, url, error)
            # Take events after each step: hits end at once.
            for number, event in arrivals.take(run.under_way, options):
                run.end(number, event)
            fetching._cache._usable(None)
            yield from run.items()
    finally:
        for _, ticket in run.under_way.values():
            quick.nh_cancel(ticket)
            bare.nh_ticket_release(ticket)
        fetching._twins.discard(mine)
        fetching._cache._twins.discard(cache)
        cache.close()
        run.close()


class Arrivals:
    """Takes the events of a handle's numbered requests."""

    def __init__(self, cache: ctypes.c_void_p) -> None:
        self._cache = cache
        #: Readable while there are events.
        self.descriptor: int = quick.nh_fd(cache)
        if self.descriptor < 0:
            check(-self.descriptor)
        self._places = (abi.nh_event * BATCH)()
        self._told = [self._places[place] for place in range(BATCH)]

    def poll(self) -> List[abi.nh_event]:
        """Returns up to ``BATCH`` events. They are valid until the next call, and the caller must clear each."""
        count = quick.nh_poll(self._cache, self._places, BATCH, EVENT_SIZE.value)
        if count < 0:
            if -count == abi.INVALID:
                raise Closed("the cache has been closed", "closed")
            check(-count)
        return self._told[:count]

    def take(
        self, under_way: Dict[int, Tuple[str, ctypes.c_void_p]], options: Mapping[str, Any]
    ) -> List[Tuple[int, Event[Any]]]:
        """Takes all events that are there, and returns the final ones. Releases their tickets, and removes them from
        ``under_way``."""
        ended = []
        told = self.poll()
        try:
            for one in told:
                number = one.user_data or 0
                known = under_way.get(number)
                if known is None:
                    continue
                url, ticket = known
                question = one.question
                event: Event[Any] = Event(one, url, True)
                if question:
                    tell(ticket, question, ask(options, question, event), url)
                elif event.kind == "data":
                    give(options.get("save_to"), event.data, url)
                elif event.is_final:
                    del under_way[number]
                    bare.nh_ticket_release(ticket)
                    ended.append((number, event))
        finally:
            for one in told:
                bare.nh_event_clear(ctypes.byref(one))
        return ended
