"""The words of a table: given, or packed as bytes and decoded when somebody asks."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from textkin._typing import Int64Array
from textkin.vectors._table import checked_words

__all__ = ["Names", "pack_words"]


class Names:
    """Words in the order of the rows, and the row of each.

    400,000 strings and their dictionary take a tenth of a second to make: a table that comes from
    a cache makes them on first use, so that opening it is a matter of milliseconds.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words, self.rows = checked_words(words)
        self._count = len(self.words)

    @classmethod
    def known(cls, words: Sequence[str]) -> Self:
        """Return words that are known to be distinct strings, unchecked."""
        names = cls.__new__(cls)
        names.words = tuple(words)
        names._count = len(names.words)
        return names

    @classmethod
    def packed(cls, raw: NDArray[np.uint8], ends: Int64Array, origin: str) -> Self:
        """Return the words whose UTF-8 bytes lie in `raw`, each up to its end.

        They are checked when they are decoded; `origin` names the file if they are wrong.
        """
        names = cls.__new__(cls)
        names._count = len(ends)
        names._packed = (raw, ends, origin)
        return names

    _packed: tuple[NDArray[np.uint8], Int64Array, str]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The word of each row."""
        raw, ends, origin = self._packed
        try:
            return tuple(_unpacked(raw, ends))
        except ValueError as error:
            raise _damaged(origin, str(error)) from error

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each word."""
        rows = dict(zip(self.words, range(self._count), strict=True))
        if len(rows) != self._count:
            raise _damaged(self._packed[2], "words repeat")
        return rows

    def first(self, count: int) -> "Names":
        """Return the first words, without decoding the others."""
        if count == self._count or "words" in self.__dict__:
            return self.take(range(count))
        raw, ends, origin = self._packed
        return Names.packed(raw[: max(0, int(ends[count - 1]))], ends[:count], origin)

    def take(self, rows: Iterable[int]) -> "Names":
        """Return the words of some rows."""
        return Names.known([self.words[row] for row in rows])

    def __len__(self) -> int:
        return self._count


def _damaged(origin: str, problem: str) -> ValueError:
    return ValueError(
        f"the words of {origin} are damaged ({problem}). If it is a converted copy of another "
        "file, NAME.textkin, delete it and load that file again; else copy it again."
    )


def pack_words(words: Iterable[str]) -> tuple[bytes, Int64Array]:
    """Return the UTF-8 bytes of the words, a newline after each, and where each newline ends."""
    encoded = [word.encode("utf-8", "surrogatepass") + b"\n" for word in words]
    ends: Int64Array = np.cumsum([len(word) for word in encoded], dtype=np.int64)
    return b"".join(encoded), ends


def _unpacked(raw: NDArray[np.uint8], ends: Int64Array) -> list[str]:
    data = raw.tobytes()
    words = data.decode("utf-8", "surrogatepass").split("\n")
    if len(words) == len(ends) + 1 and words[-1] == "":
        return words[:-1]
    # Some word has a newline inside: one by one.
    limits = [0, *ends.tolist()]
    if limits != sorted(limits) or limits[-1] != len(data):
        raise ValueError("its words have no place")
    return [
        data[start : end - 1].decode("utf-8", "surrogatepass") for start, end in pairwise(limits)
    ]
