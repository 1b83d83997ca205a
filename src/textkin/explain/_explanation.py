"""Interfaces (protocols) of explanations, their parts, and drawings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

__all__ = ["Contribution", "Drawing", "Explanation"]


@dataclass(frozen=True, slots=True)
class Contribution:
    """Named part of a score, with its value, a note, and nested parts.

    Attributes
    ----------
    name : str
        Source: a word, two words, a factor of a model, a ranking, or a neighbor.
    value : float
        Amount added to the score; negative if the part lowers the score.
    note : str
        Short note on the part.
    parts : tuple of Contribution
        Parts of this part, if it is a known sum.
    """

    name: str
    value: float
    note: str = ""
    parts: "tuple[Contribution, ...]" = ()


@runtime_checkable
class Drawing(Protocol):
    """Protocol of objects that draw themselves as text, SVG, and HTML.

    Names come from documents and may have any characters; each form escapes or replaces unsafe
    ones.
    """

    def to_text(self, *, width: int = ...) -> str:
        """Return the drawing as lines of at most `width` columns."""
        ...

    def to_svg(self, *, title: str = ..., embedded: bool = ...) -> str:
        """Return the drawing as an ``<svg>`` element.

        The element is self-contained, or `embedded` in a page that has the rules of `stylesheet`.
        An embedded element has neither a ``<style>`` element nor a ``style`` attribute, for pages
        with a strict content security policy.
        """
        ...

    def to_html(self, *, title: str = ...) -> str:
        """Return a self-contained HTML page without scripts."""
        ...

    def _repr_html_(self) -> str:
        """Return the drawing as HTML or SVG, which Jupyter notebooks display."""
        ...


@runtime_checkable
class Explanation(Drawing, Protocol):
    """Protocol of explanations: a score, and the parts that sum to the score.

    Transport gives a `Flow` (exact transport a `Comparison` with bounds and a certificate), word
    weights, model factors and hybrids give `Contributions`, and votes give an `Evidence`.
    """

    @property
    def score(self) -> float:
        """Explained score, which is the sum of the parts."""
        ...

    @property
    def parts(self) -> Sequence[Contribution]:
        """Parts of the score, in descending order of size."""
        ...

    def share(self, part: Any, /) -> float:  # noqa: ANN401 (a Move of a Flow is a part as well)
        """Return the contribution of a part divided by the absolute score, with its sign.

        The fractions sum to 1, to -1 for a negative score, or to 0 for a score of 0.
        """
        ...

    def to_text(
        self, *, limit: int = ..., width: int = ..., unicode: bool = ..., color: bool = ...
    ) -> str:
        """Return the `limit` largest parts and the sum of the others as lines of text.

        Without `unicode`, the drawing (not the words) is ASCII; with `color`, it has terminal
        escape sequences.
        """
        ...

    def to_svg(self, *, title: str = ..., limit: int = ..., embedded: bool = ...) -> str:
        """Draw the `limit` largest parts as an ``<svg>`` element."""
        ...

    def to_html(self, *, title: str = ..., limit: int = ...) -> str:
        """Return a self-contained HTML page with the figure and details."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return the score and its parts as a dict of JSON types."""
        ...
