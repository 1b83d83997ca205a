"""Loading word vectors from whatever is at a path."""

from contextlib import suppress
from pathlib import Path

from textkin._typing import Float32Array
from textkin._validation import instance_of, one_of
from textkin.vectors import _cache
from textkin.vectors._cache import CacheWriteError, CacheWriter, Loaded, open_cached, source_key
from textkin.vectors._formats._binary import binary_layout, read_binary
from textkin.vectors._formats._gather import Gatherer, MemorySink, Sink
from textkin.vectors._formats._numpy import read_npy, read_npz
from textkin.vectors._formats._options import Options
from textkin.vectors._formats._safetensors import read_safetensors
from textkin.vectors._formats._sniff import FORMATS, Format, first_bytes, recognise
from textkin.vectors._formats._source import Source
from textkin.vectors._formats._static import is_static, read_static
from textkin.vectors._formats._text import HEAD, read_text, text_layout
from textkin.vectors._names import Names
from textkin.vectors._repairs import Repairs
from textkin.vectors._store import read_folder
from textkin.vectors._tidy import selected, tidied

__all__ = ["format_of", "load_vectors"]

_STREAMED = ("word2vec", "word2vec-text", "glove")
_FOLDERS = ("textkin", "static")


def load_vectors(path: Path, format: Format | None, options: Options, cache: bool) -> Loaded:
    """Read the vectors at a path, by the cache where there is one."""
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
    """Return the format of what is at a path.

    Parameters
    ----------
    path : Path
        A file or a folder.

    Returns
    -------
    str
        One of the names that `WordVectors.load` takes.
    """
    if path.is_dir():
        return "static" if is_static(path) else "textkin"
    source = Source.of(path)
    return recognise(source, first_bytes(source))


def _load_folder(path: Path, format: Format | None, options: Options) -> Loaded:
    if format not in (None, *_FOLDERS):
        raise ValueError(f"{path} is a folder; the format {format!r} is that of a file.")
    if format == "static" or (format is None and is_static(path)):
        if not path.is_dir():
            raise ValueError(f"{path} is a file; a static model is a folder.")
        words, matrix = read_static(path, options)
        return _whole(path, *tidied(path, words, matrix, options), options)
    names, matrix = read_folder(path)
    return _selected(path, Loaded(names, matrix, Repairs()), options)


def _selected(path: Path, found: Loaded, options: Options) -> Loaded:
    if not options.selects:
        return found
    names, matrix = selected(found.names, found.matrix, options)
    if not len(names):
        raise _nothing_left(path, found.repairs, options)
    return Loaded(names, matrix, found.repairs)


def _load_file(source: Source, format: Format | None, options: Options) -> Loaded:
    head = first_bytes(source)
    format = format or recognise(source, head)
    if format in _STREAMED:
        sink = MemorySink()
        gatherer, dimension = _stream(source, head, format, options, sink)
        matrix = sink.matrix(dimension)
        return _whole(source, gatherer.words, matrix, gatherer.repairs(), options)
    reader = {"npy": read_npy, "npz": read_npz, "safetensors": read_safetensors}[format]
    words, matrix = reader(source)
    return _whole(source, *tidied(source, words, matrix, options), options)


def _convert(
    source: Source, format: Format | None, options: Options, key: dict[str, object]
) -> Loaded:
    """Read a file and leave a cache; without one where the disk does not want it."""
    head = first_bytes(source)
    found = format or recognise(source, head)
    if found not in _STREAMED and found != "npz":
        # Can be mapped as it is; or its words may lie beside it, where no key sees them change.
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
        pass  # a full disk, say: the vectors can be read all the same
    return _load_file(source, found, options)


def _recognised(source: Source, head: bytes) -> Format | None:
    with suppress(ValueError):
        return recognise(source, head)
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
        why = "left: none of the words asked for is in it"
    elif repairs:
        why = f"left: {repairs} left out"
    else:
        why = "after its header"
    return ValueError(f"{source} has no word vectors {why}.")
