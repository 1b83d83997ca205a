"""The words of an index as rows of its word vectors."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textkin import _core
from textkin._typing import BoolArray, Int32Array, Int64Array
from textkin.index._catalogue import words_checksum
from textkin.index.ranking._view import View
from textkin.text._stop_words import StopWords
from textkin.text._terms import prepare
from textkin.vectors import WordVectors
from textkin.vectors._space import Space, space_of_words

__all__ = ["NO_VECTOR", "STOP_WORD", "VectorColumns", "space_of_view"]

NO_VECTOR, STOP_WORD = -1, -2


class _Looked(NamedTuple):
    """Words that were looked up in an earlier state of the index: their numbers stay."""

    words: int
    checksum: int
    rows: Int32Array


def space_of_view(view: View, *, unit: bool) -> Space:
    """Return the vectors of an index as the core wants them, made once for an open index."""
    key = ("space", unit)
    found = view.kept.get(key)
    if not isinstance(found, Space):
        found = view.kept[key] = space_of_words(view.vectors(), unit=unit)
    return found


class VectorColumns:
    """Which row of the vectors each word of a view is.

    Words are looked up as the index counts them (in lower case, unless it was made otherwise):
    as written, else in lower case, else in title case; possessives else without their ending.

    Parameters
    ----------
    view : View
        The words.
    stop_words : str, tuple of str or None
        Words that are left out, as `WordMover` has them.

    Attributes
    ----------
    rows : ndarray of shape (n_words,), int32
        The row of each word, `NO_VECTOR` or `STOP_WORD`.
    """

    def __init__(self, view: View, stop_words: StopWords) -> None:
        self._vectors: WordVectors = view.vectors()
        self._stop_forms = prepare(stop_words=stop_words).stop_forms
        self.rows = self._all(view, ("vector rows", stop_words))

    @property
    def words(self) -> Int32Array:
        """The row of each word, -1 for none: the column map of the core."""
        return np.maximum(self.rows, np.int32(NO_VECTOR))

    def lookup(self, words: Sequence[str]) -> Int32Array:
        """Return the row of each of some distinct words, `NO_VECTOR` or `STOP_WORD`."""
        rows = self._vectors.lookup(words)
        if self._stop_forms is not None and len(words):
            table = _core.WordTable()
            table.read_words([words])
            rows[table.matching(self._stop_forms, 0) != 0] = STOP_WORD
        return rows

    def document_frequencies(self, view: View) -> Int64Array:
        """Return in how many documents of the view each row of the vectors occurs."""
        known = np.flatnonzero(self.rows >= 0)
        rows, n_rows = self.rows[known], len(self._vectors)
        there = view.frequencies[known]
        found = np.bincount(rows, there, n_rows).astype(np.int64)
        shared = np.bincount(rows[there > 0], minlength=n_rows) > 1
        if not shared.any():
            return found
        # A document that has several words of one row counts once.
        found[shared] = 0
        of_word: BoolArray = np.zeros(len(self.rows), np.bool_)
        of_word[known] = shared[rows]
        for part in view.parts:
            indptr, indices, _ = part.segment.bags
            places = np.flatnonzero(of_word[indices])
            documents = np.searchsorted(indptr, places, side="right") - 1
            pairs = documents * n_rows + self.rows[indices[places]]
            pairs = np.unique(pairs[part.live[documents]])
            found += np.bincount(pairs % n_rows, minlength=n_rows)
        return found

    def _all(self, view: View, key: tuple[object, ...]) -> Int32Array:
        state = view.snapshot.state
        last = view.kept.get(key)
        if not isinstance(last, _Looked) or last.words > state.words:
            last = _Looked(0, 0, np.empty(0, np.int32))
        if not last.words:
            new: Sequence[str] = view.words
        else:
            with view.snapshot.catalogue() as catalogue:
                new = catalogue.words(last.words, state.words)
            if words_checksum(new, last.checksum) != state.words_checksum:
                return self._afresh(view, key)
        rows = np.concatenate([last.rows, self.lookup(new)])
        rows.flags.writeable = False
        view.kept[key] = _Looked(state.words, state.words_checksum, rows)
        return rows

    def _afresh(self, view: View, key: tuple[object, ...]) -> Int32Array:
        """Look all words up: the folder is not the one that was looked at before."""
        view.kept.pop(key, None)
        return self._all(view, key)
