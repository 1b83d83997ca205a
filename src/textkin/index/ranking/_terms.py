"""Rankings by words that query and document share: inner products of weighted bags."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import clone

from textkin._typing import Bags, BoolArray, Float64Array, Int32Array
from textkin._validation import check_params, one_of
from textkin.explain import Contribution, Contributions
from textkin.index.ranking._feedback import Rocchio, as_long_as, moved_words
from textkin.index.ranking._ranking import Ranked, Ranker, Ranking
from textkin.index.ranking._view import Bag, View
from textkin.weighting import BM25, TfIdf

__all__ = ["TermQuery", "TermRanker", "TermRanking"]

Weighting: TypeAlias = Literal["counts", "binary"] | TfIdf | BM25
Measure: TypeAlias = Literal["inner", "cosine"]


class TermRanking(Ranking):
    """Rank by the words that query and document share, weighted.

    Parameters
    ----------
    weighting : {"counts", "binary"}, TfIdf or BM25, default=BM25()
        How words are weighted. An estimator is taken for its parameters; its statistics are those
        of the index, whatever it was fitted on.
    measure : {"inner", "cosine"}, default="inner"
        The score: the inner product of query and document, or their cosine.
    """

    def __init__(self, weighting: Weighting | None = None, measure: Measure = "inner") -> None:
        chosen: Weighting = BM25() if weighting is None else weighting
        if isinstance(chosen, TfIdf | BM25):
            check_params(chosen)
        else:
            one_of("counts", "binary").check("weighting", chosen)
        one_of("inner", "cosine").check("measure", measure)
        self.weighting: Weighting = clone(chosen) if isinstance(chosen, TfIdf | BM25) else chosen
        self.measure = measure

    def bind(self, view: View) -> "TermRanker":
        """Weigh the documents of a view."""
        return TermRanker(self, view)

    def _key(self) -> tuple[object, ...]:
        chosen = self.weighting
        if isinstance(chosen, str):
            return TermRanking, chosen, self.measure
        return TermRanking, type(chosen), tuple(sorted(chosen.get_params().items())), self.measure

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TermRanking) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"TermRanking({self.weighting!r}, {self.measure!r})"


class TermQuery(NamedTuple):
    """Words with weights: the other side of the inner product."""

    words: Int32Array
    weights: Float64Array


class TermRanker(Ranker[TermQuery]):
    """The documents of a view as weighted bags.

    Parameters
    ----------
    ranking : TermRanking
        How they are weighted.
    view : View
        The documents.
    """

    def __init__(self, ranking: TermRanking, view: View) -> None:
        self.view = view
        self._ranking = ranking
        chosen = ranking.weighting
        if chosen == "counts":
            self._weighting: TfIdf | BM25 = TfIdf(tf="count", idf="one", norm=None)
        elif chosen == "binary":
            self._weighting = TfIdf(tf="binary", idf="one", norm=None)
        else:
            assert not isinstance(chosen, str)
            self._weighting = clone(chosen)
        every = _all_rows(view).astype(np.float64)
        self._weighting.fit(every[np.flatnonzero(view.live)])
        self._documents: Bags = self._weighting.transform(every)
        if ranking.measure == "cosine":
            self._documents = _unit(self._documents)

    def of_text(self, text: str) -> TermQuery:
        """Weigh the words of a text."""
        return self._weighted(self.view.bag_of_text(text))

    def of_row(self, row: int) -> TermQuery:
        """Weigh the words of a document."""
        return self._weighted(self.view.bag_of_row(row))

    def of_words(self, weights: Mapping[str, float]) -> TermQuery:
        """Take weights as they are."""
        bag = self.view.weighted_bag(dict(weights))
        return TermQuery(bag.words, bag.counts)

    def words_of(self, query: TermQuery) -> Mapping[str, float]:
        """Return the words of a query with their weights."""
        order = np.argsort(-query.weights, kind="stable")
        return {self.view.words[query.words[at]]: float(query.weights[at]) for at in order}

    def best(
        self,
        query: TermQuery,
        limit: int,
        threshold: float | None = None,
        rows: BoolArray | None = None,
    ) -> Ranked:
        """Score every document."""
        scores = self._documents[:, query.words] @ query.weights
        found = self.view.live & (scores > 0)
        if rows is not None:
            found &= rows
        if threshold is not None:
            found &= scores >= threshold
        places = np.flatnonzero(found)
        order = places[np.argsort(-scores[places], kind="stable")[:limit]]
        return Ranked(order, scores[order])

    def explain(self, query: TermQuery, row: int) -> Contributions:
        """Return what each shared word adds."""
        there = self._documents[[row]][:, query.words].toarray()[0]
        parts = [
            Contribution(
                self.view.words[word], float(weight * value), f"{weight:.3g} x {value:.3g}"
            )
            for word, weight, value in zip(query.words, query.weights, there, strict=True)
            if value
        ]
        return Contributions.of(parts)

    def moved(
        self,
        query: TermQuery,
        relevant: Sequence[int],
        nonrelevant: Sequence[int],
        how: Rocchio,
    ) -> TermQuery:
        """Move the weights towards documents of the length of the query."""

        def vector(row: int) -> tuple[Int32Array, Float64Array]:
            found = self._documents[[row]]
            return as_long_as(query, (found.indices, found.data.astype(np.float64)))

        words, weights = moved_words(
            query, [*map(vector, relevant)], [*map(vector, nonrelevant)], how
        )
        if self._ranking.measure == "cosine":
            weights = _unit_length(weights)
        return TermQuery(words, weights)

    def _weighted(self, bag: Bag) -> TermQuery:
        row = sparse.csr_array(
            (bag.counts, bag.words, np.array([0, len(bag.words)])), shape=(1, self.view.n_words)
        )
        if isinstance(self._weighting, BM25):
            found = self._weighting.transform_queries(row)
            known = self._weighting.idf_[found.indices] != 0
        else:
            found = self._weighting.transform(row)
            known = np.ones(found.nnz, np.bool_)
        weights = found.data[known].astype(np.float64)
        if self._ranking.measure == "cosine":
            weights = _unit_length(weights)
        return TermQuery(found.indices[known].astype(np.int32), weights)


def _all_rows(view: View) -> Bags:
    blocks = []
    for part in view.parts:
        indptr, indices, counts = part.segment.bags
        blocks.append(
            sparse.csr_array((counts, indices, indptr), shape=(part.segment.rows, view.n_words))
        )
    return sparse.vstack(blocks, format="csr")


def _unit(bags: Bags) -> Bags:
    lengths = np.sqrt(np.asarray(bags.multiply(bags).sum(axis=1)).ravel())
    return sparse.csr_array(sparse.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ bags)


def _unit_length(weights: Float64Array) -> Float64Array:
    length = float(np.sqrt(weights @ weights))
    return weights / length if length > 0 else weights
