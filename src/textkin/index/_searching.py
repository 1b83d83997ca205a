"""The search of an index: from what a user asks to hits."""

from collections.abc import Mapping

import numpy as np

from textkin._typing import BoolArray
from textkin._validation import integer, one_of, real
from textkin.index._life import OpenIndex
from textkin.index.ranking._choosing import By, ranking_of
from textkin.index.ranking._hits import Asking, Hits
from textkin.text.reading._document import shortened

__all__ = ["SearchableIndex"]

_K = integer(1)
_OFFSET = integer(0)
_THRESHOLD = one_of(None) | real()


class SearchableIndex(OpenIndex):
    """An open index whose documents can be searched."""

    def search(
        self,
        query: str | Mapping[str, float],
        k: int = 10,
        *,
        by: By = "bm25",
        threshold: float | None = None,
        offset: int = 0,
    ) -> Hits:
        """Find the documents that are nearest to a query.

        Parameters
        ----------
        query : str, or mapping of str to float
            A text, read as the documents were; or words with weights, such as the query of hits.
        k : int, default=10
            How many hits at most.
        by : str, TfIdf, BM25 or ranking, default="bm25"
            How documents are ranked.
        threshold : float or None, default=None
            The score that hits have at least (of a distance: at most).
        offset : int, default=0
            How many better hits are passed over: the pages before.

        Returns
        -------
        Hits
            The best first; of equal scores the document that was added first.
        """
        asking = self._asking(by, k, offset, threshold, None)
        if isinstance(query, str):
            return asking.with_text(query).find(asking.ranker.of_text(query))
        if isinstance(query, Mapping):
            return asking.find(asking.ranker.of_words(query))
        raise TypeError(
            f"query must be a str, or a mapping of words to weights; got {type(query).__name__}."
        )

    def similar(
        self,
        id: str,
        k: int = 10,
        *,
        by: By = "bm25",
        threshold: float | None = None,
        offset: int = 0,
    ) -> Hits:
        """Find the documents that are nearest to one of the index, which is left out itself.

        Parameters
        ----------
        id : str
            The id of a document.
        k, by, threshold, offset
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
        if not isinstance(id, str):
            raise TypeError(f"id must be a str; got {type(id).__name__}.")
        view = self._view()
        row = view.row_of(id)
        if row is None:
            raise KeyError(f"no document has the id {shortened(id)}; test with `id in index`.")
        others = np.ones(view.n_rows, np.bool_)
        others[row] = False
        asking = self._asking(by, k, offset, threshold, others)
        return asking.find(asking.ranker.of_row(row))

    def _asking(
        self,
        by: By,
        k: int,
        offset: int,
        threshold: float | None,
        rows: BoolArray | None,
    ) -> Asking:
        _K.check("k", k)
        _OFFSET.check("offset", offset)
        _THRESHOLD.check("threshold", threshold)
        view = self._view()
        ranking = ranking_of(by, view.snapshot.models)
        return Asking(ranking, ranking.on(view), k, offset, threshold, rows)
