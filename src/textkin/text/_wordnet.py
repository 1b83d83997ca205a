"""English lemmatizer that chooses the most frequent lemma in WordNet."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from textkin._base import describe_non_text
from textkin.exceptions import ParameterTypeError

__all__ = ["WordNetLemmas"]

# Morphy's rules of detachment by the last letter of a word and the part of speech, in order: an
# ending and its replacement.
_RULES: dict[str, dict[str, tuple[tuple[str, str], ...]]] = {
    "s": {
        "n": (
            ("s", ""),
            ("ses", "s"),
            ("ves", "f"),
            ("xes", "x"),
            ("zes", "z"),
            ("ches", "ch"),
            ("shes", "sh"),
            ("ies", "y"),
        ),
        "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", "")),
    },
    "n": {"n": (("men", "man"),)},
    "d": {"v": (("ed", "e"), ("ed", ""))},
    "g": {"v": (("ing", "e"), ("ing", ""))},
    "r": {"a": (("er", ""), ("er", "e"))},
    "t": {"a": (("est", ""), ("est", "e"))},
}
_LONGEST = 100  # limit above the longest word form in WordNet


@dataclass(frozen=True)
class WordNetLemmas:
    """English lemmatizer that returns the most frequent lemma in WordNet.

    This is the rule of Guo and Diab (the WTMF paper). The word is lemmatized, and the result is
    replaced by the most frequent lemma that it can have as a noun, verb, adjective, or adverb:
    ``thinkings`` becomes ``thinking``, which can be ``thinking`` or ``think``, and ``think`` is
    more frequent.

    Raises
    ------
    TypeError
        If the argument is not a str.

    See Also
    --------
    Lemmatizer : Lemmatizer for other languages.
    word_normalizer : Select a normalizer by name.

    Notes
    -----
    Let M(w) be the set of morphy(w, p) over the parts of speech p, where morphy is WordNet's own
    search. It returns the first of the following that exists: w itself if WordNet has it as a p;
    the lemma of w in the exception list of p; w after the first rule of detachment (``-s``,
    ``-ies`` to ``-y``, ...) that results in a word that WordNet has as a p. Let f(l) be the number
    of times that the authors of WordNet tagged l, over all its senses. A step replaces w by the l
    in M(w) with the largest f(l). Ties go to the shortest lemma, then to the first by code points.
    If M(w) is empty, w is unchanged. The lemma is the result of two steps. In Guo and Diab, the
    first step uses the part of speech from a tagger, which a word alone does not have.

    Words are looked up in lowercase, and lemmas are in lowercase; an unknown word is returned
    unchanged. The same holds for words with an apostrophe (``children's``) and joined phrases
    (``new_yorks``). The rule is aggressive: ``mixed`` stays ``mixed``, which is more frequent than
    ``mix``, but ``brokers`` becomes ``broke``. WordNet contains almost no function words, and some
    look like forms of other words (``lest`` becomes ``l``): remove stop words first.

    The table contains 83,000 single words of WordNet 3.0. It is loaded with the first word in some
    40 ms, and takes 10 MB; 65,536 results are cached. A new word takes about five microseconds, and
    a cached word a third of one.

    References
    ----------
    Guo and Diab, "Modeling Sentences in the Latent Space", ACL 2012.
    Fellbaum (editor), "WordNet: An Electronic Lexical Database", MIT Press, 1998.

    Examples
    --------
    >>> lemma = WordNetLemmas()
    >>> [lemma(word) for word in ("thinkings", "geese", "happier", "Obama", "xyzzies")]
    ['think', 'goose', 'happy', 'Obama', 'xyzzies']
    >>> lemma.candidates("thinking")
    {'think': 590, 'thinking': 11}
    """

    def _saved_parts(self) -> dict[str, Any]:
        return {}

    @classmethod
    def _of_saved_parts(cls, parts: Mapping[str, Any]) -> "WordNetLemmas":
        if parts:
            raise ValueError("WordNetLemmas have no parts")
        return cls()

    def __call__(self, word: str) -> str:
        """Return the lemma of an English word.

        Parameters
        ----------
        word : str
            Word in any case.

        Returns
        -------
        str
            Lemma in lowercase, or the word itself if WordNet does not contain it.
        """
        if not isinstance(word, str):
            raise ParameterTypeError("word", "a str", describe_non_text(word))
        # Longer words are not in WordNet, and should not fill the cache.
        return word if len(word) > _LONGEST else _lemma(word)

    def candidates(self, word: str) -> dict[str, int]:
        """Return the possible lemmas of a word after one step, with frequencies.

        Parameters
        ----------
        word : str
            Word in any case.

        Returns
        -------
        dict from str to int
            Mapping from M(w) to f, as defined in Notes; empty for an unknown word.
        """
        if not isinstance(word, str):
            raise ParameterTypeError("word", "a str", describe_non_text(word))
        if len(word) > _LONGEST:
            return {}
        counts = _table().counts
        return {lemma: counts.get(lemma, 0) for lemma in _ranked(word.lower())}


@dataclass(frozen=True, slots=True)
class _Table:
    """WordNet words: parts of speech, frequencies, and irregular forms."""

    parts: dict[str, str]  # parts of speech of each word
    counts: dict[str, int]  # tag count of each tagged word
    exceptions: dict[str, dict[str, str]]  # lemma by form and part of speech, "-" for no lemma


@lru_cache(maxsize=1 << 16)
def _lemma(word: str) -> str:
    first = _ranked(word.lower())
    return _ranked(first[0])[0] if first else word


def _ranked(word: str) -> list[str]:
    """Return the possible lemmas of a word, most frequent first."""
    table = _table()
    parts = table.parts
    own = parts.get(word, "")
    found = {word} if own else set()
    irregular = table.exceptions.get(word, {})
    for pos, lemma in irregular.items():
        if pos not in own and lemma != "-":
            found.add(lemma)
    for pos, rules in _RULES.get(word[-1:], {}).items():
        if pos not in own and pos not in irregular:
            for ending, replacement in rules:
                if word.endswith(ending):
                    base = word[: -len(ending)] + replacement
                    if pos in parts.get(base, ""):
                        found.add(base)
                        break
    if len(found) < 2:
        return list(found)
    counts = table.counts
    return sorted(found, key=lambda lemma: (-counts.get(lemma, 0), len(lemma), lemma))


@cache
def _table() -> _Table:
    packed = files("textkin.text").joinpath("data/wordnet/lemmas.txt.gz").read_bytes()
    table = _Table({}, {}, {})
    _header, *lines = gzip.decompress(packed).decode("utf-8").splitlines()
    for line in lines:
        key, _, rest = line.partition("\t")
        kind, _, letters = key.partition(" ")
        words = rest.split(" ")
        if kind == "words":
            table.parts.update(dict.fromkeys(words, letters))
        elif kind == "counts":
            table.counts.update(zip(words[::2], map(int, words[1::2]), strict=True))
        else:
            for form, lemma in zip(words[::2], words[1::2], strict=True):
                table.exceptions.setdefault(form, {})[letters] = lemma
    return table
