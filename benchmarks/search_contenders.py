"""Contenders that find the nearest documents under the exact Word Mover's Distance.

Each contender makes the one-time preparations of a careful user (bags, word weights, token lists,
vectors in the right type). The timed part is a call with queries, which returns positions and
distances of the k nearest documents of each query, nearest first. No contender tokenizes. Vectors
have unit length.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from contenders import Costs
from numpy.typing import NDArray
from scipy import sparse
from search_workloads import Corpus
from workloads import documents

from textkin import WordMover


def searcher_of(vectors: NDArray[np.float32], bags: sparse.csr_array, n_jobs: int = 1) -> WordMover:
    """Return bags in the form that all searching scripts use."""
    return WordMover(vectors, n_jobs=n_jobs).fit(bags)


@dataclass(frozen=True)
class Answer:
    """Result of a call, and its work.

    Attributes
    ----------
    indices, distances : ndarray of shape (n_queries, k)
        Nearest first.
    work : dict of str to float
        Counts, and milliseconds per stage, summed over all queries.
    """

    indices: NDArray[np.int64]
    distances: NDArray[np.float64]
    work: dict[str, float]


# ---------------------------------------------------------------------- textkin


def work_of(found: Any) -> dict[str, float]:
    """Return the work of a textkin search, summed over its queries, with flat names."""
    stats = found.stats
    work = {
        "solved": float(np.sum(stats.solved)),
        "refined": float(np.sum(stats.refined)),
        **{f"removed_{name}": float(np.sum(many)) for name, many in stats.removed.items()},
        **{f"ms_{stage}": 1e3 * float(np.sum(took)) for stage, took in stats.seconds.items()},
    }
    return {name: value for name, value in work.items() if value}


class Textkin:
    """`WordMover.search`.

    Parameters
    ----------
    corpus : Corpus
        Documents to search.
    k : int
        Number of documents to find.
    n_jobs : int
        Threads.
    algorithm : str
        Algorithm of `search`.
    fresh : bool
        If True, every call gets a new searcher that has not searched, made before timing.
    """

    def __init__(
        self, corpus: Corpus, k: int, *, n_jobs: int = 1, algorithm: str = "auto", fresh: bool
    ) -> None:
        self._make = partial(searcher_of, corpus.vectors, corpus.documents, n_jobs)
        self._search = {"k": k, "algorithm": algorithm}
        self._fresh = fresh
        self._searcher = None if fresh else self._make()

    def prepare(self) -> None:
        """Prepare a call."""
        if self._fresh:
            self._searcher = None  # release the old one first
            self._searcher = self._make()

    def __call__(self, queries: sparse.csr_array) -> Answer:
        """Search."""
        found = self._searcher.search(queries, **self._search)
        return Answer(found.indices, found.distances, work_of(found))


# ---------------------------------------------------------------------- a good script


class Script:
    """Script on NumPy, SciPy, and POT as a good engineer would write it; exact, prunes twice.

    1. Squared distances between the words of the query and all words of the documents: one
       float32 matrix product of vectors that include their squared lengths. The maximum rounding
       error is subtracted, so that bounds stay bounds.
    2. The document side of the relaxed distance for all documents: the nearest word of the query
       for each word, then one product of the sparse weights with these.
    3. The first k documents in that order are solved. For the others, in parts and while the bound
       does not exceed the k-th distance, both sides; then POT in the order of the larger side,
       until
       it exceeds the k-th distance.

    Costs of solved documents are float64.
    """

    PORTION = 256  # documents whose query side is computed at once

    def __init__(self, corpus: Corpus, k: int) -> None:
        import ot

        # The fastest options: the weights sum to one, and the duals are not used.
        self._emd2 = partial(ot.emd2, check_marginals=False, center_dual=False)
        self._k = k
        self._costs = Costs(corpus)
        self._words, columns = np.unique(corpus.documents.indices, return_inverse=True)
        bags = corpus.documents
        totals = np.repeat(np.add.reduceat(bags.data, bags.indptr[:-1]), np.diff(bags.indptr))
        self._masses = sparse.csr_array(
            (bags.data / totals, columns.astype(np.int32), bags.indptr),
            shape=(bags.shape[0], len(self._words)),
        )
        vectors = corpus.vectors
        squares = np.einsum("ij,ij->i", vectors, vectors)[:, np.newaxis]
        ones = np.ones_like(squares)
        self._left = np.hstack([vectors, squares, ones])[self._words]
        self._right = np.hstack([-2 * vectors, ones, squares])
        # A product of n terms has an error of at most n half units of rounding, and each term is
        # at most its share of (|x| + |y|) squared.
        unit = np.finfo(np.float32).eps / 2
        self._slack = float(self._left.shape[1] * unit * 4 * squares.max())

    def prepare(self) -> None:
        """Do nothing; there is nothing to prepare."""

    def __call__(self, queries: sparse.csr_array) -> Answer:
        """Search, query by query."""
        work = {"solved": 0.0, "both_sides": 0.0}
        found = [self._nearest(*query, work) for query in documents(queries)]
        indices, distances = (np.array(part) for part in zip(*found, strict=True))
        return Answer(indices, distances, work)

    def _nearest(
        self, words: NDArray[np.int32], counts: NDArray[np.float64], work: dict[str, float]
    ) -> tuple[list[int], list[float]]:
        masses = counts / counts.sum()
        squares = self._left @ self._right[words].T  # word of a document, word of the query
        one_side = self._masses @ self._root(squares.min(axis=1))
        order = np.argsort(one_side, kind="stable")
        best: list[tuple[float, int]] = []  # negative, so that the most distant comes first

        def solve(document: int) -> None:
            part = slice(*self._masses.indptr[document : document + 2])
            its_words = self._words[self._masses.indices[part]]
            distance = self._emd2(masses, self._masses.data[part], self._costs(words, its_words))
            push = heapq.heappush if len(best) < self._k else heapq.heappushpop
            push(best, (-distance, -document))
            work["solved"] += 1

        for document in order[: self._k]:
            solve(document)
        for start in range(self._k, len(order), self.PORTION):
            portion = order[start : start + self.PORTION]
            portion = portion[one_side[portion] <= -best[0][0]]
            if not len(portion):
                break
            work["both_sides"] += len(portion)
            bound = np.maximum(one_side[portion], self._other_side(portion, squares, masses))
            for place in np.argsort(bound, kind="stable"):
                if bound[place] > -best[0][0]:
                    break
                solve(portion[place])
        nearest = sorted((-distance, -document) for distance, document in best)
        return [document for _, document in nearest], [distance for distance, _ in nearest]

    def _other_side(
        self,
        portion: NDArray[np.int64],
        squares: NDArray[np.float32],
        masses: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the relaxed distance in which each word of the query moves to its nearest word."""
        rows = self._masses[portion]
        nearest = np.minimum.reduceat(squares[rows.indices], rows.indptr[:-1], axis=0)
        return self._root(nearest) @ masses

    def _root(self, squares: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return distances that do not exceed the true ones."""
        return np.sqrt(np.maximum(squares - self._slack, 0), dtype=np.float64)


# ---------------------------------------------------------------------- gensim


class Gensim:
    """gensim's `WmdSimilarity` as in its documentation, with lists of words."""

    def __init__(self, corpus: Corpus, k: int) -> None:
        from gensim.models import KeyedVectors
        from gensim.similarities import WmdSimilarity

        vectors = KeyedVectors(corpus.vectors.shape[1], count=len(corpus.words), dtype=np.float32)
        vectors.add_vectors(list(corpus.words), corpus.vectors)
        vectors.fill_norms()
        self._tokens = corpus.tokens
        texts = corpus.tokens(corpus.documents)
        vectors.wmdistance(texts[0], texts[-1])  # loads its dependencies
        self._index = WmdSimilarity(texts, vectors, num_best=k)

    def prepare(self) -> None:
        """Do nothing; there is nothing to prepare."""

    def __call__(self, queries: sparse.csr_array) -> Answer:
        """Search, query by query; its similarity is 1 / (1 + distance)."""
        found = [self._index[tokens] for tokens in self._tokens(queries)]
        indices = np.array([[document for document, _ in hits] for hits in found])
        similarities = np.array([[similarity for _, similarity in hits] for hits in found])
        return Answer(
            indices, 1 / similarities - 1, {"solved": float(len(found) * len(self._index))}
        )


# ---------------------------------------------------------------------- all of them


@dataclass(frozen=True)
class Contender:
    """One way to search, and its limits.

    Attributes
    ----------
    search : Textkin, Script or Gensim
        ``prepare()`` before timing, then a call with queries.
    batch : bool
        If True, one call takes all queries of a round; otherwise, one query per call.
    queries, rounds : int or None
        Maximum number of queries per round, and of rounds. If None, no limit.
    """

    search: Textkin | Script | Gensim
    batch: bool = False
    queries: int | None = None
    rounds: int | None = None


MAKERS: dict[str, Callable[[Corpus, int], Contender]] = {
    "textkin_cold": lambda corpus, k: Contender(Textkin(corpus, k, fresh=True)),
    "textkin": lambda corpus, k: Contender(Textkin(corpus, k, fresh=False)),
    "textkin_2": lambda corpus, k: Contender(Textkin(corpus, k, n_jobs=2, fresh=False)),
    "textkin_batch": lambda corpus, k: Contender(Textkin(corpus, k, fresh=True), batch=True),
    "textkin_batch_2": lambda corpus, k: Contender(
        Textkin(corpus, k, n_jobs=2, fresh=True), batch=True
    ),
    "textkin_brute": lambda corpus, k: Contender(
        Textkin(corpus, k, algorithm="brute", fresh=False), queries=2
    ),
    "script": lambda corpus, k: Contender(Script(corpus, k)),
    "gensim": lambda corpus, k: Contender(Gensim(corpus, k), queries=1, rounds=3),
}
SLOW = ("textkin_brute", "gensim")  # contenders without pruning


def make(corpus: Corpus, k: int, names: list[str]) -> dict[str, Contender]:
    """Return the installed contenders, each prepared for the corpus."""
    ready = {}
    for name in names:
        try:
            ready[name] = MAKERS[name](corpus, k)
        except ImportError:
            continue
    return ready
