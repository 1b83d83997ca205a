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

    def add(self, place: Place, *parts: object) -> None:
        """Count the characters of what is kept of a record, and one for itself.

        Raises
        ------
        ValueError
            With the place at which it was too much.
        """
        self._used += 1 + sum(len(str(part)) for part in parts)
        if self._used > self._most:
            raise ValueError(
                f"{place}: up to here there is more than max_bytes={self._most}; pass a larger "
                "max_bytes if that is right."
            )
