"""`Writer`: changes of the catalog, and then of the segments.

One thread at a time uses the writer, while it holds the writer lock. A change is durable when its
transaction ends. Segments are written afterwards; if that fails, no data is lost.
"""

import weakref
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from textkin import _core
from textkin._base import Int64Array
from textkin.exceptions import DamagedIndexError
from textkin.index.store._attached_models import AttachedModels
from textkin.index.store._catalog import (
    CATALOG,
    Catalog,
    SegmentRecord,
    State,
    damage_error,
    translate_errors,
    words_checksum,
)
from textkin.index.store._counted_files import CountedFiles
from textkin.index.store._embeddings import VectorsByModel
from textkin.index.store._merge import Segments
from textkin.index.store._model_folders import sweep_models
from textkin.index.store._model_records import (
    ModelRecord,
    add_model,
    model_records,
    remove_model,
)
from textkin.index.store._schema import Content, is_text, open_catalog
from textkin.index.store._settings import AnalyzerSettings
from textkin.index.store._term_map import extend_terms
from textkin.index.store._text_fields import TextFields, count_weighted_words
from textkin.index.store._vector_files import remove_strays
from textkin.index.store._vector_store import (
    add_missing,
    add_settings,
    add_vectors,
    compact_vectors,
    gathered,
    missing_positions,
    remove_model_vectors,
    remove_vectors,
    set_vectors,
    tidy_vectors,
    vector_file_records,
    vector_settings,
)
from textkin.text import TermReader

__all__ = ["Outcome", "Writer"]

_TAIL_DOCUMENTS = 8192
_TAIL_BYTES = 4 << 20  # size of packed counts: some million distinct words
_IDS = 500  # IDs per SQL statement


