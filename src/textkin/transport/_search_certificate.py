"""Certificate of a search: reasons for hits and exclusions, verified without the search."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from textkin import _core
from textkin._base import Float64Array, Int32Array, Int64Array, integer, one_of
from textkin.corpus import DocumentRows
from textkin.exceptions import CertificateError
from textkin.transport._core_search import SearchOptions
from textkin.transport._solver import reference_costs

if TYPE_CHECKING:
    from textkin.transport._engine import TransportEngine

__all__ = ["SearchCertificate", "SearchVerification", "certificate_of", "read_only"]

VERDICTS: tuple[str, ...] = tuple(_core.VERDICTS)
_LEFT_OUT, _EMPTY, _SOLVED, _NOT_REACHED = (
    VERDICTS.index(name) for name in ("left_out", "empty", "solved", "not_reached")
)
# Verdicts of documents that a bound excludes.
_EXCLUDED = tuple(
    VERDICTS.index(name) for name in ("document_side", "refined", "relaxed", "centroid")
)
# Relative tolerance of a reported distance or bound.
_TOLERANCE = 1e-6
# Rounding error of the difference of two centroids, relative to their lengths.
_ROUNDING = 1e-12
_SAMPLE = one_of(None) | integer(0)


@dataclass(frozen=True, slots=True)
class SearchVerification:
    """Result of `SearchCertificate.verify`: numbers of checked documents, and the largest gap.

    Attributes
    ----------
    documents : int
        Number of documents in the corpus.
    checked : mapping of str to int
        Number of documents whose value was computed again, by verdict.
    gap : float
        Largest gap of a proven distance, relative to the distance.
    exact : bool
        True if the values prove that no other document is nearer. False for rankings by a bound
        alone, and if documents were not reached.
    """

    documents: int
    checked: Mapping[str, int]
    gap: float
    exact: bool


@dataclass(frozen=True, eq=False)
class SearchCertificate:
    """Certificate of the search for one query: a verdict and a value for every document.

    Attributes
    ----------
    verdicts : ndarray of shape (n_documents,), uint8
        Verdict of each document; see `verdict`.
    values : ndarray of shape (n_documents,), float64
        Exact distance of a solved document, or the bound that excludes a document; infinity for
        documents that cannot be found or were not reached.
    limit : float
        Distance of the last hit, or the radius if fewer than `k` documents were found.
    indices, distances : ndarray of int64 and of float64
        Positions and distances of the hits.
    engine, query, options : object
        Documents, query, and options of the search, for `verify`.

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
    engine: "TransportEngine"
    query: DocumentRows
    options: SearchOptions

    def __len__(self) -> int:
        return len(self.verdicts)

    def verdict(self, index: int) -> str:
        """Return the verdict (such as "solved" or "document_side") on one document.

        Parameters
        ----------
        index : int
            Position in the corpus.

        Returns
        -------
        str
            "solved"; "document_side", "refined", "relaxed", or "centroid" for the bound that
            excludes it; "empty", "left_out", or "not_reached".
        """
        return VERDICTS[int(self.verdicts[index])]

    @property
    def counts(self) -> dict[str, int]:
        """Number of documents for each verdict that occurs."""
        counts = np.bincount(self.verdicts, minlength=len(VERDICTS)).tolist()
        return {name: count for name, count in zip(VERDICTS, counts, strict=True) if count}

    def verify(
        self, sample: int | None = 100, random_state: int | RandomState | None = 0
    ) -> SearchVerification:
        """Recompute recorded values, and verify that they prove the result of the search.

        For all documents, the record is checked: the nearest solved documents are the hits, every
        bound exceeds the limit, and only documents excluded by the mask were left out. For the
        hits and a sample of the other documents, distances and bounds are computed again in
        float64, without the search: a distance by its plan and potentials (see
        `Certificate.verify`), a bound by its formula, and a refined bound by the distance that it
        must not exceed.

        Parameters
        ----------
        sample : int or None, default=100
            Number of other documents to compute again. If None, all documents.
        random_state : int, RandomState or None, default=0
            Random seed of the sample.

        Returns
        -------
        SearchVerification
            Number of verified documents, and the largest gap.

        Raises
        ------
        CertificateError
            If a check fails; the message identifies the document.
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

    # ------------------------------------------------------------------ checks of the whole record

    def _check_left_out(self) -> None:
        """Raise unless the mask excludes all excluded documents, and empty ones have no words."""
        empty = self.engine.rows.are_empty()
        mask = self.options.mask
        out = np.zeros(len(self), dtype=bool) if mask is None else mask == 0
        if not len(self._words):
            out |= ~empty
        self._refuse((self.verdicts == _LEFT_OUT) != out, "The mask and the verdict of {} disagree")
        self._refuse(
            (self.verdicts == _EMPTY) != (empty & ~out), "The verdict 'empty' is wrong for {}"
        )

    def _check_found(self) -> None:
        """Raise unless the hits are the nearest documents by the recorded distances."""
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
        near = ~(self.values > self.limit)  # also True for NaN
        self._refuse(
            np.isin(self.verdicts, _EXCLUDED) & near,
            f"The bound that excludes {{}} must exceed the limit of {self.limit:.9g}",
        )

    def _refuse(self, wrong: NDArray[np.bool_], message: str) -> None:
        if wrong.any():
            raise CertificateError(f"{message.format(f'document {int(wrong.argmax())}')}.")

    def _chosen(self, sample: int | None, random_state: int | RandomState | None) -> Int64Array:
        """Return the positions to recompute: all hits, and a random sample of others."""
        valued = ~np.isin(self.verdicts, (_LEFT_OUT, _EMPTY, _NOT_REACHED))
        valued[self.indices] = False
        others = np.flatnonzero(valued)
        if sample is not None and sample < len(others):
            others = check_random_state(random_state).choice(others, sample, replace=False)
        return np.sort(np.concatenate([self.indices, others]))

    # ------------------------------------------------------------------ checks of one document

    @property
    def _ranking(self) -> str | None:
        """Name of the lower bound that ranks the documents, or None for the exact distance."""
        return None if self.options.metric == "wmd" else self.options.metric

    @cached_property
    def _of_query(self) -> tuple[Int32Array, Float64Array]:
        return self.query.word_shares(0)

    @property
    def _words(self) -> Int32Array:
        return self._of_query[0]

    def _check_value(self, row: int) -> float:
        """Recompute the recorded value of a document; return the duality gap of a distance."""
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
                f"Document {row} is recorded with a bound ({kind}) of {value:.9g}, but the bound "
                f"is {bound:.9g}."
            )
        return 0.0

    def _check_distance(self, row: int, value: float) -> float:
        try:
            found = replace(
                self.engine.proof(self.query, row, self.options), distance=value
            ).verify()
        except CertificateError as error:
            raise CertificateError(f"Document {row}: {error}") from error
        return found.gap / found.plan_cost if found.plan_cost > 0 else 0.0

    def _check_refined(self, row: int, value: float) -> float:
        try:
            found = self.engine.proof(self.query, row, self.options).verify()
        except CertificateError as error:
            raise CertificateError(f"Document {row}: {error}") from error
        if not value <= found.plan_cost * (1 + _TOLERANCE):
            raise CertificateError(
                f"Document {row} is recorded with a bound (refined) of {value:.9g}, but its "
                f"distance is {found.plan_cost:.9g}."
            )
        return found.gap / found.plan_cost if found.plan_cost > 0 else 0.0

    def _bound(self, row: int, kind: str) -> tuple[float, float]:
        """Compute a lower bound of a document by its formula; return it with its rounding error."""
        engine = self.engine
        words, masses = engine.rows.word_shares(row)
        x, y = engine.vectors_of(self.query, self._words), engine.vectors_of(engine.rows, words)
        if kind in ("wcd", "centroid"):
            one, other = self._of_query[1] @ x.astype(np.float64), masses @ y.astype(np.float64)
            rounding = _ROUNDING * (np.linalg.norm(one) + np.linalg.norm(other))
            distance = np.linalg.norm(one - other)
            if engine.cost == "euclidean":
                return float(distance), float(rounding)
            factor = 0.5 if engine.cost == "cosine" else 1.0
            return float(factor * distance**2), float(2 * rounding * (distance + rounding))
        costs = reference_costs(x, y, engine.cost)
        from_query = float(self._of_query[1] @ costs.min(axis=1))
        from_document = float(masses @ costs.min(axis=0))
        if kind in ("document_side", "rwmd-document"):
            return from_document, 0.0
        if kind == "rwmd-query":
            return from_query, 0.0
        return max(from_query, from_document), 0.0

    @property
    def _how(self) -> str:
        if self._ranking is not None:
            return f"metric {self._ranking!r}"
        return f"algorithm {self.options.algorithm!r}"

    def __repr__(self) -> str:
        said = {
            "left_out": "left out",
            "solved": "solved exactly" if self._ranking is None else f"valued by {self._ranking}",
            "not_reached": "not reached",
        }
        lines = [
            f"SearchCertificate: {len(self.indices):,} of {len(self):,} documents found, "
            f"limit {self.limit:.6g}, {self._how}"
        ]
        for name, count in self.counts.items():
            values = self.values[self.verdicts == VERDICTS.index(name)]
            bound = VERDICTS.index(name) in _EXCLUDED
            label = f"excluded by {name}" if bound else said.get(name, name)
            within = f"  {values.min():.6g} to {values.max():.6g}" * math.isfinite(values.max())
            lines.append(f"  {label:28} {count:10,}{within}")
        return "\n".join(lines)


def certificate_of(
    engine: "TransportEngine",
    query: DocumentRows,
    found: tuple[Int64Array, Float64Array],
    options: SearchOptions,
) -> SearchCertificate:
    """Repeat the search for one query, and return a certificate with a verdict per document."""
    _, verdicts, values = engine.record(query, options)
    read_only(verdicts, values)
    indices, distances = found
    full = options.k is not None and len(indices) == options.k
    limit = float(distances[-1]) if full else options.radius
    return SearchCertificate(verdicts, values, limit, indices, distances, engine, query, options)


def read_only(*arrays: NDArray[Any]) -> None:
    """Set the arrays to read-only in place, so that results cannot be changed."""
    for array in arrays:
        array.flags.writeable = False
