"""Read documents from wherever they are: `read`, and the `Documents` it returns."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from textkin._validation import Constraint, instance_of, integer, one_of
from textkin.run import ProgressCallback
from textkin.text.reading._document import Document, Label, counted, shortened
from textkin.text.reading._encoding import check_encoding
from textkin.text.reading._fields import Fields
from textkin.text.reading._folder import check_patterns
from textkin.text.reading._formats import FileOptions, Reader, is_table
from textkin.text.reading._passages import passages_of
from textkin.text.reading._rows import Bad, LeftOut, Meter, Place, Row, Source
from textkin.text.reading._sources import FileSource, FolderSource, in_memory

__all__ = ["Documents", "Skipped", "read"]

_REASONS_KEPT = 20

_CONSTRAINTS = {
    "text": one_of(None) | instance_of(str, "the name of a field"),
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
    """What a reading left out.

    Attributes
    ----------
    count : int
        Records and files that were skipped because of an error (with ``errors="skip"``), and files
        of a folder that are never read: links that lead out of it, links to folders, pipes and
        devices. The rest of a file that cannot be read on counts as one.
    reasons : tuple of str
        Where and why, for the first 20 of them; of a record of several lines that was left out as
        a whole, also its last line, and of the rest of a file what it follows.
    hidden : int
        Hidden files that match the pattern, and hidden folders; not in `count`.
    """

    count: int
    reasons: tuple[str, ...]
    hidden: int = 0


class Documents(Iterable[Document]):
    """Documents that are read while they are iterated over; made by `read`.

    Each iteration reads the source again from its beginning, one record at a time: of a large file
    only a record is in memory, and the ids, which must differ. What comes from an iterator can be
    read only once; `list` keeps it.

    Attributes
    ----------
    texts, ids, labels : list
        Those of all documents; each reads the source.
    skipped : Skipped or None
        What the last complete iteration left out; None before it.

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
        """The texts of all documents."""
        return [document.text for document in self]

    @property
    def ids(self) -> list[str]:
        """The ids of all documents."""
        return [document.id for document in self]

    @property
    def labels(self) -> list[Label]:
        """The labels of all documents, None for those without."""
        return [document.label for document in self]

    @property
    def skipped(self) -> Skipped | None:
        """What the last complete iteration left out; None before it."""
        return self._skipped

    def __iter__(self) -> Iterator[Document]:
        return (document for _, document in self.placed())

    def placed(self) -> Iterator[tuple[Place, Document]]:
        """Iterate over the documents, each with the place where it was found.

        For messages about what a document holds: ``str(place)`` is "reviews.csv, line 17".
        """
        if self._used_up:
            raise ValueError(
                "This iterator was read already and cannot be read again; keep its documents, as "
                "in documents = list(textkin.read(...))."
            )
        self._used_up = self._source.once
        return self._documents()

    def __repr__(self) -> str:
        chosen = [str(self._source)]
        chosen += [f"{name}={value!r}" for name, value in self._choices() if value is not None]
        state = "not read yet"
        if self._skipped is not None:
            state = f"{counted(self._count, 'document')}, {self._skipped.count} skipped"
        return f"Documents({', '.join(chosen)}): {state}"

    def _choices(self) -> list[tuple[str, object]]:
        fields = self._fields
        return [
            ("text", fields.text),
            ("id", fields.id),
            ("label", fields.label),
            ("errors", None if self._errors == "raise" else self._errors),
            ("split", self._split),
        ]

    def _documents(self) -> Iterator[tuple[Place, Document]]:
        report = _Report()
        seen: dict[str, Place] = {}
        count = 0
        total = None if self._progress is None else self._source.total()
        meter = Meter(self._progress, total)
        for row in self._source.rows(meter):
            if isinstance(row.content, LeftOut):
                report.add(row.place, row.content.reason, hidden=row.content.hidden)
                continue
            made = row.content if isinstance(row.content, Bad) else self._made(row, seen)
            if not isinstance(made, Bad):
                count += len(made)
                yield from ((row.place, document) for document in made)
            elif self._errors == "skip":
                report.add(row.place, made.reason)
            else:
                raise _error(row.place, made)
        meter.finish()
        self._count = count
        self._skipped = report.skipped()
        if count == 0 and self._skipped.count > 0 and self._errors == "skip":
            raise ValueError(
                f"Nothing of {self._source} could be read: all was skipped "
                f"({self._skipped.count}). The first: {self._skipped.reasons[0]}"
            )

    def _made(self, row: Row, seen: dict[str, Place]) -> list[Document] | Bad:
        """Make the document of a row, or its passages."""
        try:
            document = self._fields.document(row)
            first = seen.setdefault(document.id, row.place)
            if first is not row.place:
                raise ValueError(
                    f"the id {shortened(document.id)} is taken by {first}; ids must differ, and "
                    "id=False gives each document one"
                )
            return [document] if self._split is None else list(passages_of(document))
        except (TypeError, ValueError) as error:
            return Bad(str(error), error)


