"""The same job by other libraries: from bytes to the RGBA of a thumbnail, with one thread."""

import io
import os

os.environ["VIPS_CONCURRENCY"] = "1"

import cv2
import numpy
import PIL
import pyvips
from PIL import AvifImagePlugin, Image

cv2.setNumThreads(1)
AvifImagePlugin.DEFAULT_MAX_THREADS = 1
pyvips.cache_set_max(0)


def opened(data: bytes) -> Image.Image:
    """Returns the picture. Indexed pixels get their colours: Pillow would only pick some of them, and not resample."""
    picture = Image.open(io.BytesIO(data))
    return (
        picture.convert("RGBA" if "transparency" in picture.info else "RGB")
        if picture.mode == "P"
        else picture
    )


def pillow(data: bytes, size: int) -> object:
    picture = opened(data)
    picture.thumbnail((size, size))
    return picture.convert("RGBA")


def pillow_lanczos(data: bytes, size: int) -> object:
    picture = opened(data)
    picture.thumbnail((size, size), Image.Resampling.LANCZOS, reducing_gap=3.0)
    return picture.convert("RGBA")


def vips(data: bytes, size: int) -> object:
    picture = pyvips.Image.thumbnail_buffer(data, size, height=size, size="down")
    if not picture.hasalpha():
        picture = picture.addalpha()
    return picture.write_to_memory()


def opencv(data: bytes, size: int) -> object:
    buffer = numpy.frombuffer(data, numpy.uint8)
    flag = cv2.IMREAD_COLOR
    if data[:2] == b"\xff\xd8":
        with Image.open(io.BytesIO(data)) as header:
            longest = max(header.size)
        for factor, reduced in (
            (8, cv2.IMREAD_REDUCED_COLOR_8),
            (4, cv2.IMREAD_REDUCED_COLOR_4),
            (2, cv2.IMREAD_REDUCED_COLOR_2),
        ):
            if longest >= size * factor:
                flag = reduced
                break
    picture = cv2.imdecode(buffer, flag)
    height, width = picture.shape[:2]
    scale = min(1.0, size / max(width, height))
    target = (max(1, round(width * scale)), max(1, round(height * scale)))
    picture = cv2.resize(picture, target, interpolation=cv2.INTER_AREA)
    return cv2.cvtColor(picture, cv2.COLOR_BGR2RGBA)


RIVALS = {"pillow": pillow, "pillow-lanczos": pillow_lanczos, "vips": vips, "opencv": opencv}


def versions() -> str:
    libvips = ".".join(str(pyvips.version(part)) for part in range(3))
    return f"Pillow {PIL.__version__}, libvips {libvips}, OpenCV {cv2.__version__}"
