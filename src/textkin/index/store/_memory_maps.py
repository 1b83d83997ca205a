"""Memory-mapped files in the safetensors format, checked before they are mapped."""

import mmap
import os
from pathlib import Path

__all__ = ["map_checked_file"]

_LARGEST_HEADER = 1 << 16


def map_checked_file(path: Path, n_bytes: int, damage: type[Exception]) -> tuple[bytes, mmap.mmap]:
    """Map a file that the catalog names, and return its header and the mapping.

    Parameters
    ----------
    path : Path
        File: the length of its header in 8 bytes, the header, and the arrays.
    n_bytes : int
        Size of the file according to the catalog.
    damage : type
        Type of the raised exception; its message completes the name of the file.

    Returns
    -------
    header : bytes
        Header, which is not parsed.
    mapped : mmap
        Mapping of the whole file, read-only.

    Raises
    ------
    damage
        If the file or its folder is a link, the file is missing or has another size, or the length
        of its header is invalid.
    """
    if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
        raise damage("is missing")
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size != n_bytes:
            raise damage(f"must have {n_bytes} bytes; got {size}")
        file.seek(0)
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(_LARGEST_HEADER, size - 8):
            raise damage("has no valid header")
        return file.read(length), mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
