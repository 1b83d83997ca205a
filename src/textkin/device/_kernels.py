"""The bounds of `_bounds` as kernels on CUDA: a program reads a document word by word.

Plain torch gathers a row of costs for every word of every document into memory before it reduces
them; here they go from the cache to registers.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import torch
import triton
import triton.language as tl

from textkin.device._bounds import LEAST_SOFTNESS, LEAST_TOTAL, SMOOTHINGS
from textkin.device._rows import DeviceRows
from textkin.device._tables import FARTHEST

if TYPE_CHECKING:
    from textkin.device._bounds import Asked

__all__ = ["document_side", "query_side", "refined", "sharpened"]

_FARTHEST = tl.constexpr(FARTHEST)
_ROUNDING = tl.constexpr(2.0**-23)
_LEAST_SOFTNESS = tl.constexpr(LEAST_SOFTNESS)
_LEAST_TOTAL = tl.constexpr(LEAST_TOTAL)
_LOG2E = tl.constexpr(1.4426950408889634)
_BYTES = 256 << 20  # for what kernels keep of the words of pairs


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
        # Beyond the last word comes that one again, which changes no minimum.
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


@triton.jit
def _left_of(words, left, table, at, there, column, is_open, N: tl.constexpr):
    """Return the costs of some words of a document, as far as mass is left, and that mass."""
    word = tl.load(words + at, mask=there, other=0).to(tl.int64)
    mass = tl.load(left + at, mask=there, other=0.0)
    cost = tl.load(table + word[:, None] * N + column[None, :]).to(tl.float32)
    return tl.where((mass > 0)[:, None] & is_open[None, :], cost, _FARTHEST), mass


@triton.jit
def _completed(
    words,
    left,
    values,
    table,
    length,
    column,
    share,
    column_values,
    N: tl.constexpr,
    W: tl.constexpr,
):
    """Keep what potentials of the query leave of the document; return all their sum, and sizes."""
    total = tl.zeros((W,), tl.float32)
    size = tl.zeros((W,), tl.float32)
    for j in range(0, length, W):
        at = j + tl.arange(0, W)
        there = at < length
        cost, mass = _left_of(words, left, table, at, there, column, share > 0, N)
        row = tl.where(mass > 0, tl.min(cost - column_values[None, :], 1), 0.0)
        tl.store(values + at, row, mask=there)
        total += mass * row
        size += mass * tl.abs(row)
    tl.debug_barrier()
    value = tl.sum(total) + tl.sum(share * column_values)
    return value, tl.sum(size) + tl.sum(share * tl.abs(column_values))


@triton.jit
def _closeness(values, cost, at, there, column_values, scale):
    """Return the closeness of some words of the document to those of the query."""
    row = tl.load(values + at, mask=there, other=0.0)
    close = tl.exp2((cost - row[:, None] - column_values[None, :]) * scale)
    return row, tl.where(cost < _FARTHEST, close, 0.0)


@triton.jit
def _smooth(
    words,
    left,
    values,
    table,
    length,
    column,
    share,
    column_values,
    softness,
    rounds,
    N: tl.constexpr,
    W: tl.constexpr,
):
    """Return what smooth potentials of the document leave of the query."""
    scale = -_LOG2E / softness
    factors = share
    for _ in range(rounds):
        sums = tl.zeros((W, N), tl.float32)
        for j in range(0, length, W):
            at = j + tl.arange(0, W)
            there = at < length
            cost, mass = _left_of(words, left, table, at, there, column, share > 0, N)
            _, close = _closeness(values, cost, at, there, column_values, scale)
            got = tl.maximum(tl.sum(close * factors[None, :], 1), _LEAST_TOTAL)
            sums += (mass / got)[:, None] * close
        factors = share / tl.maximum(tl.sum(sums, 0), _LEAST_TOTAL)
    columns = tl.full((W, N), _FARTHEST, tl.float32)
    for j in range(0, length, W):
        at = j + tl.arange(0, W)
        there = at < length
        cost, mass = _left_of(words, left, table, at, there, column, share > 0, N)
        row, close = _closeness(values, cost, at, there, column_values, scale)
        got = tl.maximum(tl.sum(close * factors[None, :], 1), _LEAST_TOTAL)
        # Whole numbers, as costs are: so what they leave is exact.
        row = tl.floor(row - softness * tl.log(got))
        row = tl.where(mass > 0, tl.minimum(tl.maximum(row, -_FARTHEST), _FARTHEST), 0.0)
        columns = tl.minimum(columns, cost - row[:, None])
    return tl.where(share > 0, tl.min(columns, 0), 0.0)


@triton.jit
def _sharpened(
    indptr,
    words,
    masses,
    costs,
    shares,
    places,
    queries,
    documents,
    enough,
    firsts,
    left,
    values,
    found,
    stride,
    vocabulary,
    first_softness,
    first_rounds,
    second_softness,
    second_rounds,
    CANCELS: tl.constexpr,
    N: tl.constexpr,
    W: tl.constexpr,
):
    pair = tl.program_id(0).to(tl.int64)
    q, document = tl.load(queries + pair), tl.load(documents + pair)
    start = tl.load(indptr + document)
    length = (tl.load(indptr + document + 1) - start).to(tl.int32)
    words += start
    masses += start
    left += tl.load(firsts + pair)
    values += tl.load(firsts + pair)
    column = tl.arange(0, N)
    share = tl.load(shares + q * N + column)
    weights = tl.zeros((W,), tl.float32)
    for j in range(0, length, W):
        at = j + tl.arange(0, W)
        there = at < length
        mass = tl.load(masses + at, mask=there, other=0.0)
        if CANCELS:
            word = tl.load(words + at, mask=there, other=0).to(tl.int64)
            place = tl.load(places + q * vocabulary + word, mask=there, other=0).to(tl.int32) - 1
            theirs = tl.load(shares + q * N + place, mask=place >= 0, other=0.0)
            common = tl.minimum(mass, theirs)
            share -= tl.sum(tl.where(place[:, None] == column[None, :], common[:, None], 0.0), 0)
            mass -= common
        tl.store(left + at, mass, mask=there)
        weights += mass
    share = tl.maximum(share, 0.0)
    tl.debug_barrier()
    table = costs + q * stride
    columns = tl.full((W, N), _FARTHEST, tl.float32)
    for j in range(0, length, W):
        at = j + tl.arange(0, W)
        there = at < length
        cost, _ = _left_of(words, left, table, at, there, column, share > 0, N)
        row = tl.min(cost, 1)
        columns = tl.minimum(columns, cost - tl.where(row < _FARTHEST, row, 0.0)[:, None])
    column_values = tl.where(share > 0, tl.min(columns, 0), 0.0)
    value, size = _completed(words, left, values, table, length, column, share, column_values, N, W)
    lost = (length + N + 16).to(tl.float32) * _ROUNDING
    bound = value - size * lost
    mean = value / tl.maximum(tl.sum(weights), _LEAST_TOTAL)
    limit = tl.load(enough + pair) + _FARTHEST * 4 * _ROUNDING
    for stage in range(2):
        if bound <= limit:
            share_of_mean = tl.where(stage == 0, first_softness, second_softness)
            rounds = tl.where(stage == 0, first_rounds, second_rounds)
            softness = tl.maximum(share_of_mean * mean, _LEAST_SOFTNESS)
            column_values = _smooth(
                words, left, values, table, length, column, share, column_values, softness, rounds,
                N, W,
            )  # fmt: skip
            value, size = _completed(
                words, left, values, table, length, column, share, column_values, N, W
            )
            bound = tl.maximum(bound, value - size * lost)
    tl.store(found + pair, tl.maximum(bound - _FARTHEST * 4 * _ROUNDING, 0.0))


def document_side(rows: DeviceRows, nearest: torch.Tensor, *, wide: bool = False) -> torch.Tensor:
    """See `_bounds.document_side`."""
    queries = nearest.shape[1]
    padded = triton.next_power_of_2(queries)
    nearest = torch.nn.functional.pad(nearest, (0, padded - queries)).contiguous()
    kind = torch.float64 if wide else torch.float32
    found = torch.empty(len(rows), padded, dtype=kind, device=nearest.device)
    if len(rows):
        tile = max(256 // padded, 4)
        with torch.cuda.device(nearest.device):  # Triton launches on the current one
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
    rows: DeviceRows, asked: "Asked", *, wide: bool = False, tile: int = 0, warps: int = 0
) -> torch.Tensor:
    """See `_bounds.query_side`."""
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
    asked: "Asked",
    queries: torch.Tensor,
    documents: torch.Tensor,
    tile: int = 0,
    warps: int = 0,
) -> torch.Tensor:
    """See `_bounds.refined`."""
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


def sharpened(
    rows: DeviceRows,
    asked: "Asked",
    queries: torch.Tensor,
    documents: torch.Tensor,
    enough: torch.Tensor,
    tile: int = 0,
    warps: int = 0,
) -> torch.Tensor:
    """See `_bounds.sharpened`."""
    found = torch.empty(len(queries), dtype=torch.float32, device=asked.shares.device)
    width = asked.width
    tile = tile or max(512 // width, 1)
    warps = warps or (1 if width <= 64 else 4)
    cancels = asked.places is not None
    (first_softness, first_rounds), (second_softness, second_rounds) = SMOOTHINGS
    ends = rows.lengths[documents].long().cumsum(0)
    with torch.cuda.device(found.device):
        for begin, end in _parts(ends, _BYTES // 8):
            firsts = ends[begin:end] - rows.lengths[documents[begin:end]]
            words = int(ends[end - 1] - firsts[0])
            kept = torch.empty((2, words), dtype=torch.float32, device=found.device)
            _sharpened[(end - begin,)](
                rows.indptr,
                rows.words,
                rows.masses,
                asked.costs,
                asked.shares,
                asked.places if cancels else asked.shares,
                queries[begin:end].contiguous(),
                documents[begin:end].contiguous(),
                enough[begin:end].contiguous(),
                firsts - firsts[0],
                kept[0],
                kept[1],
                found[begin:end],
                asked.costs.stride(0),
                asked.costs.shape[1],
                first_softness,
                first_rounds,
                second_softness,
                second_rounds,
                CANCELS=cancels,
                N=width,
                W=tile,
                num_warps=warps,
            )
    return found


def _parts(ends: torch.Tensor, most: int) -> Iterator[tuple[int, int]]:
    """Return where parts begin and end that sum up to about so much, of what has been summed up."""
    if len(ends) == 0:
        return
    parts = torch.div(ends, max(most, 1), rounding_mode="floor")
    cuts = (torch.nonzero(parts[1:] > parts[:-1])[:, 0] + 1).tolist()
    yield from pairwise([0, *cuts, len(ends)])
