"""Character spans of the words of a text, as the tokenizer splits it.

The tokenizer returns words without offsets. This module splits a text into ever smaller parts and
checks each split with the tokenizer: the parts must have the words of the whole.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from textkin import _core

__all__ = ["begins_cluster", "is_unspaced", "word_spans"]

_PLAIN_WORD = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*")
_PART = re.compile(r"\S+")
_ZERO_WIDTH_JOINER = "\u200d"
_MOST_FLAGS = 512


def word_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each word of a text; bigrams of unspaced scripts overlap.

    Whitespace always separates words, so the parts between are independent.
    """
    for found in _PART.finditer(text):
        at, part = found.start(), found.group()
        if part.isascii():
            for word in _PLAIN_WORD.finditer(part):
                yield at + word.start(), at + word.end()
        else:
            for start, end in _part_spans(part):
                yield at + start, at + end


def _part_spans(part: str) -> list[tuple[int, int]]:
    whole = _core.tokenise(part, False)
    if not whole:
        return []
    if len(whole) == 1:
        return [_trim(part)]
    found: list[tuple[int, int]] = []
    words: list[str] = []
    for start, end in _split_runs(part):
        run = _core.tokenise(part[start:end], False)
        if len(run) == 1:
            first, last = _trim(part[start:end])
            found.append((start + first, start + last))
        elif run:
            pairs = _pair_spans(part[start:end], run)
            found += [(start + first, start + last) for first, last in pairs]
        words += run
    return found if words == whole else [_trim(part)]


def _split_runs(part: str) -> Iterator[tuple[int, int]]:
    """Yield spans of word characters in the same kind of script."""
    start = 0
    for at in range(len(part) + 1):
        ends = at == len(part)
        cut = not ends and not _in_word(part[at])
        turns = (
            not ends
            and at > start
            and begins_cluster(part, at)
            and is_unspaced(part[at]) != is_unspaced(part[start])
        )
        if ends or cut or turns:
            if start < at:
                yield start, at
            start = at + 1 if cut else at


def _pair_spans(run: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return the spans of the character pairs of a run in an unspaced script."""
    starts = [at for at in range(len(run)) if begins_cluster(run, at)] + [len(run)]
    pairs = [(a, b) for a, b in zip(starts, starts[2:], strict=False)]
    if [_core.tokenise(run[a:b], False) for a, b in pairs] == [[word] for word in words]:
        return pairs
    return [(0, len(run))]


def _trim(part: str) -> tuple[int, int]:
    """Return the span of a word without leading and trailing characters such as apostrophes."""
    start, end = 0, len(part)
    while start < end - 1 and not _in_word(part[start], edge=True):
        start += 1
    while end > start + 1 and not _in_word(part[end - 1], edge=True):
        end -= 1
    return start, end


def _in_word(character: str, *, edge: bool = False) -> bool:
    """Return True if a character can be part of a word (with `edge`, at its ends)."""
    if character.isalnum():
        return True
    if character == "\u200b":  # a zero-width space separates words
        return False
    if not edge and character in "'\u2019":
        return True
    category = unicodedata.category(character)
    # The tokenizer treats some symbols as letters, such as the trademark sign.
    return category[0] == "M" or category in ("Cf", "Cn") or bool(_core.tokenise(character, False))


@lru_cache(maxsize=1 << 14)
def is_unspaced(character: str) -> bool:
    """Return True if the tokenizer splits the script of a character into pairs."""
    return not character.isascii() and len(_core.tokenise(character * 3, False)) == 2


def begins_cluster(text: str, at: int) -> bool:
    """Return True if a user-perceived character (grapheme cluster) starts at offset `at`."""
    if at == 0 or at >= len(text):
        return True
    here, before = text[at], text[at - 1]
    if here.isascii() and before.isascii():
        return True
    if unicodedata.category(here) in ("Mn", "Mc", "Me", "Cf"):
        return False
    if before == _ZERO_WIDTH_JOINER or "\U0001f3fb" <= here <= "\U0001f3ff":  # skin tones
        return False
    if _is_flag(here) and _is_flag(before):  # two regional indicators form one flag
        first = at
        while first > max(0, at - _MOST_FLAGS) and _is_flag(text[first - 1]):
            first -= 1
        return (at - first) % 2 == 0
    # Parts of a Korean syllable
    return not ("\u1160" <= here <= "\u11ff" and "\u1100" <= before <= "\u11ff")


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
