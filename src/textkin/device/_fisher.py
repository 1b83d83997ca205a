"""Fisher vectors of documents: sums over their words by component, and what is made of these.

By the formulas of the core (`fisher_vectors`), with the same arguments: of each document with the
parts c_w of its words, g_i = sum c_w gamma_w(i), S_i = sum c_w gamma_w(i) x_w, and Q_i of squares.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from textkin._typing import Float32Array, Float64Array, Int32Array, Int64Array
from textkin.device._place import at_once, tensor_of, write_rows
from textkin.device._pooling import coefficients
from textkin.device._segments import cut_rows, segment_sums

__all__ = ["fisher_vectors"]

_LEAST_PART = 1e-6  # a vector this much shorter than the terms it is a difference of is rounding
_MOST_NUMBERS = 2**25  # of the vectors of a block, beyond which it is no quicker


def fisher_vectors(
    indptr: Int64Array,
    indices: Int32Array,
    counts: Float64Array,
    points: Float32Array,
    shares: Float32Array,
    dimension: int,
    tables: dict[str, Float64Array],
    length_power: float,
    power: float,
    unit: bool,
    place: torch.device,
    memory: int,
) -> tuple[Float32Array, bool]:
    """Return the Fisher vectors of documents, and whether all numbers fit in float32.

    Parameters
    ----------
    indptr, indices, counts : ndarray
        CSR of the documents over the points.
    points : ndarray of shape (n_words, width), float32
        Words in the scale of the scores, with their squares behind them if there are variances.
    shares : ndarray of shape (n_words, n_components), float32
        Posteriors of the words.
    dimension : int
        Of the words.
    tables : dict of ndarray
        Those of `textkin.models._fisher.Scores` by name.
    length_power, power, unit
        Those of `textkin.models._fisher.Finish`.
    place : torch.device
        Where vectors are made.
    memory : int
        Bytes that may be taken there.
    """
    n_components = shares.shape[1]
    scores = {name: tensor_of(table, place) for name, table in tables.items() if table.size}
    width = dimension * (2 if "square_scale" in scores else 1)
    size = sum(scores[name].numel() for name in _SIZES if name in scores)
    # Numbers in double: the sums, the vector twice, and squares of it.
    document = 8 * (2 * n_components * width + 4 * size) + 64
    entry = 64 + n_components * (4 + 8 + 64)  # the products, and all that is kept of each
    fixed = (
        2 * points.nbytes + 3 * shares.nbytes + sum(2 * table.nbytes for table in tables.values())
    )
    what = f"Fisher vectors of {size:,} numbers over {len(points):,} words"
    most = 2 * max(1, _MOST_NUMBERS // max(size, 1))
    rows = at_once(memory, document + entry, fixed, what, most)
    own_points = tensor_of(np.ascontiguousarray(points[:, :width]), place)
    own_shares = tensor_of(shares, place)
    fine_shares = own_shares.double()
    fits = torch.ones((), dtype=torch.bool, device=place)

    def blocks() -> Iterator[tuple[slice, torch.Tensor]]:
        entries = max(1, (memory - fixed) // (2 * entry))
        for block in cut_rows(indptr, max(1, rows // 2), entries):
            own = slice(int(indptr[block.start]), int(indptr[block.stop]))
            starts = tensor_of(indptr[block.start : block.stop + 1] - indptr[block.start], place)
            columns = tensor_of(indices[own], place).long()
            given = tensor_of(counts[own], place)
            parts = coefficients(given, None, starts, "mean")
            share = segment_sums(fine_shares, columns, parts, starts)
            sums = _sums(own_points, own_shares, columns, parts, starts)
            vectors, square = _vectors(scores, share, sums.double(), dimension)
            numbers = torch.arange(len(given), device=place)
            lengths = segment_sums(given[:, None], numbers, torch.ones_like(given), starts)
            vectors = _finished(vectors, lengths[:, 0], square, length_power, power, unit)
            vectors = torch.where(lengths > 0, vectors, 0)
            fits.logical_and_((vectors.abs() <= torch.finfo(torch.float32).max).all())
            yield block, vectors.float()

    out = np.empty((len(indptr) - 1, size), dtype=np.float32)
    write_rows(out, blocks())
    return out, bool(fits)


_SIZES = "mean_scale", "square_scale", "weight_scale"


def _sums(
    points: torch.Tensor,
    shares: torch.Tensor,
    columns: torch.Tensor,
    parts: torch.Tensor,
    starts: torch.Tensor,
) -> torch.Tensor:
    """Return S_i (and Q_i) of each document, (n_documents, n_components, width).

    A word counts for the few components that have a share in it: these pairs are sorted by
    document and component, whose sums are then sums of segments.
    """
    n_documents, n_components = len(starts) - 1, shares.shape[1]
    lengths = starts.diff()
    owners = torch.repeat_interleave(torch.arange(n_documents, device=starts.device), lengths)
    weights = (parts[:, None] * shares[columns]).float()
    entries, components = weights.nonzero(as_tuple=True)
    keys, order = (owners[entries] * n_components + components).sort(stable=True)
    sizes = torch.bincount(keys, minlength=n_documents * n_components)
    ends = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
    kept = weights[entries, components][order]
    found = segment_sums(points, columns[entries[order]], kept, ends)
    return found.view(n_documents, n_components, points.shape[1])


def _vectors(
    scores: dict[str, torch.Tensor], share: torch.Tensor, sums: torch.Tensor, d: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the parts one after another, and the square of their length before centring."""
    found: list[torch.Tensor] = []
    square: Any = torch.zeros(len(sums), dtype=torch.float64, device=sums.device)
    first = sums[..., :d]
    if "mean_scale" in scores:
        along = share
        if "directions" in scores:
            along = torch.einsum("nkd,kd->nk", first, scores["directions"])
        own = scores["mean_scale"] * first
        square = square + own.square().sum(dim=(1, 2))
        own -= scores["mean_centre"] * along[..., None]
        found.append(own.flatten(1))
    if "square_scale" in scores:
        own = scores["square_scale"] * sums[..., d:]
        square = square + own.square().sum(dim=(1, 2))
        own += scores["square_centre"] * share[..., None] - scores["square_slope"] * first
        found.append(own.flatten(1))
    if "weight_scale" in scores:
        own = scores["weight_scale"] * share
        square = square + own.square().sum(dim=1)
        found.append(own - scores["weight_centre"])
    return torch.cat(found, dim=1) if len(found) > 1 else found[0], square


def _finished(
    vectors: torch.Tensor,
    lengths: torch.Tensor,
    square: torch.Tensor,
    length_power: float,
    power: float,
    unit: bool,
) -> torch.Tensor:
    """Return vectors by length, power and norm; one that is but rounding becomes 0."""
    scale = torch.ones_like(lengths)
    if unit:
        nothing = vectors.square().sum(dim=1) <= _LEAST_PART**2 * square
        vectors[nothing] = 0
    elif length_power != 0:
        scale = lengths**length_power
    if power != 1:
        scale = scale**power
        vectors = vectors.sign() * vectors.abs() ** power
    if unit:
        squares = vectors.square().sum(dim=1)
        scale = torch.where(squares > 0, squares.rsqrt(), 0)
    return vectors * scale[:, None]
