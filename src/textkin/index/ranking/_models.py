"""Rankings by the vectors of a model that is attached to an index."""

from collections.abc import Hashable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from textkin._typing import BoolArray, Float32Array, Float64Array, Int64Array
from textkin._validation import integer, one_of
from textkin.explain import Contribution, Contributions
from textkin.index._model_records import ModelRecord, read_vectors
from textkin.index._models import Applied
from textkin.index.ranking._feedback import Rocchio
from textkin.index.ranking._graph import NeighbourGraph
from textkin.index.ranking._ranking import Ranked, Ranker, Ranking
from textkin.index.ranking._view import Bag, View
from textkin.run import effective_jobs

__all__ = ["ModelQuery", "ModelRanker", "ModelRanking", "ModelVectors", "forget_vectors"]

_BLOCK = 4096  # rows that are turned into float64 at a time
_SMALL = 8  # one row in so many: those are scored without a look at all others
_WORDS = 3  # that a factor is named by
_ROUNDING = 2.0**-24  # of float32
_FLUSHED = 2.0**-126  # what a product may lose that is too small for float32
_RECALL_AT = 10
_RECALL_QUERIES = 100


@dataclass(frozen=True)
class ModelRanking(Ranking):
    """Rank by the vectors of an attached model: ``by="lsi"`` is ``by=ModelRanking("lsi")``.

    Parameters
    ----------
    name : str
        What the model is called, see `Index.attach`.
    approximate : bool, default=False
        Look for candidates in a graph of neighbours (HNSW, by usearch; the extra ``ann``) instead
        of comparing all documents. The first search makes the graph in memory, which takes a
        quarter to half a millisecond a document; later ones add what is new. The share of the true
        ten nearest that it finds, for a sample of documents, is told as ``hits.stats["recall"]``.
    candidates : int, default=100
        How many candidates the graph gives, which are then compared exactly. More are slower, and
        miss less.
    n_jobs : int or None, default=None
        Threads that make the graph; -1 is all cores. One thread makes the same graph each time, so
        that a search finds the same each time; with more the graph is sooner there, and what is
        missed differs from one time to the next.

    Notes
    -----
    The score is the cosine of query and document, or their inner product, as `Index.attach` was
    told; it may be below 0. Only documents whose vector is 0, as that of an empty text is, are
    never found, and a query whose vector is 0 finds nothing.

    A first look at all documents in float32 leaves those that can be among the best, by a bound of
    the rounding. They are scored from the float32 vectors in float64, each row by itself in a fixed
    order. So equal vectors have equal scores, and the answer does not depend on threads, on BLAS
    or on other queries.

    Relevance feedback moves the vector of the query (Rocchio, with documents brought to its length
    first). Unlike the weight of a word, a coordinate may be below 0, so nothing is cut off there;
    ``n_terms`` means nothing here.

    References
    ----------
    Malkov and Yashunin, "Efficient and Robust Approximate Nearest Neighbor Search Using
    Hierarchical Navigable Small World Graphs", IEEE Transactions on Pattern Analysis and Machine
    Intelligence 42, 2020 (`approximate`).
    """

    name: str
    approximate: bool = False
    candidates: int = 100
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a str; got {type(self.name).__name__}.")
        one_of(False, True).check("approximate", self.approximate)
        integer(1).check("candidates", self.candidates)
        effective_jobs(self.n_jobs)

    def bind(self, view: View) -> "ModelRanker":
        """Read the vectors of a view."""
        return ModelRanker(self, view)


class ModelQuery(NamedTuple):
    """A vector, and its length."""

    vector: Float64Array
    length: float


