"""Finds and loads libnuthatch.

Three objects of ctypes call it in different ways:

- ``library`` releases the GIL during a call. Use it for functions that may wait.
- ``quick`` keeps the GIL. Use it for functions that don't wait, or only for the cache's own disk: beside a busy thread,
  getting the GIL back takes a thousand times as long as such a call.
- ``bare`` keeps the GIL, too, and doesn't check or convert arguments. Use it for functions that run for every hit. Pass
  objects of ctypes: an ``int`` would be passed as a C ``int``.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any, Dict, Iterator, Optional

from . import _prototypes
from ._errors import error_for
from ._option_table import ROWS

NAME = "libnuthatch.so.1"


def _is_privileged() -> bool:
    """Returns whether this program has more rights than the user who started it, and who controls its environment."""
    auxiliary = ctypes.CDLL(None).getauxval
    auxiliary.restype = ctypes.c_ulong
    # AT_SECURE
    return bool(auxiliary(ctypes.c_ulong(23)))


def _candidates() -> Iterator[str]:
    chosen = os.environ.get("NUTHATCH_LIBRARY")
    if chosen and not _is_privileged():
        # Try no other library: a program that names one must get that one, or an error.
        yield chosen
        return
    # Not pathlib: loading it takes half as long as loading the library.
    here = os.path.dirname(os.path.realpath(__file__))
    checkout = os.path.join(here, os.pardir, os.pardir, os.pardir)
    for folder in (here, os.path.join(checkout, "build")):
        path = os.path.normpath(os.path.join(folder, NAME))
        if os.path.isfile(path):
            yield path
    yield NAME


class _Library(ctypes.CDLL):
    """Sets the types of a function's arguments and result when the function is first used."""

    def __getattr__(self, name: str) -> Any:
        if name not in _prototypes.SIGNATURES:
            raise AttributeError(name)
        function = self[name]
        result, arguments = _prototypes.SIGNATURES[name]
        function.restype = _prototypes.passed(result)
        function.argtypes = [_prototypes.passed(kind) for kind in arguments]
        setattr(self, name, function)
        return function


class _QuickLibrary(_Library, ctypes.PyDLL):
    pass


def _load() -> _Library:
    failures = []
    for path in _candidates():
        try:
            library = _Library(path)
        except OSError as error:
            failures.append(str(error))
            continue
        try:
            for name in _prototypes.SIGNATURES:
                library[name]
        except AttributeError as error:
            raise ImportError(
                f"{path} and this package are different versions of Nuthatch: {error}"
            ) from None
        return library
    raise ImportError(
        f"{NAME} can't be loaded ({'; '.join(failures)}). Set NUTHATCH_LIBRARY to its path, install the wheel, "
        "or run `make` in the checkout."
    )


library = _load()
quick = _QuickLibrary(library._name)
bare = ctypes.PyDLL(library._name)


def version() -> str:
    """Returns the version of the loaded library."""
    return str(library.nh_version().decode())


def build_info() -> Dict[str, Any]:
    """Returns what the loaded library says about itself and the libraries that it uses."""
    from json import loads

    told: Dict[str, Any] = loads(library.nh_build_info())
    return told


def check(status: int, url: Optional[str] = None) -> None:
    """Raises the error of a status other than OK. Call it on the thread that made the call."""
    if status != _prototypes.OK:
        raise error_for(status, last_message(status), url)


def last_message(status: int) -> str:
    """Returns the library's message for the last failure on this thread, which had this status."""
    told = library.nh_error_message().decode("utf-8", "replace")
    return _named(told) if status == _prototypes.INVALID and told.startswith(_NEWER) else told


_NEWER = "options has a value at byte "


def _named(told: str) -> str:
    """Replaces the message about an option that the library is too old for. The library knows only the option's offset
    in the struct; the new message has its name."""
    byte, struct = int(told[len(_NEWER) :].partition(",")[0]), _prototypes.nh_options
    member = [field[0] for field in struct._fields_ if getattr(struct, field[0]).offset <= byte][-1]
    for name, row in ROWS.items():
        if row.member == member:
            lacks = "which doesn't have this option"
            return f"{name}: the library is Nuthatch {version()}, {lacks} (it came with {row.since})"
    return told


def last_status() -> int:
    """Returns the status of the last call on this thread that returned NULL."""
    told = _prototypes.nh_error_info(ctypes.sizeof(_prototypes.nh_error_info))
    quick.nh_error_get_info(ctypes.byref(told))
    return int(told.code)


def in_form(form: int, url: bytes) -> Optional[str]:
    """Returns a URL in another form, or None if it has none."""
    size = 512
    while True:
        buffer = ctypes.create_string_buffer(size)
        length = quick.nh_url_put(url, form, buffer, size)
        if length < 0:
            return None
        if length < size:
            return buffer.value.decode("utf-8", "replace")
        size = length + 1


def shown(url: Any) -> str:
    """Returns a URL, or a text with one in it, without its password, for messages."""
    text = str(url)
    if "@" not in text:
        return text
    return in_form(_prototypes.URL_REDACTED, text.replace("\0", "?").encode("utf-8", "replace")) or "***"


def encode(text: str, what: str) -> bytes:
    """Returns a text as UTF-8 for the library. Refuses a NUL, because it would end the string early there."""
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a str, not {type(text).__name__}")
    if "\0" in text:
        code = _prototypes.BAD_URL if what == "url" else _prototypes.BAD_HEADER
        raise error_for(code, f"there is a NUL at character {text.index(chr(0))} of the {what}", None)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        code = _prototypes.BAD_URL if what == "url" else _prototypes.BAD_HEADER
        raise error_for(
            code, f"there is half a surrogate pair at character {error.start} of the {what}", None
        ) from None
