"""safetensors files, read by their header: a length, a JSON object, the numbers.

The header is checked whole before anything is mapped: every tensor must have the bytes that its
shape needs, lie within the file, and share no byte with another.
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
from textkin.vectors._formats._words import find_words, parse_json, words_of_array, words_of_json
from textkin.vectors._names import Names

__all__ = ["TensorFile", "read_safetensors", "read_tensors"]

_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",  # widened by `numbers`
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U8": "u1",
}
_SMALL_HEADER, _LARGEST_HEADER = 2**20, 32 * 2**20  # JSON takes 25 times its size in memory
_USUAL_NAMES = ("vectors", "embeddings", "embedding.weight", "weight")
WORDS, WORD_ENDS = "words", "word_ends"


@dataclass(frozen=True, slots=True)
class Tensor:
    """Where a tensor lies in its file."""

    dtype: str
    shape: tuple[int, ...]
    start: int

    @property
    def bytes(self) -> int:
        """How many bytes it takes."""
        return math.prod(self.shape) * np.dtype(_DTYPES[self.dtype]).itemsize


@dataclass(frozen=True, slots=True)
class TensorFile:
    """A checked header; `numbers` maps a tensor of the file."""

    name: str
    file: IO[bytes]
    tensors: dict[str, Tensor]
    metadata: dict[str, str]

    def numbers(self, name: str) -> NDArray[Any]:
        """Return a tensor, memory-mapped, or widened from bfloat16."""
        tensor = self.tensors[name]
        if 0 in tensor.shape:
            return np.empty(tensor.shape, dtype=_DTYPES[tensor.dtype])
        mapped: NDArray[Any] = np.memmap(
            self.file, _DTYPES[tensor.dtype], "r", tensor.start, tensor.shape
        )
        if tensor.dtype == "BF16":  # the upper half of a float32
            return (mapped.astype(np.uint32) << 16).view(np.float32)
        return mapped


def read_tensors(file: IO[bytes], name: str) -> TensorFile:
    """Read and check the header of an open file."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > size - 8:
        raise ValueError(f"{name} is no sound safetensors file: its header does not fit into it.")
    if length > min(max(_SMALL_HEADER, size // 2), _LARGEST_HEADER):
        raise ValueError(
            f"{name} has a header of {length:,} bytes, which may be half of the file and "
            f"{_LARGEST_HEADER:,} at most. Put the words beside it, or in a tensor."
        )
    header = parse_json(file.read(length), f"the header of {name}")
    if not isinstance(header, dict):
        raise ValueError(f"{name} is no sound safetensors file: its header is no JSON object.")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise ValueError(f"{name} is no sound safetensors file: its metadata must be strings.")
    spans = []
    tensors = {}
    for key, entry in header.items():
        tensor, begin, end = _checked(entry, 8 + length, size, f"the tensor {key!r} of {name}")
        tensors[key] = tensor
        spans.append((begin, end))
    spans.sort()
    for (_, end), (begin, _) in pairwise(spans):
        if begin < end:
            raise ValueError(f"{name} is no sound safetensors file: two tensors overlap.")
    return TensorFile(name, file, tensors, metadata)


def _checked(  # what a stranger's JSON holds may be anything
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
        raise ValueError(f"{name} must have a dtype that is read here, a shape and offsets.")
    begin, end = offsets
    expected = math.prod(shape) * np.dtype(_DTYPES[dtype]).itemsize
    if end - begin != expected or data + end > size:
        raise ValueError(
            f"{name} has the shape {shape} of {dtype}, {expected:,} bytes, but offsets {begin:,} "
            f"to {end:,} in a file of {size:,} bytes."
        )
    return Tensor(dtype, tuple(shape), data + begin), begin, end


def read_safetensors(source: Source) -> tuple[Sequence[str], NDArray[Any]]:
    """Return the words and the one table of a file.

    Words are taken from the tensor ``words`` (UTF-8 bytes joined by newlines, or cut by the tensor
    ``word_ends``), else from the metadata ``words`` (a JSON list), else from beside the file.
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
                words = words_of_array(raw, f"the words of {source}")
        elif WORDS in found.metadata:
            label = f"the words of {source}"
            words = words_of_json(parse_json(found.metadata[WORDS], label), label)
        else:
            words = find_words(source.path, found.tensors[table].shape[0])
    return words, matrix


def packed_names(found: TensorFile) -> Names:
    """Return the words that lie in a file of ours, decoded on first use."""
    raw, ends = found.tensors.get(WORDS), found.tensors.get(WORD_ENDS)
    if raw is None or ends is None or (raw.dtype, ends.dtype) != ("U8", "I64"):
        raise ValueError(f"{found.name} must hold its words as bytes with their ends.")
    if len(raw.shape) != 1 or len(ends.shape) != 1:
        raise ValueError(f"{found.name} must hold its words in 1-D tensors.")
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
        f"{found.name} must hold one 2-D tensor of floats, or one named {_USUAL_NAMES[0]!r}; got "
        f"{', '.join(sorted(tables)[:8]) or 'none'}."
    )
