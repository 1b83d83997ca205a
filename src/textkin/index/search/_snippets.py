"""Snippets: the passage of a text that best matches a query, with marked words.

Words match as the index counts them, for example in lowercase, stemmed, or as n-grams.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeAlias

from textkin import _core
from textkin._base import integer
from textkin.exceptions import ParameterTypeError
from textkin.explain import clean, text_width
from textkin.index.search._state import IndexState
from textkin.index.search._term_space import TermSpace
from textkin.index.store import AnalyzerSettings
from textkin.text import TermReader, begins_cluster, is_unspaced, word_spans

__all__ = ["Marks", "Piece", "Snippets", "marked"]

Marks: TypeAlias = tuple[str, str] | Callable[[str], str] | None
"""Strings before and after a matched word, or a function that formats it. If None, no marks."""

_WIDTH = integer(10, 10_000)
_BLOCK = 1000  # block size for long texts, in characters
_LONGEST = 1 << 22  # maximum length of the searched text, in characters
_MOST_WORDS = 1 << 17
_HEAPED = 4  # maximum number of characters per column
_REPEATED = 0.1  # weight factor of a repeated word
_ELLIPSIS = "\u2026"
_TURNING = dict.fromkeys(map(ord, "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e"), None)
_TURNING |= dict.fromkeys(range(0x2066, 0x206A), None)


class Piece(NamedTuple):
    """Piece of a snippet: a text, and whether it matches a query word.

    Attributes
    ----------
    text : str
        Text on one line, without control characters.
    matched : bool
        True if the text is a word of the query.
    """

    text: str
    matched: bool


class _Match(NamedTuple):
    start: int
    end: int
    words: tuple[str, ...]


def marked(
    pieces: Sequence[Piece], marks: Marks = None, escape: Callable[[str], str] | None = None
) -> str:
    """Join the pieces of a snippet to a text, with marks around matched words.

    Parameters
    ----------
    pieces : sequence of Piece
        Snippet.
    marks : pair of str, callable or None
        Strings to put around matched words, or a function that formats a matched word.
    escape : callable, optional
        Function that escapes text of the document before marks are added, such as `html.escape`.

    Examples
    --------
    >>> pieces = [Piece("a <b> ", False), Piece("cat", True)]
    >>> marked(pieces, ("[", "]"))
    'a <b> [cat]'
    >>> import html
    >>> marked(pieces, lambda word: f"<mark>{word}</mark>", html.escape)
    'a &lt;b&gt; <mark>cat</mark>'
    """
    mark = _marking(marks)
    shown = []
    for text, matched in pieces:
        safe = text if escape is None else escape(text)
        shown.append(mark(safe) if matched else safe)
    return "".join(shown)


class Snippets:
    """Finder of the best passage of a text, with the analyzer of an index; thread-safe.

    Parameters
    ----------
    reading : AnalyzerSettings
        Analyzer settings of the index.
    """

    def __init__(self, reading: AnalyzerSettings) -> None:
        self._reading = reading
        self._mutex = threading.Lock()
        self._readers: dict[tuple[int, int], TermReader] = {}

    @classmethod
    def of(cls, state: IndexState) -> "Snippets":
        """Return the `Snippets` object of a snapshot, created once and cached."""
        return state.once("snippets", lambda: cls(state.reading))

    def find(
        self,
        text: str,
        weights: Mapping[str, float],
        width: int,
        terms: TermSpace | None = None,
        breaks: Sequence[int] = (),
    ) -> list[Piece]:
        """Return the passage whose query words have the largest total weight, as pieces.

        Parameters
        ----------
        text : str
            Text. Only the first four million characters are searched.
        weights : mapping of str to float
            Weights of words as the index counts them; words with positive weight are searched.
        width : int
            Maximum width in terminal columns, without the marks.
        terms : TermSpace, optional
            Terms of the index. All forms of a term match its name, and any form matches the others.
        breaks : sequence of int, default=()
            Starts of fields in the text. N-grams end there.

        Returns
        -------
        list of Piece
            Pieces on one line, with whole words; a word that is too long is cut between
            characters. An ellipsis marks omitted text.
        """
        if type(width) is not int or not 10 <= width <= 10_000:
            # Inline check, because this runs for each hit.
            _WIDTH.check("width", width)
        wanted = _Wanted({word: w for word, w in weights.items() if w > 0}, terms)
        region = self._region(text, wanted, width)
        shown = _shown(text[region])
        inside = [at for at in breaks if region.start < at < region.stop]
        before_breaks = [len(list(word_spans(_shown(text[region.start : at])))) for at in inside]
        matches = self._matches(shown, wanted, before_breaks) if wanted.weights else []
        before, after = region.start > 0, region.stop < len(text)
        return _cut(_Line(shown), matches, wanted.weights, width, before=before, after=after)

    def count(self, text: str, weights: Mapping[str, float], terms: TermSpace | None = None) -> int:
        """Return the number of words or n-grams of a text that match, as the index counts them.

        Parameters
        ----------
        text, weights, terms
            As for `find`; the whole text is read.
        """
        wanted = _Wanted({word: w for word, w in weights.items() if w > 0}, terms)
        if not wanted.weights:
            return 0
        return sum(word in wanted.weights for word in wanted.named(self._words(text)))

    def forms(self, words: Sequence[str]) -> list[list[str]]:
        """Return the indexed forms of each word; an empty list for a stop word."""
        with self._mutex:
            reader = self._reader((1, 1))
            ids, starts = reader.read(list(words)).arrays()
            forms = reader.terms.words_at(ids)
        return [forms[start:end] for start, end in pairwise(starts.tolist())]

    def _reader(self, ngram_range: tuple[int, int]) -> TermReader:
        """Return the text reader for an n-gram range; the caller holds the lock."""
        found = self._readers.get(ngram_range)
        if found is None or len(found.terms) > _MOST_WORDS:
            reading = replace(self._reading, ngram_range=ngram_range)
            found = self._readers[ngram_range] = reading.reader(_core.WordTable())
        return found

    def _region(self, text: str, wanted: "_Wanted", width: int) -> slice:
        """Return the range of a long text in which the best passage lies."""
        size = max(_BLOCK, 4 * width)
        if len(text) <= 4 * size:
            return slice(0, len(text))
        ends = [0, *_block_ends(text[:_LONGEST], size)]
        blocks = [slice(a, b) for a, b in pairwise(ends)]
        if not wanted.weights:
            return blocks[0]
        found = [self._words_in(text[block], wanted) for block in blocks]
        found.append({})

        def weight(at: int) -> float:
            both = found[at].keys() | found[at + 1].keys()
            return sum(wanted.weights[word] for word in both)

        best = max(range(len(blocks)), key=weight)  # ties go to the first block
        if not found[best]:  # all matches are in the second block of the pair
            best = min(best + 1, len(blocks) - 1)
        last = blocks[min(best + 1, len(blocks) - 1)]
        return slice(blocks[max(best - 1, 0)].start, last.stop)

    def _words_in(self, text: str, wanted: "_Wanted") -> dict[str, None]:
        words = self._words(text)
        return {word: None for word in wanted.named(words) if word in wanted.weights}

    def _words(self, text: str) -> list[str]:
        with self._mutex:
            return self._reader(self._reading.ngram_range).words(text)

    def _matches(self, shown: str, wanted: "_Wanted", breaks: Sequence[int] = ()) -> list[_Match]:
        """Return the matches of query words in the order of the text.

        No n-gram has words before and after one of the `breaks`, given as numbers of words.
        """
        spans = list(word_spans(shown))
        owned = self.forms([shown[start:end] for start, end in spans])
        owners = [at for at, forms in enumerate(owned) for _ in forms]
        forms = wanted.named([form for forms in owned for form in forms])
        found: dict[int, list[str]] = {}
        shortest, longest = self._reading.ngram_range
        for at in range(len(forms)):
            for size in range(shortest, min(longest, len(forms) - at) + 1):
                run = forms[at] if size == 1 else " ".join(forms[at : at + size])
                last = owners[at + size - 1]
                if run in wanted.weights and not any(owners[at] < one <= last for one in breaks):
                    for owner in owners[at : at + size]:
                        found.setdefault(owner, []).append(run)
        return [_Match(*spans[at], tuple(found[at])) for at in sorted(found)]


class _Wanted:
    """Query words with weights, and the indexed forms that match each of them.

    Attributes
    ----------
    weights : dict of str to float
        Weights by word; of several words with the same term, only the first.
    """

    def __init__(self, weights: dict[str, float], terms: TermSpace | None) -> None:
        self.weights = weights
        self._terms = terms if terms is not None and terms.has_analyzer and weights else None
        self._names: dict[int, str] = {}
        if self._terms is not None:
            names = list(weights)
            for name, number in zip(names, self._terms.numbers(names).tolist(), strict=True):
                if number >= 0:
                    self._names.setdefault(number, name)
            self.weights = {name: weights[name] for name in self._names.values()}

    def named(self, words: list[str]) -> list[str]:
        """Return for each word of a text the query word that it matches, or ""."""
        if self._terms is None:
            return words
        distinct = list(dict.fromkeys(words))
        numbers = self._terms.numbers_of_words(distinct).tolist()
        found = {
            word: self._names.get(number, "")
            for word, number in zip(distinct, numbers, strict=True)
        }
        return [found[word] for word in words]


def _shown(text: str) -> str:
    """Return a text on one line, without control characters."""
    return clean(text.translate(_TURNING))


def _marking(marks: Marks) -> Callable[[str], str]:
    if marks is None:
        return str
    if callable(marks):
        return marks
    if isinstance(marks, tuple | list) and len(marks) == 2:
        before, after = marks
        if isinstance(before, str) and isinstance(after, str):
            return lambda word: f"{before}{word}{after}"
    raise ParameterTypeError(
        "marks",
        "None, a pair of str such as ('**', '**'), or a callable that formats a word",
        repr(marks),
    )


# ---------------------------------------------------------------------- passage selection


class _Line:
    """Text collapsed to one line, with the display width of its parts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._up_to: Sequence[int] = range(len(text) + 1)
        if not text.isascii():
            self._up_to = [0, *accumulate(map(text_width, text))]

    def __len__(self) -> int:
        return len(self.text)

    def fits(self, start: int, end: int, room: int) -> bool:
        # Combining marks take no column, so any number of them could follow a character.
        return self.columns(start, end) <= room and end - start <= _HEAPED * room

    def columns(self, start: int, end: int) -> int:
        return self._up_to[end] - self._up_to[start]


