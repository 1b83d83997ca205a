"""Loading of vector files by detected format, and textkin's own folder format."""

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal, get_args

from safetensors.numpy import save_file

from textkin._base import MANIFEST, Float32Array, Folder, instance_of, is_count, one_of
from textkin.vectors import _cache
from textkin.vectors._cache import CacheWriteError, CacheWriter, Loaded, open_cached, source_key
from textkin.vectors._formats._gatherer import Gatherer, MemorySink, Sink
from textkin.vectors._formats._numpy import read_npy, read_npz
from textkin.vectors._formats._options import Options
from textkin.vectors._formats._safetensors import read_safetensors
from textkin.vectors._formats._source import Source, max_words_size
from textkin.vectors._formats._static_models import is_static, read_static
from textkin.vectors._formats._word2vec import (
    HEAD,
    binary_layout,
    parse_header,
    read_binary,
    read_text,
    text_layout,
    trailing_numbers,
)
from textkin.vectors._repairs import Repairs, repair_table, select_rows
from textkin.vectors._table import Names, check_matrix

__all__ = [
    "FORMATS",
    "Format",
    "detect_format",
    "first_bytes",
    "format_of",
    "load_vectors",
    "read_folder",
    "write_folder",
]

# ------------------------------------------------------------------ detection

Format = Literal[
    "textkin", "static", "word2vec", "word2vec-text", "glove", "safetensors", "npy", "npz"
]
FORMATS: tuple[Format, ...] = get_args(Format)

_FASTTEXT = (793712314).to_bytes(4, "little")
_REFUSED = {
    _FASTTEXT: (
        "a fastText model with n-grams; load the text file of its words (.vec), which fasttext "
        "saves next to the .bin file"
    ),
    b"\x89HDF": "an HDF5 file; read it yourself and pass WordVectors(words, matrix)",
    b"PAR1": "a Parquet file; read it yourself and pass WordVectors(words, matrix)",
    b"BZh": "packed with bzip2; unpack it first",
    b"\xfd7zXZ": "packed with xz; unpack it first",
    b"\x28\xb5\x2f\xfd": "packed with zstandard; unpack it first",
    b"\xff\xfe": "UTF-16 text; convert it to UTF-8 first",
    b"\xfe\xff": "UTF-16 text; convert it to UTF-8 first",
}
_PICKLES = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))


def first_bytes(source: Source) -> bytes:
    """Return the first decompressed bytes of a file."""
    with source.open() as stream:
        parts = []
        left = HEAD
        while left and (part := stream.read(left)):
            parts.append(part)
            left -= len(part)
    return b"".join(parts)


def detect_format(source: Source, head: bytes) -> Format:
    """Return the format of a vector file, detected from its first bytes."""
    if not head:
        raise ValueError(f"{source} is empty.")
    if head.startswith(b"\x93NUMPY"):
        return "npy"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "npz"
    if head.startswith(b"\x1f\x8b"):
        raise ValueError(f"{source} is gzipped twice; unpack it once.")
    for start, what in _REFUSED.items():
        if head.startswith(start):
            raise ValueError(f"{source} is {what}.")
    if head.startswith(_PICKLES):
        raise ValueError(
            f"{source} is a pickle, which could run code and is never read. Save it in "
            "another format: in gensim, kv.save_word2vec_format(path, binary=True)."
        )
    if len(head) > 8 and head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 2**40:
        return "safetensors"
    whole = len(head) < HEAD
    found = parse_header(head)
    if found is not None and _is_binary(head[found.skip :], found.dimension):
        return "word2vec"
    layout = text_layout(head, whole, header=None)
    if isinstance(layout, str):
        raise ValueError(
            f"{source} has an unsupported format: {layout}. Supported formats are word2vec (binary "
            "and text), GloVe, fastText .vec, safetensors, .npy, .npz and gzip of each, and "
            "folders of textkin, model2vec and sentence-transformers."
        )
    return "glove" if layout.count is None else "word2vec-text"


