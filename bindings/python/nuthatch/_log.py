"""Passes the library's log to the logger "nuthatch"."""

from __future__ import annotations

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
#: The lowest severity that the logger accepts.
_least = 1000


def follow() -> None:
    """Sets the library's log level to that of the logger "nuthatch". Called at each request, so a change of the level
    takes effect at the next one. Costs almost nothing if the program has not imported ``logging``."""
    global _logger, _level, _least
    if _logger is None:
        # Every hit runs this test. It takes no lock, also in a free-threaded interpreter: a fork could leave the lock
        # locked.
        if "logging" not in sys.modules:
            return
        logging: Any = sys.modules["logging"]
        if not hasattr(logging, "getLogger"):
            return
        _logger = logging.getLogger("nuthatch")
        # As all libraries should: without a handler of the program, nothing is shown.
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
    """Returns whether the logger accepts DEBUG lines. Then every hit needs a request, which writes such a line."""
    if _logger is None:
        follow()
    return _logger is not None and bool(_logger.isEnabledFor(10))


def _line(level: int, text: bytes, user: Any) -> None:
    logger = _logger
    # An error here can't be reported.
    with contextlib.suppress(Exception):
        if logger is not None:
            logger.log(_LEVELS.get(level, 20), "%s", text.decode("utf-8", "replace"))


_callback = _callback_type(_line)


@atexit.register
def _leave() -> None:
    """Stops the log before the interpreter ends. Threads of the library pass lines to Python, and must not ask for the
    GIL after that."""
    global _level, _logger
    if _level == abi.LOG_NONE:
        return
    quick.nh_log_set(abi.LOG_NONE, _callback_type(), None)
    _level, _logger = abi.LOG_NONE, None
    if threading.active_count() > 1:
        # A thread that waits for the GIL now gets it before this thread has it again.
        time.sleep(0.01)
