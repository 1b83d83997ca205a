"""Documents of any kind, read over word vectors: what `WordMover` does before it measures."""

from operator import attrgetter
from typing import Any, ClassVar, Literal

from sklearn.exceptions import NotFittedError

from textkin import _core
from textkin._typing import Float32Array, Float64Array
from textkin.transport._costs import CostName
from textkin.transport._masses import Masses, fixed_word_weights, needs_corpus
from textkin.transport._refusals import empty_document_error
from textkin.vectors._documents import OVER_VECTORS, OverVectors
from textkin.vectors._encode import Encoded
from textkin.vectors._space import Space

__all__ = ["ReadsDocuments"]


class ReadsDocuments(OverVectors):
    """An estimator that has vectors and masses, and reads texts, tokens or bags over them."""

    masses: Masses
    cost: CostName
    empty: Literal["error", "inf"]
    n_documents_: int
    word_weights_: Float64Array | None

    _space_depends_on: ClassVar["attrgetter[tuple[object, ...]]"] = attrgetter(
        *OVER_VECTORS, "masses", "cost", "empty"
    )

    def _wants_unit_vectors(self) -> bool:
        return self.unit or self.cost == "cosine"

    def _setting(self) -> tuple[Space, Float64Array | None]:
        """Return the vector table, and what each word's count is multiplied by (None is 1)."""
        space = self._space()
        if not needs_corpus(self.masses, space):
            return space, fixed_word_weights(self.masses, space)
        if getattr(self, "_learnt_for", None) != self._what_is_learnt(space):
            raise NotFittedError(
                f"masses={self.masses!r} uses the frequencies of a corpus: call fit(corpus) first "
                "(again, if masses or vectors have changed)."
            )
        return space, self.word_weights_

    def _what_is_learnt(self, space: Space) -> tuple[str, int]:
        """Return what the learnt weights depend on; they hold for nothing else."""
        return (self.masses if isinstance(self.masses, str) else "given", len(space))

    def _pairs_of(
        self,
        X: Any,  # noqa: ANN401 (texts, tokens or any kind of bags)
        Y: Any,  # noqa: ANN401
    ) -> tuple[Float32Array, _core.Documents, _core.Documents]:
        """Return the vectors, and the documents of `X` and of `Y` (None: `X` again)."""
        space, weights = self._setting()
        rows = self._documents(self._encode(X, "X", space, weights), "X")
        if Y is None:
            return space.table, rows, rows
        return space.table, rows, self._documents(self._encode(Y, "Y", space, weights), "Y")

    def _documents(self, encoded: Encoded, name: str, empty: str | None = None) -> _core.Documents:
        documents = encoded.documents()
        if (empty or self.empty) == "error":
            rows = documents.empty_rows()
            if rows.size:
                raise empty_document_error(encoded, rows.tolist(), name, choice=empty is None)
        return documents
