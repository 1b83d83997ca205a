"""Cosines of a vector with every row of a table, and the largest of them.

Each row is summed by the same loop wherever it stands (no BLAS), so equal rows get equal
cosines and ties are broken by row alone.
"""

import numpy as np

from textkin._typing import Float32Array, Float64Array, IntpArray
from textkin.vectors._table import row_blocks

__all__ = ["cosines", "largest", "row_lengths"]


def row_lengths(matrix: Float32Array) -> Float64Array:
    """Return the Euclidean length of each row, float64."""
    squares = np.empty(len(matrix))
    for rows in row_blocks(*matrix.shape):
        block = matrix[rows].astype(np.float64)
        squares[rows] = np.einsum("ij,ij->i", block, block)
    lengths: Float64Array = np.sqrt(squares)
    return lengths


def cosines(matrix: Float32Array, lengths: Float64Array, vector: Float64Array) -> Float64Array:
    """Return ``<x, v> / (|x| |v|)`` for each row x, within [-1, 1]; `vector` is not zero."""
    products = np.empty(len(matrix))
    for rows in row_blocks(*matrix.shape):
        products[rows] = np.einsum("ij,j->i", matrix[rows].astype(np.float64), vector)
    length = np.sqrt(np.einsum("j,j->", vector, vector))
    result: Float64Array = np.clip(products / (lengths * length), -1.0, 1.0)
    return result


def largest(scores: Float64Array, n: int) -> IntpArray:
    """Return the positions of the `n` largest scores, best first, ties by position."""
    n = min(n, len(scores))
    if n == 0:
        return np.empty(0, dtype=np.intp)
    threshold = np.partition(scores, len(scores) - n)[len(scores) - n]
    candidates = np.flatnonzero(scores >= threshold)
    order = np.argsort(-scores[candidates], kind="stable")[:n]
    return candidates[order]
