"""`IndexReader`: read access to one snapshot of an index."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from textkin._base import Bags, Float32Array, Int64Array, integer
from textkin.explain import (
    AlignedText,
    Explanation,
)
from textkin.index._info import IndexInfo, info_of
from textkin.index.search import (
    NAMES,
    CombinedRanking,
    ComparedWords,
    Hits,
    ModelRanking,
    ModelScorer,
    RankingLike,
    Scorer,
    Searcher,
    SearchRequest,
    Syntax,
    TermRanking,
    TransportRanking,
    Where,
    checked_query,
    filter_of,
    ranking_of,
)
from textkin.index.store import Session, is_text
from textkin.reading import Document, Label
from textkin.vectors import WordVectors

__all__ = [
    "FieldValues",
    "IndexReader",
    "RankingInfo",
    "Selection",
    "ValueCounts",
]

_CHUNK = 512  # documents fetched at a time
_COUNTED = 100_000  # maximum number of documents whose fields are counted
_COUNTED_CHUNK = 2048
_DISTINCT = 2_000  # maximum number of distinct values counted per field
_LONGEST = 200  # maximum length of a counted value, in characters
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")  # ISO 8601, with or without a time

_TEXTS: dict[str, tuple[str, str]] = {
    "bm25": ("BM25", "Rare query words count more; repeated words count less and less."),
    "tfidf": ("TF-IDF", "Cosine similarity of word counts weighted by rarity."),
    "cosine": ("Cosine of counts", "Cosine similarity of word counts."),
    "inner": ("Counts", "Inner product of word counts."),
    "binary": ("Shared words", "Number of distinct words that both have."),
    "wmd": (
        "Word Mover's Distance",
        "Distance that the words of one text travel to the words of the other; matches synonyms.",
    ),
    "rwmd": (
        "Relaxed Word Mover's Distance",
        "Each word goes to its nearest word; never more than the Word Mover's Distance.",
    ),
    "wcd": ("Centroid distance", "Distance between the mean word vectors of two texts."),
    "hybrid": ("Hybrid", "Combination of BM25 and an encoder, or BM25 and latent semantics."),
}


class RankingInfo(NamedTuple):
    """Name, description, and kind of a ranking that `ranking=` accepts.

    Attributes
    ----------
    name : str
        Value of `ranking` in a search.
    title : str
        Name to show to a user.
    kind : {"words", "transport", "model", "hybrid"}
        Kind of the ranking.
    ascending : bool
        True if the scores are distances, so that the smallest is the best.
    metric : str
        Name of the score, such as "cosine" or "distance".
    description : str
        Description of the ranking in one sentence.
    takes_text : bool
        True if a query can be a text. False for an attached model without its encoder, which
        compares only documents and vectors.
    """

    name: str
    title: str
    kind: Literal["words", "transport", "model", "hybrid"]
    ascending: bool
    metric: str
    description: str
    takes_text: bool = True


class Selection(NamedTuple):
    """Result of a filter: rows of the selected documents, and notes.

    Attributes
    ----------
    rows : ndarray of int64
        Row numbers, in the order in which the documents were added.
    unknown_fields : tuple of str
        Fields of the filter that occur in no document.
    notes : tuple of str
        Remarks about the filter, as sentences.
    """

    rows: Int64Array
    unknown_fields: tuple[str, ...]
    notes: tuple[str, ...]


class ValueCounts(NamedTuple):
    """Metadata field with its most frequent values and their counts.

    Attributes
    ----------
    name : str
        Name of the field.
    n_documents : int
        Number of documents that have the field.
    values : list of (value, count)
        Values with their document counts, most frequent first.
    type : {"number", "date", "time"} or None
        Type of all counted values: numbers, ISO dates such as "2020-12-31", or ISO dates of which
        some have a time. None for other values, or several types.
    low, high : float, str or None
        Smallest and largest counted value if `type` is not None.
    """

    name: str
    n_documents: int
    values: list[tuple[Label, int]]
    type: Literal["number", "date", "time"] | None = None
    low: Label | None = None
    high: Label | None = None


class FieldValues(NamedTuple):
    """Frequent metadata fields, values, and labels of an index.

    Attributes
    ----------
    fields : list of ValueCounts
        Fields, most frequent first.
    labels : list of (label, count)
        Labels, most frequent first.
    step : int
        Sampling interval: every `step`-th document was counted; 1 if all documents were.
    """

    fields: list[ValueCounts]
    labels: list[tuple[Label, int]]
    step: int


class IndexReader:
    """Read access to one snapshot of an index; created by `Index.reader`.

    Later writes do not change the view, so all methods read the same documents. Several threads
    can share a reader. While a reader exists, the space of deleted documents cannot be reused.

    Documents have row numbers that are valid for this snapshot only. They ascend in the order in
    which the documents were added, with gaps where documents were deleted.

    See Also
    --------
    Index : Documents in a folder; always reads its newest snapshot.

    Examples
    --------
    >>> import tempfile
    >>> from textkin import Index
    >>> folder = tempfile.TemporaryDirectory()
    >>> index = Index.create(f"{folder.name}/papers.kin")
    >>> _ = index.add([
    ...     {"id": "a", "text": "Obama speaks to the media", "year": 2015},
    ...     {"id": "b", "text": "The president greets the press", "year": 2016},
    ... ])
    >>> reader = index.reader()
    >>> _ = index.delete("a")
    >>> len(reader), "a" in reader, len(index)
    (2, True, 1)
    >>> reader.search("media").ids
    ['a']
    >>> reader.field_values().fields[0].values
    [(2015, 1), (2016, 1)]
    >>> round(reader.compare(reader.get("a"), "The media", "tfidf").score, 2)
    0.58
    >>> index.close()
    >>> folder.cleanup()
    """

    def __init__(self, session: Session, searcher: Searcher) -> None:
        self._session = session
        self._searcher = searcher
        self._state = searcher.state

    # Documents

    @property
    def number(self) -> int:
        """Number of the snapshot, which each change of the index increases."""
        return self._state.snapshot.state.number

    @property
    def next_position(self) -> int:
        """Position of the next added document, which is also its default ID."""
        return self._state.snapshot.state.next_position

    @property
    def average_length(self) -> float:
        """Mean number of words per document; 0 for an empty index."""
        return self._state.average_length

    def __len__(self) -> int:
        return self._state.n_documents

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and is_text(id) and self._state.row_of(id) is not None

    def __repr__(self) -> str:
        return f"IndexReader({str(self._state.snapshot.folder)!r}, state {self.number})"

    def get(self, id: str) -> Document | None:
        """Return the document with an ID, or None if there is none."""
        if not isinstance(id, str):
            raise TypeError(f"id must be a str; got {type(id).__name__}.")
        return self._state.snapshot.get(id)

    def length(self, id: str) -> int:
        """Return the number of words of the document with an ID.

        Raises
        ------
        KeyError
            If no document has the ID.
        """
        return int(self._state.lengths[self._searcher.row_of(id)])

    def select(self, where: Where | None = None) -> Selection:
        """Return the rows of the documents that a filter selects; all without a filter.

        Parameters
        ----------
        where : mapping, str, Filter or None, default=None
            The filter; see `textkin.index.parse_filter`. If None, all documents.
        """
        passed, live = self._searcher.passed(filter_of(where)), self._state.live
        rows = np.flatnonzero(live if passed.rows is None else live & passed.rows)
        return Selection(rows, passed.unknown_fields, passed.notes)

    def sample(self, n: int) -> Int64Array:
        """Return the rows of at most `n` documents, evenly spaced by position."""
        integer(1).check("n", n)
        rows = np.flatnonzero(self._state.live)
        if len(rows) > n:
            rows = rows[np.linspace(0, len(rows) - 1, n).astype(np.int64)]
        return rows

    def documents(self, rows: Iterable[int] | None = None) -> Iterator[Document]:
        """Yield the documents at `rows`, or all documents."""
        wanted = np.asarray(self.select().rows if rows is None else [*rows], np.int64)
        for first in range(0, len(wanted), _CHUNK):  # other threads may read in between
            yield from self._state.documents(wanted[first : first + _CHUNK].tolist())

    def bags(self, rows: Iterable[int]) -> Bags:
        """Return the document-term matrix (word counts) of the documents at `rows`.

        Parameters
        ----------
        rows : iterable of int
            Ascending row numbers.

        Returns
        -------
        csr_array of shape (n_rows, n_words), float32
            Word counts; `words` returns the words of the columns.
        """
        view, wanted = self._state, np.asarray([*rows], np.int64)
        blocks = []
        for part, first, end in zip(view.parts, view.starts[:-1], view.starts[1:], strict=True):
            indptr, indices, counts = part.segment.bags
            block = sparse.csr_array((counts, indices, indptr), shape=(end - first, view.n_words))
            blocks.append(block[wanted[(wanted >= first) & (wanted < end)] - first])
        return sparse.csr_array(sparse.vstack(blocks, format="csr", dtype=np.float32))

    def words(self, columns: Iterable[int]) -> list[str]:
        """Return the words that the given columns of `bags` count."""
        return self._state.names(columns)

    def vectors(self) -> WordVectors:
        """Return the word vectors of the index, loaded on first use."""
        return self._state.vectors()

    def model_vectors(self, name: str, rows: Iterable[int]) -> Float32Array:
        """Return an attached model's vectors of the documents at `rows`; 0 if missing.

        Raises
        ------
        ValueError
            If no model has the name.
        """
        scorer: Any = self._searcher.scorer(ModelRanking(name))
        found: Float32Array = scorer.vectors.of_rows([*rows])
        return found

    def info(self) -> IndexInfo:
        """Return numbers of documents and words, file sizes, and settings."""
        return info_of(self._session, self._state.snapshot)

    def field_values(
        self, *, n_fields: int = 50, n_values: int = 20, n_labels: int = 50
    ) -> FieldValues:
        """Return the most frequent metadata fields, their values, and labels, with counts.

        In an index of more than 100,000 documents, only every second, third, ... document is
        counted. Lists are counted by their items; values that are not text, numbers, or booleans,
        and texts of more than 200 characters, are not counted.

        Parameters
        ----------
        n_fields, n_values, n_labels : int, default=50, 20, 50
            Maximum number of fields, of values per field, and of labels.
        """
        step = -(-max(1, len(self)) // _COUNTED)
        counter = _FieldCounter()
        last = -1
        while True:
            with self._state.snapshot.catalog() as catalog:
                # Each block opens the catalog, so other threads can read in between.
                rows = catalog.execute(
                    "SELECT position, label, metadata FROM documents WHERE position > ? "
                    "AND position % ? = 0 ORDER BY position LIMIT ?",
                    (last, step, _COUNTED_CHUNK),
                ).fetchall()
            if not rows:
                return FieldValues(
                    counter.most_common(n_fields, n_values),
                    [(label, count) for (_, label), count in counter.labels.most_common(n_labels)],
                    step,
                )
            last = rows[-1][0]
            for _, label, metadata in rows:
                counter.add(label, metadata)

    # Searches

    def rankings(self) -> list[RankingInfo]:
        """Return the rankings that can be selected by name, including attached models."""
        found = [_info_of_ranking(name) for name in NAMES]
        for name, record in self._state.snapshot.models.items():
            if record.damage:
                continue
            takes_text = self._state.models.can_apply(record)
            measure = {"inner": "inner product", "euclidean": "Euclidean distance"}
            text = f"Ranking by the {measure.get(record.metric, record.metric)} of embeddings."
            if not takes_text:
                text += " The index does not have the encoder, so a query must be a document."
            far = record.metric == "euclidean"
            found.append(RankingInfo(name, name, "model", far, record.metric, text, takes_text))
        return found

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        ranking: RankingLike = "bm25",
        where: Where | None = None,
        threshold: float | None = None,
        offset: int = 0,
        syntax: Syntax = "auto",
    ) -> Hits:
        """Find the documents that are most similar to a query; see `Index.search`."""
        request = SearchRequest(
            checked_query(query),
            ranking=ranking,
            k=k,
            offset=offset,
            threshold=threshold,
            where=filter_of(where),
            syntax=syntax,
        )
        return self.find(request)

    def similar(
        self,
        id: str,
        k: int = 10,
        *,
        ranking: RankingLike = "bm25",
        where: Where | None = None,
        threshold: float | None = None,
        offset: int = 0,
    ) -> Hits:
        """Find the documents that are most similar to a document; see `Index.similar`."""
        request = SearchRequest(
            like=id,
            ranking=ranking,
            k=k,
            offset=offset,
            threshold=threshold,
            where=filter_of(where),
        )
        return self.find(request)

    def find(self, request: SearchRequest) -> Hits:
        """Find the documents that match a search request; see `Index.find`."""
        return self._searcher.find(request)

    def explain(self, document: str, request: SearchRequest) -> Explanation:
        """Explain the score of a document as a sum of parts, even if it is not a hit.

        Parameters
        ----------
        document : str
            ID of the document.
        request : SearchRequest
            The request; `k`, `offset`, and `threshold` are ignored.

        Raises
        ------
        KeyError
            If no document has one of the IDs.
        LookupError
            If the document has no score: it has no vector of the model, or the index has no words.
            A document that is not a candidate of a hybrid has the score 0, and parts that say so.
        EmptyDocumentError
            If the ranking uses transport, and the query or the document has no words to compare.
        """
        return self._searcher.explain(document, request)

    def compare(
        self, a: str | Document, b: str | Document, ranking: RankingLike = "wmd"
    ) -> Explanation:
        """Explain the similarity of two texts or documents by a ranking.

        Parameters
        ----------
        a, b : str or Document
            Text, or document of the index, which is looked up by its ID.
        ranking : str, TfIdf, BM25, WordMover or ranking, default="wmd"
            Any ranking except hybrids. Words are weighted by the statistics of the index.

        Returns
        -------
        Explanation
            Parts that sum to the score of `b` for the query `a`.

        Raises
        ------
        KeyError
            If the ID of a document is not in the index.
        ValueError
            If the ranking is a hybrid, or the index has no words.
        EmptyDocumentError
            If the ranking uses transport, and a text has no words to compare.
        """
        scorer = self._searcher.scorer(ranking)
        if not self.average_length and not isinstance(scorer, ModelScorer):
            raise ValueError("The index must have words to compare texts; add documents first.")
        query = self._query(scorer, a)
        if isinstance(b, Document):
            explained: Explanation = scorer.explain(query, self._searcher.row_of(b.id))
            return explained
        return scorer.explain_text(query, b)

    def align(
        self, explanation: Explanation, a: str, b: str, ranking: RankingLike = "wmd"
    ) -> AlignedText | None:
        """Return two texts with each word's transport distance, from an explanation.

        Parameters
        ----------
        explanation : Explanation
            Result of `explain` or `compare`.
        a, b : str
            Texts that `explanation` compares.
        ranking : str, WordMover or ranking, default="wmd"
            Ranking that made `explanation`.

        Returns
        -------
        AlignedText or None
            None if no words move in the explanation, or a text is empty.
        """
        return self._searcher.scorer(ranking).align(explanation, a, b)

    def compared_words(
        self, document: str | Document, ranking: RankingLike = "wmd"
    ) -> ComparedWords | None:
        """Return the words of a text that a transport ranking compares, or None.

        Parameters
        ----------
        document : str or Document
            Text, or document of the index, which is looked up by its ID.
        ranking : str, WordMover or ranking, default="wmd"
            Transport ranking, or hybrid ranking with a transport ranking among its parts.

        Returns
        -------
        ComparedWords or None
            None if the ranking does not compare word vectors, or the index has no words.
        """
        scorer = self._searcher.scorer(ranking)
        return scorer.compared_words(self._query(scorer, document))

    # Private methods

    def _query(self, scorer: Scorer[Any], given: str | Document) -> Any:  # noqa: ANN401
        """Convert a text, or a document of the index, to a query for a scorer."""
        if isinstance(given, Document):
            return scorer.of_row(self._searcher.row_of(given.id))
        return scorer.of_text(given)


class _FieldCounter:
    """Counter of labels, metadata fields, and their values over documents."""

    def __init__(self) -> None:
        # The keys include the type, because True, 1, and 1.0 are equal but distinct values.
        self.labels: Counter[tuple[type, Label]] = Counter()
        self._fields: Counter[str] = Counter()
        self._values: dict[str, Counter[tuple[type, Label]]] = {}
        self._ranges: dict[str, _Range] = {}

    def most_common(self, n_fields: int, n_values: int) -> list[ValueCounts]:
        """Return the most frequent metadata fields with their most frequent values."""
        return [
            ValueCounts(
                name,
                count,
                [(value, n) for (_, value), n in self._values[name].most_common(n_values)],
                *self._ranges[name].summary(),
            )
            for name, count in self._fields.most_common(n_fields)
        ]

    def add(self, label: str, metadata: str) -> None:
        """Count the label and the metadata values of one document, given as JSON."""
        if label != "null":
            _count(self.labels, json.loads(label))
        if metadata == "{}":
            return
        for name, value in json.loads(metadata).items():
            if name not in self._fields and len(self._fields) >= _DISTINCT:
                continue
            self._fields[name] += 1
            values = self._values.setdefault(name, Counter())
            within = self._ranges.setdefault(name, _Range())
            for one in value if isinstance(value, list) else [value]:
                short = not isinstance(one, str) or len(one) <= _LONGEST
                if isinstance(one, str | int | float) and short:
                    _count(values, one)
                within.add(one)


class _Range:
    """Range of the values of a field, as long as all of them are numbers, or all are dates."""

    def __init__(self) -> None:
        self._type: Literal["number", "date", "time"] | None = None
        self._mixed = False
        self._low: Any = None
        self._high: Any = None

    def add(self, value: object) -> None:
        """Extend the range by a value; null has no effect."""
        if self._mixed or value is None:
            return
        kind = _range_type(value)
        if kind is None or (self._type is not None and (kind == "number") != self._is_number):
            self._mixed = True
        elif self._type is None:
            self._type, self._low, self._high = kind, value, value
        else:
            self._type = "time" if kind == "time" else self._type
            self._low, self._high = min(self._low, value), max(self._high, value)

    def summary(self) -> tuple[Literal["number", "date", "time"] | None, Any, Any]:
        """Return the type and the smallest and largest value; None for mixed values."""
        return (None, None, None) if self._mixed else (self._type, self._low, self._high)

    @property
    def _is_number(self) -> bool:
        return self._type == "number"


def _range_type(value: object) -> Literal["number", "date", "time"] | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    found = _DATE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    return "date" if found[1] is None else "time"


def _count(counter: Counter[tuple[type, Label]], value: Label) -> None:
    """Increment the count of a value, unless the limit of distinct values is reached."""
    key = type(value), value
    if len(counter) < _DISTINCT or key in counter:
        counter[key] += 1


_METRICS = {
    "inner": "inner product",
    "binary": "shared words",
    "tfidf": "cosine",
    "cosine": "cosine",
    "wmd": "distance",
    "rwmd": "distance",
    "wcd": "distance",
}


def _info_of_ranking(name: str) -> RankingInfo:
    ranking = ranking_of(name)
    kind: Literal["words", "transport", "model", "hybrid"] = "model"
    if isinstance(ranking, TermRanking):
        kind = "words"
    elif isinstance(ranking, TransportRanking):
        kind = "transport"
    elif isinstance(ranking, CombinedRanking):
        kind = "hybrid"
    title, text = _TEXTS.get(name, (name, ""))
    return RankingInfo(name, title, kind, ranking.ascending, _METRICS.get(name, "score"), text)
