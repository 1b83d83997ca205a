"""A copy of an index, as it is at one moment."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from textkin.exceptions import DamagedIndexError
from textkin.index._catalogue import CATALOGUE, plain_errors
from textkin.index._files import new_folder, write_whole
from textkin.index._model_folders import copy_model
from textkin.index._settings import VectorSet
from textkin.index._snapshot import SEGMENTS, Snapshot
from textkin.run import ProgressCallback

__all__ = ["copy_snapshot"]

_PAGES = 4096  # of the catalogue that are copied at a time


def copy_snapshot(snapshot: Snapshot, target: Path, progress: ProgressCallback | None) -> None:
    """Copy everything to a new folder, which is there whole or not at all."""

    def tell(_status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(total - remaining, total)

    with new_folder(target) as folder:
        (folder / SEGMENTS).mkdir()
        with snapshot.catalogue() as catalogue, plain_errors(folder / CATALOGUE):
            copy = sqlite3.connect(folder / CATALOGUE, isolation_level=None)
            with closing(copy):
                catalogue.connection.backup(copy, pages=_PAGES, progress=tell)
        for record, segment in snapshot.segments:
            # What is damaged stays behind: the copy makes it again when it is opened.
            if isinstance(segment, str) or segment.mapped is None:
                continue
            if segment.sha256() == record.sha256:
                write_whole(folder / SEGMENTS / record.file, [memoryview(segment.mapped)])
        vectors = snapshot.folder / VectorSet.FOLDER
        if vectors.is_symlink():  # whatever lies there is not of the index
            problem = f"{VectorSet.FOLDER} is a link, which textkin never makes"
            raise DamagedIndexError(f"{snapshot.folder} is damaged: {problem}.", [problem])
        if vectors.is_dir():
            (folder / VectorSet.FOLDER).mkdir()
            for file in vectors.iterdir():
                if file.is_file() and not file.is_symlink():
                    shutil.copyfile(file, folder / VectorSet.FOLDER / file.name)
        for model in snapshot.models.values():
            copy_model(snapshot.folder, folder, model)
