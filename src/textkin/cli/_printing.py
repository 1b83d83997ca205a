"""What every command prints alike: JSON, lines, sizes, and words that a stranger wrote."""

import json
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

__all__ = [
    "JsonOption",
    "can_show",
    "note",
    "on_terminal",
    "one_line",
    "print_json",
    "print_lines",
    "shown",
    "size",
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def print_json(record: Mapping[str, Any]) -> None:
    """Print a record: in ASCII where other characters could drive a terminal or not be written."""
    text = json.dumps(record, indent=2, ensure_ascii=False)
    if on_terminal() or not can_show(text):
        text = json.dumps(record, indent=2)
    typer.echo(text)


def print_lines(lines: Iterable[str]) -> None:
    """Print at once, as JSON is: a reader who leaves makes no difference between the two."""
    typer.echo("\n".join(lines), color=True)  # in a pipe too, texts are what they are


def note(message: str) -> None:
    """Tell on standard error what is no error."""
    typer.echo(f"textkin: note: {' '.join(message.split())}", err=True)


def one_line(words: Iterable[str], longest: int = 40) -> str:
    """Return words as a terminal may show them."""
    from textkin.explain import shortened

    return "  ".join(shortened(word, longest) for word in words)


def on_terminal() -> bool:
    """Tell whether a person looks at standard output."""
    return sys.stdout is not None and sys.stdout.isatty()


def can_show(text: str) -> bool:
    """Tell whether standard output has all characters of a text."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def shown(text: str, *, terminal: bool | None = None) -> str:
    """Return a text as it is in a pipe; on a terminal, without what would drive the terminal."""
    if not (on_terminal() if terminal is None else terminal):
        return text
    from textkin.explain._words import clean

    text = re.sub(r"\S+", lambda found: clean(found[0]), text)
    return re.sub(r"[^\S\n\t]", " ", text)


def size(number: float) -> str:
    """Return a number of bytes as people write it."""
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"
