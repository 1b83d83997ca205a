"""Where documents lie on the map."""

import numpy as np

from textkin._typing import Float64Array, Int64Array
from textkin.run import ProgressCallback

__all__ = ["laid_out"]


def laid_out(rows: Float64Array, labels: Int64Array, progress: ProgressCallback) -> Float64Array:
    """Return a place in the unit square for each row."""
    progress(1, 1)
    if not len(rows):
        return np.zeros((0, 2))
    places = rows[:, :2].copy()
    low, high = places.min(axis=0), places.max(axis=0)
    return (places - low) / np.where(high > low, high - low, 1.0)
