"""Documents of any kind, read over word vectors: what all estimators over word vectors share."""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, is_
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from textkin._typing import Float64Array, HasText
from textkin._validation import Constraint, check_params, instance_of, integer, one_of
from textkin.run import effective_jobs
from textkin.text._stop_words import STOP_WORDS, StopWords
from textkin.text._terms import Preparation, prepare
from textkin.text._tokenise import text_of
from textkin.vectors._encode import (
    Coverage,
    Document,
    Encoded,
    is_bag,
    refuse_unknown,
    rows_of_bags,
    rows_of_texts,
)
from textkin.vectors._space import Space, space_of_matrix, space_of_words
from textkin.vectors._word_vectors import WordVectors

__all__ = ["OVER_VECTORS", "Documents", "OverVectors", "Vectors", "same_parameters"]

Documents: TypeAlias = Iterable[str | Sequence[str] | HasText] | sparse.sparray | sparse.spmatrix
Vectors: TypeAlias = WordVectors | NDArray[np.floating[Any]] | None

OVER_VECTORS: dict[str, Constraint] = {
    "vectors": one_of(None)
    | instance_of(WordVectors, "WordVectors")
    | instance_of(np.ndarray, "a matrix with one row for each column of the bags"),
    "unit": one_of(True, False),
    "oov": one_of("drop", "error"),
    "stop_words": STOP_WORDS,
    "max_words_per_document": one_of(None) | integer(1),
}
"""What the parameters that `OverVectors` reads may be."""


class OverVectors(BaseEstimator):
    """An estimator that has word vectors, and reads texts, tokens or bags over them.

    Texts go with named vectors (`WordVectors`, or None for the built-in ones), bags with a matrix
    that has one row for each of their columns; a row of NaN is a word without a vector. A subclass
    has the parameters below, and adds `OVER_VECTORS` to its constraints.
    """

    vectors: Vectors
    unit: bool
    oov: Literal["drop", "error"]
    stop_words: StopWords
    max_words_per_document: int | None
    n_jobs: int | None

    _space_depends_on: ClassVar["attrgetter[tuple[object, ...]]"] = attrgetter(*OVER_VECTORS)

    def coverage(self, X: Documents) -> list[Coverage]:
        """Return how much of each document has vectors, and which words have none.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            The documents.

        Returns
        -------
        list of Coverage
            One a document.

        Examples
        --------
        >>> from textkin import WordMover
        >>> [found] = WordMover().coverage(["Obama speaks qwertzish"])
        >>> round(found.share, 2), found.unknown
        (0.67, {'qwertzish': 1})
        """
        encoded = self._encode(X, "X", self._space(), oov="drop")
        return [encoded.coverage(row) for row in range(len(encoded))]

    def _space(self) -> Space:
        """Return the vector table, made once for the parameters as they are now."""
        key = self._space_depends_on(self)
        cached = self.__dict__.get("_cached_space")
        if cached is not None and (
            all(map(is_, cached[0], key)) or same_parameters(cached[0], key)  # the first is quick
        ):
            space: Space = cached[1]
            return space
        check_params(self)
        unit = self._wants_unit_vectors()
        if isinstance(self.vectors, np.ndarray):
            space = space_of_matrix(self.vectors, unit=unit)
        else:
            named = WordVectors.builtin() if self.vectors is None else self.vectors
            space = space_of_words(named, unit=unit)
        self._cached_space = (key, space)
        return space

    def _wants_unit_vectors(self) -> bool:
        return self.unit

    def _preparation(self) -> Preparation:
        """Return how texts are read, made once for the stop words as they are now."""
        cached = self.__dict__.get("_cached_preparation")
        if cached is None or cached[0] is not self.stop_words:
            prepared = prepare(lowercase=False, stop_words=self.stop_words)
            cached = self._cached_preparation = (self.stop_words, prepared)
        found: Preparation = cached[1]
        return found

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_cached_space", None)
        state.pop("_cached_preparation", None)
        return state

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
                    f"are not: pass {type(self).__name__}(vectors.align(vocabulary)), a matrix "
                    "with one row for each column."
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
                    "a matrix without words. For texts pass "
                    f"{type(self).__name__}(WordVectors(words, matrix))."
                )
            encoded = rows_of_texts(
                X,
                space,
                word_weights,
                self._preparation(),
                self.max_words_per_document,
                name,
                effective_jobs(self.n_jobs),
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


def same_parameters(then: tuple[object, ...], now: tuple[object, ...]) -> bool:
    """Tell whether parameters are the same objects, or the same words."""
    return all(map(_is, then, now))


def _is(a: object, b: object) -> bool:
    return a is b or (isinstance(a, str) and isinstance(b, str) and a == b)
