"""Base class of estimators over word vectors: vector table, and documents read over it."""

from collections.abc import Iterable, Sequence
from operator import attrgetter, is_
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from textkin._base import (
    Constraint,
    Float64Array,
    HasText,
    SavedEstimator,
    check_params,
    integer,
    one_of,
)
from textkin.corpus._reader import Document, is_bag, read_documents, read_texts, refuse_unknown
from textkin.corpus._rows import Coverage, DocumentRows
from textkin.corpus._vector_table import VectorTable
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.run import effective_jobs
from textkin.text import STOP_WORDS, Preparation, StopWords, prepare, text_of
from textkin.vectors import BuiltinName, WordVectors, vectors_by_name

__all__ = [
    "WORD_VECTOR_PARAMETERS",
    "Documents",
    "Vectors",
    "WordVectorEstimator",
    "same_parameters",
]

Documents: TypeAlias = Iterable[str | Sequence[str] | HasText] | sparse.sparray | sparse.spmatrix
Vectors: TypeAlias = WordVectors | NDArray[np.floating[Any]] | BuiltinName | None

WORD_VECTOR_PARAMETERS: dict[str, Constraint] = {
    "vectors": Constraint(
        lambda value: (
            value is None
            or isinstance(value, WordVectors | np.ndarray)
            or vectors_by_name(value) is not None
        ),
        "None, WordVectors, the name of built-in ones ('glove' or 'distilled'), or a matrix with "
        "one row for each column of the bags (for a file, WordVectors.load(path))",
        lambda value: not isinstance(value, str),
    ),
    "unit": one_of(True, False),
    "oov": one_of("drop", "error"),
    "stop_words": STOP_WORDS,
    "max_words_per_document": one_of(None) | integer(1),
}
"""Constraints of the parameters that `WordVectorEstimator` reads."""


class WordVectorEstimator(SavedEstimator, BaseEstimator):
    """Base class of estimators that compare texts, token lists, or bags by word vectors.

    Texts require named vectors (`WordVectors`, or None for the built-in vectors). Bags require a
    matrix with one row per column of the bags; a row of NaN is a word without a vector. A subclass
    has the parameters below, and adds `WORD_VECTOR_PARAMETERS` to its constraints.
    """

    vectors: Vectors
    unit: bool
    oov: Literal["drop", "error"]
    stop_words: StopWords
    max_words_per_document: int | None
    n_jobs: int | None

    _table_depends_on: ClassVar["attrgetter[tuple[object, ...]]"] = attrgetter(
        *WORD_VECTOR_PARAMETERS
    )

    def coverage(self, X: Documents) -> list[Coverage]:
        """Return for each document the share of its words with a vector, and its unknown words.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            Documents.

        Returns
        -------
        list of Coverage
            Coverage of each document.

        Examples
        --------
        >>> from textkin import WordMover
        >>> [found] = WordMover().coverage(["Obama speaks qwertzish"])
        >>> round(found.share, 2), found.unknown
        (0.67, {'qwertzish': 1})
        """
        rows = self._document_rows(X, "X", self._vector_table(), oov="drop")
        return [rows.coverage(row) for row in range(len(rows))]

    def _vector_table(self) -> VectorTable:
        """Return the word vectors as a `VectorTable`, cached while the parameters stay the same."""
        key = self._table_depends_on(self)
        cached = self.__dict__.get("_cached_table")
        if cached is not None and (
            # The cheap comparison comes first.
            all(map(is_, cached[0], key)) or same_parameters(cached[0], key)
        ):
            table: VectorTable = cached[1]
            return table
        check_params(self)
        unit = self._wants_unit_vectors()
        if isinstance(self.vectors, np.ndarray):
            table = VectorTable.of_matrix(self.vectors, unit=unit)
        else:
            named = self.vectors
            if named is None:
                named = WordVectors.builtin()
            elif not isinstance(named, WordVectors):
                named = vectors_by_name(named)
            assert named is not None  # the caller passes named vectors
            table = VectorTable((named.unit() if unit else named).matrix, None, named)
        self._cached_table = (key, table)
        return table

    def _wants_unit_vectors(self) -> bool:
        return self.unit

    def _preparation(self) -> Preparation:
        """Return the prepared text analysis, cached while `stop_words` stays the same."""
        cached = self.__dict__.get("_cached_preparation")
        if cached is None or cached[0] is not self.stop_words:
            prepared = prepare(lowercase=False, stop_words=self.stop_words)
            cached = self._cached_preparation = (self.stop_words, prepared)
        found: Preparation = cached[1]
        return found

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_cached_table", None)
        state.pop("_cached_preparation", None)
        return state

    def _document_rows(
        self,
        X: Any,  # noqa: ANN401 (texts, tokens or any kind of bags)
        name: str,
        table: VectorTable,
        weights: Float64Array | None = None,
        *,
        oov: str | None = None,
    ) -> DocumentRows:
        """Convert texts, token lists, or bags to `DocumentRows` over the vector table."""
        rows = read_documents(
            X,
            name,
            table,
            weights,
            self._preparation,
            self.max_words_per_document,
            self.n_jobs,
            type(self).__name__,
        )
        if (oov or self.oov) == "error":
            refuse_unknown(rows, name)
        return rows

    def _document_row(
        self, document: Document, name: str, table: VectorTable, weights: Float64Array | None
    ) -> DocumentRows:
        """Convert one document to `DocumentRows`, by a fast path if it is a text."""
        if isinstance(document, str) and table.lookup is not None:
            rows = read_texts(
                (document,),
                table,
                weights,
                self._preparation(),
                self.max_words_per_document,
                name,
                1 if self.n_jobs is None else effective_jobs(self.n_jobs),
            )
            if self.oov == "error":
                refuse_unknown(rows, name)
            return rows
        if is_bag(document):
            rows = self._document_rows(document, name, table, weights)
            if len(rows) != 1:
                raise ParameterError(name, "one document", f"{len(rows)} rows")
            return rows
        if not isinstance(text_of(document), str | Sequence):
            raise ParameterTypeError(
                name, "a text, a list of tokens or one row of bags", type(document).__name__
            )
        return self._document_rows([document], name, table, weights)


def same_parameters(then: tuple[object, ...], now: tuple[object, ...]) -> bool:
    """Return True if each earlier parameter is the new object itself, or an equal string."""
    return all(map(_is, then, now))


def _is(a: object, b: object) -> bool:
    return a is b or (isinstance(a, str) and isinstance(b, str) and a == b)
