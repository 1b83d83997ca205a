"""``textkin index info``, ``get`` and ``list``: what is in an index."""

import json as json_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from textkin.cli._opened import (
    IndexArgument,
    opened_index,
    settings_line,
)
from textkin.cli._printing import (
    JsonOption,
    one_line,
    print_json,
    print_lines,
    shown,
    size,
)

if TYPE_CHECKING:
    from textkin.text import Document


__all__ = ["get", "info", "list_"]

_IDS = 1000  # that are printed at a time


def info(index: IndexArgument, json: JsonOption = False) -> None:
    """Say what is in an index: numbers, sizes and settings."""
    with opened_index(index) as opened:
        facts = opened.info()
    if json:
        print_json(facts.as_dict())
        return
    sizes = ", ".join(
        f"{name} {size(number)}" for name, number in facts.bytes.items() if name != "total"
    )
    lines = {
        "index": f"{index}, format {facts.format}",
        "made": f"{facts.created}, by textkin {facts.textkin}",
        "documents": f"{facts.documents:,}",
        "words": f"{facts.tokens:,} in all, {facts.words:,} different",
        "segments": f"{facts.segments:,}, with {facts.deleted:,} deleted documents; "
        f"{facts.recent:,} recent ones are in none yet",
        "disk": f"{size(facts.bytes['total'])}: {sizes}",
        "texts": settings_line(facts),
        "vectors": facts.vectors,
        "models": "; ".join(f"{name}: {told}" for name, told in facts.models.items()) or "none",
    }
    print_lines(f"{name:<9} {shown(value)}" for name, value in lines.items())


def get(
    index: IndexArgument,
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of a document.")],
    json: JsonOption = False,
) -> None:
    """Print a document."""
    with opened_index(index) as opened:
        document = opened.get(id)
    if document is None:
        raise ValueError(
            f"No document of {index} has the id {one_line([id], 80)!r}; textkin index list {index} "
            "prints all ids."
        )
    if json:
        print_json(_record(document))
        return
    lines = [f"{'id':<9} {one_line([document.id], 200)}"]
    if document.label is not None:
        lines.append(f"{'label':<9} {one_line([str(document.label)], 200)}")
    for name, value in document.metadata.items():
        written = value if isinstance(value, str) else json_module.dumps(value, ensure_ascii=False)
        lines.append(f"{one_line([name], 40):<9} {one_line([written], 200)}")
    print_lines([*lines, "", shown(document.text)])


def list_(
    index: IndexArgument,
    json: Annotated[
        bool, typer.Option("--json", help="Print the documents, as JSON Lines.")
    ] = False,
) -> None:
    """Print all ids, one a line; with --json the documents."""
    with opened_index(index) as opened:
        lines = (
            (json_module.dumps(_record(document), ensure_ascii=False) for document in opened)
            if json
            else map(shown, opened.ids())
        )
        some: list[str] = []
        for line in lines:
            some.append(line)
            if len(some) == _IDS:
                print_lines(some)
                some.clear()
        if some:
            print_lines(some)


def _record(document: "Document") -> dict[str, Any]:
    """Return a document as a flat record; its own names win over those of its metadata."""
    label = {} if document.label is None else {"label": document.label}
    return {**document.metadata, "id": document.id, "text": document.text, **label}
