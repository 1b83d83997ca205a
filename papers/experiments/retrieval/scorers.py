"""Scores of all documents for all queries, by every model of the experiment ``retrieval``.

Words are stems (Snowball's English) without SMART stop words; models of word vectors use whole
words. Models are trained on the documents alone.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from papers.cells import Task
from papers.document_vectors import FULL, QUICK, DocumentVectors
from papers.judged_collections import Counted, counted, judged
from papers.rankings import CUT, Scores, Settings, candidates
from textkin._base import Bags
from textkin.distance import pairwise_similarities
from textkin.models import LDA, LSI, Pooling
from textkin.text import BagOfWords
from textkin.transport import WordMover
from textkin.vectors import WordVectors
from textkin.weighting import BM25, TfIdf

__all__ = ["MODELS", "Model", "bm25", "bm25_of_words"]

Model: TypeAlias = Callable[[Task], Settings]
"""Function of a task that returns the scoring function of each setting."""

_DIMENSIONS = (25, 50, 75, 100, 150, 200, 300)
_TOPICS = (50, 100, 200)
_DEPTHS = (20, 100, CUT)
_QUICK_CANDIDATES = 50


def bm25(task: Task) -> Scores:
    """Score stems by BM25, k1 = 1.2 and b = 0.75; -inf for documents without a query word."""
    return task.memo("BM25", lambda: _by_words(*_stems(task)), "dataset")


def bm25_of_words(task: Task) -> Scores:
    """Score whole words by BM25."""
    return _by_words(*counted(task, None))


def _tfidf(task: Task) -> Settings:
    def cosine() -> Scores:
        queries, documents = _stems(task)
        weigh = TfIdf(sublinear=True).fit(documents)
        return _cosines(weigh.transform(queries), weigh.transform(documents))

    return {"": cosine}


def _lsi(task: Task) -> Settings:
    def folded() -> tuple[Any, Any]:
        queries, documents = _stems(task)
        weigh = TfIdf(sublinear=True).fit(documents)
        rows = weigh.transform(documents)
        most = min(max(_DIMENSIONS), *(size - 1 for size in rows.shape))
        model = LSI(most, random_state=0).fit(rows)
        return model.transform(weigh.transform(queries)), model.transform(rows)

    def cosine(k: int) -> Scores:
        queries, documents = task.memo("LSI", folded, "dataset")
        return _cosines(queries[:, :k], documents[:, :k])

    return {f"k = {k}": partial(cosine, k) for k in _DIMENSIONS[:: 5 if task.quick else 1]}


def _lda(task: Task) -> Settings:
    def cosine(k: int) -> Scores:
        queries, documents = _stems(task)
        sweeps = QUICK.sweeps if task.quick else FULL.sweeps
        model = LDA(k, method="gibbs", max_iter=sweeps, random_state=0, n_jobs=task.n_jobs)
        model.fit(documents)
        return _cosines(model.transform(queries), model.document_topics_)

    return {
        f"{k} topics": partial(_kept, task, f"LDA {k}", partial(cosine, k))
        for k in _TOPICS[: 1 if task.quick else None]
    }


def _encoded(kinds: Mapping[str, str], of: str) -> Model:
    """Return a model of vector cosines; `kinds` maps settings to kinds of vector encoders."""

    def model(task: Task) -> Settings:
        collection = judged(task)

        def cosine(how: str) -> Scores:
            learnt = task.memo(
                "vectors",
                lambda: DocumentVectors(
                    collection.data.documents, QUICK if task.quick else FULL, task.n_jobs
                ),
                "dataset",
            )
            encode = learnt.encoder(how, of)
            return _cosines(encode(collection.texts), encode(collection.data.documents))

        return {
            name: partial(_kept, task, f"{how}, {of}", partial(cosine, how))
            for name, how in kinds.items()
        }

    return model


def _pooled(task: Task) -> Settings:
    collection = judged(task)

    def cosine(weights: Any) -> Scores:  # noqa: ANN401 (a name of weights)
        vectors = task.memo("bare", lambda: WordVectors.builtin().without_components(3), "run")
        pooling = Pooling(vectors, word_weights=weights, stop_words="smart", n_jobs=task.n_jobs)
        pooling.fit(collection.data.documents)
        return _cosines(
            pooling.transform(collection.texts), pooling.transform(collection.data.documents)
        )

    return {
        weights: partial(_kept, task, f"pooled {weights}", partial(cosine, weights))
        for weights in ("tfidf", "sif")
    }


def _reranked(task: Task) -> Settings:
    """Rerank the best documents of BM25 by transport; the others follow in BM25's order."""

    def order(masses: str, depth: int) -> Scores:
        words = bm25(task)
        apart = _distances(task, masses)
        moved = candidates(words, depth) & np.isfinite(apart)
        behind = np.where(words > -np.inf, words / (1 + words.max()), -np.inf)  # always below 1
        return np.where(moved, 1 + 1 / (1 + np.where(moved, apart, 0)), behind)

    return {
        f"{masses}, best {depth}": partial(order, masses, depth)
        for masses in ("nbow", "tfidf")
        for depth in _DEPTHS
    }


