"""Pieces of an index that are searched apart, and what those who search them must know.

A worker has no catalogue: SQLite wants a local disk, and shows another process another state. What
it needs of the catalogue travels, and is small beside the segments: which of them there are, which
documents were deleted, the words and the statistics of the state.
"""

import errno
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textkin._folders import MANIFEST
from textkin._typing import BoolArray, Int64Array
from textkin.index._catalogue import SegmentRecord, State
from textkin.index._files import file_hash
from textkin.index._segment import Segment, SegmentDamage
from textkin.index._settings import Reading, VectorSet
from textkin.index._snapshot import SEGMENTS, Part
from textkin.index.ranking._ranking import Ranking
from textkin.index.ranking._terms import TermRanking
from textkin.index.ranking._transport import TransportRanking
from textkin.index.ranking._view import View

__all__ = [
    "Described",
    "Lost",
    "Piece",
    "cut",
    "described_for",
    "hash_of_vectors",
    "on_worker",
    "part_of",
]

_OF_ROWS = ("positions", "lengths")  # arrays of a segment with a number for each row


class Piece(NamedTuple):
    """Some rows of one segment."""

    segment: int
    first: int
    end: int


class Lost(NamedTuple):
    """A worker cannot use the file of a segment, and so not search a block."""

    number: int
    segment: int
    why: str


@dataclass(frozen=True, eq=False)
class Described:
    """What a worker must know of a state of an index, beside the segments.

    Attributes
    ----------
    token : str
        The name of this description, never used for another.
    folder : str
        The index; the same path on all workers.
    ranking : Ranking
        By words or by transport, with statistics that are those of all documents.
    state : State
        The numbers of the state.
    records : list of SegmentRecord
        The segments.
    deleted : list of ndarray
        Of each segment, the positions that are no more.
    tail_words : list of str
        The words that are in no segment.
    frequencies : ndarray or None
        In how many documents each word occurs, where the ranking wants it.
    reading : Reading
        How texts become words.
    vectors : VectorSet
        The word vectors, with a hash that tells them from others where the ranking has them.
    blocks : list of list of Piece
        What is searched at a time.
    """

    token: str
    folder: str
    ranking: Ranking
    state: State
    records: list[SegmentRecord]
    deleted: list[Int64Array]
    tail_words: list[str]
    frequencies: Int64Array | None
    reading: Reading
    vectors: VectorSet
    blocks: list[list[Piece]]

    def path(self, segment: int) -> Path:
        """Return the file of a segment."""
        return Path(self.folder) / SEGMENTS / self.records[segment].file

    def refuse_unshared(self, lost: Lost) -> None:
        """Raise if a file is where it should be: then it is the worker that cannot see it."""
        path = self.path(lost.segment)
        if path.is_file() and path.stat().st_size == self.records[lost.segment].bytes:
            raise FileNotFoundError(
                errno.ENOENT,
                f"a worker cannot open this file, which is there for this process; it {lost.why} "
                "there. The folder of an index must be reachable under the same path on every "
                "worker",
                str(path),
            )


def part_of(segment: Segment, live: BoolArray, piece: Piece) -> Part:
    """Return some rows of a segment; their postings only if they are all of them.

    Raises
    ------
    SegmentDamage
        If what they hold is damaged.
    """
    if (piece.first, piece.end) == (0, segment.rows):
        segment.check()
        return Part(segment, live)
    rows = slice(piece.first, piece.end)
    indptr = segment.arrays["indptr"][piece.first : piece.end + 1]
    start, end = int(indptr[0]), int(indptr[-1])
    if not 0 <= start <= end <= segment.entries:
        raise SegmentDamage("has rows that lead out of it")
    arrays = {name: segment.arrays[name][rows] for name in _OF_ROWS}
    arrays["indptr"] = indptr - start
    for name in ("indices", "counts"):
        arrays[name] = segment.arrays[name][start:end]
    cut_out = Segment(segment.extent, arrays, segment.mapped)
    cut_out.bags  # noqa: B018 (checks them)
    return Part(cut_out, live[rows])


