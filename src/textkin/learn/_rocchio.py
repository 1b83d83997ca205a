"""Rocchio's classifier: a prototype for each class, and the one with the best cosine wins."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from textkin._typing import Float64Array, Int64Array, WordLookup
from textkin._validation import Constraint, check_params, integer, one_of
from textkin.explain import Contribution, Contributions, Topics
from textkin.learn._classifying import DocumentClassifier, Rows
from textkin.learn._documents import DocumentsLike
from textkin.learn._labels import LabelsLike, checked_labels
from textkin.text._stop_words import STOP_WORDS, StopWords
from textkin.weighting._rows import normalised

__all__ = ["RocchioClassifier"]


class RocchioClassifier(DocumentClassifier):
    """Give a document to the class whose prototype points most nearly where it does.

    Parameters
    ----------
    prototype : {"mean", "sum"}, default="mean"
        What stands for a class: the mean or the sum of its documents. The cosine is the same.
    model : transformer or None, default=None
        Makes the vectors that are compared, of bags or, where it takes them, of texts. None:
        texts are counted and weighed by `TfIdf`; numbers are taken as they are (put `TfIdf` in
        front, in a pipeline).
    stop_words : str, None, path or collection of str, default="smart"
        Words of texts that are not counted, see `BagOfWords`.
    n_jobs : int or None, default=None
        Threads for counting texts.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in ascending order.
    class_counts_ : ndarray of int of shape (n_classes,)
        How many documents of `fit` have each.
    sums_ : csr_array of shape (n_classes, n_columns), float64
        The sum of the documents of each class.
    prototypes_ : csr_array of shape (n_classes, n_columns), float64
        These sums, or means, by `prototype`.
    words_ : list of str or None
        The words of texts; None if `fit` was given numbers, or the model reads texts by itself.
    model_ : transformer or None
        What makes the vectors, fitted.

    See Also
    --------
    sklearn.neighbors.NearestCentroid : The same by distances.

    Notes
    -----
    For documents d of class c, p_c = sum of d, or their mean, and ::

        c(d) = argmax_c cos(d, p_c),    cos(d, p) = d.p / (|d| |p|)

    Among equal cosines the earlier class in `classes_` wins. A class whose prototype is 0 has the
    cosine 0 with all documents, which is better than one below 0. A document without anything in
    it, or without any word that `fit` saw, goes to the class that has most documents, the earlier
    one among equals. With one class everything belongs to it. There are no probabilities:
    cosines are none. Fitting costs the words of the documents; a prediction those of the document
    for each class. A class that has several centres is badly served: its prototype lies between
    them, where none of its documents may be.

    References
    ----------
    Rocchio, "Relevance Feedback in Information Retrieval", in Salton (ed.), "The SMART Retrieval
    System", 1971. Joachims, "A Probabilistic Analysis of the Rocchio Algorithm with TFIDF for
    Text Categorization", ICML 1997.

    Examples
    --------
    >>> texts = ["Cats purr", "The dog barks", "Shares fell", "Banks sold shares"]
    >>> rocchio = RocchioClassifier().fit(texts, ["pets", "pets", "money", "money"])
    >>> rocchio.predict(["A cat and a dog", "Who sold these shares?"])
    array(['pets', 'money'], dtype='<U5')
    >>> rocchio.explain("Who sold these shares?")
    Contributions: score 0.6236
    sold    0.393  ████████████████   63 %  0.894 x 0.44
    shares  0.230  █████████▍         37 %  0.447 x 0.515
    >>> print(rocchio.top_words(n_words=2))
    money  50.0 %  pets  50.0 %
    fell           barks
    shares         cats
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "prototype": one_of("mean", "sum"),
        "stop_words": STOP_WORDS,
        "n_jobs": one_of(None) | integer(),
    }

    def __init__(
        self,
        prototype: Literal["mean", "sum"] = "mean",
        *,
        model: Any = None,  # noqa: ANN401 (a transformer of anybody's)
        stop_words: StopWords = "smart",
        n_jobs: int | None = None,
    ) -> None:
        self.prototype = prototype
        self.model = model
        self.stop_words = stop_words
        self.n_jobs = n_jobs

    def fit(self, X: DocumentsLike, y: LabelsLike = None) -> Self:
        """Add up the documents of each class.

        Parameters
        ----------
        X : texts, lists of words, or array of shape (n_documents, n_columns)
            Documents.
        y : list or array of shape (n_documents,)
            Their labels: strings, whole numbers, booleans, anything that can be sorted.

        Returns
        -------
        RocchioClassifier
            The estimator itself.

        Raises
        ------
        ValueError
            If there are no documents, labels are missing, or numbers are NaN, infinite, or too
            large to be added.
        """
        check_params(self)
        rows = self._rows_to_fit(X)
        classes, codes = checked_labels(y, rows.shape[0], type(self).__name__)
        self.sums_ = _sums(rows, codes, len(classes))
        self.classes_ = classes
        self.class_counts_ = np.bincount(codes, minlength=len(classes)).astype(np.int64)
        return self

    @property
    def prototypes_(self) -> Rows:
        """What stands for each class: the mean or the sum of its documents."""
        check_is_fitted(self)
        if self.prototype == "sum":
            return self.sums_
        means: Rows = self.sums_.copy()
        means.data /= np.repeat(self.class_counts_, np.diff(means.indptr))
        return means

    def similarity(self, X: DocumentsLike) -> Float64Array:
        """Return the cosine of documents with the prototype of each class.

        Parameters
        ----------
        X : texts, lists of words, or array of shape (n_documents, n_columns)
            Documents of the kind that `fit` was given.

        Returns
        -------
        ndarray of shape (n_documents, n_classes), float64
            From -1 to 1, the larger the nearer; in the order of `classes_`. 0 for a document
            without anything in it.
        """
        return self._scores(self._rows(X))

    def decision_function(self, X: DocumentsLike) -> Float64Array:
        """Return the cosines, as scikit-learn has its scores.

        Parameters
        ----------
        X : texts, lists of words, or array of shape (n_documents, n_columns)
            Documents of the kind that `fit` was given.

        Returns
        -------
        ndarray of shape (n_documents, n_classes), or (n_documents,) for two classes
            For two classes the cosine with the second less that with the first, so that above 0
            the second is predicted; otherwise what `similarity` returns. All 0 for a document
            without anything in it, which goes to the most frequent class.
        """
        cosines = self.similarity(X)
        return np.asarray(cosines[:, 1] - cosines[:, 0]) if cosines.shape[1] == 2 else cosines

    def explain(
        self,
        document: Any,  # noqa: ANN401 (a text, words, or a row of numbers)
        label: object = None,
        *,
        words: "WordLookup | Mapping[str, int] | Sequence[str] | None" = None,
    ) -> Contributions:
        """Share the cosine of a document with a prototype out to words.

        Parameters
        ----------
        document : str, list of str, or row of numbers
            One document.
        label : object, optional
            The class; by default the one that is predicted.
        words : Vocabulary, vectoriser, mapping, sequence of str or None, default=None
            What the columns are called, where `fit` was given numbers without names.

        Returns
        -------
        Contributions
            A part for each word that both have; they sum to the cosine. Notes give the weight of
            the word in the document and in the prototype, both of length 1. Nothing for a
            document without anything in it.
        """
        row = self._row(document)
        code = int(self._codes(row)[0]) if label is None else self._code_of(label)
        names = self._names(words, row.shape[1])
        ours, theirs = _unit(row), _unit(self.sums_)[[code]].toarray()[0]
        shared = np.flatnonzero(theirs[ours.indices])
        parts = (
            Contribution(names[at], float(a * theirs[at]), f"{a:.3g} x {theirs[at]:.3g}")
            for at, a in zip(ours.indices[shared], ours.data[shared], strict=True)
        )
        return Contributions.of(parts, float(self._scores(row)[0, code]))

    def top_words(
        self,
        words: "WordLookup | Mapping[str, int] | Sequence[str] | None" = None,
        *,
        n_words: int = 10,
    ) -> Topics:
        """Return the heaviest words of each prototype, the class of most documents first.

        Parameters
        ----------
        words : Vocabulary, vectoriser, mapping, sequence of str or None, default=None
            What the columns are called, where `fit` was given numbers without names.
        n_words : int, default=10
            Words of each class; only those with a weight above 0.

        Returns
        -------
        Topics
            Draws itself as text, SVG or HTML. The weight of a class is its part of the documents.
        """
        prototypes = self.prototypes_
        return Topics.of(
            prototypes.toarray(),
            self._names(words, prototypes.shape[1]),
            weights=self.class_counts_ / self.class_counts_.sum(),
            n_words=n_words,
            names=[str(label) for label in self.classes_.tolist()],
        )

    @property
    def _transformer(self) -> Any:  # noqa: ANN401
        return self.model

    def _scores(self, rows: Rows) -> Float64Array:
        # Sums, not prototypes: so that "sum" and "mean" agree to the last bit. Row by row, so
        # that a document alone has the bits that it has among others.
        cosines = (_unit(rows) @ sparse.csr_array(_unit(self.sums_).T)).toarray()
        return np.clip(cosines, -1, 1)

    def _check_loaded(self) -> None:
        sums = self.sums_
        if (
            not isinstance(sums, sparse.csr_array)
            or sums.shape[0] != len(self.classes_)
            or sums.dtype != np.float64
            or not np.isfinite(sums.data).all()
        ):
            raise ValueError("sums_ must have a row of finite numbers for each class")
        self._check_loaded_columns(sums.shape[1])


def _sums(rows: Rows, codes: Int64Array, n_classes: int) -> Rows:
    members = sparse.csr_array(
        (np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(n_classes, len(codes))
    )
    with np.errstate(over="ignore", invalid="ignore"):
        sums: Any = members @ rows
    sums.sort_indices()
    sums.eliminate_zeros()
    if not np.isfinite(sums.data).all():
        raise ValueError("The numbers of X are too large to be added up. Scale them down.")
    found: Rows = sums
    return found


def _unit(rows: Rows) -> Rows:
    """Return rows of length 1, or 0."""
    given: Any = rows
    unit: Rows = sparse.csr_array(
        (normalised(given, rows.data, "l2"), rows.indices, rows.indptr), shape=rows.shape
    )
    return unit