def _near(task: Task) -> Settings:
    """Score the best documents of BM25 by their negative distance; the rest has no score."""

    def nearness(masses: str) -> Scores:
        return -_distances(task, masses)

    return {masses: partial(nearness, masses) for masses in ("nbow", "tfidf")}


def _distances(task: Task, masses: Any) -> Scores:  # noqa: ANN401 (a name of masses)
    """Return the WMD of each query to the best documents of BM25, stored on disk; inf elsewhere."""
    collection = judged(task)

    def solved() -> dict[str, Any]:
        most = _QUICK_CANDIDATES if task.quick else CUT
        asked, found = np.nonzero(candidates(bm25(task), most))
        counter = BagOfWords("smart", n_jobs=task.n_jobs).fit(
            [*collection.data.documents, *collection.texts]
        )
        queries, documents = map(counter.transform, (collection.texts, collection.data.documents))
        vectors = WordVectors.builtin().align(counter.vocabulary_)
        known = ~np.isnan(vectors[:, 0])
        full = [np.asarray(bags[:, known].sum(axis=1)).ravel() > 0 for bags in (queries, documents)]
        both = full[0][asked] & full[1][found]
        mover = WordMover(vectors, word_weights=masses, empty="inf", n_jobs=task.n_jobs).fit(
            documents
        )
        apart = np.full((len(collection.queries), len(collection.data)), np.inf, dtype=np.float32)
        for row in np.unique(asked[both]):
            those = found[both & (asked == row)]
            apart[row, those] = mover.paired(queries[[row] * len(those)], documents[those])
        return {"distances": apart}

    return task.memo(
        f"WMD {masses}",
        lambda: task.arrays("distances", solved, masses=masses)["distances"],
        "dataset",
    )


def _kept(task: Task, name: str, make: Callable[[], Scores]) -> Scores:
    """Return the scores of this name, computed once and used both alone and with BM25."""
    return task.memo(f"scores {name}", make, "dataset")


def _stems(task: Task) -> Counted:
    return counted(task, "english")


def _by_words(queries: Bags, documents: Bags) -> Scores:
    weigh = BM25().fit(documents)
    scores = pairwise_similarities(
        weigh.transform_queries(queries), weigh.transform(documents), "inner"
    )
    return np.where(scores > 0, scores, -np.inf).astype(np.float32)


def _cosines(queries: Any, documents: Any) -> Scores:  # noqa: ANN401 (sparse or dense)
    return pairwise_similarities(queries, documents).astype(np.float32)


_GAUSSIAN = {"means": "FV-GMM", "means and weights": "FV-GMM with weights"}
_SPHERICAL = {
    "tangent": "FV-moVMF",
    "eq. 12": "FV-moVMF (eq. 12)",
    "means and weights": "FV-moVMF with weights",
}

MODELS: dict[str, tuple[Model, Model]] = {
    "TF-IDF": (_tfidf, _tfidf),
    "LSI": (_lsi, _lsi),
    "LDA": (_lda, _lda),
    **{
        f"{name}, {of}": (model, model)
        for of in ("neural", "built-in")
        for name, model in (
            ("cBow", _encoded({"": "mean"}, of)),
            ("FV-GMM", _encoded(_GAUSSIAN, of)),
            ("FV-moVMF", _encoded(_SPHERICAL, of)),
        )
    },
    "pooled, built-in": (_pooled, _pooled),
    "WMD": (_reranked, _near),
}
"""Pairs of models by name: one ranks alone, the other is added to BM25."""
