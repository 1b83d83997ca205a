"""A classifier for few labels and many texts: PLSA on all of them, an SVM on the labelled ones."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import LinearSVC
from sklearn.utils import check_random_state

from textkin._typing import Float64Array, WordLookup
from textkin._validation import Constraint, check_params, instance_of, integer, one_of, real
from textkin.explain import Contribution, Contributions
from textkin.learn._classifying import DocumentClassifier, Rows
from textkin.learn._documents import DocumentsLike
from textkin.learn._labels import LabelsLike, checked_labels, labels_and_gaps
from textkin.models import PLSA, FisherKernel
from textkin.models.fisher_kernel import N_COMPONENTS
from textkin.run import ProgressCallback
from textkin.text._stop_words import STOP_WORDS, StopWords

__all__ = ["FisherKernelClassifier"]

_STEPS = 20_000  # of the SVM: labels are few and steps cheap, so that it need not stop early


class FisherKernelClassifier(DocumentClassifier):
    """Classify with a few labels and all the texts there are: a linear SVM on the Fisher kernel.

    Parameters
    ----------
    n_components : int, or list or array of int, default=(1, 16, 64)
        Factors of the models. Of several numbers, one model each is fitted, and the kernels are
        added.
    model : PLSA or None, default=None
        How the models are fitted: its parameters, with `n_components`, `random_state` and
        `n_jobs` replaced by those here. None is ``PLSA(word_prior=1.5, topic_prior=3)``: priors
        that keep a few hundred or thousand texts from being learnt by heart, as by likelihood
        alone (``PLSA()``) they are.
    vector_space : float, default=1.0
        What the cosine of the words themselves weighs, where all that the models say weighs 1.
        The fewer texts there are, the more it should.
    C : float, default=10.0
        How much errors on the labelled documents count against a wide margin.
    stop_words : str, None, path or collection of str, default="smart"
        Words of texts that are not counted, see `BagOfWords`.
    random_state : int, RandomState or None, default=None
        Where the models and the SVM start.
    n_jobs : int or None, default=None
        Threads of counting and of the models; any number gives the same bits.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels in ascending order.
    class_counts_ : ndarray of int of shape (n_classes,)
        How many documents of `fit` have each.
    kernel_ : FisherKernel
        Fitted on all documents.
    coef_ : csr_array of shape (n_classes, n_features), or (1, n_features) for two classes
        Weights of the features of `kernel_`.
    intercept_ : ndarray of shape (n_classes,), or (1,) for two classes
        What is added.
    words_ : list of str or None
        The words of texts; None if `fit` was given bags.

    See Also
    --------
    FisherKernel : The kernel alone, for other classifiers and for retrieval.
    RocchioClassifier : Needs no unlabelled texts.

    Notes
    -----
    The models see every document that `fit` is given and no label; the SVM sees the labelled
    ones, by their gradients u(d) in the models, whose inner products are the kernel
    (``FisherKernel(normalize="each", vector_space=vector_space)``: every K1 and K2 is normalised
    by itself, and they count alike) ::

        f_c(d) = <w_c, u(d)> + b_c,    c(d) = argmax_c f_c(d)
        min  |w_c|^2 / 2 + C sum over labelled d of max(0, 1 - y_c(d) f_c(d))^2

    with y_c(d) = 1 for documents of class c and -1 for others. So words that no labelled document
    has still count, if they stand in the texts beside those that one has.

    The documents that are to be classified may well be among those of `fit`, without their
    labels: that is what they are for (transduction), and no cheating. It does make a result
    incomparable with one of a classifier that never saw them.

    A document without any word that `fit` saw goes to the class that has most labelled documents,
    the earlier one among equals. An SVM needs two classes. Scores are no probabilities.

    References
    ----------
    Hofmann, "Learning the Similarity of Documents: An Information-Geometric Approach to Document
    Retrieval and Categorization", NIPS 1999.

    Examples
    --------
    Two texts have labels, and the word that decides is in neither of them:

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
        "model": one_of(None) | instance_of(PLSA, "a PLSA"),
        "vector_space": real(0),
        "C": Constraint(
            lambda value: real(0).accepts(value) and value > 0,
            "a finite number above 0",
            real().wrong_type,
        ),
        "stop_words": STOP_WORDS,
        "n_jobs": one_of(None) | integer(),
    }
    _weighs: ClassVar[bool] = False
    _takes_negative: ClassVar[bool] = False

    def __init__(
        self,
        n_components: int | Sequence[int] | NDArray[np.integer[Any]] = (1, 16, 64),
        *,
        model: PLSA | None = None,
        vector_space: float = 1.0,
        C: float = 10.0,
        stop_words: StopWords = "smart",
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.model = model
        self.vector_space = vector_space
        self.C = C
        self.stop_words = stop_words
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on points in the plane, which are no bags
        return tags

    def fit(
        self,
        X: DocumentsLike,
        y: LabelsLike = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Self:
        """Learn the models from all documents, and the classes from those with a label.

        Parameters
        ----------
        X : texts, lists of words, or array of shape (n_documents, n_words)
            All documents there are, with labels and without: texts, or bags of counts.
        y : list or array of shape (n_documents,)
            Their labels: strings, whole numbers, anything that can be sorted. A document without
            one has -1 (the number, as in scikit-learn), None or NaN.
        progress : callable, optional
            Called with (steps done, most steps) of the models; raising from it stops the work.

        Returns
        -------
        FisherKernelClassifier
            The estimator itself.

        Raises
        ------
        ValueError
            If no document has a label, all labels are of one class, or bags are negative, NaN or
            infinite.
        """
        check_params(self)
        rows = self._rows_to_fit(X)
        values, gaps = labels_and_gaps(y, rows.shape[0], type(self).__name__)
        labelled = np.flatnonzero(~gaps)
        if not len(labelled):
            raise ValueError(
                f"y must have labels; none of the {rows.shape[0]:,} documents has one."
            )
        classes, codes = checked_labels(values[labelled], len(labelled), type(self).__name__)
        if len(classes) < 2:
            raise ValueError(
                "y must have labels of at least two classes; got one class, "
                f"{classes.tolist()[0]!r}. The number -1 stands for documents without a label."
            )
        random = check_random_state(self.random_state)
        self.kernel_ = FisherKernel(
            self.n_components,
            model=PLSA(word_prior=1.5, topic_prior=3) if self.model is None else self.model,
            normalize="each",
            vector_space=self.vector_space,
            random_state=random,
            n_jobs=self.n_jobs,
        ).fit(rows, progress=progress)
        self.kernel_.random_state = None  # a generator could not be saved
        features = self.kernel_.transform(rows[labelled])
        seed = random.randint(np.iinfo(np.int32).max)
        svm = LinearSVC(C=self.C, max_iter=_STEPS, random_state=seed).fit(features, codes)
        # Words of no labelled document have no weight.
        self.coef_: Rows = sparse.csr_array(svm.coef_)
        self.intercept_: Float64Array = svm.intercept_
        self.classes_ = classes
        self.class_counts_ = np.bincount(codes, minlength=len(classes)).astype(np.int64)
        return self

    def decision_function(self, X: DocumentsLike) -> Float64Array:
        """Return the scores of documents.

        Parameters
        ----------
        X : texts, lists of words, or array of shape (n_documents, n_words)
            Documents of the kind that `fit` was given.

        Returns
        -------
        ndarray of shape (n_documents, n_classes), or (n_documents,) for two classes
            f_c(d); for two classes that of the second, which is predicted above 0. A document
            without known words goes to the most frequent class, whatever these are.
        """
        scores = self._scores(self._rows(X))
        return np.asarray(scores[:, 1]) if scores.shape[1] == 2 else scores

    def explain(
        self,
        document: Any,  # noqa: ANN401 (a text, words, or a row of numbers)
        label: object = None,
        *,
        words: "WordLookup | Mapping[str, int] | Sequence[str] | None" = None,
    ) -> Contributions:
        """Share the score of a document out to its words and to the factors that it has.

        Parameters
        ----------
        document : str, list of str, or row of numbers
            One document.
        label : object, optional
            The class; by default the one that is predicted.
        words : Vocabulary, vectoriser, mapping, sequence of str or None, default=None
            What the columns are called, where `fit` was given bags without names.

        Returns
        -------
        Contributions
            What K2 and the plain words add, by word; what K1 adds, as "all factors"; and the
            intercept, as "any document". They sum to the score of the class, f_c(d).
        """
        row = self._row(document)
        code = int(self._codes(row)[0]) if label is None else self._code_of(label)
        names = self._names(words, self.kernel_.n_features_in_)
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
        return Contributions.of(parts, float(self._scores(row)[0, code]))

    @property
    def _transformer(self) -> None:  # documents are counted, and no more
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
        """Return the word that each feature is of; -1 for factors."""
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
        for name, shape in (("coef_", (rows, kernel._n_features_out)), ("intercept_", (rows,))):
            given: Any = getattr(self, name)
            values = given.data if isinstance(given, sparse.csr_array) else given
            if given.shape != shape or values.dtype != np.float64 or not np.isfinite(values).all():
                raise ValueError(f"{name} must hold finite numbers in the shape {shape}")
        self._check_loaded_columns(kernel.n_features_in_)
