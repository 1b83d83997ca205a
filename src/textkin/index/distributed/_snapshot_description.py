"""Blocks of an index that workers search, and descriptions of snapshots for workers.

A worker does not open the catalog, because SQLite requires a local disk and would show another
snapshot. Workers receive the required parts of the catalog, which are small compared with the
segments: the list of segments, deleted documents, and words and statistics of the snapshot.
"""

import errno
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textkin._base import MANIFEST, BoolArray, Int32Array, Int64Array, file_hash
from textkin.index.search import IndexState, Ranking, TermRanking, TransportRanking
from textkin.index.store import (
    SEGMENTS,
    AnalyzerSettings,
    Part,
    Segment,
    SegmentDamage,
    SegmentRecord,
    State,
    StemAnalyzer,
    TermStatistics,
    VectorSet,
)

__all__ = [
    "RowRange",
    "SnapshotDescription",
    "TermDescription",
    "UnreadableBlock",
    "describe_snapshot",
    "hash_of_vectors",
    "on_worker",
    "part_of",
    "split_rows",
    "without_limits",
]

_OF_ROWS = ("positions", "lengths")  # arrays of a segment with one number per row


class RowRange(NamedTuple):
    """Range of rows within one segment of an index, as part of a block."""

    segment: int
    first: int
    end: int


class UnreadableBlock(NamedTuple):
    """Reply of a worker that could not open the segment file of a block."""

    number: int
    segment: int
    why: str


class TermDescription(NamedTuple):
    """Terms of a snapshot and their statistics, as sent to workers.

    Attributes
    ----------
    analyzer : StemAnalyzer
        Settings of the analyzer.
    term_of : ndarray of int32
        Number of the term of each word, or -1.
    names : list of str
        Terms.
    statistics : TermStatistics
        Statistics of the terms of all documents.
    """

    analyzer: StemAnalyzer
    term_of: Int32Array
    names: list[str]
    statistics: TermStatistics


@dataclass(frozen=True, eq=False)
class SnapshotDescription:
    """Description of a snapshot as sent to workers, which open segment files themselves.

    Attributes
    ----------
    token : str
        Unique name of this description.
    folder : str
        Folder of the index, with the same path on all workers.
    ranking : Ranking
        Ranking by words or by transport, with the statistics of all documents.
    state : State
        Totals of the snapshot.
    records : list of SegmentRecord
        Segments.
    deleted : list of ndarray
        Positions of deleted documents, for each segment.
    tail_words : list of str
        Words that are not in a segment.
    frequencies : ndarray or None
        Number of documents that contain each word, if the ranking requires it.
    terms : TermDescription or None
        Terms of the words, if the ranking uses them and the index has an analyzer.
    reading : AnalyzerSettings
        Analyzer settings of the index.
    vectors : VectorSet
        Word vectors, with a hash that identifies them if the ranking uses them.
    blocks : list of list of RowRange
        Blocks, which are searched one at a time.
    """

    token: str
    folder: str
    ranking: Ranking
    state: State
    records: list[SegmentRecord]
    deleted: list[Int64Array]
    tail_words: list[str]
    frequencies: Int64Array | None
    terms: TermDescription | None
    reading: AnalyzerSettings
    vectors: VectorSet
    blocks: list[list[RowRange]]

    def path(self, segment: int) -> Path:
        """Return the path of the file of a segment."""
        return Path(self.folder) / SEGMENTS / self.records[segment].file

    def refuse_unshared(self, lost: UnreadableBlock) -> None:
        """Raise if a worker cannot open a segment file that this process can open."""
        path = self.path(lost.segment)
        if path.is_file() and path.stat().st_size == self.records[lost.segment].bytes:
            raise FileNotFoundError(
                errno.ENOENT,
                f"a worker cannot open this file, which this process can; there, it {lost.why}. "
                "The folder of an index must be reachable under the same path on every "
                "worker",
                str(path),
            )


def part_of(segment: Segment, live: BoolArray, piece: RowRange) -> Part:
    """Return a range of a segment's rows as a `Part`; only a whole segment has postings.

    Raises
    ------
    SegmentDamage
        If the rows are corrupt.
    """
    if (piece.first, piece.end) == (0, segment.rows):
        segment.check()
        return Part(segment, live)
    rows = slice(piece.first, piece.end)
    indptr = segment.arrays["indptr"][piece.first : piece.end + 1]
    start, end = int(indptr[0]), int(indptr[-1])
    if not 0 <= start <= end <= segment.entries:
        raise SegmentDamage("has row offsets out of range")
    arrays = {name: segment.arrays[name][rows] for name in _OF_ROWS}
    arrays["indptr"] = indptr - start
    for name in ("indices", "counts"):
        arrays[name] = segment.arrays[name][start:end]
    cut_out = Segment(segment.extent, arrays, segment.mapped)
    cut_out.bags  # noqa: B018 (the property validates the arrays)
    return Part(cut_out, live[rows])


