"""The files of models: a folder in ``models`` for each, and in it one for each step."""

import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from textkin._folders import MANIFEST
from textkin._saving import load_estimator
from textkin.index._catalogue import CATALOGUE
from textkin.index._files import new_folder, sync_folder
from textkin.index._model_records import (
    ModelRecord,
    damaged_model,
    model_records,
    refuse_damaged,
)
from textkin.index._opening import open_catalogue
from textkin.weighting._rows import TakesBags

__all__ = [
    "MODELS",
    "copy_model",
    "load_steps",
    "save_steps",
    "sweep_models",
    "told_if_detached",
]

MODELS = "models"
_LARGEST_MANIFEST = 1 << 20  # as _folders has it


def save_steps(folder: Path, number: int, steps: Sequence[Any]) -> str:
    """Save the estimators of a model; returns the hash of their manifests.

    The folder of the model is there whole or not at all.
    """
    place = _place(folder)
    with new_folder(place / f"{number:08d}") as made:
        for at, step in enumerate(steps):
            step.save(made / str(at))
        return _manifest_hash([made / str(at) for at in range(len(steps))])


def load_steps(folder: Path, record: ModelRecord) -> list[Any]:
    """Load the estimators of a model, after a look at every hash; none if it has none.

    Raises
    ------
    DamagedIndexError
        If they are not what was saved.
    """
    if not record.steps:
        return []
    try:
        parts = _parts(folder, record)
        if _manifest_hash(parts) != record.sha256:
            raise ValueError("its manifests are not what they were")
        steps: list[Any] = [load_estimator(part) for part in parts]
        takes_texts = record.takes == "texts"
        rest = steps[takes_texts:]
        if steps[0]._takes_texts != takes_texts or not all(isinstance(s, TakesBags) for s in rest):
            raise ValueError(f"it holds estimators that do not take {record.takes}")
        if not takes_texts and steps[0].n_features_in_ != record.columns:
            raise ValueError(f"it does not have {record.columns} columns")
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise damaged_model(record, f"{MODELS}/{record.folder}: {error}".rstrip(".")) from error
    return steps


def copy_model(source: Path, target: Path, record: ModelRecord) -> None:
    """Copy the files of a model from one index to another, and look at every hash of the copy.

    Raises
    ------
    DamagedIndexError
        If they are not what was saved, or if a link would lead out of the index.
    ValueError
        If the model has been detached meanwhile.
    """
    refuse_damaged(record)
    if not record.steps:
        return
    with told_if_detached(source, record):
        try:
            for part in _parts(source, record):
                inner = target / part.relative_to(source)
                inner.mkdir(parents=True)
                for file in part.iterdir():
                    if file.is_file():
                        shutil.copyfile(file, inner / file.name)
        except (FileNotFoundError, ValueError) as error:  # a full disk is no damage
            raise damaged_model(record, f"{MODELS}/{record.folder}: {error}") from error
        load_steps(target, record)


@contextmanager
def told_if_detached(folder: Path, record: ModelRecord) -> Iterator[None]:
    """Say of a model whose files are not there any more that it was detached, if it was."""
    try:
        yield
    except ValueError:
        catalogue = open_catalogue(folder / CATALOGUE)
        try:
            if record in model_records(catalogue).values():
                raise
        finally:
            catalogue.close()
        raise ValueError(
            f"The model {record.name!r} has been detached by somebody else meanwhile; "
            "refresh() sees what is there now."
        ) from None


def sweep_models(folder: Path, named: Sequence[ModelRecord]) -> None:
    """Remove folders of models that no catalogue names: what a crash has left, or a detach."""
    if not (folder / MODELS).exists():
        return
    place = _place(folder)
    kept = {record.folder for record in named if record.steps or record.damage}
    for name in sorted(os.listdir(place)):
        if name in kept:
            continue
        path = place / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()


def _place(folder: Path) -> Path:
    """Return the folder of the models, which is made if it is not there, or leads elsewhere."""
    place = folder / MODELS
    if place.is_symlink():  # of a stranger: whatever lies there is not ours to remove
        place.unlink()
    if not place.is_dir():
        place.mkdir()
        sync_folder(folder)
    return place


def _parts(folder: Path, record: ModelRecord) -> list[Path]:
    """Return the folders of the steps, unless one is missing or a link leads elsewhere."""
    place = folder / MODELS / record.folder
    parts = [place / str(at) for at in range(record.steps)]
    for path in (folder / MODELS, place, *parts):
        if path.is_symlink() or not path.is_dir():
            raise ValueError(f"{path.relative_to(folder)} is missing, or is no folder")
    if any(file.is_symlink() for part in parts for file in part.iterdir()):
        raise ValueError("a link lies in it")
    return parts


def _manifest_hash(folders: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for folder in folders:
        file = folder / MANIFEST
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _LARGEST_MANIFEST:
            raise ValueError(f"{MANIFEST} is no manifest")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
