"""A corpus that is searched: its rows, kept small, and the core's search over them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from textkin import _core
from textkin._typing import Float32Array, Float64Array, Int32Array, Int64Array
from textkin.run import ProgressCallback
from textkin.transport._blocks import ALGORITHMS, Algorithm, Blocks, Hits, Options
from textkin.transport._certificate import Certificate
from textkin.transport._costs import CostName
from textkin.vectors._encode import Encoded, shares
from textkin.vectors._space import Space

if TYPE_CHECKING:
    from textkin.transport._device import SearchOnDevice

__all__ = ["ALGORITHMS", "Algorithm", "Corpus", "Hits", "Options", "Rows", "read_only"]

# Queries that the core gets at a time.
_BATCH = 4096
# Ways to search that have bounds of all documents to compute.
_ON_DEVICE = ("auto", "rwmd", "rwmd-query", "rwmd-document")


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Counts of words over the vector table, in as little memory as keeps them exact.

    Attributes
    ----------
    indptr, words : ndarray, int64 and int32
        CSR; words ascend in every row.
    counts : ndarray, float32 where that loses nothing, else float64
        Before they are multiplied with the weights of the words.
    points : ndarray of shape (n_entries, d), float32, or None
        Vectors of the rows' own, one an entry: the words are then numbered on from the last row
        of the vector table, in order.
    """

    indptr: Int64Array
    words: Int32Array
    counts: Float32Array | Float64Array
    points: Float32Array | None = None

    @classmethod
    def of(cls, encoded: Encoded, name: str) -> "Rows":
        """Keep the rows of `encoded`, in memory of their own; refuse counts that are none."""
        wrong = ~(np.isfinite(encoded.counts) & (encoded.counts >= 0))
        if wrong.any():
            at = int(wrong.argmax())
            row = int(np.searchsorted(encoded.indptr, at, side="right")) - 1
            raise ValueError(
                f"Word weights must be finite and not negative; row {row} of {name} has "
                f"{encoded.counts[at]} in column {encoded.indices[at]}."
            )
        with np.errstate(over="ignore", under="ignore"):
            narrow = encoded.counts.astype(np.float32)
        exact = np.array_equal(narrow, encoded.counts)
        return cls(
            encoded.indptr.copy(),
            encoded.indices.astype(np.int32),
            narrow if exact else encoded.counts.copy(),
        )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def part(self, begin: int, end: int) -> "Rows":
        """Return some of the rows, without copying what is large."""
        indptr = self.indptr[begin : end + 1]
        inside = slice(indptr[0], indptr[-1])
        counts = self.counts[inside]
        if self.points is None:
            return Rows(indptr - indptr[0], self.words[inside], counts)
        return Rows(indptr - indptr[0], self.words[: len(counts)], counts, self.points[inside])


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents with the space they lie in: all that distances to them depend on.

    Attributes
    ----------
    space : Space
        The vectors.
    cost : str
        What moving a word costs.
    weights : ndarray of shape (n_words,), float64, or None
        What counts are multiplied by, those of queries too; None is 1.
    rows : Rows
        The documents.
    """

    space: Space
    cost: CostName
    weights: Float64Array | None
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getstate__(self) -> dict[str, Any]:
        made = ("blocks", "_there")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    @cached_property
    def blocks(self) -> Blocks:
        """The documents as the core searches them."""
        rows = self.rows
        block = (rows.indptr, rows.words, rows.counts, None)
        return Blocks(self.space, self.cost, [block], len(self.space), None, self.weights)

    def prepare(self, memory: int) -> None:
        """Do now what the first search would have to do first."""
        self.blocks.prepare(memory)

    def documents(self, rows: Rows) -> _core.Documents:
        """Return rows, of this corpus or of queries, as the core compares them."""
        beyond = len(self.space) + (0 if rows.points is None else len(rows.points))
        return _core.Documents(rows.indptr, rows.words, self._weights(rows), beyond)

    def vectors(self, rows: Rows, words: Int32Array) -> Float32Array:
        """Return the vectors of words that rows, of this corpus or of queries, have."""
        if rows.points is None:
            return self.space.table[words]
        return rows.points[words - len(self.space)]

    def proof(self, query: Rows, row: int) -> Certificate:
        """Return the exact distance of the only query to a document, with plan and potentials."""
        document = self.rows.part(row, row + 1)
        source_words, source_masses = self.masses(query, 0)
        target_words, target_masses = self.masses(document, 0)
        x, y = self.vectors(query, source_words), self.vectors(document, target_words)
        # The words of the two alone, in their order: a word that both have stays one word.
        both = (document, query)
        words, first = np.unique(np.concatenate([of.words for of in both]), return_index=True)
        table = np.concatenate([self.vectors(of, of.words) for of in both])[first]
        b, a = (self._renumbered(of, words) for of in both)
        found = _core.explain(table, a, 0, b, 0, self.cost, None)
        return Certificate(
            found.distance,
            source_masses,
            target_masses,
            found.source,
            found.target,
            found.mass,
            found.source_potentials,
            found.target_potentials,
            self.cost,
            x,
            y,
        )

    def _renumbered(self, rows: Rows, words: Int32Array) -> _core.Documents:
        weights = self._weights(rows)
        heavy = weights > 0
        indptr = np.array([0, np.count_nonzero(heavy)], dtype=np.int64)
        numbers = np.searchsorted(words, rows.words[heavy]).astype(np.int32)
        return _core.Documents(indptr, numbers, weights[heavy], len(words))

    def are_empty(self, rows: Rows) -> NDArray[np.bool_]:
        """Tell which rows, of this corpus or of queries, have nothing to compare."""
        heavy = self._weights(rows) > 0
        before = np.concatenate([[0], np.cumsum(heavy)])
        return np.asarray(before[rows.indptr[1:]] == before[rows.indptr[:-1]])

    def masses(self, rows: Rows, row: int) -> tuple[Int32Array, Float64Array]:
        """Return the words of a row that weigh something, and their shares.

        Words that weigh nothing beside the others are not there for the core either.
        """
        part = rows.part(row, row + 1)
        weights = self._weights(part)
        heavy = np.isin(part.words, self.documents(part).words(0))
        if not heavy.any():
            return part.words[:0], weights[:0]
        return part.words[heavy], shares(weights[heavy])

    def _weights(self, rows: Rows) -> Float64Array:
        counts = rows.counts.astype(np.float64, copy=False)
        return counts if self.weights is None else counts * self.weights[rows.words]

    def search(
        self,
        queries: Rows,
        options: Options,
        *,
        without: Int64Array | None = None,
        progress: ProgressCallback | None = None,
    ) -> Hits:
        """Find the nearest documents of every query; `without` names one that each leaves out."""
        found = self.batches(queries, options, without=without, progress=progress)
        return Hits.joined([hits for _, hits in found])

    def batches(
        self,
        queries: Rows,
        options: Options,
        *,
        without: Int64Array | None = None,
        from_row: Int64Array | None = None,
        progress: ProgressCallback | None = None,
        size: int | None = None,
    ) -> Iterator[tuple[int, Hits]]:
        """Search for some queries after others; give the first of each batch and its hits.

        `from_row` says for each query from which document on it looks.
        """
        total, size = len(queries), size or _BATCH
        for begin in range(0, max(total, 1), size):  # once even if there are no queries
            end = min(begin + size, total)
            part = queries.part(begin, end)
            own = None if without is None else without[begin:end]
            after = None if from_row is None else from_row[begin:end]
            told = _moved_on(progress, begin, total)
            if part.points is None and (there := self._on_device(options)) is not None:
                hits = there.search(self, part, options, without=own, from_row=after, progress=told)
            else:
                hits = self.blocks.search(
                    self.documents(part),
                    options,
                    points=part.points,
                    without=own,
                    from_row=after,
                    progress=told,
                )
            yield begin, hits

    def _on_device(self, options: Options) -> "SearchOnDevice | None":
        """Return the documents on a device, if the search has anything to gain there."""
        if options.device is None:
            self.leave_device()
        if (
            options.device is None
            or options.algorithm not in _ON_DEVICE
            or options.radii is not None
        ):
            return None
        from textkin.transport._device import SearchOnDevice

        where = options.device, options.resident, options.memory
        kept: tuple[object, SearchOnDevice] | None = self.__dict__.get("_there")
        if kept is None or kept[0] != where:
            del kept
            self.leave_device()  # before there are others
            kept = self.__dict__["_there"] = where, SearchOnDevice(self, options)
        return kept[1]

    def leave_device(self) -> None:
        """Give back the memory of a device, if documents are there; a search brings them again."""
        self.__dict__.pop("_there", None)

    def record(
        self, queries: Rows, row: int, options: Options
    ) -> tuple[Hits, NDArray[np.uint8], Float64Array]:
        """Search for one query; give also verdict and value of every document."""
        part = queries.part(row, row + 1)
        return self.blocks.record(self.documents(part), options, part.points)


def read_only(*arrays: NDArray[Any]) -> None:
    """Make arrays read-only, so that what was found stays what was found."""
    for array in arrays:
        array.flags.writeable = False


def _moved_on(
    progress: ProgressCallback | None, before: int, total: int
) -> ProgressCallback | None:
    """Return a callback for a batch that reports the work as a whole."""
    if progress is None:
        return None
    return lambda done, _: progress(before + done, total)
