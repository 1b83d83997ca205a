"""A stand-in for `WordMover.search` over the bare core, until the public face is there.

Only `search_contenders.searcher_of` uses it. It has what the benchmarks call, with the public
names, shapes and meanings, and no checks.
"""

from types import SimpleNamespace

import numpy as np

from textkin import WordMover, _core

REMOVED = ("document_side", "refined", "relaxed", "centroid")


class CoreSearcher:
    """A corpus of bags, ready to be searched."""

    def __init__(self, vectors, n_jobs: int = 1) -> None:
        self._vectors, self._threads = np.ascontiguousarray(vectors, dtype=np.float32), n_jobs
        self._mover = WordMover(self._vectors, n_jobs=n_jobs)

    def fit(self, bags):
        """Keep the documents."""
        block = (*(part for part in _arrays(bags)), None)
        self._core = _core.Searcher(self._vectors, "euclidean", [block], bags.shape[1], None, None)
        return self

    def search(self, queries, k: int = 10, *, algorithm: str = "auto", m: int | None = None):
        """Return the nearest documents as the public method does."""
        asked = _core.Documents(*_arrays(queries), queries.shape[1])
        starts, rows, distances, counts, seconds, _, _ = self._core.search(
            asked, None, k, np.inf, algorithm, m, None, None, None, 512 << 20, self._threads,
            False, None,
        )  # fmt: skip
        found = np.diff(starts)
        filled = np.arange(k) < found[:, np.newaxis]
        indices = np.full(filled.shape, -1)
        indices[filled] = rows
        by_rank = np.full(filled.shape, np.inf)
        by_rank[filled] = distances
        named = dict(zip((*_core.VERDICTS, "refined_bounds"), counts.T, strict=True))
        stats = SimpleNamespace(
            documents=np.full(len(found), len(self._core)),
            empty=named["empty"],
            left_out=named["left_out"],
            removed={name: named[name] for name in REMOVED},
            refined=named["refined_bounds"],
            solved=named["solved"],
            not_reached=named["not_reached"],
            seconds=dict(zip(_core.STAGES, seconds.T, strict=True)),
        )
        return SimpleNamespace(indices=indices, distances=by_rank, counts=found, stats=stats)

    def pairwise(self, X, Y):
        """Return exact distances."""
        return self._mover.pairwise(X, Y)

    def wcd(self, X, Y):
        """Return distances of centroids, pair by pair."""
        return self._bounds(X, Y, lambda bounds: bounds.centroid)

    def rwmd(self, X, Y, *, side: str = "both"):
        """Return relaxed distances, pair by pair."""
        sides = {
            "both": lambda bounds: max(bounds.source, bounds.target),
            "query": lambda bounds: bounds.source,
            "document": lambda bounds: bounds.target,
        }
        return self._bounds(X, Y, sides[side])

    def _bounds(self, X, Y, part):
        first = [X[[row]] for row in range(X.shape[0])]
        second = [Y[[row]] for row in range(Y.shape[0])]
        return np.array([[part(self._mover.bounds(a, b)) for b in second] for a in first])


def _arrays(bags):
    return bags.indptr.astype(np.int64), bags.indices.astype(np.int32), bags.data.astype(float)
