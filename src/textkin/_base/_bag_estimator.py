"""Base classes of estimators over bags of words, validation of bags, and row norms.

Values are computed in float64 and rounded once to the dtype of the bags: float64 for float64 input
and lists of Python floats, float32 for all other input, including integers.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from textkin._base._estimator import SavedEstimator
from textkin._base._parameters import check_params
from textkin._base._sparse_output import SparseOutput
from textkin._base._types import Bags, Float64Array, IntpArray
from textkin.exceptions import ParameterTypeError

__all__ = [
    "BagEstimator",
    "BagWeighting",
    "BagsLike",
    "Norm",
    "as_two_dimensional",
    "bag_check",
    "check_bags",
    "narrow_indices",
    "normalize_rows",
    "reject_texts",
    "replace_values",
    "row_indices",
]

BagsLike: TypeAlias = "ArrayLike | sparse.sparray | sparse.spmatrix"
Norm: TypeAlias = Literal["l1", "l2"] | None

_BAGS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float32, np.float64],
    "ensure_all_finite": False,  # `_canonical` reports the row of the invalid number
}


class BagEstimator(SavedEstimator, TransformerMixin, BaseEstimator):
    """Base class of estimators whose input is bags of words, with `save` and `load`."""

    _takes_negative: ClassVar[bool] = False
    _keeps_zeros: ClassVar[bool] = False  # True to keep the stored zeros of a sparse array

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = not self._takes_negative
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _bags_to_fit(self, X: BagsLike) -> Bags:
        reject_texts("X", X)
        with np.errstate(over="ignore"):  # `_canonical` reports an overflow in a cast to float32
            checked = validate_data(self, _array_like(X), **_BAGS)
        return _canonical(checked, self._takes_negative, self._keeps_zeros)

    def _bags_to_transform(self, X: BagsLike) -> Bags:
        check_is_fitted(self)
        check_params(self)  # parameters may have changed since `fit`
        reject_texts("X", X)
        with np.errstate(over="ignore"):
            checked = validate_data(
                self, _array_like(X), reset=False, ensure_min_samples=0, **_BAGS
            )
        return _canonical(checked, self._takes_negative, self._keeps_zeros)

    def _check_shapes(self, **shapes: tuple[int, ...]) -> None:
        """Raise if fitted arrays from a saved folder have wrong shapes or are not finite."""
        for name, shape in shapes.items():
            array = np.asarray(getattr(self, name))
            if array.shape != shape or array.dtype.kind != "f" or not np.isfinite(array).all():
                raise ValueError(f"{name} must hold finite numbers in the shape {shape}")


class BagWeighting(SparseOutput, OneToOneFeatureMixin, BagEstimator):
    """Base class of weightings (TF-IDF, BM25, SIF), which map bags to bags of weights."""


def check_bags(bags: BagsLike, *, takes_negative: bool = False, keeps_zeros: bool = False) -> Bags:
    """Validate bags of words, and return a sorted CSR copy without explicit zeros."""
    reject_texts("bags", bags)
    with np.errstate(over="ignore"):
        checked = check_array(_array_like(bags), ensure_min_samples=0, **_BAGS)
    return _canonical(checked, takes_negative, keeps_zeros)


def bag_check(estimator: BagEstimator) -> Callable[[BagsLike], Bags]:
    """Return a picklable function that validates bags in the same way as an estimator's `fit`."""
    return partial(
        check_bags,
        takes_negative=estimator._takes_negative,
        keeps_zeros=estimator._keeps_zeros,
    )


def reject_texts(name: str, values: object, way_out: str = "") -> None:
    """Raise TypeError if values are texts or lists of words instead of numbers."""
    first = values
    for _ in range(2):
        if isinstance(first, list | tuple) and first:
            first = first[0]
        elif isinstance(first, np.ndarray) and first.dtype.kind in "OU" and first.size:
            first = first.flat[0]
    if isinstance(first, str):
        raise ParameterTypeError(
            name,
            "bags or vectors, one row per document",
            "text",
            f"Count its words first (textkin.BagOfWords){way_out}.",
        )


