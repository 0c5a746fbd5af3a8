"""Saves answers while they arrive."""

from __future__ import annotations

import ctypes
import errno
import io
from typing import TYPE_CHECKING, Any, Callable, List

from . import _prototypes as abi
from ._arguments import wrong
from ._errors import error_for
from ._library import check, quick
from ._values import encode_path

if TYPE_CHECKING:
    from ._option_values import SinkArgument


def sinks(save_to: SinkArgument) -> List[Any]:
    """Returns the places where an answer is saved, as a list."""
    if save_to is None:
        return []
    return [_sink(sink) for sink in (save_to if isinstance(save_to, (list, tuple)) else [save_to])]


def _sink(sink: Any) -> Any:
    """Returns a file object, or its ``write`` function if the object changes the bytes or has no descriptor."""
    if not hasattr(sink, "write") or _is_plain(sink):
        return sink
    if isinstance(sink, io.TextIOBase):
        raise TypeError("save_to needs a file that is opened for bytes, as by open(path, 'wb'), not for text")
    return sink.write


def _is_plain(sink: Any) -> bool:
    """Returns whether the bytes that are written to a file object go to its descriptor unchanged."""
    if type(sink) in (io.BufferedWriter, io.BufferedRandom):
        sink = sink.raw
    return type(sink) is io.FileIO


def takers(save_to: SinkArgument) -> List[Callable[[bytes], Any]]:
    """Returns the functions that save an answer."""
    return [sink for sink in sinks(save_to) if callable(sink)]


def give(save_to: SinkArgument, piece: bytes, url: str) -> None:
    """Gives a piece of the answer to the functions. Refuses ``async`` ones."""
    for taker in takers(save_to):
        given = taken(taker, piece)
        if hasattr(given, "__await__"):
            if hasattr(given, "close"):
                given.close()
            raise _needs_loop(url)


def taken(taker: Callable[[bytes], Any], piece: bytes) -> Any:
    """Calls a function with a piece. The ``write`` of a raw file may take only a part, so it is called again."""
    given = taker(piece)
    if not isinstance(getattr(taker, "__self__", None), io.RawIOBase):
        return given
    while given != len(piece):
        if not given:
            raise BlockingIOError(
                errno.EAGAIN, "a file of save_to is non-blocking and can't take more bytes now"
            )
        piece = piece[given:]
        given = taker(piece)
    return given


def refuse_async(save_to: SinkArgument, url: str) -> None:
    """Refuses ``async`` functions before anything is sent."""
    for taker in takers(save_to):
        if _is_async(taker) or _is_async(getattr(type(taker), "__call__", None)):  # noqa: B004
            raise _needs_loop(url)


def _is_async(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    # CO_COROUTINE, without loading inspect.
    return code is not None and bool(code.co_flags & 0x80)


def _needs_loop(url: str) -> Exception:
    return error_for(abi.INVALID, "save_to: an async function can't be called here; use AsyncCache", url)


def _told(kind: int, **place: Any) -> Any:
    return ctypes.byref(abi.nh_sink(ctypes.sizeof(abi.nh_sink), kind, **place))


def save(request: ctypes.c_void_p, save_to: SinkArgument, append: bool, url: str) -> None:
    """Writes the places where the answer is saved into a request of the library."""
    for sink in sinks(save_to):
        if callable(sink):
            check(quick.nh_request_save_to(request, _told(abi.SINK_EVENTS)), url)
        elif isinstance(sink, int) or hasattr(sink, "fileno"):
            flush = getattr(sink, "flush", None)
            if flush is not None:
                # Earlier writes to the file object must come first.
                flush()
            number = sink if isinstance(sink, int) else sink.fileno()
            # ctypes would silently cut a larger number, and the result may be another open descriptor.
            if isinstance(number, bool) or not 0 <= number < 2**31:
                raise error_for(abi.INVALID, f"save_to: {number!r} is not a descriptor", url)
            check(quick.nh_request_save_to(request, _told(abi.SINK_DESCRIPTOR, descriptor=number)), url)
        elif isinstance(sink, (str, bytes)) or hasattr(sink, "__fspath__"):
            path = encode_path(sink, url, "save_to")
            kind = abi.SINK_APPEND if append else abi.SINK_FILE
            check(quick.nh_request_save_to(request, _told(kind, path=path)), url)
        else:
            raise wrong(
                "save_to", "a path, an open file, a descriptor or a function, or a list of these", sink
            )
