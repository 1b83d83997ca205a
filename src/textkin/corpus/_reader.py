"""Reader of documents: conversion of texts, tokens, or bags to rows over a vector table."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from textkin import _core
from textkin._base import Float64Array, HasText
from textkin.corpus._rows import DocumentRows, listed
from textkin.corpus._vector_table import VectorTable
from textkin.exceptions import ParameterTypeError
from textkin.run import effective_jobs
from textkin.text import ColumnFinder, Preparation, TermReader, count_rows, split_batches, text_of

__all__ = [
    "Document",
    "is_bag",
    "read_bags",
    "read_documents",
    "read_texts",
    "refuse_unknown",
]

Document: TypeAlias = (
    str | Sequence[str] | HasText | sparse.sparray | sparse.spmatrix | NDArray[np.floating[Any]]
)
"""Text (str or a document object), list of tokens, or one row of bags."""


def is_bag(value: object) -> bool:
    """Return True if a value is a sparse or numeric matrix of word counts, not texts or tokens."""
    return sparse.issparse(value) or (isinstance(value, np.ndarray) and value.dtype.kind in "fiub")


def read_documents(
    X: Any,  # noqa: ANN401 (texts, tokens or any kind of bags)
    name: str,
    table: VectorTable,
    weights: Float64Array | None,
    preparation: Callable[[], Preparation],
    max_words: int | None,
    n_jobs: int | None,
    owner: str,
) -> DocumentRows:
    """Convert texts, token lists, or bags to rows of word counts over a table of word vectors.

    Parameters
    ----------
    X : iterable of texts or token lists, or bags
        Documents. Texts require vectors with words; bags require a matrix.
    name : str
        Name of the documents in messages.
    table : VectorTable
        Word vectors.
    weights : ndarray of shape (n_columns,), float64, or None
        Factor of the counts of each column. If None, 1.
    preparation : callable
        Function that returns the analyzer of texts; not called for bags.
    max_words : int or None
        Maximum number of distinct words per document. If None, no limit.
    n_jobs : int or None
        Number of threads for texts. If None, 1; if -1, all cores.
    owner : str
        Name of the estimator in messages.

    Returns
    -------
    DocumentRows
        One row per document, with its unknown words.

    Raises
    ------
    TypeError
        If `X` has a type that does not fit the vectors.
    """
    if is_bag(X):
        if table.lookup is not None:
            raise TypeError(
                f"{name} is a document-term matrix, but the vectors are named by words. Align "
                f"them: pass {owner}(vectors.align(vocabulary)), a matrix with one row for "
                "each column."
            )
        return read_bags(X, table, weights, name)
    if isinstance(X, str):
        raise TypeError(f"{name} must be a list of documents; got one text. Pass a list.")
    if isinstance(X, bytes | bytearray):
        raise ParameterTypeError(name, "texts", f"{type(X).__name__}: decode it first")
    if hasattr(X, "columns") and hasattr(X, "iloc"):  # iterating a DataFrame gives column names
        raise ParameterTypeError(
            name,
            "a list of documents",
            f"{type(X).__name__}: pass a column of texts, such as df['text'], or textkin.read(df)",
        )
    if isinstance(X, Mapping):
        raise ParameterTypeError(name, "a list of documents", type(X).__name__)
    if not isinstance(X, Iterable):
        raise ParameterTypeError(name, "texts, lists of tokens or bags", type(X).__name__)
    if table.lookup is None:
        raise TypeError(
            f"{name} must be bags with one column for each row of the vectors, because they are "
            f"a matrix without words. For texts, pass {owner}(WordVectors(words, matrix))."
        )
    n_threads = effective_jobs(n_jobs)
    return read_texts(X, table, weights, preparation(), max_words, name, n_threads)


def read_bags(
    bags: Any,  # noqa: ANN401 (any sparse kind)
    table: VectorTable,
    weights: Float64Array | None,
    name: str,
) -> DocumentRows:
    """Convert bags, whose columns are the rows of a vector table, to `DocumentRows`."""
    if not sparse.issparse(bags):
        bags = sparse.csr_array(np.atleast_2d(bags))
    if bags.ndim == 1:
        bags = bags.reshape((1, -1))
    if bags.format != "csr":
        bags = bags.tocsr()
    if bags.shape[1] != len(table.vectors):
        raise ValueError(
            f"{name} must have {len(table.vectors)} columns, one for each row of the vectors; got "
            f"{bags.shape[1]}."
        )
    if bags.dtype.kind not in "fiub":
        raise ValueError(f"{name} must contain real numbers; got dtype {bags.dtype}.")
    if not bags.has_canonical_format:
        bags = bags.copy()
        bags.sum_duplicates()
    indptr = bags.indptr.astype(np.int64)
    indices = bags.indices.astype(np.int32, copy=False)
    counts = bags.data.astype(np.float64)
    if table.known is None:
        return DocumentRows(indptr, indices, len(table.vectors), counts, weights)
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    wrong = ~(np.isfinite(counts) & (counts >= 0))
    kept = table.known[indices] | wrong  # invalid counts are reported by a later check
    unknown: tuple[dict[str, float], ...] = tuple({} for _ in range(len(indptr) - 1))
    for row, column, count in zip(
        rows[~kept].tolist(), indices[~kept].tolist(), counts[~kept].tolist(), strict=True
    ):
        if count > 0:
            unknown[row][table.name(column)] = count
    lengths = np.bincount(rows[kept], minlength=len(unknown))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    kept_counts = counts[kept]
    return DocumentRows(
        indptr, indices[kept], len(table.vectors), kept_counts, weights, unknown=unknown
    )


def read_texts(
    texts: Iterable[str | Sequence[str] | HasText],
    table: VectorTable,
    weights: Float64Array | None,
    prepared: Preparation,
    max_words: int | None,
    name: str,
    n_threads: int = 1,
) -> DocumentRows:
    """Tokenize texts, or take token lists unchanged, and count their words as `DocumentRows`."""
    assert table.lookup is not None, "texts need named vectors"
    reader = TermReader(prepared, n_threads=n_threads)
    documents = split_batches(_checked(texts, name), n_threads)
    blocks = (_terms(batch, reader).count(1) for batch in documents)
    counted = count_rows(blocks, ColumnFinder(table.lookup, reader), max_words)
    offsets, columns, counts = counted.known
    return DocumentRows(
        offsets,
        columns,
        len(table.vectors),
        counts.astype(np.float64),
        weights,
        unknown=counted.unknown,
        cut=counted.cut,
    )


def refuse_unknown(rows: DocumentRows, name: str) -> None:
    """Raise ValueError for the first document that has a word without a vector."""
    for row, unknown in enumerate(rows.unknown):
        if unknown:
            raise ValueError(
                f"Document {row} of {name} has words without a vector: {listed(unknown)}. Pass "
                "oov='drop' to drop them, or load vectors for these words."
            )


def _terms(batch: Sequence[str | Sequence[str]], reader: TermReader) -> _core.TokenBlock:
    texts = [document for document in batch if isinstance(document, str)]
    if len(texts) == len(batch):
        return reader.read(texts)
    tokens = [
        reader.words(document) if isinstance(document, str) else document for document in batch
    ]
    return reader.terms.read_words(tokens)


def _checked(
    texts: Iterable[str | Sequence[str] | HasText], name: str
) -> Iterator[str | Sequence[str]]:
    for position, given in enumerate(texts):
        text = text_of(given)
        if not (isinstance(text, str) or _are_tokens(text)):
            raise TypeError(
                f"{name} must contain texts or lists of tokens; position {position} has type "
                f"{type(text).__name__}."
            )
        yield text


def _are_tokens(value: object) -> TypeGuard[Sequence[str]]:
    if isinstance(value, bytes | bytearray):
        return False
    return isinstance(value, Sequence) and all(isinstance(token, str) for token in value)
