"""Error of k nearest neighbours, as the WMD paper measures it, for anything that finds neighbours.

A fifth of the training documents, drawn class by class, chooses k in 1..19 and the settings of a
method; then all training documents are searched for the test documents, once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from textkin._typing import Bags, Int64Array
from textkin.distance import distances
from textkin.distance._near import NearRows, nearest_rows
from textkin.evaluate._cells import Task
from textkin.evaluate._classification import error
from textkin.evaluate._protocol import NEIGHBOURS, best_of, best_of_trials, held_out, votes
from textkin.evaluate.experiments._labelled import Part, counter_of, labelled
from textkin.learn._voting import VoteName

__all__ = [
    "MOST",
    "Finder",
    "Ranges",
    "Side",
    "Vectors",
    "classifier_error",
    "errors_by_k",
    "found_by",
    "neighbour_error",
    "sides",
    "some_of",
]

MOST = max(NEIGHBOURS)
_RULES: tuple[VoteName, ...] = ("fall-back", "majority")
_ROWS = 512  # queries at a time, where distances have several parts

Settings: TypeAlias = Mapping[str, Any]
Ranges: TypeAlias = Mapping[str, tuple[float, float] | Sequence[Any]]
Vectors: TypeAlias = Sequence[Any]
"""Rows of numbers in parts that stand side by side, sparse or dense."""


@dataclass(frozen=True)
class Side:
    """Documents as texts, as counts of words, and with their labels."""

    part: Part
    bags: Bags

    def taken(self, rows: Int64Array) -> "Side":
        """Return some of them."""
        return Side(self.part.taken(rows), self.bags[rows])

    @property
    def empty(self) -> Any:  # noqa: ANN401 (an array of booleans)
        """Which ones have no word that counts: they are never found and find nothing."""
        return np.diff(self.bags.indptr) == 0


class Finder(Protocol):
    """Finds the neighbours of `ask` in `learn` for each of some settings."""

    def __call__(
        self, task: Task, learn: Side, ask: Side, settings: Sequence[Settings]
    ) -> Iterator[tuple[Settings, NearRows]]:
        """Yield the settings in any order, each with what was found."""
        ...


def neighbour_error(
    task: Task,
    find: Finder,
    settings: Sequence[Settings],
    most_asked: int | None = None,
    most_held: int | None = None,
    *,
    ranges: Ranges | None = None,
    n_trials: int = 0,
) -> dict[str, Any]:
    """Return the error in percent by the vote of neighbours.

    Parameters
    ----------
    task : Task
        Of a labelled set.
    find : Finder
        Finds neighbours.
    settings : sequence of mappings
        Those to choose from.
    most_asked : int, optional
        Test on so many documents at most, drawn with a fixed seed.
    most_held : int, optional
        Choose on so many held-out documents at most.
    ranges : mapping, optional
        Search in these by Bayesian optimisation; `settings` must then be one mapping, which each
        trial adds to.
    n_trials : int, default=0
        How many settings such a search tries.

    Returns
    -------
    dict
        "error" by the vote of the paper's code, with k and the setting that were chosen and their
        error on validation documents; "error_majority" by a plain majority, with its own k.
    """
    train, test = sides(task)
    test = some_of(test, most_asked)
    rest, held = held_out(train.part.labels)
    learn, ask = train.taken(rest), some_of(train.taken(held), most_held)
    best: dict[VoteName, tuple[float, int, Settings]] = {}

    def least(setting: Settings, near: NearRows) -> float:
        """Return the least error by the vote of the paper's code, and keep what is best so far."""
        errors: dict[VoteName, float] = {}
        for rule in _RULES:
            found = errors_by_k(near, learn.part.labels, ask.part.labels, rule)
            k = min(found, key=lambda k: found[k])
            errors[rule] = found[k]
            if rule not in best or found[k] < best[rule][0]:
                best[rule] = found[k], k, setting
        return errors["fall-back"]

    if ranges is None:
        for setting, near in find(task, learn, ask, settings):
            least(setting, near)
    else:
        [fixed] = settings

        def tried(some: Settings) -> float:
            [(setting, near)] = find(task, learn, ask, [{**fixed, **some}])
            return least(setting, near)

        best_of_trials(tried, ranges, n_trials)
    made: dict[str, Any] = {}
    wanted = list({repr(setting): setting for _, _, setting in best.values()}.values())
    near_of = {repr(s): near for s, near in find(task, train, test, wanted)}
    for rule, (validation, k, setting) in best.items():
        errors = errors_by_k(near_of[repr(setting)], train.part.labels, test.part.labels, rule)
        ending = "" if rule == "fall-back" else "_majority"
        made[f"error{ending}"] = errors[k]
        made[f"validation_error{ending}"] = validation
        made[f"k{ending}"] = k
        made[f"setting{ending}"] = dict(setting)
    return {**made, "n_train": len(train.part), "n_test": len(test.part)}


