"""CUDA kernels (Triton) of the lower bounds in `_bounds`; a program handles one document.

Plain torch gathers a row of costs for every word of every document in memory before it reduces
them; the kernels load them from the cache to registers.
"""

from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

from textkin.transport.gpu._costs import FARTHEST
from textkin.transport.gpu._rows import DeviceRows

if TYPE_CHECKING:
    from textkin.transport.gpu._bounds import PaddedQueries

__all__ = ["document_side", "query_side", "refined"]

_FARTHEST = tl.constexpr(FARTHEST)
_ROUNDING = tl.constexpr(2.0**-23)


@triton.jit
def _document_side(
    indptr, words, masses, nearest, found, SUM: tl.constexpr, Q: tl.constexpr, W: tl.constexpr
):
    document = tl.program_id(0).to(tl.int64)
    start, end = tl.load(indptr + document), tl.load(indptr + document + 1)
    query = tl.arange(0, Q)
    sums = tl.zeros((W, Q), SUM)
    for j in range(start, end, W):
        at = j + tl.arange(0, W)
        there = at < end
        word = tl.load(words + at, mask=there, other=0).to(tl.int64)
        mass = tl.load(masses + at, mask=there, other=0.0)
        least = tl.load(nearest + word[:, None] * Q + query[None, :])
        sums += mass[:, None].to(SUM) * least.to(SUM)
    tl.store(found + document * Q + query, tl.sum(sums, 0))


@triton.jit
def _query_side(
    indptr,
    words,
    costs,
    shares,
    found,
    documents,
    stride,
    FAR: tl.constexpr,
    SUM: tl.constexpr,
    N: tl.constexpr,
    W: tl.constexpr,
):
    document = tl.program_id(0).to(tl.int64)
    q = tl.program_id(1).to(tl.int64)
    start, end = tl.load(indptr + document), tl.load(indptr + document + 1)
    column = tl.arange(0, N)
    table = costs + q * stride
    least = tl.full((W, N), FAR, costs.dtype.element_ty)
    for j in range(start, end, W):
        # Past the last word, the last word is repeated, which does not change the minimum.
        at = tl.minimum(j + tl.arange(0, W), end - 1)
        word = tl.load(words + at).to(tl.int64)
        least = tl.minimum(least, tl.load(table + word[:, None] * N + column[None, :]))
    share = tl.load(shares + q * N + column)
    total = tl.sum(tl.min(least, 0).to(SUM) * share.to(SUM))
    tl.store(found + q * documents + document, total)


@triton.jit
def _refined(
    indptr,
    words,
    masses,
    costs,
    shares,
    places,
    queries,
    documents,
    found,
    stride,
    vocabulary,
    CANCELS: tl.constexpr,
    N: tl.constexpr,
    W: tl.constexpr,
):
    pair = tl.program_id(0).to(tl.int64)
    q, document = tl.load(queries + pair), tl.load(documents + pair)
    start, end = tl.load(indptr + document), tl.load(indptr + document + 1)
    column = tl.arange(0, N)
    share = tl.load(shares + q * N + column)
    left = share
    if CANCELS:
        for j in range(start, end, W):
            at = j + tl.arange(0, W)
            there = at < end
            word = tl.load(words + at, mask=there, other=0).to(tl.int64)
            mass = tl.load(masses + at, mask=there, other=0.0)
            place = tl.load(places + q * vocabulary + word, mask=there, other=0).to(tl.int32) - 1
            theirs = tl.load(shares + q * N + place, mask=place >= 0, other=0.0)
            common = tl.minimum(mass, theirs)
            left -= tl.sum(tl.where(place[:, None] == column[None, :], common[:, None], 0.0), 0)
    is_open = left > 0
    table = costs + q * stride
    by_rows = tl.zeros((W,), tl.float32)
    by_column = tl.full((W, N), _FARTHEST, tl.int32)
    columns_then = tl.full((W, N), _FARTHEST, tl.int32)
    for j in range(start, end, W):
        at = j + tl.arange(0, W)
        there = at < end
        word = tl.load(words + at, mask=there, other=0).to(tl.int64)
        mass = tl.load(masses + at, mask=there, other=0.0)
        if CANCELS:
            place = tl.load(places + q * vocabulary + word, mask=there, other=0).to(tl.int32) - 1
            mass -= tl.minimum(mass, tl.load(shares + q * N + place, mask=place >= 0, other=0.0))
        cost = tl.load(table + word[:, None] * N + column[None, :]).to(tl.int32)
        cost = tl.where((mass > 0)[:, None] & is_open[None, :], cost, _FARTHEST)
        by_row = tl.min(cost, 1)
        by_row = tl.where(by_row < _FARTHEST, by_row, 0)
        by_rows += mass * by_row.to(tl.float32)
        by_column = tl.minimum(by_column, cost)
        columns_then = tl.minimum(columns_then, cost - by_row[:, None])
    open_share = tl.where(is_open, left, 0.0)
    least = tl.min(by_column, 0)
    least = tl.where(least < _FARTHEST, least, 0)
    first = tl.sum(by_rows) + tl.sum(open_share * tl.min(columns_then, 0).to(tl.float32))
    rows_then = tl.zeros((W,), tl.float32)
    for j in range(start, end, W):
        at = j + tl.arange(0, W)
        there = at < end
        word = tl.load(words + at, mask=there, other=0).to(tl.int64)
        mass = tl.load(masses + at, mask=there, other=0.0)
        if CANCELS:
            place = tl.load(places + q * vocabulary + word, mask=there, other=0).to(tl.int32) - 1
            mass -= tl.minimum(mass, tl.load(shares + q * N + place, mask=place >= 0, other=0.0))
        cost = tl.load(table + word[:, None] * N + column[None, :]).to(tl.int32)
        cost = tl.where((mass > 0)[:, None] & is_open[None, :], cost, _FARTHEST)
        rest = tl.min(cost - least[None, :], 1)
        rows_then += tl.where(mass > 0, mass * rest.to(tl.float32), 0.0)
    second = tl.sum(open_share * least.to(tl.float32)) + tl.sum(rows_then)
    lost = (end - start + N + 16).to(tl.float32) * _ROUNDING
    bound = tl.maximum(first, second) * (1 - lost) - _FARTHEST * 4 * _ROUNDING
    tl.store(found + pair, tl.maximum(bound, 0.0))


