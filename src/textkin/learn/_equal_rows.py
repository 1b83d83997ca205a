"""Byte keys that are equal for equal documents, and groups of documents linked by pairs.

A dictionary finds equal keys by hash and compares them byte by byte, so a hash collision never
groups distinct documents, and no pair of documents is compared.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from textkin._base import Float64Array, Int64Array, describe_non_text
from textkin.run import ProgressCallback, effective_jobs
from textkin.text import StopWords, TermReader, prepare, split_batches, text_of
from textkin.transport import PairBlock

__all__ = [
    "Groups",
    "PairBuffer",
    "check_one_kind",
    "concatenate_pairs",
    "first_of_equals",
    "has_words",
    "keys_of_entries",
    "keys_of_rows",
    "keys_of_texts",
    "keys_of_words",
    "link_pairs",
]


def first_of_equals(keys: Sequence[bytes]) -> Int64Array:
    """Return the index of each key's first occurrence; empty keys equal no other key."""
    seen: dict[bytes, int] = {}
    places = (seen.setdefault(key, at) if key else at for at, key in enumerate(keys))
    return np.fromiter(places, np.int64, len(keys))


def keys_of_texts(
    documents: Sequence[Any],
    *,
    ordered: bool,
    stop_words: StopWords = None,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> list[bytes]:
    """Return a byte key of each document's words; equal for equal words, empty without words.

    Parameters
    ----------
    documents : sequence of str, documents with a text, or lists of words
        Documents. `tokenize` splits texts into words (NFKC, lower case); words in lists stay
        unchanged.
    ordered : bool
        If True, the order of the words matters.
    stop_words : str, None, path or collection of str
        Words of texts to ignore.
    n_jobs : int or None
        Number of threads.
    progress : callable or None
        Called with (documents read, total) for texts.
    """
    if documents and not isinstance(text_of(documents[0]), str):
        return keys_of_words(_word_lists(documents), ordered=ordered)
    reader = TermReader(prepare(stop_words=stop_words), n_threads=effective_jobs(n_jobs))
    keys: list[bytes] = []
    for batch in split_batches(_texts(documents), reader.n_threads):
        keys += _keys(*reader.read(batch).arrays(), ordered=ordered)
        if progress is not None:
            progress(len(keys), len(documents))
    return keys


def check_one_kind(documents: Sequence[Any], name: str) -> None:
    """Raise TypeError if some documents are texts and others are token lists."""
    if documents and isinstance(text_of(documents[0]), str):
        for _ in _texts(documents, name):
            pass
    elif documents and isinstance(documents[0], list | tuple):
        for _ in _word_lists(documents, name):
            pass


def has_words(documents: Sequence[Any], stop_words: StopWords) -> bool:
    """Return True if any document has a word that is not a stop word."""
    if documents and not isinstance(text_of(documents[0]), str):
        return any(_word_lists(documents))
    reader = TermReader(prepare(stop_words=stop_words))
    return any(len(reader.read([text]).arrays()[0]) for text in _texts(documents))


def keys_of_words(documents: Iterable[Iterable[str]], *, ordered: bool = True) -> list[bytes]:
    """Return a byte key of each token list, with or without regard to the order of tokens."""
    numbers: dict[str, int] = {}
    keys = []
    for words in documents:
        ids = np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int32)
        keys.append((ids if ordered else np.sort(ids)).tobytes())
    return keys


def keys_of_rows(values: Any) -> list[bytes]:  # noqa: ANN401 (sparse or dense)
    """Return a byte key of each row of a sparse or dense matrix."""
    if isinstance(values, np.ndarray):
        return [row.tobytes() for row in np.ascontiguousarray(values)]
    return keys_of_entries(values.indptr, values.indices, values.data)


def keys_of_entries(starts: Any, columns: Any, values: Any) -> list[bytes]:  # noqa: ANN401 (arrays)
    """Return a byte key of each row of a CSR matrix; empty for a row without values."""
    columns = columns.astype(np.int64, copy=False)  # the same width for every array
    return [
        columns[begin:end].tobytes() + values[begin:end].tobytes()
        for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]


def _keys(ids: Any, offsets: Any, *, ordered: bool) -> list[bytes]:  # noqa: ANN401 (arrays)
    """Return a byte key of each document from its word IDs."""
    if not ordered:
        documents = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        ids = ids[np.lexsort((ids, documents))]
    return [
        ids[begin:end].tobytes()
        for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    ]


def _texts(documents: Sequence[Any], name: str = "documents") -> Iterator[str]:
    for position, document in enumerate(documents):
        text = text_of(document)
        if not isinstance(text, str):
            raise TypeError(
                f"{name} must all be texts, like the first one, or all be lists of words; "
                f"position {position} holds {describe_non_text(text)}."
            )
        yield text


def _word_lists(documents: Sequence[Any], name: str = "documents") -> Iterator[Sequence[str]]:
    for position, words in enumerate(documents):
        if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
            raise TypeError(
                f"{name} must all be lists of words, like the first one, or all be texts; "
                f"position {position} holds {describe_non_text(words)}."
            )
        yield words


