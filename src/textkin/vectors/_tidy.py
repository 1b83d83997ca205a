"""Words and a matrix that a file held whole: repaired by the same rules as a stream of rows."""

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textkin._typing import Float32Array
from textkin.vectors._formats._options import Options
from textkin.vectors._formats._text import dimension_problem
from textkin.vectors._names import Names
from textkin.vectors._repairs import Repairs
from textkin.vectors._table import row_blocks

__all__ = ["selected", "tidied"]

_Problems = dict[str, "array[int]"]  # rows by kind, ascending: eight bytes each, for there may be
# millions of them


def tidied(
    source: object, words: Sequence[str], matrix: NDArray[Any], options: Options
) -> tuple[list[str], Float32Array, Repairs]:
    """Return what is left of a table, and what was left out.

    A float32 matrix of which every row is kept is not copied, so a mapped one stays mapped.
    """
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(
            f"{source} must hold a 2-D table of vectors; got the shape {matrix.shape}."
        )
    if matrix.dtype.kind not in "fiu":
        raise ValueError(f"{source} must hold real numbers; got {matrix.dtype}.")
    if len(words) != len(matrix):
        raise ValueError(
            f"{source} must have one word for each vector; got {len(words):,} words and "
            f"{len(matrix):,} vectors."
        )
    problem = dimension_problem(matrix.shape[1])
    if problem is not None:
        raise ValueError(f"{source} cannot be read: {problem}.")
    rows, problems = _distinct(words, options)
    limit = len(words) if options.limit is None else options.limit
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


def selected(names: Names, matrix: Float32Array, options: Options) -> tuple[Names, Float32Array]:
    """Return the part of a sound table that the options ask for."""
    wanted = options.wanted()
    if wanted is None:
        count = len(names) if options.limit is None else min(options.limit, len(names))
        return names.first(count), matrix[:count]
    kept = [row for row, word in enumerate(names.words) if word in wanted][: options.limit]
    return names.take(kept), matrix[kept]


def _floats(rows: NDArray[Any]) -> Float32Array:
    with np.errstate(over="ignore"):  # what float32 cannot hold turns infinite, and is seen
        converted: Float32Array = np.asarray(rows, dtype=np.float32)
    return converted


def _distinct(words: Sequence[str], options: Options) -> tuple[NDArray[np.intp], _Problems]:
    """Return the rows whose words are wanted, not empty and not a repetition, and the others."""
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
    """Count what may be left out before row `end`; raise for the first row that may not."""
    counts = {kind: bisect_left(rows, end) for kind, rows in problems.items()}
    refused = []
    if counts.get("not_finite") and options.errors == "raise":
        row = problems["not_finite"][0]
        refused.append(
            (
                row,
                f"the vector of {words[row]!r} has a number that is NaN, infinite or too large for "
                'float32. Pass errors="skip" to leave such entries out.',
            )
        )
    if counts.get("duplicate") and options.duplicates == "error":
        row = problems["duplicate"][0]
        refused.append(
            (
                row,
                f'repeats the word {words[row]!r}. Pass duplicates="first" to keep the first one.',
            )
        )
    if refused:
        row, problem = min(refused)
        raise ValueError(f"{source}, row {row + 1}: {problem}")
    return Repairs(**counts)
