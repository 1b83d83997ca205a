"""One layer of a marginalized denoising autoencoder: its closed-form solution, and output.

A layer is an array of (inputs + 1, outputs) whose last row is the bias: h = tanh([x, 1] @ layer).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from textkin._base import Bags, Float64Array, IntpArray
from textkin.run import Check, ProgressCallback, row_slices, run_blocks, single_blas_thread

__all__ = [
    "OUTPUTS",
    "Moments",
    "apply_layer",
    "apply_layers",
    "by_frequency",
    "deal_columns",
    "moments_of_bags",
    "moments_of_rows",
    "solve_layer",
]

ROWS = 48  # multiple of the tile size of every BLAS: no row is at the edge of a product
OUTPUTS = 256  # block size of outputs that are solved for or multiplied


@dataclass(frozen=True, slots=True)
class Moments:
    """Sums over documents of x x^T and y x^T, from which a layer is solved."""

    n_documents: int
    inputs: Float64Array  # sum x x^T; only the lower triangle is read
    sums: Float64Array  # sum x
    cross: Float64Array  # sum x y^T
    output_sums: Float64Array  # sum y


def moments_of_bags(inputs: Any, outputs: Any) -> Moments:  # noqa: ANN401 (CSC of float64)
    """Compute the sums of x x^T and y x^T over documents, for columns of bags."""
    turned = inputs.T.tocsr()
    return Moments(
        inputs.shape[0],
        (turned @ inputs).toarray(),
        np.asarray(inputs.sum(axis=0), dtype=np.float64).ravel(),
        (turned @ outputs).toarray(),
        np.asarray(outputs.sum(axis=0), dtype=np.float64).ravel(),
    )


def moments_of_rows(rows: Float64Array, threads: int) -> Moments:
    """Compute the sums of x x^T over dense rows that are both inputs and outputs."""
    size = rows.shape[1]
    products = np.empty((size, size))

    def work(block: slice, _check: Check) -> int:
        below = slice(block.start, size)
        panel = rows[:, below].T @ rows[:, block]
        products[below, block] = panel
        products[block, below] = panel.T
        return 1

    for _ in run_blocks(row_slices(size, OUTPUTS), work, threads):
        pass
    sums = rows.sum(axis=0)
    return Moments(len(rows), products, sums, products, sums)


def solve_layer(
    moments: Moments, noise: float, ridge: float, report: Callable[[], object]
) -> Float64Array:
    """Solve Q W^T = P^T for the weights W^T of a layer; raise `LinAlgError` if Q is singular.

    Inputs that are zero in all documents are excluded, and get rows of zeros: the error does not
    depend on their weights.
    """
    keep = 1 - noise
    squares = moments.inputs.diagonal()
    used = np.flatnonzero(squares > 0)
    size = used.size
    q = np.empty((size + 1, size + 1), order="F")
    np.multiply(moments.inputs[np.ix_(used, used)], keep * keep, out=q[:size, :size])
    q[np.arange(size), np.arange(size)] = keep * squares[used] + ridge
    q[size, :size] = keep * moments.sums[used]
    q[:size, size] = 0  # the upper triangle is not read, but it is scaled below
    q[size, size] = moments.n_documents
    # With ones on the diagonal, pivots measure how close to singular Q is at any scale of weights.
    scales = 1 / np.sqrt(q.diagonal())
    q *= scales
    q *= scales[:, None]
    factor = linalg.cholesky(q, lower=True, overwrite_a=True, check_finite=False)
    if factor.diagonal().min() ** 2 < 8 * (size + 1) * np.finfo(np.float64).eps:
        raise linalg.LinAlgError("singular except for rounding")
    layer = np.zeros((moments.inputs.shape[0] + 1, moments.cross.shape[1]))
    rows = np.append(used, len(layer) - 1)
    for block in row_slices(layer.shape[1], OUTPUTS):
        sides = np.empty((size + 1, block.stop - block.start), order="F")
        np.multiply(moments.cross[used, block], keep, out=sides[:size])
        sides[size] = moments.output_sums[block]
        sides *= scales[:, None]
        found = linalg.cho_solve((factor, True), sides, overwrite_b=True, check_finite=False)
        layer[rows, block] = found * scales[:, None]
        report()
    return layer


def apply_layer(source: "Bags | Float64Array", layer: Float64Array, threads: int) -> Float64Array:
    """Compute tanh(W x) for bags, or in place for the output of the previous layer."""
    found = (
        source if isinstance(source, np.ndarray) else np.empty((source.shape[0], layer.shape[1]))
    )

    def work(block: slice, _check: Check) -> int:
        rows: Any = source[block]
        if found is source and len(rows) < ROWS:
            rows = np.vstack([rows, np.zeros((ROWS - len(rows), rows.shape[1]))])
        found[block] = _activate(rows, layer)[: block.stop - block.start]
        return 1

    for _ in run_blocks(row_slices(len(found), ROWS), work, threads):
        pass
    return found


def apply_layers(
    bags: Bags,
    layers: list[Float64Array],
    include_input: bool,
    threads: int,
    progress: ProgressCallback | None,
) -> Float64Array:
    """Compute the outputs of all layers for bags, concatenated per document."""
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
            rows = _activate(rows, layer)
            found[block, at : at + layer.shape[1]] = rows[:length]
            at += layer.shape[1]
        return length

    done = 0
    with single_blas_thread:
        for length in run_blocks(row_slices(n_documents, ROWS), work, threads):
            done += length
            if progress is not None:
                progress(done, n_documents)
    return found


def deal_columns(frequencies: IntpArray, most: int) -> list[IntpArray]:
    """Distribute the columns that occur over blocks of at most `most`, by frequency."""
    order = by_frequency(frequencies)
    order = order[frequencies[order] > 0]
    n_blocks = max(-(-order.size // most), 1)
    return [np.sort(order[block::n_blocks]) for block in range(n_blocks)]


def by_frequency(frequencies: IntpArray) -> IntpArray:
    """Return column numbers by descending frequency; ties are in column order."""
    return np.argsort(-frequencies, kind="stable")


def _activate(rows: Any, layer: Float64Array) -> Float64Array:  # noqa: ANN401
    """Compute the output tanh(W x) of a layer for one block of rows.

    All products of dense rows have one shape, and products of bags are computed row by row, so
    that a row is bit-identical in every block.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # overflow raises below
        if not isinstance(rows, np.ndarray):
            sums = np.zeros((ROWS, layer.shape[1]))
            sums[: rows.shape[0]] = rows.astype(np.float64) @ layer[:-1]
        else:
            sums = rows @ layer[:-1]
        sums += layer[-1]
        np.tanh(sums, out=sums)
    if not np.isfinite(sums).all():
        raise ValueError("X must have weights whose weighted sums are finite. Scale them down.")
    return np.asarray(sums)
