"""`Tokens`: documents as sequences of word IDs in text order."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from textkin._base import Int32Array, Int64Array, WordLookup

__all__ = ["Tokens"]


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Documents as sequences of vocabulary columns, one per token, in text order.

    This is the input of models that depend on word order, such as the training of word and
    paragraph vectors, and edit distances.

    Attributes
    ----------
    ids : ndarray of shape (n_tokens,), int32
        Column of each token; -1 for kept tokens without a column.
    offsets : ndarray of shape (n_documents + 1,), int64
        Document d has the tokens ``ids[offsets[d]:offsets[d + 1]]``.
    vocabulary : Vocabulary or another word lookup
        Names of the columns.

    See Also
    --------
    BagOfWords.tokens : Make `Tokens` from texts.

    Examples
    --------
    >>> from textkin.text import BagOfWords
    >>> tokens = BagOfWords().fit(["the press speaks"]).tokens(["speaks the press, speaks"])
    >>> tokens[0], tokens.words(0)
    (array([1, 0, 1], dtype=int32), ['speaks', 'press', 'speaks'])
    """

    ids: Int32Array
    offsets: Int64Array
    vocabulary: WordLookup

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, document: int) -> Int32Array:
        document = range(len(self))[document]
        return self.ids[self.offsets[document] : self.offsets[document + 1]]

    def __iter__(self) -> Iterator[Int32Array]:
        return (self[document] for document in range(len(self)))

    def words(self, document: int) -> list[str | None]:
        """Return the words of one document in order, with None for unknown words.

        Parameters
        ----------
        document : int
            Position of the document.

        Returns
        -------
        list of str
            Words in the spelling of the vocabulary.
        """
        names = self.vocabulary.words
        return [names[column] if column >= 0 else None for column in self[document].tolist()]

    def lengths(self) -> Int64Array:
        """Return the number of tokens of each document.

        Returns
        -------
        ndarray of shape (n_documents,), int64
            Numbers of tokens.
        """
        return np.diff(self.offsets)

    def __repr__(self) -> str:
        return f"Tokens({len(self)} documents, {len(self.ids)} tokens)"
