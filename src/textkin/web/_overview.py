"""Overviews of the whole collection: map with clusters, and topics."""

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin

from textkin.index import IndexReader
from textkin.learn import DocumentClustering, count_distinct_rows, map_layout
from textkin.models import LDA, LSI, Pooling
from textkin.run import ProgressCallback, part_of
from textkin.text import remove_stop_words, stop_word_set
from textkin.web import _answers as answers
from textkin.web._documents import start
from textkin.web._errors import Problem
from textkin.web._index import ServedIndex, representations
from textkin.web._jobs import JobRequest, JobResult, encoded
from textkin.weighting import TfIdf

__all__ = ["overview", "topics"]

Bags: TypeAlias = "sparse.csr_array[np.float32]"

_DIMENSIONS = 50
_WORDS = 12
_LABELS = 200  # maximum number of labels on the map
_SEED = 0
_MANY = 2_000
_STEPS = 100
_SWEEPS = 200
_DOCUMENTS = 5  # documents per topic
_TITLE = 80
_CHUNK = 512  # number of documents between progress reports


@dataclass(frozen=True, eq=False)
class DocumentSample:
    """Documents of one snapshot, without a reference to the snapshot.

    Attributes
    ----------
    rows : ndarray of int64
        Row numbers in the snapshot.
    ids, titles : list of str
        IDs, and starts of texts.
    labels : list
        Label of each document, or None.
    bags : csr_array
        Word counts. Columns are words that are not stop words and occur in the sample.
    words : list of str
        Word of each column.
    total : int
        Number of documents in the index.
    """

    rows: NDArray[np.int64]
    ids: list[str]
    titles: list[str]
    labels: list[Any]
    bags: Bags
    words: list[str]
    total: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def notes(self) -> list[str]:
        """Note that the documents are a sample, if they are."""
        if len(self) >= self.total:
            return []
        return [f"An even sample of {len(self):,} of {self.total:,} documents."]


def _sample(reader: IndexReader, most: int, progress: ProgressCallback) -> DocumentSample:
    """Return documents of a snapshot, an even sample in the order of insertion."""
    rows = reader.sample(most)
    ids: list[str] = []
    titles: list[str] = []
    labels: list[Any] = []
    for document in reader.documents(rows):  # only the current text is in memory
        ids.append(document.id)
        titles.append(start(document.text, _TITLE))
        labels.append(document.label)
        if len(ids) % _CHUNK == 0:
            progress(len(ids), len(rows))
    progress(len(rows), max(1, len(rows)))
    bags = reader.bags(rows)
    used = np.flatnonzero(np.bincount(bags.indices, minlength=bags.shape[1]))
    names = reader.words(used.tolist())
    content = {*remove_stop_words(names, stop_word_set("smart"))}
    kept = [at for at, word in enumerate(names) if word in content]
    bags = sparse.csr_array(bags[:, used[kept]])
    return DocumentSample(rows, ids, titles, labels, bags, [names[at] for at in kept], len(reader))


def overview(served: ServedIndex, representation: str, n_clusters: int, field: str) -> JobRequest:
    """Create the job that computes the map and its clusters; `field` names the number in errors."""
    limits = served.limits
    if n_clusters > limits.clusters:
        said = f"{field} must be at most {limits.clusters}; got {n_clusters}."
        raise Problem("invalid", said, field)
    reader = served.reader()
    names = [named.name for named in representations(reader)]
    if representation not in names:
        raise Problem(
            "invalid",
            f"representation must be one of {', '.join(names)}; got {representation[:40]!r}.",
            "representation",
        )

    def make(progress: ProgressCallback) -> JobResult:
        return _overview(served.reader(), representation, n_clusters, limits.map, progress)

    return JobRequest(("overview", representation, n_clusters), str(reader.number), make)


def _overview(
    reader: IndexReader, representation: str, n_clusters: int, most: int, progress: ProgressCallback
) -> JobResult:
    state = str(reader.number)
    sample = _sample(reader, most, part_of(progress, 0, 10))
    rows = _document_vectors(reader, sample, representation)
    del reader  # a referenced snapshot keeps the log of the index from being truncated
    progress(25, _STEPS)
    filled = np.flatnonzero(np.abs(rows).sum(axis=1) > 0) if len(rows) else np.empty(0, np.int64)
    labels = np.full(len(sample), -1, np.int64)
    found: DocumentClustering | None = None
    if len(filled):
        n = min(n_clusters, count_distinct_rows(rows[filled], normalize=True))
        found = DocumentClustering(
            n,
            model=_FixedVectors(rows),
            feature_names=sample.words or None,
            n_init=3,
            random_state=_SEED,
        ).fit(sample.bags, progress=part_of(progress, 25, 45))
        labels = found.labels_
    places = map_layout(rows, part_of(progress, 45, 98))
    made = _Overview(representation, state, sample, labels, places, found)
    return JobResult(state, {"map": encoded(made.map()), "clusters": encoded(made.clusters())})


class _FixedVectors(TransformerMixin, BaseEstimator):
    """Transformer that returns precomputed vectors, in the order of the documents."""

    def __init__(self, rows: Any) -> None:  # noqa: ANN401 (an array)
        self.rows = rows

    def fit(self, X: Bags, y: object = None) -> Self:
        return self

    def transform(self, X: Bags) -> Any:  # noqa: ANN401
        return self.rows