class Outcome(NamedTuple):
    """Numbers of added, updated, and unchanged documents in a batch."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0


class Writer:
    """Writer of documents, models, and segments; used under the writer lock.

    Parameters
    ----------
    folder : Path
        Folder of the index.
    analyzer : AnalyzerSettings
        Analyzer settings of the index.
    text_fields : TextFields or None
        Text fields of the index.
    models : AttachedModels
        Models that compute vectors of new documents.

    Attributes
    ----------
    unembedded : set of str
        Names of the models for which documents were written without a vector.
    """

    def __init__(
        self,
        folder: Path,
        analyzer: AnalyzerSettings,
        text_fields: TextFields | None,
        models: AttachedModels,
    ) -> None:
        self._folder = folder
        self._analyzer = analyzer
        self._text_fields = text_fields
        self._models = models
        self.unembedded: set[str] = set()
        self._reader: TermReader | None = None
        self._catalog: Catalog = open_catalog(folder / CATALOG)
        self._state = State()
        self._segments = Segments(folder, self._catalog)
        self.close = weakref.finalize(self, self._catalog.close)

    def is_of(self, folder: Path) -> bool:
        """Return True if the folder's catalog is the file that this writer has open."""
        try:
            found = (folder / CATALOG).stat()
        except OSError:
            return False
        return self._catalog.file == (found.st_dev, found.st_ino)

    def refresh(self) -> None:
        """Reload the totals of the catalog, which other writers may have changed."""
        with translate_errors(self._catalog.path):
            self._state = self._catalog.state()

    @property
    def state(self) -> State:
        """Totals of the catalog (documents, words, next position) after the last transaction."""
        return self._state

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a ``with`` block as one transaction, and store the new totals."""
        with translate_errors(self._catalog.path):
            try:
                with self._catalog.transaction():
                    self._state = self._catalog.state()
                    yield
                    self._state = replace(self._state, number=self._state.number + 1)
                    self._catalog.set_state(self._state)
            except BaseException:
                self._reader = None  # the reader may have words of the failed transaction
                with suppress(Exception):
                    self._state = self._catalog.state()
                    self._sweep_vectors()  # if the commit succeeded before Ctrl-C, its files stay
                raise

    def add(
        self,
        contents: Sequence[Content],
        n_threads: int,
        vectors: VectorsByModel | None = None,
    ) -> None:
        """Insert documents with new IDs into the catalog, within a transaction."""
        terms = self._terms(n_threads)
        if self._text_fields is None:
            texts = [content.text for content in contents]
            packed, lengths = terms.read(texts).count(n_threads).packed()
        else:
            packed, lengths = count_weighted_words(terms, contents, self._text_fields)
        digests = [content.digest() for content in contents]
        self._insert(contents, digests, packed, lengths, vectors or {})

    def add_counted(self, contents: Sequence[Content], files: CountedFiles) -> None:
        """Insert documents whose words were counted by workers, within a transaction."""
        table = self._terms(1).terms
        numbers, _ = table.read_words([files.words]).arrays()
        packed = _core.renumber_counts(files.counts, numbers)
        self._insert(contents, files.digests, packed, files.lengths, {})

    def _insert(
        self,
        contents: Sequence[Content],
        digests: Sequence[bytes],
        packed: Sequence[bytes],
        lengths: Int64Array,
        vectors: VectorsByModel,
    ) -> None:
        """Insert documents, their word counts, and new words into the catalog."""
        catalog, state = self._catalog, self._state
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
        catalog.executemany("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        catalog.executemany("INSERT INTO words VALUES (?, ?)", enumerate(words, start=state.words))
        extend_terms(catalog, words, state.words)
        self._state = replace(
            state,
            next_position=state.next_position + len(contents),
            documents=state.documents + len(contents),
            tokens=state.tokens + int(lengths.sum()),
            words=state.words + len(words),
            words_checksum=words_checksum(words, state.words_checksum),
            tail_bytes=state.tail_bytes + sum(map(len, packed)),
        )
        self._add_vectors(contents, packed, state.next_position, vectors)

    def check_models(self) -> None:
        """Raise `DamagedIndexError` if an attached model is corrupt."""
        with translate_errors(self._catalog.path):
            for record in model_records(self._catalog).values():
                if record.damage or self._models.can_apply(record):
                    self._models.load(record)

    def _add_vectors(
        self,
        contents: Sequence[Content],
        packed: Sequence[bytes],
        first: int,
        given: VectorsByModel,
    ) -> None:
        """Store a vector of each attached model, given or computed, for new documents."""
        records = model_records(self._catalog)
        if not records or not contents:
            return
        offsets, words, counts, _ = _core.unpack_counts(list(packed), self._state.words)
        shape = len(contents), self._state.words
        rows = counts, words, offsets.astype(np.int32)
        bags = sparse.csr_array(rows, shape=shape, dtype=np.float32)
        texts = [content.text for content in contents]
        positions = np.arange(first, first + len(contents))
        for name, record in records.items():
            if name in given:
                vectors = given[name]
            elif record.damage or self._models.can_apply(record):
                vectors = self._models.load(record).vectors(bags, texts)
            else:
                add_missing(self._catalog, record, positions.tolist())
                self.unembedded.add(name)
                continue
            add_vectors(self._folder, self._catalog, record, positions, vectors)

    def models(self) -> dict[str, ModelRecord]:
        """Return the records of attached models by name."""
        with translate_errors(self._catalog.path):
            return model_records(self._catalog)

    def attach(
        self,
        record: ModelRecord,
        blocks: Iterable[tuple[Int64Array, NDArray[Any]]],
        dtype: str,
        missing: Sequence[int] = (),
        replaced: ModelRecord | None = None,
    ) -> None:
        """Store the record of a model and its document vectors, in one transaction.

        The same transaction removes the model that it replaces.

        Parameters
        ----------
        record : ModelRecord
            Record of the model.
        blocks : iterable of (positions, vectors)
            Vectors of documents.
        dtype : {"float32", "float16"}
            Type in which vectors are stored.
        missing : sequence of int
            Positions of the documents without a vector.
        replaced : ModelRecord, optional
            Corrupt model with the same name.
        """
        try:
            with self.transaction():
                assert record.number == self._state.number + 1
                if replaced is not None:
                    self._remove_model(replaced)
                add_model(self._catalog, record)
                add_settings(self._catalog, record, dtype)
                add_missing(self._catalog, record, missing)
                for positions, vectors in gathered(blocks):
                    add_vectors(self._folder, self._catalog, record, positions, vectors)
        except BaseException:
            # If the commit succeeded before KeyboardInterrupt, the files stay.
            with suppress(Exception):
                self.sweep_models()
            raise
        if replaced is not None:
            with suppress(OSError):
                self.sweep_models()

    def detach(self, record: ModelRecord) -> None:
        """Remove a model, its document vectors, and its files."""
        with self.transaction():
            self._remove_model(record)
        with suppress(OSError):
            self.sweep_models()

    def _remove_model(self, record: ModelRecord) -> None:
        remove_model(self._catalog, record)
        remove_model_vectors(self._catalog)

    def missing_positions(self, record: ModelRecord) -> Int64Array:
        """Return the positions of documents without a vector of a model."""
        with translate_errors(self._catalog.path):
            return missing_positions(self._catalog, record)

    def positions_of(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the positions of the given IDs that exist, by ID."""
        with translate_errors(self._catalog.path):
            return {id: position for id, (position, _) in self._known(ids).items()}

    def dtypes(self) -> dict[str, str]:
        """Return the dtype of the stored vectors of each intact model, by name."""
        with translate_errors(self._catalog.path):
            return {
                record.name: vector_settings(self._catalog, record).dtype
                for record in self._intact_models()
            }

    def set_vectors(
        self, record: ModelRecord, blocks: Iterable[tuple[Int64Array, NDArray[Any]]]
    ) -> None:
        """Replace the vectors of existing documents in one transaction."""
        with self.transaction():
            for positions, vectors in gathered(blocks):
                set_vectors(self._folder, self._catalog, record, positions, vectors)

    def sweep_models(self) -> None:
        """Remove files of models and vectors that the catalog does not list."""
        with translate_errors(self._catalog.path):
            sweep_models(self._folder, list(model_records(self._catalog).values()))
            self._sweep_vectors()

    def _sweep_vectors(self) -> None:
        named = {record.file for record in vector_file_records(self._catalog)}
        remove_strays(self._folder, named)

    def update(
        self,
        contents: Sequence[Content],
        n_threads: int,
        vectors: VectorsByModel | None = None,
    ) -> Outcome:
        """Insert documents, or replace documents with the same IDs, within a transaction.

        Vectors of an unchanged document replace its earlier vectors of the same models.
        """
        latest = {content.id: row for row, content in enumerate(contents)}
        known = self._known(latest)
        new: list[int] = []
        same: list[int] = []
        for id, row in latest.items():
            unchanged = id in known and known[id][1] == contents[row].digest()
            (same if unchanged else new).append(row)
        replaced = [known[contents[row].id][0] for row in new if contents[row].id in known]
        self._remove(replaced)
        given = vectors or {}
        these = {name: rows[np.array(new, np.int64)] for name, rows in given.items()}
        self.add([contents[row] for row in new], n_threads, these)
        if same and given:
            records = model_records(self._catalog)
            positions = np.array([known[contents[row].id][0] for row in same], np.int64)
            for name, rows in given.items():
                some = rows[np.array(same, np.int64)]
                set_vectors(self._folder, self._catalog, records[name], positions, some)
        return Outcome(len(new) - len(replaced), len(replaced), len(same))

    def delete(self, ids: Sequence[str]) -> int:
        """Delete documents by ID, within a transaction; return the number deleted."""
        positions = [position for position, _ in self._known(ids).values()]
        self._remove(positions)
        return len(positions)

    def missing(self, ids: Iterable[str]) -> list[str]:
        """Return the given IDs that do not exist in the catalog."""
        wanted = list(ids)
        known = self._known(wanted)
        return [id for id in wanted if id not in known]

    def ids(self) -> Iterator[str]:
        """Yield the IDs of all documents in the order of insertion."""
        for (id,) in self._catalog.execute("SELECT id FROM documents ORDER BY position"):
            yield id

    def tidy(self) -> None:
        """Write new documents to a segment once there are enough, and merge small segments."""
        with translate_errors(self._catalog.path):
            state = self._state
            if (
                state.next_position - state.tail_position >= _TAIL_DOCUMENTS
                or state.tail_bytes >= _TAIL_BYTES
            ):
                self._segments.add_tail()
            self._segments.merge_small()
            for record in self._intact_models():
                with suppress(DamagedIndexError):  # reported when the model is used
                    tidy_vectors(self._folder, self._catalog, record, self.transaction)
            self._state = self._catalog.state()

    def _intact_models(self) -> list[ModelRecord]:
        return [record for record in model_records(self._catalog).values() if not record.damage]

    def compact(self) -> None:
        """Merge all segments, and free the disk space of deleted documents."""
        with translate_errors(self._catalog.path):
            self._segments.compact()
            for record in self._intact_models():
                with suppress(DamagedIndexError):  # reported when the model is used
                    compact_vectors(self._folder, self._catalog, record, self.transaction)
            self.sweep_models()
            self._catalog.execute("VACUUM")
            self._catalog.fold_log()
            self._state = self._catalog.state()

    def repair(self, records: Sequence[SegmentRecord]) -> None:
        """Rebuild the given segments, except segments that the catalog no longer lists."""
        with translate_errors(self._catalog.path):
            named = {record.number for record in self._catalog.segments()}
            self._segments.repair([record for record in records if record.number in named])
            self._segments.sweep()
            self.sweep_models()
            self._state = self._catalog.state()

    def _known(self, ids: Iterable[str]) -> dict[str, tuple[int, bytes]]:
        """Return position and content hash of each ID that exists."""
        found: dict[str, tuple[int, bytes]] = {}
        left = filter(is_text, ids)
        while some := list(islice(left, _IDS)):
            marks = ", ".join("?" * len(some))
            rows = self._catalog.execute(
                f"SELECT id, position, digest FROM documents WHERE id IN ({marks})", some
            )
            found.update((id, (position, digest)) for id, position, digest in rows)
        return found

    def _remove(self, positions: Sequence[int]) -> None:
        catalog, state = self._catalog, self._state
        tokens = 0
        for position in positions:
            row = catalog.execute(
                "DELETE FROM documents WHERE position = ? RETURNING length", (position,)
            ).fetchone()
            if row is None or type(row[0]) is not int or not 0 <= row[0] <= state.tokens - tokens:
                raise damage_error(
                    catalog.path, f"the document at position {position} has an invalid length"
                )
            tokens += row[0]
        remove_vectors(catalog, positions)
        catalog.executemany(
            "INSERT INTO deleted VALUES (?)",
            ((position,) for position in positions if position < state.tail_position),
        )
        self._state = replace(
            state, documents=state.documents - len(positions), tokens=state.tokens - tokens
        )

    def _terms(self, n_threads: int) -> TermReader:
        """Return the text reader, with all words of the catalog loaded.

        The words always come from the catalog, because a corrupt segment could assign an ID to the
        wrong word.
        """
        if self._reader is None:
            self._reader = self._analyzer.reader(_core.WordTable())
        table, known = self._reader.terms, len(self._reader.terms)
        if known < self._state.words:  # first use, or words written by another process
            table.read_words([self._catalog.words(known, self._state.words)])
        if len(table) != self._state.words:
            raise DamagedIndexError(
                f"{self._catalog.path} is corrupt: its table 'words' has duplicates.",
                [f"{CATALOG}: a word twice"],
            )
        self._reader.n_threads = n_threads
        return self._reader
