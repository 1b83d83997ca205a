"""What ``textkin classify`` found, as lines, as a table and as a record."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import typer

from textkin.cli._drawing import Look, drawn
from textkin.cli._opened import documents_told
from textkin.cli._output import Output, aligned
from textkin.cli._printing import note, one_line
from textkin.cli._scores import Scores

if TYPE_CHECKING:
    from textkin.explain import Evidence
    from textkin.learn import RocchioClassifier
    from textkin.text import Document

__all__ = ["Classified", "Prediction"]

_PARTS = 8  # of an explanation


@dataclass(frozen=True, slots=True)
class Prediction:
    """A document and the label that it was given.

    Attributes
    ----------
    document : Document
        Its own label, if it has one, is the true one.
    label : str
        What it was given.
    score : float
        The share of the votes, or the cosine with the mean of the label.
    evidence : Evidence or None
        The neighbours that voted.
    prototypes : RocchioClassifier or None
        What compared it with the mean of each label.
    alone : bool
        Whether it has nothing in common with any mean.
    """

    document: "Document"
    label: str
    score: float
    evidence: "Evidence | None" = None
    prototypes: "RocchioClassifier | None" = None
    alone: bool = False

    @property
    def empty(self) -> bool:
        """Whether there was nothing to compare, and its label is the most frequent."""
        return self.alone if self.evidence is None else self.evidence.empty

    @property
    def truth(self) -> str:
        """The true label, or nothing."""
        return "" if self.document.label is None else str(self.document.label)

    @property
    def nearest(self) -> tuple[str, str]:
        """The id of the nearest neighbour and its distance, or nothing."""
        if self.evidence is None or not self.evidence.neighbors:
            return "", ""
        nearest = self.evidence.neighbors[0]
        return nearest.name, f"{nearest.distance:.4f}"

    def lines(self, look: Look) -> list[str]:
        """Say why it has its label."""
        if self.evidence is not None:
            text = self.evidence.to_text(explained=1, width=look.width, unicode=look.unicode)
            return text.splitlines()
        assert self.prototypes is not None
        head = f"{self.label}: cosine {self.score:.4f} with its mean"
        parts = self.prototypes.explain(self.document)
        return [
            one_line([head], look.width),
            f"  {one_line([self.document.id, self.document.text], look.width - 2)}",
            drawn(parts, limit=_PARTS, indent=2, look=look),
        ]

    def record(self, *, explain: bool) -> dict[str, Any]:
        """Return it in plain types."""
        found: dict[str, Any] = {"id": self.document.id, "label": self.label}
        if self.document.label is not None:
            found["true"] = self.truth
        if self.evidence is None:
            assert self.prototypes is not None
            found |= {"cosine": self.score, "empty": self.empty}
            if explain:
                found["explanation"] = self.prototypes.explain(self.document).to_dict()
            return found
        told = self.evidence.to_dict()
        found |= {name: told[name] for name in ("share", "shares", "empty", "neighbors")}
        if explain and self.evidence.neighbors:
            reason = self.evidence.explain(0)
            found["explanation"] = None if reason is None else reason.to_dict()
        return found


@dataclass(frozen=True)
class Classified:
    """All predictions.

    Attributes
    ----------
    predictions : list of Prediction
        One a document.
    labels : tuple of str
        Those that were learnt.
    n_teachers : int
        Documents that were learnt from.
    settings : dict
        The options, and what was chosen by tuning.
    seconds : float
        What learning and classifying took.
    """

    predictions: list[Prediction]
    labels: tuple[str, ...]
    n_teachers: int
    settings: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    @cached_property
    def scores(self) -> Scores | None:
        """How many are right, where true labels are known; None where they are not."""
        pairs = [(one.truth, one.label) for one in self.predictions if one.truth]
        if not pairs:
            return None
        if not any(truth in self.labels for truth, _ in pairs):
            return None
        return Scores.of(pairs)

    def show(self, output: Output, *, explain: bool) -> None:
        """Put it where it was asked for, and tell what should be known."""
        output.put(
            lines=lambda look: self._lines(look, explain=explain),
            record=lambda: self._record(explain=explain),
            table=self._table,
            html=self._page,
        )
        if not output.tells_all:
            self._tell()

    @property
    def _voted(self) -> bool:
        return any(one.evidence is not None for one in self.predictions)

    def _lines(self, look: Look, *, explain: bool) -> Iterator[str]:
        if explain:
            for at, one in enumerate(self.predictions):
                yield from [""] if at else []
                yield from one.lines(look)
        else:
            yield from self._rows(look)
        if self.scores is not None:
            yield ""
            yield from self.scores.lines(look)

    def _rows(self, look: Look) -> list[str]:
        scored = self.scores is not None
        heads = ["id", "label", *(["true"] if scored else [])]
        heads += ["votes", "nearest", "distance"] if self._voted else ["cosine"]
        rows = [heads]
        for one in self.predictions:
            row = [one.document.id, one.label, *([one.truth] if scored else [])]
            if self._voted:
                nearest = one.nearest  # an empty document has none, and no votes
                row += [f"{100 * one.score:.0f} %" if any(nearest) else "", *nearest]
            else:
                row += [f"{one.score:.4f}"]
            rows.append(row)
        at = 3 if scored else 2
        right = (at, at + 2)
        return aligned(rows, look, right=right, cut=[n for n in range(at + 2) if n != at])

    def _table(self) -> Iterator[Sequence[object]]:
        truths = any(one.truth for one in self.predictions)
        heads = ["id", "label", *(["true"] if truths else [])]
        yield [*heads, *(["share", "nearest", "distance"] if self._voted else ["cosine"])]
        for one in self.predictions:
            row: list[object] = [one.document.id, one.label, *([one.truth] if truths else [])]
            row.append(repr(one.score))
            if self._voted:
                assert one.evidence is not None
                nearest = one.evidence.neighbors[:1]
                row += [nearest[0].name, repr(nearest[0].distance)] if nearest else ["", ""]
            yield row

    def _record(self, *, explain: bool) -> dict[str, Any]:
        return {
            **self.settings,
            "labels": list(self.labels),
            "training_documents": self.n_teachers,
            "seconds": self.seconds,
            "scores": None if self.scores is None else self.scores.record(),
            "documents": [one.record(explain=explain) for one in self.predictions],
        }

    def _page(self) -> str:
        from textkin.explain import EvidenceList

        found = EvidenceList([one.evidence for one in self.predictions if one.evidence is not None])
        return found.to_html(title=f"{self.settings['test'] or self.settings['train']}: labels")

    def _tell(self) -> None:
        number = len(self.predictions)
        unknown = {one.truth for one in self.predictions if one.truth} - set(self.labels)
        if self.scores is None and unknown:
            note("the true labels are none of those that were learnt; nothing is scored.")
        elif unknown:
            shown = one_line(sorted(unknown), 40)
            note(f"no document to learn from has these true labels: {one_line([shown], 200)}")
        empty = sum(one.empty for one in self.predictions)
        if empty:
            note(
                f"{empty:,} of {documents_told(number)} without words to compare: given the most "
                "frequent label."
            )
        how = self.settings["by"]
        if self._voted:
            chosen = " chosen" if "tuning" in self.settings else ""
            how += f", k = {self.settings['k']}{chosen}"
        labels = "1 label" if len(self.labels) == 1 else f"{len(self.labels):,} labels"
        typer.echo(
            f"textkin: {documents_told(number)} classified, learnt from {self.n_teachers:,} with "
            f"{labels} ({how}), in {self.seconds:.1f} s",
            err=True,
        )
