"""Comparison of two documents: distance, flow, bounds, and optimality certificate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from textkin import _core
from textkin._base import DrawnResult, Int32Array, WordLookup
from textkin.corpus import Coverage, Document, DocumentRows, VectorTable, listed
from textkin.explain import (
    AlignedText,
    Contribution,
    Flow,
    Move,
    Place,
    Rest,
    flow_html,
    flow_svg,
    flow_text,
    shortened,
)
from textkin.run import stop_check
from textkin.text import Preparation, StopWords, TermReader, word_spans
from textkin.transport._certificate import Certificate, Verification
from textkin.transport._solver import CostName
from textkin.vectors import WordVectors
from textkin.weighting import TransportWeights

__all__ = [
    "Bounds",
    "Comparison",
    "FindsWords",
    "TextWords",
    "bounds_of_rows",
    "compare",
    "compare_rows",
    "placed_words",
]


class FindsWords(Protocol):
    """Protocol for functions that return the spans of the compared words in a text."""

    def __call__(self, text: str) -> list[Place]:
        """Return the span of each compared word in a text, and the name of the word in the flow."""
        ...


def placed_words(
    text: str,
    forms_of: Callable[[Sequence[str]], list[list[str]]],
    rows_of: Callable[[Sequence[str]], Int32Array],
    name_of: Callable[[int], str],
) -> list[Place]:
    """Return the spans of the words of a text that have a vector, with their names in a flow.

    Parameters
    ----------
    text : str
        Text.
    forms_of : callable
        Function that returns the terms of each written word; a stop word has no terms.
    rows_of : callable
        Function that returns the vector row of each distinct term: -1 without a vector, less than
        -1 for a stop word.
    name_of : callable
        Function that returns the name of a row.
    """
    spans = list(word_spans(text))
    written = list(dict.fromkeys(text[start:end] for start, end in spans))
    forms = dict(zip(written, forms_of(written), strict=True))
    counted = list(dict.fromkeys(form for some in forms.values() for form in some))
    rows = dict(zip(counted, rows_of(counted).tolist(), strict=True))
    places = []
    for start, end in spans:
        found = [rows[form] for form in forms[text[start:end]]]
        known = tuple(name_of(row) for row in found if row >= 0)
        if known:
            places.append(Place(start, end, known))
        else:
            places.append(Place(start, end, (), "unknown" if -1 in found else "stop"))
    return places


@dataclass(frozen=True, slots=True, eq=False)
class TextWords:
    """Callable that finds compared words in a text, with the analyzer and words of `WordMover`.

    Attributes
    ----------
    prepared : Preparation
        Prepared analyzer settings.
    lookup : WordLookup
        Word vectors.
    """

    prepared: Preparation
    lookup: WordLookup

    def __call__(self, text: str) -> list[Place]:
        """Return the span of each compared word in a text, and the name of the word in the flow."""
        return placed_words(text, self._forms, self.lookup.lookup, self.lookup.words.__getitem__)

    def _forms(self, words: Sequence[str]) -> list[list[str]]:
        reader = TermReader(self.prepared)
        ids, starts = reader.read(list(words)).arrays()
        forms = reader.terms.words_at(ids)
        return [forms[start:end] for start, end in pairwise(starts.tolist())]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lower bounds of the Word Mover's Distance (WMD) of two documents: centroid and relaxed.

    Attributes
    ----------
    centroid : float
        Word Centroid Distance, between the mean vectors.
    source : float
        Relaxation in which each source word moves to its nearest target word.
    target : float
        Relaxation in which each target word receives from its nearest source word.
    """

    centroid: float
    source: float
    target: float

    @property
    def relaxed(self) -> float:
        """Relaxed Word Mover's Distance (RWMD): the larger of its two one-sided relaxations."""
        return max(self.source, self.target)


