"""`SearchRequest`: a search as an immutable value; and rankings by name."""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np

from textkin._base import abbreviate, integer, one_of, real
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.index.search._feedback import FeedbackRound
from textkin.index.search._filter_parser import parse_filter
from textkin.index.search._filters import Filter, Where
from textkin.index.search._query_parser import SYNTAXES, Syntax
from textkin.index.search.rankings._base import Ranking
from textkin.index.search.rankings._hybrids import (
    Cascade,
    DefaultHybrid,
    Hybrid,
    RankFusion,
    WeightedSum,
)
from textkin.index.search.rankings._latent_ranking import LatentRanking
from textkin.index.search.rankings._models import ModelRanking
from textkin.index.search.rankings._terms import TermRanking
from textkin.index.search.rankings._transport import TransportRanking
from textkin.index.store import as_array
from textkin.transport import WordMover
from textkin.weighting import BM25, TfIdf

__all__ = [
    "NAMES",
    "RankingLike",
    "SearchQuery",
    "SearchRequest",
    "Words",
    "checked_query",
    "filter_of",
    "name_of",
    "ranking_from_json",
    "ranking_of",
    "vector_of",
]

SearchQuery: TypeAlias = str | Mapping[str, float]
"""Text, or mapping of words to weights."""

Words: TypeAlias = tuple[tuple[str, float], ...]
"""Words with weights, as stored in a request."""

_K = integer(1)
_OFFSET = integer(0)
_THRESHOLD = one_of(None) | real()
_WEIGHT = real()
_SYNTAX = one_of(*SYNTAXES)

RankingLike: TypeAlias = str | TfIdf | BM25 | WordMover | Ranking
"""Name of a ranking, term weighting, `WordMover`, or ranking object."""

_NAMED: dict[str, Callable[[], Ranking]] = {
    "bm25": TermRanking,
    "tfidf": lambda: TermRanking(TfIdf(), "cosine"),
    "cosine": lambda: TermRanking("counts", "cosine"),
    "inner": lambda: TermRanking("counts", "inner"),
    "binary": lambda: TermRanking("binary", "inner"),
    "wmd": lambda: TransportRanking("wmd"),
    "rwmd": lambda: TransportRanking("rwmd"),
    "wcd": lambda: TransportRanking("wcd"),
    "hybrid": DefaultHybrid,
}
_OTHERS = "a TfIdf, a BM25, a WordMover or a ranking"
_made: dict[str, Ranking] = {}

