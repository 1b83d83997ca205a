"""`find_duplicates`: equal and near-duplicate documents, in one or between two collections."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from scipy import sparse

from textkin._base import (
    PROGRESS,
    BoolArray,
    Constraint,
    Float64Array,
    Int64Array,
    check_bags,
    one_of,
    real,
    takes_texts,
)
from textkin.corpus import Vectors
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.learn._documents import DocumentsLike, are_numbers, frame_index, listed, size
from textkin.learn._duplicate_groups import Duplicates, Repeats
from textkin.learn._duplicate_results import ComparedDocuments
from textkin.learn._equal_rows import (
    Groups,
    PairBuffer,
    check_one_kind,
    first_of_equals,
    has_words,
    keys_of_rows,
    keys_of_texts,
    link_pairs,
)
from textkin.learn._measure import METRIC, Measure, is_transport, make_measure
from textkin.run import ProgressCallback
from textkin.text import StopWords, text_of
from textkin.transport import PairBlock, TokenMover, WordMover
from textkin.weighting import TfIdf

__all__ = ["find_duplicates"]

DuplicateMetric: TypeAlias = Literal["text", "bag"] | str | WordMover | TokenMover

_EQUALITY = ("text", "bag")
_ONE_SIDED = ("rwmd-query", "rwmd-document")
_METRIC: Constraint = one_of(*_EQUALITY) | METRIC
_TYPICAL_RADII = {
    "cosine": "0.1",
    "hellinger": "0.3",
    "jaccard": "0.2",
    "weighted-jaccard": "0.2",
    "l2": "0.4",
    "squared-l2": "0.2",
    "l1": "0.5",
    "edit": "2",
    "wmd": "0.5",
    "rwmd": "0.5",
    "wcd": "0.25",
}


_WEIGHTED = (
    "cosine",
    "l1",
    "manhattan",
    "cityblock",
    "l2",
    "euclidean",
    "squared-l2",
    "sqeuclidean",
)


@overload
def find_duplicates(
    documents: DocumentsLike,
    radius: float | None = None,
    metric: DuplicateMetric | None = None,
    *,
    against: None = None,
    model: Any = None,  # noqa: ANN401 (a transformer of anybody's)
    vectors: Vectors = None,
    stop_words: StopWords = "smart",
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> Duplicates: ...
@overload
def find_duplicates(
    documents: DocumentsLike,
    radius: float | None = None,
    metric: DuplicateMetric | None = None,
    *,
    against: DocumentsLike,
    model: Any = None,  # noqa: ANN401 (a transformer of anybody's)
    vectors: Vectors = None,
    stop_words: StopWords = "smart",
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> Repeats: ...
def find_duplicates(
    documents: DocumentsLike,
    radius: float | None = None,
    metric: DuplicateMetric | None = None,
    *,
    against: DocumentsLike | None = None,
    model: Any = None,
    vectors: Vectors = None,
    stop_words: StopWords = "smart",
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> Duplicates | Repeats:
    """Find equal or near-duplicate documents, in one collection or between two.

    Parameters
    ----------
    documents : iterable of texts, documents or lists of words; or bags or vectors
        Texts, documents of `read`, an `Index`, lists of words, or rows of numbers.
    radius : float or None, default=None
        Largest distance of duplicates. Required for a metric; None for "text" and "bag".
    metric : str, WordMover, TokenMover or None, default=None
        Criterion. "text" compares all words in order, without case and punctuation. "bag"
        compares the words and their counts in any order, without stop words. If None, "text" for
        texts and lists of words, and "bag" (equal rows) for rows of numbers. With any other
        value, documents within `radius` are duplicates: "wmd", "rwmd", "wcd", a `WordMover` or
        `TokenMover` with its own settings, or a metric of `pairwise_distances` ("cosine",
        "jaccard", "edit", …).
    against : the same as documents, or None, default=None
        Another set, such as the training documents. If given, find the documents that duplicate
        documents of this set.
    model : transformer or None, default=None
        Transformer that makes the vectors for a metric of `pairwise_distances`, fitted to the
        documents of both sets. If None, texts are weighted by ``TfIdf(idf="smooth")``, or counted
        for "jaccard", "weighted-jaccard" and "hellinger".
    vectors : WordVectors, ndarray or None, default=None
        Word vectors for "wmd", "rwmd" and "wcd". If None, the built-in vectors.
    stop_words : str, None, path or collection of str, default="smart"
        Words of texts to ignore; "text" and "edit" use all words. An estimator has its own, and
        lists of words stay unchanged.
    n_jobs : int or None, default=None
        Number of threads. None means 1, and -1 means all cores. The result does not depend on it.
    progress : callable, optional
        Called with (documents done, total). An exception raised in it stops the work.

    Returns
    -------
    Duplicates or Repeats
        Groups of documents, in descending size. With `against`, the documents that duplicate
        documents of this set.

    Raises
    ------
    ValueError
        If a distance has no radius, or equality has one; if the radius is negative or not a
        number; if the metric is not symmetric ("rwmd-query") and `against` is None.
    TypeError
        If `documents` or `against` are not documents, or differ in kind.

    See Also
    --------
    textkin.transport.WordMover.pairwise_below : Stream of the pairs.

    Notes
    -----
    The search is exact: it finds all pairs, although it never computes most distances. Hashes
    find equal documents, a comparison word by word confirms them, and only the first of them is
    compared with other documents. Other pairs arrive in blocks; memory holds a few numbers per
    document, and up to 33 million pairs. For transport metrics, bounds exclude most pairs.

    Chains of pairs link the documents of a group (single linkage). The representative of a group
    is the document with the most neighbors in the group; ties go to the smallest sum of
    distances, then to the first document. Each member has its distance from the representative.
    The distance of two members can exceed the radius, see `DuplicateGroup.diameter`.

    Documents without words have no duplicates and are listed in ``empty``. With "cosine" and
    "hellinger", this holds for rows of zeros; with other metrics, a row of zeros is a valid
    vector.

    Examples
    --------
    >>> texts = ["Cats purr on the mat.", "Stocks fell", "On the mat, cats purr!", "Stocks FELL"]
    >>> [[member.text for member in group] for group in find_duplicates(texts)]
    [['Stocks fell', 'Stocks FELL']]

    The same words in any order, without stop words:

    >>> found = find_duplicates(texts, metric="bag")
    >>> print(found)
    Duplicates: 2 groups, 2 of 4 documents to remove (the same words)
    Group 0, 2 documents
      0  representative  Cats purr on the mat.
      2  same words      On the mat, cats purr!
    Group 1, 2 documents
      1  representative  Stocks fell
      3  same text       Stocks FELL
    >>> [texts[at] for at in found.kept]
    ['Cats purr on the mat.', 'Stocks fell']

    Near duplicates, with the words that differ:

    >>> found = find_duplicates(["Cats purr", "Kittens purr", "Stocks fell"], 3.0, metric="wmd")
    >>> found[0][1].text, found[0][1].reason
    ('Kittens purr', 'wmd 2.3 <= 3')
    >>> [(move.source, move.target) for move in found[0].explain(1).moves if move.cost]
    [('kittens', 'cats')]

    Test documents that duplicate training documents:

    >>> find_duplicates(["stocks fell", "rain"], against=texts).to_records()[0]["against"]
    1
    """
    if metric is not None:
        _METRIC.check("metric", metric)
    PROGRESS.check("progress", progress)
    if metric is not None:
        _check_radius(radius, metric)
        if against is None:
            _check_symmetric(metric)
    own = listed(documents, "documents")
    other = [] if against is None else listed(against, "against")
    n, everything = size(own), _concatenate(own, other)
    if metric is None:
        metric = "bag" if are_numbers(everything) else "text"
        _check_radius(radius, metric)
    if not isinstance(metric, str) or metric not in _EQUALITY:
        if model is None and metric in _WEIGHTED and not are_numbers(everything):
            model = TfIdf(idf="smooth")  # otherwise, a word of all documents has weight 0
        measure = make_measure(
            metric, model=model, vectors=vectors, stop_words=stop_words, n_jobs=n_jobs
        )
        words = getattr(metric, "stop_words", stop_words)
        if _has_no_words(everything, metric, model, stop_words):
            keys, empty = [b""] * size(everything), np.ones(size(everything), dtype=bool)
        else:
            measure.fit(everything)
            keys, empty = measure.keys(), measure.empty
        compared = ComparedDocuments(
            everything,
            n,
            _name_of(metric),
            float(radius),  # type: ignore[arg-type] # checked above
            measure,
            words,
            frame_index(documents),
        )
    else:
        _check_unused(metric, model=model, vectors=vectors)
        keys = _make_keys(everything, metric, stop_words, n_jobs, progress)
        empty = np.array([not key for key in keys], dtype=bool)
        compared = ComparedDocuments(
            everything, n, metric, None, None, stop_words, frame_index(documents)
        )
    if against is None:
        return _find_groups(compared, keys, empty, progress)
    return _find_repeats(compared, keys, empty, progress)


# ------------------------------------------------------------------ one set


def _find_groups(
    compared: ComparedDocuments,
    keys: list[bytes],
    empty: BoolArray,
    progress: ProgressCallback | None,
) -> Duplicates:
    firsts = _first_equals(keys, empty)
    kept = PairBuffer()
    positions = np.arange(len(firsts), dtype=np.int64)
    copies = np.flatnonzero(firsts != positions)
    kept.add(PairBlock(firsts[copies], copies.astype(np.int64), np.zeros(len(copies))))
    distinct = positions[(firsts == positions) & ~empty]
    groups = link_pairs(firsts, _near_pairs(compared, distinct, None, progress), kept)
    pairs = kept.all()
    distances = _distances_to_representatives(compared.measure, groups, firsts, pairs)
    nothing = np.flatnonzero(empty).astype(np.int64)
    return Duplicates(compared, groups, distances, nothing, pairs)


def _near_pairs(
    compared: ComparedDocuments,
    rows: Int64Array,
    columns: Int64Array | None,
    progress: ProgressCallback | None,
) -> Iterator[PairBlock]:
    """Yield blocks of pairs of distinct documents within the radius, if there is one."""
    if compared.measure is None or compared.radius is None or not len(rows):
        return
    yield from compared.measure.below_among(compared.radius, rows, columns, progress=progress)


def _distances_to_representatives(
    measure: Measure | None, groups: Groups, firsts: Int64Array, pairs: PairBlock | None
) -> Float64Array:
    """Return each document's distance from the representative of its group, or 0."""
    distances = np.zeros(len(firsts))
    if measure is None:
        return distances
    known = firsts != np.arange(len(firsts))  # copies get the distance of their first document
    known[groups.representatives] = True
    if pairs is not None:
        chosen = np.zeros(len(firsts), dtype=bool)
        chosen[groups.representatives] = True
        for ends, others in ((pairs.rows, pairs.columns), (pairs.columns, pairs.rows)):
            at = chosen[ends]
            distances[others[at]], known[others[at]] = pairs.distances[at], True
    for group in np.unique(groups.labels[~known & (groups.labels >= 0)]).tolist():
        members = groups.members(group)
        missing = members[~known[members]]
        distances[missing] = measure.between(groups.representatives[[group]], missing)[0]
    return distances[firsts]


