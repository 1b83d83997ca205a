"""Labeled texts of a data folder: ``classification/NAME.jsonl.gz``, see `read_labeled`.

``NAME-distinct`` is the same set without documents that have the words of an earlier document.
"""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from papers.cells import MissingDataError, Task, file_in
from textkin._base import Int64Array
from textkin.evaluate import LabeledData, read_labeled, remove_duplicates
from textkin.text import BagOfWords

__all__ = [
    "Labelled",
    "Part",
    "counter_of",
    "labelled",
    "labelled_files",
    "labelled_splits",
    "stop_words_of",
    "whole",
]

_DISTINCT = "-distinct"
_QUICK = {"train": 200, "test": 100}


@dataclass(frozen=True)
class Part:
    """Texts and labels of some documents.

    Attributes
    ----------
    texts : list of str
        Texts of the documents.
    labels : ndarray of str
        Labels of the documents.
    """

    texts: list[str]
    labels: Any

    def __len__(self) -> int:
        return len(self.texts)

    def taken(self, rows: Int64Array) -> "Part":
        """Return the documents in some rows."""
        return Part([self.texts[row] for row in rows], self.labels[rows])


@dataclass(frozen=True)
class Labelled:
    """Training and test documents of one split of a data set."""

    train: Part
    test: Part


def labelled_files(dataset: str) -> list[str]:
    """Return the file of a labeled set."""
    return [f"classification/{dataset.removesuffix(_DISTINCT)}.jsonl.gz"]


def labelled_splits(data: Path, dataset: str, quick: bool) -> int:
    """Return the number of splits (or folds) of a labeled set; 1 when quick."""
    [file] = labelled_files(dataset)
    if quick:
        return 1
    with gzip.open(file_in(data, file), "rt", encoding="utf-8-sig") as lines:
        first = json.loads(next(iter(lines), "{}"))
        if "splits" in first:
            return len(first["splits"])
        if "fold" in first:
            return len({first["fold"], *(json.loads(line)["fold"] for line in lines)})
    return 1


def stop_words_of(dataset: str) -> str | None:
    """Return the stop words to remove: SMART's, but none for tweets, as in the WMD paper."""
    return None if dataset.startswith("twitter") else "smart"


def counter_of(task: Task) -> BagOfWords:
    """Return the word counter of a set; for 20news, words need at least 5 occurrences."""
    return BagOfWords(
        stop_words=stop_words_of(task.dataset),
        min_count=5 if task.dataset.startswith("20news") else 1,
        n_jobs=task.n_jobs,
    )


def labelled(task: Task) -> Labelled:
    """Return the split of a task; when quick, 200 training and 100 test documents.

    Raises
    ------
    ValueError
        If a record is malformed.
    MissingDataError
        If the file or the split does not exist.
    """
    return task.memo("labelled", lambda: _split(task, whole(task)))


def whole(task: Task) -> LabeledData:
    """Return all documents of a set with all splits, for unsupervised models."""
    return task.memo("documents", lambda: _read(task), "dataset")


def _read(task: Task) -> LabeledData:
    [file] = labelled_files(task.dataset)
    data = read_labeled(task.file(file))
    if task.dataset.endswith(_DISTINCT):
        return remove_duplicates(data, stop_words=stop_words_of(task.dataset))
    return data


def _split(task: Task, data: LabeledData) -> Labelled:
    if task.split >= len(data.splits):
        [file] = labelled_files(task.dataset)
        raise MissingDataError(
            f"{file} has {len(data.splits)} splits into 'train' and 'test'; got split "
            f"{task.split}. Its records need a field 'split', 'splits', or 'fold'."
        )
    whole = Part(data.texts, np.array([str(label) for label in data.labels]))
    parts = []
    for name, rows in zip(_QUICK, data.splits[task.split], strict=True):
        part = whole.taken(rows.astype(np.int64))
        if task.quick:
            some = np.random.default_rng(0).permutation(len(part))[: _QUICK[name]]
            part = part.taken(np.sort(some))
        parts.append(part)
    return Labelled(*parts)
