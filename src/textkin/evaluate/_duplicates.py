"""Documents with the same words as another: how many there are, and data without them."""

from dataclasses import dataclass

import numpy as np

from textkin._validation import integer
from textkin.evaluate._labelled import LabelledData
from textkin.learn._hashing import first_of_equals, keys_of_texts
from textkin.text._stop_words import StopWords

__all__ = ["DuplicateCounts", "duplicate_counts", "remove_duplicates"]


@dataclass(frozen=True, slots=True)
class DuplicateCounts:
    """How many documents of a split say again what another says.

    Attributes
    ----------
    train : int
        Documents to learn from that have the bag of words of an earlier one to learn from.
    test : int
        Documents to test on that have the bag of words of an earlier one to test on.
    across : int
        Documents to test on that have the bag of words of one to learn from: the answer may have
        been learnt by heart.
    contradicting : int
        Documents on either side that have the bag of words of an earlier one with another label.
    """

    train: int
    test: int
    across: int
    contradicting: int


def duplicate_counts(
    data: LabelledData, split: int = 0, *, stop_words: StopWords = "smart"
) -> DuplicateCounts:
    """Count the documents of a split whose bag of words another has.

    Parameters
    ----------
    data : LabelledData
        Documents with at least one split.
    split : int, default=0
        Which split.
    stop_words : str, None, path or collection of str, default="smart"
        Words that do not count, as for `textkin.learn.find_duplicates`.

    Returns
    -------
    DuplicateCounts
        Of documents with the same words, each as often, in any order; upper and lower case are
        alike. A document without words is a duplicate of none.

    Raises
    ------
    ValueError
        Where there is no such split.

    References
    ----------
    Sato, Yamada and Kashima, "Re-evaluating Word Mover's Distance", ICML 2022.

    Examples
    --------
    >>> from textkin.evaluate import LabelledData, duplicate_counts
    >>> texts = ["Cats purr.", "cats purr", "dogs bark", "purr, cats"]
    >>> data = LabelledData(texts, ["pets"] * 4, splits=[([0, 1, 2], [3])])
    >>> duplicate_counts(data)
    DuplicateCounts(train=1, test=0, across=1, contradicting=0)
    """
    if not data.splits:
        raise ValueError("data must have a split; got none. with_random_splits draws some.")
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


def remove_duplicates(data: LabelledData, *, stop_words: StopWords = "smart") -> LabelledData:
    """Return the documents without those whose bag of words an earlier one has.

    Parameters
    ----------
    data : LabelledData
        The documents.
    stop_words : str, None, path or collection of str, default="smart"
        Words that do not count, as for `textkin.text.BagOfWords`.

    Returns
    -------
    LabelledData
        The first document of each bag of words, and those without words, in their order; splits
        without the others.

    Examples
    --------
    >>> from textkin.evaluate import LabelledData, remove_duplicates
    >>> data = LabelledData(["Cats purr.", "cats purr", "dogs bark"], ["a", "a", "b"])
    >>> remove_duplicates(data).texts
    ['Cats purr.', 'dogs bark']
    """
    return data.take(
        np.unique(first_of_equals(keys_of_texts(data.texts, ordered=False, stop_words=stop_words)))
    )
