"""Rankings that combine rankings: weighted sums, reciprocal rank fusion, and cascades.

They rank only candidates: the best documents of one or of all parts. Their scores depend on the
other candidates, and therefore on the filter.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from textkin._base import BoolArray, Float64Array, Int64Array, instance_of, integer, one_of, real
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.explain import Contribution, Contributions, Explanation
from textkin.index.search._feedback import FeedbackRound
from textkin.index.search._state import IndexState
from textkin.index.search.rankings._base import ComparedWords, Ranking, ScoredRows, Scorer, ScorerOf
from textkin.index.search.rankings._latent_ranking import LatentRanking

if TYPE_CHECKING:
    from textkin.index.search._request import RankingLike

__all__ = [
    "Cascade",
    "CombinedRanking",
    "DefaultHybrid",
    "Hybrid",
    "HybridScorer",
    "RankFusion",
    "WeightedSum",
    "best_rows",
    "combination_settings",
]

Pool: TypeAlias = Literal["first", "union"]

Queries: TypeAlias = tuple[Any, ...]
"""Queries of the parts, each in the form of its scorer."""

_Found = TypeVar("_Found")


class CombinedRanking(Ranking):
    """Base class of rankings that combine several rankings, called parts.

    Attributes
    ----------
    parts : tuple of Ranking
        Combined rankings.
    """

    parts: tuple[Ranking, ...]

    @abstractmethod
    def _key(self) -> tuple[object, ...]:
        """Return the values that decide equality and the hash of the ranking."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CombinedRanking) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    @property
    def _names(self) -> list[str | None]:
        # Imported here, because `_request` imports this module.
        from textkin.index.search._request import name_of

        return [name_of(part) for part in self.parts]

    @property
    def labels(self) -> list[str]:
        """Name of each combined ranking, as shown in explanations."""
        return [
            name or str(getattr(part, "label", repr(part)))
            for name, part in zip(self._names, self.parts, strict=True)
        ]

    def _parts_json(self) -> list[str | dict[str, Any]]:
        return [name or part.to_json() for name, part in zip(self._names, self.parts, strict=True)]

    def _shown(self, *rest: str) -> str:
        pairs = zip(self._names, self.parts, strict=True)
        parts = [repr(name or part) for name, part in pairs]
        return f"{type(self).__name__}({', '.join([*self._arguments(parts), *rest])})"

    @abstractmethod
    def _arguments(self, parts: list[str]) -> Iterable[str]:
        """Yield the source code of each constructor argument, for the repr."""


class WeightedSum(CombinedRanking):
    """Ranking by a weighted sum of the parts' scores, each scaled to 0 to 1 per query.

    Scores of each ranking are scaled by their minimum and maximum among the candidates of the
    query: ``s' = (s - min) / (max - min)``. Distances use ``(max - s) / (max - min)``, so that the
    smallest distance becomes 1. If all scores of a ranking are equal, such as the score of a single
    candidate, they become 1: each is the best. A ranking that cannot score a candidate adds 0.
    Every candidate is found, with a score between 0 and the sum of the weights.

    Parameters
    ----------
    weights : mapping of rankings to float
        Factor of the scaled score of each ranking, at least 0. A key can be any ranking that a
        search accepts.
    candidates : int, default=1000
        Maximum number of candidates per ranking. Only candidates are ranked: a search for hits
        beyond them finds nothing, and `Hits.notes` says so.
    pool : {"first", "union"}, default="first"
        Whether the candidates are the best documents of the first ranking, or the union of the
        best documents of all rankings. In both cases, all rankings score all candidates.

    References
    ----------
    Fox and Shaw, "Combination of Multiple Searches", TREC-2, 1994. Zhang, Guo, Lan, Xu and Cheng,
    "Aggregating Neural Word Embeddings for Document Representation", ECIR 2018, equation 13: 0.8 of
    BM25 and 0.2 of a model; they do not specify how scores are scaled.

    Examples
    --------
    >>> from textkin.index import WeightedSum
    >>> WeightedSum({"bm25": 0.8, "tfidf": 0.2}, candidates=100)
    WeightedSum({'bm25': 0.8, 'tfidf': 0.2}, candidates=100, pool='first')
    """

    def __init__(
        self, weights: Mapping[Any, float], *, candidates: int = 1000, pool: Pool = "first"
    ) -> None:
        instance_of(Mapping, "a mapping of rankings to weights").check("weights", weights)
        integer(1).check("candidates", candidates)
        one_of("first", "union").check("pool", pool)
        self.parts = _rankings("weights", list(weights))
        for ranking, weight in weights.items():
            real(0).check(f"the weight of {ranking!r}", weight)
        if not any(weights.values()):
            raise ValueError("weights must have at least one value above 0; got only zeros.")
        self.weights = tuple(float(weight) for weight in weights.values())
        self.candidates = int(candidates)
        self.pool = pool

    def bind(self, state: IndexState, scorer_of: ScorerOf) -> "WeightedSumScorer":
        """Create the scorer of a snapshot from the scorers of the parts."""
        return WeightedSumScorer(self, state, scorer_of)

    def to_json(self) -> dict[str, Any]:
        """Return the type and the parameters of the ranking as a dict of JSON types."""
        return {
            "type": "weighted_sum",
            "parts": self._parts_json(),
            "weights": list(self.weights),
            "candidates": self.candidates,
            "pool": self.pool,
        }

    def _key(self) -> tuple[object, ...]:
        return WeightedSum, self.parts, self.weights, self.candidates, self.pool

    def _arguments(self, parts: list[str]) -> Iterable[str]:
        pairs = zip(parts, self.weights, strict=True)
        yield f"{{{', '.join(f'{part}: {weight:g}' for part, weight in pairs)}}}"

    def __repr__(self) -> str:
        return self._shown(f"candidates={self.candidates}", f"pool={self.pool!r}")


