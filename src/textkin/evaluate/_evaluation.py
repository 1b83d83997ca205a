"""Results of comparing methods on your own data: measures with p-values, as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any, ClassVar

from numpy.typing import NDArray

from textkin._base import DrawnResult, Float64Array, TableResult
from textkin.evaluate._collections import JudgedQueries, RetrievalData
from textkin.evaluate._labeled_data import LabeledData
from textkin.evaluate._pairs import PairData
from textkin.evaluate._retrieval import QueryScores
from textkin.evaluate._significance import PairedTest
from textkin.explain import Bar, bars_svg, clean, escape_markup, render_page

__all__ = [
    "Evaluation",
    "LabelEvaluation",
    "MethodScores",
    "PairEvaluation",
    "SearchEvaluation",
    "quoted",
]

_GAP = "  "
_SINGULAR = {
    "documents": "document",
    "judged_queries": "judged query",
    "pairs": "pair",
    "sets": "set",
    "splits": "split",
    "test_documents": "test document",
    "training_documents": "training document",
}


@dataclass(frozen=True, slots=True)
class MethodScores:
    """Measures of one method, with p-value, settings, and time.

    Attributes
    ----------
    method : str
        Name of the method.
    scores : dict of str to float
        Value of each measure.
    settings : dict of str to list
        Settings that were tuned, one value per split.
    seconds : float
        Wall time, in seconds.
    test : PairedTest or None
        Comparison with the first method; None for the first method, and where no test applies.
    """

    method: str
    scores: dict[str, float]
    settings: dict[str, list[Any]] = field(default_factory=dict)
    seconds: float = 0.0
    test: PairedTest | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return measures, p-value, settings, and time as a dict of JSON types."""
        test = self.test
        return {
            "method": self.method,
            "scores": dict(self.scores),
            "settings": dict(self.settings),
            "seconds": round(self.seconds, 3),
            "against_first": None
            if test is None
            else {"difference": test.difference, "p_value": test.p_value, "n": test.n},
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation(DrawnResult, TableResult):
    """Base class of results: measures of several methods on the same data, as a table.

    Attributes
    ----------
    results : tuple of MethodScores
        One entry per method, in the order of the call.
    notes : tuple of str
        Remarks on the data, one sentence each.
    """

    results: tuple[MethodScores, ...]
    notes: tuple[str, ...]

    _titles: ClassVar[Mapping[str, str]] = {}

    def __getitem__(self, method: str) -> MethodScores:
        """Return the `MethodScores` of the method with a name."""
        for found in self.results:
            if found.method == method:
                return found
        names = quoted([found.method for found in self.results])
        raise KeyError(f"method must be one of {names}; got {method!r}.")

    def __len__(self) -> int:
        return len(self.results)

    def to_records(self) -> list[dict[str, Any]]:
        """Return a flat dict per method: measures, p-value, settings, and seconds."""
        return [
            {
                "method": found.method,
                **found.scores,
                "p_value": None if found.test is None else found.test.p_value,
                "settings": _shown_settings(found.settings),
                "seconds": round(found.seconds, 3),
            }
            for found in self.results
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the results of all methods as a dict of JSON types."""
        return {
            "data": self._data_record(),
            "methods": [found.to_dict() for found in self.results],
            "notes": list(self.notes),
        }

    def _data_record(self) -> dict[str, int]:
        raise NotImplementedError

    def to_text(self) -> str:
        """Return the measures of all methods as a text table."""
        return str(self)

    def to_svg(self, *, title: str = "", width: int = 780, embedded: bool = False) -> str:
        """Draw a bar chart of the first measure of each method.

        Parameters
        ----------
        title : str, optional
            Title above the figure. The default is a summary of the data.
        width : int, default=780
            Width in pixels, at least 500; the figure scales.
        embedded : bool, default=False
            If True, omit the style sheet, because the page contains
            `textkin.explain.stylesheet`.

        Returns
        -------
        str
            An ``<svg>`` element with escaped text.
        """
        first, *others = self._measures()
        bars = [
            Bar(
                found.method,
                found.scores[first],
                nan,
                ", ".join(f"{self._titles[name]} {found.scores[name]:.3f}" for name in others),
                (at == len(self.results) - 1,),
            )
            for at, found in enumerate(self.results)
        ]
        return bars_svg(
            bars,
            title=title or self._summary(),
            about=f"{self._titles[first]} of {len(bars)} methods: {self._summary()}.",
            width=width,
            embedded=embedded,
            legend=f"bar: {self._titles[first]}",
        )

    def to_html(self, *, title: str = "Evaluation") -> str:
        """Return an HTML page with the bar chart and the table of all measures.

        Parameters
        ----------
        title : str, default="Evaluation"
            Heading.

        Returns
        -------
        str
            A self-contained HTML document without scripts. Text is escaped.
        """
        body = [f'<div class="wide">{self.to_svg()}</div>', self._repr_html_()]
        return render_page(title, body)

    def _repr_html_(self) -> str:
        header, *rows = self._cells()
        tested = any(found.test is not None for found in self.results)
        lines = [f"<p>{escape_markup(self._summary())}</p>", "<table>"]
        heads = "".join(f'<th scope="col">{escape_markup(name)}</th>' for name in header)
        lines.append(f"<tr>{heads}</tr>")
        for name, *cells in rows:
            line = "".join(f'<td class="number">{escape_markup(cell)}</td>' for cell in cells)
            lines.append(f'<tr><th scope="row">{escape_markup(name)}</th>{line}</tr>')
        lines.append("</table>")
        lines += [f"<p>{escape_markup(line)}</p>" for line in self._below(tested) if line]
        return "\n".join(lines)

    def _measures(self) -> list[str]:
        return [name for name in self._titles if name in self.results[0].scores]

    def _summary(self) -> str:
        return ", ".join(
            f"{number:,} {_SINGULAR.get(name, name) if number == 1 else name.replace('_', ' ')}"
            for name, number in self._data_record().items()
        )

    def _cells(self) -> list[list[str]]:
        measures = self._measures()
        header = ["method", *(self._titles[name] for name in measures)]
        tested = any(found.test is not None for found in self.results)
        settings = any(found.settings for found in self.results)
        header += [*(["p"] if tested else []), *(["tuned"] if settings else []), "time (s)"]
        rows = []
        for found in self.results:
            row = [clean(found.method), *(f"{found.scores[name]:.3f}" for name in measures)]
            if tested:
                row.append("" if found.test is None else f"{found.test.p_value:.4f}")
            if settings:
                row.append(_shown_settings(found.settings))
            rows.append([*row, f"{found.seconds:.2f}"])
        return [header, *rows]

    def __str__(self) -> str:
        tested = any(found.test is not None for found in self.results)
        lines = _aligned(self._cells())
        return "\n".join([self._summary(), "", *lines, *self._below(tested)])

    def _below(self, tested: bool) -> list[str]:
        lines = [f"p: paired randomization test against {clean(self.results[0].method)}."]
        lines = [*(lines if tested else []), *self.notes]
        return ["", *lines] if lines else []

    __repr__ = __str__


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LabelEvaluation(Evaluation):
    """Accuracy and other measures of classifiers on labeled texts.

    The measures are "accuracy", "error", and "macro_f1", as means over the splits. `to_records`
    returns one record per method.

    Attributes
    ----------
    results : tuple of MethodScores
        One entry per method, in the order of the call.
    notes : tuple of str
        Remarks on the data, one sentence each.
    data : LabeledData
        Texts and labels, with the splits of the evaluation.
    predictions : dict of str to list of ndarray
        Predicted labels of the test documents, by method, one array per split.
    """

    data: LabeledData
    predictions: dict[str, list[NDArray[Any]]]

    _titles: ClassVar[Mapping[str, str]] = {
        "accuracy": "accuracy",
        "error": "error",
        "macro_f1": "macro-F1",
    }

    def _data_record(self) -> dict[str, int]:
        found = {"documents": len(self.data), "classes": len(set(self.data.labels))}
        if len(self.data.splits) > 1:
            return {**found, "splits": len(self.data.splits)}
        train, test = self.data.splits[0]
        return {**found, "training_documents": len(train), "test_documents": len(test)}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SearchEvaluation(Evaluation):
    """Retrieval measures (such as MAP) of rankings on queries with relevance judgments.

    The measures are "map", "ndcg@10", "recall@100", and "mrr".

    Attributes
    ----------
    results : tuple of MethodScores
        One entry per ranking, in the order of the call.
    notes : tuple of str
        Remarks on the data, one sentence each.
    data : RetrievalData or JudgedQueries
        Documents, queries, and judgments; without documents if these are in an index.
    queries : dict of str to dict of str to QueryScores
        Scores of each query, by ranking and measure.
    runs : dict of str to dict of str to list of str
        IDs found for each query, best first, by ranking.
    """

    data: RetrievalData | JudgedQueries
    queries: dict[str, dict[str, QueryScores]]
    runs: dict[str, dict[str, list[str]]]

    _titles: ClassVar[Mapping[str, str]] = {
        "map": "MAP",
        "ndcg@10": "nDCG@10",
        "recall@100": "recall@100",
        "mrr": "MRR",
    }

    def _data_record(self) -> dict[str, int]:
        return {"documents": len(self.data), "judged_queries": len(self.data.judged)}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairEvaluation(Evaluation):
    """Correlations of similarity methods with human scores of text pairs.

    The measures are "pearson" and "spearman" over all pairs. If the pairs have several sets,
    "mean" is the mean of Pearson's correlation in each set, weighted by the number of pairs.

    Attributes
    ----------
    results : tuple of MethodScores
        One entry per method, in the order of the call.
    notes : tuple of str
        Remarks on the data, one sentence each.
    data : PairData
        Pairs with gold scores.
    similarities : dict of str to ndarray
        Similarity of each pair, by method.
    sets : dict of str to dict of str to float
        Pearson's correlation in each set, by method.
    """

    data: PairData
    similarities: dict[str, Float64Array]
    sets: dict[str, dict[str, float]]

    _titles: ClassVar[Mapping[str, str]] = {
        "pearson": "Pearson",
        "spearman": "Spearman",
        "mean": "mean of sets",
    }

    def _data_record(self) -> dict[str, int]:
        return {"pairs": len(self.data), "sets": len(set(self.data.sets))}


def quoted(names: Sequence[str]) -> str:
    """Format names in quotes, separated by commas, for a message."""
    return ", ".join(map(repr, names))


def _shown_settings(settings: Mapping[str, Sequence[Any]]) -> str:
    return "; ".join(
        f"{key}={', '.join(f'{value:g}' for value in values)}" for key, values in settings.items()
    )


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Format table rows as lines; the first column is left-aligned, the rest right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        _GAP.join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
