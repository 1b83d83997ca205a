"""Documents as numbered words, in their order."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from textkin._typing import Int32Array, Int64Array, WordLookup

__all__ = ["Tokens"]


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Documents as columns of a vocabulary, one for each token, in the order of the text.

    What models that need the order of words take: training of word and paragraph vectors, edit
    distances.

    Attributes
    ----------
    ids : ndarray of shape (n_tokens,), int32
        The column of each token; -1 for one without a column, where these were kept.
    offsets : ndarray of shape (n_documents + 1,), int64
        Document d has the tokens from ``offsets[d]`` to ``offsets[d + 1]``.
    vocabulary : Vocabulary or another word lookup
        Names the columns.

    See Also
    --------
    BagOfWords.tokens : Makes them.

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
        """Return the words of a document; None for a token without a column.

        Parameters
        ----------
        document : int
            Its position.

        Returns
        -------
        list of str
            As the vocabulary names them.
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
