"""Decoded pictures."""

from __future__ import annotations

import ctypes
import os
from operator import index
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Tuple, Type, Union

from . import _prototypes
from ._arguments import whole
from ._errors import error_for
from ._immutable import immutable
from ._later import loading
from ._library import bare, check, library, quick, shown
from ._pickling import added_to, remade

SOURCES = {
    _prototypes.SOURCE_MEMORY: "memory",
    _prototypes.SOURCE_DISK: "disk",
    _prototypes.SOURCE_REVALIDATED: "revalidated",
    _prototypes.SOURCE_NETWORK: "network",
}
#: The library's number of each format, and its bytes for one pixel.
_PIXELS = {
    "rgba": (_prototypes.PIXELS_RGBA, 4),
    "bgra": (_prototypes.PIXELS_BGRA, 4),
    "rgba_premultiplied": (_prototypes.PIXELS_RGBA_PREMULTIPLIED, 4),
    "bgra_premultiplied": (_prototypes.PIXELS_BGRA_PREMULTIPLIED, 4),
    "rgb": (_prototypes.PIXELS_RGB, 3),
    "bgr": (_prototypes.PIXELS_BGR, 3),
    "grey": (_prototypes.PIXELS_GREY, 1),
}
_FORMATS = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".webp": "webp"}
_NUMBERS = {
    "png": _prototypes.FORMAT_PNG,
    "jpeg": _prototypes.FORMAT_JPEG,
    "webp": _prototypes.FORMAT_WEBP,
}

#: A side of a square box, or width and height.
Size = Union[int, Tuple[int, int]]


