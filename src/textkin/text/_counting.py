"""From tokens to bags."""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from textkin._typing import Bags, WordLookup
from textkin._validation import integer, one_of

__all__ = ["MAX_WORDS", "Counted", "count_words"]

MAX_WORDS = one_of(None) | integer(1)
"""What `max_words_per_document` may be."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Documents as bags, and the words that found no column.

    Attributes
    ----------
    bags : csr_array of shape (n_documents, n_columns), float32
        How often each word occurs in each document; int32 indices, sorted, no explicit zeros.
    unknown : tuple of dict
        For each document the words without a column and how often they occur, in the order of
        the document.

    Examples
    --------
    >>> from textkin.text import Vocabulary
    >>> counted = count_words([["a", "b", "a"]], Vocabulary(["a"]))
    >>> counted.bags.toarray(), counted.unknown
    (array([[2.]], dtype=float32), ({'b': 1},))
    """

    bags: Bags
    unknown: tuple[dict[str, int], ...]


def count_words(
    documents: Iterable[Sequence[str]],
    columns: WordLookup,
    *,
    max_words_per_document: int | None = None,
) -> Counted:
    """Count the words of each document into the columns of a vocabulary.

    Parameters
    ----------
    documents : iterable of sequences of str
        The tokens of each document.
    columns : Vocabulary, WordVectors or another word lookup
        Finds the column of a word. Several words may share one, such as ``Press`` and
        ``press``: their counts are added.
    max_words_per_document : int or None, default=None
        Keep only this many columns of each document, the most frequent ones; among equals the
        first in the document. Unknown words do not count towards it.

    Returns
    -------
    Counted
        The bags, and the words that found no column.

    Raises
    ------
    TypeError
        If a document is a str instead of a list of words.

    See Also
    --------
    BagOfWords : Count the words of texts.

    Notes
    -----
    Entry (d, w) is n(d, w), the number of times word w occurs in document d. The cap is that of
    the 20NEWS experiments of the Word Mover's Distance, 500 words a document. The time is linear
    in the number of tokens; each distinct word is looked up once.

    References
    ----------
    Kusner, Sun, Kolkin and Weinberger, "From Word Embeddings To Document Distances", ICML 2015,
    sections 3 and 5.

    Examples
    --------
    >>> from textkin.text import Vocabulary
    >>> documents = [["a", "b", "a", "c", "b", "a", "d"], []]
    >>> counted = count_words(documents, Vocabulary(["a", "b", "c"]))
    >>> counted.bags.toarray()
    array([[3., 2., 1.],
           [0., 0., 0.]], dtype=float32)
    >>> counted.unknown
    ({'d': 1}, {})
    >>> capped = count_words(documents, Vocabulary(["a", "b", "c"]), max_words_per_document=2)
    >>> capped.bags.toarray()[0]
    array([3., 2., 0.], dtype=float32)
    """
    MAX_WORDS.check("max_words_per_document", max_words_per_document)
    column_of: dict[str, int] = {}
    data, indices, indptr = array("f"), array("i"), array("i", [0])
    unknown: list[dict[str, int]] = []
    for position, document in enumerate(documents):
        if isinstance(document, str):
            raise TypeError(
                f"documents must be lists of words; position {position} holds a str. "
                "Split it with tokenize, or count texts with BagOfWords."
            )
        counts = Counter(document)
        new = [word for word in counts if word not in column_of]
        if new:
            column_of.update(zip(new, columns.lookup(new).tolist(), strict=True))
        row: dict[int, int] = {}  # in the order of first positions, as Counter keeps it
        missing: dict[str, int] = {}
        for word, count in counts.items():
            column = column_of[word]
            if column < 0:
                missing[word] = count
            else:
                row[column] = row.get(column, 0) + count
        if max_words_per_document is not None and len(row) > max_words_per_document:
            row = dict(Counter(row).most_common(max_words_per_document))  # equals stay in order
        kept = sorted(row)
        indices.extend(kept)
        data.extend([row[column] for column in kept])
        indptr.append(len(indices))
        unknown.append(missing)
    bags: Bags = sparse.csr_array(
        (np.array(data, np.float32), np.array(indices, np.int32), np.array(indptr, np.int32)),
        shape=(len(unknown), len(columns)),
    )
    return Counted(bags, tuple(unknown))
