"""``textkin compare``: distance of two texts, and its explanation."""

import os
import re
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from textkin.cli._options import JsonOption, VectorsOption, load_vectors
from textkin.cli._output import Look, Output, draw
from textkin.run import working

__all__ = ["compare", "read_text"]

_PATH_LIKE = re.compile(r"\S*(?:[/\\]\S+|\S\.[A-Za-z]\w{0,4})")


class WordWeights(StrEnum):
    """Values of the option --word-weights: weights that need no corpus."""

    nbow = "nbow"
    sif = "sif"


class Cost(StrEnum):
    """Values of the option --cost: distances that can be costs between two words."""

    euclidean = "euclidean"
    cosine = "cosine"
    sqeuclidean = "sqeuclidean"


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="Text, file, or - for standard input.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Other text, file, or -.")],
    vectors: VectorsOption = None,
    word_weights: Annotated[
        WordWeights, typer.Option(help="Word weights: equal shares, or less for frequent words.")
    ] = WordWeights.nbow,
    cost: Annotated[Cost, typer.Option(help="Cost between two words.")] = Cost.euclidean,
    unit: Annotated[
        bool, typer.Option("--unit", help="Normalize word vectors to length 1.")
    ] = False,
    keep_stop_words: Annotated[
        bool, typer.Option("--keep-stop-words", help="Compare words like 'the' and 'of' too.")
    ] = False,
    text: Annotated[
        bool,
        typer.Option("--text", help="Treat A and B as texts, even if they are names of files."),
    ] = False,
    top: Annotated[int, typer.Option(min=1, help="Number of moves to list.")] = 12,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show both texts, with the cost of each word.")
    ] = False,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an SVG image of the moves.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML report.")] = None,
    json: JsonOption = False,
) -> None:
    """Compare two texts by Word Mover's Distance, and explain it."""
    if a == b == "-" and not text:
        raise ValueError("Only one of the two texts can be standard input; got '-' twice.")
    output = Output.of(
        [] if text else _files(a, b), json=json, csv=False, output=None, svg=svg, html=html
    )
    first, second = (read_text(argument, as_text=text) for argument in (a, b))
    table = load_vectors(vectors) if vectors is not None else None
    stop_words: Any = None if keep_stop_words else "smart"
    with working("Comparing"):
        from textkin import transport
        from textkin.exceptions import EmptyDocumentError

        try:
            found = transport.compare(
                first,
                second,
                vectors=table,
                word_weights=word_weights.value,
                cost=cost.value,
                unit=unit,
                stop_words=stop_words,
            )
        except EmptyDocumentError as error:
            name = error.argument.upper()
            raise ValueError(f"{name} cannot be compared: {error.reason}.") from error
        facts = found.facts()

    def lines(look: Look) -> Iterator[str]:
        for name, value in facts:
            yield f"{name:<9} {value}"
        yield ""
        yield draw(found, limit=top, look=look)
        if explain:
            yield ""
            texts = found.aligned()
            yield texts.to_text(width=look.width, unicode=look.unicode, color=look.color)

    def record() -> dict[str, Any]:
        options = {
            "vectors": None if vectors is None else str(vectors),
            "word_weights": word_weights.value,
            "cost": cost.value,
            "unit": unit,
            "stop_words": stop_words,
        }
        aligned = {"aligned": found.aligned().to_dict()} if explain else {}
        return {"options": options, **found.to_dict(), **aligned}

    output.put(lines=lines, record=record, table=tuple, svg=found.to_svg, html=found.to_html)


def read_text(argument: str, *, as_text: bool) -> str:
    """Return the text that an argument means: a file's content, standard input, or itself.

    An argument that is the name of a file means that file. An argument that only looks like a path
    raises an error, so that a misspelled path is not compared as a text.
    """
    if any("\ud800" <= character <= "\udfff" for character in argument):
        raise ValueError("A text must be valid UTF-8. Put it in a file, and convert the file.")
    if as_text:
        return argument
    if argument == "-":
        if sys.stdin is None:
            raise ValueError("Standard input is closed. Pass a file instead of '-'.")
        return _decoded(sys.stdin.buffer.read(), "standard input")
    try:
        exists = os.path.lexists(argument)
    except ValueError:  # A string with a NUL byte is not a path.
        exists = False
    if exists:
        if os.path.isdir(argument):
            raise IsADirectoryError(f"{argument!r} is a folder. Pass a file, or add --text.")
        return _decoded(Path(argument).read_bytes(), argument)
    if _PATH_LIKE.fullmatch(argument):
        raise FileNotFoundError(
            f"There is no file {argument!r}. To compare it as a text, add --text."
        )
    return argument


def _decoded(content: bytes, name: str) -> str:
    if b"\0" in content:
        raise ValueError(f"{name} must be a text; it looks like a binary file.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name} must be UTF-8; byte {error.start} is not. Convert it, for example with iconv."
        ) from None


def _files(*arguments: str) -> list[Path]:
    """Return the arguments that are paths of files, which output must not overwrite."""
    return [Path(one) for one in arguments if "\0" not in one and os.path.isfile(one)]
