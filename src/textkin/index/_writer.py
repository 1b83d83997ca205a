"""The writer: what changes the catalogue, and the segments after it.

It is used by one thread at a time, which holds the writer's lock. What it writes to the catalogue
is acknowledged when the transaction ends; segments are made afterwards, and if that fails nothing
is lost.
"""

import weakref
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from textkin import _core
from textkin._typing import Float32Array, Int64Array
from textkin.exceptions import DamagedIndexError
from textkin.index._catalogue import (
    CATALOGUE,
    Catalogue,
    SegmentRecord,
    State,
    plain_errors,
    words_checksum,
)
from textkin.index._counted_files import CountedFiles
from textkin.index._merging import Segments
from textkin.index._model_folders import sweep_models
from textkin.index._model_records import (
    ModelRecord,
    add_model,
    add_vectors,
    model_records,
    remove_model,
    remove_vectors,
)
from textkin.index._models import Models
from textkin.index._opening import open_catalogue
from textkin.index._records import Content, is_text
from textkin.index._settings import Reading
from textkin.text._terms import TermReader

__all__ = ["Outcome", "Writer"]

_TAIL_DOCUMENTS = 8192
_TAIL_BYTES = 4 << 20  # of packed counts: some million different words
_IDS = 500  # that are asked for in one statement


