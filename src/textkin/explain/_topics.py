"""`Topics`: top words of topics or classes, drawn as text, SVG, and HTML."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from textkin._base import DrawnResult, Float64Array, integer
from textkin.explain._characters import escape_markup, pad, shortened, text_width
from textkin.explain._page import DARK, LIGHT, draw_frame, draw_text, render_page, svg_style, to_hex

__all__ = ["TOPICS_STYLE", "Topic", "Topics", "top_words"]

_WORD = 16  # maximum width of the column of words
_HEAD_WORD = 11  # columns of a name above a list, next to a number
_LONGEST = 40  # columns of a word or a name in the text alternative
_CARD_WIDTH, _LINE, _HEAD, _GAP = 180, 18, 26, 16  # pixels
TOPICS_STYLE = svg_style(
    "textkin-topics",
    {".head": "font-weight:600", ".bar": "opacity:.3"},
    {"bar": (to_hex(LIGHT[0]), to_hex(DARK[0]))},
    font="13px",
)


def top_words(
    values: Float64Array, feature_names: Sequence[str], n_words: int
) -> tuple[tuple[str, float], ...]:
    """Return the words with the largest values above 0; ties are in the order of columns."""
    top = np.argsort(-values, kind="stable")[:n_words]
    return tuple((str(feature_names[at]), float(values[at])) for at in top if values[at] > 0)


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic: its most probable words (or heaviest words of a class), and its weight.

    Attributes
    ----------
    number : int
        Row of the model.
    weight : float
        Fraction of all tokens, or of all documents.
    words : tuple of (str, float)
        Words and their probabilities in the topic, or their weights, in descending order.
    name : str
        Name of a class or cluster. If empty, the number is shown.
    """

    number: int
    weight: float
    words: tuple[tuple[str, float], ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Topics(DrawnResult, Sequence[Topic]):
    """Topics with their top words, in descending order of weight.

    Examples
    --------
    >>> import numpy as np
    >>> topics = Topics.of(
    ...     np.array([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]]), ["oil", "price", "gold"],
    ...     weights=np.array([0.4, 0.6]), n_words=2,
    ... )
    >>> print(topics)
    1  60.0 %  0  40.0 %
    gold       oil
    price      price
    """

    topics: tuple[Topic, ...]

    @classmethod
    def of(
        cls,
        probabilities: Float64Array,
        feature_names: Sequence[str],
        *,
        weights: Float64Array,
        n_words: int = 10,
        names: Sequence[str] = (),
    ) -> "Topics":
        """Create topics from a matrix of word probabilities, one row per topic.

        Parameters
        ----------
        probabilities : ndarray of shape (n_topics, n_words)
            Probability of each word in each topic.
        feature_names : sequence of str
            Word of each column.
        weights : ndarray of shape (n_topics,)
            Fraction of each topic.
        n_words : int, default=10
            Maximum number of words per topic; words with probability 0 are omitted.
        names : sequence of str, optional
            Name of each topic.

        Returns
        -------
        Topics
            Topics in descending order of weight, ties by number; words with equal values by column.
        """
        integer(1).check("n_words", n_words)
        found = []
        for number in np.argsort(-weights, kind="stable"):
            pairs = top_words(probabilities[number], feature_names, n_words)
            name = names[number] if len(names) else ""
            found.append(Topic(int(number), float(weights[number]), pairs, name))
        return cls(tuple(found))

    def __getitem__(self, at):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN204
        """Return one topic, or a slice as `Topics`."""
        return Topics(self.topics[at]) if isinstance(at, slice) else self.topics[at]

    def __len__(self) -> int:
        return len(self.topics)

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, width: int = 80) -> str:
        """Return the topics as text: columns of words below each topic's number and weight.

        Parameters
        ----------
        width : int, default=80
            Width in columns.

        Returns
        -------
        str
            Lines without a newline at the end.
        """
        integer(1).check("width", width)
        return "\n\n".join("\n".join(block) for block in self._blocks(width))

    def to_svg(self, *, title: str = "", width: int = 780, embedded: bool = False) -> str:
        """Draw the topics as SVG lists of words with bars for their probabilities.

        Parameters
        ----------
        title : str, optional
            Title above the figure.
        width : int, default=780
            Width in pixels; the figure scales.
        embedded : bool, default=False
            If True, omit the style; the surrounding page must have the rules of `stylesheet`.

        Returns
        -------
        str
            An ``<svg>`` element. Words are escaped.
        """
        integer(_CARD_WIDTH + 2 * _GAP).check("width", width)
        beside = (width - _GAP) // (_CARD_WIDTH + _GAP)
        longest = max((len(topic.words) for topic in self.topics), default=0)
        high = _HEAD + longest * _LINE + _GAP
        top = _GAP + (30 if title else 0)
        body = []
        if title:
            shown = escape_markup(shortened(title, width // 11))
            body.append(draw_text(_GAP, _GAP + 16, shown, classes="ink title"))
        if not self.topics:
            body.append(draw_text(_GAP, top + 14, "no topics", classes="muted"))
        for at, topic in enumerate(self.topics):
            x = _GAP + at % beside * (_CARD_WIDTH + _GAP)
            body += _card(topic, x, top + at // beside * high)
        return draw_frame(
            TOPICS_STYLE,
            width,
            top + (-(-len(self.topics) // beside) * high or _LINE + _GAP),
            body,
            title=title or "Top words of each topic",
            about=self._describe(),
            embedded=embedded,
        )

    def to_html(self, *, title: str = "Topics") -> str:
        """Return a self-contained HTML page with the SVG figure.

        Parameters
        ----------
        title : str, default="Topics"
            Heading.

        Returns
        -------
        str
            An HTML document without scripts.
        """
        return render_page(title, [f'<div class="wide">{self.to_svg()}</div>'])

    def _repr_html_(self) -> str:
        return self.to_svg()

    def _describe(self) -> str:
        lists = (
            f"{shortened(topic.name, _LONGEST) or f'Topic {topic.number}'}, "
            f"{100 * topic.weight:.1f} %: "
            + (", ".join(shortened(word, _LONGEST) for word, _ in topic.words) or "no words")
            for topic in self.topics
        )
        return ("; ".join(lists) or "No topics") + "."

    def _blocks(self, width: int) -> Iterator[list[str]]:
        """Yield the lines of each row of topics, as many side by side as fit."""
        lists = [
            [f"{_title(topic)}  {100 * topic.weight:.1f} %"]
            + [shortened(word, _WORD) for word, _ in topic.words]
            for topic in self.topics
        ]
        start = 0
        while start < len(lists):
            block: list[list[str]] = []
            used = 0
            for column in lists[start:]:
                used += max(map(text_width, column)) + (2 if block else 0)
                if block and used > width:
                    break
                block.append(column)
            start += len(block)
            sizes = [max(map(text_width, column)) for column in block]
            rows = max(map(len, block))
            full = [column + [""] * (rows - len(column)) for column in block]
            yield ["  ".join(map(pad, row, sizes)).rstrip() for row in zip(*full, strict=True)]


def _title(topic: Topic) -> str:
    return shortened(topic.name, _WORD) or str(topic.number)


def _card(topic: Topic, x: int, y: int) -> Iterator[str]:
    head = f"{shortened(_title(topic), _HEAD_WORD)} · {100 * topic.weight:.1f} %"
    yield draw_text(x, y + 14, escape_markup(head), classes="ink head")
    most = max((probability for _, probability in topic.words), default=1.0)
    for at, (word, probability) in enumerate(topic.words):
        top = y + _HEAD + at * _LINE
        bar = max(1.0, _CARD_WIDTH * probability / most)
        yield f'<rect class="bar" x="{x}" y="{top - 2}" width="{bar:.1f}" height="{_LINE - 2}"/>'
        shown = f"\u2068{escape_markup(shortened(word, 2 * _WORD - 8))}\u2069"
        yield draw_text(x + 4, top + 11, f"{shown}<title>{probability:.3g}</title>")
