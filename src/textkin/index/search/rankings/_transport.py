"""Rankings by Word Mover's Distance and its lower bounds."""

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from textkin import _core
from textkin._base import (
    BoolArray,
    Float64Array,
    Int32Array,
    Int64Array,
    abbreviate,
    check_params,
    one_of,
)
from textkin.corpus import DocumentRows, RankedRows, shares
from textkin.exceptions import ParameterError
from textkin.explain import AlignedText, Contributions, Explanation, Flow, Place
from textkin.index.search._feedback import FeedbackRound, WeightedWords, moved_words
from textkin.index.search._snippets import Snippets
from textkin.index.search._state import Bag, IndexState
from textkin.index.search.rankings._base import ComparedWords, Ranking, ScoredRows, Scorer, ScorerOf
from textkin.index.search.rankings._vector_columns import NO_VECTOR, VectorColumns, vector_table
from textkin.index.store import stop_words_setting
from textkin.run import effective_jobs, memory_limit, stop_check
from textkin.text import StopWords
from textkin.transport import (
    TRANSPORT_METRICS,
    Comparison,
    CostName,
    SearchOptions,
    Side,
    TransportEngine,
    TransportMetric,
    WordMover,
    centroid_parts,
    empty_document_error,
    placed_words,
    relaxed_flow,
)
from textkin.weighting import TransportWeights, fixed_word_weights, tfidf_weights

__all__ = [
    "SIDES",
    "StoredDocuments",
    "TransportQuery",
    "TransportRanking",
    "TransportScorer",
    "weights_key",
]


SIDES: dict[str, Side] = {"rwmd": "both", "rwmd-query": "source", "rwmd-document": "target"}
"""Side of a relaxation whose word weights are fixed, by metric."""

_NAMED = 8  # maximum number of words listed in a note
_TOGETHER = 256  # queries searched together for pairs


def weights_key(weights: TransportWeights) -> str:
    """Return the name of word weights, or the hash of an array of weights."""
    return weights if isinstance(weights, str) else hashlib.sha256(weights.tobytes()).hexdigest()


