"""Explanations as plain lines of text."""

from textkin._validation import integer
from textkin.explain._flow import Flow

__all__ = ["flow_lines"]


def flow_lines(flow: Flow, limit: int = 12) -> list[str]:
    """Return a flow as lines: who goes where, how much, at what cost, and what that adds.

    Parameters
    ----------
    flow : Flow
        Any flow.
    limit : int, default=12
        How many moves to show, the largest contributions first; the rest is summed up in one
        line.

    Returns
    -------
    list of str
        No line ends with a newline.

    Examples
    --------
    >>> from textkin.explain import Flow, Move
    >>> flow = Flow.of([Move("media", "press", 1.0, 2.5)], sources=[], targets=[])
    >>> for line in flow_lines(flow):
    ...     print(line)
    media -> press   100.0 % of the mass at 2.5000 adds 2.5000 (100 %)
    """
    integer(1).check("limit", limit)
    shown, rest = flow.moves[:limit], flow.moves[limit:]
    from_width = max((len(move.source) for move in shown), default=0)
    to_width = max((len(move.target) for move in shown), default=0)
    lines = [
        f"{move.source:<{from_width}} -> {move.target:<{to_width}}   "
        f"{move.mass:6.1%} of the mass at {move.cost:.4f} adds {move.contribution:.4f} "
        f"({flow.share(move):.0%})".replace("%", " %")
        for move in shown
    ]
    if rest:
        mass = sum(move.mass for move in rest)
        added = sum(move.contribution for move in rest)
        lines.append(
            f"{len(rest)} smaller moves: {mass:.1%} of the mass, add {added:.4f}".replace("%", " %")
        )
    return lines
