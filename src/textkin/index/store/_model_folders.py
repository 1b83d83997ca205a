"""Folders of attached models: one per model, with one subfolder per estimator."""

import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from textkin._base import (
    MANIFEST,
    BagEstimator,
    load_estimator,
    new_folder,
    own_folder,
    takes_texts,
)
from textkin.index.store._catalog import CATALOG
from textkin.index.store._model_records import (
    ModelRecord,
    check_undamaged,
    model_damage,
    model_records,
)
from textkin.index.store._schema import open_catalog

__all__ = [
    "MODELS",
    "copy_model",
    "explain_if_detached",
    "load_steps",
    "save_steps",
    "sweep_models",
]

MODELS = "models"
_LARGEST_MANIFEST = 1 << 20  # the same limit as in _folders


def save_steps(folder: Path, number: int, steps: Sequence[Any]) -> str:
    """Save the estimators of a model atomically; return a hash of their manifests."""
    place = own_folder(folder, MODELS)
    with new_folder(place / f"{number:08d}") as made:
        for at, step in enumerate(steps):
            step.save(made / str(at))
        return _manifest_hash([made / str(at) for at in range(len(steps))])


def load_steps(folder: Path, record: ModelRecord) -> list[Any]:
    """Load the estimators of a model after verifying their hashes.

    Raises
    ------
    DamagedIndexError
        If the files are not the saved files.
    """
    if not record.steps:
        return []
    try:
        parts = _parts(folder, record)
        if _manifest_hash(parts) != record.sha256:
            raise ValueError("its manifests have changed (their hash differs)")
        steps: list[Any] = [load_estimator(part) for part in parts]
        of_texts = record.takes == "texts"
        rest = steps[of_texts:]
        if takes_texts(steps[0]) != of_texts or not all(isinstance(s, BagEstimator) for s in rest):
            raise ValueError(f"it has estimators that do not take {record.takes}")
        if not of_texts and steps[0].n_features_in_ != record.columns:
            raise ValueError(f"it does not have {record.columns} columns")
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise model_damage(record, f"{MODELS}/{record.folder}: {error}".rstrip(".")) from error
    return steps


def copy_model(source: Path, target: Path, record: ModelRecord) -> None:
    """Copy the folder of a model to another index, and verify the hashes.

    Raises
    ------
    DamagedIndexError
        If the files are not the saved files, or if a link leads out of the index.
    ValueError
        If the model was detached concurrently.
    """
    check_undamaged(record)
    if not record.steps:
        return
    with explain_if_detached(source, record):
        try:
            for part in _parts(source, record):
                inner = target / part.relative_to(source)
                inner.mkdir(parents=True)
                for file in part.iterdir():
                    if file.is_file():
                        shutil.copyfile(file, inner / file.name)
        except (FileNotFoundError, ValueError) as error:  # a full disk is a different error
            raise model_damage(record, f"{MODELS}/{record.folder}: {error}") from error
        load_steps(target, record)


@contextmanager
def explain_if_detached(folder: Path, record: ModelRecord) -> Iterator[None]:
    """Convert missing-file errors to an error about the detached model."""
    try:
        yield
    except ValueError:
        catalog = open_catalog(folder / CATALOG)
        try:
            if record in model_records(catalog).values():
                raise
        finally:
            catalog.close()
        raise ValueError(
            f"The model {record.name!r} was detached by another process. Call "
            "`index.refresh()` to see the current models."
        ) from None


def sweep_models(folder: Path, named: Sequence[ModelRecord]) -> None:
    """Remove model folders that the catalog does not list."""
    if not (folder / MODELS).exists():
        return
    place = own_folder(folder, MODELS)
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


def _parts(folder: Path, record: ModelRecord) -> list[Path]:
    """Return the subfolders of a model's estimators; raise if one is missing or a link."""
    place = folder / MODELS / record.folder
    parts = [place / str(at) for at in range(record.steps)]
    for path in (folder / MODELS, place, *parts):
        if path.is_symlink() or not path.is_dir():
            raise ValueError(f"{path.relative_to(folder)} is missing or not a folder")
    if any(file.is_symlink() for part in parts for file in part.iterdir()):
        raise ValueError("it contains a link")
    return parts


def _manifest_hash(folders: Sequence[Path]) -> str:
    digest = hashlib.sha256()
    for folder in folders:
        file = folder / MANIFEST
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _LARGEST_MANIFEST:
            raise ValueError(f"{MANIFEST} is not a manifest")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()