@dataclass(frozen=True, eq=False)
class Comparison(DrawnResult):
    """Word Mover's Distance of two documents with its flow, lower bounds, and certificate.

    Attributes
    ----------
    distance : float
        Distance, at least 0; 0 for documents with the same shares of the same words.
    flow : Flow
        Moves of words with mass and cost; contributions sum to `distance`.
    bounds : Bounds
        Lower bounds; none exceeds `distance` beyond rounding.
    source_coverage, target_coverage : Coverage
        Share of each document that has vectors, and the words without one.
    certificate : Certificate
        Plan, and potentials that prove its optimality.
    pivots : int
        Number of pivots of the solver.
    method : str
        Solver variant: "narrow_simplex", or "wide_simplex" with 64 bits.
    source_text, target_text : str
        Texts of the documents; empty if the documents are not texts.

    Examples
    --------
    >>> import textkin as tk
    >>> tk.compare("Obama speaks to the media", "The President greets the press")
    Comparison: distance 5.02, at least 5.02 (relaxed) and 2.917 (centroid)
                              mass × cost  = adds
    obama  ━━━▶ president   33.3 % × 5.588 = 1.863  ████████████████  37 %
    speaks ━━━▶ greets      33.3 % × 5.377 = 1.792  ███████████████▍  36 %
    media  ━━━▶ press       33.3 % × 4.094 = 1.365  ███████████▊      27 %
    """

    distance: float
    flow: Flow
    bounds: Bounds
    source_coverage: Coverage
    target_coverage: Coverage
    certificate: Certificate
    pivots: int
    method: str
    source_text: str = ""
    target_text: str = ""
    _finder: FindsWords | None = field(default=None, repr=False)

    @property
    def score(self) -> float:
        """Word Mover's Distance, under the name that all explanations use for their total."""
        return self.distance

    @property
    def moves(self) -> tuple[Move, ...]:
        """Moves of the flow from word to word, in descending order of their contribution."""
        return self.flow.moves

    @property
    def parts(self) -> tuple[Contribution, ...]:
        """Contributions of the moves with a positive cost, which sum to the distance."""
        return self.flow.parts

    def share(self, part: Move | Rest | Contribution) -> float:
        """Return the contribution of a move as a fraction of the distance, 0 to 1."""
        return self.flow.share(part)

    def verify(self, tolerance: float = 1e-6) -> Verification:
        """Verify that the distance is optimal, without the solver; see `Certificate.verify`."""
        return self.certificate.verify(tolerance)

    @cached_property
    def verification(self) -> Verification:
        """Cached result of `verify` with the default tolerance."""
        return self.verify()

    def aligned(self) -> AlignedText:
        """Return both texts with each compared word and its transport distance, as `AlignedText`.

        Returns
        -------
        AlignedText
            Aligned texts, with output for terminals, HTML, and notebooks.

        Raises
        ------
        ValueError
            If the documents are not texts.

        Examples
        --------
        >>> import textkin as tk
        >>> found = tk.compare("Obama speaks to the media", "The President greets the press")
        >>> print(found.aligned().to_text(width=60))
        from ───────────────────────────────────────────────────────
        Obama⁶ speaks⁶ to the media⁰
        to ─────────────────────────────────────────────────────────
        The President⁶ greets⁶ the press⁰
        ────────────────────────────────────────────────────────────
        distance: 0 (small) to 6 (large) · cost 4.09 to 5.59
        """
        if self._aligned is None:
            raise ValueError(
                "aligned requires two texts; got tokens, bags or arrays. Compare texts."
            )
        return self._aligned

    @cached_property
    def _aligned(self) -> AlignedText | None:
        if self._finder is None or not self.source_text or not self.target_text:
            return None
        first, second = self.source_text, self.target_text
        return AlignedText.of(self.flow, first, self._finder(first), second, self._finder(second))

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling: word offsets instead of the vectors that locate words."""
        _ = self._aligned
        return {**self.__dict__, "_finder": None}

    def facts(self) -> list[tuple[str, str]]:
        """Return pairs (label, value) for display: distance, bounds, coverage, and proof."""
        return [
            ("distance", f"{self.distance:.6g}"),
            (
                "bounds",
                f"relaxed {self.bounds.relaxed:.6g} (one-sided {self.bounds.source:.6g} and "
                f"{self.bounds.target:.6g}), centroid {self.bounds.centroid:.6g}",
            ),
            ("coverage", f"{self.source_coverage} and {self.target_coverage}"),
            ("proof", _proof(self.verification.gap)),
        ]

    def to_text(
        self, *, limit: int = 12, width: int = 80, unicode: bool = True, color: bool = False
    ) -> str:
        """Draw the flow of words as lines of text; see `textkin.explain.flow_text`."""
        return flow_text(self.flow, limit=limit, width=width, unicode=unicode, color=color)

    def to_svg(self, *, title: str = "", limit: int = 20, embedded: bool = False) -> str:
        """Draw the flow of words as an SVG figure; see `textkin.explain.flow_svg`."""
        return flow_svg(
            self.flow,
            title=title or self._title,
            source_title=self.source_text,
            target_title=self.target_text,
            note=self._left_out,
            limit=limit,
            embedded=embedded,
        )

    def to_html(self, *, title: str = "", limit: int = 20) -> str:
        """Return an HTML report with the figure, all moves, bounds, coverage, and proof."""
        return flow_html(
            self.flow,
            title=title or self._title,
            source_text=self.source_text,
            target_text=self.target_text,
            aligned=self._aligned,
            facts=self.facts(),
            limit=limit,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all fields except the vectors as a dict of JSON types."""
        verification = self.verification
        return {
            "distance": self.distance,
            "bounds": {
                "centroid": self.bounds.centroid,
                "source": self.bounds.source,
                "target": self.bounds.target,
                "relaxed": self.bounds.relaxed,
            },
            "coverage": {
                "source": self.source_coverage.to_dict(),
                "target": self.target_coverage.to_dict(),
            },
            "proof": {
                "plan_cost": verification.plan_cost,
                "bound": verification.bound,
                "gap": verification.gap,
                "allowed": verification.allowed,
            },
            "method": self.method,
            "pivots": self.pivots,
            "flow": self.flow.to_dict()["flow"],
        }

    @property
    def _title(self) -> str:
        return f"Word Mover's Distance {self.distance:.4g}"

    @property
    def _left_out(self) -> str:
        first, second = self.source_coverage, self.target_coverage
        said = [
            f"{reason}: {listed([shortened(word, 40) for word in words], 8)}"
            for reason, words in (
                ("without a vector", {**first.unknown, **second.unknown}),
                ("beyond max_words_per_document", {**first.cut, **second.cut}),
            )
            if words
        ]
        return f"left out, {'; '.join(said)}" if said else ""

    def __repr__(self) -> str:
        head = (
            f"Comparison: distance {self.distance:.4g}, at least {self.bounds.relaxed:.4g} "
            f"(relaxed) and {self.bounds.centroid:.4g} (centroid)"
        )
        return "\n".join(part for part in (head, self.to_text(), self._left_out) if part)

    def _repr_html_(self) -> str:
        """Return the SVG figure of the flow, which notebooks display."""
        return self.to_svg()


