"""Required and excluded words and phrases of a query, checked in document texts.

The index does not store positions of words. Postings give the documents that contain all words of a
phrase, and the texts of these candidates are read to find the words next to each other.
"""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from textkin import _core
from textkin._base import BoolArray, Int32Array, Int64Array
from textkin.index.search._query_parser import Clause
from textkin.index.search._state import IndexState
from textkin.index.search._term_space import TermSpace
from textkin.index.search.rankings._base import ScoredRows, Scorer
from textkin.text import TermReader

__all__ = ["Phrases", "restricted"]

_BLOCK = 64  # texts read together
_MORE = 4  # growth of the number of ranked documents if too few of them contain the phrases
_MOST_WORDS = 1 << 17  # maximum number of words in a table before it is rebuilt


class Phrases:
    """Phrases that a query requires or excludes, checked in the texts of documents.

    Each text is read at most once: the results are cached by row.

    Parameters
    ----------
    state : IndexState
        Snapshot of the index.
    clauses : sequence of Clause
        Phrases and words. A document passes if its words, as the index reads them, contain all
        required clauses and no excluded one. Stop words of the index are not skipped.
    rows : ndarray of bool
        Documents whose texts must be read; all others pass.

    Attributes
    ----------
    verified : int
        Number of texts that were read.
    """

    def __init__(self, state: IndexState, clauses: Sequence[Clause], rows: BoolArray) -> None:
        self._state = state
        self._clauses = clauses
        self._mutex = threading.Lock()
        self._reader, self._wanted = self._begin()
        self._verdicts = np.where(rows, -1, 1).astype(np.int8)  # -1: not read yet
        self.verified = 0

    def check(self, rows: Int64Array) -> BoolArray:
        """Return a mask of the given rows whose texts satisfy the phrases."""
        with self._mutex:
            unread = rows[self._verdicts[rows] < 0]
            for first in range(0, len(unread), _BLOCK):
                block = unread[first : first + _BLOCK]
                self._verdicts[block] = self._read(self._state.texts(block.tolist()))
                self.verified += len(block)
            passed: BoolArray = self._verdicts[rows] == 1
            return passed

    def passing(self, rows: BoolArray) -> BoolArray:
        """Return a mask of all rows whose texts satisfy the phrases."""
        candidates = np.flatnonzero(rows & self._state.live)
        found = np.zeros(len(rows), np.bool_)
        found[candidates] = self.check(candidates)
        return found

    def best(
        self,
        scorer: Scorer[Any],
        query: Any,  # noqa: ANN401 (of the scorer)
        limit: int,
        threshold: float | None,
        rows: BoolArray | None,
    ) -> ScoredRows:
        """Return the best documents that satisfy the phrases; few texts are read."""
        asked, n_rows = limit, max(1, self._state.n_rows)
        while True:
            ranked = scorer.best(query, asked, threshold, rows)
            kept = self._first(ranked.rows, limit)
            if len(kept) >= limit or len(ranked.rows) < asked or asked >= n_rows:
                break
            asked = min(n_rows, max(_BLOCK, _MORE * asked))
        stats = {**ranked.stats, "verified": self.verified}
        return replace(ranked, rows=ranked.rows[kept], scores=ranked.scores[kept], stats=stats)

    def _first(self, rows: Int64Array, limit: int) -> Int64Array:
        """Return the indices of the first `limit` rows whose texts satisfy the phrases."""
        kept: list[int] = []
        for first in range(0, len(rows), _BLOCK):
            kept += (np.flatnonzero(self.check(rows[first : first + _BLOCK])) + first).tolist()
            if len(kept) >= limit:
                break
        return np.array(kept[:limit], np.int64)

    def _begin(self) -> tuple[TermReader, list[tuple[Int32Array, bool]]]:
        """Return a text reader, and the word IDs of each phrase in it."""
        reader = _reader_of(self._state)
        ids, starts = reader.read([clause.text for clause in self._clauses]).arrays()
        pairs = zip(self._clauses, starts[:-1], starts[1:], strict=True)
        return reader, [(ids[first:end].copy(), clause.excluded) for clause, first, end in pairs]

    def _read(self, texts: list[str]) -> BoolArray:
        """Return a mask of the texts that satisfy the phrases."""
        if len(self._reader.terms) > _MOST_WORDS:
            self._reader, self._wanted = self._begin()
        ids, starts = self._reader.read(texts).arrays()
        passed = np.ones(len(texts), np.bool_)
        for wanted, excluded in self._wanted:
            passed &= _containing(ids, starts, wanted) != excluded
        return passed


def restricted(
    state: IndexState, clauses: Iterable[Clause], rows: BoolArray | None
) -> tuple[BoolArray, Phrases | None]:
    """Exclude rows that lack required words or have excluded words, by the postings.

    Returns
    -------
    rows : ndarray of bool
        Candidates, at least all documents that satisfy the clauses.
    phrases : Phrases or None
        Check of the texts of the candidates. If None, all candidates satisfy the clauses.
    """
    found = np.ones(state.n_rows, np.bool_) if rows is None else rows.copy()
    terms = TermSpace(state)
    unsettled: list[Clause] = []
    unread = np.zeros(state.n_rows, np.bool_)
    for clause in clauses:
        words = _reader_of(state).words(clause.text)
        if not words:
            continue
        counted = dict.fromkeys(state.read(clause.text))
        settled = list(counted) == words and len(words) == 1
        groups = [[number] for number in state.find(list(counted)).tolist()]
        if settled:  # a single word stands for all forms of its term
            groups = [terms.forms_of(words[0])]
        candidates = np.ones(state.n_rows, np.bool_)
        for group in groups:
            of_group = np.zeros(state.n_rows, np.bool_)
            for number in group:
                if number >= 0:
                    of_group[state.rows_with(number)] = True
            candidates &= of_group
        if not clause.excluded:
            found &= candidates
        elif settled:
            found &= ~candidates
        if not settled and candidates.any():
            unsettled.append(clause)
            unread |= candidates
    return found, Phrases(state, unsettled, unread) if unsettled else None


def _reader_of(state: IndexState) -> TermReader:
    """Return a text reader that keeps all words in order, including stop words."""
    reading = replace(state.reading, stop_words=None, ngram_range=(1, 1))
    return reading.reader(_core.WordTable())


def _containing(ids: Int32Array, starts: Int64Array, wanted: Int32Array) -> BoolArray:
    """Return a mask of the texts that contain a sequence of word IDs."""
    found = np.zeros(len(starts) - 1, np.bool_)
    last = len(ids) - len(wanted) + 1
    if last <= 0:
        return found
    at = np.ones(last, np.bool_)
    for step, id in enumerate(wanted.tolist()):
        at &= ids[step : step + last] == id
    places = np.flatnonzero(at)
    texts = np.searchsorted(starts, places, side="right") - 1
    found[texts[places + len(wanted) <= starts[texts + 1]]] = True
    return found
