"""The documents of files, folders and indexes, held in memory, with their labels."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from textkin.cli._opened import documents_told, opened_index
from textkin.cli._options import tell_skipped
from textkin.cli._printing import note, one_line
from textkin.cli._wording import in_words

if TYPE_CHECKING:
    from textkin.run import ProgressCallback
    from textkin.text import Document

__all__ = ["Reading", "fields_told", "fulfil", "is_index", "labelled", "outside", "read_documents"]

_T = TypeVar("_T")
_CATALOGUE = "catalogue.sqlite"
_LABEL = "label"
_FIELDS_TOLD = 12


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read: the options that the commands have in common.

    Attributes
    ----------
    text : str or None
        The field of the text.
    id : str, False or None
        The field of the id; False is none.
    pattern : tuple of str
        Which files of folders.
    encoding, delimiter, quoted, max_bytes
        As for `textkin.read`; None is its default.
    split : str or None
        What cuts documents.
    skip_errors : bool
        Leave out what cannot be read.
    """

    text: str | None = None
    id: str | bool | None = None
    pattern: tuple[str, ...] = ()
    encoding: str | None = None
    delimiter: str | None = None
    quoted: bool | None = None
    max_bytes: int | None = None
    split: str | None = None
    skip_errors: bool = False

    @staticmethod
    def id_of(id: str | None, *, no_id: bool) -> str | bool | None:
        """Return what two options say of the id."""
        if no_id and id is not None:
            raise ValueError("--id and --no-id exclude each other.")
        return False if no_id else id


def read_documents(paths: Sequence[Path], reading: Reading) -> "list[Document]":
    """Return all documents of some sources; what was left out is told.

    Ids are those of `textkin.read`. Of several sources they begin with the path, so that they
    differ. A label stays in the metadata, whatever it is; see `labelled`.

    Raises
    ------
    ValueError
        If there is no document, or one cannot be read.
    """
    placed: list[tuple[Path, Document]] = []
    for index, some in groupby(paths, is_index):
        if index:
            placed += ((path, document) for path in some for document in _of_index(path))
        else:
            placed += _of_files([*some], reading)
    if not placed:
        raise ValueError(f"There are no documents in {', '.join(map(str, paths))}.")
    if len(paths) == 1:
        return [document for _, document in placed]
    found = [replace(document, id=_whole_id(path, document.id)) for path, document in placed]
    seen: set[str] = set()
    for document in found:
        if document.id in seen:
            raise ValueError(
                f"{one_line([document.id], 200)!r} is read twice: name each file once, and no "
                "file beside its folder."
            )
        seen.add(document.id)
    return found


def fulfil(
    documents: "Sequence[Document]", where: Sequence[str], option: str = "--where"
) -> list[bool]:
    """Tell which documents fulfil all conditions of an option; what looks like a slip is noted.

    Raises
    ------
    ValueError
        If a condition cannot be read, or no document has a field that it asks for.
    """
    from textkin.cli._asking import filter_of
    from textkin.index.ranking._filtered import passed

    try:
        asked = filter_of(where)
    except ValueError as error:
        raise ValueError(str(error).replace("where", option, 1)) from error
    if asked is None:
        return [True] * len(documents)
    found = passed(documents, asked)
    if found.unknown_fields:
        field = one_line([found.unknown_fields[0]])
        raise ValueError(f"{option}: no document has a field {field!r}. {fields_told(documents)}")
    for told in found.notes:
        note(told)
    rows: list[bool] = found.rows.tolist()
    if not any(rows):
        raise ValueError(f"{option}: no document is like {one_line([str(asked)], 200)}.")
    return rows


def is_index(path: Path) -> bool:
    """Tell the folder of an index from a folder of files."""
    return (path / _CATALOGUE).is_file()


