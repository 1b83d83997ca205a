"""Models of sentences that learn from definitions, and the cosines that they give.

A `Recipe` says how texts become weighted bags, a `Corpus` is the texts after it, and a scorer is
a function from pairs to one score each.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse

from textkin._typing import Bags, Float64Array
from textkin.evaluate._cells import Task
from textkin.evaluate._pairs import PairData
from textkin.evaluate._sts import sts_scores
from textkin.evaluate.experiments._sts_texts import (
    CORPORA,
    TESTS,
    TRAINING,
    pairs_of,
    read_corpus,
)
from textkin.models import LDA, LSI, WTMF
from textkin.text import BagOfWords
from textkin.weighting import TfIdf, normalize

__all__ = [
    "CHOOSING",
    "MAIN",
    "Corpus",
    "Recipe",
    "Scored",
    "Settings",
    "bag_cosines",
    "corpus_of",
    "cosines",
    "criterion",
    "scored",
    "scored_by_lda",
    "scored_by_lsi",
    "scored_by_words",
    "scored_by_wtmf",
    "surface",
]

Scorer: TypeAlias = Callable[[PairData], Float64Array]
Scored: TypeAlias = Mapping[str, Float64Array]
"""One score a pair, by the name of the file of pairs; the training pairs are there too."""

_QUICK_TEXTS = 300
_QUICK_SIZE = 4


@dataclass(frozen=True)
class Recipe:
    """How texts become weighted bags, and which texts; the paper's way unless said otherwise."""

    corpora: tuple[str, ...] = CORPORA
    words: Literal["wordnet", "stem"] | None = "wordnet"  # None: as they are
    stop_words: str | None = None
    min_count: int = 2
    target_words: bool = True
    examples: bool = True


MAIN = Recipe()
CHOOSING = replace(MAIN, corpora=tuple(name for name in CORPORA if name != "sts-train"))
"""For choices and regression: training pairs are scored by what has not seen their sentences."""


@dataclass(frozen=True)
class Settings:
    """The recipe and the parameters of WTMF, those of the paper unless said otherwise."""

    recipe: Recipe = MAIN
    n_components: int = 100
    regularization: float = 20.0
    missing_weight: float = 0.01
    orthogonality: float = 0.0
    max_iter: int = 20


class Corpus:
    """The texts of a recipe, counted and weighed.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    recipe : Recipe
        How they are counted and weighed.
    """

    def __init__(self, texts: Sequence[str], recipe: Recipe) -> None:
        self._counter = BagOfWords(
            recipe.stop_words, normalize=recipe.words, min_count=recipe.min_count
        )
        self.counts = self._counter.fit_transform(texts)
        self._weighting = TfIdf("wtmf", norm=None, keep_zeros=True).fit(self.counts)
        self.weights = _floored(self._weighting.transform(self.counts))

    @property
    def idf(self) -> dict[str, float]:
        """The weight of each word."""
        words = self._counter.get_feature_names_out()
        return dict(zip(words.tolist(), np.maximum(self._weighting.idf_, 0).tolist(), strict=True))

    def count(self, sentences: Sequence[str]) -> Bags:
        """Return the counts of sentences over the words of the corpus."""
        return self._counter.transform(sentences)

    def weigh(self, sentences: Sequence[str]) -> Bags:
        """Return the weights of sentences, with the idf of the corpus."""
        return _floored(self._weighting.transform(self.count(sentences)))


def corpus_of(task: Task, recipe: Recipe) -> Corpus:
    """Read, count and weigh the texts of a recipe; those that many methods use are kept."""

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
    """Return the scores of all pairs, from the work folder if they were made before.

    A model takes minutes, so it scores all tests and the training pairs at once; the scores serve
    the cells of every test, and a run that was stopped.
    """

    def made() -> dict[str, Float64Array]:
        scorer = make()
        names = dict.fromkeys((TRAINING, *TESTS, task.dataset))
        return {name: scorer(pairs_of(task, name)) for name in names}

    return task.arrays(name, made, scope="run", **settings)


def criterion(task: Task, scores: Scored) -> float:
    """Return what choices are made by: the Mean of the three training sets."""
    pairs = pairs_of(task, TRAINING)
    return sts_scores(pairs.sets, pairs.gold, scores[TRAINING]).mean


def _floored(bags: Bags) -> Bags:
    """Return bags with 0 for weights below 0; such a word is still an observed one."""
    return sparse.csr_array((np.maximum(bags.data, 0), bags.indices, bags.indptr), shape=bags.shape)


# ------------------------------------------------------------------ cosines


def cosines(first: Any, second: Any) -> Float64Array:  # noqa: ANN401 (rows of numbers)
    """Return the cosine of each row with its partner; 0 where one is empty."""
    one, other = (np.asarray(side, dtype=np.float64) for side in (first, second))
    sizes = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    products = np.einsum("ij,ij->i", one, other)
    found: Float64Array = np.divide(products, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return found


def bag_cosines(first: Bags, second: Bags) -> Float64Array:
    """Return the same for bags."""
    one, other = (normalize(side.astype(np.float64), "l2") for side in (first, second))
    return np.asarray(one.multiply(other).sum(axis=1), dtype=np.float64).ravel()


def _sides(pairs: PairData) -> tuple[list[str], list[str]]:
    return pairs.first, pairs.second


def surface(pairs: PairData, *, weighed: bool) -> Float64Array:
    """Cosine of plain words: of their counts, or weighed with the idf of the file's sentences."""
    counter = BagOfWords(None).fit([*pairs.first, *pairs.second])
    sides = [counter.transform(side) for side in _sides(pairs)]
    if weighed:
        weighting = TfIdf("sklearn").fit(sparse.vstack(sides, format="csr"))
        sides = [weighting.transform(side) for side in sides]
    return bag_cosines(*sides)


def scored_by_words(task: Task, recipe: Recipe) -> Scored:
    """Score by the cosine of the weighted bags that the models get, without a model."""

    def made() -> Scorer:
        corpus = corpus_of(task, recipe)
        return lambda pairs: bag_cosines(*map(corpus.weigh, _sides(pairs)))

    return scored(task, "words", made, recipe=asdict(recipe))


def scored_by_lsi(task: Task, recipe: Recipe, dimensions: Sequence[int]) -> dict[int, Scored]:
    """Score in the space of LSI, by the number of its dimensions; one decomposition for all."""
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
    """Score by the shares of LDA's topics, found and folded in by Gibbs sampling."""

    def made() -> Scorer:
        corpus = corpus_of(task, recipe)
        model = LDA(
            _cut(task, n_components),
            method="gibbs",
            alpha=alpha,
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
    """Score by the vectors of WTMF, or with an orthogonality of OrMF."""

    def made() -> Scorer:
        corpus = corpus_of(task, settings.recipe)
        model = WTMF(
            _cut(task, settings.n_components),
            missing_weight=settings.missing_weight,
            # The paper's weight would leave nothing of vectors that few texts make.
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
    """Return a number of dimensions or sweeps, cut for a quick try."""
    return min(number, _QUICK_SIZE) if task.quick else number
