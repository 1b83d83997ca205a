"""Results of growth.py as slopes, tables, and figures."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import environment  # noqa: F401 (puts `papers` on the path)
import numpy as np

from papers.figures import line_figure

Entry = Mapping[str, Any]  # result for one size of a collection, through one interface
Points = list[tuple[float, float]]

SURFACES = {"mover": "WordMover", "index": "Index"}


class Quantity(NamedTuple):
    """Measured quantity that grows with the collection.

    Attributes
    ----------
    title : str
        Name with unit.
    path : tuple of str
        Keys of the value in an entry; a mapping at the end is summed.
    surfaces : tuple of str
        Interfaces that have the quantity.
    scale : float
        Factor of the value.
    """

    title: str
    path: tuple[str, ...]
    surfaces: tuple[str, ...] = ("mover", "index")
    scale: float = 1.0

    def of(self, entry: Entry) -> float | None:
        """Return the value of an entry, or None if it is missing."""
        if entry["surface"] not in self.surfaces:
            return None
        found: Any = entry
        for key in self.path:
            if key not in found:
                return None
            found = found[key]
        return self.scale * (sum(found.values()) if isinstance(found, Mapping) else found)


QUANTITIES = {
    "build_seconds": Quantity("seconds to build", ("build", "seconds")),
    "build_megabytes": Quantity("peak memory while building, MB", ("build", "megabytes_peak")),
    "search_megabytes": Quantity("peak memory while searching, MB", ("search_megabytes", "peak")),
    "megabytes": Quantity("MB on disk", ("bytes",), ("index",), 1e-6),
    "words": Quantity("distinct words", ("words",), ("index",)),
    "wmd_single": Quantity(
        "ms per query by WMD, one by one", ("wmd", "milliseconds", "single", "mean")
    ),
    "wmd_batch": Quantity("ms per query by WMD, in a batch", ("wmd", "milliseconds", "batch")),
    "wmd_first": Quantity(
        "ms of the first query by WMD after opening", ("wmd", "milliseconds", "first"), ("index",)
    ),
    "bm25_first": Quantity(
        "ms of the first query by BM25 after opening", ("bm25", "milliseconds", "first"), ("index",)
    ),
    "solved": Quantity("documents solved per query", ("wmd", "solved", "mean"), ("mover",)),
    "refined": Quantity("documents refined per query", ("wmd", "refined", "mean"), ("mover",)),
    "bm25_single": Quantity(
        "ms per query by BM25, one by one (median)",
        ("bm25", "milliseconds", "single", "median"),
        ("index",),
    ),
    "bm25_batch": Quantity(
        "ms per query by BM25, in a batch", ("bm25", "milliseconds", "batch"), ("index",)
    ),
}
# columns of the tables, with short headers
COLUMNS = {
    "build_seconds": "s to build",
    "build_megabytes": "peak MB",
    "megabytes": "MB on disk",
    "words": "words",
    "search_megabytes": "peak MB, search",
    "wmd_first": "first WMD, ms",
    "wmd_single": "WMD, ms",
    "wmd_batch": "in a batch",
    "refined": "refined",
    "solved": "solved",
    "bm25_first": "first BM25, ms",
    "bm25_single": "BM25, ms",
}
# file: quantities in the figure
FIGURES = {
    "growth-search": ("Exact search by WMD: milliseconds per query", ["wmd_single"]),
    "growth-work": (
        "Work of a query by WMD: documents refined and solved",
        ["refined", "solved"],
    ),
    "growth-bm25": ("Search by BM25: milliseconds per query", ["bm25_single"]),
    "growth-build": ("Building: seconds", ["build_seconds"]),
    "growth-memory": ("Searching: peak memory of the process, MB", ["search_megabytes"]),
    "growth-disk": ("Index on disk: MB", ["megabytes"]),
}


def slope(points: Iterable[tuple[float, float]]) -> float | None:
    """Return the exponent p of the power law y ~ x ** p that fits best, by least squares of logs.

    None if there are fewer than two sizes, or a value has no logarithm.

    Examples
    --------
    >>> slope([(10, 3.0), (100, 30.0), (1000, 300.0)])
    1.0
    """
    found = sorted(points)
    if len({x for x, _ in found}) < 2 or min(min(point) for point in found) <= 0:
        return None
    x, y = np.log(np.array(found)).T
    x = x - x.mean()
    return round(float(x @ y / (x @ x)), 12)


def points_of(measured: Sequence[Entry], quantity: str, collection: str, surface: str) -> Points:
    """Return (documents, value) of one curve, by size."""
    return sorted(
        (entry["documents"], value)
        for entry in measured
        if (entry["collection"], entry["surface"]) == (collection, surface)
        and (value := QUANTITIES[quantity].of(entry)) is not None
    )


def curves(measured: Sequence[Entry]) -> dict[str, dict[str, Points]]:
    """Return all curves, by quantity, then by collection and interface."""
    pairs = dict.fromkeys((entry["collection"], entry["surface"]) for entry in measured)
    found: dict[str, dict[str, Points]] = {}
    for quantity in QUANTITIES:
        for collection, surface in pairs:
            if points := points_of(measured, quantity, collection, surface):
                found.setdefault(quantity, {})[f"{collection} {surface}"] = points
    return found


def slopes(measured: Sequence[Entry]) -> dict[str, dict[str, dict[str, float | None]]]:
    """Return the exponent of each curve: over all sizes, and between its two largest."""
    return {
        quantity: {
            name: {
                "all_sizes": _rounded(slope(points)),
                "largest_two": _rounded(slope(points[-2:])),
            }
            for name, points in series.items()
        }
        for quantity, series in curves(measured).items()
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def figures(measured: Sequence[Entry]) -> dict[str, str]:
    """Return the figures as SVG, by file name; the name of a curve includes its slope."""
    drawn = curves(measured)
    found = {}
    for file, (title, quantities) in FIGURES.items():
        series = {}
        for quantity in quantities:
            for name, points in drawn.get(quantity, {}).items():
                label = name.split()[0] + f" {quantity}" if len(quantities) > 1 else name
                exponent = slope(points)
                series[label + ("" if exponent is None else f" n^{exponent:z.2f}")] = points
        if series:
            found[file] = line_figure(
                series,
                title=title,
                x_label="documents",
                y_label=QUANTITIES[quantities[0]].title.split(",")[0]
                if len(quantities) == 1
                else "documents per query",
                log_x=True,
                log_y=True,
                legend="n^p: the slope of a curve, fitted over all its sizes",
            )
    return found


def pictures(measured: Sequence[Entry], folder: str) -> str:
    """Return the lines of a page that show the figures."""
    return "\n\n".join(
        f"![{FIGURES[file][0]}, against the number of documents, both axes logarithmic, each curve "
        f"with its slope]({folder}/{file}.svg)"
        for file in figures(measured)
    )


def number(value: float | None) -> str:
    """Format a number with about three digits."""
    if value is None:
        return "-"
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:.{min(digits, 4)}f}"


def table(measured: Sequence[Entry]) -> str:
    """Return a Markdown table for each collection and interface, with the slope of each column."""
    lines = []
    for collection, surface in dict.fromkeys((e["collection"], e["surface"]) for e in measured):
        columns = [name for name in COLUMNS if surface in QUANTITIES[name].surfaces]
        here = [e for e in measured if (e["collection"], e["surface"]) == (collection, surface)]
        heads = ["documents", *(COLUMNS[name] for name in columns)]
        lines += [
            f"| {collection}, `{SURFACES[surface]}` | {' | '.join(heads)} |",
            f"| --- |{' ---: |' * len(heads)}",
        ]
        for entry in sorted(here, key=lambda entry: entry["documents"]):
            cells = [number(QUANTITIES[name].of(entry)) for name in columns]
            lines.append(f"| | {entry['documents']:,} | {' | '.join(cells)} |")
        fitted = [slope(points_of(measured, name, collection, surface)) for name in columns]
        cells = ["" if p is None else f"{p:z.2f}" for p in fitted]
        lines += [f"| slope | | {' | '.join(cells)} |", ""]
    return "\n".join(lines[:-1])
