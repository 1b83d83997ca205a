"""A collection that every machine has: the docstrings of the standard library, in an index."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from textkin.index import Index
from textkin.text import Document, standard_library_docstrings

__all__ = ["demo_index"]


@contextmanager
def demo_index() -> Iterator[Index]:
    """Give an index of the docstrings, labelled by module; it is removed at the end.

    Raises
    ------
    ValueError
        If this Python comes without the sources of its library, or there is no folder for
        temporary files.
    """
    documents: dict[str, Document] = {}
    for found in standard_library_docstrings():
        metadata = {"level": found.name.count(".")}
        label = found.name.split(".", 1)[0]
        documents.setdefault(found.name, Document(found.name, found.text, label, metadata))
    if not documents:
        raise ValueError("This Python comes without the sources of its standard library.")
    try:
        made = TemporaryDirectory(prefix="textkin-")
    except OSError as error:
        raise ValueError(
            "The demo is made in a folder for temporary files, and none can be written to "
            f"({error.strerror}); name one by the variable TMPDIR."
        ) from error
    with (
        made as folder,
        Index.create(Path(folder) / "standard-library.kin") as index,
    ):
        index.add(list(documents.values()))
        yield index
