"""Ranking by latent semantic indexing (LSI) computed from the index; part of hybrids."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from textkin._base import BoolArray, Float64Array, Int32Array, Int64Array
from textkin.explain import Contribution, Contributions
from textkin.index.search._feedback import FeedbackRound
from textkin.index.search._state import IndexState
from textkin.index.search.rankings._base import Ranking, ScoredRows, Scorer, ScorerOf
from textkin.index.search.rankings._terms import TermQuery, TermRanking, TermScorer

__all__ = ["LatentRanking", "LatentScorer"]

_SAMPLE = 8192  # maximum number of documents that the dimensions are computed from
_DIMENSIONS = 50
_ITERATIONS = 7
_OVERSAMPLES = 50  # accurate enough that ranks do not depend on the random start
_BLOCK = 256  # documents scored together
_COUNTS = TermRanking("counts", "inner")


class LatentRanking(Ranking):
    """Ranking by cosine in the space of latent semantic indexing (LSI).

    The dimensions are the first 50 right singular vectors of a matrix of tf-idf weights,
    ``(1 + ln n(d, w)) ln(N / df(w))``, whose rows are scaled to length 1. The rows are all
    documents of an index, or a sample of at most 8,192 of them: the documents at every 2nd, 4th,
    8th, ... position. Queries and documents are folded in.

    References
    ----------
    Deerwester, Dumais, Furnas, Landauer and Harshman, "Indexing by Latent Semantic Analysis",
    JASIS 41, 1990.
    """

    label = "latent semantics"

    def bind(self, state: IndexState, scorer_of: ScorerOf) -> "LatentScorer":
        """Create the scorer that applies this ranking to a snapshot of an index."""
        return LatentScorer(state, scorer_of)

    def to_json(self) -> dict[str, Any]:
        """Return the type and the parameters of the ranking as a dict of JSON types."""
        return {"type": "latent"}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LatentRanking)

    def __hash__(self) -> int:
        return hash(LatentRanking)

    def __repr__(self) -> str:
        return "LatentRanking()"


@dataclass(frozen=True, slots=True, eq=False)
class _Space:
    """LSI space: terms, their weights, and their latent vectors.

    Attributes
    ----------
    sample : bytes
        Positions of the documents that the dimensions were computed from.
    terms : ndarray of int32
        Term numbers in ascending order.
    idf : ndarray of float64
        Inverse document frequency of each term in the sample.
    vectors : ndarray of shape (n_terms, n_dimensions), float64
        Term vectors: the right singular vectors.
    """

    sample: bytes
    terms: Int32Array
    idf: Float64Array
    vectors: Float64Array

    def weighted(self, terms: Int32Array, counts: Float64Array) -> tuple[Int64Array, Float64Array]:
        """Return the known terms' indices in the space, and their L2-normalized weights."""
        at = np.searchsorted(self.terms, terms)
        at[at == len(self.terms)] = 0
        known = (self.terms[at] == terms) & (counts > 0) if len(self.terms) else at < 0
        at, counts = at[known], counts[known]
        # Feedback can give weights below 1, which grow linearly.
        weights = np.where(counts < 1, counts, 1 + np.log(np.maximum(counts, 1))) * self.idf[at]
        length = float(np.linalg.norm(weights))
        return at, weights / length if length else weights

    def vector(self, terms: Int32Array, counts: Float64Array) -> Float64Array:
        """Return the L2-normalized LSI vector of term counts, or 0 without known terms."""
        at, weights = self.weighted(terms, counts)
        return _unit(weights @ self.vectors[at])


