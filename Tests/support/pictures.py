"""Small valid pictures, with the standard library only."""

from __future__ import annotations

import struct
import zlib

_CHANNELS = {"grey": (0, 1), "rgb": (2, 3), "grey+alpha": (4, 2), "rgba": (6, 4)}


def pixel(x: int, y: int, width: int, height: int, seed: int = 0) -> tuple[int, int, int, int]:
    """Returns the colour at a place: red grows to the right, green down, blue in checks, alpha falls diagonally."""
    red = x * 255 // max(1, width - 1) + (seed >> 8) & 255
    green = y * 255 // max(1, height - 1)
    blue = (x // 8 + y // 8 + seed) * 37 & 255
    alpha = 255 - (x + y) * 127 // max(1, width + height - 2)
    return red, green, blue, alpha


def png(width: int, height: int, *, mode: str = "rgb", seed: int = 0, level: int = 6) -> bytes:
    """Returns an 8-bit PNG. ``mode`` is grey, rgb, grey+alpha or rgba. Another ``seed`` gives another picture."""
    colour_type, channels = _CHANNELS[mode]
    rows = bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            red, green, blue, alpha = pixel(x, y, width, height, seed)
            colour = (red, green, blue) if channels > 2 else ((red + green + blue) // 3,)
            rows += bytes(colour + ((alpha,) if channels in (2, 4) else ()))
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(bytes(rows), level))
        + _chunk(b"IEND", b"")
    )


def png_of(rows: bytes, width: int, height: int) -> bytes:
    """Returns an 8-bit PNG of rows of RGB. Each row begins with the byte of its filter."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(rows, 1))
        + _chunk(b"IEND", b"")
    )


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
