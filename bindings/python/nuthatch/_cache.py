"""Caches: where requests begin."""

import ctypes
import functools
import os
import sys
import threading
import time
from types import TracebackType
from typing import Any, Callable, Dict, Optional, Sequence, Tuple, Type, Union, cast

from . import _prototypes
from ._errors import Closed, error_for
from ._image import Image, Size
from ._library import check, encode, library
from ._request import GUARDS, LARGEST, POLICIES, HeaderArgument, chosen, draft, milliseconds, pairs
from ._response import Response
from ._ticket import PATIENCE, Ticket

_SPILLS = {"eager": _prototypes.SPILL_EAGER, "pressure": _prototypes.SPILL_PRESSURE}
_STORES = {
    "packed": _prototypes.STORE_PACKED,
    "lossless": _prototypes.STORE_LOSSLESS,
    "raw": _prototypes.STORE_RAW,
}

#: Held while a cache opens itself again in a forked child, where several threads may find out that it must.
_reopening = threading.Lock()


def _renew_lock() -> None:
    global _reopening
    _reopening = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


class Cache:
    """A cache directory, and the way to the network behind it. A context manager; any thread may use it.

    :param path: the directory, made when it is missing; ``None`` for ``$NUTHATCH_CACHE``, else
        ``$XDG_CACHE_HOME/nuthatch``, else ``~/.cache/nuthatch``.
    :param timeout: the longest silence in seconds (connecting, waiting, between two bytes); ``None`` for no limit.
    :param deadline: the longest time for all of a request in seconds; ``None`` for no limit; -1, the default, for two
        minutes where pictures are asked for, and no limit otherwise.
    :param max_bytes: the largest body.
    :param max_pixels: the most pixels that a picture may have; 0 for the default, 100 million.
    :param retries: how often a failed attempt is followed by another; 3 by default.
    :param user_agent: what the ``User-Agent`` header says.
    :param headers: sent with every request that has none of the same name.
    :param accept: what the ``Accept`` header says.
    :param partition: a name for whose answers are kept, in place of credentials: for tokens that change.
    :param proxy: for all requests; ``""`` for none; by default what the environment says.
    :param policy: what is taken for fresh: "kit" (the default), "rfc9111", "offline" or "reload".
    :param guard: which addresses may be connected to: "guarded" (the default), "public" or "any".
    :param memory_bytes, memory_items: what this process keeps in memory.
    :param disk_bytes: what all records may take on disk; by default what the directory was given before, else 4 GiB.
    :param spill: "eager" (the default) writes at once, "pressure" when memory is short or at the end.
    :param store: how thumbnails are kept on disk: "packed" (the default), "lossless" or "raw".
    :param keep_source: whether bodies of pictures are kept; yes by default.
    :param allow_files: whether ``file:`` URLs are read: any file that this process may read; no by default.

    >>> with nuthatch.Cache(directory) as cache:
    ...     cache.get(url).status
    200
    """

    def __init__(
        self,
        path: Union[str, "os.PathLike[str]", None] = None,
        *,
        timeout: Optional[float] = 30,
        deadline: Optional[float] = -1,
        max_bytes: int = 64 << 20,
        max_pixels: int = 0,
        retries: Optional[int] = None,
        user_agent: Optional[str] = None,
        headers: HeaderArgument = None,
        accept: Optional[str] = None,
        partition: Optional[str] = None,
        proxy: Optional[str] = None,
        policy: Optional[str] = None,
        guard: Optional[str] = None,
        memory_bytes: int = 0,
        memory_items: int = 0,
        disk_bytes: int = 0,
        spill: Optional[str] = None,
        store: Optional[str] = None,
        keep_source: Optional[bool] = None,
        allow_files: bool = False,
    ) -> None:
        self._handle: Optional[int] = None
        self._arguments = {
            name: value for name, value in locals().items() if name not in ("self", "__class__")
        }
        self._arguments["headers"] = pairs(headers)
        self._path = None if path is None else os.fsencode(path)
        if self._path is not None and b"\0" in self._path:
            raise error_for(_prototypes.INVALID, f"a NUL character in the path {path!r}", None)
        for what, number in [
            ("max_bytes", max_bytes),
            ("max_pixels", max_pixels + 1),
            ("memory_bytes", memory_bytes + 1),
            ("memory_items", memory_items + 1),
            ("disk_bytes", disk_bytes + 1),
        ]:
            if number <= 0:
                raise error_for(_prototypes.INVALID, f"{what} must be positive", None)
        if retries is not None and not 0 <= retries < 2**31:
            raise error_for(_prototypes.INVALID, f"retries must be 0 or more, not {retries}", None)
        wanted = self._options = _prototypes.nh_options()
        wanted.struct_size = ctypes.sizeof(wanted)
        wanted.timeout_ms = milliseconds(timeout, "timeout")
        wanted.deadline_ms = 0 if deadline == -1 else milliseconds(deadline, "deadline")
        wanted.max_bytes, wanted.max_pixels = min(max_bytes, LARGEST), min(max_pixels, LARGEST)
        # 0 means "not given" there, and less none.
        wanted.retries = 0 if retries is None else retries or -1
        for what, text in [
            ("user_agent", user_agent),
            ("accept", accept),
            ("partition", partition),
            ("proxy", proxy),
        ]:
            if text is not None:
                setattr(wanted, what, encode(text, what))
        self._lines = (_prototypes.nh_header * len(self._arguments["headers"]))()
        for place, (name, value) in enumerate(self._arguments["headers"]):
            self._lines[place].name, self._lines[place].value = (
                encode(name, "header"),
                encode(value, "header"),
            )
        wanted.headers = ctypes.addressof(self._lines) if len(self._lines) else None
        wanted.header_count = len(self._lines)
        wanted.policy, wanted.guard = chosen(policy, POLICIES, "policy"), chosen(guard, GUARDS, "guard")
        wanted.memory_bytes, wanted.memory_items = min(memory_bytes, LARGEST), min(memory_items, LARGEST)
        wanted.disk_bytes = min(disk_bytes, LARGEST)
        wanted.spill, wanted.store = chosen(spill, _SPILLS, "spill"), chosen(store, _STORES, "store")
        if keep_source is not None:
            wanted.keep_source = _prototypes.YES if keep_source else _prototypes.NO
        wanted.allow_files = _prototypes.YES if allow_files else _prototypes.NO
        self._open()

    # Waiting for answers

    def get(self, url: str, **options: Any) -> Response:
        """Fetches a URL and waits for the answer, of whatever status; at most 10 redirects are followed.

        Other threads run meanwhile, and Ctrl-C ends the wait and the request. ``options`` are those of
        :meth:`submit` but the sizes.

        :raises TimeoutError, TransportError, TooLarge, BadURL, ...: when there is no answer.
        """
        return self.request("GET", url, **options)

    def request(self, method: str, url: str, **options: Any) -> Response:
        """Sends a request of any method and waits for the answer. ``options`` are those of :meth:`submit`."""
        return cast(Response, self._perform(url, method=method, sizes=(), **options))

    def thumbnail(self, url: str, size: Size, **options: Any) -> Image:
        """A picture, a JPEG or PNG, that fits a box: from the cache while that is fresh, else from the network.

        ``options`` are those of :meth:`submit`.

        :raises HTTPStatusError: when the answer isn't a success.
        """
        return cast(Image, self._perform(url, sizes=(size,), **options))

    def peek(self, url: str, size: int, *, decode: bool = False) -> Optional[Image]:
        """A thumbnail that can be shown at once: it is in memory, or lies on disk as pixels, and is fresh.

        ``None`` for whatever would take longer: never asks the network, and never waits.

        :param decode: whether one that is packed on disk is unpacked.
        """
        image = ctypes.c_void_p()
        address = encode(url, "url")
        if not 1 <= size <= 65535:
            raise error_for(_prototypes.INVALID, f"size must be 1 to 65535, not {size!r}", url)
        self._call(
            lambda handle: library.nh_peek(handle, address, size, int(decode), ctypes.byref(image)), url
        )
        return None if image.value is None else Image(image.value, url)

    # Not waiting

    def submit(
        self,
        url: str,
        *,
        size: Optional[Size] = None,
        sizes: Sequence[Size] = (),
        **options: Any,
    ) -> Ticket:
        """Starts a request and returns at once; the :class:`Ticket` tells what becomes of it.

        Requests for one URL share one fetch, whatever their sizes.

        :param size, sizes: the boxes that thumbnails are to fit; none for the response itself.
        :param method, headers, body, json, user: what is sent. ``user`` is a pair for Basic sign-in.
        :param timeout, deadline, retries, max_bytes, max_pixels, policy, guard, partition: as for the cache.
        :param mode: "fit", "fill" (covers the box) or "exact"; ``enlarge`` makes smaller pictures larger;
            ``quality`` is "best" or "fast".
        :param allow_truncated: a damaged picture is what decodes of it, marked ``is_partial``.
        :param early_stop: the transfer of a progressive JPEG may end when the thumbnails are done.
        :param delivery: "twice" (a stale answer at once, the fresh one after it), "first" (one answer, a stale one
            too) or "fresh" (one answer, which holds now).
        :param priority: -10 to 10, higher ones first; ``tag``: a word to cancel by.
        :param key: what the answer is kept under, instead of the URL; ``ignore_query`` leaves the query out of it.
        :param progress: whether there are "progress" events.
        """
        boxes = tuple(sizes) if size is None else (size, *sizes)
        with draft(url, sizes=boxes, **options) as request:
            ticket = ctypes.c_void_p()
            self._call(lambda handle: library.nh_submit(handle, request, ctypes.byref(ticket)), url)
        return Ticket(self, cast(int, ticket.value), url, {"sizes": boxes, **options})

    def cancel_all(self, tag: Optional[str] = None) -> None:
        """Cancels the requests that are under way, or those of them with a tag."""
        word = None if tag is None else encode(tag, "tag")
        self._call(lambda handle: library.nh_cancel_all(handle, word))

    def wait_idle(self, timeout: Optional[float] = None) -> bool:
        """Waits until no request is under way. False when that took longer than ``timeout`` seconds."""
        due = None if timeout is None else time.monotonic() + timeout
        while True:
            left = PATIENCE
            if due is not None:
                left = max(0, min(PATIENCE, int((due - time.monotonic()) * 1000)))
            status = self._call(
                functools.partial(_wait_idle, left),
                None,
                (_prototypes.TIMEOUT,),
            )
            if status == _prototypes.OK:
                return True
            if due is not None and time.monotonic() >= due:
                return False

    @property
    def activity(self) -> int:
        """How many requests are under way: queued, running, or waiting to be tried again."""
        return max(0, cast(int, library.nh_activity(self._usable(None))))

    # What is stored

    def remove(self, url: str) -> None:
        """Forgets what is stored of a URL: its next request asks the server."""
        address = encode(url, "url")
        self._call(lambda handle: library.nh_remove(handle, address), url)

    def clear(self) -> None:
        """Forgets everything that is stored."""
        self._call(library.nh_clear)

    def trim(self, disk_bytes: int) -> None:
        """Drops what was not used for longest until no more than that is left on disk."""
        if not 0 <= disk_bytes <= LARGEST:
            raise error_for(_prototypes.INVALID, f"disk_bytes must be 0 or more, not {disk_bytes}", None)
        self._call(lambda handle: library.nh_trim(handle, disk_bytes))

    def flush(self) -> None:
        """Writes to disk what ``spill="pressure"`` keeps in memory only."""
        self._call(library.nh_flush)

    def stats(self) -> Dict[str, Any]:
        """What the directory holds, and what happened to it in this process: a dictionary of numbers."""
        import json

        handle = self._usable(None)
        size = 4096
        while True:
            buffer = ctypes.create_string_buffer(size)
            length = library.nh_stats_json(handle, buffer, size)
            if length < 0:
                check(-length)
            if length < size:
                return cast(Dict[str, Any], json.loads(buffer.value))
            size = length + 1

    # Life

    def close(self) -> None:
        """Closes the cache. Requests of other threads that are under way raise :class:`Closed`. May be repeated."""
        handle, self._handle = self._handle, None
        if handle is not None:
            library.nh_close(handle)

    @property
    def closed(self) -> bool:
        """Whether the cache has been closed."""
        return self._handle is None

    def __enter__(self) -> "Cache":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # At the interpreter's end the library's module may be gone already; the process frees everything then.
        if getattr(self, "_handle", None) is not None and not sys.is_finalizing():
            self.close()

    def __reduce__(self) -> Tuple[Any, ...]:
        # As path and options: whoever gets it opens the same directory.
        return (_opened, (type(self), self._arguments))

    def __repr__(self) -> str:
        path = None if self._path is None else os.fsdecode(self._path)
        return f"<Cache {path!r}{' closed' if self.closed else ''}>"

    def _open(self) -> None:
        handle = ctypes.c_void_p()
        check(library.nh_open(self._path, ctypes.byref(self._options), ctypes.byref(handle)))
        self._handle = handle.value

    def _usable(self, url: Optional[str]) -> int:
        handle = self._handle
        if handle is None:
            raise Closed("the cache has been closed", "closed", url)
        return handle

    def _call(
        self, function: Callable[[int], int], url: Optional[str] = None, expected: Tuple[int, ...] = ()
    ) -> int:
        """Calls the library with the cache's handle; once more with another one after ``os.fork()``."""
        handle = self._usable(url)
        status = function(handle)
        if status in (_prototypes.FORKED, _prototypes.INVALID):
            # Read on this thread, before another call of the library on it.
            message = library.nh_error_message().decode("utf-8", "replace")
            successor = self._successor(handle, status)
            if successor is None:
                raise Closed("the cache has been closed", "closed", url)
            if successor == 0:
                raise error_for(status, message, url)
            status = function(successor)
        if status not in expected:
            check(status, url)
        return status

    def _successor(self, handle: int, status: int) -> Optional[int]:
        """The handle to go on with when ``handle`` was refused: ``None`` when the cache has been closed meanwhile, 0
        when there is no other. A cache that was opened before ``os.fork()`` opens itself again in the child."""
        with _reopening:
            if self._handle is None or self._handle != handle:
                return self._handle
            if status != _prototypes.FORKED:
                return 0
            self._open()
            library.nh_close(handle)
            return self._handle

    def _perform(self, url: str, **options: Any) -> Any:
        options.setdefault("delivery", "fresh")
        ticket = self.submit(url, **options)
        try:
            return ticket.result()
        except BaseException:
            # After the final event it does nothing.
            ticket.cancel()
            raise


def _wait_idle(patience: int, handle: int) -> int:
    return cast(int, library.nh_wait_idle(handle, patience))


def _opened(kind: Type[Cache], arguments: Dict[str, Any]) -> Cache:
    return kind(**arguments)