def _is_binary(data: bytes, dimension: int) -> bool:
    """Return True if bytes after a header are float32 numbers, not text.

    If the first line ends in as many numbers as the dimension, the data are text. Otherwise,
    unprintable bytes decide: the four bytes of a float32 are almost never all printable.
    """
    line = data.lstrip(b"\n").split(b"\n", 1)[0]
    if trailing_numbers(line) >= dimension:
        return False
    _, _, rest = data.lstrip(b"\n").partition(b" ")
    numbers = rest[: min(4 * dimension, 4096)]
    return any(byte < 9 or 13 < byte < 32 or byte > 126 for byte in numbers)


# ------------------------------------------------------------------ loading

_STREAMED = ("word2vec", "word2vec-text", "glove")
_FOLDERS = ("textkin", "static")


def load_vectors(path: Path, format: Format | None, options: Options, cache: bool) -> Loaded:
    """Load vectors from a file or folder, or from the file's cache."""
    one_of(None, *FORMATS).check("format", format)
    instance_of(bool, "True or False").check("cache", cache)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist.")
    if path.is_dir() or format in _FOLDERS:
        return _load_folder(path, format, options)
    source = Source.of(path)
    if not cache or source.size < _cache.SMALLEST:
        return _load_file(source, format, options)
    key = source_key(path, options)
    found = open_cached(path, key, format)
    if found is None and not options.selects:
        return _convert(source, format, options, key)
    if found is None:
        return _load_file(source, format, options)
    return _selected(path, found, options)


def format_of(path: Path) -> Format:
    """Return the format (such as "glove" or "word2vec") of a vector file or folder.

    Parameters
    ----------
    path : Path
        File or folder.

    Returns
    -------
    str
        Name of the format, as in `WordVectors.load`.
    """
    if path.is_dir():
        return "static" if is_static(path) else "textkin"
    source = Source.of(path)
    return detect_format(source, first_bytes(source))


def _load_folder(path: Path, format: Format | None, options: Options) -> Loaded:
    if format not in (None, *_FOLDERS):
        raise ValueError(f"{path} is a folder; format must be None, 'textkin' or 'static'.")
    if format == "static" or (format is None and is_static(path)):
        if not path.is_dir():
            raise ValueError(f"{path} is a file; a static model is a folder.")
        words, matrix = read_static(path, options)
        return _whole(path, *repair_table(path, words, matrix, options), options)
    names, matrix = read_folder(path)
    return _selected(path, Loaded(names, matrix, Repairs()), options)


def _selected(path: Path, found: Loaded, options: Options) -> Loaded:
    if not options.selects:
        return found
    names, matrix = select_rows(found.names, found.matrix, options)
    if not len(names):
        raise _nothing_left(path, found.repairs, options)
    return Loaded(names, matrix, found.repairs)


def _load_file(source: Source, format: Format | None, options: Options) -> Loaded:
    head = first_bytes(source)
    format = format or detect_format(source, head)
    if format in _STREAMED:
        sink = MemorySink()
        gatherer, dimension = _stream(source, head, format, options, sink)
        matrix = sink.matrix(dimension)
        return _whole(source, gatherer.words, matrix, gatherer.repairs(), options)
    reader = {"npy": read_npy, "npz": read_npz, "safetensors": read_safetensors}[format]
    words, matrix = reader(source)
    return _whole(source, *repair_table(source, words, matrix, options), options)


def _convert(
    source: Source, format: Format | None, options: Options, key: dict[str, object]
) -> Loaded:
    """Read a vector file, and write its cache if possible."""
    head = first_bytes(source)
    found = format or detect_format(source, head)
    if found not in _STREAMED and found != "npz":
        # It can be memory-mapped, or its words are in another file, which the key does not cover.
        return _load_file(source, found, options)
    try:
        recognised = format is None or _recognised(source, head) == format
        with CacheWriter(source.path, key, found, recognised) as writer:
            if found in _STREAMED:
                gatherer, dimension = _stream(source, head, found, options, writer)
                if not gatherer.words:
                    raise _nothing_left(source, gatherer.repairs(), options)
                written = writer.finish(gatherer.words, dimension, gatherer.repairs())
            else:
                loaded = _load_file(source, found, options)
                writer.append(loaded.matrix)
                written = writer.finish(
                    list(loaded.names.words), loaded.matrix.shape[1], loaded.repairs
                )
        if written is not None:
            return written
    except CacheWriteError:
        pass  # for example, a full disk; the vectors can still be read
    return _load_file(source, found, options)


