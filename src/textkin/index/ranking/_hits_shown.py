"""Hits as people look at them: a table in a terminal, a picture, a page, and remarks."""

import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textkin._validation import integer
from textkin.explain import Contributions, stylesheet
from textkin.explain._aligned_html import aligned_html
from textkin.explain._bars import Bar, bars_svg
from textkin.explain._page import page
from textkin.explain._words import columns, markup, padded, shortened
from textkin.index.ranking._snippets import Marks

if TYPE_CHECKING:
    from textkin.index.ranking._hit import Hit
    from textkin.index.ranking._hits import Hits

__all__ = ["hits_html", "hits_notes", "hits_page", "hits_svg", "hits_text"]

_WIDEST_ID = 24
_LONGEST_ID = 80  # in a notebook, where there is more room
_NAMED = 8  # unknown words that are told
_WIDTH = integer(40)
_WIDEST = 160
_FACTS = 400  # columns of metadata
_EXPLAINED = 3  # hits that say why in a notebook


def hits_text(hits: "Hits", width: int | None = None, marks: Marks = None) -> str:
    """Draw hits as a table; without a width as wide as the terminal, up to 160 columns."""
    if width is None:
        width = min(max(shutil.get_terminal_size().columns, 40), _WIDEST)
    _WIDTH.check("width", width)
    return "\n".join([*_lines(hits, width, marks), *hits.notes])


def hits_html(hits: "Hits") -> str:
    """Draw hits as a table of HTML, with matched words in ``<mark>``."""
    score = "distance" if hits.ascending else "score"
    rows = "".join(
        f"<tr><td>{hit.rank}</td><td>{hit.score:.4g}</td>"
        f"<td>{markup(shortened(hit.id, _LONGEST_ID))}</td>"
        f'<td style="text-align:left">'
        f"{hit.snippet(marks=('<mark>', '</mark>'), escape=_escaped)}"
        f"{_why(hit) if at < _EXPLAINED else ''}</td></tr>"
        for at, hit in enumerate(hits)
    )
    head = f"<thead><tr><th></th><th>{score}</th><th>id</th><th></th></tr></thead>"
    table = f"<table>{head}<tbody>{rows}</tbody></table>" if len(hits) else "<p>No hits.</p>"
    return table + "".join(f"<p>{markup(note)}</p>" for note in hits.notes)


def _why(hit: "Hit") -> str:
    return f"<details><summary>why</summary>{hit.explain().to_svg()}</details>"


def hits_svg(
    hits: "Hits", *, title: str, explained: int, limit: int, width: int, embedded: bool
) -> str:
    """Draw the scores as bars, the first ones with their parts; see `Hits.to_svg`."""
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
    """Return a page of hits with reasons that open in place; see `Hits.to_html`."""
    style = f"{_STYLE}{stylesheet()}"
    body = [
        f"<p>{markup(_summary(hits))}</p>" if len(hits) else "<p>No hits.</p>",
        *(f"<p>{markup(note)}</p>" for note in hits.notes),
        '<ol class="hits">',
        *(
            line
            for at, hit in enumerate(hits)
            for line in _item(hit, hits.ascending, at < explained, limit)
        ),
        "</ol>",
    ]
    asked = hits.query.text or ("" if hits.query.like is None else f"Like {hits.query.like}")
    return page(title or shortened(asked, _LONGEST_ID) or "Hits", body, style)


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
        f"{hit.rank}. <bdi>{markup(shortened(hit.id, _LONGEST_ID))}</bdi></h2>"
    )
    snippet = hit.snippet(marks=("<mark>", "</mark>"), escape=_escaped)
    if snippet:
        yield f'<p dir="auto">{snippet}</p>'
    facts = [f"label {hit.label}"] if hit.label is not None else []
    facts += [f"{name} {value}" for name, value in hit.metadata.items()]
    if facts:
        yield f'<p class="facts">{markup(shortened(" · ".join(facts), _FACTS))}</p>'
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
    by = hits.by if isinstance(hits.by, str) else repr(hits.by)
    return f"{number} by {shortened(by, _LONGEST_ID)}"


def hits_notes(hits: "Hits") -> Iterator[str]:
    """Give what a user should know about a search."""
    asking = hits._asking
    if not asking.view.n_documents:
        yield "The index is empty."
        return
    if hits.unknown_fields:
        yield f"No document has the field{_named(hits.unknown_fields)}."
    yield from asking.scope.notes
    if asking.scope.where is not None and not hits.unknown_fields and not asking.searched():
        yield "The filter lets no document through."
    # A model may do without words that the index knows.
    if not len(hits) and not asking.words and not hits.query.words and not asking.rounds:
        which = "query" if asking.like is None else "document"
        yield f"The {which} has no words that count."
    elif hits.unknown_words:
        yield f"No document has the word{_named(hits.unknown_words)}."
    elif not len(hits) and not asking.offset and hits.query.words == {} and not hits.ranking_notes:
        yield "No word of the query weighs anything in this ranking."
    if not asking.offset or len(hits):
        yield from hits.ranking_notes


def _lines(hits: "Hits", width: int, marks: Marks) -> Iterator[str]:
    if not len(hits):
        yield "No hits."
        return
    ids = [shortened(hit.id, _WIDEST_ID) for hit in hits]
    scores = [f"{hit.score:.4g}" for hit in hits]
    ranks = [f"{hit.rank}" for hit in hits]
    id_width = max(2, *map(columns, ids))
    score = "distance" if hits.ascending else "score"
    score_width = max(len(score), *map(len, scores))
    rank_width = max(map(len, ranks))
    left = width - rank_width - score_width - id_width - 6
    yield f"{'':{rank_width}}  {score:<{score_width}}  id".rstrip()
    for hit, rank, value, id in zip(hits, ranks, scores, ids, strict=True):
        start = f"{rank:>{rank_width}}  {value:<{score_width}}  {padded(id, id_width)}"
        snippet = hit.snippet(left, marks) if left >= 10 else ""
        yield f"{start}  {snippet}".rstrip()


def _escaped(text: str) -> str:
    """Escape a part of a snippet, which is clean but may begin or end with a space."""
    start = " " if text[:1] == " " else ""
    end = " " if len(text) > 1 and text[-1] == " " else ""
    return f"{start}{markup(text)}{end}"


def _named(names: Sequence[str]) -> str:
    """Return names in quotes, with what stands between the noun and them."""
    shown = ", ".join(f"'{shortened(name, 40)}'" for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{'s' if len(names) > 1 else ''} {shown}{more}"
