"""Labelled texts of a data folder: ``classification/NAME.jsonl.gz``, see `read_labelled`.

``NAME-distinct`` is the same set without documents whose words stand before in it.
"""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textkin._typing import Int64Array
from textkin.evaluate._cells import MissingDataError, Task, file_in
from textkin.evaluate._duplicates import remove_duplicates
from textkin.evaluate._labelled import LabelledData, read_labelled
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
    """Some documents and their labels.

    Attributes
    ----------
    texts : list of str
        The documents.
    labels : ndarray of str
        As many.
    """

    texts: list[str]
    labels: Any

    def __len__(self) -> int:
        return len(self.texts)

    def taken(self, rows: Int64Array) -> "Part":
        """Return some of them."""
        return Part([self.texts[row] for row in rows], self.labels[rows])


@dataclass(frozen=True)
class Labelled:
    """One split of a data set."""

    train: Part
    test: Part


def labelled_files(dataset: str) -> list[str]:
    """Return the file of a labelled set."""
    return [f"classification/{dataset.removesuffix(_DISTINCT)}.jsonl.gz"]


def labelled_splits(data: Path, dataset: str, quick: bool) -> int:
    """Return how many splits, or folds, a labelled set has; when quick, the first is enough."""
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
    """Return the stop words that are left out: SMART's, but none of tweets, as in the WMD paper."""
    return None if dataset.startswith("twitter") else "smart"


def counter_of(task: Task) -> BagOfWords:
    """Return what counts the words of a set; of 20news those that occur at least 5 times."""
    return BagOfWords(
        stop_words=stop_words_of(task.dataset),
        min_count=5 if task.dataset.startswith("20news") else 1,
        n_jobs=task.n_jobs,
    )


def labelled(task: Task) -> Labelled:
    """Return the split of a task; when quick, 200 documents to learn from and 100 to test.

    Raises
    ------
    ValueError
        If a record is not as it should be.
    MissingDataError
        If there is no file, or no such split in it.
    """
    return task.memo("labelled", lambda: _split(task, whole(task)))


def whole(task: Task) -> LabelledData:
    """Return all documents of a set with all splits, for what learns nothing from labels."""
    return task.memo("documents", lambda: _read(task), "dataset")


def _read(task: Task) -> LabelledData:
    [file] = labelled_files(task.dataset)
    data = read_labelled(task.file(file))
    if task.dataset.endswith(_DISTINCT):
        return remove_duplicates(data, stop_words=stop_words_of(task.dataset))
    return data


def _split(task: Task, data: LabelledData) -> Labelled:
    if task.split >= len(data.splits):
        [file] = labelled_files(task.dataset)
        raise MissingDataError(
            f"{file} has {len(data.splits)} splits into 'train' and 'test', and no number "
            f"{task.split}; its records need a field 'split', 'splits' or 'fold'."
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