class LatentScorer(Scorer[TermQuery]):
    """Scorer of documents by their LSI cosine with a query of term counts.

    Parameters
    ----------
    state : IndexState
        Snapshot of the index.
    scorer_of : callable
        Function that returns the scorer of another ranking.
    """

    def __init__(self, state: IndexState, scorer_of: ScorerOf) -> None:
        self.state = state
        terms = scorer_of(_COUNTS)
        assert isinstance(terms, TermScorer)
        self._terms = terms
        self._mutex = threading.Lock()

    def of_text(self, text: str) -> TermQuery:
        """Convert a query text to its weighted terms."""
        return self._terms.of_text(text)

    def of_row(self, row: int) -> TermQuery:
        """Convert a document of the index to its weighted terms, as a query."""
        return self._terms.of_row(row)

    def of_words(self, weights: Mapping[str, float]) -> TermQuery:
        """Convert words with weights to the representation by which this ranking scores."""
        return self._terms.of_words(weights)

    def words_of(self, query: TermQuery) -> Mapping[str, float]:
        """Return the words of a query with their weights, in descending order of weight."""
        return self._terms.words_of(query)

    def moved(
        self,
        query: TermQuery,
        relevant: Sequence[int],
        nonrelevant: Sequence[int],
        how: FeedbackRound,
    ) -> TermQuery:
        """Return the query's term weights after Rocchio feedback."""
        return self._terms.moved(query, relevant, nonrelevant, how)

    def best(
        self,
        query: TermQuery,
        limit: int,
        threshold: float | None = None,
        rows: BoolArray | None = None,
    ) -> ScoredRows:
        """Return the documents with the highest LSI cosine; all selected documents are scored."""
        space = self._space()
        vector = space.vector(query.words, query.weights)
        live = self.state.live if rows is None else self.state.live & rows
        wanted = np.flatnonzero(live) if vector.any() else np.empty(0, np.int64)
        scores = np.zeros(len(wanted))
        known = np.zeros(len(wanted), np.bool_)
        for first in range(0, len(wanted), _BLOCK):
            block = slice(first, first + _BLOCK)
            vectors = self._vectors(space, wanted[block])
            known[block] = vectors.any(axis=1)
            # One product per row, so that a score does not depend on the other rows.
            scores[block] = np.einsum("ij,j->i", vectors, vector)
        if threshold is not None:
            known &= scores >= threshold
        wanted, scores = wanted[known], scores[known]
        order = np.argsort(-scores, kind="stable")[:limit]
        return ScoredRows(wanted[order], scores[order], {"scored": len(scores)})

    def explain(self, query: TermQuery, row: int) -> Contributions:
        """Split the LSI cosine of a document into one contribution per query word."""
        space = self._space()
        document = self._vectors(space, np.array([row]))[0]
        at, weights = space.weighted(query.words, query.weights)
        folded = weights @ space.vectors[at]
        length = float(np.linalg.norm(folded))
        if not length:
            return Contributions.of([])
        values = (weights / length) * (space.vectors[at] @ document)
        names = self.state_names(space.terms[at])
        parts = [
            Contribution(name, float(value), f"{weight:.3g} x {value / weight:.3g}")
            for name, value, weight in zip(names, values, weights, strict=True)
            if weight
        ]
        score = float(np.einsum("j,j->", document, folded / length))
        return Contributions.of(parts, score)

    def state_names(self, terms: Int32Array) -> list[str]:
        """Return the terms (stems) with the given term numbers."""
        query = TermQuery(terms, np.arange(len(terms), 0, -1, dtype=np.float64))
        return list(self._terms.words_of(query))

    def _vectors(self, space: _Space, rows: Int64Array) -> Float64Array:
        """Return the latent (LSI) vectors of the documents in the given rows."""
        search = self._terms._search
        found = np.zeros((len(rows), space.vectors.shape[1]))
        for at, row in enumerate(rows.tolist()):
            found[at] = space.vector(*search.words_of(row))
        return found

    def _space(self) -> _Space:
        """Return the LSI space of this snapshot, shared by snapshots with the same sample.

        Documents at a position never change, so equal positions have equal terms.
        """
        with self._mutex:
            return self.state.once("latent", self._shared_space)

    def _shared_space(self) -> _Space:
        rows = self._sample()
        sample = self.state.positions[rows].tobytes()
        known = self.state.kept.get("latent")
        if isinstance(known, _Space) and known.sample == sample:
            return known
        made = self.state.kept["latent"] = self._made_space(rows, sample)
        assert isinstance(made, _Space)
        return made

    def _sample(self) -> Int64Array:
        """Return the rows of documents from which the LSI space is computed."""
        rows = np.flatnonzero(self.state.live)
        step = 1
        while np.count_nonzero(self.state.positions[rows] % step == 0) > _SAMPLE:
            step *= 2
        sample: Int64Array = rows[self.state.positions[rows] % step == 0]
        return sample

    def _made_space(self, rows: Int64Array, sample: bytes) -> _Space:
        search = self._terms._search
        found = [search.words_of(int(row)) for row in rows]
        sizes = [len(terms) for terms, _ in found]
        if not sum(sizes):
            return _Space(sample, np.empty(0, np.int32), np.empty(0), np.zeros((0, 1)))
        every = np.concatenate([terms for terms, _ in found])
        counts = np.concatenate([counts for _, counts in found])
        terms, columns = np.unique(every, return_inverse=True)
        idf = np.log(len(found) / np.bincount(columns))
        weights = (1 + np.log(np.maximum(counts, 1))) * idf[columns]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        squares = np.bincount(np.repeat(np.arange(len(found)), sizes), weights**2, len(found))
        weights /= np.repeat(np.sqrt(np.where(squares > 0, squares, 1.0)), sizes)
        matrix = sparse.csr_array((weights, columns, starts), shape=(len(found), len(terms)))
        n_dimensions = min(_DIMENSIONS, *matrix.shape)
        _, values, vectors = randomized_svd(
            matrix, n_dimensions, n_oversamples=_OVERSAMPLES, n_iter=_ITERATIONS, random_state=0
        )
        kept = values > 1e-9 * max(values.max(initial=0.0), 1e-300)
        right = np.ascontiguousarray(vectors[kept].T) if kept.any() else np.zeros((len(terms), 1))
        return _Space(sample, terms.astype(np.int32), idf, right)


def _unit(vector: Float64Array) -> Float64Array:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 1e-12 else np.zeros_like(vector)
