"""Pictures as headless Chromium shows them."""

import shutil
import subprocess
from pathlib import Path
from typing import Dict, List, Tuple

import numpy as np
import pytest
from PIL import Image

PATH = shutil.which("chromium") or shutil.which("chromium-browser")
needed = pytest.mark.skipif(PATH is None, reason="Chromium isn't installed")

#: The browser leaves parts of a larger screenshot white.
MOST_PIXELS = 6144 * 4608


def shown(
    sizes: Dict[Path, Tuple[int, int]], folder: Path, side: int, larger: int = 1, style: str = ""
) -> Dict[Path, np.ndarray]:
    """Returns the pixels of files, each in a cell of `side` pixels, on white.

    :param sizes: the width and height that each file gets.
    :param larger: draws so much larger, and averages the pixels.
    :param style: CSS for every picture.
    """
    columns = max(1, 1536 // side)
    most = max(1, MOST_PIXELS // (columns * side * side * larger**2)) * columns
    items = list(sizes.items())
    found: Dict[Path, np.ndarray] = {}
    for start in range(0, len(items), most):
        found.update(_page(dict(items[start : start + most]), folder, side, columns, larger, style))
    return found


def _page(
    sizes: Dict[Path, Tuple[int, int]], folder: Path, side: int, columns: int, larger: int, style: str
) -> Dict[Path, np.ndarray]:
    cells: List[str] = []
    for place, (path, (width, height)) in enumerate(sizes.items()):
        left, top = place % columns * side, place // columns * side
        at = f"left:{left}px;top:{top}px;{style}"
        cells.append(f"<img src='{path.as_uri()}' width={width} height={height} style='{at}'>")
    css = "body { margin: 0; background: #fff } img { position: absolute }"
    html, shot = folder / "page.html", folder / "shot.png"
    html.write_text(f"<!doctype html><style>{css}</style>{''.join(cells)}")
    # The lowest part of a window stays white.
    height = (len(sizes) + columns - 1) // columns * side + 128
    assert PATH
    command = [PATH, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--window-size={columns * side},{height}", f"--screenshot={shot}", html.as_uri()]
    command += [
        f"--force-device-scale-factor={larger}",
        "--force-color-profile=srgb",
        "--virtual-time-budget=20000",
        f"--user-data-dir={folder}/profile",
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    whole = np.asarray(Image.open(shot).convert("RGB"))
    found = {}
    for place, (path, (width, height)) in enumerate(sizes.items()):
        left, top = place % columns * side * larger, place // columns * side * larger
        cell = whole[top : top + height * larger, left : left + width * larger].astype(float)
        found[path] = cell.reshape(height, larger, width, larger, 3).mean(axis=(1, 3))
    return found


def on_white(pixels: np.ndarray) -> np.ndarray:
    """Returns RGB of RGBA, over white."""
    alpha = pixels[..., 3:].astype(float) / 255
    drawn: np.ndarray = pixels[..., :3] * alpha + 255 * (1 - alpha)
    return drawn


def decibels(one: np.ndarray, other: np.ndarray) -> float:
    """Returns the peak signal-to-noise ratio."""
    error = float(((one - other) ** 2).mean())
    return 99.0 if error == 0 else 10 * float(np.log10(255**2 / error))
