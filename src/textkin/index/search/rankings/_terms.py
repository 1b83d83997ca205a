"""Rankings by shared terms, such as BM25 and TF-IDF."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import clone

from textkin import _core
from textkin._base import BoolArray, Float64Array, Int32Array, Norm, check_params, one_of
from textkin.exceptions import ParameterError
from textkin.explain import Contribution, Contributions
from textkin.index.search._feedback import FeedbackRound, as_long_as, moved_words
from textkin.index.search._state import Bag, IndexState
from textkin.index.search._term_space import TermSpace
from textkin.index.search.rankings._base import Ranking, ScoredRows, Scorer, ScorerOf
from textkin.weighting import (
    BM25,
    Idf,
    Tf,
    TfIdf,
    TfIdfParts,
    bm25_saturation,
    inverse_document_frequency,
    resolve_bm25,
    term_frequency,
)

__all__ = ["TermQuery", "TermRanking", "TermScorer"]

Weighting: TypeAlias = Literal["counts", "binary"] | TfIdf | BM25
TermMetric: TypeAlias = Literal["inner", "cosine"]


class TermRanking(Ranking):
    """Ranking by the weighted terms that query and document share, such as BM25 or TF-IDF.

    Parameters
    ----------
    weighting : {"counts", "binary"}, TfIdf or BM25, default=None
        Weighting of words. Only the parameters of an estimator are used; the statistics are always
        the statistics of the index, even if the estimator is fitted. If None, ``BM25(k1=1.5)`` in
        an index with a language, and ``BM25()`` in an index of whole words.
    metric : {"inner", "cosine"}, default="inner"
        Score: inner product of query and document, or cosine similarity.
    """

    def __init__(self, weighting: Weighting | None = None, metric: TermMetric = "inner") -> None:
        self._is_default = weighting is None
        chosen: Weighting = BM25() if weighting is None else weighting
        if isinstance(chosen, TfIdf | BM25):
            check_params(chosen)
            _check_supported(chosen)
        else:
            one_of("counts", "binary").check("weighting", chosen)
        one_of("inner", "cosine").check("metric", metric)
        self.weighting: Weighting = clone(chosen) if isinstance(chosen, TfIdf | BM25) else chosen
        self.metric = metric
        self._key = self._identity()  # cached, because get_params is slow
        self._hash = hash(self._key)

    def weighting_of(self, space: TermSpace) -> Weighting:
        """Return the weighting for a snapshot; the default depends on its analyzer."""
        # Stems have higher counts than words, and 1.5 measures better (docs/choosing.md).
        return BM25(k1=1.5) if self._is_default and space.has_analyzer else self.weighting

    def bind(self, state: IndexState, scorer_of: ScorerOf) -> "TermScorer":
        """Create the scorer that applies this ranking to a snapshot of an index."""
        return TermScorer(self, state)

    def to_json(self) -> dict[str, Any]:
        """Return the type and the parameters of the ranking as a dict of JSON types."""
        chosen = self.weighting
        weighting: str | dict[str, Any] = chosen if isinstance(chosen, str) else {}
        if not isinstance(chosen, str):
            weighting = {"type": type(chosen).__name__, **chosen.get_params()}
        return {
            "type": "terms",
            "weighting": None if self._is_default else weighting,
            "metric": self.metric,
        }

    def _identity(self) -> tuple[object, ...]:
        chosen = self.weighting
        if isinstance(chosen, str):
            return TermRanking, chosen, self.metric
        if self._is_default:
            return TermRanking, None, self.metric
        return TermRanking, type(chosen), tuple(sorted(chosen.get_params().items())), self.metric

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TermRanking) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        weighting = None if self._is_default else self.weighting
        return f"TermRanking({weighting!r}, {self.metric!r})"


class TermQuery(NamedTuple):
    """Query as term numbers with weights."""

    words: Int32Array
    weights: Float64Array


class TermScorer(Scorer[TermQuery]):
    """Scorer of documents by inner products of term weights, computed from postings.

    Parameters
    ----------
    ranking : TermRanking
        Weighting and metric.
    state : IndexState
        Snapshot of the index.

    Notes
    -----
    A document is found if its score, the inner product of its weights and the weights of the query,
    is above 0. The score is a float64 sum over the words of the query in the order of their IDs.
    The core either prunes words and documents by bounds or adds all postings, depending on the
    number of postings; the result is the same. Norms and bounds depend on the statistics of all
    documents, so they are computed once per snapshot of the index.
    """

    def __init__(self, ranking: TermRanking, state: IndexState) -> None:
        self.state = state
        self._space = space = TermSpace(state)
        self._formula, self._query_formula = _formulas_of(ranking.weighting_of(space))
        formula = self._formula
        counted = state.once("counted", lambda: [part.segment.counted for part in state.parts])
        self._idf = self._idf_of(formula)
        same_idf = self._query_formula.idf == formula.idf
        self._query_idf = self._idf if same_idf else self._idf_of(self._query_formula)
        norm = "l2" if ranking.metric == "cosine" else formula.norm
        self._search = _core.TermSearch(
            counted,
            state.live.view(np.uint8),
            self._idf,
            "count" if formula.tf == "max" else formula.tf,
            norm or ("max" if formula.tf == "max" else "none"),
            formula.k1,
            formula.b,
            space.average_length or 1.0,
            space.core,
        )
        self._unit_queries = ranking.metric == "cosine"

    def of_text(self, text: str) -> TermQuery:
        """Convert a query text to its weighted terms."""
        return self._weighted(self._space.bag_of_text(text))

    def of_row(self, row: int) -> TermQuery:
        """Convert a document of the index to its weighted terms, as a query."""
        return self._weighted(self._space.bag_of_row(row))

    def of_bag(self, bag: Bag, row: int) -> TermQuery:
        """Convert the word counts of a document to weighted terms, as a query."""
        return self._weighted(self._space.converted(bag))

    def of_words(self, weights: Mapping[str, float]) -> TermQuery:
        """Convert words with weights to a query; words that are in no document are dropped."""
        bag = self._space.weighted_bag(weights)
        there = self._space.frequencies[bag.words] > 0
        return TermQuery(bag.words[there], bag.counts[there])

    def words_of(self, query: TermQuery) -> Mapping[str, float]:
        """Return the words of a query with their weights, in descending order of weight."""
        order = np.argsort(-query.weights, kind="stable")
        names = self._space.names(query.words[order])
        return dict(zip(names, query.weights[order].tolist(), strict=True))

    def best(
        self,
        query: TermQuery,
        limit: int,
        threshold: float | None = None,
        rows: BoolArray | None = None,
        algorithm: Literal["auto", "pruned", "dense"] = "auto",
    ) -> ScoredRows:
        """Return the `limit` documents with the best scores for a query, best first.

        Parameters
        ----------
        query, limit, threshold, rows
            As for `Scorer.best`.
        algorithm : {"auto", "pruned", "dense"}, default="auto"
            Algorithm; all give the same result.

        Returns
        -------
        ScoredRows
            Rows with the stats ``postings`` (number of postings of the query words), ``touched``
            (number of postings added) and ``scored`` (number of documents scored).
        """
        allowed = None if rows is None else rows.view(np.uint8)
        found, scores, postings, touched, scored = self._search.best(
            query.words, query.weights, limit, threshold, allowed, algorithm
        )
        stats = {"postings": postings, "touched": touched, "scored": scored}
        return ScoredRows(found, scores, stats)

    def explain(self, query: TermQuery, row: int) -> Contributions:
        """Split the score of a document into one contribution per shared word or term."""
        words, weights = self._search.words_of(row)
        forms = self._space.forms(self.state.bag_of_row(row))
        _, here, there = np.intersect1d(query.words, words, True, return_indices=True)
        names = self._space.names(query.words[here])
        fields = self._fields_of(row)
        parts, score = [], 0.0
        for at, name, asked, weight in zip(
            query.words[here].tolist(), names, query.weights[here], weights[there], strict=True
        ):
            value = float(asked * weight)
            score += value  # the same summation order as in the core
            note = _note(asked, weight, name, forms.get(at))
            parts.append(Contribution(name, value, "; ".join([note, *fields.get(at, ())])))
        return Contributions.of(parts, score)

    def _fields_of(self, row: int) -> dict[int, list[str]]:
        """Return a note by term: its count in each text field, with the weight of the field."""
        fields = self.state.snapshot.text_fields
        if fields is None:
            return {}
        found: dict[int, list[str]] = {}
        (texts,) = self.state.field_texts([row])
        for name, weight, text in zip(fields.names, fields.weights, texts, strict=True):
            bag = self._space.bag_of_text(text)
            for word, count in zip(bag.words.tolist(), bag.counts.tolist(), strict=True):
                times = f" x {weight}" if weight > 1 else ""
                found.setdefault(word, []).append(f"{name} {count:g}{times}")
        return {word: [", ".join(counts)] for word, counts in found.items()}

    def explain_text(self, query: TermQuery, text: str) -> Contributions:
        """Split the score of a text into one contribution per shared word or term."""
        formula, space = self._formula, self._space
        bag = space.bag_of_text(text)
        words, weights = self._weighted(bag, formula, self._idf)
        if formula.tf == "bm25":  # BM25 weights queries and documents differently
            length = float(bag.counts.sum() + sum(bag.unknown.values()))
            saturated = bm25_saturation(
                bag.counts,
                np.full(len(bag.counts), length),
                space.average_length,
                k1=formula.k1,
                b=formula.b,
            )
            words, weights = bag.words, saturated * self._idf[bag.words]
        _, here, there = np.intersect1d(query.words, words, True, return_indices=True)
        forms = space.forms(self.state.bag_of_text(text))
        numbers = query.words[here].tolist()
        pairs = zip(
            numbers,
            space.names(numbers),
            query.weights[here].tolist(),
            weights[there].tolist(),
            strict=True,
        )
        return Contributions.of(
            Contribution(name, asked * weight, _note(asked, weight, name, forms.get(number)))
            for number, name, asked, weight in pairs
        )

    def moved(
        self,
        query: TermQuery,
        relevant: Sequence[int],
        nonrelevant: Sequence[int],
        how: FeedbackRound,
    ) -> TermQuery:
        """Return the query's term weights after Rocchio feedback with length-scaled documents."""

        def vector(row: int) -> tuple[Int32Array, Float64Array]:
            return as_long_as(query, self._search.words_of(row))

        words, weights = moved_words(
            query, [*map(vector, relevant)], [*map(vector, nonrelevant)], how
        )
        if self._unit_queries:
            weights = _divided(weights, "l2")
        return TermQuery(words, weights)

    def _idf_of(self, formula: "_Formula") -> Float64Array:
        idf = inverse_document_frequency(
            self._space.frequencies,
            self.state.n_documents,
            idf=formula.idf,
            floor=formula.floor,
        )
        return idf if formula.divisor == 1 else idf / formula.divisor

    def _weighted(
        self, bag: Bag, formula: "_Formula | None" = None, all_idf: Float64Array | None = None
    ) -> TermQuery:
        """Convert term counts to query weights by a weighting formula."""
        formula = formula or self._query_formula
        words, counts = bag.words, bag.counts
        idf = (self._query_idf if all_idf is None else all_idf)[words]
        if not idf.all():  # words without weight, or in no document after deletions
            known = idf != 0
            words, counts, idf = words[known], counts[known], idf[known]
        if formula.tf == "bm25":
            weights = counts
            if formula.k3 is not None:
                most = formula.k3 + 1  # dividing first avoids overflow of the product
                weights = counts / (formula.k3 / most + counts / most)
        else:
            largest = bag.counts.max(initial=1.0)
            mean = max(float(bag.counts.mean()), 1.0) if len(bag.counts) else 1.0
            weights = term_frequency(counts, formula.tf, largest=largest, average=mean) * idf
            weights = _divided(weights, formula.norm)
        return TermQuery(words, _divided(weights, "l2") if self._unit_queries else weights)


