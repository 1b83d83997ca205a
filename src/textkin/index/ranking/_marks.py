"""Documents that a user marks as right or wrong, by their ids or as hits."""

from collections.abc import Iterable, Mapping, Sequence

from textkin.index._records import is_text
from textkin.index.ranking._hit import Hit
from textkin.index.ranking._view import View
from textkin.text.reading._document import shortened

__all__ = ["marked_rows"]

_SHOWN = 3


def marked_rows(
    view: View, relevant: "Iterable[str | Hit]", nonrelevant: "Iterable[str | Hit]"
) -> tuple[list[int], list[int]]:
    """Return the rows of documents that are marked, each once, in their order.

    Parameters
    ----------
    view : View
        The documents.
    relevant, nonrelevant : iterables of str or Hit
        The marks.

    Raises
    ------
    KeyError
        If no document has one of the ids.
    ValueError, TypeError
        If an id is in both lists, or is none.
    """
    good, bad = _ids("relevant", relevant), _ids("nonrelevant", nonrelevant)
    both = [id for id in good if id in bad]
    if both:
        raise ValueError(
            f"a document is relevant or it is not: {_listed(both)} in relevant and in nonrelevant."
        )
    unknown: list[str] = []
    rows = _rows(view, good, unknown), _rows(view, bad, unknown)
    if unknown:
        raise KeyError(
            f"no document has the id {_listed(unknown)}; relevant and nonrelevant take ids of the "
            "index as it was searched."
        )
    return rows


def _ids(name: str, given: "Iterable[str | Hit]") -> dict[str, None]:
    """Return the ids that a user gives, each once, in their order."""
    if isinstance(given, str | Hit | Mapping) or not isinstance(given, Iterable):
        way_out = " Put it into a list." if isinstance(given, str | Hit) else ""
        raise TypeError(
            f"{name} must be a list of ids, or of hits; got {shortened(given, 40)} "
            f"({type(given).__name__}).{way_out}"
        )
    found: dict[str, None] = {}
    for one in given:
        if not isinstance(one, str | Hit):
            raise TypeError(
                f"{name} must hold ids (str) or hits; got {shortened(one, 40)} "
                f"({type(one).__name__})."
            )
        found[one.id if isinstance(one, Hit) else one] = None
    return found


def _rows(view: View, ids: Iterable[str], unknown: list[str]) -> list[int]:
    rows = []
    for id in ids:
        row = view.row_of(id) if is_text(id) else None
        if row is None:
            unknown.append(id)
        else:
            rows.append(row)
    return rows


def _listed(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(shortened(id) for id in ids[:_SHOWN]) + more
