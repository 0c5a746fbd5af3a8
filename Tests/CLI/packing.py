"""Compresses lists for the tests: with the system's zstd library, and by hand for streams that it would not write."""

import ctypes
import gzip
import lzma
from typing import Callable, Dict

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def zstd(data: bytes) -> bytes:
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    bound = library.ZSTD_compressBound(ctypes.c_size_t(len(data)))
    room = ctypes.create_string_buffer(bound)
    count = library.ZSTD_compress(room, ctypes.c_size_t(bound), data, ctypes.c_size_t(len(data)), 3)
    assert count <= bound
    return room.raw[:count]


def zstd_head(window_log: int) -> bytes:
    """Returns the header of a frame with a window of 2 to the power of `window_log` bytes."""
    return ZSTD_MAGIC + bytes([0, (window_log - 10) << 3])


def zstd_blocks(byte: bytes, count: int) -> bytes:
    """Returns blocks of 128 KiB of one byte each. A block has four bytes, and none is the last one."""
    return ((131_072 << 3 | 1 << 1).to_bytes(3, "little") + byte) * count


# An empty block that ends a frame.
ZSTD_LAST_BLOCK = b"\1\0\0"


def zstd_skipped(data: bytes) -> bytes:
    """Returns a skippable frame, which is not part of the data."""
    return b"\x50\x2a\x4d\x18" + len(data).to_bytes(4, "little") + data


def xz(data: bytes) -> bytes:
    return lzma.compress(data, preset=0)


def xz_filters(dictionary: int) -> bytes:
    """Compresses with a large dictionary size, which the decompressor must allocate, too."""
    return lzma.compress(
        b"ftp://x/\n", filters=[{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": dictionary}]
    )


PACKERS: Dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstd, "xz": xz}
SUFFIXES = {"gzip": ".gz", "zstd": ".zst", "xz": ".xz"}