def labelled(path: Path, documents: "Sequence[Document]", field: str | None) -> "list[Document]":
    """Return documents of a source with their labels as texts; those without one have None.

    The label is the field of that name; without a name the field ``label``, else the sub-folder
    that a file lies in. Labels are texts here, so that a 1 of JSON is the 1 of CSV.

    Raises
    ------
    ValueError
        If a label is neither a text nor a number.
    """
    folders = field is None and path.is_dir() and not is_index(path)
    known: dict[str, bool] = {}
    found = []
    for document in documents:
        value = document.metadata.get(field or _LABEL)
        if value is None and field in (None, _LABEL):
            value = document.label
        if value is None and folders:
            folder, within, _ = document.id.partition("/")
            if within and known.setdefault(folder, (path / folder).is_dir()):
                value = folder
        found.append(replace(document, label=_label(value, document, field)))
    return found


def outside(
    documents: "list[Document]", source: Path, other: Path, *, several: bool = False
) -> "list[Document]":
    """Leave out what a folder shares with another source that lies in it.

    Of several sources ids begin with the path, see `read_documents`.
    """
    if not source.is_dir() or is_index(source):
        return documents
    inner, outer = other.resolve(), source.resolve()
    if not inner.is_relative_to(outer):
        return documents
    shared = inner.relative_to(outer).as_posix()
    if several:
        shared = _whole_id(source, shared)
    kept = [
        document
        for document in documents
        if document.id != shared and not document.id.startswith((f"{shared}/", f"{shared}:"))
    ]
    if len(kept) < len(documents):
        number = documents_told(len(documents) - len(kept))
        note(f"of {source}, {number} in {other} counted there alone.")
    return kept


def fields_told(documents: "Sequence[Document]") -> str:
    """Say which fields documents have, for a message."""
    names = dict.fromkeys(name for document in documents for name in document.metadata)
    if not names:
        return "There are no other fields."
    shown = ", ".join(repr(one_line([name])) for name in [*names][:_FIELDS_TOLD])
    more = f" and {len(names) - _FIELDS_TOLD:,} more" if len(names) > _FIELDS_TOLD else ""
    return f"The other fields are {shown}{more}."


def _label(value: object, document: "Document", field: str | None) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str | int | float):
        raise ValueError(
            f"The label of {one_line([document.id], 80)!r} must be a text or a number; its field "
            f"{field or _LABEL!r} is {one_line([repr(value)], 60)}. Name another field with "
            "--label."
        )
    if isinstance(value, bool):
        return "true" if value else "false"  # as JSON has it
    if isinstance(value, float) and value.is_integer():  # tables with gaps have 1.0 for 1
        value = int(value)
    return str(value).strip() or None


def _whole_id(path: Path, id: str) -> str:
    """Return an id that says where a document lies, beside those of other sources."""
    if path.is_dir():
        return f"{path}:{id}" if is_index(path) else str(path / id)
    return str(path.parent / id) if id.startswith(path.name) else f"{path}:{id}"


def _of_index(path: Path) -> "list[Document]":
    from textkin.run import progress_bar

    with opened_index(path) as opened, progress_bar("Reading", "documents") as tell:
        return list(_told(opened, len(opened), tell))


def _of_files(paths: list[Path], reading: Reading) -> "list[tuple[Path, Document]]":
    from textkin.cli._sources import Sources
    from textkin.run import stream_bar

    options: dict[str, Any] = {}
    if reading.max_bytes is not None:
        options["max_bytes"] = reading.max_bytes
    with in_words(), stream_bar("Reading", "documents") as (read, made):
        sources = Sources(
            paths,
            skip=reading.skip_errors,
            pattern=reading.pattern,
            progress=read,
            distinct=False,
            text=reading.text,
            id=reading.id,
            label=False,
            encoding=reading.encoding,
            delimiter=reading.delimiter,
            quoted=reading.quoted,
            split=reading.split,
            **options,
        )
        found = list(_told(sources.placed(), 0, made))
    tell_skipped(sources.skipped)
    return found


def _told(items: Iterable[_T], total: int, tell: "ProgressCallback | None") -> Iterator[_T]:
    for number, item in enumerate(items, start=1):
        if tell is not None:
            tell(number, total)
        yield item
