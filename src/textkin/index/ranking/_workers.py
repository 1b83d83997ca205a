"""What a worker does and keeps: segments that it opened, and what searches them.

The function of a search (`Search`) travels with a query; what it needs of the state of the index
comes with it where the worker does not have it yet.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from textkin import _core
from textkin._typing import BoolArray, Int64Array
from textkin.index._models import Models
from textkin.index._segment import Segment, SegmentDamage, map_segment
from textkin.index._snapshot import Part, Snapshot
from textkin.index.ranking._pieces import (
    Described,
    Lost,
    Piece,
    hash_of_vectors,
    on_worker,
    part_of,
)
from textkin.index.ranking._ranking import Ranked, Ranker
from textkin.index.ranking._view import Bag, View

__all__ = [
    "Asked",
    "Found",
    "MissingSegment",
    "NotHere",
    "Opened",
    "OpenedHere",
    "PieceView",
    "Rankers",
    "Search",
    "Seen",
    "opened",
]

_STATES = 4  # that a worker keeps open, whose tables share its memory


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
            ranker.view.asked.bag = self.bag
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
            ranker = here.ranker(block.number, memory, self.kept)
            queries = [one.made(ranker) for one in self.asked]  # words are in all segments
        except MissingSegment as missing:
            return Lost(block.number, missing.segment, str(missing))
        found = ranker.best_of_each(queries, self.limit, block.thresholds, block.mask())
        return Found(block.number, found)


class MissingSegment(Exception):
    """A segment's file cannot be used here."""

    def __init__(self, segment: int, why: str) -> None:
        super().__init__(why)
        self.segment = segment


# ---------------------------------------------------------------------- what a worker keeps

_states: "OrderedDict[str, Rankers]" = OrderedDict()
_guard = threading.Lock()


def opened(token: str, described: Described | None) -> "Rankers | None":
    """Return the state of a description, opened once; None if it is not here."""
    with _guard:
        found = _states.get(token)
        if found is None:
            if described is None:
                return None
            found = _states[token] = Rankers(Opened(described, _spaces(described)))
            while len(_states) > _STATES:
                _states.popitem(last=False)
        _states.move_to_end(token)
        return found


def _spaces(described: Described) -> dict[Any, object]:
    """Return the word vectors that another state of the same index has loaded."""
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


class Opened:
    """A state of an index, as far as this process has opened it.

    Parameters
    ----------
    described : Described
        The state.
    kept : dict
        What views of it share.
    """

    def __init__(self, described: Described, kept: dict[Any, object]) -> None:
        self.described = described
        self.kept = kept
        self._mutex = threading.RLock()
        self._segments: dict[int, Segment] = {}

    def parts(self, number: int) -> list[Part]:
        """Return the rows of a block."""
        return [self._part(piece) for piece in self.described.blocks[number]]

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
                folder, vectors = Path(self.described.folder), self.described.vectors
                if vectors.name == "own" and hash_of_vectors(folder) != vectors.sha256:
                    raise ValueError(
                        f"{folder} has other word vectors than when it was opened: another index "
                        "lies there now. Open it again with Index.open."
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


class OpenedHere(Opened):
    """A state in the process that has its catalogue, and so all of its parts.

    Parameters
    ----------
    described : Described
        The state.
    view : View
        The same state.
    """

    def __init__(self, described: Described, view: View) -> None:
        super().__init__(described, view.kept)
        self._view = view

    def _vectors(self) -> Any:  # noqa: ANN401
        return self._view.vectors()

    def _part(self, piece: Piece) -> Part:
        part = self._view.parts[piece.segment]
        return part_of(part.segment, part.live, piece)

    @property
    def packed_words(self) -> "list[tuple[int, _core.PackedWords]]":
        """The words of all segments and of the tail."""
        return self._view.snapshot.packed_words


class Rankers:
    """What searches the blocks of a state, the last few of them.

    Rankers know the state, and it does not know them: so what is no more wanted is let go at once,
    with its files and the read transaction of a catalogue.

    Parameters
    ----------
    opened : Opened
        The state.
    """

    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self._mutex = threading.Lock()
        self._rankers: OrderedDict[int, Ranker[Any]] = OrderedDict()

    def ranker(self, number: int, memory: int, kept: int = 1) -> Ranker[Any]:
        """Return what searches a block, made once.

        Parameters
        ----------
        number : int
            Which block.
        memory : int
            Bytes for the tables of all blocks that are kept, of all states.
        kept : int
            How many those of one state are.
        """
        with self._mutex:
            found = self._rankers.get(number)
            if found is None:
                parts = self.opened.parts(number)
                share = max(1, memory // (kept * _STATES))
                found = self._rankers[number] = self.opened.ranker_of(parts, share)
                while len(self._rankers) > kept:  # those of workers that died, or were busy
                    self._rankers.popitem(last=False)
            self._rankers.move_to_end(number)
            return found


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

    A query that is a document comes from elsewhere: its words are the ``bag`` of `asked`.
    """

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 (of View)
        super().__init__(*arguments)
        self.asked = threading.local()  # each thread has a query of its own
        self.let_go()  # its ranker keeps what it needs, and would be kept by it

    def bag_of_row(self, row: int) -> Bag:
        """Return the words of the document that is the query."""
        found: Bag = self.asked.bag
        return found
