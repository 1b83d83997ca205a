"""A flow as a page of its own: the picture, the numbers and every move in a table."""

from collections.abc import Iterable, Iterator

from textkin.explain._aligned import AlignedText
from textkin.explain._aligned_html import aligned_html
from textkin.explain._flow import Flow, Rest
from textkin.explain._page import page
from textkin.explain._svg import flow_svg
from textkin.explain._words import markup, shortened

__all__ = ["flow_html"]

_ROWS = 500  # of the table
_LETTERS = 60  # of a word in it


def flow_html(
    flow: Flow,
    *,
    title: str,
    source_text: str = "",
    target_text: str = "",
    aligned: AlignedText | None = None,
    facts: Iterable[tuple[str, str]] = (),
    limit: int = 20,
) -> str:
    """Return a page with a flow: picture, facts and all moves; it needs nothing from outside.

    Parameters
    ----------
    flow : Flow
        Any flow.
    title : str
        The heading.
    source_text, target_text : str, optional
        What the two columns come from, shown whole.
    aligned : AlignedText, optional
        The same with its words where they stand, shown in their place.
    facts : iterable of (str, str)
        Further lines: a name and what is to be said.
    limit : int, default=20
        How many moves the picture shows; the table has them all.

    Returns
    -------
    str
        An HTML document without scripts. Texts are escaped.

    Examples
    --------
    >>> from textkin.explain import Flow, Rest
    >>> flow = Flow.of([("<b>", 1.0)], [("press", 1.0)], [(0, 0, 1.0, 2.5)])
    >>> page = flow_html(flow, title="Two words")
    >>> "<td>&lt;b&gt;</td>" in page
    True
    """
    picture = flow_svg(flow, source_title=source_text, target_title=target_text, limit=limit)
    return page(
        title,
        [
            *_texts(aligned, source_text, target_text),
            f'<div class="wide">{picture}</div>',
            *_facts(facts),
            '<div class="wide">',
            *_moves(flow),
            "</div>",
        ],
    )


def _texts(aligned: AlignedText | None, *texts: str) -> Iterator[str]:
    if aligned is not None:
        yield aligned_html(aligned)
        return
    for text in texts:
        if text:
            yield f'<blockquote dir="auto">{_whole(text)}</blockquote>'


def _whole(text: str) -> str:
    return "\n".join(markup(line) for line in text.splitlines())


def _facts(facts: Iterable[tuple[str, str]]) -> Iterator[str]:
    rows = [
        f'<tr><th scope="row">{markup(k)}</th><td class="words">{markup(v)}</td></tr>'
        for k, v in facts
    ]
    if rows:
        yield "<table>"
        yield from rows
        yield "</table>"


def _moves(flow: Flow) -> Iterator[str]:
    yield "<table>"
    shown, rest = flow.moves[:_ROWS], flow.moves[_ROWS:]
    first = f"The first {len(shown)} of" if rest else "All"
    said = f"{first} {len(flow.moves)} moves; what all add sums to {flow.score:.6g}."
    yield f"<caption>{said}</caption>"
    heads = ("mass", "cost", "adds", "share")
    numbers = "".join(f'<th scope="col" class="number">{head}</th>' for head in heads)
    yield f'<tr><th scope="col">from</th><th scope="col">to</th>{numbers}</tr>'
    for move in shown:
        values = (
            f"{100 * move.mass:.2f} %",
            f"{move.cost:.4f}",
            f"{move.contribution:.4f}",
            f"{100 * flow.share(move):.1f} %",
        )
        cells = "".join(f'<td class="number">{value}</td>' for value in values)
        words = (markup(shortened(word, _LETTERS)) for word in (move.source, move.target))
        yield f"<tr>{''.join(f'<td>{word}</td>' for word in words)}{cells}</tr>"
    if rest:
        left = Rest.of(rest)
        yield (
            f'<tr><td colspan="2">{left.count} more</td>'
            f'<td class="number">{100 * left.mass:.2f} %</td><td></td>'
            f'<td class="number">{left.contribution:.4f}</td>'
            f'<td class="number">{100 * flow.share(left):.1f} %</td></tr>'
        )
    yield "</table>"
