"""`distances` and `similarities` of all pairs of two collections."""

from collections.abc import Collection
from typing import Any, Literal, TypeAlias

from textkin._typing import Float64Array
from textkin.distance._blocks import filled
from textkin.distance._edit import SequencesLike, edit_measure
from textkin.distance._measures import VECTOR_DISTANCES, VECTOR_SIMILARITIES
from textkin.distance._vectors import VectorsLike, pair
from textkin.run import ProgressCallback, memory_in_bytes

__all__ = ["DistanceMetric", "SimilarityMetric", "distances", "known_distance", "similarities"]

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

_OTHER_NAMES = {
    "manhattan": "l1",
    "cityblock": "l1",
    "euclidean": "l2",
    "sqeuclidean": "squared-l2",
}


def distances(
    X: VectorsLike | SequencesLike,
    Y: VectorsLike | SequencesLike | None = None,
    metric: DistanceMetric = "cosine",
    *,
    n_jobs: int | None = None,
    working_memory: str | int = "64MB",
    progress: ProgressCallback | None = None,
) -> Float64Array:
    """Return the distance of every row of `X` to every row of `Y`: smaller is nearer.

    Parameters
    ----------
    X : sparse or dense array of shape (n, d), or sequences for "edit"
        Bags or vectors, one row a document. For "edit": a list of lists of words, a list of
        strings (compared by characters), or `Tokens`.
    Y : the same with m rows, optional
        None: the rows of `X` again.
    metric : str, default="cosine"
        See Notes: "cosine", "l1" (also "manhattan", "cityblock"), "l2" (also "euclidean"),
        "squared-l2" (also "sqeuclidean"), "hellinger", "jaccard", "weighted-jaccard" or "edit".
    n_jobs : int or None, default=None
        Threads: None is one, -1 one for each core. The result has the same bits for any number.
    working_memory : str or int, default="64MB"
        How much a thread may use for a block of rows, beside the result and the copies of `X`
        and `Y` in float64. Another size may change the last bits for dense vectors.
    progress : callable, optional
        Called with (rows done, rows in all); raising from it stops the work.

    Returns
    -------
    ndarray of shape (n, m), float64
        The distances.

    Raises
    ------
    ValueError
        If columns differ, a value is NaN or infinite, or below 0 where that means nothing; if
        `metric` is unknown.

    See Also
    --------
    similarities : Larger is nearer; the inner product is there.
    edit_distance : Of one pair of sequences.

    Notes
    -----
    ==================  ==========================================  ================
    metric              distance                                    range
    ==================  ==========================================  ================
    "cosine"            1 - x.y / (||x|| ||y||)                     0 to 2
    "l1"                sum_i |x_i - y_i|                           0 to infinity
    "l2"                sqrt(sum_i (x_i - y_i)^2)                   0 to infinity
    "squared-l2"        sum_i (x_i - y_i)^2                         0 to infinity
    "hellinger"         sqrt(1 - sum_i sqrt(p_i q_i))               0 to 1
    "jaccard"           1 - |A n B| / |A u B|                       0 to 1
    "weighted-jaccard"  1 - sum_i min(x_i, y_i) / sum_i max(...)    0 to 1
    "edit"              insertions, deletions, substitutions        0 to the longer
    ==================  ==========================================  ================

    "hellinger" reads rows as distributions, p = x / sum x; "jaccard" as sets, A the columns that
    are not 0. A row without anything in it has the distance 1 from every row by "cosine" and
    "hellinger", from another such row too: it has no direction. By "jaccard",
    "weighted-jaccard" and "edit" two empty rows are equal, so 0.

    Sparse rows cost the words that pairs share; dense ones a matrix product (L1: every entry).
    Pairs that are nearly equal are computed again from differences, so small distances keep their
    digits and equal rows have 0. "l2" and "squared-l2" do not scale: where differences are below
    about 1e-162, their squares and so the distance are 0.

    References
    ----------
    Cha, "Comprehensive Survey on Distance/Similarity Measures between Probability Density
    Functions", International Journal of Mathematical Models and Methods in Applied Sciences 1,
    2007.

    Examples
    --------
    >>> distances([[2, 3, 5], [3, 7, 1]], [[0, 0, 2]]).round(4)
    array([[0.1889],
           [0.8698]])
    >>> distances([[0.5, 0.5, 0], [0, 0, 1]], metric="hellinger")
    array([[0., 1.],
           [1., 0.]])
    >>> distances(["kitten"], ["sitting", "mitten"], metric="edit")
    array([[3., 1.]])
    """
    return _matrix(X, Y, known_distance(metric), False, n_jobs, working_memory, progress)


