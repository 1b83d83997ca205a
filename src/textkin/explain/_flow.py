"""A score as mass that moves: who goes where, how much of it, at what cost."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Flow", "Move"]


@dataclass(frozen=True, slots=True)
class Move:
    """Mass that goes from one word to another.

    Attributes
    ----------
    source, target : str
        The two words.
    mass : float
        The share of all mass that moves, 0 to 1.
    cost : float
        What it would cost to move all mass this way.
    """

    source: str
    target: str
    mass: float
    cost: float

    @property
    def contribution(self) -> float:
        """What this move adds to the score: mass times cost."""
        return self.mass * self.cost


@dataclass(frozen=True, slots=True)
class Flow:
    """Moves between two columns of words; their contributions sum to the score.

    Attributes
    ----------
    score : float
        The sum of all contributions.
    moves : tuple of Move
        The largest contribution first; equal ones by larger mass, then by position.
    sources, targets : tuple of (str, float)
        The words of both columns and their masses, which sum to 1 on either side.

    Examples
    --------
    >>> flow = Flow.of(
    ...     [Move("media", "press", 0.5, 1.0), Move("obama", "president", 0.5, 3.0)],
    ...     sources=[("media", 0.5), ("obama", 0.5)],
    ...     targets=[("president", 0.5), ("press", 0.5)],
    ... )
    >>> flow.score, flow.moves[0].source, flow.share(flow.moves[0])
    (2.0, 'obama', 0.75)
    """

    score: float
    moves: tuple[Move, ...]
    sources: tuple[tuple[str, float], ...]
    targets: tuple[tuple[str, float], ...]

    @classmethod
    def of(
        cls,
        moves: Iterable[Move],
        *,
        sources: Iterable[tuple[str, float]],
        targets: Iterable[tuple[str, float]],
        score: float | None = None,
    ) -> "Flow":
        """Order the moves and, unless given, sum up the score."""
        ordered = tuple(sorted(moves, key=lambda move: (-move.contribution, -move.mass)))
        if score is None:
            score = sum(move.contribution for move in ordered)
        return cls(score, ordered, tuple(sources), tuple(targets))

    def share(self, move: Move) -> float:
        """Return the part of the score that a move makes up, 0 to 1 (0 if the score is 0)."""
        return move.contribution / self.score if self.score > 0 else 0.0