class RankFusion(CombinedRanking):
    """Ranking by reciprocal rank fusion: the sum of ``1 / (c + rank)`` over several rankings.

    Ranks start at 1 and cover the best `candidates` documents of each ranking. Documents with equal
    scores are ranked in the order in which they were added. A document outside the best
    `candidates` of a ranking gets 0 from this ranking.

    Parameters
    ----------
    rankings : sequence of rankings
        Rankings to combine, in any form that a search accepts.
    c : float, default=60
        Constant that reduces the influence of the top ranks; larger values reduce it more.
    candidates : int, default=1000
        Maximum number of candidates per ranking.

    References
    ----------
    Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank
    Learning Methods", SIGIR 2009.

    Examples
    --------
    >>> from textkin.index import RankFusion
    >>> RankFusion(["bm25", "tfidf"])
    RankFusion(['bm25', 'tfidf'], c=60, candidates=1000)
    """

    def __init__(
        self, rankings: "Sequence[RankingLike]", *, c: float = 60.0, candidates: int = 1000
    ) -> None:
        if isinstance(rankings, str) or not isinstance(rankings, Sequence):
            raise ParameterTypeError("rankings", "a list of rankings", type(rankings).__name__)
        real(0).check("c", c)
        integer(1).check("candidates", candidates)
        self.parts = _rankings("rankings", rankings)
        self.c = float(c)
        self.candidates = int(candidates)

    def bind(self, state: IndexState, scorer_of: ScorerOf) -> "RankFusionScorer":
        """Create the scorer of a snapshot from the scorers of the parts."""
        return RankFusionScorer(self, state, scorer_of)

    def to_json(self) -> dict[str, Any]:
        """Return the type and the parameters of the ranking as a dict of JSON types."""
        return {
            "type": "rank_fusion",
            "parts": self._parts_json(),
            "c": self.c,
            "candidates": self.candidates,
        }

    def _key(self) -> tuple[object, ...]:
        return RankFusion, self.parts, self.c, self.candidates

    def _arguments(self, parts: list[str]) -> Iterable[str]:
        yield f"[{', '.join(parts)}]"

    def __repr__(self) -> str:
        return self._shown(f"c={self.c:g}", f"candidates={self.candidates}")


