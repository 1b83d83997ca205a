"""Documents as means of their word vectors: plain, weighed, without common components, white."""

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np

from textkin._typing import Float32Array, Int64Array
from textkin._validation import Constraint, instance_of, integer, one_of, real
from textkin.explain import Contributions
from textkin.models._devices import DEVICE
from textkin.models._pooling import Combine, coefficients
from textkin.models._pools import PoolsWords
from textkin.models._word_weights import PROBABILITIES, WEIGHTS, Probabilities, Weights
from textkin.run import ProgressCallback
from textkin.text._stop_words import StopWords
from textkin.vectors._documents import OVER_VECTORS, Documents, Vectors
from textkin.vectors._encode import Document

__all__ = ["Pooling"]

_ABOVE_ZERO = Constraint(
    lambda value: real(0).accepts(value) and value > 0,
    "a finite number above 0",
    real().wrong_type,
)


class Pooling(PoolsWords):
    r"""Make a vector of a document by pooling the vectors of its words.

    The plain mean is the centroid of the Word Centroid Distance. Weights that fall with the
    frequency of a word (SIF), and taking away what all documents share, make it a strong
    measure of short texts at the cost of a table lookup.

    Parameters
    ----------
    vectors : WordVectors, ndarray of shape (n_columns, d) or None, default=None
        Where words lie. None: the built-in vectors. `WordVectors` go with texts; a matrix goes
        with bags, one row a column, and a row of NaN says that a word has no vector.
    weights : {"mean", "tfidf", "sif", "usif"} or ndarray of shape (n_words,), default="mean"
        How much each occurrence of a word weighs. "mean": all alike. "tfidf": log2(N / df),
        learnt in `fit`; a word that no document has counts like one that a single document has.
        "sif": a / (a + p). "usif": a / (a/2 + p) with a derived from the documents of `fit`. An
        array gives the words of the vectors weights of your own, at least 0.
    combine : {"mean", "sum", "max"}, default="mean"
        "mean" divides the sum by the number of words that have vectors, not by the sum of their
        weights, as the papers do. "max" takes the largest number of each dimension; it knows no
        weights, and any but ``weights="mean"`` are refused.
    remove_components : int, default=0
        How many of the first singular vectors of the documents of `fit` are taken away; below d.
        1 is usual with "sif", 5 with "usif".
    whiten : bool or int, default=False
        Subtract the mean of the documents of `fit` and bring all directions to the same variance,
        after components were removed. A number keeps that many of the first directions.
    a : float, default=1e-3
        The parameter of "sif", above 0: the smaller, the less frequent words weigh.
    probabilities : {"auto", "zipf", "corpus"} or ndarray of shape (n_words,), default="auto"
        p(w) of "sif" and "usif". "corpus": the share of the word in the documents of `fit`.
        "zipf": by its rank in the vectors, most frequent first as published files are. "auto":
        "zipf" for vectors with words, "corpus" for a matrix.
    unit : bool, default=False
        Bring all word vectors to length one first.
    empty : {"zero", "error"}, default="zero"
        What becomes of a document without any word that has a vector and weighs something: the
        zero vector, or `EmptyDocumentError`. See `empty_documents`.
    oov : {"drop", "error"}, default="drop"
        What to do with words without a vector: leave them out (see `coverage`), or raise.
    stop_words : str, None, path or collection of str, default="smart"
        Words of texts to leave out, as for `WordMover`. Tokens and bags are taken as they are.
        None is better with "sif" and "usif", which give frequent words little weight themselves.
    max_words_per_document : int or None, default=None
        Keep only the most frequent words of each text or list of tokens.
    n_jobs : int or None, default=None
        Threads: None is one, -1 all cores. They never change results.
    device : None, "cpu" or "cuda", default=None
        Where words are summed up: None is the processor, others are torch, on a GPU or on tensors
        of the processor (see Notes). Not saved with the model.

    Attributes
    ----------
    word_weights_ : ndarray of shape (n_words,), float64, or None
        The weight of each word of the vectors; None if all weigh the same.
    a_ : float or None
        The parameter of SIF or uSIF behind them.
    components_ : ndarray of shape (remove_components, d), float64
        The directions that are taken away; 0 where the documents have fewer.
    component_weights_ : ndarray of shape (remove_components,), float64
        The part of each that is taken away: 1, or for "usif" its share of the squared singular
        values.
    singular_values_ : ndarray of shape (remove_components,), float64
        Those of the matrix of documents.
    mean_ : ndarray of shape (d,), float64, or None
        What whitening subtracts.
    whitening_ : ndarray of shape (d, k), float64, or None
        What it multiplies by. A column is 0 where the documents of `fit` do not differ.
    n_documents_ : int
        The number of documents that `fit` saw.
    learnt_for_ : tuple
        The parameters that all of this was learnt for; it holds for no others.

    See Also
    --------
    WordMover : Compares the words themselves; its lower bound `wcd` is the distance of the means.
    SIF, TfIdf : The same weights, for bags.
    WordVectors.without_components : Takes components away from words (all-but-the-top).

    Notes
    -----
    With n(d, w) the number of times that document d has word w, x_w its vector and g(w) its
    weight,

    .. math:: v_d = \frac{\sum_w n(d, w)\, g(w)\, x_w}{\sum_w n(d, w)}, \qquad
        y_d = v_d - \sum_{i \le r} s_i\, u_i u_i^\top v_d, \qquad
        z_d = (y_d - \mu)\, U \Lambda^{-1/2},

    where the u_i are the first right singular vectors of the matrix of all v of `fit`, which is
    not centred, s_i is 1 (for "usif" sigma_i^2 over the sum of the r first), and mu and
    U Lambda U^T are the mean and the covariance of the y of `fit`. uSIF has
    a = (1 - alpha) / (alpha V / 2) with V the words of p above 0 and alpha the share of them that
    have p(w) > 1 - (1 - 1/V)^n, n the mean length of the documents of `fit`.

    What is not learnt needs no `fit`: the mean, weights that are given, and SIF with
    probabilities by rank, as long as no components are removed and nothing is whitened.

    **Empty documents** are zero vectors, whatever is removed or subtracted, and `fit` learns
    nothing from them. A document of which removing components leaves nothing but rounding (less
    than 1e-9 of its length) is zero, too.

    A document has the same bits alone, in a batch and on any number of threads. Its time is that
    of splitting the text, plus O(d) for each different word.

    With `device`, sums over words, components and whitening are products of torch, in float64 like
    those of the processor: vectors differ by the rounding of float32. Components are found on the
    processor. Documents go there block by block; the word vectors must fit in its memory.

    References
    ----------
    Arora, Liang and Ma, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings", ICLR 2017
    (SIF, algorithm 1). Ethayarajh, "Unsupervised Random Walk Sentence Embeddings: A Strong but
    Simple Baseline", RepL4NLP 2018 (uSIF). Su, Cao, Liu and Ou, "Whitening Sentence
    Representations for Better Semantics and Faster Retrieval", 2021.

    Examples
    --------
    >>> from textkin import Pooling, similarities
    >>> texts = ["Obama speaks to the media in Illinois",
    ...          "The President greets the press in Chicago",
    ...          "The band gave a concert in Japan"]
    >>> similarities(Pooling(weights="sif").transform(texts)).round(2)[0]
    array([1.  , 0.75, 0.54])

    A matrix goes with bags:

    >>> import numpy as np
    >>> words = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
    >>> Pooling(words).transform(np.array([[3, 1, 0], [0, 0, 0], [0, 0, 4]]))
    array([[0.75, 0.25],
           [0.  , 0.  ],
           [2.  , 2.  ]], dtype=float32)
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        **OVER_VECTORS,
        "weights": one_of(*WEIGHTS) | instance_of(np.ndarray, "an array, a number for each word"),
        "combine": one_of("mean", "sum", "max"),
        "remove_components": integer(0),
        "whiten": one_of(True, False) | integer(1),
        "a": _ABOVE_ZERO,
        "probabilities": one_of(*PROBABILITIES)
        | instance_of(np.ndarray, "an array, a number for each word"),
        "empty": one_of("zero", "error"),
        "n_jobs": one_of(None) | integer(),
        "device": DEVICE,
    }

    def __init__(
        self,
        vectors: Vectors = None,
        *,
        weights: Weights = "mean",
        combine: Combine = "mean",
        remove_components: int = 0,
        whiten: bool | int = False,
        a: float = 1e-3,
        probabilities: Probabilities = "auto",
        unit: bool = False,
        empty: Literal["zero", "error"] = "zero",
        oov: Literal["drop", "error"] = "drop",
        stop_words: StopWords = "smart",
        max_words_per_document: int | None = None,
        n_jobs: int | None = None,
        device: str | None = None,
    ) -> None:
        self.vectors = vectors
        self.weights = weights
        self.combine = combine
        self.remove_components = remove_components
        self.whiten = whiten
        self.a = a
        self.probabilities = probabilities
        self.unit = unit
        self.empty = empty
        self.oov = oov
        self.stop_words = stop_words
        self.max_words_per_document = max_words_per_document
        self.n_jobs = n_jobs
        self.device = device

    def fit(
        self, X: Documents, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Learn the weights of words, the components and the whitening, as far as they are asked.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            Documents like those that will be transformed; empty ones teach nothing.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (documents pooled, all) after the texts were read, where there are
            components or whitening to learn; raising from it stops the work.

        Returns
        -------
        Pooling
            The estimator itself.
        """
        self._learn(X, progress)
        return self

    def transform(self, X: Documents, *, progress: ProgressCallback | None = None) -> Float32Array:
        """Return a vector for each document.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            n documents.
        progress : callable, optional
            Called with (documents pooled, all) after the texts were read; raising from it stops
            the work.

        Returns
        -------
        ndarray of shape (n, d), float32
            Compare them by cosine, or by Euclidean distance. (n, whiten) where that is a number.

        Raises
        ------
        EmptyDocumentError
            If a document is empty and `empty` is "error".
        sklearn.exceptions.NotFittedError
            If something is to be learnt first (again, if parameters have changed).
        """
        space, weights, shape = self._setting()
        encoded = self._read(X)[1]
        if self.device is not None:
            vectors: Float32Array = self._pooled(space, encoded, weights, shape, progress)[0]
            return vectors
        sums, filled = self._sums(space, encoded, weights)
        return self._rows(sums, filled, shape, progress)

    def fit_transform(
        self, X: Documents, y: object = None, *, progress: ProgressCallback | None = None
    ) -> Float32Array:
        """Learn from documents and return their vectors; as `fit` and `transform`, in less time.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            n documents.
        y : object, optional
            Ignored.
        progress : callable, optional
            As for `fit`.

        Returns
        -------
        ndarray of shape (n, d), float32
            See `transform`.
        """
        before = vars(self).copy()
        try:
            sums, filled = self._learn(X, progress)
            return self._rows(sums, filled, self._shape(), None)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def empty_documents(self, X: Documents) -> Int64Array:
        """Return the positions of documents that become zero vectors for want of words.

        Parameters
        ----------
        X : iterable of texts or token lists, or bags
            The documents.

        Returns
        -------
        ndarray of int64
            Ascending: documents without any word that has a vector and weighs more than 0. Why,
            `coverage` says.

        Examples
        --------
        >>> from textkin import Pooling
        >>> Pooling().empty_documents(["a cat", "", "qwertzish"])
        array([1, 2])
        """
        _, weights, _ = self._setting()
        encoded = self._read(X)[1]
        _, filled = coefficients(encoded, weights, self.combine)
        return np.flatnonzero(~filled).astype(np.int64, copy=False)

    def explain(
        self, a: Document, b: Document, *, words: Sequence[str] | None = None
    ) -> Contributions:
        r"""Return the cosine of two documents as a sum over the words of the first.

        Parameters
        ----------
        a, b : str, list of str, or one row of bags
            The documents.
        words : sequence of str, optional
            Names of the columns of bags, such as ``vocabulary.words``.

        Returns
        -------
        Contributions
            A part for each word of `a`, with the word of `b` that it has the most from; they sum
            to the cosine of the two vectors. 0, and no parts, if one of them is zero.

        Notes
        -----
        All steps after the pooling are linear, so that the vector of a document is a sum of
        parts y_w of its words, and the cosine is

        .. math:: \sum_{w \in a} \frac{\langle y_w, y_b \rangle}{\|y_a\| \, \|y_b\|}.

        The mean that whitening subtracts is shared out by the weights of the words. Of the
        maximum, a word has the dimensions in which it is the largest.

        Examples
        --------
        >>> from textkin import Pooling
        >>> found = Pooling().explain("a cat and a hammer", "the dog barks")
        >>> [(part.name, part.note) for part in found.parts]
        [('cat', "with 'dog'"), ('hammer', "with 'dog'")]
        """
        return self._contributions(a, b, words)
