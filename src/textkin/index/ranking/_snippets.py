"""Snippets: the passage of a text that has most of the words of a query, with these marked.

Words match as the index counts them: in lower case, as stems, in runs, whatever it was made with.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeAlias

from textkin import _core
from textkin._validation import integer
from textkin.explain._words import clean, columns
from textkin.index.ranking._view import View
from textkin.text._terms import TermReader
from textkin.text._word_places import begins_cluster, is_unspaced, word_spans

__all__ = ["Marks", "Piece", "Snippets", "marked"]

Marks: TypeAlias = tuple[str, str] | Callable[[str], str] | None
"""What is put before and after a matched word, or what it is turned into; None leaves it."""

_WIDTH = integer(10, 10_000)
_BLOCK = 1000  # characters that are looked at together in a long text
_LONGEST = 1 << 22  # characters of a text that are looked through
_MOST_WORDS = 1 << 17
_HEAPED = 4  # characters in a column at most
_REPEATED = 0.1  # what a word adds when it occurs again
_ELLIPSIS = "\u2026"
_TURNING = dict.fromkeys(map(ord, "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e"), None)
_TURNING |= dict.fromkeys(range(0x2066, 0x206A), None)


class Piece(NamedTuple):
    """A part of a snippet.

    Attributes
    ----------
    text : str
        On one line, without control characters.
    matched : bool
        Whether it is a word of the query.
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
    """Return a snippet as text.

    Parameters
    ----------
    pieces : sequence of Piece
        The snippet.
    marks : pair of str, callable or None
        What is put around matched words, or what turns one into what is shown.
    escape : callable, optional
        Applied to all that comes from the document, before the marks, such as `html.escape`.

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
    """Finds passages of texts with words as a view counts them; safe for several threads.

    Parameters
    ----------
    view : View
        The documents.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._mutex = threading.Lock()
        self._reader: TermReader | None = None

    @classmethod
    def of(cls, view: View) -> "Snippets":
        """Return that of a view, made once."""
        return view.once("snippets", lambda: cls(view))

    def find(self, text: str, weights: Mapping[str, float], width: int) -> list[Piece]:
        """Return the passage with most of the words, by their weights; of equals the first.

        Parameters
        ----------
        text : str
            Any text; of one with more than four million characters the first ones are looked at.
        weights : mapping of str to float
            Words as the index counts them; those with weights above 0 are looked for.
        width : int
            How many columns of a terminal the snippet takes at most, marks not counted.

        Returns
        -------
        list of Piece
            What they hold is on one line. Whole words; a word that is too long is cut between
            characters. An ellipsis stands where the text goes on.
        """
        _WIDTH.check("width", width)
        wanted = {word: weight for word, weight in weights.items() if weight > 0}
        region = self._region(text, wanted, width)
        shown = clean(text[region].translate(_TURNING))
        matches = self._matches(shown, wanted) if wanted else []
        before, after = region.start > 0, region.stop < len(text)
        return _cut(_Line(shown), matches, wanted, width, before=before, after=after)

    def forms(self, words: Sequence[str]) -> list[list[str]]:
        """Return what the index makes of each word; of a stop word nothing."""
        with self._mutex:
            if self._reader is None or len(self._reader.terms) > _MOST_WORDS:
                single = replace(self._view.reading, ngram_range=(1, 1))
                self._reader = single.reader(_core.WordTable())
            ids, starts = self._reader.read(list(words)).arrays()
            forms = self._reader.terms.words_at(ids)
        return [forms[start:end] for start, end in pairwise(starts.tolist())]

    def _region(self, text: str, wanted: Mapping[str, float], width: int) -> slice:
        """Return the part of a long text in which to look closely."""
        size = max(_BLOCK, 4 * width)
        if len(text) <= 4 * size:
            return slice(0, len(text))
        ends = [0, *_block_ends(text[:_LONGEST], size)]
        blocks = [slice(a, b) for a, b in pairwise(ends)]
        if not wanted:
            return blocks[0]
        found = [self._view_words(text[block], wanted) for block in blocks]
        found.append({})

        def weight(at: int) -> float:
            both = found[at].keys() | found[at + 1].keys()
            return sum(wanted[word] for word in both)

        best = max(range(len(blocks)), key=weight)  # of equals the first
        if not found[best]:  # all in the second of the two
            best = min(best + 1, len(blocks) - 1)
        last = blocks[min(best + 1, len(blocks) - 1)]
        return slice(blocks[max(best - 1, 0)].start, last.stop)

    def _view_words(self, text: str, wanted: Mapping[str, float]) -> dict[str, None]:
        return {word: None for word in self._view.read(text) if word in wanted}

    def _matches(self, shown: str, wanted: Mapping[str, float]) -> list[_Match]:
        """Return where words of the query stand, in the order of the text."""
        spans = list(word_spans(shown))
        owned = self.forms([shown[start:end] for start, end in spans])
        owners = [at for at, forms in enumerate(owned) for _ in forms]
        forms = [form for forms in owned for form in forms]
        found: dict[int, list[str]] = {}
        shortest, longest = self._view.reading.ngram_range
        for at in range(len(forms)):
            for size in range(shortest, min(longest, len(forms) - at) + 1):
                run = forms[at] if size == 1 else " ".join(forms[at : at + size])
                if run in wanted:
                    for owner in owners[at : at + size]:
                        found.setdefault(owner, []).append(run)
        return [_Match(*spans[at], tuple(found[at])) for at in sorted(found)]


