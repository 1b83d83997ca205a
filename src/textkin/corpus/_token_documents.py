"""Documents as arrays of token vectors, and stacks of them for the core."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from textkin import _core
from textkin._base import Float32Array, Float64Array, Int64Array, integer
from textkin.corpus._rows import DocumentRows
from textkin.exceptions import EmptyDocumentError, ParameterError, ParameterTypeError
from textkin.explain import clean
from textkin.run import format_size

__all__ = [
    "TokenDocument",
    "TokenDocuments",
    "TokenStack",
    "TokenVectors",
    "many_documents",
    "one_document",
    "physical_memory",
    "refuse_empty",
    "refuse_too_many",
    "stack_tokens",
    "totals_of",
]


class HasArray(Protocol):
    """Protocol for objects that NumPy can convert to an array, such as a torch tensor."""

    def __array__(self) -> NDArray[Any]:
        """Return the object as a NumPy array."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """One document as an array with one vector per token, computed by any encoder.

    Parameters
    ----------
    vectors : array-like of shape (n_tokens, d)
        One row per token: float16, float32, float64, integers, or anything that NumPy reads, such
        as a tensor on the CPU. Stored as float32. Rows must be finite and not zero: remove
        padding. A document may have no tokens.
    weights : array-like of shape (n_tokens,), or None, default=None
        Weight of each token, at least 0. If None, all weights are 1. Tokens of weight 0 are
        skipped.
    tokens : sequence of str of length n_tokens, or None, default=None
        Words of the tokens, for explanations and for `TokenIdf`.

    See Also
    --------
    TokenMover : Exact distances between documents of token vectors.

    Examples
    --------
    >>> from textkin import TokenVectors
    >>> TokenVectors([[1, 0], [0, 1], [1, 1]], tokens=["a", "big", "dog"])
    TokenVectors: 3 tokens of 2 numbers: a big dog
    """

    vectors: Float32Array
    weights: Float64Array | None = None
    tokens: tuple[str, ...] | None = None

    def __init__(
        self,
        vectors: "HasArray | NDArray[Any] | Sequence[Any]",
        weights: "HasArray | NDArray[Any] | Sequence[float] | None" = None,
        tokens: Sequence[str] | None = None,
    ) -> None:
        rows = _checked_vectors(vectors)
        object.__setattr__(self, "vectors", rows)
        object.__setattr__(self, "weights", _checked_weights(weights, len(rows)))
        object.__setattr__(self, "tokens", _checked_tokens(tokens, len(rows)))

    def __len__(self) -> int:
        return len(self.vectors)

    def __repr__(self) -> str:
        said = f": {clean(' '.join(self.tokens[:12]))}" if self.tokens else ""
        more = " ..." if self.tokens and len(self) > 12 else ""
        return f"TokenVectors: {len(self)} tokens of {self.vectors.shape[1]} numbers{said}{more}"

    def weighed(self, weights: Float64Array) -> Self:
        """Return a copy of the document with its token weights multiplied by `weights`."""
        ours = weights if self.weights is None else self.weights * weights
        return type(self)(self.vectors, ours, self.tokens)

    def ngrams(self, n: int) -> Self:
        r"""Return a document whose tokens are the n-grams of adjacent tokens, as in MoverScore.

        Parameters
        ----------
        n : int
            Number of tokens per n-gram; a shorter document is one n-gram. With 1, the document is
            unchanged.

        Returns
        -------
        TokenVectors
            N-grams. The n-gram from token i on has the mean
            :math:`\sum_k w_k x_k / \sum_k w_k` of its vectors (unweighted if all weights are 0),
            the weight :math:`\sum_k w_k`, and its words.

        Raises
        ------
        ValueError
            If the vectors of an n-gram sum to zero.

        References
        ----------
        Zhao et al., "MoverScore: Text Generation Evaluating with Contextualized Embeddings and
        Earth Mover Distance", EMNLP 2019, section 3.1. Their vector is the sum, which has the
        same direction as the mean.

        Examples
        --------
        >>> from textkin import TokenVectors
        >>> pairs = TokenVectors([[1, 0], [0, 1], [2, 1]], [1, 3, 1], ["a", "big", "dog"]).ngrams(2)
        >>> pairs.tokens, pairs.weights, pairs.vectors
        (('a big', 'big dog'), array([4., 4.]), array([[0.25, 0.75],
               [0.5 , 1.  ]], dtype=float32))
        """
        integer(1).check("n", n)
        size = len(self)
        if n == 1 or size <= 1:
            return self
        n = min(int(n), size)
        weights = np.ones(size) if self.weights is None else self.weights
        runs = np.lib.stride_tricks.sliding_window_view(weights, n)
        total = runs.sum(axis=1)
        shares = np.where(total[:, np.newaxis] > 0, runs, 1.0)
        shares = shares / shares.sum(axis=1, keepdims=True)
        rows = np.lib.stride_tricks.sliding_window_view(self.vectors, n, axis=0)
        means = np.einsum("rdn,rn->rd", rows, shares, dtype=np.float64)
        said = self.tokens
        words = said and [" ".join(said[i : i + n]) for i in range(len(total))]
        nothing = np.flatnonzero(~means.astype(np.float32).any(axis=1))
        if nothing.size:
            raise ValueError(
                f"The mean of the {n} vectors from token {nothing[0]} on must not be zero; they "
                "cancel out. Pass another n, or remove one of the tokens."
            )
        return type(self)(means, total, words)


TokenDocument: TypeAlias = TokenVectors | NDArray[Any] | HasArray | Sequence[Any]
"""`TokenVectors`, or an array of shape (n_tokens, d)."""
TokenDocuments: TypeAlias = Iterable[TokenDocument]


def _numbers(value: object, name: str, shape: str) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:  # tensors elsewhere, ragged lists
        raise TypeError(
            f"{name} must be an array of numbers of shape {shape}; NumPy cannot convert this "
            f"{type(value).__name__}: {error}"
        ) from error
    if array.dtype.kind not in "fiu":
        raise ParameterTypeError(
            name,
            f"an array of real numbers of shape {shape}",
            f"{type(value).__name__} of dtype {array.dtype}",
        )
    return array


def _checked_vectors(value: object) -> Float32Array:
    array = _numbers(value, "vectors", "(n_tokens, d)")
    if array.shape == (0,):
        array = array.reshape(0, 0)  # without tokens, any dimension is valid
    if array.ndim != 2 or (len(array) and not array.shape[1]):
        raise ValueError(
            f"vectors must have shape (n_tokens, d), one row per token; got {array.shape}. One "
            "token has shape (1, d)."
        )
    with np.errstate(over="ignore"):
        rows = np.ascontiguousarray(array, dtype=np.float32)
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if bad.size:
        raise ValueError(f"vectors must be finite in float32; token {bad[0]} is not finite.")
    zero = np.flatnonzero(~rows.any(axis=1))
    if zero.size:
        raise ValueError(
            f"vectors must not be zero in float32; token {zero[0]} is zero. Remove padding: "
            "vectors[mask]."
        )
    rows = rows.view()  # may share the caller's memory, which stays writable
    rows.flags.writeable = False
    return rows


def _checked_weights(value: object, size: int) -> Float64Array | None:
    if value is None:
        return None
    weights: Float64Array = np.array(_numbers(value, "weights", "(n_tokens,)"), dtype=np.float64)
    if weights.shape != (size,):
        raise ValueError(
            f"weights must have one number for each of the {size} tokens; got shape "
            f"{weights.shape}."
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        raise ValueError(
            f"weights must be finite and not negative; token {wrong[0]} has {weights[wrong[0]]}."
        )
    with np.errstate(over="ignore"):
        if weights.sum() == np.inf:
            raise ValueError("weights must have a finite sum. Divide them by the largest.")
    weights.flags.writeable = False
    return weights


def _checked_tokens(value: object, size: int) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise ParameterTypeError("tokens", "a list of str", type(value).__name__)
    tokens = tuple(value)
    for at, token in enumerate(tokens):
        if not isinstance(token, str):
            raise TypeError(
                f"tokens must be a list of str; token {at} has type {type(token).__name__}."
            )
    if len(tokens) != size:
        raise ValueError(
            f"tokens must have one word for each of the {size} vectors; got {len(tokens)}."
        )
    return tokens


def one_document(document: TokenDocument, name: str) -> TokenVectors:
    """Validate one document of token vectors; an error message uses the argument name `name`."""
    if isinstance(document, TokenVectors):
        return document
    if isinstance(document, str | bytes | Mapping):
        raise ParameterTypeError(
            name,
            "an array of token vectors of shape (n_tokens, d), or TokenVectors",
            type(document).__name__,
        )
    try:
        return TokenVectors(document)
    except (ParameterError, ParameterTypeError) as error:
        raise error.within(name, name) from error
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from error


def many_documents(documents: TokenDocuments, name: str) -> list[TokenVectors]:
    """Validate a list of token-vector documents; an error names the argument and the position."""
    if isinstance(documents, TokenVectors) or getattr(documents, "ndim", 3) == 2:
        raise TypeError(f"{name} must be a list of documents; got one document. Pass a list.")
    if isinstance(documents, str | bytes | Mapping) or not isinstance(documents, Iterable):
        raise ParameterTypeError(
            name,
            "a list of arrays of token vectors, each of shape (n_tokens, d)",
            type(documents).__name__,
        )
    return [one_document(one, f"Document {at} of {name}") for at, one in enumerate(documents)]


# Token numbers are 32-bit integers.
_MOST_TOKENS = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False)
class TokenStack:
    """Token vectors of several documents in one table; each document is a range of rows.

    Attributes
    ----------
    offsets : ndarray of shape (n_documents + 1,), int64
        First token of each document.
    table : ndarray of shape (n_tokens, d), float32
        Vectors of the tokens.
    weights : ndarray of shape (n_tokens,), float64
        Weight of each token in its document.
    """

    offsets: Int64Array
    table: Float32Array
    weights: Float64Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def part(self, row: int) -> "TokenStack":
        """Return one document of the stack as a `TokenStack` that shares its vectors."""
        inside = slice(self.offsets[row], self.offsets[row + 1])
        offsets = self.offsets[row : row + 2] - self.offsets[row]
        return TokenStack(offsets, self.table[inside], self.weights[inside])

    def rows(self, begin: int, n_columns: int) -> DocumentRows:
        """Return the documents as `DocumentRows` whose first token is column `begin` of a table."""
        indices = np.arange(begin, begin + len(self.table), dtype=np.int32)
        return DocumentRows(self.offsets, indices, n_columns, self.weights)

    def compact_rows(self) -> DocumentRows:
        """Return the documents as validated, compact `DocumentRows` over this stack's table."""
        return self.rows(0, len(self.table)).compact("X")

    def queries(self, begin: int) -> DocumentRows:
        """Return the documents as query rows with their own vectors, numbered from `begin`."""
        n_columns = begin + len(self.table)
        refuse_too_many(n_columns)
        return replace(self.rows(begin, n_columns).compact("queries"), points=self.table)

    def followed_by(self, other: "TokenStack") -> Float32Array:
        """Concatenate the token vectors of this stack and of `other` to one array."""
        if not len(self.table):  # the dimension of an empty table is undefined
            return other.table
        if not len(other.table):
            return self.table
        refuse_too_many(len(self.table) + len(other.table), self.table.shape[1])
        return np.concatenate([self.table, other.table])


