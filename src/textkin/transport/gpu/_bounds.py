r"""Lower bounds of the Word Mover's Distance between many queries and documents, in torch.

Sums of n nonnegative numbers in float32 have a relative error of at most :math:`n 2^{-24}`; bounds
for pruning are lowered by more than that. Every function has two implementations: plain torch, on
any device, in parts of bounded memory; and one kernel on CUDA (`_kernels`). Both have the same
results up to rounding.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textkin.device import has_triton
from textkin.transport.gpu._costs import FARTHEST
from textkin.transport.gpu._rows import DeviceRows

if TYPE_CHECKING:
    import torch

__all__ = ["PaddedQueries", "document_side", "lowered", "query_side", "refined"]

_PART = 64 << 20  # size of the data gathered at a time in plain torch, in bytes
_ROUNDING = 2.0**-23  # twice the relative error of a sum per number


@dataclass(frozen=True, slots=True, eq=False)
class PaddedQueries:
    """Batch of queries on a GPU: word weights and cost tables, padded to equal length.

    Attributes
    ----------
    costs : Tensor of shape (Q, V, n)
        Costs from every word of the corpus to every word of a query: int16 in units, for pruning,
        or float32. Padding has the largest cost.
    shares : Tensor of shape (Q, n), float32
        Masses of the words; 0 for padding.
    places : Tensor of shape (Q, V), int16, or None
        One plus the position of the word in the query, or 0 if the query lacks the word. If None,
        common mass is not canceled.
    """

    costs: "torch.Tensor"
    shares: "torch.Tensor"
    places: "torch.Tensor | None" = None

    def __len__(self) -> int:
        return len(self.shares)

    @property
    def farthest(self) -> float:
        """Cost that is larger than every real cost, used for padding."""
        return 3e38 if self.costs.dtype.is_floating_point else FARTHEST

    @property
    def width(self) -> int:
        """Number of words of the longest query, to which all queries are padded."""
        return self.shares.shape[1]


def document_side(
    rows: DeviceRows, nearest: "torch.Tensor", *, wide: bool = False
) -> "torch.Tensor":
    r"""Compute the relaxed bound :math:`\sum_i d_i \min_j c(i, j)` of every document and query.

    Parameters
    ----------
    rows : DeviceRows
        N documents.
    nearest : Tensor of shape (V, Q), float32
        Cost from each word to the nearest word of each query.
    wide : bool, default=False
        Sum in float64.

    Returns
    -------
    Tensor of shape (Q, N), float32 or float64
        Bounds; 0 for a document without words.
    """
    if _by_kernel(nearest):
        from textkin.transport.gpu import _kernels

        return _kernels.document_side(rows, nearest, wide=wide)
    import torch

    kind = torch.float64 if wide else torch.float32
    found = torch.empty(nearest.shape[1], len(rows), dtype=kind, device=nearest.device)
    for begin, part in rows.parts(_PART // (4 * nearest.shape[1])):
        values = nearest[part.words.long()].to(kind) * part.masses[:, None]
        sums = torch.segment_reduce(values, "sum", lengths=part.lengths, axis=0, initial=0)
        found[:, begin : begin + len(part)] = sums.T
    return found


def query_side(rows: DeviceRows, asked: PaddedQueries, *, wide: bool = False) -> "torch.Tensor":
    r"""Compute the relaxed bound :math:`\sum_j q_j \min_i c(i, j)` of every document and query.

    Parameters
    ----------
    rows : DeviceRows
        N documents.
    asked : PaddedQueries
        Q queries.
    wide : bool, default=False
        Sum in float64.

    Returns
    -------
    Tensor of shape (Q, N), float32 or float64
        Bounds in the unit of the costs.
    """
    if _by_kernel(asked.shares):
        from textkin.transport.gpu import _kernels

        return _kernels.query_side(rows, asked, wide=wide)
    import torch

    kind = torch.float64 if wide else torch.float32
    found = torch.empty(len(asked), len(rows), dtype=kind, device=asked.shares.device)
    for begin, part in rows.parts(_PART // (4 * asked.width)):
        for q in range(len(asked)):
            costs = asked.costs[q][part.words.long()].float()
            least = torch.segment_reduce(
                costs, "min", lengths=part.lengths, axis=0, initial=asked.farthest
            )
            found[q, begin : begin + len(part)] = least.to(kind) @ asked.shares[q].to(kind)
    return found


def refined(
    rows: DeviceRows, asked: PaddedQueries, queries: "torch.Tensor", documents: "torch.Tensor"
) -> "torch.Tensor":
    r"""Compute a tight lower bound (one-step dual ascent) for given pairs of query and document.

    Under a metric, mass of a word that both documents have stays in place. For the remaining mass,
    the bound is the larger of two feasible dual solutions: each word of the document gets its
    smallest cost as its potential, and each word of the query the largest potential that is then
    feasible; or the other way around.

    Parameters
    ----------
    rows : DeviceRows
        Documents.
    asked : PaddedQueries
        Queries, with costs in int16.
    queries, documents : Tensor of shape (n_pairs,), int64
        Pairs; their documents must have words.

    Returns
    -------
    Tensor of shape (n_pairs,), float32
        Bounds in the unit of the costs, lowered by the maximum float32 error.
    """
    if _by_kernel(asked.shares):
        from textkin.transport.gpu import _kernels

        return _kernels.refined(rows, asked, queries, documents)
    import torch

    found = torch.empty(len(queries), dtype=torch.float32, device=asked.shares.device)
    lengths = rows.lengths[documents]
    longest = max(int(lengths.max()), 1) if len(lengths) else 1
    together = max(_PART // (8 * asked.width * longest), 1)
    for begin in range(0, len(queries), together):
        chosen = slice(begin, begin + together)
        found[chosen] = _refined(rows, asked, queries[chosen], documents[chosen])
    return found


def _refined(
    rows: DeviceRows, asked: PaddedQueries, queries: "torch.Tensor", documents: "torch.Tensor"
) -> "torch.Tensor":
    """Compute the tight lower bound for pairs whose costs fit in one array on the GPU."""
    import torch

    lengths = rows.lengths[documents]
    at = torch.arange(int(lengths.max()), device=lengths.device)
    there = at < lengths[:, None]
    entries = torch.where(there, rows.indptr[documents][:, None] + at, 0)
    words = torch.where(there, rows.words[entries], 0).long()
    masses = torch.where(there, rows.masses[entries], 0)
    shares = asked.shares[queries]
    # Position 0 stands for "no word".
    left = torch.cat([torch.zeros_like(shares[:, :1]), shares], 1)
    if asked.places is not None:
        places = asked.places[queries[:, None], words].long() * there
        common = torch.minimum(masses, left.gather(1, places))
        masses = masses - common
        left = left.scatter_add(1, places, -common)
    left = left[:, 1:]
    open_rows, open_columns = (masses > 0)[:, :, None], (left > 0)[:, None, :]
    costs = asked.costs[queries[:, None], words].float()
    costs = torch.where(open_rows & open_columns, costs, float(FARTHEST))
    by_row, by_column = costs.amin(2), costs.amin(1)
    # Only rounding errors remain on the other side, so the potential is 0.
    by_row = torch.where(by_row < FARTHEST, by_row, 0)
    by_column = torch.where(by_column < FARTHEST, by_column, 0)
    columns_then = torch.where(open_columns[:, 0], (costs - by_row[:, :, None]).amin(1), 0)
    rows_then = torch.where(open_rows[:, :, 0], (costs - by_column[:, None, :]).amin(2), 0)
    first = (masses * by_row).sum(1) + (left * columns_then).sum(1)
    second = (left * by_column).sum(1) + (masses * rows_then).sum(1)
    return lowered(torch.maximum(first, second), lengths + asked.width)


def lowered(sums: "torch.Tensor", numbers: "torch.Tensor") -> "torch.Tensor":
    """Subtract the maximum float32 rounding error from sums of products, so they stay bounds.

    The error is a share of the sum per product and addition. Because rounded masses may have been
    canceled, a share of the largest cost is also subtracted.
    """
    lost = (numbers + 16).float() * _ROUNDING
    return (sums * (1 - lost) - FARTHEST * 4 * _ROUNDING).clamp_(min=0)


def _by_kernel(tensor: "torch.Tensor") -> bool:
    return bool(tensor.is_cuda) and has_triton()
