"""Answers."""

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
    # Loaded where it is needed; type hints that are read at run time say no more.
    Element = Any

_get_info = bare.nh_response_get_info
_check_body = bare.nh_response_check
_info_type = _prototypes.nh_response_info
_info_size = ctypes.sizeof(_info_type)
_byref, _string_at = ctypes.byref, ctypes.string_at

#: Of a Content-Type: a name, and a value, in quotes or plain.
_PARAMETER = r';\s*([^\s=;]+)\s*=\s*(?:"([^"]*)"|([^\s";]*))'
#: What Python takes for text encodings, too. The first needs a minute for half a megabyte.
_NO_CHARSETS = ("punycode", "idna", "undefined", "unicode-escape", "raw-unicode-escape")


class Headers(Mapping[str, str]):
    """The headers of an answer: a mapping of names, in any spelling, to their values.

    The values of a name that came in several lines are joined by ", ". Only ``Set-Cookie`` is never joined: it maps to
    its first value, and ``items()`` has a pair for each. ``get_all`` gives the values of a name, and ``lines`` the
    lines, as they came. They equal another mapping that has the same values, its names compared without
    regard to case.

    >>> headers = nuthatch.Headers([("Vary", "Accept"), ("ETag", "x"), ("vary", "Cookie")])
    >>> headers["VARY"], headers.items()
    ('Accept, Cookie', [('Vary', 'Accept, Cookie'), ('ETag', 'x')])
    >>> headers.get_all("Vary"), headers == {"etag": "x", "vary": "Accept, Cookie"}
    (['Accept', 'Cookie'], True)
    """

    def __init__(self, lines: Iterable[Tuple[str, str]]) -> None:
        self._lines = list(lines)
        #: By the name in small letters: how it was spelled first, and its values.
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

    # As of every mapping that compares.
    __hash__ = None  # type: ignore[assignment]

    def _compared(self) -> Dict[str, Any]:
        """What is equal where headers are."""
        return {name: self.get_all(name) if name == _APART else self[name] for name in self._known}

    def items(self) -> List[Tuple[str, str]]:  # type: ignore[override]
        """Names, as they were spelled first, and values, in the order in which the names came."""
        pairs = []
        for name, values in self._known.values():
            apart = values if name.lower() == _APART else [", ".join(values)]
            pairs += [(name, value) for value in apart]
        return pairs

    @property
    def lines(self) -> List[Tuple[str, str]]:
        """Every line that was received, in order, as it was received."""
        return list(self._lines)

    def get_all(self, name: str) -> List[str]:
        """Every value of a name, in order; an empty list where there is none."""
        return list(self._known[name.lower()][1]) if name in self else []

    def __reduce__(self) -> Tuple[Any, ...]:
        return remade, (type(self), Headers, (self._lines,), {}), added_to(self, Headers, "_lines", "_known")

    def __repr__(self) -> str:
        return f"Headers({self._lines!r})"


#: Its values hold commas of their own, so that none may be put between them.
_APART = "set-cookie"