class Cascade(CombinedRanking):
    """Ranking in stages: each stage reranks the best documents of the previous one.

    The scores are the scores of the last stage. A document that a stage cannot score, such as one
    without any word that has a vector, is omitted.

    Parameters
    ----------
    *stages : rankings
        Two or more rankings, from fast to expensive, in any form that a search accepts.
    candidates : int or sequence of int, default=100
        Number of documents that each stage passes to the next: one number per stage except the
        last, or one number for all stages.

    Examples
    --------
    >>> from textkin.index import Cascade
    >>> Cascade("bm25", "tfidf", candidates=100)
    Cascade('bm25', 'tfidf', candidates=100)
    """

    def __init__(self, *stages: "RankingLike", candidates: int | Sequence[int] = 100) -> None:
        self.parts = _rankings("stages", stages)
        self.ascending = self.parts[-1].ascending
        handed_on = len(self.parts) - 1
        each = candidates if isinstance(candidates, list | tuple) else [candidates] * handed_on
        if len(each) != handed_on:
            raise ParameterError(
                "candidates",
                f"one number, or {handed_on} numbers, one per stage except the last",
                str(len(each)),
            )
        for number in each:
            integer(1).check("candidates", number)
        self.candidates = tuple(map(int, each))

    def bind(self, state: IndexState, scorer_of: ScorerOf) -> "CascadeScorer":
        """Create the scorer of a snapshot from the scorers of the stages."""
        return CascadeScorer(self, state, scorer_of)

    def to_json(self) -> dict[str, Any]:
        """Return the type and the parameters of the ranking as a dict of JSON types."""
        return {
            "type": "cascade",
            "parts": self._parts_json(),
            "candidates": list(self.candidates),
        }

    def _key(self) -> tuple[object, ...]:
        return Cascade, self.parts, self.candidates

    def _arguments(self, parts: list[str]) -> Iterable[str]:
        yield from parts

    def __repr__(self) -> str:
        same = len(set(self.candidates)) == 1
        return self._shown(f"candidates={self.candidates[0] if same else list(self.candidates)}")


class Hybrid(CombinedRanking):
    """Ranking that combines several rankings, by scores (weighted sum) or by ranks (RRF).

    Parameters
    ----------
    rankings : sequence of rankings
        Rankings to combine, in any form that a search accepts, such as ``["bm25", "minilm"]``.
    weights : sequence of float or None, default=None
        Weight of each ranking, at least 0. If None, all are equal and sum to 1. `Index.tune` learns
        weights from judged queries.
    fusion : {"scores", "rrf"}, default="scores"
        With "scores", the weighted sum of the scores, each scaled to the range 0 to 1 over the
        candidates, as in `textkin.index.WeightedSum`. With "rrf", reciprocal rank fusion: the
        weighted sum of ``1 / (60 + rank)``, as in `textkin.index.RankFusion`.
    candidates : int, default=1000
        Number of best documents of each ranking that are candidates.

    See Also
    --------
    Index.tune : Learn the weights.

    Examples
    --------
    >>> import tempfile
    >>> import textkin as tk
    >>> folder = tempfile.TemporaryDirectory()
    >>> index = tk.Index.create(f"{folder.name}/pets.kin")
    >>> _ = index.add(["Cats purr at night", "A kitten sleeps", "Stocks fell"])
    >>> hybrid = tk.Hybrid(["bm25", "wmd"], weights=[0.7, 0.3])
    >>> hybrid
    Hybrid(['bm25', 'wmd'], weights=[0.7, 0.3], fusion='scores', candidates=1000)
    >>> index.search("cats sleep", ranking=hybrid, k=2).ids
    ['1', '0']
    >>> index.close()
    >>> folder.cleanup()
    """

    def __init__(
        self,
        rankings: "Sequence[RankingLike]",
        weights: Sequence[float] | None = None,
        *,
        fusion: Literal["scores", "rrf"] = "scores",
        candidates: int = 1000,
    ) -> None:
        if isinstance(rankings, str) or not isinstance(rankings, Sequence):
            raise ParameterTypeError(
                "rankings", "a list of rankings", type(rankings).__name__, 'Pass `["bm25", "wmd"]`.'
            )
        one_of("scores", "rrf").check("fusion", fusion)
        integer(1).check("candidates", candidates)
        self.parts = _rankings("rankings", rankings)
        self.weights = _checked_weights(weights, len(self.parts))
        self.fusion = fusion
        self.candidates = int(candidates)
        if len(set(self.parts)) < len(self.parts):
            raise ParameterError(
                "rankings", "different rankings", "the same ranking twice", "Use weights."
            )

    def bind(self, state: IndexState, scorer_of: ScorerOf) -> "HybridScorer":
        """Create the scorer of a snapshot from the scorers of the parts."""
        most = self.candidates
        if self.fusion == "rrf":
            return RankFusionScorer(
                RankFusion(self.parts, candidates=most), state, scorer_of, self.weights
            )
        pairs = dict(zip(self.parts, self.weights, strict=True))
        added = WeightedSum(pairs, candidates=most, pool="union")
        return WeightedSumScorer(added, state, scorer_of)

    def to_json(self) -> dict[str, Any]:
        """Return the type and the parameters of the ranking as a dict of JSON types."""
        return {
            "type": "hybrid",
            "parts": self._parts_json(),
            "weights": list(self.weights),
            "fusion": self.fusion,
            "candidates": self.candidates,
        }

    def _key(self) -> tuple[object, ...]:
        return Hybrid, self.parts, self.weights, self.fusion, self.candidates

    def _arguments(self, parts: list[str]) -> Iterable[str]:
        yield f"[{', '.join(parts)}]"

    def __repr__(self) -> str:
        weights = ", ".join(f"{weight:g}" for weight in self.weights)
        rest = f"weights=[{weights}]", f"fusion={self.fusion!r}", f"candidates={self.candidates}"
        return self._shown(*rest)


