"""Search hits as a text table, an SVG chart, and an HTML page."""

import math
import shutil
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from textkin._base import integer
from textkin.explain import (
    Bar,
    Contributions,
    aligned_html,
    bars_svg,
    escape_markup,
    pad,
    render_page,
    shortened,
    stylesheet,
    text_width,
)
from textkin.index.search._snippets import Marks

if TYPE_CHECKING:
    from textkin.index.search._hits import Hit, Hits

__all__ = ["hits_html", "hits_page", "hits_svg", "hits_text"]

_WIDEST_ID = 24
_LONGEST_ID = 80  # maximum width of an ID in a notebook, where there is more space
_WIDTH = integer(40)
_WIDEST = 160
_FACTS = 400  # maximum width of the metadata line, in columns
_EXPLAINED = 3  # number of hits with an explanation in a notebook


def hits_text(hits: "Hits", width: int | None = None, marks: Marks = None) -> str:
    """Format hits as a text table with snippets, as wide as the terminal."""
    if width is None:
        width = min(max(shutil.get_terminal_size().columns, 40), _WIDEST)
    _WIDTH.check("width", width)
    return "\n".join([*_lines(hits, width, marks), *hits.notes])


def hits_html(hits: "Hits") -> str:
    """Format hits as an HTML table, with matched words in ``<mark>``."""
    score = "distance" if hits.ascending else "score"
    rows = "".join(
        f"<tr><td>{hit.rank}</td><td>{hit.score:.4g}</td>"
        f"<td>{escape_markup(shortened(hit.id, _LONGEST_ID))}</td>"
        f'<td style="text-align:left">{_heading(hit)}'
        f"{hit.snippet(marks=('<mark>', '</mark>'), escape=_escaped)}"
        f"{_why(hit) if at < _EXPLAINED else ''}</td></tr>"
        for at, hit in enumerate(hits)
    )
    head = f"<thead><tr><th></th><th>{score}</th><th>id</th><th></th></tr></thead>"
    table = f"<table>{head}<tbody>{rows}</tbody></table>" if len(hits) else "<p>No hits.</p>"
    return table + "".join(f"<p>{escape_markup(note)}</p>" for note in hits.notes)


def _heading(hit: "Hit") -> str:
    heading = escape_markup(shortened(hit.heading, _FACTS))
    return f"<b>{heading}</b><br>" if heading else ""


def _why(hit: "Hit") -> str:
    return f"<details><summary>why</summary>{hit.explain().to_svg()}</details>"


def hits_svg(
    hits: "Hits", *, title: str, explained: int, limit: int, width: int, embedded: bool
) -> str:
    """Draw the scores of hits as SVG bars, with the parts of the best ones."""
    bars: list[Bar] = []
    for at, hit in enumerate(hits):
        last = at == len(hits) - 1
        bars.append(Bar(f"{hit.rank} {hit.id}", hit.score, math.nan, hit.snippet(), (last,)))
        if at < explained:
            reason = hit.explain()
            parts = Contributions(reason.score, tuple(reason.parts)).bars(limit)
            bars += [replace(part, last=(last, *part.last)) for part in parts]
    what = "distance" if hits.ascending else "score"
    return bars_svg(
        bars,
        title=title or _summary(hits),
        about=f"{_summary(hits)}, each with its {what}.",
        width=width,
        embedded=embedded,
        legend=f"bar: {what}",
    )


def hits_page(hits: "Hits", *, title: str, explained: int, limit: int) -> str:
    """Return an HTML page of hits with expandable explanations; see `Hits.to_html`."""
    style = f"{_STYLE}{stylesheet()}"
    body = [
        f"<p>{escape_markup(_summary(hits))}</p>" if len(hits) else "<p>No hits.</p>",
        *(f"<p>{escape_markup(note)}</p>" for note in hits.notes),
        '<ol class="hits">',
        *(
            line
            for at, hit in enumerate(hits)
            for line in _item(hit, hits.ascending, at < explained, limit)
        ),
        "</ol>",
    ]
    asked = hits.query.text or ("" if hits.query.like is None else f"Like {hits.query.like}")
    return render_page(title or shortened(asked, _LONGEST_ID) or "Hits", body, style)


