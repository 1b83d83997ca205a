"""Documents of token vectors one after another: the form in which the core compares them."""

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from textkin import _core
from textkin._typing import Float32Array, Float64Array, Int64Array
from textkin.exceptions import EmptyDocumentError
from textkin.run._memory import size_in_words
from textkin.transport._corpus import Rows
from textkin.transport._token_vectors import TokenDocuments, many_documents
from textkin.vectors._encode import Encoded

__all__ = ["Stack", "physical_memory", "refuse_empty", "refuse_too_many", "stacked", "totals_of"]

# Tokens are numbered in 32 bits.
_MOST_TOKENS = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """Documents one after another: the tokens are the rows of a table, a document a range of them.

    Attributes
    ----------
    offsets : ndarray of shape (n_documents + 1,), int64
        Where each document begins.
    table : ndarray of shape (n_tokens, d), float32
        The vectors.
    weights : ndarray of shape (n_tokens,), float64
        How much each token counts in its document.
    """

    offsets: Int64Array
    table: Float32Array
    weights: Float64Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def part(self, row: int) -> "Stack":
        """Return one of the documents, without copying its vectors."""
        inside = slice(self.offsets[row], self.offsets[row + 1])
        offsets = self.offsets[row : row + 2] - self.offsets[row]
        return Stack(offsets, self.table[inside], self.weights[inside])

    def encoded(self, begin: int, columns: int) -> Encoded:
        """Return rows over a table of so many rows, in which our tokens begin at `begin`."""
        words = np.arange(begin, begin + len(self.table), dtype=np.int32)
        return Encoded(self.offsets, words, self.weights, columns, ())

    def rows(self) -> Rows:
        """Return what a search keeps of the documents, whose table is ours."""
        return Rows.of(self.encoded(0, len(self.table)), "X")

    def points(self, begin: int) -> Rows:
        """Return the documents as queries that bring their points, numbered from `begin` on."""
        refuse_too_many(begin + len(self.table))
        rows = Rows.of(self.encoded(begin, begin + len(self.table)), "queries")
        return Rows(rows.indptr, rows.words, rows.counts, self.table)

    def followed_by(self, other: "Stack") -> Float32Array:
        """Return the vectors of both, those of `other` after ours."""
        if not len(self.table):  # its vectors have no length
            return other.table
        if not len(other.table):
            return self.table
        refuse_too_many(len(self.table) + len(other.table), self.table.shape[1])
        return np.concatenate([self.table, other.table])


def stacked(
    documents: TokenDocuments,
    name: str,
    *,
    unit: bool,
    by_norm: bool = False,
    dimension: int | None = None,
) -> Stack:
    """Read documents, and put their tokens one after another.

    Parameters
    ----------
    documents : iterable of documents
        What to read; all of one length of vectors.
    name : str
        How to call them in messages.
    unit : bool
        Bring all vectors to length one.
    by_norm : bool, default=False
        Multiply the weight of each token with the length that its vector came with.
    dimension : int or None, default=None
        The length that vectors must have.
    """
    read = many_documents(documents, name)
    for position, document in enumerate(read):
        width = document.vectors.shape[1]
        if len(document) and dimension is None:
            dimension = width
        if len(document) and width != dimension:
            raise ValueError(
                f"{name} must hold vectors of {dimension} numbers, as the others are; those of "
                f"document {position} have {width}."
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
            # By document, so that a batch gives the same bits.
            norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
            if not (norms.min() > 0 and norms.max() < np.inf):  # NaN is neither
                raise ValueError(
                    f"The vectors of document {at} of {name} were sound, and are "
                    "not now: the array that they were made of has changed. Give a copy of it."
                )
            table[part] = rows / norms[:, np.newaxis] if unit else rows
            if by_norm:
                weights[part] = _near_one(weights[part]) * _near_one(norms)
    return Stack(offsets, table, weights)


def _near_one(numbers: Float64Array) -> Float64Array:
    """Scale by a power of two, which changes no digit: no product is then too large or small."""
    return np.asarray(np.ldexp(numbers, -int(np.frexp(numbers.max())[1])))


def refuse_too_many(tokens: int, dimension: int = 0) -> None:
    """Raise where tokens cannot be numbered, or memory be had; before it is asked for."""
    if tokens > _MOST_TOKENS:
        raise ValueError(f"There may be at most {_MOST_TOKENS} tokens; got {tokens}.")
    need, there = 4 * tokens * dimension, physical_memory()
    if there is not None and need > there:
        raise MemoryError(
            f"{tokens} tokens of {dimension} numbers take {size_in_words(need)}, and this machine "
            f"has {size_in_words(there)}. Take fewer documents, drop tokens that matter little, "
            "or cut the vectors to fewer numbers."
        )


def physical_memory() -> int | None:
    """Return how many bytes of memory the machine has; None where it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def totals_of(offsets: Int64Array, weights: ArrayLike) -> Float64Array:
    """Return the sum of the weights of each document."""
    numbers = np.asarray(weights, dtype=np.float64)
    ends = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    return np.array([numbers[begin:end].sum() for begin, end in ends], dtype=np.float64)


def refuse_empty(documents: _core.Documents, name: str, *, choice: bool) -> None:
    """Raise for documents that have nothing to compare; `choice`: infinity may be chosen."""
    empty = documents.empty_rows().tolist()
    if not empty:
        return
    reason = "it has no tokens, or only such as weigh nothing"
    way_out = "Leave it out"
    if choice:
        way_out += ", or pass empty='inf' for an infinite distance"
    more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
    which = name if name in ("a", "b") else f"{empty[0]}{more} of {name}"
    raise EmptyDocumentError(
        f"Document {which} cannot be compared: {reason}. {way_out}.", empty, name, reason
    )
