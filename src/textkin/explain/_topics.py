"""The top words of each topic, and their drawing as text, SVG and HTML."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from textkin._typing import Float64Array
from textkin._validation import integer
from textkin.explain._words import clean, columns, markup, padded, shortened

__all__ = ["Topic", "Topics"]

_WORD = 16  # widest column of words
_CARD_WIDTH, _LINE, _HEAD, _GAP = 180, 18, 26, 16  # pixels of a picture
_STYLE = (
    ".textkin-topics text{font:13px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;"
    "unicode-bidi:isolate}"
    ".textkin-topics .head{font-weight:600}"
    ".textkin-topics .ground{fill:#fff}.textkin-topics .ink{fill:#1b1b22}"
    ".textkin-topics .bar{fill:#0072b2;opacity:.25}"
    "@media (prefers-color-scheme:dark){.textkin-topics .ground{fill:#17171c}"
    ".textkin-topics .ink{fill:#ececf1}.textkin-topics .bar{fill:#56b4e9;opacity:.35}}"
)


@dataclass(frozen=True, slots=True)
class Topic:
    """The most probable words of a topic, or the heaviest ones of a class.

    Attributes
    ----------
    number : int
        Its row of the model.
    weight : float
        The part of all tokens, or of all documents, that it has.
    words : tuple of (str, float)
        Words and their probabilities in the topic, or their weights, the largest first.
    name : str
        What it is called, if it is a class or a cluster; its number otherwise.
    """

    number: int
    weight: float
    words: tuple[tuple[str, float], ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Topics(Sequence[Topic]):
    """Topics, the heaviest first; draws itself as text, SVG and HTML.

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
        words: Sequence[str],
        *,
        weights: Float64Array,
        n_words: int = 10,
        names: Sequence[str] = (),
    ) -> "Topics":
        """Take the top words of rows of probabilities.

        Parameters
        ----------
        probabilities : ndarray of shape (n_topics, n_words)
            Of each word in each topic.
        words : sequence of str
            The word of each column.
        weights : ndarray of shape (n_topics,)
            The part that each topic has.
        n_words : int, default=10
            Words of each topic; those of probability 0 are left out.
        names : sequence of str, optional
            What each topic is called.

        Returns
        -------
        Topics
            The heaviest first, equal ones by number; equal words by column.
        """
        integer(1).check("n_words", n_words)
        found = []
        for number in np.argsort(-weights, kind="stable"):
            row = probabilities[number]
            top = np.argsort(-row, kind="stable")[:n_words]
            pairs = tuple((str(words[at]), float(row[at])) for at in top if row[at] > 0)
            name = names[number] if len(names) else ""
            found.append(Topic(int(number), float(weights[number]), pairs, name))
        return cls(tuple(found))

    def __getitem__(self, at):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN204
        """Return a topic by its place, or a slice of them as `Topics`."""
        return Topics(self.topics[at]) if isinstance(at, slice) else self.topics[at]

    def __len__(self) -> int:
        return len(self.topics)

    def __str__(self) -> str:
        return self.text()

    def text(self, *, width: int = 80) -> str:
        """Draw the topics as columns of words, as many beside each other as fit.

        Parameters
        ----------
        width : int, default=80
            Columns to fill.

        Returns
        -------
        str
            Lines without a newline at the end.
        """
        integer(1).check("width", width)
        return "\n\n".join("\n".join(block) for block in self._blocks(width))

    def svg(self, *, width: int = 780) -> str:
        """Draw the topics as lists with bars as long as the probabilities.

        Parameters
        ----------
        width : int, default=780
            In pixels; the picture scales.

        Returns
        -------
        str
            An ``<svg>`` element, complete in itself. Words are escaped.
        """
        integer(_CARD_WIDTH + 2 * _GAP).check("width", width)
        beside = (width - _GAP) // (_CARD_WIDTH + _GAP)
        longest = max((len(topic.words) for topic in self.topics), default=0)
        high = _HEAD + longest * _LINE + _GAP
        height = _GAP + -(-len(self.topics) // beside) * high
        cards = (
            _card(topic, _GAP + at % beside * (_CARD_WIDTH + _GAP), _GAP + at // beside * high)
            for at, topic in enumerate(self.topics)
        )
        return "\n".join(
            [
                '<svg xmlns="http://www.w3.org/2000/svg" class="textkin-topics" role="img" '
                f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
                'style="max-width:100%;height:auto">',
                "<title>The top words of each topic</title>",
                f"<desc>{markup(self._in_words())}</desc>",
                f"<style>{_STYLE}</style>",
                f'<rect class="ground" width="{width}" height="{height}" rx="6"/>',
                *(line for card in cards for line in card),
                "</svg>",
            ]
        )

    def html(self) -> str:
        """Return a page with the picture; it needs nothing from outside.

        Returns
        -------
        str
            An HTML document without scripts.
        """
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            "<title>Topics</title>\n<style>:root{color-scheme:light dark}</style>\n</head>\n"
            f"<body>\n{self.svg()}\n</body>\n</html>\n"
        )

    def _repr_html_(self) -> str:
        return self.svg()

    def _in_words(self) -> str:
        lists = (
            f"{clean(topic.name) or f'Topic {topic.number}'}, {100 * topic.weight:.1f} %: "
            + ", ".join(word for word, _ in topic.words)
            for topic in self.topics
        )
        return "; ".join(lists) + "."

    def _blocks(self, width: int) -> Iterator[list[str]]:
        """Set as many columns beside each other as fit, at least one."""
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
                used += max(map(columns, column)) + (2 if block else 0)
                if block and used > width:
                    break
                block.append(column)
            start += len(block)
            sizes = [max(map(columns, column)) for column in block]
            rows = max(map(len, block))
            full = [column + [""] * (rows - len(column)) for column in block]
            yield ["  ".join(map(padded, row, sizes)).rstrip() for row in zip(*full, strict=True)]


def _title(topic: Topic) -> str:
    return shortened(topic.name, _WORD) or str(topic.number)


def _card(topic: Topic, x: int, y: int) -> Iterator[str]:
    head = f"{_title(topic)} · {100 * topic.weight:.1f} %"
    yield f'<text x="{x}" y="{y + 14}" class="ink head">{markup(head)}</text>'
    most = max((probability for _, probability in topic.words), default=1.0)
    for at, (word, probability) in enumerate(topic.words):
        top = y + _HEAD + at * _LINE
        bar = max(1.0, _CARD_WIDTH * probability / most)
        yield f'<rect class="bar" x="{x}" y="{top - 2}" width="{bar:.1f}" height="{_LINE - 2}"/>'
        text = f"\u2068{markup(shortened(word, 2 * _WORD - 8))}\u2069"
        hint = f"<title>{probability:.3g}</title>"
        yield f'<text x="{x + 4}" y="{top + 11}" class="ink">{text}{hint}</text>'
