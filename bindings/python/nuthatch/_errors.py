"""Errors: one base class, and subclasses for errors that programs handle."""

from __future__ import annotations

import builtins
from typing import Any, Dict, Optional, Tuple, Type

from . import _prototypes


class Error(Exception):
    """A failed call. ``code`` is a stable word such as ``"too_large"``, ``url`` the URL as it was passed.

    ``status`` is the HTTP status of the answer, and ``retry_after`` the seconds to wait before a retry. Both are
    ``None`` if unknown.
    """

    status: Optional[int] = None
    retry_after: Optional[int] = None

    def __init__(self, message: str, code: str = "internal", url: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code
        self.url = url

    def __reduce__(self) -> Tuple[Any, ...]:
        return (_remade, (type(self), self.args), self.__dict__)


class TimeoutError(Error, builtins.TimeoutError):
    """No byte came for ``timeout``, or the ``deadline`` passed. Also the built-in ``TimeoutError``."""


class TransportError(Error, ConnectionError):
    """The server could not be reached, or the connection to it failed: ``dns``, ``refused``, ``reset``, ``tls``."""


class HTTPStatusError(Error):
    """The status is not a success, or the answer is not HTTP. ``response`` is the answer, or None."""

    response: Any = None


class TooLarge(Error):
    """More bytes or pixels than an option allows: ``too_large``, ``too_many_pixels``. The message names the option."""


class NotAnImage(Error):
    """The bytes are not a picture."""


class UnsupportedFormat(NotAnImage):
    """The picture has a format that can't be decoded. The message names it."""


class Corrupt(Error):
    """The picture is damaged: ``corrupt`` or ``truncated``. An answer that was cut off is ``truncated`` too."""


class WrongFormat(Error, ValueError):
    """The answer was read as JSON or XML, but has another format."""


class TooManyRedirects(Error):
    """More redirects in a row than ``redirects`` allows."""


class BadURL(Error, ValueError):
    """The URL is wrong. The message names the byte."""


class BadHeader(Error, ValueError):
    """The method, or the name or value of a header, has characters that can't be sent."""


class Invalid(Error, ValueError):
    """An argument is not valid."""


class Denied(Error):
    """The address guard refused the address, or the cache's directory belongs to another user."""


class Offline(Error):
    """The network is off (policy ``offline``), and the cache has no answer."""


class CircuitOpen(TransportError):
    """The host failed too often in a row, and no requests are sent to it for a while."""


class Conflict(Error):
    """The directory is open in this process with other options."""


class Cancelled(Error):
    """The request was cancelled."""


class Closed(Error):
    """The cache has been closed."""


class Frozen(Error):
    """The request is in the outbox and will be sent later: no answer came, other requests of its queue wait, or its
    secret is unknown."""

    #: The request's number in :attr:`Cache.outbox`.
    outbox_id: int = 0


class Forked(Error):
    """The object belongs to the process that this one was forked from."""


_CLASSES: Dict[int, Type[Error]] = {
    _prototypes.TIMEOUT: TimeoutError,
    _prototypes.DNS: TransportError,
    _prototypes.REFUSED: TransportError,
    _prototypes.RESET: TransportError,
    _prototypes.TLS: TransportError,
    _prototypes.HTTP: HTTPStatusError,
    _prototypes.TOO_LARGE: TooLarge,
    _prototypes.TOO_MANY_PIXELS: TooLarge,
    _prototypes.NOT_AN_IMAGE: NotAnImage,
    _prototypes.UNSUPPORTED_FORMAT: UnsupportedFormat,
    _prototypes.CORRUPT: Corrupt,
    _prototypes.TRUNCATED: Corrupt,
    _prototypes.TOO_MANY_REDIRECTS: TooManyRedirects,
    _prototypes.BAD_URL: BadURL,
    _prototypes.BAD_HEADER: BadHeader,
    _prototypes.INVALID: Invalid,
    _prototypes.DENIED: Denied,
    _prototypes.OFFLINE: Offline,
    _prototypes.CIRCUIT_OPEN: CircuitOpen,
    _prototypes.CONFLICT: Conflict,
    _prototypes.CANCELLED: Cancelled,
    _prototypes.CLOSED: Closed,
    _prototypes.FORKED: Forked,
    _prototypes.FROZEN: Frozen,
    _prototypes.WRONG_FORMAT: WrongFormat,
}


def _remade(kind: Type[Error], args: Tuple[Any, ...]) -> Error:
    """Makes an error from a pickle. Doesn't call ``__init__``: a subclass of the program may need other arguments."""
    made = kind.__new__(kind)
    made.args = args
    return made


def error_for(status: int, message: str, url: Optional[str]) -> Error:
    """Returns the exception for a status."""
    return _CLASSES.get(status, Error)(message, _prototypes.WORDS.get(status, "internal"), url)
