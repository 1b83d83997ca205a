"""Classification of Reuters-21578 with few labels by Fisher kernels: Hofmann's Table 2.

Support vector machines and nearest neighbors use kernel matrices of the documents. All settings
are chosen among the labeled documents.
"""

import gzip
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypedDict

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from papers.cells import Task
from papers.protocol import NEIGHBOURS, best_of, votes
from textkin._base import Bags, BoolArray, Float64Array, Int64Array
from textkin.corpus import RankedRows
from textkin.distance import pairwise_similarities
from textkin.models import PLSA, FisherKernel
from textkin.text import BagOfWords

__all__ = [
    "CATEGORIES",
    "FILE",
    "SETTINGS",
    "Kernels",
    "Neighbours",
    "News",
    "Setting",
    "SupportVectors",
    "errors_with_labels",
    "fitted_models",
    "labelled_rows",
    "news",
]

FILE = "text/reuters21578.jsonl.gz"
CATEGORIES = ("earn", "acq", "money-fx", "grain", "crude")
FACTORS = (1, 16, 64, 128)
MODELS = {"likelihood": PLSA(), "tempered": PLSA(tempered=True)}
_QUICK = {"train": 200, "test": 100, "unused": 50}
_LEAST = 24  # minimum number of labeled documents, for tiny data

Models = Mapping[str, Mapping[int, FisherKernel]]
"""Fisher kernels of one model each, not normalized, by fitting method and number of factors."""


class Setting(TypedDict):
    """Parameters of a kernel.

    `normalize` is "each" if every K1 and K2 is normalized separately, and "together" if their sum
    is. `words` is the weight of the cosine of the counts; a separately normalized part has weight
    1. Without factors, the kernel is that cosine alone.
    """

    model: str
    factors: tuple[int, ...]
    normalize: Literal["each", "together"]
    words: float


_WORDS = Setting(model="", factors=(), normalize="each", words=1.0)
SETTINGS: dict[str, list[Setting]] = {
    "words": [_WORDS],
    "paper": [
        Setting(model=model, factors=(1, 64), normalize="together", words=0.0) for model in MODELS
    ],
    "chosen": [
        Setting(model=model, factors=factors, normalize="each", words=words)
        for model in MODELS
        for factors in ((64,), (1, 64), FACTORS)
        for words in (0.0, 1.0)
    ],
}


@dataclass(frozen=True, eq=False)
class News:
    """Bags of words of all texts, the ModApte split, and the categories of each document.

    Attributes
    ----------
    bags : csr_array
        Counts of all texts, including texts without labels.
    train, test : ndarray of int
        Rows of the training and test documents.
    labels : dict of str to ndarray of bool
        Membership of each row, by category.
    repeated : int
        Number of test documents whose bag of words is also a training document's.
    """

    bags: Bags
    train: Int64Array
    test: Int64Array
    labels: dict[str, BoolArray]
    repeated: int


def news(task: Task) -> News:
    """Return the documents; they are read once for all shares of labels."""
    return task.memo("news", lambda: _read(task), "run")


