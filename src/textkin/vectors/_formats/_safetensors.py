"""Reader of safetensors files: header length, JSON header, and arrays.

The complete header is validated before anything is mapped: every tensor must have the size of its
shape, be within the file, and overlap with no other tensor.
"""

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from textkin.vectors._formats._source import Source
from textkin.vectors._formats._word_lists import (
    array_words,
    find_words,
    json_words,
    parse_json,
)
from textkin.vectors._table import Names

__all__ = ["TensorFile", "read_safetensors", "read_tensors"]

_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",  # converted to float32 by `numbers`
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U8": "u1",
}
_SMALL_HEADER, _LARGEST_HEADER = 2**20, 32 * 2**20  # parsed JSON takes 25 times its size
_USUAL_NAMES = ("vectors", "embeddings", "embedding.weight", "weight")
WORDS, WORD_ENDS = "words", "word_ends"


@dataclass(frozen=True, slots=True)
class Tensor:
    """Dtype, shape, and offset of an array in a safetensors file."""

    dtype: str
    shape: tuple[int, ...]
    start: int

    @property
    def bytes(self) -> int:
        """Size of the array in bytes."""
        return math.prod(self.shape) * np.dtype(_DTYPES[self.dtype]).itemsize


@dataclass(frozen=True, slots=True)
class TensorFile:
    """Open safetensors file with a validated header."""

    name: str
    file: IO[bytes]
    tensors: dict[str, Tensor]
    metadata: dict[str, str]

    def numbers(self, name: str) -> NDArray[Any]:
        """Return an array by name, memory-mapped; bfloat16 is converted to float32."""
        tensor = self.tensors[name]
        if 0 in tensor.shape:
            return np.empty(tensor.shape, dtype=_DTYPES[tensor.dtype])
        mapped: NDArray[Any] = np.memmap(
            self.file, _DTYPES[tensor.dtype], "r", tensor.start, tensor.shape
        )
        if tensor.dtype == "BF16":  # bfloat16 is the upper half of a float32
            return (mapped.astype(np.uint32) << 16).view(np.float32)
        return mapped


def read_tensors(file: IO[bytes], name: str) -> TensorFile:
    """Read and validate the header of a safetensors file."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > size - 8:
        raise ValueError(f"{name} is corrupt: the safetensors header exceeds the file.")
    if length > min(max(_SMALL_HEADER, size // 2), _LARGEST_HEADER):
        raise ValueError(
            f"{name} has a header of {length:,} bytes, but the limit is half of the file and "
            f"{_LARGEST_HEADER:,} bytes. Save the words in an adjacent file or in a tensor."
        )
    header = parse_json(file.read(length), f"the header of {name}")
    if not isinstance(header, dict):
        raise ValueError(f"{name} is corrupt: the safetensors header must be a JSON object.")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise ValueError(f"{name} is corrupt: the safetensors metadata must be strings.")
    spans = []
    tensors = {}
    for key, entry in header.items():
        tensor, begin, end = _checked(entry, 8 + length, size, f"the tensor {key!r} of {name}")
        tensors[key] = tensor
        spans.append((begin, end))
    spans.sort()
    for (_, end), (begin, _) in pairwise(spans):
        if begin < end:
            raise ValueError(f"{name} is corrupt: two tensors overlap.")
    return TensorFile(name, file, tensors, metadata)


def _checked(  # the entry is untrusted JSON
    entry: object, data: int, size: int, name: str
) -> tuple[Tensor, int, int]:
    fields: dict[str, Any] = entry if isinstance(entry, dict) else {}
    dtype: Any = fields.get("dtype")
    shape: Any = fields.get("shape")
    offsets: Any = fields.get("data_offsets")
    counts = [shape, offsets]
    if (
        not isinstance(dtype, str)
        or dtype not in _DTYPES
        or not all(isinstance(count, list) for count in counts)
        or not all(type(n) is int and 0 <= n < 2**62 for count in counts for n in count)
        or len(offsets) != 2
        or len(shape) > 8
    ):
        raise ValueError(f"{name} must have a supported dtype, a shape and offsets.")
    begin, end = offsets
    expected = math.prod(shape) * np.dtype(_DTYPES[dtype]).itemsize
    if end - begin != expected or data + end > size:
        raise ValueError(
            f"{name} has shape {shape} of {dtype}, {expected:,} bytes, but offsets {begin:,} "
            f"to {end:,} in a file of {size:,} bytes."
        )
    return Tensor(dtype, tuple(shape), data + begin), begin, end


def read_safetensors(source: Source) -> tuple[Sequence[str], NDArray[Any]]:
    """Return the words and the only matrix of a safetensors file.

    Words are read from the tensor ``words`` (UTF-8 bytes joined by newlines, or split by the
    tensor ``word_ends``), then from the metadata ``words`` (a JSON list), and then from an adjacent
    file.
    """
    with source.plain_file() as file:
        found = read_tensors(file, str(source))
        table = _table_of(found)
        matrix = found.numbers(table)
        if WORDS in found.tensors:
            raw = found.numbers(WORDS)
            if WORD_ENDS in found.tensors:
                words: Sequence[str] = packed_names(found).words
            else:
                words = array_words(raw, f"the words of {source}")
        elif WORDS in found.metadata:
            label = f"the words of {source}"
            words = json_words(parse_json(found.metadata[WORDS], label), label)
        else:
            words = find_words(source.path, found.tensors[table].shape[0])
    return words, matrix


def packed_names(found: TensorFile) -> Names:
    """Return the words of a safetensors file that textkin wrote, decoded on first use."""
    raw, ends = found.tensors.get(WORDS), found.tensors.get(WORD_ENDS)
    if raw is None or ends is None or (raw.dtype, ends.dtype) != ("U8", "I64"):
        raise ValueError(f"{found.name} must have words as bytes with their ends.")
    if len(raw.shape) != 1 or len(ends.shape) != 1:
        raise ValueError(f"{found.name} must have words in 1-D tensors.")
    return Names.packed(found.numbers(WORDS), found.numbers(WORD_ENDS), found.name)


def _table_of(found: TensorFile) -> str:
    tables = [
        key
        for key, tensor in found.tensors.items()
        if len(tensor.shape) == 2 and tensor.dtype in ("F64", "F32", "F16", "BF16")
    ]
    if len(tables) == 1:
        return tables[0]
    for name in _USUAL_NAMES:
        if name in tables:
            return name
    raise ValueError(
        f"{found.name} must have one 2-D tensor of floats, or one named {_USUAL_NAMES[0]!r}; got "
        f"{', '.join(sorted(tables)[:8]) or 'none'}."
    )
