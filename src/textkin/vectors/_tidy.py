"""Words and a matrix that a file held whole: repaired by the same rules as a stream of rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textkin._typing import Float32Array
from textkin.vectors._formats._options import Options
from textkin.vectors._names import Names
from textkin.vectors._repairs import Repairs
from textkin.vectors._table import row_blocks

__all__ = ["selected", "tidied"]


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
    rows, counts = _distinct(source, words, options)
    kept: list[int] = []
    limit = len(words) if options.limit is None else options.limit
    for block in row_blocks(max(1, len(rows)), matrix.shape[1]):
        if len(kept) >= limit:
            break
        part = rows[block]
        sound = _sound(
            source, words, part, _floats(matrix[part]), options, counts, limit - len(kept)
        )
        kept += sound
        if options.progress is not None:
            options.progress(min(block.stop, len(rows)), len(rows))
    if not kept:
        raise ValueError(f"{source} has no word vectors left: {Repairs(**counts)} left out.")
    every = len(kept) == len(matrix)
    names = list(words) if every else [words[row] for row in kept]
    if every and matrix.dtype == np.float32 and matrix.flags.c_contiguous:
        return names, matrix, Repairs(**counts)
    table = np.empty((len(kept), matrix.shape[1]), dtype=np.float32)
    for block in row_blocks(*table.shape):
        table[block] = _floats(matrix[kept[block]])
    return names, table, Repairs(**counts)


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


def _distinct(
    source: object, words: Sequence[str], options: Options
) -> tuple[NDArray[np.intp], dict[str, int]]:
    """Return the rows whose words are wanted, not empty and not a repetition."""
    wanted = options.wanted()
    seen: dict[str, int] = {}
    counts: dict[str, int] = {}
    for row, word in enumerate(words):
        if wanted is not None and word not in wanted:
            continue
        if word == "":
            counts["empty"] = counts.get("empty", 0) + 1
        elif word in seen:
            if options.duplicates == "error":
                raise ValueError(
                    f"{source}, row {row + 1}: repeats the word {word!r}. Pass "
                    'duplicates="first" to keep the first one.'
                )
            counts["duplicate"] = counts.get("duplicate", 0) + 1
        else:
            seen[word] = row
    return np.fromiter(seen.values(), dtype=np.intp, count=len(seen)), counts


def _sound(
    source: object,
    words: Sequence[str],
    rows: NDArray[np.intp],
    numbers: Float32Array,
    options: Options,
    counts: dict[str, int],
    most: int,
) -> list[int]:
    """Return those of the rows, `most` at most, that are finite and not zero; count the others."""
    finite: NDArray[np.bool_] = np.isfinite(numbers).all(axis=1)
    good = finite & (np.count_nonzero(numbers, axis=1) > 0)
    end = len(rows)
    if int(good.sum()) >= most:
        end = int(np.flatnonzero(good)[most - 1]) + 1
    if options.errors == "raise" and not finite[:end].all():
        row = int(rows[np.argmin(finite)])
        raise ValueError(
            f"{source}, row {row + 1}: the vector of {words[row]!r} has a number that is NaN, "
            'infinite or too large for float32. Pass errors="skip" to leave such entries out.'
        )
    for name, found in (("not_finite", ~finite[:end]), ("zero", finite[:end] & ~good[:end])):
        if found.any():
            counts[name] = counts.get(name, 0) + int(found.sum())
    kept: list[int] = rows[:end][good[:end]].tolist()
    return kept
