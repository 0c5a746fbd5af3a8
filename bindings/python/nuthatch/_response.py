"""Answers."""

import ctypes
import re
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from . import _prototypes
from ._errors import HTTPStatusError
from ._image import SOURCES, Image, Size, options
from ._library import check, library


class Headers(Mapping[str, str]):
    """The headers of an answer: a mapping of names in any spelling to their first value.

    ``items()`` gives every line that was received, in order, repeated names apart; ``get_all`` all values of a name.
    """

    def __init__(self, lines: List[Tuple[str, str]]) -> None:
        self._lines = lines
        self._first: Dict[str, str] = {}
        for name, value in lines:
            self._first.setdefault(name.lower(), value)

    def __getitem__(self, name: str) -> str:
        return self._first[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._first)

    def __len__(self) -> int:
        return len(self._first)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._first

    def items(self) -> List[Tuple[str, str]]:  # type: ignore[override]
        """Every line that was received."""
        return list(self._lines)

    def get_all(self, name: str) -> List[str]:
        """Every value of a name, in order."""
        return [value for key, value in self._lines if key.lower() == name.lower()]

    def __repr__(self) -> str:
        return f"Headers({self._lines!r})"


class Response:
    """An answer, of whatever status.

    >>> response = cache.get(url)
    >>> response.status, response.ok, response.headers["content-type"], response.body
    (200, True, 'text/plain', b'hello')
    """

    __slots__ = (
        "_body",
        "_handle",
        "_place",
        "final_url",
        "headers",
        "is_in_cache",
        "redirects",
        "seconds",
        "source",
        "status",
        "url",
        "__weakref__",
    )

    #: The HTTP status, such as 200.
    status: int
    #: The URL as it was passed.
    url: str
    #: The URL that answered, after redirects, without user and password.
    final_url: str
    headers: Headers
    #: True when the bytes were in the cache before the request was submitted.
    is_in_cache: bool
    #: "memory", "disk", "revalidated" or "network".
    source: str
    #: How many redirects were followed.
    redirects: int
    #: How long the last exchange took.
    seconds: float

    def __init__(self, handle: int, url: str) -> None:
        self._handle: Optional[int] = handle
        info = _prototypes.nh_response_info()
        info.struct_size = ctypes.sizeof(info)
        check(library.nh_response_get_info(handle, ctypes.byref(info)), url)
        self.status = info.status
        self.url = url
        self.final_url = info.final_url.decode()
        self.is_in_cache = bool(info.is_in_cache)
        self.source = SOURCES.get(info.source, "network")
        self.redirects = info.redirects
        self.seconds = info.total_us / 1e6
        self._body: Optional[bytes] = None
        self._place = (info.body, info.body_size)
        self.headers = Headers([_header(handle, index) for index in range(info.header_count)])

    @property
    def body(self) -> bytes:
        """The bytes of the body."""
        if self._body is None:
            self._body = ctypes.string_at(*self._place)
        return self._body

    @property
    def ok(self) -> bool:
        """Whether the status is a success (2xx)."""
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        """The body as text: by the charset of the Content-Type, else UTF-8; what can't be decoded becomes U+FFFD."""
        named = re.search(
            r';\s*charset\s*=\s*"?([^\s";]+)', self.headers.get("content-type", ""), re.IGNORECASE
        )
        try:
            return self.body.decode(named.group(1) if named else "utf-8", "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body as JSON. Raises ``ValueError`` when it is none."""
        import json  # here, because it is half of what loading the package would cost

        return json.loads(self.body)

    def raise_for_status(self) -> "Response":
        """Raises :class:`HTTPStatusError` unless the status is a success; returns the response itself."""
        if not self.ok:
            error = HTTPStatusError(f"HTTP {self.status}: {self.final_url}", "http", self.url)
            error.response = self
            error.status = self.status
            raise error
        return self

    def image(
        self,
        size: Size,
        *,
        mode: str = "fit",
        enlarge: bool = False,
        quality: str = "best",
        allow_truncated: bool = False,
        max_pixels: int = 0,
    ) -> Image:
        """Decodes the body, a JPEG or PNG, to fit a box.

        :param size: the side of a square box, or width and height.
        :param mode: "fit" inside the box; "fill" it and cut off what sticks out; "exact", proportions given up.
        :param enlarge: make a smaller picture larger.
        :param quality: "best", or "fast".
        :param allow_truncated: take what decodes of a damaged picture; see ``is_partial``.
        :param max_pixels: the most that the source may have; 100 million by default.
        :raises NotAnImage, UnsupportedFormat, Corrupt, ...: when there is no picture to be had.
        """
        wanted = options(size, mode, enlarge, quality, allow_truncated, max_pixels, self.url)
        made = ctypes.c_void_p()
        done = library.nh_response_image(self._handle, ctypes.byref(wanted), ctypes.byref(made))
        check(done, self.url)
        return Image(made.value or 0, self.url)

    def _release(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            library.nh_response_release(handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self._release()

    def __repr__(self) -> str:
        return f"<Response {self.status} {self.final_url} {self._place[1]} bytes>"


def _header(handle: int, index: int) -> Tuple[str, str]:
    name, value = ctypes.c_char_p(), ctypes.c_char_p()
    check(library.nh_response_header_at(handle, index, ctypes.byref(name), ctypes.byref(value)))
    return (name.value or b"").decode(), (value.value or b"").decode()