class Response:
    """An answer, of whatever status.

    >>> response = cache.get(url)
    >>> response.status, response.ok, response.headers["content-type"], response.body
    (200, True, 'text/plain', b'hello')
    """

    _body: Optional[bytes]
    _handle: Optional[ctypes.c_void_p]
    _info: _prototypes.nh_response_info
    #: Where the body lies, and how long it is.
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
    #: The words after it; empty where the server sent none.
    reason: str
    #: The URL as it was passed.
    url: str
    #: The URL that answered, after redirects, without user and password.
    final_url: str
    headers: Headers
    #: What came before it, such as early hints: status and headers of each.
    interim: List[Tuple[int, Headers]]
    #: True when the bytes were in the cache before the request was submitted.
    is_in_cache: bool
    #: True when the cache has the answer now: it was there, or has been kept. False for what must not be kept, and
    #: for what couldn't be, because another process held the lock of the cache or the disk was full.
    is_stored: bool
    #: True when the request ("POST", "PUT", "DELETE", "PATCH") has made stored answers invalid that couldn't be
    #: removed yet, for the same reasons. No process gives them any more, and the next one that keeps an answer removes
    #: them. Of what a bad disk refuses to remove only this process knows.
    is_removal_due: bool
    #: True when the answer is older than it should be: the server couldn't be asked, or is yet to be.
    is_stale: bool
    #: True when the body was longer: of an answer to a request in the outbox the first MiB is kept.
    is_cut: bool
    #: True when the body may end too early: nothing says how long it is, and its TLS connection ended without the
    #: farewell (close_notify) that only the server can send. Such an answer isn't stored.
    is_truncated: bool
    #: How old it is, in seconds, by the rules of HTTP.
    age: int
    #: "memory", "disk", "revalidated" or "network".
    source: str
    #: How many redirects were followed.
    redirects: int
    #: How long the last exchange took.
    seconds: float

    def __init__(self, handle: Optional[ctypes.c_void_p], url: str) -> None:
        # Nothing else: what nobody asks for isn't made.
        put_answer(self, handle)
        put_body(self, None)
        put_answers_url(self, url)

    def __del__(self, _release: Callable[[ctypes.c_void_p], int] = bare.nh_response_release) -> None:
        try:
            if self._handle is not None:
                _release(self._handle)
        except AttributeError:
            pass  # never begun

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Called for slots that are still empty: filled when somebody asks.
            if name == "_info":
                info = _info_type(_info_size)
                _FILL["_info"](self, info)
                check(_get_info(self._handle, _byref(info)), self.url)
                put_place(self, (info.body, info.body_size))
            elif name == "_lies":
                self._info  # noqa: B018  # says that, too
            elif name == "headers":
                lines = range(self._info.header_count)
                _FILL[name](self, Headers([_header(self._handle, line) for line in lines]))
            elif name == "interim":
                numbers = range(self._info.interim_count)
                _FILL[name](self, [_interim(self._handle, number) for number in numbers])
            elif name not in _TOLD:
                known = f"; its {_OTHERWISE[name]!r} is that" if name in _OTHERWISE else ""
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
            # What the disk failed to give while it was copied reads as zeros.
            if self._handle is not None:
                check(_check_body(self._handle), self.url)
            put_body(self, body)
            return body
        return self._body

    @property
    def view(self) -> memoryview:
        """The bytes of the body where they lie, read-only and without a copy; pinned while a view lives. What the disk
        fails to give reads as zeros there, while ``body`` is an ``io`` error then."""
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
        """The body as text: by the charset of the Content-Type, else UTF-8; what can't be decoded becomes U+FFFD."""
        # Of several lines the first.
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
        """The body as JSON.

        :raises WrongFormat: when it is none; also a ``ValueError``.
        """
        with loading:
            import json

        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise self._wrong(f"no JSON ({error})") from None

    def _wrong(self, what: str) -> WrongFormat:
        return WrongFormat(f"{what}: {shown(self.final_url)}", "wrong_format", self.url)

    def xml(self) -> "Element":
        """The body as XML: the root of its tree (``xml.etree.ElementTree``).

        Whatever defines entities is refused, because a few lines of it can stand for gigabytes, or for a file of this
        machine.

        :raises WrongFormat: when it is no XML, or has a document type; also a ``ValueError``.
        """
        with loading:
            from xml.etree.ElementTree import ParseError, TreeBuilder
            from xml.parsers import expat

        tree = TreeBuilder()
        # No namespaces are resolved by a separator of ours: names have the form of ElementTree's own.
        parser = expat.ParserCreate(None, "}")

        def name(text: str) -> str:
            return "{" + text if "}" in text else text

        def start(tag: str, attributes: Dict[str, str]) -> None:
            tree.start(name(tag), {name(key): value for key, value in attributes.items()})

        def refuse(*_: Any) -> None:
            raise self._wrong("XML with a document type or entities isn't read")

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
        # A ValueError is what an encoding of several bytes is to expat.
        except (expat.ExpatError, ParseError, AssertionError, LookupError, ValueError) as error:
            raise self._wrong(f"no XML ({error})") from None

    def raise_for_status(self) -> "Response":
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
    ) -> Image:
        """Decodes the body, a JPEG or PNG, to fit a box.

        :param size: the side of a square box, or width and height.
        :param fit: "inside" the box; "cover" it, and what is beyond is cut off; "stretch", proportions given up.
        :param enlarge: make a smaller picture larger.
        :param scaling: "best", or "fast".
        :param allow_damaged: take what decodes of a damaged picture; see ``is_partial``.
        :param max_pixels: the most that the source may have; what the request allowed by default, and 100 million once
            the response was pickled.
        :raises NotAnImage, UnsupportedFormat, Corrupt, ...: when there is no picture to be had.
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
        wanted, kept = image_place(size, said, self.url)
        if self._handle is None:
            made = decoded(self.body, wanted, self.url)
        else:
            made = ctypes.c_void_p()
            check(library.nh_response_image(self._handle, wanted, ctypes.byref(made)), self.url)
        del kept
        return Image(made, self.url)

    def __reduce__(self) -> Tuple[Any, ...]:
        # As bytes, and what was told of them.
        told = {name: getattr(self, name) for name in _TOLD}
        arguments = (type(self), self.body, self.url, self.headers, self.interim, told)
        return _unpickled, arguments, added_to(self, Response)

    def __copy__(self) -> "Response":
        return self

    def __deepcopy__(self, memo: Any) -> "Response":
        return self

    def __repr__(self) -> str:
        return f"<Response {self.status} {shown(self.final_url)} {len(self.view)} bytes>"


_FILL = immutable(Response)
put_answer, put_answers_url = _FILL["_handle"], _FILL["url"]
put_body, put_place = _FILL["_body"], _FILL["_lies"]

#: What the library is asked for when somebody asks for it.
_TOLD = frozenset(
    set(Response.__slots__)
    - {"__weakref__", "_body", "_handle", "_info", "_lies", "headers", "interim", "url"}
)

#: What other libraries call it, for who has their names in mind.
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
