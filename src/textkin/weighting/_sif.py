"""`SIF`: smooth inverse frequency weights."""

from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from textkin._base import (
    Bags,
    BagsLike,
    BagWeighting,
    Constraint,
    Float64Array,
    check_params,
    normalize_rows,
    positive,
    replace_values,
    rollback_on_error,
)
from textkin.exceptions import ParameterError
from textkin.weighting._formulas import WordStatistics, sif_weights, zipf_probabilities

__all__ = ["SIF"]

Probabilities: TypeAlias = ArrayLike | Literal["zipf"] | None


class SIF(BagWeighting):
    """Smooth inverse frequency weighting of bags: a / (a + p), with rows that sum to 1.

    Parameters
    ----------
    a : float, default=1e-3
        Parameter above 0. The smaller it is, the less weight frequent words get; 1e-3 to 1e-4 is
        common.
    probabilities : array of shape (n_words,), "zipf" or None, default=None
        Probability of the word of each column. If None, `fit` learns it from the bags. "zipf"
        estimates it from the rank; columns must be in descending order of frequency, like the
        words of most vector files.

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_words,), float64
        Probability of the word of each column.
    weights_ : ndarray of shape (n_words,), float64
        Weight of the word of each column.

    See Also
    --------
    TfIdf : Weighting by the number of documents instead of the number of occurrences.
    nbow : Equal weights for all words.

    Notes
    -----
    With p(w) = sum_d n(d, w) / sum_{d, v} n(d, v), the weight of word w in document d is

        x_w = c n(d, w) a / (a + p(w)),    c such that sum_w x_w = 1.

    A word that `fit` never saw has p = 0, and therefore the largest weight. Empty rows stay empty.

    References
    ----------
    Arora, Liang and Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR
    2017, algorithm 1.

    Examples
    --------
    >>> SIF(a=0.25).fit_transform([[3, 1], [0, 0]]).toarray()
    array([[0.6, 0.4],
           [0. , 0. ]], dtype=float32)
    """

    _constraints: ClassVar[dict[str, Constraint]] = {"a": positive()}

    def __init__(self, a: float = 1e-3, *, probabilities: Probabilities = None) -> None:
        self.a = a
        self.probabilities = probabilities

    @rollback_on_error
    def fit(self, X: BagsLike, y: object = None) -> Self:
        """Learn the probability of each word, unless it is given.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags.
        y : object, optional
            Ignored.

        Returns
        -------
        SIF
            The estimator itself.
        """
        check_params(self)
        self._learn(WordStatistics.of(self._bags_to_fit(X)))
        return self

    def transform(self, X: BagsLike) -> Bags:
        """Return the weights of each bag's words, which sum to 1.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags.

        Returns
        -------
        csr_array of shape (n_documents, n_words)
            Rows that sum to 1, or are empty; float32, or float64 if `X` is float64.
        """
        bags = self._bags_to_transform(X)
        return replace_values(
            bags, normalize_rows(bags, bags.data * self.weights_[bags.indices], "l1")
        )

    def _learn(self, found: WordStatistics) -> None:
        self.probabilities_ = _probabilities(self.probabilities, found)
        self.weights_ = sif_weights(self.probabilities_, self.a)

    def _check_loaded(self) -> None:
        shape = (self.n_features_in_,)
        self._check_shapes(probabilities_=shape, weights_=shape)


def _probabilities(probabilities: Probabilities, found: WordStatistics) -> Float64Array:
    n_words = len(found.totals)
    if isinstance(probabilities, str):
        if probabilities != "zipf":
            raise ParameterError("probabilities", "'zipf', an array or None", repr(probabilities))
        return zipf_probabilities(n_words)
    if probabilities is not None:
        given = np.array(probabilities, dtype=np.float64)
        if given.shape != (n_words,):
            raise ValueError(
                f"probabilities must have shape ({n_words},), one for each column of the bags; "
                f"got {given.shape}."
            )
        return given
    if not found.document_frequencies.any():
        raise ValueError(
            "X must have words to learn probabilities from; got none. Pass probabilities=, or fit "
            "on documents that have words."
        )
    with np.errstate(over="ignore"):
        total = found.totals.sum()
    if not np.isfinite(total):
        raise ValueError("X must have counts with a finite sum. Scale them down.")
    return np.asarray(found.totals / total)
