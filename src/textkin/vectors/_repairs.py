"""Omission of invalid entries of vector tables, with counts by reason."""

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textkin._base import Float32Array
from textkin.vectors._formats._options import Options
from textkin.vectors._table import Names, dimension_problem, row_blocks

__all__ = ["Repairs", "repair_table", "select_rows"]

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
    """Counts of omitted entries of a vector file by reason; false if all are 0.

    Attributes
    ----------
    duplicate : int
        Words that occur again; the first vector is kept.
    zero : int
        Zero vectors.
    empty : int
        Empty words.
    not_finite : int
        Vectors with NaN or infinite numbers (omitted only with ``errors="skip"``, like the next).
    malformed : int
        Lines that are not a word and d numbers.
    undecodable : int
        Words that are not UTF-8.
    miscounted : int
        Difference between the number of entries and the header. No entry is omitted for this.

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

    def to_dict(self) -> dict[str, int]:
        """Return the count of omitted entries by reason."""
        return asdict(self)

    def __bool__(self) -> bool:
        return any(self.to_dict().values())

    def __str__(self) -> str:
        parts = [
            f"{count:,} {_WORDING[name][count != 1]}"
            for name, count in self.to_dict().items()
            if count
        ]
        return ", ".join(parts) or "nothing"


# Ascending rows by kind, as arrays of 8 bytes per row, because there may be millions of rows.
_Problems = dict[str, "array[int]"]


def repair_table(
    source: object, words: Sequence[str], matrix: NDArray[Any], options: Options
) -> tuple[list[str], Float32Array, Repairs]:
    """Return the valid words and vectors of a table, and counts of omitted entries.

    A float32 matrix without omitted rows is not copied, so a memory-mapped matrix stays mapped.
    """
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(f"{source} must contain a 2-D table of vectors; got shape {matrix.shape}.")
    if matrix.dtype.kind not in "fiu":
        raise ValueError(f"{source} must contain real numbers; got {matrix.dtype}.")
    if len(words) != len(matrix):
        raise ValueError(
            f"{source} must have one word for each vector; got {len(words):,} words and "
            f"{len(matrix):,} vectors."
        )
    problem = dimension_problem(matrix.shape[1])
    if problem is not None:
        raise ValueError(f"{source} cannot be read: {problem}.")
    rows, problems = _distinct(words, options)
    limit = len(words) if options.max_words is None else options.max_words
    sound: list[NDArray[np.intp]] = []
    count = 0
    for block in row_blocks(len(rows), matrix.shape[1]):
        part = rows[block]
        numbers = _floats(matrix[part])
        finite = np.count_nonzero(np.isfinite(numbers), axis=1) == numbers.shape[1]
        filled = np.count_nonzero(numbers, axis=1) > 0
        sound.append(part[finite & filled])
        count += len(sound[-1])
        problems["not_finite"].extend(part[~finite].tolist())
        problems["zero"].extend(part[finite & ~filled].tolist())
        if options.progress is not None:
            options.progress(block.stop, len(rows))
        if count >= limit:
            break
    kept = np.concatenate([*sound, np.empty(0, dtype=np.intp)])[:limit]
    end = int(kept[-1]) if count >= limit else len(words)
    repairs = _judged(source, words, problems, end, options)
    every = len(kept) == len(matrix)
    names = list(words) if every else [words[row] for row in kept.tolist()]
    if every and matrix.dtype == np.float32 and matrix.flags.c_contiguous:
        return names, matrix, repairs
    table = np.empty((len(kept), matrix.shape[1]), dtype=np.float32)
    for block in row_blocks(*table.shape):
        table[block] = _floats(matrix[kept[block]])
    return names, table, repairs


def select_rows(names: Names, matrix: Float32Array, options: Options) -> tuple[Names, Float32Array]:
    """Return the words and vectors of a valid table that the options select."""
    wanted = options.wanted()
    if wanted is None:
        count = len(names) if options.max_words is None else min(options.max_words, len(names))
        return names.first(count), matrix[:count]
    kept = [row for row, word in enumerate(names.words) if word in wanted][: options.max_words]
    return names.take(kept), matrix[kept]


def _floats(rows: NDArray[Any]) -> Float32Array:
    with np.errstate(over="ignore"):  # overflow becomes infinite, which is detected later
        converted: Float32Array = np.asarray(rows, dtype=np.float32)
    return converted


def _distinct(words: Sequence[str], options: Options) -> tuple[NDArray[np.intp], _Problems]:
    """Return the first row of each selected word, and rows of invalid entries by reason."""
    wanted = options.wanted()
    seen: dict[str, int] = {}
    problems: _Problems = defaultdict(lambda: array("q"))
    for row, word in enumerate(words):
        if wanted is not None and word not in wanted:
            continue
        if word == "":
            problems["empty"].append(row)
        elif word in seen:
            problems["duplicate"].append(row)
        else:
            seen[word] = row
    return np.fromiter(seen.values(), dtype=np.intp, count=len(seen)), problems


def _judged(
    source: object, words: Sequence[str], problems: _Problems, end: int, options: Options
) -> Repairs:
    """Count the entries omitted before row `end`, or raise if an option forbids them."""
    counts = {kind: bisect_left(rows, end) for kind, rows in problems.items()}
    refused = []
    if counts.get("not_finite") and options.errors == "raise":
        row = problems["not_finite"][0]
        refused.append(
            (
                row,
                f"the vector of {words[row]!r} has a number that is NaN, infinite or too large for "
                'float32. Pass errors="skip" to omit such entries.',
            )
        )
    if counts.get("duplicate") and options.duplicates == "error":
        row = problems["duplicate"][0]
        refused.append(
            (
                row,
                f'repeats the word {words[row]!r}. Pass duplicates="first" to keep the first row.',
            )
        )
    if refused:
        row, problem = min(refused)
        raise ValueError(f"{source}, row {row + 1}: {problem}")
    return Repairs(**counts)