def _proof(gap: float) -> str:
    return f"no plan is cheaper by more than {gap:.1e}" if gap > 0 else "no plan is cheaper"


def bounds_of_rows(
    table: VectorTable,
    a: _core.Documents,
    b: _core.Documents,
    cost: CostName,
    memory: int | None = None,
) -> Bounds:
    """Compute the lower bounds of the distance between the first documents of `a` and `b`."""
    found = _core.bound_matrices(table.vectors, a, b, cost, memory or 0, 1, stop_check())
    return Bounds(*found[:, 0, 0].tolist())


def compare_rows(
    table: VectorTable,
    first: DocumentRows,
    second: DocumentRows,
    cost: CostName,
    words: Sequence[str] | None = None,
    texts: tuple[str, str] = ("", ""),
    finder: FindsWords | None = None,
    *,
    memory: int | None = None,
) -> Comparison:
    """Compute the distance, flow, bounds, and certificate of two nonempty one-row inputs.

    `words` are the names of the rows of the table. `texts` are empty if unknown. `memory` limits
    the bytes of the transport problem.
    """
    a, b = first.documents(), second.documents()
    found = _core.explain(table.vectors, a, 0, b, 0, cost, memory or 0, stop_check())
    source_words, target_words = a.words(0), b.words(0)
    source_masses = first.shares_of(0, source_words)
    target_masses = second.shares_of(0, target_words)
    source_names = [table.name(row, words) for row in source_words.tolist()]
    target_names = [table.name(row, words) for row in target_words.tolist()]
    sources, targets, masses = found.source, found.target, found.mass
    flow = Flow.of(
        zip(source_names, source_masses.tolist(), strict=True),
        zip(target_names, target_masses.tolist(), strict=True),
        zip(sources.tolist(), targets.tolist(), masses.tolist(), found.cost.tolist(), strict=True),
        score=found.distance,
    )
    certificate = Certificate(
        found.distance,
        source_masses,
        target_masses,
        sources,
        targets,
        masses,
        found.source_potentials,
        found.target_potentials,
        cost,
        table.vectors[source_words],
        table.vectors[target_words],
    )
    return Comparison(
        found.distance,
        flow,
        bounds_of_rows(table, a, b, cost, memory),
        first.coverage(0),
        second.coverage(0),
        certificate,
        found.pivots,
        found.method.name,
        *texts,
        finder,
    )


