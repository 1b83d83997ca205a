"""Training corpus of word2vec: selected words, and each text as a sequence of word IDs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from textkin._base import HasText, Int32Array, Int64Array, WordLookup, describe_non_text, hinted
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.text import (
    ColumnFinder,
    Preparation,
    StopWords,
    TermReader,
    Tokens,
    prepare,
    split_batches,
    text_of,
)

__all__ = ["Corpus", "CorpusLike", "KnownWords", "known_words", "read_corpus"]

CorpusLike: TypeAlias = "Iterable[str | HasText | Sequence[str]] | Tokens"
"""Texts, documents from `read`, lists of words, or `Tokens`."""

_Block: TypeAlias = tuple[Int32Array, Int64Array]  # word IDs, and offsets of the documents


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Training corpus: vocabulary with counts, and texts as sequences of word IDs.

    Attributes
    ----------
    words : list of str
        Words in descending order of frequency; ties are in the order of code points.
    counts : ndarray of shape (n_words,), int64
        Number of occurrences of each word.
    ids : ndarray of shape (n_tokens,), int32
        Word IDs of all documents. Words that are not learned are removed, so that the words
        before and after them become neighbors.
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
    """Tokenize a corpus once, select its vocabulary, and return it as word IDs.

    Memory: four bytes per token, and a batch of texts. The result is the same for any number of
    threads.

    Raises
    ------
    ValueError
        If there is no document, or fewer than two words remain.
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
    if terms.words_at(chosen[:1]) == [""]:  # possible in lists of words; files cannot store it
        chosen = chosen[1:]
    chosen = chosen[totals[chosen] > 0]  # stop words have IDs, but no counts
    met, chosen = chosen, chosen[totals[chosen] >= min_count]
    chosen = chosen[np.argsort(-totals[chosen], kind="stable")][:max_words]
    if len(chosen) < 2:
        most = met[np.argsort(-totals[met], kind="stable")[:2]]
        raise _too_few(name, n_documents, len(met), totals[most], terms.words_at(most), min_count)
    return Corpus(
        terms.words_at(chosen), totals[chosen], *_join_blocks(blocks, chosen, totals, n_documents)
    )


def _join_blocks(
    blocks: list[_Block], chosen: Int32Array, totals: Int64Array, n_documents: int
) -> tuple[Int32Array, Int64Array]:
    """Concatenate blocks of word IDs, renumbered by the vocabulary; free each block."""
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
    """Documents as sequences of word IDs of a given vocabulary.

    Attributes
    ----------
    ids, offsets : ndarray
        Same as in `Corpus`.
    lengths : ndarray of shape (n_documents,), int64
        Number of words per document, known or unknown, without stop words.
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
    """Convert documents to word IDs of a vocabulary; unknown words are dropped and counted."""
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
    """Single-use iterator over batches of documents as word IDs."""

    def __init__(
        self, corpus: CorpusLike, stop_words: StopWords, lowercase: bool, n_threads: int, name: str
    ) -> None:
        _check_corpus_type(corpus, name)
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
        if not self._are_texts:  # words in lists are not converted, only stop words are removed
            prepared = Preparation(list, lowercase=False, stop_forms=prepared.stop_forms)
        self.reader = TermReader(prepared, n_threads=n_threads)

    def __iter__(self) -> Iterator[_Block]:
        if self._tokens is not None:
            yield self._number_tokens(self._tokens)
            return
        for batch in split_batches(self._check_documents(), self.reader.n_threads):
            yield self.reader.read(batch).arrays()

    def _check_documents(self) -> Iterator[Any]:
        """Yield the documents; raise if texts and token lists are mixed."""
        wanted = "texts" if self._are_texts else "lists of words"
        for position, given in enumerate(self._given):
            document = text_of(given)
            is_text = isinstance(document, str)
            if not is_text:
                document = _word_list(document, self._name, position)
            if is_text != self._are_texts:
                raise TypeError(
                    f"{self._name} must hold texts or lists of words, not both; it starts with "
                    f"{wanted}, and position {position} holds {type(given).__name__}."
                )
            yield document

    def _number_tokens(self, tokens: Tokens) -> _Block:
        """Convert a block of tokens to word IDs, without stop words and unknown words."""
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
        # Each word is read as a document; a stop word gives an empty document.
        numbers, starts = self.reader.read([[word] for word in names]).arrays()  # type: ignore[misc]
        number_of = np.full(len(names) + 1, -1, np.int32)  # the last entry is for column -1
        number_of[:-1][np.diff(starts) > 0] = numbers
        return _without_unknown(number_of[ids], offsets)


def _word_list(document: object, name: str, position: int) -> list[str]:
    """Return the tokens of a document as a list; raise TypeError if one is not a string."""
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
        f"{describe_non_text(document)}."
    )


def _check_corpus_type(corpus: Any, name: str) -> None:  # noqa: ANN401 (whatever users pass)
    if isinstance(corpus, Tokens):
        return
    if isinstance(corpus, str):
        raise ParameterError(name, "a list of texts", "a single str", "Wrap it: [text].")
    if hasattr(corpus, "columns") and getattr(corpus, "ndim", 2) == 2:
        raise ParameterTypeError(
            name,
            "texts or lists of words",
            f"{type(corpus).__name__}, a table",
            f"Pass the column with the texts, as in {name.lower()}['text'].",
        )
    dtype = getattr(corpus, "dtype", None)
    if getattr(corpus, "ndim", 1) != 1 or getattr(dtype, "kind", "O") not in "OUT":
        raise ParameterTypeError(
            name,
            "texts or lists of words",
            f"{type(corpus).__name__} of shape {getattr(corpus, 'shape', ())}",
            "Bags have no word order, which training needs; pass texts or lists of words.",
        )
    if isinstance(corpus, bytes | Mapping) or not isinstance(corpus, Iterable):
        raise ParameterTypeError(
            name,
            "texts, documents from textkin.read, lists of words, or Tokens",
            describe_non_text(corpus),
        )


def _too_few(
    name: str, n_documents: int, met: int, counts: Int64Array, words: list[str], min_count: int
) -> ValueError:
    """Create the error for a training corpus with fewer than two distinct words."""
    texts = "1 document" if n_documents == 1 else f"{n_documents:,} documents"
    if met == 0:
        return hinted(
            ValueError,
            f"{name} has no words: {texts}, all without words or with stop words only.",
            "Pass other texts, or a smaller list of `stop_words`.",
        )
    if met == 1:
        return ValueError(
            f"{name} must have at least two different words; it has only {words[0]!r}, in {texts}."
        )
    if counts[1] >= min_count:  # only max_words=1 can leave a single word here
        return ParameterError("max_words", "at least 2", "1", "One word has no neighbor.")
    often = " and ".join(
        f"{word!r} ({count:,})" for word, count in zip(words, counts.tolist(), strict=True)
    )
    return hinted(
        ValueError,
        f"{name} must have at least two words that occur at least {min_count} times; the most "
        f"frequent of its {met:,} words are {often}, in {texts}.",
        "Pass a smaller `min_count`, or more text; a small corpus also needs more `epochs` "
        "(20 to 50).",
    )
