"""`Contributions`: a score as a sum of named parts, which may be sums themselves."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from textkin._base import DrawnResult, integer
from textkin.explain._bars import Bar, bars_html, bars_svg, bars_text
from textkin.explain._characters import shortened
from textkin.explain._explanation import Contribution

__all__ = ["Contribution", "Contributions"]

_LONGEST_SUBJECT = 60  # columns


@dataclass(frozen=True, slots=True, repr=False)
class Contributions(DrawnResult):
    """Score explained as a sum of named parts, drawn as bars.

    Attributes
    ----------
    score : float
        Sum of the parts.
    parts : tuple of Contribution
        Parts in descending order of absolute value; equal parts in their original order.
    subject : str, default=""
        Subject of the score, such as "class 'pets'".

    Examples
    --------
    >>> found = Contributions.of([Contribution("cat", 0.5), Contribution("mat", 1.5)])
    >>> found.score, found.parts[0].name, found.share(found.parts[0])
    (2.0, 'mat', 0.75)
    >>> found
    Contributions: score 2
    mat  1.500  ████████████████████████   75 %
    cat  0.500  ████████                   25 %
    """

    score: float
    parts: tuple[Contribution, ...]
    subject: str = ""

    @classmethod
    def of(
        cls, parts: Iterable[Contribution], score: float | None = None, subject: str = ""
    ) -> "Contributions":
        """Create an explanation from its parts, sorted by size; the default score is their sum.

        Parameters
        ----------
        parts : iterable of Contribution
            Parts in any order.
        score : float, optional
            Sum of the parts. If None, computed from the parts.
        subject : str, default=""
            Subject of the score.

        Returns
        -------
        Contributions
            Sorted parts.
        """
        ordered = tuple(sorted(parts, key=lambda part: -abs(part.value)))
        if score is None:
            score = sum((part.value for part in ordered), 0.0)
        return cls(score, ordered, subject)

    def share(self, part: Contribution) -> float:
        """Return the contribution of a part divided by the absolute score, with its sign.

        The fractions sum to 1 or, for a negative score, to -1. If the score is 0, return 0.
        """
        return part.value / abs(self.score) if self.score else 0.0

    def to_text(
        self, *, limit: int = 12, width: int = 80, unicode: bool = True, color: bool = False
    ) -> str:
        """Return the parts as lines of text with bars.

        Parameters
        ----------
        limit : int, default=12
            Maximum number of parts of each sum, the largest first; the remaining parts are summed
            up.
        width : int, default=80
            Width in columns; narrow drawings omit notes and bars.
        unicode : bool, default=True
            If True, draw with lines and blocks; otherwise the drawing (not the words) is ASCII.
        color : bool, default=False
            If True, color positive and negative parts with terminal escape sequences.

        Returns
        -------
        str
            Lines without a newline at the end. Control characters in names are replaced.
        """
        integer(1).check("limit", limit)
        integer(1).check("width", width)
        return bars_text(self.bars(limit), width=width, unicode=unicode, color=color)

    def to_svg(
        self, *, title: str = "", limit: int = 12, width: int = 780, embedded: bool = False
    ) -> str:
        """Draw the parts as SVG bars: positive to the right, negative to the left.

        The figure is light or dark by the reader's setting. Blue and orange are distinguishable
        with any color vision, and numbers have their signs.

        Parameters
        ----------
        title : str, optional
            Title above the figure. If empty, a title with the score.
        limit : int, default=12
            Maximum number of parts of each sum, the largest first; the remaining parts are summed
            up.
        width : int, default=780
            Width in pixels, at least 500; the figure scales.
        embedded : bool, default=False
            If True, omit the style; the surrounding page must have the rules of `stylesheet`.

        Returns
        -------
        str
            An ``<svg>`` element. Texts are escaped.
        """
        integer(1).check("limit", limit)
        integer(500).check("width", width)
        return bars_svg(
            self.bars(limit),
            title=title or self._title,
            about=self._about,
            width=width,
            embedded=embedded,
        )

    def to_html(self, *, title: str = "", limit: int = 12) -> str:
        """Return an HTML page with the figure and a table of all parts.

        Parameters
        ----------
        title : str, optional
            Heading. If empty, a heading with the score.
        limit : int, default=12
            Maximum number of parts of each sum in the figure; the table has all parts.

        Returns
        -------
        str
            An HTML document without scripts. Texts are escaped.
        """
        integer(1).check("limit", limit)
        picture = bars_svg(self.bars(limit), title="", about=self._about, width=780)
        title = title or self._title
        return bars_html(picture, self.bars(None), title=title, score=self.score)

    def to_dict(self) -> dict[str, Any]:
        """Return the score and the nested parts as a dict of JSON types."""
        subject = {"subject": self.subject} if self.subject else {}
        return {
            "score": self.score,
            **subject,
            "parts": [self._plain(part) for part in self.parts],
        }

    def __repr__(self) -> str:
        head = f"Contributions: {self._title[0].lower()}{self._title[1:]}"
        return "\n".join(part for part in (head, self.to_text()) if part)

    def _repr_html_(self) -> str:
        """Return the drawing as HTML or SVG, which Jupyter notebooks display."""
        return self.to_svg()

    @property
    def _title(self) -> str:
        subject = f" for {shortened(self.subject, _LONGEST_SUBJECT)}" if self.subject else ""
        return f"Score {self.score:.4g}{subject}"

    @property
    def _about(self) -> str:
        return f"Parts sum to {self.score:.6g}."

    def _plain(self, part: Contribution) -> dict[str, Any]:
        return {
            "name": part.name,
            "value": part.value,
            "share": self.share(part),
            "note": part.note,
            "parts": [self._plain(inner) for inner in part.parts],
        }

    def bars(self, limit: int | None) -> list[Bar]:
        """Return the bars to draw: at most `limit` parts of each sum, then their rest."""
        return list(self._level(self.parts, limit, ()))

    def _level(
        self, parts: tuple[Contribution, ...], limit: int | None, last: tuple[bool, ...]
    ) -> Iterator[Bar]:
        """Yield a bar for each part of one sum, each followed by the bars of its own parts."""
        ordered = sorted(parts, key=lambda part: -abs(part.value))
        shown = ordered if limit is None or len(parts) <= limit + 1 else ordered[:limit]
        rest = ordered[len(shown) :]
        for at, part in enumerate(shown):
            inside = (*last, not rest and at == len(shown) - 1)
            yield Bar(part.name, part.value, self._drawn_share(part), part.note, inside)
            yield from self._level(part.parts, limit, inside)
        if rest:
            summed = Contribution("", sum(part.value for part in rest))
            name = f"{len(rest)} more"
            share = self._drawn_share(summed)
            yield Bar(name, summed.value, share, "", (*last, True), summed=True)

    def _drawn_share(self, part: Contribution) -> float:
        """Return the share of a part in the score, or NaN if the score is 0."""
        return self.share(part) if self.score or not part.value else math.nan
