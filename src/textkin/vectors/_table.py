"""Words and rows of a vector table: packed words, and validation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textkin._base import Float32Array, Float64Array, Int64Array
from textkin.exceptions import ParameterError, ParameterTypeError

__all__ = [
    "Names",
    "check_distinct_words",
    "check_matrix",
    "check_vector",
    "column_names",
    "dimension_problem",
    "pack_words",
    "row_blocks",
]

_BLOCK_NUMBERS = 2**20
_MAX_DIMENSION = 100_000


def check_distinct_words(words: Iterable[str]) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return words as a tuple with the row of each; raise unless distinct strings."""
    if isinstance(words, str):
        raise ParameterTypeError("words", "a sequence of strings", f"the single string {words!r}")
    if isinstance(words, Mapping | Set):
        raise ParameterTypeError(
            "words", "in the order of the rows", type(words).__name__, "Pass a list."
        )
    given = tuple(words)
    for position, word in enumerate(given):
        if not isinstance(word, str):
            raise ParameterTypeError(
                "words", "strings", f"{type(word).__name__} {word!r} at position {position}"
            )
    if not given:
        raise ValueError("words must name at least one word; got none.")
    # Converts numpy.str_ to str.
    kept = tuple(word if type(word) is str else str(word) for word in given)
    rows = dict(zip(kept, range(len(kept)), strict=True))
    if len(rows) != len(kept):
        seen: dict[str, int] = {}
        for position, word in enumerate(kept):
            first = seen.setdefault(word, position)
            if first != position:
                raise ValueError(
                    f"words must be distinct; {word!r} is at positions {first} and {position}. "
                    "Keep one row per word."
                )
    return kept, rows


class Names:
    """Words in row order, with lookup of rows; packed words are decoded on first use.

    Making 400,000 strings and their dictionary takes a tenth of a second. A table from a cache
    makes them on first use, so that it opens in milliseconds.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words, self.rows = check_distinct_words(words)
        self._count = len(self.words)

    @classmethod
    def known(cls, words: Sequence[str]) -> Self:
        """Create names from words that are known to be distinct."""
        names = cls.__new__(cls)
        names.words = tuple(words)
        names._count = len(names.words)
        return names

    @classmethod
    def packed(cls, raw: NDArray[np.uint8], ends: Int64Array, origin: str) -> Self:
        """Create names from the UTF-8 bytes of all words, and the end offset of each.

        Words are validated when they are decoded; errors name the file `origin`.
        """
        names = cls.__new__(cls)
        names._count = len(ends)
        names._packed = (raw, ends, origin)
        return names

    _packed: tuple[NDArray[np.uint8], Int64Array, str]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All words in the order of their rows."""
        raw, ends, origin = self._packed
        try:
            return tuple(_unpacked(raw, ends))
        except ValueError as error:
            raise _damaged(origin, str(error)) from error

    @cached_property
    def rows(self) -> dict[str, int]:
        """Mapping from each word to its row."""
        rows = dict(zip(self.words, range(self._count), strict=True))
        if len(rows) != self._count:
            raise _damaged(self._packed[2], "words repeat")
        return rows

    def first(self, count: int) -> "Names":
        """Return the first `count` words, without decoding the others."""
        if count == self._count or "words" in self.__dict__:
            return self.take(range(count))
        raw, ends, origin = self._packed
        return Names.packed(raw[: max(0, int(ends[count - 1]))], ends[:count], origin)

    def take(self, rows: Iterable[int]) -> "Names":
        """Return the words of the given rows."""
        return Names.known([self.words[row] for row in rows])

    def __len__(self) -> int:
        return self._count


def _damaged(origin: str, problem: str) -> ValueError:
    return ValueError(
        f"the words of {origin} are corrupt ({problem}). If it is a cache of another file "
        "(NAME.textkin), delete it and load that file again; otherwise copy it again."
    )


def pack_words(words: Iterable[str]) -> tuple[bytes, Int64Array]:
    """Encode words as UTF-8, each with a newline; return the bytes and end offsets."""
    encoded = [word.encode("utf-8", "surrogatepass") + b"\n" for word in words]
    ends: Int64Array = np.cumsum([len(word) for word in encoded], dtype=np.int64)
    return b"".join(encoded), ends


def _unpacked(raw: NDArray[np.uint8], ends: Int64Array) -> list[str]:
    data = raw.tobytes()
    words = data.decode("utf-8", "surrogatepass").split("\n")
    if len(words) == len(ends) + 1 and words[-1] == "":
        return words[:-1]
    # Words that contain newlines are decoded one by one.
    limits = [0, *ends.tolist()]
    if limits != sorted(limits) or limits[-1] != len(data):
        raise ValueError("the offsets of its words are invalid")
    return [
        data[start : end - 1].decode("utf-8", "surrogatepass") for start, end in pairwise(limits)
    ]


