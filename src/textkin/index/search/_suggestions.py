"""Spelling suggestions: words of the index close to an unknown word."""

import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textkin._base import Int64Array
from textkin.index.search._state import IndexState

__all__ = ["Spelling", "edit_distances"]

_LONGEST = 64  # maximum length of a word, in characters
_SHORTEST = 3  # minimum length of a word to correct
_TWO_FROM = 5  # minimum length of a word for a distance of 2
_BITS = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)


class Spelling:
    """Words of an index, prepared for searches by small edit distance.

    Most words are excluded by their length and by the set of their characters: an edit changes the
    set by at most two characters. Distances are computed only for the remaining words.

    Parameters
    ----------
    words : sequence of str
        Words of the vocabulary, in the order of their IDs.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.n_words = 0
        self._mutex = threading.Lock()
        self._lengths = np.empty(0, np.int64)
        self._sets = np.empty(0, np.uint64)
        self._starts = np.zeros(1, np.int64)
        self._characters = np.empty(0, np.uint32)
        self.extend(words)

    @classmethod
    def of(cls, state: IndexState) -> "Spelling":
        """Return the cached spelling data of an index, extended by the snapshot's new words."""
        # After a fork, a lock that another thread held is never released: the key has the PID.
        known = state.kept.setdefault(("spelling", os.getpid()), cls(()))
        assert isinstance(known, cls)
        with known._mutex:
            if known.n_words < state.n_words:
                known.extend(state.words_from(known.n_words))
        return known

    def extend(self, words: Sequence[str]) -> None:
        """Add new words of the index to the spelling data."""
        if not words:
            return
        characters = _code_points("".join(words))
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        ends = np.cumsum(lengths)
        bits = np.left_shift(np.uint64(1), (characters % 64).astype(np.uint64))
        # `reduceat` needs nonempty parts; an empty word has the set of the next word, or none.
        sets = np.zeros(len(words), np.uint64)
        some = lengths > 0
        if some.any():
            sets[some] = np.bitwise_or.reduceat(bits, (ends - lengths)[some])
        self._lengths = np.concatenate([self._lengths, lengths])
        self._sets = np.concatenate([self._sets, sets])
        self._starts = np.concatenate([self._starts, self._starts[-1] + ends])
        self._characters = np.concatenate([self._characters, characters])
        self.n_words += len(words)

    def suggest(self, word: str, frequencies: Int64Array, limit: int = 3) -> list[int]:
        """Return the IDs of the index words most similar in spelling to a word.

        Parameters
        ----------
        word : str
            Misspelled word.
        frequencies : ndarray of int64
            Number of documents that contain each word; words with 0 are not suggested.
        limit : int, default=3
            Maximum number of suggestions.

        Returns
        -------
        list of int
            Words with the smallest distance first, and of these the most frequent first. The
            distance is at most 2, or 1 for words with fewer than 5 characters.
        """
        size = len(word)
        if not _SHORTEST <= size <= _LONGEST:
            return []
        most = 2 if size >= _TWO_FROM else 1
        n_words = len(frequencies)
        own = np.bitwise_or.reduce(
            np.left_shift(np.uint64(1), (_code_points(word) % 64).astype(np.uint64))
        )
        near = np.abs(self._lengths[:n_words] - size) <= most
        near &= frequencies > 0
        places = np.flatnonzero(near)
        changed = (self._sets[places] ^ own).view(np.uint8).reshape(-1, 8)
        places = places[_BITS[changed].sum(axis=1) <= 2 * most]
        distances = edit_distances(word, [self._word(place) for place in places.tolist()])
        found = distances <= most
        places, distances = places[found], distances[found]
        order = np.lexsort((places, -frequencies[places], distances))
        same = word.casefold()
        ids = [int(place) for place in places[order] if _text(self._word(int(place))) != same]
        return ids[:limit]

    def _word(self, at: int) -> NDArray[np.uint32]:
        return self._characters[self._starts[at] : self._starts[at + 1]]


def edit_distances(word: str, others: Sequence[NDArray[np.uint32]]) -> Int64Array:
    """Compute the Damerau-Levenshtein distance from a word to each of `others`.

    An edit inserts, deletes, or replaces a character, or exchanges two adjacent characters that are
    not edited again (optimal string alignment).

    Parameters
    ----------
    word : str
        Word.
    others : sequence of ndarray of uint32
        Code points of the other words.

    Returns
    -------
    ndarray of int64
        Distances.
    """
    a = _code_points(word)
    lengths = np.fromiter(map(len, others), np.int64, len(others))
    widest = int(lengths.max(initial=0))
    b = np.zeros((len(others), widest), np.uint32)
    for row, other in zip(b, others, strict=True):
        row[: len(other)] = other
    before: Any = None
    last: Any = np.tile(np.arange(widest + 1), (len(others), 1))
    for i, character in enumerate(a.tolist(), 1):
        row = np.empty_like(last)
        row[:, 0] = i
        differs = (b != character).astype(np.int64)
        row[:, 1:] = np.minimum(last[:, 1:] + 1, last[:, :-1] + differs)
        if before is not None:
            swapped = (b[:, :-1] == character) & (b[:, 1:] == a[i - 2])
            row[:, 2:] = np.where(swapped, np.minimum(row[:, 2:], before[:, :-2] + 1), row[:, 2:])
        for j in range(1, widest + 1):
            np.minimum(row[:, j], row[:, j - 1] + 1, out=row[:, j])
        before, last = last, row
    found: Int64Array = last[np.arange(len(others)), lengths]
    return found


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32)


def _text(word: NDArray[np.uint32]) -> str:
    return word.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass").casefold()
