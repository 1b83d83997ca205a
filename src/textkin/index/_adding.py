"""Documents from a user to the writer, batch by batch; and what to say when one is wrong."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from textkin.exceptions import AddError
from textkin.index._counted_files import CountedFiles, Refused
from textkin.index._records import Content, content_of, documents_in, items_to_add
from textkin.index._writer import Outcome, Writer
from textkin.run import ProgressCallback
from textkin.text.reading._document import counted, shortened
from textkin.text.reading._items import Items
from textkin.text.reading._read import Documents, Skipped

__all__ = ["Adding", "Changes", "add_all", "add_files"]

_BATCH_DOCUMENTS = 20_000
_BATCH_CHARACTERS = 1 << 23
_REASONS = 20  # why something was skipped, that are kept


@dataclass(frozen=True, slots=True)
class Changes:
    """What a call has changed in an index.

    Attributes
    ----------
    added : int
        Documents whose ids were new.
    updated : int
        Documents that took the place of one with the same id.
    unchanged : int
        Documents that were there already, exactly as they came.
    deleted : int
        Documents that were removed.
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


@dataclass
class Adding:
    """The state of one call of `add`, `update` or `mirror`.

    Attributes
    ----------
    writer : Writer
        What writes.
    replace : bool
        Whether documents with ids that are there are replaced, or an error.
    n_threads : int
        For the tokeniser.
    committed : callable
        Called after each transaction.
    seen : set of str or None
        Where the ids of all documents are noted, if they are wanted.
    """

    writer: Writer
    replace: bool
    n_threads: int
    committed: Callable[[], None]
    seen: set[str] | None = None
    counts: Outcome = field(default_factory=Outcome)
    kept: int = 0
    last_id: str | None = None

    def whole(self, documents: Items) -> None:
        """Add all documents in one transaction."""
        row = 0
        last_id = None
        with self.writer.transaction():
            for batch in _batches(self._contents(documents)):
                self._write(batch, row)
                row += len(batch)
                last_id = batch[-1].id
        self.kept, self.last_id = row, last_id
        self.committed()

    def stream(self, documents: Items, progress: ProgressCallback | None, total: int) -> None:
        """Add documents batch by batch, a transaction each."""
        for batch in _batches(self._contents(documents)):
            with self.writer.transaction():
                self._write(batch, self.kept)
            self.kept += len(batch)
            self.last_id = batch[-1].id
            self.committed()
            if progress is not None:
                progress(self.kept, total)

    def counted(
        self, blocks: Iterable[CountedFiles | Refused], progress: ProgressCallback | None
    ) -> Skipped:
        """Add documents that others have read and counted, block by block, a transaction each."""
        skipped = hidden = 0
        reasons: list[str] = []
        for block in blocks:
            if isinstance(block, Refused):
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
            self.committed()
            if progress is not None:
                progress(self.kept, 0)
        return Skipped(skipped, tuple(reasons[:_REASONS]), hidden)

    def delete_others(self) -> int:
        """Delete all documents that were not among those added; returns how many."""
        assert self.seen is not None
        if not self.seen:
            raise ValueError(
                "There are no documents to mirror, and an index is not emptied for that; "
                "index.delete(index.ids()) does it."
            )
        with self.writer.transaction():
            others = [id for id in self.writer.ids() if id not in self.seen]
            deleted = self.writer.delete(others)
        self.committed()
        return deleted

    def _contents(self, documents: Items) -> Iterator[Content]:
        row = 0
        found = documents_in(documents, self.writer.state.next_position, with_ids=self.replace)
        while True:
            id = None
            try:
                document = next(found, None)
                if document is None:
                    return
                id = document.id
                content = content_of(document)
            except (TypeError, ValueError) as error:
                raise self._error(row, id, str(error)) from error
            if self.seen is not None:
                self.seen.add(content.id)
            yield content
            row += 1

    def _write(self, batch: Sequence[Content], row: int) -> None:
        if self.replace:
            outcome = self.writer.update(batch, self.n_threads)
            self.counts = Outcome(*map(sum, zip(self.counts, outcome, strict=True)))
            return
        self._check_new(batch, row)
        self.writer.add(batch, self.n_threads)
        self.counts = self.counts._replace(added=self.counts.added + len(batch))

    def _check_new(self, batch: Sequence[Content], row: int) -> None:
        """Raise if an id is there already, or comes twice."""
        new = set(self.writer.missing(content.id for content in batch))
        for place, content in enumerate(batch):
            if content.id not in new:
                raise self._error(
                    row + place,
                    content.id,
                    "the id is taken by another document; update() replaces it",
                )
            new.discard(content.id)

    def _error(self, row: int, id: str | None, reason: str) -> AddError:
        named = "" if id is None else f" (id {shortened(id)})"
        return AddError(
            f"document {row:,}{named}: {reason.rstrip('.')}. {self.told()}",
            row,
            id,
            self.kept,
            self.last_id,
        )

    def told(self) -> str:
        """Say what was kept."""
        if self.last_id is None:
            return "Nothing was added."
        return (
            f"Kept: the first {counted(self.kept, 'document')}, up to id {shortened(self.last_id)}."
        )


def add_all(adding: Adding, documents: Items, progress: ProgressCallback | None) -> Outcome:
    """Add a list whole or not at all, anything else batch by batch."""
    total = documents.total() or 0
    with _told(adding):
        if isinstance(documents.source, list | tuple):
            adding.whole(documents)
            if progress is not None:
                progress(total, total)
        else:
            adding.stream(documents, progress, total)
    return adding.counts


def add_files(
    adding: Adding,
    documents: Documents,
    blocks: Iterable[CountedFiles | Refused],
    progress: ProgressCallback | None,
) -> Outcome:
    """Add the documents of files that workers read and count; the blocks before an error stay."""
    with _told(adding):
        skipped = adding.counted(blocks, progress)
    if not adding.kept:  # what is wrong with them, if anything is, is told as always
        return add_all(adding, items_to_add(documents), progress)
    documents._count, documents._skipped = adding.kept, skipped
    return adding.counts


@contextmanager
def _told(adding: Adding) -> Iterator[None]:
    """Let whatever stops the work say what was kept."""
    try:
        yield
    except AddError:
        raise
    except BaseException as error:
        error.add_note(adding.told())
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
