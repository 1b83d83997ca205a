"""Stop lists (built in or from files), and matching of words against them."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import filterfalse
from typing import TypeAlias

from textkin._base import Constraint, describe_non_text, instance_of
from textkin.exceptions import ParameterError, ParameterTypeError
from textkin.text._tokenize import normalize_text, tokenize

__all__ = [
    "STOP_WORDS",
    "StopList",
    "StopWords",
    "read_stop_words",
    "remove_stop_words",
    "smart_words",
    "stop_list",
    "stop_lists",
    "stop_word_set",
    "stop_word_test",
]

StopWords: TypeAlias = str | os.PathLike[str] | Iterable[str] | None
"""Stop words: the name of a list, a file, a collection of words, or None."""

STOP_WORDS: Constraint = instance_of(
    (str, os.PathLike, Collection, type(None)),
    "the name of a list, None, a pathlib.Path or a collection of words",
)
"""Constraint of `stop_words` as a parameter of an estimator, which is read more than once."""

Tokenizer: TypeAlias = Callable[[str], Iterable[str]]

_SPACE = re.compile(r"\s")

MAX_BYTES = 1 << 20
"""Maximum size of a file of stop words; the largest built-in list has four kilobytes."""

_FOLDER = "data/stop_lists"
_FILE = re.compile(r"([a-z-]+)\.(\d+)\.txt")
_FACT = re.compile(r"# (\w+): (.+)")
_COMMENT = re.compile(r"\|.*|(?:^|\s)#.*")


@dataclass(frozen=True, slots=True, repr=False)
class StopList(Collection[str]):
    """Named stop list with version and source; a collection of words.

    Attributes
    ----------
    name : str
        Name of the list; as `stop_words`, it means the latest version.
    version : int
        Version number; a released version never changes.
    language : str
        Language of the words, in English and in lowercase.
    origin : str
        Source of the words.
    license : str
        SPDX identifier of the license, or a description if there is none.
    words : tuple of str
        Entries in the order of the source, duplicates included.

    See Also
    --------
    stop_list : Return a list by name.

    Examples
    --------
    >>> lucene = stop_list("lucene")
    >>> lucene
    StopList('lucene:1', 33 words)
    >>> len(lucene), "the" in lucene, lucene.license
    (33, True, 'Apache-2.0')
    >>> own = [word for word in lucene if word not in ("no", "not")]
    >>> len(own)
    31
    """

    name: str
    version: int
    language: str
    origin: str
    license: str
    words: tuple[str, ...]

    @property
    def pinned(self) -> str:
        """Name with version, such as ``smart:1``, which never changes its words."""
        return f"{self.name}:{self.version}"

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.words

    def __repr__(self) -> str:
        return f"StopList({self.pinned!r}, {len(self)} words)"


def stop_lists() -> tuple[StopList, ...]:
    """Return all built-in stop lists, sorted by name and version.

    Returns
    -------
    tuple of StopList
        Lists, each with name, version, language, origin, license, and words.

    See Also
    --------
    stop_list : Return one list.
    stop_word_set : Make the set of forms to match words against.

    Examples
    --------
    >>> for found in stop_lists()[:4]:
    ...     print(found.pinned, len(found), found.language, found.license)
    glasgow:1 318 english BSD-3-Clause
    lucene:1 33 english Apache-2.0
    search:1 54 english Apache-2.0
    smart:1 571 english none stated; a published word list
    """
    return tuple(
        _read_list(name, version)
        for name, versions in _list_versions().items()
        for version in versions
    )


def stop_list(name: str) -> StopList:
    """Return the built-in stop list with a name such as "smart" or "smart:1".

    Parameters
    ----------
    name : str
        Name for the latest version (``smart``), or name, colon, and version for a version
        that is the same in every release (``smart:1``).

    Returns
    -------
    StopList
        Stop list.

    Raises
    ------
    ValueError
        If the list or version does not exist; the message has the names.
    TypeError
        If `name` is not a str.

    See Also
    --------
    stop_lists : Return all lists.

    Examples
    --------
    >>> stop_list("smart") == stop_list("smart:1")
    True
    >>> stop_list("snowball-german").words[:3]
    ('aber', 'alle', 'allem')
    """
    if not isinstance(name, str):
        raise ParameterTypeError("name", "a str", type(name).__name__)
    bare, colon, wanted = name.partition(":")
    versions = _list_versions().get(bare)
    if versions is None:
        names = ", ".join(map(repr, _list_versions()))
        raise ValueError(f"The name of a stop list must be one of {names}; got {bare!r}.")
    if not colon:
        return _read_list(bare, versions[-1])
    for version in versions:
        if wanted == str(version):
            return _read_list(bare, version)
    known = ", ".join(f"'{bare}:{version}'" for version in versions)
    raise ValueError(f"The version of a stop list must be one of {known}; got {wanted!r}.")


def read_stop_words(path: os.PathLike[str]) -> list[str]:
    """Read stop words from a UTF-8 file: one per line, comments after ``|`` or ``#``."""
    where = repr(os.fspath(path))
    with open(path, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(
            f"a file of stop words must have at most {MAX_BYTES:,} bytes; {where} has more. "
            "Pass a file with one word per line."
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"a file of stop words must be UTF-8; {where} is invalid at line {line}. "
            "Save it as UTF-8, or read it yourself and pass the words."
        ) from error
    return _parse_words(text, where)


def _parse_words(text: str, where: str) -> list[str]:
    words = []
    for number, line in enumerate(text.split("\n"), start=1):
        entries = _COMMENT.sub("", line.rstrip("\r")).split()
        if len(entries) > 1:
            raise ValueError(
                f"a file of stop words must have one word per line; line {number} of {where} has "
                f"{len(entries)}: {' '.join(entries)[:80]!r}. Write each word on a separate line, "
                "and start comments with '#' or '|'."
            )
        words += entries
    return words


@cache
def _list_versions() -> dict[str, tuple[int, ...]]:
    """Return the ascending versions of each built-in stop list, by name."""
    found: dict[str, list[int]] = {}
    for entry in files("textkin.text").joinpath(_FOLDER).iterdir():
        if match := _FILE.fullmatch(entry.name):
            found.setdefault(match[1], []).append(int(match[2]))
    return {name: tuple(sorted(found[name])) for name in sorted(found)}


@cache
def _read_list(name: str, version: int) -> StopList:
    source = files("textkin.text").joinpath(_FOLDER, f"{name}.{version}.txt")
    text = source.read_text("utf-8")
    facts = {found[1]: found[2] for found in map(_FACT.fullmatch, text.split("\n")) if found}
    return StopList(name=name, version=version, words=tuple(_parse_words(text, name)), **facts)


def smart_words() -> tuple[str, ...]:
    """Return the SMART stop list: 571 English entries, including a duplicate ``would``.

    Returns
    -------
    tuple of str
        Entries in alphabetical order, unchanged.

    See Also
    --------
    stop_list : Return this list with its origin, and other lists.
    stop_word_set : Make the set of forms to match words against.

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
    """Return the set of word forms that count as stop words, for a list, name, or file.

    For each entry, the set has its lowercase form with and without apostrophes, and the same forms
    of the words that the tokenizer finds in it: one word, or several if it splits at apostrophes.
    An entry that is split elsewhere (``so-called``) raises an error, because otherwise its parts
    would be removed from every text.

    Parameters
    ----------
    stop_words : str, pathlib.Path, iterable of str or None
        Name of a list, as in `stop_lists`, with or without its version (``smart:1``); a UTF-8 file
        with one word per line and comments after ``#`` or ``|``, of at most one mebibyte; your own
        words; or None for no stop words.
    tokenizer : callable, optional
        Function that splits the texts, from a str to a list of str. The entries are split in the
        same way, because ``don't`` must become ``don`` and ``t`` if the words of texts do. If None,
        `tokenize`.

    Returns
    -------
    frozenset of str
        Set for `remove_stop_words`.

    Raises
    ------
    ValueError
        If the list does not exist, an entry is not a single word, or the file is not a valid
        list.
    TypeError
        If an entry is not a str, or the tokenizer does not return words.
    OSError
        If the file cannot be read.

    See Also
    --------
    stop_lists : Return the lists by name.
    remove_stop_words : Remove the words of such a set.

    Notes
    -----
    Texts often lose their apostrophes, so ``don't`` in the list must also match ``dont``. As a
    consequence, a few entries of SMART without apostrophes match ordinary words: ``i'd`` matches
    ``id``, ``i'll`` matches ``ill``, ``let's`` matches ``lets``, and ``we'd`` matches ``wed``. If
    this matters, pass ``[w for w in smart_words() if w not in ("i'll", ...)]``.

    The set of a named list is cached, unless you pass a tokenizer, which may return other words
    the next time. In this case, make the set once and keep it.

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
        raise ParameterTypeError(
            "tokenizer",
            "None or a callable from a str to a list of words",
            type(tokenizer).__name__,
        )
    if stop_words is None:
        return frozenset()
    if isinstance(stop_words, str):
        if tokenizer is None:
            return _set_of_list(_pin_name(stop_words))
        return _collect_forms(stop_list(_pin_name(stop_words)), tokenizer)
    if isinstance(stop_words, os.PathLike):
        stop_words = read_stop_words(stop_words)
    if not isinstance(stop_words, Iterable):
        raise ParameterTypeError(
            "stop_words",
            "the name of a list, a Path, a list of words or None",
            describe_non_text(stop_words),
        )
    return _collect_forms(stop_words, tokenizer or tokenize)


def remove_stop_words(tokens: Iterable[str], stop_set: frozenset[str]) -> list[str]:
    """Return the tokens that are not stop words.

    A token is a stop word if its lowercase form is in the set, with or without its apostrophes.

    Parameters
    ----------
    tokens : iterable of str
        Words in the order of the text, in any case.
    stop_set : frozenset of str
        Result of `stop_word_set`.

    Returns
    -------
    list of str
        Remaining tokens, unchanged and in order.

    See Also
    --------
    stop_word_set : Make the set of forms.

    Examples
    --------
    >>> remove_stop_words(["The", "press", "DONT", "speak"], stop_word_set("smart"))
    ['press', 'speak']
    """
    return list(filterfalse(stop_word_test(stop_set), tokens))


def stop_word_test(stop_set: frozenset[str]) -> Callable[[str], bool]:
    """Return a cached function that is True for words in `stop_set`."""
    return cache(lambda word: not stop_set.isdisjoint(_forms(word)))


def _pin_name(name: str) -> str:
    """Return the name of a stop list with its version; raise for an unknown name."""
    try:
        return stop_list(name).pinned
    except ValueError as error:
        raise ParameterError(
            "stop_words",
            "'smart', None or a list of words, or the name of another list or a Path",
            repr(name),
            f"{error} For a single word, pass a list: [{name!r}]; for a file, pass "
            f"pathlib.Path({name!r}).",
        ) from error


@cache
def _set_of_list(pinned: str) -> frozenset[str]:
    return _collect_forms(stop_list(pinned), tokenize)


def _collect_forms(words: Iterable[str], tokenizer: Tokenizer) -> frozenset[str]:
    forms: set[str] = set()
    for position, word in enumerate(words):
        if not isinstance(word, str):
            raise TypeError(
                f"stop_words must be strings; position {position} holds "
                f"{type(word).__name__} ({word!r})."
            )
        if _SPACE.search(word):
            raise ValueError(
                "stop_words must be single words without white space; "
                f"position {position} holds {word!r}. "
                "Strip the entry, or pass each of its words as an entry."
            )
        forms.update(_forms(word))
        pieces = _tokenize_entry(word, tokenizer)
        if len(pieces) > 1 and not _is_apostrophe_split(word, pieces):
            raise ValueError(
                f"stop_words must be single words; the tokenizer splits {word!r} (position "
                f"{position}) into {', '.join(map(repr, pieces))}. Pass each part as an entry if "
                "you mean the parts, or pass stop_words=None if words are split in this way."
            )
        for piece in pieces:
            forms.update(_forms(piece))
    return frozenset(forms)


def _is_apostrophe_split(word: str, pieces: Iterable[str]) -> bool:
    """Return True if a tokenizer split a word only at its apostrophes."""
    parts = _forms(word)[0].split("'")
    return all(_forms(piece)[0] in parts for piece in pieces)


def _tokenize_entry(word: str, tokenizer: Tokenizer) -> list[str]:
    found = tokenizer(word)
    if isinstance(found, Iterable) and not isinstance(found, str):
        found = list(found)
        if all(isinstance(piece, str) for piece in found):
            return found
    raise TypeError(f"tokenizer must return a list of words; got {found!r} for {word!r}.")


def _forms(word: str) -> tuple[str, str]:
    """Return a word in lowercase, once with and once without apostrophes."""
    lower = normalize_text(word).lower()
    return lower, lower.replace("'", "")
