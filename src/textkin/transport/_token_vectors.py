"""Documents as arrays of token vectors from any encoder: what they are, and their checks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from textkin._typing import Float32Array, Float64Array
from textkin._validation import integer
from textkin.explain._words import clean

__all__ = ["TokenDocument", "TokenDocuments", "TokenVectors", "many_documents", "one_document"]


class HasArray(Protocol):
    """An array of another library, such as a tensor on the CPU."""

    def __array__(self) -> NDArray[Any]:
        """Return it as an array of NumPy."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """A document as the vectors of its tokens, from any encoder.

    Parameters
    ----------
    vectors : array-like of shape (n_tokens, d)
        A row a token; float16, float32, float64, whole numbers, or anything that NumPy reads,
        such as a tensor on the CPU. Kept as float32. Finite, and no row of zeros: leave padding
        out. No tokens at all is an empty document.
    weights : array-like of shape (n_tokens,), or None, default=None
        How much each token counts, at least 0; None is 1. A token that weighs nothing takes no
        part.
    tokens : sequence of str of length n_tokens, or None, default=None
        How the tokens read: for explanations, and for `TokenIdf`.

    See Also
    --------
    TokenMover : Exact distances of such documents.

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
        """Return the same tokens with their weights multiplied."""
        ours = weights if self.weights is None else self.weights * weights
        return type(self)(self.vectors, ours, self.tokens)

    def ngrams(self, n: int) -> Self:
        r"""Return the runs of n neighbouring tokens as tokens, as MoverScore does.

        Parameters
        ----------
        n : int
            Tokens in a run; a document of fewer is one run. 1 gives the document itself.

        Returns
        -------
        TokenVectors
            Of the run from i on, the mean :math:`\sum_k w_k x_k / \sum_k w_k` of its vectors (the
            plain one where all weigh nothing), the weight :math:`\sum_k w_k`, and its words.

        Raises
        ------
        ValueError
            If the vectors of a run cancel out.

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
                f"The vectors of the {n} tokens from token {nothing[0]} on cancel out: their mean "
                "is zero, and has no direction. Take another n, or leave one of them out."
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
            f"{name} must be an array of numbers of shape {shape}; NumPy cannot read this "
            f"{type(value).__name__}: {error}"
        ) from error
    if array.dtype.kind not in "fiu":
        raise TypeError(
            f"{name} must be an array of real numbers of shape {shape}; got "
            f"{type(value).__name__} of dtype {array.dtype}."
        )
    return array


def _checked_vectors(value: object) -> Float32Array:
    array = _numbers(value, "vectors", "(n_tokens, d)")
    if array.shape == (0,):
        array = array.reshape(0, 0)  # no tokens, of whatever length
    if array.ndim != 2 or (len(array) and not array.shape[1]):
        raise ValueError(
            f"vectors must have shape (n_tokens, d), a row a token; got {array.shape}. A single "
            "token has shape (1, d)."
        )
    with np.errstate(over="ignore"):
        rows = np.ascontiguousarray(array, dtype=np.float32)
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if bad.size:
        raise ValueError(f"vectors must be finite in float32; that of token {bad[0]} is not.")
    zero = np.flatnonzero(~rows.any(axis=1))
    if zero.size:
        raise ValueError(
            f"vectors must not be zero in float32; that of token {zero[0]} is. Leave padding out: "
            "vectors[mask]."
        )
    rows = rows.view()  # may share the caller's memory, which stays writeable
    rows.flags.writeable = False
    return rows


def _checked_weights(value: object, size: int) -> Float64Array | None:
    if value is None:
        return None
    weights: Float64Array = np.array(_numbers(value, "weights", "(n_tokens,)"), dtype=np.float64)
    if weights.shape != (size,):
        raise ValueError(
            f"weights must have a number for each of the {size} tokens; got shape {weights.shape}."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("weights must be finite and not negative.")
    with np.errstate(over="ignore"):
        if weights.sum() == np.inf:
            raise ValueError("weights must have a finite sum. Divide them by the largest.")
    weights.flags.writeable = False
    return weights


def _checked_tokens(value: object, size: int) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise TypeError(f"tokens must be a list of str; got {type(value).__name__}.")
    tokens = tuple(value)
    if not all(isinstance(token, str) for token in tokens):
        raise TypeError("tokens must be a list of str.")
    if len(tokens) != size:
        raise ValueError(
            f"tokens must have a word for each of the {size} vectors; got {len(tokens)}."
        )
    return tokens


def one_document(document: TokenDocument, name: str) -> TokenVectors:
    """Read one document; say by `name` which one it is that cannot be read."""
    if isinstance(document, TokenVectors):
        return document
    if isinstance(document, str | bytes | Mapping):
        raise TypeError(
            f"{name} must be an array of token vectors of shape (n_tokens, d), or TokenVectors; "
            f"got {type(document).__name__}."
        )
    try:
        return TokenVectors(document)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from error


def many_documents(documents: TokenDocuments, name: str) -> list[TokenVectors]:
    """Read documents; say by `name` and position which one it is that cannot be read."""
    if isinstance(documents, TokenVectors) or getattr(documents, "ndim", 3) == 2:
        raise TypeError(f"{name} must hold many documents; got one. Put it in a list.")
    if isinstance(documents, str | bytes | Mapping) or not isinstance(documents, Iterable):
        raise TypeError(
            f"{name} must be a list of arrays of token vectors, each of shape (n_tokens, d); got "
            f"{type(documents).__name__}."
        )
    return [one_document(one, f"Document {at} of {name}") for at, one in enumerate(documents)]
