"""`NearestNeighborClassifier`: labels from the nearest training documents, with evidence."""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from textkin._base import (
    Constraint,
    Float64Array,
    Int64Array,
    SavedEstimator,
    check_params,
    integer,
    one_of,
    positive,
    rollback_on_error,
)
from textkin.corpus import WORD_VECTOR_PARAMETERS, RankedRows, Vectors
from textkin.exceptions import EmptyDocumentError
from textkin.explain import Evidence, EvidenceList, Neighbor
from textkin.learn._classifier import LabelsLike, checked_labels, value_of
from textkin.learn._documents import (
    DocumentsLike,
    are_numbers,
    beginning_of,
    frame_index,
    id_of,
    listed,
    one,
    size,
)
from textkin.learn._measure import METRIC, Measure, MetricLike, make_measure
from textkin.learn._tuning import Tuning, tune_neighbors
from textkin.learn._vector_measure import VectorMeasure
from textkin.learn._voting import RULES, Ballot, VoteName, Voting, shares_of_classes
from textkin.run import ProgressCallback
from textkin.text import STOP_WORDS, StopWords
from textkin.transport import TokenMover

__all__ = ["NearestNeighborClassifier"]

_N_NEIGHBORS = 5  # default of `n_neighbors`

_POSITIVE = positive()
_TRANSFORMER = Constraint(
    lambda value: hasattr(value, "fit_transform") and not isinstance(value, type),
    "a transformer, such as LSI(50) or Pooling()",
)