def classifier_error(
    task: Task, predict: Callable[..., Any], settings: Sequence[Settings]
) -> dict[str, Any]:
    """Return the error of another classifier: ``predict(learn, ask, **setting)`` gives labels."""
    train, test = sides(task)
    rest, held = held_out(train.part.labels)
    learn, ask = train.taken(rest), train.taken(held)

    def percent(learn: Side, ask: Side, setting: Settings) -> float:
        return 100 * error(ask.part.labels, predict(learn, ask, **setting))

    setting, validation = best_of(settings, lambda setting: percent(learn, ask, setting))
    return {
        "error": percent(train, test, setting),
        "validation_error": validation,
        "setting": dict(setting),
        "n_train": len(train.part),
        "n_test": len(test.part),
    }


def sides(task: Task) -> tuple[Side, Side]:
    """Return training and test documents, counted once a split: words of training documents."""

    def counted() -> tuple[Side, Side]:
        some = labelled(task)
        counter = counter_of(task).fit(some.train.texts)
        return (
            Side(some.train, counter.transform(some.train.texts)),
            Side(some.test, counter.transform(some.test.texts)),
        )

    return task.memo("sides", counted)


def some_of(side: Side, most: int | None) -> Side:
    """Return at most so many documents, drawn with a fixed seed; None is all."""
    if most is None or most >= len(side.part):
        return side
    return side.taken(np.sort(np.random.default_rng(0).permutation(len(side.part))[:most]))


def found_by(
    task: Task, learn: Side, ask: Side, vectors: Callable[[Side], Vectors], metric: str
) -> NearRows:
    """Return the nearest documents by vectors; several parts only with the metric "l2"."""
    known, asked = vectors(learn), vectors(ask)
    allowed = ~learn.empty
    if len(known) == 1:
        near = nearest_rows(asked[0], known[0], metric, MOST, allowed=allowed, n_jobs=task.n_jobs)
    else:
        near = _by_parts(task, known, asked, allowed)
    nothing = np.empty(0, np.int64), np.empty(0)
    empty = ask.empty
    return NearRows.of([nothing if empty[row] else near[row] for row in range(len(near))])


def _by_parts(task: Task, known: Vectors, asked: Vectors, allowed: Any) -> NearRows:  # noqa: ANN401
    """Add up the squared distances of the parts: rows side by side would not fit in memory."""
    rows = np.flatnonzero(allowed)
    found = []
    for start in range(0, asked[0].shape[0], _ROWS):
        total: Any = 0.0
        for one, other in zip(asked, known, strict=True):
            some = one[start : start + _ROWS]
            total = total + distances(some, other, "squared-l2", n_jobs=task.n_jobs)
        for squares in total[:, rows]:
            order = np.argsort(squares, kind="stable")[:MOST]
            found.append((rows[order].astype(np.int64), np.sqrt(squares[order])))
    return NearRows.of(found)


def errors_by_k(
    near: NearRows,
    labels: Any,  # noqa: ANN401 (arrays of labels)
    own: Any,  # noqa: ANN401
    rule: VoteName = "fall-back",
) -> dict[int, float]:
    """Return the error in percent for every number of neighbours that vote."""
    found = votes(near, labels, MOST, rule=rule)
    return {k: 100 * error(own, voted) for k, voted in found.items()}
