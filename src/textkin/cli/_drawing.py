"""Drawings that suit the terminal at hand."""

import os
import shutil
import sys

from textkin.transport import Comparison

__all__ = ["drawn"]

_PIPE_WIDTH = 80


def drawn(comparison: Comparison, *, limit: int, indent: int = 0) -> str:
    """Draw a flow as wide as the terminal, in colour if it has any, in ASCII if it must."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else _PIPE_WIDTH
    text = comparison.to_text(
        limit=limit,
        width=max(40, min(width, 110) - indent),
        unicode=_can_show("━┳┗┣▶×█▏…"),
        color=terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb",
    )
    return "\n".join(" " * indent + line for line in text.splitlines())


def _can_show(characters: str) -> bool:
    try:
        characters.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True