_MAX_PAIRS = 2**25  # in a buffer: 800 MB
_BATCH = 2**20  # pairs


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Groups of linked documents, largest first, with a label for each document.

    Attributes
    ----------
    labels : ndarray of shape (n_documents,), int64
        Group of each document; -1 for a document in no group.
    representatives : ndarray of shape (n_groups,), int64
        Most central document of each group.
    starts, order : ndarray of int64
        Group g has the documents ``order[starts[g]:starts[g + 1]]``, in ascending order.
    """

    labels: Int64Array
    representatives: Int64Array
    starts: Int64Array
    order: Int64Array

    def __len__(self) -> int:
        return len(self.representatives)

    def members(self, group: int) -> Int64Array:
        """Return the positions of the documents of one group, in ascending order."""
        return self.order[self.starts[group] : self.starts[group + 1]]


class PairBuffer:
    """Buffer of document pairs that discards all of them above a limit, to save memory.

    Attributes
    ----------
    count : int
        Number of pairs added.
    """

    def __init__(self, limit: int = _MAX_PAIRS) -> None:
        self._limit = limit
        self._blocks: list[PairBlock] | None = []
        self.count = 0

    def add(self, block: PairBlock) -> None:
        """Add a block of pairs; if there are more than the limit, discard all pairs."""
        self.count += block.rows.size
        if self.count > self._limit:
            self._blocks = None
        elif self._blocks is not None:
            self._blocks.append(block)

    def all(self) -> PairBlock | None:
        """Return all pairs sorted by position, or None if they were discarded."""
        if self._blocks is None:
            return None
        pairs = concatenate_pairs(self._blocks)
        order = np.lexsort((pairs.columns, pairs.rows))
        return PairBlock(pairs.rows[order], pairs.columns[order], pairs.distances[order])


def concatenate_pairs(blocks: list[PairBlock]) -> PairBlock:
    """Concatenate blocks of document pairs into one `PairBlock`."""
    none = np.empty(0, np.int64)
    return PairBlock(
        np.concatenate([none, *(block.rows for block in blocks)]),
        np.concatenate([none, *(block.columns for block in blocks)]),
        np.concatenate([np.empty(0), *(block.distances for block in blocks)]),
    )


def link_pairs(firsts: Int64Array, pairs: Iterable[PairBlock], kept: PairBuffer) -> Groups:
    """Compute groups of documents that are equal or connected by pairs (components).

    The pairs are read once; memory use is a few numbers per document.

    Parameters
    ----------
    firsts : ndarray of shape (n_documents,), int64
        Position of the first equal document of each document.
    pairs : iterable of PairBlock
        Pairs between first documents.
    kept : PairBuffer
        Buffer that receives the pairs.

    Returns
    -------
    Groups
        Groups. The representative of a group is the document with the most pairs in the group,
        where equal documents count individually; ties go to the smallest sum of distances, then
        to the first document.
    """
    n = len(firsts)
    copies = np.bincount(firsts, minlength=n)
    labels = firsts
    near, sums = (copies - 1).astype(np.float64), np.zeros(n)
    waiting: list[PairBlock] = []
    size = 0

    def merge_waiting() -> Int64Array:
        some = concatenate_pairs(waiting)
        for ends, others in ((some.rows, some.columns), (some.columns, some.rows)):
            near[:] += np.bincount(ends, copies[others], n)
            sums[:] += np.bincount(ends, copies[others] * some.distances, n)
        return _merge_groups(labels, some)

    for block in pairs:
        kept.add(block)
        waiting.append(block)
        size += len(block)
        if size >= max(n, _BATCH):
            labels = merge_waiting()
            waiting, size = [], 0
    if waiting:
        labels = merge_waiting()
    return _number_groups(labels, firsts, near, sums)


def _merge_groups(labels: Int64Array, pairs: PairBlock) -> Int64Array:
    """Merge the groups of the two documents of each pair; return each document's label."""
    n = len(labels)
    ends = labels[pairs.rows], labels[pairs.columns]
    graph = sparse.coo_array((np.ones(len(pairs), dtype=np.int8), ends), shape=(n, n))
    _, found = connected_components(graph, directed=False)
    return np.asarray(found[labels], dtype=np.int64)


def _number_groups(
    labels: Int64Array, firsts: Int64Array, near: Float64Array, sums: Float64Array
) -> Groups:
    n = len(labels)
    _, earliest, numbers, sizes = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((earliest, -sizes))
    order = order[sizes[order] > 1]
    new = np.full(len(sizes), -1, dtype=np.int64)
    new[order] = np.arange(len(order))
    labels = new[numbers]
    members = np.flatnonzero(labels >= 0)
    members = members[np.argsort(labels[members], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(sizes[order])]).astype(np.int64)
    # Equal documents are as central as their first document, which wins the tie.
    best = np.lexsort((np.arange(n), sums[firsts], -near[firsts], labels))
    best = best[labels[best] >= 0]
    return Groups(labels, best[starts[:-1]].astype(np.int64), starts, members.astype(np.int64))
