"""How much memory a call may use, as people write it."""

import re

from textkin._validation import integer

__all__ = ["memory_in_bytes", "size_in_words"]

_WRITTEN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b\s*", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
# The core counts bytes in 64 bits, and adds some up.
_MOST = 2**62


def memory_in_bytes(memory: str | int) -> int:
    """Return a size such as "512MB" in bytes; KB, MB, GB and TB are powers of 1024.

    Parameters
    ----------
    memory : str or int
        A number with a unit, or a number of bytes; at most 2**62 bytes.

    Returns
    -------
    int
        From 1 to 2**62.

    Examples
    --------
    >>> memory_in_bytes("512MB"), memory_in_bytes("1.5 GB"), memory_in_bytes(4096)
    (536870912, 1610612736, 4096)
    """
    if not isinstance(memory, str):
        integer(1, _MOST).check("memory", memory)
        return int(memory)
    written = _WRITTEN.fullmatch(memory)
    size = float(written[1]) * 1024 ** _POWERS[written[2].lower()] if written else 0.0
    if size < 1:
        raise ValueError(
            f"memory must be a size such as '512MB' or '2GB', or a number of bytes; got {memory!r}."
        )
    if size > _MOST:  # infinity too, which many digits make
        raise ValueError(
            f"memory must be at most {_MOST} bytes (2**62, '4194304TB'); got {memory!r}."
        )
    return int(size)


def size_in_words(size: float) -> str:
    """Return a number of bytes as a person reads it: in GB, or in MB where that is little."""
    return f"{size / 2**30:.1f} GB" if size >= 2**29 else f"{size / 2**20:.1f} MB"
