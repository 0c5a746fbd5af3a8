"""What is sent: bodies, forms, files."""

import ctypes
import os
from typing import Any, Dict, List, Optional, Tuple

from . import _prototypes as abi
from ._arguments import fields
from ._errors import error_for
from ._later import loading
from ._library import check, encode, quick
from ._values import encode_path, pairs
from ._wishes import Fields


def as_json(value: Any) -> bytes:
    """A value as JSON."""
    with loading:
        import json

    return json.dumps(value).encode()


def _as_form(lines: Fields) -> bytes:
    with loading:
        from urllib.parse import urlencode

    return urlencode(fields(lines, "form"), True).encode()


class Form:
    """A multipart form, whose files are read while it is sent."""

    __slots__ = ("fields", "files")

    def __init__(self, fields: List[Tuple[str, Any]], files: List[Tuple[str, Any]]) -> None:
        self.fields, self.files = fields, files


def prepared(options: Dict[str, Any], url: str) -> Dict[str, Any]:
    """Options with headers as pairs, and with ``json``, ``form`` and ``files`` made a ``body``: to be used again."""
    if "headers" in options:
        options["headers"] = pairs(options["headers"])
    json, form, files = options.pop("json", None), options.pop("form", None), options.pop("files", None)
    if json is None and form is None and files is None:
        return options
    if options.get("body") is not None or (json is not None and not (form is files is None)):
        raise error_for(abi.INVALID, "of body, json, and form with files there can be one", url)
    if files is not None:
        options["body"] = Form(fields(form, "form"), fields(files, "files"))
        return options
    if json is not None:
        body, kind = as_json(json), "application/json"
    else:
        body, kind = _as_form(form), "application/x-www-form-urlencoded"
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
    # Not bytes(value) alone: of a number it makes as many zeros.
    try:
        return value if isinstance(value, bytes) else bytes(memoryview(value))
    except TypeError:
        hint = "; text.encode() makes bytes of a text" if isinstance(value, str) else ""
        raise TypeError(f"{what} must be {wanted}, not {type(value).__name__}{hint}") from None


def _form(request: ctypes.c_void_p, form: Form, url: str) -> None:
    def add(name: str, data: bytes, called: Optional[str] = None, kind: Optional[str] = None) -> None:
        given = [None if text is None else encode(text, "files") for text in (called, kind)]
        check(quick.nh_request_add_form_data(request, encode(name, "form"), data, len(data), *given), url)

    for name, value in form.fields:
        for one in value if isinstance(value, (list, tuple)) else [value]:
            add(name, one if isinstance(one, bytes) else str(one).encode())
    for name, file in form.files:
        called: Optional[str] = None
        kind: Optional[str] = None
        if isinstance(file, tuple):
            parts: List[Any] = list(file)
            if len(parts) not in (2, 3):
                raise error_for(abi.INVALID, "a file is named by (name, bytes or path[, type])", url)
            called, kind = parts[0], parts[2] if len(parts) > 2 else None
            file = parts[1]
        if isinstance(file, (str, os.PathLike)):
            given = [None if text is None else encode(text, "files") for text in (called, kind)]
            path = encode_path(file, url, "files")
            check(quick.nh_request_add_form_file(request, encode(name, "files"), path, *given), url)
            continue
        if hasattr(file, "read"):
            own = getattr(file, "name", None)
            called = called or (os.path.basename(own) if isinstance(own, str) else None)
            file = file.read()
        data = _as_bytes(file, "what files names", "bytes, a path or an open file")
        add(name, data, called or name, kind)