def _read(task: Task) -> News:
    with gzip.open(task.file(FILE), "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    if task.quick:
        left = dict(_QUICK)
        some = []
        for record in records:
            if left[record["modapte"]]:
                left[record["modapte"]] -= 1
                some.append(record)
        records = some
    texts = [f"{record['title']} {record['text']}" for record in records]
    bags = BagOfWords("smart", min_count=5, n_jobs=task.n_jobs).fit_transform(texts)
    split = np.array([record["modapte"] for record in records])
    train, test = np.flatnonzero(split == "train"), np.flatnonzero(split == "test")
    labels = {
        name: np.array([name in record["topics"] for record in records]) for name in CATEGORIES
    }
    known = {_bag(bags, row) for row in train.tolist()}
    repeated = sum(_bag(bags, row) in known for row in test.tolist())
    return News(bags, train.astype(np.int64), test.astype(np.int64), labels, repeated)


def _bag(bags: Bags, row: int) -> tuple[bytes, bytes]:
    own = slice(bags.indptr[row], bags.indptr[row + 1])
    return bags.indices[own].tobytes(), bags.data[own].tobytes()


def labelled_rows(train: Int64Array, part: int, draw: int) -> Int64Array:
    """Sample the training documents whose labels are known."""
    if part == 1:
        return train
    random = np.random.default_rng(1000 * part + draw)
    n = max(len(train) // part, min(_LEAST, len(train)))
    return random.choice(train, n, replace=False)


def fitted_models(task: Task) -> Models:
    """Fit a model of each kind and number of factors to all texts without labels."""

    def make() -> Models:
        bags = news(task).bags
        more = {"max_iter": 5} if task.quick else {}
        return {
            how: {
                number: FisherKernel(
                    [number],
                    topic_model=PLSA(**{**model.get_params(), **more}),
                    random_state=0,
                    n_jobs=task.n_jobs,
                ).fit(bags)
                for number in FACTORS
            }
            for how, model in MODELS.items()
        }

    return task.memo("models", make, "run")


@dataclass(frozen=True, eq=False)
class _Part:
    """Unnormalized K1 or K2 of a model, with the self-similarities of both sides."""

    matrix: Float64Array
    left: Float64Array
    right: Float64Array


class Kernels:
    """Kernels between labeled documents, and between other documents and labeled ones.

    Equal to `FisherKernel.similarity`, but K1 and K2 of a model are computed once for all kernels.

    Parameters
    ----------
    models : mapping
        Models from `fitted_models`.
    known, others : csr_array
        Bags of words of the labeled documents and of the documents to classify.
    keep : bool, default=True
        If True, keep K1 and K2 of each model. Use False for thousands of documents.
    """

    def __init__(self, models: Models, known: Bags, others: Bags, *, keep: bool = True) -> None:
        self._models = models
        self._bags = {"known": known, "others": others}
        self._keep = keep
        self._made: dict[tuple[str, int, str], list[_Part]] = {}

    def of(self, setting: Setting, side: Literal["known", "others"]) -> Float64Array:
        """Return the kernel between one side (rows) and the labeled documents (columns)."""
        each = setting["normalize"] == "each"
        total = np.zeros((self._bags[side].shape[0], self._bags["known"].shape[0]))
        left, right = np.zeros(total.shape[0]), np.zeros(total.shape[1])
        weight = setting["words"]
        for part in self._parts(setting, side):
            total += _cosine(part.matrix, part.left, part.right) if each else part.matrix
            left, right = left + part.left, right + part.right
            weight += each
        if setting["factors"] and not each:
            total = _cosine(total, left, right)
            weight += 1
        if setting["words"]:
            total += setting["words"] * pairwise_similarities(self._bags[side], self._bags["known"])
        total /= weight  # gives every document similarity 1 with itself
        return total

    def _parts(self, setting: Setting, side: str) -> Iterator[_Part]:
        for number in setting["factors"]:
            key = setting["model"], number, side
            made = self._made.get(key)
            if made is None:
                made = self._both(self._models[setting["model"]][number], number, side)
                if self._keep:
                    self._made[key] = made
            yield from made

    def _both(self, kernel: FisherKernel, number: int, side: str) -> list[_Part]:
        """Return K1, the first `number` features of a model, and K2, the other features."""
        right = kernel.transform(self._bags["known"])
        left = right if side == "known" else kernel.transform(self._bags[side])
        return [
            _part(left[:, :number], right[:, :number], number),
            _part(left[:, number:], right[:, number:], number),
        ]


def _part(left: Bags, right: Bags, width: int) -> _Part:
    def own(side: Any) -> Float64Array:  # noqa: ANN401 (a csr_array)
        return np.asarray(side.multiply(side).sum(axis=1)).ravel()

    return _Part(grouped_products(left, right, width), own(left), own(right))


def _cosine(matrix: Float64Array, left: Float64Array, right: Float64Array) -> Float64Array:
    a, b = (1 / np.sqrt(np.where(own > 0, own, 1)) for own in (left, right))
    found: Float64Array = matrix * a[:, None]
    found *= b  # in place, because the matrix of all labeled documents has almost a gigabyte
    return found


def grouped_products(left: Bags, right: Bags, width: int) -> Float64Array:
    """Return the inner products of rows that fill each group of columns completely or not at all.

    A word of a document has values for all factors, so a dense product per word is ten times as
    fast as a sparse product.
    """
    found = np.zeros((left.shape[0], right.shape[0]))
    sides = [sparse.csc_array(left)]
    sides.append(sides[0] if right is left else sparse.csc_array(right))
    starts = [side.indptr[::width] for side in sides]
    there = (np.diff(starts[0]) > 0) & (np.diff(starts[1]) > 0)
    for group in np.flatnonzero(there).tolist():
        (rows, first), (columns, second) = (_group(side, group, width) for side in sides)
        found[np.ix_(rows, columns)] += first @ second.T
    return found


def _group(side: Any, group: int, width: int) -> tuple[Int64Array, Any]:  # noqa: ANN401 (csc_array)
    ends = side.indptr[group * width : (group + 1) * width + 1]
    own = side.indices[ends[0] : ends[-1]]
    mark = np.zeros(side.shape[0], dtype=np.int64)
    mark[own] = 1
    rows = np.flatnonzero(mark)
    mark[rows] = np.arange(len(rows))
    block = np.zeros((len(rows), width), dtype=side.dtype)
    block[mark[own], np.repeat(np.arange(width), np.diff(ends))] = side.data[ends[0] : ends[-1]]
    return rows, block


COSTS = (1.0, 10.0, 100.0)
_FOLDS = 3
_MOST = 5  # with all labels, settings are chosen on 1/5 of the training documents


Labels: TypeAlias = Mapping[str, BoolArray]
"""Membership of each document, by category."""


class Classifier(Protocol):
    """Binary classifier for each category, based on a kernel."""

    def tuned(self, known: Float64Array, labels: Labels) -> dict[str, tuple[Any, float]]:
        """Return a parameter chosen on the labeled documents, and its error in percent."""
        ...

    def predicted(
        self,
        known: Float64Array,
        labels: Labels,
        others: Float64Array,
        parameters: Mapping[str, Any],
    ) -> dict[str, BoolArray]:
        """Return the predicted membership of other documents, by category."""
        ...


class SupportVectors:
    """One SVM per category, with C chosen by threefold cross-validation."""

    def tuned(self, known: Float64Array, labels: Labels) -> dict[str, tuple[float, float]]:
        """Return C and its error in percent, by category."""
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
        """Return the predicted membership of other documents, by category."""
        return {
            name: _separated(known, own, others, parameters[name]) for name, own in labels.items()
        }


def _separated(
    known: Float64Array, labels: BoolArray, others: Float64Array, cost: float
) -> BoolArray:
    """Classify by an SVM; if all labels are equal, predict that label."""
    if labels.all() or not labels.any():
        return np.full(len(others), labels[0])
    machine = SVC(kernel="precomputed", C=cost).fit(known, labels)
    found: BoolArray = machine.predict(others)
    return found


class Neighbours:
    """Majority vote of the k nearest neighbors, with k from 1 to 19 by leave-one-out."""

    def tuned(self, known: Float64Array, labels: Labels) -> dict[str, tuple[int, float]]:
        """Return k and its error in percent, by category."""
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
        """Return the predicted membership of other documents, by category."""
        most = max(parameters.values())
        near = nearest(others, most)
        return {
            name: votes(near, own, most, rule="majority")[parameters[name]]
            for name, own in labels.items()
        }


def nearest(kernel: Float64Array, k: int) -> RankedRows:
    """Return the columns with the largest kernel of each row; ties go to the lowest column."""
    order: Int64Array = np.argsort(-kernel, axis=1, kind="stable")[:, :k].astype(np.int64)
    near = np.maximum(1 - np.take_along_axis(kernel, order, axis=1), 0.0)
    starts = np.arange(len(kernel) + 1, dtype=np.int64) * order.shape[1]
    return RankedRows(starts, order.ravel(), near.ravel())


_CLASSIFIERS: dict[str, Classifier] = {"svm": SupportVectors(), "knn": Neighbours()}


def errors_with_labels(task: Task, classifier: str, kernels: str) -> dict[str, Any]:
    """Compute a cell: the error on the test documents, by category and on average.

    Parameters
    ----------
    task : Task
        Task of a share of labels, such as ``reuters 1/20``, and a sample of the documents.
    classifier : {"svm", "knn"}
        Kind of classifier.
    kernels : {"words", "paper", "chosen"}
        Kernels to choose from, by the mean cross-validation error of the categories.
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
    """Return the divisor of the labels: 20 for ``reuters 1/20``, 1 for ``reuters all``."""
    _, share = dataset.split(" ", 1)
    return 1 if share == "all" else int(share.removeprefix("1/"))


def _chosen(
    by: Classifier,
    kernels: Kernels,
    settings: Sequence[Setting],
    labels: Labels,
    rows: Int64Array,
) -> tuple[Setting, dict[str, Any], float]:
    """Return the kernel with the lowest mean error, parameters by category, and that error."""
    tried = []
    for setting in settings:
        matrix = kernels.of(setting, "known")
        tuned = by.tuned(matrix, {name: own[rows] for name, own in labels.items()})
        tried.append((setting, tuned))
    (setting, tuned), least = best_of(
        tried, lambda each: sum(error for _, error in each[1].values()) / len(CATEGORIES)
    )
    return setting, {name: parameter for name, (parameter, _) in tuned.items()}, least