_STYLE = (
    ".hits{list-style:none;padding:0}"
    ".hits>li{border-bottom:1px solid var(--line);padding:.8rem 0}"
    ".hits h2{margin:0;font-size:1rem}"
    ".hits .score{float:right;margin-left:1rem;color:var(--muted);"
    "font-variant-numeric:tabular-nums;font-weight:400}"
    ".hits p{margin:.3rem 0;overflow-wrap:anywhere}"
    ".hits .facts{color:var(--muted);font-size:.875rem}"
)


def _item(hit: "Hit", ascending: bool, explained: bool, limit: int) -> Iterator[str]:
    what = "distance" if ascending else "score"
    yield "<li>"
    yield (
        f'<h2><span class="score">{what} {hit.score:.4g}</span>'
        f"{hit.rank}. <bdi>{escape_markup(shortened(hit.id, _LONGEST_ID))}</bdi></h2>"
    )
    snippet = hit.snippet(marks=("<mark>", "</mark>"), escape=_escaped)
    if snippet:
        yield f'<p dir="auto">{snippet}</p>'
    facts = [f"title {hit.title}"] if hit.document.fields and hit.title else []
    facts += [f"label {hit.label}"] if hit.label is not None else []
    facts += [f"{name} {value}" for name, value in hit.metadata.items()]
    facts += [_matches(hit)] if hit.fields else []
    if facts:
        yield f'<p class="facts">{escape_markup(shortened(" · ".join(facts), _FACTS))}</p>'
    if explained:
        reason = hit.explain()
        yield f"<details><summary>why {what} {reason.score:.4g}</summary>"
        aligned = hit.aligned()
        if aligned is not None:
            yield aligned_html(aligned)
        yield f'<div class="wide">{reason.to_svg(limit=limit, embedded=True)}</div></details>'
    yield "</li>"


def _summary(hits: "Hits") -> str:
    number = "1 hit" if len(hits) == 1 else f"{len(hits):,} hits"
    ranking = hits.ranking if isinstance(hits.ranking, str) else repr(hits.ranking)
    return f"{number} by {shortened(ranking, _LONGEST_ID)}"


def _lines(hits: "Hits", width: int, marks: Marks) -> Iterator[str]:
    if not len(hits):
        yield "No hits."
        return
    ids = [shortened(hit.id, _WIDEST_ID) for hit in hits]
    scores = [f"{hit.score:.4g}" for hit in hits]
    ranks = [f"{hit.rank}" for hit in hits]
    id_width = max(2, *map(text_width, ids))
    score = "distance" if hits.ascending else "score"
    score_width = max(len(score), *map(len, scores))
    rank_width = max(map(len, ranks))
    left = width - rank_width - score_width - id_width - 6
    yield f"{'':{rank_width}}  {score:<{score_width}}  id".rstrip()
    for hit, rank, value, id in zip(hits, ranks, scores, ids, strict=True):
        start = f"{rank:>{rank_width}}  {value:<{score_width}}  {pad(id, id_width)}"
        snippet = hit.snippet(left, marks) if left >= 10 else ""
        heading = shortened(hit.heading, left) if left >= 10 else ""
        if heading:
            yield f"{start}  {heading}".rstrip()
            start = " " * text_width(start)
        if snippet or not heading:
            yield f"{start}  {snippet}".rstrip()
            start = " " * text_width(start)
        if left >= 10 and hit.fields:
            yield f"{start}  {shortened(_matches(hit), left)}"


def _matches(hit: "Hit") -> str:
    """Return the number of matching words in each text field."""
    return f"matches: {', '.join(f'{name} {count:,}' for name, count in hit.fields.items())}"


def _escaped(text: str) -> str:
    """Escape a piece of a snippet for HTML, keeping one space at each end."""
    start = " " if text[:1] == " " else ""
    end = " " if len(text) > 1 and text[-1] == " " else ""
    return f"{start}{escape_markup(text)}{end}"
