"""Nearest-neighbor error by the protocol of the WMD paper, and functions that find neighbors.

A stratified fifth of the training documents chooses k in 1..19 and the settings of a method. Then
all training documents are searched for the neighbors of the test documents, once. The methods are
weighted words, topic and latent models, counting grids, and word mover's distances.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from papers.cells import Task
from papers.labeled_texts import Part, counter_of, labelled, stop_words_of
from papers.protocol import NEIGHBOURS, best_of, best_of_trials, held_out, votes
from textkin._base import Bags, Int64Array
from textkin.corpus import RankedRows
from textkin.distance import nearest_rows, pairwise_distances
from textkin.learn import RocchioClassifier, TransportMeasure, VoteName
from textkin.models import LDA, LSI, MSDA, CountingGrid
from textkin.transport import WordMover
from textkin.weighting import BM25, TfIdf, binary

__all__ = [
    "MOST",
    "Finder",
    "Ranges",
    "Side",
    "Vectors",
    "bm25_spaces",
    "classifier_error",
    "counting_grids",
    "errors_by_k",
    "found_by",
    "lda_spaces",
    "lsi_spaces",
    "moved",
    "mover_of",
    "msda_blocks",
    "msda_of_top_words",
    "naive_bayes",
    "neighbour_error",
    "rocchio",
    "sides",
    "some_of",
    "support_vectors",
    "transported",
    "weighed",
]

MOST = max(NEIGHBOURS)
_RULES: tuple[VoteName, ...] = ("fall-back", "majority")
_ROWS = 512  # number of queries per batch, where vectors have several parts

Settings: TypeAlias = Mapping[str, Any]
Ranges: TypeAlias = Mapping[str, tuple[float, float] | Sequence[Any]]
Vectors: TypeAlias = Sequence[Any]
"""Document vectors as a sequence of arrays with the same rows, sparse or dense."""


@dataclass(frozen=True)
class Side:
    """Documents as texts with labels, and as counts of words."""

    part: Part
    bags: Bags

    def taken(self, rows: Int64Array) -> "Side":
        """Return the documents in some rows."""
        return Side(self.part.taken(rows), self.bags[rows])

    @property
    def empty(self) -> Any:  # noqa: ANN401 (an array of booleans)
        """Mask of the documents without words; they are never found and find nothing."""
        return np.diff(self.bags.indptr) == 0


class Finder(Protocol):
    """Function that finds the neighbors of `ask` in `learn` for each of several settings."""

    def __call__(
        self, task: Task, learn: Side, ask: Side, settings: Sequence[Settings]
    ) -> Iterator[tuple[Settings, RankedRows]]:
        """Yield (setting, neighbors) pairs in any order."""
        ...


def neighbour_error(
    task: Task,
    find: Finder,
    settings: Sequence[Settings],
    most_asked: int | None = None,
    most_held: int | None = None,
    *,
    ranges: Ranges | None = None,
    n_trials: int = 0,
) -> dict[str, Any]:
    """Return the error in percent by the vote of neighbors.

    Parameters
    ----------
    task : Task
        Task of a labeled set.
    find : Finder
        Function that finds neighbors.
    settings : sequence of mappings
        Settings to choose from.
    most_asked : int, optional
        Maximum number of test documents, sampled with a fixed seed.
    most_held : int, optional
        Maximum number of validation documents.
    ranges : mapping, optional
        Ranges for Bayesian optimization. `settings` must then have one mapping, to which each
        trial adds settings.
    n_trials : int, default=0
        Number of trials of the optimization.

    Returns
    -------
    dict
        "error" by the vote of Kusner et al., with the chosen k and setting and their validation
        error; "error_majority" by a plain majority vote, with its own k.
    """
    train, test = sides(task)
    test = some_of(test, most_asked)
    rest, held = held_out(train.part.labels)
    learn, ask = train.taken(rest), some_of(train.taken(held), most_held)
    best: dict[VoteName, tuple[float, int, Settings]] = {}

    def least(setting: Settings, near: RankedRows) -> float:
        """Return the lowest error by the vote of Kusner et al.; keep the best settings."""
        errors: dict[VoteName, float] = {}
        for rule in _RULES:
            found = errors_by_k(near, learn.part.labels, ask.part.labels, rule)
            k = min(found, key=lambda k: found[k])
            errors[rule] = found[k]
            if rule not in best or found[k] < best[rule][0]:
                best[rule] = found[k], k, setting
        return errors["fall-back"]

    if ranges is None:
        for setting, near in find(task, learn, ask, settings):
            least(setting, near)
    else:
        [fixed] = settings

        def tried(some: Settings) -> float:
            [(setting, near)] = find(task, learn, ask, [{**fixed, **some}])
            return least(setting, near)

        best_of_trials(tried, ranges, n_trials)
    made: dict[str, Any] = {}
    wanted = list({repr(setting): setting for _, _, setting in best.values()}.values())
    near_of = {repr(s): near for s, near in find(task, train, test, wanted)}
    for rule, (validation, k, setting) in best.items():
        errors = errors_by_k(near_of[repr(setting)], train.part.labels, test.part.labels, rule)
        ending = "" if rule == "fall-back" else "_majority"
        made[f"error{ending}"] = errors[k]
        made[f"validation_error{ending}"] = validation
        made[f"k{ending}"] = k
        made[f"setting{ending}"] = dict(setting)
    return {**made, "n_train": len(train.part), "n_test": len(test.part)}


def classifier_error(
    task: Task, predict: Callable[..., Any], settings: Sequence[Settings]
) -> dict[str, Any]:
    """Return the error of another classifier; ``predict(learn, ask, **setting)`` returns labels."""
    train, test = sides(task)
    rest, held = held_out(train.part.labels)
    learn, ask = train.taken(rest), train.taken(held)

    def percent(learn: Side, ask: Side, setting: Settings) -> float:
        return _percent_wrong(ask.part.labels, predict(learn, ask, **setting))

    setting, validation = best_of(settings, lambda setting: percent(learn, ask, setting))
    return {
        "error": percent(train, test, setting),
        "validation_error": validation,
        "setting": dict(setting),
        "n_train": len(train.part),
        "n_test": len(test.part),
    }


def sides(task: Task) -> tuple[Side, Side]:
    """Return training and test documents, counted once per split over the training words."""

    def counted() -> tuple[Side, Side]:
        some = labelled(task)
        counter = counter_of(task).fit(some.train.texts)
        return (
            Side(some.train, counter.transform(some.train.texts)),
            Side(some.test, counter.transform(some.test.texts)),
        )

    return task.memo("sides", counted)


def some_of(side: Side, most: int | None) -> Side:
    """Return at most `most` documents, sampled with a fixed seed. If None, all."""
    if most is None or most >= len(side.part):
        return side
    return side.taken(np.sort(np.random.default_rng(0).permutation(len(side.part))[:most]))


def found_by(
    task: Task, learn: Side, ask: Side, vectors: Callable[[Side], Vectors], metric: str
) -> RankedRows:
    """Return the nearest documents by vectors; vectors of several parts require metric "l2"."""
    known, asked = vectors(learn), vectors(ask)
    allowed = ~learn.empty
    if len(known) == 1:
        near = nearest_rows(asked[0], known[0], metric, MOST, allowed=allowed, n_jobs=task.n_jobs)
    else:
        near = _by_parts(task, known, asked, allowed)
    nothing = np.empty(0, np.int64), np.empty(0)
    empty = ask.empty
    return RankedRows.of([nothing if empty[row] else near[row] for row in range(len(near))])


def _by_parts(task: Task, known: Vectors, asked: Vectors, allowed: Any) -> RankedRows:  # noqa: ANN401
    """Sum the squared distances of the parts; concatenated rows would not fit in memory."""
    rows = np.flatnonzero(allowed)
    found = []
    for start in range(0, asked[0].shape[0], _ROWS):
        total: Any = 0.0
        for one, other in zip(asked, known, strict=True):
            some = one[start : start + _ROWS]
            total = total + pairwise_distances(some, other, "squared-l2", n_jobs=task.n_jobs)
        for squares in total[:, rows]:
            order = np.argsort(squares, kind="stable")[:MOST]
            found.append((rows[order].astype(np.int64), np.sqrt(squares[order])))
    return RankedRows.of(found)


def errors_by_k(
    near: RankedRows,
    labels: Any,  # noqa: ANN401 (arrays of labels)
    own: Any,  # noqa: ANN401
    rule: VoteName = "fall-back",
) -> dict[int, float]:
    """Return the error in percent for every number of voting neighbors."""
    found = votes(near, labels, MOST, rule=rule)
    return {k: _percent_wrong(own, voted) for k, voted in found.items()}


def _percent_wrong(own: Any, predicted: Any) -> float:  # noqa: ANN401 (arrays of labels)
    return 100 * float(np.mean(np.asarray(own) != np.asarray(predicted)))


_QUICK_STEPS = 20
_QUICK_CELLS = 8  # side length of a counting grid

Found = Iterator[tuple[Mapping[str, Any], RankedRows]]
Choices = Sequence[Mapping[str, Any]]


def weighed(task: Task, learn: Side, ask: Side, settings: Choices) -> Found:
    """Find neighbors by weighted words, with an idf, a norm, and a metric."""
    for setting in settings:
        weights = TfIdf(idf=setting["idf"], norm=setting["norm"]).fit(learn.bags)

        def vectors(side: Side, weights: TfIdf = weights) -> Vectors:
            return [weights.transform(side.bags)]

        yield setting, found_by(task, learn, ask, vectors, setting["metric"])


def bm25_spaces(task: Task, learn: Side, ask: Side, settings: Choices) -> Found:
    """Find neighbors by the Euclidean distance of BM25 weights."""
    for setting in settings:
        weights = BM25(**setting).fit(learn.bags)

        def vectors(side: Side, weights: BM25 = weights) -> Vectors:
            return [weights.transform(side.bags)]

        yield setting, found_by(task, learn, ask, vectors, "l2")


def lsi_spaces(task: Task, learn: Side, ask: Side, settings: Choices) -> Found:
    """Find neighbors in LSI spaces of L2 weights; one decomposition serves all dimensions."""
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
    """Find neighbors by topic shares of LDA."""
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
    """Find neighbors by the shares of the windows of a counting grid."""
    for setting in settings:
        model = CountingGrid(
            _QUICK_CELLS if task.quick else setting["shape"],
            window=setting["window"],
            topic_word_prior=setting["word_prior"],
            max_iter=_QUICK_STEPS if task.quick else setting["max_iter"],
            tol=1e-4,
            random_state=0,
            n_jobs=task.n_jobs,
        ).fit(learn.bags)

        def vectors(side: Side, model: CountingGrid = model) -> Vectors:
            return [model.transform(side.bags)]

        yield setting, found_by(task, learn, ask, vectors, "l2")


def msda_of_top_words(task: Task, learn: Side, ask: Side, settings: Choices) -> Found:
    """Find neighbors by the dense form of mSDA, on the most frequent words."""
    n_words = learn.bags.shape[1]
    [(share, most)] = {(setting["share"], setting["most_words"]) for setting in settings}
    kept = min(max(round(share * n_words), 2), most)
    order = np.argsort(-np.asarray(learn.bags.sum(axis=0)).ravel(), kind="stable")
    yield from _msda(task, learn, ask, settings, np.sort(order[:kept]), None)


def msda_blocks(task: Task, learn: Side, ask: Side, settings: Choices) -> Found:
    """Find neighbors by mSDA in blocks, on all words."""
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
    """Find neighbors by words plus hidden layers; one model serves all numbers of layers."""

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
    """Find neighbors by transport distances with the built-in vectors."""
    for setting in settings:
        # Settings in saved results have the names of older versions.
        metric = "wmd" if setting["algorithm"] == "auto" else setting["algorithm"]
        mover = mover_of(task, word_weights=setting["masses"], metric=metric)
        yield setting, moved(task, mover, learn, ask, setting)


def mover_of(task: Task, **parameters: Any) -> WordMover:  # noqa: ANN401 (of WordMover)
    """Return a mover with the stop words and the maximum document length of a set."""
    return WordMover(
        stop_words=stop_words_of(task.dataset),
        max_words_per_document=500 if task.dataset.startswith("20news") else None,
        n_jobs=task.n_jobs,
        **parameters,
    )


def moved(
    task: Task, mover: WordMover, learn: Side, ask: Side, setting: Mapping[str, Any]
) -> RankedRows:
    """Return the neighbors by transport distance; load them if they were computed before.

    Exact distances of a large set take minutes. `setting` must contain everything that
    the mover depends on, except the data set.
    """

    def searched() -> dict[str, Any]:
        near = TransportMeasure(mover).fit(learn.part.texts).nearest(ask.part.texts, MOST)
        return {"starts": near.indptr, "rows": near.rows, "distances": near.scores}

    stage = f"{len(learn.part)} of {len(ask.part)}"
    kept = task.arrays("neighbours", searched, stage=stage, **setting)
    return RankedRows(kept["starts"], kept["rows"], kept["distances"])


def naive_bayes(learn: Side, ask: Side, alpha: float) -> Any:  # noqa: ANN401 (labels)
    """Predict by multinomial naive Bayes on counts."""
    from sklearn.naive_bayes import MultinomialNB

    return MultinomialNB(alpha=alpha).fit(learn.bags, learn.part.labels).predict(ask.bags)


def support_vectors(learn: Side, ask: Side, C: float) -> Any:  # noqa: ANN401 (labels)
    """Predict by a linear support vector machine on L2-normalized tf-idf."""
    from sklearn.svm import LinearSVC

    weights = TfIdf().fit(learn.bags)
    model = LinearSVC(C=C, random_state=0).fit(weights.transform(learn.bags), learn.part.labels)
    return model.predict(weights.transform(ask.bags))


def rocchio(learn: Side, ask: Side) -> Any:  # noqa: ANN401 (labels)
    """Predict the class whose sum of tf-idf vectors has the largest cosine."""
    weights = TfIdf("lecture", norm=None).fit(learn.bags)
    model = RocchioClassifier().fit(weights.transform(learn.bags), learn.part.labels)
    return model.predict(weights.transform(ask.bags))
