"""Classification by the nearest documents, with the evidence for every answer."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from textkin._typing import Float64Array
from textkin._validation import Constraint, check_params, integer, one_of, real
from textkin.distance._near import NearRows
from textkin.exceptions import EmptyDocumentError
from textkin.explain import Evidence, EvidenceList, Neighbor
from textkin.learn._choosing import measure_of
from textkin.learn._documents import (
    DocumentsLike,
    are_numbers,
    id_of,
    listed,
    one,
    size,
    snippet_of,
)
from textkin.learn._labels import LabelsLike, checked_labels, value_of
from textkin.learn._measures import METRIC, Measure, MetricLike
from textkin.learn._transport import FoundRows
from textkin.learn._tuning import tuned
from textkin.learn._vectors import VectorMeasure
from textkin.learn._voting import RULES, Ballot, VoteName, Voting, shares_of_classes
from textkin.run import ProgressCallback
from textkin.text._stop_words import STOP_WORDS, StopWords
from textkin.transport import TokenMover
from textkin.vectors._documents import OVER_VECTORS, Vectors

__all__ = ["NearestNeighborClassifier"]

_ABOVE_ZERO = Constraint(
    lambda value: real(0).accepts(value) and value > 0,
    "a finite number above 0",
    real().wrong_type,
)
_TRANSFORMER = Constraint(
    lambda value: hasattr(value, "fit_transform") and not isinstance(value, type),
    "a transformer, such as LSI(50) or Pooling()",
)


class NearestNeighborClassifier(ClassifierMixin, BaseEstimator):
    r"""Give a document the label that the training documents nearest to it vote for.

    Any measure of the library says what is near: the Word Mover's Distance, searched exactly;
    its bounds; or a metric of vectors that a model makes. Every answer can be looked at, with the
    neighbours and the words that make them near, see `evidence`.

    Parameters
    ----------
    metric : str, WordMover or TokenMover, default="wmd"
        "wmd" or one of its lower bounds "rwmd", "rwmd-query", "rwmd-document", "wcd"; a
        `WordMover` or `TokenMover` for transport with settings of its own, which a grid search
        reaches as ``metric__masses``; or a metric of `distances`: "cosine", "l1", "l2"
        ("euclidean"), "squared-l2", "hellinger", "jaccard", "weighted-jaccard", "edit".
    model : transformer or None, default=None
        Makes the vectors that a metric of `distances` compares, of bags or of texts
        (``Pooling()``, a pipeline). None: words of texts are counted, and weighed by tf-idf but
        for "hellinger", "jaccard" and "weighted-jaccard"; rows of numbers are taken as they are.
    vectors : WordVectors, ndarray of shape (n_columns, d) or None, default=None
        Where words lie, for transport by name: as for `WordMover`.
    n_neighbors : int, default=5
        How many documents vote; all, if there are fewer.
    vote : {"majority", "distance", "fall-back", "exponential"}, default="majority"
        What a vote counts, see Notes.
    gamma : float, default=0.05
        How quickly votes fall with the distance, for ``vote="exponential"``.
    tune : bool, default=False
        Choose the number of neighbours from 1 to 19 on held-out training documents, see Notes;
        `n_neighbors` is then not looked at.
    stop_words : str, None, path or collection of str, default="smart"
        Words of texts to leave out. Models that take texts, a `WordMover` and "edit" do not look
        at it.
    random_state : int, RandomState or None, default=None
        Which documents are held out by ``tune=True``.
    n_jobs : int or None, default=None
        Threads: None is one, -1 all cores; they never change results. A `WordMover` has its own.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_neighbors_ : int
        How many documents vote.
    gamma_ : float
        The `gamma` of the votes.
    tuning_ : Tuning or None
        The error of each number of neighbours on the documents that were held out; None without
        ``tune=True``.
    class_prior_ : ndarray of shape (n_classes,), float64
        The share of the training documents that each class has.
    n_documents_ : int
        How many training documents there are.
    empty_documents_ : ndarray of int64
        Positions of training documents that have nothing to compare; they are never found.
    n_features_in_ : int
        Columns, where documents are rows of numbers.

    See Also
    --------
    WordMover.search : The same neighbours without labels.

    Notes
    -----
    With labels y_i, distances d_i and weights w_i of the k nearest documents, the answer is

    .. math:: \hat y = \arg\max_c \sum_{i \le k} w_i \, [y_i = c],

    the first in `classes_` among equals; documents at the same distance are taken by position.

    =============  ====================================================================
    vote           w_i
    =============  ====================================================================
    "majority"     1
    "distance"     1 / d_i, as in scikit-learn; documents at distance 0 take all
    "exponential"  exp(-d_i / gamma)
    "fall-back"    1 for the k' nearest, else 0: k' = k, less 2 as long as the most
                   frequent class has fewer than k'/2 votes
    =============  ====================================================================

    Probabilities are shares of the votes, by "fall-back" of the k' that were asked at last.

    **Tuning** holds a fifth of the training documents out, the same part of every class (a class
    of one document stays), learns from the others what the measure learns (idf, a model), and
    finds the 19 nearest of each held-out document in one search. The beginnings of these lists
    give the error of 1, 2, ..., 19 neighbours; the smallest number with the smallest error is
    taken, and then all documents are. With ``vote="exponential"``, `gamma_` is the one of 0.005,
    0.010, ..., 0.100 with the smallest error for that number (the smallest among equals): the
    best pair of both. It is meant for distances of about 1 or less, as those of unit vectors.

    **Edges.** A document that has nothing to compare (no word with a vector, no known word) gets
    the most frequent class, with `class_prior_` for its probabilities and empty evidence. The
    training documents are kept, for evidence.

    References
    ----------
    Kusner, Sun, Kolkin and Weinberger, "From Word Embeddings To Document Distances", ICML 2015
    ("fall-back" is the vote of its code). Sato, Yamada and Kashima, "Re-evaluating Word Mover's
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

    Rows of numbers, or any model:

    >>> from textkin import Pooling
    >>> knn = NearestNeighborClassifier("cosine", model=Pooling(), n_neighbors=1)
    >>> knn.fit(texts, labels).predict(["A kitten sleeps"]).tolist()
    ['pets']
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "metric": METRIC,
        "model": one_of(None) | _TRANSFORMER,
        "vectors": OVER_VECTORS["vectors"],
        "n_neighbors": integer(1),
        "vote": one_of(*RULES),
        "gamma": _ABOVE_ZERO,
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
        n_neighbors: int = 5,
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

    # ------------------------------------------------------------------ learning

    def fit(
        self, X: DocumentsLike, y: LabelsLike = None, *, progress: ProgressCallback | None = None
    ) -> Self:
        """Keep training documents with their labels; choose the number of neighbours if asked.

        Parameters
        ----------
        X : iterable of texts, documents or token lists; or bags or vectors, one row a document
            The training documents. An `Index` is one: its documents, in their order.
        y : array-like of shape (n_documents,)
            Their labels: strings, whole numbers, booleans, anything that can be sorted.
        progress : callable, optional
            With ``tune=True`` called with (documents asked, all); raising from it stops the work.

        Returns
        -------
        NearestNeighborClassifier
            The estimator itself; as it was, if anything fails.

        Raises
        ------
        ValueError
            If labels are missing, or not as many as documents; if no document has anything to
            compare (`EmptyDocumentError`).
        TypeError
            If X holds no documents, or labels are of several types.
        """
        before = vars(self).copy()
        try:
            self._learn(X, y, progress)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _learn(self, X: DocumentsLike, y: LabelsLike, progress: ProgressCallback | None) -> None:
        check_params(self)
        random = check_random_state(self.random_state)
        for name in ("n_features_in_", "feature_names_in_"):  # of another kind of documents
            self.__dict__.pop(name, None)
        make = self._make_measure
        make()  # tells what does not belong together before anything is read
        documents = self._documents(X, reset=True)
        classes, labels = checked_labels(y, size(documents), type(self).__name__)
        self.tuning_ = None
        self.n_neighbors_, self.gamma_ = int(self.n_neighbors), float(self.gamma)
        if self.tune:
            self.tuning_ = tuned(
                make, documents, labels, len(classes), self.vote, self.gamma_, random, progress
            )
            self.n_neighbors_, self.gamma_ = self.tuning_.n_neighbors, self.tuning_.gamma
        measure = make().fit(documents)
        if measure.empty.all():
            raise EmptyDocumentError(
                f"None of the {len(measure):,} training documents has anything to compare: no word "
                "that the measure knows, or by tf-idf only words that all of them have. Look at "
                "stop_words, and at the vectors and their language."
            )
        self._measure = measure
        self._labels = labels
        self._voting = Voting(self.vote, self.gamma_)
        self.classes_ = classes
        self.class_prior_ = np.bincount(labels, minlength=len(classes)) / len(labels)
        self.n_documents_ = len(labels)
        self.empty_documents_ = np.flatnonzero(measure.empty).astype(np.int64)

    def _make_measure(self) -> Measure:
        measure = measure_of(
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
            return list(documents)  # evidence shows what was given, whatever becomes of the list
        mover = self.metric if reset else getattr(self._measure, "mover", None)
        if isinstance(mover, TokenMover):  # documents of as many tokens each
            return list(documents)
        return validate_data(
            self,
            X if hasattr(X, "columns") else documents,  # a table has names
            reset=reset,
            accept_sparse="csr",
            copy=reset,  # what is kept must not change with the user's array
            ensure_min_samples=1 if reset else 0,
        )

    # ------------------------------------------------------------------ answers

    def predict(
        self, X: DocumentsLike, *, progress: ProgressCallback | None = None
    ) -> NDArray[Any]:
        """Return the label of each document.

        Parameters
        ----------
        X : as for `fit`
            n documents.
        progress : callable, optional
            Called with (documents asked, all); raising from it stops the work.

        Returns
        -------
        ndarray of shape (n,)
            Of the type of the labels.
        """
        shares = self.predict_proba(X, progress=progress)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def predict_proba(
        self, X: DocumentsLike, *, progress: ProgressCallback | None = None
    ) -> Float64Array:
        """Return the share of the votes that each class has, for each document.

        Parameters
        ----------
        X : as for `fit`
            n documents.
        progress : callable, optional
            Called with (documents asked, all); raising from it stops the work.

        Returns
        -------
        ndarray of shape (n, n_classes), float64
            In the order of `classes_`; rows sum to 1, and the first largest is what `predict`
            answers.
        """
        check_is_fitted(self)
        _, ballot = self._ask(self._documents(X, reset=False), progress)
        return self._counted(ballot)[1]

    def evidence(
        self, X: DocumentsLike, *, progress: ProgressCallback | None = None
    ) -> EvidenceList:
        """Return the neighbours of each document, how they voted, and what explains them.

        Parameters
        ----------
        X : as for `fit`
            n documents.
        progress : callable, optional
            Called with (documents asked, all); raising from it stops the work.

        Returns
        -------
        EvidenceList
            One `Evidence` a document, in their order, with the label that `predict` answers.
            ``evidence[0].explain(0)`` says why the nearest document is near, and
            ``evidence[0].certificate()`` proves that no other one is nearer. Draws itself.

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
        found, ballot = self._ask(documents, progress)
        weights, shares = self._counted(ballot)
        return EvidenceList(
            self._evidence(one(documents, at), found, at, weights[at], shares[at])
            for at in range(len(found))
        )

    def _ask(
        self,
        documents: Any,  # noqa: ANN401 (what `listed` returned)
        progress: ProgressCallback | None,
    ) -> tuple[NearRows, Ballot]:
        found = self._measure.nearest(documents, self.n_neighbors_, progress=progress)
        return found, Ballot.of(found, self._labels)

    def _counted(self, ballot: Ballot) -> tuple[Float64Array, Float64Array]:
        """Return the votes of neighbours, and those of classes."""
        weights = self._voting.weights(ballot, len(self.classes_))
        return weights, shares_of_classes(ballot, weights, self.class_prior_)

    def _evidence(
        self,
        document: Any,  # noqa: ANN401
        found: NearRows,
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
            snippet_of(document),
            _Reasons(self._measure, document, found, at),
        )

    def _neighbor(self, row: int, distance: float, vote: float) -> Neighbor:
        documents = self._measure.documents
        # Rows of numbers have no text, and taking one out of a sparse matrix is slow.
        document = None if are_numbers(documents) else documents[row]
        label = value_of(self.classes_, int(self._labels[row]))
        return Neighbor(row, id_of(document), label, distance, vote, snippet_of(document))


@dataclass(frozen=True, slots=True, eq=False)
class _Reasons:
    """What explains the neighbours of one document."""

    measure: Measure
    document: Any
    found: NearRows
    at: int

    @property
    def parts_of(self) -> str:
        return self.measure.parts_of

    def explain(self, index: int) -> Any:  # noqa: ANN401
        return self.measure.explain(self.document, index)

    def certificate(self) -> Any:  # noqa: ANN401
        return self.found.search.certificate(self.at) if isinstance(self.found, FoundRows) else None
