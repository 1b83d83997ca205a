"""Drawings that suit the terminal at hand."""

import os
import re
import shutil
from dataclasses import dataclass, replace

from textkin.cli._printing import can_show, on_terminal
from textkin.explain import Explanation
from textkin.explain._words import columns

__all__ = ["Look", "drawn"]

_PIPE_WIDTH = 80
_WIDEST = 110
_NARROWEST = 40
_COLOR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class Look:
    """What the output can show.

    Attributes
    ----------
    terminal : bool
        Whether a person looks at it.
    width : int
        Its columns.
    unicode : bool
        Whether lines, blocks and arrows can be shown.
    color : bool
        Whether there are colours and bold letters.
    """

    terminal: bool = False
    width: int = _PIPE_WIDTH
    unicode: bool = True
    color: bool = False

    @classmethod
    def of_output(cls) -> "Look":
        """Look at standard output."""
        terminal = on_terminal()
        width = shutil.get_terminal_size().columns if terminal else _PIPE_WIDTH
        return cls(
            terminal=terminal,
            width=max(_NARROWEST, min(width, _WIDEST)),
            unicode=can_show("━┳┗┣▶×█▏…"),
            color=terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb",
        )

    def narrower(self, by: int) -> "Look":
        """Return what is left beside an indentation."""
        return replace(self, width=max(1, self.width - by))


def drawn(found: Explanation, *, limit: int, indent: int = 0, look: Look | None = None) -> str:
    """Draw as wide as the terminal, in colour if it has any, in ASCII if it must.

    What is too wide for a narrow one is indented less.
    """
    look = look or Look.of_output()
    text = found.to_text(
        limit=limit,
        width=max(1, look.width - indent),
        unicode=look.unicode,
        color=look.color,
    )
    lines = text.splitlines()
    widest = max((columns(_COLOR.sub("", line)) for line in lines), default=0)
    indent = max(0, min(indent, look.width - widest))
    return "\n".join(" " * indent + line for line in lines)
