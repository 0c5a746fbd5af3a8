"""What Pillow ignores or reads in another way is decoded as headless Chromium shows it."""

import itertools
import struct
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import avif_boxes
import browser
import numpy as np
import pytest
from test_made_pictures import photograph, written

pytestmark = browser.needed

Decode = Callable[..., Any]


def apart(files: Dict[str, bytes], pixels_of: Decode, folder: Path) -> Dict[str, float]:
    """Returns by how many levels each file's picture and Chromium's are apart at most, on white."""
    ours, side = {}, 160
    for name, data in files.items():
        path = folder / name
        path.write_bytes(data)
        ours[path] = browser.on_white(pixels_of(data))
    # Each in its own size, within a cell of white: a picture of another size shows.
    theirs = browser.shown(
        dict.fromkeys(ours, (side, side)), folder, side, style="object-fit:none;object-position:0 0"
    )
    found = {}
    for path, pixels in ours.items():
        cell = np.full((side, side, 3), 255.0)
        cell[: pixels.shape[0], : pixels.shape[1]] = pixels
        found[path.name] = float(np.abs(cell - theirs[path]).max())
    print(found)
    return found


def avif(alpha: bool, properties: List[bytes]) -> bytes:
    source = photograph()
    if alpha:
        # Chromium 156 reads levels between these two as if alpha had limited range.
        source.putalpha(source.convert("L").point(lambda level: 255 * (level > 127)))
    # Chromium enlarges halved chroma in another way at the edges of a part.
    data = written(source, "AVIF", subsampling="4:4:4", quality=100, speed=8)
    return avif_boxes.with_properties(data, properties)


def test_avifs_are_turned_and_mirrored_as_in_chromium(pixels_of: Decode, tmp_path: Path) -> None:
    files = {}
    turns = [[]] + [[avif_boxes.turn(quarters)] for quarters in range(4)]  # type: List[List[bytes]]
    mirrors = [[]] + [[avif_boxes.mirror(axis)] for axis in range(2)]  # type: List[List[bytes]]
    for alpha, (turn, mirror) in itertools.product([False, True], itertools.product(turns, mirrors)):
        name = f"irot{turn and turn[0][-1]}-imir{mirror and mirror[0][-1]}-{alpha}.avif"
        files[name] = avif(alpha, turn + mirror)
    assert len(files) == 30
    assert {name: levels for name, levels in apart(files, pixels_of, tmp_path).items() if levels > 3} == {}


PARTS = [(0, 0, 70, 50), (0, 0, 151, 97), (0, 0, 1, 97), (10, 20, 70, 50), (11, 21, 70, 50), (150, 96, 1, 1)]


def test_avifs_are_cropped_as_in_chromium(pixels_of: Decode, tmp_path: Path) -> None:
    """Chromium shows the whole picture if the part doesn't begin at its corner. Then ours is a part of that."""
    files, parts = {}, {}
    for alpha, (left, top, width, height) in itertools.product([False, True], PARTS):
        clap = avif_boxes.aperture(left, top, (width, height), of=photograph().size)
        further = [avif_boxes.turn(1), avif_boxes.mirror(0)]
        if (left, top) == (0, 0):
            files[f"clap-{width}-{height}-{alpha}.avif"] = avif(alpha, [clap])
            files[f"clap-{width}-{height}-{alpha}-turned.avif"] = avif(alpha, [clap, *further])
        else:
            parts[(left, top, width, height, alpha)] = avif(alpha, [clap])
    assert {name: levels for name, levels in apart(files, pixels_of, tmp_path).items() if levels > 3} == {}
    whole = {}
    for alpha in (False, True):
        path = tmp_path / f"whole-{alpha}.avif"
        path.write_bytes(avif(alpha, []))
        whole[path] = photograph().size
    shown = {path.stem: pixels for path, pixels in browser.shown(whole, tmp_path, 160).items()}
    for (left, top, width, height, alpha), data in parts.items():
        ours = browser.on_white(pixels_of(data))
        theirs = shown[f"whole-{alpha}"][top : top + height, left : left + width]
        assert ours.shape == theirs.shape and np.abs(ours - theirs).max() <= 3, (left, top, alpha)


def bitmap(bits: int, alpha: int) -> Tuple[bytes, bytes]:
    """Returns a DIB of 16 by 16 pixels as it is in icons, and the mask that belongs behind it."""
    colours = b""
    if bits <= 8:
        colours = b"".join(bytes([i * 5 & 255, 255 - i & 255, i * 3 & 255, 0]) for i in range(1 << bits))
    head = struct.pack("<IiiHHIIiiII", 40, 16, 32, 1, bits, 0, 0, 0, 0, 0, 0)
    rows = b""
    for y in range(16):
        row = 0
        for x in range(16):
            value = (x * 7 + y) % (1 << min(bits, 15))
            if bits >= 24:
                value = 100 << 16 | y * 9 << 8 | x * 9
            if bits == 32 and x > 2:
                value |= alpha << 24
            # Pixels of several bytes begin with the lowest one, those of fewer bits with the highest.
            row |= value << bits * x if bits >= 8 else value << bits * (15 - x)
        rows += row.to_bytes(2 * bits, "little" if bits >= 8 else "big").ljust(4, b"\0")
    return head + colours + rows, bytes([0xF0, 0, 0, 0]) * 16


def icon(dib: bytes, bits: int) -> bytes:
    entry = struct.pack("<BBBBHHII", 16, 16, 0, 0, 1, bits, len(dib), 22)
    return struct.pack("<HHH", 0, 1, 1) + entry + dib


@pytest.mark.parametrize("masked", [False, True])
def test_icons_with_and_without_a_mask_are_those_of_chromium(
    pixels_of: Decode, tmp_path: Path, masked: bool
) -> None:
    files, transparent = {}, {}
    for bits, alpha in [(1, 0), (4, 0), (8, 0), (16, 0), (24, 0), (32, 0), (32, 1), (32, 90), (32, 255)]:
        dib, mask = bitmap(bits, alpha)
        name = f"{bits}-{alpha}.ico"
        files[name] = icon(dib + mask if masked else dib, bits)
        transparent[name] = int((pixels_of(files[name])[:, :, 3] == 0).sum())
    assert {name: levels for name, levels in apart(files, pixels_of, tmp_path).items() if levels > 1} == {}
    # Alpha counts if a pixel has some. Otherwise the mask counts, of which four columns are set.
    wanted = {name: 48 if name[:3] == "32-" and name != "32-0.ico" else 64 * masked for name in files}
    assert transparent == wanted
