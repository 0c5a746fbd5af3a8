"""The outbox: requests that wait for the network, and their outcomes."""

from __future__ import annotations

import ctypes
import select
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple, Union

from . import _prototypes as abi
from ._arguments import called, fields
from ._errors import error_for
from ._frozen import FrozenRequest, Outcome
from ._library import bare, encode, library, quick
from ._quantities import Duration, lasting, left_until, moment
from ._response import Response
from ._ticket import EVENT_SIZE, PATIENCE

if TYPE_CHECKING:
    from ._cache import Cache
else:
    # Not imported: that module imports this one. At run time, the type hint is Any.
    Cache = Any

#: A secret, or a function that gets the provider's name and returns the secret; None if it is unknown.
Secret = Union[str, Callable[[str], Optional[str]], None]


class Listeners:
    """The functions of a cache that get events without a ticket. They are kept when the handle changes."""

    def __init__(self) -> None:
        self.handlers: Dict[str, Callable[[Outcome], Any]] = {}
        self.providers: Dict[str, Callable[[str], Any]] = {}
        self.sites: Dict[str, Callable[[bool], Any]] = {}
        #: One thread takes events at a time.
        self.lock = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self.handlers or self.providers or self.sites)


#: An event without a ticket: its kind, a name, and a number.
News = Tuple[int, str, int]


def heard(event: abi.nh_event) -> News:
    """Reads an event without a ticket, and clears it."""
    try:
        text = ctypes.string_at(event.message) if event.message else b""
        number = event.outbox_id if event.kind == abi.EVENT_OUTCOME else event.is_reachable
        return event.kind, text.decode("utf-8", "replace"), number
    finally:
        bare.nh_event_clear(ctypes.byref(event))


