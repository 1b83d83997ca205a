"""What a table of word vectors must be: distinct words, one finite row of float32 each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from textkin._typing import Float32Array, Float64Array

__all__ = ["checked_matrix", "checked_vector", "checked_words", "column_names", "row_blocks"]

_BLOCK_NUMBERS = 2**20


def checked_words(words: Iterable[str]) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return the words as a tuple, and the row of each; raise unless they are distinct strings."""
    if isinstance(words, str):
        raise TypeError(f"words must be a sequence of strings; got the single string {words!r}.")
    if isinstance(words, Mapping | Set):
        raise TypeError(
            f"words must be in the order of the rows; got {type(words).__name__}. Pass a list."
        )
    given = tuple(words)
    for position, word in enumerate(given):
        if not isinstance(word, str):
            raise TypeError(
                f"words must be strings; got {type(word).__name__} {word!r} at position {position}."
            )
    if not given:
        raise ValueError("words must name at least one word; got none.")
    kept = tuple(word if type(word) is str else str(word) for word in given)  # numpy.str_
    rows = dict(zip(kept, range(len(kept)), strict=True))
    if len(rows) != len(kept):
        seen: dict[str, int] = {}
        for position, word in enumerate(kept):
            first = seen.setdefault(word, position)
            if first != position:
                raise ValueError(
                    f"words must be distinct; {word!r} is at positions {first} and {position}. "
                    "Keep one row for each word."
                )
    return kept, rows


def column_names(
    vocabulary: Any,  # noqa: ANN401 (whatever names columns)
    name: str = "vocabulary",
) -> Sequence[str]:
    """Return the words of the columns, in their order, from whatever names them.

    That is a `Vocabulary`, a fitted scikit-learn vectoriser, its ``vocabulary_`` (which says the
    column of each word), or the words themselves; `name` is what the caller calls it.
    """
    names: Any = getattr(vocabulary, "words", None)
    if names is None and hasattr(vocabulary, "get_feature_names_out"):
        names = vocabulary.get_feature_names_out()
    if names is None:
        names = vocabulary
    if isinstance(names, Mapping):
        if sorted(names.values()) != list(range(len(names))):
            raise ValueError(
                f"{name} must say the column of each word, 0 to the number of words less one; "
                "got a mapping with other values."
            )
        names = sorted(names, key=names.__getitem__)
    if isinstance(names, str | Set) or not isinstance(names, Iterable):
        raise TypeError(
            f"{name} must name the columns in their order: a list of words, a Vocabulary or a "
            f"fitted vectoriser; got {type(vocabulary).__name__}."
        )
    return names if isinstance(names, Sequence) else list(names)


def checked_matrix(words: tuple[str, ...], matrix: ArrayLike) -> Float32Array:
    """Return a read-only float32 matrix, a view where `matrix` allows; raise on bad rows."""
    try:
        array = np.asarray(matrix)
    except ValueError as error:
        raise ValueError("matrix must be 2-D, all rows of the same length.") from error
    if array.dtype.kind not in "fiu":
        raise TypeError(
            f"matrix must be an array of real numbers; got {type(matrix).__name__} "
            f"with dtype {array.dtype}."
        )
    if array.ndim != 2:
        raise ValueError(
            f"matrix must be 2-D, one row for each word; got {array.ndim} dimension(s)."
        )
    if len(array) != len(words):
        raise ValueError(
            f"matrix must have one row for each of the {len(words)} words; got {len(array)} rows."
        )
    if array.shape[1] == 0:
        raise ValueError("matrix must have at least one column; got none.")
    with np.errstate(over="ignore"):  # what float32 cannot hold turns infinite, and is named below
        table: Float32Array = np.ascontiguousarray(array, dtype=np.float32)
    for rows in row_blocks(*table.shape):
        _check_rows(words, table[rows], rows.start)
    view = table.view()
    view.flags.writeable = False
    return view


def checked_vector(vector: ArrayLike, dimension: int) -> Float64Array:
    """Return one vector as float64; raise unless it has the dimension and a direction."""
    array = np.asarray(vector)
    if array.dtype.kind not in "fiu":
        raise TypeError(
            f"word_or_vector must be a string or real numbers; got {type(vector).__name__}."
        )
    if array.shape != (dimension,):
        raise ValueError(
            f"a vector must have the shape ({dimension},), as the words have; got {array.shape}."
        )
    wide: Float64Array = array.astype(np.float64)
    with np.errstate(over="ignore"):
        square = float(np.einsum("j,j->", wide, wide))
    if not 0.0 < square < np.inf:
        raise ValueError("a vector must be finite and must not be zero: it needs a direction.")
    return wide


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Cut the rows into blocks of about a million numbers, so that temporaries stay small."""
    step = max(1, _BLOCK_NUMBERS // n_columns)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def _check_rows(words: tuple[str, ...], block: Float32Array, start: int) -> None:
    finite = np.isfinite(block).all(axis=1)
    if not finite.all():
        row = start + int(np.argmin(finite))
        raise ValueError(
            f"matrix must be finite in float32; the vector of {words[row]!r} (row {row}) has NaN "
            "or infinite values. Leave the word out."
        )
    filled = block.any(axis=1)
    if not filled.all():
        row = start + int(np.argmin(filled))
        raise ValueError(
            f"matrix must have no all-zero row, for it has no direction; the vector of "
            f"{words[row]!r} (row {row}) is zero. Leave the word out."
        )
