"""Vectors of documents by every recipe of the FV-moVMF paper, learnt from texts without labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from textkin._typing import Bags, Float32Array
from textkin.models import LDA, LSI, FisherVector, ParagraphVector, Pooling
from textkin.text import BagOfWords
from textkin.vectors import WordVectors
from textkin.weighting import TfIdf

__all__ = ["FISHER", "FULL", "QUICK", "DocumentVectors", "Sizes", "unit"]

FISHER: Final[dict[str, dict[str, Any]]] = {
    "FV-GMM": {"model": "gmm"},
    "FV-moVMF": {},
    "FV-moVMF (eq. 12)": {"normalisation": "paper"},
    "FV-GMM with weights": {"model": "gmm", "parts": ("means", "weights")},
    "FV-moVMF with weights": {"parts": ("means", "weights")},
}
"""Kinds of Fisher vectors, and the arguments of `FisherVector`."""

MIN_COUNT = 2


@dataclass(frozen=True)
class Sizes:
    """How much is learnt: the paper's numbers, and those it does not tell.

    Attributes
    ----------
    dimension : int
        Of word vectors, of LSI and of LDA (50 in the paper).
    n_components : int
        Of mixtures (15).
    n_words : int
        Of bags of words (5,000).
    epochs, sweeps : int
        Passes of skip-gram and paragraph vectors; of Gibbs sampling.
    """

    dimension: int = 50
    n_components: int = 15
    n_words: int = 5000
    epochs: int = 20
    sweeps: int = 200


FULL = Sizes()
QUICK = Sizes(dimension=6, n_components=2, n_words=100, epochs=2, sweeps=10)


class DocumentVectors:
    """What is learnt from the texts of a collection; what several recipes need is made once.

    Parameters
    ----------
    texts : sequence of str
        The documents.
    sizes : Sizes
        How much is learnt.
    n_jobs : int, optional
        Threads. Vectors are trained on one: several would not give the same twice.
    """

    def __init__(
        self, texts: Sequence[str], sizes: Sizes = FULL, n_jobs: int | None = None
    ) -> None:
        self.texts = list(texts)
        self.sizes = sizes
        self.n_jobs = n_jobs
        self._words: dict[str, WordVectors] = {}

    def of(self, name: str) -> Any:  # noqa: ANN401 (sparse or dense)
        """Return vectors of length 1 of all documents, or 0 of one without words.

        Parameters
        ----------
        name : str
            "BoW", "BoW with stop words", "LSI", "LDA", "PV-DBOW", "PV-DM"; or what `encoder`
            knows, with a comma and the word vectors, such as "FV-GMM, LSI".
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
        """Return what makes vectors of texts, also of new ones, out of word vectors.

        Parameters
        ----------
        how : str
            "mean", "mean with stop words" or a key of `FISHER`.
        of : str
            "LSI", "neural" or "built-in", see `words`.
        """
        if how.startswith("mean"):
            stop_words = None if how.endswith("with stop words") else "smart"
            pooling = Pooling(self.words(of), stop_words=stop_words, n_jobs=self.n_jobs)
            return pooling.fit(self.texts).transform
        return (
            FisherVector(
                self.words(of),
                self.sizes.n_components,
                random_state=0,
                n_jobs=self.n_jobs,
                **FISHER[how],
            )
            .fit(self.texts)
            .transform
        )

    def words(self, of: str) -> WordVectors:
        """Return word vectors: those of LSI, skip-gram's of these texts, or the built-in ones."""
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
        """Tf-idf of the words with the largest sums of it."""
        weighted = TfIdf().fit_transform(bags)
        best = np.argsort(-weighted.sum(axis=0), kind="stable")[: self.sizes.n_words]
        made: Bags = TfIdf().fit_transform(bags[:, np.sort(best)])
        return made

    def _topics(self) -> Any:  # noqa: ANN401 (an array)
        # Sampled: the variational fit takes as long as everything else together.
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
            model=model,
            min_count=MIN_COUNT,
            epochs=self.sizes.epochs,
            stop_words="smart",
            random_state=0,
        ).fit_transform(self.texts)

    def _trained(self) -> WordVectors:
        return WordVectors.train(
            self.texts,
            self.sizes.dimension,
            min_count=MIN_COUNT,
            epochs=self.sizes.epochs,
            stop_words="smart",
            random_state=0,
        )


def unit(vectors: Any) -> Float32Array:  # noqa: ANN401 (an array)
    """Divide rows by their lengths; rows of zeros stay.

    Examples
    --------
    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    dense = np.asarray(vectors)
    lengths = np.linalg.norm(dense, axis=1, keepdims=True)
    return (dense / np.where(lengths > 0, lengths, 1)).astype(np.float32)
