"""Answers."""

from __future__ import annotations

import codecs
import ctypes
import re
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Tuple,
    Type,
    Union,
)

from . import _prototypes
from ._errors import HTTPStatusError, WrongFormat
from ._image import SOURCES, Image, Size, decoded
from ._immutable import immutable
from ._later import loading
from ._library import bare, check, library, quick, shown
from ._pickling import added_to, remade

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element
else:
    # Imported where it is needed. At run time, the type hint is Any.
    Element = Any

_get_info = bare.nh_response_get_info
_check_body = bare.nh_response_check
_info_type = _prototypes.nh_response_info
_info_size = ctypes.sizeof(_info_type)
_byref, _string_at = ctypes.byref, ctypes.string_at

#: A parameter of a Content-Type: a name, and a value, in quotes or plain.
_PARAMETER = r';\s*([^\s=;]+)\s*=\s*(?:"([^"]*)"|([^\s";]*))'
#: Codecs of Python that are not charsets. The first needs a minute for half a megabyte.
_NO_CHARSETS = ("punycode", "idna", "undefined", "unicode-escape", "raw-unicode-escape")


class Headers(Mapping[str, str]):
    """The headers of an answer: a mapping of names to values. Upper and lower case of names are equal.

    If a name came in several lines, its values are joined by ", ". Only ``Set-Cookie`` is never joined: it maps to its
    first value, and ``items()`` has a pair for each. ``get_all`` returns the values of a name, and ``lines`` the lines
    as they came. Headers are equal to another mapping with the same names and values; the case of names doesn't count.

    >>> headers = nuthatch.Headers([("Vary", "Accept"), ("ETag", "x"), ("vary", "Cookie")])
    >>> headers["VARY"], headers.items()
    ('Accept, Cookie', [('Vary', 'Accept, Cookie'), ('ETag', 'x')])
    >>> headers.get_all("Vary"), headers == {"etag": "x", "vary": "Accept, Cookie"}
    (['Accept', 'Cookie'], True)
    """

    def __init__(self, lines: Iterable[Tuple[str, str]]) -> None:
        self._lines = list(lines)
        #: For each name in lower case: its first spelling, and its values.
        self._known: Dict[str, Tuple[str, List[str]]] = {}
        for name, value in self._lines:
            self._known.setdefault(name.lower(), (name, []))[1].append(value)

    def __getitem__(self, name: str) -> str:
        if not isinstance(name, str):
            raise KeyError(name)
        lower = name.lower()
        values = self._known[lower][1]
        return values[0] if lower == _APART else ", ".join(values)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._known.values())

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._known

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        if isinstance(other, Headers):
            return self._compared() == other._compared()
        return {name.lower(): value for name, value in dict(self).items()} == {
            name.lower() if isinstance(name, str) else name: value for name, value in other.items()
        }

    # Not hashable, as other mappings that compare by value.
    __hash__ = None  # type: ignore[assignment]

    def _compared(self) -> Dict[str, Any]:
        """Returns a value for comparisons."""
        return {name: self.get_all(name) if name == _APART else self[name] for name in self._known}

    def items(self) -> List[Tuple[str, str]]:  # type: ignore[override]
        """Returns names in their first spelling, and values, in the order in which the names came."""
        pairs = []
        for name, values in self._known.values():
            apart = values if name.lower() == _APART else [", ".join(values)]
            pairs += [(name, value) for value in apart]
        return pairs

    @property
    def lines(self) -> List[Tuple[str, str]]:
        """All lines as they were received, in order."""
        return list(self._lines)

    def get_all(self, name: str) -> List[str]:
        """Returns all values of a name, in order; an empty list if there is none."""
        return list(self._known[name.lower()][1]) if name in self else []

    def __reduce__(self) -> Tuple[Any, ...]:
        return remade, (type(self), Headers, (self._lines,), {}), added_to(self, Headers, "_lines", "_known")

    def __repr__(self) -> str:
        return f"Headers({self._lines!r})"


#: The values of this header contain commas, so they can't be joined by commas.
_APART = "set-cookie"


