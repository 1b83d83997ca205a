"""The result of pruning.py as figures, light or dark with the reader's setting, and as tables."""

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Each colour on a light ground, and what takes its place on a dark one. Steps of lightness tell
# the bounds apart too, for any colour vision.
INK, MUTED, GROUND = "#1b1b22", "#5c5c68", "#ffffff"
DARK = {
    INK: "#ececf1",
    MUTED: "#a9a9b6",
    GROUND: "#17171c",
    "#e69f00": "#f0b429",
    "#009e73": "#2fbf94",
    "#0072b2": "#56b4e9",
    "#cd5400": "#ff8a4c",
}
BOUNDS = {  # the name in the result: a label and a colour
    "wcd": ("WCD", "#8f8f9c"),
    "rwmd-query": ("query side", "#e69f00"),
    "rwmd-document": ("document side", "#009e73"),
    "rwmd": ("RWMD", "#0072b2"),
    "refined": ("refined (ours)", "#cd5400"),
}
ALGORITHMS = {
    "auto": "auto (exact)",
    "rwmd": "RWMD ranking",
    "wcd": "WCD ranking",
}
MARKS = {"auto": ("#cd5400", "-"), "rwmd": ("#0072b2", "--"), "wcd": ("#8f8f9c", ":")}

Result = Mapping[str, Any]


# ---------------------------------------------------------------------- figures


def draw(result: Result, folder: Path) -> list[Path]:
    """Draw the three figures into a folder; return their files.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError(
            "The figures need matplotlib: pip install 'textkin[plot]', then add --draw."
        ) from error
    look = {
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 9,
        "axes.titlesize": 10,
        "svg.fonttype": "none",  # letters stay letters: small, and they can be searched for
        "svg.hashsalt": "textkin",  # the same file every time
        "text.color": INK,
        "axes.edgecolor": MUTED,
        "axes.labelcolor": INK,
        "axes.titlecolor": INK,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "figure.facecolor": GROUND,
        "axes.facecolor": "none",
        "savefig.facecolor": GROUND,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
    }
    figures = {
        "tightness": (draw_tightness, "Lower bounds as shares of the Word Mover's Distance"),
        "distances": (draw_distances, "Distances and bounds of one query, sorted"),
        "search": (draw_searches, "Speed-up and error of prefetch and prune against m"),
    }
    written = []
    with mpl.rc_context(look):
        for name, (make, title) in figures.items():
            path = folder / f"pruning-{name}.svg"
            path.write_text(_svg(make(result), title), encoding="utf-8")
            written.append(path)
    return written


def _svg(figure: Any, title: str) -> str:
    """Return the figure as SVG that follows the reader's setting of light or dark."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    rules = "".join(
        f'[style*="{kind}: {light}"]{{{kind}:{dark} !important}}'
        for light, dark in DARK.items()
        for kind in ("fill", "stroke")
    )
    style = f"<style>@media (prefers-color-scheme:dark){{{rules}}}</style>"
    head = re.compile(r"(<svg\b[^>]*>)")
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"(\d+\.\d\d)\d+", r"\1", svg)  # hundredths of a point are enough
    return head.sub(rf"\1<title>{title.replace('&', '&amp;')}</title>{style}", svg, count=1)


