"""The search of an index: from what a user asks to hits."""

import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from textkin._validation import integer, one_of, real
from textkin.index._life import OpenIndex
from textkin.index._records import is_text
from textkin.index.ranking._asking import Asking, NothingToFind, Scope, SearchQuery
from textkin.index.ranking._choosing import By, ranking_of
from textkin.index.ranking._columns import Columns
from textkin.index.ranking._filter_text import filter_of
from textkin.index.ranking._filters import Filter, Where
from textkin.index.ranking._hits import Hits, find
from textkin.index.ranking._view import View
from textkin.run import ProgressCallback, effective_jobs
from textkin.text.reading._document import shortened

__all__ = ["SearchableIndex"]

_K = integer(1)
_OFFSET = integer(0)
_THRESHOLD = one_of(None) | real()
_WEIGHT = real()


class SearchableIndex(OpenIndex):
    """An open index whose documents can be searched."""

    def search(
        self,
        query: SearchQuery,
        k: int = 10,
        *,
        by: By = "bm25",
        where: Where | None = None,
        threshold: float | None = None,
        offset: int = 0,
    ) -> Hits:
        """Find the documents that are nearest to a query.

        Parameters
        ----------
        query : str, or mapping of str to float
            A text, read as the documents were; or words with weights, such as the query of hits.
            Words that no document has are left out; a query without words finds nothing.
        k : int, default=10
            How many hits at most.
        by : str, TfIdf, BM25 or ranking, default="bm25"
            How documents are ranked.
        where : mapping, str or Filter, optional
            What documents must fulfil to be found, such as ``{"year": {">=": 2010}}`` or
            ``"year >= 2010 and lang in (en, de)"``; see `textkin.index.parse_filter`. Statistics
            of words stay those of all documents. A field that no document has finds nothing, and
            is named in ``hits.unknown_fields`` and ``hits.notes``.
        threshold : float or None, default=None
            The score that hits have at least (of a distance: at most).
        offset : int, default=0
            How many better hits are passed over: the pages before.

        Returns
        -------
        Hits
            The best first; of equal scores the document that was added first. Fewer than `k` where
            fewer have anything in common with the query.

        Raises
        ------
        ValueError, TypeError
            If an argument makes no sense, or the index is closed.

        Examples
        --------
        >>> import tempfile
        >>> from textkin import Index
        >>> folder = tempfile.TemporaryDirectory()
        >>> index = Index.create(f"{folder.name}/papers.kin")
        >>> _ = index.add([
        ...     {"id": "a", "text": "From word embeddings to document distances", "year": 2015},
        ...     {"id": "b", "text": "Word embeddings, and distances of words", "year": 2017},
        ... ])
        >>> hits = index.search("word distances", where="year < 2016")
        >>> print(hits.to_text(60, marks=("[", "]")))
           score   id
        1  0.3646  a   From [word] embeddings to document [distances]
        >>> index.close()
        >>> folder.cleanup()
        """
        started = time.perf_counter()
        _check_query(query)
        view = self._view()
        kept = query if isinstance(query, str) else dict(query)  # the user's may change
        asking = self._asking(view, by, k, offset, threshold, _scope(view, where), kept)
        return _found(asking, started)

    def search_many(
        self,
        queries: Iterable[SearchQuery],
        k: int = 10,
        *,
        by: By = "bm25",
        where: Where | None = None,
        threshold: float | None = None,
        n_jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> list[Hits]:
        """Search for several queries, all in the same state of the index.

        Parameters
        ----------
        queries : iterable of str, or of mappings
            As for `search`; all of them are looked at before the first search.
        k, by, where, threshold
            As for `search`.
        n_jobs : int or None, default=None
            Threads; None is one, -1 one for each core.
        progress : callable, default=None
            Gets (queries done, all of them) now and then.

        Returns
        -------
        list of Hits
            In the order of the queries; the same as one by one.
        """
        wanted = _queries(queries)
        n_threads = effective_jobs(n_jobs)
        view = self._view()
        asking = self._asking(view, by, k, 0, threshold, _scope(view, where))

        def one(query: SearchQuery) -> Hits:
            return _found(asking.of(query), time.perf_counter())

        hits: list[Hits] = []

        def keep(found: Hits) -> None:
            hits.append(found)
            if progress is not None:
                progress(len(hits), len(wanted))

        if n_threads == 1 or len(wanted) < 2:
            for query in wanted:
                keep(one(query))
            return hits
        with ThreadPoolExecutor(min(n_threads, len(wanted))) as threads:
            try:
                for found in threads.map(one, wanted):
                    keep(found)
            except BaseException:  # Ctrl-C too: what has not begun never does
                threads.shutdown(wait=False, cancel_futures=True)
                raise
        return hits

    def similar(
        self,
        id: str,
        k: int = 10,
        *,
        by: By = "bm25",
        where: Where | None = None,
        threshold: float | None = None,
        offset: int = 0,
    ) -> Hits:
        """Find the documents that are nearest to one of the index, which is left out itself.

        Parameters
        ----------
        id : str
            The id of a document.
        k, by, where, threshold, offset
            As for `search`.

        Returns
        -------
        Hits
            As for `search`.

        Raises
        ------
        KeyError
            If no document has the id.
        """
        started = time.perf_counter()
        if not isinstance(id, str):
            raise TypeError(f"id must be a str; got {type(id).__name__}.")
        view = self._view()
        row = view.row_of(id) if is_text(id) else None
        if row is None:
            raise KeyError(f"no document has the id {shortened(id)}; test with `id in index`.")
        scope = _scope(view, where)
        others = np.ones(view.n_rows, np.bool_) if scope.rows is None else scope.rows.copy()
        others[row] = False
        asking = self._asking(view, by, k, offset, threshold, replace(scope, rows=others), None, id)
        return find(asking, asking.ranker.of_row(row), started)

    def _asking(
        self,
        view: View,
        by: By,
        k: int,
        offset: int,
        threshold: float | None,
        scope: Scope,
        query: SearchQuery | None = None,
        like: str | None = None,
    ) -> Asking:
        if type(k) is not int or k < 1:  # what is usual is seen at once
            _K.check("k", k)
        if type(offset) is not int or offset < 0:
            _OFFSET.check("offset", offset)
        if threshold is not None:
            _THRESHOLD.check("threshold", threshold)
        ranking = ranking_of(by, view.snapshot.models)
        # Without words there are no statistics that a ranking could be made of; a model may do
        # without.
        empty = not (view.average_length or (view.n_documents and view.snapshot.models))
        ranker = NothingToFind(view, ranking) if empty else ranking.on(view)
        # Numbers of NumPy become Python's, so that hits can be written as JSON.
        return Asking(by, ranker, int(k), int(offset), threshold, scope, query, like)


def _scope(view: View, where: Where | None) -> Scope:
    """Return which documents a filter lets through."""
    asked: Filter | None = filter_of(where)
    if asked is None:
        return Scope()
    passed = Columns.of(view).passed(asked)
    return Scope(asked, passed.rows, passed.unknown_fields, passed.notes)


def _found(asking: Asking, started: float) -> Hits:
    query = asking.query
    assert query is not None
    ranker = asking.ranker
    made = ranker.of_text(query) if isinstance(query, str) else ranker.of_words(query)
    return find(asking, made, started)


def _queries(queries: Iterable[SearchQuery]) -> list[SearchQuery]:
    """Look at all queries before the first one is searched for."""
    if isinstance(queries, str | Mapping) or not isinstance(queries, Iterable):
        raise TypeError(
            "queries must be an iterable of texts, or of mappings of words to weights; got "
            f"{type(queries).__name__}. For a single query there is index.search(query)."
        )
    wanted = list(queries)
    for position, query in enumerate(wanted):
        _check_query(query, f"queries[{position}]")
    return wanted


def _check_query(query: Any, name: str = "query") -> None:  # noqa: ANN401 (a user's)
    if isinstance(query, str):
        if not is_text(query):
            raise ValueError(f"{name} holds half of a surrogate pair, which is no text.")
        return
    if not isinstance(query, Mapping):
        raise TypeError(
            f"{name} must be a str, or a mapping of words to weights; got {type(query).__name__}."
        )
    for word, weight in query.items():
        if not isinstance(word, str):
            raise TypeError(
                f"the words of {name} must be str; got {shortened(word, 40)} "
                f"({type(word).__name__})."
            )
        if not is_text(word):
            raise ValueError(f"{name} holds half of a surrogate pair, which is no text.")
        _WEIGHT.check(f"the weight of {shortened(word, 40)} in {name}", weight)
