"""Verification of all files of an index, and repair of corrupt segments."""

import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from textkin import _core
from textkin.exceptions import DamagedIndexError
from textkin.index.store._catalog import (
    CATALOG,
    Catalog,
    SegmentRecord,
    translate_errors,
    words_checksum,
)
from textkin.index.store._model_folders import load_steps
from textkin.index.store._schema import digest_of, fields_of
from textkin.index.store._segment import (
    Extent,
    Segment,
    SegmentDamage,
    merge_segments,
    segment_from_catalog,
)
from textkin.index.store._session import Session
from textkin.index.store._settings import VectorSet
from textkin.index.store._snapshot import SEGMENTS, Snapshot, open_snapshot
from textkin.index.store._term_map import term_map_problems
from textkin.index.store._text_fields import TextFields, load_text_fields
from textkin.index.store._vector_store import check_vectors, stray_vectors
from textkin.run import ProgressCallback

__all__ = ["verify"]

_MOST = 100  # maximum number of problems listed per kind
_CHUNK = 512
_SHOWN = 3  # number of problems in a message
_TYPES = (
    str,
    bytes,
    int,
    int,
    bytes,
    str,
    str,
    str,
    str,
)  # types of a document's columns, from `id` on


@dataclass
class _Findings:
    """Problems that a verification found: messages, and repairable segments.

    Attributes
    ----------
    lost : list of str
        Problems of the catalog, which cannot be repaired.
    segments : list of SegmentRecord
        Segments to rebuild from the catalog.
    derived : list of str
        Problems of these segments.
    models : list of str
        Problems of attached models and their vectors.
    """

    lost: list[str] = field(default_factory=list)
    segments: list[SegmentRecord] = field(default_factory=list)
    derived: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)


def verify(session: Session, *, repair: bool, progress: ProgressCallback | None) -> None:
    """Verify all files of an index; raise `DamagedIndexError` for problems left."""
    session.check_usable()
    snapshot = open_snapshot(session.path)  # the newest; not shared with readers of the session
    found = _check_snapshot(snapshot, progress or (lambda _done, _total: None))
    lost = found.lost + _vector_problems(session)
    snapshot.close()
    if repair and not found.lost:
        with session.writing() as writer:
            writer.repair(found.segments)
        found.derived.clear()
    problems = [*lost, *found.models, *found.derived]
    if problems:
        shown = "; ".join(problems[:_SHOWN])
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        hint = (
            "The corrupt files cannot be rebuilt: restore them from a backup."
            if lost
            else "The documents are intact: detach the model, and attach it again."
            if found.models
            else "No data is lost: `verify(repair=True)` rebuilds the segments."
        )
        raise DamagedIndexError(f"{session.path} is corrupt: {shown}{more}.", problems, hint=hint)


def _vector_problems(session: Session) -> list[str]:
    try:
        session.vector_set.load(session.path)
    except ValueError as error:
        return [f"{VectorSet.FOLDER}: {error}"]
    return []


def _check_snapshot(snapshot: Snapshot, tell: Callable[[int, int], object]) -> _Findings:
    """Verify catalog, segments, and models of a snapshot; return the problems.

    Parameters
    ----------
    snapshot : Snapshot
        Snapshot to check; writers can write concurrently.
    tell : callable
        Function that is called with (documents done, number of documents).
    """
    found = _Findings()
    with snapshot.catalog() as catalog:
        _check(snapshot, catalog, found, tell)
    return found


def _check(
    snapshot: Snapshot,
    catalog: Catalog,
    found: _Findings,
    tell: Callable[[int, int], object],
) -> None:
    try:
        with translate_errors(catalog.path):
            found.lost += _damaged_pages(catalog)
            if not found.lost:
                found.lost += _damaged_documents(catalog, tell)
                found.lost += _damaged_tables(catalog)
    except DamagedIndexError as error:
        found.lost += error.problems
    if found.lost:
        return  # a corrupt catalog cannot be compared with the segments
    for record, segment in snapshot.segments:
        problem = _segment_problem(catalog, record, segment)
        if problem is not None:
            found.segments.append(record)
            found.derived.append(f"{SEGMENTS}/{record.file} {problem}")
    _check_models(snapshot, catalog, found)


def _check_models(snapshot: Snapshot, catalog: Catalog, found: _Findings) -> None:
    stray = stray_vectors(catalog)
    if stray:
        found.models.append(f"{CATALOG}: {stray} vectors belong to no model")
    for model in snapshot.models.values():
        try:
            check_vectors(catalog, snapshot.vector_files.get(model.number, []), model)
            load_steps(snapshot.folder, model)
        except DamagedIndexError as error:
            found.models += error.problems