def _marking(marks: Marks) -> Callable[[str], str]:
    if marks is None:
        return str
    if callable(marks):
        return marks
    if isinstance(marks, tuple | list) and len(marks) == 2:
        before, after = marks
        if isinstance(before, str) and isinstance(after, str):
            return lambda word: f"{before}{word}{after}"
    raise TypeError(
        "marks must be None, a pair of str such as ('**', '**'), or a callable from a word to "
        f"what is shown; got {marks!r}."
    )


# ---------------------------------------------------------------------- the passage


class _Line:
    """A text on one line with the columns that its parts take."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._up_to: Sequence[int] = range(len(text) + 1)
        if not text.isascii():
            self._up_to = [0, *accumulate(map(columns, text))]

    def __len__(self) -> int:
        return len(self.text)

    def fits(self, start: int, end: int, room: int) -> bool:
        # Marks take no column and may be heaped up without end.
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
    """Choose the passage and cut it into pieces."""
    start, end = 0, len(line)
    if not line.fits(0, len(line), width - before - after):
        room = width - 2  # for the ellipses
        start, end = _widened(line, *_best(line, matches, weights, room), room)
    while start < end and line.text[start] == " ":
        start += 1
    pieces = [Piece(_ELLIPSIS, False)] if start > 0 or before else []
    inside = [match for match in matches if start <= match.start and match.end <= end]
    if not inside:  # one word that is wider than all
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
    """Return the run of matches that fits and weighs most; (0, 0) if there is none."""
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
    """Take text before and after as far as there is room, and whole words of it."""
    while end > start + 1 and not line.fits(start, end, room):  # a word that is wider than that
        end -= 1
        while end > start + 1 and not begins_cluster(line.text, end):
            end -= 1
    free = room - line.columns(start, end)
    low = _word_start(line.text, _earliest(line, start, end, room - 3 * free // 5), start)
    high = end
    while high < len(line) and line.fits(low, high + 1, room):
        high += 1
    high = _word_end(line.text, high, end)
    # What was not needed behind is taken before.
    return _word_start(line.text, _earliest(line, low, high, room), low), high


def _earliest(line: _Line, start: int, end: int, room: int) -> int:
    """Return from where on a passage fits."""
    while start > 0 and line.fits(start - 1, end, room):
        start -= 1
    return start


def _word_start(text: str, low: int, most: int) -> int:
    """Move a beginning forward to that of a word, or of a character where there are no spaces."""
    if low == 0 or text[low - 1] == " ":
        return low
    if not _unspaced_around(text, low):
        space = text.find(" ", low, most)
        return space + 1 if space >= 0 else most
    while low < most and not begins_cluster(text, low):
        low += 1
    return low


def _word_end(text: str, high: int, least: int) -> int:
    """Move an end back to that of a word, or of a character where there are no spaces."""
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
    """Return whether a script without spaces stands on both sides of a place."""
    return is_unspaced(shown[at - 1]) and is_unspaced(shown[at])


def _merged(matches: Sequence[_Match]) -> list[tuple[int, int]]:
    """Return places of matches, those that overlap or touch as one (pairs of Chinese signs)."""
    found: list[tuple[int, int]] = []
    for start, end, _ in matches:
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _block_ends(text: str, size: int) -> Iterator[int]:
    """Give where blocks of about a size end, after a space if there is one near."""
    at = 0
    while at < len(text):
        end = min(at + size, len(text))
        if end < len(text):
            space = text.rfind(" ", at + size // 2, end)
            end = space + 1 if space > 0 else end
        yield end
        at = end