def compare(
    a: Document,
    b: Document,
    *,
    vectors: WordVectors | NDArray[np.floating[Any]] | None = None,
    word_weights: TransportWeights = "nbow",
    cost: CostName = "euclidean",
    unit: bool = False,
    stop_words: StopWords = "smart",
    feature_names: Sequence[str] | None = None,
) -> Comparison:
    """Compute the Word Mover's Distance of two documents, and explain it by a flow of words.

    Parameters
    ----------
    a, b : str, list of str, or one row of bags
        The documents.
    vectors, word_weights, cost, unit, stop_words
        Parameters of `WordMover`. For weights that are learned from a corpus, fit a `WordMover`
        and call its `explain`.
    feature_names : sequence of str, optional
        Names of the columns of bags.

    Returns
    -------
    Comparison
        Exact Word Mover's Distance with flow, bounds, coverage, and certificate. Terminals show it
        as text, and notebooks as an SVG image.

    Raises
    ------
    EmptyDocumentError
        If a document has no word with a vector.
    ValueError
        If `word_weights` needs a corpus.

    See Also
    --------
    WordMover : Distances of many documents.

    References
    ----------
    Kusner, Sun, Kolkin and Weinberger, "From Word Embeddings To Document Distances", ICML 2015.

    Examples
    --------
    >>> import textkin as tk
    >>> found = tk.compare("Obama speaks to the media", "The President greets the press")
    >>> round(found.distance, 3), found.moves[0].source, found.moves[0].target
    (5.02, 'obama', 'president')
    """
    if isinstance(word_weights, str) and word_weights == "tfidf":
        raise ValueError(
            "word_weights='tfidf' requires a corpus, but compare does not have one. Call "
            "WordMover(word_weights='tfidf').fit(corpus).explain(a, b)."
        )
    # Imported here, because `_word_mover` imports this module.
    from textkin.transport._word_mover import WordMover

    mover = WordMover(
        vectors, word_weights=word_weights, cost=cost, unit=unit, stop_words=stop_words
    )
    return mover.explain(a, b, feature_names=feature_names)
