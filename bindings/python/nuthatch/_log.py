"""The library's log, by way of the logger "nuthatch"."""

import atexit
import contextlib
import ctypes
import sys
import threading
import time
from typing import Any

from . import _prototypes as abi
from ._library import quick

_LEVELS = {abi.LOG_ERROR: 40, abi.LOG_WARNING: 30, abi.LOG_INFO: 20, abi.LOG_DEBUG: 10}
_callback_type = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_void_p)
_logger: Any = None
_level = abi.LOG_NONE
#: What the logger lets through: the severity from which on it does.
_least = 1000


def follow() -> None:
    """Has the library keep what the logger "nuthatch" lets through; what the program says of levels holds from the next
    request on. Costs next to nothing while nobody has imported ``logging``."""
    global _logger, _level, _least
    if _logger is None:
        # Every hit comes by here: asked so, a free-threaded interpreter takes no lock, which a fork may leave behind.
        if "logging" not in sys.modules:
            return
        logging: Any = sys.modules["logging"]
        if not hasattr(logging, "getLogger"):
            return
        _logger = logging.getLogger("nuthatch")
        # As libraries do: what nobody handles isn't shown.
        _logger.addHandler(logging.NullHandler())
    least = _logger.getEffectiveLevel()
    if least == _least:
        return
    _least = least
    level = abi.LOG_NONE
    for number, severity in _LEVELS.items():
        if severity >= least:
            level = max(level, number)
    if level != _level:
        _level = level
        quick.nh_log_set(level, _callback if level else _callback_type(), None)


def tells_all() -> bool:
    """Whether somebody reads of every request's end, that of hits, too."""
    if _logger is None:
        follow()
    return _logger is not None and bool(_logger.isEnabledFor(10))


def _line(level: int, text: bytes, user: Any) -> None:
    logger = _logger
    # There is nobody to tell what goes wrong here.
    with contextlib.suppress(Exception):
        if logger is not None:
            logger.log(_LEVELS.get(level, 20), "%s", text.decode("utf-8", "replace"))


_callback = _callback_type(_line)


@atexit.register
def _leave() -> None:
    """Lines are handed over by threads that wait in the library, and need the interpreter's lock for it: none may come
    for it once the interpreter ends."""
    global _level, _logger
    if _level == abi.LOG_NONE:
        return
    quick.nh_log_set(abi.LOG_NONE, _callback_type(), None)
    _level, _logger = abi.LOG_NONE, None
    if threading.active_count() > 1:
        # Whoever is at it already gets the lock before this thread has it again.
        time.sleep(0.01)
