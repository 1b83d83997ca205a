"""Labelled texts of a data folder: ``classification/NAME.jsonl.gz``, with their splits.

A record has ``text``, ``label`` and ``split`` ("train" or "test"); ``splits`` in addition where
there are several. ``NAME-distinct`` is the same set without documents whose words stand before.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from textkin._typing import Int64Array
from textkin.evaluate._cells import MissingDataError, Task, file_in
from textkin.evaluate._protocol import repeated
from textkin.text._tokenise import tokenize

__all__ = ["Labelled", "Part", "labelled", "labelled_files", "labelled_splits", "stop_words_of"]

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
    """Return how many splits a labelled set has; when quick, the first is enough."""
    [file] = labelled_files(dataset)
    first = next(_records(file_in(data, file)), {})
    return 1 if quick else max(len(first.get("splits", ())), 1)


def stop_words_of(dataset: str) -> str | None:
    """Return the stop words that are left out: SMART's, but none of tweets, as in the WMD paper."""
    return None if dataset.startswith("twitter") else "smart"


def labelled(task: Task) -> Labelled:
    """Return the split of a task; when quick, 200 documents to learn from and 100 to test.

    Raises
    ------
    ValueError
        If the split has no training or no test documents, or a record is not as it should be.
    MissingDataError
        If there is no file.
    """
    [file] = labelled_files(task.dataset)
    records = task.memo("records", lambda: list(_records(task.file(file))), "dataset")
    return task.memo("labelled", lambda: _split(task, records, file))


def _split(task: Task, records: list[dict[str, Any]], file: str) -> Labelled:
    found: dict[str, Part] = {}
    for name in ("train", "test"):
        own = [r for r in records if _part_of(r, task.split) == name]
        if not own:
            raise MissingDataError(
                f"{file} has no documents of the part {name!r} in split {task.split}."
            )
        found[name] = Part([r["text"] for r in own], np.array([str(r["label"]) for r in own]))
    if task.dataset.endswith(_DISTINCT):
        found = _distinct(found)
    if task.quick:
        for name, most in _QUICK.items():
            part = found[name]
            rows = np.random.default_rng(0).permutation(len(part))[:most]
            found[name] = part.taken(np.sort(rows))
    return Labelled(found["train"], found["test"])


def _distinct(parts: dict[str, Part]) -> dict[str, Part]:
    """Leave out documents whose bag of words stands before, training documents first."""
    bags = [sorted(tokenize(text)) for part in parts.values() for text in part.texts]
    new = ~repeated(bags)
    kept, start = {}, 0
    for name, part in parts.items():
        kept[name] = part.taken(np.flatnonzero(new[start : start + len(part)]))
        start += len(part)
    return kept


def _part_of(record: dict[str, Any], split: int) -> str:
    splits = record.get("splits")
    return str(splits[split] if splits else record["split"])


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            record = json.loads(line)
            lacking = [n for n in ("text", "label", "split") if n not in record]
            if lacking:
                raise ValueError(f"{path}, line {number}: the record has no {lacking[0]!r}.")
            yield record
