"""Readers of ``.npy`` and ``.npz`` vector files, without unpickling."""

import io
import math
import zipfile
import zlib
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from textkin.vectors._formats._source import Source, check_inflation
from textkin.vectors._formats._word_lists import array_words, find_words

__all__ = ["read_npy", "read_npz"]

_VECTOR_NAMES = ("vectors", "matrix", "embeddings", "vecs")
_WORD_NAMES = ("words", "vocab", "tokens")
_KINDS = "fiuUS"
_PART = 2**20


def read_npy(source: Source) -> tuple[Sequence[str], NDArray[Any]]:
    """Return the words (from a file next to it) and the memory-mapped array of a ``.npy`` file."""
    with source.plain_file() as file:
        shape, fortran, dtype = _read_header(file, str(source))
        start, end = file.tell(), file.seek(0, io.SEEK_END)
        _check_size(str(source), shape, dtype, end - start)
        words = find_words(source.path, shape[0] if shape else 0)
        array: NDArray[Any] = np.memmap(file, dtype, "r", start, shape, "F" if fortran else "C")
    return words, array


def read_npz(source: Source) -> tuple[Sequence[str], NDArray[Any]]:
    """Return the words and the vectors of a ``.npz`` file."""
    with source.plain_file() as file:
        try:
            with zipfile.ZipFile(file) as archive:
                names = archive.namelist()
                size = file.seek(0, io.SEEK_END)
                words = _member(archive, source, _name_of(names, _WORD_NAMES, source), size)
                matrix = _member(archive, source, _name_of(names, _VECTOR_NAMES, source), size)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            RuntimeError,
            OSError,
        ) as error:
            raise ValueError(
                f"{source} is corrupt, or not a supported zip archive ({error})."
            ) from error
    return array_words(words, f"the words of {source}"), matrix


def _name_of(names: list[str], known: tuple[str, ...], source: Source) -> str:
    for name in known:
        if f"{name}.npy" in names:
            return f"{name}.npy"
    texts = [name for name in names if not name.endswith(".npy")]
    if texts:
        raise ValueError(
            f"{source} is a zip archive with {texts[0]!r}, which is not a NumPy file; unpack it "
            "and load the file inside."
        )
    raise ValueError(
        f"{source} must have arrays named 'words' and 'vectors'; got "
        f"{', '.join(names[:8]) or 'none'}."
    )


def _member(archive: zipfile.ZipFile, source: Source, name: str, size: int) -> NDArray[Any]:
    info = archive.getinfo(name)
    label = f"{name} of {source}"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(
            f"{label} has an unsupported compression; save it again "
            "with numpy.savez or numpy.savez_compressed."
        )
    # Check the claimed size here and the real size below; no member is larger than its archive.
    check_inflation(label, min(info.compress_size, size), info.file_size)
    with archive.open(info) as stream:
        shape, fortran, dtype = _read_header(stream, label)
        expected = math.prod(shape) * dtype.itemsize
        _check_size(label, shape, dtype, info.file_size)
        # Read small parts, because zipfile would need two or three times the memory of a large one.
        # The system allocates memory only when it is written.
        data = np.empty(expected, dtype=np.uint8)
        there = 0
        while part := stream.read(min(_PART, expected - there)):
            data[there : there + len(part)] = np.frombuffer(part, dtype=np.uint8)
            there += len(part)
    if there != expected:
        raise ValueError(f"{label} is corrupt: it ends after {there:,} of {expected:,} bytes.")
    return data.view(dtype).reshape(shape, order="F" if fortran else "C")


def _read_header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order, and dtype of a ``.npy`` file; its header is parsed as a literal."""
    try:
        version = npy.read_magic(file)
        if version == (1, 0):
            shape, fortran, dtype = npy.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, fortran, dtype = npy.read_array_header_2_0(file)
        else:
            raise ValueError(f"format version {version} is not supported")
    except Exception as error:  # NumPy and ast raise any error for an untrusted header
        raise ValueError(f"{name} has an invalid NumPy header ({error}).") from error
    if dtype.hasobject or dtype.kind not in _KINDS or dtype.itemsize == 0:
        raise ValueError(
            f"{name} must have numbers (or words as text); got {dtype}. Objects would be pickles, "
            "which are never read."
        )
    return shape, fortran, dtype


def _check_size(name: str, shape: tuple[int, ...], dtype: np.dtype[Any], there: int) -> None:
    expected = math.prod(shape) * dtype.itemsize
    if min(shape, default=1) < 1 or expected > there:
        raise ValueError(
            f"{name} must have {expected:,} bytes for its shape {shape} of {dtype}; got at most "
            f"{there:,}."
        )
