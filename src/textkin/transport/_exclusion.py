"""A search proves itself: why each document was found or was not, checked without the search."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from textkin import _core
from textkin._typing import Float64Array, Int32Array, Int64Array
from textkin._validation import integer, one_of
from textkin.exceptions import CertificateError
from textkin.transport._corpus import Algorithm, Corpus, Options, Rows, read_only
from textkin.transport._costs import reference_costs

__all__ = ["SearchCertificate", "SearchVerification", "certificate_of"]

VERDICTS: tuple[str, ...] = tuple(_core.VERDICTS)
_LEFT_OUT, _EMPTY, _SOLVED, _NOT_REACHED = (
    VERDICTS.index(name) for name in ("left_out", "empty", "solved", "not_reached")
)
# Verdicts that a bound gives.
_EXCLUDED = tuple(
    VERDICTS.index(name) for name in ("document_side", "refined", "relaxed", "centroid")
)
# A distance as reported lies within this, relative, of the optimum; a bound as well.
_TOLERANCE = 1e-6
# Of the lengths of two mean vectors: what rounding may leave of their difference.
_ROUNDING = 1e-12
_SAMPLE = one_of(None) | integer(0)


@dataclass(frozen=True, slots=True)
class SearchVerification:
    """What checking the certificate of a search found.

    Attributes
    ----------
    documents : int
        Documents of the corpus.
    checked : mapping of str to int
        Documents whose value was computed again, by verdict.
    gap : float
        The largest gap of a distance that was proven, relative to that distance.
    exact : bool
        Whether the values, where they are right, prove that no other document is nearer. Not so
        for rankings by a bound alone, and where documents were not reached.
    """

    documents: int
    checked: Mapping[str, int]
    gap: float
    exact: bool


@dataclass(frozen=True, eq=False)
class SearchCertificate:
    """For every document, why one query found it or did not.

    Attributes
    ----------
    verdicts : ndarray of shape (n_documents,), uint8
        What became of each document, see `verdict`.
    values : ndarray of shape (n_documents,), float64
        Its exact distance if it was solved, the bound that excludes it if one does; infinity for
        documents that cannot be found, and for those that were not reached.
    limit : float
        How far the last hit is; the radius, where fewer than `k` were found.
    indices, distances : ndarray of int64 and of float64
        What the query found.
    algorithm : str
        How it was searched.
    corpus, query, options : object
        What was searched, for `verify`.

    Examples
    --------
    >>> from textkin import WordMover
    >>> mover = WordMover().fit(["Dogs bark at night", "The band played loud", "Cats purr"])
    >>> proof = mover.search("A kitten sleeps", k=1).certificate(0)
    >>> proof.verdict(2), float(proof.values[2]) == proof.limit
    ('solved', True)
    >>> proof.verify().exact
    True
    """

    verdicts: NDArray[np.uint8]
    values: Float64Array
    limit: float
    indices: Int64Array
    distances: Float64Array
    algorithm: Algorithm
    corpus: Corpus
    query: Rows
    options: Options

    def __len__(self) -> int:
        return len(self.verdicts)

    def verdict(self, index: int) -> str:
        """Return what became of a document, by its position.

        Parameters
        ----------
        index : int
            Position in the corpus.

        Returns
        -------
        str
            "solved"; "document_side", "refined", "relaxed" or "centroid" for a bound that
            excludes it; "empty", "left_out" or "not_reached".
        """
        return VERDICTS[int(self.verdicts[index])]

    @property
    def counts(self) -> dict[str, int]:
        """How many documents got each verdict, where any did."""
        counts = np.bincount(self.verdicts, minlength=len(VERDICTS)).tolist()
        return {name: count for name, count in zip(VERDICTS, counts, strict=True) if count}

    def verify(
        self, sample: int | None = 100, random_state: int | RandomState | None = 0
    ) -> SearchVerification:
        """Check that what was recorded is true and proves the answer.

        Of all documents the record is checked: that the nearest of the solved ones are those that
        were found, that every bound exceeds the limit, that nothing was left out but what the mask
        forbids. Of the found ones, and of a sample of the others, distances and bounds are
        computed again in float64, without the search: a distance by its plan and potentials (see
        `Certificate.verify`), a bound by its formula, a refined bound by the distance that it must
        not exceed.

        Parameters
        ----------
        sample : int or None, default=100
            How many of the documents that were not found to compute again; None: all.
        random_state : int, RandomState or None, default=0
            Chooses them.

        Returns
        -------
        SearchVerification
            How many were checked, and how exactly.

        Raises
        ------
        CertificateError
            If anything does not hold; the message names the document.
        """
        _SAMPLE.check("sample", sample)
        self._check_left_out()
        self._check_found()
        self._check_exclusions()
        checked: dict[str, int] = {}
        gap = 0.0
        for row in self._chosen(sample, random_state).tolist():
            gap = max(gap, self._check_value(row))
            checked[self.verdict(row)] = checked.get(self.verdict(row), 0) + 1
        exact = self._ranking is None and not (self.verdicts == _NOT_REACHED).any()
        return SearchVerification(len(self), checked, gap, bool(exact))

    # ------------------------------------------------------------------ the record as a whole

    def _check_left_out(self) -> None:
        """Check that only what may not be found is left out, what weighs nothing is empty."""
        empty = self.corpus.are_empty(self.corpus.rows)
        mask = self.options.mask
        out = np.zeros(len(self), dtype=bool) if mask is None else mask == 0
        if not len(self._words):
            out |= ~empty
        self._refuse(
            (self.verdicts == _LEFT_OUT) != out, "{} is left out, or is not, against the mask"
        )
        self._refuse(
            (self.verdicts == _EMPTY) != (empty & ~out), "{} is taken for empty, or not, wrongly"
        )

    def _check_found(self) -> None:
        """Check that the nearest of the solved documents are those that were found."""
        rows = np.flatnonzero((self.verdicts == _SOLVED) & (self.values <= self.options.radius))
        rows = rows[np.argsort(self.values[rows], kind="stable")][: self.options.k]
        missing = np.setdiff1d(rows, self.indices)
        extra = np.setdiff1d(self.indices, rows)
        if missing.size:
            instead = f"; document {extra[0]} was" if extra.size else ""
            raise CertificateError(
                f"Document {missing[0]} is among the nearest by its recorded value, but was not "
                f"found{instead}."
            )
        if extra.size:
            raise CertificateError(
                f"Document {extra[0]} was found, but is not among the nearest by its recorded "
                "value."
            )
        if not np.array_equal(rows, self.indices):
            at = int((rows != self.indices).argmax())
            raise CertificateError(f"Document {self.indices[at]} was found out of order.")
        if not np.array_equal(self.values[rows], self.distances):
            at = int((self.values[rows] != self.distances).argmax())
            raise CertificateError(
                f"Document {rows[at]} was found at {self.distances[at]:.9g}, but is recorded at "
                f"{self.values[rows[at]]:.9g}."
            )

    def _check_exclusions(self) -> None:
        near = ~(self.values > self.limit)  # NaN too
        self._refuse(
            np.isin(self.verdicts, _EXCLUDED) & near,
            f"{{}} is excluded by a bound that does not exceed the limit of {self.limit:.9g}",
        )

    def _refuse(self, wrong: NDArray[np.bool_], message: str) -> None:
        if wrong.any():
            raise CertificateError(f"{message.format(f'Document {int(wrong.argmax())}')}.")

    def _chosen(self, sample: int | None, random_state: int | RandomState | None) -> Int64Array:
        """Return the documents to compute again: all that were found, and some of the others."""
        valued = ~np.isin(self.verdicts, (_LEFT_OUT, _EMPTY, _NOT_REACHED))
        valued[self.indices] = False
        others = np.flatnonzero(valued)
        if sample is not None and sample < len(others):
            others = check_random_state(random_state).choice(others, sample, replace=False)
        return np.sort(np.concatenate([self.indices, others]))

    # ------------------------------------------------------------------ one document

    @property
    def _ranking(self) -> str | None:
        """The bound that orders the documents, if no exact distance does."""
        ranks = self.algorithm.startswith(("wcd", "rwmd"))
        return self.algorithm if ranks else None

    @cached_property
    def _of_query(self) -> tuple[Int32Array, Float64Array]:
        return self.corpus.masses(self.query, 0)

    @property
    def _words(self) -> Int32Array:
        return self._of_query[0]

    def _check_value(self, row: int) -> float:
        """Compute the value of a document again; return the gap of a distance."""
        value, verdict = float(self.values[row]), self.verdict(row)
        if verdict == "solved" and self._ranking is None:
            return self._check_distance(row, value)
        if verdict == "refined":
            return self._check_refined(row, value)
        kind = self._ranking if verdict == "solved" else verdict
        bound, rounding = self._bound(row, str(kind))
        allowed = _TOLERANCE * bound + rounding
        too_small = verdict == "solved" and not value >= bound - allowed
        if too_small or not value <= bound + allowed:
            raise CertificateError(
                f"Document {row} is recorded with a bound ({kind}) of {value:.9g}, which is "
                f"{bound:.9g}."
            )
        return 0.0

    def _check_distance(self, row: int, value: float) -> float:
        try:
            found = replace(self.corpus.proof(self.query, row), distance=value).verify()
        except CertificateError as error:
            raise CertificateError(f"Document {row}: {error}") from error
        return found.gap / found.plan_cost if found.plan_cost > 0 else 0.0

    def _check_refined(self, row: int, value: float) -> float:
        try:
            found = self.corpus.proof(self.query, row).verify()
        except CertificateError as error:
            raise CertificateError(f"Document {row}: {error}") from error
        if not value <= found.plan_cost * (1 + _TOLERANCE):
            raise CertificateError(
                f"Document {row} is recorded with a bound (refined) of {value:.9g}, but its "
                f"distance is {found.plan_cost:.9g}."
            )
        return found.gap / found.plan_cost if found.plan_cost > 0 else 0.0

    def _bound(self, row: int, kind: str) -> tuple[float, float]:
        """Return a bound by its formula, and what rounding may add to it."""
        corpus = self.corpus
        words, masses = corpus.masses(corpus.rows, row)
        x, y = corpus.vectors(self.query, self._words), corpus.vectors(corpus.rows, words)
        if kind in ("wcd", "centroid"):
            one, other = self._of_query[1] @ x.astype(np.float64), masses @ y.astype(np.float64)
            rounding = _ROUNDING * (np.linalg.norm(one) + np.linalg.norm(other))
            distance = np.linalg.norm(one - other)
            if corpus.cost == "euclidean":
                return float(distance), float(rounding)
            factor = 0.5 if corpus.cost == "cosine" else 1.0
            return float(factor * distance**2), float(2 * rounding * (distance + rounding))
        costs = reference_costs(x, y, corpus.cost)
        from_query = float(self._of_query[1] @ costs.min(axis=1))
        from_document = float(masses @ costs.min(axis=0))
        if kind in ("document_side", "rwmd-document"):
            return from_document, 0.0
        if kind == "rwmd-query":
            return from_query, 0.0
        return max(from_query, from_document), 0.0

    def __repr__(self) -> str:
        said = {
            "left_out": "left out",
            "solved": "solved exactly" if self._ranking is None else f"valued by {self._ranking}",
            "not_reached": "not reached",
        }
        lines = [
            f"SearchCertificate: {len(self.indices):,} of {len(self):,} documents found, "
            f"limit {self.limit:.6g}, algorithm {self.algorithm!r}"
        ]
        for name, count in self.counts.items():
            values = self.values[self.verdicts == VERDICTS.index(name)]
            bound = VERDICTS.index(name) in _EXCLUDED
            label = f"excluded by {name}" if bound else said.get(name, name)
            within = f"  {values.min():.6g} to {values.max():.6g}" * math.isfinite(values.max())
            lines.append(f"  {label:28} {count:10,}{within}")
        return "\n".join(lines)


def certificate_of(
    corpus: Corpus,
    queries: Rows,
    row: int,
    options: Options,
    found: tuple[Int64Array, Float64Array],
) -> SearchCertificate:
    """Search for one query once more, and record what becomes of each document."""
    _, verdicts, values = corpus.record(queries, row, options)
    read_only(verdicts, values)
    indices, distances = found
    full = options.k is not None and len(indices) == options.k
    limit = float(distances[-1]) if full else options.radius
    query = queries.part(row, row + 1)
    return SearchCertificate(
        verdicts, values, limit, indices, distances, options.algorithm, corpus, query, options
    )
