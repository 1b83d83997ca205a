"""Counts of words by column of a vocabulary."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from textkin import _core
from textkin._base import Bags, Int32Array, Int64Array, WordLookup, integer, one_of
from textkin.exceptions import ParameterTypeError
from textkin.text._analyzer import Preparation, TermReader

__all__ = [
    "MAX_WORDS",
    "ColumnFinder",
    "Counted",
    "RowWords",
    "count_blocks",
    "count_rows",
    "count_words",
]

MAX_WORDS = one_of(None) | integer(1)
"""Constraint of `max_words_per_document`."""

_MOST = 2**31 - 1  # maximum number of words of a document
_UNKNOWN = -1  # column of an unknown word, as in the core

_Count = TypeVar("_Count", np.float32, np.int64)
_Rows: TypeAlias = tuple[Int64Array, Int32Array, NDArray[_Count]]


class RowWords(Sequence[dict[str, int]]):
    """Lazy sequence of dicts from word to count, one per document.

    Parameters
    ----------
    offsets, keys, counts : ndarray
        Arrays of a CSR matrix; row d has the entries ``offsets[d]:offsets[d + 1]``.
    names : list of str
        Word of each key.
    """

    def __init__(
        self, offsets: Int64Array, keys: Int32Array, counts: Int64Array, names: list[str]
    ) -> None:
        self._offsets, self._keys, self._counts, self._names = offsets, keys, counts, names

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, row: int) -> dict[str, int]: ...
    @overload
    def __getitem__(self, row: slice) -> list[dict[str, int]]: ...
    def __getitem__(self, row: int | slice) -> dict[str, int] | list[dict[str, int]]:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        row = range(len(self))[row]
        part = slice(self._offsets[row], self._offsets[row + 1])
        names = (self._names[key] for key in self._keys[part].tolist())
        return dict(zip(names, self._counts[part].tolist(), strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"RowWords({list(self)!r})"


@dataclass(frozen=True, slots=True)
class Counted:
    """Bags of documents, with counts of the words that are not in the vocabulary.

    Attributes
    ----------
    bags : csr_array of shape (n_documents, n_columns), float32
        Word counts of each document; int32 indices, sorted, no explicit zeros.
    unknown : sequence of dict
        Words without a column with their counts, for each document, in the order of the document.
    cut : sequence of dict
        Words omitted because of `max_words_per_document` with their counts, for each document, in
        the spelling of their column.

    Examples
    --------
    >>> from textkin.text import Vocabulary
    >>> counted = count_words([["a", "b", "a"]], Vocabulary(["a"]))
    >>> counted.bags.toarray(), counted.unknown[0]
    (array([[2.]], dtype=float32), {'b': 1})
    """

    bags: Bags
    unknown: Sequence[dict[str, int]]
    cut: Sequence[dict[str, int]] = field(default=())


def count_words(
    documents: Iterable[Sequence[str]],
    columns: WordLookup,
    *,
    max_words_per_document: int | None = None,
) -> Counted:
    """Count the words of tokenized documents by columns of a vocabulary.

    Parameters
    ----------
    documents : iterable of sequences of str
        Tokens of each document.
    columns : Vocabulary, WordVectors or another word lookup
        Lookup of the column of a word. Several words may share a column, such as ``Press`` and
        ``press``: their counts are added.
    max_words_per_document : int or None, default=None
        Maximum number of columns per document; the most frequent ones stay, and ties go to the
        first in the document. Unknown words do not count toward the limit.

    Returns
    -------
    Counted
        Bags, unknown words, and omitted words.

    Raises
    ------
    TypeError
        If a document is a str instead of a list of words.

    See Also
    --------
    BagOfWords : Estimator that counts the words of texts.

    Notes
    -----
    Entry (d, w) is n(d, w), the number of times word w occurs in document d. Kusner et al. use a
    limit of 500 words per document in their 20NEWS experiments. The time is linear in the number
    of tokens; each distinct word is looked up once.

    References
    ----------
    Kusner, Sun, Kolkin and Weinberger, "From Word Embeddings To Document Distances", ICML 2015,
    sections 3 and 5.

    Examples
    --------
    >>> from textkin.text import Vocabulary
    >>> documents = [["a", "b", "a", "c", "b", "a", "d"], []]
    >>> counted = count_words(documents, Vocabulary(["a", "b", "c"]))
    >>> counted.bags.toarray()
    array([[3., 2., 1.],
           [0., 0., 0.]], dtype=float32)
    >>> counted.unknown[0]
    {'d': 1}
    >>> capped = count_words(documents, Vocabulary(["a", "b", "c"]), max_words_per_document=2)
    >>> capped.bags.toarray()[0], capped.cut[0]
    (array([3., 2., 0.], dtype=float32), {'c': 1})
    """
    MAX_WORDS.check("max_words_per_document", max_words_per_document)
    if not hasattr(columns, "lookup"):
        raise ParameterTypeError(
            "columns",
            "a Vocabulary, WordVectors or another word lookup",
            type(columns).__name__,
            "Pass Vocabulary(words).",
        )
    reader = TermReader(Preparation())
    block = reader.terms.read_words(list(_check_documents(documents)))
    finder = ColumnFinder(columns, reader)
    return count_blocks([block.count(1)], finder, max_words_per_document)


class ColumnFinder:
    """Cache of the vocabulary columns of terms, by term ID.

    Parameters
    ----------
    columns : WordLookup
        Lookup of words.
    reader : TermReader
        Reader of the terms to look up.
    terms : ndarray of int32, optional
        Term of each column, if known. Other terms read so far have no column.
    """

    def __init__(
        self, columns: WordLookup, reader: TermReader, terms: Int32Array | None = None
    ) -> None:
        self.columns, self.reader = columns, reader
        self._column_of = np.empty(0, np.int32)
        if terms is not None:
            self._column_of = np.full(len(reader.terms), _UNKNOWN, np.int32)
            self._column_of[terms] = np.arange(len(terms), dtype=np.int32)

    def __call__(self) -> Int32Array:
        """Return the column of each term ID, or -1 for a term outside the vocabulary."""
        known = len(self._column_of)
        if known < len(self.reader.terms):
            new = self.columns.lookup(self.reader.terms.words(known))
            self._column_of = np.concatenate([self._column_of, new.astype(np.int32, copy=False)])
        return self._column_of


@dataclass(frozen=True, slots=True)
class CountedRows:
    """Counted documents as CSR arrays: known, unknown, and cut-off words."""

    known: tuple[Int64Array, Int32Array, NDArray[np.float32]]
    unknown: RowWords
    cut: RowWords


def count_rows(
    blocks: Iterable[_core.WordCounts],
    column_of: ColumnFinder,
    max_words_per_document: int | None,
) -> CountedRows:
    """Convert counts by term ID to counts by column, for all blocks of documents."""
    known, unknown, cut = [], [], []
    most = min(max_words_per_document or 0, _MOST)
    for block in blocks:
        parts = block.to_bags(column_of(), most, column_of.reader.n_threads)
        known.append(parts[0])
        unknown.append(parts[1])
        cut.append(parts[2])
    words = column_of.columns
    return CountedRows(
        _stack_rows(known, np.float32),
        _name_rows(_stack_rows(unknown, np.int64), column_of.reader.terms.words_at),
        _name_rows(
            _stack_rows(cut, np.int64), lambda used: [words.words[i] for i in used.tolist()]
        ),
    )


def count_blocks(
    blocks: Iterable[_core.WordCounts],
    column_of: ColumnFinder,
    max_words_per_document: int | None,
) -> Counted:
    """Convert counts by term ID to one sparse matrix by column, with unknown words."""
    rows = count_rows(blocks, column_of, max_words_per_document)
    return Counted(bags_of_rows(rows.known, len(column_of.columns)), rows.unknown, rows.cut)


def bags_of_rows(rows: _Rows[np.float32], n_columns: int) -> Bags:
    """Convert rows of counts with sorted columns to a sparse matrix."""
    offsets, columns, counts = rows
    if offsets[-1] <= np.iinfo(np.int32).max:
        offsets = offsets.astype(np.int32)
    bags: Bags = sparse.csr_array((counts, columns, offsets), shape=(len(offsets) - 1, n_columns))
    bags.has_sorted_indices = True
    bags.has_canonical_format = True
    return bags


def _stack_rows(parts: list[_Rows[_Count]], kind: type[_Count]) -> _Rows[_Count]:
    """Concatenate blocks of word counts (offsets, columns, counts) to one block."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, kind)
    starts = np.cumsum([0, *(part[0][-1] for part in parts)])
    later: list[Int64Array] = [
        part[0][1:] + start for part, start in zip(parts, starts, strict=False)
    ]
    return (
        np.concatenate([np.zeros(1, np.int64), *later]),
        np.concatenate([part[1] for part in parts]),
        np.concatenate([part[2] for part in parts]),
    )


def _name_rows(rows: _Rows[np.int64], words_at: Callable[[Int32Array], list[str]]) -> RowWords:
    """Convert rows of counts by word ID to dicts from word to count."""
    offsets, keys, counts = rows
    if not len(keys):
        return RowWords(offsets, keys, counts, [])
    used, numbers = np.unique(keys, return_inverse=True)
    return RowWords(offsets, numbers.astype(np.int32), counts, words_at(used))


def _check_documents(documents: Iterable[object]) -> Iterator[Iterable[str]]:
    for position, document in enumerate(documents):
        if isinstance(document, str):
            raise TypeError(
                f"documents must be lists of words; position {position} holds a str. "
                "Split it with tokenize, or count texts with BagOfWords."
            )
        if not isinstance(document, Iterable) or isinstance(document, bytes):
            raise TypeError(
                f"documents must be lists of words; position {position} holds "
                f"{type(document).__name__}."
            )
        yield document
