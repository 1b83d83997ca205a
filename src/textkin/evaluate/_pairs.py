"""Pairs of sentences or words that people have judged, and their reader."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from textkin._typing import Float64Array
from textkin.evaluate._bounds import Bound
from textkin.evaluate._reading import BY_READ, Words, named, placed
from textkin.text import Documents, read
from textkin.text.reading._document import counted, shortened
from textkin.text.reading._rows import Place

__all__ = ["PairData", "read_pairs"]

_WORDS: Words = (
    (
        r"Name the field of the text, as in text='body'\.",
        "Name the columns, as in first='word1', second='word2', gold='score'.",
    ),
    *BY_READ,
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairData:
    """Pairs of texts, and how alike people found them.

    Parameters
    ----------
    first, second : sequence of str
        The two sides.
    gold : array-like of shape (n_pairs,)
        What people said, on any scale, the larger the more alike.
    sets : sequence of str, default=()
        The set that each pair is of; where none are given, all are of "pairs".

    Raises
    ------
    ValueError
        For lists of different length, and scores that are not finite.

    Examples
    --------
    >>> from textkin.evaluate import PairData, pearson
    >>> data = PairData(["a cat", "a dog"], ["one cat", "a car"], [5, 0.5])
    >>> data
    PairData(2 pairs, 1 set)
    >>> pearson(data.gold, [0.9, 0.1])
    1.0
    """

    first: list[str]
    second: list[str]
    gold: Float64Array
    sets: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        given: tuple[object, object] = (self.first, self.second)
        if any(isinstance(side, str) for side in given):
            raise TypeError("first and second must be lists of texts; got one text.")
        first, second = list(self.first), list(self.second)
        gold = np.asarray(self.gold, dtype=np.float64)
        sets = list(self.sets) or ["pairs"] * len(first)
        if gold.ndim != 1 or not len(first) == len(second) == len(gold) == len(sets):
            raise ValueError(
                f"first, second, gold and sets must be as many; got {len(first)}, {len(second)}, "
                f"shape {gold.shape} and {len(sets)}."
            )
        if not np.isfinite(gold).all():
            at = int(np.flatnonzero(~np.isfinite(gold))[0])
            raise ValueError(f"gold must be finite numbers; got {gold[at]} for pair {at}.")
        for name, value in (("first", first), ("second", second), ("gold", gold), ("sets", sets)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.first)

    def __repr__(self) -> str:
        sets = len(set(self.sets))
        return f"PairData({counted(len(self), 'pair')}, {counted(sets, 'set')})"

    def by_set(self) -> dict[str, "PairData"]:
        """Return the pairs of each set, in the order in which the sets come."""
        names = np.array(self.sets, dtype=object)
        return {name: self._take(np.flatnonzero(names == name)) for name in dict.fromkeys(names)}

    def _take(self, rows: Any) -> "PairData":  # noqa: ANN401 (positions)
        return PairData(
            [self.first[row] for row in rows],
            [self.second[row] for row in rows],
            self.gold[rows],
            [self.sets[row] for row in rows],
        )


def read_pairs(
    source: Any,  # noqa: ANN401 (whatever `read` takes)
    *,
    first: str = "sentence1",
    second: str = "sentence2",
    gold: str = "gold",
    dataset: str = "dataset",
    max_bytes: int = 1 << 30,
) -> PairData:
    """Read pairs of sentences or words with the scores that people gave.

    Parameters
    ----------
    source : path, DataFrame, iterable of records, or Documents
        Whatever `textkin.read` reads as records. Tables need a header; quotation marks of
        ``.tsv`` are plain text, those of ``.csv`` wrap fields. Where the file is unusual, pass
        what `textkin.read` returns, with the first side as its text:
        ``read_pairs(tk.read("pairs.csv", text="sentence1", id=False, delimiter=";"))``.
    first, second : str, default="sentence1", "sentence2"
        The columns of the two sides. Those of pairs of words are mostly "word1" and "word2".
    gold : str, default="gold"
        The column of the scores.
    dataset : str, default="dataset"
        The column that names the set of a pair; a pair without one is of the set "pairs".
    max_bytes : int, default=1073741824
        The most characters of all texts together.

    Returns
    -------
    PairData
        In the order of the file.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    TypeError, ValueError
        For what cannot be read, a column that is missing, or a score that is no finite number;
        with file and line.

    See Also
    --------
    textkin.vectors.read_word_pairs : The pairs of words alone, for `WordVectors.evaluate_pairs`.

    Examples
    --------
    >>> from textkin.evaluate import read_pairs
    >>> data = read_pairs([{"sentence1": "A cat.", "sentence2": "A dog.", "gold": "3.5"}])
    >>> data.first, data.second, data.gold.tolist(), data.sets
    (['A cat.'], ['A dog.'], [3.5], ['pairs'])
    """
    sides: tuple[list[str], list[str]] = ([], [])
    scores, sets = [], []
    bound = Bound(max_bytes)
    if len({first, second, gold}) < 3:
        raise ValueError(
            f"first, second and gold must be three columns; got {first!r}, {second!r} and {gold!r}."
        )
    documents = (
        source if isinstance(source, Documents) else read(source, text=first, id=False, label=False)
    )
    for place, document in placed(documents, _WORDS):
        other = document.metadata.get(second)
        if not isinstance(other, str):
            raise ValueError(f"{place}: {_expected(second, 'a text', document.metadata)}")
        of_set = document.metadata.get(dataset)
        bound.add(place, document.text, other, of_set)
        sides[0].append(document.text)
        sides[1].append(other)
        scores.append(_score(place, gold, document.metadata))
        sets.append("pairs" if of_set in (None, "") else str(of_set))
    if not scores:
        raise ValueError(f"There are no pairs in {named(source)}.")
    return PairData(*sides, np.array(scores), sets)


def _score(place: Place, name: str, fields: Mapping[str, Any]) -> float:
    value = fields.get(name)
    try:
        score = float(value)  # type: ignore[arg-type] # what is no number is told below
    except (TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        raise ValueError(f"{place}: {_expected(name, 'a finite number', fields)}")
    return score


def _expected(name: str, what: str, fields: Mapping[str, Any]) -> str:
    if name in fields:
        return f"{name!r} must be {what}; got {shortened(fields[name])}."
    others = ", ".join(shortened(other, 40) for other in list(fields)[:12])
    return f"there is no field {name!r}; beside the first text there is {others or 'nothing'}."