class DefaultHybrid(CombinedRanking):
    """Ranking "hybrid": BM25 with an attached encoder, or BM25 with latent semantic indexing.

    The encoder is the first attached model that takes texts, is not stored in the folder, and is
    available. Without one, the second part is `LatentRanking`, over the 1,000 best documents by
    BM25. An encoder has the weight 0.5, and `LatentRanking` 0.15: with larger weights, most judged
    collections gain more, but one loses (``benchmarks/default_hybrid.py``).
    """

    parts = ()

    def bind(self, state: IndexState, scorer_of: ScorerOf) -> "HybridScorer":
        """Create the scorer of the hybrid that `resolved` returns for a snapshot."""
        found = self.resolved(state)
        if isinstance(found, Hybrid):
            return found.bind(state, scorer_of)
        return WeightedSumScorer(found, state, scorer_of)

    def resolved(self, state: IndexState) -> "Hybrid | WeightedSum":
        """Return the concrete hybrid for a snapshot, which depends on its attached models."""
        from textkin.index.search._request import ranking_of  # imports this module

        models = state.snapshot.models.values()
        bm25 = ranking_of("bm25")
        for record in sorted(models, key=lambda record: record.number):
            encoder = record.takes == "texts" and record.steps == 0 and not record.damage
            if encoder and state.models.can_apply(record):
                return Hybrid([bm25, ranking_of(record.name, state.snapshot.models)])
        return WeightedSum({bm25: 0.85, LatentRanking(): 0.15})

    def to_json(self) -> dict[str, Any]:
        """Return the type and the parameters of the ranking as a dict of JSON types."""
        return {"type": "default_hybrid"}

    def _key(self) -> tuple[object, ...]:
        return (DefaultHybrid,)

    def _arguments(self, parts: list[str]) -> Iterable[str]:
        return ()

    def __repr__(self) -> str:
        return "DefaultHybrid()"


def combination_settings(ranking: CombinedRanking) -> tuple[object, ...]:
    """Return the parameters that define a combined ranking, except for its parts."""
    _, _, *settings = ranking._key()
    return tuple(settings)


def _checked_weights(weights: Sequence[float] | None, n_parts: int) -> tuple[float, ...]:
    """Return one validated weight per part; equal weights if `weights` is None."""
    if weights is None:
        return (1 / n_parts,) * n_parts
    if isinstance(weights, str | Mapping) or not isinstance(weights, Sequence | np.ndarray):
        raise ParameterTypeError(
            "weights", "a list of numbers", type(weights).__name__, "Pass `weights=[0.7, 0.3]`."
        )
    given = list(weights)
    if len(given) != n_parts:
        raise ParameterError(
            "weights", f"{n_parts} numbers, one per ranking", str(len(given)), "Pass None."
        )
    for at, weight in enumerate(given):
        real(0).check(f"weights[{at}]", weight)
    if not any(given):
        raise ParameterError("weights", "numbers with a value above 0", "only zeros", "Pass None.")
    return tuple(map(float, given))


