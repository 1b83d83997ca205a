"""All pairs of documents that are near, as streams of blocks: never a matrix of all pairs."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from textkin._typing import Float64Array, Int64Array
from textkin._validation import integer, real
from textkin.run import ProgressCallback
from textkin.transport._corpus import Corpus, Options, Rows
from textkin.transport._search import PROGRESS, SearchesDocuments
from textkin.vectors._documents import Documents

__all__ = ["NeighborBlock", "PairBlock", "StreamsPairs", "pair_blocks"]

# Documents whose pairs make a block: enough to share work, few enough to bound memory.
_BLOCK = 256


@dataclass(frozen=True, slots=True, eq=False)
class PairBlock:
    """Some pairs of documents that are near each other.

    Attributes
    ----------
    rows, columns : ndarray of shape (n_pairs,), int64
        Positions in X and in Y (in X again, where there is no Y).
    distances : ndarray of shape (n_pairs,), float64
        Their exact distances; where `algorithm` ranks by a bound, that bound.
    """

    rows: Int64Array
    columns: Int64Array
    distances: Float64Array

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True, eq=False)
class NeighborBlock:
    """The nearest documents of some documents.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,), int64
        Positions in X.
    indices : ndarray of shape (n_rows, min(k, n_documents)), int64
        Positions in Y (in X again, where there is no Y) of the nearest, the nearest first; -1
        where fewer were found.
    distances : ndarray of the same shape, float64
        Their exact distances (where `algorithm` ranks by a bound, that bound); infinity where
        fewer were found.
    counts : ndarray of shape (n_rows,), int64
        How many were found.
    """

    rows: Int64Array
    indices: Int64Array
    distances: Float64Array
    counts: Int64Array

    def __len__(self) -> int:
        return len(self.rows)


class StreamsPairs(SearchesDocuments):
    """A search among documents that are given, not fitted, in blocks."""

    def pairwise_below(
        self,
        X: Documents,
        threshold: float,
        Y: Documents | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Iterator[PairBlock]:
        """Find all pairs of documents that are at most so far apart, block by block.

        Needs no `fit`, unless the masses do. Memory grows with the documents and with the pairs of
        one block, not with all pairs; leaving the loop, or closing the iterator, stops the work.

        With the parameter `algorithm` at "wcd", "rwmd", "rwmd-query" or "rwmd-document" the pairs
        are those whose lower bound is within the threshold, and that bound is what is reported:
        some of them are farther apart than it says.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            n documents.
        threshold : float
            How far the two may be, that far included.
        Y : the same, or None
            m documents; None looks for pairs in `X`, each once (row < column).
        progress : callable, optional
            Called now and then with the documents of `X` that are done, and their number.

        Yields
        ------
        PairBlock
            The pairs of some rows of `X`: rows ascend, and for each row the nearest come first.
            Blocks without pairs are left out.

        Raises
        ------
        EmptyDocumentError
            If a document has no word with a vector and `empty` is "error"; with "inf" it is near
            none.

        Examples
        --------
        >>> from textkin import WordMover
        >>> texts = ["Cats purr", "The stock market fell", "Cats purr!", "Stocks fell sharply"]
        >>> for block in WordMover(unit=True).pairwise_below(texts, 0.9):
        ...     print(block.rows, block.columns, block.distances.round(2))
        [0 1] [2 3] [0.   0.52]
        """
        real(0).check("threshold", threshold)
        PROGRESS.check("progress", progress)
        corpus, queries = self._searched_and_asked(X, Y)
        from_row = np.arange(1, len(queries) + 1, dtype=np.int64) if Y is None else None
        options = self._options(None, float(threshold))
        return pair_blocks(corpus, queries, options, from_row, progress)

    def pairwise_neighbors(
        self,
        X: Documents,
        k: int,
        Y: Documents | None = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Iterator[NeighborBlock]:
        """Find the nearest documents of every document, block by block.

        Needs no `fit`, unless the masses do. Memory grows with the documents, not with their pairs;
        leaving the loop, or closing the iterator, stops the work.

        With the parameter `algorithm` at "wcd", "rwmd", "rwmd-query" or "rwmd-document" the nearest
        are those by that lower bound, and the bound is what is reported.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            n documents.
        k : int
            How many each finds at most; the arrays are no wider than there are documents.
        Y : the same, or None
            Where they are looked for; None: in `X`, and none finds itself.
        progress : callable, optional
            Called now and then with the documents of `X` that are done, and their number.

        Yields
        ------
        NeighborBlock
            Some rows of `X`, in order, each with its nearest documents.

        Raises
        ------
        EmptyDocumentError
            If a document has no word with a vector and `empty` is "error"; with "inf" it finds
            nothing and is never found.

        Examples
        --------
        >>> from textkin import WordMover
        >>> texts = ["Cats purr", "The stock market fell", "Cats purr!", "Stocks fell sharply"]
        >>> for block in WordMover().pairwise_neighbors(texts, 1):
        ...     print(block.rows, block.indices.ravel())
        [0 1 2 3] [2 3 0 1]
        """
        integer(1).check("k", k)
        PROGRESS.check("progress", progress)
        corpus, queries = self._searched_and_asked(X, Y)
        without = np.arange(len(queries), dtype=np.int64) if Y is None else None
        options = self._options(int(k), math.inf)
        return _neighbor_blocks(corpus, queries, options, without, progress)

    def _searched_and_asked(self, X: Documents, Y: Documents | None) -> tuple[Corpus, Rows]:
        space, weights = self._setting()
        asked = self._read(X, "X", space, weights, empty=self.empty)
        if Y is None:
            return asked, asked.rows
        return self._read(Y, "Y", space, weights, empty=self.empty), asked.rows


def pair_blocks(
    corpus: Corpus,
    queries: Rows,
    options: Options,
    from_row: Int64Array | None,
    progress: ProgressCallback | None,
) -> Iterator[PairBlock]:
    found = corpus.batches(queries, options, from_row=from_row, progress=progress, size=_BLOCK)
    for begin, hits in found:
        if len(hits.rows):
            counts = np.diff(hits.starts)
            rows = np.repeat(np.arange(begin, begin + len(counts), dtype=np.int64), counts)
            yield PairBlock(rows, hits.rows, hits.distances)


def _neighbor_blocks(
    corpus: Corpus,
    queries: Rows,
    options: Options,
    without: Int64Array | None,
    progress: ProgressCallback | None,
) -> Iterator[NeighborBlock]:
    width = len(corpus) if options.k is None else min(options.k, len(corpus))
    found = corpus.batches(queries, options, without=without, progress=progress, size=_BLOCK)
    for begin, hits in found:
        counts = np.diff(hits.starts)
        if len(counts):
            rows = np.arange(begin, begin + len(counts), dtype=np.int64)
            yield NeighborBlock(rows, *hits.filled(width), counts)