def column_names(
    vocabulary: Any,  # noqa: ANN401 (many types name columns)
    name: str = "vocabulary",
) -> Sequence[str]:
    """Return the words of columns in order, from a vocabulary, mapping, or estimator.

    This is a `Vocabulary`, a fitted scikit-learn vectorizer, its ``vocabulary_`` (a mapping from
    words to columns), or the words themselves. `name` is the name of the parameter in messages.
    """
    names: Any = getattr(vocabulary, "words", None)
    if names is None and hasattr(vocabulary, "get_feature_names_out"):
        names = vocabulary.get_feature_names_out()
    if names is None:
        names = vocabulary
    if isinstance(names, Mapping):
        if sorted(names.values()) != list(range(len(names))):
            raise ValueError(
                f"{name} must map each word to its column, from 0 to n_words - 1; "
                "got a mapping with other values."
            )
        names = sorted(names, key=names.__getitem__)
    if isinstance(names, str | Set) or not isinstance(names, Iterable):
        raise TypeError(
            f"{name} must name the columns in order: a list of words, a Vocabulary or a "
            f"fitted vectorizer; got {type(vocabulary).__name__}."
        )
    return names if isinstance(names, Sequence) else list(names)


def check_matrix(words: tuple[str, ...], matrix: ArrayLike) -> Float32Array:
    """Return vectors as a read-only float32 matrix; raise for invalid rows."""
    try:
        array = np.asarray(matrix)
    except ValueError as error:
        raise ValueError("matrix must be 2-D, with rows of equal length.") from error
    if array.dtype.kind not in "fiu":
        raise ParameterTypeError(
            "matrix",
            "an array of real numbers",
            f"{type(matrix).__name__} with dtype {array.dtype}",
        )
    if array.ndim != 2:
        raise ParameterError("matrix", "2-D, one row per word", f"{array.ndim} dimension(s)")
    if len(array) != len(words):
        raise ValueError(
            f"matrix must have one row for each of the {len(words)} words; got {len(array)} rows."
        )
    if array.shape[1] == 0:
        raise ValueError("matrix must have at least one column; got none.")
    with np.errstate(over="ignore"):  # overflow becomes infinite, which raises an error below
        table: Float32Array = np.ascontiguousarray(array, dtype=np.float32)
    for rows in row_blocks(*table.shape):
        _check_rows(words, table[rows], rows.start)
    view = table.view()
    view.flags.writeable = False
    return view


def check_vector(vector: ArrayLike, dimension: int) -> Float64Array:
    """Return one vector in float64; raise if it is zero, or has a wrong dimension."""
    array = np.asarray(vector)
    if array.dtype.kind not in "fiu":
        raise ParameterTypeError(
            "word_or_vector", "a string or real numbers", type(vector).__name__
        )
    if array.shape != (dimension,):
        raise ValueError(
            f"a vector must have shape ({dimension},), like the words; got {array.shape}."
        )
    wide: Float64Array = array.astype(np.float64)
    with np.errstate(over="ignore"):
        square = float(np.einsum("j,j->", wide, wide))
    if not 0.0 < square < np.inf:
        got = "zeros" if square == 0.0 else "NaN, infinity, or a length that overflows"
        raise ValueError(f"a vector must be finite and must not be zero; got {got}.")
    return wide


def dimension_problem(dimension: int) -> str | None:
    """Describe why a dimension from an untrusted file is invalid, or return None."""
    if 1 <= dimension <= _MAX_DIMENSION:
        return None
    return f"its vectors have {dimension:,} dimensions (expected 1 to {_MAX_DIMENSION:,})"


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices of rows with about a million numbers each, to limit memory."""
    step = max(1, _BLOCK_NUMBERS // n_columns)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def _check_rows(words: tuple[str, ...], block: Float32Array, start: int) -> None:
    finite = np.isfinite(block).all(axis=1)
    if not finite.all():
        row = start + int(np.argmin(finite))
        raise ValueError(
            f"matrix must be finite in float32; the vector of {words[row]!r} (row {row}) has NaN "
            "or infinite values. Remove the word."
        )
    filled = block.any(axis=1)
    if not filled.all():
        row = start + int(np.argmin(filled))
        raise ValueError(
            f"matrix must not have all-zero rows; the vector of "
            f"{words[row]!r} (row {row}) is zero. Remove the word."
        )
