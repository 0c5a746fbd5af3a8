"""Where answers go while they come."""

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


def sinks(save_to: "SinkArgument") -> List[Any]:
    """Where an answer is saved, as a list."""
    if save_to is None:
        return []
    return [_sink(sink) for sink in (save_to if isinstance(save_to, (list, tuple)) else [save_to])]


def _sink(sink: Any) -> Any:
    """What isn't a plain file makes something else of what it is given, or has no descriptor: it is written to."""
    if not hasattr(sink, "write") or _is_plain(sink):
        return sink
    if isinstance(sink, io.TextIOBase):
        raise TypeError(
            "save_to takes files that are opened for bytes, as by open(path, 'wb'), and none of text"
        )
    return sink.write


def _is_plain(sink: Any) -> bool:
    """Whether what is written to a file goes to its descriptor as it is."""
    if type(sink) in (io.BufferedWriter, io.BufferedRandom):
        sink = sink.raw
    return type(sink) is io.FileIO


def takers(save_to: "SinkArgument") -> List[Callable[[bytes], Any]]:
    """The functions among them."""
    return [sink for sink in sinks(save_to) if callable(sink)]


def give(save_to: "SinkArgument", piece: bytes, url: str) -> None:
    """Gives the functions a piece of the answer, where they can't be awaited."""
    for taker in takers(save_to):
        given = taken(taker, piece)
        if hasattr(given, "__await__"):
            if hasattr(given, "close"):
                given.close()
            raise _needs_loop(url)


def taken(taker: Callable[[bytes], Any], piece: bytes) -> Any:
    """Calls one with a piece. A raw file may take a part of it at a time."""
    given = taker(piece)
    if not isinstance(getattr(taker, "__self__", None), io.RawIOBase):
        return given
    while given != len(piece):
        if not given:
            raise BlockingIOError(errno.EAGAIN, "a file that save_to names takes no more at the moment")
        piece = piece[given:]
        given = taker(piece)
    return given


def refuse_async(save_to: "SinkArgument", url: str) -> None:
    """Refuses, before anything is sent, functions that would have to be awaited where they can't be."""
    for taker in takers(save_to):
        if _is_async(taker) or _is_async(getattr(type(taker), "__call__", None)):  # noqa: B004
            raise _needs_loop(url)


def _is_async(function: Any) -> bool:
    code = getattr(function, "__code__", None)
    # CO_COROUTINE, without loading inspect.
    return code is not None and bool(code.co_flags & 0x80)


def _needs_loop(url: str) -> Exception:
    return error_for(abi.INVALID, "save_to: an async function can't be called here; AsyncCache can", url)


def _told(kind: int, **place: Any) -> Any:
    return ctypes.byref(abi.nh_sink(ctypes.sizeof(abi.nh_sink), kind, **place))


def save(request: ctypes.c_void_p, save_to: "SinkArgument", append: bool, url: str) -> None:
    """Tells a request of the library where its answer is saved."""
    for sink in sinks(save_to):
        if callable(sink):
            check(quick.nh_request_save_to(request, _told(abi.SINK_EVENTS)), url)
        elif isinstance(sink, int) or hasattr(sink, "fileno"):
            flush = getattr(sink, "flush", None)
            if flush is not None:
                # What was written to it before comes before.
                flush()
            number = sink if isinstance(sink, int) else sink.fileno()
            # Out of ctypes' range a number would be cut, silently, into one that may be somebody's.
            if isinstance(number, bool) or not 0 <= number < 2**31:
                raise error_for(abi.INVALID, f"save_to: {number!r} is no descriptor", url)
            check(quick.nh_request_save_to(request, _told(abi.SINK_DESCRIPTOR, descriptor=number)), url)
        elif isinstance(sink, (str, bytes)) or hasattr(sink, "__fspath__"):
            path = encode_path(sink, url, "save_to")
            kind = abi.SINK_APPEND if append else abi.SINK_FILE
            check(quick.nh_request_save_to(request, _told(kind, path=path)), url)
        else:
            raise wrong(
                "save_to", "a path, an open file, a descriptor or a function, or a list of these", sink
            )