def similarities(
    X: VectorsLike | SequencesLike,
    Y: VectorsLike | SequencesLike | None = None,
    metric: SimilarityMetric = "cosine",
    *,
    n_jobs: int | None = None,
    working_memory: str | int = "64MB",
    progress: ProgressCallback | None = None,
) -> Float64Array:
    """Return the similarity of every row of `X` to every row of `Y`: larger is nearer.

    Parameters
    ----------
    X : sparse or dense array of shape (n, d), or sequences for "edit"
        As for `distances`.
    Y : the same with m rows, optional
        None: the rows of `X` again.
    metric : str, default="cosine"
        See Notes: "inner", "cosine", "hellinger", "jaccard", "weighted-jaccard" or "edit".
    n_jobs, working_memory, progress
        As for `distances`.

    Returns
    -------
    ndarray of shape (n, m), float64
        The similarities.

    Raises
    ------
    ValueError
        As `distances`.

    See Also
    --------
    distances : Smaller is nearer; "l1" and "l2" are there.

    Notes
    -----
    ==================  ======================================  =====================
    metric              similarity                              range
    ==================  ======================================  =====================
    "inner"             x.y                                     any number
    "cosine"            x.y / (||x|| ||y||)                     -1 to 1
    "hellinger"         sum_i sqrt(p_i q_i)                     0 to 1
    "jaccard"           |A n B| / |A u B|                       0 to 1
    "weighted-jaccard"  sum_i min(x_i, y_i) / sum_i max(...)    0 to 1
    "edit"              1 - edits / length of the longer        0 to 1
    ==================  ======================================  =====================

    "hellinger" is the Bhattacharyya coefficient, 1 less the squared distance; the others are 1
    less the distance ("edit": less the distance over the longer length). A row without anything
    in it has the similarity 0 to every row by "inner", "cosine" and "hellinger"; by "jaccard",
    "weighted-jaccard" and "edit" two empty rows are equal, so 1.

    Examples
    --------
    >>> D, Q = [[2, 3, 5], [3, 7, 1]], [[0, 0, 2]]
    >>> similarities(D, Q, metric="inner").ravel()
    array([10.,  2.])
    >>> similarities(D, Q).ravel().round(4)
    array([0.8111, 0.1302])
    >>> similarities([[1, 1, 0]], [[0, 1, 1]], metric="jaccard").round(4)
    array([[0.3333]])
    """
    name = _known("similarities", metric, {*VECTOR_SIMILARITIES, "edit"}, DISTANCES_ONLY)
    return _matrix(X, Y, name, True, n_jobs, working_memory, progress)


def known_distance(metric: str) -> str:
    """Return the one name that a metric of `distances` has here; refuse others."""
    return _known("distances", metric, {*VECTOR_DISTANCES, "edit"}, SIMILARITIES_ONLY)


SIMILARITIES_ONLY = {"inner": "similarities"}
DISTANCES_ONLY = dict.fromkeys(("l1", "l2", "squared-l2"), "distances")


def _known(function: str, metric: Any, known: Collection[str], elsewhere: dict[str, str]) -> str:  # noqa: ANN401
    name = _OTHER_NAMES.get(metric, metric) if isinstance(metric, str) else metric
    if isinstance(name, str) and name in elsewhere:
        raise ValueError(f"metric={metric!r} is not one of {function}; use {elsewhere[name]}.")
    if not isinstance(name, str) or name not in known:
        shown = ", ".join(repr(choice) for choice in sorted(known))
        raise ValueError(f"metric must be one of {shown}; got {metric!r}.")
    return name


def _matrix(
    X: Any,  # noqa: ANN401 (checked below, by what the metric takes)
    Y: Any,  # noqa: ANN401
    metric: str,
    as_similarity: bool,
    n_jobs: int | None,
    working_memory: str | int,
    progress: ProgressCallback | None,
) -> Float64Array:
    memory = memory_in_bytes(working_memory)
    if metric == "edit":
        shape, fill = edit_measure(X, Y, as_similarity=as_similarity)
    else:
        sides = pair(X, Y, memory)
        measures = VECTOR_SIMILARITIES if as_similarity else VECTOR_DISTANCES
        shape, fill = sides.shape, measures[metric](sides)
    return filled(shape, fill, memory=memory, n_jobs=n_jobs, progress=progress)