def document_side(rows: DeviceRows, nearest: torch.Tensor, *, wide: bool = False) -> torch.Tensor:
    """Compute the relaxed bound from the document side with a CUDA kernel; see `_bounds`."""
    queries = nearest.shape[1]
    padded = triton.next_power_of_2(queries)
    nearest = torch.nn.functional.pad(nearest, (0, padded - queries)).contiguous()
    kind = torch.float64 if wide else torch.float32
    found = torch.empty(len(rows), padded, dtype=kind, device=nearest.device)
    if len(rows):
        tile = max(256 // padded, 4)
        with torch.cuda.device(nearest.device):  # Triton launches on the current device
            _document_side[(len(rows),)](
                rows.indptr,
                rows.words,
                rows.masses,
                nearest,
                found,
                SUM=tl.float64 if wide else tl.float32,
                Q=padded,
                W=tile,
                num_warps=1,
            )
    return found[:, :queries].T.contiguous()


def query_side(
    rows: DeviceRows, asked: "PaddedQueries", *, wide: bool = False, tile: int = 0, warps: int = 0
) -> torch.Tensor:
    """Compute the relaxed bound from the query side with a CUDA kernel; see `_bounds`."""
    kind = torch.float64 if wide else torch.float32
    found = torch.empty(len(asked), len(rows), dtype=kind, device=asked.shares.device)
    width = asked.width
    tile = tile or max(256 // width, 1)
    warps = warps or (1 if width <= 256 else 4)
    if len(rows) and len(asked):
        with torch.cuda.device(found.device):
            _query_side[(len(rows), len(asked))](
                rows.indptr,
                rows.words,
                asked.costs,
                asked.shares,
                found,
                len(rows),
                asked.costs.stride(0),
                FAR=asked.farthest,
                SUM=tl.float64 if wide else tl.float32,
                N=width,
                W=tile,
                num_warps=warps,
            )
    return found


def refined(
    rows: DeviceRows,
    asked: "PaddedQueries",
    queries: torch.Tensor,
    documents: torch.Tensor,
    tile: int = 0,
    warps: int = 0,
) -> torch.Tensor:
    """Compute the tight lower bound of given pairs with a CUDA kernel; see `_bounds.refined`."""
    found = torch.empty(len(queries), dtype=torch.float32, device=asked.shares.device)
    width = asked.width
    tile = tile or max(512 // width, 1)
    warps = warps or (1 if width <= 64 else 4)
    cancels = asked.places is not None
    if len(queries):
        with torch.cuda.device(found.device):
            _refined[(len(queries),)](
                rows.indptr,
                rows.words,
                rows.masses,
                asked.costs,
                asked.shares,
                asked.places if cancels else asked.shares,
                queries.contiguous(),
                documents.contiguous(),
                found,
                asked.costs.stride(0),
                asked.costs.shape[1],
                CANCELS=cancels,
                N=width,
                W=tile,
                num_warps=warps,
            )
    return found