# ------------------------------------------------------------------ between two sets


def _find_repeats(
    compared: ComparedDocuments,
    keys: list[bytes],
    empty: BoolArray,
    progress: ProgressCallback | None,
) -> Repeats:
    n = compared.n_documents
    firsts = np.concatenate(
        [_first_equals(keys[:n], empty[:n]), n + _first_equals(keys[n:], empty[n:])]
    )
    positions = np.arange(len(firsts), dtype=np.int64)
    distinct = positions[(firsts == positions) & ~empty]
    rows, columns = distinct[distinct < n], distinct[distinct >= n]
    blocks: Iterable[PairBlock] = (
        _near_pairs(compared, rows, columns, progress)
        if compared.measure is not None
        else [_equal_pairs(keys, rows, columns)]
    )
    copies = np.bincount(firsts, minlength=len(firsts))
    kept = PairBuffer()
    nearest = np.full(n, -1, dtype=np.int64)
    distances, counts = np.zeros(n), np.zeros(n, dtype=np.int64)
    for block in blocks:
        kept.add(PairBlock(block.rows, block.columns - n, block.distances))
        counts += np.bincount(block.rows, copies[block.columns], n).astype(np.int64)
        order = np.lexsort((block.columns, block.distances, block.rows))
        # All pairs of a row are in one block.
        found, at = np.unique(block.rows[order], return_index=True)
        nearest[found] = block.columns[order][at]
        distances[found] = block.distances[order][at]
    of = firsts[:n]
    nothing = np.flatnonzero(empty[:n]).astype(np.int64)
    return Repeats(compared, firsts, nearest[of], distances[of], counts[of], nothing, kept.all())


