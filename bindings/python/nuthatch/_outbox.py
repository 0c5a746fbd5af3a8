"""Requests that wait for the network, and what came of them."""

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
    # Which loads this; type hints that are read at run time say no more.
    Cache = Any

#: A secret, or a function that is asked for it with the provider's name; None where it isn't known.
Secret = Union[str, Callable[[str], Optional[str]], None]


class Listeners:
    """Who listens for what comes without a ticket: of a cache, whatever handle it has."""

    def __init__(self) -> None:
        self.handlers: Dict[str, Callable[[Outcome], Any]] = {}
        self.providers: Dict[str, Callable[[str], Any]] = {}
        self.sites: Dict[str, Callable[[bool], Any]] = {}
        #: One thread takes events at a time.
        self.lock = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self.handlers or self.providers or self.sites)


#: What an event of no ticket tells: its kind, a name, and a number.
News = Tuple[int, str, int]


def heard(event: abi.nh_event) -> News:
    """What an event of no ticket tells; it is given back."""
    try:
        text = ctypes.string_at(event.message) if event.message else b""
        number = event.outbox_id if event.kind == abi.EVENT_OUTCOME else event.is_reachable
        return event.kind, text.decode("utf-8", "replace"), number
    finally:
        bare.nh_event_clear(ctypes.byref(event))


class Outbox:
    """The requests of a directory that wait for the network, and what came of them: :attr:`Cache.outbox`.

    They survive restarts and losses of power, and are sent, in their order, by whatever process has the directory open
    without ``outbox="off"``. Calls may wait for the disk.

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

    def __init__(self, cache: "Cache") -> None:
        self._cache = cache

    # Looking

    def list(self) -> "List[FrozenRequest]":
        """All requests, in the order in which they are sent."""
        found: List[FrozenRequest] = []
        while True:
            one = self._take("nh_outbox_next", found[-1].id if found else 0)
            if one is None:
                return found
            found.append(one)

    def get(self, id: int) -> Optional[FrozenRequest]:
        """The request of a number; None when there is none."""
        one = self._take("nh_outbox_next", _number(id) - 1)
        return one if one is not None and one.id == id else None

    def outcome(self, id: int) -> Optional[Outcome]:
        """What came of a request; None while it hasn't ended, and when there is none of that number.

        It stays until it is collected or dropped. Who makes something of it first, and calls :meth:`drop` then, doesn't
        lose it to a kill in between.
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
        """What came of a request that is done, which is forgotten then; None while it hasn't ended. What was put aside
        is given, too, and stays."""
        outcome = self.outcome(id)
        if outcome is not None and outcome.ok:
            self.drop(id)
        return outcome

    def wait(self, id: int, timeout: Duration = None) -> Outcome:
        """Waits until a request has ended, and gives its outcome, which stays. Meanwhile it does what
        :meth:`dispatch` does.

        :raises TimeoutError: when it hasn't ended after ``timeout`` seconds.
        :raises Invalid: when there is none of that number.
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

    # Deciding

    def replay(self, id: Optional[int] = None) -> int:
        """Sends a request that was put aside, or waits, as soon as it is its turn; without a number all of them.
        Times and attempts count from now on. How many there are."""
        number = 0 if id is None else _number(id)
        return self._cache._call(lambda cache: library.nh_outbox_replay(cache, number), counts=True)

    def drop(self, id: int) -> bool:
        """Forgets a request, or its outcome: it is never sent after this. False when there is none of that number.

        :raises Conflict: while another process is sending it.
        """
        number = _number(id)
        status = self._cache._call(
            lambda cache: library.nh_outbox_drop(cache, number), None, (abi.OK, abi.INVALID)
        )
        return status == abi.OK

    # Listening

    def attach(self, handler: str, function: Callable[[Outcome], Any]) -> None:
        """Has outcomes of requests with this handler given to a function, those from before among them, also of other
        processes and from before a restart.

        It is called by :meth:`dispatch` and :meth:`wait`, on the thread that calls these; of an :class:`AsyncCache`
        on the event loop, where it may be ``async``. What it has returned from is collected when the request is
        done. What it raises is raised there, and the outcome stays, for the next that opens the directory: at least
        once, therefore.
        """
        name = encode(handler, "handler")
        self._cache._listeners.handlers[handler] = called(function, "function")
        self._cache._call(lambda cache: library.nh_outbox_attach(cache, name, None, None))

    def detach(self, handler: str) -> None:
        """They aren't any more."""
        name = encode(handler, "handler")
        self._cache._listeners.handlers.pop(handler, None)
        self._cache._call(lambda cache: quick.nh_outbox_detach(cache, name))

    def provide(self, provider: str, secret: Secret) -> None:
        """Tells the secret of a provider, which is kept in memory only; None takes it back.

        A function is asked when a freezable request with it is submitted, on that thread; and for requests
        that wait for it, or whose secret the server has refused, where :meth:`attach` says. It gives the secret, or
        None: the requests wait on.
        """
        name = encode(provider, "provider")
        listeners = self._cache._listeners
        if callable(secret):
            listeners.providers[provider] = secret
            self._cache._call(lambda cache: library.nh_outbox_ask(cache, name, None, None))
            return
        # What was said last holds.
        listeners.providers.pop(provider, None)
        self._put(provider, secret)

    def dispatch(self, timeout: Duration = 0) -> int:
        """Calls the functions that listen for outcomes, secrets and the reachability of sites, on this thread, for what
        has come. How many.

        :param timeout: the longest wait for the first, in seconds; None waits for ever. Ctrl-C ends the wait.
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
        """Tells what is there. One event at a time, so that what a function raises loses nothing."""
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
        """Who is to be told, and what."""
        kind, name, number = news
        listeners = self._cache._listeners
        if kind == abi.EVENT_OUTCOME:
            outcome = self.outcome(number)
            # Somebody else may have collected it meanwhile.
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
        """Asks for the secrets of a request that is about to be submitted."""
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
        """Has a new handle hear of what those before did."""
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
    """Of ``secrets``: headers' names, and who knows what they hold."""
    return fields(options.get("secrets"), "secrets")


def _number(id: int) -> int:
    if not isinstance(id, int) or not 0 < id < 2**64:
        raise error_for(abi.INVALID, f"the number of a request must be positive, not {id!r}", None)
    return id
