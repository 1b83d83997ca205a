"""Pieces of an index that are searched apart: by a worker that opens segments by their paths.

A worker has no catalogue: SQLite wants a local disk, and shows another process another state. What
it needs of the catalogue travels, and is small beside the segments: which of them there are, which
documents were deleted, the words and the statistics of the state.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textkin import _core
from textkin._typing import BoolArray, Int64Array
from textkin.index._catalogue import SegmentRecord, State
from textkin.index._models import Models
from textkin.index._segment import Segment, SegmentDamage, map_segment
from textkin.index._settings import Reading, VectorSet
from textkin.index._snapshot import SEGMENTS, Part, Snapshot
from textkin.index.ranking._ranking import Ranked, Ranker, Ranking
from textkin.index.ranking._terms import TermRanking
from textkin.index.ranking._transport import TransportRanking
from textkin.index.ranking._view import Bag, View

__all__ = [
    "Asked",
    "Described",
    "Found",
    "Lost",
    "MissingSegment",
    "NotHere",
    "Opened",
    "Piece",
    "PieceView",
    "Search",
    "Seen",
    "cut",
    "described_for",
    "opened",
    "part_of",
]

_STATES = 4  # that a worker keeps open
_SPLIT = ("positions", "lengths")  # arrays of a segment with a number for each row


class Piece(NamedTuple):
    """Some rows of one segment."""

    segment: int
    first: int
    end: int


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
        The word vectors.
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


@dataclass(frozen=True)
class Asked:
    """A query as it travels: a text, words with weights, or the words of a document."""

    text: str | None = None
    words: tuple[tuple[str, float], ...] | None = None
    row: int | None = None
    bag: Bag | None = None

    def made(self, ranker: Ranker[Any]) -> Any:  # noqa: ANN401 (the ranker's own form)
        """Return the query in the form of a ranker; one of a `PieceView` if it is a document."""
        if self.text is not None:
            return ranker.of_text(self.text)
        if self.words is not None:
            return ranker.of_words(dict(self.words))
        assert self.row is not None
        if isinstance(ranker.view, PieceView):
            assert self.bag is not None
            ranker.view.asked[self.row] = self.bag
        return ranker.of_row(self.row)


class Seen(NamedTuple):
    """A block to search.

    Attributes
    ----------
    number : int
        Which.
    thresholds : tuple of float or None
        Of each query, how good a hit must be to matter.
    rows : ndarray of uint8, or None
        Bits: which rows may be found.
    size : int
        How many rows there are.
    """

    number: int
    thresholds: tuple[float | None, ...]
    rows: NDArray[np.uint8] | None
    size: int

    def mask(self) -> BoolArray | None:
        """Return the rows that may be found, or None for all."""
        if self.rows is None:
            return None
        return np.unpackbits(self.rows, count=self.size).astype(np.bool_)


class Found(NamedTuple):
    """What a worker found for each query; rows are counted from the first one of the block."""

    number: int
    ranked: list[Ranked]


class NotHere(NamedTuple):
    """A worker does not know the state yet."""

    number: int


class Lost(NamedTuple):
    """A worker cannot use the file of a segment."""

    number: int
    segment: int
    why: str


@dataclass(frozen=True, eq=False)
class Search:
    """One search for some queries, block by block, on whatever worker.

    Attributes
    ----------
    token : str
        Of the description.
    described : Described or None
        The description, for workers that do not have it.
    asked : tuple of Asked
        The queries.
    limit : int
        How many hits at most.
    kept : int
        Blocks that a worker has at the same time, which share its memory.
    """

    token: str
    described: Described | None
    asked: tuple[Asked, ...]
    limit: int
    kept: int

    def __call__(self, block: Seen, *, memory: int) -> Found | NotHere | Lost:
        """Find the best rows of a block."""
        here = opened(self.token, self.described)
        if here is None:
            return NotHere(block.number)
        try:
            ranker = here.ranker(block.number, max(1, memory // self.kept))
        except MissingSegment as missing:
            return Lost(block.number, missing.segment, str(missing))
        queries = [one.made(ranker) for one in self.asked]
        found = ranker.best_of_each(queries, self.limit, block.thresholds, block.mask())
        return Found(block.number, found)


class MissingSegment(Exception):
    """A segment's file cannot be used here."""

    def __init__(self, segment: int, why: str) -> None:
        super().__init__(why)
        self.segment = segment


# ---------------------------------------------------------------------- what a worker keeps

_states: "OrderedDict[str, Opened]" = OrderedDict()
_guard = threading.Lock()


