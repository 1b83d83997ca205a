"""Labeled documents with training and test splits, and `read_labeled`."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from textkin._base import IntpArray, abbreviate, format_count, hinted, integer, real
from textkin.evaluate._document_reader import OF_READ, Bound, named, placed
from textkin.reading import Documents, Label, Place, read

__all__ = ["LabeledData", "Split", "read_labeled"]

Split: TypeAlias = tuple[IntpArray, IntpArray]
"""Positions of the training documents, and positions of the test documents."""

_TRAIN, _TEST = "train", "test"
_NEITHER = ("all", "dev", "val", "valid", "validation", "unused")
_BETWEEN = re.compile(r"[\s,;|]+")
_Row: TypeAlias = tuple[Place, dict[str, Any]]  # origin of a document, and its split fields


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LabeledData:
    """Labeled documents, and one or more splits into training and test documents.

    Parameters
    ----------
    texts : sequence of str
        Documents.
    labels : sequence
        Label of each document.
    ids : sequence of str, default=()
        ID of each document. If empty, the positions.
    splits : sequence of (array, array), default=()
        For each split, the positions of the training documents and of the test documents.

    Raises
    ------
    ValueError
        If the lists differ in length, IDs are not distinct, or a split has positions that do not
        exist or are on both sides.

    Examples
    --------
    >>> from textkin.evaluate import LabeledData
    >>> data = LabeledData(["cats purr", "dogs bark", "stocks fell"], ["pets", "pets", "money"])
    >>> data
    LabeledData(3 documents, 2 classes, 0 splits)
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
                f"texts, labels and ids must have the same length; got {len(texts)}, "
                f"{len(labels)} and {len(ids)}."
            )
        if len(set(ids)) < len(ids):
            raise ValueError(
                f"ids must be distinct; {len(ids) - len(set(ids))} of them are repeated."
            )
        splits = [
            _checked_split(number, split, len(texts)) for number, split in enumerate(self.splits)
        ]
        for name, value in (("texts", texts), ("labels", labels), ("ids", ids), ("splits", splits)):
            object.__setattr__(self, name, value)

    @property
    def classes(self) -> list[Any]:
        """Distinct labels in sorted order."""
        return sorted(set(self.labels), key=lambda label: (type(label).__name__, label))

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        classes = len(set(self.labels))
        return (
            f"LabeledData({format_count(len(self), 'document')}, {classes} "
            f"{'class' if classes == 1 else 'classes'}, {format_count(len(self.splits), 'split')})"
        )

    def take(self, rows: Iterable[int]) -> "LabeledData":
        """Return the documents at positions `rows`, with their splits.

        Parameters
        ----------
        rows : iterable of int
            Positions of the documents, each once.

        Returns
        -------
        LabeledData
            Documents in the order of `rows`; splits keep only these documents.
        """
        kept = np.array(list(rows), dtype=np.intp)
        to = np.full(len(self), -1, dtype=np.intp)
        to[kept] = np.arange(len(kept))
        if np.count_nonzero(to >= 0) < len(kept):
            places = (kept % len(self)).tolist()
            repeated = next(place for place in places if places.count(place) > 1)
            raise ValueError(f"rows must be distinct; position {repeated} is repeated.")
        sides = ([to[side] for side in split] for split in self.splits)
        return LabeledData(
            [self.texts[row] for row in kept],
            [self.labels[row] for row in kept],
            [self.ids[row] for row in kept],
            [(train[train >= 0], test[test >= 0]) for train, test in sides],
        )

    def with_random_splits(
        self, n: int = 5, *, test: float = 0.3, random_state: int = 0
    ) -> "LabeledData":
        """Return the same documents with `n` random splits in place of their splits.

        Parameters
        ----------
        n : int, default=5
            Number of splits.
        test : float, default=0.3
            Fraction of test documents.
        random_state : int, default=0
            Random seed.

        Returns
        -------
        LabeledData
            Documents with new splits; positions on each side are in ascending order.

        Raises
        ------
        ValueError
            If one side would be empty.
        """
        integer(low=1).check("n", n)
        real(0, 1).check("test", test)
        size = round(test * len(self))
        if not 0 < size < len(self):
            raise ValueError(
                f"test must leave documents on both sides; got {test}, which takes {size} of "
                f"{len(self)} documents."
            )
        drawn = np.random.default_rng(random_state)
        orders = [drawn.permutation(len(self)) for _ in range(n)]
        splits = [(np.sort(order[size:]), np.sort(order[:size])) for order in orders]
        return LabeledData(self.texts, self.labels, self.ids, splits)


