"""Maintenance of segments: writing new documents to a segment, and merging segments."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from textkin.index.store._catalog import Catalog, SegmentRecord, damage_error
from textkin.index.store._segment import (
    Extent,
    Segment,
    SegmentDamage,
    map_segment,
    merge_segments,
    segment_from_catalog,
)

__all__ = ["LARGEST", "Segments", "run_to_merge"]

LARGEST = 1 << 24  # maximum number of entries per segment; a file of some 300 MB
_SMALLEST = 1 << 17
_GROWTH = 8
_TOGETHER = 8  # number of segments of the smallest size class that are merged, at any size
_PIECE = 32 << 20  # size of packed counts per new segment, in bytes: about LARGEST entries
_DEAD_SHARE = 0.3
_DEAD_ROWS = 256


def run_to_merge(entries: Sequence[int]) -> slice | None:
    """Return the range of adjacent segments that should be merged, or None.

    Segments fall into size classes, which are powers of eight. When the last segments below such a
    size reach it together, they are merged. A document is copied once per size class, and never
    again once its segment is large. The cost of one merge is bounded by the largest size.

    Parameters
    ----------
    entries : sequence of int
        Number of entries of each segment, in order.

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
    """Segment files of an index: written, merged, and removed under the writer lock.

    Attributes
    ----------
    folder : Path
        Folder of the index.
    catalog : Catalog
        Catalog of the writer.
    """

    folder: Path
    catalog: Catalog

    def add_tail(self) -> None:
        """Write documents that are not in a segment file yet to one or more new segments."""
        while True:
            state = self.catalog.state()
            end = self._piece_end(state.tail_position)
            extent = Extent(state.tail_position, end, state.tail_word, state.words)
            if extent.first_position == end and extent.first_word == extent.end_word:
                return
            self._replace([], segment_from_catalog(self.catalog, extent))

    def _piece_end(self, first: int) -> int:
        """Return the end position of the documents from `first` that form one segment."""
        size = 0
        for position, length in self.catalog.execute(
            "SELECT position, length(counts) FROM documents WHERE position >= ? ORDER BY position",
            (first,),
        ):
            size += length
            if size >= _PIECE:
                return int(position) + 1
        return self.catalog.state().next_position

    def merge_small(self) -> None:
        """Merge small segments, and rewrite segments with many deleted documents."""
        while True:
            records = self.catalog.segments()
            run = run_to_merge([record.entries for record in records])
            if run is None:
                break
            self._merge(records[run])
        for record in self.catalog.segments():
            dead = self.catalog.count_deleted(record.first_position, record.end_position)
            if dead >= max(_DEAD_ROWS, _DEAD_SHARE * record.rows):
                self._merge([record])

    def compact(self) -> None:
        """Merge all segments (up to the size limit), without deleted documents."""
        self.add_tail()
        group: list[SegmentRecord] = []
        groups = [group]
        for record in self.catalog.segments():
            if group and sum(other.entries for other in group) + record.entries > LARGEST:
                group = []
                groups.append(group)
            group.append(record)
        for group in groups:
            dead = any(
                self.catalog.count_deleted(record.first_position, record.end_position)
                for record in group
            )
            if len(group) > 1 or dead:
                self._merge(group)
        self.sweep()

    def repair(self, records: Sequence[SegmentRecord]) -> None:
        """Rebuild the segment files with the given records from the catalog."""
        for record in records:
            self._replace([record], segment_from_catalog(self.catalog, Extent.of(record)))

    def sweep(self) -> list[str]:
        """Remove segment files that the catalog does not list; return their names."""
        place = self._place()
        named = {record.file for record in self.catalog.segments()}
        removed = []
        for name in sorted(os.listdir(place)):
            if name not in named:
                with suppress(OSError):
                    (place / name).unlink()
                    removed.append(name)
        return removed

    def _merge(self, records: Sequence[SegmentRecord]) -> None:
        parts = [self._is_intact(record) for record in records]
        masks = [
            part.live_rows(self.catalog.deleted(record.first_position, record.end_position))
            for part, record in zip(parts, records, strict=True)
        ]
        try:
            merged = merge_segments(list(zip(parts, masks, strict=True)))
        except SegmentDamage as damage:  # each part is intact, so the catalog is corrupt
            raise damage_error(
                self.catalog.path, f"its words and counts disagree ({damage})"
            ) from damage
        self._replace(records, merged)

    def _is_intact(self, record: SegmentRecord) -> Segment:
        """Return a segment from its file, or from the catalog if the file is corrupt."""
        path = self.folder / "segments" / record.file
        with suppress(SegmentDamage, OSError):
            segment = map_segment(path, record)
            if segment.sha256() == record.sha256:
                return segment
        return segment_from_catalog(self.catalog, Extent.of(record))

    def _place(self) -> Path:
        """Return the folder of the segments, created if needed."""
        place = self.folder / "segments"
        # A link is removed, and never the files that it leads to: an attacker may have put it here.
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            place.unlink()
        place.mkdir(exist_ok=True)
        return place

    def _replace(self, old: Sequence[SegmentRecord], segment: Segment) -> None:
        """Write a segment, record it in place of old ones, and remove their files."""
        state = self.catalog.state()
        number = state.next_segment
        place = self._place()
        record = SegmentRecord(number, *segment.extent, segment.rows, segment.entries, 0, "")
        path = place / record.file
        written = segment.write(path)
        record = replace(record, bytes=written.size, sha256=written.sha256)
        try:
            with self.catalog.transaction():
                state = replace(state, number=state.number + 1, next_segment=number + 1)
                if not old:
                    state = replace(
                        state,
                        tail_position=segment.extent.end_position,
                        tail_word=segment.extent.end_word,
                        tail_bytes=0,
                    )
                self.catalog.executemany(
                    "DELETE FROM segments WHERE number = ?", [(other.number,) for other in old]
                )
                self.catalog.execute(
                    "DELETE FROM deleted WHERE position >= ? AND position < ?",
                    (segment.extent.first_position, segment.extent.end_position),
                )
                self.catalog.add_segment(record)
                self.catalog.set_state(state)
        except BaseException:
            # If the commit succeeded before KeyboardInterrupt, the file stays.
            with suppress(Exception):
                self.sweep()
            raise
        for other in old:
            with suppress(OSError):
                (place / other.file).unlink()