def stack_tokens(
    documents: TokenDocuments,
    name: str,
    *,
    unit: bool,
    by_norm: bool = False,
    dimension: int | None = None,
) -> TokenStack:
    """Validate documents of token vectors, and concatenate their tokens into a `TokenStack`.

    Parameters
    ----------
    documents : iterable of documents
        Documents; all vectors must have the same dimension.
    name : str
        Name of the documents in messages.
    unit : bool
        Whether to L2-normalize all vectors.
    by_norm : bool, default=False
        Whether to multiply the weight of each token by the length of its vector.
    dimension : int or None, default=None
        Required dimension of the vectors. If None, any dimension.
    """
    read = many_documents(documents, name)
    for position, document in enumerate(read):
        width = document.vectors.shape[1]
        if len(document) and dimension is None:
            dimension = width
        if len(document) and width != dimension:
            raise ValueError(
                f"{name} must have vectors of {dimension} numbers; document {position} has "
                f"vectors of {width} numbers."
            )
    lengths = [len(document) for document in read]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    width = dimension or 0
    refuse_too_many(int(offsets[-1]), width)
    table: Float32Array = np.empty((int(offsets[-1]), width), dtype=np.float32)
    weights = np.ones(len(table))
    for at, (begin, document) in enumerate(zip(offsets.tolist(), read, strict=False)):
        part = slice(begin, begin + len(document))
        if document.weights is not None:
            weights[part] = document.weights
        if len(document):
            rows = document.vectors
            # Computing norms by document makes results of a batch bit-identical.
            norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
            if not (norms.min() > 0 and norms.max() < np.inf):  # False for NaN, too
                raise ValueError(
                    f"The vectors of document {at} of {name} changed after construction and are "
                    "invalid; pass a copy of the array."
                )
            table[part] = rows / norms[:, np.newaxis] if unit else rows
            if by_norm:
                weights[part] = _near_one(weights[part]) * _near_one(norms)
    return TokenStack(offsets, table, weights)


