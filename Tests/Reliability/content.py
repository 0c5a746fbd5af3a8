"""The pictures that the test server sends. Their bytes, size and colour tell which URL and version they belong to."""

import hashlib
import random
import struct
import zlib
from typing import Dict, Iterator, List, Tuple

VERSIONS = 4
WIDTH = 40
TOLERANCE = 10
#: A worker's status: the number of its call, the time when the call began (0: it has ended), and its name.
STATUS = struct.Struct("=Qd16s")


def size(number: int) -> Tuple[int, int]:
    """Returns the sides of a URL's pictures. No other URL has the same."""
    return WIDTH + number % 16, WIDTH + number // 16


def colour(number: int, version: int) -> Tuple[int, int, int]:
    """Returns the colour of the whole picture. Colours of versions differ more than JPEG changes them."""
    return (number * 37 % 8) * 32 + 16, (number // 8 % 8) * 32 + 16, version * 60 + 20


def picture(number: int, version: int) -> bytes:
    """Returns a PNG in one colour. Bytes that can't be compressed make it larger."""
    width, height = size(number)
    row = b"\0" + bytes(colour(number, version)) * width
    dice = random.Random(number * VERSIONS + version)
    weight = dice.choice([200, 2_000, 2_000, 9_000, 9_000, 30_000, 30_000, 120_000])
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"nuTh", dice.randbytes(dice.randrange(weight // 2, weight))),
        (b"IDAT", zlib.compress(row * height, 6)),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in parts
    )


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


class Known:
    """The digests of all versions of each URL."""

    def __init__(self, digests: List[List[str]]) -> None:
        self.digests = digests

    def version(self, number: int, body: bytes) -> int:
        """Returns the version of a body, or -1 if it is no body of this URL."""
        found = digest(body)
        return self.digests[number].index(found) if found in self.digests[number] else -1

    def is_thumbnail(self, number: int, original: Tuple[int, int], pixels: memoryview) -> bool:
        """Returns whether all pixels have the colour of one of the versions, and the source has the URL's size."""
        flat = pixels.tobytes()
        if original != size(number) or not flat:
            return False
        shown = flat[:3]
        is_even = all(abs(byte - shown[at]) <= 4 for at in range(3) for byte in flat[at::4])
        return is_even and any(
            all(abs(a - b) <= TOLERANCE for a, b in zip(shown, colour(number, version)))
            for version in range(VERSIONS)
        )


def make(count: int) -> Tuple[List[List[bytes]], Known]:
    """Returns the pictures of `count` URLs, by URL and version."""
    bodies = [[picture(number, version) for version in range(VERSIONS)] for number in range(count)]
    return bodies, Known([[digest(body) for body in versions] for versions in bodies])


def steps(dice: random.Random, weights: Dict[str, int]) -> Iterator[str]:
    """Gives random names without end. Weights say how often each name comes."""
    names, shares = list(weights), list(weights.values())
    while True:
        yield from dice.choices(names, shares, k=64)
