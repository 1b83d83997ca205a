"""`Searcher`: execution of search requests in one snapshot of an index."""

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from textkin._base import abbreviate, hinted
from textkin.exceptions import ParameterError
from textkin.explain import Explanation
from textkin.index.search._columns import OWN_FIELDS, Columns, Passed
from textkin.index.search._filters import Filter
from textkin.index.search._hits import Hits, find_hits, moved_query
from textkin.index.search._phrases import restricted
from textkin.index.search._query_parser import OPERATOR_MARKS, ParsedQuery, parse_query
from textkin.index.search._request import RankingLike, SearchRequest, ranking_of
from textkin.index.search._state import IndexState
from textkin.index.search.rankings._base import EmptyScorer, Ranking, Scorer
from textkin.index.search.rankings._hybrids import HybridScorer
from textkin.index.store import is_text
from textkin.run import ProgressCallback

__all__ = ["Searcher"]

_MOST_SCORERS = 16
_READ_FIRST = 256  # candidates of a phrase whose texts are read before the search
_ALL = Passed()


class Searcher:
    """Search engine over one snapshot of an index; thread-safe.

    The searcher owns the scorers and the columns of filters. They reference the snapshot but never
    the searcher, so that all of them are released with it.

    Parameters
    ----------
    state : IndexState
        Snapshot of the index.
    """

    def __init__(self, state: IndexState) -> None:
        self.state = state
        self._mutex = threading.RLock()
        self._scorers: dict[Ranking, Scorer[Any]] = {}
        self._columns: Columns | None = None

    def scorer(self, ranking: RankingLike) -> Scorer[Any]:
        """Return the scorer of a ranking from a cache of 16, or create it.

        The cache is limited because each scorer can use as much memory as the index, and users may
        try many rankings.

        Raises
        ------
        ValueError, TypeError
            If the ranking does not exist.
        """
        state = self.state
        chosen = ranking_of(ranking, state.snapshot.models)
        found = self._scorers.get(chosen)
        if found is not None:
            return found
        with self._mutex:
            found = self._scorers.get(chosen)
            if found is None:
                found = self._scorers[chosen] = chosen.bind(state, self.scorer)
                while len(self._scorers) > _MOST_SCORERS:
                    del self._scorers[next(iter(self._scorers))]
        return found

    def passed(self, where: Filter | None) -> Passed:
        """Return the documents that a filter selects, as a mask of rows."""
        if where is None:
            return _ALL
        self._check_metadata(where)
        with self._mutex:
            columns = self._columns = self._columns or Columns(self.state)
        return columns.passed(where)

    def _check_metadata(self, where: Filter) -> None:
        """Raise an error if a filter is on a text field, which no metadata can have."""
        fields = self.state.snapshot.text_fields
        name = next((name for name in where.fields if fields and name in fields.names), None)
        if name is not None:
            raise ParameterError(
                "where",
                "a filter on fields of the metadata",
                f"the text field {name!r}",
                f"To require a word in this field, write {name}:word in the query.",
            )

    def find(self, request: SearchRequest) -> Hits:
        """Execute a `SearchRequest`, and return its hits, best first.

        Parameters
        ----------
        request : SearchRequest
            The request.

        Returns
        -------
        Hits
            Hits, best first.

        Raises
        ------
        KeyError
            If no document has the ID in `request.like`.
        ValueError, TypeError
            If the ranking does not exist.
        """
        started = time.perf_counter()
        return find_hits(request, *self._bound(request), started)

    def explain(self, id: str, request: SearchRequest) -> Explanation:
        """Explain the score of a document as a sum of parts, even if it is not a hit.

        Raises
        ------
        KeyError
            If no document has the ID, or an ID of the request.
        LookupError
            If the document has no score: it has no vector of the model, or the index has no words.
            A document that is not a candidate of a hybrid has the score 0, and parts that say so.
        EmptyDocumentError
            If the ranking uses transport, and the query or the document has no words to compare.
        """
        scorer, query, passed = self._bound(request)
        return scorer.explain_among(query, self.row_of(id), passed.rows)

    def _bound(self, request: SearchRequest) -> tuple[Scorer[Any], Any, Passed]:
        """Return the scorer, the query after feedback, and the selected documents of a request."""
        passed, state = self.passed(request.where), self.state
        # Rankings need word statistics, except model rankings.
        scorer: Scorer[Any]
        if state.average_length or (state.n_documents and state.snapshot.models):
            scorer = self.scorer(request.ranking)
        else:
            scorer = EmptyScorer(state, ranking_of(request.ranking, state.snapshot.models))
        if request.like is not None:
            row = self.row_of(request.like)
            others = np.ones(state.n_rows, np.bool_) if passed.rows is None else passed.rows
            others = others.copy()
            others[row] = False
            passed = replace(passed, rows=others)
            query = scorer.of_row(row)
        elif isinstance(request.query, str):
            text = request.query
            if not OPERATOR_MARKS.isdisjoint(text):
                parsed = self._parsed(request, text)
                passed = self._restricted(passed, parsed, isinstance(scorer, HybridScorer))
                text = parsed.text
            if request.embedding is None:
                query = scorer.of_text(text)
            else:
                query = self._of_embedding(scorer, request, text)
        elif request.embedding is not None:
            query = self._of_embedding(scorer, request, None)
        else:
            query = scorer.of_words(dict(request.query or ()))
        if request.rounds:
            before = replace(request, rounds=())
            for one in request.rounds:
                query = moved_query(before, scorer, query, passed, one)
        return scorer, query, passed

    def _of_embedding(self, scorer: Scorer[Any], request: SearchRequest, text: str | None) -> Any:  # noqa: ANN401 (of the scorer)
        """Convert a request with an embedding to the scorer's query."""
        if isinstance(scorer, EmptyScorer):
            return scorer.of_text("")
        if not scorer.takes_embeddings:
            raise ParameterError(
                "embedding",
                "passed with a ranking by an attached model",
                f"the ranking {abbreviate(request.ranking, 40)}",
                self._embedding_hint(),
            )
        return scorer.of_embedding(np.array(request.embedding), text)

    def _embedding_hint(self) -> str:
        """Return how to search by a vector in this index."""
        names = list(self.state.snapshot.models)
        if not names:
            return "Attach the vectors of your documents first, with `index.attach`."
        shown = abbreviate(names[0], 40)
        return f"Pass `ranking={shown}`, or `ranking=Hybrid(['bm25', {shown}])`."

    def _parsed(self, request: SearchRequest, text: str) -> ParsedQuery:
        """Parse the operators of a query; unknown fields stay ordinary text."""
        text_fields = self.state.snapshot.text_fields
        parsed = parse_query(text, request.syntax, () if text_fields is None else text_fields.names)
        if not parsed.fields:
            return parsed
        fields = {one.field: one.where for one in parsed.fields}
        unknown = {
            field
            for field, where in fields.items()
            if field not in OWN_FIELDS and self.passed(where).unknown_fields
        }
        return parsed.with_known(fields.keys() - unknown)

    def _restricted(self, passed: Passed, parsed: ParsedQuery, by_candidates: bool) -> Passed:
        """Remove selected documents that do not satisfy a query's operators.

        Texts are read before the search if scores depend on the candidates, or if they are few.
        Otherwise, the search reads the texts of the best candidates until there are enough hits.
        """
        passed = replace(passed, parsed=parsed)
        if parsed.where is not None:
            mask = self.passed(parsed.where).rows
            assert mask is not None
            passed = replace(passed, rows=mask if passed.rows is None else passed.rows & mask)
        if not parsed.clauses:
            return passed
        rows, phrases = restricted(self.state, parsed.clauses, passed.rows)
        if phrases is not None:
            n_candidates = np.count_nonzero(rows & self.state.live)
            if by_candidates or n_candidates <= _READ_FIRST:
                rows = phrases.passing(rows)
        return replace(passed, rows=rows, phrases=phrases)

    def find_many(
        self,
        requests: Sequence[SearchRequest],
        n_threads: int = 1,
        progress: ProgressCallback | None = None,
    ) -> list[Hits]:
        """Execute several search requests on threads; return the hits of each.

        Parameters
        ----------
        requests : sequence of SearchRequest
            The requests.
        n_threads : int, default=1
            Number of threads.
        progress : callable, default=None
            Function that is called with (requests done, number of requests) from time to time.
        """
        hits: list[Hits] = []

        def keep(found: Hits) -> None:
            hits.append(found)
            if progress is not None:
                progress(len(hits), len(requests))

        if n_threads == 1 or len(requests) < 2:
            for request in requests:
                keep(self.find(request))
            return hits
        with ThreadPoolExecutor(min(n_threads, len(requests))) as threads:
            try:
                for found in threads.map(self.find, requests):
                    keep(found)
            except BaseException:  # includes KeyboardInterrupt; cancel searches not yet started
                threads.shutdown(wait=False, cancel_futures=True)
                raise
        return hits

    def row_of(self, id: str) -> int:
        """Return the row of the document with an ID, or raise KeyError."""
        row = self.state.row_of(id) if is_text(id) else None
        if row is None:
            raise hinted(
                KeyError, f"no document has the ID {abbreviate(id)};", "test with `id in index`."
            )
        return row
