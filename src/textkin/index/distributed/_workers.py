"""Code that runs on workers: opening segments, and caching scorers of blocks.

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
    """Picklable query: a text, words with weights, or word counts of a document."""

    text: str | None = None
    words: tuple[tuple[str, float], ...] | None = None
    row: int | None = None
    bag: Bag | None = None

    def made(self, scorer: Scorer[Any]) -> Any:  # noqa: ANN401 (the scorer's own form)
        """Convert the picklable query to the query type of a scorer."""
        if self.text is not None:
            return scorer.of_text(self.text)
        if self.words is not None:
            return scorer.of_words(dict(self.words))
        assert self.row is not None
        assert self.bag is not None
        assert isinstance(scorer, TermScorer | TransportScorer)
        return scorer.of_bag(self.bag, self.row)


class BlockTask(NamedTuple):
    """Task for a worker: a block to search, with a filter and score limits.

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
        """Return a mask of the block's rows that the filter selects, or None for all."""
        if self.rows is None:
            return None
        return np.unpackbits(self.rows, count=self.size).astype(np.bool_)


class BlockHits(NamedTuple):
    """Hits of each query in a block, with rows relative to the block."""

    number: int
    ranked: list[ScoredRows]


class UnknownSnapshot(NamedTuple):
    """Reply of a worker that has not received the description of the snapshot."""

    number: int


@dataclass(frozen=True, eq=False)
class Search:
    """Picklable function that searches one block for several queries.

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
        """Search a block; return its hits, or a reply that names the missing file or data."""
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
    """Error: this process cannot open a segment file."""

    def __init__(self, segment: int, why: str) -> None:
        super().__init__(why)
        self.segment = segment


# ---------------------------------------------------------------------- caches of a worker

_states: "OrderedDict[str, BlockScorers]" = OrderedDict()
_guard = threading.Lock()


def opened(token: str, described: SnapshotDescription | None) -> "BlockScorers | None":
    """Return the cached scorers of a snapshot, or None without its description."""
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
    """Return word vectors that this worker loaded for an earlier snapshot of the index."""
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
    """Snapshot on a worker, which opens segment files on demand.

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
        """Return the `Part` of each piece of a block, opened from segment files."""
        return [self._part(piece) for piece in self.described.blocks[number]]

    def scorer_of(self, parts: list[Part], memory: int) -> Scorer[Any]:
        """Create a scorer of some parts, with word statistics of the whole index."""
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
        """Map from word IDs to term numbers, or None if the ranking uses words."""
        terms = self.described.terms
        return None if terms is None else TermMap(terms.analyzer, terms.term_of, len(terms.names))

    @cached_property
    def term_numbers(self) -> dict[str, int]:
        """Mapping from each term (stem) to its number in the index."""
        terms = self.described.terms
        return {} if terms is None else {name: n for n, name in enumerate(terms.names)}

    @cached_property
    def packed_words(self) -> "list[tuple[int, _core.PackedWords]]":
        """Packed words of each segment and of the tail, each with the ID of its first word."""
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
    """Snapshot in the main process, with the same interface as `Opened`.

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
        """Packed words of each segment and of the tail, each with the ID of its first word."""
        return self._state.snapshot.packed_words


class BlockScorers:
    """Cache of scorers for the most recently searched blocks of a snapshot.

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
        """Return the scorer of a block from the cache, or create it.

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
    """`DocumentSource` for some parts of a snapshot on a worker, without a catalog.

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
        """Packed words of each segment and of the tail, each with the ID of its first word."""
        return self._opened.packed_words

    @property
    def frequencies(self) -> Int64Array:
        """Document frequency of each word: the number of documents that contain it."""
        found = self._opened.described.frequencies
        assert found is not None, "the ranking was described without frequencies"
        return found

    @property
    def term_map(self) -> TermMap | None:
        """Map from word IDs to term numbers, or None if the ranking uses words."""
        return self._opened.term_map

    @property
    def term_statistics(self) -> TermStatistics:
        """Document frequencies and other statistics of the terms of the whole index."""
        return self._terms.statistics

    def find_terms(self, terms: Sequence[str]) -> Int32Array:
        """Return the number of each term in the index, or -1 for an unknown term."""
        numbers = self._opened.term_numbers
        return np.array([numbers.get(term, -1) for term in terms], np.int32)

    def term_names(self, numbers: Sequence[int]) -> list[str]:
        """Return the terms (stems, or words without an analyzer) with the given numbers."""
        return [self._terms.names[number] for number in numbers]

    @property
    def _terms(self) -> TermDescription:
        terms = self._opened.described.terms
        assert terms is not None, "the ranking was described without terms"
        return terms

    def words(self) -> list[str]:
        """Return all words of the index in the order of their IDs."""
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