class ImageHandle(ctypes.c_void_p):
    """An image of the library, or NULL. A subclass, so that ctypes returns an object instead of a number."""

    __slots__ = ()


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
        "_handle",
        "age",
        "depth",
        "final_url",
        "format",
        "frame_count",
        "height",
        "is_animated",
        "is_in_cache",
        "is_partial",
        "is_stale",
        "is_stored",
        "original_size",
        "source",
        "status",
        "url",
        "width",
    )

    #: Columns.
    width: int
    #: Rows.
    height: int
    #: Width and height of the source, upright.
    original_size: Tuple[int, int]
    #: The format of the source: "jpeg", "png", "gif", "webp", "bmp", "ico" and so on. None if it is unknown, because
    #: an earlier version has stored the thumbnail.
    format: Optional[str]
    #: True if the source has several frames; if they could not be counted, if two were seen, or its header announces
    #: an animation.
    is_animated: bool
    #: The frames of the source: 1 for a still picture, and for an icon. None if unknown, because not all of its bytes
    #: were received (with ``early_stop``), or because an earlier version has stored the thumbnail.
    frame_count: Optional[int]
    #: The bits of each channel of the source, of a palette those of its colours. None if unknown, as for ``format``.
    depth: Optional[int]
    #: The URL as it was passed.
    url: str
    #: True if the source was in the cache before the request was submitted.
    is_in_cache: bool
    #: True if the source is in the cache now: it was there before, or has been stored.
    is_stored: bool
    #: "memory", "disk", "revalidated" or "network".
    source: str
    #: The HTTP status of the answer with the source; None if there is none.
    status: Optional[int]
    #: The URL that answered, after redirects, without user and password.
    final_url: str
    #: True if the source is stale: the server could not be asked, or has not been asked yet.
    is_stale: bool
    #: The age of the source in seconds, by the rules of HTTP.
    age: int
    #: True if pixels are missing or wrong because the source is damaged; only with ``allow_damaged``.
    is_partial: bool
    _address: int
    _handle: ctypes.c_void_p

    def __init__(self, handle: ctypes.c_void_p, url: str) -> None:
        # Nothing else: a program that shows ten thousand images a second reads the other attributes of few.
        put_handle(self, handle)
        put_url(self, url)

    # Every view of the pixels holds a reference to the image, so the pixels are freed after the last view.
    def __del__(self, _release: Callable[[ctypes.c_void_p], int] = bare.nh_image_release) -> None:
        # contextlib.suppress would take as long as all the rest.
        try:  # noqa: SIM105
            _release(self._handle)
        except AttributeError:
            pass  # __init__ has not run

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Called for slots that are still empty. The first access fills all of them.
            if name not in _TOLD:
                raise AttributeError(f"an Image has no {name!r}")
            info = _prototypes.nh_image_info()
            info.struct_size = ctypes.sizeof(info)
            check(quick.nh_image_get_info(self._handle, ctypes.byref(info)), self.url)
            told = {
                "width": info.width,
                "height": info.height,
                "original_size": (info.original_width, info.original_height),
                "format": info.format.decode() if info.format else None,
                "is_animated": bool(info.is_animated),
                "frame_count": info.frame_count or None,
                "depth": info.depth or None,
                "is_in_cache": bool(info.is_in_cache),
                "source": SOURCES.get(info.source, "network"),
                "is_partial": bool(info.is_partial),
                "is_stored": bool(info.is_stored),
                "is_stale": bool(info.is_stale),
                "age": info.age,
                "final_url": info.final_url.decode() if info.final_url else self.url,
                "status": info.http_status or None,
                "_address": info.pixels,
            }
            for slot, value in told.items():
                _FILL[slot](self, value)
            return told[name]

    @property
    def size(self) -> Tuple[int, int]:
        """Width and height."""
        return self.width, self.height

    @property
    def pixels(self) -> memoryview:
        """The pixels as a read-only memoryview of shape (height, width, 4), without a copy. They stay valid while a
        view exists."""
        array = (ctypes.c_ubyte * (self.width * self.height * 4)).from_address(self._address)
        # A view references the array that it was made from, and the array references the image.
        array._image = self  # type: ignore[attr-defined]
        return memoryview(array).toreadonly().cast("B").cast("B", (self.height, self.width, 4))

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        """NumPy's array interface: ``numpy.asarray(image)`` is the same memory, read-only."""
        shape = (self.height, self.width, 4)
        return {"version": 3, "shape": shape, "typestr": "|u1", "data": (self._address, True)}

    def __buffer__(self, flags: int) -> memoryview:
        """``memoryview(image)``, from Python 3.12."""
        return self.pixels

    def convert(self, format: str) -> memoryview:
        """Returns the pixels in another format: a memoryview of shape (height, width, bytes of a pixel), or of
        (height, width) for "grey". It is a copy, and can be written to.

        :param format: "rgba", "bgra", "rgba_premultiplied", "bgra_premultiplied" (cairo and Qt call it premultiplied
            ARGB32), "rgb", "bgr" (for OpenCV) or "grey". Formats without alpha show white behind transparent pixels.

        >>> image = cache.thumbnail(picture_url, 64)
        >>> image.convert("bgr").shape, image.convert("grey").shape
        ((48, 64, 3), (48, 64))
        """
        if format not in list(_PIXELS):
            raise error_for(
                _prototypes.INVALID, f"format must be one of {list(_PIXELS)}, not {format!r}", self.url
            )
        number, depth = _PIXELS[format]
        made = bytearray(self.width * self.height * depth)
        buffer = (ctypes.c_ubyte * len(made)).from_buffer(made)
        check(library.nh_image_convert(self._handle, number, buffer, len(made), 0), self.url)
        shape = (self.height, self.width) if depth == 1 else (self.height, self.width, depth)
        return memoryview(made).cast("B", shape)

    def encode(
        self,
        format: str = "png",
        *,
        quality: Optional[int] = None,
        small: bool = False,
        lossless: bool = False,
    ) -> bytes:
        """Returns the image as the bytes of a file.

        :param format: "png", "webp", or "jpeg", which shows white behind transparent pixels.
        :param quality: the quality of a JPEG or a lossy WebP, 1 to 100. Default: 92 and 90.
        :param small: whether to make the smallest PNG or lossless WebP, which takes much longer.
        :param lossless: whether a WebP has exactly these pixels.

        >>> image = cache.thumbnail(picture_url, 64)
        >>> image.encode()[1:4], image.encode("jpeg", quality=80)[:2], image.encode("webp", lossless=True)[8:16]
        (b'PNG', b'\\xff\\xd8', b'WEBPVP8L')
        """
        if format not in _FORMATS.values():
            raise error_for(
                _prototypes.INVALID, f"format must be 'png', 'jpeg' or 'webp', not {format!r}", self.url
            )
        if quality is not None and not 1 <= whole(quality, "quality") <= 100:
            raise error_for(_prototypes.INVALID, f"quality must be 1 to 100, not {quality}", self.url)
        if lossless and (format != "webp" or quality is not None):
            raise error_for(_prototypes.INVALID, "lossless is for 'webp', without a quality", self.url)
        exact = format == "png" or lossless
        number = _prototypes.FORMAT_WEBP_LOSSLESS if lossless else _NUMBERS[format]
        setting = (100 if small else 0) if exact else quality or 0
        data, count = ctypes.c_void_p(), ctypes.c_size_t()
        done = library.nh_image_encode(self._handle, number, setting, ctypes.byref(data), ctypes.byref(count))
        check(done, self.url)
        return ctypes.string_at(data, count.value)

    def save(self, path: Union[str, os.PathLike[str]], **options: Any) -> None:
        """Writes a PNG, JPEG or WebP file. The ending of its name sets the format. ``options`` as for
        :meth:`encode`."""
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if ending not in _FORMATS:
            raise error_for(
                _prototypes.INVALID, f"{os.fspath(path)!r} must end in .png, .jpg, .jpeg or .webp", self.url
            )
        data = self.encode(_FORMATS[ending], **options)
        with open(path, "wb") as file:
            file.write(data)

    def to_pil(self) -> Any:
        """Returns the image as a ``PIL.Image`` of mode RGBA; a copy, because Pillow's images can be written to."""
        with loading:
            from PIL import Image as PILImage

        return PILImage.frombytes("RGBA", self.size, bytes(self.pixels))

    def _repr_png_(self) -> bytes:
        """Returns the PNG that notebooks show."""
        return self.encode("png")

    def __reduce__(self) -> Tuple[Any, ...]:
        # The pickle has a PNG with the same pixels, and the other attributes.
        told = {name: getattr(self, name) for name in _KEPT}
        return _unpickled, (type(self), self.encode("png"), self.url, told), added_to(self, Image)

    def __copy__(self) -> Image:
        return self

    def __deepcopy__(self, memo: Any) -> Image:
        return self

    def __repr__(self) -> str:
        return f"<Image {self.width}x{self.height} {shown(self.url)}>"


