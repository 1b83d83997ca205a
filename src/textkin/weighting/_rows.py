"""What all weightings share: bags checked at the edge, rows scaled and normalised.

Values are computed in float64 and rounded once, to the dtype of the bags.
"""

from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from textkin._saving import SavedEstimator
from textkin._typing import Bags, Float64Array, IntpArray

__all__ = [
    "BagWeighting",
    "BagsLike",
    "Norm",
    "TakesBags",
    "checked_bags",
    "normalised",
    "rows_of",
    "two_dimensional",
    "with_values",
]

BagsLike: TypeAlias = "ArrayLike | sparse.sparray | sparse.spmatrix"
Norm: TypeAlias = Literal["l1", "l2"] | None

_BAGS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float32, np.float64]}


class TakesBags(SavedEstimator, TransformerMixin, BaseEstimator):
    """What all estimators over bags have in common: they check them alike, and can be saved."""

    _takes_negative: ClassVar[bool] = False

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = not self._takes_negative
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _bags_to_fit(self, X: BagsLike) -> Bags:
        return _canonical(validate_data(self, two_dimensional(X), **_BAGS), self._takes_negative)

    def _bags_to_transform(self, X: BagsLike) -> Bags:
        check_is_fitted(self)
        X = validate_data(self, two_dimensional(X), reset=False, ensure_min_samples=0, **_BAGS)
        return _canonical(X, self._takes_negative)

    def _check_shapes(self, **shapes: tuple[int, ...]) -> None:
        """Refuse fitted arrays of other shapes, or that hold anything but finite numbers."""
        for name, shape in shapes.items():
            array = np.asarray(getattr(self, name))
            if array.shape != shape or array.dtype.kind != "f" or not np.isfinite(array).all():
                raise ValueError(f"{name} must hold finite numbers in the shape {shape}")


class BagWeighting(OneToOneFeatureMixin, TakesBags):
    """What the estimators of this room have in common: bags in, bags of the same shape out."""


def checked_bags(bags: BagsLike) -> Bags:
    """Return `bags` as a CSR copy: finite, not negative, sorted, no explicit zeros."""
    return _canonical(check_array(two_dimensional(bags), ensure_min_samples=0, **_BAGS))


def rows_of(bags: Bags) -> IntpArray:
    """Return the row of each stored value."""
    return np.repeat(np.arange(bags.shape[0]), np.diff(bags.indptr))


def normalised(bags: Bags, values: Float64Array, norm: Norm) -> Float64Array:
    """Divide `values`, stored like those of `bags`, by the norm of their row; zero rows stay."""
    if norm is None:
        return values
    rows = rows_of(bags)
    if norm == "l1":
        sizes = np.bincount(rows, np.abs(values), bags.shape[0])
    else:
        sizes = np.sqrt(np.bincount(rows, values**2, bags.shape[0]))
    sizes[sizes == 0] = 1
    return values / sizes[rows]


def with_values(bags: Bags, values: Float64Array) -> Bags:
    """Return bags like `bags` with other values, those that are zero left out."""
    weighted: Bags = sparse.csr_array(
        (values.astype(bags.dtype), bags.indices, bags.indptr), shape=bags.shape
    )
    weighted.eliminate_zeros()
    return weighted


def two_dimensional(bags: Any) -> Any:  # noqa: ANN401 (stubs know no sparse vectors)
    """Turn a one-row slice, which SciPy makes one-dimensional, into a row."""
    is_slice = sparse.issparse(bags) and getattr(bags, "ndim", 2) == 1
    return bags.reshape((1, -1)) if is_slice else bags


def _canonical(checked: Any, takes_negative: bool = False) -> Bags:  # noqa: ANN401
    bags: Bags = sparse.csr_array(checked, copy=True)
    bags.sum_duplicates()
    bags.eliminate_zeros()
    if max(bags.nnz, *bags.shape) <= np.iinfo(np.int32).max:
        bags.indices = bags.indices.astype(np.int32, copy=False)
        bags.indptr = bags.indptr.astype(np.int32, copy=False)
    negative = np.flatnonzero(bags.data < 0)
    if negative.size and not takes_negative:
        first = negative[0]
        raise ValueError(
            f"Negative values in data: bags hold counts or weights of at least 0; "
            f"row {rows_of(bags)[first]} has {bags.data[first]}."
        )
    return bags
