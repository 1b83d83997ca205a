"""A corpus as training needs it: its frequent words, and each text as their numbers, in order."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from textkin._typing import HasText, Int32Array, Int64Array, WordLookup
from textkin.text import Tokens
from textkin.text._counting import ColumnFinder
from textkin.text._stop_words import StopWords
from textkin.text._terms import Preparation, TermReader, batches, prepare
from textkin.text._tokenise import described, text_of

__all__ = ["Corpus", "CorpusLike", "KnownWords", "known_words", "read_corpus"]

CorpusLike: TypeAlias = "Iterable[str | HasText | Sequence[str]] | Tokens"
"""Texts, documents as `read` gives them, lists of words, or `Tokens`."""

_Block: TypeAlias = tuple[Int32Array, Int64Array]  # numbers of words, where documents begin


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """A corpus in the words that are learnt.

    Attributes
    ----------
    words : list of str
        From the most frequent to the least; of equals the first in the order of code points.
    counts : ndarray of shape (n_words,), int64
        How often each occurs.
    ids : ndarray of shape (n_tokens,), int32
        The words of all documents by number; those that are not learnt are left out, so that
        their neighbours stand side by side.
    offsets : ndarray of shape (n_documents + 1,), int64
        Document d has the tokens from ``offsets[d]`` to ``offsets[d + 1]``.
    """

    words: list[str]
    counts: Int64Array
    ids: Int32Array
    offsets: Int64Array

    def __len__(self) -> int:
        return len(self.offsets) - 1


def read_corpus(
    corpus: CorpusLike,
    *,
    min_count: int,
    max_words: int | None,
    stop_words: StopWords,
    lowercase: bool,
    n_threads: int,
    name: str = "corpus",
) -> Corpus:
    """Read a corpus once, and choose its words.

    Four bytes a token are held, and a batch of texts; the result is the same for any number of
    threads.

    Raises
    ------
    ValueError
        If there is no document, or fewer than two words are left.
    TypeError
        If a document is neither a text nor a list of words.
    """
    documents = _Documents(corpus, stop_words, lowercase, n_threads, name)
    terms = documents.reader.terms
    blocks: list[_Block] = []
    totals = np.zeros(0, np.int64)
    for block in documents:
        blocks.append(block)
        counted = np.bincount(block[0], minlength=len(terms))
        counted[: len(totals)] += totals
        totals = counted
    n_documents = sum(len(offsets) - 1 for _, offsets in blocks)
    if not n_documents:
        raise ValueError(f"{name} must hold at least one text; got none.")
    chosen = terms.sorted(n_threads)
    if terms.words_at(chosen[:1]) == [""]:  # of lists of words; a file could not give it back
        chosen = chosen[1:]
    chosen = chosen[totals[chosen] > 0]  # stop words have numbers too
    met, chosen = chosen, chosen[totals[chosen] >= min_count]
    chosen = chosen[np.argsort(-totals[chosen], kind="stable")][:max_words]
    if len(chosen) < 2:
        most = met[np.argsort(-totals[met], kind="stable")[:2]]
        raise _too_few(name, n_documents, len(met), totals[most], terms.words_at(most), min_count)
    return Corpus(
        terms.words_at(chosen), totals[chosen], *_filled(blocks, chosen, totals, n_documents)
    )


def _filled(
    blocks: list[_Block], chosen: Int32Array, totals: Int64Array, n_documents: int
) -> tuple[Int32Array, Int64Array]:
    """Put all blocks into one, in the numbers of the chosen words; frees each as it goes."""
    column_of = np.full(len(totals), -1, np.int32)
    column_of[chosen] = np.arange(len(chosen), dtype=np.int32)
    ids = np.empty(int(totals[chosen].sum()), np.int32)
    offsets = np.zeros(n_documents + 1, np.int64)
    filled = document = 0
    blocks.reverse()
    while blocks:
        kept, starts = _without_unknown(column_of[blocks[-1][0]], blocks.pop()[1])
        ids[filled : filled + len(kept)] = kept
        offsets[document + 1 : document + len(starts)] = filled + starts[1:]
        filled += len(kept)
        document += len(starts) - 1
    return ids, offsets


@dataclass(frozen=True, slots=True, eq=False)
class KnownWords:
    """Documents in the words of a vocabulary.

    Attributes
    ----------
    ids, offsets : ndarray
        As those of a `Corpus`.
    lengths : ndarray of shape (n_documents,), int64
        All words of each document, known or not, without stop words.
    """

    ids: Int32Array
    offsets: Int64Array
    lengths: Int64Array


def known_words(
    corpus: CorpusLike,
    vocabulary: WordLookup,
    *,
    stop_words: StopWords,
    lowercase: bool,
    n_threads: int,
    name: str = "X",
) -> KnownWords:
    """Read documents in the words of a vocabulary; others are left out, and only counted."""
    documents = _Documents(corpus, stop_words, lowercase, n_threads, name)
    columns = ColumnFinder(vocabulary, documents.reader)
    ids, known, lengths = [np.empty(0, np.int32)], [np.zeros(1, np.int64)], [np.empty(0, np.int64)]
    for numbers, offsets in documents:
        kept, starts = _without_unknown(columns()[numbers], offsets)
        ids.append(kept)
        known.append(np.diff(starts))
        lengths.append(np.diff(offsets))
    return KnownWords(
        np.concatenate(ids), np.cumsum(np.concatenate(known)), np.concatenate(lengths)
    )


def _without_unknown(ids: Int32Array, offsets: Int64Array) -> _Block:
    kept = ids >= 0
    before: Int64Array = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept, dtype=np.int64)])
    return ids[kept], before[offsets]


class _Documents:
    """The documents of a corpus as numbers of words, a batch at a time; can be read once."""

    def __init__(
        self, corpus: CorpusLike, stop_words: StopWords, lowercase: bool, n_threads: int, name: str
    ) -> None:
        _refuse_others(corpus, name)
        prepared = prepare(lowercase=lowercase, stop_words=stop_words)
        self._name = name
        self._tokens = corpus if isinstance(corpus, Tokens) else None
        self._given: Iterator[Any] = iter(())
        self._are_texts = False
        if self._tokens is None:
            self._given = iter(corpus)
            first = next(self._given, self)
            self._are_texts = first is self or isinstance(text_of(first), str)
            if first is not self:
                self._given = chain([first], self._given)
        if not self._are_texts:  # words are what they are; only stop words are left out
            prepared = Preparation(list, lowercase=False, stop_forms=prepared.stop_forms)
        self.reader = TermReader(prepared, n_threads=n_threads)

    def __iter__(self) -> Iterator[_Block]:
        if self._tokens is not None:
            yield self._numbered(self._tokens)
            return
        for batch in batches(self._checked(), self.reader.n_threads):
            yield self.reader.read(batch).arrays()

    def _checked(self) -> Iterator[Any]:
        """Give each document as a text, or as a list of words, like the first one."""
        wanted = "texts" if self._are_texts else "lists of words"
        for position, given in enumerate(self._given):
            document = text_of(given)
            is_text = isinstance(document, str)
            if not is_text:
                document = _word_list(document, self._name, position)
            if is_text != self._are_texts:
                raise TypeError(
                    f"{self._name} must hold texts or lists of words, not both; it begins with "
                    f"{wanted}, and position {position} holds {type(given).__name__}."
                )
            yield document

    def _numbered(self, tokens: Tokens) -> _Block:
        """Return tokens in the numbers of the reader's words, without stop words and unknown."""
        names = list(tokens.vocabulary.words)
        ids, offsets = np.asarray(tokens.ids), np.asarray(tokens.offsets)
        if len(ids) and not -1 <= ids.min() <= ids.max() < len(names):
            raise ValueError(
                f"{self._name}: the ids of Tokens must be columns of its vocabulary "
                f"({len(names):,} words), or -1; got {ids.min()} to {ids.max()}."
            )
        if (
            not len(offsets)
            or offsets[0] != 0
            or offsets[-1] != len(ids)
            or (np.diff(offsets) < 0).any()
        ):
            raise ValueError(
                f"{self._name}: the offsets of Tokens must rise from 0 to the number of ids."
            )
        # A document a word: one that is left out, a stop word, has none.
        numbers, starts = self.reader.read([[word] for word in names]).arrays()  # type: ignore[misc]
        number_of = np.full(len(names) + 1, -1, np.int32)  # the last is that of the column -1
        number_of[:-1][np.diff(starts) > 0] = numbers
        return _without_unknown(number_of[ids], offsets)


