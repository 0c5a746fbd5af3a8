"""The content that the check's server sends: bytes and pixels that name their URL and their version.

A body begins with a line that names both. The rest of the body is pseudo-random bytes with that line as their seed.
A picture has 6 x 6 blocks, each black or white: the bits of a number made of URL and version. Thumbnails keep the
blocks. The picture's file has a chunk that holds a body.
"""

import random
import struct
import zlib
from typing import Any, NamedTuple, Tuple

BLOCKS = 6
SIDE = 192
#: The sizes of thumbnails. Both are multiples of BLOCKS.
THUMBNAILS = (48, 96)
_NAME_BITS, _VERSION_BITS, _CHECK_BITS = 10, 16, 10
MOST = (1 << _VERSION_BITS) - 1


class Wrong(Exception):
    """Bytes or pixels that don't belong to the URL of the request."""


class Thing(NamedTuple):
    """One answer of the server. `variant` is the value of the request's X-Kind, if the kind of URL varies by it."""

    path: str
    variant: str
    version: int


def filling(line: bytes, size: int) -> bytes:
    return random.Random(line).randbytes(size) if size else b""


def size_of(thing: Thing) -> int:
    """Returns the size of a body. Most are small. One of eight is larger than half of the smallest pack."""
    chosen = random.Random("size %s %s %d" % thing)
    return chosen.randrange(40_000, 160_000) if chosen.random() < 0.125 else chosen.randrange(100, 24_000)


def make_body(thing: Thing) -> bytes:
    size = size_of(thing)
    line = b"nut %s %s %d %d\n" % (thing.path.encode(), thing.variant.encode() or b"-", thing.version, size)
    return line + filling(line, size)


def read_body(data: bytes) -> Thing:
    line, end, rest = data.partition(b"\n")
    words = line.split(b" ")
    if not end or len(words) != 5 or words[0] != b"nut":
        raise Wrong("a body of %d bytes that begins with %r" % (len(data), data[:60]))
    if rest != filling(line + end, int(words[4])):
        raise Wrong("the bytes behind the line %r are not those of that line" % line)
    return Thing(words[1].decode(), words[2].decode().replace("-", ""), int(words[3]))


def name_of(path: str) -> int:
    return zlib.crc32(path.encode()) & (1 << _NAME_BITS) - 1


def code_of(path: str, version: int) -> int:
    front = name_of(path) << _VERSION_BITS | version & MOST
    return front << _CHECK_BITS | zlib.crc32(struct.pack(">Q", front)) & (1 << _CHECK_BITS) - 1


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def make_picture(thing: Thing) -> bytes:
    """Returns a grey PNG with the body of the same thing in a chunk."""
    code, step = code_of(thing.path, thing.version), SIDE // BLOCKS
    rows = bytearray()
    for across in range(BLOCKS):
        bits = [code >> (across * BLOCKS + along) & 1 for along in range(BLOCKS)]
        rows += (b"\0" + b"".join((b"\xff" if bit else b"\0") * step for bit in bits)) * step
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"nuTs", make_body(thing)), (b"IDAT", zlib.compress(bytes(rows), 1))]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*one) for one in [*chunks, (b"IEND", b"")])


def read_picture(data: bytes) -> Thing:
    """Returns the thing that a picture's file was made for."""
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[37:41] != b"nuTs":
        raise Wrong("a picture of %d bytes that begins with %r" % (len(data), data[:60]))
    (size,) = struct.unpack_from(">I", data, 33)
    thing = read_body(data[41 : 41 + size])
    if data != make_picture(thing):
        raise Wrong("a picture whose bytes are not those of %s, version %d" % (thing.path, thing.version))
    return thing


def read_pixels(image: Any, path: str) -> int:
    """Returns the version of a thumbnail. Raises `Wrong` for a thumbnail of another URL's picture."""
    if image.width != image.height or image.width not in THUMBNAILS:
        raise Wrong("a thumbnail of %d x %d pixels" % (image.width, image.height))
    step, code, pixels = image.width // BLOCKS, 0, image.pixels
    for across in range(BLOCKS):
        for along in range(BLOCKS):
            value = pixels[across * step + step // 2, along * step + step // 2, 0]
            if 64 <= value < 192:
                raise Wrong("a block of a thumbnail that is neither black nor white: %d" % value)
            code |= (value >= 192) << (across * BLOCKS + along)
    version = code >> _CHECK_BITS & MOST
    if code != code_of(path, version):
        raise Wrong("a thumbnail with the code %09x, which no version of %s has" % (code, path))
    return version


#: By kind of URL: "varied" ones have answers that differ by a header, "owned" ones by the caller's partition.
VARIANTS = {"varied": ("a", "b"), "owned": ("", "a", "b")}


def kind_of(path: str) -> str:
    return path.split("/")[1]


def is_picture(path: str) -> bool:
    return kind_of(path) == "picture"


def located(path: str, version: int) -> str:
    """Returns the target of the redirect at `path`. It names the version of the redirect."""
    return "/goal/%s/%d" % (path.rsplit("/", 1)[1], version)


def moved_by(goal: str) -> Tuple[str, int]:
    """Returns the path of the redirect to a target, and its version."""
    _, kind, number, version = goal.split("/")
    if kind != "goal":
        raise Wrong("a redirect that ended at %s" % goal)
    return "/moved/%s" % number, int(version)
