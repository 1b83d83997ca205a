"""How much a request asks for: what is beyond a limit is refused before anything is done."""

from typing import Any

from textkin.index.ranking._filter_text import filter_of
from textkin.index.ranking._filters import Filter
from textkin.web._problems import Problem
from textkin.web._requests import Round
from textkin.web._settings import Limits

__all__ = ["check_page", "check_pseudo", "check_rounds", "check_text", "checked_filter"]

_MOST_FIELDS = 50  # each is read from all documents


def check_page(limits: Limits, k: int, offset: int) -> None:
    """Raise if too many hits are asked for, or too far down."""
    if k > limits.k:
        raise Problem(
            "invalid", f"k must be at most {limits.k}; got {k}. Ask for pages by offset.", "k"
        )
    if offset > limits.offset:
        raise Problem(
            "invalid",
            f"offset must be at most {limits.offset:,}; got {offset}. Ask more precisely, or "
            "with a filter.",
            "offset",
        )


def check_pseudo(limits: Limits, pseudo: int | None) -> None:
    """Raise if too many of the best are taken for relevant."""
    if pseudo is not None and pseudo > limits.k:
        raise Problem("invalid", f"pseudo must be at most {limits.k}; got {pseudo}.", "pseudo")


def check_text(limits: Limits, text: str | None, field: str = "query") -> None:
    """Raise if a text to look for is too long."""
    if text is not None and len(text) > limits.query:
        raise Problem(
            "too_large",
            f"A text to look for may have {limits.query:,} characters; got {len(text):,}. "
            "Take a part of it.",
            field,
        )


def check_rounds(limits: Limits, rounds: list[Round]) -> None:
    """Raise if there are too many rounds of feedback, or marks in one."""
    if len(rounds) > limits.rounds:
        raise Problem(
            "too_large",
            f"At most {limits.rounds} rounds of feedback; got {len(rounds)}. Leave the "
            "first ones out.",
            "rounds",
        )
    if any(len(marks.relevant) + len(marks.nonrelevant) > limits.marks for marks in rounds):
        raise Problem("too_large", f"At most {limits.marks} marks in a round.", "rounds")


def checked_filter(limits: Limits, where: Any) -> Filter | None:  # noqa: ANN401 (JSON)
    """Return the filter of a request, or raise if it is too long to be looked through."""
    if _length(where, limits.where) > limits.where:
        raise Problem(
            "too_large",
            f"A filter may have {limits.where:,} characters; this one has more. Ask for fewer "
            "values, or give documents a field that says it.",
            "where",
        )
    made = filter_of(where)
    if made is not None and len(made.fields) > _MOST_FIELDS:
        raise Problem(
            "too_large",
            f"A filter may ask for {_MOST_FIELDS} fields; got {len(made.fields):,}.",
            "where",
        )
    return made


def _length(where: object, most: int) -> int:
    """Return about how many characters a filter has as JSON; counting ends beyond the most."""
    total = 0
    left = [where]
    while left and total <= most:
        value = left.pop()
        if isinstance(value, dict):
            left.extend(value)
            left.extend(value.values())
        elif isinstance(value, list):
            left.extend(value)
        total += len(value) if isinstance(value, str) else 1
    return total