def on_worker(ranking: Ranking, memory: int) -> Ranking:
    """Return a ranking as a worker runs it: one thread, and its share of the memory."""
    if not isinstance(ranking, TransportRanking):
        return ranking
    return _changed(ranking, memory=memory, n_jobs=None)


def described_for(view: View, ranking: Ranking, token: str, blocks: list[list[Piece]]) -> Described:
    """Describe a state for workers.

    Parameters
    ----------
    view : View
        The state, with its catalogue.
    ranking : TermRanking or TransportRanking
        How it is searched.
    token : str
        A new name.
    blocks : list of list of Piece
        What is searched at a time.
    """
    snapshot = view.snapshot
    state = snapshot.state
    records = [record for record, _ in snapshot.segments]
    with snapshot.catalogue() as catalogue:
        deleted = [
            np.asarray(catalogue.deleted(record.first_position, record.end_position), np.int64)
            for record in records
        ]
        tail_words = catalogue.words(state.tail_word, state.words)
        vectors = VectorSet.from_json(catalogue.setting("vectors"))
    if isinstance(ranking, TransportRanking) and vectors.name == "own":
        # Workers have vectors of the indexes before, and another one may have lain in this folder.
        view.vectors()  # says what is wrong with them, if anything is
        vectors = replace(vectors, sha256=hash_of_vectors(snapshot.folder))
    return Described(
        token,
        str(snapshot.folder),
        _with_statistics(ranking, view),
        state,
        records,
        deleted,
        tail_words,
        view.frequencies if isinstance(ranking, TermRanking) else None,
        view.reading,
        vectors,
        blocks,
    )


def hash_of_vectors(folder: Path) -> str:
    """Return what tells the word vectors in an index from others: a hash of their manifest."""
    return file_hash(folder / VectorSet.FOLDER / MANIFEST)


def _with_statistics(ranking: Ranking, view: View) -> Ranking:
    """Return a ranking whose masses do not depend on the documents that are at hand."""
    if not isinstance(ranking, TransportRanking):
        return ranking
    weights = None
    if isinstance(ranking.masses, str) and ranking.masses == "tfidf":
        weights = ranking.documents_of(view).weights
    return _changed(ranking, masses=ranking.masses if weights is None else weights)


def _changed(ranking: TransportRanking, **changes: Any) -> TransportRanking:  # noqa: ANN401
    names = ("masses", "cost", "unit", "stop_words", "memory", "n_jobs")
    return TransportRanking(
        ranking.method, **{name: getattr(ranking, name) for name in names} | changes
    )


def cut(
    sizes: Sequence[int], parts: int, *, least: int = 1, whole: bool = False
) -> list[list[Piece]]:
    """Cut segments into about so many blocks of rows, in their order.

    Parameters
    ----------
    sizes : sequence of int
        The rows of each segment.
    parts : int
        How many blocks are wanted.
    least : int, default=1
        Rows that a block has at least, if there are so many.
    whole : bool, default=False
        Whether segments stay whole.

    Examples
    --------
    >>> cut([4], 2)
    [[Piece(segment=0, first=0, end=2)], [Piece(segment=0, first=2, end=4)]]
    >>> cut([4, 2], 2, whole=True)
    [[Piece(segment=0, first=0, end=4)], [Piece(segment=1, first=0, end=2)]]
    """
    size = max(least, -(-sum(sizes) // max(1, parts)), 1)
    blocks: list[list[Piece]] = []
    room = 0
    for number, rows in enumerate(sizes):
        first = 0
        while first < rows:
            if room <= 0:
                blocks.append([])
                room = size
            end = rows if whole else min(rows, first + room)
            blocks[-1].append(Piece(number, first, end))
            room -= end - first
            first = end
    return blocks
