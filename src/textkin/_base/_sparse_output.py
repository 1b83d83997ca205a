"""`SparseOutput`: `set_output` for transformers with sparse results."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Literal, Self

from scipy import sparse
from sklearn import get_config

from textkin._base._lazy_imports import import_extra
from textkin._base._parameters import one_of

__all__ = ["SparseOutput"]

_KINDS = one_of(None, "default", "pandas")


class SparseOutput:
    """Mixin with scikit-learn's `set_output` for sparse results.

    Scikit-learn's own `set_output` rejects sparse output. Name this class before
    `TransformerMixin` among the base classes.
    """

    _sklearn_output_config: dict[str, str]  # the name that scikit-learn's `clone` copies

    def __init_subclass__(cls, **keywords: Any) -> None:  # noqa: ANN401 (scikit-learn's own)
        keywords["auto_wrap_output_keys"] = None  # wrapped below instead
        super().__init_subclass__(**keywords)
        for name in ("transform", "fit_transform"):
            method = cls.__dict__.get(name)
            if method is not None:
                setattr(cls, name, _framed(method))

    def set_output(self, *, transform: Literal["default", "pandas"] | None = None) -> Self:
        """Set whether `transform` returns sparse arrays or pandas DataFrames.

        Parameters
        ----------
        transform : {"default", "pandas"} or None, default=None
            "default" returns a sparse array. "pandas" returns a DataFrame with sparse columns,
            named by `get_feature_names_out`, and with the index of `X` if that is a Series or
            a DataFrame. None changes nothing.

        Returns
        -------
        estimator
            The estimator itself.
        """
        _check_kind(transform)
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self


def _check_kind(kind: object) -> None:
    hint = "polars has no sparse columns." if kind == "polars" else ""
    _KINDS.check("transform", kind, hint)


def _framed(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def transform(self: Any, X: Any, *others: Any, **named: Any) -> Any:  # noqa: ANN401
        found = method(self, X, *others, **named)
        config = self.__dict__.get("_sklearn_output_config", {})
        kind = config.get("transform", get_config()["transform_output"])
        if kind == "default":
            return found
        _check_kind(kind)
        pandas = import_extra("pandas", "pandas", "pandas", "set_output(transform='pandas')")
        options = {
            "index": X.index if isinstance(X, pandas.Series | pandas.DataFrame) else None,
            "columns": self.get_feature_names_out(),
        }
        if sparse.issparse(found):
            return pandas.DataFrame.sparse.from_spmatrix(found, **options)
        return pandas.DataFrame(found, copy=False, **options)

    return transform
