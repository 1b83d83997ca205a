"""One layer of a marginalised denoising autoencoder: its equations, and documents through it.

A layer is an array of (inputs + 1, outputs) whose last row is the bias: h = tanh([x, 1] @ layer).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from textkin._typing import Bags, Float64Array, IntpArray
from textkin.distance._blocks import Check, one_thread_of_blas, run_blocks
from textkin.run import ProgressCallback

__all__ = [
    "OUTPUTS",
    "Moments",
    "by_frequency",
    "dealt",
    "hidden",
    "moments_of_bags",
    "moments_of_rows",
    "solved",
    "through",
]

ROWS = 48  # a whole number of tiles of every BLAS, so that no row is at the edge of a product
OUTPUTS = 256  # that are solved for, or multiplied, at a time


@dataclass(frozen=True, slots=True)
class Moments:
    """Sums over documents of the products of inputs x with each other and with outputs y."""

    n_documents: int
    inputs: Float64Array  # sum x x^T; only the lower triangle is read
    sums: Float64Array  # sum x
    cross: Float64Array  # sum x y^T
    output_sums: Float64Array  # sum y


def moments_of_bags(inputs: Any, outputs: Any) -> Moments:  # noqa: ANN401 (CSC of float64)
    """Return the moments of columns of bags; nothing of documents times words is made dense."""
    turned = inputs.T.tocsr()
    return Moments(
        inputs.shape[0],
        (turned @ inputs).toarray(),
        np.asarray(inputs.sum(axis=0), dtype=np.float64).ravel(),
        (turned @ outputs).toarray(),
        np.asarray(outputs.sum(axis=0), dtype=np.float64).ravel(),
    )


def moments_of_rows(rows: Float64Array, threads: int) -> Moments:
    """Return the moments of dense rows that are their own outputs."""
    size = rows.shape[1]
    products = np.empty((size, size))

    def work(block: slice, _check: Check) -> int:
        below = slice(block.start, size)
        panel = rows[:, below].T @ rows[:, block]
        products[below, block] = panel
        products[block, below] = panel.T
        return 1

    for _ in run_blocks(_slices(size, OUTPUTS), work, threads):
        pass
    sums = rows.sum(axis=0)
    return Moments(len(rows), products, sums, products, sums)


def solved(
    moments: Moments, noise: float, ridge: float, report: Callable[[], object]
) -> Float64Array:
    """Return the layer W^T of Q W^T = P^T; raise `LinAlgError` where there are many.

    Inputs that are zero in all documents are left out, and have rows of zeros: whatever weight
    they had, the error would be the same.
    """
    keep = 1 - noise
    squares = moments.inputs.diagonal()
    used = np.flatnonzero(squares > 0)
    size = used.size
    q = np.empty((size + 1, size + 1), order="F")
    np.multiply(moments.inputs[np.ix_(used, used)], keep * keep, out=q[:size, :size])
    q[np.arange(size), np.arange(size)] = keep * squares[used] + ridge
    q[size, :size] = keep * moments.sums[used]
    q[:size, size] = 0  # above the diagonal nothing is read, but it is scaled, whatever it holds
    q[size, size] = moments.n_documents
    # To ones on the diagonal: pivots then tell how near to singular it is, whatever the weights.
    scales = 1 / np.sqrt(q.diagonal())
    q *= scales
    q *= scales[:, None]
    factor = linalg.cholesky(q, lower=True, overwrite_a=True, check_finite=False)
    if factor.diagonal().min() ** 2 < 8 * (size + 1) * np.finfo(np.float64).eps:
        raise linalg.LinAlgError("singular but for rounding")
    layer = np.zeros((moments.inputs.shape[0] + 1, moments.cross.shape[1]))
    rows = np.append(used, len(layer) - 1)
    for block in _slices(layer.shape[1], OUTPUTS):
        sides = np.empty((size + 1, block.stop - block.start), order="F")
        np.multiply(moments.cross[used, block], keep, out=sides[:size])
        sides[size] = moments.output_sums[block]
        sides *= scales[:, None]
        found = linalg.cho_solve((factor, True), sides, overwrite_b=True, check_finite=False)
        layer[rows, block] = found * scales[:, None]
        report()
    return layer


def hidden(source: "Bags | Float64Array", layer: Float64Array, threads: int) -> Float64Array:
    """Return what a layer makes of bags, or of rows of the layer before, which it overwrites."""
    found = (
        source if isinstance(source, np.ndarray) else np.empty((source.shape[0], layer.shape[1]))
    )

    def work(block: slice, _check: Check) -> int:
        rows: Any = source[block]
        if found is source and len(rows) < ROWS:
            rows = np.vstack([rows, np.zeros((ROWS - len(rows), rows.shape[1]))])
        found[block] = _activated(rows, layer)[: block.stop - block.start]
        return 1

    for _ in run_blocks(_slices(len(found), ROWS), work, threads):
        pass
    return found


def through(
    bags: Bags,
    layers: list[Float64Array],
    include_input: bool,
    threads: int,
    progress: ProgressCallback | None,
) -> Float64Array:
    """Return what all layers make of bags, side by side, in the dtype of the bags."""
    n_documents, n_words = bags.shape
    start = n_words if include_input else 0
    width = start + sum(layer.shape[1] for layer in layers)
    found = np.empty((n_documents, width), dtype=bags.dtype)

    def work(block: slice, _check: Check) -> int:
        length = int(block.stop - block.start)
        rows: Any = bags[block]
        if include_input:
            found[block, :start] = rows.toarray()
        at = start
        for layer in layers:
            rows = _activated(rows, layer)
            found[block, at : at + layer.shape[1]] = rows[:length]
            at += layer.shape[1]
        return length

    done = 0
    with one_thread_of_blas:
        for length in run_blocks(_slices(n_documents, ROWS), work, threads):
            done += length
            if progress is not None:
                progress(done, n_documents)
    return found


def dealt(frequencies: IntpArray, most: int) -> list[IntpArray]:
    """Deal the columns that occur to blocks of at most so many, the most frequent first."""
    order = by_frequency(frequencies)
    order = order[frequencies[order] > 0]
    n_blocks = max(-(-order.size // most), 1)
    return [np.sort(order[block::n_blocks]) for block in range(n_blocks)]


def by_frequency(frequencies: IntpArray) -> IntpArray:
    """Return the columns, the most frequent first; of those as frequent, in their order."""
    return np.argsort(-frequencies, kind="stable")


def _activated(rows: Any, layer: Float64Array) -> Float64Array:  # noqa: ANN401
    """Return tanh of a layer for a block of bags, or for `ROWS` rows of the layer before.

    All products of dense rows have one shape, and those of bags are made row by row, so that a
    row has the same bits in every block.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # told below
        if not isinstance(rows, np.ndarray):
            sums = np.zeros((ROWS, layer.shape[1]))
            sums[: rows.shape[0]] = rows.astype(np.float64) @ layer[:-1]
        else:
            sums = rows @ layer[:-1]
        sums += layer[-1]
        np.tanh(sums, out=sums)
    if not np.isfinite(sums).all():
        raise ValueError("X must have weights that a sum of products can hold; scale them down.")
    return np.asarray(sums)


def _slices(size: int, length: int) -> list[slice]:
    return [slice(start, min(start + length, size)) for start in range(0, size, length)]
