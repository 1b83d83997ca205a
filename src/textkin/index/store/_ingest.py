"""Adding, updating, mirroring, and deleting documents, in batches."""

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

from textkin._base import abbreviate, format_count, hinted, without_hint
from textkin.exceptions import AddError, IndexWarning, ParameterError
from textkin.index.store._counted_files import (
    CountedFiles,
    RejectedDocument,
    file_blocks,
    file_counter,
)
from textkin.index.store._embeddings import VectorsByModel, check_given
from textkin.index.store._schema import Content, content_of
from textkin.index.store._session import Session
from textkin.index.store._text_fields import TextFields
from textkin.index.store._writer import Outcome, Writer
from textkin.reading import (
    TEXTS_HINT,
    Document,
    Documents,
    Fields,
    Items,
    Place,
    Row,
    Skipped,
    TextNames,
    make_items,
    record_iteration,
    text_names,
    with_text_fields,
)
from textkin.run import Executor, ProgressCallback, effective_jobs, map_blocks

__all__ = ["Changes", "delete", "documents_in", "ingest", "items_to_add"]

_BATCH_DOCUMENTS = 20_000
_BATCH_CHARACTERS = 1 << 23
_REASONS = 20  # maximum number of stored reasons for skipped documents
_SHOWN = 3  # maximum number of missing IDs in a message


@dataclass(frozen=True, slots=True)
class Changes:
    """Numbers of added, updated, unchanged, and deleted documents of one call.

    Attributes
    ----------
    added : int
        Documents with new IDs.
    updated : int
        Documents that replaced a document with the same ID.
    unchanged : int
        Documents equal to the stored documents.
    deleted : int
        Documents that were deleted.
    """

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0

    def __str__(self) -> str:
        told = [
            f"{number:,} {name}"
            for name, number in (
                ("added", self.added),
                ("updated", self.updated),
                ("unchanged", self.unchanged),
                ("deleted", self.deleted),
            )
            if number
        ]
        return ", ".join(told) or "nothing changed"


def ingest(
    session: Session,
    documents: Iterable[object],
    *,
    replace: bool,
    text: TextNames = None,
    embeddings: object = None,
    seen: set[str] | None = None,
    n_jobs: int | None = None,
    executor: Executor = None,
    progress: ProgressCallback | None = None,
) -> Changes:
    """Add or update documents: a list in one transaction, an iterator in batches.

    Parameters
    ----------
    session : Session
        An open index.
    documents : iterable
        Anything that `Index.add` accepts.
    replace : bool
        Replace documents with existing IDs; if False, such an ID raises `AddError`.
    text : str, sequence of str, or None
        Fields of records with the text.
    embeddings : mapping of str to array, default=None
        Vectors of the documents by the name of their model. All documents are then written in one
        transaction.
    seen : set of str, default=None
        Set that receives the IDs of all documents. Afterwards, all other documents are deleted.
    n_jobs, executor, progress
        As for `Index.add`.
    """
    n_threads = 1 if n_jobs is None else effective_jobs(n_jobs)
    items = items_to_add(documents)
    fields = _fields_to_read(documents, text, session.text_fields)
    if executor is not None and embeddings is not None:
        raise ParameterError(
            "executor",
            "None if embeddings are passed",
            type(executor).__name__,
            "Pass documents with vectors without `executor`.",
        )
    files = None if executor is None else file_blocks(documents)
    with session.writing() as writer:
        writer.check_models()
        writer.unembedded.clear()
        given = None
        if embeddings is not None:
            given = check_given(embeddings, writer.models(), writer.dtypes())
        ingestion = _Ingestion(session, writer, replace, fields, n_threads, seen, given)
        if files is None:
            ingestion.add_items(items, progress)
        else:
            assert isinstance(documents, Documents)
            count = file_counter(documents, session.analyzer, session.text_fields)
            # Close the blocks explicitly: an exception would keep this frame and its workers.
            with closing(map_blocks(count, files, executor=executor, n_jobs=n_jobs)) as blocks:
                ingestion.add_files(documents, blocks, progress)
        deleted = 0 if seen is None else ingestion.delete_others()
        unembedded = sorted(writer.unembedded)
    if unembedded:
        names = ", ".join(map(repr, unembedded))
        warnings.warn(
            IndexWarning(
                f"Documents were added without vectors of {names}, because the index does not have "
                "the encoder; the ranking does not find them.",
                hint="Open the index with the encoder, `Index.open(path, models={name: encoder})`, "
                "and call `index.embed(name)`.",
            ),
            stacklevel=3,
        )
    return Changes(*ingestion.counts, deleted)


