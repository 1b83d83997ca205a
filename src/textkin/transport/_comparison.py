"""Two documents compared: the distance, why it is so, and the proof."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from textkin import _core
from textkin.explain import (
    AlignedText,
    Contribution,
    Flow,
    Move,
    Rest,
    flow_html,
    flow_svg,
    flow_text,
    shortened,
)
from textkin.run import stop_check
from textkin.transport._aligning import FindsWords
from textkin.transport._certificate import Certificate, Verification
from textkin.transport._costs import CostName
from textkin.vectors._encode import Coverage, Encoded, listed
from textkin.vectors._space import Space

__all__ = ["Bounds", "Comparison", "bounds_of_rows", "compare_rows"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lower bounds of the Word Mover's Distance.

    Attributes
    ----------
    centroid : float
        The Word Centroid Distance, between the mean vectors.
    source : float
        Each source word goes to its nearest target word, whatever room there is.
    target : float
        Each target word is supplied by its nearest source word.
    """

    centroid: float
    source: float
    target: float

    @property
    def relaxed(self) -> float:
        """The Relaxed Word Mover's Distance: the larger of the two one-sided relaxations."""
        return max(self.source, self.target)


@dataclass(frozen=True, eq=False)
class Comparison:
    """The Word Mover's Distance of two documents with its flow, bounds, coverage and proof.

    Attributes
    ----------
    distance : float
        0 for documents with the same share of the same words; larger is farther.
    flow : Flow
        Which word goes where, how much of it, at what cost; contributions sum to `distance`.
    bounds : Bounds
        What quicker measures say; none exceeds `distance` beyond rounding.
    source_coverage, target_coverage : Coverage
        How much of the two documents has vectors, and the words that have none.
    certificate : Certificate
        The plan and the potentials that prove it optimal.
    pivots : int
        Steps that the solver took; 0 where nothing was left to decide.
    method : str
        How the solver worked: "narrow_simplex", or "wide_simplex" where that needed 64 bits.
    source_text, target_text : str
        The documents, where they came as texts; else empty.

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
        """The distance: what the contributions sum to, by the name that all explanations have."""
        return self.distance

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves of the flow, the largest contribution first."""
        return self.flow.moves

    @property
    def parts(self) -> tuple[Contribution, ...]:
        """What each move adds; see `Flow.parts`."""
        return self.flow.parts

    def share(self, part: Move | Rest | Contribution) -> float:
        """Return how much of the distance a move makes up; see `Flow.share`."""
        return self.flow.share(part)

    def verify(self, tolerance: float = 1e-6) -> Verification:
        """Check the proof of the distance without the solver; see `Certificate.verify`."""
        return self.certificate.verify(tolerance)

    @cached_property
    def verification(self) -> Verification:
        """What `verify` finds with its default tolerance, computed once."""
        return self.verify()

    def aligned(self) -> AlignedText:
        """Return both texts whole, with each word as far as it travels.

        Returns
        -------
        AlignedText
            Draws itself in a terminal, a page and a notebook.

        Raises
        ------
        ValueError
            If the documents did not come as texts.

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
        0 near to 6 far · cost 4.09 to 5.59
        """
        if self._aligned is None:
            raise ValueError(
                "aligned needs two texts, to show them; the documents came as tokens, bags or "
                "arrays. Compare texts."
            )
        return self._aligned

    @cached_property
    def _aligned(self) -> AlignedText | None:
        if self._finder is None or not self.source_text or not self.target_text:
            return None
        first, second = self.source_text, self.target_text
        return AlignedText.of(self.flow, first, self._finder(first), second, self._finder(second))

    def __getstate__(self) -> dict[str, Any]:
        """Keep where the words stand, and not the vectors that they were found by."""
        _ = self._aligned
        return {**self.__dict__, "_finder": None}

    def facts(self) -> list[tuple[str, str]]:
        """Return what is to be said in words: bounds, coverage, and the proof, verified here."""
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
        """Return the flow drawn in characters; see `textkin.explain.flow_text`."""
        return flow_text(self.flow, limit=limit, width=width, unicode=unicode, color=color)

    def to_svg(self, *, title: str = "", limit: int = 20, embedded: bool = False) -> str:
        """Return the flow as a picture; see `textkin.explain.flow_svg`."""
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
        """Return a page with the picture, all moves, bounds, coverage and proof."""
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
        """Return everything but the vectors in plain types, ready for JSON."""
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
        """Show the picture in notebooks."""
        return self.to_svg()


def _proof(gap: float) -> str:
    return f"no plan is cheaper by more than {gap:.1e}" if gap > 0 else "no plan is cheaper"


def bounds_of_rows(space: Space, a: _core.Documents, b: _core.Documents, cost: CostName) -> Bounds:
    """Return the bounds of the first document of `a` and of `b`."""
    found = _core.bound_matrices(space.table, a, b, cost, 1, stop_check())
    return Bounds(*found[:, 0, 0].tolist())


def compare_rows(
    space: Space,
    first: Encoded,
    a: _core.Documents,
    second: Encoded,
    b: _core.Documents,
    cost: CostName,
    words: Sequence[str] | None,
    texts: tuple[str, str],
    finder: FindsWords | None = None,
) -> Comparison:
    """Compare two documents, each the only row as it came and as the core holds it."""
    found = _core.explain(space.table, a, 0, b, 0, cost, stop_check())
    source_words, target_words = a.words(0), b.words(0)
    source_masses = first.masses(0, source_words)
    target_masses = second.masses(0, target_words)
    source_names = [space.name(row, words) for row in source_words.tolist()]
    target_names = [space.name(row, words) for row in target_words.tolist()]
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
        space.table[source_words],
        space.table[target_words],
    )
    return Comparison(
        found.distance,
        flow,
        bounds_of_rows(space, a, b, cost),
        first.coverage(0),
        second.coverage(0),
        certificate,
        found.pivots,
        found.method.name,
        *texts,
        finder,
    )