class Outbox:
    """The requests of a directory that wait for the network, and their outcomes: :attr:`Cache.outbox`.

    They survive restarts and power loss. They are sent in their order by a process that has the directory open without
    ``outbox="off"``. Calls may wait for the disk.

    >>> cache.outbox.attach("rows", lambda outcome: print(outcome.ok, outcome.request.method))
    >>> try:
    ...     cache.request("POST", offline_url, json={"seeds": 3}, freezable=True, outbox_handler="rows")
    ... except nuthatch.Frozen as frozen:
    ...     item = cache.outbox.get(frozen.outbox_id)
    >>> item.method, item.handler, item.body_size
    ('POST', 'rows', 12)
    >>> cache.outbox.drop(item.id), cache.outbox.list()
    (True, [])
    """

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    # Reading

    def list(self) -> List[FrozenRequest]:
        """Returns all requests, in the order in which they are sent."""
        found: List[FrozenRequest] = []
        while True:
            one = self._take("nh_outbox_next", found[-1].id if found else 0)
            if one is None:
                return found
            found.append(one)

    def get(self, id: int) -> Optional[FrozenRequest]:
        """Returns the request with this number, or None."""
        one = self._take("nh_outbox_next", _number(id) - 1)
        return one if one is not None and one.id == id else None

    def outcome(self, id: int) -> Optional[Outcome]:
        """Returns the outcome of a request, or None if it has not ended or no request has this number.

        The outcome stays until it is collected or dropped. Process it first and then call :meth:`drop`: if the process
        is killed in between, the outcome is still there.
        """
        request = self.get(id)
        if request is None or request.state not in ("done", "dead"):
            return None
        answer = ctypes.c_void_p()
        status = self._cache._call(
            lambda cache: library.nh_outbox_response(cache, id, ctypes.byref(answer)),
            None,
            (abi.OK, abi.INVALID),
        )
        return Outcome(request, Response(answer, request.url) if status == abi.OK else None)

    def collect(self, id: int) -> Optional[Outcome]:
        """Returns the outcome of a request, or None if it has not ended. A request that is done is removed; one that is
        dead stays."""
        outcome = self.outcome(id)
        if outcome is not None and outcome.ok:
            self.drop(id)
        return outcome

    def wait(self, id: int, timeout: Duration = None) -> Outcome:
        """Waits until a request has ended, and returns its outcome, which stays. Calls :meth:`dispatch` meanwhile.

        :raises TimeoutError: if it has not ended after ``timeout`` seconds.
        :raises Invalid: if no request has this number.
        """
        due = moment(timeout, time.monotonic())
        while True:
            outcome = self.outcome(id)
            if outcome is not None:
                return outcome
            if self.get(id) is None:
                raise error_for(abi.INVALID, f"there is no request {id} in the outbox", None)
            if due is not None and time.monotonic() >= due:
                raise error_for(abi.TIMEOUT, f"request {id} has not ended after {lasting(timeout)}", None)
            self.dispatch(0.05)

    # Changing

    def replay(self, id: Optional[int] = None) -> int:
        """Sends a request that is dead or waits, as soon as it is first in its queue; without a number, all of them.
        Times and attempts count again from zero. Returns the number of these requests."""
        number = 0 if id is None else _number(id)
        return self._cache._call(lambda cache: library.nh_outbox_replay(cache, number), counts=True)

    def drop(self, id: int) -> bool:
        """Removes a request and its outcome: it is never sent after this. Returns False if no request has this number.

        :raises Conflict: if another process is sending it.
        """
        number = _number(id)
        status = self._cache._call(
            lambda cache: library.nh_outbox_drop(cache, number), None, (abi.OK, abi.INVALID)
        )
        return status == abi.OK

    # Listening

    def attach(self, handler: str, function: Callable[[Outcome], Any]) -> None:
        """Delivers the outcomes of requests with this handler to a function: also earlier ones, those of other
        processes, and those from before a restart.

        :meth:`dispatch` and :meth:`wait` call the function, on their own thread. With :class:`AsyncCache` it runs on
        the event loop, and may be ``async``. When it returns, a request that is done is removed. An exception of the
        function is raised by ``dispatch`` or ``wait``. Then the outcome stays, and is delivered again when the
        directory is opened next. So each outcome is delivered at least once.
        """
        name = encode(handler, "handler")
        self._cache._listeners.handlers[handler] = called(function, "function")
        self._cache._call(lambda cache: library.nh_outbox_attach(cache, name, None, None))

    def detach(self, handler: str) -> None:
        """Stops delivering the outcomes of requests with this handler."""
        name = encode(handler, "handler")
        self._cache._listeners.handlers.pop(handler, None)
        self._cache._call(lambda cache: quick.nh_outbox_detach(cache, name))

    def provide(self, provider: str, secret: Secret) -> None:
        """Sets the secret of a provider. It is kept in memory only. None removes it.

        A function is called when a freezable request with this provider is submitted, on the same thread. It is called
        by :meth:`dispatch` and :meth:`wait` if requests wait for the secret, or the server has refused it. It returns
        the secret, or None; then the requests go on waiting.
        """
        name = encode(provider, "provider")
        listeners = self._cache._listeners
        if callable(secret):
            listeners.providers[provider] = secret
            self._cache._call(lambda cache: library.nh_outbox_ask(cache, name, None, None))
            return
        # A secret replaces an earlier function.
        listeners.providers.pop(provider, None)
        self._put(provider, secret)

    def dispatch(self, timeout: Duration = 0) -> int:
        """Calls the functions for outcomes, secrets and the reachability of sites, on this thread, for all events that
        have come. Returns the number of events.

        :param timeout: the longest wait for the first event, in seconds; None: no limit. Ctrl-C ends the wait.
        """
        due = moment(timeout, time.monotonic())
        ready = select.poll()
        descriptor = self._cache._call(quick.nh_fd, counts=True)
        ready.register(descriptor, select.POLLIN)
        while True:
            told = self._told()
            left = left_until(due, time.monotonic(), PATIENCE)
            if told or left == 0:
                return told
            ready.poll(left)

    # How it is done

    def _told(self) -> int:
        """Calls the functions for the events that are there. Takes one event at a time, so that no event is lost if a
        function raises."""
        count = 0
        event = abi.nh_event()
        while True:
            with self._cache._listeners.lock:
                taken = self._cache._call(
                    lambda cache: quick.nh_poll(cache, ctypes.byref(event), 1, EVENT_SIZE.value), counts=True
                )
            if taken == 0:
                return count
            count += 1
            tell, told = self._listener(heard(event))
            if tell is not None:
                given = tell(told)
                if hasattr(given, "__await__"):
                    given.close()
                    raise error_for(
                        abi.INVALID, "an async function can't be called here; AsyncCache can", None
                    )
                self._settle(told, given)

    def _listener(self, news: News) -> Tuple[Optional[Callable[[Any], Any]], Any]:
        """Returns the function for an event, or None, and its argument."""
        kind, name, number = news
        listeners = self._cache._listeners
        if kind == abi.EVENT_OUTCOME:
            outcome = self.outcome(number)
            # Another thread or process may have collected it meanwhile.
            if outcome is None:
                return None, None
            return listeners.handlers.get(outcome.request.handler or ""), outcome
        if kind == abi.EVENT_REACHABILITY:
            return listeners.sites.get(name), bool(number)
        return listeners.providers.get(name), name

    def _settle(self, told: Any, given: Any) -> None:
        if isinstance(told, Outcome):
            if told.ok:
                self.drop(told.id)
        elif isinstance(told, str) and given is not None:
            self._put(told, given)

    def _put(self, provider: str, secret: Optional[str]) -> None:
        name, value = encode(provider, "provider"), None if secret is None else encode(secret, "secret")
        self._cache._call(lambda cache: library.nh_outbox_provide(cache, name, value))

    def _prepare(self, options: Dict[str, Any]) -> None:
        """Calls the functions for the secrets of a request before it is submitted."""
        providers = [given[-1] if isinstance(given, tuple) else given for _, given in secret_list(options)]
        providers.append(options.get("password_provider"))
        for provider in providers:
            function = self._cache._listeners.providers.get(provider or "")
            given: Any = None if function is None else function(provider)
            if hasattr(given, "__await__"):
                given.close()
            elif given is not None:
                self._put(provider, given)

    def _listen_again(self, cache: ctypes.c_void_p) -> None:
        """Registers the handlers and providers with a new handle."""
        listeners = self._cache._listeners
        for handler in list(listeners.handlers):
            library.nh_outbox_attach(cache, handler.encode(), None, None)
        for provider in list(listeners.providers):
            library.nh_outbox_ask(cache, provider.encode(), None, None)

    def _take(self, function: str, number: int) -> Optional[FrozenRequest]:
        handle = ctypes.c_void_p()
        call = getattr(library, function)
        self._cache._call(lambda cache: call(cache, number, ctypes.byref(handle)))
        if not handle:
            return None
        try:
            return FrozenRequest(handle)
        finally:
            quick.nh_frozen_release(handle)


def secret_list(options: Dict[str, Any]) -> List[Tuple[str, Any]]:
    """Returns the option ``secrets`` as pairs of a header's name and its provider."""
    return fields(options.get("secrets"), "secrets")


def _number(id: int) -> int:
    if not isinstance(id, int) or not 0 < id < 2**64:
        raise error_for(abi.INVALID, f"the number of a request must be positive, not {id!r}", None)
    return id
