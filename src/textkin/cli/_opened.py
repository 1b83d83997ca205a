"""An index that a command opens, and how it is told of."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from textkin.cli._wording import in_words

if TYPE_CHECKING:
    from textkin.index import Index, IndexInfo


__all__ = [
    "TIMEOUT",
    "IndexArgument",
    "TimeoutOption",
    "documents_told",
    "opened_index",
    "settings_line",
]

TIMEOUT = 10.0

IndexArgument = Annotated[Path, typer.Argument(metavar="INDEX", help="The folder of an index.")]
TimeoutOption = Annotated[
    float,
    typer.Option(min=0, metavar="SECONDS", help="How long to wait for another writer."),
]


@contextmanager
def opened_index(index: Path, timeout: float = TIMEOUT, kept: str = "") -> Iterator["Index"]:
    from textkin.run import working

    with in_words(kept):
        with working("Loading"):
            from textkin.index import Index

            opened = Index.open(index, timeout=timeout)
        with opened:
            yield opened


def documents_told(number: int) -> str:
    return "1 document" if number == 1 else f"{number:,} documents"


def settings_line(facts: "IndexInfo") -> str:
    """Say how texts are read."""
    stop_words = facts.stop_words
    if isinstance(stop_words, tuple):
        stop_words = f"{len(stop_words):,} of its own"
    low, high = facts.ngram_range
    parts = [
        "lower case" if facts.lowercase else "case kept",
        f"stop words: {stop_words or 'none'}",
    ]
    if facts.normalize is not None:
        parts.append(" ".join(filter(None, (facts.normalize, facts.language))))
    if high > 1:
        parts.append(f"runs of {low} to {high} words" if low < high else f"runs of {low} words")
    return ", ".join(parts)