def _equal_pairs(keys: list[bytes], rows: Int64Array, columns: Int64Array) -> PairBlock:
    """Return the pairs of documents at `rows` and `columns` that have the same key."""
    there = {keys[column]: column for column in columns.tolist()}
    pairs = [(row, there[keys[row]]) for row in rows.tolist() if keys[row] in there]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return PairBlock(first, second, np.zeros(len(pairs)))


# ------------------------------------------------------------------ parameters


def _name_of(metric: DuplicateMetric) -> str:
    """Return the name of a metric, or the class name of an estimator passed as metric."""
    return metric if isinstance(metric, str) else type(metric).__name__


def _check_radius(radius: object, metric: DuplicateMetric) -> None:
    """Raise if a distance metric lacks a valid radius, or a search for equality has a radius."""
    if isinstance(metric, str) and metric in _EQUALITY:
        if radius is not None:
            raise ParameterError(
                "metric",
                message=f"metric {metric!r} finds equal documents and takes no radius; got "
                f"{radius!r}.",
                hint="For near duplicates choose a metric such as `metric='cosine'` with "
                "`radius=0.1`.",
            )
        return
    if radius is None:
        usual = _TYPICAL_RADII.get(_name_of(metric))
        such = f", such as {usual}" if usual else ""
        raise ParameterError(
            "metric",
            message=f"metric {_name_of(metric)!r} needs a radius, the largest distance of "
            f"duplicates{such};",
            hint="lower it if groups contain unrelated documents. For equal documents choose "
            "`metric='text'`.",
        )
    real(0).check("radius", radius)


