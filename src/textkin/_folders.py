"""What is saved as a folder: a manifest with sizes and hashes beside the files it names.

``manifest.json`` is read and checked first. File names are fixed by the caller, so a manifest
cannot point outside the folder, and nothing is ever unpickled. Arrays are safetensors, whose
header is checked against the size of the file before anything is mapped.
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

__all__ = ["MANIFEST", "Folder", "is_count", "read_small"]

MANIFEST = "manifest.json"

_LARGEST_MANIFEST = 2**20
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
    """A folder that holds one saved thing.

    Attributes
    ----------
    path : Path
        Where it is, or will be.
    format : str
        What its manifest says it holds.
    version : int
        The newest version of the format that is known here; 1 is the first.
    things : str
        What it holds, in words.
    made_by : str
        The call that makes such a folder.
    """

    path: Path
    format: str
    version: int
    things: str
    made_by: str

    def write(self, facts: Mapping[str, object], fill: Callable[[Path], Iterable[str]]) -> None:
        """Write the folder whole: into a temporary sibling, then renamed to its path.

        Parameters
        ----------
        facts : mapping
            What else the manifest says.
        fill : callable
            Writes the files into the folder that it is given, and returns their names.
        """
        path = self.path
        if path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir()))):
            raise FileExistsError(
                f"{path} exists already and is kept; remove it first, or save to another path."
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
            written = json.dumps(manifest, indent=2, allow_nan=False) + "\n"
            if len(written) > _LARGEST_MANIFEST:
                raise ValueError(
                    f"{path} cannot be written: its {MANIFEST} would have {len(written):,} bytes, "
                    f"more than the {_LARGEST_MANIFEST:,} that are read again."
                )
            (temporary / MANIFEST).write_text(written, encoding="ascii")
            # safetensors keeps its file to the owner; readable by whom the other files are
            for name in names:
                (temporary / name).chmod((temporary / MANIFEST).stat().st_mode)
            temporary.replace(path)
        except BaseException as error:
            shutil.rmtree(temporary, ignore_errors=True)
            if isinstance(error, OSError):  # which names a file that the caller never heard of
                raise OSError(error.errno, error.strerror or str(error), str(path)) from error
            if isinstance(error, SafetensorError):  # a full disk, say
                raise OSError(f"{path} cannot be written ({error}).") from error
            raise

    def manifest(self, *, otherwise: str = "") -> dict[str, Any]:
        """Return the manifest, once its format and version are ones that are known here.

        Parameters
        ----------
        otherwise : str, optional
            What else might have been expected of a folder without a manifest.
        """
        path = self.path
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist.")
        if not path.is_dir():
            raise ValueError(f"{path} is a file; expected a folder made by {self.made_by}.")
        if not (path / MANIFEST).is_file():
            raise ValueError(
                f"{path} has no {MANIFEST}; expected a folder made by {self.made_by}{otherwise}."
            )
        found = self.json(MANIFEST, _LARGEST_MANIFEST)
        if not isinstance(found, dict) or found.get("format") != self.format:
            raise ValueError(
                f"{path} does not hold {self.things}: its {MANIFEST} must have the format "
                f"{self.format!r}."
            )
        version = found.get("version")
        if not is_count(version):
            raise self.damaged(f"{MANIFEST} has the version {version!r}")
        if version > self.version:
            raise ValueError(
                f"{path} is in version {version} of its format; this textkin reads versions up to "
                f"{self.version}. Install a newer textkin."
            )
        return found

    def check_files(self, files: object, names: Iterable[str]) -> dict[str, int]:
        """Check that files are as the manifest's `files` has them; return their sizes."""
        sizes = {}
        for name in names:
            record = files.get(name) if isinstance(files, dict) else None
            if not isinstance(record, dict) or set(record) != {"bytes", "sha256"}:
                raise self.damaged(f"{MANIFEST} must give bytes and sha256 of {name}")
            file = self.path / name
            if not file.is_file():
                raise self.damaged(f"{name} is missing")
            size = file.stat().st_size
            if size != record["bytes"]:
                raise self.damaged(f"{name} must have {record['bytes']} bytes and has {size}")
            if _record(file).sha256 != record["sha256"]:
                raise self.damaged(f"the sha256 of {name} differs from the manifest's")
            sizes[name] = size
        return sizes

    def tensors(self, name: str) -> dict[str, NDArray[Any]]:
        """Map the arrays of a safetensors file: 8 bytes of header length, JSON, the numbers."""
        file = self.path / name
        size = file.stat().st_size
        with file.open("rb") as opened:
            header_bytes = int.from_bytes(opened.read(8), "little")
            start = 8 + header_bytes
            if size < 8 or start > size or header_bytes > _LARGEST_HEADER:
                raise self.damaged(f"{name} is no safetensors file")
            header = self.parsed(name, opened.read(header_bytes))
        if not isinstance(header, dict):
            raise self.damaged(f"{name} is no safetensors file")
        header.pop("__metadata__", None)
        whole = np.memmap(file, dtype=np.uint8, mode="r", shape=(size,))
        found = {key: self._tensor(name, key, header[key], whole[start:]) for key in header}
        if sum(array.nbytes for array in found.values()) != size - start:
            raise self.damaged(f"{name} must hold its tensors and nothing else")
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
            raise self.damaged(f"{name} says of {key!r} what does not fit the file")
        part = np.asarray(numbers[offsets[0] : offsets[1]])
        if part.ctypes.data % dtype.itemsize:  # no writer leaves numbers so; the core wants them
            part = part.copy()
        array = part.view(dtype).reshape(shape)
        array.flags.writeable = False
        return array

    def json(self, name: str, most: int) -> Any:  # noqa: ANN401 (a stranger's JSON)
        """Return what a JSON file of at most so many bytes holds."""
        return self.parsed(name, read_small(self.path / name, most))

    def parsed(self, name: str, text: bytes) -> Any:  # noqa: ANN401
        """Return what JSON holds, or say which file is damaged."""
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.damaged(f"{name} is not JSON") from error

    def damaged(self, problem: str) -> ValueError:
        """Return the error that says what is wrong with the folder."""
        return ValueError(
            f"{self.path} is damaged: {problem}. Save the {self.things.split()[-1]} again, or "
            "copy it again."
        )


def read_small(file: Path, most: int) -> bytes:
    """Return the content of a file that must not be large; raise before a large one is read."""
    with file.open("rb") as opened:
        size = os.fstat(opened.fileno()).st_size
        data = opened.read(most + 1) if size <= most else b""
    if size > most or len(data) > most:
        raise ValueError(
            f"{file} has {max(size, len(data)):,} bytes; what it is for takes {most:,} at most."
        )
    return data


def is_count(value: object) -> TypeGuard[int]:
    """Say whether a value from JSON is a whole number of at least 1."""
    return type(value) is int and value >= 1


def _are_sizes(values: object) -> TypeGuard[list[int]]:
    return isinstance(values, list) and all(type(v) is int and 0 <= v < 2**62 for v in values)


def _record(file: Path) -> _FileRecord:
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return _FileRecord(file.stat().st_size, digest)
