"""Where answers go while they come."""

import ctypes
from typing import Any, Callable, List

from . import _prototypes as abi
from ._arguments import wrong
from ._errors import error_for
from ._library import check, quick
from ._values import encode_path
from ._wishes import SinkArgument


def sinks(save_to: SinkArgument) -> List[Any]:
    """Where an answer is saved, as a list."""
    if save_to is None:
        return []
    return [_sink(sink) for sink in (save_to if isinstance(save_to, (list, tuple)) else [save_to])]


def _sink(sink: Any) -> Any:
    """What stands in memory has no descriptor to write to."""
    if not hasattr(sink, "write"):
        return sink
    try:
        sink.fileno()
    except (AttributeError, OSError):
        return sink.write
    return sink


def takers(save_to: SinkArgument) -> List[Callable[[bytes], Any]]:
    """The functions among them."""
    return [sink for sink in sinks(save_to) if callable(sink)]


def save(request: ctypes.c_void_p, save_to: SinkArgument, append: bool, url: str) -> None:
    """Tells a request of the library where its answer is saved."""
    for sink in sinks(save_to):
        if callable(sink):
            check(quick.nh_request_save_to_events(request), url)
        elif isinstance(sink, int) or hasattr(sink, "fileno"):
            number = sink if isinstance(sink, int) else sink.fileno()
            # Out of ctypes' range a number would be cut, silently, into one that may be somebody's.
            if isinstance(number, bool) or not 0 <= number < 2**31:
                raise error_for(abi.INVALID, f"save_to: {number!r} is no descriptor", url)
            check(quick.nh_request_save_to_descriptor(request, number), url)
        elif isinstance(sink, (str, bytes)) or hasattr(sink, "__fspath__"):
            path = encode_path(sink, url, "save_to")
            check(quick.nh_request_save_to_file(request, path, int(append)), url)
        else:
            raise wrong(
                "save_to", "a path, an open file, a descriptor or a function, or a list of these", sink
            )
