"""Whether everything in the folder of an index is what it was when it was written."""

import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from textkin import _core
from textkin.exceptions import DamagedIndexError
from textkin.index._catalogue import (
    CATALOGUE,
    Catalogue,
    SegmentRecord,
    plain_errors,
    words_checksum,
)
from textkin.index._model_folders import load_steps
from textkin.index._model_records import check_vectors, stray_vectors
from textkin.index._records import digest_of
from textkin.index._segment import (
    Extent,
    Segment,
    SegmentDamage,
    merged,
    segment_from_catalogue,
)
from textkin.index._snapshot import SEGMENTS, Snapshot

__all__ = ["Findings", "check_snapshot"]

_MOST = 100  # problems that are told of one kind
_CHUNK = 512
_TYPES = (str, bytes, int, int, bytes, str, str, str)  # of a document's columns, from the id on


@dataclass
class Findings:
    """What a check has found.

    Attributes
    ----------
    lost : list of str
        Problems of the catalogue, which holds the truth.
    segments : list of SegmentRecord
        Segments that must be made again from the catalogue.
    derived : list of str
        What is wrong with them.
    models : list of str
        Problems of attached models and their vectors.
    """

    lost: list[str] = field(default_factory=list)
    segments: list[SegmentRecord] = field(default_factory=list)
    derived: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)


def check_snapshot(snapshot: Snapshot, tell: Callable[[int, int], object]) -> Findings:
    """Check everything but the word vectors.

    Parameters
    ----------
    snapshot : Snapshot
        What to check; writers are not kept from writing meanwhile.
    tell : callable
        Gets how many documents of how many are done.
    """
    found = Findings()
    with snapshot.catalogue() as catalogue:
        _check(snapshot, catalogue, found, tell)
    return found


def _check(
    snapshot: Snapshot,
    catalogue: Catalogue,
    found: Findings,
    tell: Callable[[int, int], object],
) -> None:
    try:
        with plain_errors(catalogue.path):
            found.lost += _unsound_pages(catalogue)
            if not found.lost:
                found.lost += _unsound_documents(catalogue, tell)
                found.lost += _unsound_tables(catalogue)
    except DamagedIndexError as error:
        found.lost += error.problems
    if found.lost:
        return  # nothing to compare the segments with
    for record, segment in snapshot.segments:
        problem = _segment_problem(catalogue, record, segment)
        if problem is not None:
            found.segments.append(record)
            found.derived.append(f"{SEGMENTS}/{record.file} {problem}")
    _check_models(snapshot, catalogue, found)


def _check_models(snapshot: Snapshot, catalogue: Catalogue, found: Findings) -> None:
    stray = stray_vectors(catalogue)
    if stray:
        found.models.append(f"{CATALOGUE}: {stray} vectors belong to no model")
    for model in snapshot.models.values():
        try:
            check_vectors(catalogue, model)
            load_steps(snapshot.folder, model)
        except DamagedIndexError as error:
            found.models += error.problems


def _unsound_pages(catalogue: Catalogue) -> list[str]:
    rows = catalogue.execute(f"PRAGMA integrity_check({_MOST})").fetchall()
    return [f"{CATALOGUE}: {told}" for (told,) in rows if told != "ok"]


def _unsound_documents(catalogue: Catalogue, tell: Callable[[int, int], object]) -> list[str]:
    state = catalogue.state()
    problems: list[str] = []
    documents = tokens = 0
    for rows in _chunks(catalogue):
        blobs = []
        for position, id, digest, length, checksum, counts, label, metadata, text in rows:
            problem = None
            types = tuple(map(type, (id, digest, length, checksum, counts, label, metadata, text)))
            if types != _TYPES:
                problem = "has columns of wrong types"
            elif not 0 <= position < state.next_position:
                problem = f"has the position {position}"
            elif digest_of(id, label, metadata, text) != digest:
                problem = "is not what it was when it was added"
            elif zlib.crc32(counts) != checksum:
                problem = "has counts that are not what they were"
            elif not _is_json(label) or not _is_json(metadata):
                problem = "has metadata that are not JSON"
            if problem is not None and len(problems) < _MOST:
                problems.append(f"{CATALOGUE}: the document {id!r} {problem}")
            blobs.append(counts)
            documents += 1
            tokens += length if type(length) is int else 0
        problems += _unsound_counts(blobs, rows, state.words)
        tell(documents, state.documents)
    if documents != state.documents or tokens != state.tokens:
        problems.append(
            f"{CATALOGUE}: there are {documents} documents of {tokens} words, and it says "
            f"{state.documents} of {state.tokens}"
        )
    return problems


def _unsound_counts(blobs: list[bytes], rows: Sequence[tuple[Any, ...]], n_words: int) -> list[str]:
    try:
        *_, lengths = _core.unpack_counts(blobs, n_words)
    except (TypeError, ValueError) as error:
        return [f"{CATALOGUE}: counts of a document cannot be read ({error})"]
    wrong = np.flatnonzero(lengths != np.array([row[3] for row in rows], np.object_))
    return [f"{CATALOGUE}: the document {rows[i][1]!r} has another length" for i in wrong[:_MOST]]


def _unsound_tables(catalogue: Catalogue) -> list[str]:
    catalogue.check_numbers()
    state = catalogue.state()
    problems = []
    words = catalogue.words(0, state.words)
    if words_checksum(words, 0) != state.words_checksum:
        problems.append(f"{CATALOGUE}: the table 'words' is not what it was")
    for position in catalogue.deleted(-1, state.next_position + 1):
        there = catalogue.execute("SELECT 1 FROM documents WHERE position = ?", (position,))
        if position >= state.tail_position or there.fetchone() is not None:
            problems.append(f"{CATALOGUE}: position {position} is no deleted one")
    return problems[:_MOST]


def _segment_problem(
    catalogue: Catalogue, record: SegmentRecord, segment: Segment | str
) -> str | None:
    """Say what is wrong with a segment, None if nothing is."""
    if isinstance(segment, str):
        return segment
    try:
        if segment.sha256() != record.sha256:
            return "is not what it was when it was written (its hash differs)"
        live = segment.live_rows(catalogue.deleted(record.first_position, record.end_position))
        again = merged([(segment, live)])
        if live.all() and not _same(segment, again):
            return "has postings that do not agree with its counts"
        if not _same(again, segment_from_catalogue(catalogue, Extent.of(record))):
            return "does not agree with the catalogue"
    except SegmentDamage as damage:
        return str(damage)
    return None


def _same(a: Segment, b: Segment) -> bool:
    return all(np.array_equal(a.arrays[name], b.arrays[name]) for name in a.arrays)


def _chunks(catalogue: Catalogue) -> Iterator[list[tuple[Any, ...]]]:
    cursor = catalogue.execute("SELECT * FROM documents ORDER BY position")
    while rows := cursor.fetchmany(_CHUNK):
        yield rows


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
