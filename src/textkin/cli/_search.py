"""``textkin search`` and ``textkin similar``: the nearest documents of an index, and why."""

import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textkin.cli._opened import IndexArgument, opened_index
from textkin.cli._printing import JsonOption, note

if TYPE_CHECKING:
    from textkin.cli._asking import Request
    from textkin.index import Index

__all__ = ["search", "similar"]

_NOTHING_FOUND = 1
_EXPLAINED = 10  # hits of a page whose reasons are drawn without --explain


class Idf(StrEnum):
    """The idf formulas of BM25 and TF-IDF."""

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
    """The variants of TF-IDF."""

    gensim = "gensim"
    lecture = "lecture"
    wmd = "wmd"
    sklearn = "sklearn"
    sklearn_unsmoothed = "sklearn-unsmoothed"
    wtmf = "wtmf"


ByOption = Annotated[
    str,
    typer.Option(
        metavar="RANKING",
        help="bm25, tfidf, wmd, rwmd, wcd, hybrid, cosine, inner, binary, or an attached model.",
    ),
]
KOption = Annotated[int, typer.Option("--k", "-k", min=1, help="How many hits at most.")]
PageOption = Annotated[int, typer.Option(min=1, help="Which page of so many hits.")]
ThresholdOption = Annotated[
    float | None, typer.Option(help="The score that hits have at least; a distance: at most.")
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="EXPR",
        help="Only documents like 'year>=2015 and lang in (en, de)'; of several all must hold.",
    ),
]
FeedbackOption = Annotated[
    int | None,
    typer.Option(min=1, metavar="M", help="Move the query towards the first M hits first."),
]
VariantOption = Annotated[Variant | None, typer.Option(help="Of --by tfidf.")]
K1Option = Annotated[float | None, typer.Option("--k1", help="Of --by bm25; else 1.2.")]
BOption = Annotated[float | None, typer.Option("--b", help="Of --by bm25; else 0.75.")]
IdfOption = Annotated[Idf | None, typer.Option(help="Of --by bm25 (lucene, okapi) and tfidf.")]
ExplainOption = Annotated[
    bool, typer.Option("--explain", help="Show the parts that sum to each score.")
]

SvgOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the scores as a picture.")
]
HtmlOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a page of the hits, with reasons.")
]


def search(
    index: IndexArgument,
    query: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUERY",
            help="Words to look for; or - for standard input. None on a terminal: interactive.",
        ),
    ] = None,
    by: ByOption = "bm25",
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
        bool, typer.Option("--interactive", "-i", help="Ask again and again; mark hits to refine.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Find the documents of an index that are nearest to a query.

    The exit code is 0 if something was found, 1 if nothing was, as grep has it, and 2 for bad
    input. Without a query on a terminal, or with --interactive, it asks for queries; there ? is
    help, and hits are marked with + and - to refine the query.
    """
    words = query or []
    asks = interactive or (not words and _on_terminal())
    if not words and not asks:
        raise ValueError("QUERY is missing: words, or - for standard input; or add --interactive.")
    if asks and json:
        raise ValueError("--json needs a QUERY, and no --interactive.")
    if asks and explain:
        raise ValueError(
            "--explain needs a QUERY, and no --interactive; there `why 2` explains a hit."
        )
    if asks and page != 1:
        raise ValueError("--page needs a QUERY, and no --interactive; there `next` turns pages.")
    for name, path in (("svg", svg), ("html", html)):
        if asks and path is not None:
            raise ValueError(f"--{name} needs a QUERY, and no --interactive.")
    text = _query_text(words) if words else None
    with opened_index(index) as opened:
        request = _request(
            by, k, page, threshold, where, feedback_top, variant, k1, b, idf, text=text
        )
        if asks:
            _converse(opened, request, index)
            return
        _answer(opened, request, index, explain=explain, as_json=json, svg=svg, html=html)


def similar(
    index: IndexArgument,
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of a document.")],
    by: ByOption = "bm25",
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
) -> None:
    """Find the documents of an index that are nearest to one of them.

    The exit code is 0 if something was found, 1 if nothing was, and 2 for bad input.
    """
    with opened_index(index) as opened:
        request = _request(by, k, page, threshold, where, feedback_top, variant, k1, b, idf, id=id)
        _answer(opened, request, index, explain=explain, as_json=json, svg=svg, html=html)


def _request(
    by: str,
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
) -> "Request":
    from textkin.cli._asking import Request, ranking_of_options

    return Request(
        text=text,
        id=id,
        by=by,
        ranking=ranking_of_options(
            by,
            variant=None if variant is None else variant.value,
            k1=k1,
            b=b,
            idf=None if idf is None else idf.value,
        ),
        k=k,
        page=page,
        threshold=threshold,
        where=tuple(where or ()),
        feedback_top=feedback_top,
    )


def _answer(
    opened: "Index",
    request: "Request",
    path: Path,
    *,
    explain: bool,
    as_json: bool,
    svg: Path | None,
    html: Path | None,
) -> None:
    from textkin.cli._output import Output
    from textkin.cli._showing import hit_lines, record, summary
    from textkin.run import working

    output = Output.of([path], json=as_json, csv=False, output=None, svg=svg, html=html)
    with working("Searching"):
        hits = request.find(opened)
    output.put(
        lines=lambda look: hit_lines(hits, look, explain=explain),
        record=lambda: {"index": str(path), **record(hits, explain=explain)},
        table=tuple,
        svg=lambda: hits.to_svg(explained=len(hits) if explain else 0),
        html=lambda: hits.to_html(explained=len(hits) if explain else _EXPLAINED),
    )
    if not as_json:
        for told in hits.notes:
            note(told)
        typer.echo(f"textkin: {summary(hits)}", err=True)
    if not len(hits):
        raise typer.Exit(_NOTHING_FOUND)


def _converse(opened: "Index", request: "Request", path: Path) -> None:
    from textkin.cli._drawing import Look
    from textkin.cli._interactive import Session, converse

    session = Session(opened, replace(request, text=None), Look.of_output())
    if _on_terminal():
        number = len(opened)
        documents = "1 document" if number == 1 else f"{number:,} documents"
        typer.echo(f"{path}: {documents}. Words to look for, ? for help, q to end.")
    converse(session, None if request.text is None else f"search {request.text}")


def _query_text(words: list[str]) -> str:
    from textkin.cli._files import named_text

    if words == ["-"]:
        return named_text("-", as_text=False)
    return named_text(" ".join(words), as_text=True)


def _on_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()
