"""`pairwise_distances` and `pairwise_similarities` of the rows of two collections."""

from collections.abc import Collection
from typing import Any, Literal, TypeAlias

from textkin._base import Float64Array
from textkin.distance._edit import SequencesLike, prepare_edit
from textkin.distance._metrics import VECTOR_DISTANCES, VECTOR_SIMILARITIES
from textkin.distance._vectors import VectorsLike, make_pair
from textkin.exceptions import ParameterError
from textkin.run import ProgressCallback, fill_matrix, memory_in_bytes

__all__ = [
    "DistanceMetric",
    "SimilarityMetric",
    "pairwise_distances",
    "pairwise_similarities",
    "resolve_metric",
]

DistanceMetric: TypeAlias = Literal[
    "cosine",
    "l1",
    "manhattan",
    "cityblock",
    "l2",
    "euclidean",
    "squared-l2",
    "sqeuclidean",
    "hellinger",
    "jaccard",
    "weighted-jaccard",
    "edit",
]
SimilarityMetric: TypeAlias = Literal[
    "inner", "cosine", "hellinger", "jaccard", "weighted-jaccard", "edit"
]

_ALIASES = {
    "manhattan": "l1",
    "cityblock": "l1",
    "euclidean": "l2",
    "sqeuclidean": "squared-l2",
}


def pairwise_distances(
    X: VectorsLike | SequencesLike,
    Y: VectorsLike | SequencesLike | None = None,
    metric: DistanceMetric = "cosine",
    *,
    n_jobs: int | None = None,
    memory: str | int = "64MB",
    progress: ProgressCallback | None = None,
) -> Float64Array:
    """Return the matrix of distances from every row of `X` to every row of `Y`.

    Parameters
    ----------
    X : sparse or dense array of shape (n, d), or sequences for "edit"
        Bags or vectors, one row per document. For "edit": a list of lists of words, a list of
        strings (compared by characters), or `Tokens`.
    Y : same type as X, with m rows, optional
        If None, the rows of `X`.
    metric : str, default="cosine"
        See Notes: "cosine", "l1" (also "manhattan", "cityblock"), "l2" (also "euclidean"),
        "squared-l2" (also "sqeuclidean"), "hellinger", "jaccard", "weighted-jaccard" or "edit".
    n_jobs : int or None, default=None
        Number of threads; None is one, -1 is one per core. Results are bit-identical for any
        number.
    memory : str or int, default="64MB"
        Maximum memory per thread for a block of rows, in addition to the result and the copies of
        `X` and `Y` in float64. The size can change the last bits of results for dense vectors.
    progress : callable, optional
        Called with (rows done, total). An exception raised in it stops the work.

    Returns
    -------
    ndarray of shape (n, m), float64
        Distances; lower is more similar.

    Raises
    ------
    ValueError
        If `X` and `Y` differ in their columns, `metric` is unknown, or a value is NaN, infinite, or
        negative for a metric of nonnegative values.

    See Also
    --------
    pairwise_similarities : Similarities, including the inner product.
    edit_distance : Edit distance of one pair of sequences.

    Notes
    -----
    ==================  ==========================================  ================
    metric              distance                                    range
    ==================  ==========================================  ================
    "cosine"            ``1 - x.y / (||x|| ||y||)``                 0 to 2
    "l1"                ``sum_i |x_i - y_i|``                       0 to infinity
    "l2"                sqrt(sum_i (x_i - y_i)^2)                   0 to infinity
    "squared-l2"        sum_i (x_i - y_i)^2                         0 to infinity
    "hellinger"         sqrt(1 - sum_i sqrt(p_i q_i))               0 to 1
    "jaccard"           ``1 - |A n B| / |A u B|``                   0 to 1
    "weighted-jaccard"  1 - sum_i min(x_i, y_i) / sum_i max(...)    0 to 1
    "edit"              insertions, deletions, substitutions        0 to the longer
    ==================  ==========================================  ================

    "hellinger" treats rows as distributions, p = x / sum x; "jaccard" as sets, where A are the
    columns that are not 0. By "cosine" and "hellinger", a row of zeros has the distance 1 from
    every row, including other rows of zeros, since it has no direction. By "jaccard",
    "weighted-jaccard", and "edit", two empty rows are equal, and have the distance 0.

    The cost of sparse rows is the number of words that pairs share; the cost of dense rows is a
    matrix product (for L1, every entry). Nearly equal pairs are computed again from differences, so
    small distances keep their precision and equal rows have 0. "l2" and "squared-l2" do not
    scale their input: if differences are below about 1e-162, the distance is 0, like their squares.

    References
    ----------
    Cha, "Comprehensive Survey on Distance/Similarity Measures between Probability Density
    Functions", International Journal of Mathematical Models and Methods in Applied Sciences 1,
    2007.

    Examples
    --------
    >>> pairwise_distances([[2, 3, 5], [3, 7, 1]], [[0, 0, 2]]).round(4)
    array([[0.1889],
           [0.8698]])
    >>> pairwise_distances([[0.5, 0.5, 0], [0, 0, 1]], metric="hellinger")
    array([[0., 1.],
           [1., 0.]])
    >>> pairwise_distances(["kitten"], ["sitting", "mitten"], metric="edit")
    array([[3., 1.]])
    """
    return _matrix(X, Y, resolve_metric(metric), False, n_jobs, memory, progress)


