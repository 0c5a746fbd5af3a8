"""AVIFs whose picture is turned, mirrored or cropped by properties that Pillow can't write."""

import struct
from typing import List, Tuple


def box(kind: bytes, contents: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(contents), kind) + contents


def turn(quarters: int) -> bytes:
    """Turns the picture to the left."""
    return box(b"irot", bytes([quarters]))


def mirror(axis: int) -> bytes:
    """0 exchanges top and bottom, 1 exchanges left and right."""
    return box(b"imir", bytes([axis]))


def aperture(left: int, top: int, size: Tuple[int, int], of: Tuple[int, int]) -> bytes:
    """Shows only a part of a picture."""
    (width, height), (whole_width, whole_height) = size, of
    # The middle of the part, as seen from that of the picture.
    right, down = 2 * left + width - whole_width, 2 * top + height - whole_height
    return box(b"clap", struct.pack(">IIIIiIiI", width, 1, height, 1, right, 2, down, 2))


def with_properties(avif: bytes, properties: List[bytes]) -> bytes:
    """Gives properties to the first item of a file that Pillow has written, and to its alpha."""
    if not properties:
        return avif
    data = bytearray(avif)

    def place(kind: bytes) -> int:
        return data.index(kind) - 4

    def enlarge(kind: bytes, count: int) -> None:
        (size,) = struct.unpack_from(">I", data, place(kind))
        struct.pack_into(">I", data, place(kind), size + count)

    links = place(b"ipma")
    old = data[place(b"ipco") + 8 : links]
    known = 0
    while old:
        old = old[int.from_bytes(old[:4], "big") :]
        known += 1
    new = bytes(0x80 | known + 1 + number for number in range(len(properties)))
    at, items = links + 16, data[links + 15]
    for _ in range(items):
        count = data[at + 2]
        data[at + 2] += len(new)
        at += 3 + count
        data[at:at] = new
        at += len(new)
    added = b"".join(properties)
    data[links:links] = added
    enlarge(b"ipma", items * len(new))
    enlarge(b"ipco", len(added))
    grown = len(added) + items * len(new)
    for kind in (b"iprp", b"meta"):
        enlarge(kind, grown)
    locations = place(b"iloc")
    for item in range(items):
        at = locations + 16 + 14 * item + 6
        (offset,) = struct.unpack_from(">I", data, at)
        struct.pack_into(">I", data, at, offset + grown)
    return bytes(data)
