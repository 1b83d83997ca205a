"""Test documents with the same bag of words as another document: counts and removal."""

from dataclasses import dataclass

import numpy as np

from textkin._base import integer
from textkin.evaluate._labeled_data import LabeledData
from textkin.learn import first_of_equals, keys_of_texts
from textkin.text import StopWords

__all__ = ["DuplicateCounts", "duplicate_counts", "remove_duplicates"]


@dataclass(frozen=True, slots=True)
class DuplicateCounts:
    """Numbers of training and test documents with the bag of words of another document.

    Attributes
    ----------
    train : int
        Training documents that equal an earlier training document.
    test : int
        Test documents that equal an earlier test document.
    across : int
        Test documents that equal a training document; a model can memorize their labels.
    contradicting : int
        Training and test documents that equal an earlier document with another label.
    """

    train: int
    test: int
    across: int
    contradicting: int


def duplicate_counts(
    data: LabeledData, split: int = 0, *, stop_words: StopWords = "smart"
) -> DuplicateCounts:
    """Count the training and test documents that have the bag of words of another document.

    Parameters
    ----------
    data : LabeledData
        Documents with at least one split.
    split : int, default=0
        Index of the split.
    stop_words : str, None, path or collection of str, default="smart"
        Words to ignore, see `textkin.learn.find_duplicates`.

    Returns
    -------
    DuplicateCounts
        Counts of documents with equal words and counts, in any order and any case. A document
        without words equals no other document.

    Raises
    ------
    ValueError
        If the split does not exist.

    References
    ----------
    Sato, Yamada and Kashima, "Re-evaluating Word Mover's Distance", ICML 2022.

    Examples
    --------
    >>> from textkin.evaluate import LabeledData, duplicate_counts
    >>> texts = ["Cats purr.", "cats purr", "dogs bark", "purr, cats"]
    >>> data = LabeledData(texts, ["pets"] * 4, splits=[([0, 1, 2], [3])])
    >>> duplicate_counts(data)
    DuplicateCounts(train=1, test=0, across=1, contradicting=0)
    """
    if not data.splits:
        raise ValueError("data must have a split; got none. Pass data.with_random_splits().")
    integer(0, len(data.splits) - 1).check("split", split)
    groups = first_of_equals(keys_of_texts(data.texts, ordered=False, stop_words=stop_words))
    train, test = (groups[side] for side in data.splits[split])
    rows = np.concatenate(data.splits[split])
    labels: dict[int, object] = {}
    contradicting = sum(
        labels.setdefault(int(groups[row]), data.labels[row]) != data.labels[row] for row in rows
    )
    return DuplicateCounts(
        len(train) - len(np.unique(train)),
        len(test) - len(np.unique(test)),
        int(np.isin(test, train).sum()),
        contradicting,
    )


def remove_duplicates(data: LabeledData, *, stop_words: StopWords = "smart") -> LabeledData:
    """Return labeled data without documents that have the bag of words of an earlier one.

    Parameters
    ----------
    data : LabeledData
        Documents.
    stop_words : str, None, path or collection of str, default="smart"
        Words to ignore, see `textkin.text.BagOfWords`.

    Returns
    -------
    LabeledData
        First document of each bag of words, and all documents without words, in their order. The
        splits are reduced to these documents.

    Examples
    --------
    >>> from textkin.evaluate import LabeledData, remove_duplicates
    >>> data = LabeledData(["Cats purr.", "cats purr", "dogs bark"], ["a", "a", "b"])
    >>> remove_duplicates(data).texts
    ['Cats purr.', 'dogs bark']
    """
    return data.take(
        np.unique(first_of_equals(keys_of_texts(data.texts, ordered=False, stop_words=stop_words)))
    )