def pairwise_similarities(
    X: VectorsLike | SequencesLike,
    Y: VectorsLike | SequencesLike | None = None,
    metric: SimilarityMetric = "cosine",
    *,
    n_jobs: int | None = None,
    memory: str | int = "64MB",
    progress: ProgressCallback | None = None,
) -> Float64Array:
    """Return the matrix of similarities of every row of `X` with every row of `Y`.

    Parameters
    ----------
    X : sparse or dense array of shape (n, d), or sequences for "edit"
        As for `pairwise_distances`.
    Y : same type as X, with m rows, optional
        If None, the rows of `X`.
    metric : str, default="cosine"
        See Notes: "inner", "cosine", "hellinger", "jaccard", "weighted-jaccard" or "edit".
    n_jobs, memory, progress
        As for `pairwise_distances`.

    Returns
    -------
    ndarray of shape (n, m), float64
        Similarities; higher is more similar.

    Raises
    ------
    ValueError
        For the same reasons as `pairwise_distances`.

    See Also
    --------
    pairwise_distances : Distances, including "l1" and "l2".

    Notes
    -----
    ==================  ======================================  =====================
    metric              similarity                              range
    ==================  ======================================  =====================
    "inner"             x.y                                     any number
    "cosine"            ``x.y / (||x|| ||y||)``                 -1 to 1
    "hellinger"         sum_i sqrt(p_i q_i)                     0 to 1
    "jaccard"           ``|A n B| / |A u B|``                   0 to 1
    "weighted-jaccard"  sum_i min(x_i, y_i) / sum_i max(...)    0 to 1
    "edit"              1 - edits / length of the longer        0 to 1
    ==================  ======================================  =====================

    "hellinger" is the Bhattacharyya coefficient, 1 minus the squared distance; the others are 1
    minus the distance ("edit": minus the distance over the longer length). By "inner", "cosine",
    and "hellinger", a row of zeros has the similarity 0 to every row; by "jaccard",
    "weighted-jaccard", and "edit", two empty rows are equal, and have the similarity 1.

    Examples
    --------
    >>> D, Q = [[2, 3, 5], [3, 7, 1]], [[0, 0, 2]]
    >>> pairwise_similarities(D, Q, metric="inner").ravel()
    array([10.,  2.])
    >>> pairwise_similarities(D, Q).ravel().round(4)
    array([0.8111, 0.1302])
    >>> pairwise_similarities([[1, 1, 0]], [[0, 1, 1]], metric="jaccard").round(4)
    array([[0.3333]])
    """
    name = _resolve("pairwise_similarities", metric, {*VECTOR_SIMILARITIES, "edit"}, DISTANCES_ONLY)
    return _matrix(X, Y, name, True, n_jobs, memory, progress)


def resolve_metric(metric: str) -> str:
    """Return the canonical name of a distance metric, or raise for an unknown name."""
    return _resolve("pairwise_distances", metric, {*VECTOR_DISTANCES, "edit"}, SIMILARITIES_ONLY)


SIMILARITIES_ONLY = {"inner": "pairwise_similarities"}
DISTANCES_ONLY = dict.fromkeys(("l1", "l2", "squared-l2"), "pairwise_distances")


def _resolve(function: str, metric: Any, known: Collection[str], elsewhere: dict[str, str]) -> str:  # noqa: ANN401
    name = _ALIASES.get(metric, metric) if isinstance(metric, str) else metric
    if isinstance(name, str) and name in elsewhere:
        raise ValueError(f"metric={metric!r} is not one of {function}; use {elsewhere[name]}.")
    if not isinstance(name, str) or name not in known:
        shown = ", ".join(repr(choice) for choice in sorted(known))
        raise ParameterError("metric", f"one of {shown}", repr(metric))
    return name


def _matrix(
    X: Any,  # noqa: ANN401 (checked below, depending on the metric)
    Y: Any,  # noqa: ANN401
    metric: str,
    as_similarity: bool,
    n_jobs: int | None,
    memory: str | int,
    progress: ProgressCallback | None,
) -> Float64Array:
    size = memory_in_bytes(memory)
    if metric == "edit":
        shape, fill = prepare_edit(X, Y, as_similarity=as_similarity)
    else:
        sides = make_pair(X, Y, size)
        measures = VECTOR_SIMILARITIES if as_similarity else VECTOR_DISTANCES
        shape, fill = sides.shape, measures[metric](sides)
    return fill_matrix(shape, fill, memory=size, n_jobs=n_jobs, progress=progress)
