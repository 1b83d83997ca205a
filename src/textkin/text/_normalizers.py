"""Word normalizers (stemmer, lemmatizer), and their selection by name."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Self, TypeAlias

from textkin._base import describe_non_text, import_extra
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.text._wordnet import WordNetLemmas

__all__ = ["Lemmatizer", "Stemmer", "WordNormalizer", "stemmer_version", "word_normalizer"]

WordNormalizer: TypeAlias = Callable[[str], str]
"""Function from a word to its normalized form."""


@dataclass(frozen=True, slots=True)
class Stemmer:
    """Snowball stemmer of one language; requires the extra ``stem``.

    Most forms of a word have the same stem, which need not be a word itself: the stems of
    ``happily`` and ``happiness`` are ``happili`` and ``happi``. Use a stemmer to count words of
    running text. Do not stem words before a lookup in word vectors, which contain words, not stems.

    Parameters
    ----------
    language : str, default="english"
        Name of an algorithm of PyStemmer: ``english`` (also called Porter2), ``porter`` (as
        published in 1980), ``german``, ``french``, ``russian``, and others.

    Raises
    ------
    ValueError
        If PyStemmer does not have the algorithm; the message has the names.
    ImportError
        If PyStemmer is not installed.

    See Also
    --------
    Lemmatizer : Normalizer with dictionary forms instead of stems.
    word_normalizer : Select a normalizer by name.

    Notes
    -----
    Stemmers are equal if their languages are equal. They can be pickled, and called from many
    threads. The rules expect lowercase words. A word to which no rule applies is returned
    unchanged. Stemming takes one or two microseconds per word.

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
        names = _import_stemmer().algorithms()
        if self.language not in names:
            raise ParameterError(
                "language",
                "an algorithm of PyStemmer",
                repr(self.language),
                f"There are {', '.join(map(repr, names))}.",
            )

    def _saved_parts(self) -> dict[str, Any]:
        return {"language": self.language}

    @classmethod
    def _of_saved_parts(cls, parts: Mapping[str, Any]) -> Self:
        return cls(parts["language"])

    def __call__(self, word: str) -> str:
        """Return the stem of a word.

        Parameters
        ----------
        word : str
            Word in lowercase.

        Returns
        -------
        str
            Stem of the word.
        """
        if not isinstance(word, str):
            raise ParameterTypeError("word", "a str", describe_non_text(word))
        try:
            return _rules_of(self.language).stem(word)
        except UnicodeEncodeError:  # the word has an unpaired surrogate
            return word


def stemmer_version() -> str:
    """Return the version of the installed PyStemmer."""
    return str(_import_stemmer().version())


class _StemmerRules(threading.local):
    """PyStemmer object per thread, because PyStemmer is not thread-safe."""

    stem: Callable[[str], str]

    def __init__(self, language: str) -> None:
        # Size 0 disables the cache of PyStemmer (10,000 words), which is slower than the rules.
        self.stem = _import_stemmer().Stemmer(language, 0).stemWord


_rules_of = cache(_StemmerRules)


def _import_stemmer() -> Any:  # noqa: ANN401 (PyStemmer is untyped)
    return import_extra("Stemmer", "PyStemmer", "stem", "stemming")


@dataclass(frozen=True, slots=True)
class Lemmatizer:
    """Lemmatizer of one language by simplemma's dictionary; requires the extra ``lemma``.

    Parameters
    ----------
    language : str, default="en"
        Code of one of the about fifty languages of simplemma: ``en``, ``de``, ``fr``, ...

    Raises
    ------
    ValueError
        If simplemma does not have the language; the message has the codes.
    ImportError
        If simplemma is not installed.

    See Also
    --------
    WordNetLemmas : English lemmatizer by the rule of Guo and Diab, without a dependency.
    Stemmer : Faster, coarser normalizer.
    word_normalizer : Select a normalizer by name.

    Notes
    -----
    Lemmatizers are equal if their languages are equal, and can be pickled. A word that is not in
    the dictionary is returned unchanged, or gets a lemma by simplemma's rules for the language. The
    dictionary of a language is loaded with the first word, which takes a fraction of a second and
    some tens of megabytes. A new word takes about ten microseconds.

    Examples
    --------
    >>> lemma = Lemmatizer()
    >>> [lemma(word) for word in ("mice", "was", "running")]
    ['mouse', 'be', 'run']
    """

    language: str = "en"

    def __post_init__(self) -> None:
        module = "simplemma.strategies.dictionaries.dictionary_factory"
        codes = import_extra(module, "simplemma", "lemma", "lemmatizing").SUPPORTED_LANGUAGES
        if self.language not in codes:
            raise ParameterError(
                "language",
                "a code of simplemma",
                repr(self.language),
                f"There are {', '.join(map(repr, sorted(codes)))}.",
            )

    def _saved_parts(self) -> dict[str, Any]:
        return {"language": self.language}

    @classmethod
    def _of_saved_parts(cls, parts: Mapping[str, Any]) -> Self:
        return cls(parts["language"])

    def __call__(self, word: str) -> str:
        """Return the dictionary form (lemma) of a word.

        Parameters
        ----------
        word : str
            Word.

        Returns
        -------
        str
            Lemma of the word, or the word itself if simplemma does not know it.
        """
        if not isinstance(word, str):
            raise ParameterTypeError("word", "a str", describe_non_text(word))
        if not word:  # simplemma raises for it
            return word
        simplemma = import_extra("simplemma", "simplemma", "lemma", "lemmatizing")
        try:
            lemma: str = simplemma.lemmatize(word, lang=self.language)
        except UnicodeEncodeError:  # the word has an unpaired surrogate
            return word
        return lemma


_BY_NAME: dict[str, Callable[[], WordNormalizer]] = {
    "stem": Stemmer,
    "lemma": Lemmatizer,
    "wordnet": WordNetLemmas,
}


def word_normalizer(normalizer: str | WordNormalizer | None) -> WordNormalizer | None:
    """Return the normalizer for "stem", "lemma", or "wordnet"; return callables unchanged.

    Parameters
    ----------
    normalizer : "stem", "lemma", "wordnet", callable or None
        ``stem`` means ``Stemmer()``, ``lemma`` means ``Lemmatizer()``, and ``wordnet`` means
        ``WordNetLemmas()``, all for English. A callable from word to word and None are returned
        unchanged.

    Returns
    -------
    callable or None
        Function from a word to its normalized form.

    Raises
    ------
    ValueError
        If `normalizer` has another value.
    ImportError
        If the extra for the name is not installed.

    See Also
    --------
    Stemmer, Lemmatizer, WordNetLemmas : Normalizers, some for other languages.

    Examples
    --------
    >>> word_normalizer("wordnet")
    WordNetLemmas()
    >>> word_normalizer(str.upper)("press")
    'PRESS'
    >>> word_normalizer(None) is None
    True
    """
    if normalizer is None:
        return None
    if isinstance(normalizer, str) and normalizer in _BY_NAME:
        return _BY_NAME[normalizer]()
    if callable(normalizer) and not isinstance(normalizer, type):
        return normalizer
    raise ValueError(
        f"normalizer must be one of {', '.join(map(repr, _BY_NAME))}, None or a callable "
        f"from word to word; got {normalizer!r}. "
        "For another language, pass an object, such as Stemmer('german')."
    )
