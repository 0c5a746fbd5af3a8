"""A short PNG decoder with full precision as a reference: exact samples, gamma in floating point."""

import struct
import zlib
from typing import Dict, List, Tuple

import numpy as np

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunks(data: bytes) -> List[Tuple[bytes, bytes]]:
    found, place = [], 8
    while place + 8 <= len(data):
        size, name = struct.unpack(">I4s", data[place : place + 8])
        found.append((name, data[place + 8 : place + 8 + size]))
        place += 12 + size
    return found


def decode(data: bytes) -> "np.ndarray[tuple, np.dtype]":
    """Returns RGBA in floating point, 0…255, sRGB."""
    parts = chunks(data)
    by_name: Dict[bytes, bytes] = {}
    for name, content in parts:
        by_name.setdefault(name, content)
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", by_name[b"IHDR"])
    raw = zlib.decompress(b"".join(content for name, content in parts if name == b"IDAT"))
    samples = np.zeros((height, width, CHANNELS[kind]), np.int64)
    place = 0
    for x, y, dx, dy in PASSES if interlaced else [(0, 0, 1, 1)]:
        columns, rows = -(-(width - x) // dx), -(-(height - y) // dy)
        if columns > 0 and rows > 0:
            part, place = unfiltered(raw, place, columns, rows, depth, CHANNELS[kind])
            samples[y::dy, x::dx] = part
    return to_rgba(samples, depth, kind, by_name)


def unfiltered(
    raw: bytes, place: int, columns: int, rows: int, depth: int, channels: int
) -> Tuple[np.ndarray, int]:
    bits = depth * channels
    size, step = (columns * bits + 7) // 8, max(1, bits // 8)
    above = bytearray(size)
    lines = []
    for _ in range(rows):
        kind, line = raw[place], bytearray(raw[place + 1 : place + 1 + size])
        place += 1 + size
        for i in range(size):
            left = line[i - step] if i >= step else 0
            up, corner = above[i], above[i - step] if i >= step else 0
            line[i] = (line[i] + predicted(kind, left, up, corner)) & 255
        lines.append(line)
        above = line
    packed = np.frombuffer(b"".join(lines), np.uint8).reshape(rows, size)
    if depth == 16:
        values = packed[:, 0::2].astype(np.int64) << 8 | packed[:, 1::2]
    elif depth == 8:
        values = packed.astype(np.int64)
    else:
        spread = np.unpackbits(packed, axis=1).reshape(rows, -1, depth)
        values = (spread * (1 << np.arange(depth)[::-1])).sum(axis=2)
    return values[:, : columns * channels].reshape(rows, columns, channels), place


def predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 4:
        estimate = left + up - corner
        distances = (abs(estimate - left), abs(estimate - up), abs(estimate - corner))
        return (left, up, corner)[distances.index(min(distances))]
    return (0, left, up, (left + up) // 2)[kind]


def to_rgba(samples: np.ndarray, depth: int, kind: int, by_name: Dict[bytes, bytes]) -> np.ndarray:
    height, width, _ = samples.shape
    most = (1 << depth) - 1
    rgba = np.full((height, width, 4), 1.0)
    key = by_name.get(b"tRNS")
    if kind == 3:
        palette = np.frombuffer(by_name[b"PLTE"], np.uint8).reshape(-1, 3) / 255
        index = samples[:, :, 0]
        rgba[:, :, :3] = palette[np.minimum(index, len(palette) - 1)]
        if key is not None:
            alphas = np.full(256, 255)
            alphas[: len(key)] = np.frombuffer(key, np.uint8)
            rgba[:, :, 3] = alphas[index] / 255
    else:
        colours = 3 if kind in (2, 6) else 1
        rgba[:, :, :3] = samples[:, :, :colours] / most
        if kind in (4, 6):
            rgba[:, :, 3] = samples[:, :, -1] / most
        elif key is not None:
            wanted = np.array(struct.unpack(f">{colours}H", key[: 2 * colours])) & most
            rgba[:, :, 3] = np.where((samples == wanted).all(axis=2), 0, 1)
    gamma = int.from_bytes(by_name[b"gAMA"], "big") / 100000 if b"gAMA" in by_name else 1 / 2.2
    if b"sRGB" not in by_name and abs(gamma * 2.2 - 1) > 0.05:
        rgba[:, :, :3] **= 1 / (gamma * 2.2)
    return rgba * 255
