"""`tune`: weights of a hybrid ranking, learned from relevance judgments."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, count
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from textkin._base import Float64Array, TableResult, abbreviate, integer, one_of, real
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.index.search._columns import Passed
from textkin.index.search._request import RankingLike, ranking_of
from textkin.index.search.rankings._hybrids import Hybrid, HybridScorer
from textkin.index.store import is_text
from textkin.run import ProgressCallback

if TYPE_CHECKING:
    from textkin.index.search._searcher import Searcher

__all__ = ["HybridTuning", "tune"]

_STEPS = {2: 20, 3: 10, 4: 5}  # steps of the weights from 0 to 1, by the number of rankings


@dataclass(frozen=True, slots=True, repr=False)
class HybridTuning(TableResult):
    """Result of `Index.tune`: a hybrid with learned weights, and cross-validated MAP.

    Attributes
    ----------
    ranking : Hybrid
        Hybrid with the weights that are the best on all queries; pass it to `Index.search`.
    labels : tuple of str
        Names of the combined rankings.
    scores : dict of str to float
        Mean average precision of each ranking alone, of equal weights ("equal weights"), and of
        learned weights ("learned weights"). The last value is cross-validated: the queries of each
        fold are ranked with weights that were learned on the other folds.
    fold_weights : tuple of tuple of float
        Weights learned for each fold. If they differ much, there are too few queries.
    n_queries : int
        Number of queries with a relevant document.
    """

    ranking: Hybrid
    labels: tuple[str, ...]
    scores: dict[str, float]
    fold_weights: tuple[tuple[float, ...], ...]
    n_queries: int

    @property
    def weights(self) -> tuple[float, ...]:
        """Learned weight of each part of the hybrid."""
        return self.ranking.weights

    @property
    def gain(self) -> float:
        """Cross-validated MAP of the hybrid minus the best MAP of one of its parts."""
        return self.scores["learned weights"] - max(self.scores[name] for name in self.labels)

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dict per ranking with its name and MAP."""
        return [{"ranking": name, "map": value} for name, value in self.scores.items()]

    def __str__(self) -> str:
        width = max(map(len, self.scores))
        shown = ", ".join(
            f"{name} {weight:g}" for name, weight in zip(self.labels, self.weights, strict=True)
        )
        best = max(self.labels, key=lambda name: self.scores[name])
        folds = len(self.fold_weights)
        return "\n".join(
            [
                f"Weights learned from {self.n_queries} queries: {shown}",
                *(f"{name:<{width}}  MAP {value:.4f}" for name, value in self.scores.items()),
                f"Learned weights gain {self.gain:+.4f} over {best} ({folds}-fold "
                "cross-validation).",
            ]
        )

    def __repr__(self) -> str:
        return f"HybridTuning({self.ranking!r}, gain={self.gain:+.4f})"


def tune(
    searcher: "Searcher",
    queries: Mapping[str, str],
    qrels: Mapping[str, Any],
    rankings: Sequence[RankingLike] | None,
    *,
    fusion: Literal["scores", "rrf"],
    n_folds: int,
    candidates: int,
    progress: ProgressCallback | None,
) -> HybridTuning:
    """Learn the weights of a hybrid from relevance judgments; see `Index.tune`."""
    one_of("scores", "rrf").check("fusion", fusion)
    integer(2).check("n_folds", n_folds)
    parts = _parts(searcher, rankings)
    if len(parts) not in _STEPS:
        raise ParameterError("rankings", "2 to 4 rankings", str(len(parts)))
    judged = _judged(queries, qrels)
    if len(judged) < n_folds:
        raise ParameterError(
            "queries",
            f"at least {n_folds} queries with a relevant document, one per fold",
            str(len(judged)),
            "Pass more queries, or a smaller `n_folds`.",
        )
    state = searcher.state
    ids = {id for _, relevant in judged for id in relevant}
    if not any(is_text(id) and state.row_of(id) is not None for id in ids):
        raise ParameterError(
            "qrels",
            "judgments of documents of the index",
            "only IDs that the index does not have",
            "Compare them with `index.ids`.",
        )
    made = Hybrid(parts, fusion=fusion, candidates=candidates)
    labels = tuple(_distinct(made.labels))
    grid = [*_grid(len(parts))]
    values = np.empty((len(judged), len(grid)))  # average precision of each query and weights
    alone = np.empty((len(judged), len(parts)))  # and of each ranking
    scorer = searcher.scorer(made)
    assert isinstance(scorer, HybridScorer)
    for at, (text, relevant) in enumerate(judged):
        known = (state.row_of(id) for id in relevant if is_text(id))
        rows = {row for row in known if row is not None}
        pool, scaled = scorer.scaled(scorer.of_text(text), Passed().rows)
        hits = np.isin(pool, [*rows])
        for place, scores in enumerate(scaled.T):
            found = np.flatnonzero(~np.isnan(scores))  # without candidates of the other rankings
            order = found[np.argsort(-scores[found], kind="stable")]
            alone[at, place] = _average_precision(hits[order], len(relevant))
        added = np.nan_to_num(scaled)
        for place, weights in enumerate(grid):
            order = np.argsort(-(added @ np.array(weights)), kind="stable")
            values[at, place] = _average_precision(hits[order], len(relevant))
        if progress is not None:
            progress(at + 1, len(judged))
    return _report(made, labels, grid, values, alone.mean(axis=0), n_folds)


