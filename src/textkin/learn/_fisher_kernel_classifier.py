"""Classifier for few labels: PLSA on all documents, and an SVM on the labeled documents."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state

from textkin._base import (
    Constraint,
    Float64Array,
    WordLookup,
    check_params,
    instance_of,
    integer,
    one_of,
    positive,
    real,
    rollback_on_error,
)
from textkin.explain import Contribution, Contributions
from textkin.learn._classifier import (
    DocumentClassifier,
    LabelsLike,
    Rows,
    checked_labels,
    labels_and_gaps,
    value_of,
)
from textkin.learn._documents import DocumentsLike
from textkin.models import N_COMPONENTS, PLSA, FisherKernel
from textkin.run import ProgressCallback
from textkin.text import STOP_WORDS, StopWords

__all__ = ["FisherKernelClassifier"]

_MAX_ITER = 20_000  # maximum iterations of the SVM, which are fast with few labels


class FisherKernelClassifier(DocumentClassifier):
    """Semi-supervised classifier: a linear SVM on the Fisher kernel of PLSA models.

    The models use all documents, with and without labels; the SVM uses the labeled documents.

    Parameters
    ----------
    n_components : int, or list or array of int, default=(1, 16, 64)
        Number of factors. With several numbers, one model is fitted for each, and the kernels are
        added.
    topic_model : PLSA or None, default=None
        Parameters of the models, except `n_components`, `random_state` and `n_jobs`. If None,
        ``PLSA(topic_word_prior=1.5, doc_topic_prior=3)``, whose priors prevent overfitting to a few
        hundred or thousand texts; ``PLSA()`` maximizes the likelihood only, and overfits.
    vector_space : float, default=1.0
        Weight of the cosine of the words, relative to the total weight of the models. Use a
        higher weight for fewer texts.
    C : float, default=10.0
        Inverse regularization strength of the SVM.
    stop_words : str, None, path or collection of str, default="smart"
        Words of texts to ignore, see `BagOfWords`.
    random_state : int, RandomState or None, default=None
        Seed of the models and the SVM.
    n_jobs : int or None, default=None
        Number of threads for counting and for the models. The result is bit-identical for any
        number.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in ascending order.
    class_counts_ : ndarray of int of shape (n_classes,)
        Number of labeled documents in each class.
    kernel_ : FisherKernel
        Kernel, fitted to all documents.
    coef_ : csr_array of shape (n_classes, n_features), or (1, n_features) for two classes
        Weights of the features of `kernel_`.
    intercept_ : ndarray of shape (n_classes,), or (1,) for two classes
        Intercepts.
    feature_names_ : list of str or None
        Vocabulary of texts. None if `fit` got bags.

    See Also
    --------
    FisherKernel : Kernel for other classifiers and for retrieval.
    RocchioClassifier : Supervised classifier.

    Notes
    -----
    The models use every document of `fit` and no label. The SVM uses the gradients u(d) of the
    labeled documents in the models; the inner products of gradients are the kernel
    (``FisherKernel(normalize="each", vector_space=vector_space)``, which normalizes each K1 and
    K2 individually and weights them equally) ::

        f_c(d) = <w_c, u(d)> + b_c,    c(d) = argmax_c f_c(d)
        min  |w_c|^2 / 2 + C sum over labeled d of max(0, 1 - y_c(d) f_c(d))^2

    with y_c(d) = 1 for documents of class c and -1 for other documents. A word without labeled
    documents still contributes if it co-occurs with words of labeled documents.

    The documents of `fit` may include the documents to classify, without their labels
    (transduction). Compare such results only with results of other transductive classifiers.

    A document without words from `fit` gets the class with the most labeled documents (the first
    one in a tie). At least two classes are required. Scores are not probabilities.

    References
    ----------
    Hofmann, "Learning the Similarity of Documents: An Information-Geometric Approach to Document
    Retrieval and Categorization", NIPS 1999.

    Examples
    --------
    Two texts have labels; the words that determine the predictions are in neither of them:

    >>> texts = [
    ...     "The cat purrs", "Shares fell", "The cat and the dog", "A dog barks at a dog",
    ...     "Shares of banks", "Banks lend money to banks",
    ... ]
    >>> labels = ["pets", "money", None, None, None, None]
    >>> few = FisherKernelClassifier(2, random_state=0).fit(texts, labels)
    >>> few.predict(["It barks!", "Who lends money?"]).tolist()
    ['pets', 'money']
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": N_COMPONENTS,
        "topic_model": one_of(None) | instance_of(PLSA, "a PLSA"),
        "vector_space": real(0),
        "C": positive(),
        "stop_words": STOP_WORDS,
        "n_jobs": one_of(None) | integer(),
    }
    _weighs: ClassVar[bool] = False
    _takes_negative: ClassVar[bool] = False

    def __init__(
        self,
        n_components: int | Sequence[int] | NDArray[np.integer[Any]] = (1, 16, 64),
        *,
        topic_model: PLSA | None = None,
        vector_space: float = 1.0,
        C: float = 10.0,
        stop_words: StopWords = "smart",
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.topic_model = topic_model
        self.vector_space = vector_space
        self.C = C
        self.stop_words = stop_words
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        # Scikit-learn tests with points in the plane, which are not bags.
        tags.classifier_tags.poor_score = True
        return tags

    @rollback_on_error
    def fit(
        self,
        X: DocumentsLike,
        y: LabelsLike = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Self:
        """Fit PLSA models to all documents, and a linear SVM to the labeled documents.

        Parameters
        ----------
        X : texts, lists of words, or array of shape (n_documents, n_words)
            Documents with and without labels: texts, or bags of counts.
        y : list or array of shape (n_documents,)
            Labels: strings, integers, or other values that can be sorted. The number -1 (as in
            scikit-learn), None, and NaN stand for documents without a label.
        progress : callable, optional
            Called with (iterations done, maximum) of the models. An exception raised in it stops
            the work.

        Returns
        -------
        FisherKernelClassifier
            The fitted estimator.

        Raises
        ------
        ValueError
            If no document has a label, if there is only one class, or if a number in bags is
            negative, NaN or infinite.
        """
        check_params(self)
        rows = self._rows_to_fit(X)
        values, gaps = labels_and_gaps(y, rows.shape[0], type(self).__name__)
        labeled = np.flatnonzero(~gaps)
        if not len(labeled):
            raise ValueError(
                f"y must have labels; none of the {rows.shape[0]:,} documents has one."
            )
        classes, codes = checked_labels(values[labeled], len(labeled), type(self).__name__)
        if len(classes) < 2:
            raise ValueError(
                "y must have labels of at least two classes; got one class, "
                f"{classes.tolist()[0]!r}. The number -1 stands for documents without a label."
            )
        random = check_random_state(self.random_state)
        self.kernel_ = FisherKernel(
            self.n_components,
            topic_model=PLSA(topic_word_prior=1.5, doc_topic_prior=3)
            if self.topic_model is None
            else self.topic_model,
            normalize="each",
            vector_space=self.vector_space,
            random_state=random,
            n_jobs=self.n_jobs,
        ).fit(rows, progress=progress)
        self.kernel_.random_state = None  # a generator cannot be saved
        features = self.kernel_.transform(rows[labeled])
        seed = random.randint(np.iinfo(np.int32).max)
        svm = LinearSVC(C=self.C, max_iter=_MAX_ITER, random_state=seed).fit(features, codes)
        # Sparse: words without labeled documents have no weight.
        self.coef_: Rows = sparse.csr_array(svm.coef_)
        self.intercept_: Float64Array = svm.intercept_
        self.classes_ = classes
        self.class_counts_ = np.bincount(codes, minlength=len(classes)).astype(np.int64)
        return self

    def decision_function(self, X: DocumentsLike) -> Float64Array:
        """Return the SVM scores of documents, one per class (one in all for two classes).

        Parameters
        ----------
        X : texts, lists of words, or array of shape (n_documents, n_words)
            Documents of the same kind as in `fit`.

        Returns
        -------
        ndarray of shape (n_documents, n_classes), or (n_documents,) for two classes
            Scores f_c(d); for two classes, the score of the second class, whose positive values
            predict it. A document without known words gets the most frequent class for any score.
        """
        scores = self._scores(self._rows(X))
        return np.asarray(scores[:, 1]) if scores.shape[1] == 2 else scores

    def explain(
        self,
        document: Any,  # noqa: ANN401 (a text, words, or a row of numbers)
        label: object = None,
        *,
        feature_names: "WordLookup | Mapping[str, int] | Sequence[str] | None" = None,
    ) -> Contributions:
        """Split the SVM score of a document into contributions of its words and factors.

        Parameters
        ----------
        document : str, list of str, or row of numbers
            One document.
        label : object, optional
            Class. If None, the predicted class.
        feature_names : Vocabulary, vectorizer, mapping, sequence of str or None, default=None
            Names of the columns, if `fit` got bags without names.

        Returns
        -------
        Contributions
            Contributions of K2 and the vector space by word, of K1 as "all factors", and of the
            intercept as "any document". The contributions sum to the score of the class, f_c(d);
            `subject` names the class.
        """
        row = self._row(document)
        code = int(self._codes(row)[0]) if label is None else self._code_of(label)
        names = self._names(feature_names, self.kernel_.n_features_in_)
        two = len(self.classes_) == 2
        sign, at = (-1.0 if two and code == 0 else 1.0), (0 if two else code)
        values = sign * row.data * self.coef_[[at]].toarray()[0][row.indices]
        owners = self._owners(row.indices)
        sums = np.bincount(owners + 1, values, len(names) + 1)
        parts = [
            Contribution(names[word], float(sums[word + 1]))
            for word in np.unique(owners[owners >= 0])
        ]
        if len(values):
            parts.append(Contribution("all factors", float(sums[0]), "topics, without words"))
        parts.append(Contribution("any document", float(sign * self.intercept_[at]), "intercept"))
        score = float(self._scores(row)[0, code])
        return Contributions.of(parts, score, f"class {value_of(self.classes_, code)!r}")

    @property
    def _transformer(self) -> None:  # None: documents are counted, and not transformed
        return None

    def _rows(self, X: DocumentsLike) -> Rows:
        bags: Any = super()._rows(X)
        features: Any = self.kernel_.transform(bags)
        found: Rows = features
        return found

    def _scores(self, rows: Rows) -> Float64Array:
        scores = (rows @ sparse.csr_array(self.coef_.T)).toarray() + self.intercept_
        return np.concatenate([-scores, scores], axis=1) if scores.shape[1] == 1 else scores

    def _owners(self, features: NDArray[Any]) -> NDArray[Any]:
        """Return the word column that each kernel feature belongs to, or -1 for factors."""
        owners = np.array(features, dtype=np.int64)
        start, columns = 0, self.kernel_.n_features_in_
        for model in self.kernel_.models_:
            number = len(model.components_)
            own = (features >= start) & (features < start + number * (1 + columns))
            owners[own] = (features[own] - start) // number - 1
            start += number * (1 + columns)
        owners[features >= start] -= start
        return owners

    def _check_loaded(self) -> None:
        kernel = self.kernel_
        if not isinstance(kernel, FisherKernel):
            raise ValueError("kernel_ must be a FisherKernel")
        rows = 1 if len(self.classes_) == 2 else len(self.classes_)
        features = kernel.transform(sparse.csr_array((0, kernel.n_features_in_))).shape[1]
        for name, shape in (("coef_", (rows, features)), ("intercept_", (rows,))):
            given: Any = getattr(self, name)
            values = given.data if isinstance(given, sparse.csr_array) else given
            if given.shape != shape or values.dtype != np.float64 or not np.isfinite(values).all():
                raise ValueError(f"{name} must hold finite numbers in the shape {shape}")
        self._check_loaded_columns(kernel.n_features_in_)