class ModelVectors:
    """The vectors of all rows of a view, and exact scores of them.

    Parameters
    ----------
    view : View
        The documents.
    record : ModelRecord
        The model.

    Attributes
    ----------
    matrix : ndarray of shape (n_rows, dimensions), float32
        Rows of deleted documents are 0.
    lengths : ndarray of shape (n_rows,), float64
        Of the vectors.
    found : ndarray of shape (n_rows,), bool
        Which rows can be found: those that are documents and not 0.
    """

    def __init__(self, view: View, record: ModelRecord) -> None:
        positions, live = view.positions, view.live  # which read the catalogue themselves
        known = _kept(view, ModelVectors, record)
        with view.snapshot.catalogue() as catalogue:
            matrix = read_vectors(catalogue, record, positions, live, known)
        view.kept[ModelVectors, record] = positions, live, matrix
        self._take(matrix, record.metric)

    def _take(self, matrix: Float32Array, metric: str) -> None:
        self.cosine = metric == "cosine"
        self.matrix = matrix
        self.lengths: Float64Array = np.zeros(len(self.matrix))
        for block in _blocks(len(self.matrix)):
            rows = self.matrix[block].astype(np.float64)
            self.lengths[block] = np.sqrt((rows * rows).sum(axis=1))
        self.found: BoolArray = self.lengths > 0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and dimensions."""
        rows, dimensions = self.matrix.shape
        return rows, dimensions

    def scores(self, query: ModelQuery, rows: Int64Array) -> Float64Array:
        """Return the scores of rows; each by itself, so that equal vectors have equal ones."""
        found = np.empty(len(rows))
        for block in _blocks(len(rows)):
            # A sum along a row is made in an order that depends on its length alone.
            some = self.matrix[rows[block]].astype(np.float64)
            found[block] = (some * query.vector).sum(axis=1)
        if not self.cosine:
            return found
        both = self.lengths[rows] * query.length
        cosines = np.divide(found, both, out=np.zeros(len(rows)), where=both > 0)
        return np.clip(cosines, -1.0, 1.0)

    def candidates(self, query: ModelQuery, limit: int, allowed: BoolArray) -> Int64Array:
        """Return rows among which the best ones are, by a look at all of them in float32."""
        rows: Int64Array = np.flatnonzero(allowed)
        n_rows, dimensions = self.matrix.shape
        if len(rows) <= limit or len(rows) * _SMALL < n_rows:
            return rows
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            unit = (query.vector / query.length).astype(np.float32)
            rough = (self.matrix @ unit).astype(np.float64)[rows]
        # |fl(d.q) - d.q| <= n u / (1 - n u) |d||q|, whatever the order of the sum.
        each = 1.01 * (dimensions + 8) * _ROUNDING
        error = each * self.lengths[rows] + 2 * dimensions * _FLUSHED
        if self.cosine:
            rough, error = rough / self.lengths[rows], error / self.lengths[rows]
        if not np.isfinite(rough).all():  # numbers too large for float32
            return rows
        reached = np.partition(rough - error, len(rows) - limit)[len(rows) - limit]
        near: Int64Array = rows[rough + error >= reached]
        return near


class ModelRanker(Ranker[ModelQuery]):
    """The documents of a view as vectors of a model.

    Parameters
    ----------
    ranking : ModelRanking
        Which model.
    view : View
        The documents.

    Raises
    ------
    ValueError
        If no such model is attached.
    """

    def __init__(self, ranking: ModelRanking, view: View) -> None:
        record = view.snapshot.models.get(ranking.name)
        if record is None:
            there = ", ".join(map(repr, view.snapshot.models)) or "none"
            raise ValueError(
                f"No model is called {ranking.name!r}; attached to the index: {there}. "
                f"index.attach({ranking.name!r}, model) adds one."
            )
        self.view = view
        self.record = record
        self.vectors = view.once((ModelVectors, record), lambda: ModelVectors(view, record))
        self._candidates = ranking.candidates
        self._threads = effective_jobs(ranking.n_jobs)
        self._graph: NeighbourGraph | None = None
        if ranking.approximate:
            self._graph = view.once((NeighbourGraph, record), self._grown_graph)
        self._names: dict[int, str] = {}

    # ------------------------------------------------------------------ queries

    def of_text(self, text: str) -> ModelQuery:
        """Let the model make a vector of a text, or of its words."""
        model = self._model()
        if model.takes == "texts":
            return _query(model.vectors(None, [text])[0])
        return self._of_bag(self.view.bag_of_text(text))

    def of_row(self, row: int) -> ModelQuery:
        """Take the vector of a document, as it is kept."""
        return _query(self.vectors.matrix[row])

    def of_words(self, weights: Mapping[str, float]) -> ModelQuery:
        """Let the model make a vector of words, their weights taken as counts."""
        if self.record.takes == "texts":
            raise ValueError(
                f"The model {self.record.name!r} takes texts; words with weights mean nothing to "
                "it. Search for a text."
            )
        return self._of_bag(self.view.weighted_bag(dict(weights)))

    def words_of(self, query: ModelQuery) -> None:
        """Return None: a vector has no words."""
        return

    def _of_bag(self, bag: Bag) -> ModelQuery:
        there = bag.counts != 0
        words, counts = bag.words[there], bag.counts[there].astype(np.float32)
        row = sparse.csr_array(
            (counts, words, np.array([0, len(words)], np.int32)), shape=(1, self.view.n_words)
        )
        return _query(self._model().vectors(row, None)[0])

    def _model(self) -> Applied:
        return self.view.models.applied(self.record)

    # ------------------------------------------------------------------ the search

    def best(
        self,
        query: ModelQuery,
        limit: int,
        threshold: float | None = None,
        rows: BoolArray | None = None,
    ) -> Ranked:
        """Score all documents that can be among the best, or those that a graph gives."""
        allowed = self.vectors.found if rows is None else self.vectors.found & rows
        stats: dict[str, float] = {}
        if not query.length or not allowed.any():
            notes = () if query.length else ("The model makes nothing of the words of the query.",)
            return Ranked(np.zeros(0, np.int64), np.zeros(0), stats, notes)
        places = None
        if self._graph is not None:
            stats["recall"] = self.recall
            places = self._from_graph(query, limit, allowed)
        if places is None:
            places = self.vectors.candidates(query, limit, allowed)
        stats["scored"] = len(places)
        scores = self.vectors.scores(query, places)
        if threshold is not None:
            reached = scores >= threshold
            places, scores = places[reached], scores[reached]
        order = np.argsort(-scores, kind="stable")[:limit]  # places ascend
        return Ranked(places[order], scores[order], stats)

    def _grown_graph(self) -> NeighbourGraph:
        """Return the graph of an earlier state with what is new, or make one."""
        found, positions = self.vectors.found, self.view.positions
        graph = _kept(self.view, NeighbourGraph, self.record)
        if graph is None or len(graph) > 2 * found.sum():  # most of it is deleted
            graph = NeighbourGraph(self.record.dimensions, self.record.metric)
        graph.extend(positions[found], self.vectors.matrix[found], self._threads)
        self.view.kept[NeighbourGraph, self.record] = graph
        grown: NeighbourGraph = graph
        return grown

    def _from_graph(self, query: ModelQuery, limit: int, allowed: BoolArray) -> Int64Array | None:
        """Return candidates, or None where comparing all is as good: a filter leaves few."""
        assert self._graph is not None
        wanted = max(limit, self._candidates)
        n_allowed, n_graph = int(allowed.sum()), len(self._graph)
        asked = -(-wanted * n_graph // n_allowed)  # a filter, or the state, leaves a part of them
        if 2 * asked >= n_graph or n_allowed * _SMALL < n_graph:
            return None
        positions, near = self.view.positions, np.sort(self._graph.nearest(query.vector, asked))
        at = np.minimum(np.searchsorted(positions, near), len(positions) - 1)
        places: Int64Array = at[(positions[at] == near) & allowed[at]]
        return places if len(places) >= min(limit, n_allowed) else None

    @cached_property
    def recall(self) -> float:
        """The share of the true ten nearest that the graph finds, for a sample of documents.

        It is measured again when a tenth of the documents is new.
        """
        rows = np.flatnonzero(self.vectors.found)
        if self._graph is None or not len(rows):
            return 1.0
        size, recall = self._graph.recalls.get(self._candidates, (0, 0.0))
        if not 0.9 * size <= len(rows) <= 1.1 * size:
            recall = self._measured_recall(rows)
            self._graph.recalls[self._candidates] = len(rows), recall
        return recall

    def _measured_recall(self, rows: Int64Array) -> float:
        shares = []
        rng = np.random.default_rng(0)
        for row in rng.choice(rows, min(len(rows), _RECALL_QUERIES), replace=False):
            query, found = self.of_row(int(row)), self.vectors.found
            places = self._from_graph(query, _RECALL_AT, found)
            if places is None:  # so few documents that all are compared
                return 1.0
            every = self.vectors.candidates(query, _RECALL_AT, found)
            true = np.sort(self.vectors.scores(query, every))[-_RECALL_AT:]
            near = np.sort(self.vectors.scores(query, places))[-_RECALL_AT:]
            shares.append(float((near >= true[0]).sum()) / len(true))
        return float(np.mean(shares))

    # ------------------------------------------------------------------ why, and again

    def explain(self, query: ModelQuery, row: int) -> Contributions:
        """Return what each dimension adds: its product, divided by the lengths for a cosine."""
        document = self.vectors.matrix[row].astype(np.float64)
        products = query.vector * document
        if self.vectors.cosine:
            both = query.length * self.vectors.lengths[row]
            products = products / both if both > 0 else np.zeros_like(products)
        parts = [
            Contribution(
                self._name(int(at)),
                float(products[at]),
                f"{query.vector[at]:.3g} x {document[at]:.3g}",
            )
            for at in np.flatnonzero(products)
        ]
        return Contributions.of(parts, float(self.vectors.scores(query, np.array([row]))[0]))

    def moved(
        self,
        query: ModelQuery,
        relevant: Sequence[int],
        nonrelevant: Sequence[int],
        how: Rocchio,
    ) -> ModelQuery:
        """Move the vector; documents are brought to the length of the query first."""
        length = query.length or 1.0
        moved = how.alpha * query.vector
        for rows, weight in ((relevant, how.beta), (nonrelevant, -how.gamma)):
            if len(rows):
                vectors = [self.of_row(row) for row in rows]
                scaled = [vector * (length / (size or 1.0)) for vector, size in vectors]
                moved = moved + weight * np.mean(scaled, axis=0)
        return _query(moved)

    def _name(self, factor: int) -> str:
        """Return the name of a dimension: its number, and the words that weigh most in it."""
        if factor not in self._names:
            words = " ".join(self._words(factor))
            self._names[factor] = f"factor {factor}: {words}" if words else f"factor {factor}"
        return self._names[factor]

    @cached_property
    def _word_weights(self) -> Float64Array | None:
        """What factors say of words; None without the model, which a score does not need."""
        if not self.view.models.can_apply(self.record):
            return None
        try:
            return self._model().word_weights
        except (OSError, ValueError):  # damaged, or detached meanwhile
            return None

    def _words(self, factor: int) -> list[str]:
        weights = self._word_weights
        if weights is None or factor >= len(weights):
            return []
        row = np.asarray(weights[factor])
        order = np.argsort(-np.abs(row), kind="stable")[:_WORDS]
        return [("-" if row[at] < 0 else "") + self.view.words[at] for at in order if row[at]]


def _kept(view: View, kind: type, record: ModelRecord) -> Any:  # noqa: ANN401 (of that kind)
    """Return what an earlier state has left for this one; forget what is of no model."""
    attached = set(view.snapshot.models.values())
    for key in list(view.kept):
        if isinstance(key, tuple) and key[0] is kind and key[1] not in attached:
            view.kept.pop(key, None)
    return view.kept.get((kind, record))


def forget_vectors(kept: MutableMapping[Hashable, object], record: ModelRecord) -> None:
    """Let go of what was kept for the views that follow, of a model that is no more."""
    for kind in (ModelVectors, NeighbourGraph):
        kept.pop((kind, record), None)


def _query(vector: Float32Array | Float64Array) -> ModelQuery:
    whole = vector.astype(np.float64)
    return ModelQuery(whole, float(np.sqrt((whole * whole).sum())))


def _blocks(rows: int) -> list[slice]:
    return [slice(start, start + _BLOCK) for start in range(0, rows, _BLOCK)]
