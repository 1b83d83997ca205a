r"""Lower bounds of the Word Mover's Distance of many documents, on a device.

Sums of n numbers in float32 are off by at most :math:`n 2^{-24}` of the sum where none of them is
negative; bounds that prune are lowered by more than that. Every function has two ways: plain torch,
on any device, in parts of bounded memory; and one kernel on CUDA (`_kernels`). Both give the same
up to rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textkin.device._rows import DeviceRows
from textkin.device._tables import FARTHEST
from textkin.device._torch import has_triton

if TYPE_CHECKING:
    import torch

__all__ = ["Asked", "document_side", "lowered", "query_side", "refined", "sharpened"]

_PART = 64 << 20  # bytes of what a part gathers, in plain torch
_ROUNDING = 2.0**-23  # twice what a sum loses for each number
# How soft the plan is whose potentials are looked for, of its mean cost, and in how many rounds.
SMOOTHINGS = ((0.02, 6), (0.006, 8))
LEAST_SOFTNESS = 1e-3  # in units: far below what costs are rounded to
LEAST_TOTAL = 1e-30  # what is divided by


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Some queries on a device, all padded to as many words.

    Attributes
    ----------
    costs : Tensor of shape (Q, V, n)
        From every word of the corpus to every word of a query: int16 in units, for pruning, or
        float32. The largest cost where a query has no word.
    shares : Tensor of shape (Q, n), float32
        The masses of its words, 0 where it has none.
    places : Tensor of shape (Q, V), int16, or None
        One more than the number of the word among those of the query, 0 for others; None where
        common mass is not cancelled.
    """

    costs: "torch.Tensor"
    shares: "torch.Tensor"
    places: "torch.Tensor | None" = None

    def __len__(self) -> int:
        return len(self.shares)

    @property
    def farthest(self) -> float:
        """What is above every cost."""
        return 3e38 if self.costs.dtype.is_floating_point else FARTHEST

    @property
    def width(self) -> int:
        """How many words a query is padded to."""
        return self.shares.shape[1]


def document_side(
    rows: DeviceRows, nearest: "torch.Tensor", *, wide: bool = False
) -> "torch.Tensor":
    r"""Return :math:`\sum_i d_i \min_j c(i, j)` of every document for every query.

    Parameters
    ----------
    rows : DeviceRows
        N documents.
    nearest : Tensor of shape (V, Q), float32
        The cost from each word to the nearest one of each query.
    wide : bool, default=False
        Sum up in float64.

    Returns
    -------
    Tensor of shape (Q, N), float32 or float64
        0 for a document without words.
    """
    if _by_kernel(nearest):
        from textkin.device import _kernels

        return _kernels.document_side(rows, nearest, wide=wide)
    import torch

    kind = torch.float64 if wide else torch.float32
    found = torch.empty(nearest.shape[1], len(rows), dtype=kind, device=nearest.device)
    for begin, part in rows.parts(_PART // (4 * nearest.shape[1])):
        values = nearest[part.words.long()].to(kind) * part.masses[:, None]
        sums = torch.segment_reduce(values, "sum", lengths=part.lengths, axis=0, initial=0)
        found[:, begin : begin + len(part)] = sums.T
    return found


def query_side(rows: DeviceRows, asked: Asked, *, wide: bool = False) -> "torch.Tensor":
    r"""Return :math:`\sum_j q_j \min_i c(i, j)` of every document for every query.

    Parameters
    ----------
    rows : DeviceRows
        N documents.
    asked : Asked
        Q queries.
    wide : bool, default=False
        Sum up in float64.

    Returns
    -------
    Tensor of shape (Q, N), float32 or float64
        In the unit of the costs.
    """
    if _by_kernel(asked.shares):
        from textkin.device import _kernels

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
    rows: DeviceRows, asked: Asked, queries: "torch.Tensor", documents: "torch.Tensor"
) -> "torch.Tensor":
    r"""Return a close lower bound of the distance of some pairs.

    Mass that both documents have of a word stays where it is (under a metric). For what is left,
    two solutions of the dual problem: each word of the document promises its cheapest cost, and
    each of the query what every one of these leaves; or the other way round.

    Parameters
    ----------
    rows : DeviceRows
        Documents.
    asked : Asked
        Queries, with costs in int16.
    queries, documents : Tensor of shape (n_pairs,), int64
        The pairs; their documents have words.

    Returns
    -------
    Tensor of shape (n_pairs,), float32
        In the unit of the costs, and lowered by what float32 may be off by.
    """
    if _by_kernel(asked.shares):
        from textkin.device import _kernels

        return _kernels.refined(rows, asked, queries, documents)
    return _in_parts(_refined, rows, asked, queries, documents)


