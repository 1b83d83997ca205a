"""The most frequent lemma that a word can have, by WordNet."""

import gzip
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from textkin.text._tokenise import described

__all__ = ["WordNetLemmas"]

# Morphy's rules of detachment by the last letter of a word, in the order of the parts of speech:
# an ending, and what stands in its place.
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
_LONGEST = 100  # no form of a word of WordNet has more characters


@dataclass(frozen=True)
class WordNetLemmas:
    """Map English words to the most frequent lemma that they can have, as the WTMF paper does.

    The word is lemmatised, and the result is given the most frequent of all lemmas that it can
    have as a noun, verb, adjective or adverb: ``thinkings`` becomes ``thinking``, which can be
    ``thinking`` or ``think``, of which ``think`` is more frequent.

    Raises
    ------
    TypeError
        If what comes is not a str.

    See Also
    --------
    Lemmatizer : Lemmas of other languages.
    word_normalizer : Choose by name.

    Notes
    -----
    Let M(w) be the set of morphy(w, p) over the parts of speech p, where morphy is WordNet's own
    search: w itself if WordNet has it as a p; else the lemma that the exception list of p has
    for w; else w after the first rule of detachment (``-s``, ``-ies`` to ``-y``, ...) that
    leads to a word that WordNet has as a p. Let f(l) be the number of times that the authors of
    WordNet tagged l, over all its senses. A step takes w to the l in M(w) with the largest f(l),
    among equals to the shortest, then to the first by code points, and leaves w alone if M(w) is
    empty. The lemma is what two steps give: the paper's first one has the part of speech from a
    tagger, which words by themselves have not.

    Words are looked up in lower case, and lemmas are in lower case; an unknown word stays as it
    was written. So do words with an apostrophe (``children's``) and joined phrases
    (``new_yorks``). The rule goes far: ``mixed`` stays ``mixed``, which is more frequent than
    ``mix``, but ``brokers`` becomes ``broke``. WordNet has hardly a function word, and some look
    like forms of other words (``lest`` becomes ``l``): remove stop words first.

    The table is that of WordNet 3.0, 83,000 single words. It is loaded with the first word, in
    some 40 ms, and takes 10 MB; 65,536 answers are remembered. About five microseconds for a
    word that is new, a third of one for others.

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

    def __call__(self, word: str) -> str:
        """Return the lemma of `word`.

        Parameters
        ----------
        word : str
            A word in any case.

        Returns
        -------
        str
            Its lemma in lower case, or the word itself if WordNet does not know it.
        """
        if not isinstance(word, str):
            raise TypeError(f"word must be a str; got {described(word)}.")
        # Words of absurd length are not WordNet's and not worth remembering.
        return word if len(word) > _LONGEST else _lemma(word)

    def candidates(self, word: str) -> dict[str, int]:
        """Return the lemmas that one step can lead to, with their frequencies, best first.

        Parameters
        ----------
        word : str
            A word in any case.

        Returns
        -------
        dict from str to int
            M(w) and f of the notes; empty for an unknown word.
        """
        if not isinstance(word, str):
            raise TypeError(f"word must be a str; got {described(word)}.")
        if len(word) > _LONGEST:
            return {}
        counts = _table().counts
        return {lemma: counts.get(lemma, 0) for lemma in _ranked(word.lower())}


@dataclass(frozen=True, slots=True)
class _Table:
    """What WordNet says of single words; parts of speech are the letters n, v, a, r."""

    parts: dict[str, str]  # word: its parts of speech
    counts: dict[str, int]  # word: how often it was tagged, if ever
    exceptions: dict[str, dict[str, str]]  # form: part of speech: lemma, "-" for none


@lru_cache(maxsize=1 << 16)
def _lemma(word: str) -> str:
    first = _ranked(word.lower())
    return _ranked(first[0])[0] if first else word


def _ranked(word: str) -> list[str]:
    """Return M(word), best first."""
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
