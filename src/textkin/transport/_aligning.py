"""Where the words of a flow stand in the texts that were compared."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from textkin._typing import Int32Array, WordLookup
from textkin.explain import Place
from textkin.text._terms import Preparation, TermReader
from textkin.text._word_places import word_spans

__all__ = ["FindsWords", "TextWords", "placed_words"]


class FindsWords(Protocol):
    """What finds the words that count in a text."""

    def __call__(self, text: str) -> list[Place]:
        """Return where words stand, and by which names a flow has them."""
        ...


def placed_words(
    text: str,
    forms_of: Callable[[Sequence[str]], list[list[str]]],
    rows_of: Callable[[Sequence[str]], Int32Array],
    name_of: Callable[[int], str],
) -> list[Place]:
    """Return where words stand in a text.

    Parameters
    ----------
    text : str
        Any text.
    forms_of : callable
        What each of some written words is counted as; of a stop word nothing.
    rows_of : callable
        The row of the vectors of each of some distinct words; -1 for none, less for a stop word.
    name_of : callable
        The name of a row.
    """
    spans = list(word_spans(text))
    written = list(dict.fromkeys(text[start:end] for start, end in spans))
    forms = dict(zip(written, forms_of(written), strict=True))
    counted = list(dict.fromkeys(form for some in forms.values() for form in some))
    rows = dict(zip(counted, rows_of(counted).tolist(), strict=True))
    places = []
    for start, end in spans:
        found = [rows[form] for form in forms[text[start:end]]]
        known = tuple(name_of(row) for row in found if row >= 0)
        if known:
            places.append(Place(start, end, known))
        else:
            places.append(Place(start, end, (), "unknown" if -1 in found else "stop"))
    return places


@dataclass(frozen=True, slots=True, eq=False)
class TextWords:
    """Finds words as `WordMover` reads them.

    Attributes
    ----------
    prepared : Preparation
        How texts are read.
    lookup : WordLookup
        The vectors.
    """

    prepared: Preparation
    lookup: WordLookup

    def __call__(self, text: str) -> list[Place]:
        """Return where words stand, and by which names a flow has them."""
        return placed_words(text, self._forms, self.lookup.lookup, self.lookup.words.__getitem__)

    def _forms(self, words: Sequence[str]) -> list[list[str]]:
        reader = TermReader(self.prepared)
        ids, starts = reader.read(list(words)).arrays()
        forms = reader.terms.words_at(ids)
        return [forms[start:end] for start, end in pairwise(starts.tolist())]
