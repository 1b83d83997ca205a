"""Two texts whole, with each word as far as it travels to become the other text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

from textkin._validation import integer
from textkin.explain._aligned_html import aligned_html, aligned_page
from textkin.explain._aligned_svg import aligned_svg
from textkin.explain._aligned_text import aligned_text
from textkin.explain._colour import CostScale
from textkin.explain._flow import Flow, Move

__all__ = ["AlignedPiece", "AlignedText", "Partner", "Place"]

Reason: TypeAlias = Literal["stop", "unknown"] | None


class Place(NamedTuple):
    """Where a word stands in a text.

    Attributes
    ----------
    start, end : int
        ``text[start:end]`` is the word; places ascend, and may overlap.
    words : tuple of str
        The words of the flow that it is; mostly one.
    reason : {"stop", "unknown"} or None
        Why it is no word of the flow, where it is a stop word or has no vector.
    """

    start: int
    end: int
    words: tuple[str, ...] = ()
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class Partner:
    """A word of the other text.

    Attributes
    ----------
    word : str
        As the flow names it.
    number : int
        Its place in the column of the flow.
    mass : float
        The share of all mass that moves between the two.
    cost : float
        What it costs to move all mass this way.
    """

    word: str
    number: int
    mass: float
    cost: float

    @property
    def contribution(self) -> float:
        """What it adds to the score."""
        return self.mass * self.cost


@dataclass(frozen=True, slots=True)
class AlignedPiece:
    """A part of a text: a word that counts, or what stands between such words.

    Attributes
    ----------
    text : str
        As it is in the text; all pieces joined are the text.
    word : int or None
        The place of the word in its column of the flow; None for what does not count.
    level : int or None
        How far the word travels, 0 (near) to 6 (far), in the colours of the flow; None for what
        does not count, and for a word that stays at no cost.
    cost : float or None
        How far that is: the mean cost of its mass; 0 for a word that stays.
    adds : float or None
        What the word adds to the score, with all of its occurrences.
    partners : tuple of Partner
        Where it goes, or comes from, the largest contribution first.
    reason : {"stop", "unknown"} or None
        Why a word does not count, where it is a stop word or has no vector.
    """

    text: str
    word: int | None = None
    level: int | None = None
    cost: float | None = None
    adds: float | None = None
    partners: tuple[Partner, ...] = ()
    reason: Reason = None

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain types, ready for JSON."""
        return {
            "text": self.text,
            "word": self.word,
            "level": self.level,
            "cost": self.cost,
            "adds": self.adds,
            "partners": [
                {"word": one.word, "number": one.number, "mass": one.mass, "cost": one.cost}
                for one in self.partners
            ],
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, repr=False)
class AlignedText:
    """Two texts with the words of a flow where they stand; draws itself as text, SVG and HTML.

    Attributes
    ----------
    score : float
        That of the flow.
    source, target : tuple of AlignedPiece
        The two texts, cut into pieces.
    scale : CostScale
        What the levels mean.

    Examples
    --------
    >>> flow = Flow.of([("media", 1.0)], [("press", 1.0)], [(0, 0, 1.0, 2.5)])
    >>> aligned = AlignedText.of(
    ...     flow, "The media!", [Place(4, 9, ("media",))], "Press", [Place(0, 5, ("press",))]
    ... )
    >>> [(piece.text, piece.level) for piece in aligned.source]
    [('The ', None), ('media', 3), ('!', None)]
    >>> aligned.target[0].partners[0].word
    'media'
    """

    score: float
    source: tuple[AlignedPiece, ...]
    target: tuple[AlignedPiece, ...]
    scale: CostScale

    @classmethod
    def of(
        cls,
        flow: Flow,
        source_text: str,
        source_places: Sequence[Place],
        target_text: str,
        target_places: Sequence[Place],
    ) -> "AlignedText":
        """Put the words of a flow where they stand in two texts.

        Parameters
        ----------
        flow : Flow
            Any flow.
        source_text, target_text : str
            What its two columns come from.
        source_places, target_places : sequence of Place
            Where words stand in these, in their order.

        Returns
        -------
        AlignedText
            A word that occurs several times has the same partners everywhere.
        """
        scale = CostScale.of(move.cost for move in flow.moves)
        outgoing = _Column(flow.sources, flow.moves, scale, source=True)
        incoming = _Column(flow.targets, flow.moves, scale, source=False)
        return cls(
            flow.score,
            tuple(_pieces(source_text, source_places, outgoing)),
            tuple(_pieces(target_text, target_places, incoming)),
            scale,
        )

    def to_text(self, *, width: int = 80, unicode: bool = True, color: bool = False) -> str:
        """Draw both texts in characters, one below the other.

        Parameters
        ----------
        width : int, default=80
            Columns to fill, at least 20.
        unicode : bool, default=True
            Mark words by a raised digit, 0 to 6, where there is no colour; False marks them in
            ASCII, as in ``media(3)``.
        color : bool, default=False
            Colour words by how far they travel with the escape sequences of terminals. What stays
            at no cost is underlined, what does not count is faint.

        Returns
        -------
        str
            Lines without a newline at the end; the last one says what the marks mean. Control
            characters are replaced.
        """
        integer(20).check("width", width)
        return aligned_text(self, width=width, unicode=unicode, color=color)

    def to_svg(
        self, *, title: str = "", limit: int = 24, width: int = 780, embedded: bool = False
    ) -> str:
        """Draw the beginnings of both texts beside each other.

        Parameters
        ----------
        title : str, optional
            Above the picture.
        limit : int, default=24
            How many lines of each text to draw; a page, which scrolls, has them whole.
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
        return aligned_svg(self, title=title, limit=limit, width=width, embedded=embedded)

    def to_html(self, *, title: str = "") -> str:
        """Return a page with both texts whole; a word says its partners when it is pointed at.

        Parameters
        ----------
        title : str, optional
            The heading; by default it says the score.

        Returns
        -------
        str
            An HTML document without scripts that needs nothing from outside. Texts are escaped.
        """
        return aligned_page(self, title=title)

    def to_dict(self) -> dict[str, Any]:
        """Return the pieces of both texts in plain types, ready for JSON."""
        return {
            "score": self.score,
            "low": self.scale.low,
            "high": self.scale.high,
            "source": [piece.to_dict() for piece in self.source],
            "target": [piece.to_dict() for piece in self.target],
        }

    def __repr__(self) -> str:
        return f"AlignedText: score {self.score:.4g}\n{self.to_text()}"

    def _repr_html_(self) -> str:
        """Show both texts in notebooks."""
        return aligned_html(self)


class _Column:
    """The words of one column of a flow, with all that is to be said of each."""

    def __init__(
        self,
        words: Sequence[tuple[str, float]],
        moves: Sequence[Move],
        scale: CostScale,
        *,
        source: bool,
    ) -> None:
        self._number = {word: at for at, (word, _) in enumerate(words)}
        self._scale = scale
        self._partners: dict[int, list[Partner]] = {}
        for move in moves:  # the largest contribution first
            here, there = (move.source_at, move.target_at)[:: 1 if source else -1]
            name = move.target if source else move.source
            partner = Partner(name, there, move.mass, move.cost)
            self._partners.setdefault(here, []).append(partner)

    def piece(self, text: str, place: Place) -> AlignedPiece:
        numbers = [self._number[word] for word in place.words if word in self._number]
        partners = [one for number in numbers for one in self._partners.get(number, ())]
        mass = sum(one.mass for one in partners)
        if not partners or not mass:
            return AlignedPiece(text, reason=place.reason)
        adds = sum(one.contribution for one in partners)
        level = self._scale.level(adds / mass) if adds > 0 else None
        return AlignedPiece(text, numbers[0], level, adds / mass, adds, tuple(partners))


def _pieces(text: str, places: Sequence[Place], column: _Column) -> Iterator[AlignedPiece]:
    """Cut a text; of words that overlap, each has what lies before the next one."""
    at = 0
    waiting = AlignedPiece("")  # text that does not count is one piece, however many words
    following = [*(place.start for place in places[1:]), len(text)]
    for place, next_start in zip(places, following, strict=False):
        start = max(at, place.start)
        end = min(place.end, max(start, next_start))
        waiting = replace(waiting, text=waiting.text + text[at:start])
        at = max(end, start)
        if start >= end:
            continue
        piece = column.piece(text[start:end], place)
        if piece.word is None and piece.reason is None:
            waiting = replace(waiting, text=waiting.text + piece.text)
            continue
        if waiting.text:
            yield waiting
            waiting = AlignedPiece("")
        yield piece
    rest = waiting.text + text[at:]
    if rest:
        yield AlignedPiece(rest)
