"""Drawing of classification evidence as lines of text, SVG, and HTML."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textkin.explain._bars import bars_svg
from textkin.explain._characters import escape_markup, pad, shortened, text_width
from textkin.explain._contributions import Contributions
from textkin.explain._explanation import Contribution
from textkin.explain._page import DARK, LIGHT, render_page, to_hex

if TYPE_CHECKING:
    from textkin.explain._evidence import Evidence, Neighbor

__all__ = ["evidence_html", "evidence_page", "evidence_svg", "evidence_text"]

_LABEL, _NAME = 24, 20  # maximum widths, in columns
_SHORTEST = 10  # minimum width of a snippet, in columns
_LETTERS = 80  # columns of a label or a name in HTML
_HEAD = 36  # columns of a label in the first line
_SNIPPET = 300  # columns of a snippet in HTML
_SHOWN = 50  # neighbors in a table
_STYLE = (
    "<style>.textkin-evidence section{margin:1.5rem 0}"
    ".textkin-evidence h2{font-size:1.15rem}"
    ".textkin-evidence table{border-collapse:collapse;width:100%;min-width:30rem}"
    ".textkin-evidence td,.textkin-evidence th{text-align:left;padding:.25rem .6rem;"
    "vertical-align:top}"
    ".textkin-evidence .number{text-align:right;white-space:nowrap;"
    "font-variant-numeric:tabular-nums}"
    ".textkin-evidence .label{min-width:5rem;max-width:14rem;overflow-wrap:break-word}"
    ".textkin-evidence td.words{overflow-wrap:anywhere;width:60%}"
    ".textkin-evidence blockquote{overflow-wrap:anywhere;margin:.5rem 0}"
    ".textkin-evidence .bar{display:block;height:.3rem;margin-left:auto;"
    f"background:{to_hex(LIGHT[0])}}}"
    ".textkin-evidence summary{cursor:pointer;padding:.25rem 0}"
    ".textkin-evidence .wide{overflow-x:auto}"
    "@media (prefers-color-scheme:dark){.textkin-evidence .bar{background:"
    f"{to_hex(DARK[0])}}}}}</style>"
)

# ------------------------------------------------------------------ characters


def evidence_text(
    evidence: "Evidence", *, limit: int, explained: int, width: int, unicode: bool, color: bool
) -> str:
    """Draw labels, votes, and neighbors as lines of text; see `Evidence.to_text`."""
    lines = [
        *_vote_lines(evidence, limit, width, unicode, color),
        *_reason_lines(evidence, explained, width, unicode, color),
    ]
    return "\n".join(lines)


def _vote_lines(
    evidence: "Evidence", limit: int, width: int, unicode: bool, color: bool
) -> Iterator[str]:
    cut = partial(shortened, unicode=unicode)
    yield cut(_describe_verdict(evidence), width)
    own = _join_name("" if evidence.id is None else evidence.id, evidence.snippet)
    if own:
        yield f"  {cut(own, width - 2)}"
    if not evidence.neighbors:
        return
    shown, rest = _split_neighbors(evidence, limit)
    labels = [cut(str(neighbor.label), _LABEL) for neighbor in shown]
    distances = [f"{neighbor.distance:.4g}" for neighbor in shown]
    names = [cut(neighbor.name, _NAME) for neighbor in shown]
    label_width = max(len("label"), *map(text_width, labels))
    distance_width = max(len("distance"), *map(len, distances))
    name_width = max(map(text_width, names))
    left = width - label_width - distance_width - name_width - 15
    yield f"   vote  {pad('label', label_width)}  {'distance':>{distance_width}}  document"
    for neighbor, label, distance, name in zip(shown, labels, distances, names, strict=True):
        snippet = cut(neighbor.snippet, left) if left >= _SHORTEST else ""
        vote = f"{_percent(neighbor.vote):>5}"
        if color:
            red, green, blue = DARK[0 if neighbor.label == evidence.label else -1]
            vote = f"\x1b[38;2;{red};{green};{blue}m{vote}\x1b[0m"
        yield (
            f"  {vote}  {pad(label, label_width)}  "
            f"{distance:>{distance_width}}  {pad(name, name_width)}  {snippet}"
        ).rstrip()
    if rest:
        yield f"  {_percent(sum(neighbor.vote for neighbor in rest)):>5}  {len(rest)} more"


def _reason_lines(
    evidence: "Evidence", explained: int, width: int, unicode: bool, color: bool
) -> Iterator[str]:
    for rank, neighbor in enumerate(evidence.neighbors[:explained]):
        reason = evidence.explain(rank)
        if reason is not None:
            name = shortened(neighbor.name, _NAME, unicode=unicode)
            yield f"  why {name}: parts of {evidence.parts_of}"
            drawn = reason.to_text(width=width - 4, unicode=unicode, color=color)
            for line in drawn.splitlines():
                yield f"    {line}".rstrip()


def _split_neighbors(
    evidence: "Evidence", limit: int
) -> tuple[tuple["Neighbor", ...], tuple["Neighbor", ...]]:
    """Split neighbors into shown ones and hidden ones; a single one is never hidden."""
    found = evidence.neighbors
    cut = len(found) if len(found) <= limit + 1 else limit
    return found[:cut], found[cut:]


def _describe_verdict(evidence: "Evidence") -> str:
    label = shortened(str(evidence.label), _HEAD)
    if not evidence.neighbors:
        why = "nothing to compare" if evidence.empty else "no neighbors"
        return f"{label}: the most frequent class, because the document has {why}"
    found = len(evidence.neighbors)
    asked = sum(neighbor.vote > 0 for neighbor in evidence.neighbors)
    said = "1 neighbor" if found == 1 else f"{found} neighbors"
    if asked < found:
        said = f"{asked} of {said}"
    return f"{label}: {_percent(evidence.score)} of the votes of {said}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _join_name(name: str, snippet: str) -> str:
    return "  ".join(part for part in (name, snippet) if part)


# ------------------------------------------------------------------ SVG


def evidence_svg(
    evidence: "Evidence", *, title: str, limit: int, width: int, embedded: bool
) -> str:
    """Draw the votes of each label as SVG bars; see `Evidence.to_svg`."""
    votes: dict[Any, list[Contribution]] = {}
    for one in evidence.neighbors:
        named = Contribution(_join_name(one.name, one.snippet), one.vote, f"at {one.distance:.4g}")
        votes.setdefault(one.label, []).append(named)
    classes = Contributions(
        1.0,
        tuple(
            Contribution(str(label), share, "", tuple(votes.get(label, ())))
            for label, share in evidence.shares
        ),
    )
    return bars_svg(
        classes.bars(limit),
        title=title or _describe_verdict(evidence),
        about=f"{_describe_verdict(evidence)}.",
        width=width,
        embedded=embedded,
        legend="bar: share of the votes",
    )


# ------------------------------------------------------------------ HTML


def evidence_page(
    items: Sequence["Evidence"], *, title: str, limit: int, explained: int, neighbors: int = _SHOWN
) -> str:
    """Return an HTML page with the evidence of documents; see `EvidenceList.to_html`."""
    counts = Counter(str(item.label) for item in items)
    classes = ", ".join(f"{label} {count:,}" for label, count in counts.most_common())
    said = "1 document" if len(items) == 1 else f"{len(items):,} documents"
    shown = items[:limit]
    left = f" The first {len(shown):,} are shown." if len(shown) < len(items) else ""
    summary = f"{said}: {shortened(classes, 400)}.{left}" if items else "No documents."
    votes = evidence_html(shown, explained=explained, neighbors=neighbors, heading="h2")
    return render_page(title or "Evidence", [f"<p>{escape_markup(summary)}</p>", votes])


def evidence_html(
    items: Sequence["Evidence"], *, explained: int, neighbors: int = _SHOWN, heading: str = "h4"
) -> str:
    """Return the evidence of documents as HTML to embed in a page."""
    parts = [line for item in items for line in _html_section(item, explained, neighbors, heading)]
    return "\n".join([f'<div class="textkin-evidence">{_STYLE}', *parts, "</div>"])


def _html_section(
    evidence: "Evidence", explained: int, neighbors: int, heading: str
) -> Iterator[str]:
    yield "<section>"
    yield f"<{heading}>{escape_markup(shortened(_describe_verdict(evidence), 200))}</{heading}>"
    if evidence.id is not None or evidence.snippet:
        yield f"<blockquote>{_html_name(evidence.id, evidence.snippet)}</blockquote>"
    if len(evidence.shares) > 1:
        shares = " · ".join(
            f"{shortened(str(label), _LETTERS)} {_percent(share)}"
            for label, share in evidence.shares
        )
        yield f"<p>{escape_markup(shares)}</p>"
    if evidence.neighbors:
        yield '<div class="wide"><table>'
        yield (
            '<tr><th scope="col">label</th><th scope="col" class="number">vote</th>'
            '<th scope="col" class="number">distance</th><th scope="col">document</th></tr>'
        )
        largest = max(neighbor.vote for neighbor in evidence.neighbors)
        shown, rest = _split_neighbors(evidence, neighbors)
        yield from (_table_row(neighbor, largest) for neighbor in shown)
        if rest:
            votes = _percent(sum(neighbor.vote for neighbor in rest))
            yield f'<tr><td></td><td class="number">{votes}</td><td></td>'
            yield f"<td>{len(rest)} more</td></tr>"
        yield "</table></div>"
    for rank, neighbor in enumerate(evidence.neighbors[:explained]):
        reason: Any = evidence.explain(rank)
        if reason is not None:
            name = (
                f"Why {shortened(neighbor.name, _LETTERS)} is similar: parts of {evidence.parts_of}"
            )
            opened = ' open=""' if rank == 0 else ""
            yield f"<details{opened}><summary>{escape_markup(name)}</summary>"
            yield f'<div class="wide">{reason.to_svg()}</div></details>'
    yield "</section>"


def _table_row(neighbor: "Neighbor", largest: float) -> str:
    label = escape_markup(shortened(str(neighbor.label), _LETTERS))
    length = 3 * neighbor.vote / largest
    bar = f'<span class="bar" style="width:{length:.2f}rem"></span>'
    return (
        f'<tr><td class="label">{label}</td>'
        f'<td class="number">{_percent(neighbor.vote)}{bar}</td>'
        f'<td class="number">{neighbor.distance:.4g}</td>'
        f'<td class="words">{_html_name(neighbor.name, neighbor.snippet)}</td></tr>'
    )


def _html_name(name: str | None, snippet: str) -> str:
    bold = "" if name is None else f"<b>{escape_markup(shortened(name, _LETTERS))}</b>"
    return " ".join(part for part in (bold, escape_markup(shortened(snippet, _SNIPPET))) if part)
