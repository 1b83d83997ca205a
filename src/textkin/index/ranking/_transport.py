"""Rankings by the transport of words: the Word Mover's Distance, and its lower bounds."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from textkin import _core
from textkin._typing import BoolArray, Float64Array, Int64Array
from textkin._validation import check_params, one_of
from textkin.explain import AlignedText, Contributions, Flow
from textkin.index._settings import kept_stop_words
from textkin.index.ranking._feedback import Rocchio, WeightedWords, moved_words
from textkin.index.ranking._ranking import Ranked, Ranker, Ranking
from textkin.index.ranking._stored_documents import StoredDocuments
from textkin.index.ranking._view import View
from textkin.run import effective_jobs, memory_in_bytes, stop_check
from textkin.text._stop_words import StopWords
from textkin.text.reading._document import shortened
from textkin.transport import Comparison, WordMover
from textkin.transport._blocks import Algorithm, Hits, Options
from textkin.transport._comparison import compare_rows
from textkin.transport._costs import CostName
from textkin.transport._masses import Masses
from textkin.transport._neighbors import SearchStats
from textkin.transport._parts import Side, centroid_parts, relaxed_flow
from textkin.transport._refusals import empty_document_error
from textkin.vectors._encode import Encoded, shares

__all__ = ["TransportMethod", "TransportQuery", "TransportRanker", "TransportRanking"]

TransportMethod: TypeAlias = Literal["wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd"]
METHODS: tuple[TransportMethod, ...] = get_args(TransportMethod)

_SIDES: dict[str, Side] = {"rwmd": "both", "rwmd-query": "source", "rwmd-document": "target"}
_NAMED = 8  # words that a note names
_TOGETHER = 256  # queries whose pairs are searched for together
_OF_PREFETCH = ("relaxed", "centroid")  # bounds that the search of a store does not use


class TransportRanking(Ranking):
    """Rank by how far the words of a query travel to become a document; small is near.

    The documents are the words that the index counted, in their segments, which are searched where
    they lie; the words lie where the word vectors of the index have them. Found is what comparing
    with every document would find, to the last bit, and what a `WordMover` with these vectors
    finds among the same words.

    Parameters
    ----------
    method : {"wmd", "rwmd", "rwmd-query", "rwmd-document", "wcd"}, default="wmd"
        The distance: the exact Word Mover's Distance; its relaxation, in which each word goes to
        the nearest one, the larger of both sides or one of them; or that of the centroids.
    masses : {"nbow", "sif", "tfidf"} or ndarray, default="nbow"
        How much of a document each word is, see `WordMover`. What "tfidf" learns are the
        frequencies of all documents of the index; an array has a weight for each row of the
        vectors.
    cost : {"euclidean", "cosine", "sqeuclidean"}, default="euclidean"
        What moving a word costs.
    unit : bool, default=False
        Bring all vectors to length one first.
    stop_words : str, None, path or collection of str, default="smart"
        Words that count nothing here, though the index may have them for other rankings.
    memory : str or int, default="512MB"
        How much memory the tables of a search may take.
    n_jobs : int or None, default=None
        Threads of a search: None is one, -1 all cores. They never change results.

    See Also
    --------
    textkin.WordMover : The same distances of texts in memory.

    Notes
    -----
    Scores are distances. The threshold of a search is a radius, that far included. A document
    without any word that has a vector is never found, and a query without any finds nothing; words
    that no document has but the vectors know do count.

    An index that counts words in lower case looks them up in lower case: with vectors that tell
    ``US`` from ``us`` it compares other words than a `WordMover`, which reads texts as they
    are written. Runs of words have no vectors, unless the vectors name them with spaces.

    References
    ----------
    Kusner, Sun, Kolkin and Weinberger, "From Word Embeddings To Document Distances", ICML 2015.

    Examples
    --------
    >>> import tempfile
    >>> import textkin as tk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with tk.Index.create(f"{folder}/animals.kin") as index:
    ...         _ = index.add(["Dogs bark at night", "The band played loud", "Cats purr"])
    ...         hits = index.search("A kitten sleeps", k=2, by="wmd")
    ...         [(hit.document.text, round(hit.score, 2)) for hit in hits]
    ...         hits[0].explain().moves[0].target
    [('Cats purr', 5.18), ('Dogs bark at night', 6.04)]
    'cats'
    """

    ascending = True

    def __init__(
        self,
        method: TransportMethod = "wmd",
        *,
        masses: Masses = "nbow",
        cost: CostName = "euclidean",
        unit: bool = False,
        stop_words: StopWords = "smart",
        memory: str | int = "512MB",
        n_jobs: int | None = None,
    ) -> None:
        one_of(*METHODS).check("method", method)
        check_params(WordMover(masses=masses, cost=cost, unit=unit, stop_words=stop_words))
        memory_in_bytes(memory)
        effective_jobs(n_jobs)
        self.method: TransportMethod = method
        self.masses: Masses = masses
        if isinstance(masses, np.ndarray):
            self.masses = np.array(masses, np.float64)
            self.masses.flags.writeable = False
        self.cost: CostName = cost
        self.unit = bool(unit)
        self.stop_words = kept_stop_words(stop_words)
        self.memory = memory
        self.n_jobs = n_jobs
        self._space_key = (self._masses_key(), cost, self.unit, self.stop_words)
        self._key = (TransportRanking, method, *self._space_key, memory, n_jobs)

    @classmethod
    def of(cls, mover: WordMover) -> "TransportRanking":
        """Return the ranking with the parameters of a `WordMover`.

        Its `algorithm` chooses the method: the exact ones are all "wmd". `n_neighbors`, `radius`
        and `empty` have no meaning here.

        Raises
        ------
        ValueError
            If it has vectors of its own, or parameters that an index cannot follow.
        """
        check_params(mover)
        if mover.vectors is not None:
            raise ValueError(
                "by must be a WordMover without vectors: an index has its own, those that were "
                "given to Index.create (index.vectors)."
            )
        if mover.max_words_per_document is not None:
            raise ValueError(
                "by must be a WordMover with max_words_per_document=None: an index compares all "
                f"words that it counted; got {mover.max_words_per_document}."
            )
        if mover.oov != "drop":
            raise ValueError(
                "by must be a WordMover with oov='drop': the index has words without a vector, "
                f"and leaves them out; got {mover.oov!r}."
            )
        exact = mover.algorithm in ("auto", "prefetch", "brute")
        method: TransportMethod = "wmd" if exact else mover.algorithm  # type: ignore[assignment]
        return cls(
            method,
            masses=mover.masses,
            cost=mover.cost,
            unit=mover.unit,
            stop_words=mover.stop_words,
            memory=mover.memory,
            n_jobs=mover.n_jobs,
        )

    def bind(self, view: View) -> "TransportRanker":
        """Bring the words of a view among the vectors."""
        return TransportRanker(self, view)

    def documents_of(self, view: View) -> "StoredDocuments":
        """Return the documents of a view, made once for all methods."""
        key = ("transport", self._space_key)
        return view.ranker(key, lambda: StoredDocuments(self, view))

    def _masses_key(self) -> str:
        if isinstance(self.masses, str):
            return self.masses
        return hashlib.sha256(self.masses.tobytes()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TransportRanking) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        chosen = [
            f"{name}={value!r}"
            for name, value, usual in (
                ("masses", self.masses, "nbow"),
                ("cost", self.cost, "euclidean"),
                ("unit", self.unit, False),
                ("stop_words", self.stop_words, kept_stop_words("smart")),
                ("memory", self.memory, "512MB"),
                ("n_jobs", self.n_jobs, None),
            )
            if not (isinstance(value, type(usual)) and value == usual)
        ]
        return f"TransportRanking({', '.join([repr(self.method), *chosen])})"


class TransportQuery(NamedTuple):
    """Words with masses, over the rows of the vectors.

    Attributes
    ----------
    encoded : Encoded
        The words, as the only row.
    text : str
        What it was read from, where that is known.
    row : int or None
        The document that it is, if it is one.
    """

    encoded: Encoded
    text: str = ""
    row: int | None = None


class TransportRanker(Ranker[TransportQuery]):
    """The documents of a view, searched by transport.

    Parameters
    ----------
    ranking : TransportRanking
        How far apart they are.
    view : View
        The documents.
    """

    def __init__(self, ranking: TransportRanking, view: View) -> None:
        self.view = view
        self.ascending = ranking.ascending
        self._ranking = ranking
        self._stored = ranking.documents_of(view)
        self._memory = memory_in_bytes(ranking.memory)
        if ranking.method == "wmd":
            self._stored.blocks.prepare(self._memory)

    # ------------------------------------------------------------------ queries

    def of_text(self, text: str) -> TransportQuery:
        """Read a text as documents are read; words without a vector are left out."""
        counted: dict[str, float] = {}
        for word in self.view.read(text):
            counted[word] = counted.get(word, 0.0) + 1.0
        return TransportQuery(self._stored.of_counts(counted), text)

    def of_row(self, row: int) -> TransportQuery:
        """Take the counted words of a document."""
        return TransportQuery(self._stored.of_row(row), row=row)

    def of_words(self, weights: Mapping[str, float]) -> TransportQuery:
        """Take weights as masses, whatever they sum to; stop words count if they are given.

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
                f"the weight of {shortened(names[at], 40)} must be at least 0, for it is a mass; "
                f"got {masses[at]:g}."
            )
        rows = self.view.vectors().lookup(names)
        return TransportQuery(self._stored.encoded(rows, masses, names, None))

    def words_of(self, query: TransportQuery) -> Mapping[str, float]:
        """Return the words of a query, as the vectors spell them, with their masses."""
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
    ) -> Ranked:
        """Find the nearest documents; the threshold is how far they may be, that far included."""
        return self.best_of_each([query], limit, [threshold], rows)[0]

    def best_of_each(
        self,
        queries: Sequence[TransportQuery],
        limit: int,
        thresholds: Sequence[float | None],
        rows: BoolArray | None = None,
    ) -> list[Ranked]:
        """Find the nearest documents of several queries, whose words share their tables."""
        if not queries:
            return []
        radii = [math.inf if one is None else float(one) for one in thresholds]
        hits = self._stored.blocks.search(
            _documents_of([query.encoded for query in queries]),
            Options(
                k=limit,
                radii=np.array(radii),
                algorithm=self._algorithm,
                mask=None if rows is None else np.ascontiguousarray(rows).view(np.uint8),
                memory=self._memory,
                threads=effective_jobs(self._ranking.n_jobs),
            ),
            progress=stop_check(),
        )
        return [
            Ranked(one.rows, one.distances, self._stats(one, query.encoded), (*self._notes(query),))
            for one, query in zip(hits.each(), queries, strict=True)
        ]

    def rows(self) -> Encoded:
        """Return all documents of the view as queries."""
        return self._stored.rows()

    def within(
        self, queries: Encoded, radius: float, from_row: Int64Array | None = None
    ) -> Iterator[tuple[Int64Array, Int64Array, Float64Array]]:
        """Find all pairs of a query and a document that are at most so far apart.

        Parameters
        ----------
        queries : Encoded
            Of this or another view with the same words, such as `rows` gives.
        radius : float
            How far, that far included.
        from_row : ndarray of int64, optional
            From which row on each query looks.

        Yields
        ------
        queries, rows, distances : ndarray
            Pairs of some queries: in the order of these, for each the nearest first.
        """
        options = Options(
            radius=radius,
            algorithm=self._algorithm,
            memory=self._memory,
            threads=effective_jobs(self._ranking.n_jobs),
        )
        for start in range(0, len(queries), _TOGETHER):
            some = slice(start, min(start + _TOGETHER, len(queries)))
            indptr = queries.indptr[some.start : some.stop + 1]
            entries = slice(int(indptr[0]), int(indptr[-1]))
            asked = replace(
                queries,
                indptr=indptr - indptr[0],
                indices=queries.indices[entries],
                counts=queries.counts[entries],
            )
            hits = self._stored.blocks.search(
                asked.documents(),
                options,
                from_row=None if from_row is None else from_row[some],
                progress=stop_check(),
            )
            numbers = np.arange(some.start, some.stop, dtype=np.int64)
            yield np.repeat(numbers, np.diff(hits.starts)), hits.rows, hits.distances

    def _notes(self, query: TransportQuery) -> Iterator[str]:
        """Name the words of a text that documents have, but the vectors do not."""
        unknown = list(query.encoded.unknown[0]) if query.text and query.encoded.unknown else []
        if not unknown:
            return
        there = [
            word
            for word, n in zip(unknown, self.view.snapshot.find(unknown), strict=True)
            if n >= 0
        ]
        if there:
            shown = ", ".join(shortened(word, 40) for word in there[:_NAMED])
            more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
            yield f"The word vectors do not have the word{'s' * (len(there) > 1)} {shown}{more}."

    @property
    def _algorithm(self) -> Algorithm:
        return "auto" if self._ranking.method == "wmd" else self._ranking.method

    def _stats(self, hits: Hits, query: Encoded) -> dict[str, float]:
        stats = SearchStats.of(hits, self.view.n_rows).totals
        coverage = query.coverage(0)
        dead = self.view.n_rows - self.view.n_documents
        return {
            "documents": self.view.n_documents,
            "empty": stats["empty"],
            "left_out": stats["left_out"] - dead,
            **{
                f"removed_{name}": removed
                for name, removed in stats["removed"].items()
                if name not in _OF_PREFETCH
            },
            "refined": stats["refined"],
            "solved": stats["solved"],
            "query_known": coverage.known,
            "query_total": coverage.total,
        }

    # ------------------------------------------------------------------ reasons

    def explain(self, query: TransportQuery, row: int) -> Comparison | Flow | Contributions:
        """Return why a document is so far.

        Returns
        -------
        Comparison, Flow or Contributions
            "wmd": what `WordMover.explain` returns, with the flow and its proof. "rwmd": the flow
            of the larger relaxation. "wcd": what each word adds to the distance of the centroids.

        Raises
        ------
        EmptyDocumentError
            If the query or the document has no word with a vector.
        """
        space, cost, method = self._stored.space, self._ranking.cost, self._ranking.method
        first, second = query.encoded, self._stored.of_row(row)
        a, b = (_compared(one, name) for one, name in ((first, "query"), (second, "document")))
        if method == "wcd":
            return centroid_parts(space, first, a, second, b, cost)
        if method != "wmd":
            return relaxed_flow(space, first, a, second, b, cost, _SIDES[method])
        texts = self._texts(query, row)
        return compare_rows(space, first, a, second, b, cost, None, texts, self._stored.places)

    def aligned(self, query: TransportQuery, row: int) -> AlignedText | None:
        """Return query and document whole, with each word as far as it travels.

        None where the query is no text any more, and for centroids, which no word travels to.
        """
        explained = self.explain(query, row)
        if isinstance(explained, Comparison):
            explained = explained.flow
        texts = self._texts(query, row)
        if not isinstance(explained, Flow) or not all(texts):
            return None
        first, second = (self._stored.places(text) for text in texts)
        return AlignedText.of(explained, texts[0], first, texts[1], second)

    def _texts(self, query: TransportQuery, row: int) -> tuple[str, str]:
        own = query.text if query.row is None else self.view.documents([query.row])[0].text
        return own, self.view.documents([row])[0].text

    def moved(
        self,
        query: TransportQuery,
        relevant: Sequence[int],
        nonrelevant: Sequence[int],
        how: Rocchio,
    ) -> TransportQuery:
        """Move the masses, those of query and documents each summing to 1, and so the new ones."""
        there, others = (
            [_masses_of(self._stored.of_row(row)) for row in rows]
            for rows in (relevant, nonrelevant)
        )
        words, masses = moved_words(_masses_of(query.encoded), there, others, how)
        if len(masses):
            masses = shares(masses)
        return TransportQuery(self._stored.encoded(words, masses, (), None))


def _documents_of(queries: Sequence[Encoded]) -> _core.Documents:
    """Return queries as the rows of one matrix, their masses as each has them."""
    if len(queries) == 1:
        return queries[0].documents()
    lengths = [len(query.indices) for query in queries]
    masses = [
        query.counts
        if query.word_weights is None
        else query.counts * query.word_weights[query.indices]
        for query in queries
    ]
    return Encoded(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([query.indices for query in queries]),
        np.concatenate(masses),
        queries[0].columns,
        (),
        None,
    ).documents()


def _masses_of(encoded: Encoded) -> WeightedWords:
    """Return the words that weigh something, and their shares."""
    weights = encoded.counts
    if encoded.word_weights is not None:
        weights = weights * encoded.word_weights[encoded.indices]
    heavy = weights > 0
    if not heavy.any():
        return encoded.indices[:0], weights[:0]
    return encoded.indices[heavy], shares(weights[heavy])


def _compared(encoded: Encoded, name: str) -> _core.Documents:
    documents = encoded.documents()
    if documents.empty_rows().size:
        raise empty_document_error(encoded, [0], name, choice=False)
    return documents