def read_labeled(
    source: Any,  # noqa: ANN401 (whatever `read` takes)
    *,
    max_bytes: int = 1 << 30,
) -> LabeledData:
    """Read labeled documents from files or folders, with the splits that the data define.

    Parameters
    ----------
    source : path, DataFrame, iterable of records, or Documents
        Any source of records for `textkin.read`: ``.jsonl``, ``.csv``, ``.tsv``, ``.json``, each
        also with ``.gz``, or Parquet. If the fields have other names than "text", "label" and
        "id", or the file is unusual, pass the result of `textkin.read`:
        ``read_labeled(tk.read("reviews.csv", text="body", label="stars"))``. In a folder of
        text files, the sub-folder of a file is its label: ``reviews/good/1.txt``. With the
        sub-folders "train" and "test", the label is one level below: ``train/good/1.txt``.
    max_bytes : int, default=1073741824
        Maximum number of characters of all texts together.

    Returns
    -------
    LabeledData
        All documents in order, with splits from the first of these fields that exists:

        - ``splits``: a list with "train" or "test" for each of several splits (in CSV, the words
          separated by spaces).
        - ``fold``: the number or name of a fold. Each fold is the test side once, and the other
          folds are the training side.
        - ``split``: "train" or "test". Documents of "validation", "valid", "val", "dev", "all" or
          "unused" are on neither side.

        Without such a field, or if all documents are on one side, there are no splits; call
        `LabeledData.with_random_splits`.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    TypeError, ValueError
        If the source cannot be read, a document has no label, or a split is invalid; with file
        and line.
        and line.

    Examples
    --------
    >>> from textkin.evaluate import read_labeled
    >>> records = [
    ...     {"text": "cats purr", "label": "pets", "split": "train"},
    ...     {"text": "stocks fell", "label": "money", "split": "train"},
    ...     {"text": "dogs bark", "label": "pets", "split": "test"},
    ... ]
    >>> data = read_labeled(records)
    >>> data
    LabeledData(3 documents, 2 classes, 1 split)
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
    folders: list[tuple[str, ...]] = []
    for place, document in placed(documents, OF_READ):
        label, within = document.label, _folders(place)
        if label in (None, "") and within:
            # The first sub-folder is the label, unless it names a side of a split.
            label = within[0]
            folders.append(within)
        if label is None or label == "":
            raise hinted(
                ValueError,
                f"{place}: there is no label.",
                "Every document must have one, in the field 'label' or in the field that you pass "
                "as `textkin.read(..., label=...)`.",
            )
        fields = {name: document.metadata[name] for name in _KINDS if name in document.metadata}
        bound.add(place, document.text, document.id, label, *fields.values())
        texts.append(document.text)
        labels.append(label)
        ids.append(document.id)
        rows.append((place, fields))
    if not rows:
        raise ValueError(f"There are no documents in {named(source)}.")
    if len(folders) == len(rows) and _are_sides(folders):
        labels = [within[1] for within in folders]
        rows = [(place, {"split": w[0]}) for (place, _), w in zip(rows, folders, strict=True)]
    return LabeledData(texts, labels, ids, _splits(rows))


def _folders(place: Place) -> tuple[str, ...]:
    """Return the names of the subfolders that contain a text file, relative to the source."""
    return () if place.unit else tuple(place.name.split("/")[:-1])


def _are_sides(folders: list[tuple[str, ...]]) -> bool:
    """Return True if the top folders are parts of a split, such as "train" and "test"."""
    sides = {within[0].lower() for within in folders}
    deep = all(len(within) > 1 for within in folders)
    return deep and {_TRAIN, _TEST} <= sides <= {_TRAIN, _TEST, *_NEITHER}


def _splits(rows: list[_Row]) -> list[Split]:
    for name, made in _KINDS.items():
        some = [place for place, fields in rows if fields.get(name) not in (None, "")]
        if len(some) == len(rows):
            return made(rows)
        if some:
            without = next(place for place, fields in rows if fields.get(name) in (None, ""))
            raise ValueError(
                f"{without}: there is no {name!r}, which {some[0]} has. All documents must have "
                "it, or none."
            )
    return []


def _by_list(rows: list[_Row]) -> list[Split]:
    """Return the splits from the field "splits", a list with each document's side per split."""
    table: list[list[str]] = []
    for place, fields in rows:
        found: object = fields["splits"]
        sides = _BETWEEN.split(found.strip()) if isinstance(found, str) else found
        if not isinstance(sides, list | tuple) or (table and len(sides) != len(table[0])):
            expected = f"a list of {len(table[0])} sides" if table else "a list of sides"
            raise ValueError(f"{place}: 'splits' must be {expected}; got {abbreviate(found)}.")
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
    """Return the splits of cross-validation from the field "fold"."""
    names = [_fold(place, fields["fold"]) for place, fields in rows]
    folds = np.array(names, dtype=object)
    ordered = sorted(set(names), key=lambda name: (not name.isdecimal(), len(name), name))
    if len(ordered) < 2:
        raise ValueError(
            f"{rows[0][0]}: there must be at least 2 folds; all documents are of 'fold' "
            f"{abbreviate(ordered[0])}."
        )
    return [(np.flatnonzero(folds != name), np.flatnonzero(folds == name)) for name in ordered]


def _fold(place: Place, value: object) -> str:
    if not isinstance(value, str | int | float):
        raise ValueError(f"{place}: 'fold' must be a number or a name; got {abbreviate(value)}.")
    # Tables with missing values turn 1 into 1.0.
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _by_word(rows: list[_Row]) -> list[Split]:
    """Return one split from the field "split": "train", "test", or neither."""
    sides = [_side(place, "split", fields["split"]) for place, fields in rows]
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
        raise ValueError(f"{place}: {name!r} must be one of {known}; got {abbreviate(value)}.")
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
