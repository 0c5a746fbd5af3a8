"""Compares two pictures."""

import numpy as np


def distance(left: np.ndarray, right: np.ndarray) -> float:
    """Returns the largest difference of a sample, in levels. Colours of invisible pixels don't count."""
    assert left.shape == right.shape, f"{left.shape} and {right.shape}"
    apart = np.abs(left.astype(float) - right.astype(float))
    hidden = (left[:, :, 3] == 0) & (np.round(right[:, :, 3]) == 0)
    apart[hidden] = 0
    return float(apart.max())


def psnr(left: np.ndarray, right: np.ndarray) -> float:
    """Returns the peak signal-to-noise ratio in decibels."""
    error = np.mean((left.astype(float) - right.astype(float)) ** 2)
    return 99.0 if error == 0 else float(10 * np.log10(255**2 / error))
