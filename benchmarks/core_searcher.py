"""A stand-in for `WordMover.search` over the bare core, until the public face is there.

Only `search_contenders.searcher_of` uses it. It has what the benchmarks call, with the public
names, shapes and meanings, and no checks.
"""

from types import SimpleNamespace

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from textkin import WordMover, _core

RANKINGS = {
    "wcd": ("wcd", {}),
    "rwmd": ("rwmd", {"side": "both"}),
    "rwmd-query": ("rwmd", {"side": "query"}),
    "rwmd-document": ("rwmd", {"side": "document"}),
}
REMOVED = ("document_side", "refined", "relaxed", "centroid")


class CoreSearcher:
    """A corpus of bags, ready to be searched."""

    def __init__(self, vectors, n_jobs: int = 1) -> None:
        self._vectors, self._threads = np.ascontiguousarray(vectors, dtype=np.float32), n_jobs
        self._mover = WordMover(self._vectors, n_jobs=n_jobs)

    def fit(self, bags):
        """Keep the documents."""
        self._bags, block = bags, (*_arrays(bags), None)
        self._core = _core.Searcher(self._vectors, "euclidean", [block], bags.shape[1], None, None)
        return self

    def search(self, queries, k: int = 10, *, algorithm: str = "auto", m: int | None = None):
        """Return the nearest documents as the public method does."""
        if algorithm in RANKINGS:
            values = getattr(self, RANKINGS[algorithm][0])(
                queries, self._bags, **RANKINGS[algorithm][1]
            )
            return _ranked(values, k, solved=0)
        if algorithm == "prefetch" and m is not None:
            near = np.argsort(self.wcd(queries, self._bags), axis=1, kind="stable")[:, :m]
            exact = np.full((queries.shape[0], self._bags.shape[0]), np.inf)
            for row, chosen in enumerate(near):
                exact[row, chosen] = self.pairwise(queries[[row]], self._bags[chosen])[0]
            return _ranked(exact, k, solved=m)
        return self._exact(queries, k)

    def _exact(self, queries, k: int):
        asked = _core.Documents(*_arrays(queries), queries.shape[1])
        starts, rows, distances, counts, seconds, _, _ = self._core.search(
            asked, None, k, np.inf, "brute", None, None, None, None, 512 << 20, self._threads,
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
            removed={name: named[name] for name in REMOVED},
            refined=named["refined_bounds"],
            solved=named["solved"],
            seconds=dict(zip(_core.STAGES, seconds.T, strict=True)),
        )
        return SimpleNamespace(indices=indices, distances=by_rank, counts=found, stats=stats)

    def pairwise(self, X, Y):
        """Return exact distances."""
        return self._mover.pairwise(X, Y)

    def wcd(self, X, Y):
        """Return distances of centroids."""
        first, second = _masses(X) @ self._vectors, _masses(Y) @ self._vectors
        return np.array([np.linalg.norm(second - row, axis=1) for row in first])

    def rwmd(self, X, Y, *, side: str = "both"):
        """Return relaxed distances."""
        used, columns = np.unique(Y.indices, return_inverse=True)
        masses = _masses(Y)
        masses = sparse.csr_array((masses.data, columns, Y.indptr), shape=(Y.shape[0], len(used)))
        values = []
        for row in range(X.shape[0]):
            query = _masses(X[[row]])
            costs = cdist(self._vectors[used], self._vectors[query.indices])
            nearest = np.minimum.reduceat(costs[columns], Y.indptr[:-1], axis=0)
            sides = {"document": masses @ costs.min(axis=1), "query": nearest @ query.data}
            sides["both"] = np.maximum(*sides.values())
            values.append(sides[side])
        return np.array(values)


def _ranked(values, k: int, solved: int):
    indices = np.argsort(values, axis=1, kind="stable")[:, :k]
    rows = len(values)
    stats = SimpleNamespace(
        documents=np.full(rows, values.shape[1]),
        removed={},
        refined=np.zeros(rows),
        solved=np.full(rows, solved),
        seconds={},
    )
    distances = np.take_along_axis(values, indices, axis=1)
    counts = np.full(rows, indices.shape[1])
    return SimpleNamespace(indices=indices, distances=distances, counts=counts, stats=stats)


def _masses(bags):
    totals = np.repeat(np.add.reduceat(bags.data, bags.indptr[:-1]), np.diff(bags.indptr))
    return sparse.csr_array((bags.data / totals, bags.indices, bags.indptr), shape=bags.shape)


def _arrays(bags):
    return bags.indptr.astype(np.int64), bags.indices.astype(np.int32), bags.data.astype(float)
