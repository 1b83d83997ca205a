"""Documents of any accepted kind, brought into the form that the core works on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from textkin import _core
from textkin._typing import Float64Array, HasText, Int32Array, Int64Array
from textkin.text._counting import ColumnFinder, counted_rows
from textkin.text._terms import Preparation, TermReader, batches
from textkin.text._tokenise import text_of
from textkin.vectors._space import Space

__all__ = [
    "Coverage",
    "Document",
    "Encoded",
    "is_bag",
    "listed",
    "refuse_unknown",
    "rows_of_bags",
    "rows_of_texts",
    "shares",
]

Document: TypeAlias = (
    str | Sequence[str] | HasText | sparse.sparray | sparse.spmatrix | NDArray[np.floating[Any]]
)
"""A text (as a str, or a document that was read), a list of tokens, or one row of bags."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a document takes part: its words that have vectors and were not cut.

    Attributes
    ----------
    known : float
        Tokens (or weight of a bag) that take part.
    total : float
        All of them, stop words aside.
    unknown : mapping of str to float
        The words without a vector and how often they occur.
    cut : mapping of str to float
        The words that `max_words_per_document` left out and how often they occur.
    """

    known: float
    total: float
    unknown: Mapping[str, float]
    cut: Mapping[str, float] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """Known over total, 0 to 1; 0 for a document without words."""
        return self.known / self.total if self.total > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types."""
        return {
            "share": self.share,
            "known": self.known,
            "total": self.total,
            "unknown": dict(self.unknown),
            "cut": dict(self.cut),
        }

    def __str__(self) -> str:
        share = f"{100 * self.share:.0f} %"
        parts = [
            f"{what}: {listed(words)}"
            for what, words in (("unknown", self.unknown), ("cut", self.cut))
            if words
        ]
        return f"{share} ({'; '.join(parts)})" if parts else share


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Rows of word weights over the vector table.

    Attributes
    ----------
    indptr, indices, counts : ndarray
        CSR: int64, int32 and float64.
    columns : int
        The number of rows of the vector table.
    unknown : sequence of dict
        For each row, the words without a vector and how often they occur; () if all have one.
    word_weights : ndarray of shape (columns,), float64, or None
        What counts are multiplied by; None is 1.
    cut : sequence of dict
        For each row, the words that a limit left out and how often they occur; () if none is.
    """

    indptr: Int64Array
    indices: Int32Array
    counts: Float64Array
    columns: int
    unknown: Sequence[Mapping[str, float]]
    word_weights: Float64Array | None = None
    cut: Sequence[Mapping[str, float]] = ()

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def documents(self) -> _core.Documents:
        """Return the rows as the core holds them."""
        weights = self.counts
        if self.word_weights is not None:
            weights = weights * self.word_weights[self.indices]
        return _core.Documents(self.indptr, self.indices, weights, self.columns)

    def coverage(self, row: int) -> Coverage:
        """Return how much of a row has vectors."""
        unknown = self.unknown[row] if self.unknown else {}
        cut = self.cut[row] if self.cut else {}
        known = float(self.counts[self._part(row)].sum())
        total = known + sum(unknown.values()) + sum(cut.values())
        return Coverage(known, total, unknown, cut)

    def masses(self, row: int, words: Int32Array) -> Float64Array:
        """Return the share of each of `words` (ascending) in the weight of a row."""
        indices, weights = self.indices[self._part(row)], self.counts[self._part(row)]
        if self.word_weights is not None:
            weights = weights * self.word_weights[indices]
        return np.asarray(shares(weights)[np.searchsorted(indices, words)])

    def _part(self, row: int) -> slice:
        return slice(self.indptr[row], self.indptr[row + 1])


def listed(words: Iterable[str], limit: int = 5) -> str:
    """Return the first few words, quoted, and how many there are more."""
    shown = [repr(word) for word in words]
    more = f" and {len(shown) - limit} more" if len(shown) > limit else ""
    return ", ".join(shown[:limit]) + more


def shares(weights: Float64Array) -> Float64Array:
    """Divide weights by their sum; by the largest first, so that no sum overflows or vanishes."""
    weights = weights / weights.max()
    return np.asarray(weights / weights.sum())


def is_bag(value: object) -> bool:
    """Tell bags, sparse or dense, from texts."""
    return sparse.issparse(value) or (isinstance(value, np.ndarray) and value.dtype.kind in "fiub")


def rows_of_bags(
    bags: Any,  # noqa: ANN401 (any sparse kind)
    space: Space,
    word_weights: Float64Array | None,
    name: str,
) -> Encoded:
    """Encode bags whose columns are the rows of the vector table."""
    if not sparse.issparse(bags):
        bags = sparse.csr_array(np.atleast_2d(bags))
    if bags.ndim == 1:
        bags = bags.reshape((1, -1))
    if bags.format != "csr":
        bags = bags.tocsr()
    if bags.shape[1] != len(space):
        raise ValueError(
            f"{name} must have {len(space)} columns, one for each row of the vectors; got "
            f"{bags.shape[1]}."
        )
    if bags.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers; got dtype {bags.dtype}.")
    if not bags.has_canonical_format:
        bags = bags.copy()
        bags.sum_duplicates()
    indptr = bags.indptr.astype(np.int64)
    indices = bags.indices.astype(np.int32, copy=False)
    weights = bags.data.astype(np.float64)
    if space.known is None:
        return Encoded(indptr, indices, weights, len(space), (), word_weights)
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    kept = space.known[indices] | wrong  # what is wrong must reach the check
    unknown: tuple[dict[str, float], ...] = tuple({} for _ in range(len(indptr) - 1))
    for row, column, weight in zip(
        rows[~kept].tolist(), indices[~kept].tolist(), weights[~kept].tolist(), strict=True
    ):
        if weight > 0:
            unknown[row][space.name(column)] = weight
    lengths = np.bincount(rows[kept], minlength=len(unknown))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Encoded(indptr, indices[kept], weights[kept], len(space), unknown, word_weights)


def rows_of_texts(
    texts: Iterable[str | Sequence[str] | HasText],
    space: Space,
    word_weights: Float64Array | None,
    prepared: Preparation,
    max_words: int | None,
    name: str,
    n_threads: int = 1,
) -> Encoded:
    """Tokenise texts (lists of tokens are taken as they are) and count their words."""
    assert space.lookup is not None, "texts need named vectors"
    reader = TermReader(prepared, n_threads=n_threads)
    documents = batches(_checked(texts, name), n_threads)
    blocks = (_terms(batch, reader).count(1) for batch in documents)
    counted = counted_rows(blocks, ColumnFinder(space.lookup, reader), max_words)
    offsets, columns, counts = counted.known
    return Encoded(
        offsets,
        columns,
        counts.astype(np.float64),
        len(space),
        counted.unknown,
        word_weights,
        counted.cut,
    )


def refuse_unknown(encoded: Encoded, name: str) -> None:
    """Raise for the first document with a word that has no vector."""
    for row, unknown in enumerate(encoded.unknown):
        if unknown:
            raise ValueError(
                f"Document {row} of {name} has words without a vector: {listed(unknown)}. Pass "
                "oov='drop' to leave them out, or load vectors that have them."
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
                f"{name} must hold texts or lists of tokens; position {position} holds "
                f"{type(text).__name__}."
            )
        yield text


def _are_tokens(value: object) -> TypeGuard[Sequence[str]]:
    if isinstance(value, bytes | bytearray):
        return False
    return isinstance(value, Sequence) and all(isinstance(token, str) for token in value)
