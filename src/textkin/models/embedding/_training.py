"""Training of word and document vectors: settings, and the call of the core."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from textkin import _core
from textkin._base import (
    Constraint,
    Float32Array,
    Int32Array,
    Int64Array,
    check_params,
    hinted,
    integer,
    one_of,
    positive,
    real,
)
from textkin.exceptions import ParameterError
from textkin.models.embedding._training_corpus import Corpus
from textkin.run import ProgressCallback
from textkin.vectors import row_blocks

__all__ = [
    "SETTINGS",
    "Loss",
    "SubsampleRule",
    "Training",
    "UInt64Array",
    "keep_probabilities",
    "mix_seeds",
    "random_rows",
    "seed_of",
]

Loss: TypeAlias = Literal["negative", "hierarchical"]
SubsampleRule: TypeAlias = Literal["released", "paper"]
UInt64Array: TypeAlias = NDArray[np.uint64]

SETTINGS: dict[str, Constraint] = {
    "loss": one_of("negative", "hierarchical"),
    "n_negative": integer(1, 1000),
    "window": integer(1, 10_000),
    "subsample": real(0, 1),
    "subsample_rule": one_of("released", "paper"),
    "epochs": integer(1, 1_000_000),
    "learning_rate": positive(1000),
    "min_learning_rate": real(0),
}
"""Constraints of the settings of every training."""

_GOLDEN = 0x9E3779B97F4A7C15  # increment of splitmix64
_BITS = 2**64 - 1


def keep_probabilities(
    counts: Int64Array, subsample: float, rule: SubsampleRule = "released"
) -> Float32Array:
    """Compute the probability that subsampling keeps a token, for each word.

    "released": (sqrt(f / t) + 1) t / f, as in the released C code of word2vec and in gensim;
    "paper": sqrt(t / f), as in Mikolov et al. (2013). Both are at most 1; with t = 0, all are 1.
    """
    if subsample == 0:
        return np.ones(len(counts), np.float32)
    ratio = subsample / (counts / counts.sum())
    kept = np.sqrt(ratio) + (ratio if rule == "released" else 0)
    probabilities: Float32Array = np.minimum(kept, 1).astype(np.float32)
    return probabilities


@dataclass(frozen=True, kw_only=True)
class Training:
    """Settings of word2vec or doc2vec training, such as window, loss, and epochs.

    Attributes
    ----------
    mode : {"skipgram", "cbow", "dbow", "dm"}
        Input that predicts a word: another word, a context, a document, or the last two together.
    learning_rate, min_learning_rate : float
        First and last learning rate.
    train_words : bool
        Whether "dbow" also trains word vectors, as "skipgram" does.
    mean : bool
        Whether "cbow" and "dm" use the mean of a context, or its sum.
    """

    mode: Literal["skipgram", "cbow", "dbow", "dm"]
    loss: Loss
    n_negative: int
    window: int
    subsample: float
    subsample_rule: SubsampleRule
    epochs: int
    learning_rate: float
    min_learning_rate: float
    train_words: bool = True
    mean: bool = True

    _constraints: ClassVar[dict[str, Constraint]] = SETTINGS

    def check(self) -> None:
        """Raise if a training setting is invalid, or if two settings contradict each other."""
        check_params(self)
        if self.min_learning_rate > self.learning_rate:
            raise ParameterError(
                "min_learning_rate",
                f"at most `learning_rate` ({self.learning_rate:g}), which falls to it",
                f"{self.min_learning_rate:g}",
            )

    def outputs_for(self, n_words: int) -> int:
        """Return the number of output vectors: one per word, or per inner Huffman node."""
        return n_words - 1 if self.loss == "hierarchical" else n_words

    def train(
        self,
        corpus: Corpus,
        words: Float32Array,
        outputs: Float32Array,
        documents: Float32Array | None,
        *,
        seed: int,
        n_threads: int,
        progress: ProgressCallback | None,
    ) -> None:
        """Train word, output, and document vectors in place; unchanged if interrupted.

        Raises
        ------
        ValueError
            If the training diverges.
        """
        with self._explain_divergence():
            _core.train_embeddings(
                corpus.ids,
                corpus.offsets,
                **self._arguments(corpus.counts),
                words=words,
                outputs=outputs,
                documents=documents,
                train_words=bool(self.train_words),
                seed=seed,
                threads=n_threads,
                progress=progress,
            )

    def infer(
        self,
        ids: Int32Array,
        offsets: Int64Array,
        counts: Int64Array,
        words: Float32Array,
        outputs: Float32Array,
        documents: Float32Array,
        *,
        seeds: UInt64Array,
        n_threads: int,
        progress: ProgressCallback | None,
    ) -> None:
        """Train the vectors of new documents in place, with fixed word vectors.

        Raises
        ------
        ValueError
            If the training diverges.
        """
        with self._explain_divergence():
            _core.infer_documents(
                ids,
                offsets,
                **self._arguments(counts),
                words=words,
                outputs=outputs,
                documents=documents,
                seeds=seeds,
                threads=n_threads,
                progress=progress,
            )

    def _arguments(self, counts: Int64Array) -> dict[str, Any]:
        """Return the arguments of the core's functions for training and inference."""
        negative = 0 if self.loss == "hierarchical" else int(self.n_negative)
        return {
            "layer": _core.OutputLayer(counts, negative),
            "keep": keep_probabilities(counts, self.subsample, self.subsample_rule),
            "mode": self.mode,
            "mean": bool(self.mean),
            "window": int(self.window),
            "dynamic_window": True,
            "epochs": int(self.epochs),
            "alpha": float(self.learning_rate),
            "min_alpha": float(self.min_learning_rate),
        }

    @contextmanager
    def _explain_divergence(self) -> Iterator[None]:
        """Re-raise the core's error for diverged training with the parameter to change."""
        try:
            yield
        except ValueError as error:
            if not str(error).startswith("The training diverged"):
                raise
            raise hinted(
                ValueError,
                "training diverged: values overflow float32.",
                f"Pass a smaller `learning_rate`; got {self.learning_rate:g}.",
            ) from error


def seed_of(random_state: int | RandomState | None) -> int:
    """Return a random 63-bit integer seed from a `random_state`."""
    drawn: Any = check_random_state(random_state).randint(0, 2**63 - 1, dtype=np.int64)
    return int(drawn)


def mix_seeds(seed: int, start: int, number: int) -> UInt64Array:
    """Return one random seed for each row number from `start` on (splitmix64)."""
    counter = np.arange(start + 1, start + number + 1, dtype=np.uint64)
    return _splitmix(np.uint64(seed & _BITS) + counter * np.uint64(_GOLDEN))


def random_rows(seeds: UInt64Array, dimension: int) -> Float32Array:
    """Return a random vector for each seed, uniform in (-0.5 / d, 0.5 / d) and never 0.

    A row depends only on its own seed, and is bit-identical with any version of NumPy.
    """
    rows = np.empty((len(seeds), dimension), np.float32)
    steps = np.arange(1, dimension + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
    for some in row_blocks(*rows.shape):
        bits = _splitmix(seeds[some, None] + steps) >> np.uint64(40)
        rows[some] = ((bits + 0.5) * 2.0**-24 - 0.5) / dimension
    return rows


def _splitmix(state: UInt64Array) -> UInt64Array:
    """Apply the splitmix64 hash (Steele, Lea and Flood, OOPSLA 2014) to 64-bit integers."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed_bits: UInt64Array = state ^ (state >> np.uint64(31))
    return mixed_bits
