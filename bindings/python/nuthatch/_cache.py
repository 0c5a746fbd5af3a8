"""Caches."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
import time
from types import TracebackType
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Set,
    Tuple,
    Type,
    TypeVar,
    Union,
    cast,
)

from . import _log
from . import _prototypes as abi
from ._arguments import called
from ._errors import Closed, Error, error_for
from ._fetching import Fetching
from ._image import Image, ImageHandle, Size, put_handle, put_url
from ._in_force import empty, told
from ._later import _wishes, loading
from ._library import bare, check, encode, last_message, last_status, library, quick
from ._options import CACHE, options_struct, ready, squares
from ._outbox import Listeners, Outbox
from ._pickling import added_to, copied, remade
from ._quantities import ByteCount, Duration, amount, left_until, moment
from ._response import Response, put_answer, put_answers_url, put_body, put_place
from ._secrets import refuse_secrets, resolved
from ._signatures import explained
from ._site import Site
from ._stats import Stats
from ._ticket import PATIENCE
from ._values import QUESTIONS, encode_path, repeatable

T = TypeVar("T")

#: Held while a cache opens itself again in a forked child. Several threads may try it at the same time.
_reopening = threading.Lock()


def _renew_lock() -> None:
    global _reopening
    _reopening = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)

_peek = bare.nh_peek
_peek.restype = ImageHandle
_thumbnail_now = bare.nh_thumbnail_now
_thumbnail_now.restype = ImageHandle
_get_now = bare.nh_get_now
_tells_all = _log.tells_all
_byref = ctypes.byref
_place = ctypes.c_void_p
_found = abi.nh_found
_new = object.__new__
_ODD = (TypeError, ValueError, AttributeError, ctypes.ArgumentError)


@explained
class Cache(Fetching):
    """A cache directory, and requests through it. A context manager. Any thread may use it.

    An option that is not given has its default. ``None`` means no limit or off where the list below says so;
    elsewhere it means the default. An option of a site or a request overrides that of the cache.

    ``secrets={"Authorization": ("Bearer ", "env:TOKEN")}`` reads a header's value from an environment variable, and
    ``proxy="env:NAME"`` the proxy. A pickle holds only the names of these variables. A cache with ``headers`` that may
    be secrets can't be pickled. Functions such as ``ask_headers`` are called for each request, also for those of sites.

    :param path: the directory. If it is missing, it is created. ``None``: ``$NUTHATCH_CACHE``, else
        ``$XDG_CACHE_HOME/nuthatch``, else ``~/.cache/nuthatch``.

    >>> with nuthatch.Cache(directory) as cache:
    ...     cache.get(url).status
    200
    """

    def __init__(
        self,
        path: Union[str, os.PathLike[str], None] = None,
        **options: _wishes.Unpack[_wishes.CacheWishes],
    ) -> None:
        given: Any = {"path": path, **options}
        repeatable(given)
        #: The arguments, for pickles and copies.
        self._arguments: Any = given
        self._handle: Optional[ctypes.c_void_p] = None
        #: The handle as an argument for ctypes, for look-ups of hits. None if requests have questions.
        self._plain: Any = None
        #: Other handles of the directory that belong to this cache, for example for a prefetch.
        self._twins: Set[Cache] = set()
        self._asks = {name: called(given[name], name) for name in QUESTIONS if given.get(name) is not None}
        self._listeners: Listeners = Listeners()
        #: Set by another thread to end the waits of this cache's close.
        self._is_hurried: bool = False
        self._path: Optional[bytes] = None if path is None else encode_path(path, None)
        #: The arguments with the values of the secrets.
        self._resolved: Dict[str, Any] = resolved(given)
        own = {
            name: self._resolved[name] for name in self._resolved if name != "path" and name not in QUESTIONS
        }
        self._options: abi.nh_options
        self._kept: List[Any]
        self._options, self._kept = options_struct(own, CACHE)
        _log.follow()
        self._open()

    # Thumbnails at once

    def peek(
        self, url: str, size: Size, *, decode: bool = False, **options: _wishes.Unpack[_wishes.Peeking]
    ) -> Optional[Image]:
        """Returns a thumbnail that can be shown at once: it is fresh, and in memory or stored as pixels on disk.

        Returns ``None`` if it would take longer. Never uses the network, and never waits.

        :param decode: whether to decode a thumbnail that is stored compressed.

        >>> cache.peek("http://example.org/never-asked-for.png", 64) is None
        True
        >>> image = cache.thumbnail(picture_url, 64)
        >>> cache.peek(picture_url, 64).size
        (64, 48)
        """
        # The fast path. Unusual arguments and errors take the slow path, `_sight`, which raises the right error.
        if not decode:
            try:
                place = _place_of(size, options)
                if place is not None and "\0" not in url:
                    found = _peek(self._plain, url.encode(), place)
                    if found:
                        image = _new(Image)
                        put_handle(image, found)
                        put_url(image, url)
                        return image
                    if last_status() == abi.OK:
                        return None
            except _ODD:
                pass
        return self._sight(url, size, decode, dict(options))

    def get(self, url: str, **options: _wishes.Unpack[_wishes.Wishes]) -> Response:
        place = ready(options) if options else None
        if place is not None or not options:
            response = self._stored(url, place)
            if response is not None:
                return response
        return super().get(url, **options)

    def thumbnail(self, url: str, size: Size, **options: _wishes.Unpack[_wishes.Wishes]) -> Image:
        image = self._ready(url, size, options)
        if image is not None:
            return image
        return super().thumbnail(url, size, **options)

    # Requests under way

    def cancel_all(self, tag: Optional[str] = None) -> None:
        """Cancels the requests that are under way, or only those with a tag."""
        struct = abi.nh_options(ctypes.sizeof(abi.nh_options))
        if tag is not None:
            struct.tag = encode(tag, "tag")
        self._call(lambda handle: quick.nh_cancel_all(handle, _byref(struct)))
        for _ in self._of_twins(lambda twin: twin.cancel_all(tag)):
            pass

    def wait_idle(self, timeout: Duration = None) -> bool:
        """Waits until no request is under way. Returns False after ``timeout`` seconds."""
        due = moment(timeout, time.monotonic())
        while True:
            left = left_until(due, time.monotonic(), PATIENCE)
            if self._wait_idle(left) and all(self._of_twins(lambda twin: twin._wait_idle(left))):  # noqa: B023
                return True
            if due is not None and time.monotonic() >= due:
                return False

    @property
    def activity(self) -> int:
        """The number of requests under way: queued, running, or waiting for a retry."""
        told = abi.nh_statistics(ctypes.sizeof(abi.nh_statistics))
        self._call(lambda handle: quick.nh_stats(handle, _byref(told)))
        return int(told.activity) + sum(self._of_twins(lambda twin: twin.activity))

    @property
    def options(self) -> _wishes.CacheWishes:
        """The options of its requests: the given ones and the defaults. Options of the directory are those that it was
        first opened with in this process. ``None`` means no limit. Options without a value are missing. Values of
        secret headers are ``***``.

        >>> cache.options["retries"], cache.options["policy"]
        (3, 'kit')
        """
        struct = empty()
        self._call(lambda handle: quick.nh_cache_get_options(handle, _byref(struct)))
        return cast("_wishes.CacheWishes", told(struct, CACHE))

    # Sites, the outbox and stored answers

    def site(self, base_url: str, **options: _wishes.Unpack[_wishes.SiteWishes]) -> Site:
        """Returns a site: a base URL and the options that requests to it share.

        User and password are sent to the base URL's origin only. With ``user=(name, "")`` and
        ``password_provider="env:NAME"`` the environment variable has the password. ``secrets`` work as in
        :class:`Cache`. A site whose secrets are given in this way can be pickled. Sites with the same base URL, user
        and partition share their cookies. An option that is not given is that of the cache. A question that is None is
        not asked.
        """
        return Site(self, base_url, dict(options))

    @property
    def outbox(self) -> Outbox:
        """The requests that wait for the network, and their outcomes."""
        return Outbox(self)

    def remove(self, url: str, **options: _wishes.Unpack[_wishes.Naming]) -> None:
        """Removes all stored answers of a URL, for all credentials and partitions. Its next request asks the server.

        After this returns, no process gets from the cache an answer that was requested before.

        With options, removes only the answer that a request with these options would get.
        """
        if options:
            described = self._complete(url, dict(options))
            self._with_options(url, None, None, described, library.nh_remove)
        else:
            address = encode(url, "url")
            self._call(lambda handle: library.nh_remove(handle, address, None), url)

    def clear(self) -> None:
        """Removes everything that is stored."""
        self._call(library.nh_clear)

    def trim(self, disk_bytes: ByteCount) -> None:
        """Removes the records that were not used for the longest time, until ``disk_bytes`` or less are on disk."""
        most = amount(disk_bytes, "disk_bytes")
        self._call(lambda handle: library.nh_trim(handle, most))

    def flush(self) -> None:
        """Writes records to disk that ``spill="pressure"`` keeps in memory only."""
        self._call(library.nh_flush)

    def stats(self) -> Stats:
        """Returns a dictionary of numbers: what the directory holds, and what this process did with it.

        A notebook shows it as a table.

        >>> sorted(cache.stats())[:4]
        ['activity', 'bodies', 'bytes_received', 'decodes']
        """
        with loading:
            import json

        size = 4096
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = self._call(lambda handle: quick.nh_stats_json(handle, buffer, size), counts=True)  # noqa: B023
            if length < size:
                return Stats(json.loads(buffer.value))
            size = length + 1

    # Life

    def close(self, drain: Duration = None) -> None:
        """Closes the cache. Requests under way raise :class:`Closed`. May be called again.

        :param drain: the longest wait, in seconds, for requests that are under way, and for requests of the outbox that
            are being sent.

        The last cache of a directory writes records that are in memory only (``spill="pressure"``). If another process
        holds the directory's lock for five seconds, they are lost, and :class:`Error` with the code ``busy`` is raised.
        The cache is closed all the same.

        It also waits for background revalidations, two seconds at most. Ctrl-C ends both waits, and the cache is closed
        all the same.
        """
        try:
            if drain is not None and not self.closed:
                self._drain(drain)
        except Closed:
            pass  # another thread has closed it
        finally:
            self._end()

    def _end(self) -> None:
        handle, self._handle, self._plain = self._handle, None, None
        for twin in list(self._twins):
            # The thread that waits for the twin's events notices the shutdown, and closes the twin.
            other = twin._handle
            if other is not None:
                library.nh_shutdown(other)
        if handle is not None:
            self._let_go(handle)

    def _let_go(self, handle: ctypes.c_void_p) -> None:
        """Closes a handle. Waits for background revalidations, at most two seconds; Ctrl-C ends the wait."""
        due = time.monotonic() + 2
        status = abi.TIMEOUT
        try:
            while status == abi.TIMEOUT and time.monotonic() < due and not self._is_hurried:
                status = library.nh_close(handle, PATIENCE)
        finally:
            if status == abi.TIMEOUT:
                library.nh_close(handle, 0)
        if status == abi.BUSY:
            check(status)

    @property
    def closed(self) -> bool:
        """Whether the cache has been closed."""
        return self._handle is None

    def __enter__(self) -> Cache:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        try:
            self.close()
        except Error:
            if kind is None:
                raise
            # Otherwise ignore it: the exception that ended the block is more important.

    def __del__(self, _is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        # When the interpreter ends, modules and the names of this one may be gone. The process frees everything then.
        if getattr(self, "_handle", None) is not None and not _is_ending():
            with contextlib.suppress(Error):
                self.close()

    def _reduced(self) -> Tuple[Any, ...]:
        # The pickle has path and options. Unpickling opens the same directory.
        return remade, (type(self), Cache, (), self._arguments), added_to(self, Cache, *_OWN)

    def __reduce__(self) -> Tuple[Any, ...]:
        refuse_secrets(self, self._arguments)
        return self._reduced()

    def __copy__(self) -> Cache:
        return cast(Cache, copied(self._reduced()))

    def __deepcopy__(self, memo: Any) -> Cache:
        return cast(Cache, copied(self._reduced(), memo))

    def __repr__(self) -> str:
        path = None if self._path is None else os.fsdecode(self._path)
        return f"<Cache {path!r}{' closed' if self.closed else ''}>"

    # How it is done

    def _ready(self, url: str, size: Size, options: Mapping[str, Any]) -> Optional[Image]:
        """Returns a thumbnail that is ready, without starting a request; the library counts it as one. Returns None if
        there is none, and for unusual arguments, which take the slow path."""
        try:
            place = _place_of(size, options)
            if place is not None and "\0" not in url and not _tells_all():
                found = _thumbnail_now(self._plain, url.encode(), place)
                if found:
                    image = _new(Image)
                    put_handle(image, found)
                    put_url(image, url)
                    return image
        except _ODD:
            pass
        return None

    def _stored(self, url: str, place: Any) -> Optional[Response]:
        """Returns a stored answer that is ready, as ``_ready`` does for a thumbnail."""
        try:
            if "\0" in url or _tells_all():
                return None
            found = _found()
            if _get_now(self._plain, url.encode(), place, _byref(found)) or not found.response:
                return None
        except _ODD:
            return None
        response = _new(Response)
        put_answer(response, _place(found.response))
        put_answers_url(response, url)
        put_body(response, None)
        put_place(response, (found.body, found.body_size))
        return response

    # A property, not an attribute: with a reference to itself, a cache would not be closed when its last user drops it.
    @property
    def _cache(self) -> Cache:
        return self

    def _place(self, cache: ctypes.c_void_p, struct: abi.nh_options) -> int:
        return abi.OK

    def _wait_idle(self, patience: int) -> bool:
        def wait(handle: ctypes.c_void_p) -> int:
            # First without releasing the GIL: often there is nothing to wait for.
            status = int(quick.nh_wait_idle(handle, 0))
            return status if status != abi.TIMEOUT else int(library.nh_wait_idle(handle, patience))

        return self._call(wait, None, (abi.TIMEOUT,)) == abi.OK

    def _drain(self, seconds: Duration) -> None:
        due = moment(seconds, time.monotonic(), "drain")
        while not self.closed and not self._is_hurried:
            left = left_until(due, time.monotonic(), PATIENCE)
            drained = [self._drained(left), *self._of_twins(lambda twin: twin._drained(left))]  # noqa: B023
            if all(drained) or (due is not None and time.monotonic() >= due):
                break

    def _drained(self, patience: int) -> bool:
        wait = lambda handle: library.nh_drain(handle, patience)  # noqa: E731
        return self._call(wait, None, (abi.OK, abi.TIMEOUT)) == abi.OK

    def _for(self, cache: Cache) -> Fetching:
        return cache

    def _of_twins(self, ask: Callable[[Cache], T]) -> Iterator[T]:
        """Gives the results for all twins that are open. Another thread may close one at any moment."""
        for twin in list(self._twins):
            with contextlib.suppress(Closed):
                yield ask(twin)

    def _twin(self) -> Cache:
        """Opens another handle of the directory. It has its own events."""
        twin = Cache(**self._resolved)
        self._twins.add(twin)
        if self.closed:
            twin.close()
        return twin

    def _open(self) -> None:
        handle = ctypes.c_void_p()
        check(library.nh_open(self._path, _byref(self._options), _byref(handle)))
        self._handle = handle
        if self._listeners:
            Outbox(self)._listen_again(handle)
        # Already converted, so that ctypes doesn't convert it for each call.
        self._plain = None if self._asks else ctypes.c_void_p.from_param(handle.value)

    def _usable(self, url: Optional[str]) -> ctypes.c_void_p:
        handle = self._handle
        if handle is None:
            raise Closed("the cache has been closed", "closed", url)
        return handle

    def _call(
        self,
        function: Callable[[ctypes.c_void_p], int],
        url: Optional[str] = None,
        expected: Tuple[int, ...] = (),
        *,
        counts: bool = False,
    ) -> int:
        """Calls the library with the cache's handle. After ``os.fork()``, calls it again with a new handle.

        :param counts: whether the function returns a number, or a status as a negative number.
        """
        handle = self._usable(url)
        given = function(handle)
        status = _status(given, counts)
        if status in (abi.FORKED, abi.INVALID):
            # Read it before this thread calls the library again.
            message = last_message(status)
            successor = self._successor(handle, status)
            if successor is None:
                raise Closed("the cache has been closed", "closed", url)
            if not successor and status in expected:
                return given
            if not successor:
                raise error_for(status, message, url)
            given = function(successor)
            status = _status(given, counts)
        if status not in expected:
            check(status, url)
        return given

    def _successor(self, handle: ctypes.c_void_p, status: int) -> Optional[ctypes.c_void_p]:
        """Returns another handle after ``handle`` was refused: ``None`` if the cache has been closed meanwhile, NULL if
        there is no other. A cache that was opened before ``os.fork()`` opens itself again in the child."""
        with _reopening:
            if self._handle is None or self._handle is not handle:
                return self._handle
            if status != abi.FORKED:
                return ctypes.c_void_p()
            # The twins belong to the parent process.
            self._twins = set()
            self._listeners.lock = threading.Lock()
            self._open()
            library.nh_close(handle, 0)
            return self._handle


def _place_of(size: Any, options: Mapping[str, Any]) -> Any:
    """Returns a pointer to a struct with this size and these options, or None for unusual arguments."""
    if type(size) is not int:
        return None
    place = squares[size]
    return ready(options, size) if options else place


def _status(given: int, counts: bool) -> int:
    return given if not counts else -given if given < 0 else abi.OK


#: The attributes of a cache. A program may add others.
_OWN = (
    "_arguments",
    "_asks",
    "_handle",
    "_is_hurried",
    "_kept",
    "_listeners",
    "_options",
    "_path",
    "_plain",
    "_resolved",
    "_twins",
)
