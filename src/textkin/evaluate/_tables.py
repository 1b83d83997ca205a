"""Tables of results as Markdown: our numbers, those of others below them, why some are missing."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textkin.evaluate._results import Results
from textkin.explain._words import clean

if TYPE_CHECKING:
    from textkin.evaluate._experiment import Reference

__all__ = ["Grid", "by_dataset", "by_measure", "plain"]

_TAG = re.compile(r"<(?=[A-Za-z/!?])")


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Attributes
    ----------
    title : str
        What it shows.
    header : sequence of str
        Names of columns; the first is that of the names of rows.
    rows : sequence of sequences of str
        As long as the header.
    notes : sequence of str
        What is to be said below.

    Examples
    --------
    >>> print(Grid("Error", ["", "r8"], [["WMD", "4.5"]], ["k chosen in 1..19."]).to_markdown())
    **Error**
    <BLANKLINE>
    |  | r8 |
    | --- | ---: |
    | WMD | 4.5 |
    <BLANKLINE>
    k chosen in 1..19.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def to_markdown(self) -> str:
        """Return the table with its title and notes."""
        lines = [
            f"**{self.title}**",
            "",
            _line(self.header),
            "| --- |" + " ---: |" * (len(self.header) - 1),
            *map(_line, self.rows),
        ]
        for note in self.notes:
            lines += ["", note]
        return "\n".join(lines)


def by_dataset(
    results: Results,
    measure: str,
    title: str,
    *,
    methods: Sequence[str] | None = None,
    references: Sequence["Reference"] = (),
    form: str = ".1f",
    better: Literal["lower", "higher"] | None = None,
    notes: Mapping[str, str] | None = None,
    scale: float = 1.0,
) -> Grid:
    """Return a table with a row a method and a column a data set.

    Means over splits with their standard error; the best of a column is bold. The numbers of
    others stand below ours.

    Parameters
    ----------
    results : Results
        Whose cells.
    measure : str
        Which number of theirs.
    title : str
        Of the table.
    methods : sequence of str, optional
        Which rows; else all that have results.
    references : sequence of Reference
        Those of this measure are shown.
    form : str, default=".1f"
        Of numbers.
    better : {"lower", "higher"}, optional
        Which one is best.
    notes : mapping of str to str, optional
        Footnotes of methods.
    scale : float, default=1
        What numbers of ours are multiplied by.
    """
    shown = [name for name in (methods or results.methods) if name in results.methods]
    datasets = results.datasets
    references = [one for one in references if one.measure == measure]
    footnotes = _Footnotes()
    best = {dataset: _best(results, shown, dataset, measure, better) for dataset in datasets}
    rows: list[list[str]] = []
    for name in shown:
        mark = footnotes.mark((notes or {}).get(name, ""))
        cells = []
        for dataset in datasets:
            mean = results.mean(name, dataset, measure)
            lacking = "".join(map(footnotes.mark, _lacking(results, name, dataset)))
            if mean is None:
                cells.append(f"–{lacking}")
                continue
            error = results.error(name, dataset, measure)
            number = f"{scale * mean:{form}}"
            bold = f"**{number}**" if mean == best[dataset] else number
            spread = "" if error is None else f" ± {scale * error:{form}}"
            cells.append(f"{bold}{spread}{lacking}")
        rows.append([name + mark, *cells])
        for one in references:
            theirs = one.values.get(name, {})
            if any(dataset in theirs for dataset in datasets):
                numbers = [f"*{theirs[d]:{form}}*" if d in theirs else "" for d in datasets]
                rows.append([f"*– {one.name}*", *numbers])
    sources = [f"*{one.name}*: {one.source}" for one in references]
    return Grid(title, ["", *datasets], rows, [*sources, *footnotes.lines])


def by_measure(
    results: Results,
    method: str,
    columns: Mapping[str, str],
    title: str,
    *,
    references: Sequence["Reference"] = (),
    notes: Sequence[str] = (),
) -> Grid:
    """Return a table of one method with a row a data set and a column a measure.

    Parameters
    ----------
    results : Results
        Whose cells.
    method : str
        Whose row.
    columns : mapping of str to str
        Of the name of a measure to the form of its numbers, such as ",.0f".
    title : str
        Of the table.
    references : sequence of Reference
        Numbers of others, by their measures.
    notes : sequence of str
        To stand below.
    """
    footnotes = _Footnotes()
    by_name: dict[str, dict[str, Reference]] = {}
    for one in references:
        by_name.setdefault(one.name, {})[one.measure] = one
    rows: list[list[str]] = []
    for dataset in results.datasets:
        cells = []
        for measure, form in columns.items():
            number = results.mean(method, dataset, measure)
            lacking = "".join(map(footnotes.mark, _lacking(results, method, dataset)))
            cells.append(f"{'–' if number is None else f'{number:{form}}'}{lacking}")
        rows.append([dataset, *cells])
        for name, of_measure in by_name.items():
            theirs = [
                of_measure[measure].values.get(method, {}).get(dataset)
                if measure in of_measure
                else None
                for measure in columns
            ]
            if any(number is not None for number in theirs):
                texts = [
                    "" if number is None else f"*{number:{form}}*"
                    for number, form in zip(theirs, columns.values(), strict=True)
                ]
                rows.append([f"*– {name}*", *texts])
    sources = {f"*{one.name}*: {one.source}": None for one in references}
    return Grid(title, ["", *columns], rows, [*sources, *notes, *footnotes.lines])


class _Footnotes:
    """Texts that are said once, and marked wherever they hold."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, text: str) -> str:
        """Return the mark of a text; none of an empty one."""
        if not text:
            return ""
        return f" [{self._numbers.setdefault(text, len(self._numbers) + 1)}]"

    @property
    def lines(self) -> list[str]:
        """What the marks mean."""
        return [f"[{number}] {plain(text)}" for text, number in self._numbers.items()]


def _lacking(results: Results, method: str, dataset: str) -> list[str]:
    """Say why there is no number, or of how few splits it is the mean."""
    outcomes = results.outcomes(method, dataset)
    reasons = sorted({outcome.missing for outcome in outcomes if outcome.missing})
    done = sum(outcome.values is not None for outcome in outcomes)
    every = len({cell.split for cell in results.cells if cell.dataset == dataset})
    if done in (0, every):
        return reasons
    return [f"Of {done} of {every} splits{': ' + ' '.join(reasons) if reasons else '.'}"]


def _best(
    results: Results, methods: Iterable[str], dataset: str, measure: str, better: str | None
) -> float | None:
    found = [results.mean(method, dataset, measure) for method in methods]
    numbers = [number for number in found if number is not None]
    if better is None or not numbers:
        return None
    return min(numbers) if better == "lower" else max(numbers)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(plain(cell).replace("|", "\\|") for cell in cells) + " |"


def plain(text: str) -> str:
    r"""Return a text on one line, a stranger's perhaps, in which Markdown finds no HTML or link.

    Examples
    --------
    >>> plain("<b>[a](b:c) p < 0.01")
    '&lt;b>[a]\\(b:c) p < 0.01'
    """
    return _TAG.sub("&lt;", clean(text)).replace("](", "]\\(")