def delete(session: Session, ids: Sequence[str], *, ignore_missing: bool) -> Changes:
    """Delete documents by ID, all or none; return the number of changes."""
    wanted = list(dict.fromkeys(ids))
    with session.writing() as writer:
        with writer.transaction():
            missing = [] if ignore_missing else writer.missing(wanted)
            if missing:
                shown = ", ".join(abbreviate(id) for id in missing[:_SHOWN])
                more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
                raise hinted(
                    KeyError,
                    f"no document has the ID {shown}{more}; nothing was deleted.",
                    "`missing='ignore'` skips such IDs.",
                )
            deleted = writer.delete(wanted)
        session.publish(writer)
    return Changes(deleted=deleted)


@dataclass
class _Ingestion:
    """One call of `add`, `update`, or `mirror`, with its counts of changes.

    Attributes
    ----------
    session : Session
        Session that publishes each transaction.
    writer : Writer
        Writer of the session.
    replace : bool
        True to replace documents with existing IDs; False to raise an error.
    fields : Fields
        Fields of records.
    n_threads : int
        Number of threads of the tokenizer.
    seen : set of str or None
        Set that receives the IDs of all documents.
    embeddings : mapping of str to array, or None
        Validated vectors of the documents, by model.
    """

    session: Session
    writer: Writer
    replace: bool
    fields: Fields
    n_threads: int
    seen: set[str] | None = None
    embeddings: VectorsByModel | None = None
    counts: Outcome = field(default_factory=Outcome)
    kept: int = 0
    last_id: str | None = None

    def add_items(self, documents: Items, progress: ProgressCallback | None) -> None:
        """Write documents: a list in one transaction, an iterator in batches."""
        total = documents.total() or 0
        with self._notes():
            if isinstance(documents.source, list | tuple) or self.embeddings is not None:
                self._whole(documents)
                if progress is not None:
                    progress(total, total)
            else:
                self._stream(documents, progress, total)

    def add_files(
        self,
        documents: Documents,
        blocks: Iterable[CountedFiles | RejectedDocument],
        progress: ProgressCallback | None,
    ) -> None:
        """Write documents that workers counted, block by block."""
        with self._notes():
            skipped = self._counted(blocks, progress)
        if not self.kept:  # no document: the usual path reports any problems
            self.add_items(items_to_add(documents), progress)
            return
        record_iteration(documents, self.kept, skipped)

    def _whole(self, documents: Items) -> None:
        """Write all documents of a list in one transaction, so that all or none are stored."""
        row = 0
        last_id = None
        with self.writer.transaction():
            for batch in _batches(self._contents(documents)):
                self._write(batch, row)
                row += len(batch)
                last_id = batch[-1].id
            self._check_rows(row)
        self.kept, self.last_id = row, last_id
        self.session.publish(self.writer)

    def _stream(self, documents: Items, progress: ProgressCallback | None, total: int) -> None:
        """Write documents in batches, one transaction per batch."""
        for batch in _batches(self._contents(documents)):
            with self.writer.transaction():
                self._write(batch, self.kept)
            self.kept += len(batch)
            self.last_id = batch[-1].id
            self.session.publish(self.writer)
            if progress is not None:
                progress(self.kept, total)

    def _counted(
        self, blocks: Iterable[CountedFiles | RejectedDocument], progress: ProgressCallback | None
    ) -> Skipped:
        """Write blocks that workers counted, one transaction per block; return skipped records."""
        skipped = hidden = 0
        reasons: list[str] = []
        for block in blocks:
            if isinstance(block, RejectedDocument):
                raise self._error(self.kept + block.row, block.id, block.why)
            skipped += block.skipped.count
            reasons += block.skipped.reasons
            hidden += block.skipped.hidden
            contents = block.contents
            if not contents:
                continue
            with self.writer.transaction():
                self._check_new(contents, self.kept)
                self.writer.add_counted(contents, block)
            self.kept += len(contents)
            self.last_id = contents[-1].id
            self.counts = self.counts._replace(added=self.kept)
            self.session.publish(self.writer)
            if progress is not None:
                progress(self.kept, 0)
        return Skipped(skipped, tuple(reasons[:_REASONS]), hidden)

    def delete_others(self) -> int:
        """Delete all documents that the call did not add; return their number."""
        assert self.seen is not None
        if not self.seen:
            raise hinted(
                ValueError,
                "documents must contain at least one document to mirror; got none.",
                "To empty the index, use `index.delete(index.ids)`.",
            )
        with self.writer.transaction():
            others = [id for id in self.writer.ids() if id not in self.seen]
            deleted = self.writer.delete(others)
        self.session.publish(self.writer)
        return deleted

    def _contents(self, documents: Items) -> Iterator[Content]:
        row = 0
        first = self.writer.state.next_position
        found = documents_in(documents, first, with_ids=self.replace, fields=self.fields)
        while True:
            id = None
            try:
                document = next(found, None)
                if document is None:
                    return
                id = document.id
                content = content_of(document, self.session.text_fields)
            except (TypeError, ValueError) as error:
                hint = getattr(error, "hint", "")
                if self.session.text_fields is not None:  # its names cannot be changed
                    hint = hint.replace(TEXTS_HINT, self.session.text_fields.hint)
                raise self._error(row, id, without_hint(error), hint) from error
            if self.seen is not None:
                self.seen.add(content.id)
            yield content
            row += 1

    def _vectors(self, first: int, end: int) -> VectorsByModel:
        """Return the given embeddings of the documents from `first` to before `end`."""
        given = self.embeddings or {}
        if any(len(rows) < end for rows in given.values()):
            self._check_rows(end, least=True)
        return {name: rows[first:end] for name, rows in given.items()}

    def _check_rows(self, documents: int, *, least: bool = False) -> None:
        """Raise unless the given embeddings have one row per document."""
        for name, rows in (self.embeddings or {}).items():
            if len(rows) != documents:
                some = f"at least {documents:,}" if least else f"{documents:,}"
                raise ParameterError(
                    f"embeddings[{name!r}]",
                    f"an array with a row for each of {some} documents",
                    f"{len(rows):,}",
                    "Pass the vectors in the order of the documents.",
                )

    def _write(self, batch: Sequence[Content], row: int) -> None:
        vectors = self._vectors(row, row + len(batch))
        if self.replace:
            outcome = self.writer.update(batch, self.n_threads, vectors)
            self.counts = Outcome(*map(sum, zip(self.counts, outcome, strict=True)))
            return
        self._check_new(batch, row)
        self.writer.add(batch, self.n_threads, vectors)
        self.counts = self.counts._replace(added=self.counts.added + len(batch))

    def _check_new(self, batch: Sequence[Content], row: int) -> None:
        """Raise if an ID of a batch exists in the index, or occurs twice."""
        new = set(self.writer.missing(content.id for content in batch))
        for place, content in enumerate(batch):
            if content.id not in new:
                raise self._error(
                    row + place,
                    content.id,
                    "the ID is used by another document; update() replaces it",
                )
            new.discard(content.id)

    def _error(self, row: int, id: str | None, reason: str, hint: str = "") -> AddError:
        named = "" if id is None else f" (ID {abbreviate(id)})"
        return AddError(
            f"document {row:,}{named}: {reason.rstrip('.')}. {self._kept_message()}",
            row,
            id,
            self.kept,
            self.last_id,
            hint=f"{hint[0].upper()}{hint[1:].rstrip('.')}." if hint else "",
        )

    def _kept_message(self) -> str:
        """Return a sentence that says how many documents were stored before an error."""
        if self.last_id is None:
            return "Nothing was added."
        kept = format_count(self.kept, "document")
        return f"Kept: the first {kept}, up to ID {abbreviate(self.last_id)}."

    @contextmanager
    def _notes(self) -> Iterator[None]:
        """Add a note about the documents already stored to any exception."""
        try:
            yield
        except AddError:
            raise
        except BaseException as error:
            error.add_note(self._kept_message())
            raise


