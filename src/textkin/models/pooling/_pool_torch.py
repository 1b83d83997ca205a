"""Pooling of word vectors over documents in torch, for GPUs.

The formulas are the same as in `_arithmetic`, in float64, too.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from textkin._base import BoolArray, Float32Array, Float64Array, Int32Array, Int64Array
from textkin.device import (
    cut_rows,
    rows_that_fit,
    segment_maxima,
    segment_sums,
    tensor_of,
    write_rows,
)

__all__ = ["apply_shape", "coefficients", "pool_on_device"]

_NOTHING_LEFT = 1e-9  # fraction of a document's length below which a remainder is rounding
_MOST_DOCUMENTS = 2**15  # maximum block size, in documents; larger blocks are not faster


def coefficients(
    counts: torch.Tensor, weights: torch.Tensor | None, starts: torch.Tensor, combine: str
) -> torch.Tensor:
    """Compute the coefficient of each word: its share of the document times its weight.

    Parameters
    ----------
    counts : Tensor of shape (n_entries,), float64
        Counts, at least 0.
    weights : Tensor of shape (n_entries,), float64, or None
        Weight of the word of each entry. If None, 1.
    starts : Tensor of shape (n_documents + 1,), int64
        Offset of the first entry of each document.
    combine : {"mean", "sum", "max"}
        "sum" leaves counts unchanged; "max" gives 1 where they are above 0.
    """
    if combine == "max":
        return (counts > 0).double()
    if combine == "mean":
        lengths = starts.diff()
        owners = torch.repeat_interleave(torch.arange(len(lengths), device=starts.device), lengths)
        # Division by the maximum first keeps sums from overflow and underflow.
        numbers = torch.arange(len(counts), device=starts.device)
        largest = segment_maxima(counts[:, None], numbers, starts)
        counts = counts / torch.where(largest > 0, largest, 1)[owners, 0]
        totals = segment_sums(counts[:, None], numbers, torch.ones_like(counts), starts)
        counts = counts / torch.where(totals > 0, totals, 1)[owners, 0]
    return counts if weights is None else counts * weights


def apply_shape(
    vectors: torch.Tensor,
    components: torch.Tensor,
    component_weights: torch.Tensor,
    mean: torch.Tensor | None,
    whitening: torch.Tensor | None,
) -> torch.Tensor:
    """Remove the components from pooled vectors, and whiten them if `mean` is given."""
    if len(components):
        after = vectors - vectors @ components.T * component_weights @ components
        lengths, left = vectors.norm(dim=1), after.norm(dim=1)
        after[left <= _NOTHING_LEFT * lengths] = 0
        vectors = after
    if mean is not None and whitening is not None:
        vectors = (vectors - mean) @ whitening
    return vectors


def pool_on_device(
    table: Float32Array,
    indptr: Int64Array,
    indices: Int32Array,
    counts: Float32Array | Float64Array,
    word_weights: Float64Array | None,
    combine: Literal["mean", "sum", "max"],
    shape: tuple[Float64Array, Float64Array, Float64Array | None, Float64Array | None] | None,
    place: torch.device,
    memory: int,
    *,
    double: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[NDArray[Any], BoolArray, BoolArray]:
    """Compute the pooled vectors of documents on a device.

    Parameters
    ----------
    table : ndarray of shape (n_words, d), float32
        Word vectors.
    indptr, indices, counts : ndarray
        Documents as CSR rows over the words.
    word_weights : ndarray of shape (n_words,), float64, or None
        Weight of each word. If None, 1.
    combine : {"mean", "sum", "max"}
        Method that combines word vectors.
    shape : tuple or None
        Components, their weights, mean, and whitening of a `Shape`. If None, only pool.
    place : torch.device
        Device that pools the documents.
    memory : int
        Number of bytes that may be used on the device.
    double : bool, default=False
        Return vectors in float64 (default: float32).
    progress : callable, optional
        Called with (documents pooled, number of documents) after each block.

    Returns
    -------
    vectors : ndarray of shape (n_documents, d) or (n_documents, k)
        Vector of each document; zeros if no word has a count and a weight above 0.
    filled : ndarray of shape (n_documents,), bool
        True for documents with such a word.
    fits : ndarray of shape (n_documents,), bool
        True for vectors that are finite in the returned dtype.
    """
    n_words, d = table.shape
    n_documents = len(indptr) - 1
    after = [None if part is None else tensor_of(part, place) for part in shape or ()]
    width = d if shape is None or shape[3] is None else shape[3].shape[1]
    document, entry = 8 * 5 * max(d, width) + 64, 72
    fixed = 12 * n_words * d + 8 * n_words + 8 * 2 * d * (d + width)
    what = f"documents over {n_words:,} vectors of {d} dimensions"
    rows = rows_that_fit(memory, document + entry, fixed, what, 2 * _MOST_DOCUMENTS)
    given = tensor_of(table, place)
    vectors = given if combine == "max" else given.double()
    weights = None if word_weights is None else tensor_of(word_weights, place)

    filled, fits = (torch.ones(n_documents, dtype=torch.bool, device=place) for _ in "ab")

    def blocks() -> Iterator[tuple[slice, torch.Tensor]]:
        entries = max(1, (memory - fixed) // (2 * entry))
        for block in cut_rows(indptr, max(1, rows // 2), entries):
            own = slice(int(indptr[block.start]), int(indptr[block.stop]))
            starts = tensor_of(indptr[block.start : block.stop + 1] - indptr[block.start], place)
            columns = tensor_of(indices[own], place).long()
            by_word = None if weights is None else weights[columns]
            values = coefficients(tensor_of(counts[own], place), by_word, starts, combine)
            found, some = _combined(vectors, columns, values, starts, combine)
            if shape is not None:
                found = apply_shape(found, *after)  # type: ignore[arg-type]
            found = torch.where(some[:, None], found, 0)
            found = found if double else found.float()
            filled[block], fits[block] = some, found.isfinite().all(dim=1)
            yield block, found
            if progress is not None:
                progress(block.stop, n_documents)

    out = np.empty((n_documents, width), dtype=np.float64 if double else np.float32)
    write_rows(out, blocks())
    return out, np.asarray(filled.cpu().numpy()), np.asarray(fits.cpu().numpy())


def _combined(
    vectors: torch.Tensor,
    columns: torch.Tensor,
    values: torch.Tensor,
    starts: torch.Tensor,
    combine: str,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Pool the word vectors of each document; also return a mask of nonempty documents."""
    kept = values > 0
    ends = torch.cat([starts.new_zeros(1), kept.cumsum(0)])[starts]
    filled = ends.diff() > 0
    if combine == "max":
        return segment_maxima(vectors, columns[kept], ends).double(), filled
    return segment_sums(vectors, columns, values, starts), filled
