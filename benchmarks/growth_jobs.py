"""Jobs that growth.py runs in separate processes: build, search, and score every document.

Each function takes a collection in a folder and a number of documents, and returns values that JSON
can represent. One thread.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from growth_corpus import BUILTIN, Stored
from index_contenders import Watch, forget_peak, resident_megabytes
from numpy.typing import NDArray
from scaling_model import cut, known_to
from search import largest_difference
from search_contenders import Answer, searcher_of
from search_scaling import spread_of
from search_workloads import unique_words

from textkin import BagOfWords, Index, WordMover, _core
from textkin.index.store._settings import analyzer_settings

K = 10
SHORT = 5  # words per BM25 query
K1, B = 1.2, 0.75  # defaults of the index
COUNTS = ("refined", "solved")  # bytes of scores of documents per query
COUNTED = 20_000  # texts counted at once, as in the index


@dataclass(frozen=True)
class Asked:
    """Numbers of queries. Each query is used once per ranking, so that none is cached.

    Attributes
    ----------
    warm : int
        Queries before timing, so that rows of common words are cached, as in a service.
    single : int
        Queries timed one by one.
    batch : int
        Queries in one call.
    checked : int
        Number of single queries to compare with brute force.
    """

    warm: int = 50
    single: int = 20
    batch: int = 50
    checked: int = 2

    @property
    def total(self) -> int:
        """Total number."""
        return self.warm + self.single + self.batch

    @property
    def singles(self) -> slice:
        """Positions of the single queries."""
        return slice(self.warm, self.warm + self.single)

    @property
    def rest(self) -> slice:
        """Positions of the batch."""
        return slice(self.warm + self.single, self.total)


def asked_words(bags: Any, words: Sequence[str]) -> list[str]:
    """Return a short query for each document: some of its words."""
    rows = zip(bags.indptr[:-1], bags.indptr[1:], strict=True)
    return [" ".join(words[at] for at in bags.indices[a : min(b, a + SHORT)]) for a, b in rows]


class Timed(NamedTuple):
    """Elapsed and CPU milliseconds of a call, and its result."""

    clock: float
    processor: float
    found: Any


def timed(call: Callable[..., Any], *arguments: Any, **named: Any) -> Timed:
    """Time a call."""
    busy, start = time.process_time(), time.perf_counter()
    found = call(*arguments, **named)
    clock, used = time.perf_counter() - start, time.process_time() - busy
    return Timed(1e3 * clock, 1e3 * used, found)


def told_times(calls: Sequence[Timed], batch: Timed, size: int) -> dict[str, Any]:
    """Return the milliseconds per query: one by one, in CPU time, and in a batch."""
    return {
        "single": spread_of(np.array([call.clock for call in calls])),
        "single_processor": round(float(np.mean([call.processor for call in calls])), 4),
        "batch": round(batch.clock / size, 4),
    }


# ---------------------------------------------------------------------- the truth


def truth(stored: Stored, documents: int, asked: Asked) -> dict[str, Any]:
    """Score every document for some queries, block by block; return the best of each query."""
    vectors = stored.vectors()
    bags = stored.queries().bags[asked.singles][: asked.checked]
    near: list[Answer] = []
    texts = asked_words(bags, vectors.words)
    counted, lengths = [], []
    start = 0
    for block in stored.blocks(documents):
        mover = WordMover(vectors.matrix).fit(block.bags)
        found = mover.search(bags, k=K, algorithm="brute")
        near.append(
            Answer(np.where(found.indices < 0, -1, found.indices + start), found.distances, {})
        )
        start += len(block)
        counts, length = counted_words(block.texts, " ".join(texts).split())
        counted.append(counts)
        lengths.append(length)
    return {
        "wmd": plain(best(near, K)),
        "bm25": plain(best_by_bm25(texts, np.concatenate(counted), np.concatenate(lengths))),
    }


def counted_words(
    texts: list[str], words: Sequence[str]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return the counts of some words in texts, and the number of words of each text."""
    counter = BagOfWords(stop_words=None)
    bags = counter.fit_transform(texts)
    columns = counter.vocabulary_.lookup(words)
    counts = np.zeros((len(texts), len(words)), np.float32)
    there = np.flatnonzero(columns >= 0)
    counts[:, there] = bags[:, columns[there]].toarray()
    return counts, np.asarray(bags.sum(axis=1)).ravel().astype(np.int64)


def best(parts: list[Answer], k: int) -> Answer:
    """Merge nearest documents, by distance and then by position."""
    indices = np.concatenate([part.indices for part in parts], axis=1)
    distances = np.concatenate([part.distances for part in parts], axis=1)
    order = np.lexsort((indices, distances), axis=1)[:, :k]
    return Answer(
        np.take_along_axis(indices, order, axis=1), np.take_along_axis(distances, order, axis=1), {}
    )


