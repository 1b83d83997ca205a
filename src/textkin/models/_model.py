"""What all models share: documents in, dense vectors out."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from textkin._saving import SavedEstimator
from textkin._typing import Bags, Float64Array
from textkin.vectors._documents import Documents, OverVectors
from textkin.vectors._encode import Encoded
from textkin.vectors._space import Space
from textkin.weighting._rows import BagsLike, TakesBags

__all__ = ["BagModel", "BagsLike", "VectorModel", "rounded_as"]


class BagModel(ClassNamePrefixFeaturesOutMixin, TakesBags):
    """An estimator from bags to `n_components` numbers a document."""

    components_: Float64Array

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])


class VectorModel(ClassNamePrefixFeaturesOutMixin, SavedEstimator, TransformerMixin, OverVectors):
    """An estimator from texts, tokens or bags over word vectors to numbers, a row a document.

    It is saved whole: vectors that it was given lie in its folder, the built-in ones
    (``vectors=None``) are named only. Fitted attributes of a subclass hold what was learnt; the
    vectors themselves stay a parameter.
    """

    @property
    def _takes_texts(self) -> bool:
        return not isinstance(self.vectors, np.ndarray)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.positive_only = True
        return tags

    def _read(self, X: Documents) -> tuple[Space, Encoded]:
        """Return the vectors, and the documents as rows of counts over them."""
        space = self._space()
        encoded = self._encode(X, "X", space)
        wrong = np.flatnonzero(~(np.isfinite(encoded.counts) & (encoded.counts >= 0)))
        if wrong.size:
            row = int(np.searchsorted(encoded.indptr, wrong[0], "right")) - 1
            raise ValueError(
                "X must hold counts or weights that are finite and at least 0; row "
                f"{row} has {encoded.counts[wrong[0]]}."
            )
        return space, encoded


def rounded_as(bags: Bags, vectors: Float64Array) -> Float64Array:
    """Return vectors in the dtype of the bags that they are of."""
    return vectors.astype(bags.dtype, copy=False)