def _recognised(source: Source, head: bytes) -> Format | None:
    with suppress(ValueError):
        return detect_format(source, head)
    return None


def _stream(
    source: Source, head: bytes, format: Format, options: Options, sink: Sink
) -> tuple[Gatherer, int]:
    if format == "word2vec":
        layout = binary_layout(head, source)
        return read_binary(source, layout, options, sink), layout.dimension
    found = text_layout(head, len(head) < HEAD, header=format == "word2vec-text")
    if isinstance(found, str):
        raise ValueError(f"{source} cannot be read as {format}: {found}.")
    return read_text(source, found, options, sink), found.dimension


def _whole(
    source: object, words: list[str], matrix: Float32Array, repairs: Repairs, options: Options
) -> Loaded:
    if not words:
        raise _nothing_left(source, repairs, options)
    return Loaded(Names.known(words), matrix, repairs)


def _nothing_left(source: object, repairs: Repairs, options: Options) -> ValueError:
    if options.words:
        why = "left: it contains none of the requested words"
    elif repairs:
        why = f"left: {repairs} omitted"
    else:
        why = "after its header"
    return ValueError(f"{source} has no word vectors {why}.")


# ------------------------------------------------------------------ folders

_MATRIX = "vectors.safetensors"
_WORDS = "words.json"
_TENSOR = "vectors"


def write_folder(path: Path, words: tuple[str, ...], matrix: Float32Array) -> None:
    """Save words and vectors to a new folder with a manifest, atomically."""

    def fill(folder: Path) -> Iterable[str]:
        save_file({_TENSOR: matrix}, folder / _MATRIX)
        (folder / _WORDS).write_text(json.dumps(words), encoding="ascii")
        return _MATRIX, _WORDS

    _folder(path).write({"count": matrix.shape[0], "dimension": matrix.shape[1]}, fill)


def read_folder(path: Path) -> tuple[Names, Float32Array]:
    """Return the words and the memory-mapped matrix of a saved folder, after verification.

    Hashes and numbers are checked each time, because a folder may be untrusted.
    """
    folder = _folder(path)
    manifest = folder.manifest(
        otherwise=", or the folder of a static model (model.safetensors and tokenizer.json)"
    )
    count, dimension, files = (manifest.get(key) for key in ("count", "dimension", "files"))
    if not (is_count(count) and is_count(dimension) and isinstance(files, dict)):
        raise folder.damaged(f"{MANIFEST} must give count, dimension and files")
    sizes = folder.check_files(files, (_MATRIX, _WORDS))
    if sizes[_MATRIX] < 4 * count * dimension:
        raise folder.damaged(f"{_MATRIX} is too small for {count:,} vectors")
    words = folder.json(_WORDS, max_words_size(count))
    if not isinstance(words, list) or len(words) != count:
        raise folder.damaged(f"{_WORDS} must be a list of {count} words")
    try:
        names = Names(words)
    except (TypeError, ValueError) as error:
        raise folder.damaged(f"{_WORDS} must hold distinct words ({error})") from error
    tensors = folder.tensors(_MATRIX)
    matrix = tensors.pop(_TENSOR, None)
    if matrix is None or tensors or matrix.dtype != "<f4" or matrix.shape != (count, dimension):
        raise folder.damaged(f"{_MATRIX} must hold {count} x {dimension} float32 numbers")
    try:
        return names, check_matrix(names.words, matrix)
    except ValueError as error:
        raise folder.damaged(f"{_MATRIX} has an invalid vector ({error})") from error


def _folder(path: Path) -> Folder:
    return Folder(path, "textkin.word-vectors", 2, "word vectors", "WordVectors.save")
