"""Rankings made of rankings: weighted sums, fusion of ranks, cascades.

They rank candidates, the best documents of one or of all of their parts, and no other documents.
Their scores depend on the other candidates, and so on what a filter lets through.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from textkin._validation import instance_of, integer, one_of, real
from textkin.index.ranking._hybrid_rankers import (
    CascadeRanker,
    RankFusionRanker,
    WeightedSumRanker,
)
from textkin.index.ranking._ranking import Ranking
from textkin.index.ranking._view import View

if TYPE_CHECKING:
    from textkin.index.ranking._choosing import By

__all__ = ["Cascade", "Hybrid", "RankFusion", "WeightedSum", "usual_hybrid"]

Pool: TypeAlias = Literal["first", "union"]


class Hybrid(Ranking):
    """A ranking made of others; equal ones have equal parts and parameters.

    Attributes
    ----------
    parts : tuple of Ranking
        What it is made of.
    """

    parts: tuple[Ranking, ...]

    @abstractmethod
    def _key(self) -> tuple[object, ...]:
        """Return all that makes it what it is."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hybrid) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    @property
    def _names(self) -> list[str | None]:
        from textkin.index.ranking._choosing import name_of  # which knows hybrids by name

        return [name_of(part) for part in self.parts]

    @property
    def labels(self) -> list[str]:
        """What each part is called in explanations."""
        return [name or repr(part) for name, part in zip(self._names, self.parts, strict=True)]

    def _shown(self, *rest: str) -> str:
        pairs = zip(self._names, self.parts, strict=True)
        parts = [repr(name or part) for name, part in pairs]
        return f"{type(self).__name__}({', '.join([*self._arguments(parts), *rest])})"

    @abstractmethod
    def _arguments(self, parts: list[str]) -> Iterable[str]:
        """Return the parts as they are written in a call."""


class WeightedSum(Hybrid):
    """Rank by a weighted sum of the scores of several rankings, each brought to 0 to 1.

    The scores of each ranking are scaled by those that it gives to the candidates of the query:
    ``s' = (s - min) / (max - min)``, 0 if all are equal, and ``(max - s) / (max - min)`` of a
    distance, whose smallest becomes 1. Where a ranking cannot score a candidate, that adds 0. Every
    candidate is found, with a score from 0 to the sum of the weights.

    Parameters
    ----------
    weights : mapping of rankings to float
        What the scaled score of each ranking is multiplied by, at least 0. Keys are anything that
        `by` of a search may be.
    candidates : int, default=1000
        How many documents a ranking brings at most. No others are ranked: hits beyond them are
        refused with a `ValueError`, unless there are no more.
    pool : {"first", "union"}, default="first"
        Whether the candidates are the best of the first ranking, or the best of every ranking
        together; either way all rankings score all of them.

    References
    ----------
    Fox and Shaw, "Combination of Multiple Searches", TREC-2, 1994. Zhang, Guo, Lan, Xu and Cheng,
    "Aggregating Neural Word Embeddings for Document Representation", ECIR 2018, equation 13: 0.8 of
    BM25 and 0.2 of a model; how scores are brought to one scale is not said there.

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
        for by, weight in weights.items():
            real(0).check(f"the weight of {by!r}", weight)
        if not any(weights.values()):
            raise ValueError("weights must have one above 0; got only zeros.")
        self.weights = tuple(float(weight) for weight in weights.values())
        self.candidates = int(candidates)
        self.pool = pool

    def bind(self, view: View) -> WeightedSumRanker:
        """Bind the parts."""
        return WeightedSumRanker(self, view)

    def _key(self) -> tuple[object, ...]:
        return WeightedSum, self.parts, self.weights, self.candidates, self.pool

    def _arguments(self, parts: list[str]) -> Iterable[str]:
        pairs = zip(parts, self.weights, strict=True)
        yield f"{{{', '.join(f'{part}: {weight:g}' for part, weight in pairs)}}}"

    def __repr__(self) -> str:
        return self._shown(f"candidates={self.candidates}", f"pool={self.pool!r}")


class RankFusion(Hybrid):
    """Rank by reciprocal rank fusion: the sum of ``1 / (c + rank)`` over several rankings.

    Ranks count from 1, in the best `candidates` documents of each ranking; of equal scores the
    document that was added first comes first. A document that is not among them adds nothing.

    Parameters
    ----------
    rankings : sequence of rankings
        Anything that `by` of a search may be.
    c : float, default=60
        The larger, the less the very first ranks count.
    candidates : int, default=1000
        How many documents a ranking brings at most.

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
        self, rankings: "Sequence[By]", *, c: float = 60.0, candidates: int = 1000
    ) -> None:
        if isinstance(rankings, str) or not isinstance(rankings, Sequence):
            raise TypeError(f"rankings must be a list of them; got {type(rankings).__name__}.")
        real(0).check("c", c)
        integer(1).check("candidates", candidates)
        self.parts = _rankings("rankings", rankings)
        self.c = float(c)
        self.candidates = int(candidates)

    def bind(self, view: View) -> RankFusionRanker:
        """Bind the parts."""
        return RankFusionRanker(self, view)

    def _key(self) -> tuple[object, ...]:
        return RankFusion, self.parts, self.c, self.candidates

    def _arguments(self, parts: list[str]) -> Iterable[str]:
        yield f"[{', '.join(parts)}]"

    def __repr__(self) -> str:
        return self._shown(f"c={self.c:g}", f"candidates={self.candidates}")


