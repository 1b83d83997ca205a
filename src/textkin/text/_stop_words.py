"""Stop words: the SMART list, lists of the user, and how they match."""

from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files
from itertools import filterfalse
from typing import Literal, TypeAlias

from textkin.text._tokenise import normalise

__all__ = ["remove_stop_words", "smart_words", "stop_word_set", "stop_word_test"]

StopWords: TypeAlias = Literal["smart"] | Iterable[str] | None


@cache
def smart_words() -> tuple[str, ...]:
    """Return the SMART stop list: 571 English entries, of which ``would`` stands there twice.

    Returns
    -------
    tuple of str
        The entries in alphabetical order, exactly as they came.

    See Also
    --------
    stop_word_set : The set to match words against.

    References
    ----------
    Lewis, Yang, Rose and Li, "RCV1: A New Benchmark Collection for Text Categorization
    Research", JMLR 5, 2004, appendix 11.

    Examples
    --------
    >>> words = smart_words()
    >>> len(words), len(set(words)), words[:4]
    (571, 570, ('a', "a's", 'able', 'about'))
    """
    return tuple(files("textkin.text").joinpath("data/smart.txt").read_text("ascii").split())


def stop_word_set(stop_words: StopWords) -> frozenset[str]:
    """Return the set of forms that stop words are matched against.

    Each entry is there in lower case, as written and without its apostrophes.

    Parameters
    ----------
    stop_words : "smart", None or iterable of str
        The SMART list, no stop words, or words of your own.

    Returns
    -------
    frozenset of str
        For `remove_stop_words`.

    Raises
    ------
    ValueError
        If `stop_words` is a str other than "smart".
    TypeError
        If an entry is not a str.

    See Also
    --------
    remove_stop_words : Leave the words of such a set out.

    Notes
    -----
    Texts lose their apostrophes in many ways, so ``don't`` in the list has to match ``dont``
    too. The price is that a few entries of SMART match ordinary words once stripped: ``i'd``
    matches ``id``, ``i'll`` matches ``ill``, ``let's`` matches ``lets`` and ``we'd``
    matches ``wed``. Pass ``[w for w in smart_words() if w not in
    ("i'll", ...)]`` where that matters.

    Examples
    --------
    >>> sorted(stop_word_set(["Don't", "the"]))
    ["don't", 'dont', 'the']
    >>> len(stop_word_set("smart")), len(stop_word_set(None))
    (610, 0)
    """
    if stop_words is None:
        return frozenset()
    if isinstance(stop_words, str):
        if stop_words == "smart":
            return _smart_set()
        raise ValueError(
            f"stop_words must be 'smart', None or a list of words; got {stop_words!r}. "
            f"For a single word of your own pass a list: [{stop_words!r}]."
        )
    return _all_forms(stop_words)


def remove_stop_words(tokens: Iterable[str], stop_set: frozenset[str]) -> list[str]:
    """Leave out the tokens that are stop words.

    A token is one if its lower case is in the set, as written or without its apostrophes.

    Parameters
    ----------
    tokens : iterable of str
        Words in the order of the text, in any case.
    stop_set : frozenset of str
        From `stop_word_set`.

    Returns
    -------
    list of str
        The other tokens, unchanged and in order.

    See Also
    --------
    stop_word_set : Make the set.

    Examples
    --------
    >>> remove_stop_words(["The", "press", "DONT", "speak"], stop_word_set("smart"))
    ['press', 'speak']
    """
    return list(filterfalse(stop_word_test(stop_set), tokens))


def stop_word_test(stop_set: frozenset[str]) -> Callable[[str], bool]:
    """Return the test of a word against `stop_set`; it remembers each distinct word."""
    return cache(lambda word: not stop_set.isdisjoint(_forms(word)))


@cache
def _smart_set() -> frozenset[str]:
    return _all_forms(smart_words())


def _all_forms(words: Iterable[str]) -> frozenset[str]:
    forms: set[str] = set()
    for position, word in enumerate(words):
        if not isinstance(word, str):
            raise TypeError(
                f"stop_words must hold words (str); position {position} holds "
                f"{type(word).__name__} ({word!r})."
            )
        forms.update(_forms(word))
    return frozenset(forms)


def _forms(word: str) -> tuple[str, str]:
    """Return `word` in lower case, as written and without apostrophes."""
    lower = normalise(word).lower()
    return lower, lower.replace("'", "")
