"""What the test server answers: pictures whose bytes, size and colour say which URL and which version they are of."""

import hashlib
import random
import struct
import zlib
from typing import Dict, Iterator, List, Tuple

VERSIONS = 4
WIDTH = 40
TOLERANCE = 10
#: What a worker says of the call that it makes: its number, when it began (0: it has ended), its name.
STATUS = struct.Struct("=Qd16s")


def size(number: int) -> Tuple[int, int]:
    """The sides of a URL's pictures, which no other URL's have."""
    return WIDTH + number % 16, WIDTH + number // 16


def colour(number: int, version: int) -> Tuple[int, int, int]:
    """Of the whole picture; another version's is far enough to be told apart behind JPEG."""
    return (number * 37 % 8) * 32 + 16, (number // 8 % 8) * 32 + 16, version * 60 + 20


def picture(number: int, version: int) -> bytes:
    """A PNG in one colour, made heavier by bytes that can't be compressed."""
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
    """Of every URL's versions, the digests."""

    def __init__(self, digests: List[List[str]]) -> None:
        self.digests = digests

    def version(self, number: int, body: bytes) -> int:
        """-1: none of this URL's."""
        found = digest(body)
        return self.digests[number].index(found) if found in self.digests[number] else -1

    def is_thumbnail(self, number: int, original: Tuple[int, int], pixels: memoryview) -> bool:
        """Whether all pixels have the colour of one of the versions, and the source its size."""
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
    """The pictures of so many URLs, by URL and version."""
    bodies = [[picture(number, version) for version in range(VERSIONS)] for number in range(count)]
    return bodies, Known([[digest(body) for body in versions] for versions in bodies])


def steps(dice: random.Random, weights: Dict[str, int]) -> Iterator[str]:
    """Names for ever, each as often as its weight says."""
    names, shares = list(weights), list(weights.values())
    while True:
        yield from dice.choices(names, shares, k=64)