def read(
    source: str | os.PathLike[str] | Iterable[Any],
    *,
    text: str | None = None,
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
    r"""Read documents from files, tables, data sets or anything that iterates.

    Parameters
    ----------
    source : path, DataFrame, or iterable
        - A file, by its ending: ``.jsonl``/``.ndjson``, ``.json`` (a list of records, or one),
          ``.csv``, ``.tsv``/``.tab``, ``.parquet`` (needs the extra ``parquet``); all others are
          one document of plain text. Each but Parquet also with ``.gz`` behind its ending.
        - A folder: each of its files that match `pattern`, read as it would be alone.
        - A DataFrame of pandas or polars, a data set of Hugging Face.
        - An iterable of texts (also a column of a DataFrame), records (mappings), `Document` or
          `pathlib.Path` objects. A `str` is a path, never a text; those in a list are texts, and
          an error where all (of the first hundred) are names of existing files.
    text : str, default=None
        The field or column that holds the text. None is "text", and in a table without such a
        column the only one besides id and label; where its name looks like several ("id;text"),
        nothing is guessed.
    id, label : str, False or None, default=None
        The fields of the id and the label. None is "id" and "label" where there are such; False is
        none, whatever there is. All other fields become metadata. A document without an id is
        named by its file ("notes/a.txt" within a folder), by file and line or row
        ("reviews.csv:17"), or by its position from 0 where there is no file. Bytes of a name that
        are not UTF-8 are escaped: ``na\xefve.txt``.
    pattern : str or sequence of str, default=None
        Which files of a folder: ``*`` within a name, ``**`` for any number of folders; upper and
        lower case are alike. None is all ``.txt`` and ``.md`` files, also compressed.
    encoding : str, default=None
        None: what a byte order mark says (UTF-8, UTF-16, UTF-32), else UTF-8. "detect": the same,
        and what is not valid UTF-8 is Windows-1252 where all of its bytes are defined there, else
        Latin-1. Any other name: that encoding.
    errors : {"raise", "skip"}, default="raise"
        What becomes of a broken line, a missing or non-text value, a wrong encoding, a file that
        cannot be read, an id that was there before: an error that says where, or the record (or
        the rest of the file, where no next one can be told apart) is left out and told in
        ``documents.skipped``. If nothing else is left, that is an error too.
    reader : callable, default=None
        For other formats: gets the `pathlib.Path` of each file, returns its text, its record, a
        DataFrame, or an iterable of texts, records and Documents.
    split : {"paragraph"}, default=None
        Cut each document at its blank lines. Passages are named "<id>#1", "<id>#2", ...; their
        metadata have ``parent_id``, ``passage`` (from 1), and ``passage_start`` and
        ``passage_end``, the place in the text. A text without blank lines is one passage; one of
        only white space is one empty passage.
    quoted : bool, default=None
        Whether quotation marks around a field of CSV or TSV wrap it. None: in CSV yes, in TSV no.
    delimiter : str, default=None
        The character between two fields of CSV or TSV, such as ";". None: a comma in ``.csv``, a
        tab in ``.tsv`` and ``.tab``.
    max_bytes : int, default=67108864
        The longest document, in bytes of its file once decompressed (of CSV and JSON Lines: the
        longest record, in characters). A longer one is an error, so that a small compressed file
        cannot fill the memory.
    progress : callable, default=None
        Gets (done, total) now and then: bytes of files, else rows. Not called for an iterable of
        unknown length.

    Returns
    -------
    Documents
        Read while iterated over, again by each iteration.

    Raises
    ------
    FileNotFoundError
        Where there is no such file or folder.
    TypeError, ValueError
        For arguments that make no sense; while iterating, for documents that cannot be read, with
        file and row.

    See Also
    --------
    paragraphs : Cut one text at its blank lines.

    Notes
    -----
    Ends of lines in plain text become LF. An empty file is a document with an empty text. Blank
    lines of CSV and JSON Lines are passed over. CSV needs a header; of a record that is not valid
    CSV, ``errors="skip"`` leaves out the first line only, because the next may be a row that a
    stray quotation mark has swallowed. NaN, NaT, and pandas' NA and NaT are missing values: an
    error as text or id, None as label or metadata. Numbers, booleans and strings of NumPy become
    Python's; other metadata stay as they came. In folders, what begins with a dot is left out, and
    so are links that lead out of the folder. Nothing in a file can make another be opened. Reading
    CSV raises the process-wide ``csv.field_size_limit`` to `max_bytes`.

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
            raise TypeError(f"{name} must be callable or None; got {shortened(given[name])}.")
    check_encoding(encoding)
    return Documents(
        _source(source, pattern, FileOptions(encoding, quoted, delimiter, int(max_bytes), reader)),
        Fields(text, id, label),
        errors=errors,
        split=split,
        progress=progress,
    )


class _Report:
    """What a reading has left out so far."""

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


def _source(source: object, pattern: str | Sequence[str] | None, options: FileOptions) -> Source:
    patterns = check_patterns(pattern)
    found = _existing(source) if isinstance(source, str | os.PathLike) else None
    if found is not None and found.is_dir():
        if options.reader is not None and pattern is None:
            raise ValueError(
                "reader= for a folder needs pattern=, which says what files it reads, such as "
                "pattern='**/*.pdf'."
            )
        return FolderSource(found, patterns, options)
    if pattern is not None:
        raise ValueError(
            f"pattern= chooses among the files of a folder; got {shortened(source)} as source."
        )
    if found is None:
        return in_memory(source, options)
    if options.delimiter is not None and not is_table(found):
        raise ValueError(
            "delimiter= is for files that end in .csv, .tsv or .tab, also with .gz behind it; got "
            f"{shortened(found.name)}. Rename the file, or pass reader= for another format."
        )
    return FileSource(found, options)


def _existing(source: str | os.PathLike[str]) -> Path:
    given = os.fspath(source)
    try:
        os.stat(given)  # of the string itself: an empty path would be the current folder
    except FileNotFoundError:
        pass
    except (ValueError, OSError) as error:
        # A text given for a path may be too long for one, or hold what no path can.
        if isinstance(error, PermissionError):
            raise
    else:
        return Path(given)
    raise FileNotFoundError(
        f"There is no file or folder {shortened(given)}. A string is taken for a path; to read "
        "texts, pass a list of them."
    )


def _error(place: Place, bad: Bad) -> Exception:
    if isinstance(bad.cause, OSError) and bad.cause.filename is not None:
        return bad.cause  # it says which file, and callers know its class
    kind = TypeError if isinstance(bad.cause, TypeError) else ValueError
    error = kind(
        f"{place}: {bad.reason}. Repair it, or pass errors='skip' to leave such documents out."
    )
    error.__cause__ = bad.cause
    return error
