"""Word vectors in a folder: a manifest with sizes and hashes, the words, the matrix.

``manifest.json`` is read and checked first. File names are fixed, so a manifest cannot point
outside the folder, and nothing is ever unpickled.
"""

import hashlib
import json
import shutil
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save_file

import textkin
from textkin._typing import Float32Array
from textkin.vectors._formats._source import read_small, room_for_words
from textkin.vectors._names import Names
from textkin.vectors._table import checked_matrix

__all__ = ["read_folder", "write_folder"]

_FORMAT = "textkin.word-vectors"
_VERSION = 1
_MANIFEST = "manifest.json"
_MATRIX = "vectors.safetensors"
_WORDS = "words.json"
_TENSOR = "vectors"
_LARGEST_MANIFEST = 2**20


@dataclass(frozen=True, slots=True)
class _FileRecord:
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class _Manifest:
    count: int
    dimension: int
    files: dict[str, _FileRecord]


def write_folder(path: Path, words: tuple[str, ...], matrix: Float32Array) -> None:
    """Write the folder whole: into a temporary sibling, then renamed to `path`."""
    if path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir()))):
        raise FileExistsError(
            f"{path} exists already and is kept; remove it first, or save to another path."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{path.name}.{uuid.uuid4().hex}.tmp"
    try:
        temporary.mkdir()
        save_file({_TENSOR: matrix}, temporary / _MATRIX)
        (temporary / _WORDS).write_text(json.dumps(words), encoding="ascii")
        # safetensors keeps its file to the owner; readable by whom the folder's other files are
        (temporary / _MATRIX).chmod((temporary / _WORDS).stat().st_mode)
        manifest = {
            "format": _FORMAT,
            "version": _VERSION,
            "textkin": textkin.__version__,
            "count": matrix.shape[0],
            "dimension": matrix.shape[1],
            "files": {name: asdict(_record(temporary / name)) for name in (_MATRIX, _WORDS)},
        }
        (temporary / _MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="ascii")
        temporary.replace(path)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        if isinstance(error, OSError):  # which names a file that the caller never heard of
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error
        if isinstance(error, SafetensorError):  # a full disk, say
            raise OSError(f"{path} cannot be written ({error}).") from error
        raise


def read_folder(path: Path) -> tuple[Names, Float32Array]:
    """Return the words and the memory-mapped matrix of a folder, once its manifest holds.

    Everything is checked each time, hashes and numbers: a folder may come from a stranger.
    """
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    if not path.is_dir():
        raise ValueError(f"{path} is a file; expected a folder made by WordVectors.save.")
    if not (path / _MANIFEST).is_file():
        raise ValueError(
            f"{path} has no {_MANIFEST}; expected a folder made by WordVectors.save, or that of a "
            "static model (model.safetensors and tokenizer.json)."
        )
    manifest = _read_manifest(path)
    for name, expected in manifest.files.items():
        _check_file(path, name, expected)
    if manifest.files[_MATRIX].bytes < 4 * manifest.count * manifest.dimension:
        raise _damaged(path, f"{_MATRIX} is too small for {manifest.count:,} vectors")
    words = _read_json(path, _WORDS, room_for_words(manifest.count))
    if not isinstance(words, list) or len(words) != manifest.count:
        raise _damaged(path, f"{_WORDS} must be a list of {manifest.count} words")
    names = Names(words)
    return names, checked_matrix(names.words, _map_matrix(path, manifest))


def _read_manifest(path: Path) -> _Manifest:
    found = _read_json(path, _MANIFEST, _LARGEST_MANIFEST)
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise ValueError(
            f"{path} does not hold word vectors: its {_MANIFEST} must have the format {_FORMAT!r}."
        )
    version = found.get("version")
    if not _is_count(version):
        raise _damaged(path, f"{_MANIFEST} has the version {version!r}")
    if version > _VERSION:
        raise ValueError(
            f"{path} is in version {version} of its format; this textkin reads versions up to "
            f"{_VERSION}. Install a newer textkin."
        )
    count, dimension, files = (found.get(key) for key in ("count", "dimension", "files"))
    if not (_is_count(count) and _is_count(dimension) and isinstance(files, dict)):
        raise _damaged(path, f"{_MANIFEST} must give count, dimension and files")
    records = {}
    for name in (_MATRIX, _WORDS):
        record = files.get(name)
        if not isinstance(record, dict) or set(record) != {"bytes", "sha256"}:
            raise _damaged(path, f"{_MANIFEST} must give bytes and sha256 of {name}")
        records[name] = _FileRecord(**record)
    return _Manifest(count, dimension, records)


def _check_file(path: Path, name: str, expected: _FileRecord) -> None:
    file = path / name
    if not file.is_file():
        raise _damaged(path, f"{name} is missing")
    size = file.stat().st_size
    if size != expected.bytes:
        raise _damaged(path, f"{name} must have {expected.bytes} bytes and has {size}")
    if _record(file).sha256 != expected.sha256:
        raise _damaged(path, f"the sha256 of {name} differs from the manifest's")


def _map_matrix(path: Path, manifest: _Manifest) -> Float32Array:
    """Map the one float32 tensor: 8 bytes of header length, the JSON header, the numbers."""
    file = path / _MATRIX
    shape = (manifest.count, manifest.dimension)
    numbers = 4 * shape[0] * shape[1]
    start = file.stat().st_size - numbers
    tensor = {"dtype": "F32", "shape": list(shape), "data_offsets": [0, numbers]}
    with file.open("rb") as opened:
        header_bytes = int.from_bytes(opened.read(8), "little")
        if start < 8 or header_bytes != start - 8:
            raise _damaged(path, f"{_MATRIX} must hold {shape[0]} x {shape[1]} float32 numbers")
        header = _parse_json(path, _MATRIX, opened.read(header_bytes))
    if not isinstance(header, dict) or header.get(_TENSOR) != tensor:
        raise _damaged(path, f"{_MATRIX} must hold {shape[0]} x {shape[1]} float32 numbers")
    return np.memmap(file, dtype="<f4", mode="r", offset=start, shape=shape)


def _record(file: Path) -> _FileRecord:
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return _FileRecord(file.stat().st_size, digest)


def _read_json(path: Path, name: str, most: int) -> Any:  # noqa: ANN401 (a stranger's JSON)
    return _parse_json(path, name, read_small(path / name, most))


def _parse_json(path: Path, name: str, text: bytes) -> Any:  # noqa: ANN401
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"{name} is not JSON") from error


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and value >= 1


def _damaged(path: Path, problem: str) -> ValueError:
    return ValueError(f"{path} is damaged: {problem}. Save the vectors again, or copy it again.")