class NearestNeighborClassifier(SavedEstimator, ClassifierMixin, BaseEstimator):
    r"""k-nearest-neighbor classifier for texts or vectors, with evidence for each label.

    The nearest training documents vote for the label of a document. The metric can be the exact
    Word Mover's Distance, one of its lower bounds, or a metric of vectors. `evidence` returns the
    neighbors of a document, their votes, and explanations of their distances.

    Parameters
    ----------
    metric : str, WordMover or TokenMover, default="wmd"
        Metric: "wmd" or one of its lower bounds "rwmd", "rwmd-query", "rwmd-document", "wcd"; a
        `WordMover` or `TokenMover` for transport with its own settings, which a grid search can
        set as ``metric__masses``; or a metric of `pairwise_distances`: "cosine", "l1", "l2"
        ("euclidean"), "squared-l2", "hellinger", "jaccard", "weighted-jaccard", "edit".
    model : transformer or None, default=None
        Transformer of bags or texts that makes the vectors for a metric of `pairwise_distances`
        (``Pooling()``, a pipeline). If None, words of texts are counted and weighted by tf-idf
        (only counted for "hellinger", "jaccard" and "weighted-jaccard"); numbers stay unchanged.
    vectors : WordVectors, str, ndarray of shape (n_columns, d) or None, default=None
        Word vectors for transport by name, see `WordMover`; "glove" and "distilled" name the
        built-in ones. If None, "glove".
    n_neighbors : int, default=5
        Number of neighbors that vote. With fewer documents, all of them vote.
    vote : {"majority", "distance", "fall-back", "exponential"}, default="majority"
        Weight of a vote, see Notes.
    gamma : float, default=0.05
        Scale of the distance for ``vote="exponential"``; a small value favors the nearest.
    tune : bool, default=False
        If True, choose the number of neighbors from 1 to 19 on a validation split, see Notes;
        `n_neighbors` is then ignored.
    stop_words : str, None, path or collection of str, default="smart"
        Words of texts to ignore. Models that take texts, a `WordMover`, and "edit" do not use it.
    random_state : int, RandomState or None, default=None
        Seed of the validation split for ``tune=True``.
    n_jobs : int or None, default=None
        Number of threads. None means 1, and -1 means all cores. The result does not depend on it.
        A `WordMover` has its own.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    n_neighbors_ : int
        Number of neighbors that vote.
    gamma_ : float
        Value of `gamma` for the votes.
    tuning_ : Tuning or None
        Validation error for each number of neighbors. None without ``tune=True``.
    class_prior_ : ndarray of shape (n_classes,), float64
        Fraction of the training documents in each class.
    n_documents_ : int
        Number of training documents.
    empty_documents_ : ndarray of int64
        Positions of training documents with nothing to compare; they are never neighbors.
    n_features_in_ : int
        Number of columns, for rows of numbers.

    See Also
    --------
    WordMover.search : Nearest documents without labels.

    Notes
    -----
    With labels y_i, distances d_i and weights w_i of the k nearest documents, the prediction is

    .. math:: \hat y = \arg\max_c \sum_{i \le k} w_i \, [y_i = c].

    Ties go to the first class in `classes_`. Documents at equal distance are ordered by position.

    =============  ====================================================================
    vote           w_i
    =============  ====================================================================
    "majority"     1
    "distance"     1 / d_i, as in scikit-learn; only documents at distance 0 vote, if any
    "exponential"  exp(-d_i / gamma)
    "fall-back"    1 for the k' nearest, otherwise 0. k' starts at k, and decreases by 2 while
                   the most frequent class has fewer than k'/2 votes
    =============  ====================================================================

    Probabilities are shares of the votes; for "fall-back", of the votes of the final k'.

    **Tuning** uses a validation split: one fifth of the training documents, stratified by class
    (the only document of a class stays in the training split). The measure is fitted to the
    training split (idf, model), and one search finds the 19 nearest documents of each validation
    document. Prefixes of these lists give the error for 1, 2, ..., 19 neighbors. The number with
    the lowest error is used (ties go to the smallest), and the measure is then fitted to all
    documents. With ``vote="exponential"``, tuning also tries the values 0.005, 0.010, ..., 0.100
    for `gamma`, and uses the best pair; ties go to the smallest values. These values suit
    distances of about 1 or less, such as distances of unit vectors.

    **Empty documents.** A document with nothing to compare (for example, without a word that has a
    vector) gets the most frequent class, with `class_prior_` as probabilities and empty evidence.
    The classifier keeps the training documents for evidence.

    References
    ----------
    Kusner, Sun, Kolkin and Weinberger, "From Word Embeddings To Document Distances", ICML 2015
    (its code votes by "fall-back"). Sato, Yamada and Kashima, "Re-evaluating Word Mover's
    Distance", ICML 2022 (majority with ties to the smallest label, and "exponential").

    Examples
    --------
    >>> from textkin import NearestNeighborClassifier
    >>> texts = ["Cats purr", "Dogs bark at night", "Stocks fell", "The market lost five percent"]
    >>> labels = ["pets", "pets", "money", "money"]
    >>> knn = NearestNeighborClassifier(n_neighbors=3).fit(texts, labels)
    >>> knn.predict(["A kitten sleeps", "Investors sold their shares"])
    array(['pets', 'money'], dtype='<U5')
    >>> knn.evidence(["A kitten sleeps"])[0].explain().moves[0].target
    'cats'

    A metric of vectors, with a model:

    >>> from textkin import Pooling
    >>> knn = NearestNeighborClassifier("cosine", model=Pooling(), n_neighbors=1)
    >>> knn.fit(texts, labels).predict(["A kitten sleeps"]).tolist()
    ['pets']
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "metric": METRIC,
        "model": one_of(None) | _TRANSFORMER,
        "vectors": WORD_VECTOR_PARAMETERS["vectors"],
        "n_neighbors": integer(1),
        "vote": one_of(*RULES),
        "gamma": _POSITIVE,
        "tune": one_of(True, False),
        "stop_words": STOP_WORDS,
        "n_jobs": one_of(None) | integer(),
    }

    def __init__(
        self,
        metric: MetricLike = "wmd",
        *,
        model: Any = None,  # noqa: ANN401 (a transformer of anybody's)
        vectors: Vectors = None,
        n_neighbors: int = _N_NEIGHBORS,
        vote: VoteName = "majority",
        gamma: float = 0.05,
        tune: bool = False,
        stop_words: StopWords = "smart",
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.metric = metric
        self.model = model
        self.vectors = vectors
        self.n_neighbors = n_neighbors
        self.vote = vote
        self.gamma = gamma
        self.tune = tune
        self.stop_words = stop_words
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags

    # ------------------------------------------------------------------ fitting

    @rollback_on_error
    def fit(
        self, X: DocumentsLike, y: LabelsLike = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Fit the distance measure to labeled documents; if `tune`, choose `n_neighbors`.

        Parameters
        ----------
        X : iterable of texts, documents or token lists; or bags or vectors, one row per document
            Training documents. An `Index` can be passed, too.
        y : array-like of shape (n_documents,)
            Labels: strings, integers, booleans, or other values that can be sorted.
        progress : callable, optional
            Called with (queries done, total) with ``tune=True``. An exception raised in it stops
            the work.

        Returns
        -------
        NearestNeighborClassifier
            The fitted estimator. If the fit fails, the estimator keeps its previous state.

        Raises
        ------
        ValueError
            If a label is missing, if the numbers of labels and documents differ, or if no document
            has anything to compare (`EmptyDocumentError`).
        TypeError
            If X does not hold documents, or the labels are of several types.

        Warns
        -----
        UserWarning
            If `n_neighbors` exceeds its default and the number of documents that can be compared.
        """
        self._learn(X, y, progress)
        return self

    def _learn(self, X: DocumentsLike, y: LabelsLike, progress: ProgressCallback | None) -> None:
        if integer().accepts(self.metric):
            hint = f"Pass n_neighbors={self.metric}, by name."
            METRIC.check("metric", self.metric, hint)
        check_params(self)
        random = check_random_state(self.random_state)
        for name in ("n_features_in_", "feature_names_in_"):
            # A previous fit to numbers may have set it.
            self.__dict__.pop(name, None)
        make = self._make_measure
        make()  # raises for parameters that contradict each other, before X is read
        documents = self._documents(X, reset=True)
        classes, labels = checked_labels(y, size(documents), type(self).__name__)
        self.tuning_ = None
        self.n_neighbors_, self.gamma_ = int(self.n_neighbors), float(self.gamma)
        if self.tune:
            self.tuning_ = tune_neighbors(
                make, documents, labels, len(classes), self.vote, self.gamma_, random, progress
            )
            self.n_neighbors_, self.gamma_ = self.tuning_.n_neighbors, self.tuning_.gamma
        measure = make().fit(documents)
        if measure.empty.all():
            raise EmptyDocumentError(
                "X must have a document with something to compare; none of the "
                f"{len(measure):,} training documents has a word that the measure knows (by "
                "tf-idf, words of all documents do not count). Check stop_words, and the vectors "
                "and their language."
            )
        n_voters = len(measure) - int(np.count_nonzero(measure.empty))
        if self.n_neighbors_ > max(n_voters, _N_NEIGHBORS):
            warnings.warn(
                f"n_neighbors={self.n_neighbors_} exceeds the {n_voters:,} training documents that "
                "can be compared, so all of them vote on every document. Pass a smaller "
                "n_neighbors.",
                UserWarning,
                stacklevel=4,
            )
        self._measure = measure
        self._labels = labels
        self._voting = Voting(self.vote, self.gamma_)
        self.classes_ = classes
        self.class_prior_ = np.bincount(labels, minlength=len(classes)) / len(labels)
        self.n_documents_ = len(labels)
        self.empty_documents_ = np.flatnonzero(measure.empty).astype(np.int64)

    def _make_measure(self) -> Measure:
        measure = make_measure(
            self.metric,
            model=self.model,
            vectors=self.vectors,
            stop_words=self.stop_words,
            n_jobs=self.n_jobs,
        )
        if isinstance(measure, VectorMeasure):
            measure.names = getattr(self, "feature_names_in_", None)
        return measure

    def _documents(self, X: DocumentsLike, *, reset: bool) -> Any:  # noqa: ANN401
        documents = listed(X)
        if not are_numbers(documents):
            if reset and not documents:
                raise ValueError("X must have at least one document; got none.")
            return list(documents)  # a copy: evidence shows these documents later
        mover = self.metric if reset else getattr(self._measure, "mover", None)
        if isinstance(mover, TokenMover):
            # A 3-D array holds documents with equal numbers of tokens.
            return list(documents)
        return validate_data(
            self,
            X if hasattr(X, "columns") else documents,  # a table has column names
            reset=reset,
            accept_sparse="csr",
            copy=reset,  # the user may change the array after fit
            ensure_min_samples=1 if reset else 0,
        )

    # ------------------------------------------------------------------ prediction

    def predict(
        self, X: DocumentsLike, *, progress: ProgressCallback | None = None
    ) -> NDArray[Any]:
        """Return the label with the most votes of the nearest training documents.

        Parameters
        ----------
        X : as for `fit`
            Documents.
        progress : callable, optional
            Called with (documents done, total). An exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n,)
            Labels, of the type of `y`.
        """
        shares = self.predict_proba(X, progress=progress)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def predict_proba(
        self, X: DocumentsLike, *, progress: ProgressCallback | None = None
    ) -> Float64Array:
        """Return the share of the neighbors' votes that each class receives.

        Parameters
        ----------
        X : as for `fit`
            Documents.
        progress : callable, optional
            Called with (documents done, total). An exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n, n_classes), float64
            Shares in the order of `classes_`; rows sum to 1. `predict` returns the class with the
            largest share, the first one in a tie.
        """
        check_is_fitted(self)
        _, ballot = self._search(self._documents(X, reset=False), progress)
        return self._count_votes(ballot)[1]

    def evidence(
        self, X: DocumentsLike, *, progress: ProgressCallback | None = None
    ) -> EvidenceList:
        """Return the evidence for each predicted label: neighbors, votes, and explanations.

        Parameters
        ----------
        X : as for `fit`
            Documents.
        progress : callable, optional
            Called with (documents done, total). An exception raised in it stops the work.

        Returns
        -------
        EvidenceList
            One `Evidence` per document, with the predicted label. ``evidence[0].explain(0)``
            explains the distance of the nearest document, and ``evidence[0].certificate()`` proves
            that no other document is nearer. The list draws itself.

        Examples
        --------
        >>> from textkin import NearestNeighborClassifier
        >>> knn = NearestNeighborClassifier(n_neighbors=1)
        >>> knn = knn.fit(["Cats purr", "Stocks fell sharply"], ["pets", "money"])
        >>> [evidence] = knn.evidence(["A kitten sleeps"])
        >>> evidence.label, evidence.neighbors[0].snippet
        ('pets', 'Cats purr')
        >>> [(move.source, move.target) for move in evidence.explain().moves]
        [('sleeps', 'cats'), ('kitten', 'purr')]
        >>> evidence.certificate().verify().exact
        True
        """
        check_is_fitted(self)
        documents = self._documents(X, reset=False)
        found, ballot = self._search(documents, progress)
        weights, shares = self._count_votes(ballot)
        items = (
            self._evidence(one(documents, at), found, at, weights[at], shares[at])
            for at in range(len(found))
        )
        return EvidenceList(items, frame_index(X))

    def _saved_state(self) -> dict[str, Any]:
        return {**self._measure.state(), "labels": self._labels}

    def _restore_state(self, state: dict[str, Any]) -> None:
        n, labels, n_classes = self.n_documents_, state["labels"], len(self.classes_)
        integer(1).check("n_documents_", n)
        integer(1).check("n_neighbors_", self.n_neighbors_)
        _POSITIVE.check("gamma_", self.gamma_)
        if not (
            isinstance(self.classes_, np.ndarray)
            and self.classes_.shape == (n_classes,)
            and n_classes > 0
            and isinstance(labels, np.ndarray)
            and labels.dtype == np.int64
            and labels.shape == (n,)
            and 0 <= labels.min() <= labels.max() < n_classes
        ):
            raise ValueError("each document must have a label of classes_")
        prior = np.bincount(labels, minlength=n_classes) / n
        if not np.array_equal(prior, self.class_prior_):
            raise ValueError("class_prior_ must be the shares of the labels")
        if not (self.tuning_ is None or isinstance(self.tuning_, Tuning)):
            raise ValueError("tuning_ must be None or a Tuning")
        measure = self._make_measure()
        measure.restore(state, n)
        if are_numbers(measure.documents) != hasattr(self, "n_features_in_"):
            raise ValueError("the documents must be of the kind that fit took")
        self._measure, self._labels = measure, labels
        self._voting = Voting(self.vote, self.gamma_)
        if not np.array_equal(self.empty_documents_, np.flatnonzero(measure.empty)):
            raise ValueError("empty_documents_ must be the positions of empty documents")

    def _search(
        self,
        documents: Any,  # noqa: ANN401 (what `listed` returned)
        progress: ProgressCallback | None,
    ) -> tuple[RankedRows, Ballot]:
        found = self._measure.nearest(documents, self.n_neighbors_, progress=progress)
        return found, Ballot.of(found, self._labels)

    def _count_votes(self, ballot: Ballot) -> tuple[Float64Array, Float64Array]:
        """Return the weight of each neighbor's vote, and the vote share of each class."""
        weights = self._voting.weights(ballot, len(self.classes_))
        return weights, shares_of_classes(ballot, weights, self.class_prior_)

    def _evidence(
        self,
        document: Any,  # noqa: ANN401
        found: RankedRows,
        at: int,
        weights: Float64Array,
        shares: Float64Array,
    ) -> Evidence:
        rows, distances = found[at]
        weights = weights[: len(rows)]
        votes = weights / (weights.sum() or 1.0)
        order = np.argsort(-shares, kind="stable")
        return Evidence(
            value_of(self.classes_, int(shares.argmax())),
            tuple((value_of(self.classes_, i), float(shares[i])) for i in order if shares[i] > 0),
            tuple(
                self._neighbor(int(row), float(distance), float(vote))
                for row, distance, vote in zip(rows, distances, votes, strict=True)
            ),
            not len(rows),
            id_of(document),
            beginning_of(document),
            _Reasons(self._measure, document, self.n_neighbors_, (rows, distances)),
        )

    def _neighbor(self, row: int, distance: float, vote: float) -> Neighbor:
        documents = self._measure.documents
        # Rows of numbers have no text, and selecting a row of a sparse matrix is slow.
        document = None if are_numbers(documents) else documents[row]
        label = value_of(self.classes_, int(self._labels[row]))
        return Neighbor(row, id_of(document), label, distance, vote, beginning_of(document))


@dataclass(frozen=True, slots=True, eq=False)
class _Reasons:
    """Source of explanations and certificates for the neighbors of one document."""

    measure: Measure
    document: Any
    k: int
    found: tuple[Int64Array, Float64Array]

    @property
    def parts_of(self) -> str:
        return self.measure.parts_of

    def explain(self, index: int) -> Any:  # noqa: ANN401
        return self.measure.explain(self.document, index)

    def certificate(self) -> Any:  # noqa: ANN401
        return self.measure.certificate(self.document, self.k, self.found)
