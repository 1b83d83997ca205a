"""`Rerank`: the best documents of a ranking, reranked by contextual token vectors."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from textkin._base import BoolArray, Float64Array, Int64Array, integer, one_of
from textkin.corpus import TokenVectors
from textkin.exceptions import EmptyDocumentError, ParameterError, ParameterTypeError
from textkin.explain import Contribution, Contributions, Explanation
from textkin.index.search._feedback import FeedbackRound
from textkin.index.search._state import IndexState
from textkin.index.search.rankings._base import ComparedWords, ScoredRows, ScorerOf
from textkin.index.search.rankings._hybrids import CombinedRanking, HybridScorer, best_rows
from textkin.transport import TokenMover, max_sim

if TYPE_CHECKING:
    from textkin.index.search._request import RankingLike

__all__ = ["Rerank", "TokenEncoder", "TokenScorer"]

TokenEncoder: TypeAlias = Callable[[list[str]], Iterable[Any]]
"""Function from texts to `TokenVectors`, or to arrays of shape (n_tokens, d)."""

_KEPT = 1024  # maximum number of documents whose tokens are cached
_BATCH = 64  # texts encoded at a time


class Rerank(CombinedRanking):
    """Ranking that reranks the best documents of another one by contextual token vectors.

    Parameters
    ----------
    first : ranking
        Ranking that selects the candidates, in any form that a search accepts.
    tokens : callable
        Function from a list of texts to their tokens: `TokenVectors`, or arrays of shape
        (n_tokens, d).
    metric : {"wmd", "maxsim"}, default="wmd"
        "wmd": the exact transport distance between the tokens of the query and of the document, a
        distance. "maxsim": the sum over the tokens of the query of the cosine with the nearest
        token of the document (ColBERT), a similarity.
    k : int, default=100
        Number of candidates.
    mover : TokenMover or None, default=None
        Parameters of the transport ("wmd" only), such as the cost. If None, ``TokenMover()``.

    Notes
    -----
    Documents without tokens are not found. The tokens of the 1,024 documents ranked last are
    cached. A request with this ranking cannot be written as JSON, because it has a function.

    See Also
    --------
    textkin.TokenMover : The same distances outside of an index.
    Cascade : Ranking in stages by rankings of the index.

    References
    ----------
    Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized Late
    Interaction over BERT", SIGIR 2020. Zhao et al., "MoverScore", EMNLP 2019.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import textkin as tk
    >>> from textkin.index import Rerank
    >>> vectors = tk.WordVectors.builtin()
    >>> def tokens(texts):  # stands in for a contextual encoder
    ...     words = [[w for w in text.split() if w in vectors] for text in texts]
    ...     return [tk.TokenVectors(np.array([vectors[w] for w in some]), tokens=some)
    ...             for some in words]
    >>> folder = tempfile.TemporaryDirectory()
    >>> index = tk.Index.create(f"{folder.name}/notes.kin")
    >>> _ = index.add(["the bank raised rates", "a river bank", "the bank gave a loan"])
    >>> hits = index.search("bank credit", ranking=Rerank("bm25", tokens, metric="maxsim"), k=1)
    >>> hits.ids, [part.name for part in hits[0].explain().parts]
    (['2'], ['bank to bank', 'credit to loan'])
    >>> index.close()
    >>> folder.cleanup()
    """

    def __init__(
        self,
        first: "RankingLike",
        tokens: TokenEncoder,
        *,
        metric: Literal["wmd", "maxsim"] = "wmd",
        k: int = 100,
        mover: TokenMover | None = None,
    ) -> None:
        from textkin.index.search._request import ranking_of  # imports this module

        if isinstance(tokens, type) or not callable(tokens):
            raise ParameterTypeError(
                "tokens", "a function from texts to token vectors", type(tokens).__name__
            )
        one_of("wmd", "maxsim").check("metric", metric)
        integer(1).check("k", k)
        if mover is not None and not isinstance(mover, TokenMover):
            raise ParameterTypeError("mover", "a TokenMover or None", type(mover).__name__)
        if mover is not None and metric == "maxsim":
            raise ParameterError(
                "mover", "None with metric='maxsim'", "a TokenMover", "Pass `metric='wmd'`."
            )
        if mover is not None and mover.metric != "wmd":
            raise ParameterError(
                "mover",
                "a TokenMover with metric='wmd'",
                f"one with metric={mover.metric!r}",
                "Pass `metric='maxsim'` and no mover for a relaxed score.",
            )
        self.parts = (ranking_of(first),)
        self.tokens = tokens
        self.metric = metric
        self.k = int(k)
        self.mover = TokenMover() if mover is None else TokenMover(**mover.get_params())
        self.ascending = metric == "wmd"

    def bind(self, state: IndexState, scorer_of: ScorerOf) -> "TokenScorer":
        """Create the scorer of a snapshot from the scorer of the first ranking."""
        return TokenScorer(self, state, scorer_of)

    def _key(self) -> tuple[object, ...]:
        hashable = type(self.tokens).__hash__ is not None
        tokens = self.tokens if hashable else id(self.tokens)
        return Rerank, self.parts, tokens, self.metric, self.k, repr(self.mover)

    def _arguments(self, parts: list[str]) -> Iterable[str]:
        yield from parts

    def __repr__(self) -> str:
        name = getattr(self.tokens, "__name__", type(self.tokens).__name__)
        return self._shown(f"tokens={name}", f"metric={self.metric!r}", f"k={self.k}")


class _TokenQuery(NamedTuple):
    """Query of the first ranking, and the query text whose tokens are compared."""

    first: Any
    text: str


class TokenScorer(HybridScorer):
    """Scorer that reranks candidates by token vectors of query and document.

    Parameters
    ----------
    ranking : Rerank
        Ranking that selects candidates and compares tokens.
    state : IndexState
        Snapshot of the index.
    scorer_of : callable
        Function that returns the scorer of the first ranking.
    """

    def __init__(self, ranking: Rerank, state: IndexState, scorer_of: ScorerOf) -> None:
        super().__init__(ranking, state, scorer_of)
        self._ranking = ranking
        self.ascending = ranking.ascending
        self._first = self._scorers[0]
        self._mutex = threading.Lock()
        self._tokens: OrderedDict[int, TokenVectors] = OrderedDict()

    # ------------------------------------------------------------------ queries

    def of_text(self, text: str) -> _TokenQuery:
        """Convert a query text to the representation by which this ranking scores documents."""
        return _TokenQuery(self._first.of_text(text), text)

    def of_row(self, row: int) -> _TokenQuery:
        """Convert a document of the index, with its text, to a query."""
        (document,) = self.state.documents([row])
        return _TokenQuery(self._first.of_row(row), document.text)

    def of_embedding(self, vector: Float64Array, text: str | None) -> _TokenQuery:
        """Convert a vector (for the first ranking) and a text (for tokens) to a query."""
        if text is None:
            raise ParameterError(
                "embedding",
                "passed with a query for a ranking by tokens",
                "an embedding alone",
                "Pass the text as well: `search(text, embedding=vector, ...)`.",
            )
        return _TokenQuery(self._first.of_embedding(vector, text), text)

    def of_words(self, weights: Mapping[str, float]) -> _TokenQuery:
        """Raise an error, because words with weights have no contextual tokens."""
        raise ParameterError(
            "query", "a text for a ranking by tokens", "words with weights", "Pass a text."
        )

    def words_of(self, query: Any) -> Mapping[str, float] | None:  # noqa: ANN401 (_TokenQuery)
        """Return the query words of the first ranking, with weights."""
        return self._first.words_of(query.first)

    def compared_words(self, query: Any) -> ComparedWords | None:  # noqa: ANN401 (_TokenQuery)
        """Return the words that the first ranking compares, or None."""
        return self._first.compared_words(query.first)

    def moved(
        self,
        query: Any,  # noqa: ANN401 (_TokenQuery)
        relevant: Sequence[int],
        nonrelevant: Sequence[int],
        how: FeedbackRound,
    ) -> _TokenQuery:
        """Return the query with Rocchio feedback for the first ranking only."""
        moved = self._first.moved(query.first, relevant, nonrelevant, how)
        return _TokenQuery(moved, query.text)

    # ------------------------------------------------------------------ search

    def _ranked(self, query: Any, rows: BoolArray | None) -> tuple[ScoredRows, int | None]:  # noqa: ANN401
        return self._once(query, rows, lambda: self._compared(query, rows))

    def _compared(
        self, query: _TokenQuery, rows: BoolArray | None
    ) -> tuple[ScoredRows, int | None]:
        """Return the candidates of the first ranking, reranked by their tokens."""
        most = self._ranking.k
        found = best_rows(self._first, query.first, most, rows)
        candidates: Int64Array = np.sort(found.rows)
        stats = self._stats(len(candidates), [found])
        asked = self._encoded([query.text])[0]
        if not _weight(asked):
            note = "The query has no tokens to compare."
            return ScoredRows(candidates[:0], np.zeros(0), stats, (note,)), None
        documents = self._of_rows(candidates)
        filled = np.array([_weight(document) > 0 for document in documents], np.bool_)
        kept = [document for document, full in zip(documents, filled, strict=True) if full]
        candidates = candidates[filled]
        scores = self._scores(asked, kept) if kept else np.zeros(0)
        order = np.argsort(scores if self.ascending else -scores, kind="stable")
        ranked = ScoredRows(candidates[order], scores[order], stats, found.notes)
        return ranked, len(candidates) if len(found.rows) >= most else None

    def _scores(self, query: TokenVectors, documents: list[TokenVectors]) -> Float64Array:
        if self._ranking.metric == "maxsim":
            similarities: Float64Array = max_sim([query], documents)[0]
            return similarities
        distances: Float64Array = self._ranking.mover.pairwise([query], documents)[0]
        return distances

    def _of_rows(self, rows: Int64Array) -> list[TokenVectors]:
        """Return the token vectors of documents, from the cache or the encoder."""
        wanted = rows.tolist()
        with self._mutex:
            known = {row: self._tokens[row] for row in wanted if row in self._tokens}
        missing = [row for row in wanted if row not in known]
        for start in range(0, len(missing), _BATCH):
            some = missing[start : start + _BATCH]
            texts = [document.text for document in self.state.documents(some)]
            known.update(zip(some, self._encoded(texts), strict=True))
        with self._mutex:
            for row in wanted:
                self._tokens[row] = known[row]
                self._tokens.move_to_end(row)
            while len(self._tokens) > _KEPT:
                self._tokens.popitem(last=False)
        return [known[row] for row in wanted]

    def _encoded(self, texts: list[str]) -> list[TokenVectors]:
        """Encode texts to token vectors, and validate the encoder's result."""
        given = self._ranking.tokens(texts)
        if not isinstance(given, Iterable):
            raise ParameterTypeError(
                "tokens", "a function that returns the tokens of each text", type(given).__name__
            )
        found = list(islice(given, len(texts) + 1))
        if len(found) != len(texts):
            some = "more" if len(found) > len(texts) else str(len(found))
            raise ParameterError(
                "tokens",
                f"a function that returns the tokens of each of {len(texts)} texts",
                some,
                "Return a list with one array for each text.",
            )
        return [one if isinstance(one, TokenVectors) else TokenVectors(one) for one in found]

    # ------------------------------------------------------------------ explanation

    def explain_among(self, query: Any, row: int, rows: BoolArray | None) -> Explanation:  # noqa: ANN401
        """Explain a score by the transport plan of tokens, or each token's nearest token."""
        (document,) = self._of_rows(np.array([row]))
        return self._explained(query.text, document)

    def explain_text(self, query: Any, text: str) -> Explanation:  # noqa: ANN401 (_TokenQuery)
        """Explain the score of a text that is not in the index, as a sum of parts."""
        return self._explained(query.text, self._encoded([text])[0])

    def _explained(self, text: str, document: TokenVectors) -> Explanation:
        query = self._encoded([text])[0]
        for tokens, name in ((query, "query"), (document, "document")):
            if not _weight(tokens):
                raise EmptyDocumentError(
                    f"The {name} has no tokens to compare.", hint="Use a text with words."
                )
        if self._ranking.metric == "wmd":
            return self._ranking.mover.explain(query, document)
        unit, others = (
            tokens.vectors / np.linalg.norm(tokens.vectors, axis=1, keepdims=True)
            for tokens in (query, document)
        )
        cosines = unit.astype(np.float64) @ others.astype(np.float64).T
        if document.weights is not None:
            cosines[:, document.weights == 0] = -np.inf
        nearest = cosines.argmax(axis=1)
        weights = np.ones(len(query)) if query.weights is None else query.weights
        score = float(max_sim([query], [document])[0, 0])
        parts = [
            Contribution(
                f"{_token(query, i)} to {_token(document, int(j))}",
                float(weights[i] * cosines[i, j]),
                f"{weights[i]:g} x {cosines[i, j]:.3g}",
            )
            for i, j in enumerate(nearest)
            if weights[i]
        ]
        return Contributions.of(parts, score)


def _weight(tokens: TokenVectors) -> float:
    return float(len(tokens) if tokens.weights is None else tokens.weights.sum())


def _token(document: TokenVectors, at: int) -> str:
    return f"#{at}" if document.tokens is None else document.tokens[at]
