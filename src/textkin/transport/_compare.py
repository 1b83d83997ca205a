"""Two documents compared in one call."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textkin.text._stop_words import StopWords
from textkin.transport._comparison import Comparison
from textkin.transport._costs import CostName
from textkin.transport._masses import Masses
from textkin.transport._mover import WordMover
from textkin.vectors import WordVectors
from textkin.vectors._encode import Document

__all__ = ["compare"]


def compare(
    a: Document,
    b: Document,
    *,
    vectors: WordVectors | NDArray[np.floating[Any]] | None = None,
    masses: Masses = "nbow",
    cost: CostName = "euclidean",
    unit: bool = False,
    stop_words: StopWords = "smart",
    words: Sequence[str] | None = None,
) -> Comparison:
    """Compare two documents: how near they are, and why.

    Parameters
    ----------
    a, b : str, list of str, or one row of bags
        The documents.
    vectors, masses, cost, unit, stop_words
        As in `WordMover`. Masses that are learnt from a corpus need one: fit a `WordMover` and
        call its `explain`.
    words : sequence of str, optional
        Names of the columns of bags.

    Returns
    -------
    Comparison
        The exact Word Mover's Distance with its flow, bounds, coverage and proof. It draws itself
        in a terminal and, as a picture, in a notebook.

    Raises
    ------
    EmptyDocumentError
        If a document has no word with a vector.
    ValueError
        If the masses need a corpus.

    See Also
    --------
    WordMover : Distances of many documents.

    References
    ----------
    Kusner, Sun, Kolkin and Weinberger, "From Word Embeddings To Document Distances", ICML 2015.

    Examples
    --------
    >>> import textkin as tk
    >>> found = tk.compare("Obama speaks to the media", "The President greets the press")
    >>> round(found.distance, 3), found.moves[0].source, found.moves[0].target
    (5.02, 'obama', 'president')
    """
    if isinstance(masses, str) and masses == "tfidf":
        raise ValueError(
            "masses='tfidf' needs a corpus, which compare has not: call "
            "WordMover(masses='tfidf').fit(corpus).explain(a, b)."
        )
    mover = WordMover(vectors, masses=masses, cost=cost, unit=unit, stop_words=stop_words)
    return mover.explain(a, b, words=words)
