"""A score as a sum of named parts, each of which may be a sum again."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from textkin._validation import integer
from textkin.explain._bars import Bar, bars_html, bars_svg, bars_text
from textkin.explain._explanation import Contribution

__all__ = ["Contribution", "Contributions"]


@dataclass(frozen=True, slots=True, repr=False)
class Contributions:
    """Named parts that sum to a score; draws itself as text, SVG and HTML.

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
    >>> found
    Contributions: score 2
    mat  1.500  ████████████████████████   75 %
    cat  0.500  ████████                   25 %
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
            score = sum((part.value for part in ordered), 0.0)
        return cls(score, ordered)

    def share(self, part: Contribution) -> float:
        """Return how much of the score a part makes up (0 if the score is 0)."""
        return part.value / self.score if self.score else 0.0

    def to_text(
        self, *, limit: int = 12, width: int = 80, unicode: bool = True, color: bool = False
    ) -> str:
        """Draw the parts as lines of text with bars.

        Parameters
        ----------
        limit : int, default=12
            How many parts of each sum to show, the largest first; the others are summed up.
        width : int, default=80
            Columns to fill; narrow ones leave notes and bars out.
        unicode : bool, default=True
            Draw with lines and blocks; False keeps the drawing (not the words) to ASCII.
        color : bool, default=False
            Colour what adds and what takes away with the escape sequences of terminals.

        Returns
        -------
        str
            Lines without a newline at the end. Control characters of names are replaced.
        """
        integer(1).check("limit", limit)
        integer(1).check("width", width)
        return bars_text(self.bars(limit), width=width, unicode=unicode, color=color)

    def to_svg(
        self, *, title: str = "", limit: int = 12, width: int = 780, embedded: bool = False
    ) -> str:
        """Draw the parts as bars, to the right what adds and to the left what takes away.

        Light or dark with the reader's setting; blue and orange can be told apart with any colour
        vision, and the numbers have their signs.

        Parameters
        ----------
        title : str, optional
            Above the picture; by default it says the score.
        limit : int, default=12
            How many parts of each sum to draw, the largest first; the others are summed up.
        width : int, default=780
            In pixels, at least 500; the picture scales.
        embedded : bool, default=False
            Leave the style to the page around it, which has the rules of `stylesheet`.

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
        """Return a page with the picture and a table of all parts; it needs nothing from outside.

        Parameters
        ----------
        title : str, optional
            The heading; by default it says the score.
        limit : int, default=12
            How many parts of each sum the picture shows; the table has them all.

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
        """Return score and parts in plain types, ready for JSON."""
        return {"score": self.score, "parts": [self._plain(part) for part in self.parts]}

    def __repr__(self) -> str:
        head = f"Contributions: score {self.score:.4g}"
        return "\n".join(part for part in (head, self.to_text()) if part)

    def _repr_html_(self) -> str:
        """Show the picture in notebooks."""
        return self.to_svg()

    @property
    def _title(self) -> str:
        return f"Score {self.score:.4g}"

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
        """Return what is drawn: parts and the parts inside of them, so many of each sum."""
        return list(self._level(self.parts, limit, ()))

    def _level(
        self, parts: tuple[Contribution, ...], limit: int | None, last: tuple[bool, ...]
    ) -> Iterator[Bar]:
        """Draw one sum, and the sums inside of it; one more part where one would be left over."""
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
        """Return the share of a part; none is drawn where parts cancel each other out."""
        return self.share(part) if self.score or not part.value else math.nan
