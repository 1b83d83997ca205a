"""`RocchioClassifier`: the class whose mean document has the highest cosine."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from textkin._base import (
    Constraint,
    Float64Array,
    Int64Array,
    WordLookup,
    check_params,
    integer,
    normalize_rows,
    one_of,
    rollback_on_error,
)
from textkin.explain import Contribution, Contributions, Topics
from textkin.learn._classifier import DocumentClassifier, LabelsLike, Rows, checked_labels, value_of
from textkin.learn._documents import DocumentsLike
from textkin.text import STOP_WORDS, StopWords

__all__ = ["RocchioClassifier"]


class RocchioClassifier(DocumentClassifier):
    """Rocchio (nearest-centroid) classifier: highest cosine of a document and a class prototype.

    Parameters
    ----------
    prototype : {"mean", "sum"}, default="mean"
        Prototype of a class: the mean or the sum of its documents. Both have the same cosines.
    model : transformer or None, default=None
        Transformer that makes the vectors, from bags, or from texts if it takes texts. If None,
        texts are counted and weighted by `TfIdf`; numbers stay unchanged (use a pipeline with
        `TfIdf` to weight them).
    stop_words : str, None, path or collection of str, default="smart"
        Words of texts to ignore, see `BagOfWords`.
    n_jobs : int or None, default=None
        Number of threads for counting texts.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in ascending order.
    class_counts_ : ndarray of int of shape (n_classes,)
        Number of documents in each class.
    sums_ : csr_array of shape (n_classes, n_columns), float64
        Sum of the documents of each class.
    prototypes_ : csr_array of shape (n_classes, n_columns), float64
        Sums or means, see `prototype`.
    feature_names_ : list of str or None
        Vocabulary of texts. None if `fit` got numbers, or if the model takes texts.
    model_ : transformer or None
        Fitted model.

    See Also
    --------
    sklearn.neighbors.NearestCentroid : Similar classifier with distances.

    Notes
    -----
    The prototype p_c is the sum or the mean of the documents of class c, and ::

        c(d) = argmax_c cos(d, p_c),    cos(d, p) = d.p / (|d| |p|)

    Ties go to the first class in `classes_`. A prototype of zeros has the cosine 0 with all
    documents, which beats a negative cosine. An empty document, or a document without words from
    `fit`, gets the most frequent class (the first one in a tie). Cosines are not probabilities.
    The time to fit is proportional to the number of words in the documents; the time to predict,
    to the number of words in the document times the number of classes. The classifier suits
    classes with one center: the prototype of a class with several centers lies between them.

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
    Contributions: score 0.6236 for class 'money'
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

    @rollback_on_error
    def fit(self, X: DocumentsLike, y: LabelsLike = None) -> Self:
        """Compute the prototype vector of each class from labeled documents.

        Parameters
        ----------
        X : texts, lists of words, or array of shape (n_documents, n_columns)
            Documents.
        y : list or array of shape (n_documents,)
            Labels: strings, integers, booleans, or other values that can be sorted.

        Returns
        -------
        RocchioClassifier
            The fitted estimator.

        Raises
        ------
        ValueError
            If there are no documents, a label is missing, or a number is NaN, infinite, or too
            large to add.
        """
        check_params(self)
        rows = self._rows_to_fit(X)
        classes, codes = checked_labels(y, rows.shape[0], type(self).__name__)
        self.sums_ = _sum_classes(rows, codes, len(classes))
        self.classes_ = classes
        self.class_counts_ = np.bincount(codes, minlength=len(classes)).astype(np.int64)
        return self

    @property
    def prototypes_(self) -> Rows:
        """Prototype of each class: the mean or sum of its document vectors, one row per class."""
        check_is_fitted(self)
        if self.prototype == "sum":
            return self.sums_
        means: Rows = self.sums_.copy()
        means.data /= np.repeat(self.class_counts_, np.diff(means.indptr))
        return means

    def similarity(self, X: DocumentsLike) -> Float64Array:
        """Return the cosine of each document with the prototype of each class.

        Parameters
        ----------
        X : texts, lists of words, or array of shape (n_documents, n_columns)
            Documents of the same kind as in `fit`.

        Returns
        -------
        ndarray of shape (n_documents, n_classes), float64
            Cosines from -1 to 1, in the order of `classes_`; 0 for an empty document.
        """
        return self._scores(self._rows(X))

    def decision_function(self, X: DocumentsLike) -> Float64Array:
        """Return decision scores: cosines per class, or their difference for two classes.

        Parameters
        ----------
        X : texts, lists of words, or array of shape (n_documents, n_columns)
            Documents of the same kind as in `fit`.

        Returns
        -------
        ndarray of shape (n_documents, n_classes), or (n_documents,) for two classes
            For two classes, the cosine with the second prototype minus the cosine with the first:
            positive scores predict the second class. Otherwise the result of `similarity`. The
            scores of an empty document are 0; it gets the most frequent class.
        """
        cosines = self.similarity(X)
        return np.asarray(cosines[:, 1] - cosines[:, 0]) if cosines.shape[1] == 2 else cosines

    def explain(
        self,
        document: Any,  # noqa: ANN401 (a text, words, or a row of numbers)
        label: object = None,
        *,
        feature_names: "WordLookup | Mapping[str, int] | Sequence[str] | None" = None,
    ) -> Contributions:
        """Split the cosine of a document and a class prototype into contributions of words.

        Parameters
        ----------
        document : str, list of str, or row of numbers
            One document.
        label : object, optional
            Class of the prototype. If None, the predicted class.
        feature_names : Vocabulary, vectorizer, mapping, sequence of str or None, default=None
            Names of the columns, if `fit` got numbers without names.

        Returns
        -------
        Contributions
            Contribution of each shared word; the contributions sum to the cosine. Notes give the
            weights of the word in the L2-normalized document and prototype. Without parts for an
            empty document.
        """
        row = self._row(document)
        code = int(self._codes(row)[0]) if label is None else self._code_of(label)
        names = self._names(feature_names, row.shape[1])
        ours, theirs = _unit(row), _unit(self.sums_)[[code]].toarray()[0]
        shared = np.flatnonzero(theirs[ours.indices])
        parts = (
            Contribution(names[at], float(a * theirs[at]), f"{a:.3g} x {theirs[at]:.3g}")
            for at, a in zip(ours.indices[shared], ours.data[shared], strict=True)
        )
        score = float(self._scores(row)[0, code])
        return Contributions.of(parts, score, f"class {value_of(self.classes_, code)!r}")

    def top_words(
        self,
        feature_names: "WordLookup | Mapping[str, int] | Sequence[str] | None" = None,
        *,
        n_words: int = 10,
    ) -> Topics:
        """Return the words with the largest weights in each class prototype, as `Topics`.

        Parameters
        ----------
        feature_names : Vocabulary, vectorizer, mapping, sequence of str or None, default=None
            Names of the columns, if `fit` got numbers without names.
        n_words : int, default=10
            Maximum number of words per class; words have a positive weight.

        Returns
        -------
        Topics
            Drawing as text, SVG or HTML. The weight of a class is its fraction of the documents.
        """
        prototypes = self.prototypes_
        return Topics.of(
            prototypes.toarray(),
            self._names(feature_names, prototypes.shape[1]),
            weights=self.class_counts_ / self.class_counts_.sum(),
            n_words=n_words,
            names=[str(label) for label in self.classes_.tolist()],
        )

    @property
    def _transformer(self) -> Any:  # noqa: ANN401
        return self.model

    def _scores(self, rows: Rows) -> Float64Array:
        # Sums, not prototypes: "sum" and "mean" are bit-identical. The product runs row by row, so
        # a document has bit-identical scores individually and in a batch.
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


def _sum_classes(rows: Rows, codes: Int64Array, n_classes: int) -> Rows:
    members = sparse.csr_array(
        (np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(n_classes, len(codes))
    )
    with np.errstate(over="ignore", invalid="ignore"):
        sums: Any = members @ rows
    sums.sort_indices()
    sums.eliminate_zeros()
    if not np.isfinite(sums.data).all():
        raise ValueError("X must have numbers with finite sums per class. Scale them down.")
    found: Rows = sums
    return found


def _unit(rows: Rows) -> Rows:
    """L2-normalize the rows of a sparse matrix; zero rows stay zero."""
    given: Any = rows
    unit: Rows = sparse.csr_array(
        (normalize_rows(given, rows.data, "l2"), rows.indices, rows.indptr), shape=rows.shape
    )
    return unit
