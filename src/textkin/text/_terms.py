"""From texts to numbered terms: tokenise, join phrases, leave out stop words, normalise, n-grams.

Every step works on numbers, and each distinct word is looked at once: by the stop list, by a
normaliser written in Python, by a vocabulary. A step costs no more for a million texts than for
the words they have.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, TypeVar

import numpy as np

from textkin import _core
from textkin._typing import Int32Array
from textkin.text._stop_words import StopWords, stop_word_set

__all__ = ["Preparation", "TermReader", "TokenizerLike", "batches", "prepare", "word_splitter"]

_Text = TypeVar("_Text", bound=Sized)

TokenizerLike: TypeAlias = Callable[[str], Iterable[str]] | re.Pattern[str] | None
"""Splits a text into words: a callable, a compiled pattern that finds them, or None for our own."""

_BATCH_CHARACTERS = 2**22  # for each thread: four chunks of the core


def word_splitter(
    tokenizer: TokenizerLike, *, lowercase: bool = False
) -> Callable[[str], list[str]] | None:
    """Return the function that splits a text with a tokeniser of the user; None for our own."""
    if tokenizer is None:
        return None
    if isinstance(tokenizer, re.Pattern):
        if not isinstance(tokenizer.pattern, str):
            raise TypeError("tokenizer must be a pattern of str; got one of bytes.")
        if tokenizer.groups > 1:
            raise ValueError(
                f"tokenizer must be a pattern with at most one group, the word; got "
                f"{tokenizer.groups} groups in {tokenizer.pattern!r}. Write (?:...) for the others."
            )
        split: Callable[[str], Iterable[str]] = tokenizer.findall
    elif callable(tokenizer):
        split = tokenizer
    else:
        raise TypeError(
            "tokenizer must be a callable that splits a text, a compiled pattern that finds its "
            f"words, or None; got {type(tokenizer).__name__}."
        )

    def words_of(text: str) -> list[str]:
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

    return words_of


def batches(texts: Iterable[_Text], n_threads: int = 1) -> Iterator[list[_Text]]:
    """Give the texts in lists of a few million characters, so that a stream is never held whole."""
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
    """What can be made ready before the first text is read; never changes, may be shared.

    Attributes
    ----------
    split : callable or None
        Splits a text into words; None is `tokenize`.
    lowercase : bool
        Turn words into lower case.
    stop_forms : WordTable or None
        The forms of the stop words.
    normalize : callable or None
        Word to word, called once for each distinct word that is no stop word; a word that
        becomes empty is left out.
    phrases : Phrases or None
        Joined where they occur, before stop words are removed.
    """

    split: Callable[[str], list[str]] | None = None
    lowercase: bool = True
    stop_forms: _core.WordTable | None = None
    normalize: Callable[[str], str] | None = None
    phrases: _core.Phrases | None = None


def prepare(
    *,
    lowercase: bool = True,
    tokenizer: TokenizerLike = None,
    stop_words: StopWords = None,
    normalize: Callable[[str], str] | None = None,
    phrases: Iterable[str] | None = None,
) -> Preparation:
    """Make ready what `TermReader` needs; of `phrases`, those that are several words."""
    split = word_splitter(tokenizer, lowercase=lowercase)
    stop_set = stop_word_set(stop_words, tokenizer=split)
    joined = None
    if phrases is not None:
        joined = _core.Phrases()
        for names in batches(phrases):
            if split is None:
                joined.add_texts(names, lowercase)
            else:
                for name in names:
                    joined.add_words(split(name), name)
    return Preparation(
        split, lowercase, _table_of(stop_set) if stop_set else None, normalize, joined
    )


class TermReader:
    """Reads texts, block by block, as numbers of terms.

    Parameters
    ----------
    prepared : Preparation
        How texts are read.
    ngram_range : (int, int)
        Lengths of runs of words that are terms.
    n_threads : int
        For texts that are split by `tokenize`.
    terms : WordTable, optional
        Terms that have their numbers already; new ones are added to it.

    Attributes
    ----------
    terms : WordTable
        The terms met so far, by number. Without a normaliser and with single words as terms, it
        has the stop words too: they get numbers that nothing is counted under.
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
        # Words as they are in the texts; what they become; runs of these. Where a step does
        # nothing, its table is that of the step before.
        self.terms = _core.WordTable() if terms is None else terms
        self._forms = self.terms if ngram_range == (1, 1) else _core.WordTable()
        self._words = self._forms if prepared.normalize is None else _core.WordTable()
        self._form_of = np.empty(0, np.int32)

    def read(self, texts: list[str]) -> _core.TokenBlock:
        """Return the terms of each text; those that are new get the next numbers."""
        use = self._prepared
        if use.split is None:
            tokens = self._words.read_texts(texts, use.lowercase, self.n_threads)
        else:
            tokens = self._words.read_words([use.split(text) for text in texts])
        if use.phrases is not None:
            tokens = use.phrases.join(tokens, self._words)
        if use.stop_forms is not None or use.normalize is not None:
            tokens = tokens.replaced(self._forms_of_words())
        if self.terms is self._forms:
            return tokens
        shortest, longest = self._ngram_range
        return self.terms.read_runs(tokens, self._forms, shortest, longest, self.n_threads)

    def words(self, text: str) -> list[str]:
        """Return the terms of one text as they are written."""
        ids, _ = self.read([text]).arrays()
        return self.terms.words_at(ids)

    def _forms_of_words(self) -> Int32Array:
        """Return the number of each word's form, or -1, after a look at the words that are new."""
        words, known = self._words, len(self._form_of)
        if known == len(words):
            return self._form_of
        forms = np.arange(known, len(words), dtype=np.int32)
        if self._prepared.stop_forms is not None:
            forms[words.matching(self._prepared.stop_forms, known) != 0] = -1
        if self._prepared.normalize is not None:
            kept = np.flatnonzero(forms >= 0)
            written = [self._form(word) for word in words.words_at(forms[kept])]
            ids, _ = self._forms.read_words([[form] for form in written]).arrays()
            forms[kept] = np.where([form != "" for form in written], ids, -1)
        self._form_of = np.concatenate([self._form_of, forms])
        return self._form_of

    def _form(self, word: str) -> str:
        assert self._prepared.normalize is not None
        if self._prepared.phrases is not None and word in self._prepared.phrases:
            return word  # the name of a phrase is as the lookup has it
        form = self._prepared.normalize(word)
        if not isinstance(form, str):
            raise TypeError(
                f"normalize must turn a word into a word (str); {word!r} became "
                f"{type(form).__name__}."
            )
        return form


@lru_cache(maxsize=16)
def _table_of(words: frozenset[str]) -> _core.WordTable:
    table = _core.WordTable()
    table.read_words([list(words)])
    return table
