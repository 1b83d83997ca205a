"""What all models over bags share: documents in, dense vectors out."""

from sklearn.base import ClassNamePrefixFeaturesOutMixin

from textkin._typing import Bags, Float64Array
from textkin.weighting._rows import BagsLike, TakesBags

__all__ = ["BagModel", "BagsLike", "rounded_as"]


class BagModel(ClassNamePrefixFeaturesOutMixin, TakesBags):
    """An estimator from bags to `n_components` numbers a document."""

    components_: Float64Array

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])


def rounded_as(bags: Bags, vectors: Float64Array) -> Float64Array:
    """Return vectors in the dtype of the bags that they are of."""
    return vectors.astype(bags.dtype, copy=False)
