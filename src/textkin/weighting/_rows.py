"""What all weightings share: bags checked at the edge, rows scaled and normalised.

Values are computed in float64 and rounded once, to the dtype of the bags: that is float64 for bags
in float64, lists with Python's floats among them, and float32 for all others, whole numbers too.
"""

from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from textkin._saving import SavedEstimator
from textkin._typing import Bags, Float64Array, IntpArray
from textkin._validation import check_params

__all__ = [
    "BagWeighting",
    "BagsLike",
    "Norm",
    "TakesBags",
    "checked_bags",
    "normalised",
    "refuse_texts",
    "rows_of",
    "two_dimensional",
    "with_values",
]

BagsLike: TypeAlias = "ArrayLike | sparse.sparray | sparse.spmatrix"
Norm: TypeAlias = Literal["l1", "l2"] | None

_BAGS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float32, np.float64],
    "ensure_all_finite": False,  # told by _canonical, which names the row
}


class TakesBags(SavedEstimator, TransformerMixin, BaseEstimator):
    """What all estimators over bags have in common: they check them alike, and can be saved."""

    _takes_negative: ClassVar[bool] = False
    _keeps_zeros: ClassVar[bool] = False  # that a sparse array stores

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = not self._takes_negative
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _bags_to_fit(self, X: BagsLike) -> Bags:
        refuse_texts("X", X)
        with np.errstate(over="ignore"):  # in a cast to float32; told by _canonical
            checked = validate_data(self, _array_like(X), **_BAGS)
        return _canonical(checked, self._takes_negative, self._keeps_zeros)

    def _bags_to_transform(self, X: BagsLike) -> Bags:
        check_is_fitted(self)
        check_params(self)  # which may have been set since
        refuse_texts("X", X)
        with np.errstate(over="ignore"):
            checked = validate_data(
                self, _array_like(X), reset=False, ensure_min_samples=0, **_BAGS
            )
        return _canonical(checked, self._takes_negative, self._keeps_zeros)

    def _check_shapes(self, **shapes: tuple[int, ...]) -> None:
        """Refuse fitted arrays of other shapes, or that hold anything but finite numbers."""
        for name, shape in shapes.items():
            array = np.asarray(getattr(self, name))
            if array.shape != shape or array.dtype.kind != "f" or not np.isfinite(array).all():
                raise ValueError(f"{name} must hold finite numbers in the shape {shape}")


class BagWeighting(OneToOneFeatureMixin, TakesBags):
    """What the estimators of this room have in common: bags in, bags of the same shape out."""


def checked_bags(
    bags: BagsLike, *, takes_negative: bool = False, keeps_zeros: bool = False
) -> Bags:
    """Return `bags` as a CSR copy: finite, not negative, sorted, no explicit zeros."""
    refuse_texts("bags", bags)
    with np.errstate(over="ignore"):
        checked = check_array(_array_like(bags), ensure_min_samples=0, **_BAGS)
    return _canonical(checked, takes_negative, keeps_zeros)


def refuse_texts(name: str, values: object, way_out: str = "") -> None:
    """Raise `TypeError` for texts, or lists of words, where numbers belong."""
    first = values
    for _ in range(2):
        if isinstance(first, list | tuple) and first:
            first = first[0]
        elif isinstance(first, np.ndarray) and first.dtype.kind in "OU" and first.size:
            first = first.flat[0]
    if isinstance(first, str):
        raise TypeError(
            f"{name} must be bags or vectors, one row a document; got text. Count its words first "
            f"(textkin.BagOfWords){way_out}."
        )


def rows_of(bags: Bags) -> IntpArray:
    """Return the row of each stored value."""
    return np.repeat(np.arange(bags.shape[0]), np.diff(bags.indptr))


def normalised(bags: Bags, values: Float64Array, norm: Norm) -> Float64Array:
    """Divide `values`, stored like those of `bags`, by the norm of their row; zero rows stay."""
    if norm is None:
        return values
    rows = rows_of(bags)
    largest = np.zeros(bags.shape[0])
    np.maximum.at(largest, rows, np.abs(values))
    # A power of two changes no digit, and no sum or square is then too large or too small.
    scaled = np.ldexp(values, -np.frexp(largest)[1][rows])
    if norm == "l1":
        sizes = np.bincount(rows, np.abs(scaled), bags.shape[0])
    else:
        sizes = np.sqrt(np.bincount(rows, scaled**2, bags.shape[0]))
    sizes[sizes == 0] = 1
    return np.asarray(scaled / sizes[rows])


def with_values(bags: Bags, values: Float64Array, *, keep_zeros: bool = False) -> Bags:
    """Return bags like `bags` with other values, those that are zero left out unless kept."""
    with np.errstate(over="ignore"):
        rounded = values.astype(bags.dtype)
    if not np.isfinite(rounded).all():
        row = rows_of(bags)[np.flatnonzero(~np.isfinite(rounded))[0]]
        raise ValueError(
            f"The weights of row {row} are too large for {bags.dtype}. Scale the bags down"
            f"{'' if bags.dtype == np.float64 else ', or pass them in float64'}."
        )
    weighted: Bags = sparse.csr_array((rounded, bags.indices, bags.indptr), shape=bags.shape)
    if not keep_zeros:
        weighted.eliminate_zeros()
    return weighted


def two_dimensional(bags: Any) -> Any:  # noqa: ANN401 (stubs know no sparse vectors)
    """Turn a one-row slice, which SciPy makes one-dimensional, into a row."""
    is_slice = sparse.issparse(bags) and getattr(bags, "ndim", 2) == 1
    return bags.reshape((1, -1)) if is_slice else bags


def _array_like(bags: Any) -> Any:  # noqa: ANN401 (whatever users pass)
    """Let lists have the type that NumPy gives them: scikit-learn takes the first that it may."""
    return np.asarray(bags) if isinstance(bags, list | tuple) else two_dimensional(bags)


def _canonical(
    checked: Any,  # noqa: ANN401 (stubs know no sparse arrays)
    takes_negative: bool = False,
    keeps_zeros: bool = False,
) -> Bags:
    bags: Bags = sparse.csr_array(checked, copy=True)
    bags.sum_duplicates()
    if not keeps_zeros:
        bags.eliminate_zeros()
    if max(bags.nnz, *bags.shape) <= np.iinfo(np.int32).max:
        bags.indices = bags.indices.astype(np.int32, copy=False)
        bags.indptr = bags.indptr.astype(np.int32, copy=False)
    wrong = np.flatnonzero(~np.isfinite(bags.data))
    if wrong.size:
        raise ValueError(
            f"Input contains NaN, infinity or values too large for {bags.dtype}: bags hold finite "
            f"numbers; row {rows_of(bags)[wrong[0]]} has {bags.data[wrong[0]]}."
        )
    negative = np.flatnonzero(bags.data < 0)
    if negative.size and not takes_negative:
        first = negative[0]
        raise ValueError(
            f"Negative values in data: bags hold counts or weights of at least 0; "
            f"row {rows_of(bags)[first]} has {bags.data[first]}."
        )
    return bags