def _check_symmetric(metric: DuplicateMetric) -> None:
    """Raise ValueError if swapping the two documents can change the metric."""
    name = metric if isinstance(metric, str) else metric.metric
    if name in _ONE_SIDED:
        raise ParameterError(
            "metric",
            "symmetric to compare documents of one set",
            f"{name!r}, which depends on the order of the two documents",
            "Pass `metric='rwmd'`, `metric='wmd'`, or another set as `against`.",
        )


def _check_unused(metric: str, **given: object) -> None:
    """Raise ValueError for arguments that have no effect in a search for equal documents."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(
                f"{name} must be None with metric={metric!r}; it is only for near duplicates."
            )


# ------------------------------------------------------------------ documents


def _first_equals(keys: list[bytes], empty: BoolArray) -> Int64Array:
    """Return the position of each document's first equal; empty documents equal no other."""
    return first_of_equals(
        [b"" if nothing else key for key, nothing in zip(keys, empty.tolist(), strict=True)]
    )


def _make_keys(
    documents: Any,  # noqa: ANN401 (what `listed` returned)
    metric: str,
    stop_words: StopWords,
    n_jobs: int | None,
    progress: ProgressCallback | None,
) -> list[bytes]:
    if are_numbers(documents):
        if metric == "text":
            raise ParameterTypeError(
                "documents",
                "texts or lists of words for metric='text'",
                "rows of numbers",
                "Pass `metric='bag'`.",
            )
        rows = check_bags(documents)
        if documents.dtype.kind in "biu":  # float32 cannot distinguish integers above 2^24
            rows = sparse.csr_array(documents)
            rows.sum_duplicates()
            rows.eliminate_zeros()
        return keys_of_rows(rows)
    return keys_of_texts(
        documents,
        ordered=metric == "text",
        stop_words=None if metric == "text" else stop_words,
        n_jobs=n_jobs,
        progress=progress,
    )


def _concatenate(own: Any, other: Any) -> Any:  # noqa: ANN401 (what `listed` returned)
    """Return the documents of both collections as one list or matrix.

    Raises
    ------
    TypeError or ValueError
        If the kinds or the columns of the documents differ.
    """
    for name, given in (("documents", own), ("against", other)):
        if not are_numbers(given):
            check_one_kind(given, name)
        elif given.ndim != 2:
            raise ValueError(
                f"{name} must have one row per document; got an array of shape {given.shape}."
            )
    if not size(other) and isinstance(other, list):
        return own
    if not size(own) and isinstance(own, list):
        return other
    kinds = [_kind(given) for given in (own, other)]
    if kinds[0] != kinds[1]:
        raise ParameterTypeError("against", f"{kinds[0]}, like documents", str(kinds[1]))
    if isinstance(own, list):
        return own + other
    if own.shape[1] != other.shape[1]:
        raise ValueError(
            f"against must have the same columns as documents, {own.shape[1]}; got "
            f"{other.shape[1]}. Count the words of both with one vocabulary."
        )
    if sparse.issparse(own) or sparse.issparse(other):
        return sparse.vstack([sparse.csr_array(own), sparse.csr_array(other)], format="csr")
    return np.vstack([own, other])


def _kind(documents: Any) -> str:  # noqa: ANN401
    if are_numbers(documents):
        return "rows of numbers"
    return "texts" if isinstance(text_of(documents[0]), str) else "lists of words"


def _has_no_words(
    documents: Any,  # noqa: ANN401 (what `listed` returned)
    metric: DuplicateMetric,
    model: Any,  # noqa: ANN401 (a transformer of anybody's)
    stop_words: StopWords,
) -> bool:
    """Return True if words must be counted, but no document has any."""
    if not size(documents):
        return True
    if are_numbers(documents) or is_transport(metric) or metric == "edit" or takes_texts(model):
        return False
    return not has_words(documents, stop_words)