def _damaged_pages(catalog: Catalog) -> list[str]:
    rows = catalog.execute(f"PRAGMA integrity_check({_MOST})").fetchall()
    return [f"{CATALOG}: {told}" for (told,) in rows if told != "ok"]


def _damaged_documents(catalog: Catalog, tell: Callable[[int, int], object]) -> list[str]:
    state = catalog.state()
    text_fields = load_text_fields(catalog)
    problems: list[str] = []
    documents = tokens = 0
    for rows in _chunks(catalog):
        blobs = []
        for row in rows:
            position, id, digest, length, checksum, counts, label, metadata, text, lengths = row
            problem = None
            if tuple(map(type, row[1:])) != _TYPES:
                problem = "has columns of wrong types"
            elif not 0 <= position < state.next_position:
                problem = f"has the position {position}"
            elif digest_of(id, label, metadata, text, lengths) != digest:
                problem = "has changed since it was added (its digest differs)"
            elif zlib.crc32(counts) != checksum:
                problem = "has counts that changed since it was added (their checksum differs)"
            elif not _is_json(label) or not _is_json(metadata):
                problem = "has metadata that are not JSON"
            elif not _are_fields(text, lengths, text_fields):
                problem = "has text fields that do not belong to its text"
            if problem is not None and len(problems) < _MOST:
                problems.append(f"{CATALOG}: the document {id!r} {problem}")
            blobs.append(counts)
            documents += 1
            tokens += length if type(length) is int else 0
        problems += _damaged_counts(blobs, rows, state.words)
        tell(documents, state.documents)
    if documents != state.documents or tokens != state.tokens:
        problems.append(
            f"{CATALOG}: there are {documents} documents with {tokens} words, but its table "
            f"'state' has {state.documents} with {state.tokens}"
        )
    return problems


def _damaged_counts(blobs: list[bytes], rows: Sequence[tuple[Any, ...]], n_words: int) -> list[str]:
    try:
        *_, lengths = _core.unpack_counts(blobs, n_words)
    except (TypeError, ValueError) as error:
        return [f"{CATALOG}: counts of a document cannot be read ({error})"]
    wrong = np.flatnonzero(lengths != np.array([row[3] for row in rows], np.object_))
    return [f"{CATALOG}: the document {rows[i][1]!r} has a wrong length" for i in wrong[:_MOST]]


def _damaged_tables(catalog: Catalog) -> list[str]:
    catalog.check_numbers()
    state = catalog.state()
    problems = []
    words = catalog.words(0, state.words)
    if words_checksum(words, 0) != state.words_checksum:
        problems.append(f"{CATALOG}: the table 'words' has changed (its checksum differs)")
    problems += term_map_problems(catalog, state.words)
    for position in catalog.deleted(-1, state.next_position + 1):
        there = catalog.execute("SELECT 1 FROM documents WHERE position = ?", (position,))
        if position >= state.tail_position or there.fetchone() is not None:
            problems.append(f"{CATALOG}: position {position} is not a deleted document")
    return problems[:_MOST]


def _segment_problem(catalog: Catalog, record: SegmentRecord, segment: Segment | str) -> str | None:
    """Compare a segment with the catalog; return the problem, or None."""
    if isinstance(segment, str):
        return segment
    try:
        if segment.sha256() != record.sha256:
            return "has changed since it was written (its hash differs)"
        live = segment.live_rows(catalog.deleted(record.first_position, record.end_position))
        again = merge_segments([(segment, live)])
        if live.all() and not _same(segment, again):
            return "has postings that disagree with its counts"
        if not _same(again, segment_from_catalog(catalog, Extent.of(record))):
            return "disagrees with the catalog"
    except SegmentDamage as damage:
        return str(damage)
    return None


def _same(a: Segment, b: Segment) -> bool:
    return all(np.array_equal(a.arrays[name], b.arrays[name]) for name in a.arrays)


def _chunks(catalog: Catalog) -> Iterator[list[tuple[Any, ...]]]:
    cursor = catalog.execute("SELECT * FROM documents ORDER BY position")
    while rows := cursor.fetchmany(_CHUNK):
        yield rows


def _are_fields(text: str, lengths: str, text_fields: TextFields | None) -> bool:
    try:
        fields_of(text, lengths, text_fields)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
