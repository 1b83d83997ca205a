"""SVM and neighbours on kernel matrices, with everything chosen among the labelled documents."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from textkin._typing import BoolArray, Float64Array, Int64Array
from textkin.distance._near import NearRows
from textkin.evaluate._cells import Task
from textkin.evaluate._protocol import NEIGHBOURS, best_of, votes
from textkin.evaluate.experiments._kernel_news import (
    CATEGORIES,
    SETTINGS,
    Kernels,
    Setting,
    fitted_models,
    labelled_rows,
    news,
)

__all__ = ["Neighbours", "SupportVectors", "errors_with_labels"]

COSTS = (1.0, 10.0, 100.0)
_FOLDS = 3
_MOST = 5  # choices are made with this part of the training documents where all have labels


Labels: TypeAlias = Mapping[str, BoolArray]
"""For each category, which documents are of it."""


class Classifier(Protocol):
    """Yes or no for each category, from a kernel."""

    def tuned(self, known: Float64Array, labels: Labels) -> dict[str, tuple[Any, float]]:
        """Choose a parameter by the labelled documents alone; with its error in percent."""
        ...

    def predicted(
        self,
        known: Float64Array,
        labels: Labels,
        others: Float64Array,
        parameters: Mapping[str, Any],
    ) -> dict[str, BoolArray]:
        """Classify other documents."""
        ...


class SupportVectors:
    """An SVM a category; C by cross-validation in three parts."""

    def tuned(self, known: Float64Array, labels: Labels) -> dict[str, tuple[float, float]]:
        """Choose C."""
        return {name: self._tuned(known, own) for name, own in labels.items()}

    def _tuned(self, known: Float64Array, labels: BoolArray) -> tuple[float, float]:
        wrong = dict.fromkeys(COSTS, 0)
        folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            parts = list(folds.split(known, labels))
        for learn, check in parts:
            inner, outer = known[np.ix_(learn, learn)], known[np.ix_(check, learn)]
            for cost in COSTS:
                found = _separated(inner, labels[learn], outer, cost)
                wrong[cost] += int((found != labels[check]).sum())
        cost, least = best_of(COSTS, wrong.__getitem__)
        return cost, 100 * least / len(labels)

    def predicted(
        self,
        known: Float64Array,
        labels: Labels,
        others: Float64Array,
        parameters: Mapping[str, float],
    ) -> dict[str, BoolArray]:
        """Classify by the side of the plane."""
        return {
            name: _separated(known, own, others, parameters[name]) for name, own in labels.items()
        }


def _separated(
    known: Float64Array, labels: BoolArray, others: Float64Array, cost: float
) -> BoolArray:
    """Classify by an SVM; where all labels are alike, they are the answer."""
    if labels.all() or not labels.any():
        return np.full(len(others), labels[0])
    machine = SVC(kernel="precomputed", C=cost).fit(known, labels)
    found: BoolArray = machine.predict(others)
    return found


class Neighbours:
    """The majority of k nearest, k from 1 to 19 by leaving one document out."""

    def tuned(self, known: Float64Array, labels: Labels) -> dict[str, tuple[int, float]]:
        """Choose k."""
        alone = known.copy()
        np.fill_diagonal(alone, -np.inf)
        most = min(max(NEIGHBOURS), len(known) - 1)
        near = nearest(alone, most)
        tuned = {}
        for name, own in labels.items():
            found = votes(near, own, most, rule="majority")
            wrong = {k: float((voted != own).mean()) for k, voted in found.items()}
            k, least = best_of(wrong, wrong.__getitem__)
            tuned[name] = k, 100 * least
        return tuned

    def predicted(
        self,
        known: Float64Array,
        labels: Labels,
        others: Float64Array,
        parameters: Mapping[str, int],
    ) -> dict[str, BoolArray]:
        """Let neighbours vote."""
        most = max(parameters.values())
        near = nearest(others, most)
        return {
            name: votes(near, own, most, rule="majority")[parameters[name]]
            for name, own in labels.items()
        }


def nearest(kernel: Float64Array, k: int) -> NearRows:
    """Return the columns with the largest kernels of each row, equal ones by position."""
    order: Int64Array = np.argsort(-kernel, axis=1, kind="stable")[:, :k].astype(np.int64)
    near = np.maximum(1 - np.take_along_axis(kernel, order, axis=1), 0.0)
    starts = np.arange(len(kernel) + 1, dtype=np.int64) * order.shape[1]
    return NearRows(starts, order.ravel(), near.ravel())


_CLASSIFIERS: dict[str, Classifier] = {"svm": SupportVectors(), "knn": Neighbours()}


def errors_with_labels(task: Task, classifier: str, kernels: str) -> dict[str, Any]:
    """Compute a cell: the error on the test documents, by category and on average.

    Parameters
    ----------
    task : Task
        Of a share of labels, ``reuters 1/20``, and a draw.
    classifier : {"svm", "knn"}
        Which one.
    kernels : {"words", "paper", "chosen"}
        The settings to choose from, by the mean error of the categories in cross-validation.
    """
    part = part_of(task.dataset)
    some = news(task)
    models = {} if kernels == "words" else fitted_models(task)
    known = labelled_rows(some.train, part, task.split)
    rows = labelled_rows(some.train, _MOST, task.split) if part == 1 else known

    bags, test = some.bags, some.bags[some.test]
    if kernels == "words":
        own = Kernels(models, bags[rows], test)
    else:
        own = task.memo("kernels", lambda: Kernels(models, bags[rows], test))
    by = _CLASSIFIERS[classifier]
    settings = SETTINGS[kernels][:4] if task.quick else SETTINGS[kernels]
    setting, parameters, least = _chosen(by, own, settings, some.labels, rows)
    if part == 1:
        own = Kernels(models, bags[known], test, keep=False)
    inner, outer = own.of(setting, "known"), own.of(setting, "others")
    of_known = {name: labels[known] for name, labels in some.labels.items()}
    found = by.predicted(inner, of_known, outer, parameters)
    errors = {
        name: 100 * float((found[name] != some.labels[name][some.test]).mean())
        for name in CATEGORIES
    }
    return {
        "error": sum(errors.values()) / len(errors),
        "validation_error": least,
        "errors": errors,
        "setting": dict(setting),
        "parameters": parameters,
        "n_known": len(known),
        "n_test": len(some.test),
        "repeated": some.repeated,
    }


def part_of(dataset: str) -> int:
    """Return which part of the labels is known: 20 for ``reuters 1/20``, 1 for ``reuters all``."""
    _, share = dataset.split(" ", 1)
    return 1 if share == "all" else int(share.removeprefix("1/"))


def _chosen(
    by: Classifier,
    kernels: Kernels,
    settings: Sequence[Setting],
    labels: Labels,
    rows: Int64Array,
) -> tuple[Setting, dict[str, Any], float]:
    """Return the kernel with the least mean error, the parameters by category, and that error."""
    tried = []
    for setting in settings:
        matrix = kernels.of(setting, "known")
        tuned = by.tuned(matrix, {name: own[rows] for name, own in labels.items()})
        tried.append((setting, tuned))
    (setting, tuned), least = best_of(
        tried, lambda each: sum(error for _, error in each[1].values()) / len(CATEGORIES)
    )
    return setting, {name: parameter for name, (parameter, _) in tuned.items()}, least
