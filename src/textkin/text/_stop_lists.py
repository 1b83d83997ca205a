"""The stop lists that textkin ships, and those in files."""

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["StopList", "read_stop_words", "stop_list", "stop_lists"]

MAX_BYTES = 1 << 20
"""A larger file is hardly a stop list: the largest one here has four kilobytes."""

_FOLDER = "data/stop_lists"
_FILE = re.compile(r"([a-z-]+)\.(\d+)\.txt")
_FACT = re.compile(r"# (\w+): (.+)")
_COMMENT = re.compile(r"\|.*|(?:^|\s)#.*")


@dataclass(frozen=True, slots=True, repr=False)
class StopList(Collection[str]):
    """A stop list with its origin; a collection of its words.

    Attributes
    ----------
    name : str
        What the list is called; as `stop_words` it means the latest version.
    version : int
        A version never changes once it is released.
    language : str
        The language of the words, in English and in lower case.
    origin : str
        Where the words come from.
    licence : str
        SPDX identifier of the licence, or words where there is none.
    words : tuple of str
        The entries in the order of the source, and as often.

    See Also
    --------
    stop_list : Read a list.

    Examples
    --------
    >>> lucene = stop_list("lucene")
    >>> lucene
    StopList('lucene:1', 33 words)
    >>> len(lucene), "the" in lucene, lucene.licence
    (33, True, 'Apache-2.0')
    >>> own = [word for word in lucene if word not in ("no", "not")]
    >>> len(own)
    31
    """

    name: str
    version: int
    language: str
    origin: str
    licence: str
    words: tuple[str, ...]

    @property
    def pinned(self) -> str:
        """The name with the version, such as ``smart:1``: it means this list for ever."""
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
    """Return all stop lists that come with textkin, in the order of names and versions.

    Returns
    -------
    tuple of StopList
        Each with name, version, language, origin, licence and words.

    See Also
    --------
    stop_list : One of them.
    stop_word_set : The set to match words against.

    Examples
    --------
    >>> for found in stop_lists()[:4]:
    ...     print(found.pinned, len(found), found.language, found.licence)
    glasgow:1 318 english BSD-3-Clause
    lucene:1 33 english Apache-2.0
    smart:1 571 english none stated; a published word list
    snowball-danish:1 94 danish BSD-3-Clause
    """
    return tuple(
        _read(name, version) for name, versions in _catalogue().items() for version in versions
    )


def stop_list(name: str) -> StopList:
    """Return one of the stop lists that come with textkin.

    Parameters
    ----------
    name : str
        A name for the latest version (``smart``), or name, colon and version for one that stays
        the same in every release (``smart:1``).

    Returns
    -------
    StopList
        The list.

    Raises
    ------
    ValueError
        If there is no such list or version; the names are in the message.
    TypeError
        If `name` is not a str.

    See Also
    --------
    stop_lists : All of them.

    Examples
    --------
    >>> stop_list("smart") == stop_list("smart:1")
    True
    >>> stop_list("snowball-german").words[:3]
    ('aber', 'alle', 'allem')
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a str; got {type(name).__name__}.")
    bare, colon, wanted = name.partition(":")
    versions = _catalogue().get(bare)
    if versions is None:
        names = ", ".join(map(repr, _catalogue()))
        raise ValueError(f"There is no stop list {bare!r}; there are {names}.")
    if not colon:
        return _read(bare, versions[-1])
    for version in versions:
        if wanted == str(version):
            return _read(bare, version)
    known = ", ".join(f"'{bare}:{version}'" for version in versions)
    raise ValueError(f"The stop list {bare!r} has no version {wanted!r}; there is {known}.")


def read_stop_words(path: os.PathLike[str]) -> list[str]:
    """Return the words of a file: UTF-8, one a line, comments after ``|`` or a free ``#``."""
    where = repr(os.fspath(path))
    with open(path, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(
            f"a file of stop words must have at most {MAX_BYTES:,} bytes; {where} has more. "
            "Is it a list of words?"
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"a file of stop words must be UTF-8; {where} is not, at line {line}. "
            "Save it as UTF-8, or read it yourself and pass the words."
        ) from error
    return _words(text, where)


def _words(text: str, where: str) -> list[str]:
    words = []
    for number, line in enumerate(text.split("\n"), start=1):
        entries = _COMMENT.sub("", line.rstrip("\r")).split()
        if len(entries) > 1:
            raise ValueError(
                f"a file of stop words must have one word a line; line {number} of {where} has "
                f"{len(entries)}: {' '.join(entries)[:80]!r}. Give each its own line, and "
                "begin comments with '#' or '|'."
            )
        words += entries
    return words


@cache
def _catalogue() -> dict[str, tuple[int, ...]]:
    """Return the versions of each list, in ascending order; the names are sorted."""
    found: dict[str, list[int]] = {}
    for entry in files("textkin.text").joinpath(_FOLDER).iterdir():
        if match := _FILE.fullmatch(entry.name):
            found.setdefault(match[1], []).append(int(match[2]))
    return {name: tuple(sorted(found[name])) for name in sorted(found)}


@cache
def _read(name: str, version: int) -> StopList:
    source = files("textkin.text").joinpath(_FOLDER, f"{name}.{version}.txt")
    text = source.read_text("utf-8")
    facts = {found[1]: found[2] for found in map(_FACT.fullmatch, text.split("\n")) if found}
    return StopList(name=name, version=version, words=tuple(_words(text, name)), **facts)
