"""What every explanation is: parts that sum to a score, drawn in characters, as SVG and as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

__all__ = ["Contribution", "Drawing", "Explanation"]


@dataclass(frozen=True, slots=True)
class Contribution:
    """A part of a score.

    Attributes
    ----------
    name : str
        What it comes from: a word, two words, a factor of a model, a ranking, a neighbour.
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


@runtime_checkable
class Drawing(Protocol):
    """What draws itself in three forms, and so in a terminal, a page and a notebook.

    Words come from documents and may hold anything: every form escapes or replaces what could
    break it.
    """

    def to_text(self, *, width: int = ...) -> str:
        """Return lines of characters, so many columns wide, without a newline at the end."""
        ...

    def to_svg(self, *, title: str = ..., embedded: bool = ...) -> str:
        """Return an ``<svg>`` element.

        Complete in itself, or `embedded` in a page that has the rules of `stylesheet`: it then
        holds neither a ``<style>`` element nor a ``style`` attribute, as pages with a strict
        content security policy want it.
        """
        ...

    def to_html(self, *, title: str = ...) -> str:
        """Return a page of its own, without scripts, that needs nothing from outside."""
        ...

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        ...


@runtime_checkable
class Explanation(Drawing, Protocol):
    """Why a score is what it is: parts that sum to it.

    Every method builds its own: transport a `Flow` (a `Comparison` with bounds and proof where it
    is exact), weighted words, factors of models and hybrids `Contributions`, votes an `Evidence`.
    """

    @property
    def score(self) -> float:
        """What the parts sum to."""
        ...

    @property
    def parts(self) -> Sequence[Contribution]:
        """The parts, the largest first."""
        ...

    def share(self, part: Any, /) -> float:  # noqa: ANN401 (a Move of a Flow is a part as well)
        """Return how much of the score a part makes up; all together 1, or 0 of a score of 0."""
        ...

    def to_text(
        self, *, limit: int = ..., width: int = ..., unicode: bool = ..., color: bool = ...
    ) -> str:
        """Return lines of characters: the largest parts, and how much the others sum to.

        Without `unicode` the drawing (not the words) keeps to ASCII; with `color` it has the
        escape sequences of terminals.
        """
        ...

    def to_svg(self, *, title: str = ..., limit: int = ..., embedded: bool = ...) -> str:
        """Return an ``<svg>`` element with the largest parts; see `Drawing.to_svg`."""
        ...

    def to_html(self, *, title: str = ..., limit: int = ...) -> str:
        """Return a page with the picture and more; see `Drawing.to_html`."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types, ready for JSON."""
        ...
