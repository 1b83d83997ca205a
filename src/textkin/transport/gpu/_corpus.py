"""Documents and word vectors on a GPU, and batches of queries for the bounds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from textkin._base import Float32Array, Int32Array, Int64Array
from textkin.device import free_bytes, torch_device
from textkin.transport.gpu._bounds import PaddedQueries
from textkin.transport.gpu._costs import FARTHEST, Cost, WordTable
from textkin.transport.gpu._rows import DeviceRows, HostRows

if TYPE_CHECKING:
    pass

__all__ = ["WIDEST", "DeviceCorpus", "QueryBatch"]

WIDEST = 2048  # maximum number of words of a query on the GPU; the core handles longer queries
_NARROWEST = 16
_MOST_TOGETHER = 32  # maximum number of queries per batch
_BYTES_OF_ENTRY = 8  # bytes per word of a document
_BYTES_OF_DOCUMENT = 24  # bytes per document, including temporary results of a query
# Share of the free GPU memory for documents. The rest is for tables and temporary results.
_FOR_DOCUMENTS = 0.6


@dataclass(frozen=True, slots=True, eq=False)
class QueryBatch:
    """Batch of queries of similar length that are searched together.

    Attributes
    ----------
    numbers : ndarray of int64
        Positions among all queries.
    width : int
        Number of words per query, padding included.
    """

    numbers: Int64Array
    width: int

    def __len__(self) -> int:
        return len(self.numbers)


class DeviceCorpus:
    """Documents and their word vectors on a GPU, over which bounds are computed.

    Parameters
    ----------
    vectors : ndarray of shape (n_words, d), float32
        Word vectors, including words of queries.
    cost : {"euclidean", "cosine", "sqeuclidean"}
        Cost of moving a word. For the cosine, the vectors must have unit length.
    rows : HostRows
        Documents over the rows of `vectors`.
    device : str
        "cuda", "cuda:1" or "cpu".
    memory : int
        Memory limit for the tables of queries, in bytes.
    resident : int or None, default=None
        GPU memory limit for documents, in bytes; more documents are copied to the GPU in parts,
        again for each batch of searches. If None, 60 % of the free memory.
    """

    def __init__(
        self,
        vectors: Float32Array,
        cost: Cost,
        rows: HostRows,
        *,
        device: str,
        memory: int,
        resident: int | None = None,
    ) -> None:
        self.device = torch_device(device)
        self.vectors = vectors
        self.memory = memory
        used = np.zeros(len(vectors), dtype=bool)
        used[rows.words] = True
        self._words: Int32Array = np.flatnonzero(used).astype(np.int32)
        place = np.full(len(vectors), -1, dtype=np.int32)
        place[self._words] = np.arange(len(self._words), dtype=np.int32)
        self._place = place
        self.rows = HostRows(rows.indptr, place[rows.words], rows.masses)
        largest = float(np.abs(vectors).max()) if vectors.size else 1.0
        self.table = WordTable.of(vectors[self._words], cost, self.device, largest)
        longest = float(np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64).max()))
        reach = 2 * longest * self.table.scale * (1 + 1e-6)
        self.unit = self.table.unit_of(reach)
        if resident is None:
            free = free_bytes(self.device)
            resident = None if free is None else int(free * _FOR_DOCUMENTS)
        size = len(self.rows.words) * _BYTES_OF_ENTRY + len(self.rows) * _BYTES_OF_DOCUMENT
        self._entries = len(self.rows.words)
        if resident is not None and size > resident:
            share = resident / size
            self._entries = max(int(len(self.rows.words) * share), 1)
        self._resident: DeviceRows | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def value(self) -> float:
        """Cost that one integer unit of the cost tables stands for."""
        return self.unit * self.table.factor

    @property
    def n_parts(self) -> int:
        """Number of parts into which the documents are split to fit in GPU memory."""
        if self._entries >= len(self.rows.words):
            return 1
        return sum(1 for _ in self.rows.parts(self._entries))

    def parts(self) -> Iterator[tuple[int, DeviceRows]]:
        """Yield the first row and the documents of each part, copied to the GPU."""
        if self._entries >= len(self.rows.words):
            if self._resident is None:
                self._resident = self.rows.to(self.device)
            yield 0, self._resident
            return
        for begin, part in self.rows.parts(self._entries):
            yield begin, part.to(self.device)

    # ------------------------------------------------------------------ queries

    def batches(self, queries: HostRows, *, bytes_of_cost: int = 2) -> Iterator[QueryBatch]:
        """Yield batches of queries of similar length; queries without words are omitted."""
        lengths = np.diff(queries.indptr)
        widths = np.maximum(_NARROWEST, 2 ** np.ceil(np.log2(np.maximum(lengths, 1))).astype(int))
        documents = min(len(self), self._entries + 1)
        for width in np.unique(widths[lengths > 0]).tolist():
            numbers = np.flatnonzero((widths == width) & (lengths > 0))
            # The table of one query needs a temporary float table.
            for_one = len(self._words) * (width * (bytes_of_cost + 4) + 8)
            for_one += documents * _BYTES_OF_DOCUMENT
            together = int(np.clip(self.memory // (2 * for_one), 1, _MOST_TOGETHER))
            for begin in range(0, len(numbers), together):
                yield QueryBatch(numbers[begin : begin + together], width)

    def lay_out(
        self, queries: HostRows, batch: QueryBatch, *, exactly: bool = False
    ) -> PaddedQueries:
        """Copy a batch of queries to the GPU, and compute its table of costs to all words."""
        import torch

        count, width, words = len(batch), batch.width, len(self._words)
        lengths = np.diff(queries.indptr)[batch.numbers]
        there = np.arange(width) < lengths[:, np.newaxis]
        entries = (queries.indptr[batch.numbers][:, np.newaxis] + np.arange(width))[there]
        numbers = np.zeros((count, width), dtype=np.int32)
        shares = np.zeros((count, width), dtype=np.float32)
        numbers[there], shares[there] = queries.words[entries], queries.masses[entries]
        kind = torch.float32 if exactly else torch.int16
        costs = torch.empty(count, words, width, dtype=kind, device=self.device)
        for q in range(count):
            points = self.table.points(self.vectors[numbers[q]])
            if exactly:
                costs[q] = self.table.costs(points)
            else:
                costs[q] = self.table.lower(points, self.unit)
        empty = torch.tensor(~there, device=self.device)
        costs.masked_fill_(empty[:, None, :], 3e38 if exactly else FARTHEST)
        places = None
        if not exactly and self.table.cost == "euclidean":
            places = torch.zeros(count, words, dtype=torch.int16, device=self.device)
            known = there & (self._place[numbers] >= 0)
            of, number = np.nonzero(known)
            at = torch.tensor(of * words + self._place[numbers[known]], device=self.device)
            numbered = torch.tensor((number + 1).astype(np.int16), device=self.device)
            places.view(-1)[at] = numbered
        return PaddedQueries(costs, torch.tensor(shares, device=self.device), places)
