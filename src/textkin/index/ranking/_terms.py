"""Rankings by words that query and document share: inner products of weighted bags."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import clone

from textkin import _core
from textkin._typing import BoolArray, Float64Array, Int32Array
from textkin._validation import check_params, one_of
from textkin.explain import Contribution, Contributions
from textkin.index.ranking._feedback import Rocchio, as_long_as, moved_words
from textkin.index.ranking._ranking import Ranked, Ranker, Ranking
from textkin.index.ranking._view import Bag, View
from textkin.weighting import BM25, TfIdf, inverse_document_frequency, term_frequency
from textkin.weighting._formulas import Idf, Tf, parts_of
from textkin.weighting._rows import Norm

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
        self._key = self._identity()  # which takes estimators long
        self._hash = hash(self._key)

    def bind(self, view: View) -> "TermRanker":
        """Weigh the documents of a view."""
        return TermRanker(self, view)

    def _identity(self) -> tuple[object, ...]:
        chosen = self.weighting
        if isinstance(chosen, str):
            return TermRanking, chosen, self.measure
        return TermRanking, type(chosen), tuple(sorted(chosen.get_params().items())), self.measure

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TermRanking) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"TermRanking({self.weighting!r}, {self.measure!r})"


class TermQuery(NamedTuple):
    """Words with weights: the other side of the inner product."""

    words: Int32Array
    weights: Float64Array


class TermRanker(Ranker[TermQuery]):
    """The postings of a view with what they weigh.

    Parameters
    ----------
    ranking : TermRanking
        How they are weighted.
    view : View
        The documents.

    Notes
    -----
    A document is found if its score, the inner product of its weights with those of the query, is
    above 0. It is the sum over the query's words by their numbers, in float64, whichever way it is
    found: by bounds that leave out words and documents that cannot matter, or by adding up all
    postings (the core chooses by how many there are). Norms and bounds depend on the statistics of
    all documents, so they are made once for each state of the index.
    """

    def __init__(self, ranking: TermRanking, view: View) -> None:
        self.view = view
        self._formula = _formula_of(ranking)
        formula = self._formula
        counted = view.once("counted", lambda: [part.segment.counted for part in view.parts])
        self._idf: Float64Array = inverse_document_frequency(
            view.frequencies, view.n_documents, idf=formula.idf
        )
        norm = "l2" if ranking.measure == "cosine" else formula.norm
        self._search = _core.TermSearch(
            counted,
            view.live.view(np.uint8),
            self._idf,
            "count" if formula.tf == "max" else formula.tf,
            norm or ("max" if formula.tf == "max" else "none"),
            formula.k1,
            formula.b,
            view.average_length or 1.0,
        )
        self._unit_queries = ranking.measure == "cosine"

    def of_text(self, text: str) -> TermQuery:
        """Weigh the words of a text."""
        return self._weighted(self.view.bag_of_text(text))

    def of_row(self, row: int) -> TermQuery:
        """Weigh the words of a document."""
        return self._weighted(self.view.bag_of_row(row))

    def of_words(self, weights: Mapping[str, float]) -> TermQuery:
        """Take weights as they are; words that no document has are left out."""
        bag = self.view.weighted_bag(dict(weights))
        there = self.view.frequencies[bag.words] > 0
        return TermQuery(bag.words[there], bag.counts[there])

    def words_of(self, query: TermQuery) -> Mapping[str, float]:
        """Return the words of a query with their weights."""
        order = np.argsort(-query.weights, kind="stable")
        names = self.view.names(query.words[order])
        return dict(zip(names, query.weights[order].tolist(), strict=True))

    def best(
        self,
        query: TermQuery,
        limit: int,
        threshold: float | None = None,
        rows: BoolArray | None = None,
        algorithm: Literal["auto", "pruned", "dense"] = "auto",
    ) -> Ranked:
        """Find the best documents.

        Parameters
        ----------
        query, limit, threshold, rows
            As for every ranker.
        algorithm : {"auto", "pruned", "dense"}, default="auto"
            How: the answer is the same.

        Returns
        -------
        Ranked
            With the numbers ``postings`` (of the query's words), ``touched`` (of these, how many
            were added up) and ``scored`` (documents whose score was computed).
        """
        allowed = None if rows is None else rows.view(np.uint8)
        found, scores, postings, touched, scored = self._search.best(
            query.words, query.weights, limit, threshold, allowed, algorithm
        )
        stats = {"postings": postings, "touched": touched, "scored": scored}
        return Ranked(found, scores, stats)

    def explain(self, query: TermQuery, row: int) -> Contributions:
        """Return what each shared word adds."""
        words, weights = self._search.words_of(row)
        _, here, there = np.intersect1d(query.words, words, True, return_indices=True)
        names = self.view.names(query.words[here])
        parts, score = [], 0.0
        for name, asked, weight in zip(names, query.weights[here], weights[there], strict=True):
            value = float(asked * weight)
            score += value  # in the order of the core
            parts.append(Contribution(name, value, f"{asked:.3g} x {weight:.3g}"))
        return Contributions.of(parts, score)

    def moved(
        self,
        query: TermQuery,
        relevant: Sequence[int],
        nonrelevant: Sequence[int],
        how: Rocchio,
    ) -> TermQuery:
        """Move the weights towards documents of the length of the query."""

        def vector(row: int) -> tuple[Int32Array, Float64Array]:
            return as_long_as(query, self._search.words_of(row))

        words, weights = moved_words(
            query, [*map(vector, relevant)], [*map(vector, nonrelevant)], how
        )
        if self._unit_queries:
            weights = _divided(weights, "l2")
        return TermQuery(words, weights)

    def _weighted(self, bag: Bag) -> TermQuery:
        words, counts, formula = bag.words, bag.counts, self._formula
        idf = self._idf[words]
        if not idf.all():  # words that weigh nothing, or that no document has any more
            known = idf != 0
            words, counts, idf = words[known], counts[known], idf[known]
        if formula.tf == "bm25":
            weights = counts
            if formula.k3 is not None:
                most = formula.k3 + 1  # divided by, since its product may be too large
                weights = counts / (formula.k3 / most + counts / most)
        else:
            largest = bag.counts.max(initial=1.0) if formula.tf == "max" else None
            weights = term_frequency(counts, formula.tf, largest=largest) * idf
            weights = _divided(weights, formula.norm)
        return TermQuery(words, _divided(weights, "l2") if self._unit_queries else weights)


class _Formula(NamedTuple):
    """The parts of a weighting."""

    tf: Tf | Literal["bm25"]
    idf: Idf
    norm: Norm
    k1: float = 0.0
    b: float = 0.0
    k3: float | None = None


def _formula_of(ranking: TermRanking) -> _Formula:
    chosen = ranking.weighting
    if isinstance(chosen, BM25):
        return _Formula("bm25", chosen.idf, chosen.norm, chosen.k1, chosen.b, chosen.k3)
    if isinstance(chosen, TfIdf):
        return _Formula(chosen._tf(), chosen.idf or parts_of(chosen.variant)[1], chosen.norm)
    return _Formula("count" if chosen == "counts" else "binary", "one", None)


def _divided(weights: Float64Array, norm: Norm) -> Float64Array:
    """Divide weights by their norm, unless it is 0."""
    if norm is None or not len(weights):
        return weights
    # A power of two changes no digit, and no sum or square is then too large or too small.
    largest = float(np.abs(weights).max())
    scaled = np.ldexp(weights, -int(np.frexp(largest)[1]))
    size = float(np.abs(scaled).sum()) if norm == "l1" else float(np.sqrt(scaled @ scaled))
    return scaled / size if size > 0 else weights
