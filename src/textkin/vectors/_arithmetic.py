"""Lengths, cosines, and principal components of the rows of a matrix.

Each row is summed by the same loop regardless of its position (no BLAS), so equal rows get equal
cosines and ties go to the lowest row.
"""

import numpy as np

from textkin._base import Float32Array, Float64Array, IntpArray
from textkin.vectors._table import row_blocks

__all__ = ["compute_cosines", "find_largest", "remove_components", "row_lengths", "unit_rows"]


def row_lengths(matrix: Float32Array) -> Float64Array:
    """Return the Euclidean length of each row in float64."""
    squares = np.empty(len(matrix))
    for rows in row_blocks(*matrix.shape):
        block = matrix[rows].astype(np.float64)
        squares[rows] = np.einsum("ij,ij->i", block, block)
    lengths: Float64Array = np.sqrt(squares)
    return lengths


def compute_cosines(
    matrix: Float32Array, lengths: Float64Array, vector: Float64Array
) -> Float64Array:
    """Return the cosine of each row of a matrix with a nonzero vector."""
    products = np.empty(len(matrix))
    for rows in row_blocks(*matrix.shape):
        products[rows] = np.einsum("ij,j->i", matrix[rows].astype(np.float64), vector)
    length = np.sqrt(np.einsum("j,j->", vector, vector))
    result: Float64Array = np.clip(products / (lengths * length), -1.0, 1.0)
    return result


def find_largest(scores: Float64Array, n: int) -> IntpArray:
    """Return the positions of the `n` largest scores, best first."""
    n = min(n, len(scores))
    if n == 0:
        return np.empty(0, dtype=np.intp)
    threshold = np.partition(scores, len(scores) - n)[len(scores) - n]
    candidates = np.flatnonzero(scores >= threshold)
    order = np.argsort(-scores[candidates], kind="stable")[:n]
    return candidates[order]


_NOTHING_LEFT = 1e-9  # relative to the row's length; below it, only rounding errors remain


def unit_rows(matrix: Float32Array) -> Float32Array:
    """Divide each row by its Euclidean length, rounded once to float32."""
    lengths = row_lengths(matrix)
    result = np.empty(matrix.shape, dtype=np.float32)
    for rows in row_blocks(*matrix.shape):
        result[rows] = matrix[rows] / lengths[rows, np.newaxis]
    return result


def remove_components(
    words: tuple[str, ...], matrix: Float32Array, n: int, center: bool
) -> Float32Array:
    """Remove the mean (if `center`) and the top `n` principal components from rows.

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
                f"the vector of {word!r} would become zero; "
                f"pass n below {n}, center=False, or more words."
            )
        result[rows] = after
    return result


def _top_components(matrix: Float32Array, mean: Float64Array, n: int) -> Float64Array:
    """Return the `n` principal components of rows as columns, by ascending eigenvalue."""
    dimension = matrix.shape[1]
    covariance = np.zeros((dimension, dimension))
    for rows in row_blocks(*matrix.shape):
        centred = matrix[rows] - mean
        covariance += centred.T @ centred
    # `eigh` returns eigenvalues in ascending order.
    _, components = np.linalg.eigh(covariance / len(matrix))
    top: Float64Array = components[:, dimension - n :]
    return top