def _note(asked: float, weight: float, name: str, forms: Mapping[str, int] | None) -> str:
    """Return the note of a contribution: its factors, and the words of the term."""
    factors = f"{asked:.3g} x {weight:.3g}"
    if not forms or list(forms) == [name]:
        return factors
    ordered = sorted(forms.items(), key=lambda form: (-form[1], form[0]))
    return f"{factors}; {', '.join(f'{word} {count}' for word, count in ordered)}"


class _Formula(NamedTuple):
    """Weighting formula of documents or of queries, as parameters for the core."""

    tf: Tf | Literal["bm25"]
    idf: Idf
    norm: Norm
    k1: float = 0.0
    b: float = 0.0
    k3: float | None = None
    floor: float | None = None  # smallest IDF of a word
    divisor: float = 1.0  # divisor of the IDF


_DOCUMENT_TF = ("count", "binary", "log", "max")
_WITHOUT_FACTOR = ("robertson", "lucene")  # forms of BM25 without the factor k1 + 1


def _check_supported(chosen: TfIdf | BM25) -> None:
    """Raise if a weighting cannot be computed from postings."""
    hint = "Weight the bags of the index instead: `index.bags()`."
    if isinstance(chosen, BM25):
        resolve_bm25(chosen.variant, chosen.delta)
        if chosen.variant in ("bm25l", "bm25+"):
            raise ParameterError(
                "ranking",
                "a BM25 with variant 'standard', 'robertson', 'lucene' or 'atire'",
                repr(chosen.variant),
                hint,
            )
        return
    documents, queries = chosen.parts(), chosen.parts(of="queries")
    if documents.tf not in _DOCUMENT_TF or "pivoted" in (documents.norm, queries.norm):
        raise ParameterError(
            "ranking",
            "a TfIdf without pivoted norm, and with tf 'count', 'binary', 'log' or 'max' for "
            "documents",
            repr(chosen),
            hint,
        )