class Response:
    """An answer, with any status.

    >>> response = cache.get(url)
    >>> response.status, response.ok, response.headers["content-type"], response.body
    (200, True, 'text/plain', b'hello')
    """

    _body: Optional[bytes]
    _handle: Optional[ctypes.c_void_p]
    _info: _prototypes.nh_response_info
    #: The address and the length of the body.
    _lies: Tuple[int, int]

    __slots__ = (
        "__weakref__",
        "_body",
        "_handle",
        "_info",
        "_lies",
        "age",
        "final_url",
        "headers",
        "interim",
        "is_cut",
        "is_in_cache",
        "is_removal_due",
        "is_stale",
        "is_stored",
        "is_truncated",
        "reason",
        "redirects",
        "seconds",
        "source",
        "status",
        "url",
    )

    #: The HTTP status, such as 200.
    status: int
    #: The reason phrase after the status; empty if the server sent none.
    reason: str
    #: The URL as it was passed.
    url: str
    #: The URL that answered, after redirects, without user and password.
    final_url: str
    headers: Headers
    #: Interim answers that came before it, such as early hints: status and headers of each.
    interim: List[Tuple[int, Headers]]
    #: True if the bytes were in the cache before the request was submitted.
    is_in_cache: bool
    #: True if the answer is in the cache now: it was there before, or has been stored. False if it must not be stored,
    #: or could not be, because another process held the lock of the cache or the disk was full.
    is_stored: bool
    #: True if the request ("POST", "PUT", "DELETE", "PATCH") has made stored answers invalid that could not be removed
    #: yet, because another process held the lock of the cache or the disk was full. No process uses these answers. The
    #: next process that stores an answer removes them. If the disk fails, only this process knows that they are
    #: invalid.
    is_removal_due: bool
    #: True if the answer is stale: the server could not be asked, or has not been asked yet.
    is_stale: bool
    #: True if this is not the whole body: the outbox keeps only the first MiB of an answer.
    is_cut: bool
    #: True if the body may be incomplete: its length is unknown, and its TLS connection ended without close_notify.
    #: Such an answer is not stored.
    is_truncated: bool
    #: The age of the answer in seconds, by the rules of HTTP.
    age: int
    #: "memory", "disk", "revalidated" or "network".
    source: str
    #: The number of redirects that were followed.
    redirects: int
    #: The time of the last exchange with a server, in seconds; 0 for an answer from the cache.
    seconds: float

    def __init__(self, handle: Optional[ctypes.c_void_p], url: str) -> None:
        # Nothing else: other attributes are read at the first access.
        put_answer(self, handle)
        put_body(self, None)
        put_answers_url(self, url)

    def __del__(self, _release: Callable[[ctypes.c_void_p], int] = bare.nh_response_release) -> None:
        try:
            if self._handle is not None:
                _release(self._handle)
        except AttributeError:
            pass  # __init__ has not run

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Called for slots that are still empty. They are filled at the first access.
            if name == "_info":
                info = _info_type(_info_size)
                _FILL["_info"](self, info)
                check(_get_info(self._handle, _byref(info)), self.url)
                put_place(self, (info.body, info.body_size))
            elif name == "_lies":
                self._info  # noqa: B018  # fills _lies, too
            elif name == "headers":
                lines = range(self._info.header_count)
                _FILL[name](self, Headers([_header(self._handle, line) for line in lines]))
            elif name == "interim":
                numbers = range(self._info.interim_count)
                _FILL[name](self, [_interim(self._handle, number) for number in numbers])
            elif name not in _TOLD:
                known = f"; use {_OTHERWISE[name]!r}" if name in _OTHERWISE else ""
                raise AttributeError(f"a Response has no {name!r}{known}")
            else:
                self._fill()
            return getattr(self, name)

    def _fill(self) -> None:
        info = self._info
        told = {
            "status": info.status,
            "reason": info.reason.decode("utf-8", "replace"),
            "final_url": info.final_url.decode(),
            "is_in_cache": bool(info.is_in_cache),
            "is_stale": bool(info.is_stale),
            "is_stored": bool(info.is_stored),
            "is_removal_due": bool(info.is_removal_due),
            "is_truncated": bool(info.is_truncated),
            "is_cut": bool(info.is_cut),
            "source": SOURCES.get(info.source, "network"),
            "age": info.age,
            "redirects": info.redirects,
            "seconds": info.total_us / 1e6,
        }
        for slot, value in told.items():
            _FILL[slot](self, value)

    @property
    def body(self) -> bytes:
        """The bytes of the body."""
        if self._body is None:
            body = _string_at(*self._lies)
            # If the disk fails during the copy, the bytes read as zeros. So check afterwards.
            if self._handle is not None:
                check(_check_body(self._handle), self.url)
            put_body(self, body)
            return body
        return self._body

    @property
    def view(self) -> memoryview:
        """The bytes of the body, read-only and without a copy. They stay valid while a view exists. If the disk fails,
        they read as zeros; ``body`` raises an ``io`` error then."""
        if self._handle is None:
            return memoryview(self.body)
        start, size = self._lies
        array: Any = (ctypes.c_ubyte * size).from_address(start)
        array._response = self
        return memoryview(array).toreadonly().cast("B")

    def __buffer__(self, flags: int) -> memoryview:
        """``memoryview(response)``, from Python 3.12."""
        return self.view

    @property
    def ok(self) -> bool:
        """Whether the status is a success (2xx)."""
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        """The body as text, decoded by the charset of the Content-Type, else as UTF-8. Wrong bytes become U+FFFD."""
        # The first line, if there are several.
        kind = self.headers.get_all("content-type")[:1]
        for name, quoted, plain in re.findall(_PARAMETER, "".join(kind)):
            if name.lower() == "charset":
                try:
                    if codecs.lookup(quoted or plain).name not in _NO_CHARSETS:
                        return self.body.decode(quoted or plain, "replace")
                except (LookupError, ValueError):
                    pass
                break
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """Parses the body as JSON.

        :raises WrongFormat: if it is not JSON; also a ``ValueError``.
        """
        with loading:
            import json

        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise self._wrong(f"not JSON ({error})") from None

    def _wrong(self, what: str) -> WrongFormat:
        return WrongFormat(f"{what}: {shown(self.final_url)}", "wrong_format", self.url)

    def xml(self) -> Element:
        """Parses the body as XML. Returns the root of its tree (``xml.etree.ElementTree``).

        A document that defines entities is refused: a few lines of it can expand to gigabytes, or to a file of this
        machine.

        :raises WrongFormat: if it is not XML, or has a document type; also a ``ValueError``.
        """
        with loading:
            from xml.etree.ElementTree import ParseError, TreeBuilder
            from xml.parsers import expat

        tree = TreeBuilder()
        # With the separator "}", names get the form of ElementTree: "{namespace}name".
        parser = expat.ParserCreate(None, "}")

        def name(text: str) -> str:
            return "{" + text if "}" in text else text

        def start(tag: str, attributes: Dict[str, str]) -> None:
            tree.start(name(tag), {name(key): value for key, value in attributes.items()})

        def refuse(*_: Any) -> None:
            raise self._wrong("XML with a document type or entities is refused")

        parser.StartElementHandler = start
        parser.EndElementHandler = lambda tag: tree.end(name(tag))
        parser.CharacterDataHandler = tree.data
        parser.StartDoctypeDeclHandler = refuse
        parser.EntityDeclHandler = refuse
        try:
            parser.Parse(self.body, True)
            return tree.close()
        except WrongFormat:
            raise
        # expat raises ValueError for encodings with several bytes a character.
        except (expat.ExpatError, ParseError, AssertionError, LookupError, ValueError) as error:
            raise self._wrong(f"not XML ({error})") from None

    def raise_for_status(self) -> Response:
        """Raises :class:`HTTPStatusError` unless the status is a success; returns the response itself."""
        if not self.ok:
            error = HTTPStatusError(f"HTTP {self.status}: {shown(self.final_url)}", "http", self.url)
            error.response = self
            error.status = self.status
            raise error
        return self

    def image(
        self,
        size: Size,
        *,
        fit: str = "inside",
        enlarge: bool = False,
        scaling: str = "best",
        allow_damaged: bool = False,
        max_pixels: Union[int, str] = 0,
        decode: str = "",
    ) -> Image:
        """Decodes the body, a picture of a format that docs/HTTP.md of the sources lists, to fit a box.

        :param size: the side of a square box, or width and height.
        :param fit: "inside": fit into the box. "cover": fill the box, and cut off the rest. "stretch": fill the box,
            and change the proportions.
        :param enlarge: whether to enlarge a smaller picture.
        :param scaling: "best", or "fast".
        :param allow_damaged: whether to use the part of a damaged picture that can be decoded; see ``is_partial``.
        :param max_pixels: the most pixels of the source. Default: the request's limit; 100 million for a response from
            a pickle.
        :param decode: "here", or "isolated": in another process, which has no network and no files. Default: as for the
            request.
        :raises NotAnImage, UnsupportedFormat, Corrupt, ...: if the body can't be decoded.
        """
        with loading:
            from ._options import image_place

        said: Dict[str, Any] = {
            "fit": fit,
            "enlarge": enlarge,
            "scaling": scaling,
            "allow_damaged": allow_damaged,
        }
        if max_pixels != 0:
            said["max_pixels"] = max_pixels
        if decode:
            said["decode"] = decode
        wanted, kept = image_place(size, said, self.url)
        if self._handle is None:
            made = decoded(self.body, wanted, self.url)
        else:
            made = ctypes.c_void_p()
            check(library.nh_response_image(self._handle, wanted, ctypes.byref(made)), self.url)
        del kept
        return Image(made, self.url)

    def __reduce__(self) -> Tuple[Any, ...]:
        # The pickle has the bytes and all attributes.
        told = {name: getattr(self, name) for name in _TOLD}
        arguments = (type(self), self.body, self.url, self.headers, self.interim, told)
        return _unpickled, arguments, added_to(self, Response)

    def __copy__(self) -> Response:
        return self

    def __deepcopy__(self, memo: Any) -> Response:
        return self

    def __repr__(self) -> str:
        return f"<Response {self.status} {shown(self.final_url)} {len(self.view)} bytes>"