def row_indices(bags: Bags) -> IntpArray:
    """Return the row number of each stored value of a CSR matrix."""
    return np.repeat(np.arange(bags.shape[0]), np.diff(bags.indptr))


def narrow_indices(bags: Bags) -> None:
    """Convert the indices of bags to int32 in place, unless a size exceeds it."""
    if max(bags.nnz, *bags.shape) <= np.iinfo(np.int32).max:
        bags.indices = bags.indices.astype(np.int32, copy=False)
        bags.indptr = bags.indptr.astype(np.int32, copy=False)


def normalize_rows(bags: Bags, values: Float64Array, norm: Norm) -> Float64Array:
    """Divide the stored values of bags by the norm of their row; zero rows stay zero."""
    if norm is None:
        return values
    rows = row_indices(bags)
    largest = np.zeros(bags.shape[0])
    np.maximum.at(largest, rows, np.abs(values))
    # Scaling by a power of two is exact and avoids overflow and underflow of squares.
    scaled = np.ldexp(values, -np.frexp(largest)[1][rows])
    if norm == "l1":
        sizes = np.bincount(rows, np.abs(scaled), bags.shape[0])
    else:
        sizes = np.sqrt(np.bincount(rows, scaled**2, bags.shape[0]))
    sizes[sizes == 0] = 1
    return np.asarray(scaled / sizes[rows])


def replace_values(bags: Bags, values: Float64Array, *, keep_zeros: bool = False) -> Bags:
    """Return a copy of bags with other stored values; zeros are dropped by default."""
    with np.errstate(over="ignore"):
        rounded = values.astype(bags.dtype)
    if not np.isfinite(rounded).all():
        row = row_indices(bags)[np.flatnonzero(~np.isfinite(rounded))[0]]
        raise ValueError(
            f"The weights of row {row} are too large for {bags.dtype}. Scale the bags down"
            f"{'' if bags.dtype == np.float64 else ', or pass them in float64'}."
        )
    weighted: Bags = sparse.csr_array((rounded, bags.indices, bags.indptr), shape=bags.shape)
    if not keep_zeros:
        weighted.eliminate_zeros()
    return weighted


def as_two_dimensional(bags: Any) -> Any:  # noqa: ANN401 (stubs know no sparse vectors)
    """Reshape a one-dimensional sparse array (one row of a matrix) to a matrix with one row."""
    is_slice = sparse.issparse(bags) and getattr(bags, "ndim", 2) == 1
    return bags.reshape((1, -1)) if is_slice else bags


def _array_like(bags: Any) -> Any:  # noqa: ANN401 (whatever users pass)
    """Convert nested lists, or a one-dimensional sparse array, to a matrix."""
    return np.asarray(bags) if isinstance(bags, list | tuple) else as_two_dimensional(bags)


def _canonical(
    checked: Any,  # noqa: ANN401 (stubs know no sparse arrays)
    takes_negative: bool = False,
    keeps_zeros: bool = False,
) -> Bags:
    bags: Bags = sparse.csr_array(checked, copy=True)
    bags.sum_duplicates()
    if not keeps_zeros:
        bags.eliminate_zeros()
    narrow_indices(bags)
    wrong = np.flatnonzero(~np.isfinite(bags.data))
    if wrong.size:
        raise ValueError(
            f"Input contains NaN, infinity or values too large for {bags.dtype}: bags hold finite "
            f"numbers; row {row_indices(bags)[wrong[0]]} has {bags.data[wrong[0]]}."
        )
    negative = np.flatnonzero(bags.data < 0)
    if negative.size and not takes_negative:
        first = negative[0]
        raise ValueError(
            f"Negative values in data: bags hold counts or weights of at least 0; "
            f"row {row_indices(bags)[first]} has {bags.data[first]}."
        )
    return bags
