"""The collection as a whole: a map of its documents, with clusters."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from textkin._typing import Bags, Float64Array, Int64Array
from textkin.index.ranking._models import ModelRanking
from textkin.index.ranking._view import View
from textkin.learn import DocumentClusters
from textkin.learn._kmeans import n_distinct, unit_rows
from textkin.models import LSI, Pooling
from textkin.run import ProgressCallback
from textkin.web import _overview_answers as answers
from textkin.web._jobs import Made, Wanted, encoded, part_of
from textkin.web._layout import laid_out
from textkin.web._problems import Problem
from textkin.web._sample import Sample, sample_of
from textkin.web._store import Named, Store, state_of
from textkin.weighting import TfIdf

__all__ = ["overview", "representations"]

_DIMENSIONS = 50
_WORDS = 12
_LABELS = 200  # that the map tells apart
_SEED = 0
_MANY = 2_000
_STEPS = 100


def representations(store: Store, view: View) -> list[Named]:
    """Return what a map may be made of."""
    found = [
        Named("tfidf", "Words", "words", False, "Words by TF-IDF, in 50 latent dimensions (LSI)."),
        Named("vectors", "Word vectors", "model", False, "The weighted mean of word vectors."),
    ]
    return found + [named for named in store.rankings(view) if named.kind == "model"]


def overview(store: Store, by: str, n_clusters: int, field: str) -> Wanted:
    """Return what makes the map and its clusters, whose number came in a field."""
    limits = store.limits
    if n_clusters > limits.clusters:
        said = f"{field} must be at most {limits.clusters}; got {n_clusters}."
        raise Problem("invalid", said, field)
    view = store.view()
    names = [named.name for named in representations(store, view)]
    if by not in names:
        raise Problem("invalid", f"by must be one of {', '.join(names)}; got {by[:40]!r}.", "by")

    def make(progress: ProgressCallback) -> Made:
        return _overview(store.view(), by, n_clusters, limits.map, progress)

    return Wanted(("overview", by, n_clusters), state_of(view), make)


def _overview(view: View, by: str, n_clusters: int, most: int, progress: ProgressCallback) -> Made:
    state = state_of(view)
    sample = sample_of(view, most, part_of(progress, 0, 10))
    rows = _represented(view, sample, by)
    del view
    progress(25, _STEPS)
    filled = np.flatnonzero(np.abs(rows).sum(axis=1) > 0) if len(rows) else np.empty(0, np.int64)
    labels = np.full(len(sample), -1, np.int64)
    found: DocumentClusters | None = None
    if len(filled):
        n = min(n_clusters, n_distinct(unit_rows(rows[filled])))
        found = DocumentClusters(
            n, model=_Given(rows), words=sample.words or None, n_init=3, random_state=_SEED
        ).fit(sample.bags, progress=part_of(progress, 25, 45))
        labels = found.labels_
    places = laid_out(rows, part_of(progress, 45, 98))
    made = _Overview(by, state, sample, labels, places, found)
    return Made(state, {"map": encoded(made.map()), "clusters": encoded(made.clusters())})


class _Given(TransformerMixin, BaseEstimator):
    """Vectors that are known already, in the order of the documents."""

    def __init__(self, rows: Any) -> None:  # noqa: ANN401 (an array)
        self.rows = rows

    def fit(self, X: Bags, y: object = None) -> Self:
        return self

    def transform(self, X: Bags) -> Any:  # noqa: ANN401
        return self.rows


def _represented(view: View, sample: Sample, by: str) -> Float64Array:
    """Return a vector for each document; zeros where there is nothing to compare."""
    bags, n = sample.bags, len(sample)
    if not n or not bags.nnz:
        return np.zeros((n, 2))
    if by == "tfidf":
        weighed = TfIdf("sklearn", sublinear=True).fit_transform(_shared(bags))
        # Fewer steps than for retrieval: the map needs neighbours, not digits.
        lsi = LSI(min(_DIMENSIONS, *weighed.shape), n_iter=2, random_state=_SEED)
        return np.asarray(lsi.fit_transform(weighed), np.float64)
    if by == "vectors":
        matrix = view.vectors().align(sample.words)
        pooling = Pooling(matrix, weights="sif", remove_components=1)
        return np.asarray(pooling.fit_transform(bags), np.float64)
    ranker: Any = ModelRanking(by).on(view)
    return np.asarray(ranker.vectors.matrix[sample.rows], np.float64)


def _shared(bags: Bags) -> Bags:
    """Leave out words of a single document, which bring no two near, where there are many."""
    if bags.shape[0] < _MANY:
        return bags
    return bags[:, np.flatnonzero(np.bincount(bags.indices, minlength=bags.shape[1]) > 1)]


class _Overview:
    """What was found, as answers."""

    def __init__(
        self,
        by: str,
        state: str,
        sample: Sample,
        labels: Int64Array,
        places: Float64Array,
        found: DocumentClusters | None,
    ) -> None:
        self._by, self._state, self._sample = by, state, sample
        self._labels, self._places, self._found = labels, places, found

    def map(self) -> answers.MapOfDocuments:
        sample = self._sample
        names, numbers = _label_numbers(sample.labels)
        return answers.MapOfDocuments(
            by=self._by,
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

    def clusters(self) -> answers.Clusters:
        sample = self._sample
        found = []
        for cluster in self._found.clusters_ if self._found is not None else []:
            x, y = np.median(self._places[cluster.members], axis=0).round(4).tolist()
            at = cluster.central
            found.append(
                answers.OneCluster(
                    number=cluster.number,
                    size=cluster.size,
                    words=[
                        answers.WeighedWord(word=word, weight=weight)
                        for word, weight in cluster.words
                    ],
                    central=answers.Start(id=sample.ids[at], start=sample.titles[at]),
                    x=x,
                    y=y,
                )
            )
        return answers.Clusters(
            by=self._by,
            clusters=found,
            total=sample.total,
            notes=sample.notes,
            state=self._state,
        )


def _label_numbers(labels: list[Any]) -> tuple[list[str], list[int]]:
    """Return the most frequent labels as text, and the place of each document's among them."""
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
