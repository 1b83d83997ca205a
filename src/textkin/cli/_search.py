"""``textkin search`` and ``textkin similar``: ranked documents of an index, with explanations."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from textkin.cli._compare import read_text
from textkin.cli._documents import parse_filters
from textkin.cli._errors import note
from textkin.cli._options import (
    CsvOption,
    IndexArgument,
    JsonOption,
    OutputOption,
    WhereOption,
    open_index,
)
from textkin.cli._output import Look, Output, draw, format_documents, one_line
from textkin.run import working

if TYPE_CHECKING:
    from textkin.index import Hit, Hits, Index, RankingLike, SearchRequest

__all__ = [
    "describe_hits",
    "describe_query",
    "describe_suggestions",
    "hit_lines",
    "search",
    "similar",
]

_NOTHING_FOUND = 1  # exit code
_LONGEST_HEADING = 200  # characters
_BOLD = ("\x1b[1m", "\x1b[22m")
_PARTS = 8  # number of parts of an explanation
_MIN_WIDTH = 20  # minimum width of an ID and a snippet
_MAX_WORDS = 20  # maximum number of query words to list
_EXPLAINED = 10  # number of hits explained in HTML without --explain


class Idf(StrEnum):
    """Values of the option --idf: IDF formulas of BM25 and TF-IDF."""

    lucene = "lucene"
    okapi = "okapi"
    one = "one"
    log = "log"
    log2 = "log2"
    inverse = "inverse"
    smooth = "smooth"
    unsmoothed = "unsmoothed"
    wtmf = "wtmf"


class Variant(StrEnum):
    """Values of the option --variant: variants of TF-IDF."""

    gensim = "gensim"
    lecture = "lecture"
    wmd = "wmd"
    sklearn = "sklearn"
    sklearn_unsmoothed = "sklearn-unsmoothed"
    wtmf = "wtmf"


class SyntaxName(StrEnum):
    """Values of the option --syntax: query operators on or off."""

    auto = "auto"
    operators = "operators"
    plain = "plain"


RankingOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="bm25, tfidf, wmd, rwmd, wcd, hybrid, cosine, inner, binary, or a model.",
    ),
]
KOption = Annotated[int, typer.Option("--k", "-k", min=1, help="Maximum number of hits.")]
PageOption = Annotated[int, typer.Option(min=1, help="Page number; a page has K hits.")]
ThresholdOption = Annotated[
    float | None, typer.Option(help="Minimum score of a hit, or maximum distance.")
]
FeedbackOption = Annotated[
    int | None,
    typer.Option(min=1, metavar="M", help="Expand the query with words of the first M hits."),
]
VariantOption = Annotated[Variant | None, typer.Option(help="TF-IDF variant (tfidf only).")]
K1Option = Annotated[
    float | None,
    typer.Option(
        "--k1", help="BM25 parameter k1 (default: 1.2; for stems 1.5 without --b and --idf)."
    ),
]
BOption = Annotated[float | None, typer.Option("--b", help="BM25 parameter b (default: 0.75).")]
IdfOption = Annotated[
    Idf | None, typer.Option(help="IDF formula (bm25: lucene, okapi; tfidf: any).")
]
ExplainOption = Annotated[
    bool, typer.Option("--explain", help="Show the parts that sum to each score.")
]

SvgOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write an SVG image of the scores.")
]
HtmlOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write an HTML report of the hits, with explanations."),
]


def search(
    index: IndexArgument,
    query: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUERY",
            help="Words to search for, or - for standard input (default: interactive).",
        ),
    ] = None,
    ranking: RankingOption = "bm25",
    k: KOption = 10,
    page: PageOption = 1,
    threshold: ThresholdOption = None,
    where: WhereOption = None,
    feedback_top: FeedbackOption = None,
    variant: VariantOption = None,
    k1: K1Option = None,
    b: BOption = None,
    idf: IdfOption = None,
    explain: ExplainOption = False,
    svg: SvgOption = None,
    html: HtmlOption = None,
    interactive: Annotated[
        bool,
        typer.Option("--interactive", "-i", help="Search repeatedly, and mark hits to refine."),
    ] = False,
    syntax: Annotated[
        SyntaxName,
        typer.Option(
            help="Read operators, as in '\"new york\" +pizza -cheap label:food': in queries of at "
            "most 16 words (auto), always, or never (plain)."
        ),
    ] = SyntaxName.auto,
    json: JsonOption = False,
    csv: CsvOption = False,
    output: OutputOption = None,
) -> None:
    """Find the documents of an index that best match a query.

    Operators: "exact phrase", +required, -excluded, and field:value. Put a query with operators in
    single quotes, because shells remove double quotes.

    The exit code is 0 if there are hits, 1 if there are none (as in grep), and 2 for invalid
    input. Without QUERY on a terminal, or with --interactive, the command reads queries line by
    line: type ? for help, and mark hits with + and - to refine the query.
    """
    words = query or []
    asks = interactive or (not words and _on_terminal())
    if not words and not asks:
        raise ValueError("QUERY is missing. Pass words, - for standard input, or --interactive.")
    for name, given in (("json", json), ("csv", csv), ("output", output is not None)):
        if asks and given:
            raise ValueError(f"--{name} must come with QUERY, without --interactive.")
    if asks and explain:
        raise ValueError(
            "--explain must come with QUERY, without --interactive. To explain a hit there, type "
            "`why 2`."
        )
    if asks and page != 1:
        raise ValueError(
            "--page must come with QUERY, without --interactive. To see more hits there, type "
            "`next`."
        )
    for name, path in (("svg", svg), ("html", html)):
        if asks and path is not None:
            raise ValueError(f"--{name} must come with QUERY, without --interactive.")
    text = _query_text(words) if words else None
    with open_index(index) as opened:
        asked = "" if asks else text  # an interactive search starts with an empty query
        request = _request(
            ranking,
            k,
            page,
            threshold,
            where,
            feedback_top,
            variant,
            k1,
            b,
            idf,
            text=asked,
            syntax=syntax.value,
        )
        if asks:
            _converse(opened, request, index, text)
            return
        _answer(
            opened,
            request,
            index,
            explain=explain,
            as_json=json,
            csv=csv,
            file=output,
            svg=svg,
            html=html,
        )


def similar(
    index: IndexArgument,
    id: Annotated[str, typer.Argument(metavar="ID", help="ID of the document.")],
    ranking: RankingOption = "bm25",
    k: KOption = 10,
    page: PageOption = 1,
    threshold: ThresholdOption = None,
    where: WhereOption = None,
    feedback_top: FeedbackOption = None,
    variant: VariantOption = None,
    k1: K1Option = None,
    b: BOption = None,
    idf: IdfOption = None,
    explain: ExplainOption = False,
    svg: SvgOption = None,
    html: HtmlOption = None,
    json: JsonOption = False,
    csv: CsvOption = False,
    output: OutputOption = None,
) -> None:
    """Find the documents of an index most similar to one of them.

    The exit code is 0 if there are hits, 1 if there are none, and 2 for invalid input.
    """
    with open_index(index) as opened:
        request = _request(
            ranking, k, page, threshold, where, feedback_top, variant, k1, b, idf, id=id
        )
        _answer(
            opened,
            request,
            index,
            explain=explain,
            as_json=json,
            csv=csv,
            file=output,
            svg=svg,
            html=html,
        )


def _request(
    ranking: str,
    k: int,
    page: int,
    threshold: float | None,
    where: list[str] | None,
    feedback_top: int | None,
    variant: Variant | None,
    k1: float | None,
    b: float | None,
    idf: Idf | None,
    *,
    text: str | None = None,
    id: str | None = None,
    syntax: Literal["auto", "operators", "plain"] = "auto",
) -> "SearchRequest":
    from textkin.index import FeedbackRound, SearchRequest

    settings = {
        "variant": None if variant is None else variant.value,
        "k1": k1,
        "b": b,
        "idf": None if idf is None else idf.value,
    }
    return SearchRequest(
        query=text,
        like=id,
        ranking=_ranking_of(ranking, settings),
        k=k,
        offset=(page - 1) * k,
        threshold=threshold,
        where=parse_filters(where or ()),
        rounds=() if feedback_top is None else (FeedbackRound(pseudo=feedback_top),),
        syntax=syntax,
    )


def _answer(
    opened: "Index",
    request: "SearchRequest",
    path: Path,
    *,
    explain: bool,
    as_json: bool,
    csv: bool,
    file: Path | None,
    svg: Path | None,
    html: Path | None,
) -> None:
    output = Output.of([path], json=as_json, csv=csv, output=file, svg=svg, html=html)
    with working("Searching"):
        hits = opened.find(request)
    output.put(
        lines=lambda look: hit_lines(hits, look, explain=explain),
        record=lambda: {"index": str(path), **_record(hits, explain=explain)},
        table=lambda: _table(hits),
        svg=lambda: hits.to_svg(explained=len(hits) if explain else 0),
        html=lambda: hits.to_html(explained=len(hits) if explain else _EXPLAINED),
    )
    if not output.tells_all:
        for told in (*hits.notes, *describe_suggestions(hits)):
            note(told)
        typer.echo(f"textkin: {describe_hits(hits)}", err=True)
    if not len(hits):
        raise typer.Exit(_NOTHING_FOUND)


def _converse(opened: "Index", request: "SearchRequest", path: Path, first: str | None) -> None:
    from textkin.cli._interactive import Session, converse

    session = Session(opened, request, Look.of_output())
    if _on_terminal():
        documents = format_documents(len(opened))
        typer.echo(f"{path}: {documents}. Type words to search for, ? for help, or q to quit.")
    converse(session, None if first is None else f"search {first}")


def _query_text(words: list[str]) -> str:
    if words == ["-"]:
        return read_text("-", as_text=False)
    return read_text(" ".join(words), as_text=True)


def _on_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _ranking_of(name: str, settings: Mapping[str, Any]) -> "RankingLike":
    """Return the ranking with a name, such as "bm25", and settings, such as k1.

    Raises
    ------
    ValueError
        If the ranking does not have the setting, or the value is invalid.
    """
    from textkin.weighting import BM25, TfIdf

    given = {setting: value for setting, value in settings.items() if value is not None}
    if not given:
        return name
    owners: dict[str, tuple[Callable[..., RankingLike], set[str]]] = {
        "bm25": (BM25, {"k1", "b", "idf"}),
        "tfidf": (TfIdf, {"variant", "idf"}),
    }
    for setting in given:
        if name not in owners or setting not in owners[name][1]:
            takers = [f"--ranking {owner}" for owner, (_, has) in owners.items() if setting in has]
            raise ValueError(
                f"--{setting} must come with {' or '.join(takers)}; got --ranking {name}."
            )
    return owners[name][0](**given)


def hit_lines(
    hits: Iterable["Hit"],
    look: Look,
    *,
    explain: bool = False,
    marks: Mapping[str, str] | None = None,
) -> list[str]:
    """Return rank, score, ID, and snippet of each hit as lines, optionally with explanations.

    Parameters
    ----------
    hits : iterable of Hit
        Hits in the order of their ranks.
    look : Look
        Capabilities of the output.
    explain : bool, default=False
        If True, add the parts of each score.
    marks : mapping of str to str, optional
        Mark, "+" or "-", to print before the rank of a hit, by document ID.
    """
    found = list(hits)
    width = len(str(found[-1].rank)) if found else 1
    scores = [f"{hit.score:.4f}" for hit in found]
    column = max(map(len, scores), default=0)
    lines = []
    for hit, score in zip(found, scores, strict=True):
        mark = (marks or {}).get(hit.id, " ") if marks is not None else ""
        start = f"{mark}{hit.rank:>{width}}  {score:>{column}}  "
        room = max(_MIN_WIDTH, look.width - len(start))
        lines.append(start + (one_line([hit.id], room) if look.terminal else hit.id))
        if hit.heading:
            longest = room if look.terminal else _LONGEST_HEADING
            lines.append(" " * len(start) + one_line([hit.heading], longest))
        text = hit.snippet(width=room, marks=_BOLD if look.color else ("", ""))
        if text:
            lines.append(" " * len(start) + text)
        if hit.fields:
            found_in = ", ".join(f"{name} {count:,}" for name, count in hit.fields.items())
            lines.append(" " * len(start) + one_line([f"matches: {found_in}"], room))
        if explain:
            lines.append(draw(hit.explain(), limit=_PARTS, indent=len(start), look=look))
    return lines


def _table(hits: "Hits") -> Iterable[Sequence[object]]:
    """Yield a header and one CSV row per hit."""
    records = hits.to_records()
    names = list(dict.fromkeys(name for record in records for name in record))
    yield names or ["rank", "score", "id"]
    for record in records:
        yield [_plain(record.get(name)) for name in names]


def _plain(value: object) -> object:
    if value is None:
        return ""
    return dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def describe_query(hits: "Hits") -> list[str]:
    """Return lines with the words of a query and their weights."""
    words = hits.query.words
    if words is None:
        return ["This ranking has no word weights."]
    if not words:
        return ["No word of the query is in the index."]
    most = max(map(abs, words.values()))
    digits = 4 if most < 1000 else 1
    lines = [
        f"{weight:>9.{digits}f}  {one_line([word])}"
        for word, weight in [*words.items()][:_MAX_WORDS]
    ]
    if len(words) > _MAX_WORDS:
        lines.append(f"{'':>9}  and {len(words) - _MAX_WORDS:,} more")
    return lines


def describe_suggestions(hits: "Hits") -> list[str]:
    """Return a line per unknown query word with similar words of the index."""
    return [
        f"For '{one_line([word])}', did you mean {' or '.join(map(repr, found))}?"
        for word, found in hits.suggestions.items()
    ]


def describe_hits(hits: "Hits", *, unicode: bool = True) -> str:
    """Return a summary line: number of hits, number of documents, and search time.

    For a hybrid ranking, the line includes the number of candidates, and for phrases the number of
    texts read; ``--json`` has all counts.
    """
    stats = hits.stats
    documents, searched = int(stats["documents"]), int(stats["searched"])
    number = "no hits" if not len(hits) else "1 hit" if len(hits) == 1 else f"{len(hits):,} hits"
    among = f"{documents:,}" if searched == documents else f"{searched:,} of {documents:,}"
    noun = "document" if documents == 1 else "documents"
    told = f"{number} among {among} {noun} in {_duration(stats['seconds'], unicode)}"
    if "candidates" in stats:
        candidates = int(stats["candidates"])
        told += f"; {candidates:,} {'candidate' if candidates == 1 else 'candidates'}"
    if "verified" in stats:
        verified = int(stats["verified"])
        told += f"; {verified:,} {'text' if verified == 1 else 'texts'} read for phrases"
    return told


def _record(hits: "Hits", *, explain: bool) -> dict[str, Any]:
    """Return the hits, optionally with explanations, as a dict of JSON types."""
    found: dict[str, Any] = hits.to_dict()
    if explain:
        for hit, told in zip(hits, found["hits"], strict=True):
            told["explanation"] = hit.explain().to_dict()
    return found


def _duration(seconds: float, unicode: bool) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} {'µs' if unicode else 'us'}"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"
