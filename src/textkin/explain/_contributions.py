"""A score as a sum of named parts, each of which may be a sum again."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Contribution", "Contributions"]


@dataclass(frozen=True, slots=True)
class Contribution:
    """A part of a score.

    Attributes
    ----------
    name : str
        What it comes from: a word, a factor of a model, a ranking.
    value : float
        What it adds, or takes away if it is below 0.
    note : str
        How it came about, in a few words.
    parts : tuple of Contribution
        What it is the sum of, if that is known.
    """

    name: str
    value: float
    note: str = ""
    parts: "tuple[Contribution, ...]" = ()


@dataclass(frozen=True, slots=True)
class Contributions:
    """Named parts that sum to a score.

    Attributes
    ----------
    score : float
        Their sum.
    parts : tuple of Contribution
        The largest first, by what they add or take away; equal ones as they came.

    Examples
    --------
    >>> found = Contributions.of([Contribution("cat", 0.5), Contribution("mat", 1.5)])
    >>> found.score, found.parts[0].name, found.share(found.parts[0])
    (2.0, 'mat', 0.75)
    """

    score: float
    parts: tuple[Contribution, ...]

    @classmethod
    def of(cls, parts: Iterable[Contribution], score: float | None = None) -> "Contributions":
        """Put parts in order.

        Parameters
        ----------
        parts : iterable of Contribution
            In any order.
        score : float, optional
            Their sum, if it is known more exactly than by adding them up.

        Returns
        -------
        Contributions
            The largest part first.
        """
        ordered = tuple(sorted(parts, key=lambda part: -abs(part.value)))
        if score is None:
            score = sum(part.value for part in ordered)
        return cls(score, ordered)

    def share(self, part: Contribution) -> float:
        """Return how much of the score a part makes up (0 if the score is 0)."""
        return part.value / self.score if self.score else 0.0
