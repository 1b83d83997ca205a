"""Late interaction: similarities that match each token to the nearest token of the other side."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from textkin import _core
from textkin._base import Float32Array, Float64Array, one_of, real
from textkin.corpus import (
    DocumentRows,
    TokenDocuments,
    TokenStack,
    refuse_empty,
    stack_tokens,
    totals_of,
)
from textkin.exceptions import ParameterError
from textkin.run import ProgressCallback, effective_jobs

__all__ = ["BertScore", "bert_score", "max_sim"]

_MEMORY = 256 << 20  # memory limit for tables in addition to the result, in bytes
_BATCH = 64  # queries between two calls of the progress callback
_BASELINE = real(-1, 1)


def max_sim(
    X: TokenDocuments,
    Y: TokenDocuments | None = None,
    *,
    unit: bool = True,
    n_jobs: int | None = None,
    progress: ProgressCallback | None = None,
) -> Float64Array:
    r"""Compute the matrix of MaxSim scores (ColBERT's late interaction) of queries and documents.

    Parameters
    ----------
    X : iterable of arrays of shape (n_tokens, d), or of TokenVectors
        n queries. Token weights are used if present.
    Y : the same, or None
        m documents. If None, the documents of `X`. Token weights are ignored, except that tokens
        of weight 0 are omitted.
    unit : bool, default=True
        L2-normalize all vectors, so that products are cosines, as in ColBERT. If False, the
        products of the unscaled vectors are used. They do not correspond to a distance, so they
        are computed pair by pair, and there is no search by them.
    n_jobs : int or None, default=None
        Number of threads; None means 1, and -1 means all cores. It does not change results.
        Products of unscaled vectors use one thread.
    progress : callable, optional
        Function that is called with (queries done, number of queries).

    Returns
    -------
    ndarray of shape (n, m), float64
        Similarities; larger is more similar. The matrix is not symmetric.

    Raises
    ------
    EmptyDocumentError
        If a query or a document has no tokens of positive weight.

    See Also
    --------
    TokenMover.search_max_sim : Documents of a corpus with the largest MaxSim.

    Notes
    -----
    .. math:: s(q, d) = \sum_i w_i \max_j q_i \cdot d_j

    For unit vectors this is :math:`W (1 - l)` with the sum W of the weights and the one-sided
    relaxation l of the transport from q to d under the cosine cost. It is computed in this way
    (within 1e-6 W).

    References
    ----------
    Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized Late
    Interaction over BERT", SIGIR 2020, equation 3.

    Examples
    --------
    >>> from textkin.transport import max_sim
    >>> max_sim([[[1, 0], [0, 2]]], [[[1, 0], [0, 1]], [[3, 4]]]).round(6)
    array([[2. , 1.4]])
    >>> max_sim([[[1, 0], [0, 2]]], [[[1, 0], [0, 1]], [[3, 4]]], unit=False)
    array([[ 3., 11.]])
    """
    one_of(True, False).check("unit", unit)
    threads = effective_jobs(n_jobs)
    first = stack_tokens(X, "X", unit=unit)
    second = first if Y is None else _like(first, Y, "Y", unit)
    table, rows, columns = _documents(first, second, ("X", "X" if Y is None else "Y"))
    if not unit:
        return _products(first, second, progress)
    others = columns.documents()
    parts = [rows] if progress is None else list(_parts(rows))
    found, done = [np.empty((0, len(columns)))], 0
    for part in parts:
        queries = part.documents()
        found.append(
            _core.relaxed_matrix(table, queries, others, "cosine", "query", _MEMORY, threads)
        )
        done += len(part)
        if progress is not None:
            progress(done, len(rows))
    bounds = np.concatenate(found)
    return totals_of(first.offsets, first.weights)[:, np.newaxis] * (1 - bounds)


@dataclass(frozen=True, slots=True, eq=False)
class BertScore:
    """BERTScore of each candidate with its reference: arrays of precision, recall, and F1.

    Attributes
    ----------
    precision : ndarray of shape (n,), float64
        Mean similarity of the tokens of each candidate to their best matches in its reference.
    recall : ndarray of shape (n,), float64
        Mean similarity of the tokens of each reference to their best matches in its candidate.
    f1 : ndarray of shape (n,), float64
        Harmonic mean of precision and recall; 0 if they sum to 0.
    """

    precision: Float64Array
    recall: Float64Array
    f1: Float64Array

    def __len__(self) -> int:
        return len(self.f1)


def bert_score(
    candidates: TokenDocuments,
    references: TokenDocuments,
    *,
    baseline: float | tuple[float, float, float] = 0.0,
    progress: ProgressCallback | None = None,
) -> BertScore:
    r"""Compute BERTScore of each candidate with its reference, from token vectors.

    Parameters
    ----------
    candidates, references : iterable of arrays of shape (n_tokens, d), or of TokenVectors
        n documents each. Weights, such as the result of `TokenIdf`, weight the means; without
        weights, all tokens count equally. A token of weight 0 is omitted, also as a match.
    baseline : float or (float, float, float), default=0.0
        Score of unrelated texts, for precision, recall, and F1, or for all three; below 1. Scores
        become (s - b) / (1 - b).
    progress : callable, optional
        Function that is called with (pairs done, number of pairs).

    Returns
    -------
    BertScore
        ``precision``, ``recall``, and ``f1``, each of shape (n,).

    Raises
    ------
    EmptyDocumentError
        If a document has no tokens of positive weight.

    See Also
    --------
    TokenMover : Exact distance that respects the weights of both sides.

    Notes
    -----
    With L2-normalized vectors x of the reference and y of the candidate, and weights w,

    .. math:: R = \frac{\sum_i w_i \max_j x_i \cdot y_j}{\sum_i w_i}, \quad
        P = \frac{\sum_j w_j \max_i x_i \cdot y_j}{\sum_j w_j}, \quad F = \frac{2PR}{P + R}.

    1 - R and 1 - P are the two one-sided relaxations of the transport under the cosine cost:
    :math:`1 - \min(P, R)` is at most the exact distance of `TokenMover`.

    References
    ----------
    Zhang et al., "BERTScore: Evaluating Text Generation with BERT", ICLR 2020.

    Examples
    --------
    >>> from textkin.transport import bert_score
    >>> found = bert_score([[[3, 4]]], [[[1, 0], [0, 1]]])
    >>> found.precision.round(6), found.recall.round(6), found.f1.round(6)
    (array([0.8]), array([0.7]), array([0.746667]))
    """
    levels = baseline if isinstance(baseline, tuple | list) else (baseline,) * 3
    if len(levels) != 3:
        raise ParameterError("baseline", "a number or a tuple of three numbers", str(len(levels)))
    for level in levels:
        _BASELINE.check("baseline", level)
        if level == 1:
            raise ParameterError("baseline", "below 1", "1")
    first = stack_tokens(candidates, "candidates", unit=True)
    second = _like(first, references, "references", unit=True)
    if len(first) != len(second):
        raise ValueError(
            "candidates and references must have the same number of documents; got "
            f"{len(first)} and {len(second)}."
        )
    table, _, _ = _documents(first, second, ("candidates", "references"))
    precision, recall = np.empty(len(first)), np.empty(len(first))
    for row in range(len(first)):
        a = first.part(row).rows(len(second.table) + int(first.offsets[row]), len(table))
        b = second.part(row).rows(int(second.offsets[row]), len(table))
        found = _core.bound_matrices(table, a.documents(), b.documents(), "cosine", 0, 1, None)
        _, precision[row], recall[row] = 1 - found[:, 0, 0]
        if progress is not None:
            progress(row + 1, len(first))
    both = precision + recall
    f1 = np.where(both == 0, 0.0, 2 * precision * recall / np.where(both == 0, 1.0, both))
    return BertScore(
        *((s - b) / (1 - b) for s, b in zip((precision, recall, f1), levels, strict=True))
    )


def _like(first: TokenStack, documents: TokenDocuments, name: str, unit: bool) -> TokenStack:
    """Stack the tokens of documents; raise if their dimension differs from `first`'s."""
    dimension = first.table.shape[1] if len(first.table) else None
    return stack_tokens(documents, name, unit=unit, dimension=dimension)


def _documents(
    first: TokenStack, second: TokenStack, names: tuple[str, str]
) -> tuple[Float32Array, DocumentRows, DocumentRows]:
    """Concatenate the vectors of two stacks; return the table, and each stack as rows over it."""
    table = second.followed_by(first) if second is not first else first.table
    begin = len(second.table) if second is not first else 0
    rows = first.rows(begin, len(table))
    columns = second.rows(0, len(table))
    refuse_empty(rows.documents(), names[0], choice=False)
    refuse_empty(columns.documents(), names[1], choice=False)
    return table, rows, columns


def _parts(rows: DocumentRows) -> Iterator[DocumentRows]:
    return (rows[begin : begin + _BATCH] for begin in range(0, len(rows), _BATCH))


def _products(
    first: TokenStack, second: TokenStack, progress: ProgressCallback | None
) -> Float64Array:
    """Compute the MaxSim matrix of vectors that are not normalized, in float64."""
    found = np.empty((len(first), len(second)))
    others = [second.part(column) for column in range(len(second))]
    points = [other.table[other.weights > 0].astype(np.float64) for other in others]
    for row in range(len(first)):
        ours = first.part(row)
        vectors = ours.table.astype(np.float64)
        for column, theirs in enumerate(points):
            with np.errstate(over="ignore", invalid="ignore"):  # overflow raises below
                found[row, column] = ours.weights @ (vectors @ theirs.T).max(axis=1)
            if not np.isfinite(found[row, column]):
                raise ValueError(
                    f"MaxSim of query {row} and document {column} must be finite; it overflows. "
                    "Scale the weights or vectors down."
                )
        if progress is not None:
            progress(row + 1, len(first))
    return found
