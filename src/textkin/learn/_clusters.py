"""Groups of documents that are near to each other, with what sets each group apart."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.random import RandomState
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from textkin._typing import Float64Array, Int64Array
from textkin._validation import Constraint, check_params, integer, one_of, real
from textkin.distance._pairwise import known_distance
from textkin.explain import Group, GroupMap
from textkin.learn._by_distances import ByDistances
from textkin.learn._by_means import ByMeans
from textkin.learn._choosing import measure_of
from textkin.learn._describing import Cluster, Counted, described
from textkin.learn._documents import DocumentsLike, are_numbers, listed, size
from textkin.learn._linkage import Linkage
from textkin.learn._measures import METRIC, MetricLike
from textkin.learn._partition import Asked, Grouping, Partition, by_size
from textkin.learn._placing import placed
from textkin.run import ProgressCallback
from textkin.text import Vocabulary
from textkin.text._stop_words import STOP_WORDS, StopWords
from textkin.vectors._documents import OVER_VECTORS, Vectors

__all__ = ["DocumentClusters"]

_WORDS = Constraint(
    lambda value: isinstance(value, Sequence | np.ndarray | Vocabulary), "words, or a Vocabulary"
)
_MODEL = Constraint(
    lambda value: hasattr(value, "fit") and hasattr(value, "transform"),
    "a transformer, such as LSI(100)",
)


class DocumentClusters(ClusterMixin, BaseEstimator):
    """Put documents into groups, and say what each group is about.

    Parameters
    ----------
    n_clusters : int or None, default=8
        How many groups. None with a `distance_threshold`.
    method : {"kmeans", "kmedoids", "agglomerative"}, default="kmeans"
        "kmeans" on vectors: quick, for any number of documents. "kmedoids" on any distance: every
        group is those nearest to one of its documents. "agglomerative" on any distance: the two
        nearest groups are merged again and again, see `linkage_`.
    metric : str, WordMover, TokenMover or None, default=None
        How documents are compared. For "kmeans" "cosine" or "euclidean"; for the others "wmd",
        "rwmd", "wcd", a metric of `distances`, or an estimator with settings of its own. None:
        "wmd" for "kmedoids" and "agglomerative" of texts, otherwise "cosine".
    model : transformer or None, default=None
        Makes vectors of bags or texts, such as ``LSI(100)`` or ``Pooling()``. None: for "kmeans",
        the words of texts are weighed by tf-idf and placed in twice as many latent dimensions as
        there are clusters, from 10 to 100; for metrics of the other methods, texts are weighed by
        tf-idf. Numbers are taken as they are.
    vectors : WordVectors, ndarray or None, default=None
        Of words, for transport. None: the built-in ones.
    linkage : {"average", "single", "complete"}, default="average"
        Of "agglomerative": what the distance of two groups is, the mean, the least or the
        greatest of their documents'.
    distance_threshold : float or None, default=None
        Of "agglomerative", with ``n_clusters=None``: merge groups that are at most so far apart.
    n_neighbors : int, default=15
        Of "agglomerative" above `max_matrix`: neighbours of each document in the graph.
    max_matrix : int, default=2000
        Most documents that "kmedoids" and "agglomerative" compare all with each other.
    n_init : int, default=10
        Starts of "kmeans" and "kmedoids", of which the best is kept.
    n_words : int, default=10
        Most words of a cluster.
    words : sequence of str, Vocabulary or None, default=None
        The words of the columns of numbers, such as ``counter.vocabulary_``. Texts have their own.
    stop_words : str, None, path or collection of str, default="smart"
        Words of texts that are left out.
    random_state : int, RandomState or None, default=None
        Where the methods start, and what is drawn.
    n_jobs : int or None, default=None
        Threads: None is one, -1 all cores. They never change results.

    Attributes
    ----------
    labels_ : ndarray of shape (n_documents,), int64
        The cluster of each document. The largest cluster is 0, of equal ones the one whose central
        document comes first. -1 for documents without anything to compare.
    clusters_ : list of Cluster
        Members, the most central document, and the words that set each cluster apart.
    n_clusters_ : int
        How many there are.
    inertia_ : float
        "kmeans": the sum of the squared distances of documents from the means of their clusters.
        Otherwise the sum of their distances from the central document.
    cluster_centers_ : ndarray of shape (n_clusters, d), float64
        The means of "kmeans", in the order of labels.
    linkage_ : ndarray of shape (n - 1, 4), float64
        The merges of "agglomerative" as SciPy writes them, for ``scipy.cluster.hierarchy``; n are
        the documents with a label other than -1, in their order.

    See Also
    --------
    WordMover : The distance behind "wmd", and what makes it exact.
    PLSA, LDA : Documents that belong to several topics at once.

    Notes
    -----
    **k-means** is scikit-learn's (k-means++, `n_init` starts). By "cosine", rows are brought to
    length one first; then the document nearest to the mean is also the one with the smallest mean
    cosine distance from the members, and by "euclidean" with the smallest mean squared distance:
    it is the central one.

    **k-medoids** lowers the sum of the distances of documents from the nearest medoid until no
    exchange of a medoid for a document lowers it further. Above `max_matrix` documents, so many
    are drawn and the sum is that over the drawn ones (CLARA); every document is then put to its
    nearest medoid, exactly. No other document has a smaller mean distance from the cluster's (of
    the drawn ones) than the medoid, which is the central document.

    **Agglomerative** clustering is SciPy's up to `max_matrix` documents. Above, documents are
    joined with their `n_neighbors` nearest, which the exact search finds without computing most
    distances, and only distances between joined documents are used: any other pair counts as far
    apart as the farthest joined one; of equal documents, which are merged first, one stands for
    all. "single" is exact wherever the least distance between two groups is that of a joined
    pair; "average" is that of Dhulipala et al.; "complete" needs all distances and is refused.
    Parts of the graph without an edge between them are merged last, by the distances between
    one document of each. The central document has the smallest mean distance from the members;
    above `max_matrix`, in clusters of more than 128, from 128 drawn members, and is one of
    them.

    **Words that set a cluster apart** are those whose odds among the words of its documents exceed
    those among the others' most surely: the z-score of the log-odds ratio with an informative
    Dirichlet prior of weight 100. A word counts once for each document that has it, so that one
    document cannot speak for its cluster. A single cluster has nothing to be set apart from.

    `predict` puts a new document to the nearest centre: mean, medoid or central document. By
    "agglomerative" a document of `fit` may be nearer to the central document of another cluster.

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
    >>> clusters = DocumentClusters(2, method="kmedoids", random_state=0).fit(texts)
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
        "vectors": OVER_VECTORS["vectors"],
        "linkage": one_of("average", "single", "complete"),
        "distance_threshold": one_of(None) | real(0),
        "n_neighbors": integer(1),
        "max_matrix": integer(2),
        "n_init": integer(1),
        "n_words": integer(0),
        "words": one_of(None) | _WORDS,
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
        words: Sequence[str] | Vocabulary | None = None,
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
        self.words = words
        self.stop_words = stop_words
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: DocumentsLike,
        y: object = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Self:
        """Find the clusters of documents.

        Parameters
        ----------
        X : iterable of texts, token lists or documents; or rows of numbers
            The documents. Rows are bags for transport, otherwise vectors or what `model` takes.
        y : object, optional
            Ignored.
        progress : callable, optional
            Called with (done, total) after the texts were read; raising from it stops the work.

        Returns
        -------
        DocumentClusters
            The estimator itself.

        Raises
        ------
        ValueError
            If there are fewer documents that differ than `n_clusters`.
        """
        before = vars(self).copy()
        try:
            self._fit(X, progress)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def fit_predict(
        self,
        X: DocumentsLike,
        y: object = None,
        *,
        progress: ProgressCallback | None = None,
    ) -> Int64Array:
        """Find the clusters of documents, and return that of each, as `labels_`.

        Parameters
        ----------
        X, y, progress
            As for `fit`.

        Returns
        -------
        ndarray of shape (n_documents,), int64
            -1 for documents without anything to compare.
        """
        return self.fit(X, progress=progress).labels_

    def predict(self, X: DocumentsLike, *, progress: ProgressCallback | None = None) -> Int64Array:
        """Return the cluster whose centre is nearest to each document.

        Parameters
        ----------
        X : as for `fit`
            Other documents.
        progress : callable, optional
            Called with (documents done, all); raising from it stops the work.

        Returns
        -------
        ndarray of shape (n,), int64
            -1 for documents without anything to compare.
        """
        check_is_fitted(self)
        documents = self._documents(X, reset=False)
        if not size(documents):
            return np.empty(0, dtype=np.int64)
        central = np.array([cluster.central for cluster in self.clusters_], dtype=np.int64)
        means = getattr(self, "cluster_centers_", None)
        found = self._grouping.nearest(documents, central, means, progress)
        labels = np.full(len(found), -1, dtype=np.int64)
        labels[np.diff(found.starts) > 0] = found.rows
        return labels

    def picture(self) -> GroupMap:
        """Return a map of the documents, with the clusters and their words; it draws itself.

        Clusters that are near to each other lie near to each other, as far as a plane allows it; a
        document lies by its cluster, drawn towards others that it is also near to.

        Returns
        -------
        GroupMap
            Shows itself in notebooks; ``to_text()``, ``to_svg()`` and ``to_html()`` give it away.
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
        return GroupMap(groups, self._places, self.labels_[kept], int(np.sum(~kept)))

    def to_text(self, *, width: int = 80) -> str:
        """Return the clusters as lines: size, words and central document; see `picture`."""
        return self.picture().to_text(width=width)

    def to_svg(self, *, title: str = "", width: int = 780, embedded: bool = False) -> str:
        """Return a map of the documents as SVG; see `picture`."""
        return self.picture().to_svg(title=title, width=width, embedded=embedded)

    def to_html(self, *, title: str = "Clusters of documents") -> str:
        """Return a page with the map and a table of the clusters; see `picture`."""
        return self.picture().to_html(title=title)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 (scikit-learn is untyped)
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # -------------------------------------------------------------- the work

    def _fit(self, X: DocumentsLike, progress: ProgressCallback | None) -> None:
        self._check()
        documents = self._documents(X, reset=True)
        words = self._names(documents)
        asked = Asked(**{name: getattr(self, name) for name in Asked.__dataclass_fields__})
        self._grouping = self._chosen(documents)
        random = check_random_state(self.random_state)
        found = self._grouping.find(documents, asked, random, progress)
        counted = None
        if self.n_words:
            counted = Counted.of(documents, words, self.stop_words, self.n_jobs)
        self._keep(documents, counted, found)

    def _check(self) -> None:
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
                X if hasattr(X, "columns") else documents,  # with the names of columns
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

    def _names(self, documents: Any) -> list[str] | None:  # noqa: ANN401
        if self.words is None:
            return None
        if not are_numbers(documents):
            raise ValueError("words name the columns of numbers; texts have their own: words=None.")
        words = list(getattr(self.words, "words", self.words))
        if isinstance(self.words, str) or len(words) != documents.shape[1]:
            raise ValueError(
                f"words must be {documents.shape[1]} words, one for each column of X; got "
                f"{'one text' if isinstance(self.words, str) else len(words)}."
            )
        return words

    def _chosen(self, documents: Any) -> Grouping:  # noqa: ANN401
        """Return the way to find clusters that the parameters mean."""
        metric = self.metric
        if self.method == "kmeans":
            metric = "cosine" if metric is None else metric
            if metric not in ("cosine", "euclidean", "l2"):
                raise ValueError(
                    "method='kmeans' makes means of vectors, which go with metric='cosine' or "
                    f"'euclidean'; got metric={metric!r}. Use method='kmedoids'."
                )
            if self.vectors is not None:
                raise ValueError(
                    "vectors are for transport; for method='kmeans' pass model=Pooling(vectors)."
                )
            return ByMeans(known_distance(str(metric)), self.model, self.stop_words, self.n_jobs)
        if metric is None:
            of_words = self.model is None and not (are_numbers(documents) and self.vectors is None)
            metric = "wmd" if of_words else "cosine"
        measure = measure_of(
            metric,
            model=self.model,
            vectors=self.vectors,
            stop_words=self.stop_words,
            n_jobs=self.n_jobs,
        )
        return ByDistances(measure, self.method)

    def _keep(
        self,
        documents: Any,  # noqa: ANN401
        counted: Counted | None,
        found: Partition,
    ) -> None:
        """Keep what was found, with the largest cluster first."""
        order = by_size(found.labels, found.central)
        numbers = np.argsort(order)[found.labels]
        own = found.own
        n_documents = size(documents)
        self.labels_: Int64Array = np.full(n_documents, -1, dtype=np.int64)
        self.labels_[found.positions] = numbers
        apart = np.full(n_documents, np.inf)
        apart[found.positions] = own
        self.clusters_: list[Cluster] = described(
            documents, counted, self.labels_, apart, found.central[order], self.n_words
        )
        self.n_clusters_ = len(self.clusters_)
        self.inertia_ = float((own if found.means is None else own**2).sum())
        self._forget("cluster_centers_", "linkage_")  # of another method
        if found.means is not None:
            self.cluster_centers_: Float64Array = found.means[order]
        if found.merges is not None:
            self.linkage_: Float64Array = found.merges
        self._places = placed(found.far, numbers)

    def _forget(self, *names: str) -> None:
        for name in names:
            self.__dict__.pop(name, None)
