"""Two documents compared: the distance, why it is so, and the proof."""

from collections.abc import Sequence
from dataclasses import dataclass

from textkin import _core
from textkin.explain import Flow, Move, flow_lines
from textkin.transport._certificate import Certificate, Verification
from textkin.transport._costs import CostName
from textkin.transport._encode import Coverage, Encoded
from textkin.transport._space import Space

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


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The Word Mover's Distance of two documents with its flow, bounds, coverage and proof.

    Attributes
    ----------
    distance : float
        0 for documents with the same share of the same words; larger is farther.
    flow : Flow
        Which word goes where, how much of it, at what cost; contributions sum to `distance`.
    bounds : Bounds
        What cheaper measures say; none exceeds `distance`.
    source_coverage, target_coverage : Coverage
        How much of the two documents has vectors, and the words that have none.
    certificate : Certificate
        The plan and the potentials that prove it optimal.
    pivots : int
        Steps that the solver took; 0 where nothing was left to decide.
    method : str
        How the solver worked: "narrow_simplex", or a fallback.
    """

    distance: float
    flow: Flow
    bounds: Bounds
    source_coverage: Coverage
    target_coverage: Coverage
    certificate: Certificate
    pivots: int
    method: str

    @property
    def moves(self) -> tuple[Move, ...]:
        """The moves of the flow, the largest contribution first."""
        return self.flow.moves

    def verify(self, tolerance: float = 1e-6) -> Verification:
        """Check the proof of the distance without the solver; see `Certificate.verify`."""
        return self.certificate.verify(tolerance)

    def __repr__(self) -> str:
        return (
            f"Comparison(distance={self.distance:.6g}, moves={len(self.moves)}, "
            f"coverage=({self.source_coverage.share:.0%}, {self.target_coverage.share:.0%}))"
        )

    def __str__(self) -> str:
        return "\n".join([f"distance {self.distance:.6g}", *flow_lines(self.flow)])


def bounds_of_rows(space: Space, a: _core.Documents, b: _core.Documents, cost: CostName) -> Bounds:
    """Return the bounds of the first document of `a` and of `b`."""
    found = _core.bound_matrices(space.table, a, b, cost, 1, None)
    return Bounds(*found[:, 0, 0].tolist())


def compare_rows(
    space: Space,
    first: Encoded,
    a: _core.Documents,
    second: Encoded,
    b: _core.Documents,
    cost: CostName,
    words: Sequence[str] | None,
) -> Comparison:
    """Compare two documents, each the only row as it came and as the core holds it."""
    found = _core.explain(space.table, a, 0, b, 0, cost)
    source_words, target_words = a.words(0), b.words(0)
    source_masses = first.masses(0, source_words)
    target_masses = second.masses(0, target_words)
    source_names = [space.name(row, words) for row in source_words.tolist()]
    target_names = [space.name(row, words) for row in target_words.tolist()]
    sources, targets, masses = found.source, found.target, found.mass
    moves = zip(
        sources.tolist(), targets.tolist(), masses.tolist(), found.cost.tolist(), strict=True
    )
    flow = Flow.of(
        (Move(source_names[i], target_names[j], mass, price) for i, j, mass, price in moves),
        sources=zip(source_names, source_masses.tolist(), strict=True),
        targets=zip(target_names, target_masses.tolist(), strict=True),
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
    )
