"""Rankings by document vectors of a model or encoder attached to an index."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from textkin._base import BoolArray, Float32Array, Float64Array, Int64Array, integer, one_of
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.explain import Contribution, Contributions
from textkin.index.search._feedback import FeedbackRound
from textkin.index.search._state import Bag, IndexState
from textkin.index.search.rankings._ann_graph import NeighbourGraph
from textkin.index.search.rankings._base import Ranking, ScoredRows, Scorer, ScorerOf
from textkin.index.search.rankings._embedding_evidence import embedding_evidence
from textkin.index.store import LoadedModel, ModelRecord, StoredVectors
from textkin.run import effective_jobs, single_blas_thread

__all__ = ["ModelQuery", "ModelRanking", "ModelScorer", "ModelVectors"]

_BLOCK = 4096  # rows converted to float64 at a time
_PRODUCT = 8192  # rows of a product in float32
_LEAST_CHUNKS = 4  # products per thread
_SMALL = 8  # if fewer than 1 row in 8 is selected, score only the selected rows
_WORDS = 3  # number of words in the name of a dimension
_ROUNDING = 2.0**-24  # unit roundoff of float32
_EXACT = 2.0**-40  # relative error of sums in float64, with a margin
_FLUSHED = 2.0**-126  # maximum error of a product that underflows in float32
_RECALL_AT = 10
_RECALL_QUERIES = 100


@dataclass(frozen=True)
class ModelRanking(Ranking):
    """Ranking by the document vectors of an attached model, such as ``ranking="lsi"``.

    Parameters
    ----------
    name : str
        Name of the model; see `Index.attach`.
    approximate : bool, default=False
        Select candidates with a nearest-neighbor graph (HNSW, by usearch; requires the extra
        ``ann``) instead of comparing all documents. The first search builds the graph in memory,
        which takes a quarter to half a millisecond per document; later searches add new documents.
        ``hits.stats["recall"]`` is the share of the true ten nearest documents that the graph
        finds, measured on a sample of documents.
    candidates : int, default=100
        Number of candidates from the graph, which are then compared exactly. More candidates
        increase the recall and the time.
    n_jobs : int or None, default=None
        Number of threads that build the graph; -1 means all cores. One thread always builds the
        same graph, so that searches are reproducible. More threads are faster, but the missed
        documents vary from run to run.

    Notes
    -----
    The score is the cosine similarity of query and document, their inner product, or their
    Euclidean distance, as selected in `Index.attach`. Documents without a vector are never found.
    For the cosine and the inner product, documents with a zero vector, such as empty texts, are
    never found either, and a query with a zero vector has no hits.

    A first pass over all documents in float32 selects the rows that can be among the best, by a
    bound on the rounding error. These rows are scored in float64 from the float32 vectors, each row
    separately and in a fixed order. Therefore equal vectors have equal scores, and the result does
    not depend on threads, on BLAS, or on other queries.

    Relevance feedback moves the query vector (Rocchio, with documents scaled to the length of the
    query). Unlike word weights, coordinates can be negative, so negative coordinates stay.
    ``max_terms`` has no effect.

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
            raise ParameterTypeError("name", "a str", type(self.name).__name__)
        one_of(False, True).check("approximate", self.approximate)
        integer(1).check("candidates", self.candidates)
        effective_jobs(self.n_jobs)

    def to_json(self) -> dict[str, Any]:
        """Return the type and the parameters of the ranking as a dict of JSON types."""
        return {"type": "model", **asdict(self)}

    def bind(self, state: IndexState, scorer_of: ScorerOf) -> "ModelScorer":
        """Create the scorer that ranks a snapshot by the model's vectors."""
        return ModelScorer(self, state)


class ModelQuery(NamedTuple):
    """Query vector with its length, and the text that was encoded, if any."""

    vector: Float64Array
    length: float
    text: str | None = None


