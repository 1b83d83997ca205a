"""Pairs of texts with human similarity scores, and `read_pairs`."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from textkin._base import Float64Array, abbreviate, format_count
from textkin.evaluate._document_reader import OF_READ, Bound, named, placed
from textkin.exceptions import ParameterError
from textkin.reading import TEXT_HINT, Documents, Place, read

__all__ = ["PairData", "read_pairs"]

_HINTS = {
    TEXT_HINT: "name the columns, as in `first='word1'`, `second='word2'`, `gold='score'`",
    **OF_READ,
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairData:
    """Pairs of texts with human similarity scores, in one or more sets.

    Parameters
    ----------
    first, second : sequence of str
        Texts of the two sides.
    gold : array-like of shape (n_pairs,)
        Human similarity scores on any scale; higher is more similar.
    sets : sequence of str, default=()
        Name of the set of each pair. If empty, all pairs are in the set "pairs".

    Raises
    ------
    ValueError
        If the lists differ in length, or a score is not finite.

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
                f"first, second, gold and sets must have the same length; got {len(first)}, "
                f"{len(second)}, shape {gold.shape} and {len(sets)}."
            )
        if not np.isfinite(gold).all():
            at = int(np.flatnonzero(~np.isfinite(gold))[0])
            raise ParameterError("gold", "finite numbers", f"{gold[at]} for pair {at}")
        for name, value in (("first", first), ("second", second), ("gold", gold), ("sets", sets)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.first)

    def __repr__(self) -> str:
        sets = len(set(self.sets))
        return f"PairData({format_count(len(self), 'pair')}, {format_count(sets, 'set')})"

    def by_set(self) -> dict[str, "PairData"]:
        """Return the pairs of each set as separate `PairData`, by the name of the set."""
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
    """Read pairs of texts or words with human similarity scores from a table.

    Parameters
    ----------
    source : path, DataFrame, iterable of records, or Documents
        Any source of records for `textkin.read`. Tables need a header; quotation marks are plain
        text in ``.tsv``, and enclose fields in ``.csv``. If the file is unusual, pass the result
        of `textkin.read`, with the first side as its text:
        ``read_pairs(tk.read("pairs.csv", text="sentence1", id=False, delimiter=";"))``.
    first, second : str, default="sentence1", "sentence2"
        Columns of the two sides. For pairs of words, common names are "word1" and "word2".
    gold : str, default="gold"
        Column of the scores.
    dataset : str, default="dataset"
        Column with the name of the set of a pair. A pair without a name is in the set "pairs".
    max_bytes : int, default=1073741824
        Maximum number of characters of all texts together.

    Returns
    -------
    PairData
        Pairs in the order of the file.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    TypeError, ValueError
        If the source cannot be read, a column is missing, or a score is not a finite number;
        with file and line.

    See Also
    --------
    read_word_pairs : Reader of scored word pairs, for `word_pairs`.

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
    for place, document in placed(documents, _HINTS):
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
        score = float(value)  # type: ignore[arg-type] # invalid values are reported below
    except (TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        raise ValueError(f"{place}: {_expected(name, 'a finite number', fields)}")
    return score


def _expected(name: str, what: str, fields: Mapping[str, Any]) -> str:
    if name in fields:
        return f"{name!r} must be {what}; got {abbreviate(fields[name])}."
    others = ", ".join(abbreviate(other, 40) for other in list(fields)[:12])
    return f"there is no field {name!r}; apart from the first text, there is {others or 'none'}."
