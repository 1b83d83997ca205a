"""Base classes of models that return one dense vector per document."""

from typing import Any, Literal

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from textkin._base import BagEstimator, Bags, BoolArray, Float64Array
from textkin.corpus import DocumentRows, Documents, VectorTable, WordVectorEstimator
from textkin.exceptions import EmptyDocumentError

__all__ = ["BagModel", "VectorModel", "rounded_as"]


class BagModel(ClassNamePrefixFeaturesOutMixin, BagEstimator):
    """Base class of models that map a bag of words to a vector of `n_components` numbers."""

    components_: Float64Array

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])


class VectorModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, WordVectorEstimator):
    """Base class of models that map documents over word vectors to one vector per document.

    The saved folder contains vectors that were passed in, and only the name of the built-in ones
    (``vectors=None``). Fitted attributes of a subclass hold what it learned; the vectors stay a
    parameter.
    """

    empty: Literal["zero", "error"]

    @property
    def _takes_texts(self) -> bool:
        return not isinstance(self.vectors, np.ndarray)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.positive_only = True
        return tags

    def _read(self, X: Documents) -> tuple[VectorTable, DocumentRows]:
        """Return the word-vector table, and the documents as rows of word counts over it."""
        table = self._vector_table()
        encoded = self._document_rows(X, "X", table)
        wrong = np.flatnonzero(~(np.isfinite(encoded.counts) & (encoded.counts >= 0)))
        if wrong.size:
            row = int(np.searchsorted(encoded.indptr, wrong[0], "right")) - 1
            raise ValueError(
                "X must hold counts or weights that are finite and at least 0; row "
                f"{row} has {encoded.counts[wrong[0]]}."
            )
        return table, encoded

    def _check_empty(self, encoded: DocumentRows, filled: BoolArray, name: str) -> None:
        """With `empty="error"`, raise for a document without a known word."""
        if self.empty == "zero" or filled.all():
            return
        rows = np.flatnonzero(~filled).tolist()
        coverage = encoded.coverage(rows[0])
        reason = (
            "none of its words has a weight above 0"
            if coverage.known > 0
            else "none of its words has a vector"
        )
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        raise EmptyDocumentError(
            f"Document {rows[0]}{more} of {name} is empty: {reason}. Omit it, or pass "
            "empty='zero' for a zero vector.",
            rows,
            name,
            reason,
        )


def rounded_as(bags: Bags, vectors: Float64Array) -> Float64Array:
    """Convert document vectors to the dtype of the bags that they were computed from."""
    return vectors.astype(bags.dtype, copy=False)
