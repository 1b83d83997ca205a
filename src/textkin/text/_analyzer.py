"""Text analysis: tokenizing, phrases, stop words, normalization, and n-grams.

Each step works on integer IDs. The stop list, a normalizer in Python, and a vocabulary process each
distinct word only once, so their cost depends on the number of distinct words.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from textkin import _core
from textkin._base import Int32Array, IntpArray
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.text._stop_words import StopWords, stop_word_set

__all__ = [
    "NUMBER_MASK",
    "Numbers",
    "Preparation",
    "TermReader",
    "TokenizerLike",
    "prepare",
    "split_batches",
    "text_of",
    "word_splitter",
]

_Text = TypeVar("_Text", bound=Sized)

TokenizerLike: TypeAlias = Callable[[str], Iterable[str]] | re.Pattern[str] | None
"""Tokenizer: a callable, a compiled pattern that matches words, or None for `tokenize`."""

Numbers: TypeAlias = Literal["keep", "drop", "mask"]
"""Treatment of numbers, which are words with a digit and without a letter."""

NUMBER_MASK = "<number>"
"""Word that replaces each number with ``numbers="mask"``."""

_BATCH_CHARACTERS = 2**22  # per thread: four chunks of the core


def text_of(given: object) -> object:
    """Return the text of a document object; return any other object unchanged."""
    if isinstance(given, str):
        return given
    text = getattr(given, "text", None)
    return text if isinstance(text, str) else given


def word_splitter(
    tokenizer: TokenizerLike, *, lowercase: bool = False
) -> Callable[[str], list[str]] | None:
    """Return a function that splits texts by a custom tokenizer, or None for the default."""
    if tokenizer is None:
        return None
    if isinstance(tokenizer, re.Pattern):
        if not isinstance(tokenizer.pattern, str):
            raise ParameterTypeError("tokenizer", "a pattern of str", "one of bytes")
        if tokenizer.groups > 1:
            raise ParameterError(
                "tokenizer",
                "a pattern with at most one group, the word",
                f"{tokenizer.groups} groups in {tokenizer.pattern!r}",
                "Write (?:...) for the others.",
            )
        split: Callable[[str], Iterable[str]] = tokenizer.findall
    elif callable(tokenizer):
        split = tokenizer
    else:
        raise ParameterTypeError(
            "tokenizer",
            "a callable that splits a text, a compiled pattern that finds its words, or None",
            type(tokenizer).__name__,
        )

    def split_words(text: str) -> list[str]:
        words = split(text)
        if isinstance(words, str) or not isinstance(words, Iterable):
            raise TypeError(f"tokenizer must return a list of words; got {type(words).__name__}.")
        kept = []
        for word in words:
            if not isinstance(word, str):
                raise TypeError(f"tokenizer must return words (str); got {type(word).__name__}.")
            if word:
                kept.append(word.lower() if lowercase else word)
        return kept

    return split_words


def split_batches(texts: Iterable[_Text], n_threads: int = 1) -> Iterator[list[_Text]]:
    """Yield lists of texts of a few million characters, so that a stream fits in memory."""
    batch: list[_Text] = []
    size = 0
    most = _BATCH_CHARACTERS * n_threads
    for text in texts:
        batch.append(text)
        size += len(text) + 64  # short texts have a cost too
        if size >= most:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@dataclass(frozen=True, slots=True, eq=False)
class Preparation:
    """Prepared, immutable settings of a text analysis, shared by readers.

    Attributes
    ----------
    split : callable or None
        Function that splits a text into words; None for `tokenize`.
    lowercase : bool
        Convert words to lowercase.
    stop_forms : WordTable or None
        Forms of the stop words.
    normalizer : callable or None
        Function from word to word, called once per distinct word that is not a stop word. Words
        that become empty are removed.
    phrases : Phrases or None
        Phrases, joined before stop words are removed.
    numbers : {"keep", "drop", "mask"}
        Treatment of numbers.
    min_length : int
        Minimum number of characters of a word, before it is normalized.
    """

    split: Callable[[str], list[str]] | None = None
    lowercase: bool = True
    stop_forms: _core.WordTable | None = None
    normalizer: Callable[[str], str] | None = None
    phrases: _core.Phrases | None = None
    numbers: Numbers = "keep"
    min_length: int = 1


_named_set = cache(stop_word_set)  # the set of a list has the same words each time


def prepare(
    *,
    lowercase: bool = True,
    tokenizer: TokenizerLike = None,
    stop_words: StopWords = None,
    normalizer: Callable[[str], str] | None = None,
    phrases: Iterable[str] | None = None,
    numbers: Numbers = "keep",
    min_length: int = 1,
) -> Preparation:
    """Validate the settings of a text analysis, and return them prepared for `TermReader`."""
    split = word_splitter(tokenizer, lowercase=lowercase)
    if split is None and isinstance(stop_words, str | None):
        stop_set = _named_set(stop_words)
    else:
        stop_set = stop_word_set(stop_words, tokenizer=split)
    joined = None
    if phrases is not None:
        joined = _core.Phrases()
        for names in split_batches(phrases):
            if split is None:
                joined.add_texts(names, lowercase)
            else:
                for name in names:
                    joined.add_words(split(name), name)
    return Preparation(
        split,
        lowercase,
        _make_table(stop_set) if stop_set else None,
        normalizer,
        joined,
        numbers,
        min_length,
    )


class TermReader:
    """Analyzer that converts texts to sequences of term IDs.

    Parameters
    ----------
    prepared : Preparation
        Steps of the analysis.
    ngram_range : (int, int)
        Minimum and maximum length of n-grams.
    n_threads : int
        Number of threads of `tokenize`.
    terms : WordTable, optional
        Terms with IDs; new terms are added.

    Attributes
    ----------
    terms : WordTable
        Terms read so far, by ID. Without a normalizer and n-grams, the table includes stop words,
        whose IDs are never counted.
    """

    def __init__(
        self,
        prepared: Preparation,
        *,
        ngram_range: tuple[int, int] = (1, 1),
        n_threads: int = 1,
        terms: _core.WordTable | None = None,
    ) -> None:
        self._prepared = prepared
        self._ngram_range = ngram_range
        self.n_threads = n_threads
        # Tables of words, of their normalized forms, and of n-grams. A step without effect shares
        # the table of the step before it.
        self.terms = _core.WordTable() if terms is None else terms
        self._forms = self.terms if ngram_range == (1, 1) else _core.WordTable()
        self._words = self._forms if prepared.normalizer is None else _core.WordTable()
        self._form_of = np.empty(0, np.int32)

    def read(self, texts: list[str]) -> _core.TokenBlock:
        """Convert texts to term IDs; new terms get the next free IDs."""
        use = self._prepared
        if use.split is None:
            tokens = self._words.read_texts(texts, use.lowercase, self.n_threads)
        else:
            tokens = self._words.read_words([use.split(text) for text in texts])
        if use.phrases is not None:
            tokens = use.phrases.join(tokens, self._words)
        if (
            use.stop_forms is not None
            or use.normalizer is not None
            or use.numbers != "keep"
            or use.min_length > 1
        ):
            tokens = tokens.replaced(self._update_forms())
        if self.terms is self._forms:
            return tokens
        shortest, longest = self._ngram_range
        return self.terms.read_runs(tokens, self._forms, shortest, longest, self.n_threads)

    def words(self, text: str) -> list[str]:
        """Return the analyzed words of one text as strings."""
        ids, _ = self.read([text]).arrays()
        return self.terms.words_at(ids)

    def _update_forms(self) -> Int32Array:
        """Return the ID of the normalized form of each new word, or -1 if removed."""
        words, known = self._words, len(self._form_of)
        if known == len(words):
            return self._form_of
        forms = np.arange(known, len(words), dtype=np.int32)
        if self._prepared.stop_forms is not None:
            forms[words.matching(self._prepared.stop_forms, known) != 0] = -1
        masked = self._select_words(forms)
        if self._prepared.normalizer is not None:
            kept = np.flatnonzero(forms >= 0)
            written = [self._normalize_word(word) for word in words.words_at(forms[kept])]
            ids, _ = self._forms.read_words([[form] for form in written]).arrays()
            forms[kept] = np.where([form != "" for form in written], ids, -1)
        if len(masked):
            ids, _ = self._forms.read_words([[NUMBER_MASK]]).arrays()
            forms[masked] = ids[0]
        self._form_of = np.concatenate([self._form_of, forms])
        return self._form_of

    def _select_words(self, forms: Int32Array) -> IntpArray:
        """Set removed words to -1 in place; return the positions of numbers to mask."""
        numbers, shortest = self._prepared.numbers, self._prepared.min_length
        if numbers == "keep" and shortest <= 1:
            return np.empty(0, np.intp)
        masked = []
        phrases = self._prepared.phrases
        kept = np.flatnonzero(forms >= 0)
        for position, word in zip(kept.tolist(), self._words.words_at(forms[kept]), strict=True):
            if phrases is not None and word in phrases:
                continue
            if numbers != "keep" and is_number(word):
                forms[position] = -1
                if numbers == "mask":
                    masked.append(position)
            elif len(word) < shortest:
                forms[position] = -1
        return np.array(masked, np.intp)

    def _normalize_word(self, word: str) -> str:
        assert self._prepared.normalizer is not None
        if self._prepared.phrases is not None and word in self._prepared.phrases:
            return word  # phrases keep their names
        form = self._prepared.normalizer(word)
        if not isinstance(form, str):
            raise TypeError(
                f"normalizer must return a word (str); got {type(form).__name__} for {word!r}."
            )
        return form


def is_number(word: str) -> bool:
    """Return True if a word is a number: it has a digit and no letter.

    Examples
    --------
    >>> [word for word in ("1997", "3,5", "1990s", "x", "-") if is_number(word)]
    ['1997', '3,5']
    """
    return any(map(str.isnumeric, word)) and not any(map(str.isalpha, word))


@lru_cache(maxsize=16)
def _make_table(words: frozenset[str]) -> _core.WordTable:
    table = _core.WordTable()
    table.read_words([list(words)])
    return table
