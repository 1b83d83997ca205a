"""Type aliases and protocols (such as `WordLookup`) shared by all subpackages."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy import sparse

    Bags: TypeAlias = "sparse.csr_array[np.float32, tuple[int, int]]"
else:
    Bags = Any

BoolArray: TypeAlias = NDArray[np.bool_]
Float32Array: TypeAlias = NDArray[np.float32]
Float64Array: TypeAlias = NDArray[np.float64]
Int32Array: TypeAlias = NDArray[np.int32]
Int64Array: TypeAlias = NDArray[np.int64]
IntpArray: TypeAlias = NDArray[np.intp]


class HasText(Protocol):
    """Protocol of documents with an attribute `text`, such as `textkin.reading.Document`."""

    @property
    def text(self) -> str:
        """Text of the document."""
        ...


Texts: TypeAlias = Iterable[str | HasText]


class WordLookup(Protocol):
    """Protocol of `Vocabulary` and `WordVectors`: words by column, and columns by word."""

    def __len__(self) -> int:
        """Return the number of columns, which is the number of words."""
        ...

    @property
    def words(self) -> Sequence[str]:
        """Word of each column."""
        ...

    def lookup(self, words: Sequence[str]) -> Int32Array:
        """Return the column of each word, or -1 for an unknown word."""
        ...


class HasFeatureNames(Protocol):
    """Protocol of fitted scikit-learn transformers that name their columns."""

    def get_feature_names_out(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        """Return the word of each column."""
        ...