def best_by_bm25(
    texts: list[str], counts: NDArray[np.float32], lengths: NDArray[np.int64]
) -> Answer:
    """Return the best documents of each query by the formula, from counts of all its words."""
    n = len(lengths)
    norm = K1 * (1 - B + B * lengths / lengths.mean())
    found, at = [], 0
    for text in texts:
        scores = np.zeros(n)
        for _ in text.split():
            here = counts[:, at].astype(np.float64)
            df = np.count_nonzero(here)
            scores += np.log(1 + (n - df + 0.5) / (df + 0.5)) * here * (K1 + 1) / (here + norm)
            at += 1
        order = np.lexsort((np.arange(n), -scores))[:K]
        found.append((np.where(scores[order] > 0, order, -1), scores[order]))
    return Answer(np.array([rows for rows, _ in found]), np.array([s for _, s in found]), {})


def plain(answer: Answer) -> dict[str, list[Any]]:
    """Return a result in a form that JSON can represent."""
    return {"indices": answer.indices.tolist(), "scores": answer.distances.tolist()}


def apart(found: Answer, expected: dict[str, list[Any]], what: str) -> float:
    """Return the largest difference from brute force; raise if other documents were found."""
    wanted = Answer(np.array(expected["indices"]), np.array(expected["scores"]), {})
    return largest_difference(what, found, wanted, "growth.py", "brute force")


# ---------------------------------------------------------------------- in memory


def measure_mover(stored: Stored, documents: int, asked: Asked, true: Any) -> dict[str, Any]:
    """Fit a `WordMover` to bags, and search with it."""
    bags, queries = stored.bags(documents), stored.queries().bags
    matrix = stored.vectors().matrix
    with Watch() as fitted:
        mover = searcher_of(matrix, bags)
    forget_peak()
    for row in range(asked.warm):
        mover.search(queries[[row]], k=K)
    singles = queries[asked.singles]
    calls = [timed(mover.search, singles[[row]], k=K) for row in range(asked.single)]
    batch = timed(mover.search, queries[asked.rest], k=K)
    found = [call.found for call in calls]
    answer = Answer(
        np.concatenate([one.indices for one in found[: asked.checked]]),
        np.concatenate([one.distances for one in found[: asked.checked]]),
        {},
    )
    return {
        "entries": int(bags.nnz),
        "unique_words": unique_words(bags),
        "query_words": unique_words(singles),
        "words": len(np.unique(bags.indices)),
        "vectors": list(matrix.shape),
        "build": fitted.told(),
        "search_megabytes": {"peak": resident_megabytes("VmHWM")},
        "wmd": {
            "milliseconds": told_times(calls, batch, asked.batch),
            "solved": spread_of(np.concatenate([one.stats.solved for one in found])),
            "refined": spread_of(np.concatenate([one.stats.refined for one in found])),
            "milliseconds_by_stage": {
                stage: round(1e3 * float(np.mean([one.stats.seconds[stage] for one in found])), 4)
                for stage in found[0].stats.seconds
            },
            "largest_relative_difference_from_brute": apart(answer, true["wmd"], "the mover"),
        },
    }


def search_in_rounds(
    stored: Stored, documents: int, asked: Asked, workers: int, true: Any
) -> dict[str, Any]:
    """Search block by block as workers do, each with the limits of the finished blocks.

    The function measures no times: it counts the documents that a block of each round refines and
    solves on average, and the number of the block with the most.
    """
    queries, matrix = stored.queries().bags[asked.singles], stored.vectors().matrix
    bags = stored.bags(documents)
    size = cut(documents, workers)
    starts = np.linspace(0, documents, size.blocks + 1).astype(int)
    found: list[Answer] = []
    counts = []
    for number, (start, end) in enumerate(pairwise(starts)):
        answered = found[: known_to(number, workers)]
        limits = best(answered, K).distances[:, -1] if answered else None
        part, counted = _block(matrix, bags[start:end], queries, limits)
        rows = np.where(part.indices < 0, -1, part.indices + start)
        found.append(Answer(rows, part.distances, {}))
        counts.append(counted)
    all_of_them = best(found, K)
    few = slice(asked.checked)
    answer = Answer(all_of_them.indices[few], all_of_them.distances[few], {})
    apart(answer, true["wmd"], "the search in rounds")
    rounds = [np.array(counts[at : at + workers]) for at in range(0, size.blocks, workers)]
    means = np.array([one.mean(axis=(0, 1)) for one in rounds])
    most = np.array([one.max(axis=0).mean(axis=0) for one in rounds])
    return {
        "workers": workers,
        "blocks": size.blocks,
        **{name: np.round(means[:, at], 3).tolist() for at, name in enumerate(COUNTS)},
        "slowest": {name: np.round(most[:, at], 3).tolist() for at, name in enumerate(COUNTS)},
    }


