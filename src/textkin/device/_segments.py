"""Sums and maxima of table rows over segments of an index list, in torch.

Entries are added in the order of the list, in pieces of fixed length and without atomic operations,
so that the sum of a segment is bit-identical in every batch and call.
"""

from collections.abc import Iterator

import torch
from torch.nn.functional import embedding_bag

from textkin._base import Int64Array

__all__ = ["cut_rows", "segment_maxima", "segment_sums"]

PIECE = 256  # number of entries that a GPU thread adds sequentially


def segment_sums(
    table: torch.Tensor, columns: torch.Tensor, weights: torch.Tensor, starts: torch.Tensor
) -> torch.Tensor:
    """Return for each segment the sum of table rows times weights (0 for an empty segment).

    Parameters
    ----------
    table : Tensor of shape (n_rows, width), float32 or float64
        Table of rows.
    columns : Tensor of shape (n_entries,), int64
        Row numbers of the entries.
    weights : Tensor of shape (n_entries,)
        Weights of the entries, with the dtype of the table.
    starts : Tensor of shape (n_segments + 1,), int64
        Start of each segment, from 0; the last element is the number of entries.
    """
    lengths = starts.diff()
    if not len(columns):
        return table.new_zeros((len(lengths), table.shape[1]))
    if int(lengths.max()) <= PIECE:
        return _sums(table, columns, weights, starts)
    # Long segments are split into pieces, whose sums form the rows of a new table.
    counts = (lengths + PIECE - 1) // PIECE
    ends = counts.cumsum(0)
    owners = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
    numbers = torch.arange(len(owners), device=counts.device)
    cuts = starts[owners] + PIECE * (numbers - (ends - counts)[owners])
    parts = _sums(table, columns, weights, torch.cat([cuts, starts[-1:]]))
    ones = torch.ones(len(parts), dtype=parts.dtype, device=parts.device)
    return segment_sums(parts, numbers, ones, torch.cat([ends.new_zeros(1), ends]))


def segment_maxima(
    table: torch.Tensor, columns: torch.Tensor, starts: torch.Tensor
) -> torch.Tensor:
    """Return for each segment the columnwise maximum of table rows (0 for an empty segment)."""
    if not len(columns):
        return table.new_zeros((len(starts) - 1, table.shape[1]))
    return embedding_bag(columns, table, starts, mode="max", include_last_offset=True)


def _sums(
    table: torch.Tensor, columns: torch.Tensor, weights: torch.Tensor, starts: torch.Tensor
) -> torch.Tensor:
    return embedding_bag(
        columns, table, starts, mode="sum", per_sample_weights=weights, include_last_offset=True
    )


def cut_rows(starts: Int64Array, most_rows: int, most_entries: int) -> Iterator[slice]:
    """Yield ranges of CSR rows with limited numbers of rows and entries."""
    first, n_rows = 0, len(starts) - 1
    while first < n_rows:
        end = int(starts.searchsorted(int(starts[first]) + most_entries, "right")) - 1
        end = min(max(end, first + 1), first + most_rows, n_rows)
        yield slice(first, end)
        first = end
