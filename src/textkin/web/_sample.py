"""Documents that maps, clusters and topics are made of: all, or an even sample."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from textkin._typing import Bags, Int64Array
from textkin.index.ranking._view import View
from textkin.run import ProgressCallback
from textkin.text._stop_words import stop_word_set, stop_word_test
from textkin.web._documents import start

__all__ = ["Sample", "sample_of"]

_TITLE = 80
_CHUNK = 512


@dataclass(frozen=True, eq=False)
class Sample:
    """Documents of one state; it does not hold on to the state itself.

    Attributes
    ----------
    rows : ndarray of int64
        Rows of the view.
    ids, titles : list of str
        Ids, and beginnings of texts.
    labels : list
        Label of each document, or None.
    bags : csr_array
        Counted words, of columns that some of the documents have and that are no stop words.
    words : list of str
        Of the columns.
    total : int
        Documents of the index.
    """

    rows: Int64Array
    ids: list[str]
    titles: list[str]
    labels: list[Any]
    bags: Bags
    words: list[str]
    total: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def notes(self) -> list[str]:
        """Say that it is a sample, if it is one."""
        if len(self) >= self.total:
            return []
        return [f"An even sample of {len(self):,} of {self.total:,} documents."]


def sample_of(view: View, most: int, progress: ProgressCallback) -> Sample:
    """Take documents of a view, evenly in the order in which they were added."""
    rows = np.flatnonzero(view.live)
    if len(rows) > most:
        rows = rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)]
    ids: list[str] = []
    titles: list[str] = []
    labels: list[Any] = []
    for first in range(0, len(rows), _CHUNK):  # others may read in between; texts are let go
        for document in view.documents(rows[first : first + _CHUNK].tolist()):
            ids.append(document.id)
            titles.append(start(document.text, _TITLE))
            labels.append(document.label)
        progress(len(ids), len(rows))
    bags, words = _content(view, _bags(view, rows))
    return Sample(rows, ids, titles, labels, bags, words, view.n_documents)


def _bags(view: View, rows: Int64Array) -> Bags:
    blocks = []
    for part, first, end in zip(view.parts, view.starts[:-1], view.starts[1:], strict=True):
        indptr, indices, counts = part.segment.bags
        block = sparse.csr_array((counts, indices, indptr), shape=(end - first, view.n_words))
        blocks.append(block[rows[(rows >= first) & (rows < end)] - first])
    return sparse.csr_array(sparse.vstack(blocks, format="csr", dtype=np.float32))


def _content(view: View, bags: Bags) -> tuple[Bags, list[str]]:
    """Leave out stop words, and columns that no document has."""
    used = np.flatnonzero(np.bincount(bags.indices, minlength=bags.shape[1]))
    words = view.names(used.tolist())
    is_stop = stop_word_test(stop_word_set("smart"))
    kept = [at for at, word in enumerate(words) if not is_stop(word)]
    return sparse.csr_array(bags[:, used[kept]]), [words[at] for at in kept]