def _report(
    made: Hybrid,
    labels: tuple[str, ...],
    grid: list[tuple[float, ...]],
    values: Float64Array,
    alone: Float64Array,
    n_folds: int,
) -> HybridTuning:
    folds = np.arange(len(values)) % n_folds
    learned = np.empty(len(values))
    fold_weights = []
    for fold in range(n_folds):
        best = _best(values[folds != fold].mean(axis=0), grid)
        fold_weights.append(grid[best])
        learned[folds == fold] = values[folds == fold, best]
    means = values.mean(axis=0)
    scores = dict(zip(labels, map(float, alone), strict=True))
    scores["equal weights"] = float(means[-1])
    scores["learned weights"] = float(learned.mean())
    chosen = Hybrid(
        made.parts,
        grid[_best(means, grid)],
        fusion=made.fusion,
        candidates=made.candidates,
    )
    return HybridTuning(chosen, labels, scores, tuple(fold_weights), len(values))


def _parts(searcher: "Searcher", rankings: Sequence[RankingLike] | None) -> list[Any]:
    models = searcher.state.snapshot.models
    if rankings is None:
        return list(ranking_of("hybrid").resolved(searcher.state).parts)  # type: ignore[attr-defined]
    if isinstance(rankings, str) or not isinstance(rankings, Sequence):
        raise ParameterTypeError(
            "rankings", "a list of rankings", type(rankings).__name__, 'Pass `["bm25", "wmd"]`.'
        )
    return [ranking_of(one, models) for one in rankings]


def _judged(
    queries: Mapping[str, str], qrels: Mapping[str, Any]
) -> list[tuple[str, frozenset[str]]]:
    """Return text and relevant document IDs of each query that has relevant documents."""
    for name, given in (("queries", queries), ("qrels", qrels)):
        if not isinstance(given, Mapping):
            raise ParameterTypeError(
                name,
                "a mapping by query ID",
                type(given).__name__,
                'Pass `{"q1": "a text"}` and `{"q1": ["d7"]}`.',
            )
    found = []
    for id, text in queries.items():
        if not isinstance(text, str):
            raise ParameterTypeError(f"queries[{abbreviate(id, 40)}]", "a str", type(text).__name__)
        relevant = _relevant(qrels.get(id, ()), id)
        if relevant:
            found.append((text, relevant))
    return found


def _relevant(judged: Any, id: object) -> frozenset[str]:  # noqa: ANN401 (a user's)
    place = f"qrels[{abbreviate(id, 40)}]"
    if isinstance(judged, Mapping):
        for document, grade in judged.items():
            real().check(f"{place}[{abbreviate(document, 40)}]", grade)
        judged = [document for document, grade in judged.items() if grade > 0]
    if isinstance(judged, str) or not isinstance(judged, Iterable):
        raise ParameterTypeError(
            place,
            "a mapping of document IDs to grades, or a list of document IDs",
            type(judged).__name__,
        )
    found = list(judged)
    for document in found:
        if not isinstance(document, str):
            raise ParameterTypeError(
                place, "document IDs of type str", type(document).__name__, "Pass `str(id)`."
            )
    return frozenset(found)


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names, with a number after each one that occurred before."""
    found: list[str] = []
    for name in names:
        numbered = (f"{name} ({at})" for at in count(2))
        found.append(next(one for one in chain([name], numbered) if one not in found))
    return found


def _grid(n_parts: int) -> Iterator[tuple[float, ...]]:
    """Yield the weight vectors to try: all with sum 1 in equal steps, and equal weights."""
    steps = _STEPS[n_parts]
    for bars in combinations(range(steps + n_parts - 1), n_parts - 1):
        edges = (-1, *bars, steps + n_parts - 1)
        yield tuple((edges[at + 1] - edges[at] - 1) / steps for at in range(n_parts))
    yield (1 / n_parts,) * n_parts


def _best(means: Float64Array, grid: list[tuple[float, ...]]) -> int:
    """Return the index of the weights with the highest MAP; ties go to the most equal ones."""
    best = np.flatnonzero(means >= means.max() - 1e-12)
    return int(min(best, key=lambda at: sum(weight**2 for weight in grid[at])))


def _average_precision(hits: Any, n_relevant: int) -> float:  # noqa: ANN401 (mask in rank order)
    ranks = np.flatnonzero(hits) + 1
    return float((np.arange(1, len(ranks) + 1) / ranks).sum() / n_relevant)
