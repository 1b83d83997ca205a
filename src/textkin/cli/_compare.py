"""``textkin compare``: two texts, their distance and its reason."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from textkin.cli._drawing import Look, drawn
from textkin.cli._files import named_text
from textkin.cli._loading import named_vectors
from textkin.cli._output import Output
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
    explain: bool,
    svg: Path | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Compare two texts and show the result in the ways that were asked for."""
    if a == b == "-" and not as_text:
        raise ValueError("Standard input can be only one of the two texts.")
    output = Output.of(
        _files(a, b, as_text=as_text), json=as_json, csv=False, output=None, svg=svg, html=html
    )
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

    def lines(look: Look) -> Iterator[str]:
        for name, value in facts:
            yield f"{name:<9} {value}"
        yield ""
        yield drawn(found, limit=top, look=look)
        if explain:
            yield ""
            texts = found.aligned()
            yield texts.to_text(width=look.width, unicode=look.unicode, color=look.color)

    def record() -> dict[str, Any]:
        options = {
            "vectors": None if vectors is None else str(vectors),
            "masses": masses,
            "cost": cost,
            "unit": unit,
            "stop_words": stop_words,
        }
        told = {"aligned": found.aligned().to_dict()} if explain else {}
        return {"options": options, **found.to_dict(), **told}

    output.put(lines=lines, record=record, table=tuple, svg=found.to_svg, html=found.to_html)


def _files(*arguments: str, as_text: bool) -> list[Path]:
    """Return the arguments that are files, which must not be written over."""
    if as_text:
        return []
    return [Path(one) for one in arguments if "\0" not in one and os.path.isfile(one)]
