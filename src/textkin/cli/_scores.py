"""Accuracy and confusion matrix of predicted labels, for ``textkin classify``."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from textkin.cli._output import Look, align
from textkin.explain import shortened

__all__ = ["Scores"]

_NAME = 24  # width of a label
_CONFUSIONS = 10  # confusions listed if the matrix is too wide


@dataclass(frozen=True, slots=True)
class Scores:
    """Counts of true and predicted labels, with accuracy and confusion matrix.

    Attributes
    ----------
    labels : tuple of str
        All true and predicted labels, sorted.
    matrix : tuple of tuples of int
        Number of documents for each true label (row) and predicted label (column).
    """

    labels: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, str]]) -> "Scores":
        """Count pairs of true and predicted labels in a confusion matrix."""
        labels = sorted({label for pair in pairs for label in pair}, key=_order)
        counts = Counter(pairs)
        matrix = tuple(tuple(counts[truth, given] for given in labels) for truth in labels)
        return cls(tuple(labels), matrix)

    @property
    def total(self) -> int:
        """Number of documents with a true label."""
        return sum(map(sum, self.matrix))

    @property
    def right(self) -> int:
        """Number of documents whose predicted label is the true label."""
        return sum(row[at] for at, row in enumerate(self.matrix))

    def lines(self, look: Look) -> Iterator[str]:
        """Yield the accuracy and the confusion matrix as lines, or its largest entries."""
        share = 100 * self.right / self.total
        yield (
            f"accuracy {share:.1f} %, error {100 - share:.1f} %: {self.right:,} of "
            f"{self.total:,} are correct"
        )
        if len(self.labels) < 2:
            return
        yield ""
        drawn = self._matrix(look)
        if max(map(len, drawn)) <= look.width:
            yield from drawn
            yield "rows: true labels; columns: predicted labels"
        else:
            yield from self._confusions(look)

    def record(self) -> dict[str, Any]:
        """Return accuracy and confusion matrix as a dict of JSON types."""
        return {
            "documents": self.total,
            "right": self.right,
            "accuracy": self.right / self.total,
            "error": 1 - self.right / self.total,
            "labels": list(self.labels),
            "confusion": [list(row) for row in self.matrix],
        }

    def _matrix(self, look: Look) -> list[str]:
        numbers = [str(at) for at in range(1, len(self.labels) + 1)]
        rows = [["", "", *numbers, "right"]]
        for at, (label, counts) in enumerate(zip(self.labels, self.matrix, strict=True)):
            total = sum(counts)
            share = f"{100 * counts[at] / total:.1f} %" if total else ""
            cells = [str(count) if count else "." for count in counts]
            rows.append([numbers[at], shortened(label, _NAME), *cells, share])
        right = [0, *range(2, len(rows[0]))]
        return align(rows, Look(width=look.width), right=right)

    def _confusions(self, look: Look) -> Iterator[str]:
        wrong = [
            (count, truth, given)
            for truth, row in zip(self.labels, self.matrix, strict=True)
            for given, count in zip(self.labels, row, strict=True)
            if truth != given and count
        ]
        wrong.sort(key=lambda one: -one[0])
        rows = [["documents", "true label", "predicted label"]]
        rows += [[f"{count:,}", truth, given] for count, truth, given in wrong[:_CONFUSIONS]]
        yield from align(rows, look, right=[0], cut=[1, 2])
        if len(wrong) > _CONFUSIONS:
            yield f"and {len(wrong) - _CONFUSIONS:,} other confusions; --json has the matrix"


def _order(label: str) -> tuple[bool, float, str]:
    """Return a sort key of labels: numbers by value, then other labels by name."""
    try:
        number = float(label)
    except ValueError:
        return True, 0.0, label
    return number != number, number if number == number else 0.0, label
