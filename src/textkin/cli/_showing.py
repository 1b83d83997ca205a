"""Hits as lines and as a record."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from textkin.cli._drawing import Look, drawn
from textkin.cli._printing import one_line

if TYPE_CHECKING:
    from textkin.index import Hit, Hits

__all__ = ["hit_lines", "query_lines", "record", "summary"]

_BOLD = ("\x1b[1m", "\x1b[22m")
_PARTS = 8  # of an explanation
_NARROWEST = 20  # of an id and a passage
_WORDS = 20  # of a query


def hit_lines(
    hits: Iterable["Hit"],
    look: Look,
    *,
    explain: bool = False,
    marks: Mapping[str, str] | None = None,
) -> list[str]:
    """Return a line with rank, score and id for each hit, its snippet below, and why.

    Parameters
    ----------
    hits : iterable of Hit
        In the order of their ranks.
    look : Look
        Of the output.
    explain : bool, default=False
        Add the parts of each score.
    marks : mapping of str to str, optional
        What to write before the rank of documents, by their ids: "+" or "-".
    """
    found = list(hits)
    width = len(str(found[-1].rank)) if found else 1
    scores = [f"{hit.score:.4f}" for hit in found]
    column = max(map(len, scores), default=0)
    lines = []
    for hit, score in zip(found, scores, strict=True):
        mark = (marks or {}).get(hit.id, " ") if marks is not None else ""
        start = f"{mark}{hit.rank:>{width}}  {score:>{column}}  "
        room = max(_NARROWEST, look.width - len(start))
        lines.append(start + (one_line([hit.id], room) if look.terminal else hit.id))
        text = hit.snippet(width=room, marks=_BOLD if look.color else ("", ""))
        if text:
            lines.append(" " * len(start) + text)
        if explain:
            lines.append(drawn(hit.explain(), limit=_PARTS, indent=len(start), look=look))
    return lines


def query_lines(hits: "Hits") -> list[str]:
    """Return the words of a query with their weights."""
    words = hits.query.words
    if words is None:
        return ["This ranking has no words with weights."]
    if not words:
        return ["The query has no words that the index knows."]
    most = max(map(abs, words.values()))
    digits = 4 if most < 1000 else 1
    lines = [
        f"{weight:>9.{digits}f}  {one_line([word])}" for word, weight in [*words.items()][:_WORDS]
    ]
    if len(words) > _WORDS:
        lines.append(f"{'':>9}  and {len(words) - _WORDS:,} more")
    return lines


def summary(hits: "Hits", *, unicode: bool = True) -> str:
    """Say in one line how many hits there are, among how many documents, and the time it took.

    For a hybrid also how many candidates it ranked; ``--json`` has all that was counted.
    """
    stats = hits.stats
    documents, searched = int(stats["documents"]), int(stats["searched"])
    number = "no hits" if not len(hits) else "1 hit" if len(hits) == 1 else f"{len(hits):,} hits"
    among = f"{documents:,}" if searched == documents else f"{searched:,} of {documents:,}"
    noun = "document" if documents == 1 else "documents"
    told = f"{number} among {among} {noun} in {_duration(stats['seconds'], unicode)}"
    if "candidates" not in stats:
        return told
    candidates = int(stats["candidates"])
    return f"{told}; {candidates:,} {'candidate' if candidates == 1 else 'candidates'}"


def record(hits: "Hits", *, explain: bool) -> dict[str, Any]:
    """Return all of it, ready for JSON."""
    found: dict[str, Any] = hits.to_dict()
    if explain:
        for hit, told in zip(hits, found["hits"], strict=True):
            told["explanation"] = hit.explain().to_dict()
    return found


def _duration(seconds: float, unicode: bool) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} {'µs' if unicode else 'us'}"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"
