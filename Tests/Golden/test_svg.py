"""SVGs as librsvg draws them for us, beside headless Chromium: the files in the folder `svg` of $NUTHATCH_CORPUS."""

import ctypes.util
import os
import shutil
import subprocess
from pathlib import Path
from typing import Dict, List, Set, Tuple

import numpy
import nuthatch
import pytest
from PIL import Image

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
CORPUS = Path(os.environ.get("NUTHATCH_CORPUS", "/nonexistent")) / "svg"
SIDE = 128
COLUMNS = 12
# dB. A difference of one shade in three hundred is 50.
LEAST = 30

pytestmark = [
    pytest.mark.skipif(not CORPUS.is_dir(), reason="NUTHATCH_CORPUS has no folder svg"),
    pytest.mark.skipif(BROWSER is None, reason="Chromium isn't installed"),
    pytest.mark.skipif(not ctypes.util.find_library("rsvg-2"), reason="librsvg2-2 isn't installed"),
]


def known_apart() -> Set[str]:
    """What librsvg 2.54 draws differently, with the reasons in the file."""
    lines = (Path(__file__).parent / "svg_apart.txt").read_text().splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


def on_white(pixels: "numpy.ndarray") -> "numpy.ndarray":
    alpha = pixels[..., 3:].astype(float) / 255
    drawn: numpy.ndarray = pixels[..., :3] * alpha + 255 * (1 - alpha)
    return drawn


def browsed(sizes: Dict[Path, Tuple[int, int]], folder: Path) -> Dict[Path, "numpy.ndarray"]:
    """One page with all drawings, each in a cell."""
    cells: List[str] = []
    for place, (path, (width, height)) in enumerate(sizes.items()):
        left, top = place % COLUMNS * SIDE, place // COLUMNS * SIDE
        cells.append(
            f"<img src='{path.as_uri()}' width={width} height={height} style='left:{left}px;top:{top}px'>"
        )
    style = "body { margin: 0; background: #fff } img { position: absolute }"
    page, shot = folder / "page.html", folder / "shot.png"
    page.write_text(f"<!doctype html><style>{style}</style>{''.join(cells)}")
    rows = (len(sizes) + COLUMNS - 1) // COLUMNS
    assert BROWSER
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--window-size={COLUMNS * SIDE},{rows * SIDE}", f"--screenshot={shot}", page.as_uri()]
    command += [
        "--force-color-profile=srgb",
        "--virtual-time-budget=20000",
        f"--user-data-dir={folder}/profile",
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    whole = numpy.asarray(Image.open(shot).convert("RGB")).astype(float)
    found = {}
    for place, (path, (width, height)) in enumerate(sizes.items()):
        left, top = place % COLUMNS * SIDE, place // COLUMNS * SIDE
        found[path] = whole[top : top + height, left : left + width]
    return found


def decibels(one: "numpy.ndarray", other: "numpy.ndarray") -> float:
    error = float(((one - other) ** 2).mean())
    return 99.0 if error == 0 else 10 * float(numpy.log10(255**2 / error))


def test_drawings_are_those_of_chromium(tmp_path: Path) -> None:
    ours = {}
    with nuthatch.Cache(tmp_path / "cache", allow_files=True) as cache:
        for path in sorted(CORPUS.glob("*.svg")):
            try:
                ours[path] = numpy.asarray(cache.thumbnail(path.as_uri(), SIDE)).copy()
            except nuthatch.Error as error:
                print(f"{path.name}: {error.code}: {error}")
    assert len(ours) > 5
    theirs = browsed({path: (pixels.shape[1], pixels.shape[0]) for path, pixels in ours.items()}, tmp_path)
    found = {path.name: decibels(on_white(pixels), theirs[path]) for path, pixels in ours.items()}
    apart = {name: value for name, value in found.items() if value < LEAST}
    for name, value in sorted(apart.items(), key=lambda item: item[1]):
        print(f"{name}: {value:.1f} dB")
    print(
        f"{len(apart)} of {len(found)} below {LEAST} dB; the median is {sorted(found.values())[len(found) // 2]:.1f}"
    )
    # Text depends on the machine's fonts, too.
    new = [name for name in apart if name not in known_apart() and not name.startswith("text_")]
    assert len(new) <= len(found) * 0.05
