"""Late interaction: similarities in which each token meets the nearest one of the other side."""

from dataclasses import dataclass

import numpy as np

from textkin import _core
from textkin._typing import Float32Array, Float64Array
from textkin._validation import one_of, real
from textkin.run import effective_jobs
from textkin.transport._token_stack import Stack, refuse_empty, stacked, totals_of
from textkin.transport._token_vectors import TokenDocuments

__all__ = ["BertScore", "bert_score", "max_sim"]

_MEMORY = 256 << 20  # bytes that tables may take, beside the result
_BASELINE = real(-1, 1)


def max_sim(
    X: TokenDocuments,
    Y: TokenDocuments | None = None,
    *,
    unit: bool = True,
    n_jobs: int | None = None,
) -> Float64Array:
    r"""Return MaxSim, the late interaction of ColBERT, between all queries and all documents.

    Parameters
    ----------
    X : iterable of arrays of shape (n_tokens, d), or of TokenVectors
        n queries. Their weights count, if they have any.
    Y : the same, or None
        m documents; None: those of `X`. Their weights do not count, but a token that weighs 0 is
        not there.
    unit : bool, default=True
        Bring all vectors to length one, so that products are cosines, as ColBERT has them. False
        takes the products of the vectors as they are: no distance stands behind these, so they
        are computed pair by pair, and there is no search by them.
    n_jobs : int or None, default=None
        Threads: None is one, -1 all cores. They never change results; products of raw vectors
        use one.

    Returns
    -------
    ndarray of shape (n, m), float64
        Larger is nearer. Not symmetric.

    Raises
    ------
    EmptyDocumentError
        If a query or a document has no tokens, or only such as weigh nothing.

    See Also
    --------
    TokenMover.search_max_sim : The best documents of many.

    Notes
    -----
    .. math:: s(q, d) = \sum_i w_i \max_j q_i \cdot d_j

    For vectors of length one this is :math:`W (1 - l)` with the sum W of the weights and the
    one-sided relaxation l of the transport from q to d under the cosine cost, which is how it is
    computed (within 1e-6 W).

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
    first = stacked(X, "X", unit=unit)
    second = first if Y is None else _like(first, Y, "Y", unit)
    table, rows, columns = _documents(first, second, ("X", "X" if Y is None else "Y"))
    if not unit:
        return _products(first, second)
    bounds = _core.relaxed_matrix(table, rows, columns, "cosine", "query", _MEMORY, threads)
    return totals_of(first.offsets, first.weights)[:, np.newaxis] * (1 - bounds)


@dataclass(frozen=True, slots=True, eq=False)
class BertScore:
    """BERTScore of pairs of documents.

    Attributes
    ----------
    precision : ndarray of shape (n,), float64
        How well the tokens of each candidate are met in its reference.
    recall : ndarray of shape (n,), float64
        How well the tokens of each reference are met in its candidate.
    f1 : ndarray of shape (n,), float64
        Their harmonic mean; 0 where they sum to 0.
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
) -> BertScore:
    r"""Return BERTScore of each candidate beside its reference, from token vectors of any encoder.

    Parameters
    ----------
    candidates, references : iterable of arrays of shape (n_tokens, d), or of TokenVectors
        n documents each. Weights, such as `TokenIdf` gives, weigh the means; without them all
        tokens count alike. A token that weighs 0 takes no part, neither as one that is met.
    baseline : float or (float, float, float), default=0.0
        What unrelated texts score, for precision, recall and F or for all three: scores become
        (s - b) / (1 - b). Below 1.

    Returns
    -------
    BertScore
        ``precision``, ``recall`` and ``f1``, each of shape (n,).

    Raises
    ------
    EmptyDocumentError
        If a document has no tokens, or only such as weigh nothing.

    See Also
    --------
    TokenMover : Both sides at once, exactly.

    Notes
    -----
    With vectors x of the reference and y of the candidate, brought to length one, and weights w,

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
        raise ValueError(f"baseline must be a number or three of them; got {len(levels)}.")
    for level in levels:
        _BASELINE.check("baseline", level)
        if level == 1:
            raise ValueError("baseline must be below 1; got 1.")
    first = stacked(candidates, "candidates", unit=True)
    second = _like(first, references, "references", unit=True)
    if len(first) != len(second):
        raise ValueError(
            "candidates and references must have the same number of documents; got "
            f"{len(first)} and {len(second)}."
        )
    table, _, _ = _documents(first, second, ("candidates", "references"))
    precision, recall = np.empty(len(first)), np.empty(len(first))
    for row in range(len(first)):
        a = first.part(row).encoded(len(second.table) + int(first.offsets[row]), len(table))
        b = second.part(row).encoded(int(second.offsets[row]), len(table))
        found = _core.bound_matrices(table, a.documents(), b.documents(), "cosine", 1, None)
        _, precision[row], recall[row] = 1 - found[:, 0, 0]
    both = precision + recall
    f1 = np.where(both == 0, 0.0, 2 * precision * recall / np.where(both == 0, 1.0, both))
    return BertScore(
        *((s - b) / (1 - b) for s, b in zip((precision, recall, f1), levels, strict=True))
    )


def _like(first: Stack, documents: TokenDocuments, name: str, unit: bool) -> Stack:
    """Read documents whose vectors are as long as those of others."""
    dimension = first.table.shape[1] if len(first.table) else None
    return stacked(documents, name, unit=unit, dimension=dimension)


def _documents(
    first: Stack, second: Stack, names: tuple[str, str]
) -> tuple[Float32Array, _core.Documents, _core.Documents]:
    """Return the vectors of both, `second` before `first`, and the documents over them."""
    table = second.followed_by(first) if second is not first else first.table
    begin = len(second.table) if second is not first else 0
    rows = first.encoded(begin, len(table)).documents()
    columns = second.encoded(0, len(table)).documents()
    refuse_empty(rows, names[0], choice=False)
    refuse_empty(columns, names[1], choice=False)
    return table, rows, columns


def _products(first: Stack, second: Stack) -> Float64Array:
    """Return MaxSim of vectors as they are, in float64, a pair at a time."""
    found = np.empty((len(first), len(second)))
    others = [second.part(column) for column in range(len(second))]
    points = [other.table[other.weights > 0].astype(np.float64) for other in others]
    for row in range(len(first)):
        ours = first.part(row)
        vectors = ours.table.astype(np.float64)
        for column, theirs in enumerate(points):
            with np.errstate(over="ignore", invalid="ignore"):  # told below
                found[row, column] = ours.weights @ (vectors @ theirs.T).max(axis=1)
            if not np.isfinite(found[row, column]):
                raise ValueError(
                    f"MaxSim of query {row} and document {column} is too large. Scale the weights "
                    "or vectors down."
                )
    return found
