"""`AlignedText`: two texts with the transport distance of each word."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

from textkin._base import DrawnResult, integer
from textkin.explain._aligned_drawing import aligned_html, aligned_page, aligned_svg, aligned_text
from textkin.explain._flow import Flow, Move
from textkin.explain._page import CostScale

__all__ = ["AlignedPiece", "AlignedText", "Partner", "Place"]

Reason: TypeAlias = Literal["stop", "unknown"] | None


class Place(NamedTuple):
    """Span of a word in a text, and the name of the word in the flow.

    Attributes
    ----------
    start, end : int
        Offsets: ``text[start:end]`` is the word. Spans are in ascending order, and may overlap.
    words : tuple of str
        Words of the flow at this span; usually one.
    reason : {"stop", "unknown"} or None
        Reason why the span is not a word of the flow: a stop word, or no vector.
    """

    start: int
    end: int
    words: tuple[str, ...] = ()
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class Partner:
    """Word of the other text to or from which a word moves, with mass and cost.

    Attributes
    ----------
    word : str
        Word, as in the flow.
    number : int
        Position in the column of the flow.
    mass : float
        Fraction of the total mass transported between the two words.
    cost : float
        Cost of moving the total mass between the two words.
    """

    word: str
    number: int
    mass: float
    cost: float

    @property
    def contribution(self) -> float:
        """Contribution of this pair of words to the distance: mass times cost."""
        return self.mass * self.cost


@dataclass(frozen=True, slots=True)
class AlignedPiece:
    """Piece of a text: a word with its partners, or text between such words.

    Attributes
    ----------
    text : str
        Text of the piece, unchanged; all pieces joined are the whole text.
    word : int or None
        Position of the word in its column of the flow. If None, the piece is not compared.
    level : int or None
        Distance class of the word, 0 (smallest) to 6 (largest), as the colors of the flow. If None,
        the piece is not compared, or the word stays at no cost.
    cost : float or None
        Mean cost of the word's mass; 0 for a word that stays.
    adds : float or None
        Contribution of all occurrences of the word to the score.
    partners : tuple of Partner
        Words that it moves to or from, the largest contribution first.
    reason : {"stop", "unknown"} or None
        Reason why the piece is not compared: a stop word, or no vector.
    """

    text: str
    word: int | None = None
    level: int | None = None
    cost: float | None = None
    adds: float | None = None
    partners: tuple[Partner, ...] = ()
    reason: Reason = None

    def to_dict(self) -> dict[str, Any]:
        """Return text, word, and partners of the piece as a dict of JSON types."""
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
class AlignedText(DrawnResult):
    """Two texts in which each compared word has its partners in the other text.

    Attributes
    ----------
    score : float
        Score of the flow.
    source, target : tuple of AlignedPiece
        The two texts, split into pieces.
    scale : CostScale
        Costs of the distance classes.

    Examples
    --------
    >>> flow = Flow.of([("media", 1.0)], [("press", 1.0)], [(0, 0, 1.0, 2.5)])
    >>> aligned = AlignedText.of(
    ...     flow, "The media!", [Place(4, 9, ("media",))], "Press", [Place(0, 5, ("press",))]
    ... )
    >>> [(piece.text, piece.level) for piece in aligned.source]
    [('The ', None), ('media', 6), ('!', None)]
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
        """Create aligned texts from a flow, and the spans of its words in both texts.

        Parameters
        ----------
        flow : Flow
            Flow between the words of the two texts.
        source_text, target_text : str
            Texts of the two columns.
        source_places, target_places : sequence of Place
            Spans of the words in these texts, in ascending order.

        Returns
        -------
        AlignedText
            Aligned texts. All occurrences of a word have the same partners.
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
        """Return both texts as lines with marked words, one text below the other.

        Parameters
        ----------
        width : int, default=80
            Width in columns, at least 20.
        unicode : bool, default=True
            If True, mark the distance class of words by a raised digit, 0 to 6, unless `color` is
            True. If False, use ASCII, as in ``media(3)``.
        color : bool, default=False
            If True, color words by distance with terminal escape sequences. Words that stay at no
            cost are underlined, and text that is not compared is faint.

        Returns
        -------
        str
            Lines without a newline at the end; the last line explains the marks. Control characters
            are replaced.
        """
        integer(20).check("width", width)
        return aligned_text(self, width=width, unicode=unicode, color=color)

    def to_svg(
        self, *, title: str = "", limit: int = 24, width: int = 780, embedded: bool = False
    ) -> str:
        """Draw the first lines of both texts side by side as SVG, words colored by cost.

        Parameters
        ----------
        title : str, optional
            Title above the figure.
        limit : int, default=24
            Maximum number of lines per text. The HTML page, which scrolls, has the whole texts.
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
        return aligned_svg(self, title=title, limit=limit, width=width, embedded=embedded)

    def to_html(self, *, title: str = "") -> str:
        """Return an HTML page with both texts; hovering over a word highlights its partners.

        Parameters
        ----------
        title : str, optional
            Heading. If empty, a heading with the score.

        Returns
        -------
        str
            A self-contained HTML document without scripts. Texts are escaped.
        """
        return aligned_page(self, title=title)

    def to_dict(self) -> dict[str, Any]:
        """Return the pieces of both texts as a dict of JSON types."""
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
        """Return the drawing as HTML or SVG, which Jupyter notebooks display."""
        return aligned_html(self)


class _Column:
    """Words on one side of a flow (source or target), each with its moves."""

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
        for move in moves:  # in descending order of contribution
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
    """Split a text at the spans of its compared words; spans that overlap are cut."""
    at = 0
    waiting = AlignedPiece("")  # consecutive text that is not compared is one piece
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