def _rankings(name: str, given: "Sequence[RankingLike]") -> tuple[Ranking, ...]:
    # Imported here, because `_request` imports this module.
    from textkin.index.search._request import ranking_of

    if len(given) < 2:
        raise ParameterError(name, "at least two rankings", str(len(given)))
    return tuple(map(ranking_of, given))


class HybridScorer(Scorer[Queries]):
    """Base class of hybrid scorers, with one scorer and one query per part.

    Parameters
    ----------
    ranking : CombinedRanking
        Ranking that combines rankings.
    state : IndexState
        Snapshot of the index.
    scorer_of : callable
        Function that returns the scorer of a part.
    """

    def __init__(self, ranking: CombinedRanking, state: IndexState, scorer_of: ScorerOf) -> None:
        self.state = state
        self._labels = ranking.labels
        self._name = repr(ranking)
        self._scorers = [scorer_of(part) for part in ranking.parts]
        self._latest: tuple[Queries, BoolArray | None, Any] | None = None

    def of_text(self, text: str) -> Queries:
        """Convert a query text to a tuple with one query for each combined ranking."""
        return tuple(scorer.of_text(text) for scorer in self._scorers)

    def of_embedding(self, vector: Float64Array, text: str | None) -> Queries:
        """Convert a vector and a text to a tuple with one query per combined ranking."""
        return tuple(scorer.of_embedding(vector, text) for scorer in self._scorers)

    @property
    def takes_embeddings(self) -> bool:
        """True if one of the combined rankings uses vectors of an attached model."""
        return any(scorer.takes_embeddings for scorer in self._scorers)

    def of_row(self, row: int) -> Queries:
        """Convert a document to a tuple with one query for each combined ranking."""
        return tuple(scorer.of_row(row) for scorer in self._scorers)

    def of_words(self, weights: Mapping[str, float]) -> Queries:
        """Convert words with weights to a tuple with one query per combined ranking."""
        return tuple(scorer.of_words(weights) for scorer in self._scorers)

    def words_of(self, query: Queries) -> Mapping[str, float] | None:
        """Return the query words of the first part that has words, or None."""
        for scorer, own in zip(self._scorers, query, strict=True):
            words = scorer.words_of(own)
            if words is not None:
                return words
        return None

    def moved(
        self,
        query: Queries,
        relevant: Sequence[int],
        nonrelevant: Sequence[int],
        how: FeedbackRound,
    ) -> Queries:
        """Return the queries of all combined rankings after Rocchio feedback."""
        return tuple(
            scorer.moved(own, relevant, nonrelevant, how)
            for scorer, own in zip(self._scorers, query, strict=True)
        )

    def best(
        self,
        query: Queries,
        limit: int,
        threshold: float | None = None,
        rows: BoolArray | None = None,
    ) -> ScoredRows:
        """Return the best documents among the parts' candidates, best first."""
        ranked, most = self._ranked(query, rows)
        notes = ranked.notes
        if most is not None and limit > most:
            notes = (
                *notes,
                f"{self._name} ranked only its {most:,} candidates, the best documents of its "
                "parts.",
            )
        if threshold is not None:
            near = ranked.scores <= threshold if self.ascending else ranked.scores >= threshold
            ranked = ScoredRows(ranked.rows[near], ranked.scores[near], ranked.stats)
        return ScoredRows(ranked.rows[:limit], ranked.scores[:limit], ranked.stats, notes)

    def explain(self, query: Queries, row: int) -> Explanation:
        """Explain the score of a document as a sum over the parts, without a filter."""
        return self.explain_among(query, row, None)

    def explain_text(self, query: Queries, text: str) -> Explanation:
        """Raise an error, because a hybrid scores only documents of the index."""
        raise ParameterError(
            "ranking",
            "a ranking that scores texts; a hybrid scores only documents of the index",
            self._name,
            "Pass one of its parts.",
        )

    def compared_words(self, query: Queries) -> ComparedWords | None:
        """Return the compared words of the first part that uses word vectors, or None."""
        for scorer, own in zip(self._scorers, query, strict=True):
            found = scorer.compared_words(own)
            if found is not None:
                return found
        return None

    def scaled(self, query: Queries, rows: BoolArray | None) -> tuple[Int64Array, Float64Array]:
        """Return the candidate rows, and each part's unweighted contribution to their scores.

        NaN stands for a candidate that a part does not find, and to which it adds 0.

        Raises
        ------
        NotImplementedError
            If the score is not a weighted sum.
        """
        raise NotImplementedError

    @abstractmethod
    def _ranked(self, query: Queries, rows: BoolArray | None) -> tuple[ScoredRows, int | None]:
        """Return all candidates, best first, and their number if other documents exist."""

    def _once(self, query: Queries, rows: BoolArray | None, search: Callable[[], _Found]) -> _Found:
        """Return the cached result if the previous search was the same, or run the search.

        The next page and each explanation repeat the search. Queries and masks never change.
        """
        latest = self._latest  # one atomic read; other threads may replace it
        if latest is not None and latest[0] is query and latest[1] is rows:
            known: _Found = latest[2]
            return known
        found = search()
        self._latest = query, rows, found
        return found

    def _mask(self, rows: Int64Array) -> BoolArray:
        mask = np.zeros(self.state.n_rows, np.bool_)
        mask[rows] = True
        return mask

    def _stats(self, candidates: int, lists: Iterable[ScoredRows]) -> dict[str, float]:
        found: dict[str, float] = {"candidates": candidates}
        for label, ranked in zip(self._labels, lists, strict=False):
            found.update({f"{label}: {name}": value for name, value in ranked.stats.items()})
        return found


