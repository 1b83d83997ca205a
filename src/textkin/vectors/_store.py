"""Word vectors in a folder: a manifest with sizes and hashes, the words, the matrix."""

import json
from collections.abc import Iterable
from pathlib import Path

from safetensors.numpy import save_file

from textkin._folders import MANIFEST, Folder, is_count
from textkin._typing import Float32Array
from textkin.vectors._formats._source import room_for_words
from textkin.vectors._names import Names
from textkin.vectors._table import checked_matrix

__all__ = ["read_folder", "write_folder"]

_MATRIX = "vectors.safetensors"
_WORDS = "words.json"
_TENSOR = "vectors"


def write_folder(path: Path, words: tuple[str, ...], matrix: Float32Array) -> None:
    """Write the folder whole, or not at all."""

    def fill(folder: Path) -> Iterable[str]:
        save_file({_TENSOR: matrix}, folder / _MATRIX)
        (folder / _WORDS).write_text(json.dumps(words), encoding="ascii")
        return _MATRIX, _WORDS

    _folder(path).write({"count": matrix.shape[0], "dimension": matrix.shape[1]}, fill)


def read_folder(path: Path) -> tuple[Names, Float32Array]:
    """Return the words and the memory-mapped matrix of a folder, once its manifest holds.

    Everything is checked each time, hashes and numbers: a folder may come from a stranger.
    """
    folder = _folder(path)
    manifest = folder.manifest(
        otherwise=", or that of a static model (model.safetensors and tokenizer.json)"
    )
    count, dimension, files = (manifest.get(key) for key in ("count", "dimension", "files"))
    if not (is_count(count) and is_count(dimension) and isinstance(files, dict)):
        raise folder.damaged(f"{MANIFEST} must give count, dimension and files")
    sizes = folder.check_files(files, (_MATRIX, _WORDS))
    if sizes[_MATRIX] < 4 * count * dimension:
        raise folder.damaged(f"{_MATRIX} is too small for {count:,} vectors")
    words = folder.json(_WORDS, room_for_words(count))
    if not isinstance(words, list) or len(words) != count:
        raise folder.damaged(f"{_WORDS} must be a list of {count} words")
    names = Names(words)
    tensors = folder.tensors(_MATRIX)
    matrix = tensors.pop(_TENSOR, None)
    if matrix is None or tensors or matrix.dtype != "<f4" or matrix.shape != (count, dimension):
        raise folder.damaged(f"{_MATRIX} must hold {count} x {dimension} float32 numbers")
    return names, checked_matrix(names.words, matrix)


def _folder(path: Path) -> Folder:
    return Folder(path, "textkin.word-vectors", 1, "word vectors", "WordVectors.save")
