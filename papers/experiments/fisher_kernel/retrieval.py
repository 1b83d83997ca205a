"""Scores of all documents for all queries under each setting, for Hofmann's Table 1.

Each function yields the name of a setting and a matrix of scores, so that only one matrix is in
memory at a time.
"""

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, TypeAlias

from papers.cells import Task
from papers.judged_collections import Counted, counted, judged
from papers.rankings import Scores, crossed
from textkin.distance import pairwise_similarities
from textkin.models import LSI, PLSA, FisherKernel
from textkin.weighting import BM25, TfIdf

__all__ = ["SCORERS", "average_precisions"]

FACTORS = (1, 32, 48, 64, 80, 128)
DIMENSIONS = (25, 50, 75, 100, 150, 200, 300)
WEIGHTS = tuple(round(0.1 * step, 1) for step in range(1, 10))
_QUICK_FACTORS, _QUICK_DIMENSIONS, _QUICK_STEPS = (1, 8, 64), (2, 4), 5

Scored: TypeAlias = Iterator[tuple[str, Scores]]
Scorer: TypeAlias = Callable[[Task], Scored]


def average_precisions(task: Task, scorer: str) -> dict[str, Any]:
    """Compute a cell: average precision of a scorer, with settings chosen on other queries."""
    return crossed(SCORERS[scorer](task), judged(task))


def stems(task: Task) -> Counted:
    """Return the counts of Porter's stems in the queries and documents of a task."""
    return counted(task, "porter")


def raw_cosine(task: Task) -> Scored:
    """Yield the cosine of counts, the vector-space model of the paper."""
    yield "", pairwise_similarities(*stems(task))


def tfidf_cosine(task: Task) -> Scored:
    """Yield the cosine of counts times log(N / df)."""
    some = stems(task)
    weigh = TfIdf().fit(some.documents)
    yield "", pairwise_similarities(weigh.transform(some.queries), weigh.transform(some.documents))


def bm25(task: Task) -> Scored:
    """Yield BM25 scores with k1 = 1.2 and b = 0.75, not tuned."""
    some = stems(task)
    weigh = BM25().fit(some.documents)
    queries = weigh.transform_queries(some.queries)
    yield "", pairwise_similarities(queries, weigh.transform(some.documents), "inner")


def lsi(task: Task, idf: bool) -> Scored:
    """Yield the cosine in LSI spaces of several dimensions, from counts or tf-idf."""
    some = stems(task)
    weigh = (TfIdf() if idf else TfIdf(idf="one", norm=None)).fit(some.documents)
    queries, documents = map(weigh.transform, some)
    wanted = _QUICK_DIMENSIONS if task.quick else DIMENSIONS
    numbers = [number for number in wanted if number < min(documents.shape)] or [1]
    model = LSI(max(numbers), random_state=0).fit(documents)
    of_queries, of_documents = model.transform(queries), model.transform(documents)
    for number in numbers:
        yield f"k={number}", pairwise_similarities(of_queries[:, :number], of_documents[:, :number])


def plsi(task: Task) -> Scored:
    """Yield the cosine between inferred factors of queries and documents, and its model mean."""
    some = stems(task)
    mean, models = None, [m for m in kernel_of(task).models_ if m.n_components > 1]
    for model in models:
        scores = pairwise_similarities(
            model.transform(some.queries), model.transform(some.documents)
        )
        mean = scores if mean is None else mean + scores
        yield f"K={model.n_components}", scores
    if mean is not None:
        yield "all K", mean / len(models)


def fisher(task: Task) -> Scored:
    """Yield Hofmann's normalized kernel K1 + K2 with 1 and 64 factors (Table 2), and with all."""

    def make() -> list[tuple[str, Scores]]:
        whole, made = kernel_of(task), []
        every = [model.n_components for model in whole.models_]
        for name, own in {"K=1, 64": [1, 64], "all K": every}.items():
            kernel = copy(whole).set_params(n_components=own)
            kernel.models_ = [model for model in whole.models_ if model.n_components in own]
            made.append((name, kernel.similarity(*stems(task))))
        return made

    yield from task.memo("fisher", make, "dataset")


def kernel_of(task: Task) -> FisherKernel:
    """Return kernels of tempered-EM models of the documents, one for each number of factors."""

    def make() -> FisherKernel:
        factors = _QUICK_FACTORS if task.quick else FACTORS
        model = PLSA(tempered=True)
        if task.quick:
            model.set_params(max_iter=_QUICK_STEPS)
        kernel = FisherKernel(
            factors, topic_model=model, normalize=True, random_state=0, n_jobs=task.n_jobs
        )
        return kernel.fit(stems(task).documents)

    return task.memo("kernel", make, "dataset")


def mixed(scorer: Scorer, base: Scorer) -> Scorer:
    """Return a scorer for (1 - w) cosine + w model with several weights w."""

    def mixture(task: Task) -> Scored:
        [(_, start)] = base(task)
        for setting, scores in scorer(task):
            for weight in WEIGHTS:
                yield f"{setting}, w={weight}", (1 - weight) * start + weight * scores

    return mixture


def _lsi_of(idf: bool) -> Scorer:
    return lambda task: lsi(task, idf)


SCORERS: dict[str, Scorer] = {
    "VSM": raw_cosine,
    "VSM, tf-idf": tfidf_cosine,
    "BM25": bm25,
    "LSI": _lsi_of(idf=False),
    "LSI, tf-idf": _lsi_of(idf=True),
    "VSM + LSI": mixed(_lsi_of(idf=False), raw_cosine),
    "VSM + LSI, tf-idf": mixed(_lsi_of(idf=True), tfidf_cosine),
    "PLSI": mixed(plsi, raw_cosine),
    "VSM++": mixed(fisher, raw_cosine),
    "VSM++, tf-idf": mixed(fisher, tfidf_cosine),
}