def _word_list(document: object, name: str, position: int) -> list[str]:
    """Return the words of a document, surely strings."""
    if isinstance(document, list | tuple) or (
        isinstance(document, np.ndarray) and document.ndim == 1 and document.dtype.kind in "OU"
    ):
        words = list(document)
        if not all(isinstance(word, str) for word in words):
            wrong = next(word for word in words if not isinstance(word, str))
            raise TypeError(
                f"{name} must hold texts or lists of words; position {position} holds a list "
                f"with {type(wrong).__name__} ({wrong!r:.40})."
            )
        return words
    raise TypeError(
        f"{name} must hold texts or lists of words; position {position} holds "
        f"{described(document)}."
    )


def _refuse_others(corpus: Any, name: str) -> None:  # noqa: ANN401 (whatever users pass)
    if isinstance(corpus, Tokens):
        return
    if isinstance(corpus, str):
        raise ValueError(f"{name} must be a list of texts; got a single str. Wrap it: [text].")
    if hasattr(corpus, "columns") and getattr(corpus, "ndim", 2) == 2:
        raise TypeError(
            f"{name} must be texts or lists of words; got {type(corpus).__name__}, a table. Pass "
            f"the column with the texts, as in {name.lower()}['text']."
        )
    dtype = getattr(corpus, "dtype", None)
    if getattr(corpus, "ndim", 1) != 1 or getattr(dtype, "kind", "O") not in "OUT":
        raise TypeError(
            f"{name} must be texts or lists of words; got {type(corpus).__name__} of the shape "
            f"{getattr(corpus, 'shape', ())}. Bags do not do: they have lost the order of the "
            "words, and who stands next to whom is what is learnt from."
        )
    if isinstance(corpus, bytes | Mapping) or not isinstance(corpus, Iterable):
        raise TypeError(
            f"{name} must be texts, documents of textkin.read, lists of words or Tokens; got "
            f"{described(corpus)}."
        )


def _too_few(
    name: str, n_documents: int, met: int, counts: Int64Array, words: list[str], min_count: int
) -> ValueError:
    """Say why fewer than two words are left, and which option changes that."""
    texts = "1 document" if n_documents == 1 else f"{n_documents:,} documents"
    if met == 0:
        return ValueError(
            f"{name} has no words: {texts}, none with a word that is no stop word. Pass other "
            "texts, or stop_words=None."
        )
    if met == 1:
        return ValueError(
            f"{name} has a single word, {words[0]!r}, in {texts}; at least two are needed to tell "
            "apart."
        )
    if counts[1] >= min_count:  # so max_words is 1
        return ValueError("max_words must be at least 2: one word has nothing to be near to.")
    often = " and ".join(
        f"{word!r} ({count:,})" for word, count in zip(words, counts.tolist(), strict=True)
    )
    return ValueError(
        f"{name} has fewer than two words that occur at least min_count={min_count} times; the "
        f"most frequent of its {met:,} words are {often}, in {texts}. Pass a smaller min_count, "
        "or more text; a small corpus needs more epochs too (20 to 50)."
    )
