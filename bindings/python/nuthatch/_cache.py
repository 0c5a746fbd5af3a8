"""Caches: where requests begin."""

import ctypes
import os
import sys
import threading
from types import TracebackType
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Type, Union

from . import _prototypes
from ._errors import Closed, Error, error_for
from ._image import Image, Size, options
from ._library import check, encode, library
from ._response import Response

HeaderArgument = Union[Mapping[str, str], Iterable[Tuple[str, str]], None]

#: What pictures are asked for with: what is decoded first.
PICTURE_ACCEPT = "image/jpeg,image/png;q=0.9,*/*;q=0.1"

#: A blocking call looks this often (in milliseconds) whether Ctrl-C was pressed.
_PATIENCE = 100

#: The largest number that the C side takes.
_LARGEST = 2**63 - 1

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
    :param deadline: the longest time for all of a request in seconds; ``None`` for no limit.
    :param max_bytes: the largest body.
    :param user_agent: what the ``User-Agent`` header says.

    >>> with nuthatch.Cache(directory) as cache:
    ...     cache.get(url).status
    200
    """

    def __init__(
        self,
        path: Union[str, "os.PathLike[str]", None] = None,
        *,
        timeout: Optional[float] = 30,
        deadline: Optional[float] = None,
        max_bytes: int = 64 << 20,
        user_agent: Optional[str] = None,
    ) -> None:
        self._handle: Optional[int] = None
        self._arguments = {
            "path": path,
            "timeout": timeout,
            "deadline": deadline,
            "max_bytes": max_bytes,
            "user_agent": user_agent,
        }
        self._path = None if path is None else os.fsencode(path)
        if self._path is not None and b"\0" in self._path:
            raise error_for(_prototypes.INVALID, f"a NUL character in the path {path!r}", None)
        self._options = _prototypes.nh_options()
        self._options.struct_size = ctypes.sizeof(self._options)
        self._options.timeout_ms = _milliseconds(timeout, "timeout")
        self._options.deadline_ms = _milliseconds(deadline, "deadline")
        if max_bytes <= 0:
            raise error_for(_prototypes.INVALID, f"max_bytes must be positive, not {max_bytes}", None)
        self._options.max_bytes = min(max_bytes, _LARGEST)
        if user_agent is not None:
            self._options.user_agent = encode(user_agent, "user_agent")
        self._open()

    def get(
        self,
        url: str,
        *,
        headers: HeaderArgument = None,
        user: Optional[Tuple[str, str]] = None,
        timeout: Optional[float] = -1,
        deadline: Optional[float] = -1,
        max_bytes: int = 0,
    ) -> Response:
        """Fetches a URL and waits for the answer, of whatever status; at most 10 redirects are followed.

        Other threads run meanwhile, and Ctrl-C ends the wait and the request.

        :param headers: a mapping or a list of pairs; ``User-Agent`` and ``Accept`` replace what would be sent.
        :param user: name and password, sent as Basic credentials to the URL's own origin only.
        :param timeout: as for the cache, for this request.
        :raises TimeoutError, TransportError, TooLarge, BadURL, ...: when there is no answer.
        """
        return self.request(
            "GET", url, headers=headers, user=user, timeout=timeout, deadline=deadline, max_bytes=max_bytes
        )

    def thumbnail(
        self,
        url: str,
        size: Size,
        *,
        mode: str = "fit",
        enlarge: bool = False,
        quality: str = "best",
        allow_truncated: bool = False,
        max_pixels: int = 0,
        headers: HeaderArgument = None,
        user: Optional[Tuple[str, str]] = None,
        timeout: Optional[float] = -1,
        deadline: Optional[float] = -1,
        max_bytes: int = 0,
    ) -> Image:
        """Fetches a picture, a JPEG or PNG, and decodes it to fit a box; see :meth:`Response.image` for the options.

        :raises HTTPStatusError: when the answer isn't a success.
        """
        # A box that makes no sense costs no fetch.
        options(size, mode, enlarge, quality, allow_truncated, max_pixels, url)
        pairs = _pairs(headers)
        if not any(name.lower() == "accept" for name, _ in pairs):
            pairs.append(("Accept", PICTURE_ACCEPT))
        limits = {"timeout": timeout, "deadline": deadline, "max_bytes": max_bytes}
        response = self.request("GET", url, headers=pairs, user=user, **limits)  # type: ignore[arg-type]
        return response.raise_for_status().image(
            size,
            mode=mode,
            enlarge=enlarge,
            quality=quality,
            allow_truncated=allow_truncated,
            max_pixels=max_pixels,
        )

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: HeaderArgument = None,
        body: Union[bytes, bytearray, memoryview, None] = None,
        json: Any = None,
        user: Optional[Tuple[str, str]] = None,
        timeout: Optional[float] = -1,
        deadline: Optional[float] = -1,
        max_bytes: int = 0,
    ) -> Response:
        """Sends a request of any method and waits for the answer.

        :param body: bytes to send; say what they are with a ``Content-Type`` header.
        :param json: sent as JSON, with its ``Content-Type``.
        """
        pairs = _pairs(headers)
        if json is not None:
            if body is not None:
                raise error_for(_prototypes.INVALID, "body and json exclude each other", url)
            body = _as_json(json)
            if not any(name.lower() == "content-type" for name, _ in pairs):
                pairs.append(("Content-Type", "application/json"))
        if max_bytes < 0:
            raise error_for(_prototypes.INVALID, f"max_bytes must be positive, not {max_bytes}", url)
        draft = ctypes.c_void_p()
        check(library.nh_request_new(encode(url, "url"), ctypes.byref(draft)), url)
        try:
            check(library.nh_request_set_method(draft, encode(method, "method")), url)
            for name, value in pairs:
                check(
                    library.nh_request_add_header(draft, encode(name, "header"), encode(value, "header")), url
                )
            if body is not None:
                # Not bytes(body) alone: of a number it makes as many zeros.
                data = bytes(memoryview(body))
                check(library.nh_request_set_body(draft, data, len(data)), url)
            if user is not None:
                check(
                    library.nh_request_set_user(draft, encode(user[0], "user"), encode(user[1], "password")),
                    url,
                )
            if timeout != -1:
                check(library.nh_request_set_timeout(draft, _milliseconds(timeout, "timeout")), url)
            if deadline != -1:
                check(library.nh_request_set_deadline(draft, _milliseconds(deadline, "deadline")), url)
            check(library.nh_request_set_max_bytes(draft, min(max_bytes, _LARGEST)), url)
            # Its events are waited for here, and nobody polls.
            check(library.nh_request_set_quiet(draft, 1), url)
            return self._perform(draft, url)
        finally:
            library.nh_request_release(draft)

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

    def _submit(self, draft: ctypes.c_void_p, url: str) -> ctypes.c_void_p:
        ticket = ctypes.c_void_p()
        handle = self._handle
        if handle is None:
            raise Closed("the cache has been closed", "closed", url)
        status = library.nh_submit(handle, draft, ctypes.byref(ticket))
        if status in (_prototypes.FORKED, _prototypes.INVALID):
            # Read on this thread, before another call of the library on it.
            message = library.nh_error_message().decode("utf-8", "replace")
            handle = self._successor(handle, status)
            if handle is None:
                raise Closed("the cache has been closed", "closed", url)
            if handle == 0:
                raise error_for(status, message, url)
            status = library.nh_submit(handle, draft, ctypes.byref(ticket))
        check(status, url)
        return ticket

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

    def _perform(self, draft: ctypes.c_void_p, url: str) -> Response:
        ticket = self._submit(draft, url)
        event = _prototypes.nh_event()
        try:
            # In slices, because a signal's Python handler runs only between two calls.
            while True:
                status = library.nh_wait(ticket, _PATIENCE, ctypes.byref(event), ctypes.sizeof(event))
                if status == _prototypes.OK and event.is_final:
                    return _outcome(event, url)
                if status not in (_prototypes.OK, _prototypes.TIMEOUT):
                    check(status, url)
                library.nh_event_clear(ctypes.byref(event))
        except BaseException:
            library.nh_cancel(ticket)
            raise
        finally:
            library.nh_event_clear(ctypes.byref(event))
            library.nh_ticket_release(ticket)


def _pairs(headers: HeaderArgument) -> List[Tuple[str, str]]:
    return list(headers.items() if isinstance(headers, Mapping) else headers or [])


def _opened(kind: Type[Cache], arguments: Dict[str, Any]) -> Cache:
    return kind(**arguments)


def _as_json(value: Any) -> bytes:
    import json

    return json.dumps(value).encode()


def _outcome(event: _prototypes.nh_event, url: str) -> Response:
    if event.code != _prototypes.OK:
        message = ctypes.string_at(event.message).decode("utf-8", "replace") if event.message else ""
        error: Error = error_for(event.code, message, url)
        raise error
    handle, event.response = event.response, None
    return Response(handle, url)


def _milliseconds(seconds: Optional[float], what: str) -> int:
    """As the C side has it: negative for no limit. 0 would mean the default there, so the least is 1."""
    if seconds is None:
        return -1
    if not seconds > 0:
        raise error_for(_prototypes.INVALID, f"{what} must be a positive number of seconds or None", None)
    return max(1, int(min(seconds, 2**52) * 1000))