class TransportRanking(Ranking):
    """Ranking by Word Mover's Distance, or by one of its lower bounds.

    The search uses the word counts in the segments of the index without copying them, and the
    word vectors of the index. The hits are bit-identical to an exhaustive comparison with all
    documents, and to the hits of a `WordMover` with the same vectors and words.

    Parameters
    ----------
    metric : {"wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd"}, default="wmd"
        Distance. "wmd" is the exact Word Mover's Distance. "rwmd" is its relaxation, in which each
        word goes to the nearest word: the larger value of both sides. "rwmd-query" and
        "rwmd-document" relax one side only. "wcd" is the distance of the centroids.
    word_weights : {"nbow", "sif", "tfidf"} or ndarray, default="nbow"
        Weighting of the words of a document; see `WordMover`. "tfidf" uses the document
        frequencies of the index. An array has one weight per row of the vectors.
    cost : {"euclidean", "cosine", "sqeuclidean"}, default="euclidean"
        Cost of moving one word to another.
    unit : bool, default=False
        L2-normalize all vectors first.
    stop_words : str, None, path or collection of str, default="smart"
        Words that this ranking ignores, even if the index has them for other rankings.
    memory : str, int or None, default=None
        Memory limit, as for `WordMover`.
    table_memory : str, int or None, default=None
        Memory limit of the tables of a search. If None, `memory`.
    n_jobs : int or None, default=None
        Number of threads per search; None means 1, and -1 means all cores. It does not change
        results.

    See Also
    --------
    textkin.WordMover : The same distances for texts in memory.

    Notes
    -----
    Scores are distances; the smallest is the best. The threshold of a search is a radius
    (inclusive). A document without any word that has a vector is never found, and a query without
    such words has no hits. Query words that occur in no document count if they have a vector.

    An index that counts words in lowercase also looks up their vectors in lowercase. If the
    vectors distinguish ``US`` from ``us``, the index compares other words than a `WordMover`, which
    keeps the case of texts. N-grams have no vectors, unless the vectors name them with spaces.

    References
    ----------
    Kusner, Sun, Kolkin and Weinberger, "From Word Embeddings To Document Distances", ICML 2015.

    Kusner, Sun, Kolkin and Weinberger, "From Word Embeddings To Document Distances", ICML 2015.

    Examples
    --------
    >>> import tempfile
    >>> import textkin as tk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tk.Index.create(f"{folder}/animals.kin") as index:
    ...         _ = index.add(["Dogs bark at night", "The band played loud", "Cats purr"])
    ...         hits = index.search("A kitten sleeps", k=2, ranking="wmd")
    ...         [(hit.document.text, round(hit.score, 2)) for hit in hits]
    ...         hits[0].explain().moves[0].target
    [('Cats purr', 5.18), ('Dogs bark at night', 6.04)]
    'cats'
    """

    ascending = True

    def __init__(
        self,
        metric: TransportMetric = "wmd",
        *,
        word_weights: TransportWeights = "nbow",
        cost: CostName = "euclidean",
        unit: bool = False,
        stop_words: StopWords = "smart",
        memory: str | int | None = None,
        table_memory: str | int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        one_of(*TRANSPORT_METRICS).check("metric", metric)
        check_params(
            WordMover(word_weights=word_weights, cost=cost, unit=unit, stop_words=stop_words)
        )
        memory_limit(memory)
        memory_limit(table_memory, "table_memory")
        effective_jobs(n_jobs)
        self.metric: TransportMetric = metric
        self.word_weights: TransportWeights = word_weights
        if isinstance(word_weights, np.ndarray):
            self.word_weights = np.array(word_weights, np.float64)
            self.word_weights.flags.writeable = False
        self.cost: CostName = cost
        self.unit = bool(unit)
        self.stop_words = stop_words_setting(stop_words)
        self.memory = memory
        self.table_memory = table_memory
        self.n_jobs = n_jobs
        self._space_key = (weights_key(self.word_weights), cost, self.unit, self.stop_words)
        self._key = (TransportRanking, metric, *self._space_key, memory, table_memory, n_jobs)

    @classmethod
    def of(cls, mover: WordMover) -> "TransportRanking":
        """Create the ranking with the parameters of a `WordMover`.

        `algorithm`, `n_neighbors`, `radius`, and `empty` are ignored.

        Raises
        ------
        ValueError
            If the `WordMover` has its own vectors, or parameters that an index does not support.
        """
        check_params(mover)
        if mover.vectors is not None:
            raise ValueError(
                "ranking must be a WordMover without vectors; got one with vectors. An index uses "
                "its own vectors (index.vectors), which are set in Index.create."
            )
        if mover.max_words_per_document is not None:
            raise ParameterError(
                "ranking",
                "a WordMover with max_words_per_document=None, because an index compares all words "
                "that it counted",
                str(mover.max_words_per_document),
            )
        if mover.oov != "drop":
            raise ParameterError(
                "ranking",
                "a WordMover with oov='drop', because an index ignores words without a vector",
                repr(mover.oov),
            )
        return cls(
            mover.metric,
            word_weights=mover.word_weights,
            cost=mover.cost,
            unit=mover.unit,
            stop_words=mover.stop_words,
            memory=mover.memory,
            n_jobs=mover.n_jobs,
        )

    def bind(self, state: IndexState, scorer_of: ScorerOf) -> "TransportScorer":
        """Create the scorer that applies this ranking to a snapshot of an index."""
        return TransportScorer(self, state)

    def documents_of(self, state: IndexState) -> "StoredDocuments":
        """Return the documents of a snapshot over word vectors, shared by scorers."""
        key = ("transport", self._space_key)
        return state.shared(key, lambda: StoredDocuments(self, state))

    def to_json(self) -> dict[str, Any]:
        """Return the type and parameters as a dict of JSON types; raise for arrays."""
        if not isinstance(self.word_weights, str):
            return super().to_json()
        stop_words = self.stop_words
        return {
            "type": "transport",
            "metric": self.metric,
            "word_weights": self.word_weights,
            "cost": self.cost,
            "unit": self.unit,
            "stop_words": list(stop_words) if isinstance(stop_words, tuple) else stop_words,
            "memory": self.memory,
            **({} if self.table_memory is None else {"table_memory": self.table_memory}),
            "n_jobs": self.n_jobs,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TransportRanking) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        chosen = [
            f"{name}={value!r}"
            for name, value, usual in (
                ("word_weights", self.word_weights, "nbow"),
                ("cost", self.cost, "euclidean"),
                ("unit", self.unit, False),
                ("stop_words", self.stop_words, stop_words_setting("smart")),
                ("memory", self.memory, None),
                ("table_memory", self.table_memory, None),
                ("n_jobs", self.n_jobs, None),
            )
            if not (isinstance(value, type(usual)) and value == usual)
        ]
        return f"TransportRanking({', '.join([repr(self.metric), *chosen])})"


class TransportQuery(NamedTuple):
    """Query as words with vectors and weights, and where it came from.

    Attributes
    ----------
    encoded : DocumentRows
        Words of the query, as a single row.
    text : str
        Text of the query; empty if unknown.
    row : int or None
        Row of the query if it is a document of the index.
    """

    encoded: DocumentRows
    text: str = ""
    row: int | None = None


class TransportScorer(Scorer[TransportQuery]):
    """Scorer of documents by Word Mover's Distance or one of its lower bounds.

    Parameters
    ----------
    ranking : TransportRanking
        Metric and its parameters.
    state : IndexState
        Snapshot of the index.
    """

    def __init__(self, ranking: TransportRanking, state: IndexState) -> None:
        self.state = state
        self.ascending = ranking.ascending
        self._ranking = ranking
        self._stored = ranking.documents_of(state)
        self._memory = memory_limit(ranking.memory)
        self._table_memory = memory_limit(ranking.table_memory)
        self._threads = effective_jobs(ranking.n_jobs)
        if ranking.metric == "wmd":
            limits = SearchOptions(memory=self._memory, table_limit=self._table_memory)
            self._stored.engine.prepare(limits.table_memory)

    # ------------------------------------------------------------------ queries

    def of_text(self, text: str) -> TransportQuery:
        """Convert a query text to words with vectors; other words are ignored."""
        counted: dict[str, float] = {}
        for word in self.state.read(text):
            counted[word] = counted.get(word, 0.0) + 1.0
        return TransportQuery(self._stored.of_counts(counted), text)

    def of_row(self, row: int) -> TransportQuery:
        """Convert a document of the index, by its word counts, to a query for similar documents."""
        return self.of_bag(self.state.bag_of_row(row), row)

    def of_bag(self, bag: Bag, row: int) -> TransportQuery:
        """Convert the word counts of a document to a query for similar documents."""
        return TransportQuery(self._stored.of_bag(bag), row=row)

    def of_words(self, weights: Mapping[str, float]) -> TransportQuery:
        """Convert words with weights to a query; stop words count, too.

        Raises
        ------
        ValueError
            If a weight is negative.
        """
        names = list(weights)
        masses = np.fromiter(weights.values(), np.float64, len(names))
        if (masses < 0).any():
            at = int((masses < 0).argmax())
            raise ValueError(
                f"the weight of {abbreviate(names[at], 40)} must be at least 0; got {masses[at]:g}."
            )
        rows = self.state.vectors().lookup(names)
        return TransportQuery(self._stored.encoded(rows, masses, names, None))

    def words_of(self, query: TransportQuery) -> Mapping[str, float]:
        """Return the words of a query with weights that sum to 1, largest first."""
        words, masses = _masses_of(query.encoded)
        order = np.argsort(-masses, kind="stable")
        return {self._stored.space.name(int(words[at])): float(masses[at]) for at in order}

    # ------------------------------------------------------------------ search

    def best(
        self,
        query: TransportQuery,
        limit: int,
        threshold: float | None = None,
        rows: BoolArray | None = None,
    ) -> ScoredRows:
        """Return the nearest documents within `threshold`, nearest first."""
        return self.best_of_each([query], limit, [threshold], rows)[0]

    def best_of_each(
        self,
        queries: Sequence[TransportQuery],
        limit: int,
        thresholds: Sequence[float | None],
        rows: BoolArray | None = None,
    ) -> list[ScoredRows]:
        """Return the nearest documents of each query; cost tables are shared."""
        if not queries:
            return []
        radii = [math.inf if one is None else float(one) for one in thresholds]
        ranked = self._stored.engine.search(
            _rows_of([query.encoded for query in queries]),
            SearchOptions(
                k=limit,
                radii=np.array(radii),
                metric=self._ranking.metric,
                mask=None if rows is None else np.ascontiguousarray(rows).view(np.uint8),
                memory=self._memory,
                table_limit=self._table_memory,
                threads=self._threads,
            ),
            progress=stop_check(),
        )
        return [
            ScoredRows(*ranked[at], self._stats(ranked, at, query.encoded), (*self._notes(query),))
            for at, query in enumerate(queries)
        ]

    def rows(self) -> DocumentRows:
        """Return all documents of the snapshot as query rows."""
        return self._stored.rows()

    def within(
        self, queries: DocumentRows, radius: float, from_row: Int64Array | None = None
    ) -> Iterator[tuple[Int64Array, Int64Array, Float64Array]]:
        """Yield blocks of all pairs (query, document) within a radius.

        Parameters
        ----------
        queries : DocumentRows
            Queries from this snapshot or one with the same words, such as the result of `rows`.
        radius : float
            Maximum distance, inclusive.
        from_row : ndarray of int64, optional
            First row to search for each query.

        Yields
        ------
        queries, rows, distances : ndarray
            Pairs of a batch of queries, in query order, nearest first within a query.
        """
        options = SearchOptions(
            radii=radius,
            metric=self._ranking.metric,
            memory=self._memory,
            table_limit=self._table_memory,
            threads=self._threads,
        )
        found = self._stored.engine.batches(
            queries, options, from_row=from_row, progress=stop_check(), size=_TOGETHER
        )
        for start, ranked in found:
            numbers = np.arange(start, start + len(ranked), dtype=np.int64)
            yield np.repeat(numbers, np.diff(ranked.indptr)), ranked.rows, ranked.scores

    def _notes(self, query: TransportQuery) -> Iterator[str]:
        """Yield a note about query words that documents have, but without a vector."""
        unknown = list(query.encoded.unknown[0]) if query.text and query.encoded.unknown else []
        if not unknown:
            return
        there = [word for word, n in zip(unknown, self.state.find(unknown), strict=True) if n >= 0]
        if there:
            shown = ", ".join(abbreviate(word, 40) for word in there[:_NAMED])
            more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
            words = "word" + "s" * (len(there) > 1)
            yield f"The word vectors do not contain the {words} {shown}{more}."

    def _stats(self, ranked: RankedRows, at: int, query: DocumentRows) -> dict[str, float]:
        verdicts = dict(zip(_core.VERDICTS, ranked.stats["verdicts"][at].tolist(), strict=True))
        coverage = query.coverage(0)
        dead = self.state.n_rows - self.state.n_documents
        return {
            "documents": self.state.n_documents,
            "empty": verdicts["empty"],
            "left_out": verdicts["left_out"] - dead,
            "removed_document_side": verdicts["document_side"],
            "removed_refined": verdicts["refined"],
            "refined": int(ranked.stats["refined"][at]),
            "solved": verdicts["solved"],
            "query_known": coverage.known,
            "query_total": coverage.total,
        }

    # ------------------------------------------------------------------ explanations

    def explain(self, query: TransportQuery, row: int) -> Comparison | Flow | Contributions:
        """Explain the distance of a document by the flow of words, or the bound's parts.

        Returns
        -------
        Comparison, Flow or Contributions
            For "wmd", a comparison as from `WordMover.explain`, with the flow and its optimality
            certificate. For "rwmd", the flow of the larger relaxation. For "wcd", the contribution
            of each word to the distance of the centroids.

        Raises
        ------
        EmptyDocumentError
            If the query or the document has no word with a vector.
        """
        return self._explained(
            query.encoded, self._stored.of_row(row), lambda: self._texts(query, row)
        )

    def explain_text(self, query: TransportQuery, text: str) -> Comparison | Flow | Contributions:
        """Explain the distance from a query to a text that is not in the index."""

        def texts() -> tuple[str, str]:
            return self._query_text(query), text

        return self._explained(query.encoded, self.of_text(text).encoded, texts)

    def _explained(
        self, first: DocumentRows, second: DocumentRows, texts: Callable[[], tuple[str, str]]
    ) -> Comparison | Flow | Contributions:
        space, cost, metric = self._stored.space, self._ranking.cost, self._ranking.metric
        for one, name in ((first, "query"), (second, "document")):
            _refuse_empty(one, name)
        if metric == "wcd":
            return centroid_parts(space, first, second, cost)
        if metric != "wmd":
            return relaxed_flow(space, first, second, cost, SIDES[metric])
        finder = self._stored.places
        options = SearchOptions(memory=self._memory)
        return self._stored.engine.explain(first, second, options, texts=texts(), finder=finder)

    def aligned(self, query: TransportQuery, row: int) -> AlignedText | None:
        """Return the texts of query and document with each word's transport distance.

        The result is None if the query has no text, or for centroids, to which no word travels.
        """
        return self.align(self.explain(query, row), *self._texts(query, row))

    def align(self, explanation: Explanation, source: str, target: str) -> AlignedText | None:
        """Return two texts with each word's transport distance from an explanation."""
        flow = explanation.flow if isinstance(explanation, Comparison) else explanation
        if not isinstance(flow, Flow) or not (source and target):
            return None
        places = self._stored.places
        return AlignedText.of(flow, source, places(source), target, places(target))

    def compared_words(self, query: TransportQuery) -> ComparedWords:
        """Return the words of a query with and without vectors."""
        encoded = query.encoded
        names = map(self._stored.space.name, encoded.indices.tolist())
        known = dict(zip(names, encoded.counts.tolist(), strict=True))
        return ComparedWords(known, dict(encoded.coverage(0).unknown))

    def _query_text(self, query: TransportQuery) -> str:
        return query.text if query.row is None else self.state.documents([query.row])[0].text

    def _texts(self, query: TransportQuery, row: int) -> tuple[str, str]:
        return self._query_text(query), self.state.documents([row])[0].text

    def moved(
        self,
        query: TransportQuery,
        relevant: Sequence[int],
        nonrelevant: Sequence[int],
        how: FeedbackRound,
    ) -> TransportQuery:
        """Return the query's word weights after Rocchio feedback, with the sum 1."""
        there, others = (
            [_masses_of(self._stored.of_row(row)) for row in rows]
            for rows in (relevant, nonrelevant)
        )
        words, masses = moved_words(_masses_of(query.encoded), there, others, how)
        if len(masses):
            masses = shares(masses)
        return TransportQuery(self._stored.encoded(words, masses, (), None))


def _rows_of(queries: Sequence[DocumentRows]) -> DocumentRows:
    """Concatenate queries to one `DocumentRows` with weighted counts."""
    if len(queries) == 1:
        return queries[0]
    lengths = [len(query.indices) for query in queries]
    return DocumentRows(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([query.indices for query in queries]),
        queries[0].n_columns,
        np.concatenate([query.weighted_counts() for query in queries]),
    )


def _masses_of(encoded: DocumentRows) -> WeightedWords:
    """Return the words of a document with positive weight, normalized to the sum 1."""
    weights = encoded.weighted_counts()
    heavy = weights > 0
    if not heavy.any():
        return encoded.indices[:0], weights[:0]
    return encoded.indices[heavy], shares(weights[heavy])


def _refuse_empty(encoded: DocumentRows, name: str) -> None:
    if encoded.documents().empty_rows().size:
        raise empty_document_error(encoded, [0], name, choice=False)


class StoredDocuments:
    """Documents of a snapshot as rows over the word vectors, for the transport engine.

    Parameters
    ----------
    ranking : TransportRanking
        Parameters of the vectors and word weights.
    state : IndexState
        Snapshot of the index.

    Attributes
    ----------
    space : VectorTable
        Word vectors.
    columns : VectorColumns
        Vector row of each word of the index.
    weights : ndarray of shape (n_vectors,), float64, or None
        Factor for the counts of each vector row. If None, 1.
    engine : TransportEngine
        Search engine over the documents.
    """

    def __init__(self, ranking: TransportRanking, state: IndexState) -> None:
        self.state = state
        self.space = vector_table(state, unit=ranking.unit or ranking.cost == "cosine")
        self._n_columns = len(self.space.vectors)
        self.columns = VectorColumns(state, ranking.stop_words)
        self.weights = fixed_word_weights(ranking.word_weights, self.space)
        if (
            isinstance(ranking.word_weights, str)
            and ranking.word_weights == "tfidf"
            and state.n_documents
        ):
            frequencies = self.columns.document_frequencies(state)
            self.weights = tfidf_weights(frequencies, state.n_documents)
        words = self.columns.words
        blocks = []
        for part in state.parts:
            indptr, indices, counts = part.segment.bags
            live = part.live.view(np.uint8)
            blocks.append(DocumentRows(indptr, indices, state.n_words, counts, live=live))
        # Words without a vector get the weight of row -1, which is never used.
        weights = None if self.weights is None else self.weights[words]
        self.engine = TransportEngine(self.space, ranking.cost, weights, blocks, words)

    def encoded(
        self,
        rows: Int32Array,
        counts: Float64Array,
        names: Sequence[str],
        weights: Float64Array | None,
    ) -> DocumentRows:
        """Create a document over the word vectors from vector rows with counts."""
        used = rows >= 0
        words, place = np.unique(rows[used], return_inverse=True)
        missing = np.flatnonzero(rows == NO_VECTOR).tolist()
        unknown = {names[at]: float(counts[at]) for at in missing}
        return DocumentRows(
            np.array([0, len(words)], np.int64),
            words.astype(np.int32),
            self._n_columns,
            np.bincount(place, counts[used], len(words)).astype(np.float64),
            weights,
            unknown=(unknown,),
        )

    def of_counts(self, counted: Mapping[str, float]) -> DocumentRows:
        """Convert a dict of words and counts to a document over the word vectors."""
        names = list(counted)
        counts = np.fromiter(counted.values(), np.float64, len(names))
        return self.encoded(self.columns.lookup(names), counts, names, self.weights)

    def places(self, text: str) -> list[Place]:
        """Return the spans of the words of a text that have a vector."""
        forms = Snippets.of(self.state).forms
        return placed_words(text, forms, self.columns.lookup, self.space.name)

    def of_row(self, row: int) -> DocumentRows:
        """Return the document in a row as word counts over the word vectors."""
        return self.of_bag(self.state.bag_of_row(row))

    def of_bag(self, bag: Bag) -> DocumentRows:
        """Convert word counts by word ID to a document over the word vectors."""
        rows = self.columns.rows[bag.words]
        names = [
            self.state.words[number] if missing else ""
            for number, missing in zip(bag.words.tolist(), rows == NO_VECTOR, strict=True)
        ]
        return self.encoded(rows, bag.counts, names, self.weights)

    def rows(self) -> DocumentRows:
        """Return all documents of the snapshot; deleted ones are empty rows."""
        kept: list[sparse.csr_array[np.float64]] = []
        for part in self.state.parts:
            indptr, indices, counts = part.segment.bags
            words = self.columns.words[indices]
            there = (words >= 0) & np.repeat(part.live, np.diff(indptr))
            before = np.concatenate([[0], np.cumsum(there)])
            block = sparse.csr_array(
                (counts[there].astype(np.float64), words[there], before[indptr]),
                shape=(len(indptr) - 1, self._n_columns),
            )
            block.sum_duplicates()  # several words of the index may share a vector row
            kept.append(block)
        whole = sparse.vstack(kept, format="csr")
        return DocumentRows(
            whole.indptr.astype(np.int64),
            whole.indices.astype(np.int32),
            self._n_columns,
            whole.data,
            self.weights,
        )
