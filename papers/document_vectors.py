"""Document vectors by all recipes of the FV-moVMF paper, trained on texts without labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from textkin._base import Bags, Float32Array
from textkin.models import LDA, LSI, FisherVector, ParagraphVector, Pooling, train_word_vectors
from textkin.text import BagOfWords
from textkin.vectors import WordVectors
from textkin.weighting import TfIdf

__all__ = ["FISHER", "FULL", "QUICK", "DocumentVectors", "Sizes", "unit"]

FISHER: Final[dict[str, dict[str, Any]]] = {
    "FV-GMM": {"mixture": "gmm"},
    "FV-moVMF": {},
    "FV-moVMF (eq. 12)": {"information": "paper"},
    "FV-GMM with weights": {"mixture": "gmm", "parts": ("means", "weights")},
    "FV-moVMF with weights": {"parts": ("means", "weights")},
}
"""Kinds of Fisher vectors, with their arguments for `FisherVector`."""

MIN_COUNT = 2


@dataclass(frozen=True)
class Sizes:
    """Sizes of the models: values of Zhang et al., and our choices where they give none.

    Attributes
    ----------
    dimension : int
        Dimension of word vectors, LSI, and LDA (50 in Zhang et al.).
    n_components : int
        Number of mixture components (15 in Zhang et al.).
    n_words : int
        Vocabulary size of bags of words (5,000 in Zhang et al.).
    epochs : int
        Epochs of skip-gram and paragraph vectors.
    sweeps : int
        Sweeps of Gibbs sampling.
    """

    dimension: int = 50
    n_components: int = 15
    n_words: int = 5000
    epochs: int = 20
    sweeps: int = 200


FULL = Sizes()
QUICK = Sizes(dimension=6, n_components=2, n_words=100, epochs=2, sweeps=10)


class DocumentVectors:
    """Models trained on the texts of a collection; recipes share the models they have in common.

    Parameters
    ----------
    texts : sequence of str
        Texts of the documents.
    sizes : Sizes
        Sizes of the models.
    n_jobs : int, optional
        Number of threads. Word vectors are trained on one thread, because training on several
        threads is not reproducible.
    """

    def __init__(
        self, texts: Sequence[str], sizes: Sizes = FULL, n_jobs: int | None = None
    ) -> None:
        self.texts = list(texts)
        self.sizes = sizes
        self.n_jobs = n_jobs
        self._words: dict[str, WordVectors] = {}

    def of(self, name: str) -> Any:  # noqa: ANN401 (sparse or dense)
        """Return vectors of all documents with unit length; documents without words have zeros.

        Parameters
        ----------
        name : str
            "BoW", "BoW with stop words", "LSI", "LDA", "PV-DBOW", "PV-DM", or a recipe of
            `encoder` with its word vectors, such as "FV-GMM, LSI".
        """
        how, _, of = name.partition(", ")
        match how:
            case "BoW":
                return self._bow(self.bags)
            case "BoW with stop words":
                every = BagOfWords(None, min_count=MIN_COUNT, n_jobs=self.n_jobs)
                return self._bow(every.fit_transform(self.texts))
            case "LSI":
                return unit(self._lsi.transform(TfIdf().fit_transform(self.bags)))
            case "LDA":
                return unit(self._topics())
            case "PV-DBOW":
                return unit(self._paragraphs("dbow"))
            case "PV-DM":
                return unit(self._paragraphs("dm"))
        return unit(self.encoder(how, of)(self.texts))

    def encoder(self, how: str, of: str) -> Callable[[Sequence[str]], Any]:
        """Return a function that computes document vectors of any texts from word vectors.

        Parameters
        ----------
        how : str
            "mean", "mean with stop words", or a key of `FISHER`.
        of : str
            Name of the word vectors: "LSI", "neural", or "built-in", see `words`.
        """
        if how.startswith("mean"):
            stop_words = None if how.endswith("with stop words") else "smart"
            pooling = Pooling(self.words(of), stop_words=stop_words, n_jobs=self.n_jobs)
            return pooling.fit(self.texts).transform
        return (
            FisherVector(
                self.sizes.n_components,
                vectors=self.words(of),
                random_state=0,
                n_jobs=self.n_jobs,
                **FISHER[how],
            )
            .fit(self.texts)
            .transform
        )

    def words(self, of: str) -> WordVectors:
        """Return word vectors from LSI, from skip-gram on these texts, or built in."""
        if of not in self._words:
            self._words[of] = {
                "LSI": lambda: self._lsi.word_vectors(self._counter.vocabulary_),
                "neural": self._trained,
                "built-in": WordVectors.builtin,
            }[of]()
        return self._words[of]

    @cached_property
    def bags(self) -> Bags:
        """Counts of words that occur at least twice, without SMART stop words."""
        return self._counter.transform(self.texts)

    @cached_property
    def _counter(self) -> BagOfWords:
        return BagOfWords("smart", min_count=MIN_COUNT, n_jobs=self.n_jobs).fit(self.texts)

    @cached_property
    def _lsi(self) -> LSI:
        dimension = min(self.sizes.dimension, *(size - 1 for size in self.bags.shape))
        return LSI(dimension, random_state=0).fit(TfIdf().fit_transform(self.bags))

    def _bow(self, bags: Bags) -> Bags:
        """Return tf-idf of the words with the largest sums of tf-idf."""
        weighted = TfIdf().fit_transform(bags)
        best = np.argsort(-weighted.sum(axis=0), kind="stable")[: self.sizes.n_words]
        made: Bags = TfIdf().fit_transform(bags[:, np.sort(best)])
        return made

    def _topics(self) -> Any:  # noqa: ANN401 (an array)
        # Gibbs sampling, because the variational fit takes as long as everything else together.
        lda = LDA(
            self.sizes.dimension,
            method="gibbs",
            max_iter=self.sizes.sweeps,
            random_state=0,
            n_jobs=self.n_jobs,
        )
        return lda.fit(self.bags).document_topics_

    def _paragraphs(self, model: Any) -> Any:  # noqa: ANN401 (an array)
        return ParagraphVector(
            self.sizes.dimension,
            architecture=model,
            min_count=MIN_COUNT,
            epochs=self.sizes.epochs,
            stop_words="smart",
            random_state=0,
        ).fit_transform(self.texts)

    def _trained(self) -> WordVectors:
        return train_word_vectors(
            self.texts,
            self.sizes.dimension,
            min_count=MIN_COUNT,
            epochs=self.sizes.epochs,
            stop_words="smart",
            random_state=0,
        )


def unit(vectors: Any) -> Float32Array:  # noqa: ANN401 (an array)
    """Scale rows to unit length; rows of zeros stay zero.

    Examples
    --------
    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    dense = np.asarray(vectors)
    lengths = np.linalg.norm(dense, axis=1, keepdims=True)
    return (dense / np.where(lengths > 0, lengths, 1)).astype(np.float32)
