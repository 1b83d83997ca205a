"""`Vocabulary`: words of the columns of a document-term matrix."""

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from operator import index as as_integer
from typing import Any

import numpy as np

from textkin._base import Int32Array
from textkin.exceptions import ParameterTypeError, VocabularyWarning
from textkin.text._analyzer import NUMBER_MASK, Preparation, TermReader

__all__ = ["Vocabulary", "unchecked_vocabulary", "warn_unreachable_words"]


class Vocabulary:
    """Distinct words in a fixed order: word j names column j of a document-term matrix.

    A vocabulary is immutable, so it can be shared, hashed, and used as a key; a copy of it is the
    same object.

    Parameters
    ----------
    words : iterable of str
        Words in the order of the columns, without duplicates.

    Attributes
    ----------
    words : tuple of str
        Word of each column.

    Raises
    ------
    ValueError
        If a word is repeated.
    TypeError
        If `words` is a single str or has no order, or a word is not a str.

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
            raise ParameterTypeError("words", "a list of words", f"the single str {words!r}")
        if isinstance(words, Set | Mapping):
            raise ParameterTypeError(
                "words",
                "in the order of the columns",
                type(words).__name__,
                "Pass a list, such as sorted(words).",
            )
        columns: dict[str, int] = {}
        for position, word in enumerate(words):
            if not isinstance(word, str):
                raise TypeError(
                    f"words must be strings; position {position} holds "
                    f"{type(word).__name__} ({word!r})."
                )
            first = columns.setdefault(str(word), position)
            if first != position:
                raise ValueError(
                    f"words must be distinct; {str(word)!r} is at positions {first} and "
                    f"{position}. Remove the duplicate."
                )
        self._columns: dict[str, int] | None = columns
        self._words = tuple(columns)

    def _column_of(self) -> dict[str, int]:
        if self._columns is None:
            self._columns = dict(zip(self._words, range(len(self._words)), strict=True))
        return self._columns

    @property
    def words(self) -> tuple[str, ...]:
        """Words in column order."""
        return self._words

    def lookup(self, words: Sequence[str]) -> Int32Array:
        """Return the column of each word, or -1 for a word that is not in the vocabulary.

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
            raise ParameterTypeError(
                "words",
                "a list of words",
                f"the single str {words!r}",
                "Use index(word) for one word.",
            )
        find = self._column_of().get
        return np.fromiter((find(word, -1) for word in words), np.int32, len(words))

    def index(self, word: str) -> int:
        """Return the column of a word, or raise KeyError.

        Parameters
        ----------
        word : str
            Word to find, exactly as written.

        Returns
        -------
        int
            Column of the word.
        """
        try:
            return self._column_of()[word]
        except KeyError:
            raise KeyError(
                f"{word!r} is not among the {len(self)} words of this vocabulary; test with "
                "`word in vocabulary`, or use lookup, which returns -1."
            ) from None

    def __len__(self) -> int:
        return len(self._words)

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __contains__(self, word: object) -> bool:
        return word in self._column_of()

    def __getitem__(self, column: int) -> str:
        column = as_integer(column)
        # lookup returns -1 for an unknown word, so -1 must not mean the last column.
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

    def _saved_parts(self) -> dict[str, Any]:
        return {"words": np.array(self._words, dtype=object)}

    @classmethod
    def _of_saved_parts(cls, parts: Mapping[str, Any]) -> "Vocabulary":
        return cls(parts["words"].tolist())

    def __reduce__(self) -> tuple[type["Vocabulary"], tuple[tuple[str, ...]]]:
        return Vocabulary, (self._words,)


def unchecked_vocabulary(words: Iterable[str]) -> Vocabulary:
    """Make a vocabulary from words that are known to be distinct, without validation."""
    made = Vocabulary.__new__(Vocabulary)
    made._words = tuple(words)
    made._columns = None
    return made


def warn_unreachable_words(
    vocabulary: Collection[str], prepared: Preparation, *, stacklevel: int
) -> None:
    """Warn about vocabulary words that the text analysis can never produce.

    Stop words and words of several tokens are ignored, since lists for several purposes contain
    them. Lookups that find other spellings and custom tokenizers are not checked: their words may
    depend on context.
    """
    is_exact = isinstance(vocabulary, Vocabulary) or not hasattr(vocabulary, "lookup")
    if prepared.split is not None or not is_exact or isinstance(vocabulary, str):
        return
    words = [word for word in vocabulary if isinstance(word, str)]
    if prepared.numbers == "mask":
        words = [word for word in words if word != NUMBER_MASK]
    reader = TermReader(prepared)
    terms, offsets = reader.read(words).arrays()
    own, _ = reader.terms.read_words([[word] for word in words]).arrays()
    single = np.flatnonzero(np.diff(offsets) == 1)
    lost = single[terms[offsets[single]] != own[single]]
    if len(lost):
        as_read = reader.terms.words_at(terms[offsets[lost[:3]]])
        shown = ", ".join(
            f"{words[i]!r} ({read!r})" for i, read in zip(lost[:3], as_read, strict=True)
        )
        warnings.warn(
            f"{len(lost)} of {len(words)} words of vocabulary are never counted, because texts "
            f"are read with other spellings: {shown}{', ...' if len(lost) > 3 else ''}. Check "
            "lowercase and normalizer.",
            VocabularyWarning,
            stacklevel=stacklevel,
        )
