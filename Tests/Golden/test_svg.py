"""SVGs as librsvg draws them for us, beside headless Chromium: the files in the folder `svg` of $NUTHATCH_CORPUS."""

import ctypes.util
from pathlib import Path
from typing import Set

import browser
import numpy as np
import nuthatch
import pytest

SIDE = 128
# dB. A difference of one shade in three hundred is 50.
LEAST = 30

pytestmark = [
    browser.needed,
    pytest.mark.skipif(not ctypes.util.find_library("rsvg-2"), reason="librsvg2-2 isn't installed"),
]


def known_apart() -> Set[str]:
    """What librsvg 2.54 draws differently, with the reasons in the file."""
    lines = (Path(__file__).parent / "svg_apart.txt").read_text().splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


def test_drawings_are_those_of_chromium(tmp_path: Path, corpus: Path) -> None:
    ours = {}
    with nuthatch.Cache(tmp_path / "cache", allow_files=True) as cache:
        for path in sorted((corpus / "svg").glob("*.svg")):
            try:
                pixels = np.asarray(cache.thumbnail(path.as_uri(), SIDE))
                ours[path] = browser.on_white(pixels)
            except nuthatch.Error as error:
                print(f"{path.name}: {error.code}: {error}")
    assert len(ours) > 5
    sizes = {path: (pixels.shape[1], pixels.shape[0]) for path, pixels in ours.items()}
    theirs = browser.shown(sizes, tmp_path, SIDE)
    found = {path: browser.decibels(pixels, theirs[path]) for path, pixels in ours.items()}
    # At the size itself, the browser puts letters at whole pixels.
    again = {path: size for path, size in sizes.items() if found[path] < LEAST}
    for path, pixels in browser.shown(again, tmp_path, SIDE, larger=4).items():
        found[path] = max(found[path], browser.decibels(ours[path], pixels))
    apart = {path.name: value for path, value in found.items() if value < LEAST}
    for name, value in sorted(apart.items(), key=lambda item: item[1]):
        print(f"{name}: {value:.1f} dB")
    median = sorted(found.values())[len(found) // 2]
    print(f"{len(apart)} of {len(found)} below {LEAST} dB; the median is {median:.1f}")
    # Text depends on the machine's fonts, too.
    new = [name for name in apart if name not in known_apart() and not name.startswith("text_")]
    assert len(new) <= len(found) * 0.05
