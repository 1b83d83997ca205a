"""Which segments there are: made of what was added, merged when small ones pile up."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from textkin.index._catalogue import Catalogue, SegmentRecord
from textkin.index._segment import (
    Extent,
    Segment,
    SegmentDamage,
    map_segment,
    merged,
    segment_from_catalogue,
)

__all__ = ["LARGEST", "Segments", "run_to_merge"]

LARGEST = 1 << 24  # entries; a file of some 300 MB
_SMALLEST = 1 << 17
_GROWTH = 8
_TOGETHER = 8  # of the smallest that are merged, however small they are
_PIECE = 32 << 20  # bytes of packed counts that become a segment at once: about LARGEST
_DEAD_SHARE = 0.3
_DEAD_ROWS = 256


def run_to_merge(entries: Sequence[int]) -> slice | None:
    """Return which segments to merge now, None if none.

    Sizes are told apart by powers of eight. As soon as the last segments that are below such a
    size reach it together, they are merged: a document is copied once for each power, and never
    again once its segment is large. The cost of one merge is bounded by the largest size.

    Parameters
    ----------
    entries : sequence of int
        The sizes of all segments, in order.

    Examples
    --------
    >>> run_to_merge([10] * 7), run_to_merge([10] * 8)
    (None, slice(0, 8, None))
    >>> run_to_merge([LARGEST, *[10] * 8])
    slice(1, 9, None)
    >>> run_to_merge([LARGEST // 16] * 7), run_to_merge([LARGEST // 16] * 8)
    (None, slice(0, 8, None))
    """
    size = _SMALLEST
    while size < LARGEST:
        start, together = len(entries), 0
        while start > 0 and entries[start - 1] < size:
            start -= 1
            together += entries[start]
        count = len(entries) - start
        if count > 1 and (together >= size or (size == _SMALLEST and count >= _TOGETHER)):
            return slice(start, len(entries))
        size *= _GROWTH
    return None


@dataclass
class Segments:
    """Writes and merges the segments of an index; the caller has the writer's lock.

    Attributes
    ----------
    folder : Path
        The index.
    catalogue : Catalogue
        The writer's.
    """

    folder: Path
    catalogue: Catalogue

    def add_tail(self) -> None:
        """Make segments of the documents that are in none; one, unless they are very many."""
        while True:
            state = self.catalogue.state()
            end = self._piece_end(state.tail_position)
            extent = Extent(state.tail_position, end, state.tail_word, state.words)
            if extent.first_position == end and extent.first_word == extent.end_word:
                return
            self._replace([], segment_from_catalogue(self.catalogue, extent))

    def _piece_end(self, first: int) -> int:
        """Return the end of the documents from `first` on that make a segment of a good size."""
        size = 0
        for position, length in self.catalogue.execute(
            "SELECT position, length(counts) FROM documents WHERE position >= ? ORDER BY position",
            (first,),
        ):
            size += length
            if size >= _PIECE:
                return int(position) + 1
        return self.catalogue.state().next_position

    def merge_small(self) -> None:
        """Merge segments where it is time to."""
        while True:
            records = self.catalogue.segments()
            run = run_to_merge([record.entries for record in records])
            if run is None:
                break
            self._merge(records[run])
        for record in self.catalogue.segments():
            dead = self.catalogue.count_deleted(record.first_position, record.end_position)
            if dead >= max(_DEAD_ROWS, _DEAD_SHARE * record.rows):
                self._merge([record])

    def compact(self) -> None:
        """Merge everything into segments of the largest size, without what was deleted."""
        self.add_tail()
        group: list[SegmentRecord] = []
        groups = [group]
        for record in self.catalogue.segments():
            if group and sum(other.entries for other in group) + record.entries > LARGEST:
                group = []
                groups.append(group)
            group.append(record)
        for group in groups:
            dead = any(
                self.catalogue.count_deleted(record.first_position, record.end_position)
                for record in group
            )
            if len(group) > 1 or dead:
                self._merge(group)
        self.sweep()

    def repair(self, records: Sequence[SegmentRecord]) -> None:
        """Make segments again from the catalogue."""
        for record in records:
            self._replace([record], segment_from_catalogue(self.catalogue, Extent.of(record)))

    def sweep(self) -> list[str]:
        """Remove files that no catalogue names: what a crash, or a reader, has left."""
        place = self._place()
        named = {record.file for record in self.catalogue.segments()}
        removed = []
        for name in sorted(os.listdir(place)):
            if name not in named:
                with suppress(OSError):
                    (place / name).unlink()
                    removed.append(name)
        return removed

    def _merge(self, records: Sequence[SegmentRecord]) -> None:
        parts = [self._sound(record) for record in records]
        masks = [
            part.live_rows(self.catalogue.deleted(record.first_position, record.end_position))
            for part, record in zip(parts, records, strict=True)
        ]
        self._replace(records, merged(list(zip(parts, masks, strict=True))))

    def _sound(self, record: SegmentRecord) -> Segment:
        """Return a segment, from the catalogue if its file is not what it was."""
        path = self.folder / "segments" / record.file
        with suppress(SegmentDamage, OSError):
            segment = map_segment(path, record)
            if segment.sha256() == record.sha256:
                return segment
        return segment_from_catalogue(self.catalogue, Extent.of(record))

    def _place(self) -> Path:
        """Return the folder of the segments; it is made again if it is gone, or leads elsewhere."""
        place = self.folder / "segments"
        if place.is_symlink():  # of a stranger: whatever lies there is not ours to remove
            place.unlink()
        place.mkdir(exist_ok=True)
        return place

    def _replace(self, old: Sequence[SegmentRecord], segment: Segment) -> None:
        """Write a segment, name it instead of others, and remove their files."""
        state = self.catalogue.state()
        number = state.next_segment
        place = self._place()
        record = SegmentRecord(number, *segment.extent, segment.rows, segment.entries, 0, "")
        path = place / record.file
        written = segment.write(path)
        record = replace(record, bytes=written.size, sha256=written.sha256)
        try:
            with self.catalogue.transaction():
                state = replace(state, number=state.number + 1, next_segment=number + 1)
                if not old:
                    state = replace(
                        state,
                        tail_position=segment.extent.end_position,
                        tail_word=segment.extent.end_word,
                        tail_bytes=0,
                    )
                self.catalogue.executemany(
                    "DELETE FROM segments WHERE number = ?", [(other.number,) for other in old]
                )
                self.catalogue.execute(
                    "DELETE FROM deleted WHERE position >= ? AND position < ?",
                    (segment.extent.first_position, segment.extent.end_position),
                )
                self.catalogue.add_segment(record)
                self.catalogue.set_state(state)
        except BaseException:
            # Ctrl-C may come when the catalogue names it already; then it stays.
            with suppress(Exception):
                self.sweep()
            raise
        for other in old:
            with suppress(OSError):
                (place / other.file).unlink()