class _Said(NamedTuple):
    """Scores by one part of a hybrid for the candidates, and rows of its own search."""

    ranked: ScoredRows
    rows: BoolArray | None


class _Scale(NamedTuple):
    """Linear scale that maps the worst score to 0 and the best to 1.

    If all scores are equal, `width` is 0, and each score becomes 1, because each is the best.
    """

    zero: float
    width: float

    @classmethod
    def of(cls, scores: Float64Array, ascending: bool) -> "_Scale":
        if not len(scores):
            return cls(0.0, 0.0)
        low, high = float(scores.min()), float(scores.max())
        return cls(high, low - high) if ascending else cls(low, high - low)

    def apply(self, scores: Float64Array) -> Float64Array:
        if not self.width:
            return np.ones(len(scores))
        return (scores - self.zero) / self.width


class WeightedSumScorer(HybridScorer):
    """Scorer that applies a `WeightedSum` to a snapshot of an index.

    Parameters
    ----------
    ranking : WeightedSum
        Ranking with parts and weights.
    state : IndexState
        Snapshot of the index.
    scorer_of : callable
        Function that returns the scorer of a part.
    """

    def __init__(self, ranking: WeightedSum, state: IndexState, scorer_of: ScorerOf) -> None:
        super().__init__(ranking, state, scorer_of)
        self._ranking = ranking

    def explain_among(self, query: Queries, row: int, rows: BoolArray | None) -> Contributions:
        """Explain a score by the scaled explanation of each part's score."""
        said, _, _ = self._once(query, rows, lambda: self._said(query, rows))
        parts = []
        for at, (ranked, among) in enumerate(said):
            scorer, weight = self._scorers[at], self._ranking.weights[at]
            place = np.flatnonzero(ranked.rows == row)
            if not len(place):
                parts.append(Contribution(self._labels[at], 0.0, "not found by this ranking"))
                continue
            scale = _Scale.of(ranked.scores, scorer.ascending)
            score = float(ranked.scores[place[0]])
            if not scale.width:
                note = f"{weight:g} x 1, because all candidates have {score:.4g}"
                inside: tuple[Contribution, ...] = ()
                if score > 0 and not scorer.ascending:
                    own = scorer.explain_among(query[at], row, among).parts
                    inside = _scaled(own, weight / score)
                parts.append(Contribution(self._labels[at], weight, note, inside))
                continue
            value = float(scale.apply(np.array([score]))[0])
            times = weight / scale.width
            inside = _scaled(scorer.explain_among(query[at], row, among).parts, times)
            if scale.zero:
                end = "the farthest candidate" if scorer.ascending else "the lowest candidate"
                ends = f"{scale.zero:.4g} counts 0, {scale.zero + scale.width:.4g} counts 1"
                inside += (Contribution(end, -times * scale.zero, ends),)
            note = f"{weight:g} x {value:.3g}, of {score:.4g}"
            ordered = sorted(inside, key=lambda part: -abs(part.value))
            parts.append(Contribution(self._labels[at], weight * value, note, tuple(ordered)))
        return Contributions.of(parts)

    def _ranked(self, query: Queries, rows: BoolArray | None) -> tuple[ScoredRows, int | None]:
        said, pool, most = self._once(query, rows, lambda: self._said(query, rows))
        scores = np.zeros(len(pool))
        for scorer, weight, (ranked, _) in zip(
            self._scorers, self._ranking.weights, said, strict=True
        ):
            scaled = _Scale.of(ranked.scores, scorer.ascending).apply(ranked.scores)
            scores[np.searchsorted(pool, ranked.rows)] += weight * scaled
        stats = self._stats(len(pool), (ranked for ranked, _ in said))
        return _in_order(pool, scores, stats), most

    def scaled(self, query: Queries, rows: BoolArray | None) -> tuple[Int64Array, Float64Array]:
        """Return the candidate rows, and their score by each part, scaled to 0 to 1."""
        said, pool, _ = self._once(query, rows, lambda: self._said(query, rows))
        found = np.full((len(pool), len(said)), np.nan)
        for at, (scorer, (ranked, _)) in enumerate(zip(self._scorers, said, strict=True)):
            scaled = _Scale.of(ranked.scores, scorer.ascending).apply(ranked.scores)
            found[np.searchsorted(pool, ranked.rows), at] = scaled
        return pool, found

    def _said(
        self, query: Queries, rows: BoolArray | None
    ) -> tuple[list[_Said], Int64Array, int | None]:
        """Return each part's scores, the candidates, and their number if there are others.

        A part that returned fewer documents than its limit has found all documents that it can
        find, so it does not need a second search.
        """
        most = self._ranking.candidates
        first = self._scorers[:1] if self._ranking.pool == "first" else self._scorers
        lists = [
            best_rows(scorer, own, most, rows) for scorer, own in zip(first, query, strict=False)
        ]
        pool = np.unique(np.concatenate([ranked.rows for ranked in lists]))
        mask = self._mask(pool)
        said = []
        for at, (scorer, own) in enumerate(zip(self._scorers, query, strict=True)):
            complete = at < len(lists) and (len(lists[at].rows) < most or len(lists) == 1)
            if complete:
                said.append(_Said(lists[at], rows))
            elif not len(pool):
                said.append(_Said(lists[0], rows))
            else:
                said.append(_Said(best_rows(scorer, own, len(pool), mask), mask))
        full = any(len(ranked.rows) >= most for ranked in lists)
        return said, pool, len(pool) if full else None


