"""What finds neighbours in the experiment ``knn``: weighted words, models, transport."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from textkin.distance._near import NearRows
from textkin.evaluate._cells import Task
from textkin.evaluate.experiments._labelled import stop_words_of
from textkin.evaluate.experiments._neighbours import MOST, Side, Vectors, found_by
from textkin.learn import RocchioClassifier
from textkin.learn._transport import TransportMeasure
from textkin.models import LDA, LSI, MSDA, CountingGrid
from textkin.transport import WordMover
from textkin.weighting import BM25, TfIdf, binary

__all__ = [
    "bm25_spaces",
    "counting_grids",
    "lda_spaces",
    "lsi_spaces",
    "moved",
    "mover_of",
    "msda_blocks",
    "msda_of_top_words",
    "naive_bayes",
    "rocchio",
    "support_vectors",
    "transported",
    "weighed",
]

_QUICK_STEPS = 20
_QUICK_CELLS = 8  # a side of a counting grid

Found = Iterator[tuple[Mapping[str, Any], NearRows]]
Choices = Sequence[Mapping[str, Any]]


def weighed(task: Task, learn: Side, ask: Side, settings: Choices) -> Found:
    """Find by weighted words: an idf, a norm, a metric."""
    for setting in settings:
        weights = TfIdf(idf=setting["idf"], norm=setting["norm"]).fit(learn.bags)

        def vectors(side: Side, weights: TfIdf = weights) -> Vectors:
            return [weights.transform(side.bags)]

        yield setting, found_by(task, learn, ask, vectors, setting["metric"])


def bm25_spaces(task: Task, learn: Side, ask: Side, settings: Choices) -> Found:
    """Find by BM25 weights of words, Euclidean."""
    for setting in settings:
        weights = BM25(**setting).fit(learn.bags)

        def vectors(side: Side, weights: BM25 = weights) -> Vectors:
            return [weights.transform(side.bags)]

        yield setting, found_by(task, learn, ask, vectors, "l2")


def lsi_spaces(task: Task, learn: Side, ask: Side, settings: Choices) -> Found:
    """Find by latent dimensions of L2 weights; the first k of one decomposition."""
    for idf in dict.fromkeys(setting["idf"] for setting in settings):
        own = [setting for setting in settings if setting["idf"] == idf]
        weights = TfIdf(idf=idf).fit(learn.bags)
        inputs = weights.transform(learn.bags)
        most = min(max(s["n_components"] for s in own), *(n - 1 for n in inputs.shape))
        model = LSI(most, random_state=0).fit(inputs)
        places = {id(side): model.transform(weights.transform(side.bags)) for side in (learn, ask)}
        for setting in own:

            def vectors(
                side: Side,
                k: int = setting["n_components"],
                places: Any = places,  # noqa: ANN401
            ) -> Vectors:
                return [places[id(side)][:, :k]]

            yield setting, found_by(task, learn, ask, vectors, "l2")


def lda_spaces(task: Task, learn: Side, ask: Side, settings: Choices) -> Found:
    """Find by shares of topics."""
    for setting in settings:
        model = LDA(
            setting["n_components"],
            method="gibbs",
            max_iter=_QUICK_STEPS if task.quick else setting["max_iter"],
            random_state=0,
            n_jobs=task.n_jobs,
        ).fit(learn.bags)

        def vectors(side: Side, model: LDA = model) -> Vectors:
            return [model.transform(side.bags)]

        yield setting, found_by(task, learn, ask, vectors, "l2")


def counting_grids(task: Task, learn: Side, ask: Side, settings: Choices) -> Found:
    """Find by shares of the windows of a counting grid."""
    for setting in settings:
        model = CountingGrid(
            _QUICK_CELLS if task.quick else setting["shape"],
            window=setting["window"],
            word_prior=setting["word_prior"],
            max_iter=_QUICK_STEPS if task.quick else setting["max_iter"],
            tol=1e-4,
            random_state=0,
            n_jobs=task.n_jobs,
        ).fit(learn.bags)

        def vectors(side: Side, model: CountingGrid = model) -> Vectors:
            return [model.transform(side.bags)]

        yield setting, found_by(task, learn, ask, vectors, "l2")


def msda_of_top_words(task: Task, learn: Side, ask: Side, settings: Choices) -> Found:
    """Find by the dense form of mSDA, on the share of the words that occur most."""
    n_words = learn.bags.shape[1]
    [(share, most)] = {(setting["share"], setting["most_words"]) for setting in settings}
    kept = min(max(round(share * n_words), 2), most)
    order = np.argsort(-np.asarray(learn.bags.sum(axis=0)).ravel(), kind="stable")
    yield from _msda(task, learn, ask, settings, np.sort(order[:kept]), None)


def msda_blocks(task: Task, learn: Side, ask: Side, settings: Choices) -> Found:
    """Find by mSDA of all words, in blocks."""
    n_words = learn.bags.shape[1]
    [size] = {setting["n_components"] for setting in settings}
    yield from _msda(task, learn, ask, settings, np.arange(n_words), min(size, n_words))


def _msda(
    task: Task,
    learn: Side,
    ask: Side,
    settings: Choices,
    words: Any,  # noqa: ANN401 (positions)
    size: int | None,
) -> Found:
    """Find by words and hidden layers side by side; a model serves every number of layers."""

    def counts(side: Side, idf: str) -> Any:  # noqa: ANN401 (sparse)
        bags = side.bags[:, words]
        return binary(bags) if idf == "binary" else TfIdf(idf="one").fit_transform(bags)

    for idf, noise in dict.fromkeys((s["idf"], s["noise"]) for s in settings):
        own = [s for s in settings if (s["idf"], s["noise"]) == (idf, noise)]
        layers = max(setting["n_layers"] for setting in own)
        model = MSDA(
            size, noise=noise, n_layers=layers, include_input=False, n_jobs=task.n_jobs
        ).fit(counts(learn, idf))
        inputs = {id(side): counts(side, idf) for side in (learn, ask)}
        hidden = {id(side): model.transform(inputs[id(side)]) for side in (learn, ask)}
        for setting in own:
            width = hidden[id(learn)].shape[1] // layers * setting["n_layers"]

            def vectors(
                side: Side,
                width: int = width,
                inputs: Any = inputs,  # noqa: ANN401
                hidden: Any = hidden,  # noqa: ANN401
            ) -> Vectors:
                return [inputs[id(side)], hidden[id(side)][:, :width]]

            yield setting, found_by(task, learn, ask, vectors, "l2")


def transported(task: Task, learn: Side, ask: Side, settings: Choices) -> Found:
    """Find by transport, with the built-in vectors."""
    for setting in settings:
        mover = mover_of(task, masses=setting["masses"], algorithm=setting["algorithm"])
        yield setting, moved(task, mover, learn, ask, setting)


def mover_of(task: Task, **parameters: Any) -> WordMover:  # noqa: ANN401 (of WordMover)
    """Return what measures documents of a set: its stop words, and how many words at most."""
    return WordMover(
        stop_words=stop_words_of(task.dataset),
        max_words_per_document=500 if task.dataset.startswith("20news") else None,
        n_jobs=task.n_jobs,
        **parameters,
    )


def moved(
    task: Task, mover: WordMover, learn: Side, ask: Side, setting: Mapping[str, Any]
) -> NearRows:
    """Search; what was found is kept, as exact distances of a large set take minutes.

    The setting must name all that the mover depends on besides the data set.
    """

    def searched() -> dict[str, Any]:
        near = TransportMeasure(mover).fit(learn.part.texts).nearest(ask.part.texts, MOST)
        return {"starts": near.starts, "rows": near.rows, "distances": near.distances}

    stage = f"{len(learn.part)} of {len(ask.part)}"
    kept = task.arrays("neighbours", searched, stage=stage, **setting)
    return NearRows(kept["starts"], kept["rows"], kept["distances"])


def naive_bayes(learn: Side, ask: Side, alpha: float) -> Any:  # noqa: ANN401 (labels)
    """Predict by multinomial naive Bayes of counts."""
    from sklearn.naive_bayes import MultinomialNB

    return MultinomialNB(alpha=alpha).fit(learn.bags, learn.part.labels).predict(ask.bags)


def support_vectors(learn: Side, ask: Side, C: float) -> Any:  # noqa: ANN401 (labels)
    """Predict by a linear support vector machine on tf-idf of unit length."""
    from sklearn.svm import LinearSVC

    weights = TfIdf().fit(learn.bags)
    model = LinearSVC(C=C, random_state=0).fit(weights.transform(learn.bags), learn.part.labels)
    return model.predict(weights.transform(ask.bags))


def rocchio(learn: Side, ask: Side) -> Any:  # noqa: ANN401 (labels)
    """Predict the class whose summed tf-idf vectors have the largest cosine."""
    weights = TfIdf("lecture", norm=None).fit(learn.bags)
    model = RocchioClassifier().fit(weights.transform(learn.bags), learn.part.labels)
    return model.predict(weights.transform(ask.bags))
