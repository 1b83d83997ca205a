"""Sentence models trained on definitions, and a regression fitted to the training pairs.

A `Recipe` defines how texts become weighted bags of words, a `Corpus` contains the texts of a
recipe, and a scorer is a function from pairs to one score per pair.

The regression combines WTMF with alignment features. The paper suggests it as future work, because
WTMF alone does not detect that two sentences differ in one word. A regression may not generalize to
new sets. Its settings are therefore chosen in two ways: by folds with pairs of every set, and by
holding out whole sets.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse

from papers.cells import Task
from papers.experiments.sts.sentences import (
    CORPORA,
    TESTS,
    TRAINING,
    aligned,
    pairs_of,
    read_corpus,
)
from papers.protocol import grid
from textkin._base import Bags, Float64Array
from textkin.evaluate import PairData, sts_scores
from textkin.models import LDA, LSI, WTMF, Pooling
from textkin.text import BagOfWords
from textkin.weighting import TfIdf, normalize

__all__ = [
    "CHOOSING",
    "MAIN",
    "REGRESSIONS",
    "Corpus",
    "HeldOut",
    "Recipe",
    "Scored",
    "Settings",
    "bag_cosines",
    "corpus_of",
    "cosines",
    "criterion",
    "predicted",
    "regressed",
    "scored",
    "scored_by_lda",
    "scored_by_lsi",
    "scored_by_words",
    "scored_by_wtmf",
    "surface",
]

Scorer: TypeAlias = Callable[[PairData], Float64Array]
Scored: TypeAlias = Mapping[str, Float64Array]
"""One score per pair, by the name of the file of pairs. The training pairs are included."""

_QUICK_TEXTS = 300
_QUICK_SIZE = 4


@dataclass(frozen=True)
class Recipe:
    """Choice of the texts, and their conversion to bags of words; the paper's by default."""

    corpora: tuple[str, ...] = CORPORA
    words: Literal["wordnet", "stem"] | None = "wordnet"  # None: unchanged
    stop_words: str | None = None
    min_count: int = 2
    target_words: bool = True
    examples: bool = True


MAIN = Recipe()
CHOOSING = replace(MAIN, corpora=tuple(name for name in CORPORA if name != "sts-train"))
"""For choices and regression: a recipe without the sentences of the training pairs."""


@dataclass(frozen=True)
class Settings:
    """Recipe and parameters of WTMF; the paper's by default."""

    recipe: Recipe = MAIN
    n_components: int = 100
    regularization: float = 20.0
    missing_weight: float = 0.01
    orthogonality: float = 0.0
    max_iter: int = 20


class Corpus:
    """Texts of a recipe as counts and weights.

    Parameters
    ----------
    texts : sequence of str
        Texts to count.
    recipe : Recipe
        Conversion of texts to bags of words.
    """

    def __init__(self, texts: Sequence[str], recipe: Recipe) -> None:
        self._counter = BagOfWords(
            recipe.stop_words, normalizer=recipe.words, min_count=recipe.min_count
        )
        self.counts = self._counter.fit_transform(texts)
        self._weighting = TfIdf("wtmf", norm=None, keep_zeros=True).fit(self.counts)
        self.weights = _floored(self._weighting.transform(self.counts))

    @property
    def idf(self) -> dict[str, float]:
        """Weight of each word."""
        words = self._counter.get_feature_names_out()
        return dict(zip(words.tolist(), np.maximum(self._weighting.idf_, 0).tolist(), strict=True))

    def count(self, sentences: Sequence[str]) -> Bags:
        """Return the counts of sentences over the words of the corpus."""
        return self._counter.transform(sentences)

    def weigh(self, sentences: Sequence[str]) -> Bags:
        """Return the weights of sentences with the idf of the corpus."""
        return _floored(self._weighting.transform(self.count(sentences)))


def corpus_of(task: Task, recipe: Recipe) -> Corpus:
    """Read, count, and weight the texts of a recipe; the two main recipes are shared by methods."""

    def made() -> Corpus:
        texts = []
        for name in recipe.corpora:
            texts += read_corpus(
                task.data,
                name,
                target_words=recipe.target_words,
                examples=recipe.examples,
                most=_QUICK_TEXTS if task.quick else None,
            )
        return Corpus(texts, recipe)

    return task.memo(f"{recipe}", made, "run") if recipe in (MAIN, CHOOSING) else made()


def scored(task: Task, name: str, make: Callable[[], Scorer], **settings: Any) -> Scored:  # noqa: ANN401 (JSON)
    """Return the scores of all pairs; load them from the work folder if they were computed before.

    Training takes minutes, so a model scores all tests and the training pairs at once. The stored
    scores serve the cells of every test, also after an interruption.
    """

    def made() -> dict[str, Float64Array]:
        scorer = make()
        names = dict.fromkeys((TRAINING, *TESTS, task.dataset))
        return {name: scorer(pairs_of(task, name)) for name in names}

    return task.arrays(name, made, scope="run", **settings)


def criterion(task: Task, scores: Scored) -> float:
    """Return the criterion of all choices: the Mean of the three training sets."""
    pairs = pairs_of(task, TRAINING)
    return sts_scores(pairs.sets, pairs.gold, scores[TRAINING]).mean


