"""How much a file may hold in all: a small compressed one can be endless."""

from textkin._validation import integer
from textkin.text.reading._rows import Place

__all__ = ["Bound"]


class Bound:
    """Counts what is read, and stops where it is more than was allowed.

    Parameters
    ----------
    max_bytes : int
        The most characters.
    """

    def __init__(self, max_bytes: int) -> None:
        integer(low=1).check("max_bytes", max_bytes)
        self._most = max_bytes
        self._used = 0

    def add(self, place: Place, length: int) -> None:
        """Count the characters of a record; each also for what holds it.

        Raises
        ------
        ValueError
            With the place at which it was too much.
        """
        self._used += length + 1
        if self._used > self._most:
            raise ValueError(
                f"{place}: up to here there is more than max_bytes={self._most}; pass a larger "
                "max_bytes if that is right."
            )
