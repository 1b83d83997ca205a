"""`DocumentClustering`: clusters of similar documents, with their distinctive words."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.random import RandomState
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from textkin._base import (
    Constraint,
    Float64Array,
    Int64Array,
    SavedEstimator,
    TableResult,
    check_params,
    integer,
    one_of,
    real,
    rollback_on_error,
)
from textkin.corpus import WORD_VECTOR_PARAMETERS, Vectors
from textkin.distance import resolve_metric
from textkin.exceptions import ParameterError
from textkin.explain import Group, GroupMap
from textkin.learn._cluster_method import (
    ClusterMethod,
    ClusterSettings,
    Linkage,
    Partition,
    order_by_size,
)
from textkin.learn._cluster_words import (
    Cluster,
    WordCounts,
    describe_clusters,
    restored_clusters,
    saved_clusters,
)
from textkin.learn._documents import DocumentsLike, are_numbers, frame_index, listed, size
from textkin.learn._hierarchy import AgglomerativeMethod
from textkin.learn._kmeans import KMeansMethod
from textkin.learn._layout import cluster_layout
from textkin.learn._measure import METRIC, MetricLike, make_measure
from textkin.learn._medoids import KMedoidsMethod
from textkin.run import ProgressCallback
from textkin.text import STOP_WORDS, StopWords, Vocabulary

__all__ = ["DocumentClustering"]

_NAMES = Constraint(
    lambda value: isinstance(value, Sequence | np.ndarray | Vocabulary), "words, or a Vocabulary"
)
_MODEL = Constraint(
    lambda value: hasattr(value, "fit") and hasattr(value, "transform"),
    "a transformer, such as LSI(100)",
)


class DocumentClustering(TableResult, SavedEstimator, ClusterMixin, BaseEstimator):
    """Clustering of texts or vectors into groups, each described by its distinctive words.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters. None requires a `distance_threshold`.
    method : {"kmeans", "kmedoids", "agglomerative"}, default="kmeans"
        Clustering method. "kmeans" clusters vectors; it is fast for any number of documents.
        "kmedoids" and "agglomerative" use any metric. A cluster of "kmedoids" holds the documents
        nearest to one of its documents. "agglomerative" repeatedly merges the two nearest
        clusters, see `linkage_`.
    metric : str, WordMover, TokenMover or None, default=None
        Metric: "cosine" or "euclidean" for "kmeans"; otherwise "wmd", "rwmd", "wcd", a metric of
        `pairwise_distances`, or an estimator with its own settings. If None, "wmd" for "kmedoids"
        and "agglomerative" of texts, otherwise "cosine".
    model : transformer or None, default=None
        Transformer that makes vectors of bags or texts, such as ``LSI(100)`` or ``Pooling()``. If
        None, "kmeans" weights the words of texts by tf-idf and reduces them to twice as many
        latent dimensions as clusters, from 10 to 100; metrics of the other methods weight texts
        by tf-idf. Numbers stay unchanged.
    vectors : WordVectors, ndarray or None, default=None
        Word vectors, for transport. If None, the built-in vectors.
    linkage : {"average", "single", "complete"}, default="average"
        Distance of two clusters: the mean, the smallest, or the largest distance of their
        documents ("agglomerative" only).
    distance_threshold : float or None, default=None
        Largest distance of clusters to merge ("agglomerative" with ``n_clusters=None`` only).
    n_neighbors : int, default=15
        Number of neighbors of each document in the graph ("agglomerative" with more than
        `max_matrix` documents only).
    max_matrix : int, default=2000
        Maximum number of documents for which "kmedoids" and "agglomerative" compute all distances.
    n_init : int, default=10
        Number of initializations of "kmeans" and "kmedoids"; the best result is kept.
    n_words : int, default=10
        Maximum number of words of a cluster.
    feature_names : sequence of str, Vocabulary or None, default=None
        Words of the columns of numbers, such as ``counter.vocabulary_``. Texts have their own.
    stop_words : str, None, path or collection of str, default="smart"
        Words of texts to ignore.
    random_state : int, RandomState or None, default=None
        Seed of the initializations and samples.
    n_jobs : int or None, default=None
        Number of threads. None means 1, and -1 means all cores. The result does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_documents,), int64
        Cluster of each document; -1 for documents with nothing to compare. The largest cluster is
        0; ties go to the cluster whose central document comes first.
    clusters_ : list of Cluster
        Members, central document, and distinctive words of each cluster.
    n_clusters_ : int
        Number of clusters.
    inertia_ : float
        Sum of the squared distances of documents from the means of their clusters for "kmeans",
        otherwise the sum of their distances from the central documents.
    cluster_centers_ : ndarray of shape (n_clusters, d), float64
        Means of "kmeans", in the order of labels.
    linkage_ : ndarray of shape (n - 1, 4), float64
        Merges of "agglomerative", in the format of ``scipy.cluster.hierarchy``; n is the number of
        documents with a label other than -1, in their order.

    See Also
    --------
    WordMover : Exact Word Mover's Distance, the metric "wmd".
    PLSA, LDA : Topics; a document can belong to several.

    Notes
    -----
    **k-means** is scikit-learn's (k-means++, `n_init` initializations). With "cosine", rows are
    L2-normalized first. The central document is the document nearest to the mean. It has the
    smallest mean cosine distance from the members with "cosine", and the smallest mean squared
    distance with "euclidean".

    **k-medoids** swaps medoids with documents until no swap lowers the sum of the distances of
    documents from their nearest medoids. With more than `max_matrix` documents, the search runs
    on a random sample of `max_matrix` documents (CLARA), and every document is then assigned to
    its nearest medoid. The medoid is the central document: no other document of the cluster (of
    the sample) has a smaller mean distance from the members.

    **Agglomerative** clustering is SciPy's up to `max_matrix` documents. With more documents, a
    graph connects each document with its `n_neighbors` nearest documents, which the exact search
    finds without computing most distances. Only the distances along edges are used; the distance
    of any other pair is taken as the length of the longest edge. Equal documents merge first, and
    one of them represents all in the graph. "single" is exact if the smallest distance between
    two clusters is the length of an edge; "average" is the method of Dhulipala et al.; "complete"
    requires all distances and raises an error. Connected components of the graph merge last, by
    the distances between one document of each. The central document has the smallest mean
    distance from the members. With more than `max_matrix` documents, a cluster of more than 128
    members takes it from a random sample of 128 members, by the distances within the sample.

    **Distinctive words** of a cluster have the highest z-scores of the log-odds ratio between the
    documents of the cluster and all other documents, with an informative Dirichlet prior of
    weight 100. A word counts once per document, so a single document cannot determine the words of
    its cluster. A single cluster has no distinctive words.

    `predict` assigns a document to the nearest center: a mean, a medoid, or a central document.
    With "agglomerative", the nearest central document of a fitted document may belong to another
    cluster.

    References
    ----------
    Arthur and Vassilvitskii, "k-means++", SODA 2007. Kaufman and Rousseeuw, "Finding Groups in
    Data", 1990 (CLARA). Schubert and Rousseeuw, "Fast and Eager k-Medoids Clustering", Information
    Systems 101, 2021. Dhulipala, Eisenstat, Lacki, Mirrokni and Shi, "Hierarchical Agglomerative
    Graph Clustering in Nearly-Linear Time", ICML 2021. Monroe, Colaresi and Quinn, "Fightin'
    Words", Political Analysis 16, 2008, equations 16 and 22.

    Examples
    --------
    >>> texts = ["Cats purr on the mat", "A kitten sleeps on the sofa", "Stocks fell sharply",
    ...          "Investors sold their shares", "The cat and the kitten play", "The market lost"]
    >>> clusters = DocumentClustering(2, method="kmedoids", random_state=0).fit(texts)
    >>> clusters.labels_
    array([0, 0, 1, 1, 0, 1])
    >>> [texts[cluster.central] for cluster in clusters.clusters_]
    ['The cat and the kitten play', 'The market lost']
    >>> clusters.predict(["My dog barks", "Bonds are sold"])
    array([0, 1])
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_clusters": one_of(None) | integer(1),
        "method": one_of("kmeans", "kmedoids", "agglomerative"),
        "metric": one_of(None) | METRIC,
        "model": one_of(None) | _MODEL,
        "vectors": WORD_VECTOR_PARAMETERS["vectors"],
        "linkage": one_of("average", "single", "complete"),
        "distance_threshold": one_of(None) | real(0),
        "n_neighbors": integer(1),
        "max_matrix": integer(2),
        "n_init": integer(1),
        "n_words": integer(0),
        "feature_names": one_of(None) | _NAMES,
        "stop_words": STOP_WORDS,
        "n_jobs": one_of(None) | integer(),
    }

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        method: Literal["kmeans", "kmedoids", "agglomerative"] = "kmeans",
        metric: MetricLike | None = None,
        model: Any = None,  # noqa: ANN401 (a transformer of anybody's)
        vectors: Vectors = None,
        linkage: Linkage = "average",
        distance_threshold: float | None = None,
        n_neighbors: int = 15,
        max_matrix: int = 2000,
        n_init: int = 10,
        n_words: int = 10,
        feature_names: Sequence[str] | Vocabulary | None = None,
        stop_words: StopWords = "smart",
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.metric = metric
        self.model = model
        self.vectors = vectors
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.n_neighbors = n_neighbors
        self.max_matrix = max_matrix
        self.n_init = n_init
        self.n_words = n_words
        self.feature_names = feature_names
        self.stop_words = stop_words
        self.random_state = random_state
        self.n_jobs = n_jobs

    @rollback_on_error
    def fit(
        self,
        X: DocumentsLike,
        y: object = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Self:
        """Compute the clusters of documents, and their distinctive words.

        Parameters
        ----------
        X : iterable of texts, token lists or documents; or rows of numbers
            Documents. Rows are bags for transport, otherwise vectors or the input of `model`.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (done, total) after the texts are read. An exception raised in it stops the
            work.

        Returns
        -------
        DocumentClustering
            The fitted estimator.

        Raises
        ------
        ValueError
            If fewer documents than `n_clusters` are distinct.
        """
        self._fit(X, progress)
        self._index = frame_index(X)
        return self

    def fit_predict(
        self,
        X: DocumentsLike,
        y: object = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Int64Array:
        """Compute clusters, and return the cluster number of each document (`labels_`).

        Parameters
        ----------
        X, y, progress
            As for `fit`.

        Returns
        -------
        ndarray of shape (n_documents,), int64
            Clusters; -1 for documents with nothing to compare.
        """
        return self.fit(X, progress=progress).labels_

    def predict(self, X: DocumentsLike, *, progress: ProgressCallback | None = None) -> Int64Array:
        """Return for each new document the number of the cluster with the nearest center.

        Parameters
        ----------
        X : as for `fit`
            Documents.
        progress : callable, optional
            Called with (documents done, total). An exception raised in it stops the work.

        Returns
        -------
        ndarray of shape (n,), int64
            Clusters; -1 for documents with nothing to compare.
        """
        check_is_fitted(self)
        documents = self._documents(X, reset=False)
        if not size(documents):
            return np.empty(0, dtype=np.int64)
        central = np.array([cluster.central for cluster in self.clusters_], dtype=np.int64)
        means = getattr(self, "cluster_centers_", None)
        found = self._method.nearest(documents, central, means, progress)
        labels = np.full(len(found), -1, dtype=np.int64)
        labels[np.diff(found.indptr) > 0] = found.rows
        return labels

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dict per fitted document: position, cluster, distance from the center.

        A record has the position of the document, its cluster (-1 with nothing to compare), its
        distance from the center of the cluster (None outside of clusters), and whether it is the
        central document.
        """
        check_is_fitted(self)
        distances: dict[int, float] = {}
        for cluster in self.clusters_:
            distances.update(zip(cluster.members.tolist(), cluster.distances.tolist(), strict=True))
        central = {cluster.central for cluster in self.clusters_}
        return [
            {
                "document": at,
                "cluster": label,
                "distance": distances.get(at),
                "central": at in central,
            }
            for at, label in enumerate(self.labels_.tolist())
        ]

    def _frame_index(self) -> Any:  # noqa: ANN401 (a pandas index, or None)
        return self._index

    def picture(self) -> GroupMap:
        """Return a two-dimensional map of the documents with clusters and words, as `GroupMap`.

        Similar clusters are close together on the map, as far as two dimensions allow. A document
        is close to its cluster, and toward other similar clusters.

        Returns
        -------
        GroupMap
            Drawing, which notebooks display; see its ``to_text()``, ``to_svg()`` and
            ``to_html()``.
        """
        check_is_fitted(self)
        groups = tuple(
            Group(
                str(cluster.number),
                cluster.size,
                cluster.words,
                cluster.snippet,
                f"document {cluster.central}, spread {cluster.spread:.3g}",
            )
            for cluster in self.clusters_
        )
        kept = self.labels_ >= 0
        return GroupMap(groups, self._points, self.labels_[kept], int(np.sum(~kept)))

    _repr_html_ = BaseEstimator._repr_html_  # not the table of `to_records`

    def to_text(self, *, width: int = 80) -> str:
        """Return a text table of clusters: size, distinctive words, and central document."""
        return self.picture().to_text(width=width)

    def to_svg(self, *, title: str = "", width: int = 780, embedded: bool = False) -> str:
        """Draw the map of documents and clusters as SVG; see `picture`."""
        return self.picture().to_svg(title=title, width=width, embedded=embedded)

    def to_html(self, *, title: str = "Clusters of documents") -> str:
        """Return an HTML page with the map and a table of the clusters; see `picture`."""
        return self.picture().to_html(title=title)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # -------------------------------------------------------------- saving

    _unsaved = frozenset({"clusters_"})

    def _saved_state(self) -> dict[str, Any]:
        return {
            "clusters": saved_clusters(self.clusters_),
            "points": self._points,
            "metric": self._metric,
            "method": self._method.state(),
        }

    def _restore_state(self, state: dict[str, Any]) -> None:
        self._check_params()
        labels, points = self.labels_, state["points"]
        if not (isinstance(labels, np.ndarray) and labels.dtype == np.int64 and labels.ndim == 1):
            raise ValueError("labels_ must be integers")
        self.clusters_: list[Cluster] = restored_clusters(state["clusters"], labels)
        if self.n_clusters_ != len(self.clusters_):
            raise ValueError(f"n_clusters_ must be {len(self.clusters_)}")
        real(0).check("inertia_", self.inertia_)
        n_kept = int(np.count_nonzero(labels >= 0))
        if not (
            isinstance(points, np.ndarray)
            and points.dtype == np.float64
            and points.shape == (n_kept, 2)
            and bool(np.isfinite(points).all())
        ):
            raise ValueError("there must be a point of the map for each document")
        means = getattr(self, "cluster_centers_", None)
        if means is not None and len(means) != self.n_clusters_:
            raise ValueError("cluster_centers_ must have a row for each cluster")
        if state["metric"] is not None:
            METRIC.check("metric", state["metric"])
        self._metric = state["metric"]
        method = self._method_of(self._metric)
        method.restore(
            state["method"], len(labels), means, of_numbers=hasattr(self, "n_features_in_")
        )
        self._method, self._points = method, points

    # -------------------------------------------------------------- fitting

    def _fit(self, X: DocumentsLike, progress: ProgressCallback | None) -> None:
        self._check_params()
        documents = self._documents(X, reset=True)
        words = self._column_words(documents)
        settings = ClusterSettings(
            n_clusters=self.n_clusters,
            linkage=self.linkage,
            distance_threshold=self.distance_threshold,
            n_neighbors=self.n_neighbors,
            max_matrix=self.max_matrix,
            n_init=self.n_init,
            n_jobs=self.n_jobs,
        )
        self._method = self._make_method(documents)
        random = check_random_state(self.random_state)
        found = self._method.find(documents, settings, random, progress)
        counts = None
        if self.n_words:
            counts = WordCounts.from_documents(documents, words, self.stop_words, self.n_jobs)
        self._keep(documents, counts, found)

    def _check_params(self) -> None:
        check_params(self)
        if self.distance_threshold is not None and self.method != "agglomerative":
            raise ValueError(
                f"distance_threshold is for method='agglomerative'; got method={self.method!r}."
            )
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ValueError(
                "Give n_clusters, or n_clusters=None and a distance_threshold for "
                f"method='agglomerative'; got n_clusters={self.n_clusters!r} and "
                f"distance_threshold={self.distance_threshold!r}."
            )

    def _documents(self, X: DocumentsLike, *, reset: bool) -> Any:  # noqa: ANN401
        documents = listed(X)
        if are_numbers(documents):
            return validate_data(
                self,
                X if hasattr(X, "columns") else documents,  # a data frame has column names
                reset=reset,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                ensure_min_samples=int(reset),
            )
        if reset:
            if not documents:
                raise ValueError("X must have at least one document; got none.")
            self._forget("n_features_in_", "feature_names_in_")
        return documents

    def _column_words(self, documents: Any) -> list[str] | None:  # noqa: ANN401
        """Return the words that name the columns of a matrix of documents, or None."""
        if self.feature_names is None:
            return None
        if not are_numbers(documents):
            raise ValueError(
                "feature_names are for columns of numbers; texts have their own. Pass "
                "feature_names=None."
            )
        words = list(getattr(self.feature_names, "words", self.feature_names))
        if isinstance(self.feature_names, str) or len(words) != documents.shape[1]:
            raise ParameterError(
                "feature_names",
                f"{documents.shape[1]} words, one for each column of X",
                str("one text" if isinstance(self.feature_names, str) else len(words)),
            )
        return words

    def _make_method(self, documents: Any) -> ClusterMethod:  # noqa: ANN401
        """Create the clustering method that the parameter `method` selects."""
        self._metric = self.metric
        if self.metric is None and self.method != "kmeans":
            of_words = self.model is None and not (are_numbers(documents) and self.vectors is None)
            self._metric = "wmd" if of_words else "cosine"
        return self._method_of(self._metric)

    def _method_of(self, metric: MetricLike | None) -> ClusterMethod:
        """Create the clustering method for a metric; k-means has a default metric."""
        if self.method == "kmeans":
            metric = "cosine" if metric is None else metric
            if metric not in ("cosine", "euclidean", "l2"):
                raise ParameterError(
                    "metric",
                    "'cosine' or 'euclidean' for k-means, which makes means of vectors",
                    repr(metric),
                    "Use `method='kmedoids'`.",
                )
            if self.vectors is not None:
                raise ParameterError(
                    "vectors",
                    message="vectors are for transport;",
                    hint="for k-means pass `model=Pooling(vectors)`.",
                )
            name = resolve_metric(str(metric))
            return KMeansMethod(name, self.model, self.stop_words, self.n_jobs)
        assert metric is not None  # `_make_method` has replaced None
        measure = make_measure(
            metric,
            model=self.model,
            vectors=self.vectors,
            stop_words=self.stop_words,
            n_jobs=self.n_jobs,
        )
        return (
            KMedoidsMethod(measure) if self.method == "kmedoids" else AgglomerativeMethod(measure)
        )

    def _keep(
        self,
        documents: Any,  # noqa: ANN401
        counts: WordCounts | None,
        found: Partition,
    ) -> None:
        """Set `labels_` and the other fitted attributes, with clusters by descending size."""
        order = order_by_size(found.labels, found.central)
        numbers = np.argsort(order)[found.labels]
        own = found.own
        n_documents = size(documents)
        self.labels_: Int64Array = np.full(n_documents, -1, dtype=np.int64)
        self.labels_[found.positions] = numbers
        from_center = np.full(n_documents, np.inf)
        from_center[found.positions] = own
        self.clusters_ = describe_clusters(
            documents, counts, self.labels_, from_center, found.central[order], self.n_words
        )
        self.n_clusters_ = len(self.clusters_)
        self.inertia_ = float((own if found.means is None else own**2).sum())
        self._forget("cluster_centers_", "linkage_")  # a fit with another method may have set them
        if found.means is not None:
            self.cluster_centers_: Float64Array = found.means[order]
        if found.merges is not None:
            self.linkage_: Float64Array = found.merges
        self._points = cluster_layout(found.far, numbers)

    def _forget(self, *names: str) -> None:
        for name in names:
            self.__dict__.pop(name, None)
