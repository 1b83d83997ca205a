"""Documents from files, folders, and indexes on the command line, with filters and labels."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, time
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from textkin.cli._errors import note, reword_errors, reword_hints
from textkin.cli._options import open_index
from textkin.cli._output import format_documents, one_line
from textkin.run import progress_bar, stream_bar

if TYPE_CHECKING:
    from textkin.index import Filter
    from textkin.reading import Document, Documents, Skipped
    from textkin.run import ProgressCallback

__all__ = [
    "Reading",
    "Sources",
    "describe_fields",
    "label_documents",
    "note_skipped",
    "parse_filters",
    "passes",
    "read_documents",
    "without_shared",
]

_T = TypeVar("_T")
_LABEL = "label"
_MAX_FIELDS = 12  # maximum number of fields in a message
_MAX_REASONS = 3  # maximum number of reasons for skipped records in a note
_KEPT_REASONS = 20  # maximum number of reasons for skipped records in JSON


@dataclass(frozen=True, slots=True)
class Reading:
    """Options for reading files (fields, encoding, patterns) of several commands.

    Attributes
    ----------
    text : tuple of str
        Fields with the text; empty for the default.
    id : str, False or None
        Field with the ID. If False, documents have no ID field.
    label : str, False or None
        Field with the label. If False, documents have no label.
    pattern : tuple of str
        Glob patterns for the files of folders.
    encoding, delimiter, quoted, max_bytes
        As for `textkin.read`. If None, its default.
    split : str or None
        Unit that becomes a document, such as "paragraph".
    skip_errors : bool
        If True, skip unreadable files and records.
    """

    text: tuple[str, ...] = ()
    id: str | bool | None = None
    label: str | bool | None = False
    pattern: tuple[str, ...] = ()
    encoding: str | None = None
    delimiter: str | None = None
    quoted: bool | None = None
    max_bytes: int | None = None
    split: str | None = None
    skip_errors: bool = False

    @classmethod
    def of(
        cls,
        *,
        text: list[str] | None = None,
        id: str | None = None,
        no_id: bool = False,
        pattern: list[str] | None = None,
        **options: Any,  # noqa: ANN401 (attributes of the same names)
    ) -> "Reading":
        """Create the options from the values of command-line options."""
        if no_id and id is not None:
            raise ValueError("--id and --no-id must not be combined. Pass one of them.")
        return cls(
            text=tuple(text or ()),
            id=False if no_id else id,
            pattern=tuple(pattern or ()),
            **options,
        )

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments for `textkin.read`, except the pattern."""
        limit = {} if self.max_bytes is None else {"max_bytes": self.max_bytes}
        return {
            "text": (self.text[0] if len(self.text) == 1 else self.text) or None,
            "id": self.id,
            "label": self.label,
            "errors": "skip" if self.skip_errors else "raise",
            "encoding": self.encoding,
            "delimiter": self.delimiter,
            "quoted": self.quoted,
            "split": None if self.split is None else str(self.split),
            **limit,
        }


