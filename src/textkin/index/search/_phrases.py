"""Required and excluded words and phrases of a query, checked in document texts.

The index does not store positions of words. Postings give the documents that contain all words of a
phrase, and the texts of these candidates are read to find the words next to each other.
"""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

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


class Pattern(NamedTuple):
    """Words to look for in texts.

    Attributes
    ----------
    clause : Clause
        Phrase or word of the query.
    forms : sequence of str
        Words that match, if the clause is a single word; empty for a phrase.
    """

    clause: Clause
    forms: Sequence[str] = ()


class _Wanted(NamedTuple):
    """Words to look for: the IDs that match at each place, and the field, or -1 for any field."""

    ids: list[Int32Array]
    field: int
    excluded: bool


class Phrases:
    """Phrases that a query requires or excludes, checked in the texts of documents.

    Each text is read at most once: the results are cached by row.

    Parameters
    ----------
    state : IndexState
        Snapshot of the index.
    patterns : sequence of Pattern
        Phrases and words. A document passes if its words, as the index reads them, contain all
        required ones and no excluded one. Stop words of the index are not skipped, and a phrase
        must be in one text field.
    rows : ndarray of bool
        Documents whose texts must be read; all others pass.

    Attributes
    ----------
    verified : int
        Number of texts that were read.
    """

    def __init__(self, state: IndexState, patterns: Sequence[Pattern], rows: BoolArray) -> None:
        self._state = state
        self._patterns = patterns
        fields = state.snapshot.text_fields
        self._fields = ("",) if fields is None else fields.names
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
                self._verdicts[block] = self._read(self._state.field_texts(block.tolist()))
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

    def _begin(self) -> tuple[TermReader, list[_Wanted]]:
        """Return a text reader, and the word IDs of each phrase in it."""
        reader = _reader_of(self._state)
        found = []
        for clause, forms in self._patterns:
            if forms:
                ids = [reader.terms.read_words([forms]).arrays()[0].copy()]
            else:
                words, _ = reader.read([clause.text]).arrays()
                ids = [words[at : at + 1].copy() for at in range(len(words))]
            field = -1 if clause.field is None else self._fields.index(clause.field)
            found.append(_Wanted(ids, field, clause.excluded))
        return reader, found

    def _read(self, documents: list[list[str]]) -> BoolArray:
        """Return a mask of the documents that pass; each has the texts of its fields."""
        if len(self._reader.terms) > _MOST_WORDS:
            self._reader, self._wanted = self._begin()
        ids, starts = self._reader.read([text for texts in documents for text in texts]).arrays()
        passed = np.ones(len(documents), np.bool_)
        for wanted in self._wanted:
            found = _containing(ids, starts, wanted.ids).reshape(len(documents), -1)
            there = found.any(axis=1) if wanted.field < 0 else found[:, wanted.field]
            passed &= there != wanted.excluded
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
    unsettled: list[Pattern] = []
    unread = np.zeros(state.n_rows, np.bool_)
    for clause in clauses:
        words = _reader_of(state).words(clause.text)
        if not words:
            continue
        counted = dict.fromkeys(state.read(clause.text))
        settled = list(counted) == words and len(words) == 1
        groups = [[number] for number in state.find(list(counted)).tolist()]
        pattern = Pattern(clause)
        if settled:  # a single word stands for all forms of its term
            groups = [terms.forms_of(words[0])]
            known = [number for number in groups[0] if number >= 0]
            pattern = Pattern(clause, state.names(known) or words)
            settled = clause.field is None
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
            unsettled.append(pattern)
            unread |= candidates
    return found, Phrases(state, unsettled, unread) if unsettled else None


def _reader_of(state: IndexState) -> TermReader:
    """Return a text reader that keeps all words in order, including stop words."""
    reading = replace(state.reading, stop_words=None, ngram_range=(1, 1))
    return reading.reader(_core.WordTable())


def _containing(ids: Int32Array, starts: Int64Array, wanted: Sequence[Int32Array]) -> BoolArray:
    """Return a mask of the texts with adjacent IDs, of which each is in its array of `wanted`."""
    found = np.zeros(len(starts) - 1, np.bool_)
    last = len(ids) - len(wanted) + 1
    if last <= 0:
        return found
    at = np.ones(last, np.bool_)
    for step, some in enumerate(wanted):
        here = ids[step : step + last]
        at &= here == some[0] if len(some) == 1 else np.isin(here, some)
    places = np.flatnonzero(at)
    texts = np.searchsorted(starts, places, side="right") - 1
    found[texts[places + len(wanted) <= starts[texts + 1]]] = True
    return found
