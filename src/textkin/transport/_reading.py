"""Documents of any kind, read over word vectors: what `WordMover` does before it measures."""

from operator import attrgetter
from typing import ClassVar, Literal

from sklearn.exceptions import NotFittedError

from textkin import _core
from textkin._typing import Float64Array
from textkin._typing import Float32Array, Float64Array, HasText
from textkin._validation import check_params
from textkin.text._stop_words import StopWords
from textkin.text._terms import Preparation, prepare
from textkin.text._tokenise import text_of
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

    def _encode(
        self,
        X: Any,  # noqa: ANN401 (texts, tokens or any kind of bags)
        name: str,
        space: Space,
        word_weights: Float64Array | None = None,
        *,
        oov: str | None = None,
    ) -> Encoded:
        """Bring documents of any kind into rows over the vector table."""
        if is_bag(X):
            if space.lookup is not None:
                raise TypeError(
                    f"{name} is a bag, but the vectors are named by words, and columns of bags "
                    "are not: pass WordMover(vectors.align(vocabulary)), a matrix with one row "
                    "for each column."
                )
            encoded = rows_of_bags(X, space, word_weights, name)
        else:
            if isinstance(X, str):
                raise TypeError(f"{name} must hold many documents; got one text. Put it in a list.")
            if isinstance(X, bytes | bytearray):
                raise TypeError(f"{name} must be texts; got {type(X).__name__}: decode it first.")
            if hasattr(X, "columns") and hasattr(X, "iloc"):  # would be read as its column names
                raise TypeError(
                    f"{name} must be a list of documents; got {type(X).__name__}: pass a column of "
                    "texts, such as df['text'], or textkin.read(df)."
                )
            if isinstance(X, Mapping):
                raise TypeError(f"{name} must be a list of documents; got {type(X).__name__}.")
            if not isinstance(X, Iterable):
                raise TypeError(
                    f"{name} must be texts, lists of tokens or bags; got {type(X).__name__}."
                )
            if space.lookup is None:
                raise TypeError(
                    f"{name} must be bags with one column for each row of the vectors, which are "
                    "a matrix without words. For texts pass WordMover(WordVectors(words, matrix))."
                )
            encoded = rows_of_texts(
                X, space, word_weights, self._preparation(), self.max_words_per_document, name
            )
        if (oov or self.oov) == "error":
            refuse_unknown(encoded, name)
        return encoded

    def _single(
        self, document: Document, name: str, space: Space, word_weights: Float64Array | None
    ) -> Encoded:
        """Encode one document."""
        if is_bag(document):
            encoded = self._encode(document, name, space, word_weights)
            if len(encoded) != 1:
                raise ValueError(f"{name} must be one document; got {len(encoded)} rows.")
            return encoded
        if not isinstance(text_of(document), str | Sequence):
            raise TypeError(
                f"{name} must be a text, a list of tokens or one row of bags; got "
                f"{type(document).__name__}."
            )
        return self._encode([document], name, space, word_weights)

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