class Sources:
    """Iterable over the documents of several files, folders, or indexes.

    Parameters
    ----------
    paths : sequence of path
        Files and folders.
    reading : Reading
        Options for reading them.
    progress : callable or None
        Called with (bytes read, total bytes).
    distinct : bool, default=True
        If True, raise an error if two sources have the same ID; with `skip_errors`, skip the later
        document.

    Attributes
    ----------
    skipped : Skipped
        Records skipped up to now.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        reading: Reading,
        *,
        progress: "ProgressCallback | None",
        distinct: bool = True,
    ) -> None:
        from textkin.reading import Skipped, read

        self.skipped = Skipped(0, ())
        self._progress = progress
        self._before = 0
        self._skip = reading.skip_errors
        folders = any(path.is_dir() for path in paths)
        self._parts: list[tuple[Path, Documents]] = []
        for path in paths:
            # With folders among the paths, the pattern applies to the folders only.
            chosen = reading.pattern and (path.is_dir() or not folders)
            documents = read(
                path,
                pattern=list(reading.pattern) if chosen else None,
                progress=self._tell if progress is not None else None,
                **reading.options(),
            )
            self._parts.append((path, documents))
        self._compared = distinct and len(self._parts) > 1
        self._total = 0
        if progress is not None:
            self._total = sum(part.size or 0 for _, part in self._parts)

    def __iter__(self) -> "Iterator[Document]":
        return (document for _, document in self.placed())

    def placed(self) -> "Iterator[tuple[Path, Document]]":
        """Yield each document with the path of its source."""
        found = 0
        seen: dict[str, Path] = {}
        for path, part in self._parts:
            for document in self._documents(part):
                # `read` itself rejects duplicate IDs within one source.
                if self._compared and seen.setdefault(document.id, path) is not path:
                    self._refuse(
                        f"{path}: the ID {one_line([repr(document.id)], 90)} must be unique; a "
                        f"document of {seen[document.id]} has it too"
                    )
                    continue
                found += 1
                yield path, _with_plain_metadata(document)
            self._before += self._size
        if found == 0 and self._skip and self.skipped.count:
            raise ValueError(
                f"The sources must have a readable document; all {self.skipped.count} were "
                f"skipped. The first: {self.skipped.reasons[0]}"
            )

    def _documents(self, part: "Documents") -> "Iterator[Document]":
        """Yield the documents of one source; skip it if unreadable and not the only one."""
        self._size = 0
        found = False
        try:
            for document in part:
                found = True
                yield document
        except ValueError:
            if found or len(self._parts) == 1 or part.skipped is None:
                raise
        if part.skipped is not None:
            self._add(part.skipped)

    def _refuse(self, problem: str) -> None:
        """Raise an error, or count a skipped document if --skip-errors was given."""
        from textkin.reading import Skipped

        if not self._skip:
            raise ValueError(
                f"{problem}. Pass the folder that contains both, so that IDs are paths within it; "
                "or pass --skip-errors to skip the later documents."
            )
        self._add(Skipped(1, (problem,)))

    def _add(self, more: "Skipped") -> None:
        was = self.skipped
        self.skipped = replace(
            was,
            count=was.count + more.count,
            reasons=(was.reasons + more.reasons)[:_KEPT_REASONS],
            hidden=was.hidden + more.hidden,
        )

    def _tell(self, done: int, total: int) -> None:
        assert self._progress is not None
        self._size = total
        self._progress(self._before + done, self._total)


def note_skipped(skipped: "Skipped") -> None:
    """Print a note about skipped records, if there are any."""
    if not skipped.count:
        return
    reasons = [one_line([reword_hints(reason)], 300) for reason in skipped.reasons[:_MAX_REASONS]]
    more = f"; and {skipped.count - _MAX_REASONS:,} more" if skipped.count > _MAX_REASONS else ""
    note(f"skipped {skipped.count:,}: {'; '.join(reasons)}{more}")


def read_documents(paths: Sequence[Path], reading: Reading) -> "list[Document]":
    """Read the documents of all sources into a list, and print a note on skipped ones.

    IDs come from `textkin.read`. With several sources, an ID starts with its path, so that IDs are
    unique. Labels stay unchanged in the metadata; see `label_documents`.

    Raises
    ------
    ValueError
        If there is no document, or one cannot be read.
    """
    from textkin.index import is_index

    placed: list[tuple[Path, Document]] = []
    for index, some in groupby(paths, is_index):
        if index:
            placed += ((path, document) for path in some for document in _of_index(path))
        else:
            placed += _of_files([*some], reading)
    if not placed:
        raise ValueError(
            f"No documents found in {', '.join(map(str, paths))}. Pass other files or folders."
        )
    if len(paths) == 1:
        return [document for _, document in placed]
    found = [replace(document, id=_whole_id(path, document.id)) for path, document in placed]
    seen: set[str] = set()
    for document in found:
        if document.id in seen:
            raise ValueError(
                f"Sources must not overlap; {one_line([document.id], 200)!r} is read twice. Name "
                "each file once, and no file of a folder that is named too."
            )
        seen.add(document.id)
    return found


def parse_filters(conditions: Sequence[str], option: str = "--where") -> "Filter | None":
    """Combine filter expressions of an option with "and"; return None if there are none."""
    if not conditions:
        return None
    from textkin.index import parse_filter

    try:
        filters = [parse_filter(condition) for condition in conditions]
    except (ValueError, TypeError) as error:  # invalid conditions in JSON raise TypeError
        raise ValueError(str(error).replace("where", option, 1)) from error
    return parse_filter(" and ".join(f"({one})" for one in filters)) if filters[1:] else filters[0]


def passes(
    documents: "Sequence[Document]", where: Sequence[str], option: str = "--where"
) -> list[bool]:
    """Return for each document whether it satisfies all filter expressions of an option.

    Raises
    ------
    ValueError
        If a condition is invalid, no document has one of its fields, or no document fulfills all.
    """
    asked = parse_filters(where, option)
    if asked is None:
        return [True] * len(documents)
    from textkin.index import filter_documents

    found = filter_documents(documents, asked)
    if found.unknown_fields:
        field = one_line([found.unknown_fields[0]])
        fields = describe_fields(documents)
        raise ValueError(f"{option}: no document has the field {field!r}. {fields}")
    for remark in found.notes:
        note(remark)
    rows: list[bool] = [] if found.rows is None else found.rows.tolist()
    if not any(rows):
        raise ValueError(f"{option}: no document fulfills {one_line([str(asked)], 200)}.")
    return rows


def label_documents(
    path: Path, documents: "Sequence[Document]", field: str | None
) -> "list[Document]":
    """Return documents with labels as strings, taken from a field if one is named.

    The label is the field called `field`. If `field` is None, it is the field ``label``, or the
    sub-folder of the file. Labels become texts, so that a 1 in JSON equals a 1 in CSV.

    Raises
    ------
    ValueError
        If a label is not a text or a number.
    """
    from textkin.index import is_index

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


def without_shared(
    documents: "list[Document]", source: Path, other: Path, *, several: bool = False
) -> "list[Document]":
    """Drop documents of a folder that belong to another source inside the folder.

    With several sources, IDs start with the path; see `read_documents`.
    """
    from textkin.index import is_index

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
        number = format_documents(len(documents) - len(kept))
        note(f"documents of both {source} and {other} are counted only in {other}: {number}")
    return kept


def describe_fields(documents: "Sequence[Document]") -> str:
    """Return a sentence that lists the metadata fields of documents, for an error message."""
    names = dict.fromkeys(name for document in documents for name in document.metadata)
    if not names:
        return "The documents have no other fields."
    shown = ", ".join(repr(one_line([name])) for name in [*names][:_MAX_FIELDS])
    more = f" and {len(names) - _MAX_FIELDS:,} more" if len(names) > _MAX_FIELDS else ""
    return f"The other fields are {shown}{more}."


def _label(value: object, document: "Document", field: str | None) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str | int | float):
        raise ValueError(
            f"The label of {one_line([document.id], 80)!r} must be a text or a number; got "
            f"{one_line([repr(value)], 60)} in the field {field or _LABEL!r}. Pass another field "
            "as --label."
        )
    if isinstance(value, bool):
        return "true" if value else "false"  # spelled as in JSON
    if isinstance(value, float) and value.is_integer():  # tables with missing values store 1 as 1.0
        value = int(value)
    return str(value).strip() or None


def _with_plain_metadata(document: "Document") -> "Document":
    """Convert dates, times, and decimals in a document's metadata to strings."""
    texts = {
        name: value.isoformat() if isinstance(value, date | time) else str(value)
        for name, value in document.metadata.items()
        if isinstance(value, date | time | Decimal)
    }
    return replace(document, metadata={**document.metadata, **texts}) if texts else document


def _whole_id(path: Path, id: str) -> str:
    """Return the ID of a document, prefixed by the path of its source."""
    from textkin.index import is_index

    if path.is_dir():
        return f"{path}:{id}" if is_index(path) else str(path / id)
    return str(path.parent / id) if id.startswith(path.name) else f"{path}:{id}"


def _of_index(path: Path) -> "list[Document]":
    with open_index(path) as opened, progress_bar("Reading", "documents") as tell:
        return list(_counted(opened, len(opened), tell))


def _of_files(paths: list[Path], reading: Reading) -> "list[tuple[Path, Document]]":
    with reword_errors(), stream_bar("Reading", "documents") as (read, made):
        sources = Sources(paths, reading, progress=read, distinct=False)
        found = list(_counted(sources.placed(), 0, made))
    note_skipped(sources.skipped)
    return found


def _counted(items: Iterable[_T], total: int, tell: "ProgressCallback | None") -> Iterator[_T]:
    for number, item in enumerate(items, start=1):
        if tell is not None:
            tell(number, total)
        yield item
