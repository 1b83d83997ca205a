"""Joins written to Parquet files: nearest documents of queries, and near pairs."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import count, islice
from typing import Any

import numpy as np

from textkin._base import BoolArray, Int64Array, integer, one_of, real
from textkin.exceptions import ParameterError
from textkin.index.distributed._cluster_ranking import ClusterRanking
from textkin.index.distributed._near_pairs import NearPairs
from textkin.index.distributed._part_files import Parts, PartsWriter
from textkin.index.distributed._snapshot_description import without_limits
from textkin.index.search import (
    CombinedRanking,
    Filter,
    IndexState,
    Ranking,
    RankingLike,
    ScoredRows,
    Scorer,
    Searcher,
    TransportRanking,
    combination_settings,
    ranking_of,
    weights_key,
)
from textkin.index.store import TextFields, documents_in, items_to_add
from textkin.reading import Fields, Items
from textkin.run import Executor, ProgressCallback, map_blocks, memory_in_bytes

__all__ = ["join", "near_pairs"]

_IDS = 1 << 16  # IDs fetched at a time
_HYBRIDS = "textkin.index.ranking._hybrids"  # module name in manifests of earlier versions
_AT_A_TIME = 2  # parts searched concurrently, so that workers stay busy at the end of a part


def join(
    searcher: Searcher,
    queries: Iterable[object],
    folder: str | os.PathLike[str],
    k: int,
    *,
    ranking: RankingLike,
    where: Filter | None,
    threshold: float | None,
    executor: Executor,
    n_jobs: int | None,
    memory: str | int,
    part: int,
    progress: ProgressCallback | None,
) -> Parts:
    """Write the `k` best documents of each query to Parquet files; see `Index.join`."""
    integer(1).check("k", k)
    integer(1).check("part", part)
    (one_of(None) | real()).check("threshold", threshold)
    items = items_to_add(queries)
    state = searcher.state
    chosen = ranking_of(ranking, state.snapshot.models)
    if executor is not None or n_jobs is not None:
        chosen = ClusterRanking(chosen, executor, n_jobs=n_jobs, memory=memory)
    spread = isinstance(chosen, ClusterRanking)
    rows = searcher.passed(where).rows
    asked = {
        "kind": "neighbours",
        "index": _state(state),
        "k": int(k),
        "by": _described(chosen),
        "where": None if where is None else repr(where),
        "threshold": threshold,
        "part": int(part),
    }
    writer = PartsWriter(folder, asked)
    scorer = searcher.scorer(chosen) if state.average_length else None
    search = partial(_found_of, scorer, min(int(k), state.n_rows), threshold, rows)
    done = 0
    total = items.total() or 0
    chunks = _left(_chunks(_texts(items, state.snapshot.text_fields), int(part)), writer)
    for number, ids, ranked, digest in map_blocks(
        search, chunks, n_jobs=_AT_A_TIME if spread else 1
    ):
        if ranked is not None:
            writer.write(number, _columns(state, ids, ranked), digest)
        done += len(ids)
        if progress is not None:
            progress(done, total)
    return writer.parts()


def near_pairs(
    searcher: Searcher,
    threshold: float,
    folder: str | os.PathLike[str],
    *,
    ranking: RankingLike,
    executor: Executor,
    n_jobs: int | None,
    memory: str | int,
    progress: ProgressCallback | None,
) -> Parts:
    """Write all pairs of documents within a distance to Parquet; see `Index.near_pairs`."""
    real(0).check("threshold", threshold)
    state = searcher.state
    chosen = ranking_of(ranking, state.snapshot.models)
    if not isinstance(chosen, TransportRanking):
        raise ParameterError(
            "ranking",
            "a distance: 'wmd', 'rwmd', 'wcd', a WordMover or a TransportRanking",
            repr(ranking),
        )
    pairs = NearPairs(
        state,
        chosen,
        float(threshold),
        executor=executor,
        n_jobs=n_jobs,
        memory=memory_in_bytes(memory),
    )
    asked = {
        "kind": "pairs",
        "index": _state(state),
        "threshold": float(threshold),
        "by": _described(chosen),
    }
    writer = PartsWriter(folder, asked)
    left = [number for number in range(len(pairs)) if not writer.has(number)]
    for number, found in pairs.parts(left, progress):
        writer.write(
            number,
            {
                "first": ("string", _ids(state, found.first)),
                "second": ("string", _ids(state, found.second)),
                "distance": ("double", [found.distances]),
            },
        )
    return writer.parts()


_Chunk = tuple[int, list[str], list[str], bytes, bool]


def _state(state: IndexState) -> list[object]:
    """Return values that identify the snapshot, to resume only the same join.

    Every change of an index changes its number. A new index in the same folder may have the same
    number, so its contents are hashed too.
    """
    numbers = state.snapshot.state
    digest = hashlib.sha256(
        repr([one.written() for one in state.snapshot.models.values()]).encode()
    )
    with state.snapshot.catalog() as catalog:
        for wanted in ("name, value FROM settings", "position, digest FROM documents"):
            for row in catalog.execute(f"SELECT {wanted} ORDER BY 1"):
                digest.update(repr(row).encode())
    return [numbers.number, numbers.documents, digest.hexdigest()]


def _described(ranking: Ranking) -> str:
    """Return a text of all ranking settings that affect results, to resume only the same join.

    The format is the format of earlier versions, so that their joins can be resumed.
    """
    if isinstance(ranking, ClusterRanking):
        ranking = ranking.ranking
    if isinstance(ranking, CombinedRanking) and ranking.parts:
        rest = [*combination_settings(ranking)]
        parts = ", ".join(map(_described, ranking.parts))
        return f"<class '{_HYBRIDS}.{type(ranking).__name__}'>({parts}, {rest})"
    if not isinstance(ranking, TransportRanking):
        return repr(ranking)
    shown = repr(without_limits(ranking)).replace(", word_weights=", ", masses=")
    return f"{shown}, masses {weights_key(ranking.word_weights)}"


def _texts(queries: Items, text_fields: TextFields | None) -> Iterator[tuple[str, str]]:
    """Yield the ID and text of each query; errors name the position of the query."""
    fields = Fields(None if text_fields is None else text_fields.names)
    found = documents_in(queries, 0, with_ids=False, fields=fields)
    for number in count():
        try:
            one = next(found, None)
        except (TypeError, ValueError) as error:
            error.add_note(f"Position of the query, from 0: {number:,}.")
            raise
        if one is None:
            return
        yield one.id, one.text


def _chunks(texts: Iterator[tuple[str, str]], size: int) -> Iterator[_Chunk]:
    number = 0
    while some := list(islice(texts, size)):
        digest = hashlib.sha256()
        for one in some:
            digest.update(f"{len(one[0])} {len(one[1])} {one[0]}{one[1]}".encode())
        yield number, [id for id, _ in some], [text for _, text in some], digest.digest(), False
        number += 1


def _left(chunks: Iterator[_Chunk], writer: PartsWriter) -> Iterator[_Chunk]:
    """Yield chunks of queries, each with True if its result is already on disk."""
    for number, ids, texts, digest, _ in chunks:
        yield number, ids, texts, digest, writer.has(number, digest)


def _found_of(
    scorer: Scorer[Any] | None,
    k: int,
    threshold: float | None,
    rows: BoolArray | None,
    chunk: _Chunk,
) -> tuple[int, list[str], list[ScoredRows] | None, bytes]:
    """Search for the queries of a chunk, unless its result is already on disk."""
    number, ids, texts, digest, done = chunk
    if done:
        return number, ids, None, digest
    if scorer is None:  # no document has words
        return number, ids, [], digest
    made = [scorer.of_text(text) for text in texts]
    found = scorer.best_of_each(made, k, [threshold] * len(made), rows)
    return number, ids, found, digest


def _columns(
    state: IndexState, ids: list[str], ranked: list[ScoredRows]
) -> dict[str, tuple[str, Iterable[Any]]]:
    """Return the columns of a Parquet file: query ID, rank, document ID, and score."""
    each = list(zip(ids, ranked, strict=bool(ranked)))
    return {
        "query": ("string", ([id] * len(found.rows) for id, found in each)),
        "rank": ("int32", (np.arange(len(found.rows)) for _, found in each)),
        "id": ("string", (state.ids(found.rows) for _, found in each)),
        "score": ("double", (found.scores for _, found in each)),
    }


def _ids(state: IndexState, rows: Int64Array) -> Iterator[list[str]]:
    """Yield the document IDs of rows in blocks, to limit memory."""
    for start in range(0, len(rows), _IDS):
        yield state.ids(rows[start : start + _IDS])
