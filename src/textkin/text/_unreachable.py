"""Words of a given vocabulary that no text can have."""

import warnings
from collections.abc import Collection

import numpy as np

from textkin.exceptions import VocabularyWarning
from textkin.text._terms import Preparation, TermReader
from textkin.text._vocabulary import Vocabulary

__all__ = ["warn_of_unreachable"]


def warn_of_unreachable(vocabulary: Collection[str], prepared: Preparation) -> None:
    """Warn if there are words that are read as others: with capitals, or not in normal form.

    Stop words and words of several tokens are left out of it: a list that serves several ends,
    such as the words of some vectors, has them. So are lookups that find other spellings, and
    tokenisers of the user, for which a word may depend on those around it.
    """
    is_exact = isinstance(vocabulary, Vocabulary) or not hasattr(vocabulary, "lookup")
    if prepared.split is not None or not is_exact or isinstance(vocabulary, str):
        return
    words = [word for word in vocabulary if isinstance(word, str)]
    reader = TermReader(prepared)
    terms, offsets = reader.read(words).arrays()
    own, _ = reader.terms.read_words([[word] for word in words]).arrays()
    single = np.flatnonzero(np.diff(offsets) == 1)
    lost = single[terms[offsets[single]] != own[single]]
    if len(lost):
        as_read = reader.terms.words_at(terms[offsets[lost[:3]]])
        shown = ", ".join(
            f"{words[i]!r} ({read!r})" for i, read in zip(lost[:3], as_read, strict=True)
        )
        warnings.warn(
            f"{len(lost)} of {len(words)} words of vocabulary are never counted, because texts "
            f"are read with other spellings: {shown}{', ...' if len(lost) > 3 else ''}. Look at "
            "lowercase and normalize.",
            VocabularyWarning,
            stacklevel=4,
        )
