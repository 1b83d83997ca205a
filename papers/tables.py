"""Tables of results as Markdown, with reference numbers and reasons for missing numbers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from papers.results import Results
from textkin.explain import clean

if TYPE_CHECKING:
    from papers.runner import Reference

__all__ = ["Grid", "by_dataset", "by_measure", "plain"]

_TAG = re.compile(r"<(?=[A-Za-z/!?])")


@dataclass(frozen=True)
class Grid:
    """Table of strings.

    Attributes
    ----------
    title : str
        Title of the table.
    header : sequence of str
        Column names; the first column has the names of the rows.
    rows : sequence of sequences of str
        Cells of each row.
    notes : sequence of str
        Paragraphs below the table.

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
    """Return a table with one row per method and one column per data set.

    Cells have the mean over splits with its standard error; the best mean of a column is bold.
    Reference numbers are in the row below ours.

    Parameters
    ----------
    results : Results
        Results with the cells.
    measure : str
        Name of the measure.
    title : str
        Title of the table.
    methods : sequence of str, optional
        Methods to show. If None, all methods with results.
    references : sequence of Reference
        References; only references for this measure are shown.
    form : str, default=".1f"
        Format of numbers.
    better : {"lower", "higher"}, optional
        Direction of the best mean. If None, no mean is bold.
    notes : mapping of str to str, optional
        Footnotes by method.
    scale : float, default=1
        Factor applied to our numbers.
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
    """Return a table of one method with one row per data set and one column per measure.

    Parameters
    ----------
    results : Results
        Results with the cells.
    method : str
        Method to show.
    columns : mapping of str to str
        Measures, with the format of their numbers, such as ",.0f".
    title : str
        Title of the table.
    references : sequence of Reference
        Reference numbers, by measure.
    notes : sequence of str
        Paragraphs below the table.
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
    """Numbered footnotes, where equal texts share a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, text: str) -> str:
        """Return the mark of a footnote, or "" for an empty text."""
        if not text:
            return ""
        return f" [{self._numbers.setdefault(text, len(self._numbers) + 1)}]"

    @property
    def lines(self) -> list[str]:
        """Footnotes with their marks."""
        return [f"[{number}] {plain(text)}" for text, number in self._numbers.items()]


def _lacking(results: Results, method: str, dataset: str) -> list[str]:
    """Return the reasons for missing numbers, or the number of splits behind the mean."""
    outcomes = results.outcomes(method, dataset)
    reasons = sorted({outcome.missing for outcome in outcomes if outcome.missing})
    done = sum(outcome.values is not None for outcome in outcomes)
    every = len({cell.split for cell in results.cells if cell.dataset == dataset})
    if done in (0, every):
        return reasons
    return [f"Mean of {done} of {every} splits{': ' + ' '.join(reasons) if reasons else '.'}"]


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
    r"""Return an untrusted text on one line, escaped so that Markdown finds no HTML or link.

    Examples
    --------
    >>> plain("<b>[a](b:c) p < 0.01")
    '&lt;b>[a]\\(b:c) p < 0.01'
    """
    return _TAG.sub("&lt;", clean(text)).replace("](", "]\\(")