def _floored(bags: Bags) -> Bags:
    """Return bags with negative weights replaced by 0; these words still count as observed."""
    return sparse.csr_array((np.maximum(bags.data, 0), bags.indices, bags.indptr), shape=bags.shape)


# ------------------------------------------------------------------ cosines


def cosines(first: Any, second: Any) -> Float64Array:  # noqa: ANN401 (rows of numbers)
    """Return the cosine of each pair of rows; 0 if a row is zero."""
    one, other = (np.asarray(side, dtype=np.float64) for side in (first, second))
    sizes = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    products = np.einsum("ij,ij->i", one, other)
    found: Float64Array = np.divide(products, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return found


def bag_cosines(first: Bags, second: Bags) -> Float64Array:
    """Return the cosine of each pair of sparse rows; 0 if a row is empty."""
    one, other = (normalize(side.astype(np.float64), "l2") for side in (first, second))
    return np.asarray(one.multiply(other).sum(axis=1), dtype=np.float64).ravel()


def _sides(pairs: PairData) -> tuple[list[str], list[str]]:
    return pairs.first, pairs.second


def surface(pairs: PairData, *, weighed: bool) -> Float64Array:
    """Return cosines of word counts, or of tf-idf with the idf of the file's sentences."""
    counter = BagOfWords(None).fit([*pairs.first, *pairs.second])
    sides = [counter.transform(side) for side in _sides(pairs)]
    if weighed:
        weighting = TfIdf("sklearn").fit(sparse.vstack(sides, format="csr"))
        sides = [weighting.transform(side) for side in sides]
    return bag_cosines(*sides)


def scored_by_words(task: Task, recipe: Recipe) -> Scored:
    """Score by the cosine of the weighted bags that are the input of the models."""

    def made() -> Scorer:
        corpus = corpus_of(task, recipe)
        return lambda pairs: bag_cosines(*map(corpus.weigh, _sides(pairs)))

    return scored(task, "words", made, recipe=asdict(recipe))


def scored_by_lsi(task: Task, recipe: Recipe, dimensions: Sequence[int]) -> dict[int, Scored]:
    """Score by LSI with several numbers of dimensions, from one decomposition."""
    most = _cut(task, max(dimensions))

    def made() -> Scorer:
        corpus = corpus_of(task, recipe)
        model = LSI(most, random_state=0).fit(corpus.weights)

        def all_of_them(pairs: PairData) -> Float64Array:
            rows = [model.transform(corpus.weigh(side)) for side in _sides(pairs)]
            return np.stack([cosines(*(side[:, :k] for side in rows)) for k in dimensions])

        return all_of_them

    found = scored(task, "LSI", made, recipe=asdict(recipe), dimensions=list(dimensions))
    return {k: {name: many[at] for name, many in found.items()} for at, k in enumerate(dimensions)}


def scored_by_lda(
    task: Task, recipe: Recipe, *, n_components: int, alpha: float, sweeps: int
) -> Scored:
    """Score by topic shares of LDA, fitted and inferred by Gibbs sampling."""

    def made() -> Scorer:
        corpus = corpus_of(task, recipe)
        model = LDA(
            _cut(task, n_components),
            method="gibbs",
            doc_topic_prior=alpha,
            max_iter=_cut(task, sweeps),
            random_state=0,
            n_jobs=task.n_jobs,
        ).fit(corpus.counts)
        return lambda pairs: cosines(
            *(model.transform(corpus.count(side)) for side in _sides(pairs))
        )

    settings = {"n_components": n_components, "alpha": alpha, "sweeps": sweeps}
    return scored(task, "LDA", made, recipe=asdict(recipe), **settings)


def scored_by_wtmf(task: Task, settings: Settings, start: int) -> Scored:
    """Score by the vectors of WTMF, or of OrMF if the orthogonality is not 0."""

    def made() -> Scorer:
        corpus = corpus_of(task, settings.recipe)
        model = WTMF(
            _cut(task, settings.n_components),
            missing_weight=settings.missing_weight,
            # With few texts, the paper's weight would shrink all vectors to zero.
            regularization=0.5 if task.quick else settings.regularization,
            orthogonality=settings.orthogonality,
            max_iter=_cut(task, settings.max_iter),
            random_state=start,
            n_jobs=task.n_jobs,
        ).fit(corpus.weights)
        return lambda pairs: cosines(
            *(model.transform(corpus.weigh(side)) for side in _sides(pairs))
        )

    return scored(task, "WTMF", made, start=start, **asdict(settings))


def _cut(task: Task, number: int) -> int:
    """Return a number of dimensions or sweeps, reduced for quick tests."""
    return min(number, _QUICK_SIZE) if task.quick else number


HeldOut: TypeAlias = Literal["folds", "sets"]

REGRESSIONS: list[dict[str, Any]] = [
    *grid(kind=["ridge"], alpha=[1.0, 10.0, 100.0, 1000.0]),
    *grid(kind=["svr"], C=[0.1, 1.0, 10.0], gamma=[0.01, 0.03, 0.1]),
    *grid(kind=["within"], alpha=[1.0, 10.0, 100.0, 1000.0, 10000.0]),
]
"""Candidates: ridge regression, support vectors with a Gaussian kernel, and `_within`."""

_FOLDS = 5


def regressed(
    task: Task, latent: Scored, choices: Sequence[Mapping[str, Any]], held_out: HeldOut
) -> tuple[Float64Array, dict[str, Any]]:
    """Return predicted scores of the pairs of a task, and the chosen regression.

    Parameters
    ----------
    task : Task
        Task with the pairs to score.
    latent : mapping
        Cosines of WTMF, trained without the sentences of the training pairs.
    choices : sequence of mappings
        Candidate regressions; the Mean of the training sets chooses among them.
    held_out : {"folds", "sets"}
        Validation data: a fifth of every training set, or whole training sets.
    """
    rows = {name: _features(task, latent, name) for name in (TRAINING, task.dataset)}
    training = pairs_of(task, TRAINING)
    means = task.memo(
        f"regressions, {held_out}",
        lambda: [_held_out_mean(each, rows[TRAINING], training, held_out) for each in choices],
        "run",
    )
    chosen = choices[int(np.argmax(means))]
    every = np.arange(len(training))
    found = predicted(chosen, rows[TRAINING], training, every, rows[task.dataset])
    numbers = [f"{name} = {value:g}" for name, value in chosen.items() if name != "kind"]
    shown = ", ".join([chosen["kind"], *numbers])
    return found, {"chosen": shown, "training Mean": max(means)}


def _held_out_mean(
    choice: Mapping[str, Any], rows: Float64Array, pairs: PairData, held_out: HeldOut
) -> float:
    """Return the Mean of the sets, with every pair predicted from other pairs."""
    scores = np.empty(len(pairs))
    for learn, ask in _parts(pairs, held_out):
        scores[ask] = predicted(choice, rows, pairs, learn, rows[ask])
    return sts_scores(pairs.sets, pairs.gold, scores).mean


def predicted(
    choice: Mapping[str, Any],
    rows: Float64Array,
    pairs: PairData,
    learn: Any,  # noqa: ANN401 (positions)
    new: Float64Array,
) -> Float64Array:
    """Fit gold scores on some rows of features, and predict the scores of new rows."""
    settings = {name: value for name, value in choice.items() if name != "kind"}
    gold, sets = pairs.gold[learn], np.array(pairs.sets)[learn]
    if choice["kind"] == "within":
        return _within(rows[learn], gold, sets, new, **settings)
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    model = {"ridge": Ridge, "svr": SVR}[choice["kind"]](**settings)
    pipeline = make_pipeline(StandardScaler(), model).fit(rows[learn], gold)
    return np.asarray(pipeline.predict(new), dtype=np.float64)


def _within(
    rows: Float64Array,
    gold: Float64Array,
    sets: Any,  # noqa: ANN401 (names)
    new: Float64Array,
    alpha: float,
) -> Float64Array:
    """Fit differences within sets instead of differences between sets, and predict new rows.

    This is a ridge regression of centered gold scores on centered features, with the means of each
    set. Coefficients are not negative, because all features are larger for more similar pairs.
    """
    from sklearn.linear_model import Ridge

    apart, wanted = rows.copy(), gold.copy()
    for name in np.unique(sets):
        apart[sets == name] -= rows[sets == name].mean(axis=0)
        wanted[sets == name] -= gold[sets == name].mean()
    sizes = apart.std(axis=0)
    sizes[sizes == 0] = 1.0
    model = Ridge(alpha=alpha, positive=True, fit_intercept=False).fit(apart / sizes, wanted)
    found: Float64Array = gold.mean() + (new - rows.mean(axis=0)) / sizes @ model.coef_
    return found


def _parts(pairs: PairData, held_out: HeldOut) -> Iterator[tuple[Any, Any]]:
    """Yield (training, validation) positions; every pair is a validation pair once."""
    from sklearn.model_selection import LeaveOneGroupOut, StratifiedKFold

    if held_out == "folds":
        folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
        yield from folds.split(pairs.gold, pairs.sets)
    else:
        yield from LeaveOneGroupOut().split(pairs.gold, groups=pairs.sets)


def _features(task: Task, latent: Scored, name: str) -> Float64Array:
    """Return the features of the pairs of a file, sorted by name."""
    made = task.arrays("features", lambda: _made(task, name), scope="run", pairs=name)
    return np.column_stack([latent[name], *(made[each] for each in sorted(made))])


def _made(task: Task, name: str) -> dict[str, Float64Array]:
    pairs, training = pairs_of(task, name), pairs_of(task, TRAINING)
    pooling = Pooling(word_weights="sif", remove_components=1, stop_words=None)
    pooling.fit([*training.first, *training.second])
    return {
        "tf-idf": scored_by_words(task, CHOOSING)[name],
        "SIF": cosines(pooling.transform(pairs.first), pooling.transform(pairs.second)),
        **aligned(pairs, corpus_of(task, CHOOSING).idf, task.n_jobs),
    }
