"""Which format a file is in, by what it holds rather than by its name."""

from typing import Literal, get_args

from textkin.vectors._formats._source import Source
from textkin.vectors._formats._text import HEAD, header_of, text_layout, trailing_numbers

__all__ = ["FORMATS", "Format", "first_bytes", "recognise"]

Format = Literal[
    "textkin", "static", "word2vec", "word2vec-text", "glove", "safetensors", "npy", "npz"
]
FORMATS: tuple[Format, ...] = get_args(Format)

_FASTTEXT = (793712314).to_bytes(4, "little")
_REFUSED = {
    _FASTTEXT: (
        "a fastText model with its n-grams; save its words as text (.vec), as fasttext does "
        "beside the .bin, and load that"
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
    """Return the first bytes of a file, unpacked."""
    with source.open() as stream:
        parts = []
        left = HEAD
        while left and (part := stream.read(left)):
            parts.append(part)
            left -= len(part)
    return b"".join(parts)


def recognise(source: Source, head: bytes) -> Format:
    """Return the format of a file from its first bytes; raise if it is none that is read."""
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
            f"{source} is a pickle, which could run code and is never read. Write it again in "
            "another format: in gensim, kv.save_word2vec_format(path, binary=True)."
        )
    if len(head) > 8 and head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 2**40:
        return "safetensors"
    whole = len(head) < HEAD
    found = header_of(head)
    if found is not None and _is_binary(head[found.skip :], found.dimension):
        return "word2vec"
    layout = text_layout(head, whole, header=None)
    if isinstance(layout, str):
        raise ValueError(
            f"{source} is in no format that is read here: {layout}. Read are word2vec (binary and "
            "text), GloVe, fastText .vec, safetensors, .npy, .npz and gzip of each, and folders of "
            "textkin, model2vec and sentence-transformers."
        )
    return "glove" if layout.count is None else "word2vec-text"


def _is_binary(data: bytes, dimension: int) -> bool:
    """Say whether numbers after a header are float32 rather than text.

    A first line that ends in as many numbers is text. Else unprintable bytes tell: the four of a
    float32 are hardly ever all printable.
    """
    line = data.lstrip(b"\n").split(b"\n", 1)[0]
    if trailing_numbers(line) >= dimension:
        return False
    _, _, rest = data.lstrip(b"\n").partition(b" ")
    numbers = rest[: min(4 * dimension, 4096)]
    return any(byte < 9 or 13 < byte < 32 or byte > 126 for byte in numbers)
