"""The tables of word vectors that builtin_study.py compares.

A `Making` says how vectors are made; `Tables` makes them from the built-in GloVe vectors and from
the encodings of words that ``scripts/distil_vectors.py`` keeps, each once.
"""

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from environment import ROOT

from textkin.vectors import WordVectors
from textkin.vectors._quantise import dequantise, quantise
from textkin.weighting import sif_weights, zipf_probabilities

sys.path.append(str(ROOT / "scripts"))  # where what is studied is made

from distil_vectors import listed_rows, raw_vectors, reduced

# Words that are in the list for their frequency alone; behind them come those of the test sets.
MOST = 95_000
MODEL2VEC_A = 1e-4  # the default of model2vec's later versions; the first had log(1 + rank)

Row = dict[str, object]


@dataclass(frozen=True)
class Making:
    """How a table is made; GloVe's where no number of dimensions is given."""

    dimension: int | None = None
    words: int = MOST
    removed: int = 0  # principal components, beside the mean
    weighted: str | None = None  # lengths by frequency: "rank" or "sif"
    int8: bool = False
    marks: bool = False  # mean over the marks of beginning and end too
    unit: bool = True  # encodings brought to unit length before PCA
    lacking: bool = False  # with letters, numbers, years and contractions

    def __str__(self) -> str:
        """Return the row's name in the tables of the report."""
        if self.dimension is None:
            parts = ["GloVe"]
        else:
            size = f"{self.words // 1000}k words" if self.words <= MOST else "all words"
            parts = [f"distilled {self.dimension}", size]
        parts += [f"{self.removed} removed"] if self.removed else []
        parts += {"rank": ["log rank"], "sif": ["SIF lengths"], None: []}[self.weighted]
        parts += ["int8"] if self.int8 and self.dimension is not None else []
        parts += ["with marks"] if self.marks else []
        parts += [] if self.unit else ["not unit"]
        parts += ["with what GloVe lacks"] if self.lacking else []
        return ", ".join(parts)


GLOVE = Making()
DISTILLED = Making(256)
SHIPPED = Making(256, 60_000, int8=True)


class Tables:
    """The tables of a run.

    Parameters
    ----------
    raw : Path
        The encodings of all words; made, and written there, if there is no such file.
    glove : WordVectors, optional
        In place of the built-in ones.
    """

    def __init__(self, raw: Path, glove: WordVectors | None = None) -> None:
        self._raw = raw
        self._glove = glove

    @cache  # noqa: B019 (one run a process)
    def encodings(self, marks: bool) -> tuple[list[str], np.ndarray]:
        """Return all words and their encodings."""
        words, whole, inner = raw_vectors(self._raw)
        return words, whole if marks else inner

    @cache  # noqa: B019
    def components(
        self, words: int, marks: bool, unit: bool, lacking: bool
    ) -> tuple[list[str], np.ndarray]:
        """Return the first words on all principal components of their encodings."""
        known, matrix = self.encodings(marks)
        rows = (np.arange(len(known)) if lacking else listed_rows(known))[:words]
        return [known[row] for row in rows], reduced(matrix[rows], matrix.shape[1], unit=unit)

    @cache  # noqa: B019
    def __call__(self, making: Making) -> WordVectors:
        """Return the vectors of one making."""
        if making.dimension is None:
            glove = WordVectors.builtin() if self._glove is None else self._glove
            return glove.without_components(making.removed) if making.removed else glove
        words, matrix = self.components(making.words, making.marks, making.unit, making.lacking)
        matrix = matrix[:, making.removed : making.removed + making.dimension]
        if making.weighted is not None:
            matrix = matrix * lengths(making.weighted, len(words))[:, np.newaxis]
        if making.int8:
            matrix = dequantise(*quantise(np.ascontiguousarray(matrix, dtype=np.float32)))
        return WordVectors(words, matrix)


def lengths(kind: str, n: int) -> np.ndarray:
    """Return what model2vec multiplies the vectors of `n` words by, most frequent first."""
    if kind == "rank":
        return np.log(1 + np.arange(1, n + 1))
    return sif_weights(zipf_probabilities(n), MODEL2VEC_A)
