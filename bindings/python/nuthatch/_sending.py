"""Bodies of requests: bytes, forms, files."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from . import _prototypes as abi
from ._arguments import fields
from ._errors import error_for
from ._later import loading
from ._library import check, encode, quick
from ._values import encode_path, repeatable

if TYPE_CHECKING:
    from ._option_values import Fields


def as_json(value: Any, url: str) -> bytes:
    """Returns a value as JSON."""
    with loading:
        import json

    try:
        # JSON has no NaN and no infinity: a server may misread the text.
        return json.dumps(value, allow_nan=False).encode()
    except ValueError as error:
        raise error_for(abi.INVALID, f"json can't be sent: {error}", url) from None


def _as_form(lines: List[Tuple[str, Any]]) -> bytes:
    with loading:
        from urllib.parse import urlencode

    return urlencode(lines, True).encode()


def _said(form: Fields) -> List[Tuple[str, Any]]:
    """Returns the fields of a form without those that are None."""
    lines = []
    for name, value in fields(form, "form"):
        if isinstance(value, (list, tuple)):
            value = [one for one in value if one is not None]
        if value is not None:
            lines.append((name, value))
    return lines


class OpenFile:
    """An open file of a form. Each time that the form is sent, it is read from the position that it had at first."""

    __slots__ = ("_file", "_is_read", "_start", "name")

    def __init__(self, file: Any) -> None:
        own = getattr(file, "name", None)
        #: The file's name without its folder, or None.
        self.name = os.path.basename(own) if isinstance(own, str) else None
        self._file = file
        self._is_read = False
        try:
            self._start = file.tell()
        except (AttributeError, OSError, ValueError):
            self._start = None

    def read(self, url: str) -> Any:
        """Reads the rest of the file."""
        if self._is_read:
            why = "it can't seek"
            try:
                if self._start is not None:
                    self._file.seek(self._start)
                    why = ""
            except (AttributeError, OSError, ValueError) as error:
                why = str(error)
            if why:
                which = "the open file" if self.name is None else f"the open file {self.name}"
                raise error_for(abi.INVALID, f"files: {which} can't be read again: {why}", url)
        self._is_read = True
        return self._file.read()


def _opened(file: Any) -> Any:
    """Returns a file of a form so that it can be sent again."""
    if isinstance(file, tuple):
        return tuple(_opened(part) for part in file)
    return OpenFile(file) if hasattr(file, "read") and not isinstance(file, OpenFile) else file


class Form:
    """A multipart form. Its files are read while it is sent."""

    __slots__ = ("fields", "files")

    def __init__(self, fields: List[Tuple[str, Any]], files: List[Tuple[str, Any]]) -> None:
        self.fields, self.files = fields, files


def prepared(options: Dict[str, Any], url: str) -> Dict[str, Any]:
    """Returns options that can be used again: headers are lists of pairs, and ``json``, ``form`` and ``files`` become a
    ``body``. Iterators are read into lists."""
    repeatable(options)
    json, form, files = options.pop("json", None), options.pop("form", None), options.pop("files", None)
    if json is None and form is None and files is None:
        return options
    if options.get("body") is not None or (json is not None and not (form is files is None)):
        raise error_for(abi.INVALID, "body, json, and form with files exclude each other", url)
    if files is not None:
        parts = [(name, _opened(file)) for name, file in fields(files, "files")]
        options["body"] = Form(_said(form), parts)
        return options
    if json is not None:
        body, kind = as_json(json, url), "application/json"
    else:
        body, kind = _as_form(_said(form)), "application/x-www-form-urlencoded"
    options["body"], lines = body, options.get("headers", [])
    if not any(name.lower() == "content-type" for name, _ in lines):
        options["headers"] = [*lines, ("Content-Type", kind)]
    return options


def put_body(request: ctypes.c_void_p, value: Any, url: str) -> None:
    if isinstance(value, Form):
        _form(request, value, url)
    elif isinstance(value, os.PathLike):
        check(quick.nh_request_set_body_file(request, encode_path(value, url, "body")), url)
    elif value is not None:
        data = _as_bytes(value, "body", "bytes or a Path")
        check(quick.nh_request_set_body(request, data, len(data)), url)


def _as_bytes(value: Any, what: str, wanted: str) -> bytes:
    # Not bytes(value) alone: for a number it returns that many zeros.
    try:
        return value if isinstance(value, bytes) else bytes(memoryview(value))
    except TypeError:
        hint = "; use text.encode()" if isinstance(value, str) else ""
        raise TypeError(f"{what} must be {wanted}, not {type(value).__name__}{hint}") from None


def _part(name: bytes, called: Optional[str], kind: Optional[str]) -> abi.nh_part:
    part = abi.nh_part(ctypes.sizeof(abi.nh_part))
    part.name = name
    part.file_name, part.type = (None if text is None else encode(text, "files") for text in (called, kind))
    return part


def _form(request: ctypes.c_void_p, form: Form, url: str) -> None:
    def add(name: str, data: bytes, called: Optional[str] = None, kind: Optional[str] = None) -> None:
        part = _part(encode(name, "form"), called, kind)
        part.data, part.size = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value, len(data)
        check(quick.nh_request_add_part(request, ctypes.byref(part)), url)

    for name, value in form.fields:
        for one in value if isinstance(value, (list, tuple)) else [value]:
            add(name, one if isinstance(one, bytes) else str(one).encode())
    for name, file in form.files:
        called: Optional[str] = None
        kind: Optional[str] = None
        if isinstance(file, tuple):
            parts: List[Any] = list(file)
            if len(parts) not in (2, 3):
                raise error_for(abi.INVALID, "a tuple of files must be (name, bytes or path[, type])", url)
            called, kind = parts[0], parts[2] if len(parts) > 2 else None
            file = parts[1]
        if isinstance(file, (str, os.PathLike)):
            part = _part(encode(name, "files"), called, kind)
            part.path = encode_path(file, url, "files")
            check(quick.nh_request_add_part(request, ctypes.byref(part)), url)
            continue
        if isinstance(file, OpenFile):
            called = called or file.name
            file = file.read(url)
        data = _as_bytes(file, "a file of files", "bytes, a path or an open file")
        add(name, data, called or name, kind)