def _block(
    matrix: NDArray[np.float32], bags: Any, queries: Any, limits: NDArray[np.float64] | None
) -> tuple[Answer, NDArray[np.float64]]:
    """Return the best of a block for each query, and the documents refined and solved for each."""
    mover = searcher_of(matrix, bags)
    rows = np.full((queries.shape[0], K), -1, np.int64)
    distances = np.full((queries.shape[0], K), np.inf)
    counts = np.zeros((queries.shape[0], 2))
    for at in range(queries.shape[0]):
        found = mover.search(queries[[at]], k=K, radius=None if limits is None else limits[at])
        many = found.indices.shape[1]
        rows[at, :many], distances[at, :many] = found.indices[0], found.distances[0]
        counts[at] = [getattr(found.stats, name)[0] for name in COUNTS]
    return Answer(rows, distances, {}), counts


# ---------------------------------------------------------------------- on the disk


def build_index(stored: Stored, documents: int, path: Path) -> dict[str, Any]:
    """Build an index; report the part of reading files and counting words separately."""
    own = None if stored.kind in BUILTIN else stored.vectors()
    Index.create(path, vectors=own, language=None).close()
    with Index.open(path) as index, Watch() as watch:
        index.add(stored.documents(documents))
    counting, read = counting_seconds(stored, documents)
    with Index.open(path) as index:
        facts = index.info()
        entries = int(index.document_frequencies().sum())
    if facts.documents != documents:
        raise ValueError(f"the index has {facts.documents} of {documents} documents")
    return {
        "entries": entries,
        "words": facts.words,
        "tokens": facts.tokens,
        "segments": facts.segments,
        "recent": facts.recent,
        "text_megabytes": round(read / 1e6, 3),
        "bytes": {"catalogue": facts.bytes["catalog"], "segments": facts.bytes["segments"]},
        "build": {**watch.told(), "of_it_reading_and_counting": round(counting, 3)},
    }


def counting_seconds(stored: Stored, documents: int) -> tuple[float, int]:
    """Return the CPU seconds to read, tokenize, count, and pack texts, and their bytes.

    Workers can do this part for the single writer.
    """
    chosen = analyzer_settings(lowercase=True, stop_words=None, normalizer=None, ngram_range=(1, 1))
    reader = chosen.reader(_core.WordTable())
    seconds, size = 0.0, 0
    source = stored.documents(documents)
    while True:
        start = time.process_time()
        texts = [document.text for document in islice(source, COUNTED)]
        if not texts:
            return seconds, size
        reader.read(texts).count(1).packed()
        seconds += time.process_time() - start
        size += sum(len(text.encode()) for text in texts)


def search_index(
    stored: Stored, documents: int, asked: Asked, path: Path, true: Any
) -> dict[str, Any]:
    """Search an index by transport and by words, and return the cost."""
    queries = stored.queries()
    shorter = asked_words(queries.bags, stored.vectors().words)
    forget_peak()
    opened = timed(Index.open, path)
    with opened.found as index:
        if len(index) != documents:
            raise ValueError(f"the index has {len(index)} of {documents} documents")
        return {
            "open_milliseconds": round(opened.clock, 3),
            "wmd": _searched(index, "wmd", queries.texts, asked, true["wmd"]),
            "bm25": _searched(index, "bm25", shorter, asked, true["bm25"]),
            "search_megabytes": {
                name: resident_megabytes(field)
                for name, field in (("peak", "VmHWM"), ("own", "RssAnon"), ("files", "RssFile"))
            },
        }


def _searched(index: Index, by: str, queries: list[str], asked: Asked, true: Any) -> dict[str, Any]:
    def one(query: str) -> tuple[Answer, dict[str, float]]:
        return _answer(index.search(query, K, ranking=by))

    first = timed(one, queries[0])
    for query in queries[1 : asked.warm]:
        one(query)
    calls = [timed(one, query) for query in queries[asked.singles]]
    batch = timed(index.search_many, queries[asked.rest], K, ranking=by)
    answers = [call.found[0] for call in calls[: asked.checked]]
    answer = Answer(
        np.concatenate([one.indices for one in answers]),
        np.concatenate([one.distances for one in answers]),
        {},
    )
    stats = [call.found[1] for call in calls]
    return {
        "milliseconds": {
            "first": round(first.clock, 3),
            "first_processor": round(first.processor, 3),
            **told_times(calls, batch, asked.batch),
        },
        **{
            name: spread_of(np.array([one[name] for one in stats]))
            for name in ("solved", "refined", "touched")
            if name in stats[0]
        },
        "largest_relative_difference_from_brute": apart(answer, true, f"the index by {by}"),
    }


def _answer(hits: Any) -> tuple[Answer, dict[str, float]]:
    """Return hits as rows of numbers, padded to equal length."""
    rows = np.full((1, K), -1, np.int64)
    scores = np.full((1, K), np.inf if hits.ascending else 0.0)
    rows[0, : len(hits)] = [int(id) for id in hits.ids]
    scores[0, : len(hits)] = hits.scores
    return Answer(rows, scores, {}), dict(hits.stats)
