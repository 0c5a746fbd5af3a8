"""Decoded pictures."""

import ctypes
import os
from typing import Any, Dict, Optional, Tuple, Union

from . import _prototypes
from ._errors import error_for
from ._library import check, library

SOURCES = {
    _prototypes.SOURCE_MEMORY: "memory",
    _prototypes.SOURCE_DISK: "disk",
    _prototypes.SOURCE_REVALIDATED: "revalidated",
    _prototypes.SOURCE_NETWORK: "network",
}
MODES = {"fit": _prototypes.MODE_FIT, "fill": _prototypes.MODE_FILL, "exact": _prototypes.MODE_EXACT}
QUALITIES = {"best": _prototypes.QUALITY_BEST, "fast": _prototypes.QUALITY_FAST}
_FORMATS = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg"}

#: A side of a square box, or width and height.
Size = Union[int, Tuple[int, int]]


class _Pin:
    """Holds an image of the library, and with it its pixels, for as long as somebody sees them."""

    __slots__ = ("handle",)

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __del__(self) -> None:
        library.nh_image_release(self.handle)


class Image:
    """A picture: 8-bit RGBA, sRGB, straight alpha, upright. Immutable, and valid after its cache was closed.

    >>> image = cache.thumbnail(picture_url, 64)
    >>> image.width, image.height, image.original_size
    (64, 48, (640, 480))
    >>> image.pixels.shape, image.pixels.readonly
    ((48, 64, 4), True)
    """

    __slots__ = (
        "__weakref__",
        "_address",
        "_pin",
        "age",
        "final_url",
        "height",
        "is_in_cache",
        "is_partial",
        "is_stale",
        "original_size",
        "source",
        "url",
        "width",
    )

    #: Columns.
    width: int
    #: Rows.
    height: int
    #: Width and height of the source, upright.
    original_size: Tuple[int, int]
    #: The URL as it was passed.
    url: str
    #: True when the source was in the cache before the request was submitted.
    is_in_cache: bool
    #: "memory", "disk", "revalidated" or "network".
    source: str
    #: The URL that answered, after redirects, without user and password.
    final_url: str
    #: True when the source is older than it should be: the server couldn't be asked, or is yet to be.
    is_stale: bool
    #: How old the source is, in seconds, by the rules of HTTP.
    age: int
    #: True when pixels are missing or wrong because the source is damaged; only with ``allow_truncated``.
    is_partial: bool

    def __init__(self, handle: int, url: str) -> None:
        self._pin = _Pin(handle)
        info = _prototypes.nh_image_info()
        info.struct_size = ctypes.sizeof(info)
        check(library.nh_image_get_info(handle, ctypes.byref(info)), url)
        self.width, self.height = info.width, info.height
        self.original_size = (info.original_width, info.original_height)
        self.url = url
        self.is_in_cache = bool(info.is_in_cache)
        self.source = SOURCES.get(info.source, "network")
        self.is_partial = bool(info.is_partial)
        self.is_stale, self.age = bool(info.is_stale), info.age
        self.final_url = info.final_url.decode() if info.final_url else url
        self._address: int = info.pixels

    @property
    def size(self) -> Tuple[int, int]:
        """Width and height."""
        return self.width, self.height

    @property
    def pixels(self) -> memoryview:
        """The pixels as a read-only memoryview of shape (height, width, 4); no copy, and pinned while a view lives."""
        array = (ctypes.c_ubyte * (self.width * self.height * 4)).from_address(self._address)
        # A view holds the array that it was made from, and the array holds the image's memory.
        array._pin = self._pin  # type: ignore[attr-defined]
        return memoryview(array).toreadonly().cast("B").cast("B", (self.height, self.width, 4))

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        """What numpy reads, so that ``numpy.asarray(image)`` is the same memory, read-only."""
        shape = (self.height, self.width, 4)
        return {"version": 3, "shape": shape, "typestr": "|u1", "data": (self._address, True)}

    def __buffer__(self, flags: int) -> memoryview:
        """``memoryview(image)``, from Python 3.12."""
        return self.pixels

    def encode(self, format: str = "png", *, quality: Optional[int] = None, small: bool = False) -> bytes:
        """The image as the bytes of a file.

        :param format: "png", or "jpeg", which lays on white what shows through.
        :param quality: of a JPEG, 1 to 100; 92 by default.
        :param small: the smallest PNG, which takes much longer.
        """
        if format not in _FORMATS.values():
            raise error_for(_prototypes.INVALID, f"format must be 'png' or 'jpeg', not {format!r}", self.url)
        number = _prototypes.FORMAT_PNG if format == "png" else _prototypes.FORMAT_JPEG
        setting = quality or 0 if format == "jpeg" else 100 if small else 0
        data, count = ctypes.c_void_p(), ctypes.c_size_t()
        done = library.nh_image_encode(
            self._pin.handle, number, setting, ctypes.byref(data), ctypes.byref(count)
        )
        check(done, self.url)
        return ctypes.string_at(data, count.value)

    def save(self, path: Union[str, "os.PathLike[str]"], **options: Any) -> None:
        """Writes a PNG or JPEG file, by the ending of its name; ``options`` as for :meth:`encode`."""
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if ending not in _FORMATS:
            raise error_for(
                _prototypes.INVALID, f"{os.fspath(path)!r} ends in neither .png nor .jpg", self.url
            )
        data = self.encode(_FORMATS[ending], **options)
        with open(path, "wb") as file:
            file.write(data)

    def to_pil(self) -> Any:
        """The image as a ``PIL.Image`` of mode RGBA; a copy, as Pillow's images can be written to."""
        from PIL import Image as PILImage

        return PILImage.frombytes("RGBA", self.size, bytes(self.pixels))

    def _repr_png_(self) -> bytes:
        """What notebooks show."""
        return self.encode("png")

    def __repr__(self) -> str:
        return f"<Image {self.width}x{self.height} {self.url}>"


def sides(size: Size, url: str) -> Tuple[int, int]:
    """Width and height of a box."""
    width, height = (size, size) if isinstance(size, int) else size
    # Out of ctypes' range a number would be cut, silently, into one that may be valid.
    if not (1 <= width <= 65535 and 1 <= height <= 65535):
        raise error_for(_prototypes.INVALID, f"size must be 1 to 65535, or a pair of such, not {size!r}", url)
    return width, height


def options(
    size: Size, mode: str, enlarge: bool, quality: str, allow_truncated: bool, max_pixels: int, url: str
) -> _prototypes.nh_image_options:
    """The options of a decode as the library has them."""
    wanted = _prototypes.nh_image_options()
    wanted.struct_size = ctypes.sizeof(wanted)
    width, height = sides(size, url)
    if mode not in MODES or quality not in QUALITIES:
        known = f"mode one of {list(MODES)}, quality one of {list(QUALITIES)}"
        raise error_for(_prototypes.INVALID, f"{known}; not {mode!r}, {quality!r}", url)
    if not 0 <= max_pixels < 2**62:
        raise error_for(_prototypes.INVALID, f"max_pixels must be positive, not {max_pixels}", url)
    wanted.width, wanted.height = width, height
    wanted.mode, wanted.quality = MODES[mode], QUALITIES[quality]
    wanted.enlarge, wanted.allow_truncated = int(enlarge), int(allow_truncated)
    wanted.max_pixels = max_pixels
    return wanted
