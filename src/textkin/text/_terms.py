"""From texts to numbered terms: tokenise, join phrases, leave out stop words, normalise, n-grams.

Every step works on numbers, and each distinct word is looked at once: by the stop list, by a
normaliser written in Python, by a vocabulary. A step costs no more for a million texts than for
the words they have.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sized
from functools import cache
from typing import TypeAlias, TypeVar

import numpy as np

from textkin import _core
from textkin._typing import Int32Array, WordLookup
from textkin.text._stop_words import StopWords, stop_word_set
from textkin.text._tokenise import described

__all__ = ["TermReader", "TokenizerLike", "batches", "word_splitter"]

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
            raise TypeError(f"tokenizer must return a list of words; got {described(words)}.")
        kept = []
        for word in words:
            if not isinstance(word, str):
                raise TypeError(f"tokenizer must return words (str); got {described(word)}.")
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


class TermReader:
    """Reads texts, block by block, as numbers of terms.

    Parameters
    ----------
    lowercase : bool
        Turn words into lower case.
    tokenizer : callable, compiled pattern or None
        Splits a text into words; None is `tokenize`.
    stop_words : as `stop_word_set` takes
        Words to leave out.
    normalize : callable or None
        Word to word, called once for each distinct word that is no stop word; a word that
        becomes empty is left out.
    phrases : word lookup or None
        Its words of several tokens are joined where they occur, before stop words are removed.
    ngram_range : (int, int)
        Lengths of runs of words that are terms.
    n_threads : int
        For texts that are split by `tokenize`.

    Attributes
    ----------
    terms : WordTable
        The terms met so far, by number.
    """

    def __init__(
        self,
        *,
        lowercase: bool = True,
        tokenizer: TokenizerLike = None,
        stop_words: StopWords = None,
        normalize: Callable[[str], str] | None = None,
        phrases: WordLookup | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        n_threads: int = 1,
    ) -> None:
        self._split = word_splitter(tokenizer, lowercase=lowercase)
        self._lowercase = lowercase
        stop_set = stop_word_set(stop_words, tokenizer=self._split)
        self._stop_forms = _table_of(stop_set) if stop_set else None
        self._normalize = normalize
        self._ngram_range = ngram_range
        self.n_threads = n_threads
        # Words as they are in the texts; what they become; runs of these. Where a step does
        # nothing, its table is that of the step before.
        self._words = _core.WordTable()
        self._forms = self._words if normalize is None else _core.WordTable()
        self.terms = self._forms if ngram_range == (1, 1) else _core.WordTable()
        self._form_of = np.empty(0, np.int32)
        self._names: set[str] = set()
        self._phrases = None if phrases is None else self._learn_phrases(phrases)

    def read(self, texts: list[str]) -> _core.TokenBlock:
        """Return the terms of each text; those that are new get the next numbers."""
        return self._finish(self._read_into(self._words, texts))

    def words(self, text: str) -> list[str]:
        """Return the terms of one text as they are written."""
        ids, _ = self.read([text]).arrays()
        return self.terms.words_at(ids)

    def read_words(self, documents: Iterable[Iterable[str]]) -> _core.TokenBlock:
        """Return the terms of documents that are lists of words already."""
        return self._finish(self._words.read_words(list(documents)))

    def _read_into(self, table: _core.WordTable, texts: list[str]) -> _core.TokenBlock:
        if self._split is None:
            return table.read_texts(texts, self._lowercase, self.n_threads)
        return table.read_words([self._split(text) for text in texts])

    def _finish(self, tokens: _core.TokenBlock) -> _core.TokenBlock:
        if self._phrases is not None:
            tokens = self._phrases.join(tokens)
        if self._stop_forms is not None or self._normalize is not None:
            tokens = tokens.replaced(self._forms_of_words())
        if self.terms is self._forms:
            return tokens
        shortest, longest = self._ngram_range
        return self.terms.read_runs(tokens, self._forms, shortest, longest, self.n_threads)

    def _forms_of_words(self) -> Int32Array:
        """Return the number of each word's form, or -1, after a look at the words that are new."""
        words, known = self._words, len(self._form_of)
        if known == len(words):
            return self._form_of
        forms = np.arange(known, len(words), dtype=np.int32)
        if self._stop_forms is not None:
            forms[words.matching(self._stop_forms, known) != 0] = -1
        if self._normalize is not None:
            kept = np.flatnonzero(forms >= 0)
            written = [self._form(word) for word in words.words_at(forms[kept])]
            ids, _ = self._forms.read_words([[form] for form in written]).arrays()
            forms[kept] = np.where([form != "" for form in written], ids, -1)
        self._form_of = np.concatenate([self._form_of, forms])
        return self._form_of

    def _form(self, word: str) -> str:
        assert self._normalize is not None
        if word in self._names:
            return word  # the name of a phrase is as the lookup has it
        form = self._normalize(word)
        if not isinstance(form, str):
            raise TypeError(
                f"normalize must turn a word into a word (str); {word!r} became "
                f"{type(form).__name__}."
            )
        return form

    def _learn_phrases(self, lookup: WordLookup) -> _core.Phrases:
        phrases = _core.Phrases()
        for words in batches(lookup.words):
            _, offsets = self._read_into(_core.WordTable(), words).arrays()
            names = [words[i] for i in np.flatnonzero(np.diff(offsets) > 1)]
            self._names.update(names)
            sequences = self._read_into(self._words, names)
            phrases.add(sequences, self._words.read_words([[name] for name in names]))
        return phrases


@cache
def _table_of(words: frozenset[str]) -> _core.WordTable:
    table = _core.WordTable()
    table.read_words([list(words)])
    return table
