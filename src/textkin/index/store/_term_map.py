"""Terms of an index: the stems that term rankings use instead of words.

The catalog stores the terms, and for each word the number of its term, or -1 for a stop word. Both
are extended in the transaction that adds words. They are never computed again, because another
version of the stemmer may return other stems.
"""

import json
import sys
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from textkin import _core
from textkin._base import Int32Array, Int64Array
from textkin.exceptions import DamagedIndexError
from textkin.index.store._catalog import CATALOG, Catalog, damage_error, words_checksum
from textkin.text import Stemmer, stop_word_set

__all__ = [
    "StemAnalyzer",
    "TermMap",
    "TermStatistics",
    "add_analyzer",
    "extend_terms",
    "find_terms",
    "read_term_map",
    "term_map_problems",
    "term_names",
]

_CHUNK = 1 << 12  # words per stored array, unless one transaction adds more
_MARKS = 500  # values per SQL statement
_STORED = np.dtype("<i4")


@dataclass(frozen=True, slots=True)
class StemAnalyzer:
    """Stemmer and stop list of term rankings, fixed when an index is created.

    Attributes
    ----------
    language : str
        Code of the language, such as "en".
    stemmer : str
        Name of the Snowball stemmer, such as "english".
    version : str
        Version of PyStemmer that was installed when the index was created.
    stop_words : str or None
        Name and version of the stop list, or None.
    drop_single : bool
        True if single letters and digits have no term, like stop words. Characters of scripts
        without case, such as Chinese, keep theirs.
    lowercase : bool
        True if the analyzer converts words to lowercase, because the index counts them as written.
    """

    language: str
    stemmer: str
    version: str
    stop_words: str | None
    drop_single: bool
    lowercase: bool

    def terms(self, words: Sequence[str]) -> list[str | None]:
        """Return the stem of each word, or None for a stop word."""
        written = list(words)
        table = _core.WordTable()
        ids, _ = table.read_words([[word] for word in written]).arrays()
        stopped = table.matching(_stop_table(self.stop_words), 0)
        stem = Stemmer(self.stemmer)
        found: list[str | None] = []
        for id, word in zip(ids.tolist(), written, strict=True):
            form = word.lower() if self.lowercase else word
            single = len(form) == 1 and (form.isascii() or form.islower())
            removed = stopped[id] or (self.drop_single and single)
            found.append(None if removed else stem(form) or None)
        return found

    def to_json(self) -> str:
        """Return the settings as a JSON string, to be stored in the catalog."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "StemAnalyzer":
        """Create the settings from a `to_json` string of an untrusted file, after validation."""
        made = cls(**json.loads(text))
        names = made.language, made.stemmer, made.version
        flags = made.drop_single, made.lowercase
        if not all(isinstance(name, str) for name in names):
            raise TypeError("its language, stemmer, and version must be strings")
        if not all(type(flag) is bool for flag in flags):
            raise TypeError("its flags must be true or false")
        if made.stop_words is not None and not isinstance(made.stop_words, str):
            raise TypeError("its stop list must be a name")
        return made


@lru_cache(maxsize=4)
def _stop_table(stop_words: str | None) -> "_core.WordTable":
    table = _core.WordTable()
    table.read_words([list(stop_word_set(stop_words))])
    return table


@dataclass(frozen=True, eq=False)
class TermMap:
    """Map from word IDs to term (stem) numbers of a snapshot.

    Attributes
    ----------
    analyzer : StemAnalyzer
        Settings of the analyzer.
    term_of : ndarray of int32
        Number of the term of each word, or -1.
    n_terms : int
        Number of terms.
    """

    analyzer: StemAnalyzer
    term_of: Int32Array
    n_terms: int

    @cached_property
    def core(self) -> "_core.TermMap":
        """The same map as an object of the compiled core."""
        return _core.TermMap(self.term_of, self.n_terms)


class TermStatistics(NamedTuple):
    """Document frequency of each term, and the total number of tokens, in a snapshot.

    Attributes
    ----------
    frequencies : ndarray of int64
        Number of documents that contain each term.
    tokens : int
        Number of tokens that have a term.
    """

    frequencies: Int64Array
    tokens: int


def add_analyzer(catalog: Catalog, analyzer: StemAnalyzer) -> None:
    """Store the analyzer of a new index in its catalog, within a transaction."""
    settings = analyzer.to_json()
    catalog.execute(
        "INSERT INTO analyzers VALUES (1, ?, 0, 0, ?)", (settings, zlib.crc32(settings.encode()))
    )


def extend_terms(catalog: Catalog, words: Sequence[str], first: int) -> None:
    """Store the terms of new words with IDs from `first`, within a transaction."""
    found = _read_row(catalog)
    if found is None or not words:
        return
    analyzer, n_terms, terms_checksum, map_checksum = found
    start, stored = _last_chunk(catalog)
    (last,) = catalog.execute("SELECT max(number) FROM terms").fetchone()
    if start + len(stored) // _STORED.itemsize != first or (-1 if last is None else last) != (
        n_terms - 1
    ):
        raise damage_error(catalog.path, "its terms disagree with its words")
    of_words = analyzer.terms(words)
    distinct = list(dict.fromkeys(term for term in of_words if term is not None))
    numbers = _numbers(catalog, distinct)
    new = [term for term in distinct if term not in numbers]
    numbers.update(zip(new, range(n_terms, n_terms + len(new)), strict=True))
    catalog.executemany("INSERT INTO terms VALUES (?, ?)", enumerate(new, start=n_terms))
    added = np.array([-1 if term is None else numbers[term] for term in of_words], _STORED)
    chunk = stored + added.tobytes()
    if len(stored) >= _CHUNK * _STORED.itemsize:
        start, chunk = first, added.tobytes()
    catalog.execute("INSERT OR REPLACE INTO word_terms VALUES (?, ?)", (start, chunk))
    catalog.execute(
        "UPDATE analyzers SET terms = ?, terms_checksum = ?, map_checksum = ? WHERE number = 1",
        (
            n_terms + len(new),
            words_checksum(new, terms_checksum),
            zlib.crc32(added.tobytes(), map_checksum),
        ),
    )


def read_term_map(catalog: Catalog, n_words: int) -> TermMap | None:
    """Read the map from words to terms from a catalog, or None without an analyzer.

    Raises
    ------
    DamagedIndexError
        If the map disagrees with its checksum.
    """
    found = _read_row(catalog)
    if found is None:
        return None
    analyzer, n_terms, _, checksum = found
    stored = bytearray()
    for start, chunk in catalog.execute("SELECT first, terms FROM word_terms ORDER BY first"):
        if type(chunk) is not bytes or start * _STORED.itemsize != len(stored):
            raise damage_error(catalog.path, "its table 'word_terms' has gaps")
        stored += chunk
    if len(stored) != n_words * _STORED.itemsize or checksum != zlib.crc32(
        stored, zlib.crc32(analyzer.to_json().encode())
    ):
        raise damage_error(catalog.path, "its table 'word_terms' has changed (checksum)")
    term_of = np.frombuffer(bytes(stored), _STORED).astype(np.int32, copy=False)
    if len(term_of) and not -1 <= term_of.min() <= term_of.max() < n_terms:
        raise damage_error(catalog.path, "its table 'word_terms' has terms that do not exist")
    return TermMap(analyzer, term_of, n_terms)


def find_terms(catalog: Catalog, terms: Sequence[str]) -> Int32Array:
    """Return the number of each term in the index, or -1 for an unknown term."""
    numbers = _numbers(catalog, list(dict.fromkeys(terms)))
    return np.array([numbers.get(term, -1) for term in terms], np.int32)


def term_names(catalog: Catalog, numbers: Sequence[int]) -> list[str]:
    """Return the terms (stems, or words without an analyzer) with the given numbers."""
    names: dict[int, str] = {}
    for start in range(0, len(numbers), _MARKS):
        some = [int(number) for number in numbers[start : start + _MARKS]]
        marks = ", ".join("?" * len(some))
        names.update(
            catalog.execute(f"SELECT number, term FROM terms WHERE number IN ({marks})", some)
        )
    try:
        return [names[int(number)] for number in numbers]
    except KeyError as error:
        raise damage_error(catalog.path, f"its table 'terms' has no number {error}") from error


def term_map_problems(catalog: Catalog, n_words: int) -> list[str]:
    """Return descriptions of inconsistencies in the stored terms."""
    try:
        found = read_term_map(catalog, n_words)
    except DamagedIndexError as error:
        return list(error.problems)
    rows = catalog.execute("SELECT number, term FROM terms ORDER BY number").fetchall()
    row = _read_row(catalog)
    if found is None or row is None:
        (chunks,) = catalog.execute("SELECT count(*) FROM word_terms").fetchone()
        return [f"{CATALOG}: it has terms, but no analyzer"] if rows or chunks else []
    whole = [number for number, _ in rows] == list(range(found.n_terms))
    if not whole or words_checksum([term for _, term in rows], 0) != row[2]:
        return [f"{CATALOG}: the table 'terms' has changed (its checksum differs)"]
    # Terms are numbered in the order of their first words.
    terms = found.term_of[found.term_of >= 0]
    _, first = np.unique(terms, return_index=True)
    if len(first) != found.n_terms or not (np.diff(first) > 0).all():
        return [f"{CATALOG}: the table 'word_terms' has terms out of order"]
    return []


def _read_row(catalog: Catalog) -> tuple[StemAnalyzer, int, int, int] | None:
    row = catalog.execute(
        "SELECT settings, terms, terms_checksum, map_checksum FROM analyzers WHERE number = 1"
    ).fetchone()
    if row is None:
        return None
    settings, *counts = row
    try:
        analyzer = StemAnalyzer.from_json(settings)
    except (RecursionError, TypeError, ValueError) as error:
        raise damage_error(catalog.path, f"its analyzer is invalid ({error})") from error
    if not all(type(count) is int and 0 <= count <= sys.maxsize for count in counts):
        raise damage_error(catalog.path, "its table 'analyzers' must hold counts")
    return analyzer, counts[0], counts[1], counts[2]


def _last_chunk(catalog: Catalog) -> tuple[int, bytes]:
    row: Any = catalog.execute(
        "SELECT first, terms FROM word_terms ORDER BY first DESC LIMIT 1"
    ).fetchone()
    if row is None:
        return 0, b""
    if type(row[1]) is not bytes:
        raise damage_error(catalog.path, "its table 'word_terms' must hold arrays")
    return int(row[0]), row[1]


def _numbers(catalog: Catalog, terms: Sequence[str]) -> dict[str, int]:
    """Return a mapping from each given term to its ID in the catalog, without unknown terms."""
    found: dict[str, int] = {}
    for start in range(0, len(terms), _MARKS):
        some = list(terms[start : start + _MARKS])
        marks = ", ".join("?" * len(some))
        found.update(
            catalog.execute(f"SELECT term, number FROM terms WHERE term IN ({marks})", some)
        )
    return found
