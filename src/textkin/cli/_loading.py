"""Word vectors that an option names, read with a progress bar and a note on what was left out."""

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from textkin.run import progress_bar, working

if TYPE_CHECKING:
    from textkin.vectors import WordVectors

__all__ = ["named_vectors"]


def named_vectors(
    path: Path | None,
    *,
    limit: int | None = None,
    errors: Literal["raise", "skip"] = "raise",
    cache: bool = True,
) -> "WordVectors":
    """Return the vectors at a path, or the built-in ones."""
    with working("Loading"):
        from textkin.exceptions import VectorFileWarning
        from textkin.vectors import WordVectors

        if path is None:
            return WordVectors.builtin()
    if not os.path.lexists(path):
        raise FileNotFoundError(f"There is no file or folder {str(path)!r}.")
    with progress_bar(f"Reading {path.name}") as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", VectorFileWarning)
        vectors = WordVectors.load(
            path, limit=limit, errors=errors, cache=cache, n_jobs=-1, progress=progress
        )
    if vectors.repairs:
        typer.echo(f"textkin: note: {path}: left out {vectors.repairs}", err=True)
    return vectors
