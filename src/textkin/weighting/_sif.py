"""Smooth inverse frequency: the more frequent a word, the less it weighs."""

from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from textkin._typing import Bags, Float64Array
from textkin._validation import Constraint, check_params, integer, real
from textkin.weighting._rows import BagsLike, BagWeighting, normalised, with_values
from textkin.weighting._statistics import WordStatistics

__all__ = ["SIF", "sif_weights", "zipf_probabilities"]

Probabilities: TypeAlias = ArrayLike | Literal["zipf"] | None

_ZIPF_SHIFT = 2.7
_ABOVE_ZERO = Constraint(
    lambda value: real(0).accepts(value) and value > 0,
    "a finite number above 0",
    real().wrong_type,
)


def zipf_probabilities(n: int) -> Float64Array:
    """Guess the probabilities of `n` words from their ranks alone, most frequent first.

    Parameters
    ----------
    n : int
        Number of words.

    Returns
    -------
    ndarray of shape (n,), float64
        Falling probabilities that sum to 1.

    See Also
    --------
    SIF : Weigh bags by them, with ``probabilities="zipf"``.

    Notes
    -----
    The law of Zipf and Mandelbrot: the word of rank r = 0, 1, ... has probability

        p(r) = c / (r + 2.7).

    References
    ----------
    Piantadosi, "Zipf's Word Frequency Law in Natural Language: A Critical Review and Future
    Directions", Psychonomic Bulletin & Review 21, 2014 (ranks from 1 there).

    Examples
    --------
    >>> zipf_probabilities(3).round(3)
    array([0.434, 0.317, 0.249])
    """
    integer(0).check("n", n)
    inverse_ranks = 1.0 / (np.arange(n) + _ZIPF_SHIFT)
    return np.asarray(inverse_ranks / inverse_ranks.sum())


def sif_weights(probabilities: ArrayLike, a: float = 1e-3) -> Float64Array:
    """Return the weight of each word, a / (a + p).

    Parameters
    ----------
    probabilities : array of shape (n_words,)
        Probability p of each word in the language or corpus, 0 to 1.
    a : float, default=1e-3
        Above 0. The smaller, the less frequent words weigh; a word with p = a weighs one half.

    Returns
    -------
    ndarray of shape (n_words,), float64
        Above 0 and at most 1; 1 for a word that was never seen.

    Raises
    ------
    ValueError
        If a probability is outside 0 to 1.

    See Also
    --------
    SIF : Weigh bags in this way.

    References
    ----------
    Arora, Liang and Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR
    2017, algorithm 1.

    Examples
    --------
    >>> sif_weights([0.0, 0.001, 0.999])
    array([1.   , 0.5  , 0.001])
    """
    _ABOVE_ZERO.check("a", a)
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 1:
        raise ValueError(f"probabilities must have one dimension; got {p.ndim}.")
    outside = np.flatnonzero(~((p >= 0) & (p <= 1)))  # NaN is outside too
    if outside.size:
        raise ValueError(
            f"probabilities must be between 0 and 1; position {outside[0]} has {p[outside[0]]}."
        )
    return np.asarray(a / (a + p))


class SIF(BagWeighting, auto_wrap_output_keys=None):
    """Weigh words by smooth inverse frequency and let each row sum to 1.

    Parameters
    ----------
    a : float, default=1e-3
        Above 0. The smaller, the less frequent words weigh; 1e-3 to 1e-4 is usual.
    probabilities : array of shape (n_words,), "zipf" or None, default=None
        The probability of each column's word. None learns it from the bags of `fit`; "zipf"
        guesses it from the rank alone, for columns in the order of falling frequency, as the
        words of most vector files are.

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_words,), float64
        The probability of each column's word.
    weights_ : ndarray of shape (n_words,), float64
        The weight of each column's word.

    See Also
    --------
    TfIdf : Weigh by the number of documents instead of the number of occurrences.
    nbow : All words weigh the same.

    Notes
    -----
    With p(w) = sum_d n(d, w) / sum_{d, v} n(d, v), the weight of word w in document d is

        x_w = c n(d, w) a / (a + p(w)),    c such that sum_w x_w = 1.

    A word that `fit` never saw has p = 0, so the largest weight. Empty rows stay empty.

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

    _constraints: ClassVar[dict[str, Constraint]] = {"a": _ABOVE_ZERO}

    def __init__(self, a: float = 1e-3, *, probabilities: Probabilities = None) -> None:
        self.a = a
        self.probabilities = probabilities

    def fit(self, X: BagsLike, y: object = None) -> Self:
        """Learn the probability of each word, unless the probabilities are given.

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
        """Weigh and normalise each row.

        Parameters
        ----------
        X : sparse or dense array of shape (n_documents, n_words)
            Bags.

        Returns
        -------
        csr_array of shape (n_documents, n_words)
            Rows that sum to 1, or empty. float32, or float64 if `X` is.
        """
        bags = self._bags_to_transform(X)
        return with_values(bags, normalised(bags, bags.data * self.weights_[bags.indices], "l1"))

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
            raise ValueError(
                f"probabilities must be 'zipf', an array or None; got {probabilities!r}."
            )
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
            "SIF cannot learn probabilities from bags without any word; "
            "pass probabilities=, or fit on documents that have words."
        )
    with np.errstate(over="ignore"):
        total = found.totals.sum()
    if not np.isfinite(total):
        raise ValueError("The counts must have a finite sum; scale them down.")
    return np.asarray(found.totals / total)
