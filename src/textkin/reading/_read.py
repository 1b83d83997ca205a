"""`read`, and the iterable `Documents` that it returns."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from textkin._base import Constraint, abbreviate, format_count, hinted, instance_of, integer, one_of
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.reading._document import BadRow, Document, ExcludedFile, Label, Meter, Place, Row
from textkin.reading._encoding import UnreadableError, check_encoding
from textkin.reading._fields import Fields, TextNames, text_names
from textkin.reading._folder import FolderSource, check_patterns
from textkin.reading._formats import FileOptions, Reader, is_table
from textkin.reading._items import Source
from textkin.reading._passages import passages_of
from textkin.reading._sources import FileSource, memory_source
from textkin.run import ProgressCallback

__all__ = [
    "SKIP_HINT",
    "Documents",
    "Skipped",
    "read",
    "record_iteration",
    "same_reader",
    "source_of",
    "with_text_fields",
]

_REASONS_KEPT = 20

SKIP_HINT = "Fix the document, or pass `errors='skip'` to skip such documents."

_CONSTRAINTS = {
    "id": one_of(None, False) | instance_of(str, "the name of a field"),
    "label": one_of(None, False) | instance_of(str, "the name of a field"),
    "errors": one_of("raise", "skip"),
    "split": one_of(None, "paragraph"),
    "quoted": one_of(None, False, True),
    "delimiter": one_of(None)
    | Constraint(
        lambda value: isinstance(value, str) and len(value) == 1 and value not in '"\r\n\0',
        "one character that is neither a quotation mark nor the end of a line",
        lambda value: not isinstance(value, str),
    ),
    "max_bytes": integer(low=1),
}


@dataclass(frozen=True, slots=True)
class Skipped:
    """Numbers and reasons of the records and files skipped while reading.

    Attributes
    ----------
    count : int
        Number of records and files skipped because of an error (with ``errors="skip"``), and of
        files of a folder that are never read: links out of the folder, links to folders, pipes, and
        devices. The unreadable rest of a file counts as one.
    reasons : tuple of str
        Positions and reasons of the first 20. For a skipped record of several lines, the reason
        includes its last line; for the rest of a file, the position where it starts.
    hidden : int
        Number of hidden files that match the pattern, and of hidden folders; not in `count`.
    """

    count: int
    reasons: tuple[str, ...]
    hidden: int = 0


class Documents(Iterable[Document]):
    """Lazy iterable of documents from files or memory; returned by `read`.

    Each iteration reads the source again from its start, one record at a time. Memory holds only
    one record of a large file, and the IDs, which must be distinct. An iterator as source can be
    read only once; use `list` to store its documents.

    Attributes
    ----------
    texts, ids, labels : list
        Texts, IDs, and labels of all documents; each access reads the source.
    skipped : Skipped or None
        Skipped records and files of the last complete iteration, or None before it.
    files : list of Path
        Files in reading order; empty for objects in memory.
    size : int or None
        Size of the files in bytes, or number of items in memory; None if unknown.

    Examples
    --------
    >>> documents = read(["cats purr", "dogs bark"])
    >>> documents.texts
    ['cats purr', 'dogs bark']
    >>> documents
    Documents(<list>): 2 documents, 0 skipped
    """

    def __init__(
        self,
        source: Source,
        fields: Fields,
        *,
        errors: str = "raise",
        split: str | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        self._source = source
        self._fields = fields
        self._errors = errors
        self._split = split
        self._progress = progress
        self._used_up = False
        self._skipped: Skipped | None = None
        self._count = 0

    @property
    def texts(self) -> list[str]:
        """Texts of all documents, as a list."""
        return [document.text for document in self]

    @property
    def ids(self) -> list[str]:
        """IDs of all documents, as a list."""
        return [document.id for document in self]

    @property
    def labels(self) -> list[Label]:
        """Labels of all documents (None if missing), as a list."""
        return [document.label for document in self]

    @property
    def skipped(self) -> Skipped | None:
        """Records and files skipped in the last complete iteration, or None before one."""
        return self._skipped

    @property
    def files(self) -> list[Path]:
        """Files in reading order, or [] for objects in memory."""
        return self._source.files()

    @property
    def size(self) -> int | None:
        """Total size of the files in bytes, number of items in memory, or None."""
        return self._source.total()

    def __iter__(self) -> Iterator[Document]:
        return (document for _, document in self._begin(self._fields))

    def _fields_with(self, text: tuple[str, ...] | None) -> Fields:
        """Return the fields of records with these text fields, unless `read` was passed others."""
        if text is None or self._fields.text is not None:
            return self._fields
        return replace(self._fields, text=text)

    def placed(self) -> Iterator[tuple[Place, Document]]:
        """Yield each document with its position in the source.

        The position is for messages: ``str(place)`` is, for example, "reviews.csv, line 17".
        """
        return self._begin(self._fields)

    def _begin(self, fields: Fields) -> Iterator[tuple[Place, Document]]:
        if self._used_up:
            raise ValueError(
                "An iterator can be read only once, and it was read already; store its documents, "
                "as in documents = list(textkin.read(...))."
            )
        self._used_up = self._source.once
        return self._iterate(fields)

    def __repr__(self) -> str:
        chosen = [str(self._source)]
        chosen += [f"{name}={value!r}" for name, value in self._options() if value is not None]
        state = "not read yet"
        if self._skipped is not None:
            state = f"{format_count(self._count, 'document')}, {self._skipped.count} skipped"
        return f"Documents({', '.join(chosen)}): {state}"

    def _options(self) -> list[tuple[str, object]]:
        fields = self._fields
        return [
            ("text", list(fields.text) if isinstance(fields.text, tuple) else fields.text),
            ("id", fields.id),
            ("label", fields.label),
            ("errors", None if self._errors == "raise" else self._errors),
            ("split", self._split),
        ]

    def _iterate(self, fields: Fields) -> Iterator[tuple[Place, Document]]:
        report = _SkipReport()
        seen: dict[str, Place] = {}
        count = 0
        total = None if self._progress is None else self._source.total()
        meter = Meter(self._progress, total)
        for row in self._source.rows(meter):
            if isinstance(row.content, ExcludedFile):
                report.add(row.place, row.content.reason, hidden=row.content.hidden)
                continue
            made = (
                row.content
                if isinstance(row.content, BadRow)
                else self._make_documents(row, fields, seen)
            )
            if not isinstance(made, BadRow):
                count += len(made)
                yield from ((row.place, document) for document in made)
            elif self._errors == "skip":
                report.add(row.place, str(made))
            else:
                raise _make_error(row.place, made)
        meter.finish()
        self._count = count
        self._skipped = report.skipped()
        if count == 0 and self._skipped.count > 0 and self._errors == "skip":
            raise ValueError(
                f"No document of {self._source} could be read: all were skipped "
                f"({self._skipped.count}). The first: {self._skipped.reasons[0]}"
            )

    def _make_documents(
        self, row: Row, fields: Fields, seen: dict[str, Place]
    ) -> list[Document] | BadRow:
        """Convert a row to its document, its passages, or a `BadRow`."""
        try:
            document = fields.document(row)
            first = seen.setdefault(document.id, row.place)
            if first is not row.place:
                raise UnreadableError(
                    f"the ID {abbreviate(document.id)} is used by {first}; IDs must be distinct;",
                    "`id=False` generates IDs",
                )
            return [document] if self._split is None else list(passages_of(document))
        except (TypeError, ValueError) as error:
            return BadRow.from_error(error)


def read(
    source: str | os.PathLike[str] | Iterable[Any],
    *,
    text: TextNames = None,
    id: str | Literal[False] | None = None,
    label: str | Literal[False] | None = None,
    pattern: str | Sequence[str] | None = None,
    encoding: str | None = None,
    errors: Literal["raise", "skip"] = "raise",
    reader: Reader | None = None,
    split: Literal["paragraph"] | None = None,
    quoted: bool | None = None,
    delimiter: str | None = None,
    max_bytes: int = 1 << 26,
    progress: ProgressCallback | None = None,
) -> Documents:
    r"""Read documents from files, tables, data sets, or any other iterable.

    Parameters
    ----------
    source : path, DataFrame, or iterable
        - A file, by its suffix: ``.jsonl``/``.ndjson``, ``.json`` (a list of records, or one),
          ``.csv``, ``.tsv``/``.tab``, ``.parquet`` (requires the extra ``parquet``). Any other file
          is one document of plain text. All except Parquet can have an additional ``.gz``.
        - A folder: all files that match `pattern`, each read like a single file.
        - A DataFrame of pandas or polars, or a data set of Hugging Face.
        - An iterable of texts (such as a column of a DataFrame), records (mappings), `Document` or
          `pathlib.Path` objects. A `str` is a path, never a text. Strings in a list are texts; if
          all of them (of the first hundred) are names of existing files, an error is raised.
    text : str or sequence of str, default=None
        Field or column with the text. If None, "text". In a table without such a column, it is the
        only column other than ID and label, unless its name looks like several ("id;text"), which
        is an error. With a list of names, such as ``["title", "body"]``, documents have `fields`,
        and their text joins the fields with blank lines. A record must have at least one of them,
        and a table all; missing values are empty texts.
    id, label : str, False or None, default=None
        Fields of the ID and the label. If None, "id" and "label" if they exist. If False, no field.
        All other fields become metadata; the entries of a field "metadata" that is a mapping are
        metadata, too. The ID of a document without one is its file ("notes/a.txt" within a
        folder), its file and line or row ("reviews.csv:17"), or its position from 0 if there is
        no file. Bytes of a name that are not UTF-8 are escaped:
        ``na\xefve.txt``.
    pattern : str or sequence of str, default=None
        Patterns for the files of a folder: ``*`` within a name, ``**`` for any number of folders;
        case is ignored. If None, all ``.txt`` and ``.md`` files, also compressed.
    encoding : str, default=None
        If None, the encoding of a byte order mark (UTF-8, UTF-16, UTF-32), or UTF-8 without a mark.
        With "detect", text that is not valid UTF-8 is read as Windows-1252 if all of its bytes are
        defined there, and otherwise as Latin-1. Any other name is the encoding to use.
    errors : {"raise", "skip"}, default="raise"
        Handling of a broken line, a missing or non-text value, a wrong encoding, an unreadable
        file, or a duplicate ID. "raise" raises an error with the position. "skip" skips the record
        (or the rest of the file, if the next record cannot be found) and reports it in
        ``documents.skipped``. If no document remains, an error is raised.
    reader : callable, default=None
        Reader of other formats: a function from the `pathlib.Path` of a file to a text, a record, a
        DataFrame, or an iterable of texts, records, and Documents.
    split : {"paragraph"}, default=None
        Split each document at its blank lines. The IDs of passages are "<id>#1", "<id>#2", ...;
        their metadata have ``parent_id``, ``passage`` (from 1), and the offsets ``passage_start``
        and ``passage_end``. A text without blank lines is one passage; a text with only white space
        is one empty passage.
    quoted : bool, default=None
        Whether quotation marks enclose fields of CSV or TSV. If None, True for CSV and False for
        TSV.
    delimiter : str, default=None
        Character between two fields of CSV or TSV, such as ";". If None, a comma for ``.csv``, and
        a tab for ``.tsv`` and ``.tab``.
    max_bytes : int, default=67108864
        Maximum size of a document, in bytes of its decompressed file (for CSV and JSON Lines, of a
        record, in characters). A larger document is an error, so that a small compressed file
        cannot fill the memory.
    progress : callable, default=None
        Function that is called with (done, total) from time to time, in bytes of files or in rows.
        It is not called for an iterable of unknown length.

    Returns
    -------
    Documents
        Iterable of documents; each iteration reads the source.

    Raises
    ------
    FileNotFoundError
        If the file or folder does not exist.
    TypeError, ValueError
        If an argument is invalid. During iteration, if a document cannot be read; the message has
        the file and the row.

    See Also
    --------
    paragraphs : Split one text at its blank lines.

    Notes
    -----
    Line ends in plain text become LF. An empty file is a document with an empty text. Blank lines
    of CSV and JSON Lines are skipped. CSV requires a header. If a record is not valid CSV,
    ``errors="skip"`` skips only its first line, because an unmatched quotation mark may have
    absorbed valid rows. NaN, NaT, and pandas' NA and NaT are missing values: an error as text or
    ID, None as label or metadata. Numbers, booleans, and strings of NumPy become Python objects;
    other metadata are unchanged. In folders, names that start with a dot and links out of the
    folder are skipped. The contents of a file never cause another file to be opened. Reading CSV
    raises the process-wide ``csv.field_size_limit`` to `max_bytes`.

    Examples
    --------
    >>> records = [
    ...     {"id": "a", "body": "Cats purr.", "label": "pets", "year": 2015},
    ...     {"id": "b", "body": "Stocks fell.", "label": "money", "year": 2020},
    ... ]
    >>> for document in read(records, text="body"):
    ...     print(document)
    Document(id='a', text='Cats purr.', label='pets', metadata={'year': 2015})
    Document(id='b', text='Stocks fell.', label='money', metadata={'year': 2020})
    >>> documents = read(["cats purr", None, "dogs bark"], errors="skip")
    >>> documents.ids, documents.skipped.reasons
    (['0', '2'], ('position 1: the text is missing',))
    """
    given = locals()
    for name, constraint in _CONSTRAINTS.items():
        constraint.check(name, given[name])
    for name in ("reader", "progress"):
        if given[name] is not None and not callable(given[name]):
            raise ParameterTypeError(name, "callable or None", abbreviate(given[name]))
    check_encoding(encoding)
    names = text if text is None or isinstance(text, str) else text_names(text)
    return Documents(
        _make_source(
            source, pattern, FileOptions(encoding, quoted, delimiter, int(max_bytes), reader)
        ),
        Fields(names, id, label),
        errors=errors,
        split=split,
        progress=progress,
    )


def source_of(documents: Documents) -> Source:
    """Return the source that documents are read from."""
    return documents._source


def same_reader(
    documents: Documents, text: tuple[str, ...] | None = None
) -> Callable[[Source], Documents]:
    """Return a picklable function that reads another source with the same options.

    The documents have the text fields `text`, unless `read` was passed others.
    """
    return partial(
        Documents,
        fields=documents._fields_with(text),
        errors=documents._errors,
        split=documents._split,
    )


def with_text_fields(documents: Documents, text: tuple[str, ...] | None) -> Iterator[Document]:
    """Iterate over documents with these text fields, unless `read` was passed others."""
    return (document for _, document in documents._begin(documents._fields_with(text)))


def record_iteration(documents: Documents, count: int, skipped: Skipped) -> None:
    """Record on documents that workers read all of them, as a complete iteration does."""
    documents._count, documents._skipped = count, skipped


class _SkipReport:
    """Collector of the numbers and reasons of skipped rows and files."""

    def __init__(self) -> None:
        self._count = self._hidden = 0
        self._reasons: list[str] = []

    def add(self, place: Place, reason: str, *, hidden: bool = False) -> None:
        if hidden:
            self._hidden += 1
            return
        self._count += 1
        if len(self._reasons) < _REASONS_KEPT:
            self._reasons.append(f"{place}: {reason}")

    def skipped(self) -> Skipped:
        return Skipped(self._count, tuple(self._reasons), self._hidden)


def _make_source(
    source: object, pattern: str | Sequence[str] | None, options: FileOptions
) -> Source:
    patterns = check_patterns(pattern)
    found = _find_path(source) if isinstance(source, str | os.PathLike) else None
    if found is not None and found.is_dir():
        if options.reader is not None and pattern is None:
            raise ValueError(
                "reader= for a folder requires pattern=, which selects its files, such as "
                "pattern='**/*.pdf'."
            )
        return FolderSource(found, patterns, options)
    if pattern is not None:
        raise ParameterError(
            "pattern",
            message=f"pattern selects files of a folder; got {abbreviate(source)} as source.",
        )
    if found is None:
        return memory_source(source, options)
    if options.delimiter is not None and not is_table(found):
        raise ParameterError(
            "delimiter",
            message="delimiter is for files that end in .csv, .tsv or .tab, with or without .gz; "
            f"got {abbreviate(found.name)}.",
            hint="Rename the file, or pass `reader` for another format.",
        )
    return FileSource(found, options)


def _find_path(source: str | os.PathLike[str]) -> Path:
    given = os.fspath(source)
    try:
        os.stat(given)  # Path(given) would be wrong: Path("") is the current folder
    except FileNotFoundError:
        pass
    except (ValueError, OSError) as error:
        # A text passed as a path may be too long or contain invalid characters.
        if isinstance(error, PermissionError):
            raise
    else:
        return Path(given)
    raise hinted(
        FileNotFoundError,
        f"There is no file or folder {abbreviate(given)}.",
        "A string is taken for a path; to read texts, pass a list of them.",
    )


def _make_error(place: Place, bad: BadRow) -> Exception:
    if isinstance(bad.cause, OSError) and bad.cause.filename is not None:
        return bad.cause  # the message of the cause names the file
    kind: type[Exception] = TypeError if isinstance(bad.cause, TypeError) else ValueError
    if bad.hint:
        error = hinted(kind, f"{place}: {bad.reason};", f"{bad.hint}. {SKIP_HINT}")
    else:
        error = hinted(kind, f"{place}: {bad.reason}.", SKIP_HINT)
    error.__cause__ = bad.cause
    return error