def _document_vectors(
    reader: IndexReader, sample: DocumentSample, representation: str
) -> NDArray[np.float64]:
    """Return a vector for each document, or zeros for a document without words to compare."""
    bags, n = sample.bags, len(sample)
    if not n or not bags.nnz:
        return np.zeros((n, 2))
    if representation == "tfidf":
        weighed = TfIdf("sklearn", sublinear=True).fit_transform(_shared(bags))
        # Fewer iterations than for retrieval, as the map requires only approximate neighbors.
        lsi = LSI(min(_DIMENSIONS, *weighed.shape), n_iter=2, random_state=_SEED)
        return np.asarray(lsi.fit_transform(weighed), np.float64)
    if representation == "vectors":
        matrix = reader.vectors().align(sample.words)
        pooling = Pooling(matrix, word_weights="sif", remove_components=1)
        return np.asarray(pooling.fit_transform(bags), np.float64)
    return np.asarray(reader.model_vectors(representation, sample.rows), np.float64)


def _shared(bags: Bags) -> Bags:
    """Drop words of a single document, which create no similarity, if there are many documents."""
    if bags.shape[0] < _MANY:
        return bags
    return bags[:, np.flatnonzero(np.bincount(bags.indices, minlength=bags.shape[1]) > 1)]


class _Overview:
    """Computed map and clusters, which make the responses of the API."""

    def __init__(
        self,
        representation: str,
        state: str,
        sample: DocumentSample,
        labels: NDArray[np.int64],
        places: NDArray[np.float64],
        found: DocumentClustering | None,
    ) -> None:
        self._representation, self._state, self._sample = representation, state, sample
        self._labels, self._places, self._found = labels, places, found

    def map(self) -> answers.MapAnswer:
        sample = self._sample
        names, numbers = _label_numbers(sample.labels)
        return answers.MapAnswer(
            representation=self._representation,
            state=self._state,
            ids=sample.ids,
            x=self._places[:, 0].round(4).tolist(),
            y=self._places[:, 1].round(4).tolist(),
            label=numbers,
            labels=names,
            cluster=self._labels.tolist(),
            titles=sample.titles,
            total=sample.total,
            notes=sample.notes,
        )

    def clusters(self) -> answers.ClustersAnswer:
        sample = self._sample
        found = []
        for cluster in self._found.clusters_ if self._found is not None else []:
            x, y = np.median(self._places[cluster.members], axis=0).round(4).tolist()
            at = cluster.central
            found.append(
                answers.ClusterEntry(
                    number=cluster.number,
                    size=cluster.size,
                    words=[
                        answers.WordWeight(word=word, weight=weight)
                        for word, weight in cluster.words
                    ],
                    central=answers.DocumentStart(id=sample.ids[at], start=sample.titles[at]),
                    x=x,
                    y=y,
                )
            )
        return answers.ClustersAnswer(
            representation=self._representation,
            clusters=found,
            total=sample.total,
            notes=sample.notes,
            state=self._state,
        )


def _label_numbers(labels: list[Any]) -> tuple[list[str], list[int]]:
    """Return the most frequent labels, and the index of each document's label (-1 for others)."""
    texts = [None if label is None else _label_text(label) for label in labels]
    counts: dict[str, int] = {}
    for text in texts:
        if text is not None:
            counts[text] = counts.get(text, 0) + 1
    names = sorted(counts, key=lambda name: (-counts[name], name))[:_LABELS]
    at = {name: number for number, name in enumerate(names)}
    return names, [-1 if text is None else at.get(text, -1) for text in texts]


def _label_text(label: object) -> str:
    return label if isinstance(label, str) else str(label).lower()


def topics(served: ServedIndex, n: int) -> JobRequest:
    """Return the request for topics: latent Dirichlet allocation by collapsed Gibbs sampling."""
    limits = served.limits
    if n > limits.topics:
        raise Problem("invalid", f"n must be at most {limits.topics}; got {n}.", "n")

    def make(progress: ProgressCallback) -> JobResult:
        return _topics(served.reader(), n, limits.map, progress)

    return JobRequest(("topics", n), str(served.reader().number), make)


def _topics(reader: IndexReader, n: int, most: int, progress: ProgressCallback) -> JobResult:
    state = str(reader.number)
    sample = _sample(reader, most, part_of(progress, 0, 10))
    del reader
    found: list[answers.TopicEntry] = []
    if sample.bags.nnz:
        model = LDA(n, method="gibbs", doc_topic_prior=0.1, max_iter=_SWEEPS, random_state=_SEED)
        model.fit(sample.bags, progress=part_of(progress, 10, 99))
        found = _topic_list(model, sample)
    answer = answers.TopicsAnswer(topics=found, total=sample.total, notes=sample.notes, state=state)
    return JobResult(state, {"topics": encoded(answer)})


def _topic_list(model: LDA, sample: DocumentSample) -> list[answers.TopicEntry]:
    shares = model.document_topics_ * (np.diff(sample.bags.indptr) > 0)[:, None]
    found = []
    for number, topic in enumerate(model.topics(sample.words, n_words=_WORDS)):
        column = shares[:, topic.number]
        nearest = np.argsort(-column, kind="stable")[:_DOCUMENTS]
        found.append(
            answers.TopicEntry(
                number=number,
                weight=topic.weight,
                words=[
                    answers.WordWeight(word=word, weight=weight) for word, weight in topic.words
                ],
                documents=[
                    answers.DocumentStart(
                        id=sample.ids[at], start=sample.titles[at], share=float(column[at])
                    )
                    for at in nearest.tolist()
                    if column[at] > 0
                ],
            )
        )
    return found
