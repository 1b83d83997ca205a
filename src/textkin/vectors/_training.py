"""How vectors are trained: the settings that all models share, and the call of the core."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from textkin import _core
from textkin._typing import Float32Array, Int32Array, Int64Array
from textkin._validation import Constraint, check_params, integer, one_of, real
from textkin.run import ProgressCallback
from textkin.vectors._table import row_blocks

if TYPE_CHECKING:
    from textkin.vectors._corpus import Corpus

__all__ = [
    "SETTINGS",
    "Loss",
    "SubsampleRule",
    "Training",
    "UInt64Array",
    "keep_probabilities",
    "mixed",
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
    "learning_rate": Constraint(
        lambda value: real(0, 1000).accepts(value) and value > 0,
        "a number above 0 and at most 1000",
        real().wrong_type,
    ),
    "min_learning_rate": real(0),
}
"""What the settings of every training may be."""

_GOLDEN = 0x9E3779B97F4A7C15  # of splitmix64
_BITS = 2**64 - 1


def keep_probabilities(
    counts: Int64Array, subsample: float, rule: SubsampleRule = "released"
) -> Float32Array:
    """Return how probably each word is kept, by its relative frequency f and the threshold t.

    "released": (sqrt(f / t) + 1) t / f, as the released C code of word2vec and gensim have it;
    "paper": sqrt(t / f), as the paper has it. Both at most 1; all are 1 for t = 0.
    """
    if subsample == 0:
        return np.ones(len(counts), np.float32)
    ratio = subsample / (counts / counts.sum())
    kept = np.sqrt(ratio) + (ratio if rule == "released" else 0)
    probabilities: Float32Array = np.minimum(kept, 1).astype(np.float32)
    return probabilities


@dataclass(frozen=True, kw_only=True)
class Training:
    """The settings of a training.

    Attributes
    ----------
    mode : {"skipgram", "cbow", "dbow", "dm"}
        What predicts what.
    learning_rate, min_learning_rate : float
        The first and the last.
    train_words : bool
        Whether "dbow" trains word vectors too, as "skipgram" does.
    mean : bool
        Whether "cbow" and "dm" take the mean of a context or its sum.
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
        """Raise unless the settings hold together."""
        check_params(self)
        if self.min_learning_rate > self.learning_rate:
            raise ValueError(
                f"min_learning_rate must be at most learning_rate ({self.learning_rate:g}), which "
                f"falls to it; got {self.min_learning_rate:g}."
            )

    def outputs_for(self, n_words: int) -> int:
        """Return the rows of the output table: words, or inner nodes of their Huffman tree."""
        return n_words - 1 if self.loss == "hierarchical" else n_words

    def train(
        self,
        corpus: "Corpus",
        words: Float32Array,
        outputs: Float32Array,
        documents: Float32Array | None,
        *,
        seed: int,
        n_threads: int,
        progress: ProgressCallback | None,
    ) -> None:
        """Train all tables in place; they stay as they were if the call does not come to its end.

        Raises
        ------
        ValueError
            If numbers grew out of all bounds.
        """
        with self._diverging():
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
        """Train documents alone, in place, each with random numbers of its own seed.

        Raises
        ------
        ValueError
            If numbers grew out of all bounds.
        """
        with self._diverging():
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
        """Return what both calls of the core take."""
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
    def _diverging(self) -> Iterator[None]:
        """Let an error of the core name the parameter."""
        try:
            yield
        except ValueError as error:
            if not str(error).startswith("The training diverged"):
                raise
            raise ValueError(
                "training diverged: numbers grew out of the range of float32. Pass a smaller "
                f"learning_rate; got {self.learning_rate:g}."
            ) from error


def seed_of(random_state: int | RandomState | None) -> int:
    """Return a seed of 63 bits."""
    from sklearn.utils import check_random_state  # not needed to read or look up vectors

    drawn: Any = check_random_state(random_state).randint(0, 2**63 - 1, dtype=np.int64)
    return int(drawn)


def mixed(seed: int, start: int, number: int) -> UInt64Array:
    """Return a seed for each of `number` rows from `start` on: splitmix64, by counter."""
    counter = np.arange(start + 1, start + number + 1, dtype=np.uint64)
    return _splitmix(np.uint64(seed & _BITS) + counter * np.uint64(_GOLDEN))


def random_rows(seeds: UInt64Array, dimension: int) -> Float32Array:
    """Return a row for each seed, uniform in (-0.5 / d, 0.5 / d), no number of them 0.

    A row depends on its own seed alone, and has the same bits whatever the version of NumPy.
    """
    rows = np.empty((len(seeds), dimension), np.float32)
    steps = np.arange(1, dimension + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
    for some in row_blocks(*rows.shape):
        bits = _splitmix(seeds[some, None] + steps) >> np.uint64(40)
        rows[some] = ((bits + 0.5) * 2.0**-24 - 0.5) / dimension
    return rows


def _splitmix(state: UInt64Array) -> UInt64Array:
    """Mix bits, as splitmix64 does (Steele, Lea and Flood, OOPSLA 2014)."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed_bits: UInt64Array = state ^ (state >> np.uint64(31))
    return mixed_bits
