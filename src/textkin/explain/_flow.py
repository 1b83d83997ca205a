"""`Flow`: a distance as moves of mass from words to words, each with a cost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from textkin._base import DrawnResult
from textkin.explain._explanation import Contribution

__all__ = ["Flow", "Move", "Rest"]


@dataclass(frozen=True, slots=True)
class Move:
    """Mass transported from a source word to a target word at a cost.

    Attributes
    ----------
    source, target : str
        The two words.
    mass : float
        Fraction of the total mass, 0 to 1.
    cost : float
        Cost of moving the total mass between these words.
    source_at, target_at : int
        Positions of the words in the two columns of the flow.
    """

    source: str
    target: str
    mass: float
    cost: float
    source_at: int
    target_at: int

    @property
    def contribution(self) -> float:
        """Contribution of the move to the distance: mass times cost."""
        return self.mass * self.cost


@dataclass(frozen=True, slots=True)
class Rest:
    """Sum of the remaining moves of a flow, which are not drawn one by one.

    Attributes
    ----------
    count : int
        Number of moves.
    mass, contribution : float
        Sums of mass and contribution.
    """

    count: int
    mass: float
    contribution: float

    @classmethod
    def of(cls, moves: Sequence[Move]) -> "Rest":
        """Create the sum of moves: their number, mass, and contribution."""
        return cls(
            len(moves), sum(move.mass for move in moves), sum(move.contribution for move in moves)
        )


@dataclass(frozen=True, slots=True)
class Flow(DrawnResult):
    """Distance explained by moves of mass between source words and target words.

    Attributes
    ----------
    score : float
        Sum of all contributions.
    sources, targets : tuple of (str, float)
        Words of both columns and their masses, which sum to 1 for each column.
    moves : tuple of Move
        Moves in descending order of contribution, then of mass, then by position.

    Examples
    --------
    >>> flow = Flow.of(
    ...     sources=[("media", 0.5), ("obama", 0.5)],
    ...     targets=[("president", 0.5), ("press", 0.5)],
    ...     moves=[(0, 1, 0.5, 1.0), (1, 0, 0.5, 3.0)],
    ... )
    >>> flow.score, flow.moves[0].source, flow.share(flow.moves[0])
    (2.0, 'obama', 0.75)
    """

    score: float
    sources: tuple[tuple[str, float], ...]
    targets: tuple[tuple[str, float], ...]
    moves: tuple[Move, ...]

    @classmethod
    def of(
        cls,
        sources: Iterable[tuple[str, float]],
        targets: Iterable[tuple[str, float]],
        moves: Iterable[tuple[int, int, float, float]],
        score: float | None = None,
    ) -> "Flow":
        """Create a flow from words with masses, and moves (source, target, mass, cost).

        Parameters
        ----------
        sources, targets : iterable of (str, float)
            Words and masses.
        moves : iterable of (int, int, float, float)
            Moves in any order.
        score : float, optional
            Sum of the contributions. If None, computed from the moves.

        Returns
        -------
        Flow
            Flow with sorted moves.
        """
        left, right = tuple(sources), tuple(targets)
        named = (Move(left[i][0], right[j][0], mass, cost, i, j) for i, j, mass, cost in moves)
        ordered = tuple(sorted(named, key=lambda move: (-move.contribution, -move.mass)))
        if score is None:
            score = sum(move.contribution for move in ordered)
        return cls(score, left, right, ordered)

    @property
    def parts(self) -> tuple[Contribution, ...]:
        """Contribution of each move with a positive cost, largest first."""
        return tuple(
            Contribution(
                f"{move.source} to {move.target}",
                move.contribution,
                f"{100 * move.mass:.3g} % at {move.cost:.4g}",
            )
            for move in self.moves
            if move.contribution
        )

    def share(self, part: Move | Rest | Contribution) -> float:
        """Return the contribution of a move as a fraction of the distance, 0 to 1."""
        adds = part.value if isinstance(part, Contribution) else part.contribution
        return adds / self.score if self.score > 0 else 0.0

    def to_text(
        self, *, limit: int = 12, width: int = 80, unicode: bool = True, color: bool = False
    ) -> str:
        """Draw the flow as lines of text; see `textkin.explain.flow_text`."""
        # Imported here, because `_flow_text` imports this module.
        from textkin.explain._flow_text import flow_text

        return flow_text(self, limit=limit, width=width, unicode=unicode, color=color)

    def to_svg(self, *, title: str = "", limit: int = 20, embedded: bool = False) -> str:
        """Draw the flow as SVG; see `textkin.explain.flow_svg`."""
        from textkin.explain._flow_svg import flow_svg

        return flow_svg(self, title=title or self._title, limit=limit, embedded=embedded)

    def to_html(self, *, title: str = "", limit: int = 20) -> str:
        """Return an HTML page with the figure and all moves; see `textkin.explain.flow_html`."""
        from textkin.explain._flow_text import flow_html

        return flow_html(self, title=title or self._title, limit=limit)

    def to_dict(self) -> dict[str, Any]:
        """Return the distance and all moves as a dict of JSON types."""
        return {
            "score": self.score,
            "flow": [
                {
                    "source": move.source,
                    "target": move.target,
                    "mass": move.mass,
                    "cost": move.cost,
                    "contribution": move.contribution,
                    "share": self.share(move),
                }
                for move in self.moves
            ],
        }

    def __repr__(self) -> str:
        return "\n".join(part for part in (f"Flow: score {self.score:.4g}", self.to_text()) if part)

    def _repr_html_(self) -> str:
        """Return the drawing as HTML or SVG, which Jupyter notebooks display."""
        return self.to_svg()

    @property
    def _title(self) -> str:
        return f"Score {self.score:.4g}"

    def split(self, limit: int) -> tuple[tuple[Move, ...], Rest, Rest]:
        """Return the `limit` largest moves, and sums of the other moves with and without cost.

        Parameters
        ----------
        limit : int
            Maximum number of moves to return; one more if only one would remain.

        Returns
        -------
        shown : tuple of Move
            Moves with the largest contributions.
        smaller : Rest
            Sum of the remaining moves with a cost.
        free : Rest
            Sum of the remaining moves without a cost, such as unchanged words.
        """
        if len(self.moves) <= limit + 1:
            return self.moves, Rest.of(()), Rest.of(())
        shown, others = self.moves[:limit], self.moves[limit:]
        smaller = Rest.of([move for move in others if move.contribution > 0])
        free = Rest.of([move for move in others if move.contribution <= 0])
        return shown, smaller, free
