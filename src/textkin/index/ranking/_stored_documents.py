"""The documents of a state of an index over the word vectors, as transport compares them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from textkin._typing import Float64Array, Int32Array
from textkin.explain import Place
from textkin.index.ranking._snippets import Snippets
from textkin.index.ranking._vector_columns import NO_VECTOR, VectorColumns, space_of_view
from textkin.index.ranking._view import View
from textkin.transport._aligning import placed_words
from textkin.transport._blocks import Blocks
from textkin.transport._masses import fixed_word_weights
from textkin.vectors._encode import Encoded
from textkin.weighting._over_words import tfidf_weights

if TYPE_CHECKING:
    from textkin.index.ranking._transport import TransportRanking

__all__ = ["StoredDocuments"]


class StoredDocuments:
    """The documents of a view as blocks over the word vectors.

    Parameters
    ----------
    ranking : TransportRanking
        Says where words lie and what they weigh.
    view : View
        The documents.

    Attributes
    ----------
    space : Space
        The vectors.
    columns : VectorColumns
        The words.
    weights : ndarray of shape (n_vectors,), float64, or None
        What counts are multiplied by; None is 1.
    blocks : Blocks
        The documents.
    """

    def __init__(self, ranking: "TransportRanking", view: View) -> None:
        self.view = view
        self.space = space_of_view(view, unit=ranking.unit or ranking.cost == "cosine")
        self.columns = VectorColumns(view, ranking.stop_words)
        self.weights = fixed_word_weights(ranking.masses, self.space)
        if isinstance(ranking.masses, str) and ranking.masses == "tfidf" and view.n_documents:
            frequencies = self.columns.document_frequencies(view)
            self.weights = tfidf_weights(frequencies, view.n_documents)
        words = self.columns.words
        self.blocks = Blocks(
            self.space,
            ranking.cost,
            [(*part.segment.bags, part.live.view(np.uint8)) for part in view.parts],
            view.n_words,
            words,
            None if self.weights is None else self.weights[words],  # of no word: any
        )

    def encoded(
        self,
        rows: Int32Array,
        counts: Float64Array,
        names: Sequence[str],
        weights: Float64Array | None,
    ) -> Encoded:
        """Return words that are rows of the vectors, or none, as one document."""
        used = rows >= 0
        words, place = np.unique(rows[used], return_inverse=True)
        missing = np.flatnonzero(rows == NO_VECTOR).tolist()
        unknown = {names[at]: float(counts[at]) for at in missing}
        return Encoded(
            np.array([0, len(words)], np.int64),
            words.astype(np.int32),
            np.bincount(place, counts[used], len(words)).astype(np.float64),
            len(self.space),
            (unknown,),
            weights,
        )

    def of_counts(self, counted: Mapping[str, float]) -> Encoded:
        """Return words with counts, as the index counts them, as a document."""
        names = list(counted)
        counts = np.fromiter(counted.values(), np.float64, len(names))
        return self.encoded(self.columns.lookup(names), counts, names, self.weights)

    def places(self, text: str) -> list[Place]:
        """Return where the words stand that a flow of a text has."""
        forms = Snippets.of(self.view).forms
        return placed_words(text, forms, self.columns.lookup, self.space.name)

    def of_row(self, row: int) -> Encoded:
        """Return a document of the view."""
        bag = self.view.bag_of_row(row)
        rows = self.columns.rows[bag.words]
        names = [
            self.view.words[number] if missing else ""
            for number, missing in zip(bag.words.tolist(), rows == NO_VECTOR, strict=True)
        ]
        return self.encoded(rows, bag.counts, names, self.weights)

    def rows(self) -> Encoded:
        """Return all documents of the view; those that were deleted have no words."""
        kept: list[sparse.csr_array[np.float64]] = []
        for part in self.view.parts:
            indptr, indices, counts = part.segment.bags
            words = self.columns.words[indices]
            there = (words >= 0) & np.repeat(part.live, np.diff(indptr))
            before = np.concatenate([[0], np.cumsum(there)])
            block = sparse.csr_array(
                (counts[there].astype(np.float64), words[there], before[indptr]),
                shape=(len(indptr) - 1, len(self.space)),
            )
            block.sum_duplicates()  # several words of the index may be one of the vectors
            kept.append(block)
        whole = sparse.vstack(kept, format="csr")
        return Encoded(
            whole.indptr.astype(np.int64),
            whole.indices.astype(np.int32),
            whole.data,
            len(self.space),
            (),
            self.weights,
        )
