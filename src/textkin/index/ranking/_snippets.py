"""Snippets: the passage of a text that has most of the words of a query, with these marked.

Words match as the index counts them (lower case, stems, n-grams). The tokeniser gives words and
not where they stood, so the places are found by cutting the text ever finer, and each cut is held
against the tokeniser: the parts must have the words of the whole, or the whole stays.
"""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeAlias

from textkin import _core
from textkin._validation import integer
from textkin.explain._words import clean, columns
from textkin.index.ranking._view import View
from textkin.text._terms import TermReader

__all__ = ["Marks", "Piece", "Snippets", "marked"]

Marks: TypeAlias = tuple[str, str] | Callable[[str], str] | None
"""What is put before and after a matched word, or what it is turned into; None leaves it."""

_WIDTH = integer(10, 10_000)
_BLOCK = 1000  # characters that are looked at together in a long text
_LONGEST = 1 << 22  # characters of a text that are looked through
_MOST_WORDS = 1 << 17
_HEAPED = 4  # characters in a column at most
_MOST_FLAGS = 512
_REPEATED = 0.1  # what a word adds when it occurs again
_ELLIPSIS = "\u2026"
_TURNING = dict.fromkeys(map(ord, "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e"), None)
_TURNING |= dict.fromkeys(range(0x2066, 0x206A), None)
_PLAIN_WORD = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*")
_ZERO_WIDTH_JOINER = "\u200d"


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
        return view.once(cls, lambda: cls(view))

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
        spans = list(_word_spans(shown))
        owners: list[int] = []
        forms: list[str] = []
        with self._mutex:
            if self._reader is None or len(self._reader.terms) > _MOST_WORDS:
                single = replace(self._view.reading, ngram_range=(1, 1))
                self._reader = single.reader(_core.WordTable())
            ids, starts = self._reader.read([shown[a:b] for a, b in spans]).arrays()
            forms = self._reader.terms.words_at(ids)
        for at in range(len(spans)):
            owners += [at] * int(starts[at + 1] - starts[at])
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
    at = start
    for first, last in _merged(matches):
        first, last = max(first, start), min(last, end)
        if first >= last:
            continue
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
        while end > start + 1 and not _begins_cluster(line.text, end):
            end -= 1
    low, high = start, end
    behind = room - line.columns(start, end)
    ahead = behind // 3  # what comes after says more
    while low > 0 and line.fits(low - 1, end, room - behind + ahead):
        low -= 1
    while high < len(line) and line.fits(low, high + 1, room):
        high += 1
    if high == len(line):
        while low > 0 and line.fits(low - 1, high, room):
            low -= 1
    return _word_start(line.text, low, start), _word_end(line.text, high, end)


def _word_start(text: str, low: int, most: int) -> int:
    """Move a beginning forward to that of a word, or of a character where there are no spaces."""
    if low == 0 or text[low - 1] == " ":
        return low
    if not _unspaced_around(text, low):
        space = text.find(" ", low, most)
        return space + 1 if space >= 0 else most
    while low < most and not _begins_cluster(text, low):
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
    while high > least and not _begins_cluster(text, high):
        high -= 1
    return high


def _unspaced_around(shown: str, at: int) -> bool:
    """Return whether a script without spaces stands on both sides of a place."""
    return _unspaced(shown[at - 1]) and _unspaced(shown[at])


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


# ---------------------------------------------------------------------- where words stand


def _word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Give where the words of a text on one line stand; pairs of signs overlap.

    Spaces separate words, whatever stands beside them; so the parts between them can be looked
    at one by one.
    """
    at = 0
    for part in text.split(" "):
        if part.isascii():
            for word in _PLAIN_WORD.finditer(part):
                yield at + word.start(), at + word.end()
        elif part:
            for start, end in _spans_of_part(part):
                yield at + start, at + end
        at += len(part) + 1


def _spans_of_part(part: str) -> list[tuple[int, int]]:
    whole = _core.tokenise(part, False)
    if not whole:
        return []
    if len(whole) == 1:
        return [_trimmed(part)]
    found: list[tuple[int, int]] = []
    words: list[str] = []
    for start, end in _runs(part):
        run = _core.tokenise(part[start:end], False)
        if len(run) == 1:
            first, last = _trimmed(part[start:end])
            found.append((start + first, start + last))
        elif run:
            pairs = _pairs(part[start:end], run)
            found += [(start + first, start + last) for first, last in pairs]
        words += run
    return found if words == whole else [_trimmed(part)]


def _runs(part: str) -> Iterator[tuple[int, int]]:
    """Cut at what is in no word, and where a script without spaces begins or ends."""
    start = 0
    for at in range(len(part) + 1):
        ends = at == len(part)
        cut = not ends and not _in_word(part[at])
        turns = (
            not ends
            and at > start
            and _begins_cluster(part, at)
            and _unspaced(part[at]) != _unspaced(part[start])
        )
        if ends or cut or turns:
            if start < at:
                yield start, at
            start = at + 1 if cut else at


def _pairs(run: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of the overlapping pairs of a run, or of all of it if they are others."""
    starts = [at for at in range(len(run)) if _begins_cluster(run, at)] + [len(run)]
    pairs = [(a, b) for a, b in zip(starts, starts[2:], strict=False)]
    if [_core.tokenise(run[a:b], False) for a, b in pairs] == [[word] for word in words]:
        return pairs
    return [(0, len(run))]


def _trimmed(part: str) -> tuple[int, int]:
    """Return a part without what stands around its word."""
    start, end = 0, len(part)
    while start < end - 1 and not _in_word(part[start], edge=True):
        start += 1
    while end > start + 1 and not _in_word(part[end - 1], edge=True):
        end -= 1
    return start, end


def _in_word(character: str, *, edge: bool = False) -> bool:
    """Return whether a character can be in a word (at its edge: begin or end one)."""
    if character.isalnum():
        return True
    if character == "\u200b":  # a space without width
        return False
    if not edge and character in "'\u2019":
        return True
    category = unicodedata.category(character)
    # Symbols such as the trademark sign are letters in the tokeniser's eyes.
    return category[0] == "M" or category in ("Cf", "Cn") or bool(_core.tokenise(character, False))


@lru_cache(maxsize=1 << 14)
def _unspaced(character: str) -> bool:
    """Return whether a character is of a script that the tokeniser takes pairs of."""
    return not character.isascii() and len(_core.tokenise(character * 3, False)) == 2


def _begins_cluster(text: str, at: int) -> bool:
    """Return whether a text can be cut before a character, as people see characters."""
    if at == 0 or at >= len(text):
        return True
    here, before = text[at], text[at - 1]
    if here.isascii() and before.isascii():
        return True
    if unicodedata.category(here) in ("Mn", "Mc", "Me", "Cf"):
        return False
    if before == _ZERO_WIDTH_JOINER or "\U0001f3fb" <= here <= "\U0001f3ff":  # colours of skin
        return False
    if _is_flag(here) and _is_flag(before):  # two letters make one flag
        first = at
        while first > max(0, at - _MOST_FLAGS) and _is_flag(text[first - 1]):
            first -= 1
        return (at - first) % 2 == 0
    # Parts of a Korean syllable
    return not ("\u1160" <= here <= "\u11ff" and "\u1100" <= before <= "\u11ff")


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