def _batches(contents: Iterable[Content]) -> Iterator[list[Content]]:
    batch: list[Content] = []
    size = 0
    for content in contents:
        batch.append(content)
        size += len(content.text) + len(content.metadata)
        if len(batch) >= _BATCH_DOCUMENTS or size >= _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def items_to_add(source: Iterable[object]) -> Items:
    """Convert the input of `add` to items: documents, records, texts, or table rows.

    Raises
    ------
    TypeError
        If `source` is not iterable, or is a single document.
    """
    expected = "documents must be an iterable of documents, records or texts"
    if isinstance(source, str | os.PathLike):
        raise TypeError(
            f"{expected}; got a {type(source).__name__}. For files, pass the result of "
            "textkin.read(path); for one text, pass a list."
        )
    if isinstance(source, Document | Mapping):
        raise TypeError(f"{expected}; got a single {type(source).__name__}. Pass a list.")
    return make_items(source, expected)


def _fields_to_read(documents: object, text: TextNames, text_fields: TextFields | None) -> Fields:
    """Return the fields of records to add: those passed as `text`, or the fields of the index."""
    names = None if text_fields is None else text_fields.names
    if text is None:
        return Fields(names)
    if isinstance(documents, Documents):
        raise ParameterError(
            "text",
            "None for the result of textkin.read",
            abbreviate(text, 60),
            "Pass `text` to `textkin.read`.",
        )
    wanted = text_names(text)
    if names is None and len(wanted) > 1:
        raise ParameterError(
            "text",
            "one field, because the index was created without text fields",
            abbreviate(text, 60),
            f"Create the index with `Index.create(path, text={list(wanted)!r})`.",
        )
    if names is not None and set(wanted) != set(names):
        raise ParameterError(
            "text",
            f"the text fields of the index, {list(names)!r}",
            abbreviate(text, 60),
            "Omit `text`.",
        )
    return Fields(wanted[0] if names is None else names)


def documents_in(
    items: Items, first: int, *, with_ids: bool, fields: Fields | None = None
) -> Iterator[Document]:
    """Yield items as documents; without IDs, the position becomes the ID.

    Parameters
    ----------
    items : Items
        Documents to add.
    first : int
        Position of the next document of the index. A document without an ID gets its future
        position as its ID.
    with_ids : bool
        If True, each document must have an ID.
    fields : Fields, optional
        Fields of records.

    Raises
    ------
    TypeError, ValueError
        If an item is not a document. The message has only the reason.
    """
    fields = fields or Fields()
    names = fields.text if isinstance(fields.text, tuple) else None
    source = items.source
    found = with_text_fields(source, names) if isinstance(source, Documents) else items
    for position, item in enumerate(found):
        if isinstance(item, Document):
            yield item
        else:
            if with_ids and not (isinstance(item, Mapping) and "id" in item):
                raise ValueError("update() requires an ID for every document")
            place = Place(unit="position", number=first + position)
            yield fields.document(Row(place, item, items.fixed))