def on_worker(ranking: Ranking, memory: int) -> Ranking:
    """Return a ranking for a worker: one thread, and tables in its share of the memory."""
    if not isinstance(ranking, TransportRanking):
        return ranking
    return _changed(ranking, table_memory=memory, n_jobs=None)


def without_limits(ranking: TransportRanking) -> TransportRanking:
    """Return a ranking with the limits that manifests of joins name, which change no result."""
    return _changed(ranking, memory=1 << 29, table_memory=None, n_jobs=None)


def describe_snapshot(
    state: IndexState, ranking: Ranking, token: str, blocks: list[list[RowRange]]
) -> SnapshotDescription:
    """Create the description of a snapshot that workers need for a ranking.

    Parameters
    ----------
    state : IndexState
        Snapshot with its catalog.
    ranking : TermRanking or TransportRanking
        Ranking of the search.
    token : str
        Unique name.
    blocks : list of list of RowRange
        Blocks, which are searched one at a time.
    """
    snapshot = state.snapshot
    numbers = snapshot.state
    records = [record for record, _ in snapshot.segments]
    with snapshot.catalog() as catalog:
        deleted = [
            np.asarray(catalog.deleted(record.first_position, record.end_position), np.int64)
            for record in records
        ]
        tail_words = catalog.words(numbers.tail_word, numbers.words)
        vectors = VectorSet.from_json(catalog.setting("vectors"))
    if isinstance(ranking, TransportRanking) and vectors.name == "own":
        # Workers cache vectors, and the folder may have contained another index before.
        state.vectors()  # raises an error if the vectors are corrupt
        vectors = replace(vectors, sha256=hash_of_vectors(snapshot.folder))
    by_terms = isinstance(ranking, TermRanking)
    term_map = snapshot.term_map if by_terms else None
    terms = None
    if term_map is not None:
        names = snapshot.term_names(range(term_map.n_terms))
        statistics = snapshot.term_statistics
        terms = TermDescription(term_map.analyzer, term_map.term_of, names, statistics)
    return SnapshotDescription(
        token,
        str(snapshot.folder),
        _with_statistics(ranking, state),
        numbers,
        records,
        deleted,
        tail_words,
        state.frequencies if by_terms and terms is None else None,
        terms,
        state.reading,
        vectors,
        blocks,
    )


def hash_of_vectors(folder: Path) -> str:
    """Return a hash that identifies the word vectors stored in an index folder."""
    return file_hash(folder / VectorSet.FOLDER / MANIFEST)


def _with_statistics(ranking: Ranking, state: IndexState) -> Ranking:
    """Return a ranking with fixed word weights, from the statistics of the whole index."""
    if not isinstance(ranking, TransportRanking):
        return ranking
    weights = None
    if isinstance(ranking.word_weights, str) and ranking.word_weights == "tfidf":
        weights = ranking.documents_of(state).weights
    return _changed(ranking, word_weights=ranking.word_weights if weights is None else weights)


def _changed(ranking: TransportRanking, **changes: Any) -> TransportRanking:  # noqa: ANN401
    names = ("word_weights", "cost", "unit", "stop_words", "memory", "table_memory", "n_jobs")
    return TransportRanking(
        ranking.metric, **{name: getattr(ranking, name) for name in names} | changes
    )


def split_rows(
    sizes: Sequence[int], parts: int, *, least: int = 1, whole: bool = False
) -> list[list[RowRange]]:
    """Split segments of given sizes into blocks of rows with about equal size.

    Parameters
    ----------
    sizes : sequence of int
        Number of rows of each segment.
    parts : int
        Approximate number of blocks.
    least : int, default=1
        Minimum number of rows per block, if there are enough rows.
    whole : bool, default=False
        Whether to keep segments whole.

    Examples
    --------
    >>> split_rows([4], 2)
    [[RowRange(segment=0, first=0, end=2)], [RowRange(segment=0, first=2, end=4)]]
    >>> split_rows([4, 2], 2, whole=True)
    [[RowRange(segment=0, first=0, end=4)], [RowRange(segment=1, first=0, end=2)]]
    """
    size = max(least, -(-sum(sizes) // max(1, parts)), 1)
    blocks: list[list[RowRange]] = []
    room = 0
    for number, rows in enumerate(sizes):
        first = 0
        while first < rows:
            if room <= 0:
                blocks.append([])
                room = size
            end = rows if whole else min(rows, first + room)
            blocks[-1].append(RowRange(number, first, end))
            room -= end - first
            first = end
    return blocks