def _formulas_of(chosen: Weighting) -> tuple[_Formula, _Formula]:
    """Return the formulas of a weighting for documents and for queries."""
    if isinstance(chosen, BM25):
        idf = chosen.idf or resolve_bm25(chosen.variant, chosen.delta)[0]
        divisor = chosen.k1 + 1 if chosen.variant in _WITHOUT_FACTOR else 1.0
        found = _Formula(
            "bm25", idf, chosen.norm, chosen.k1, chosen.b, chosen.k3, chosen.idf_floor, divisor
        )
        return found, found
    if isinstance(chosen, TfIdf):
        documents, queries = chosen.parts(), chosen.parts(of="queries")
        return _tfidf_formula(documents), _tfidf_formula(queries)
    found = _Formula("count" if chosen == "counts" else "binary", "one", None)
    return found, found


def _tfidf_formula(parts: TfIdfParts) -> _Formula:
    assert parts.norm != "pivoted"  # rejected by `_check_supported`
    return _Formula(parts.tf, parts.idf, parts.norm)


def _divided(weights: Float64Array, norm: Norm) -> Float64Array:
    """Divide weights by their norm; weights of norm 0 stay unchanged."""
    if norm is None or not len(weights):
        return weights
    # Scaling by a power of two is exact, and prevents overflow and underflow of sums and squares.
    largest = float(np.abs(weights).max())
    scaled = np.ldexp(weights, -int(np.frexp(largest)[1]))
    size = float(np.abs(scaled).sum()) if norm == "l1" else float(np.sqrt(scaled @ scaled))
    return scaled / size if size > 0 else weights