class Outcome(NamedTuple):
    """What became of the documents of a batch."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0


class Writer:
    """Changes an index.

    Parameters
    ----------
    folder : Path
        The index.
    reading : Reading
        How texts are read.
    models : Models
        What makes vectors of new documents.
    """

    def __init__(self, folder: Path, reading: Reading, models: Models) -> None:
        self._folder = folder
        self._reading = reading
        self._models = models
        self._reader: TermReader | None = None
        self._catalogue: Catalogue = open_catalogue(folder / CATALOGUE)
        self._state = State()
        self._segments = Segments(folder, self._catalogue)
        self.close = weakref.finalize(self, self._catalogue.close)

    def is_of(self, folder: Path) -> bool:
        """Return whether the catalogue in a folder is the one that is open."""
        try:
            found = (folder / CATALOGUE).stat()
        except OSError:
            return False
        return self._catalogue.file == (found.st_dev, found.st_ino)

    def refresh(self) -> None:
        """Look at what others have written."""
        with plain_errors(self._catalogue.path):
            self._state = self._catalogue.state()

    @property
    def state(self) -> State:
        """The state after the last transaction."""
        return self._state

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write everything or nothing."""
        with plain_errors(self._catalogue.path):
            try:
                with self._catalogue.transaction():
                    self._state = self._catalogue.state()
                    yield
                    self._state = replace(self._state, number=self._state.number + 1)
                    self._catalogue.set_state(self._state)
            except BaseException:
                self._reader = None  # its words may be in no catalogue
                with suppress(Exception):
                    self._state = self._catalogue.state()
                raise

    def add(self, contents: Sequence[Content], n_threads: int) -> None:
        """Insert documents whose ids are new, inside of a transaction."""
        terms = self._terms(n_threads)
        counts = terms.read([content.text for content in contents]).count(n_threads)
        packed, lengths = counts.packed()
        self._insert(contents, [content.digest() for content in contents], packed, lengths)

    def add_counted(self, contents: Sequence[Content], files: CountedFiles) -> None:
        """Insert documents whose ids are new and whose words others have counted."""
        table = self._terms(1).terms
        numbers, _ = table.read_words([files.words]).arrays()
        packed = _core.renumber_counts(files.counts, numbers)
        self._insert(contents, files.digests, packed, files.lengths)

    def _insert(
        self,
        contents: Sequence[Content],
        digests: Sequence[bytes],
        packed: Sequence[bytes],
        lengths: Int64Array,
    ) -> None:
        """Insert documents with their counts, and the words that the reader has met with them."""
        catalogue, state = self._catalogue, self._state
        assert self._reader is not None
        words = self._reader.terms.words(state.words)
        rows = (
            (position, content.id, digest, length, zlib.crc32(blob), blob, *content[1:])
            for position, content, digest, length, blob in zip(
                range(state.next_position, state.next_position + len(contents)),
                contents,
                digests,
                lengths.tolist(),
                packed,
                strict=True,
            )
        )
        catalogue.executemany("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        catalogue.executemany(
            "INSERT INTO words VALUES (?, ?)", enumerate(words, start=state.words)
        )
        self._state = replace(
            state,
            next_position=state.next_position + len(contents),
            documents=state.documents + len(contents),
            tokens=state.tokens + int(lengths.sum()),
            words=state.words + len(words),
            words_checksum=words_checksum(words, state.words_checksum),
            tail_bytes=state.tail_bytes + sum(map(len, packed)),
        )
        self._add_vectors(contents, packed, state.next_position)

    def check_models(self) -> None:
        """Raise unless all models can make vectors of new documents."""
        with plain_errors(self._catalogue.path):
            for record in model_records(self._catalogue).values():
                self._models.applied(record)

    def _add_vectors(
        self, contents: Sequence[Content], packed: Sequence[bytes], first: int
    ) -> None:
        """Let every model make vectors of documents that were just inserted."""
        records = model_records(self._catalogue)
        if not records or not contents:
            return
        offsets, words, counts, _ = _core.unpack_counts(list(packed), self._state.words)
        shape = len(contents), self._state.words
        rows = counts, words, offsets.astype(np.int32)
        bags = sparse.csr_array(rows, shape=shape, dtype=np.float32)
        texts = [content.text for content in contents]
        positions = range(first, first + len(contents))
        for record in records.values():
            vectors = self._models.applied(record).vectors(bags, texts)
            add_vectors(self._catalogue, record, positions, vectors)

    def models(self) -> dict[str, ModelRecord]:
        """Return the models that are attached, by their names."""
        with plain_errors(self._catalogue.path):
            return model_records(self._catalogue)

    def attach(
        self,
        record: ModelRecord,
        blocks: Iterable[tuple[Sequence[int], Float32Array]],
        replaced: ModelRecord | None = None,
    ) -> None:
        """Name a model whose folder is on the disk, with the vectors of all documents.

        One that it replaces goes in the same transaction.
        """
        try:
            with self.transaction():
                assert record.number == self._state.number + 1
                if replaced is not None:
                    remove_model(self._catalogue, replaced)
                add_model(self._catalogue, record)
                for positions, vectors in blocks:
                    add_vectors(self._catalogue, record, positions, vectors)
        except BaseException:
            # Ctrl-C may come when the catalogue names it already; then it stays.
            with suppress(Exception):
                self.sweep_models()
            raise
        if replaced is not None:
            with suppress(OSError):
                self.sweep_models()

    def detach(self, record: ModelRecord) -> None:
        """Forget a model with its vectors and its files."""
        with self.transaction():
            remove_model(self._catalogue, record)
        with suppress(OSError):
            self.sweep_models()

    def sweep_models(self) -> None:
        """Remove the files of models that the catalogue does not name."""
        with plain_errors(self._catalogue.path):
            sweep_models(self._folder, list(model_records(self._catalogue).values()))

    def update(self, contents: Sequence[Content], n_threads: int) -> Outcome:
        """Insert or replace documents, inside of a transaction; of one id the last one counts."""
        latest = {content.id: content for content in contents}
        known = self._known(latest)
        new = [
            content
            for content in latest.values()
            if content.id not in known or known[content.id][1] != content.digest()
        ]
        replaced = [known[content.id][0] for content in new if content.id in known]
        self._remove(replaced)
        self.add(new, n_threads)
        return Outcome(len(new) - len(replaced), len(replaced), len(latest) - len(new))

    def delete(self, ids: Sequence[str]) -> int:
        """Delete documents, inside of a transaction; returns how many there were."""
        positions = [position for position, _ in self._known(ids).values()]
        self._remove(positions)
        return len(positions)

    def missing(self, ids: Iterable[str]) -> list[str]:
        """Return those ids that no document has."""
        wanted = list(ids)
        known = self._known(wanted)
        return [id for id in wanted if id not in known]

    def ids(self) -> Iterator[str]:
        """Give the ids of all documents."""
        for (id,) in self._catalogue.execute("SELECT id FROM documents ORDER BY position"):
            yield id

    def tidy(self) -> None:
        """Make a segment of what was added, if it is enough, and merge small ones."""
        with plain_errors(self._catalogue.path):
            state = self._state
            if (
                state.next_position - state.tail_position >= _TAIL_DOCUMENTS
                or state.tail_bytes >= _TAIL_BYTES
            ):
                self._segments.add_tail()
            self._segments.merge_small()
            self._state = self._catalogue.state()

    def compact(self) -> None:
        """Merge everything, and give back the space of what was deleted."""
        with plain_errors(self._catalogue.path):
            self._segments.compact()
            self.sweep_models()
            self._catalogue.execute("VACUUM")
            self._catalogue.fold_log()
            self._state = self._catalogue.state()

    def repair(self, records: Sequence[SegmentRecord]) -> None:
        """Make segments again from the catalogue, those that it still names."""
        with plain_errors(self._catalogue.path):
            named = {record.number for record in self._catalogue.segments()}
            self._segments.repair([record for record in records if record.number in named])
            self._segments.sweep()
            self.sweep_models()
            self._state = self._catalogue.state()

    def _known(self, ids: Iterable[str]) -> dict[str, tuple[int, bytes]]:
        """Return position and digest of those documents that are there."""
        found: dict[str, tuple[int, bytes]] = {}
        left = filter(is_text, ids)
        while some := list(islice(left, _IDS)):
            marks = ", ".join("?" * len(some))
            rows = self._catalogue.execute(
                f"SELECT id, position, digest FROM documents WHERE id IN ({marks})", some
            )
            found.update((id, (position, digest)) for id, position, digest in rows)
        return found

    def _remove(self, positions: Sequence[int]) -> None:
        catalogue, state = self._catalogue, self._state
        tokens = 0
        for position in positions:
            (length,) = catalogue.execute(
                "DELETE FROM documents WHERE position = ? RETURNING length", (position,)
            ).fetchone()
            tokens += length
        remove_vectors(catalogue, positions)
        catalogue.executemany(
            "INSERT INTO deleted VALUES (?)",
            ((position,) for position in positions if position < state.tail_position),
        )
        self._state = replace(
            state, documents=state.documents - len(positions), tokens=state.tokens - tokens
        )

    def _terms(self, n_threads: int) -> TermReader:
        """Return a reader that knows all words of the catalogue by their numbers.

        They come from the catalogue, never from a segment: a damaged one must not give a number to
        the wrong word.
        """
        if self._reader is None:
            self._reader = self._reading.reader(_core.WordTable())
        table, known = self._reader.terms, len(self._reader.terms)
        if known < self._state.words:  # all of them, or those of another process
            table.read_words([self._catalogue.words(known, self._state.words)])
        if len(table) != self._state.words:
            raise DamagedIndexError(
                f"{self._catalogue.path} is damaged: its table 'words' has a word twice.",
                [f"{CATALOGUE}: a word twice"],
            )
        self._reader.n_threads = n_threads
        return self._reader
