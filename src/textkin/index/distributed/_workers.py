"""Functions and caches of a worker: open segments, and their scorers.

The search function (`Search`) is sent with a query. If the worker does not have the description of
the snapshot yet, it is sent as well.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textkin import _core
from textkin._base import BoolArray, Int32Array, Int64Array
from textkin.exceptions import DamagedIndexError
from textkin.index.distributed._snapshot_description import (
    RowRange,
    SnapshotDescription,
    TermDescription,
    UnreadableBlock,
    hash_of_vectors,
    on_worker,
    part_of,
)
from textkin.index.search import (
    Bag,
    IndexState,
    ScoredRows,
    Scorer,
    Searcher,
    TermScorer,
    TransportScorer,
)
from textkin.index.store import (
    SEGMENTS,
    AttachedModels,
    Part,
    Segment,
    SegmentDamage,
    TermMap,
    TermStatistics,
    find_words,
    map_segment,
    unpack_words,
    words_checksum,
)

__all__ = [
    "BlockHits",
    "BlockScorers",
    "BlockTask",
    "DescribedSource",
    "LocalSnapshot",
    "MissingSegment",
    "Search",
    "UnknownSnapshot",
    "WorkerQuery",
    "WorkerSnapshot",
    "opened",
]

_STATES = 4  # maximum number of snapshots that a worker has open, which share its memory


@dataclass(frozen=True)
class WorkerQuery:
    """Query that can be pickled: a text, words with weights, or counts of a document."""

    text: str | None = None
    words: tuple[tuple[str, float], ...] | None = None
    row: int | None = None
    bag: Bag | None = None

    def made(self, scorer: Scorer[Any]) -> Any:  # noqa: ANN401 (the scorer's own form)
        """Convert the query to the type that a scorer takes."""
        if self.text is not None:
            return scorer.of_text(self.text)
        if self.words is not None:
            return scorer.of_words(dict(self.words))
        assert self.row is not None
        assert self.bag is not None
        assert isinstance(scorer, TermScorer | TransportScorer)
        return scorer.of_bag(self.bag, self.row)


class BlockTask(NamedTuple):
    """Block to search, with the score limits that were known when it was sent.

    Attributes
    ----------
    number : int
        Number of the block.
    thresholds : tuple of float or None
        Minimum score of a relevant hit (maximum for distances), for each query.
    rows : ndarray of uint8, or None
        Bits of the rows that may be found.
    size : int
        Number of rows.
    """

    number: int
    thresholds: tuple[float | None, ...]
    rows: NDArray[np.uint8] | None
    size: int

    def mask(self) -> BoolArray | None:
        """Return the mask of the rows that may be found, or None for all rows."""
        if self.rows is None:
            return None
        return np.unpackbits(self.rows, count=self.size).astype(np.bool_)


class BlockHits(NamedTuple):
    """Hits of a block for each query, with row numbers relative to the block."""

    number: int
    ranked: list[ScoredRows]


class UnknownSnapshot(NamedTuple):
    """Message from a worker that lacks the description of the snapshot."""

    number: int


@dataclass(frozen=True, eq=False)
class Search:
    """Search of some queries in one block at a time, on any worker.

    Attributes
    ----------
    token : str
        Name of the description.
    described : SnapshotDescription or None
        Description, for workers that do not have it.
    asked : tuple of WorkerQuery
        Queries.
    limit : int
        Maximum number of hits.
    kept : int
        Number of blocks that a worker has open, which share its memory.
    """

    token: str
    described: SnapshotDescription | None
    asked: tuple[WorkerQuery, ...]
    limit: int
    kept: int

    def __call__(
        self, block: BlockTask, *, memory: int
    ) -> BlockHits | UnknownSnapshot | UnreadableBlock:
        """Find the best rows of a block."""
        here = opened(self.token, self.described)
        if here is None:
            return UnknownSnapshot(block.number)
        try:
            scorer = here.scorer(block.number, memory, self.kept)
            queries = [one.made(scorer) for one in self.asked]  # may open all segments for words
        except MissingSegment as missing:
            return UnreadableBlock(block.number, missing.segment, str(missing))
        found = scorer.best_of_each(queries, self.limit, block.thresholds, block.mask())
        return BlockHits(block.number, found)


class MissingSegment(Exception):
    """Error for a segment file that this process cannot use."""

    def __init__(self, segment: int, why: str) -> None:
        super().__init__(why)
        self.segment = segment


# ---------------------------------------------------------------------- caches of a worker

_states: "OrderedDict[str, BlockScorers]" = OrderedDict()
_guard = threading.Lock()


def opened(token: str, described: SnapshotDescription | None) -> "BlockScorers | None":
    """Return the block scorers of a snapshot, or None if it was never described to this worker."""
    with _guard:
        found = _states.get(token)
        if found is None:
            if described is None:
                return None
            found = _states[token] = BlockScorers(WorkerSnapshot(described, _spaces(described)))
            while len(_states) > _STATES:
                _states.popitem(last=False)
        _states.move_to_end(token)
        return found


def _spaces(described: SnapshotDescription) -> dict[Any, object]:
    """Return word vectors loaded for another snapshot of the same index, to share them."""
    for other in (one.opened for one in reversed(_states.values())):
        if (other.described.folder, other.described.vectors) == (
            described.folder,
            described.vectors,
        ):
            return {
                key: value
                for key, value in other.kept.items()
                if isinstance(key, tuple) and key[0] in ("space", "vectors")
            }
    return {}


class WorkerSnapshot:
    """Snapshot of an index that opens its segments on demand.

    Parameters
    ----------
    described : SnapshotDescription
        Description of the snapshot.
    kept : dict
        Cache that snapshots of the index share.
    """

    def __init__(self, described: SnapshotDescription, kept: dict[Any, object]) -> None:
        self.described = described
        self.kept = kept
        self._mutex = threading.RLock()
        self._segments: dict[int, Segment] = {}

    def parts(self, number: int) -> list[Part]:
        """Return the parts of a block."""
        return [self._part(piece) for piece in self.described.blocks[number]]

    def scorer_of(self, parts: list[Part], memory: int) -> Scorer[Any]:
        """Return a scorer of some parts, with the statistics of all documents."""
        state = IndexState(
            DescribedSource(self, parts),
            self.described.reading,
            self._vectors,
            AttachedModels(Path(self.described.folder)),
            self.kept,
        )
        return on_worker(self.described.ranking, memory).bind(state, Searcher(state).scorer)

    def _vectors(self) -> Any:  # noqa: ANN401 (WordVectors)
        key = ("vectors",)
        with self._mutex:
            if key not in self.kept:
                folder, vectors = Path(self.described.folder), self.described.vectors
                if vectors.name == "own" and hash_of_vectors(folder) != vectors.sha256:
                    raise ValueError(
                        f"{folder} has other word vectors than when it was opened, because it was "
                        "replaced by another index. Open it again with Index.open."
                    )
                self.kept[key] = vectors.load(folder)
            return self.kept[key]

    def _segment(self, number: int) -> Segment:
        with self._mutex:
            found = self._segments.get(number)
            if found is None:
                described = self.described
                try:
                    found = map_segment(described.path(number), described.records[number])
                except SegmentDamage as damage:
                    raise MissingSegment(number, str(damage)) from damage
                except OSError as error:
                    raise MissingSegment(number, f"cannot be read ({error.strerror})") from error
                self._segments[number] = found
            return found

    def _part(self, piece: RowRange) -> Part:
        segment = self._segment(piece.segment)
        deleted = self.described.deleted[piece.segment]
        try:
            return part_of(segment, segment.live_rows(deleted), piece)
        except SegmentDamage as damage:
            raise MissingSegment(piece.segment, str(damage)) from damage

    @cached_property
    def term_map(self) -> TermMap | None:
        """Terms of the words, or None if the ranking uses words."""
        terms = self.described.terms
        return None if terms is None else TermMap(terms.analyzer, terms.term_of, len(terms.names))

    @cached_property
    def term_numbers(self) -> dict[str, int]:
        """Numbers of the terms."""
        terms = self.described.terms
        return {} if terms is None else {name: n for n, name in enumerate(terms.names)}

    @cached_property
    def packed_words(self) -> "list[tuple[int, _core.PackedWords]]":
        """Words of all segments and of the tail, with the ID of the first word."""
        described = self.described
        found = []
        for number, record in enumerate(described.records):
            try:
                found.append((record.first_word, self._segment(number).words))
            except SegmentDamage as damage:
                raise MissingSegment(number, str(damage)) from damage
        table = _core.WordTable()
        table.read_words([described.tail_words])
        packed, offsets = table.packed(0)
        slots = _core.PackedWords.slots_of(packed, offsets)
        tail = _core.PackedWords(packed, offsets, slots)
        return [*found, (described.state.tail_word, tail)]


class LocalSnapshot(WorkerSnapshot):
    """Snapshot in the process that has its catalog and all of its parts.

    Parameters
    ----------
    described : SnapshotDescription
        Description of the snapshot.
    state : IndexState
        The snapshot itself.
    """

    def __init__(self, described: SnapshotDescription, state: IndexState) -> None:
        super().__init__(described, state.kept)
        self._state = state

    def _vectors(self) -> Any:  # noqa: ANN401
        return self._state.vectors()

    def _part(self, piece: RowRange) -> Part:
        part = self._state.parts[piece.segment]
        return part_of(part.segment, part.live, piece)

    @property
    def packed_words(self) -> "list[tuple[int, _core.PackedWords]]":
        """Words of all segments and of the tail."""
        return self._state.snapshot.packed_words


class BlockScorers:
    """Cache of the scorers of the most recent blocks of a snapshot.

    Scorers reference the snapshot, which does not reference them. Therefore unused scorers are
    released at once, with their files and the read transaction of a catalog.

    Parameters
    ----------
    opened : WorkerSnapshot
        Open snapshot.
    """

    def __init__(self, opened: WorkerSnapshot) -> None:
        self.opened = opened
        self._mutex = threading.Lock()
        self._scorers: OrderedDict[int, Scorer[Any]] = OrderedDict()

    def scorer(self, number: int, memory: int, kept: int = 1) -> Scorer[Any]:
        """Return the scorer of a block, made on first use.

        Parameters
        ----------
        number : int
            Number of the block.
        memory : int
            Memory for the tables of all cached blocks of all snapshots, in bytes.
        kept : int
            Maximum number of cached blocks of a snapshot.
        """
        with self._mutex:
            found = self._scorers.get(number)
            if found is None:
                parts = self.opened.parts(number)
                share = max(1, memory // (kept * _STATES))
                found = self._scorers[number] = self.opened.scorer_of(parts, share)
                while len(self._scorers) > kept:  # blocks taken over from other workers
                    self._scorers.popitem(last=False)
            self._scorers.move_to_end(number)
            return found


class DescribedSource:
    """Parts of a snapshot without a catalog, with the words and statistics of all documents.

    Parameters
    ----------
    opened : WorkerSnapshot
        Open snapshot.
    parts : list of Part
        Parts to search.
    """

    def __init__(self, opened: WorkerSnapshot, parts: list[Part]) -> None:
        self.state = opened.described.state
        self.parts = parts
        self._opened = opened

    @property
    def packed_words(self) -> "list[tuple[int, _core.PackedWords]]":
        """Words of all segments and of the tail."""
        return self._opened.packed_words

    @property
    def frequencies(self) -> Int64Array:
        """Number of documents that contain each word."""
        found = self._opened.described.frequencies
        assert found is not None, "the ranking was described without frequencies"
        return found

    @property
    def term_map(self) -> TermMap | None:
        """Terms of the words, or None if the ranking uses words."""
        return self._opened.term_map

    @property
    def term_statistics(self) -> TermStatistics:
        """Statistics of the terms of all documents."""
        return self._terms.statistics

    def find_terms(self, terms: Sequence[str]) -> Int32Array:
        """Return the number of each term, or -1."""
        numbers = self._opened.term_numbers
        return np.array([numbers.get(term, -1) for term in terms], np.int32)

    def term_names(self, numbers: Sequence[int]) -> list[str]:
        """Return the terms with the given numbers."""
        return [self._terms.names[number] for number in numbers]

    @property
    def _terms(self) -> TermDescription:
        terms = self._opened.described.terms
        assert terms is not None, "the ranking was described without terms"
        return terms

    def words(self) -> list[str]:
        """Return all words in the order of their IDs."""
        found = unpack_words(self.packed_words)
        if len(set(found)) != self.state.words or (
            words_checksum(found, 0) != self.state.words_checksum
        ):
            folder = self._opened.described.folder
            raise DamagedIndexError(
                f"{folder}: the words of its segments are corrupt.",
                [f"{SEGMENTS}: words"],
                hint="`index.verify(repair=True)` rebuilds the segments.",
            )
        return found

    def find(self, words: Sequence[str]) -> Int32Array:
        """Return the ID of each word, or -1 if the index does not contain it."""
        return find_words(self.packed_words, words)