NAMES = tuple(dict.fromkeys((*_NAMED, "hybrid")))
"""Names of the rankings that every index has; reserved, so no model can have one of them."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Immutable, hashable description of a search: query, ranking, filter, page, feedback.

    `Index.search` and `Index.similar` make a request and pass it to `Index.find`. ``hits.request``
    is the request of the hits.

    Parameters
    ----------
    query : str, tuple of (str, float) pairs, or None
        Text, or words with weights.
    like : str or None, default=None
        ID of a document; the request finds similar documents. Pass it instead of `query`.
    ranking : str, TfIdf, BM25, WordMover or ranking, default="bm25"
        Method that scores documents.
    k : int, default=10
        Maximum number of hits.
    offset : int, default=0
        Number of best hits to skip, to get a later page.
    threshold : float or None, default=None
        Minimum score of a hit, or maximum distance for rankings by distance (inclusive).
    where : Filter or None, default=None
        Filter on documents; `parse_filter` makes one from a string or a mapping.
    rounds : tuple of FeedbackRound, default=()
        Rounds of relevance feedback, applied to the query in order.
    syntax : {"auto", "operators", "plain"}, default="auto"
        Whether operators in a query text are read: phrases in quotes, ``+word``, ``-word``, and
        ``field:value``. With "auto", only in texts of one line with at most 16 words.
    embedding : tuple of float, array-like or None, default=None
        Vector of the query for rankings by an attached model; stored as a tuple. A text in `query`
        is then used by the other rankings of a hybrid, and shown with the hits.

    Raises
    ------
    ParameterError, ParameterTypeError
        If a value is invalid, or not exactly one of `query` (or `embedding`) and `like` is given.

    See Also
    --------
    Index.find : Find the documents that match a request.

    Examples
    --------
    >>> from textkin.index import FeedbackRound, SearchRequest, parse_filter
    >>> request = SearchRequest("cats", k=5, where=parse_filter("year >= 2010"))
    >>> request.next_page().offset
    5
    >>> moved = request.with_feedback(FeedbackRound(relevant=("a",)))
    >>> SearchRequest.from_json(moved.to_json()) == moved
    True
    """

    query: str | Words | None = None
    like: str | None = None
    ranking: "RankingLike" = "bm25"
    k: int = 10
    offset: int = 0
    threshold: float | None = None
    where: Filter | None = None
    rounds: tuple[FeedbackRound, ...] = ()
    syntax: Syntax = "auto"
    embedding: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.embedding is not None:
            object.__setattr__(self, "embedding", vector_of(self.embedding))
            if self.query is not None and not isinstance(self.query, str):
                raise ParameterTypeError(
                    "query", "a str or None with an embedding", "words with weights"
                )
        if (self.query is None and self.embedding is None) == (self.like is None):
            raise ParameterError(
                "query",
                "given if like is None, and None otherwise",
                "both" if self.like is not None else "neither",
                'Pass `query="a text"`, `embedding=vector`, or `like="an id"`.',
            )
        if self.query is not None:
            query = checked_query(self.query)
            if query is not self.query:
                object.__setattr__(self, "query", query)
        elif self.embedding is None and not isinstance(self.like, str):
            raise ParameterTypeError(
                "like", "a str", type(self.like).__name__, "Pass the ID of a document."
            )
        if self.syntax not in SYNTAXES:
            _SYNTAX.check("syntax", self.syntax)
        # NumPy numbers become Python numbers, so that requests and hits can be written as JSON.
        if type(self.k) is not int or self.k < 1:
            _K.check("k", self.k, "Pass `k=10`.")
            object.__setattr__(self, "k", int(self.k))
        if type(self.offset) is not int or self.offset < 0:
            _OFFSET.check("offset", self.offset, "Pass `offset=0` for the first page.")
            object.__setattr__(self, "offset", int(self.offset))
        if self.threshold is not None:
            _THRESHOLD.check("threshold", self.threshold, "Pass `threshold=None` for all hits.")
            object.__setattr__(self, "threshold", float(self.threshold))
        if self.where is not None and not isinstance(self.where, Filter):
            raise ParameterTypeError(
                "where", "a Filter or None", type(self.where).__name__, "Pass `parse_filter(...)`."
            )
        if self.rounds and not (
            isinstance(self.rounds, tuple)
            and all(isinstance(one, FeedbackRound) for one in self.rounds)
        ):
            raise ParameterTypeError(
                "rounds",
                "a tuple of FeedbackRound",
                abbreviate(self.rounds, 40),
                'Pass `(FeedbackRound(relevant=("a",)),)`.',
            )

    def next_page(self) -> "SearchRequest":
        """Return the same request for the next `k` hits."""
        return replace(self, offset=self.offset + self.k)

    def with_feedback(self, round: FeedbackRound) -> "SearchRequest":
        """Return the request with one more feedback round, starting at the first page."""
        return replace(self, offset=0, rounds=(*self.rounds, round))

    def to_json(self) -> dict[str, Any]:
        """Return the search request as a dict of JSON types, for `from_json`.

        Raises
        ------
        ParameterTypeError
            If the ranking contains an array or a cluster, which JSON cannot represent.
        """
        query = self.query
        return {
            "query": dict(query) if isinstance(query, tuple) else query,
            "like": self.like,
            "ranking": self.ranking
            if isinstance(self.ranking, str)
            else ranking_of(self.ranking).to_json(),
            "k": self.k,
            "offset": self.offset,
            "threshold": self.threshold,
            "where": None if self.where is None else str(self.where),
            "rounds": [asdict(one) for one in self.rounds],
            "syntax": self.syntax,
            **({} if self.embedding is None else {"embedding": list(self.embedding)}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Create a request from the result of `to_json`; missing keys get defaults.

        A ranking that was a `TfIdf`, `BM25`, or `WordMover` becomes the equivalent `TermRanking`
        or `TransportRanking`.

        Raises
        ------
        ParameterError, ParameterTypeError
            If `data` is not a request.
        """
        if not isinstance(data, Mapping):
            raise ParameterTypeError(
                "data", "a mapping", type(data).__name__, "Pass the result of `to_json`."
            )
        given = dict(data)
        unknown = given.keys() - {*cls.__dataclass_fields__}
        if unknown:
            raise ParameterError(
                "data",
                f"a mapping with the keys {', '.join(cls.__dataclass_fields__)}",
                f"the key {abbreviate(min(map(str, unknown)), 40)}",
                "Pass the result of `to_json`.",
            )
        if given.get("where") is not None:
            given["where"] = parse_filter(given["where"])
        if not isinstance(given.get("ranking", ""), str):
            given["ranking"] = ranking_from_json(given["ranking"])
        query = given.get("query")
        if isinstance(query, Mapping):
            given["query"] = tuple(query.items())
        given["rounds"] = tuple(map(_round_from_json, given.get("rounds", ())))
        return cls(**given)


def vector_of(given: Any) -> tuple[float, ...]:  # noqa: ANN401 (a user's)
    """Convert an embedding to a tuple of floats, which is hashable."""
    if isinstance(given, tuple) and given and all(type(value) is float for value in given):
        array = np.array(given)
    else:
        array = as_array(given)
        if array.ndim == 2 and len(array) == 1:  # encoders return a row for each text
            array = array[0]
    if array.dtype.kind not in "fiu" or array.ndim != 1 or not len(array):
        raise ParameterTypeError(
            "embedding",
            "a vector of numbers",
            f"{type(given).__name__} of shape {array.shape}",
            "Pass `encoder.encode([text])[0]`.",
        )
    found = array.astype(np.float64)
    with np.errstate(over="ignore"):
        finite = np.isfinite(found.astype(np.float32)).all()
    if not finite:
        raise ParameterError(
            "embedding",
            "a vector of numbers that are finite in float32",
            "NaN, infinity or a number that is too large",
            "Encode the query again.",
        )
    return tuple(found.tolist())


def _round_from_json(data: dict[str, Any]) -> FeedbackRound:
    ids = {name: tuple(data.get(name, ())) for name in ("relevant", "nonrelevant")}
    return FeedbackRound(**{**data, **ids})


def checked_query(query: Any, name: str = "query") -> str | Words:  # noqa: ANN401 (a user's)
    """Validate a query: return a text, or pairs of word and weight."""
    if isinstance(query, str):
        _check_text(query, name)
        return query
    if isinstance(query, tuple) and all(isinstance(p, tuple) and len(p) == 2 for p in query):
        pairs = query
    elif isinstance(query, Mapping):
        pairs = tuple(query.items())
    else:
        raise ParameterTypeError(
            name, "a str, or a mapping of words to weights", type(query).__name__
        )
    for word, weight in pairs:
        if not isinstance(word, str):
            raise TypeError(
                f"the words of {name} must be strings; got {abbreviate(word, 40)} "
                f"({type(word).__name__})."
            )
        _check_text(word, name)
        _WEIGHT.check(f"the weight of {abbreviate(word, 40)} in {name}", weight)
    return tuple((word, float(weight)) for word, weight in pairs)


def _check_text(value: str, name: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{name} must be valid Unicode text; got an unpaired surrogate. Remove the surrogate."
        ) from None


def filter_of(where: Where | None) -> Filter | None:
    """Convert a filter expression or mapping to a `Filter`, or None if it is empty."""
    if where is None:
        return None
    found = parse_filter(where)
    return found if found.fields else None


def ranking_of(ranking: RankingLike, models: Container[str] | None = None) -> Ranking:
    """Return the `Ranking` for a name, a term weighting, or a `WordMover`.

    Parameters
    ----------
    ranking : str, TfIdf, BM25 or ranking
        Ranking in any form that a search accepts.
    models : container of str, optional
        Names of the models attached to the index. If None, any unknown name is assumed to be a
        model; the search raises an error if the index does not have this model.

    Raises
    ------
    ValueError, TypeError
        If the ranking is unknown.
    """
    if isinstance(ranking, Ranking):
        return ranking
    if isinstance(ranking, str) and ranking in _NAMED:
        if ranking not in _made:
            _made[ranking] = _NAMED[ranking]()
        return _made[ranking]
    if isinstance(ranking, BM25):
        return TermRanking(ranking)
    if isinstance(ranking, TfIdf):
        # A SMART code states the norms of both sides.
        return TermRanking(ranking, "cosine" if ranking.smart is None else "inner")
    if isinstance(ranking, WordMover):
        return TransportRanking.of(ranking)
    if isinstance(ranking, str) and (models is None or ranking in models):
        return ModelRanking(ranking)
    attached: list[str] = sorted(models) if isinstance(models, Iterable) else []
    choices = [*_NAMED, *attached]
    expected = f"one of {', '.join(map(repr, choices))}, {_OTHERS}"
    if isinstance(ranking, str):
        raise ParameterError("ranking", expected, repr(ranking), choices=choices)
    raise ParameterTypeError("ranking", expected, type(ranking).__name__, choices=choices)


def name_of(ranking: Ranking) -> str | None:
    """Return the short name of a ranking such as "bm25", or None."""
    if isinstance(ranking, ModelRanking) and ranking == ModelRanking(ranking.name):
        return ranking.name
    return next((name for name in _NAMED if ranking_of(name) == ranking), None)


def ranking_from_json(data: Mapping[str, Any]) -> Ranking:
    """Create a ranking from the result of `Ranking.to_json`.

    Raises
    ------
    ParameterError
        If `data` is not a ranking.
    """
    given = dict(data) if isinstance(data, Mapping) else {}
    kind = given.pop("type", None)
    if kind not in _FROM_JSON:
        raise ParameterError(
            "ranking",
            f"a name, or a mapping with a type of {', '.join(map(repr, _FROM_JSON))}",
            abbreviate(data, 60),
            "Pass the result of `to_json`.",
        )
    parts = [
        part if isinstance(part, str) else ranking_from_json(part)
        for part in given.pop("parts", ())
    ]
    return _FROM_JSON[kind](parts, given)


def _term_ranking(_: list[RankingLike], given: dict[str, Any]) -> Ranking:
    weighting = given["weighting"]
    if isinstance(weighting, Mapping):
        kind = {"BM25": BM25, "TfIdf": TfIdf}[weighting["type"]]
        weighting = kind(**{name: value for name, value in weighting.items() if name != "type"})
    return TermRanking(weighting, given["metric"])


def _weighted_sum(parts: list[RankingLike], given: dict[str, Any]) -> Ranking:
    weights = dict(zip(parts, given.pop("weights"), strict=True))
    if len(weights) < len(parts):
        raise ParameterError("ranking", "a sum of different rankings", "the same ranking twice")
    return WeightedSum(weights, **given)


_FROM_JSON: dict[str, Callable[[list[RankingLike], dict[str, Any]], Ranking]] = {
    "terms": _term_ranking,
    "transport": lambda _, given: TransportRanking(**given),
    "model": lambda _, given: ModelRanking(**given),
    "weighted_sum": _weighted_sum,
    "rank_fusion": lambda parts, given: RankFusion(parts, **given),
    "cascade": lambda parts, given: Cascade(*parts, **given),
    "hybrid": lambda parts, given: Hybrid(parts, **given),
    "default_hybrid": lambda _, given: DefaultHybrid(**given),
    "latent": lambda _, given: LatentRanking(**given),
}
