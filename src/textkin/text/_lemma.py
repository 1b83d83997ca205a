"""Lemmas from the dictionaries of simplemma."""

from dataclasses import dataclass

from textkin.text._extras import import_extra
from textkin.text._tokenise import described

__all__ = ["Lemmatizer"]


@dataclass(frozen=True, slots=True)
class Lemmatizer:
    """Bring words into the form of the dictionary, with simplemma; needs the extra ``lemma``.

    Parameters
    ----------
    language : str, default="en"
        The code of one of simplemma's languages, about fifty: ``en``, ``de``, ``fr``, ...

    Raises
    ------
    ValueError
        If simplemma has no such language; the codes are in the message.
    ImportError
        If simplemma is not installed.

    See Also
    --------
    WordNetLemmas : English lemmas by the rule of the WTMF paper, without a dependency.
    Stemmer : Quicker, coarser.
    word_normalizer : Choose by name.

    Notes
    -----
    Lemmatisers are equal if their languages are, and can be pickled. A word that the dictionary
    does not know stays as it is, or gets a lemma by simplemma's rules for the language. The
    dictionary of a language is loaded with its first word: a fraction of a second and some tens
    of megabytes. About ten microseconds for a word that is new.

    Examples
    --------
    >>> lemma = Lemmatizer()
    >>> [lemma(word) for word in ("mice", "was", "running")]
    ['mouse', 'be', 'run']
    """

    language: str = "en"

    def __post_init__(self) -> None:
        module = "simplemma.strategies.dictionaries.dictionary_factory"
        codes = import_extra(module, "simplemma", "lemma", "lemmatising").SUPPORTED_LANGUAGES
        if self.language not in codes:
            raise ValueError(
                f"language must be a code of simplemma; got {self.language!r}. "
                f"There are {', '.join(map(repr, sorted(codes)))}."
            )

    def __call__(self, word: str) -> str:
        """Return the lemma of `word`.

        Parameters
        ----------
        word : str
            A word.

        Returns
        -------
        str
            Its lemma, or the word itself if simplemma knows none.
        """
        if not isinstance(word, str):
            raise TypeError(f"word must be a str; got {described(word)}.")
        if not word:  # simplemma refuses it
            return word
        simplemma = import_extra("simplemma", "simplemma", "lemma", "lemmatising")
        try:
            lemma: str = simplemma.lemmatize(word, lang=self.language)
        except UnicodeEncodeError:  # half of a surrogate pair, which no language has
            return word
        return lemma
