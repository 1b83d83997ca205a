"""Post-processing of a table of vectors: unit length, all-but-the-top."""

import numpy as np

from textkin._typing import Float32Array, Float64Array
from textkin.vectors._cosine import row_lengths
from textkin.vectors._table import row_blocks

__all__ = ["remove_components", "unit_rows"]

_NOTHING_LEFT = 1e-9  # of a row's length: float64 rounding, no direction


def unit_rows(matrix: Float32Array) -> Float32Array:
    """Return the rows divided by their lengths, in float64, rounded once to float32."""
    lengths = row_lengths(matrix)
    result = np.empty(matrix.shape, dtype=np.float32)
    for rows in row_blocks(*matrix.shape):
        result[rows] = matrix[rows] / lengths[rows, np.newaxis]
    return result


def remove_components(
    words: tuple[str, ...], matrix: Float32Array, n: int, center: bool
) -> Float32Array:
    """Return the rows less their mean (if `center`) and less their top `n` components.

    With rows x, mean m and U the top `n` eigenvectors of the d x d covariance,
    each row becomes ``y = x - m``, then ``y - U U^T y`` (Mu & Viswanath 2018, algorithm 1).
    """
    dimension = matrix.shape[1]
    mean = matrix.mean(axis=0, dtype=np.float64) if center else np.zeros(dimension)
    top = _top_components(matrix, mean, n)
    result = np.empty(matrix.shape, dtype=np.float32)
    for rows in row_blocks(*matrix.shape):
        block = matrix[rows].astype(np.float64)
        before = block - mean
        after = before - (before @ top) @ top.T
        scale = np.linalg.norm(block, axis=1) + np.linalg.norm(mean)
        kept = np.linalg.norm(after, axis=1) > _NOTHING_LEFT * scale
        if not kept.all():
            word = words[rows.start + int(np.argmin(kept))]
            raise ValueError(
                f"nothing would be left of the vector of {word!r}; "
                f"take n below {n}, center=False, or more words."
            )
        result[rows] = after
    return result


def _top_components(matrix: Float32Array, mean: Float64Array, n: int) -> Float64Array:
    """Return the `n` eigenvectors of the covariance with the largest eigenvalues, as columns."""
    dimension = matrix.shape[1]
    covariance = np.zeros((dimension, dimension))
    for rows in row_blocks(*matrix.shape):
        centred = matrix[rows] - mean
        covariance += centred.T @ centred
    _, components = np.linalg.eigh(covariance / len(matrix))  # eigenvalues ascend
    top: Float64Array = components[:, dimension - n :]
    return top
