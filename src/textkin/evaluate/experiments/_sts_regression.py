"""A regression on the training pairs that combines WTMF with how the words of a pair align.

The source names it as its outlook: WTMF alone does not see that two sentences differ in one word.
What such a regression learns of the sets that it has seen need not hold for others, so there are
two ways to choose it: by folds that have pairs of every set, and by leaving out whole sets.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from textkin._typing import Float64Array
from textkin.evaluate._cells import Task
from textkin.evaluate._pairs import PairData
from textkin.evaluate._protocol import grid
from textkin.evaluate._sts import sts_scores
from textkin.evaluate.experiments._sts_features import aligned
from textkin.evaluate.experiments._sts_models import (
    CHOOSING,
    Scored,
    corpus_of,
    cosines,
    scored_by_words,
)
from textkin.evaluate.experiments._sts_texts import TRAINING, pairs_of
from textkin.models import Pooling

__all__ = ["REGRESSIONS", "HeldOut", "predicted", "regressed"]

HeldOut: TypeAlias = Literal["folds", "sets"]

REGRESSIONS: list[dict[str, Any]] = [
    *grid(kind=["ridge"], alpha=[1.0, 10.0, 100.0, 1000.0]),
    *grid(kind=["svr"], C=[0.1, 1.0, 10.0], gamma=[0.01, 0.03, 0.1]),
    *grid(kind=["within"], alpha=[1.0, 10.0, 100.0, 1000.0, 10000.0]),
]
"""Ridge regression, support vectors with a Gaussian kernel, and `_within`."""

_FOLDS = 5


def regressed(
    task: Task, latent: Scored, choices: Sequence[Mapping[str, Any]], held_out: HeldOut
) -> tuple[Float64Array, dict[str, Any]]:
    """Return predicted scores of the pairs of a task, and what was chosen.

    Parameters
    ----------
    task : Task
        Whose pairs.
    latent : mapping
        The cosines of WTMF, learnt without the sentences of the training pairs.
    choices : sequence of mappings
        Regressions to choose from, by the Mean of the training sets.
    held_out : {"folds", "sets"}
        Whether a regression is judged on a fifth of every training set, or on sets that it has
        not seen.
    """
    rows = {name: _features(task, latent, name) for name in (TRAINING, task.dataset)}
    training = pairs_of(task, TRAINING)
    means = task.memo(
        f"regressions, {held_out}",
        lambda: [_held_out_mean(each, rows[TRAINING], training, held_out) for each in choices],
        "run",
    )
    chosen = choices[int(np.argmax(means))]
    every = np.arange(len(training))
    found = predicted(chosen, rows[TRAINING], training, every, rows[task.dataset])
    numbers = [f"{name} = {value:g}" for name, value in chosen.items() if name != "kind"]
    shown = ", ".join([chosen["kind"], *numbers])
    return found, {"chosen": shown, "training Mean": max(means)}


def _held_out_mean(
    choice: Mapping[str, Any], rows: Float64Array, pairs: PairData, held_out: HeldOut
) -> float:
    """Return the Mean of the sets, every pair predicted by what was learnt from others."""
    scores = np.empty(len(pairs))
    for learn, ask in _parts(pairs, held_out):
        scores[ask] = predicted(choice, rows, pairs, learn, rows[ask])
    return sts_scores(pairs.sets, pairs.gold, scores).mean


def predicted(
    choice: Mapping[str, Any],
    rows: Float64Array,
    pairs: PairData,
    learn: Any,  # noqa: ANN401 (positions)
    new: Float64Array,
) -> Float64Array:
    """Learn gold scores from some rows of features, and predict those of new rows."""
    settings = {name: value for name, value in choice.items() if name != "kind"}
    gold, sets = pairs.gold[learn], np.array(pairs.sets)[learn]
    if choice["kind"] == "within":
        return _within(rows[learn], gold, sets, new, **settings)
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    model = {"ridge": Ridge, "svr": SVR}[choice["kind"]](**settings)
    pipeline = make_pipeline(StandardScaler(), model).fit(rows[learn], gold)
    return np.asarray(pipeline.predict(new), dtype=np.float64)


def _within(
    rows: Float64Array,
    gold: Float64Array,
    sets: Any,  # noqa: ANN401 (names)
    new: Float64Array,
    alpha: float,
) -> Float64Array:
    """Predict by what makes pairs of one set differ, not by what makes sets differ.

    Ridge regression of gold scores less the mean of their set on features less theirs. No weight
    is below 0: all features are the larger the more alike a pair is.
    """
    from sklearn.linear_model import Ridge

    apart, wanted = rows.copy(), gold.copy()
    for name in np.unique(sets):
        apart[sets == name] -= rows[sets == name].mean(axis=0)
        wanted[sets == name] -= gold[sets == name].mean()
    sizes = apart.std(axis=0)
    sizes[sizes == 0] = 1.0
    model = Ridge(alpha=alpha, positive=True, fit_intercept=False).fit(apart / sizes, wanted)
    found: Float64Array = gold.mean() + (new - rows.mean(axis=0)) / sizes @ model.coef_
    return found


def _parts(pairs: PairData, held_out: HeldOut) -> Iterator[tuple[Any, Any]]:
    """Give what is learnt from and what is asked for, until every pair was asked for."""
    from sklearn.model_selection import LeaveOneGroupOut, StratifiedKFold

    if held_out == "folds":
        folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
        yield from folds.split(pairs.gold, pairs.sets)
    else:
        yield from LeaveOneGroupOut().split(pairs.gold, groups=pairs.sets)


def _features(task: Task, latent: Scored, name: str) -> Float64Array:
    """Return the features of the pairs of a file, in the order of their names."""
    made = task.arrays("features", lambda: _made(task, name), scope="run", pairs=name)
    return np.column_stack([latent[name], *(made[each] for each in sorted(made))])


def _made(task: Task, name: str) -> dict[str, Float64Array]:
    pairs, training = pairs_of(task, name), pairs_of(task, TRAINING)
    pooling = Pooling(weights="sif", remove_components=1, stop_words=None)
    pooling.fit([*training.first, *training.second])
    return {
        "tf-idf": scored_by_words(task, CHOOSING)[name],
        "SIF": cosines(pooling.transform(pairs.first), pooling.transform(pairs.second)),
        **aligned(pairs, corpus_of(task, CHOOSING).idf, task.n_jobs),
    }
