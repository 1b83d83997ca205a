"""Numbers and tables as Markdown."""

__all__ = ["lines", "number"]


def number(value: float | None) -> str:
    """Return a correlation without the zero before its point."""
    return "–" if value is None else f"{value:.3f}".replace("0.", ".", 1)


def lines(heads: list[str], rows: list[list[str]]) -> list[str]:
    """Return a table whose first column is text and whose others are numbers."""
    aligned = f"| --- |{' ---: |' * (len(heads) - 1)}"
    return [f"| {' | '.join(heads)} |", aligned, *(f"| {' | '.join(row)} |" for row in rows)]