class RankFusionScorer(HybridScorer):
    """Scorer that applies a `RankFusion` to a snapshot of an index.

    Parameters
    ----------
    ranking : RankFusion
        Ranking with parts.
    state : IndexState
        Snapshot of the index.
    scorer_of : callable
        Function that returns the scorer of a part.
    weights : sequence of float or None, default=None
        Weight of each part. If None, 1.
    """

    def __init__(
        self,
        ranking: RankFusion,
        state: IndexState,
        scorer_of: ScorerOf,
        weights: Sequence[float] | None = None,
    ) -> None:
        super().__init__(ranking, state, scorer_of)
        self._ranking = ranking
        self._weights = [1.0] * len(ranking.parts) if weights is None else weights

    def explain_among(self, query: Queries, row: int, rows: BoolArray | None) -> Contributions:
        """Explain a score by one contribution per part: its reciprocal rank."""
        parts = []
        lists = self._once(query, rows, lambda: self._lists(query, rows))
        for label, weight, ranked in zip(self._labels, self._weights, lists, strict=True):
            place = np.flatnonzero(ranked.rows == row)
            if len(place):
                rank = int(place[0]) + 1
                note = f"rank {rank} with {float(ranked.scores[place[0]]):.4g}"
                parts.append(Contribution(label, weight * (1 / (self._ranking.c + rank)), note))
            else:
                some = len(ranked.rows)
                note = f"not among the best {some}" if some else "nothing found"
                parts.append(Contribution(label, 0.0, note))
        return Contributions.of(parts)

    def _ranked(self, query: Queries, rows: BoolArray | None) -> tuple[ScoredRows, int | None]:
        lists = self._once(query, rows, lambda: self._lists(query, rows))
        pool, reciprocals = self._reciprocal_ranks(lists)
        scores = np.zeros(len(pool))
        for weight, column in zip(self._weights, reciprocals.T, strict=True):
            scores += weight * np.nan_to_num(column)  # 0 where a part does not find a row
        full = any(len(ranked.rows) >= self._ranking.candidates for ranked in lists)
        ranked = _in_order(pool, scores, self._stats(len(pool), lists))
        return ranked, len(pool) if full else None

    def scaled(self, query: Queries, rows: BoolArray | None) -> tuple[Int64Array, Float64Array]:
        """Return the candidate rows, and their reciprocal rank by each part."""
        return self._reciprocal_ranks(self._once(query, rows, lambda: self._lists(query, rows)))

    def _reciprocal_ranks(self, lists: list[ScoredRows]) -> tuple[Int64Array, Float64Array]:
        """Return the rows of all lists in ascending order, and 1 / (c + rank) in each list or 0."""
        pool = np.unique(np.concatenate([ranked.rows for ranked in lists]))
        found = np.full((len(pool), len(lists)), np.nan)
        for at, ranked in enumerate(lists):
            ranks = np.arange(1, len(ranked.rows) + 1)
            found[np.searchsorted(pool, ranked.rows), at] = 1 / (self._ranking.c + ranks)
        return pool, found

    def _lists(self, query: Queries, rows: BoolArray | None) -> list[ScoredRows]:
        return [
            best_rows(scorer, own, self._ranking.candidates, rows)
            for scorer, own in zip(self._scorers, query, strict=True)
        ]


