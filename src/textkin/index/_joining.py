"""Many answers at once, streamed to Parquet: neighbours of many queries, and all near pairs."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import count, islice
from typing import Any

import numpy as np

from textkin._typing import Int64Array
from textkin._validation import integer, one_of, real
from textkin.index._part_files import Parts, PartsWriter
from textkin.index._records import documents_in, items_to_add
from textkin.index._searching import SearchableIndex, _scope
from textkin.index.ranking._asking import Scope
from textkin.index.ranking._choosing import By, ranking_of
from textkin.index.ranking._cluster import ClusterRanking
from textkin.index.ranking._filters import Where
from textkin.index.ranking._hybrids import Hybrid
from textkin.index.ranking._pairs import NearPairs
from textkin.index.ranking._pieces import on_worker
from textkin.index.ranking._ranking import Ranked, Ranker, Ranking
from textkin.index.ranking._transport import TransportRanking
from textkin.index.ranking._view import View
from textkin.run import Place, ProgressCallback, map_blocks, memory_in_bytes
from textkin.text.reading._items import Items

__all__ = ["JoiningIndex"]

_IDS = 1 << 16  # that are fetched at a time
_AT_A_TIME = 2  # parts that are searched side by side: while the last blocks of one end


class JoiningIndex(SearchableIndex):
    """An index whose documents are joined with others, or with each other."""

    def join(
        self,
        queries: Iterable[object],
        folder: str | os.PathLike[str],
        k: int = 10,
        *,
        by: By = "wmd",
        where: Where | None = None,
        threshold: float | None = None,
        on: Place = None,
        n_jobs: int | None = None,
        memory: str | int = "512MB",
        part: int = 256,
        progress: ProgressCallback | None = None,
    ) -> Parts:
        """Find the nearest documents of many queries, and write them to Parquet files.

        Parameters
        ----------
        queries : iterable of Document, mapping or str
            What `textkin.read` returns, or anything that `add` takes: read as it is needed.
        folder : path
            A new folder, or one that a call with the same arguments has begun: then it goes on
            behind the parts that are there.
        k, by, where, threshold
            As for `search`.
        on : {"threads", "joblib"}, distributed.Client or str, default=None
            Where the index is searched, see `ClusterRanking`; None: here.
        n_jobs : int, default=None
            Threads or processes, where `on` is not a cluster.
        memory : str or int, default="512MB"
            What each worker may use.
        part : int, default=256
            Queries that are searched for together, and make a file.
        progress : callable, default=None
            Gets (queries done, all of them or 0 where that is unknown) after each part.

        Returns
        -------
        Parts
            With the columns ``query`` (its id; a text has its position), ``rank`` (from 0),
            ``id`` and ``score``: the rows of a query together, the best first, queries in their
            order. A query that finds nothing has no rows.

        Raises
        ------
        ValueError
            If the folder was begun with other arguments, other queries, or another state of the
            index, or one of its parts is damaged.
        FileExistsError
            If the folder holds anything else.

        Notes
        -----
        A part is there whole or not at all. Found is what `search` finds, to the last bit. All of
        it is found in one state of the index; a call that goes on must see the same one.

        Examples
        --------
        >>> import tempfile
        >>> import textkin as tk
        >>> from pyarrow import parquet
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with tk.Index.create(f"{folder}/animals.kin") as index:
        ...         _ = index.add(["Dogs bark at night", "The band played loud", "Cats purr"])
        ...         parts = index.join(["A kitten sleeps", "Music"], f"{folder}/found", k=1)
        ...         parquet.read_table(parts.folder).select(["query", "id"]).to_pylist()
        [{'query': '0', 'id': '2'}, {'query': '1', 'id': '1'}]
        """
        integer(1).check("k", k)
        integer(1).check("part", part)
        (one_of(None) | real()).check("threshold", threshold)
        items = items_to_add(queries)
        view = self._view()
        ranking = ranking_of(by, view.snapshot.models)
        if on is not None or n_jobs is not None:
            ranking = ClusterRanking(ranking, on, n_jobs=n_jobs, memory=memory)
        spread = isinstance(ranking, ClusterRanking)
        scope = _scope(view, where)
        asked = {
            "kind": "neighbours",
            "index": _state(view),
            "k": int(k),
            "by": _described(ranking),
            "where": None if where is None else repr(scope.where),
            "threshold": threshold,
            "part": int(part),
        }
        writer = PartsWriter(folder, asked)
        ranker = ranking.on(view) if view.average_length else None
        search = partial(_found_of, ranker, min(int(k), view.n_rows), threshold, scope)
        done = 0
        total = items.total() or 0
        chunks = _left(_chunks(_texts(items), int(part)), writer)
        for number, ids, ranked, digest in map_blocks(
            search, chunks, n_jobs=_AT_A_TIME if spread else 1
        ):
            if ranked is not None:
                writer.write(number, _columns(view, ids, ranked), digest)
            done += len(ids)
            if progress is not None:
                progress(done, total)
        return writer.parts()

    def near_pairs(
        self,
        threshold: float,
        folder: str | os.PathLike[str],
        *,
        by: By = "wmd",
        on: Place = None,
        n_jobs: int | None = None,
        memory: str | int = "512MB",
        progress: ProgressCallback | None = None,
    ) -> Parts:
        """Find all pairs of documents that are at most so far apart, and write them to Parquet.

        Parameters
        ----------
        threshold : float
            How far the two may be, that far included.
        folder : path
            A new folder, or one that a call with the same arguments has begun: then it goes on
            behind the parts that are there.
        by : str, WordMover or TransportRanking, default="wmd"
            The distance, or one of its bounds.
        on : {"threads", "joblib"}, distributed.Client or str, default=None
            Where blocks of documents are compared, see `textkin.run.map_blocks`.
        n_jobs : int, default=None
            Threads or processes, where `on` is not a cluster.
        memory : str or int, default="512MB"
            What each worker may use.
        progress : callable, default=None
            Gets (pairs of blocks that are done, all of them that were left to do).

        Returns
        -------
        Parts
            With the columns ``first`` and ``second`` (ids, in the order of the index) and
            ``distance``: each pair once; by the first document, then by distance.

        Raises
        ------
        ValueError
            If the folder was begun with other arguments or another state of the index, or one of
            its parts is damaged.
        FileExistsError
            If the folder holds anything else.
        MemoryError
            If the pairs of one part take more than `memory`.

        See Also
        --------
        textkin.WordMover.pairwise_below : The same for documents in memory.
        textkin.find_duplicates : Groups of near documents.

        Notes
        -----
        The index is cut into blocks of 512 to 8,192 documents, and every block is compared with
        itself and with those after it: the work grows with the square of the number of documents,
        though bounds spare most distances. A part has the pairs whose first document is in one
        block, and is there whole or not at all.
        """
        real(0).check("threshold", threshold)
        view = self._view()
        ranking = ranking_of(by, view.snapshot.models)
        if not isinstance(ranking, TransportRanking):
            raise ValueError(
                f"by must be a distance: 'wmd', 'rwmd', 'wcd', a WordMover or a TransportRanking; "
                f"got {by!r}."
            )
        pairs = NearPairs(
            view,
            ranking,
            float(threshold),
            on=on,
            n_jobs=n_jobs,
            memory=memory_in_bytes(memory),
        )
        asked = {
            "kind": "pairs",
            "index": _state(view),
            "threshold": float(threshold),
            "by": _described(ranking),
        }
        writer = PartsWriter(folder, asked)
        left = [number for number in range(len(pairs)) if not writer.has(number)]
        for number, found in pairs.parts(left, progress):
            writer.write(
                number,
                {
                    "first": ("string", _ids(view, found.first)),
                    "second": ("string", _ids(view, found.second)),
                    "distance": ("double", [found.distances]),
                },
            )
        return writer.parts()


_Chunk = tuple[int, list[str], list[str], bytes, bool]


def _state(view: View) -> list[object]:
    """Return what tells one state of an index from all others.

    Every change of an index gives another number; one that was made anew in its place may have the
    same, so what it holds is told too.
    """
    state = view.snapshot.state
    digest = hashlib.sha256(repr([one.written() for one in view.snapshot.models.values()]).encode())
    with view.snapshot.catalogue() as catalogue:
        for wanted in ("name, value FROM settings", "position, digest FROM documents"):
            for row in catalogue.execute(f"SELECT {wanted} ORDER BY 1"):
                digest.update(repr(row).encode())
    return [state.number, state.documents, digest.hexdigest()]


def _described(ranking: Ranking) -> str:
    """Return all of a ranking that its answers depend on."""
    if isinstance(ranking, ClusterRanking):
        ranking = ranking.ranking
    if isinstance(ranking, Hybrid):
        kind, _, *rest = ranking._key()
        return f"{kind!r}({', '.join(map(_described, ranking.parts))}, {rest})"
    if not isinstance(ranking, TransportRanking):
        return repr(ranking)
    return f"{on_worker(ranking, 1 << 29)!r}, masses {ranking._masses_key()}"


def _texts(queries: Items) -> Iterator[tuple[str, str]]:
    """Give id and text of each query; one that is none is named."""
    found = documents_in(queries, 0, with_ids=False)
    for number in count():
        try:
            one = next(found, None)
        except (TypeError, ValueError) as error:
            error.add_note(f"In query {number:,}, counted from 0.")
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
    """Mark the chunks that are done already."""
    for number, ids, texts, digest, _ in chunks:
        yield number, ids, texts, digest, writer.has(number, digest)


def _found_of(
    ranker: Ranker[Any] | None, k: int, threshold: float | None, scope: Scope, chunk: _Chunk
) -> tuple[int, list[str], list[Ranked] | None, bytes]:
    """Search for the queries of a chunk, unless that is done."""
    number, ids, texts, digest, done = chunk
    if done:
        return number, ids, None, digest
    if ranker is None:  # no document has words
        return number, ids, [], digest
    made = [ranker.of_text(text) for text in texts]
    found = ranker.best_of_each(made, k, [threshold] * len(made), scope.rows)
    return number, ids, found, digest


def _columns(
    view: View, ids: list[str], ranked: list[Ranked]
) -> dict[str, tuple[str, Iterable[Any]]]:
    """Return the rows of a part, those of a query at a time."""
    each = list(zip(ids, ranked, strict=bool(ranked)))
    return {
        "query": ("string", ([id] * len(found.rows) for id, found in each)),
        "rank": ("int32", (np.arange(len(found.rows)) for _, found in each)),
        "id": ("string", (view.ids(found.rows) for _, found in each)),
        "score": ("double", (found.scores for _, found in each)),
    }


def _ids(view: View, rows: Int64Array) -> Iterator[list[str]]:
    """Give the ids of many rows, some at a time: strings of Python are large."""
    for start in range(0, len(rows), _IDS):
        yield view.ids(rows[start : start + _IDS])
