"""Edit (Levenshtein) distances of sequences of words, characters, or other items."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from textkin import _core
from textkin._base import Float64Array, Int32Array, Int64Array
from textkin.exceptions import ParameterTypeError
from textkin.run import Check, Fill
from textkin.text import Tokens

__all__ = ["SequencesLike", "edit_distance", "prepare_edit"]

SequencesLike: TypeAlias = Sequence[Sequence[Hashable]] | Tokens


def edit_distance(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Compute the edit distance: the least number of insertions, deletions, substitutions.

    Parameters
    ----------
    a, b : sequence
        Lists of words or of other hashable items; a string is a sequence of its characters.

    Returns
    -------
    int
        Number of insertions, deletions, and substitutions of single items that change `a` into
        `b`: 0 for equal sequences, at most the length of the longer one.

    See Also
    --------
    pairwise_distances, pairwise_similarities : Results for all pairs, with ``metric="edit"``.

    Notes
    -----
    The Levenshtein distance D(m, n) is the result of the dynamic program ::

        D(i, 0) = i,  D(0, j) = j,
        D(i, j) = min(D(i-1, j) + 1, D(i, j-1) + 1, D(i-1, j-1) + [a_i != b_j]),

    which is computed 64 cells at a time, in O(m n / 64).

    References
    ----------
    Levenshtein, "Binary Codes Capable of Correcting Deletions, Insertions and Reversals", Soviet
    Physics Doklady 10, 1966. Myers, "A Fast Bit-Vector Algorithm for Approximate String Matching
    Based on Dynamic Programming", Journal of the ACM 46, 1999. Hyyrö, "A Bit-Vector Algorithm for
    Computing Levenshtein and Damerau Edit Distances", Nordic Journal of Computing 10, 2003.

    Examples
    --------
    >>> edit_distance("kitten", "sitting")
    3
    >>> edit_distance("the cat sat".split(), "the dog sat down".split())
    2
    """
    shape, fill = prepare_edit([a], [b], as_similarity=False)
    out = np.empty(shape)
    fill(slice(0, 1), out, None)
    return int(out[0, 0])


def prepare_edit(
    X: SequencesLike, Y: SequencesLike | None, *, as_similarity: bool
) -> tuple[tuple[int, int], Fill]:
    """Return the shape of the matrix of edit distances, and a function that fills it."""
    symbols: dict[Hashable, int] = {}
    if isinstance(X, Tokens) or isinstance(Y, Tokens):
        _check_tokens(X, Y)
    x_starts, x = _number_sequences("X", X, symbols)
    y_starts, y = (x_starts, x) if Y is None or Y is X else _number_sequences("Y", Y, symbols)
    n_symbols = max(int(x.max(initial=-1)), int(y.max(initial=-1))) + 1
    x_lengths, y_lengths = np.diff(x_starts), np.diff(y_starts)

    def fill(block: slice, out: Float64Array, check: Check) -> None:
        starts = x_starts[block.start : block.stop + 1]
        of_block = x[starts[0] : starts[-1]]
        _core.edit_distances(
            starts - starts[0], of_block, y_starts, y, n_symbols, out, progress=check
        )
        if as_similarity:
            longer = np.maximum.outer(x_lengths[block], y_lengths)
            out /= np.maximum(longer, 1)
            np.subtract(1, out, out=out)

    return (len(x_lengths), len(y_lengths)), fill


def _check_tokens(X: SequencesLike, Y: SequencesLike | None) -> None:
    if Y is None:
        return
    if not (isinstance(X, Tokens) and isinstance(Y, Tokens)):
        raise TypeError(
            "X and Y must both be Tokens, or both lists of sequences; got "
            f"{type(X).__name__} and {type(Y).__name__}."
        )
    if X.vocabulary is not Y.vocabulary and list(X.vocabulary.words) != list(Y.vocabulary.words):
        raise ValueError(
            "X and Y must be Tokens of the same vocabulary, so that a number means the same word; "
            "make both with the same BagOfWords."
        )


def _number_sequences(
    name: str, sequences: SequencesLike, symbols: dict[Hashable, int]
) -> tuple[Int64Array, Int32Array]:
    """Replace the items of sequences by integers; return offsets and integers."""
    if isinstance(sequences, Tokens):
        # -1 marks an unknown symbol.
        return sequences.offsets.astype(np.int64), sequences.ids + np.int32(1)
    if isinstance(sequences, str) or not isinstance(sequences, Iterable):
        raise ParameterTypeError(
            name,
            "a list of sequences (lists of words, or strings) or Tokens",
            type(sequences).__name__,
        )
    starts, numbers = [0], []
    for position, sequence in enumerate(sequences):
        numbers.extend(_number_symbols(name, position, sequence, symbols))
        starts.append(len(numbers))
    return np.array(starts, dtype=np.int64), np.array(numbers, dtype=np.int32)


def _number_symbols(
    name: str,
    position: int,
    sequence: Any,  # noqa: ANN401 (whatever users pass)
    symbols: dict[Hashable, int],
) -> list[int]:
    try:
        items = sequence.tolist() if isinstance(sequence, np.ndarray) else list(sequence)
        return [symbols.setdefault(item, len(symbols)) for item in items]
    except TypeError as error:
        raise TypeError(
            f"{name} must hold sequences of words or of characters; position {position} has "
            f"{type(sequence).__name__} ({error})."
        ) from error