def sharpened(
    rows: DeviceRows,
    asked: Asked,
    queries: "torch.Tensor",
    documents: "torch.Tensor",
    enough: "torch.Tensor",
) -> "torch.Tensor":
    r"""Return a lower bound of the distance of some pairs that is closer than `refined`.

    It begins with the same potentials. A plan that may be a little dearer, so that it spreads more
    evenly, has smooth potentials, which some rounds of Sinkhorn's iteration find. Completed, so
    that no cost is exceeded, they are a solution of the dual problem however inexact they are, and
    nearly the best one.

    Parameters
    ----------
    rows, asked, queries, documents
        As for `refined`.
    enough : Tensor of shape (n_pairs,), float32
        A bound above need not be closer.

    Returns
    -------
    Tensor of shape (n_pairs,), float32
        In the unit of the costs, and lowered by what float32 may be off by.

    References
    ----------
    Cuturi, "Sinkhorn Distances: Lightspeed Computation of Optimal Transport", NIPS 2013.
    """
    if _by_kernel(asked.shares):
        from textkin.device import _kernels

        return _kernels.sharpened(rows, asked, queries, documents, enough)
    return _in_parts(_sharpened, rows, asked, queries, documents)


def _in_parts(
    bound: "Callable[[_Left], torch.Tensor]",
    rows: DeviceRows,
    asked: Asked,
    queries: "torch.Tensor",
    documents: "torch.Tensor",
) -> "torch.Tensor":
    """Return the bounds of pairs, so many at a time as bounded memory holds."""
    import torch

    found = torch.empty(len(queries), dtype=torch.float32, device=asked.shares.device)
    lengths = rows.lengths[documents]
    longest = max(int(lengths.max()), 1) if len(lengths) else 1
    together = max(_PART // (8 * asked.width * longest), 1)
    for begin in range(0, len(queries), together):
        chosen = slice(begin, begin + together)
        found[chosen] = bound(_Left.of(rows, asked, queries[chosen], documents[chosen]))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Left:
    """What is left to move of some pairs, as arrays of (pairs, words of document, of query).

    Attributes
    ----------
    masses, shares : Tensor
        Of the words of documents and of queries.
    costs : Tensor
        Between words of which both have something left; `FARTHEST` elsewhere.
    numbers : Tensor of shape (pairs,)
        How many words both have.
    """

    masses: "torch.Tensor"
    shares: "torch.Tensor"
    costs: "torch.Tensor"
    numbers: "torch.Tensor"

    @classmethod
    def of(
        cls, rows: DeviceRows, asked: Asked, queries: "torch.Tensor", documents: "torch.Tensor"
    ) -> "_Left":
        import torch

        lengths = rows.lengths[documents]
        at = torch.arange(int(lengths.max()), device=lengths.device)
        there = at < lengths[:, None]
        entries = torch.where(there, rows.indptr[documents][:, None] + at, 0)
        words = torch.where(there, rows.words[entries], 0).long()
        masses = torch.where(there, rows.masses[entries], 0)
        shares = asked.shares[queries]
        left = torch.cat([torch.zeros_like(shares[:, :1]), shares], 1)  # the first: of no word
        if asked.places is not None:
            places = asked.places[queries[:, None], words].long() * there
            common = torch.minimum(masses, left.gather(1, places))
            masses = masses - common
            left = left.scatter_add(1, places, -common)
        left = left[:, 1:]
        costs = asked.costs[queries[:, None], words].float()
        both = (masses > 0)[:, :, None] & (left > 0)[:, None, :]
        costs = torch.where(both, costs, float(FARTHEST))
        return cls(masses, left.clamp(min=0), costs, lengths + asked.width)

    def rows_for(self, columns: "torch.Tensor") -> "torch.Tensor":
        """Return what potentials of the query's words leave of those of the document."""
        return ((self.costs - columns[:, None, :]).amin(2)).where(self.masses > 0, 0)

    def columns_for(self, rows: "torch.Tensor") -> "torch.Tensor":
        """Return what potentials of the document's words leave of those of the query."""
        return ((self.costs - rows[:, :, None]).amin(1)).where(self.shares > 0, 0)

    def value(self, rows: "torch.Tensor", columns: "torch.Tensor") -> "torch.Tensor":
        """Return the sum of all masses times their potentials."""
        return (self.masses * rows).sum(1) + (self.shares * columns).sum(1)

    def bound(self, rows: "torch.Tensor", columns: "torch.Tensor") -> "torch.Tensor":
        """Return that sum, lowered by what float32 may be off by: potentials may be negative."""
        value, size = self.value(rows, columns), self.value(rows.abs(), columns.abs())
        return lowered(value, self.numbers, size)


def _refined(left: _Left) -> "torch.Tensor":
    import torch

    by_row, by_column = left.costs.amin(2), left.costs.amin(1)
    # Nothing is left on the other side but rounding: it promises nothing.
    by_row = torch.where(by_row < FARTHEST, by_row, 0)
    by_column = torch.where(by_column < FARTHEST, by_column, 0)
    first = left.value(by_row, left.columns_for(by_row))
    second = left.value(left.rows_for(by_column), by_column)
    return lowered(torch.maximum(first, second), left.numbers)


def _sharpened(left: _Left) -> "torch.Tensor":
    import torch

    by_row = left.costs.amin(2)
    columns = left.columns_for(torch.where(by_row < FARTHEST, by_row, 0))
    rows = left.rows_for(columns)
    found = left.bound(rows, columns)
    mean = left.value(rows, columns) / left.masses.sum(1).clamp(min=LEAST_TOTAL)
    for share, rounds in SMOOTHINGS:
        softness = (share * mean).clamp(min=LEAST_SOFTNESS)[:, None]
        rest = left.costs - rows[:, :, None] - columns[:, None, :]
        close = torch.exp(-rest / softness[:, :, None]).where(left.costs < FARTHEST, 0)
        factors = left.shares
        for _ in range(rounds):
            got = (close @ factors[:, :, None])[:, :, 0].clamp(min=LEAST_TOTAL)
            given = ((left.masses / got)[:, None, :] @ close)[:, 0].clamp(min=LEAST_TOTAL)
            factors = left.shares / given
        got = (close @ factors[:, :, None])[:, :, 0].clamp(min=LEAST_TOTAL)
        # Whole numbers, as costs are: so what they leave is exact.
        rows = (rows - softness * got.log()).floor().clamp(-FARTHEST, FARTHEST)
        columns = left.columns_for(rows.where(left.masses > 0, 0))
        rows = left.rows_for(columns)
        found = torch.maximum(found, left.bound(rows, columns))
    return found


def lowered(
    sums: "torch.Tensor", numbers: "torch.Tensor", sizes: "torch.Tensor | None" = None
) -> "torch.Tensor":
    """Lower sums of so many products by what float32 may be off by.

    A share of the sum of their sizes, which is the sum where none is negative, for each product and
    addition; and, because masses that were rounded may have been cancelled, so much of the largest
    cost as they may all be off by.
    """
    lost = (numbers + 16).float() * _ROUNDING * (sums if sizes is None else sizes)
    return (sums - lost - FARTHEST * 4 * _ROUNDING).clamp_(min=0)


def _by_kernel(tensor: "torch.Tensor") -> bool:
    return bool(tensor.is_cuda) and has_triton()