_FILL = immutable(Response)
put_answer, put_answers_url = _FILL["_handle"], _FILL["url"]
put_body, put_place = _FILL["_body"], _FILL["_lies"]

#: The attributes that are read from the library at the first access.
_TOLD = frozenset(
    set(Response.__slots__)
    - {"__weakref__", "_body", "_handle", "_info", "_lies", "headers", "interim", "url"}
)

#: Names in other libraries, and ours for them.
_OTHERWISE = {
    "content": "body",
    "data": "body",
    "elapsed": "seconds",
    "from_cache": "is_in_cache",
    "history": "redirects",
    "is_success": "ok",
    "reason_phrase": "reason",
    "status_code": "status",
}


def _unpickled(
    kind: Type[Response],
    body: bytes,
    url: str,
    headers: Headers,
    interim: List[Tuple[int, Headers]],
    told: Dict[str, Any],
) -> Response:
    response: Response = remade(kind, Response, (None, url), {})
    put_body(response, body)
    for name, value in {**told, "headers": headers, "interim": interim}.items():
        _FILL[name](response, value)
    return response


def _header(handle: Optional[ctypes.c_void_p], index: int) -> Tuple[str, str]:
    name, value = ctypes.c_char_p(), ctypes.c_char_p()
    check(quick.nh_response_header_at(handle, index, ctypes.byref(name), ctypes.byref(value)))
    return (name.value or b"").decode(), (value.value or b"").decode()


def _interim(handle: Optional[ctypes.c_void_p], number: int) -> Tuple[int, Headers]:
    told = _prototypes.nh_interim()
    told.struct_size = ctypes.sizeof(told)
    check(quick.nh_response_interim_at(handle, number, ctypes.byref(told)))
    lines = (_prototypes.nh_header * told.header_count).from_address(told.headers) if told.headers else ()
    return told.status, Headers([(line.name.decode(), line.value.decode()) for line in lines])