def _near_one(numbers: Float64Array) -> Float64Array:
    """Scale numbers by a power of two so that the largest is below 1, to avoid overflow."""
    return np.asarray(np.ldexp(numbers, -int(np.frexp(numbers.max())[1])))


def refuse_too_many(tokens: int, dimension: int = 0) -> None:
    """Raise if the number of tokens exceeds 32-bit indices, or the memory of the machine."""
    if tokens > _MOST_TOKENS:
        raise ValueError(f"The number of tokens must be at most {_MOST_TOKENS}; got {tokens}.")
    need, there = 4 * tokens * dimension, physical_memory()
    if there is not None and need > there:
        raise MemoryError(
            f"{tokens} tokens of {dimension} numbers require {format_size(need)}, but this machine "
            f"has {format_size(there)}. Pass fewer documents, drop unimportant tokens, "
            "or reduce the dimension."
        )


def physical_memory() -> int | None:
    """Return the size of the machine's main memory in bytes, or None if it is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def totals_of(offsets: Int64Array, weights: ArrayLike) -> Float64Array:
    """Return the sum of the token weights of each document, given the offsets of documents."""
    numbers = np.asarray(weights, dtype=np.float64)
    ends = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    return np.array([numbers[begin:end].sum() for begin, end in ends], dtype=np.float64)


def refuse_empty(documents: _core.Documents, name: str, *, choice: bool) -> None:
    """Raise `EmptyDocumentError` if a document has no token with a positive weight.

    If `choice` is True, the caller can request an infinite distance instead.
    """
    empty = documents.empty_rows().tolist()
    if not empty:
        return
    reason = "it has no tokens of positive weight"
    hint = "Remove it"
    if choice:
        hint += ", or pass empty='inf' for an infinite distance"
    more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
    which = name if name in ("a", "b") else f"{empty[0]}{more} of {name}"
    raise EmptyDocumentError(
        f"Document {which} cannot be compared: {reason}. {hint}.", empty, name, reason
    )
