"""The style of the drawings, as one file."""

from textkin import explain

__all__ = ["explain_style"]


def explain_style() -> str:
    """Return the style sheet that drawings inside of the page need."""
    found = getattr(explain, "stylesheet", None)
    return "" if found is None else str(found())