def opened(token: str, described: Described | None) -> "Opened | None":
    """Return the state of a description, opened once; None if it is not here."""
    with _guard:
        found = _states.get(token)
        if found is None:
            if described is None:
                return None
            spaces = _spaces(described)
            found = _states[token] = Opened(described, spaces)
            while len(_states) > _STATES:
                _states.popitem(last=False)
        _states.move_to_end(token)
        return found


def _spaces(described: Described) -> dict[Any, object]:
    """Return the word vectors that another state of the same index has loaded."""
    for other in reversed(_states.values()):
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


class Opened:
    """A state of an index, as far as this process has opened it.

    Parameters
    ----------
    described : Described
        The state.
    kept : dict
        What views of it share.
    words : list of (int, PackedWords), optional
        The words of all segments and of the tail, with the number of the first one; else they are
        read from the segments.
    """

    def __init__(
        self,
        described: Described,
        kept: dict[Any, object],
        words: "list[tuple[int, _core.PackedWords]] | None" = None,
    ) -> None:
        self.described = described
        self.kept = kept
        self._words = words
        self._mutex = threading.RLock()
        self._segments: dict[int, Segment] = {}
        self._rankers: dict[int, Ranker[Any]] = {}

    def ranker(self, number: int, memory: int) -> Ranker[Any]:
        """Return what searches a block, made once."""
        with self._mutex:
            found = self._rankers.get(number)
            if found is None:
                parts = [self._part(piece) for piece in self.described.blocks[number]]
                found = self._rankers[number] = self.ranker_of(parts, memory)
            return found

    def ranker_of(self, parts: list[Part], memory: int) -> Ranker[Any]:
        """Return what searches some parts with the statistics of all."""
        view = PieceView(
            PieceSnapshot(self, parts),
            self.described.reading,
            self._vectors,
            Models(Path(self.described.folder)),
            self.kept,
        )
        return on_worker(self.described.ranking, memory).bind(view)

    def _vectors(self) -> Any:  # noqa: ANN401 (WordVectors)
        key = ("vectors",)
        with self._mutex:
            if key not in self.kept:
                self.kept[key] = self.described.vectors.load(Path(self.described.folder))
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

    def _part(self, piece: Piece) -> Part:
        segment = self._segment(piece.segment)
        deleted = self.described.deleted[piece.segment]
        try:
            return part_of(segment, segment.live_rows(deleted), piece)
        except SegmentDamage as damage:
            raise MissingSegment(piece.segment, str(damage)) from damage

    @cached_property
    def packed_words(self) -> "list[tuple[int, _core.PackedWords]]":
        """The words of all segments and of the tail, with the number of the first one."""
        if self._words is not None:
            return self._words
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
    arrays = {name: segment.arrays[name][rows] for name in _SPLIT}
    arrays["indptr"] = indptr - start
    for name in ("indices", "counts"):
        arrays[name] = segment.arrays[name][start:end]
    return Part(Segment(segment.extent, arrays, segment.mapped), live[rows])


def on_worker(ranking: Ranking, memory: int) -> Ranking:
    """Return a ranking as a worker runs it: one thread, and its share of the memory."""
    if not isinstance(ranking, TransportRanking):
        return ranking
    return _changed(ranking, memory=memory, n_jobs=None)


class PieceSnapshot(Snapshot):
    """Some parts of a state, without a catalogue; words and statistics are those of all."""

    def __init__(self, opened: Opened, parts: list[Part]) -> None:
        self.folder = Path(opened.described.folder)
        self.state = opened.described.state
        self.models = {}
        self.segments = []
        self._opened = opened
        self.__dict__["parts"] = parts  # which others compute when they are asked for

    @property
    def packed_words(self) -> "list[tuple[int, _core.PackedWords]]":
        """The words of all segments and of the tail."""
        return self._opened.packed_words

    @property
    def frequencies(self) -> Int64Array:
        """In how many documents each word occurs."""
        found = self._opened.described.frequencies
        assert found is not None, "the ranking was described without frequencies"
        return found

    @contextmanager
    def catalogue(self) -> Iterator[Any]:
        """Give what answers in place of a catalogue: the words."""
        yield _Words(self)


class _Words:
    """The words of a snapshot, asked for as a catalogue is."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def words(self, first: int, end: int) -> list[str]:
        return self._snapshot.words()[first:end] if first < end else []


class PieceView(View):
    """Some parts of a state as rankings see it.

    A query that is a document comes from elsewhere: its words are in `asked`, by its row.
    """

    @cached_property
    def asked(self) -> dict[int, Bag]:
        """The words of documents that are queries."""
        return {}

    def bag_of_row(self, row: int) -> Bag:
        """Return the words of a document that is a query."""
        return self.asked[row]


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