def _cut(
    line: _Line,
    matches: Sequence[_Match],
    weights: Mapping[str, float],
    width: int,
    *,
    before: bool,
    after: bool,
) -> list[Piece]:
    """Select the best passage of a line, and split it at its matches."""
    start, end = 0, len(line)
    if not line.fits(0, len(line), width - before - after):
        room = width - 2  # minus the width of two ellipses
        start, end = _widened(line, *_best(line, matches, weights, room), room)
    while start < end and line.text[start] == " ":
        start += 1
    pieces = [Piece(_ELLIPSIS, False)] if start > 0 or before else []
    inside = [match for match in matches if start <= match.start and match.end <= end]
    if not inside:  # the passage is part of one word
        inside = [_Match(start, end, ()) for match in matches if match.start == start < end]
    at = start
    for first, last in _merged(inside):
        if first > at:
            pieces.append(Piece(line.text[at:first], False))
        pieces.append(Piece(line.text[first:last], True))
        at = last
    if at < end:
        pieces.append(Piece(line.text[at:end], False))
    if end < len(line) or after:
        pieces.append(Piece(_ELLIPSIS, False))
    return pieces


def _best(
    line: _Line, matches: Sequence[_Match], weights: Mapping[str, float], room: int
) -> tuple[int, int]:
    """Return start and end of the heaviest passage that fits, or (0, 0) without matches."""
    best, heaviest = (0, 0), 0.0
    for first, match in enumerate(matches):
        seen: set[str] = set()
        weight = 0.0
        for at in range(first, len(matches)):
            other = matches[at]
            if at > first and not line.fits(match.start, other.end, room):
                break
            for word in other.words:
                weight += weights[word] * (_REPEATED if word in seen else 1.0)
                seen.add(word)
            if weight > heaviest * (1 + 1e-12):
                best, heaviest = (match.start, other.end), weight
    return best


