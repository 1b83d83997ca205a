"""The ways from two sentences to a score that sts.py measures.

A `Recipe` says how texts become weighted bags, `Corpus` is the texts after it, and a scorer is
a function from `Pairs` to one score a pair. All but the baselines of surface words learn from the
same corpus, and all end with a cosine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse
from sts_corpora import CORPORA, Pairs, read_corpus

from textkin.models import LDA, LSI, WTMF
from textkin.text import BagOfWords
from textkin.weighting import TfIdf, normalize

Scorer = Callable[[Pairs], np.ndarray]


@dataclass(frozen=True)
class Recipe:
    """How texts become weighted bags, and which texts; the paper's way unless said otherwise."""

    corpora: tuple[str, ...] = CORPORA
    words: str | None = "wordnet"  # as BagOfWords has it: lemmas, stems, or None for plain words
    stop_words: str | None = None
    min_count: int = 2
    tf: str = "count"
    idf: str = "wtmf"
    target_words: bool = True
    examples: bool = True

    def without_training_text(self) -> "Recipe":
        """Return the recipe for choosing settings: training pairs must not be in the corpus."""
        return replace(self, corpora=tuple(c for c in self.corpora if c != "sts-train"))


@dataclass(frozen=True)
class Settings:
    """The recipe and the parameters of WTMF, those of the paper unless said otherwise."""

    recipe: Recipe = Recipe()
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
        self._weighting = TfIdf(tf=recipe.tf, idf=recipe.idf, norm=None, keep_zeros=True)
        self._weighting.fit(self.counts)
        self.weights = floored(self._weighting.transform(self.counts))

    def count(self, sentences: Sequence[str]) -> sparse.csr_array:
        """Return the counts of sentences over the words of the corpus."""
        return self._counter.transform(sentences)

    def weigh(self, sentences: Sequence[str]) -> sparse.csr_array:
        """Return the weights of sentences, with the idf of the corpus."""
        return floored(self._weighting.transform(self.count(sentences)))


@cache
def corpus_of(data: Path, recipe: Recipe, most: int | None = None) -> Corpus:
    """Read, count and weigh the corpora of a recipe; of each the first `most` texts."""
    options = {"target_words": recipe.target_words, "examples": recipe.examples}
    texts = [text for name in recipe.corpora for text in read_corpus(data, name, **options)[:most]]
    return Corpus(texts, recipe)


def floored(bags: sparse.csr_array) -> sparse.csr_array:
    """Return bags with 0 for weights below 0; such a word is still an observed one."""
    return sparse.csr_array((np.maximum(bags.data, 0), bags.indices, bags.indptr), shape=bags.shape)


def cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the cosine of each row with its partner; 0 where one is empty."""
    one, other = (np.asarray(side, dtype=np.float64) for side in (first, second))
    sizes = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    products = np.einsum("ij,ij->i", one, other)
    return np.divide(products, sizes, out=np.zeros_like(sizes), where=sizes > 0)


def bag_cosines(first: sparse.csr_array, second: sparse.csr_array) -> np.ndarray:
    """Return the same for bags."""
    one, other = (normalize(side.astype(np.float64), "l2") for side in (first, second))
    return np.asarray(one.multiply(other).sum(axis=1)).ravel()


def surface(weigh: Callable[[], TfIdf] | None = None) -> Scorer:
    """Cosine of plain words: of their counts, or weighed with the idf of the file's sentences."""

    def scores(pairs: Pairs) -> np.ndarray:
        counter = BagOfWords(None).fit([*pairs.sentences[0], *pairs.sentences[1]])
        sides = [counter.transform(side) for side in pairs.sentences]
        if weigh is not None:
            weighting = weigh().fit(sparse.vstack(sides, format="csr"))
            sides = [weighting.transform(side) for side in sides]
        return bag_cosines(*sides)

    return scores


def tfidf(corpus: Corpus) -> Scorer:
    """Cosine of the weighted bags that the models get, without a model."""
    return lambda pairs: bag_cosines(*map(corpus.weigh, pairs.sentences))


def lsi(corpus: Corpus, dimensions: Sequence[int]) -> dict[int, Scorer]:
    """Cosine in the space of LSI, by the number of its dimensions; one decomposition for all."""
    model = LSI(max(dimensions), random_state=0).fit(corpus.weights)

    def with_dimensions(k: int) -> Scorer:
        return lambda pairs: cosines(
            *(model.transform(corpus.weigh(side))[:, :k] for side in pairs.sentences)
        )

    return {k: with_dimensions(k) for k in dimensions}


def lda(corpus: Corpus, *, n_components: int, alpha: float, sweeps: int, seed: int) -> Scorer:
    """Cosine of the shares of LDA's topics, found and folded in by Gibbs sampling."""
    model = LDA(n_components, method="gibbs", alpha=alpha, max_iter=sweeps, random_state=seed).fit(
        corpus.counts
    )
    return lambda pairs: cosines(*(model.transform(corpus.count(side)) for side in pairs.sentences))


def wtmf(corpus: Corpus, settings: Settings, seed: int) -> Scorer:
    """Cosine of the vectors of WTMF, or with an orthogonality of OrMF."""
    model = WTMF(
        settings.n_components,
        missing_weight=settings.missing_weight,
        regularization=settings.regularization,
        orthogonality=settings.orthogonality,
        max_iter=settings.max_iter,
        random_state=seed,
        n_jobs=1,
    ).fit(corpus.weights)
    return lambda pairs: cosines(*(model.transform(corpus.weigh(side)) for side in pairs.sentences))


def mixed(one: Scorer, other: Scorer, weight: float) -> Scorer:
    """Weigh the cosines of two: (1 - weight) one + weight other."""
    return lambda pairs: (1 - weight) * one(pairs) + weight * other(pairs)
