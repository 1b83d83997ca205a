"""Folders of saved objects: files, and a manifest with their sizes and hashes.

``manifest.json`` is read and checked first. The caller sets the file names, so a manifest cannot
point outside the folder, and nothing is unpickled. Arrays are safetensors; their header is checked
against the file size before mapping.
"""

import hashlib
import json
import math
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError

import textkin

__all__ = ["LARGEST_MANIFEST", "MANIFEST", "Folder", "is_count", "read_small", "sealed"]

MANIFEST = "manifest.json"

_SEAL = "sha256"  # hash of the other manifest entries
_FIRST_SEALED = 2  # version of every format; folders of version 1 have no hash of the manifest
LARGEST_MANIFEST = 2**20
_LARGEST_HEADER = 2**20
_DTYPES = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype("<u1"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}


@dataclass(frozen=True, slots=True)
class _FileRecord:
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Folder:
    """Folder of one saved object, verified by a manifest with sizes and hashes of its files.

    Attributes
    ----------
    path : Path
        Path of the folder, which may not exist yet.
    format : str
        Format in the manifest.
    version : int
        Newest known version of the format; 1 is the first.
    things : str
        Description of the content, for messages.
    made_by : str
        Call that creates such a folder.
    """

    path: Path
    format: str
    version: int
    things: str
    made_by: str

    def write(self, facts: Mapping[str, object], fill: Callable[[Path], Iterable[str]]) -> None:
        """Write all files and the manifest to a new folder, atomically.

        Parameters
        ----------
        facts : mapping
            Additional content of the manifest.
        fill : callable
            Function that writes the files into a given folder, and returns their names.
        """
        path = self.path
        if path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir()))):
            raise FileExistsError(
                f"{path} exists already and is not overwritten. Remove it, or save to another path."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.parent / f".{path.name}.{uuid.uuid4().hex}.tmp"
        try:
            temporary.mkdir()
            names = tuple(fill(temporary))
            manifest = {
                "format": self.format,
                "version": self.version,
                "textkin": textkin.__version__,
                **facts,
                "files": {name: asdict(_record(temporary / name)) for name in names},
            }
            written = json.dumps(sealed(manifest), indent=2, allow_nan=False) + "\n"
            if len(written) > LARGEST_MANIFEST:
                raise ValueError(
                    f"{path} is not writable: its {MANIFEST} must have at most "
                    f"{LARGEST_MANIFEST:,} bytes; got {len(written):,}."
                )
            (temporary / MANIFEST).write_text(written, encoding="ascii")
            # safetensors makes its file private; use the permissions of the other files
            for name in names:
                (temporary / name).chmod((temporary / MANIFEST).stat().st_mode)
            temporary.replace(path)
        except BaseException as error:
            shutil.rmtree(temporary, ignore_errors=True)
            # the error names a temporary file that the caller does not know
            if isinstance(error, OSError):
                raise OSError(error.errno, error.strerror or str(error), str(path)) from error
            if isinstance(error, SafetensorError):  # an OSError of safetensors, such as a full disk
                raise OSError(f"{path} is not writable ({error}).") from error
            raise

    def manifest(self, *, otherwise: str = "") -> dict[str, Any]:
        """Return the parsed manifest, after a check of its format and version.

        Parameters
        ----------
        otherwise : str, optional
            Alternative content of a folder without a manifest, for the message.
        """
        path = self.path
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist.")
        if not path.is_dir():
            raise ValueError(f"{path} must be a folder created by {self.made_by}; it is a file.")
        if not (path / MANIFEST).is_file():
            raise ValueError(
                f"{path} must be a folder created by {self.made_by}{otherwise}; it has no "
                f"{MANIFEST}."
            )
        found = self.json(MANIFEST, LARGEST_MANIFEST)
        if not isinstance(found, dict) or found.get("format") != self.format:
            raise ValueError(
                f"{path} does not contain {self.things}: its {MANIFEST} must have the format "
                f"{self.format!r}."
            )
        version = found.get("version")
        if not is_count(version):
            raise self.damaged(f"{MANIFEST} has the version {version!r}")
        if version > self.version:
            raise ValueError(
                f"{path} has version {version} of its format; this textkin reads versions up to "
                f"{self.version}. Install a newer textkin."
            )
        if version >= _FIRST_SEALED and found.get(_SEAL) != self._hash_of(found):
            raise self.damaged(f"the {_SEAL} in {MANIFEST} differs from its other entries")
        return found

    def _hash_of(self, manifest: Mapping[str, object]) -> str:
        try:
            return _hash_of(manifest)
        except RecursionError as error:
            raise self.damaged(f"{MANIFEST} is nested too deeply") from error

    def check_files(self, files: object, names: Iterable[str]) -> dict[str, int]:
        """Verify files by the manifest's sizes and hashes; return their sizes by name."""
        sizes = {}
        for name in names:
            record = files.get(name) if isinstance(files, dict) else None
            if not isinstance(record, dict) or set(record) != {"bytes", "sha256"}:
                raise self.damaged(f"{MANIFEST} must have bytes and sha256 of {name}")
            file = self.path / name
            if not file.is_file():
                raise self.damaged(f"{name} is missing")
            size = file.stat().st_size
            if size != record["bytes"]:
                raise self.damaged(f"{name} must have {record['bytes']} bytes; got {size}")
            if _record(file).sha256 != record["sha256"]:
                raise self.damaged(f"the sha256 of {name} differs from the manifest")
            sizes[name] = size
        return sizes

    def tensors(self, name: str) -> dict[str, NDArray[Any]]:
        """Return the memory-mapped arrays of a safetensors file in the folder, by name."""
        file = self.path / name
        size = file.stat().st_size
        with file.open("rb") as opened:
            header_bytes = int.from_bytes(opened.read(8), "little")
            start = 8 + header_bytes
            if size < 8 or start > size or header_bytes > _LARGEST_HEADER:
                raise self.damaged(f"{name} is not a safetensors file")
            header = self.parsed(name, opened.read(header_bytes))
        if not isinstance(header, dict):
            raise self.damaged(f"{name} is not a safetensors file")
        header.pop("__metadata__", None)
        whole = np.memmap(file, dtype=np.uint8, mode="r", shape=(size,))
        found = {key: self._tensor(name, key, header[key], whole[start:]) for key in header}
        if sum(array.nbytes for array in found.values()) != size - start:
            raise self.damaged(f"{name} must have only its tensors")
        return found

    def _tensor(
        self, name: str, key: str, entry: object, numbers: NDArray[np.uint8]
    ) -> NDArray[Any]:
        entry = entry if isinstance(entry, dict) else {}
        dtype = _DTYPES.get(str(entry.get("dtype")))
        shape, offsets = entry.get("shape"), entry.get("data_offsets")
        if (
            dtype is None
            or not _are_sizes(shape)
            or not (_are_sizes(offsets) and len(offsets) == 2)
            or offsets[1] - offsets[0] != math.prod(shape) * dtype.itemsize
            or offsets[1] > numbers.size
        ):
            raise self.damaged(f"the entry {key!r} of {name} does not match the file size")
        part = np.asarray(numbers[offsets[0] : offsets[1]])
        if part.ctypes.data % dtype.itemsize:  # writers align numbers, and the core requires it
            part = part.copy()
        array = part.view(dtype).reshape(shape)
        array.flags.writeable = False
        return array

    def json(self, name: str, most: int) -> Any:  # noqa: ANN401 (untrusted JSON)
        """Return the parsed content of a JSON file in the folder, up to `most` bytes."""
        return self.parsed(name, read_small(self.path / name, most))

    def parsed(self, name: str, text: bytes) -> Any:  # noqa: ANN401
        """Parse JSON; raise an error that names the file if it is invalid."""
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.damaged(f"{name} is not valid JSON") from error

    def damaged(self, problem: str) -> ValueError:
        """Create the ValueError for a corrupt folder, with a description of the problem."""
        return ValueError(
            f"{self.path} is corrupt: {problem}. Save the {self.things.split()[-1]} again, or "
            "copy the folder again."
        )


def sealed(manifest: Mapping[str, object]) -> dict[str, object]:
    """Return a manifest with a hash of its entries, to detect accidental changes."""
    return {**manifest, _SEAL: _hash_of(manifest)}


def _hash_of(manifest: Mapping[str, object]) -> str:
    """Return the SHA-256 of the entries of a manifest, without its own hash."""
    entries = {name: entry for name, entry in manifest.items() if name != _SEAL}
    written = json.dumps(entries, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def read_small(file: Path, most: int) -> bytes:
    """Return the bytes of a file, or raise if it has more than `most` bytes."""
    with file.open("rb") as opened:
        size = os.fstat(opened.fileno()).st_size
        data = opened.read(most + 1) if size <= most else b""
    if size > most or len(data) > most:
        raise ValueError(f"{file} must have at most {most:,} bytes; got {max(size, len(data)):,}.")
    return data


def is_count(value: object) -> TypeGuard[int]:
    """Return True if a value from JSON is an integer of at least 1."""
    return type(value) is int and value >= 1


def _are_sizes(values: object) -> TypeGuard[list[int]]:
    return isinstance(values, list) and all(type(v) is int and 0 <= v < 2**62 for v in values)


def _record(file: Path) -> _FileRecord:
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return _FileRecord(file.stat().st_size, digest)
