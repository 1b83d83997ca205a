"""Snowball stemming."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from textkin.text._extras import import_extra
from textkin.text._tokenise import described

__all__ = ["Stemmer"]


@dataclass(frozen=True, slots=True)
class Stemmer:
    """Cut words down to their stems by the rules of Snowball; needs the extra ``stem``.

    A stem is the same for most forms of a word and need not be a word itself: ``happily`` and
    ``happiness`` give ``happili`` and ``happi``. Use it to count words of running text; do not
    stem before looking words up in word vectors, which know words and no stems.

    Parameters
    ----------
    language : str, default="english"
        An algorithm of PyStemmer, by its name there: ``english`` (also called Porter2),
        ``porter`` (as published in 1980), ``german``, ``french``, ``russian`` and others.

    Raises
    ------
    ValueError
        If PyStemmer has no such algorithm; the names are in the message.
    ImportError
        If PyStemmer is not installed.

    See Also
    --------
    Lemmatizer : Words of the dictionary instead of stems.
    word_normalizer : Choose by name.

    Notes
    -----
    Stemmers are equal if their languages are, can be pickled, and can be called from many
    threads. The rules expect lower case. They give a word of any kind back without error; one
    that they do not know how to shorten stays as it is. One or two microseconds a word.

    References
    ----------
    Porter, "An algorithm for suffix stripping", Program 14(3), 1980, and "Snowball: a language
    for stemming algorithms", 2001.

    Examples
    --------
    >>> stem = Stemmer()
    >>> [stem(word) for word in ("thinkings", "thinking", "thinks", "children's")]
    ['think', 'think', 'think', 'children']
    """

    language: str = "english"

    def __post_init__(self) -> None:
        names = _stemmers().algorithms()
        if self.language not in names:
            raise ValueError(
                f"language must be an algorithm of PyStemmer; got {self.language!r}. "
                f"There are {', '.join(map(repr, names))}."
            )

    def __call__(self, word: str) -> str:
        """Return the stem of `word`.

        Parameters
        ----------
        word : str
            A word in lower case.

        Returns
        -------
        str
            Its stem.
        """
        if not isinstance(word, str):
            raise TypeError(f"word must be a str; got {described(word)}.")
        try:
            return _rules(self.language).stem(word)
        except UnicodeEncodeError:  # half of a surrogate pair, which no language has
            return word


class _Rules(threading.local):
    """The rules of one language; a thread has its own, since PyStemmer does not share well."""

    stem: Callable[[str], str]

    def __init__(self, language: str) -> None:
        # Its memory of words, 10,000 by default, costs more time than the rules do.
        self.stem = _stemmers().Stemmer(language, 0).stemWord


_rules = cache(_Rules)


def _stemmers() -> Any:  # noqa: ANN401 (PyStemmer is untyped)
    return import_extra("Stemmer", "PyStemmer", "stem", "stemming")