def _figure(columns: int, rows: int, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def draw_tightness(result: Result) -> Any:
    """Left: mean share of the distance. Right: error of the vote if a bound ranks alone."""
    figure, ((left, right),) = _figure(2, 1, 3.2)
    sets = result["sets"]
    width = 0.8 / len(BOUNDS)
    for number, (bound, (label, colour)) in enumerate(BOUNDS.items()):
        shift = (number - (len(BOUNDS) - 1) / 2) * width
        at = [place + shift for place in range(len(sets))]
        shares = [one["tightness"]["bounds"][bound] for one in sets]
        means = [share["mean"] for share in shares]
        left.bar(at, means, 0.92 * width, color=colour, label=label)
        if bound != "refined":
            errors = [run_of(one, bound)["error_percent"] for one in sets]
            right.bar(at, errors, 0.92 * width, color=colour)
    exact = [run_of(one, "brute")["error_percent"] for one in sets]
    shift = 2 * width
    right.bar(
        [place + shift for place in range(len(sets))],
        exact,
        0.92 * width,
        color=GROUND,
        edgecolor=INK,
        label="exact WMD",
    )
    left.axhline(1, color=MUTED, linewidth=0.8, linestyle=":")
    left.set(title="Bound / WMD, mean", ylabel="share of the distance", ylim=(0, 1.05))
    right.set(title="kNN error where a bound ranks alone", ylabel="test error, %")
    for axes in (left, right):
        axes.set_xticks(range(len(sets)), [one["name"] for one in sets])
    figure.legend(loc="outside lower center", ncols=len(BOUNDS) + 1)
    return figure


def draw_distances(result: Result) -> Any:
    """Distances of one query to all documents in ascending order, and the bounds of the same."""
    sets = result["sets"]
    figure, (row,) = _figure(len(sets), 1, 2.8)
    for axes, one in zip(row, sets, strict=True):
        curve = one["curve"]
        for bound in ("wcd", "rwmd", "refined"):
            label, colour = BOUNDS[bound]
            line = curve["lines"][bound]
            axes.fill_between(
                curve["rank"], line["low"], line["high"], color=colour, alpha=0.25, linewidth=0
            )
            axes.plot(curve["rank"], line["mean"], color=colour, linewidth=1.2, label=label)
        exact = curve["lines"]["wmd"]["mean"]
        axes.plot(curve["rank"], exact, color=INK, linewidth=1.4, label="WMD")
        axes.set(title=one["name"], xlabel="documents, nearest first", ylim=(0, None))
        axes.locator_params(axis="x", nbins=3)
    row[0].set_ylabel("distance")
    handles, labels = row[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def draw_searches(result: Result) -> Any:
    """Draw speed-up over brute force, neighbours found and error of the vote, against m."""
    sets = result["sets"]
    rows = {
        "speed_up": "speed-up over brute force",
        "recall_percent": "neighbours found, %",
        "error_percent": "test error, %",
    }
    figure, grid = _figure(len(sets), len(rows), 6.2)
    for row, (what, label) in zip(grid, rows.items(), strict=True):
        for axes, one in zip(row, sets, strict=True):
            _draw_search(axes, one, what)
        row[0].set_ylabel(label)
    for top, bottom, one in zip(grid[0], grid[-1], sets, strict=True):
        top.set_yscale("log")
        top.minorticks_off()
        top.yaxis.set_major_formatter(lambda value, _: f"{value:g}x")
        top.set_title(one["name"])
        bottom.set_xlabel("m")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def _draw_search(axes: Any, one: Result, what: str) -> None:
    """Draw one number of prefetch against m, and of the others as lines across."""
    steps = [run for run in one["searches"] if run["algorithm"] == "prefetch"]
    values = [run[what] for run in steps]
    for algorithm, label in ALGORITHMS.items():
        colour, dashes = MARKS[algorithm]
        value = run_of(one, algorithm)[what]
        values.append(value)
        axes.axhline(value, color=colour, linestyle=dashes, linewidth=1.4, label=label, zorder=1)
    cutoffs = [run["m"] for run in steps]
    axes.plot(
        cutoffs,
        values[: len(steps)],
        color=INK,
        marker="o",
        markersize=3,
        linewidth=1.2,
        label="prefetch",
    )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.minorticks_off()
    if what != "speed_up":
        axes.set_ylim(0, 1.08 * max(*values, 1))


def run_of(one: Result, algorithm: str) -> Any:
    """Return the run of an algorithm that has no cutoff."""
    return next(run for run in one["searches"] if run["algorithm"] == algorithm)


# ---------------------------------------------------------------------- tables


def render(result: Result) -> str:
    """Return sizes, tightness and searches as Markdown."""
    heads = ["set", "documents", "queries", "words a document"]
    heads += [label for label, _ in BOUNDS.values()]
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    for one in result["sets"]:
        shares = one["tightness"]["bounds"]
        cells = [one["name"], f"{one['documents']:,}", f"{one['queries']:,}"]
        cells += [f"{one['unique_words']['mean']:.0f}"]
        cells += [f"{shares[bound]['mean']:.3f}" for bound in BOUNDS]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "| set | search | m | times brute force | solved | neighbours found | error |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in result["sets"]:
        lines += [
            f"| {one['name']} | {run['algorithm']} | {'' if run['m'] is None else run['m']} | "
            f"{run['speed_up']:,.1f}x | {run['solved_percent']:.2f} % | "
            f"{run['recall_percent']:.1f} % | {run['error_percent']:.1f} % |"
            for run in one["searches"]
        ]
    lines += ["", caption(result)]
    return "\n".join(lines)


def caption(result: Result) -> str:
    """Return what the numbers are, and where they were measured."""
    pairs = sorted({one["tightness"]["pairs"] for one in result["sets"]})
    return (
        f"First table: sizes, and the mean of bound / WMD over "
        f"{' to '.join(f'{many:,}' for many in pairs)} random pairs of a query and a document. "
        "Second: a batch of all queries on one thread; documents whose exact distance was "
        "computed; how many of the exact neighbours were found; error of the vote of the "
        f"{result['k']} nearest. {result['vectors']}. {result['machine']}; textkin "
        f"{result['textkin']}; commit {result['commit']}; `{result['command']}`."
    )
