"""Find documents that are the same, or nearly: in one set, or between two."""

from collections.abc import Iterable, Iterator
from typing import Any, overload

import numpy as np
from scipy import sparse

from textkin._typing import BoolArray, Float64Array, Int64Array
from textkin.learn._choosing import measure_of
from textkin.learn._compared import Compared
from textkin.learn._documents import DocumentsLike, are_numbers, listed, size
from textkin.learn._duplicate_groups import Duplicates
from textkin.learn._duplicates_asked import (
    EQUAL,
    By,
    check_by,
    check_threshold,
    name_of,
    refuse,
    refuse_one_sided,
)
from textkin.learn._grouping import Groups, KeptPairs, joined
from textkin.learn._hashing import (
    first_of_equals,
    has_words,
    keys_of_rows,
    keys_of_texts,
    refuse_mixed,
)
from textkin.learn._measures import Measure, is_transport
from textkin.learn._repeats import Repeats
from textkin.learn._vectors import takes_texts
from textkin.run import ProgressCallback
from textkin.text._stop_words import StopWords
from textkin.text._tokenise import text_of
from textkin.transport import PairBlock
from textkin.transport._search import PROGRESS
from textkin.vectors._documents import Vectors
from textkin.weighting import TfIdf
from textkin.weighting._rows import checked_bags

__all__ = ["find_duplicates"]

