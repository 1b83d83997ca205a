"""Demo index of the docstrings in Python's standard library."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from textkin.index import Index
from textkin.reading import Document, standard_library_docstrings

__all__ = ["demo_index"]


@contextmanager
def demo_index() -> Iterator[Index]:
    """Yield an index of the docstrings, labeled by module; delete it at the end.

    Raises
    ------
    ValueError
        If this Python has no source files of its standard library, or no folder for temporary
        files.
    """
    documents: dict[str, Document] = {}
    for found in standard_library_docstrings():
        metadata = {"level": found.name.count(".")}
        label = found.name.split(".", 1)[0]
        documents.setdefault(found.name, Document(found.name, found.text, label, metadata))
    if not documents:
        raise ValueError(
            "The demo requires the source files of Python's standard library; this Python has "
            "none. Use another installation of Python."
        )
    try:
        made = TemporaryDirectory(prefix="textkin-")
    except OSError as error:
        raise ValueError(
            "The demo requires a writable folder for temporary files, and found none "
            f"({error.strerror}). Set the variable TMPDIR to a folder."
        ) from error
    with (
        made as folder,
        Index.create(Path(folder) / "standard-library.kin") as index,
    ):
        index.add(list(documents.values()))
        yield index
