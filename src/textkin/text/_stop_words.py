"""Stop words: which they are, and how they match."""

import os
import re
from collections.abc import Callable, Collection, Iterable
from functools import cache
from itertools import filterfalse
from typing import TypeAlias

from textkin._validation import instance_of
from textkin.text._stop_lists import read_stop_words, stop_list
from textkin.text._tokenise import described, normalise, tokenize

__all__ = [
    "STOP_WORDS",
    "StopWords",
    "remove_stop_words",
    "smart_words",
    "stop_word_set",
    "stop_word_test",
]

StopWords: TypeAlias = str | os.PathLike[str] | Iterable[str] | None
"""What `stop_words` may be: the name of a list, a file, words, or None."""

STOP_WORDS = instance_of(
    (str, os.PathLike, Collection, type(None)),
    "the name of a list, None, a pathlib.Path or a collection of words",
)
"""The same as a parameter of an estimator, which is read more than once."""

Tokenizer: TypeAlias = Callable[[str], Iterable[str]]

_SPACE = re.compile(r"\s")


def smart_words() -> tuple[str, ...]:
    """Return the SMART stop list: 571 English entries, of which ``would`` stands there twice.

    Returns
    -------
    tuple of str
        The entries in alphabetical order, exactly as they came.

    See Also
    --------
    stop_list : This list with its origin, and others.
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
    return stop_list("smart:1").words


def stop_word_set(stop_words: StopWords, *, tokenizer: Tokenizer | None = None) -> frozenset[str]:
    """Return the set of forms that stop words are matched against.

    Each entry is there in lower case, as written and without its apostrophes; so is the word
    that the tokeniser finds in it, or the words if it cuts at apostrophes. An entry that it cuts
    elsewhere (``so-called``) is refused: its parts would go missing from every text.

    Parameters
    ----------
    stop_words : str, pathlib.Path, iterable of str or None
        The name of a list, as in `stop_lists`, with its version (``smart:1``) or without; a
        file in UTF-8 with one word a line and comments after ``#`` or ``|``, of at most one
        mebibyte; words of your own; or None for no stop words.
    tokenizer : callable, optional
        What cuts the texts into words: from a str to a list of str. The entries are cut in the
        same way, because ``don't`` must be ``don`` and ``t`` where the words of texts are. None
        stands for `tokenize`.

    Returns
    -------
    frozenset of str
        For `remove_stop_words`.

    Raises
    ------
    ValueError
        If there is no list of that name, if an entry is not a single word, or if the file is not
        such a list.
    TypeError
        If an entry is not a str, or the tokeniser does not give words.
    OSError
        If the file cannot be read.

    See Also
    --------
    stop_lists : The lists by name.
    remove_stop_words : Leave the words of such a set out.

    Notes
    -----
    Texts lose their apostrophes in many ways, so ``don't`` in the list has to match ``dont``
    too. The price is that a few entries of SMART match ordinary words once stripped: ``i'd``
    matches ``id``, ``i'll`` matches ``ill``, ``let's`` matches ``lets`` and ``we'd``
    matches ``wed``. Pass ``[w for w in smart_words() if w not in
    ("i'll", ...)]`` where that matters.

    The set of a named list is made once, unless a tokeniser is given, which may give other words
    the next time: then make the set once and keep it.

    Examples
    --------
    >>> sorted(stop_word_set(["Don't", "the"]))
    ["don't", 'dont', 'the']
    >>> sorted(stop_word_set(["Don't", "the"], tokenizer=lambda text: text.split("'")))
    ['don', "don't", 'dont', 't', 'the']
    >>> len(stop_word_set("smart")), len(stop_word_set("lucene:1")), len(stop_word_set(None))
    (610, 33, 0)
    """
    if tokenizer is not None and not callable(tokenizer):
        raise TypeError(
            "tokenizer must be None or a callable from a str to a list of words; "
            f"got {type(tokenizer).__name__}."
        )
    if stop_words is None:
        return frozenset()
    if isinstance(stop_words, str):
        if tokenizer is None:
            return _named_set(_known(stop_words))
        return _forms_of_all(stop_list(_known(stop_words)), tokenizer)
    if isinstance(stop_words, os.PathLike):
        stop_words = read_stop_words(stop_words)
    if not isinstance(stop_words, Iterable):
        raise TypeError(
            "stop_words must be the name of a list, a Path, a list of words or None; "
            f"got {described(stop_words)}."
        )
    return _forms_of_all(stop_words, tokenizer or tokenize)


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


def _known(name: str) -> str:
    """Return `name` with its version, or say which names there are."""
    try:
        return stop_list(name).pinned
    except ValueError as error:
        raise ValueError(
            "stop_words must be 'smart', None or a list of words, or the name of another list or "
            f"a Path; got {name!r}. {error} "
            f"For a single word of your own pass a list: [{name!r}]; "
            f"for a file pass pathlib.Path({name!r})."
        ) from error


@cache
def _named_set(pinned: str) -> frozenset[str]:
    return _forms_of_all(stop_list(pinned), tokenize)


def _forms_of_all(words: Iterable[str], tokenizer: Tokenizer) -> frozenset[str]:
    forms: set[str] = set()
    for position, word in enumerate(words):
        if not isinstance(word, str):
            raise TypeError(
                f"stop_words must hold words (str); position {position} holds "
                f"{type(word).__name__} ({word!r})."
            )
        if _SPACE.search(word):
            raise ValueError(
                "stop_words must hold single words, without white space; "
                f"position {position} holds {word!r}. "
                "Strip it, or give each of its words an entry."
            )
        forms.update(_forms(word))
        pieces = _pieces(word, tokenizer)
        if len(pieces) > 1 and not _at_apostrophes(word, pieces):
            raise ValueError(
                f"stop_words must hold single words; {word!r} (position {position}) is "
                f"{', '.join(map(repr, pieces))} to the tokeniser. Give each of these an entry if "
                "you mean them, or pass stop_words=None where words are cut like that."
            )
        for piece in pieces:
            forms.update(_forms(piece))
    return frozenset(forms)


def _at_apostrophes(word: str, pieces: Iterable[str]) -> bool:
    """Tell whether a word was cut at its apostrophes alone."""
    parts = _forms(word)[0].split("'")
    return all(_forms(piece)[0] in parts for piece in pieces)


def _pieces(word: str, tokenizer: Tokenizer) -> list[str]:
    found = tokenizer(word)
    if isinstance(found, Iterable) and not isinstance(found, str):
        found = list(found)
        if all(isinstance(piece, str) for piece in found):
            return found
    raise TypeError(f"tokenizer must give a list of words (str); for {word!r} it gave {found!r}.")


def _forms(word: str) -> tuple[str, str]:
    """Return `word` in lower case, as written and without apostrophes."""
    lower = normalise(word).lower()
    return lower, lower.replace("'", "")
