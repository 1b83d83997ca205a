"""Copies of a snapshot of an index to a new folder."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from textkin._base import new_folder, write_whole
from textkin.exceptions import DamagedIndexError
from textkin.index.store._catalog import CATALOG, translate_errors
from textkin.index.store._model_folders import copy_model
from textkin.index.store._model_records import ModelRecord, model_damage
from textkin.index.store._settings import VectorSet
from textkin.index.store._snapshot import SEGMENTS, Snapshot
from textkin.index.store._vector_files import EMBEDDINGS
from textkin.run import ProgressCallback

__all__ = ["copy_snapshot"]

_PAGES = 4096  # catalog pages copied at a time


def copy_snapshot(snapshot: Snapshot, target: Path, progress: ProgressCallback | None) -> None:
    """Copy all files of a snapshot to a new folder, atomically."""

    def tell(_status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(total - remaining, total)

    with new_folder(target) as folder:
        (folder / SEGMENTS).mkdir()
        with snapshot.catalog() as catalog, translate_errors(folder / CATALOG):
            copy = sqlite3.connect(folder / CATALOG, isolation_level=None)
            with closing(copy):
                catalog.connection.backup(copy, pages=_PAGES, progress=tell)
        for record, segment in snapshot.segments:
            # Corrupt segments are not copied: the copy rebuilds them when it is opened.
            if isinstance(segment, str) or segment.mapped is None:
                continue
            if segment.sha256() == record.sha256:
                write_whole(folder / SEGMENTS / record.file, [memoryview(segment.mapped)])
        vectors = snapshot.folder / VectorSet.FOLDER
        if vectors.is_symlink():  # a link could lead to files outside the index
            problem = f"{VectorSet.FOLDER} is a link, which textkin never creates"
            raise DamagedIndexError(f"{snapshot.folder} is corrupt: {problem}.", [problem])
        if vectors.is_dir():
            (folder / VectorSet.FOLDER).mkdir()
            for file in vectors.iterdir():
                if file.is_file() and not file.is_symlink():
                    shutil.copyfile(file, folder / VectorSet.FOLDER / file.name)
        for model in snapshot.models.values():
            copy_model(snapshot.folder, folder, model)
            _copy_vectors(snapshot, folder, model)


def _copy_vectors(snapshot: Snapshot, folder: Path, model: ModelRecord) -> None:
    """Copy the vector files of a model to another folder, and verify their hashes."""
    for named, file in snapshot.vector_files.get(model.number, []):
        if isinstance(file, str):
            raise model_damage(model, file)
        if file.sha256() != named.sha256:
            raise model_damage(model, f"{EMBEDDINGS}/{named.file} has changed (its hash differs)")
        (folder / EMBEDDINGS).mkdir(exist_ok=True)
        assert file.mapped is not None
        write_whole(folder / EMBEDDINGS / named.file, [memoryview(file.mapped)])
