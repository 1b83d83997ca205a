"""Reuters-21578 with few labels, and the kernels of its documents: Hofmann's Table 2."""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import numpy as np
from scipy import sparse

from textkin._typing import Bags, BoolArray, Float64Array, Int64Array
from textkin.distance import similarities
from textkin.evaluate._cells import Task
from textkin.models import PLSA, FisherKernel
from textkin.text import BagOfWords

__all__ = [
    "CATEGORIES",
    "FILE",
    "SETTINGS",
    "Kernels",
    "News",
    "Setting",
    "fitted_models",
    "labelled_rows",
    "news",
]

FILE = "text/reuters21578.jsonl.gz"
CATEGORIES = ("earn", "acq", "money-fx", "grain", "crude")
FACTORS = (1, 16, 64, 128)
MODELS = {"likelihood": PLSA(), "tempered": PLSA(tempered=True)}
_QUICK = {"train": 200, "test": 100, "unused": 50}
_LEAST = 24  # labelled documents, where data are tiny

Models = Mapping[str, Mapping[int, FisherKernel]]
"""By how they are fitted and the number of factors: kernels of one model, not normalised."""


class Setting(TypedDict):
    """A kernel.

    Its models, whether every K1 and K2 is normalised by itself or the sum of all, and what the
    cosine of the counts weighs, where a part that is normalised by itself weighs 1. Without
    factors it is that cosine alone.
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
    """All texts as bags, the ModApte split, and which documents are of which category.

    Attributes
    ----------
    bags : csr_array
        Of all texts, those without labels too.
    train, test : ndarray of int
        Rows.
    labels : dict of str to ndarray of bool
        For each category, of all rows.
    repeated : int
        Test documents whose bag a training document has.
    """

    bags: Bags
    train: Int64Array
    test: Int64Array
    labels: dict[str, BoolArray]
    repeated: int


def news(task: Task) -> News:
    """Return the documents, read once for all shares of labels."""
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
    """Draw a part of the training documents: those whose labels are known."""
    if part == 1:
        return train
    random = np.random.default_rng(1000 * part + draw)
    n = max(len(train) // part, min(_LEAST, len(train)))
    return random.choice(train, n, replace=False)


def fitted_models(task: Task) -> Models:
    """Fit a model of each kind and number of factors to all texts, without labels."""

    def make() -> Models:
        bags = news(task).bags
        more = {"max_iter": 5} if task.quick else {}
        return {
            how: {
                number: FisherKernel(
                    [number],
                    model=PLSA(**{**model.get_params(), **more}),
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
    """K1 or K2 of a model as it is, and the self-similarities of both sides."""

    matrix: Float64Array
    left: Float64Array
    right: Float64Array


class Kernels:
    """Kernels of labelled documents, and of others with these, as sums of parts of models.

    Equal to `FisherKernel.similarity`, but K1 and K2 of a model are made once for all kernels.

    Parameters
    ----------
    models : mapping
        As `fitted_models` makes them.
    known, others : csr_array
        Bags of the labelled documents, and of those to be classified.
    keep : bool, default=True
        Whether parts are kept; thousands of documents leave no room for them.
    """

    def __init__(self, models: Models, known: Bags, others: Bags, *, keep: bool = True) -> None:
        self._models = models
        self._bags = {"known": known, "others": others}
        self._keep = keep
        self._made: dict[tuple[str, int, str], list[_Part]] = {}

    def of(self, setting: Setting, side: Literal["known", "others"]) -> Float64Array:
        """Return the kernel of one side (rows) with the labelled documents (columns)."""
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
            total += setting["words"] * similarities(self._bags[side], self._bags["known"])
        total /= weight  # a document has similarity 1 with itself, whatever was added
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
        """Return K1 and K2, which are the first features of a model and the others."""
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
    found: Float64Array = matrix * a[:, None] * b
    return found


def grouped_products(left: Bags, right: Bags, width: int) -> Float64Array:
    """Return all inner products of rows whose columns come in groups that are full or empty.

    A word that a document has brings all its factors: a dense product for each word is ten times
    as fast as a sparse one.
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
