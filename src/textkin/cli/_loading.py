"""Word vectors that an option names, read with a progress bar and a note on what was left out."""

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from textkin.run import progress_bar, working

if TYPE_CHECKING:
    from textkin.vectors import WordVectors

__all__ = ["is_builtin", "named_vectors"]


_BUILTIN = "builtin:"


def is_builtin(path: Path) -> bool:
    """Tell whether a path is the name of built-in vectors, and of no file."""
    return str(path).startswith(_BUILTIN) and not os.path.lexists(path)


def named_vectors(
    path: Path | None,
    *,
    limit: int | None = None,
    errors: Literal["raise", "skip"] = "raise",
    cache: bool = True,
) -> "WordVectors":
    """Return the vectors at a path, or built-in ones: by name, or GloVe without a path."""
    with working("Loading"):
        from textkin.exceptions import VectorFileWarning
        from textkin.vectors import WordVectors

        if path is None or is_builtin(path):
            name: Any = "glove" if path is None else str(path).removeprefix(_BUILTIN)
            vectors = WordVectors.builtin(name)
            if limit is None or limit >= len(vectors):
                return vectors
            return WordVectors(vectors.words[:limit], vectors.matrix[:limit])
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
