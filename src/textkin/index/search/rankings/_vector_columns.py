"""Map from word IDs of an index to rows of its word vectors."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textkin import _core
from textkin._base import BoolArray, Int32Array, Int64Array
from textkin.corpus import VectorTable
from textkin.index.search._state import IndexState
from textkin.index.store import words_checksum
from textkin.text import StopWords, prepare
from textkin.vectors import WordVectors

__all__ = ["NO_VECTOR", "STOP_WORD", "VectorColumns", "vector_table"]

NO_VECTOR, STOP_WORD = -1, -2


class _Looked(NamedTuple):
    """Cached vector rows of the words looked up so far, by word ID."""

    words: int
    checksum: int
    rows: Int32Array


def vector_table(state: IndexState, *, unit: bool) -> VectorTable:
    """Return the word vectors of an index as a `VectorTable`, cached per open index."""
    key = ("space", unit)
    found = state.kept.get(key)
    if not isinstance(found, VectorTable):
        words = state.vectors()
        found = VectorTable((words.unit() if unit else words).matrix, None, words)
        state.kept[key] = found
    return found


class VectorColumns:
    """Row of the word vectors for each word ID of a snapshot.

    Words are looked up as the index counts them (lowercase by default). The lookup tries the word
    as written, then in lowercase, then in title case, and finally a possessive without its ending.

    Parameters
    ----------
    state : IndexState
        Snapshot of the index.
    stop_words : str, tuple of str or None
        Words to ignore, as for `WordMover`.

    Attributes
    ----------
    rows : ndarray of shape (n_words,), int32
        Vector row of each word, or `NO_VECTOR` or `STOP_WORD`.
    """

    def __init__(self, state: IndexState, stop_words: StopWords) -> None:
        self._vectors: WordVectors = state.vectors()
        self._stop_forms = prepare(stop_words=stop_words).stop_forms
        self.rows = self._all(state, ("vector rows", stop_words))

    @property
    def words(self) -> Int32Array:
        """Vector row of each word ID, or -1, in the form that the core takes."""
        return np.maximum(self.rows, np.int32(NO_VECTOR))

    def lookup(self, words: Sequence[str]) -> Int32Array:
        """Return the vector row of each word, or `NO_VECTOR` or `STOP_WORD`."""
        rows = self._vectors.lookup(words)
        if self._stop_forms is not None and len(words):
            table = _core.WordTable()
            table.read_words([words])
            rows[table.matching(self._stop_forms, 0) != 0] = STOP_WORD
        return rows

    def document_frequencies(self, state: IndexState) -> Int64Array:
        """Return the number of documents in which the word of each vector row occurs."""
        known = np.flatnonzero(self.rows >= 0)
        rows, n_rows = self.rows[known], len(self._vectors)
        there = state.frequencies[known]
        found = np.bincount(rows, there, n_rows).astype(np.int64)
        shared = np.bincount(rows[there > 0], minlength=n_rows) > 1
        if not shared.any():
            return found
        # A document that has several words with the same vector row counts once.
        found[shared] = 0
        of_word: BoolArray = np.zeros(len(self.rows), np.bool_)
        of_word[known] = shared[rows]
        for part in state.parts:
            indptr, indices, _ = part.segment.bags
            places = np.flatnonzero(of_word[indices])
            documents = np.searchsorted(indptr, places, side="right") - 1
            pairs = documents * n_rows + self.rows[indices[places]]
            pairs = np.unique(pairs[part.live[documents]])
            found += np.bincount(pairs % n_rows, minlength=n_rows)
        return found

    def _all(self, state: IndexState, key: tuple[object, ...]) -> Int32Array:
        numbers = state.source.state
        last = state.kept.get(key)
        if not isinstance(last, _Looked) or last.words > numbers.words:
            last = _Looked(0, 0, np.empty(0, np.int32))
        new: Sequence[str] = state.words_from(last.words)
        if last.words and words_checksum(new, last.checksum) != numbers.words_checksum:
            return self._afresh(state, key)
        rows = np.concatenate([last.rows, self.lookup(new)])
        rows.flags.writeable = False
        state.kept[key] = _Looked(numbers.words, numbers.words_checksum, rows)
        return rows

    def _afresh(self, state: IndexState, key: tuple[object, ...]) -> Int32Array:
        """Look up all words again, because the index was replaced by another one."""
        state.kept.pop(key, None)
        return self._all(state, key)