class _Selected(NamedTuple):
    """Rows that may be among the best, with bounds of their scores."""

    rows: Int64Array
    highs: Float64Array
    lows: Float64Array


class ModelVectors:
    """Vectors of a model for all rows of a snapshot, and exact scores for query vectors.

    Parameters
    ----------
    stored : StoredVectors
        Vectors of the rows.
    metric : {"cosine", "inner", "euclidean"}
        Similarity or distance of vectors.
    generation : int, default=0
        Number of times that vectors of existing documents were set.

    Attributes
    ----------
    lengths : ndarray of shape (n_rows,), float64
        Lengths of the vectors; 0 for rows without a vector.
    found : ndarray of shape (n_rows,), bool
        True for rows that can be found: documents with a vector, which for the cosine and the inner
        product is not zero.
    """

    def __init__(self, stored: StoredVectors, metric: str, generation: int = 0) -> None:
        self._stored = stored
        self._metric = metric
        self.generation = generation
        self.lengths = stored.lengths
        self.found: BoolArray = stored.present
        if metric != "euclidean":
            self.found = stored.present & (stored.lengths > 0)

    @classmethod
    def of_state(cls, state: IndexState, record: ModelRecord) -> "ModelVectors":
        """Return the stored vectors of a model for the rows of a snapshot."""
        positions, live = state.positions, state.live  # read now, because both open the catalog
        known = _kept(state, ModelVectors, record)
        stored, read = state.snapshot.vectors(record, positions, live, known)
        state.kept[ModelVectors, record] = read
        return cls(stored, record.metric, read.generation)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the vectors as a matrix: (number of rows, number of dimensions)."""
        return len(self.found), self._stored.record.dimensions

    def of_rows(self, rows: Sequence[int] | Int64Array) -> Float32Array:
        """Return the vectors of rows in float32; a row without a vector gives 0."""
        return self._stored.of_rows(np.asarray(rows, np.int64))

    def scores(self, query: ModelQuery, rows: Int64Array) -> Float64Array:
        """Return the exact score of each row for a query vector; equal vectors score equally."""
        found = np.empty(len(rows))
        for block in _blocks(len(rows)):
            # The summation order along a row depends only on its length.
            some = self.of_rows(rows[block]).astype(np.float64)
            if self._metric == "euclidean":
                found[block] = np.sqrt(np.square(some - query.vector).sum(axis=1))
            else:
                found[block] = (some * query.vector).sum(axis=1)
        if self._metric != "cosine":
            return found
        both = self.lengths[rows] * query.length
        cosines = np.divide(found, both, out=np.zeros(len(rows)), where=both > 0)
        return np.clip(cosines, -1.0, 1.0)

    def score_of(self, query: ModelQuery, document: ModelQuery) -> float:
        """Return the score between a query vector and a vector outside the index."""
        if self._metric == "euclidean":
            return float(np.sqrt(np.square(document.vector - query.vector).sum()))
        found = float((document.vector * query.vector).sum())
        if self._metric != "cosine":
            return found
        both = document.length * query.length
        return min(1.0, max(-1.0, found / both)) if both > 0 else 0.0

    def candidates(self, query: ModelQuery, limit: int, allowed: BoolArray) -> Int64Array:
        """Return rows that surely include the `limit` best, by fast float32 products.

        The vectors are read in blocks, and only rows that can be among the best so far are kept.
        """
        every: Int64Array = np.flatnonzero(allowed)
        if len(every) <= limit or len(every) * _SMALL < len(allowed):
            return every
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            unit = (query.vector / (query.length or 1.0)).astype(np.float32)
        every_chunk = [
            (number, chunk)
            for number, of_block in enumerate(self._stored.rows)
            for chunk in _blocks(len(of_block), _PRODUCT)
        ]

        def select(chunks: Sequence[tuple[int, slice]]) -> _Selected | None:
            return self._select(chunks, unit, query.length, limit, allowed)

        # BLAS would synchronize its threads for each chunk, which takes longer than the product.
        with single_blas_thread:
            threads = min(effective_jobs(-1), len(every_chunk) // _LEAST_CHUNKS)
            if threads > 1:
                with ThreadPoolExecutor(threads) as pool:
                    found = list(
                        pool.map(select, [every_chunk[at::threads] for at in range(threads)])
                    )
            else:
                found = [select(every_chunk)]
        parts = [part for part in found if part is not None]
        if len(parts) < len(found):  # overflow in float32
            return every
        lows = np.concatenate([part.lows for part in parts])
        reached = np.partition(lows, len(lows) - limit)[len(lows) - limit]
        near: Int64Array = np.sort(
            np.concatenate([part.rows[part.highs >= reached] for part in parts])
        )
        return near

    def _select(
        self,
        chunks: Sequence[tuple[int, slice]],
        unit: Float32Array,
        length: float,
        limit: int,
        allowed: BoolArray,
    ) -> "_Selected | None":
        """Return rows of chunks that may be among the best, or None after an overflow."""
        reached, lows = -np.inf, np.empty(0)
        rows: list[Int64Array] = [np.zeros(0, np.int64)]
        highs: list[Float64Array] = [np.zeros(0)]
        for number, chunk in chunks:
            block, some = self._stored.blocks[number], self._stored.rows[number][chunk]
            vectors, lengths = block.vectors[chunk], block.lengths[chunk]
            used = (some >= 0) & allowed[np.maximum(some, 0)]
            if not used.all():
                some, vectors, lengths = some[used], vectors[used], lengths[used]
            if not len(some):
                continue
            floats = vectors.astype(np.float32, copy=False)
            key, error = self._bounds(floats, lengths, unit, length)
            low, high = key - error, key + error
            if not np.isfinite(low).all():
                return None
            possible = np.flatnonzero(high >= reached)
            if not len(possible):
                continue
            rows.append(some[possible])
            highs.append(high[possible])
            better = low[possible]
            lows = np.concatenate([lows, better[better > reached]])
            if len(lows) > limit:
                lows = np.partition(lows, len(lows) - limit)[len(lows) - limit :]
            if len(lows) == limit:
                reached = float(lows.min())
        return _Selected(np.concatenate(rows), np.concatenate(highs), lows)

    def _bounds(
        self, vectors: Float32Array, lengths: Float64Array, unit: Float32Array, length: float
    ) -> tuple[Float64Array, Float64Array]:
        """Return an approximate score of each vector, and a bound of its rounding error."""
        dimensions = vectors.shape[1]
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            rough = (vectors @ unit).astype(np.float64)
        # |fl(d.q) - d.q| <= n u / (1 - n u) |d||q|, for any order of summation.
        each = 1.01 * (dimensions + 8) * _ROUNDING
        error = each * lengths + 2 * dimensions * _FLUSHED
        if self._metric == "cosine":
            return rough / lengths, error / lengths
        if self._metric == "inner":
            return rough, error
        # -|d - q|^2 without its constant part
        key = 2 * length * rough - lengths * lengths
        slack = _EXACT * (lengths * lengths + length * length)
        return key, 2 * length * error + slack


class ModelScorer(Scorer[ModelQuery]):
    """Scorer of documents by the cosine or distance of their model vectors.

    Parameters
    ----------
    ranking : ModelRanking
        Ranking, which names the model.
    state : IndexState
        Snapshot of the index.

    Raises
    ------
    ValueError
        If no model with this name is attached.
    """

    def __init__(self, ranking: ModelRanking, state: IndexState) -> None:
        record = state.snapshot.models.get(ranking.name)
        if record is None:
            there = ", ".join(map(repr, state.snapshot.models)) or "none"
            raise ValueError(
                f"ranking must name an attached model; got {ranking.name!r}, attached: {there}. "
                f"Attach it with index.attach({ranking.name!r}, model).",
            )
        self.state = state
        self.record = record
        self.ascending = record.metric == "euclidean"
        self.vectors = state.once(
            (ModelVectors, record), lambda: ModelVectors.of_state(state, record)
        )
        self._candidates = ranking.candidates
        self._threads = effective_jobs(ranking.n_jobs)
        self._graph: NeighbourGraph | None = None
        if ranking.approximate:
            self._graph = state.once((NeighbourGraph, record), self._grown_graph)
        self._names: dict[int, str] = {}

    # ------------------------------------------------------------------ queries

    def of_text(self, text: str) -> ModelQuery:
        """Compute the model vector of a query text."""
        model = self._model()
        if model.takes == "texts":
            return _query(model.vectors(None, [text])[0], text)
        return self._of_bag(self.state.bag_of_text(text))._replace(text=text)

    def of_texts(self, texts: Sequence[str]) -> list[ModelQuery]:
        """Compute the model vectors of several query texts in one batch."""
        model = self._model()
        if model.takes == "texts":
            found = model.vectors(None, texts)
            return [_query(row, text) for row, text in zip(found, texts, strict=True)]
        return [self.of_text(text) for text in texts]

    def of_embedding(self, vector: Float64Array, text: str | None) -> ModelQuery:
        """Validate a vector, and return it as a query.

        Raises
        ------
        ParameterError
            If it has a different number of dimensions.
        """
        if len(vector) != self.record.dimensions:
            raise ParameterError(
                "embedding",
                f"a vector of {self.record.dimensions} dimensions for the model "
                f"{self.record.name!r}",
                f"{len(vector)}",
                "Encode the query with the encoder of the documents.",
            )
        return _query(vector, text)

    @property
    def takes_embeddings(self) -> bool:
        """True, because queries can be vectors."""
        return True

    @property
    def reads_words(self) -> bool:
        """True if the model reads word counts; False for an encoder of texts."""
        return self.record.takes == "bags"

    def of_row(self, row: int) -> ModelQuery:
        """Return the stored vector of a document as a query."""
        if not self.vectors.found[row]:
            return ModelQuery(np.full(self.record.dimensions, np.nan), np.nan)
        (document,) = self.state.documents([row])
        return _query(self.vectors.of_rows([row])[0], document.text)

    def of_words(self, weights: Mapping[str, float]) -> ModelQuery:
        """Compute the model vector of words with weights, taken as counts."""
        if self.record.takes == "texts":
            raise ValueError(
                f"query must be a text for the model {self.record.name!r}, which takes texts; got "
                "words with weights. Pass a text.",
            )
        return self._of_bag(self.state.weighted_bag(dict(weights)))

    def words_of(self, query: ModelQuery) -> None:
        """Return None, because a query vector has no words."""
        return

    def _of_bag(self, bag: Bag) -> ModelQuery:
        there = bag.counts != 0
        words, counts = bag.words[there], bag.counts[there].astype(np.float32)
        row = sparse.csr_array(
            (counts, words, np.array([0, len(words)], np.int32)), shape=(1, self.state.n_words)
        )
        return _query(self._model().vectors(row, None)[0])

    def _model(self) -> LoadedModel:
        return self.state.models.load(self.record)

    # ------------------------------------------------------------------ search

    def best(
        self,
        query: ModelQuery,
        limit: int,
        threshold: float | None = None,
        rows: BoolArray | None = None,
    ) -> ScoredRows:
        """Return the best documents, exactly or by the approximate graph."""
        allowed = self.vectors.found if rows is None else self.vectors.found & rows
        stats: dict[str, float] = {}
        note = self._note(query)
        if note or not allowed.any():
            return ScoredRows(np.zeros(0, np.int64), np.zeros(0), stats, (note,) if note else ())
        places = None
        if self._graph is not None:
            stats["recall"] = self.recall
            places = self._from_graph(query, limit, allowed)
        if places is None:
            places = self.vectors.candidates(query, limit, allowed)
        stats["scored"] = len(places)
        scores = self.vectors.scores(query, places)
        if threshold is not None:
            reached = scores <= threshold if self.ascending else scores >= threshold
            places, scores = places[reached], scores[reached]
        key = scores if self.ascending else -scores
        order = np.argsort(key, kind="stable")[:limit]  # ties stay in row order
        return ScoredRows(places[order], scores[order], stats)

    def _note(self, query: ModelQuery) -> str:
        """Return the reason why a query finds nothing, such as unknown words, or ""."""
        if np.isnan(query.length):
            return f"The document has no vector of the model {self.record.name!r}."
        if not query.length and self.record.metric != "euclidean":
            return "The model has no vector for the words of the query."
        return ""

    def _grown_graph(self) -> NeighbourGraph:
        """Return the nearest-neighbor graph, extended by the documents added since."""
        found, positions = self.vectors.found, self.state.positions
        graph = _kept(self.state, NeighbourGraph, self.record)
        dead = graph is not None and len(graph) > 2 * found.sum()  # most documents in it
        if graph is None or dead or graph.generation != self.vectors.generation:
            record, generation = self.record, self.vectors.generation
            graph = NeighbourGraph(record.dimensions, record.metric, generation)
        rows = np.flatnonzero(found)
        graph.extend(positions[found], lambda some: self.vectors.of_rows(rows[some]), self._threads)
        self.state.kept[NeighbourGraph, self.record] = graph
        grown: NeighbourGraph = graph
        return grown

    def _from_graph(self, query: ModelQuery, limit: int, allowed: BoolArray) -> Int64Array | None:
        """Return candidate rows from the graph, or None if exact search is better."""
        assert self._graph is not None
        wanted = max(limit, self._candidates)
        n_allowed, n_graph = int(allowed.sum()), len(self._graph)
        asked = -(-wanted * n_graph // n_allowed)  # more, because some are deleted or filtered
        if 2 * asked >= n_graph or n_allowed * _SMALL < n_graph:
            return None
        positions, near = self.state.positions, np.sort(self._graph.nearest(query.vector, asked))
        at = np.minimum(np.searchsorted(positions, near), len(positions) - 1)
        places: Int64Array = at[(positions[at] == near) & allowed[at]]
        return places if len(places) >= min(limit, n_allowed) else None

    @cached_property
    def recall(self) -> float:
        """Measured share of the true ten nearest documents that the graph finds.

        It is measured again after the number of documents has changed by a tenth.
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
            if places is None:  # the index is small, so the search is exact
                return 1.0
            every = self.vectors.candidates(query, _RECALL_AT, found)
            sign = -1.0 if self.ascending else 1.0
            true = np.sort(sign * self.vectors.scores(query, every))[-_RECALL_AT:]
            near = np.sort(sign * self.vectors.scores(query, places))[-_RECALL_AT:]
            shares.append(float((near >= true[0]).sum()) / len(true))
        return float(np.mean(shares))

    # ------------------------------------------------------------------ explanation, feedback

    def explain(self, query: ModelQuery, row: int) -> Contributions:
        """Split a score by the factors of the model, or by passages and words for an encoder."""
        if not self.vectors.found[row]:
            raise LookupError(
                f"The document has no vector of the model {self.record.name!r}, so it has no score."
            )
        vector = _query(self.vectors.of_rows([row])[0])
        score = float(self.vectors.scores(query, np.array([row]))[0])
        if self._word_weights is not None:
            return self._by_factor(query, vector, score)
        (document,) = self.state.documents([row])
        return self._by_text(query, vector._replace(text=document.text), score)

    def explain_text(self, query: ModelQuery, text: str) -> Contributions:
        """Explain the score of a text that is not in the index, as a sum of parts."""
        document = self.of_text(text)
        score = self.vectors.score_of(query, document)
        if self._word_weights is not None:
            return self._by_factor(query, document, score)
        return self._by_text(query, document, score)

    def _by_factor(self, query: ModelQuery, document: ModelQuery, score: float) -> Contributions:
        """Split a score into one contribution per dimension of the vectors."""
        products = query.vector * document.vector
        if self.record.metric == "cosine":
            both = query.length * document.length
            products = products / both if both > 0 else np.zeros_like(products)
        elif self.ascending:
            squares = np.square(query.vector - document.vector)
            products = squares / score if score > 0 else np.zeros_like(products)
        parts = [
            Contribution(
                self._name(int(at)),
                float(products[at]),
                f"{query.vector[at]:.3g} x {document.vector[at]:.3g}",
            )
            for at in np.flatnonzero(products)
        ]
        return Contributions.of(parts, score)

    def _by_text(self, query: ModelQuery, document: ModelQuery, score: float) -> Contributions:
        encode: Callable[[Sequence[str]], list[ModelQuery]] | None = None
        try:
            if self.state.models.can_apply(self.record):
                self._model()
                encode = self.of_texts
        except (OSError, ValueError):  # corrupt, or detached concurrently
            pass
        return embedding_evidence(query, document, score, self.vectors.score_of, encode)

    def moved(
        self,
        query: ModelQuery,
        relevant: Sequence[int],
        nonrelevant: Sequence[int],
        how: FeedbackRound,
    ) -> ModelQuery:
        """Return the query vector after Rocchio feedback with document vectors."""
        exists = np.isfinite(query.length)  # False for a query by a document without a vector
        length = query.length if exists and query.length else 1.0
        moved = how.alpha * query.vector if exists else np.zeros_like(query.vector)
        for given, weight in ((relevant, how.beta), (nonrelevant, -how.gamma)):
            rows = [row for row in given if self.vectors.found[row]]
            if rows:
                vectors = [_query(vector) for vector in self.vectors.of_rows(rows)]
                scaled = [one.vector * (length / (one.length or 1.0)) for one in vectors]
                moved = moved + weight * np.mean(scaled, axis=0)
        return _query(moved)

    def _name(self, factor: int) -> str:
        """Return a name for a dimension: its number, and the words with the largest weights."""
        if factor not in self._names:
            words = " ".join(self._words(factor))
            self._names[factor] = f"factor {factor}: {words}" if words else f"factor {factor}"
        return self._names[factor]

    @cached_property
    def _word_weights(self) -> Float64Array | None:
        """Word weights of each dimension, or None if the model is not available."""
        if not self.state.models.can_apply(self.record):
            return None
        try:
            return self._model().word_weights
        except (OSError, ValueError):  # the model is corrupt, or was detached concurrently
            return None

    def _words(self, factor: int) -> list[str]:
        weights = self._word_weights
        if weights is None or factor >= len(weights):
            return []
        row = np.asarray(weights[factor])
        order = np.argsort(-np.abs(row), kind="stable")[:_WORDS]
        return [("-" if row[at] < 0 else "") + self.state.words[at] for at in order if row[at]]


def _kept(state: IndexState, kind: type, record: ModelRecord) -> Any:  # noqa: ANN401 (of that kind)
    """Return the cached data of an attached model, and drop the data of detached models."""
    attached = set(state.snapshot.models.values())
    for key in list(state.kept):
        if isinstance(key, tuple) and key[0] is kind and key[1] not in attached:
            state.kept.pop(key, None)
    return state.kept.get((kind, record))


def _query(vector: Float32Array | Float64Array, text: str | None = None) -> ModelQuery:
    whole = vector.astype(np.float64)
    return ModelQuery(whole, float(np.sqrt((whole * whole).sum())), text)


def _blocks(rows: int, size: int = _BLOCK) -> list[slice]:
    return [slice(start, start + size) for start in range(0, rows, size)]
