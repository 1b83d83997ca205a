"""Tables of word vectors that builtin_study.py compares.

A `Making` describes a construction. `Tables` makes the vectors from the built-in GloVe vectors and
from the word encodings that ``scripts/distil_vectors.py`` stores.
"""

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from environment import ROOT

from textkin.vectors import WordVectors
from textkin.vectors._builtin import dequantize, quantize
from textkin.weighting import sif_weights, zipf_probabilities

sys.path.append(str(ROOT / "scripts"))  # folder for the encodings

from distil_vectors import listed_rows, raw_vectors, reduced

# Words chosen by frequency alone; the words of the test sets follow.
MOST = 95_000
MODEL2VEC_A = 1e-4  # default of model2vec's later versions; its first versions had log(1 + rank)

Row = dict[str, object]


@dataclass(frozen=True)
class Making:
    """Construction of a table; GloVe's own table if there is no number of dimensions."""

    dimension: int | None = None
    words: int = MOST
    removed: int = 0  # principal components to remove, in addition to the mean
    weighted: str | None = None  # vector lengths by frequency: "rank" or "sif"
    int8: bool = False
    marks: bool = False  # average over the marker tokens too
    unit: bool = True  # normalize encodings before PCA
    lacking: bool = False  # include letters, numbers, years, and contractions

    def __str__(self) -> str:
        """Return the name of the row in the tables of the report."""
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
    """Tables of a run.

    Parameters
    ----------
    raw : Path
        File with the encodings of all words; it is created if it does not exist.
    glove : WordVectors, optional
        Vectors to use instead of the built-in ones.
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
        """Return the first words with all principal components of their encodings."""
        known, matrix = self.encodings(marks)
        rows = (np.arange(len(known)) if lacking else listed_rows(known))[:words]
        return [known[row] for row in rows], reduced(matrix[rows], matrix.shape[1], unit=unit)

    @cache  # noqa: B019
    def __call__(self, making: Making) -> WordVectors:
        """Return the vectors of one construction."""
        if making.dimension is None:
            glove = WordVectors.builtin() if self._glove is None else self._glove
            return glove.without_components(making.removed) if making.removed else glove
        words, matrix = self.components(making.words, making.marks, making.unit, making.lacking)
        matrix = matrix[:, making.removed : making.removed + making.dimension]
        if making.weighted is not None:
            matrix = matrix * lengths(making.weighted, len(words))[:, np.newaxis]
        if making.int8:
            matrix = dequantize(*quantize(np.ascontiguousarray(matrix, dtype=np.float32)))
        return WordVectors(words, matrix)


def lengths(kind: str, n: int) -> np.ndarray:
    """Return model2vec's weights of `n` words, most frequent first."""
    if kind == "rank":
        return np.log(1 + np.arange(1, n + 1))
    return sif_weights(zipf_probabilities(n), MODEL2VEC_A)