def _widened(line: _Line, start: int, end: int, room: int) -> tuple[int, int]:
    """Extend a passage on both sides to the full width, at word boundaries."""
    while end > start + 1 and not line.fits(start, end, room):  # a word that is too wide
        end -= 1
        while end > start + 1 and not begins_cluster(line.text, end):
            end -= 1
    free = room - line.columns(start, end)
    low = _word_start(line.text, _earliest(line, start, end, room - 3 * free // 5), start)
    high = end
    while high < len(line) and line.fits(low, high + 1, room):
        high += 1
    high = _word_end(line.text, high, end)
    # Width that is not needed after the passage is used before it.
    return _word_start(line.text, _earliest(line, low, high, room), low), high


def _earliest(line: _Line, start: int, end: int, room: int) -> int:
    """Return the smallest start with which a passage still fits the width."""
    while start > 0 and line.fits(start - 1, end, room):
        start -= 1
    return start


def _word_start(text: str, low: int, most: int) -> int:
    """Return the next word boundary after `low` (any character in unspaced scripts)."""
    if low == 0 or text[low - 1] == " ":
        return low
    if not _unspaced_around(text, low):
        space = text.find(" ", low, most)
        return space + 1 if space >= 0 else most
    while low < most and not begins_cluster(text, low):
        low += 1
    return low


def _word_end(text: str, high: int, least: int) -> int:
    """Return the last word boundary before `high` (any character in unspaced scripts)."""
    if high == len(text) or text[high] == " ":
        return high
    if not _unspaced_around(text, high):
        space = text.rfind(" ", least, high)
        if space >= 0 or least > 0:
            return max(space, least)
    while high > least and not begins_cluster(text, high):
        high -= 1
    return high


def _unspaced_around(shown: str, at: int) -> bool:
    """Return True if both characters around `at` belong to a script without spaces."""
    return is_unspaced(shown[at - 1]) and is_unspaced(shown[at])


def _merged(matches: Sequence[_Match]) -> list[tuple[int, int]]:
    """Return the spans of matches, with overlapping and adjacent spans joined."""
    found: list[tuple[int, int]] = []
    for start, end, _ in matches:
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _block_ends(text: str, size: int) -> Iterator[int]:
    """Yield offsets that split a text into blocks of about `size` characters."""
    at = 0
    while at < len(text):
        end = min(at + size, len(text))
        if end < len(text):
            space = text.rfind(" ", at + size // 2, end)
            end = space + 1 if space > 0 else end
        yield end
        at = end