class CascadeScorer(HybridScorer):
    """Scorer that applies a `Cascade` to a snapshot of an index.

    Parameters
    ----------
    ranking : Cascade
        Ranking with stages.
    state : IndexState
        Snapshot of the index.
    scorer_of : callable
        Function that returns the scorer of a stage.
    """

    def __init__(self, ranking: Cascade, state: IndexState, scorer_of: ScorerOf) -> None:
        super().__init__(ranking, state, scorer_of)
        self._ranking = ranking
        self.ascending = self._scorers[-1].ascending

    def explain_among(self, query: Queries, row: int, rows: BoolArray | None) -> Explanation:
        """Explain the score that the last stage gave to a document."""
        _, _, mask = self._down(query, rows)
        return self._scorers[-1].explain_among(query[-1], row, mask)

    def _ranked(self, query: Queries, rows: BoolArray | None) -> tuple[ScoredRows, int | None]:
        lists, full, mask = self._down(query, rows)
        handed_on = len(lists[-1].rows)
        if handed_on:
            lists.append(best_rows(self._scorers[-1], query[-1], handed_on, mask))
        last = lists[-1]
        ranked = ScoredRows(last.rows, last.scores, self._stats(handed_on, lists))
        return ranked, handed_on if full else None

    def _down(
        self, query: Queries, rows: BoolArray | None
    ) -> tuple[list[ScoredRows], bool, BoolArray | None]:
        """Run all stages but the last; return their results, and rows for the last stage."""
        lists: list[ScoredRows] = []
        full, mask = False, rows
        for at, most in enumerate(self._ranking.candidates):
            lists.append(best_rows(self._scorers[at], query[at], most, mask))
            full |= len(lists[-1].rows) >= most
            mask = self._mask(lists[-1].rows)
            if not len(lists[-1].rows):
                break
        return lists, full, mask


def best_rows(scorer: Scorer[Any], query: object, limit: int, rows: BoolArray | None) -> ScoredRows:
    """Return the `limit` best documents of one part of a hybrid."""
    if isinstance(scorer, HybridScorer):
        found, _ = scorer._ranked(query, rows)  # type: ignore[arg-type]
        return ScoredRows(found.rows[:limit], found.scores[:limit], found.stats)
    return scorer.best(query, limit, None, rows)


def _in_order(rows: Int64Array, scores: Float64Array, stats: dict[str, float]) -> ScoredRows:
    """Sort rows by descending score; ties stay in row order."""
    order = np.argsort(-scores, kind="stable")
    return ScoredRows(rows[order].astype(np.int64), scores[order], stats)


def _scaled(parts: Iterable[Contribution], times: float) -> tuple[Contribution, ...]:
    return tuple(
        Contribution(part.name, times * part.value, part.note, _scaled(part.parts, times))
        for part in parts
    )
