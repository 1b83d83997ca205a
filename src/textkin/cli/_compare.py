"""``textkin compare``: two texts, their distance and its reason."""

from pathlib import Path
from typing import Literal

import typer

from textkin.cli._drawing import drawn
from textkin.cli._files import named_text, write_whole
from textkin.cli._loading import named_vectors
from textkin.cli._printing import print_json
from textkin.exceptions import EmptyDocumentError
from textkin.run import working
from textkin.transport import compare

__all__ = ["run_compare"]


def run_compare(
    a: str,
    b: str,
    *,
    vectors: Path | None,
    masses: Literal["nbow", "sif"],
    cost: Literal["euclidean", "cosine", "sqeuclidean"],
    unit: bool,
    stop_words: Literal["smart"] | None,
    as_text: bool,
    top: int,
    svg: Path | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Compare two texts and show the result in the ways that were asked for."""
    if a == b == "-" and not as_text:
        raise ValueError("Standard input can be only one of the two texts.")
    if svg is not None and svg == html:
        raise ValueError("--svg and --html must name different files.")
    first, second = (named_text(argument, as_text=as_text) for argument in (a, b))
    table = named_vectors(vectors) if vectors is not None else None
    with working("Comparing"):
        try:
            found = compare(
                first,
                second,
                vectors=table,
                masses=masses,
                cost=cost,
                unit=unit,
                stop_words=stop_words,
            )
        except EmptyDocumentError as error:
            name = error.argument.upper()
            raise ValueError(f"{name} cannot be compared: {error.reason}.") from error
        facts = found.facts()
        for path, content in ((svg, found.to_svg), (html, found.to_html)):
            if path is not None:
                write_whole(path, content())
    if as_json:
        named = None if vectors is None else str(vectors)
        options = {
            "vectors": named,
            "masses": masses,
            "cost": cost,
            "unit": unit,
            "stop_words": stop_words,
        }
        record = {"options": options, **found.to_dict()}
        print_json(record)
        return
    for name, value in facts:
        typer.echo(f"{name:<9} {value}")
    typer.echo("")
    typer.echo(drawn(found, limit=top))
    for path in (svg, html):
        if path is not None:
            typer.echo(f"wrote {path}", err=True)