_WEIGHED = (
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
    threshold: float | None = None,
    by: By = "bag",
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
    threshold: float | None = None,
    by: By = "bag",
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
    threshold: float | None = None,
    by: By = "bag",
    *,
    against: DocumentsLike | None = None,
    model: Any = None,
    vectors: Vectors = None,
    stop_words: StopWords = "smart",
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> Duplicates | Repeats:
    """Find documents that are the same, or nearly: in one set, or between two.

    Parameters
    ----------
    documents : iterable of texts, documents or lists of words; or bags or vectors
        Texts, documents as `read` gives them, an `Index`, lists of words, or rows of numbers.
    threshold : float or None, default=None
        How far apart duplicates may be, for a metric; none for "text" and "bag".
    by : str, WordMover or TokenMover, default="bag"
        What is compared. "text": the words in their order, whatever stands between them, and
        whatever their case. "bag": the words in any order, each as often, stop words left out.
        Otherwise documents are duplicates that are at most `threshold` apart: by "wmd", "rwmd" or
        "wcd", by a `WordMover` or `TokenMover` with settings of its own, or by a metric of
        `distances` ("cosine", "jaccard", "edit", …).
    against : the same as documents, or None, default=None
        Another set, such as the training documents: tells which documents repeat some of it.
    model : transformer or None, default=None
        Makes the vectors that a metric of `distances` compares; without one, texts are weighed by
        ``TfIdf(idf="smooth")`` (or stay counts for "jaccard", "weighted-jaccard" and
        "hellinger"). It is fitted to all documents, of both sets.
    vectors : WordVectors, ndarray or None, default=None
        Of words, for "wmd", "rwmd" and "wcd"; None takes the built-in ones.
    stop_words : str, None, path or collection of str, default="smart"
        Words of texts that do not count; all words count by "text" and "edit". An estimator has
        its own, and lists of words stay as they are.
    n_jobs : int or None, default=None
        Threads: None is one, -1 one for each core. The answer is the same.
    progress : callable, optional
        Called with (documents done, documents in all); raising from it stops the work.

    Returns
    -------
    Duplicates or Repeats
        Groups of documents, the largest first; with `against`, the documents that repeat some of
        it.

    Raises
    ------
    ValueError
        If a metric has no threshold, or equality has one; if the threshold is below 0 or no
        number; if the metric is one-sided ("rwmd-query") in one set.
    TypeError
        If `documents` or `against` are no documents, or are of different kinds.

    See Also
    --------
    textkin.transport.WordMover.pairwise_below : The pairs alone, as a stream.

    Notes
    -----
    Nothing is approximate: all pairs are searched, though most are never compared. Documents that
    are equal are found by their hashes and confirmed word by word, and only the first of them is
    compared with others. Other pairs come block by block; what is held is a few numbers a
    document, and up to 33 million pairs. By transport, bounds remove most pairs.

    A group is what a chain of pairs links (single linkage). Its representative is the document
    that the most of the group are near to, of equal ones the first; each member says how far it
    is from it. Two members may be farther apart than the threshold, see
    `DuplicateGroup.diameter`.

    A document without words is a duplicate of none: it is told under ``empty``. By "cosine" and
    "hellinger" that is so for a row of zeros; by other metrics of numbers a zero is a place like
    others.

    Examples
    --------
    >>> texts = ["Cats purr on the mat.", "Stocks fell", "On the mat, cats purr!", "Stocks FELL"]
    >>> found = find_duplicates(texts)
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

    Near duplicates, by the words that move:

    >>> found = find_duplicates(["Cats purr", "Kittens purr", "Stocks fell"], 3.0, by="wmd")
    >>> found[0][1].text, found[0][1].reason
    ('Kittens purr', 'wmd 2.3 <= 3')
    >>> [(move.source, move.target) for move in found[0].explain(1).moves if move.cost]
    [('kittens', 'cats')]

    Test documents that stand in the training set:

    >>> find_duplicates(["stocks fell", "rain"], against=texts).to_records()[0]["against"]
    1
    """
    check_by(by)
    PROGRESS.check("progress", progress)
    check_threshold(threshold, by)
    if against is None:
        refuse_one_sided(by)
    own = listed(documents, "documents")
    other = [] if against is None else listed(against, "against")
    n, everything = size(own), _together(own, other)
    if not isinstance(by, str) or by not in EQUAL:
        if model is None and by in _WEIGHED and not are_numbers(everything):
            model = TfIdf(idf="smooth")  # else a word of all documents would weigh nothing
        measure = measure_of(by, model=model, vectors=vectors, stop_words=stop_words, n_jobs=n_jobs)
        words = getattr(by, "stop_words", stop_words)
        if _has_nothing(everything, by, model, stop_words):
            keys, empty = [b""] * size(everything), np.ones(size(everything), dtype=bool)
        else:
            measure.fit(everything)
            keys, empty = measure.keys(), measure.empty
        compared = Compared(everything, n, name_of(by), float(threshold), measure, words)  # type: ignore[arg-type]
    else:
        refuse(by, model=model, vectors=vectors)
        keys = _equal_keys(everything, by, stop_words, n_jobs, progress)
        empty = np.array([not key for key in keys], dtype=bool)
        compared = Compared(everything, n, by, None, None, stop_words)
    if against is None:
        return _groups(compared, keys, empty, progress)
    return _repeats(compared, keys, empty, progress)


# ------------------------------------------------------------------ one set


def _groups(
    compared: Compared,
    keys: list[bytes],
    empty: BoolArray,
    progress: ProgressCallback | None,
) -> Duplicates:
    firsts = _firsts(keys, empty)
    kept = KeptPairs()
    positions = np.arange(len(firsts), dtype=np.int64)
    copies = np.flatnonzero(firsts != positions)
    kept.add(PairBlock(firsts[copies], copies.astype(np.int64), np.zeros(len(copies))))
    asked = positions[(firsts == positions) & ~empty]
    groups = joined(firsts, _near(compared, asked, None, progress), kept)
    pairs = kept.all()
    distances = _from_representatives(compared.measure, groups, firsts, pairs)
    nothing = np.flatnonzero(empty).astype(np.int64)
    return Duplicates(compared, groups, distances, nothing, pairs)


def _near(
    compared: Compared,
    rows: Int64Array,
    columns: Int64Array | None,
    progress: ProgressCallback | None,
) -> Iterator[PairBlock]:
    """Stream the near pairs of documents that differ; none where equality is asked for."""
    if compared.measure is None or compared.threshold is None or not len(rows):
        return
    yield from compared.measure.below_among(compared.threshold, rows, columns, progress=progress)


def _from_representatives(
    measure: Measure | None, groups: Groups, firsts: Int64Array, pairs: PairBlock | None
) -> Float64Array:
    """Return how far each document is from the representative of its group; 0 outside of groups."""
    distances = np.zeros(len(firsts))
    if measure is None:
        return distances
    known = firsts != np.arange(len(firsts))  # those get what their firsts have
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


def _repeats(
    compared: Compared,
    keys: list[bytes],
    empty: BoolArray,
    progress: ProgressCallback | None,
) -> Repeats:
    n = compared.n_documents
    firsts = np.concatenate([_firsts(keys[:n], empty[:n]), n + _firsts(keys[n:], empty[n:])])
    positions = np.arange(len(firsts), dtype=np.int64)
    asked = positions[(firsts == positions) & ~empty]
    rows, columns = asked[asked < n], asked[asked >= n]
    blocks: Iterable[PairBlock] = (
        _near(compared, rows, columns, progress)
        if compared.measure is not None
        else [_same(keys, rows, columns)]
    )
    copies = np.bincount(firsts, minlength=len(firsts))
    kept = KeptPairs()
    nearest = np.full(n, -1, dtype=np.int64)
    distances, counts = np.zeros(n), np.zeros(n, dtype=np.int64)
    for block in blocks:
        kept.add(PairBlock(block.rows, block.columns - n, block.distances))
        counts += np.bincount(block.rows, copies[block.columns], n).astype(np.int64)
        order = np.lexsort((block.columns, block.distances, block.rows))
        found, at = np.unique(block.rows[order], return_index=True)  # a row is in one block
        nearest[found] = block.columns[order][at]
        distances[found] = block.distances[order][at]
    of = firsts[:n]
    nothing = np.flatnonzero(empty[:n]).astype(np.int64)
    return Repeats(compared, firsts, nearest[of], distances[of], counts[of], nothing, kept.all())


def _same(keys: list[bytes], rows: Int64Array, columns: Int64Array) -> PairBlock:
    """Return the pairs of documents with the same key."""
    there = {keys[column]: column for column in columns.tolist()}
    pairs = [(row, there[keys[row]]) for row in rows.tolist() if keys[row] in there]
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return PairBlock(first, second, np.zeros(len(pairs)))


# ------------------------------------------------------------------ what was given


def _firsts(keys: list[bytes], empty: BoolArray) -> Int64Array:
    """Return the first of the equals of each document; an empty one equals none."""
    return first_of_equals(
        [b"" if nothing else key for key, nothing in zip(keys, empty.tolist(), strict=True)]
    )


def _equal_keys(
    documents: Any,  # noqa: ANN401 (what `listed` returned)
    by: str,
    stop_words: StopWords,
    n_jobs: int | None,
    progress: ProgressCallback | None,
) -> list[bytes]:
    if are_numbers(documents):
        if by == "text":
            raise TypeError(
                "by='text' compares texts or lists of words; got rows of numbers: choose by='bag'."
            )
        return keys_of_rows(checked_bags(documents))
    return keys_of_texts(
        documents,
        ordered=by == "text",
        stop_words=None if by == "text" else stop_words,
        n_jobs=n_jobs,
        progress=progress,
    )


def _together(own: Any, other: Any) -> Any:  # noqa: ANN401 (what `listed` returned)
    """Return the documents of both sets as one."""
    for name, given in (("documents", own), ("against", other)):
        if not are_numbers(given):
            refuse_mixed(given, name)
        elif given.ndim != 2:
            raise ValueError(
                f"{name} must have one row a document; got an array of shape {given.shape}."
            )
    if not size(other) and isinstance(other, list):
        return own
    if not size(own) and isinstance(own, list):
        return other
    kinds = [_kind(given) for given in (own, other)]
    if kinds[0] != kinds[1]:
        raise TypeError(f"against must be {kinds[0]}, as documents are; got {kinds[1]}.")
    if isinstance(own, list):
        return own + other
    if own.shape[1] != other.shape[1]:
        raise ValueError(
            f"against must have the columns of documents, {own.shape[1]}; got {other.shape[1]}. "
            "Count the words of both with one vocabulary."
        )
    if sparse.issparse(own) or sparse.issparse(other):
        return sparse.vstack([sparse.csr_array(own), sparse.csr_array(other)], format="csr")
    return np.vstack([own, other])


def _kind(documents: Any) -> str:  # noqa: ANN401
    if are_numbers(documents):
        return "rows of numbers"
    return "texts" if isinstance(text_of(documents[0]), str) else "lists of words"


def _has_nothing(documents: Any, by: By, model: Any, stop_words: StopWords) -> bool:  # noqa: ANN401
    """Tell whether there is no word to learn, where words are learnt: no document has any."""
    if not size(documents):
        return True
    if are_numbers(documents) or is_transport(by) or by == "edit" or takes_texts(model):
        return False
    return not has_words(documents, stop_words)