class Cascade(Hybrid):
    """Rank the best of one ranking by another, and the best of these by a third, and so on.

    The scores are those of the last ranking. What a stage does not find, such as a document that
    has no word with a vector, is left out.

    Parameters
    ----------
    *stages : rankings
        Two or more, from the quick to the dear; anything that `by` of a search may be.
    candidates : int or sequence of int, default=100
        How many documents each stage hands on; a number for each stage but the last, or one for
        all of them.

    Examples
    --------
    >>> from textkin.index import Cascade
    >>> Cascade("bm25", "tfidf", candidates=100)
    Cascade('bm25', 'tfidf', candidates=100)
    """

    def __init__(self, *stages: "By", candidates: int | Sequence[int] = 100) -> None:
        self.parts = _rankings("stages", stages)
        self.ascending = self.parts[-1].ascending
        handed_on = len(self.parts) - 1
        each = candidates if isinstance(candidates, list | tuple) else [candidates] * handed_on
        if len(each) != handed_on:
            raise ValueError(
                f"candidates must be one number, or {handed_on}: one for each stage but the last; "
                f"got {len(each)}."
            )
        for number in each:
            integer(1).check("candidates", number)
        self.candidates = tuple(map(int, each))

    def bind(self, view: View) -> CascadeRanker:
        """Bind the stages."""
        return CascadeRanker(self, view)

    def _key(self) -> tuple[object, ...]:
        return Cascade, self.parts, self.candidates

    def _arguments(self, parts: list[str]) -> Iterable[str]:
        yield from parts

    def __repr__(self) -> str:
        same = len(set(self.candidates)) == 1
        return self._shown(f"candidates={self.candidates[0] if same else list(self.candidates)}")


def usual_hybrid() -> WeightedSum:
    """Return what ``by="hybrid"`` is: 0.5 of BM25, 0.2 of TF-IDF and 0.3 of transport.

    Of the weights that were tried these do best on five judged collections together, and on four
    of them better than BM25 alone (``benchmarks/hybrids.py``). The first ten hits are as good with
    a hundred candidates as with a thousand, whose distances take many times as long.
    """
    return WeightedSum({"bm25": 0.5, "tfidf": 0.2, "wmd": 0.3}, candidates=200)


def _rankings(name: str, given: "Sequence[By]") -> tuple[Ranking, ...]:
    from textkin.index.ranking._choosing import ranking_of  # which knows hybrids by name

    if len(given) < 2:
        raise ValueError(f"{name} must be of two rankings or more; got {len(given)}.")
    return tuple(map(ranking_of, given))