_FILL = immutable(Image)
put_handle, put_url = _FILL["_handle"], _FILL["url"]

#: The attributes that a pickle has beside the pixels. They are read from the library at the first access.
_KEPT = (
    "age",
    "depth",
    "final_url",
    "format",
    "frame_count",
    "is_animated",
    "is_in_cache",
    "is_partial",
    "is_stale",
    "is_stored",
    "original_size",
    "source",
    "status",
)
_TOLD = frozenset([*_KEPT, "_address", "height", "width"])


def decoded(data: bytes, wanted: Any, url: str) -> ctypes.c_void_p:
    """Decodes bytes that don't come from a cache. ``wanted`` is a pointer to the options."""
    made = ctypes.c_void_p()
    check(library.nh_image_decode(data, len(data), wanted, ctypes.byref(made)), url)
    return made


def _unpickled(kind: Type[Image], data: bytes, url: str, told: Dict[str, Any]) -> Image:
    with loading:
        from ._options import NO_LIMITS, image_place

    # Allow the largest size: the picture is not scaled.
    wanted, _kept = image_place(65535, NO_LIMITS, url)
    image: Image = remade(kind, Image, (decoded(data, wanted, url), url), {})
    # Fills all attributes. Then those of the pickle replace some.
    getattr(image, "width")  # noqa: B009
    # A pickle of an earlier version says nothing of the source, and the PNG is not the source.
    source = {"format": None, "is_animated": False, "frame_count": None, "depth": None}
    for name, value in {**source, **told}.items():
        _FILL[name](image, value)
    return image


def sides(size: Size, url: str) -> Tuple[int, int]:
    """Returns width and height of a box."""
    try:
        # Accept any whole number, also NumPy's. Refuse a set, which has no order, and bytes.
        is_pair = isinstance(size, (tuple, list)) or hasattr(size, "__array__")
        given: Any = (size, size) if hasattr(size, "__index__") else size if is_pair else ()
        width, height = (index(side) for side in given)
        # ctypes would silently cut a larger number, and the result may be a valid size.
        if 1 <= width <= 65535 and 1 <= height <= 65535:
            return width, height
    except (TypeError, ValueError):
        pass
    raise error_for(
        _prototypes.INVALID, f"size must be 1 to 65535, or a pair of such numbers, not {size!r}", url
    )
