"""Words and the columns they have."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from operator import index as as_integer
from typing import Any

import numpy as np

from textkin._typing import Int32Array

__all__ = ["Vocabulary"]


class Vocabulary:
    """Distinct words in a fixed order: word j names column j of the bags.

    A vocabulary never changes, so it can be shared, hashed and used as a key; copies of it are
    the object itself.

    Parameters
    ----------
    words : iterable of str
        The words in the order of the columns, without repetition.

    Attributes
    ----------
    words : tuple of str
        The word of each column.

    Raises
    ------
    ValueError
        If a word comes twice.
    TypeError
        If `words` is a single str or has no order, or if one of them is not a str.

    See Also
    --------
    BagOfWords : Learn a vocabulary from texts.
    count_words : Count words into the columns of a vocabulary.

    Examples
    --------
    >>> vocabulary = Vocabulary(["media", "press", "speaks"])
    >>> vocabulary
    Vocabulary(3 words: 'media', 'press', 'speaks')
    >>> vocabulary[1], vocabulary.index("press"), "band" in vocabulary
    ('press', 1, False)
    >>> vocabulary.lookup(["speaks", "band"])
    array([ 2, -1], dtype=int32)
    """

    __slots__ = ("_columns", "_words")

    def __init__(self, words: Iterable[str]) -> None:
        if isinstance(words, str):
            raise TypeError(f"words must be a list of words; got the single str {words!r}.")
        if isinstance(words, Set | Mapping):
            raise TypeError(
                f"words must be in the order of the columns; got {type(words).__name__}. "
                "Pass a list, such as sorted(words)."
            )
        columns: dict[str, int] = {}
        for position, word in enumerate(words):
            if not isinstance(word, str):
                raise TypeError(
                    f"words must hold str; position {position} holds "
                    f"{type(word).__name__} ({word!r})."
                )
            first = columns.setdefault(str(word), position)
            if first != position:
                raise ValueError(
                    f"words must be distinct; {str(word)!r} is at positions {first} and "
                    f"{position}. Remove the repetition."
                )
        self._columns: dict[str, int] | None = columns
        self._words = tuple(columns)

    @classmethod
    def _of_distinct(cls, words: Iterable[str]) -> "Vocabulary":
        """Make a vocabulary of words that are known to be distinct; quicker, nothing is checked."""
        made = cls.__new__(cls)
        made._words = tuple(words)
        made._columns = None
        return made

    def _column_of(self) -> dict[str, int]:
        if self._columns is None:
            self._columns = dict(zip(self._words, range(len(self._words)), strict=True))
        return self._columns

    @property
    def words(self) -> tuple[str, ...]:
        """The word of each column."""
        return self._words

    def lookup(self, words: Sequence[str]) -> Int32Array:
        """Return the column of each word, -1 where there is none.

        Parameters
        ----------
        words : sequence of str
            Words to find, exactly as written.

        Returns
        -------
        ndarray of shape (len(words),), int32
            Columns, or -1.
        """
        if isinstance(words, str):
            raise TypeError(
                f"words must be a list of words; got the single str {words!r}. "
                "Use index(word) for one word."
            )
        find = self._column_of().get
        return np.fromiter((find(word, -1) for word in words), np.int32, len(words))

    def index(self, word: str) -> int:
        """Return the column of `word`; raise `KeyError` if it has none.

        Parameters
        ----------
        word : str
            Word to find, exactly as written.

        Returns
        -------
        int
            Its column.
        """
        try:
            return self._column_of()[word]
        except KeyError:
            raise KeyError(
                f"{word!r} is not among the {len(self)} words of this vocabulary; test with "
                "`word in vocabulary`, or use lookup, which gives -1."
            ) from None

    def __len__(self) -> int:
        return len(self._words)

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __contains__(self, word: object) -> bool:
        return word in self._column_of()

    def __getitem__(self, column: int) -> str:
        column = as_integer(column)
        # -1 is lookup's answer for an unknown word; it must not name the last one.
        if not 0 <= column < len(self):
            raise IndexError(f"column must be at least 0 and below {len(self)}; got {column}.")
        return self._words[column]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self._words == other._words

    def __hash__(self) -> int:
        return hash(self._words)

    def __repr__(self) -> str:
        shown = [repr(word) for word in self._words[:5]]
        if len(self) > len(shown):
            shown.append("...")
        size = f"{len(self)} word{'' if len(self) == 1 else 's'}"
        return f"Vocabulary({size}{': ' if shown else ''}{', '.join(shown)})"

    def __copy__(self) -> "Vocabulary":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Vocabulary":
        return self

    def __reduce__(self) -> tuple[type["Vocabulary"], tuple[tuple[str, ...]]]:
        return Vocabulary, (self._words,)
