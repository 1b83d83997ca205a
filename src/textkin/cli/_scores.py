"""How many predicted labels are right, and which are taken for which."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from textkin.cli._drawing import Look
from textkin.cli._output import aligned
from textkin.explain import shortened

__all__ = ["Scores"]

_NAME = 24  # columns of a label
_CONFUSIONS = 10  # that are told where the matrix does not fit


@dataclass(frozen=True, slots=True)
class Scores:
    """Predicted beside true labels.

    Attributes
    ----------
    labels : tuple of str
        All that are true or predicted, in order.
    matrix : tuple of tuples of int
        How many documents of each true label (row) got each label (column).
    """

    labels: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, str]]) -> "Scores":
        """Count pairs of true and predicted labels."""
        labels = sorted({label for pair in pairs for label in pair}, key=_order)
        counts = Counter(pairs)
        matrix = tuple(tuple(counts[truth, given] for given in labels) for truth in labels)
        return cls(tuple(labels), matrix)

    @property
    def total(self) -> int:
        """How many documents were scored."""
        return sum(map(sum, self.matrix))

    @property
    def right(self) -> int:
        """How many got their true label."""
        return sum(row[at] for at, row in enumerate(self.matrix))

    def lines(self, look: Look) -> Iterator[str]:
        """Draw accuracy and matrix, or the most frequent confusions where that is too wide."""
        share = 100 * self.right / self.total
        yield (
            f"accuracy {share:.1f} %, error {100 - share:.1f} %: {self.right:,} of "
            f"{self.total:,} are right"
        )
        if len(self.labels) < 2:
            return
        yield ""
        drawn = self._matrix(look)
        if max(map(len, drawn)) <= look.width:
            yield from drawn
            yield "rows: true labels; columns: what they were taken for"
        else:
            yield from self._confusions(look)

    def record(self) -> dict[str, Any]:
        """Return it in plain types."""
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
        return aligned(rows, Look(width=look.width), right=right)

    def _confusions(self, look: Look) -> Iterator[str]:
        wrong = [
            (count, truth, given)
            for truth, row in zip(self.labels, self.matrix, strict=True)
            for given, count in zip(self.labels, row, strict=True)
            if truth != given and count
        ]
        wrong.sort(key=lambda one: -one[0])
        rows = [["times", "label", "taken for"]]
        rows += [[f"{count:,}", truth, given] for count, truth, given in wrong[:_CONFUSIONS]]
        yield from aligned(rows, look, right=[0], cut=[1, 2])
        if len(wrong) > _CONFUSIONS:
            yield f"and {len(wrong) - _CONFUSIONS:,} other confusions; --json has the whole matrix"


def _order(label: str) -> tuple[bool, float, str]:
    """Sort numbers by their size, before all else."""
    try:
        number = float(label)
    except ValueError:
        return True, 0.0, label
    return number != number, number if number == number else 0.0, label
