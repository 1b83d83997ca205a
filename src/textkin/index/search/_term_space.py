"""`TermSpace`: the terms (stems or words) by which term rankings such as BM25 count."""

from collections.abc import Mapping, Sequence

import numpy as np

from textkin import _core
from textkin._base import Float64Array, Int32Array, Int64Array
from textkin.index.search._state import Bag, IndexState
from textkin.index.store import TermMap

__all__ = ["TermSpace"]


class TermSpace:
    """Terms of a snapshot, by which BM25 counts: stems of an analyzer, or plain words.

    Parameters
    ----------
    state : IndexState
        Snapshot of the index.
    """

    def __init__(self, state: IndexState) -> None:
        self._state = state
        self._map: TermMap | None = state.source.term_map

    @property
    def core(self) -> "_core.TermMap | None":
        """Map from word IDs to term numbers for the core, or None if terms are words."""
        return None if self._map is None else self._map.core

    @property
    def has_analyzer(self) -> bool:
        """True if terms are stems, so that several words can share a term."""
        return self._map is not None

    @property
    def frequencies(self) -> Int64Array:
        """Document frequency of each term: the number of documents that contain it."""
        state = self._state
        if self._map is None:
            return state.frequencies
        return state.once("term statistics", lambda: state.source.term_statistics).frequencies

    @property
    def average_length(self) -> float:
        """Mean number of terms per document, without stop words; 0 for an empty index."""
        state = self._state
        if self._map is None or not state.n_documents:
            return state.average_length
        found = state.once("term statistics", lambda: state.source.term_statistics)
        return found.tokens / state.n_documents

    def bag_of_text(self, text: str) -> Bag:
        """Count the terms (stems) of a text, as `Bag`."""
        if self._map is None:
            return self._state.bag_of_text(text)
        bag = self._state.counted(text, "terms", self._numbers_or_ignored)
        if not bag.unknown:
            return bag
        written = list(bag.unknown)
        unknown: dict[str, float] = {}
        for word, name in zip(written, self._map.analyzer.terms(written), strict=True):
            assert name is not None  # ignored
            unknown[name] = unknown.get(name, 0.0) + bag.unknown[word]
        return bag._replace(unknown=unknown)

    def _numbers_or_ignored(self, words: Sequence[str]) -> Int32Array:
        """Return the term number of each word; -1 if unknown, -2 for stop words."""
        assert self._map is not None
        found = self._state.find(words)
        known = found >= 0
        terms = self._map.term_of[found[known]]
        found[known] = np.where(terms >= 0, terms, -2)
        new = np.flatnonzero(~known).tolist()
        if new:
            names = self._map.analyzer.terms([words[at] for at in new])
            numbers = self._state.source.find_terms([name or "" for name in names])
            found[new] = np.where([name is None for name in names], -2, numbers)
        return found

    def bag_of_row(self, row: int) -> Bag:
        """Return the term counts of the document in a row, as `Bag`."""
        return self.converted(self._state.bag_of_row(row))

    def converted(self, bag: Bag) -> Bag:
        """Convert a `Bag` of word counts to a `Bag` of term (stem) counts."""
        if self._map is None:
            return bag
        terms = self._map.term_of[bag.words]
        return _added(terms[terms >= 0], bag.counts[terms >= 0], {})

    def weighted_bag(self, weights: Mapping[str, float]) -> Bag:
        """Convert a dict of terms (or words) and weights to a `Bag` of terms."""
        if self._map is None:
            return self._state.weighted_bag(dict(weights))
        names = list(weights)
        numbers = self.numbers(names)
        values = np.fromiter(weights.values(), np.float64, len(names))
        known = numbers >= 0
        unknown = {names[at]: weights[names[at]] for at in np.flatnonzero(~known).tolist()}
        return _added(numbers[known], values[known], unknown)

    def names(self, numbers: Sequence[int] | Int32Array) -> list[str]:
        """Return the terms (stems, or words without an analyzer) with the given numbers."""
        given = [int(number) for number in numbers]
        if self._map is None:
            return self._state.names(given)
        return self._state.source.term_names(given)

    def numbers(self, names: Sequence[str]) -> Int32Array:
        """Return the number of each term, or of the term of each word, or -1."""
        if self._map is None:
            return self._state.find(names)
        found = self._state.source.find_terms(names)
        left = np.flatnonzero(found < 0).tolist()
        if left:
            found[left] = self.numbers_of_words([names[at] for at in left])
        return found

    def numbers_of_words(self, words: Sequence[str]) -> Int32Array:
        """Return the term number of each indexed word, or -1."""
        if self._map is None:
            return self._state.find(words)
        return np.maximum(self._numbers_or_ignored(words), np.int32(-1))

    def forms_of(self, word: str) -> list[int]:
        """Return the IDs of all words that share the term of a word."""
        (number,) = self._state.find([word]).tolist()
        if self._map is not None:
            (term,) = self.numbers_of_words([word]).tolist()
            if term >= 0:
                forms: list[int] = self._map.core.words_of(term).tolist()
                return forms
        return [number]

    def is_term(self, words: Sequence[str]) -> list[bool]:
        """Return for each word whether it has a term, that is, is not a stop word."""
        if self._map is None:
            return [True] * len(words)
        return [name is not None for name in self._map.analyzer.terms(words)]

    def forms(self, bag: Bag) -> dict[int, dict[str, int]]:
        """Return for each term of a bag the words that it stands for, with counts."""
        if self._map is None:
            return {}
        found: dict[int, dict[str, int]] = {}
        terms = self._map.term_of[bag.words]
        kept = np.flatnonzero(terms >= 0)
        words = self._state.names(bag.words[kept].tolist())
        for at, word in zip(kept.tolist(), words, strict=True):
            found.setdefault(int(terms[at]), {})[word] = int(bag.counts[at])
        for word, term in zip(
            bag.unknown, self.numbers_of_words(list(bag.unknown)).tolist(), strict=True
        ):
            if term >= 0:
                found.setdefault(term, {})[word] = int(bag.unknown[word])
        return found


def _added(terms: Int32Array, values: Float64Array, unknown: dict[str, float]) -> Bag:
    """Create a `Bag` by adding the values of equal term numbers."""
    distinct, places = np.unique(terms, return_inverse=True)
    sums = np.bincount(places, values, len(distinct)).astype(np.float64)
    return Bag(distinct.astype(np.int32), sums, unknown)
