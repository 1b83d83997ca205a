"""Numbers and tables as Markdown."""

__all__ = ["lines", "number"]


def number(value: float | None) -> str:
    """Format a correlation without the leading zero."""
    return "–" if value is None else f"{value:.3f}".replace("0.", ".", 1)


def lines(heads: list[str], rows: list[list[str]]) -> list[str]:
    """Return a table with text in the first column and numbers in the others."""
    aligned = f"| --- |{' ---: |' * (len(heads) - 1)}"
    return [f"| {' | '.join(heads)} |", aligned, *(f"| {' | '.join(row)} |" for row in rows)]
