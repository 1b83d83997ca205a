"""Hybrids at work: the candidates of a query, and their scores."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from textkin._typing import BoolArray, Float64Array, Int64Array
from textkin.explain import Contribution, Contributions, Explanation
from textkin.index.ranking._feedback import Rocchio
from textkin.index.ranking._ranking import Ranked, Ranker
from textkin.index.ranking._view import View

if TYPE_CHECKING:
    from textkin.index.ranking._hybrids import Cascade, Hybrid, RankFusion, WeightedSum

__all__ = ["CascadeRanker", "HybridRanker", "RankFusionRanker", "WeightedSumRanker"]

Queries: TypeAlias = tuple[Any, ...]
"""The query of each part, in its own form."""

_Found = TypeVar("_Found")


class HybridRanker(Ranker[Queries]):
    """What all rankers of hybrids share: parts with queries of their own.

    Parameters
    ----------
    ranking : ranking made of rankings
        Which ones.
    view : View
        The documents.
    """

    def __init__(self, ranking: "Hybrid", view: View) -> None:
        self.view = view
        self._labels = ranking.labels
        self._name = repr(ranking)
        self._rankers = [part.on(view) for part in ranking.parts]
        self._latest: tuple[Queries, BoolArray | None, Any] | None = None

    def of_text(self, text: str) -> Queries:
        """Return the query of each part."""
        return tuple(ranker.of_text(text) for ranker in self._rankers)

    def of_row(self, row: int) -> Queries:
        """Return the query of each part."""
        return tuple(ranker.of_row(row) for ranker in self._rankers)

    def of_words(self, weights: Mapping[str, float]) -> Queries:
        """Give the same words with the same weights to each part."""
        return tuple(ranker.of_words(weights) for ranker in self._rankers)

    def words_of(self, query: Queries) -> Mapping[str, float] | None:
        """Return the words of the first part that has words."""
        for ranker, own in zip(self._rankers, query, strict=True):
            words = ranker.words_of(own)
            if words is not None:
                return words
        return None

    def moved(
        self, query: Queries, relevant: Sequence[int], nonrelevant: Sequence[int], how: Rocchio
    ) -> Queries:
        """Let each part move its own query."""
        return tuple(
            ranker.moved(own, relevant, nonrelevant, how)
            for ranker, own in zip(self._rankers, query, strict=True)
        )

    def best(
        self,
        query: Queries,
        limit: int,
        threshold: float | None = None,
        rows: BoolArray | None = None,
    ) -> Ranked:
        """Rank the candidates; no others are found, and a note says so where that matters."""
        ranked, most = self._ranked(query, rows)
        notes = ranked.notes
        if most is not None and limit > most:
            notes = (
                *notes,
                f"Only the best {most:,} documents of its parts were ranked by {self._name}: its "
                "candidates.",
            )
        if threshold is not None:
            near = ranked.scores <= threshold if self.ascending else ranked.scores >= threshold
            ranked = Ranked(ranked.rows[near], ranked.scores[near], ranked.stats)
        return Ranked(ranked.rows[:limit], ranked.scores[:limit], ranked.stats, notes)

    def explain(self, query: Queries, row: int) -> Explanation:
        """Return the parts that sum to the score of a document among all documents."""
        return self.explain_among(query, row, None)

    @abstractmethod
    def _ranked(self, query: Queries, rows: BoolArray | None) -> tuple[Ranked, int | None]:
        """Rank all candidates; return also their number if others were left out, else None."""

    def _once(self, query: Queries, rows: BoolArray | None, search: Callable[[], _Found]) -> _Found:
        """Search, or return what the latest search found, if it was the very same.

        The next page and each explanation ask for that again. Queries and masks never change.
        """
        latest = self._latest  # of any thread, whole
        if latest is not None and latest[0] is query and latest[1] is rows:
            known: _Found = latest[2]
            return known
        found = search()
        self._latest = query, rows, found
        return found

    def _mask(self, rows: Int64Array) -> BoolArray:
        mask = np.zeros(self.view.n_rows, np.bool_)
        mask[rows] = True
        return mask

    def _stats(self, candidates: int, lists: Iterable[Ranked]) -> dict[str, float]:
        found: dict[str, float] = {"candidates": candidates}
        for label, ranked in zip(self._labels, lists, strict=False):
            found.update({f"{label}: {name}": value for name, value in ranked.stats.items()})
        return found


class _Said(NamedTuple):
    """What a part says of the candidates, and which rows it chose from."""

    ranked: Ranked
    rows: BoolArray | None


class _Scale(NamedTuple):
    """The scores that become 0 and 1; `width` is 0 where all are equal."""

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
            return np.zeros(len(scores))
        return (scores - self.zero) / self.width


class WeightedSumRanker(HybridRanker):
    """A weighted sum over the candidates of a view.

    Parameters
    ----------
    ranking : WeightedSum
        Parts and weights.
    view : View
        The documents.
    """

    def __init__(self, ranking: "WeightedSum", view: View) -> None:
        super().__init__(ranking, view)
        self._ranking = ranking

    def explain_among(self, query: Queries, row: int, rows: BoolArray | None) -> Contributions:
        """Return what each ranking adds, made of its own parts and of where its scale begins."""
        said, _, _ = self._once(query, rows, lambda: self._said(query, rows))
        parts = []
        for at, (ranked, among) in enumerate(said):
            ranker, weight = self._rankers[at], self._ranking.weights[at]
            place = np.flatnonzero(ranked.rows == row)
            if not len(place):
                parts.append(Contribution(self._labels[at], 0.0, "not found by this one"))
                continue
            scale = _Scale.of(ranked.scores, ranker.ascending)
            score = float(ranked.scores[place[0]])
            if not scale.width:
                note = f"all candidates have {score:.4g}"
                parts.append(Contribution(self._labels[at], 0.0, note))
                continue
            value = float(scale.apply(np.array([score]))[0])
            times = weight / scale.width
            inside = _scaled(ranker.explain_among(query[at], row, among).parts, times)
            if scale.zero:
                end = "the farthest candidate" if ranker.ascending else "the lowest candidate"
                ends = f"{scale.zero:.4g} counts 0, {scale.zero + scale.width:.4g} counts 1"
                inside += (Contribution(end, -times * scale.zero, ends),)
            note = f"{weight:g} x {value:.3g}, of {score:.4g}"
            ordered = sorted(inside, key=lambda part: -abs(part.value))
            parts.append(Contribution(self._labels[at], weight * value, note, tuple(ordered)))
        return Contributions.of(parts)

    def _ranked(self, query: Queries, rows: BoolArray | None) -> tuple[Ranked, int | None]:
        said, pool, most = self._once(query, rows, lambda: self._said(query, rows))
        scores = np.zeros(len(pool))
        for ranker, weight, (ranked, _) in zip(
            self._rankers, self._ranking.weights, said, strict=True
        ):
            scaled = _Scale.of(ranked.scores, ranker.ascending).apply(ranked.scores)
            scores[np.searchsorted(pool, ranked.rows)] += weight * scaled
        stats = self._stats(len(pool), (ranked for ranked, _ in said))
        return _in_order(pool, scores, stats), most

    def _said(
        self, query: Queries, rows: BoolArray | None
    ) -> tuple[list[_Said], Int64Array, int | None]:
        """Return what each part says of the candidates, these, and their number if there are more.

        A part that brought fewer documents than it might has found all that it can: it need not
        be asked again.
        """
        most = self._ranking.candidates
        first = self._rankers[:1] if self._ranking.pool == "first" else self._rankers
        lists = [_top(ranker, own, most, rows) for ranker, own in zip(first, query, strict=False)]
        pool = np.unique(np.concatenate([ranked.rows for ranked in lists]))
        mask = self._mask(pool)
        said = []
        for at, (ranker, own) in enumerate(zip(self._rankers, query, strict=True)):
            complete = at < len(lists) and (len(lists[at].rows) < most or len(lists) == 1)
            if complete:
                said.append(_Said(lists[at], rows))
            elif not len(pool):
                said.append(_Said(lists[0], rows))
            else:
                said.append(_Said(_top(ranker, own, len(pool), mask), mask))
        full = any(len(ranked.rows) >= most for ranked in lists)
        return said, pool, len(pool) if full else None


class RankFusionRanker(HybridRanker):
    """A fusion of ranks over the documents of a view.

    Parameters
    ----------
    ranking : RankFusion
        Parts.
    view : View
        The documents.
    """

    def __init__(self, ranking: "RankFusion", view: View) -> None:
        super().__init__(ranking, view)
        self._ranking = ranking

    def explain_among(self, query: Queries, row: int, rows: BoolArray | None) -> Contributions:
        """Return what each ranking adds. A rank is no sum, so that there is nothing inside."""
        parts = []
        lists = self._once(query, rows, lambda: self._lists(query, rows))
        for label, ranked in zip(self._labels, lists, strict=True):
            place = np.flatnonzero(ranked.rows == row)
            if len(place):
                rank = int(place[0]) + 1
                note = f"rank {rank} with {float(ranked.scores[place[0]]):.4g}"
                parts.append(Contribution(label, 1 / (self._ranking.c + rank), note))
            else:
                some = len(ranked.rows)
                note = f"not among the best {some}" if some else "nothing found"
                parts.append(Contribution(label, 0.0, note))
        return Contributions.of(parts)

    def _ranked(self, query: Queries, rows: BoolArray | None) -> tuple[Ranked, int | None]:
        lists = self._once(query, rows, lambda: self._lists(query, rows))
        pool = np.unique(np.concatenate([ranked.rows for ranked in lists]))
        scores = np.zeros(len(pool))
        for ranked in lists:
            ranks = np.arange(1, len(ranked.rows) + 1)
            scores[np.searchsorted(pool, ranked.rows)] += 1 / (self._ranking.c + ranks)
        full = any(len(ranked.rows) >= self._ranking.candidates for ranked in lists)
        ranked = _in_order(pool, scores, self._stats(len(pool), lists))
        return ranked, len(pool) if full else None

    def _lists(self, query: Queries, rows: BoolArray | None) -> list[Ranked]:
        return [
            _top(ranker, own, self._ranking.candidates, rows)
            for ranker, own in zip(self._rankers, query, strict=True)
        ]


class CascadeRanker(HybridRanker):
    """Stages over the documents of a view.

    Parameters
    ----------
    ranking : Cascade
        The stages.
    view : View
        The documents.
    """

    def __init__(self, ranking: "Cascade", view: View) -> None:
        super().__init__(ranking, view)
        self._ranking = ranking
        self.ascending = ranking.ascending

    def explain_among(self, query: Queries, row: int, rows: BoolArray | None) -> Explanation:
        """Explain the score of the last stage."""
        _, _, mask = self._down(query, rows)
        return self._rankers[-1].explain_among(query[-1], row, mask)

    def _ranked(self, query: Queries, rows: BoolArray | None) -> tuple[Ranked, int | None]:
        lists, full, mask = self._down(query, rows)
        handed_on = len(lists[-1].rows)
        if handed_on:
            lists.append(_top(self._rankers[-1], query[-1], handed_on, mask))
        last = lists[-1]
        ranked = Ranked(last.rows, last.scores, self._stats(handed_on, lists))
        return ranked, handed_on if full else None

    def _down(
        self, query: Queries, rows: BoolArray | None
    ) -> tuple[list[Ranked], bool, BoolArray | None]:
        """Go down to the last stage: the lists, whether one was full, and what is handed on."""
        lists: list[Ranked] = []
        full, mask = False, rows
        for at, most in enumerate(self._ranking.candidates):
            lists.append(_top(self._rankers[at], query[at], most, mask))
            full |= len(lists[-1].rows) >= most
            mask = self._mask(lists[-1].rows)
            if not len(lists[-1].rows):
                break
        return lists, full, mask


def _top(ranker: Ranker[Any], query: object, limit: int, rows: BoolArray | None) -> Ranked:
    """Return the best of a part; a hybrid gives as many as it has, whatever is asked for."""
    if isinstance(ranker, HybridRanker):
        found, _ = ranker._ranked(query, rows)  # type: ignore[arg-type]
        return Ranked(found.rows[:limit], found.scores[:limit], found.stats)
    return ranker.best(query, limit, None, rows)


def _in_order(rows: Int64Array, scores: Float64Array, stats: dict[str, float]) -> Ranked:
    """Put ascending rows in the order of scores; of equal ones the first row comes first."""
    order = np.argsort(-scores, kind="stable")
    return Ranked(rows[order].astype(np.int64), scores[order], stats)


def _scaled(parts: Iterable[Contribution], times: float) -> tuple[Contribution, ...]:
    return tuple(
        Contribution(part.name, times * part.value, part.note, _scaled(part.parts, times))
        for part in parts
    )
