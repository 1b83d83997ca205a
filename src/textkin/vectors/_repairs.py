"""What was left out of a vector file, counted by reason."""

from dataclasses import asdict, dataclass

__all__ = ["Repairs"]

_WORDING = {
    "duplicate": ("repeated word", "repeated words"),
    "zero": ("zero vector", "zero vectors"),
    "empty": ("empty word", "empty words"),
    "not_finite": ("vector with NaN or infinite numbers", "vectors with NaN or infinite numbers"),
    "malformed": (
        "line that is not a word and its numbers",
        "lines that are not a word and numbers",
    ),
    "undecodable": ("word that is not UTF-8", "words that are not UTF-8"),
    "miscounted": (
        "entry more or less than the header says",
        "entries more or less than the header says",
    ),
}


@dataclass(frozen=True, slots=True)
class Repairs:
    """How many entries of a vector file were left out, and why; false if none was.

    Attributes
    ----------
    duplicate : int
        Words that came before; the first one counts.
    zero : int
        Vectors without a direction.
    empty : int
        Words of no letters.
    not_finite : int
        Vectors with NaN or infinite numbers (left out only with ``errors="skip"``, as the next).
    malformed : int
        Lines that are not a word and d numbers.
    undecodable : int
        Words that are not UTF-8.
    miscounted : int
        By how many entries the header was wrong. Nothing was left out for that.

    Examples
    --------
    >>> repairs = Repairs(duplicate=2, zero=1)
    >>> bool(repairs), str(repairs)
    (True, '2 repeated words, 1 zero vector')
    """

    duplicate: int = 0
    zero: int = 0
    empty: int = 0
    not_finite: int = 0
    malformed: int = 0
    undecodable: int = 0
    miscounted: int = 0

    def as_dict(self) -> dict[str, int]:
        """Return the counts by name."""
        return asdict(self)

    def __bool__(self) -> bool:
        return any(self.as_dict().values())

    def __str__(self) -> str:
        parts = [
            f"{count:,} {_WORDING[name][count != 1]}"
            for name, count in self.as_dict().items()
            if count
        ]
        return ", ".join(parts) or "nothing"
