"""Documents with labels and the splits they are tested on, and their reader."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from textkin._typing import IntpArray
from textkin._validation import integer, real
from textkin.evaluate._bounds import Bound
from textkin.evaluate._reading import BY_READ, named, placed
from textkin.text import Documents, read
from textkin.text.reading._document import Label, counted, shortened
from textkin.text.reading._rows import Place

__all__ = ["LabelledData", "Split", "read_labelled"]

Split: TypeAlias = tuple[IntpArray, IntpArray]
"""The positions of the documents to learn from, and of those to test on."""

_TRAIN, _TEST = "train", "test"
_NEITHER = ("all", "dev", "val", "valid", "validation", "unused")
_BETWEEN = re.compile(r"[\s,;|]+")
_Row: TypeAlias = tuple[Place, dict[str, Any]]  # where a document is, what tells its splits


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LabelledData:
    """Documents with labels, and how they are split for tests.

    Parameters
    ----------
    texts : sequence of str
        The documents.
    labels : sequence
        The label of each.
    ids : sequence of str, default=()
        The name of each; where none are given, their positions.
    splits : sequence of (array, array), default=()
        For each test, the positions of the documents to learn from and of those to test on.

    Raises
    ------
    ValueError
        For lists of different length, ids that are not distinct, and splits with positions that
        are not there, or are on both sides.

    Examples
    --------
    >>> from textkin.evaluate import LabelledData
    >>> data = LabelledData(["cats purr", "dogs bark", "stocks fell"], ["pets", "pets", "money"])
    >>> data
    LabelledData(3 documents, 2 classes, 0 splits)
    >>> data.classes
    ['money', 'pets']
    >>> train, test = data.with_random_splits(1, test=0.4, random_state=0).splits[0]
    >>> len(train), len(test)
    (2, 1)
    """

    texts: list[str]
    labels: list[Any]
    ids: list[str] = field(default_factory=list)
    splits: list[Split] = field(default_factory=list)

    def __post_init__(self) -> None:
        given: tuple[object, object] = (self.texts, self.labels)
        if any(isinstance(side, str) for side in given):
            raise TypeError("texts and labels must be lists; got one string.")
        texts, labels = list(self.texts), list(self.labels)
        ids = list(self.ids) or [str(position) for position in range(len(texts))]
        if not len(texts) == len(labels) == len(ids):
            raise ValueError(
                f"texts, labels and ids must be as many; got {len(texts)}, {len(labels)} and "
                f"{len(ids)}."
            )
        if len(set(ids)) < len(ids):
            raise ValueError(f"ids must differ; {len(ids) - len(set(ids))} of them do not.")
        splits = [
            _checked_split(number, split, len(texts)) for number, split in enumerate(self.splits)
        ]
        for name, value in (("texts", texts), ("labels", labels), ("ids", ids), ("splits", splits)):
            object.__setattr__(self, name, value)

    @property
    def classes(self) -> list[Any]:
        """The distinct labels, sorted."""
        return sorted(set(self.labels), key=lambda label: (type(label).__name__, label))

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        classes = len(set(self.labels))
        return (
            f"LabelledData({counted(len(self), 'document')}, {classes} "
            f"{'class' if classes == 1 else 'classes'}, {counted(len(self.splits), 'split')})"
        )

    def take(self, rows: Iterable[int]) -> "LabelledData":
        """Return some of the documents; splits keep those of theirs that are among them.

        Parameters
        ----------
        rows : iterable of int
            Their positions, each once.

        Returns
        -------
        LabelledData
            The documents in that order.
        """
        kept = np.array(list(rows), dtype=np.intp)
        to = np.full(len(self), -1, dtype=np.intp)
        to[kept] = np.arange(len(kept))
        if np.count_nonzero(to >= 0) < len(kept):
            raise ValueError("rows must differ; some position comes twice.")
        sides = ([to[side] for side in split] for split in self.splits)
        return LabelledData(
            [self.texts[row] for row in kept],
            [self.labels[row] for row in kept],
            [self.ids[row] for row in kept],
            [(train[train >= 0], test[test >= 0]) for train, test in sides],
        )

    def with_random_splits(
        self, n: int = 5, *, test: float = 0.3, random_state: int = 0
    ) -> "LabelledData":
        """Return the same documents with other splits, drawn at random.

        Parameters
        ----------
        n : int, default=5
            How many splits.
        test : float, default=0.3
            The share of documents to test on.
        random_state : int, default=0
            The seed.

        Returns
        -------
        LabelledData
            With positions in ascending order on each side.

        Raises
        ------
        ValueError
            Where one side would be empty.
        """
        integer(low=1).check("n", n)
        real(0, 1).check("test", test)
        size = round(test * len(self))
        if not 0 < size < len(self):
            raise ValueError(
                f"test={test} must leave documents on both sides; of {len(self)} documents it "
                f"takes {size}."
            )
        drawn = np.random.default_rng(random_state)
        orders = [drawn.permutation(len(self)) for _ in range(n)]
        splits = [(np.sort(order[size:]), np.sort(order[:size])) for order in orders]
        return LabelledData(self.texts, self.labels, self.ids, splits)


def read_labelled(
    source: Any,  # noqa: ANN401 (whatever `read` takes)
    *,
    max_bytes: int = 1 << 30,
) -> LabelledData:
    """Read documents with labels, and the splits they come with.

    Parameters
    ----------
    source : path, DataFrame, iterable of records, or Documents
        Whatever `textkin.read` reads as records: ``.jsonl``, ``.csv``, ``.tsv``, ``.json``, each
        also with ``.gz``, Parquet. Where the fields have other names than "text", "label" and
        "id", or the file is unusual, pass what `textkin.read` returns:
        ``read_labelled(tk.read("reviews.csv", text="body", label="stars"))``.
    max_bytes : int, default=1073741824
        The most characters of all texts together.

    Returns
    -------
    LabelledData
        All documents in order, with the splits that one of three fields tells, the first of:

        - ``splits``: a list with "train" or "test" for each of several splits (in CSV, the words
          with spaces between them).
        - ``fold``: the number or name of a fold. Each fold is tested on once, and the others are
          learnt from.
        - ``split``: "train" or "test". Documents of "validation", "valid", "val", "dev", "all" or
          "unused" are on neither side.

        Without such a field, or where all documents are on one side, there are no splits;
        `LabelledData.with_random_splits` draws some.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    TypeError, ValueError
        For what cannot be read, a document without a label, or a split that is not one; with file
        and line.

    Examples
    --------
    >>> from textkin.evaluate import read_labelled
    >>> records = [
    ...     {"text": "cats purr", "label": "pets", "split": "train"},
    ...     {"text": "stocks fell", "label": "money", "split": "train"},
    ...     {"text": "dogs bark", "label": "pets", "split": "test"},
    ... ]
    >>> data = read_labelled(records)
    >>> data
    LabelledData(3 documents, 2 classes, 1 split)
    >>> train, test = data.splits[0]
    >>> train.tolist(), test.tolist()
    ([0, 1], [2])
    """
    documents = source if isinstance(source, Documents) else read(source)
    bound = Bound(max_bytes)
    texts: list[str] = []
    labels: list[Label] = []
    ids: list[str] = []
    rows: list[_Row] = []
    for place, document in placed(documents, BY_READ):
        if document.label is None or document.label == "":
            raise ValueError(
                f"{place}: there is no label. Every document must have one, in the field 'label' "
                "or in that named by textkin.read(..., label=...)."
            )
        told = {name: document.metadata[name] for name in _KINDS if name in document.metadata}
        bound.add(place, document.text, document.id, document.label, *told.values())
        texts.append(document.text)
        labels.append(document.label)
        ids.append(document.id)
        rows.append((place, told))
    if not rows:
        raise ValueError(f"There are no documents in {named(source)}.")
    return LabelledData(texts, labels, ids, _splits(rows))


def _splits(rows: list[_Row]) -> list[Split]:
    for name, made in _KINDS.items():
        some = [place for place, told in rows if told.get(name) not in (None, "")]
        if len(some) == len(rows):
            return made(rows)
        if some:
            without = next(place for place, told in rows if told.get(name) in (None, ""))
            raise ValueError(
                f"{without}: there is no {name!r}, which {some[0]} has. All documents must have "
                "it, or none."
            )
    return []


def _by_list(rows: list[_Row]) -> list[Split]:
    """Read "splits": which side each document is on, in one split after the other."""
    table: list[list[str]] = []
    for place, told in rows:
        found: object = told["splits"]
        sides = _BETWEEN.split(found.strip()) if isinstance(found, str) else found
        if not isinstance(sides, list | tuple) or (table and len(sides) != len(table[0])):
            expected = f"a list of {len(table[0])} sides" if table else "a list of sides"
            raise ValueError(f"{place}: 'splits' must be {expected}; got {shortened(found)}.")
        table.append([_side(place, "splits", side) for side in sides])
    splits = []
    for number, column in enumerate(zip(*table, strict=True)):
        split = _of_sides(column)
        if not all(map(len, split)):
            raise ValueError(
                f"The splits of {rows[0][0].file or 'the records'} must have documents on both "
                f"sides; number {number} has {len(split[0])} for training and {len(split[1])} "
                "for the test."
            )
        splits.append(split)
    return splits


def _by_fold(rows: list[_Row]) -> list[Split]:
    """Read "fold": each is tested on once."""
    names = [_fold(place, told["fold"]) for place, told in rows]
    folds = np.array(names, dtype=object)
    ordered = sorted(set(names), key=lambda name: (not name.isdecimal(), len(name), name))
    if len(ordered) < 2:
        raise ValueError(
            f"{rows[0][0]}: there must be at least 2 folds; all documents are of 'fold' "
            f"{shortened(ordered[0])}."
        )
    return [(np.flatnonzero(folds != name), np.flatnonzero(folds == name)) for name in ordered]


def _fold(place: Place, value: object) -> str:
    if not isinstance(value, str | int | float):
        raise ValueError(f"{place}: 'fold' must be a number or a name; got {shortened(value)}.")
    # Tables with gaps make 1.0 of 1.
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _by_word(rows: list[_Row]) -> list[Split]:
    """Read "split": one side, or neither."""
    sides = [_side(place, "split", told["split"]) for place, told in rows]
    split = _of_sides(sides)
    return [split] if all(map(len, split)) else []


_KINDS: dict[str, Callable[[list[_Row]], list[Split]]] = {
    "splits": _by_list,
    "fold": _by_fold,
    "split": _by_word,
}


def _side(place: Place, name: str, value: object) -> str:
    side = value.strip().lower() if isinstance(value, str) else None
    if side is None or side not in (_TRAIN, _TEST, *_NEITHER):
        known = ", ".join(map(repr, (_TRAIN, _TEST, *_NEITHER)))
        raise ValueError(f"{place}: {name!r} must be one of {known}; got {shortened(value)}.")
    return side


def _of_sides(sides: Sequence[str]) -> Split:
    array = np.array(sides, dtype=object)
    return np.flatnonzero(array == _TRAIN), np.flatnonzero(array == _TEST)


def _checked_split(number: int, split: Split, documents: int) -> Split:
    if len(split) != 2:
        raise ValueError(f"splits[{number}] must be two arrays of positions; got {len(split)}.")
    sides = [np.asarray(side, dtype=np.intp) for side in split]
    both = np.concatenate(sides)
    if len(both) and (both.min() < 0 or both.max() >= documents):
        raise ValueError(
            f"splits[{number}] must hold positions from 0 to {documents - 1}; got "
            f"{both.min()} to {both.max()}."
        )
    if len(np.unique(both)) < len(both):
        raise ValueError(f"splits[{number}] must name each position once.")
    return sides[0], sides[1]
