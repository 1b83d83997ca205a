"""What the experiment ``pruning`` shows, beside the figures of the WMD paper."""

from collections.abc import Sequence

from textkin.evaluate._figures import Value, bar_figure, line_figure
from textkin.evaluate._protocol import mean_and_error
from textkin.evaluate._results import Results
from textkin.evaluate._tables import Grid, by_dataset
from textkin.evaluate.experiments._knn_report import (
    BASE,
    RATIOS,
    SIDES,
    ratios,
    ratios_of,
    span,
    won,
)

__all__ = [
    "AUTO",
    "BRUTE",
    "EXACT",
    "FACTORS",
    "RANKINGS",
    "REFINED",
    "figures",
    "findings",
    "prefetch_name",
    "tables",
]

RANKINGS = {
    "WCD": "wcd",
    "RWMD query side": "rwmd-query",
    "RWMD document side": "rwmd-document",
    "RWMD": "rwmd",
}
REFINED, EXACT = "refined (ours)", "WMD"
BRUTE, AUTO = "brute force", "pruned search (ours)"
FACTORS = (1, 2, 4, 8, 16, 32, 64, 128)

_BOUNDS = (*RANKINGS, REFINED)
_TIGHTNESS = {  # Figure 5 of Kusner et al., mean over eight sets
    "WCD": 0.30,
    "RWMD query side": 0.92,
    "RWMD document side": 0.92,
    "RWMD": 0.96,
}


def prefetch_name(factor: int | None) -> str:
    """Return what prefetch with a cutoff of so many times k is called; None: no cutoff."""
    if factor is None:
        return "prefetch, m = all"
    return f"prefetch, m = {'' if factor == 1 else f'{factor} '}k"


_PREFETCH = [prefetch_name(factor) for factor in (*FACTORS, None)]
_SEARCHES = [BRUTE, *_PREFETCH, AUTO, *RANKINGS]


# ------------------------------------------------------------------ tables


def tables(results: Results) -> list[Grid]:
    """Return tightness, errors by a bound alone, and what searches find and take."""
    return [
        _tightness(results),
        by_dataset(
            results,
            "error",
            "Error in percent where the neighbours are the nearest by a bound alone",
            methods=[*RANKINGS, EXACT, BASE],
            better="lower",
        ),
        ratios(results, [*RANKINGS, EXACT]),
        by_dataset(
            results, "error", "Error in percent of a search, k as for the WMD", methods=_PREFETCH
        ),
        by_dataset(
            results, "recall", "Neighbours found, percent", methods=[*_PREFETCH, AUTO, *RANKINGS]
        ),
        by_dataset(
            results,
            "solved",
            "Documents whose exact distance was computed, percent",
            methods=[*_PREFETCH, AUTO],
            form=".2f",
        ),
        _speed(results),
    ]


def _tightness(results: Results) -> Grid:
    rows = []
    for name in _BOUNDS:
        found = [results.mean(name, dataset, "tightness") for dataset in results.datasets]
        known = [share for share in found if share is not None]
        if known:
            rows.append(
                [
                    name,
                    *("–" if share is None else f"{share:.3f}" for share in found),
                    f"{mean_and_error(known)[0]:.3f}",
                    f"*{_TIGHTNESS[name]:.2f}*" if name in _TIGHTNESS else "",
                ]
            )
    return Grid(
        "Bound / WMD, mean over pairs",
        ["", *results.datasets, "mean", "*Kusner et al.*"],
        rows,
        [
            "*Kusner et al.*: Figure 5 as recalled, mean over eight sets with the vectors of "
            "GoogleNews. Query side: each word of the query goes to its nearest word of the "
            f"document; document side: the other way round; RWMD: the larger of both. {SIDES} "
            "Refined: mass that both share stays in place, and the nearest distances of one side "
            "are potentials of the dual problem, completed on the other side."
        ],
    )


def _speed_up(results: Results, name: str, dataset: str) -> float | None:
    slow, own = (results.mean(each, dataset, "milliseconds") for each in (BRUTE, name))
    return slow / own if slow is not None and own else None


def _speed(results: Results) -> Grid:
    rows = []
    for name in _SEARCHES:
        cells = []
        for dataset in results.datasets:
            own = results.mean(name, dataset, "milliseconds")
            times = _speed_up(results, name, dataset)
            if own is None or times is None:
                cells.append("–")
            else:
                cells.append(f"{own:,.1f} ms" if name == BRUTE else f"{times:,.1f}x")
        rows.append([name, *cells])
    return Grid(
        "Milliseconds of brute force a query, and how many times faster others are",
        ["", *results.datasets],
        rows,
        [
            f"{_neighbours(results)}One thread. A ranking by a bound alone computes that bound of "
            "every document, and no exact distance. Kusner et al. report 2 to 5 times for exact "
            "prefetch and prune."
        ],
    )


def _neighbours(results: Results) -> str:
    """Say for how many neighbours was searched, which decides how much can be pruned."""
    own = (BRUTE, *_PREFETCH, AUTO)  # rankings by a bound have a k of their own for the error
    told = [
        f"{k[0]:.0f} of {dataset}"
        for dataset in results.datasets
        if (k := [n for name in own for n in results.numbers(name, dataset, "k")])
    ]
    return f"k: {', '.join(told)}. " if told else ""


# ------------------------------------------------------------------ figures


def figures(results: Results) -> dict[str, str]:
    """Draw Figures 5, 6 and 7 of the paper."""
    drawn = {"tightness": _drawn_tightness(results), "error": _drawn_ratios(results)}
    for dataset in _ends(results.datasets):
        curves = {
            name: [(float(rank), float(value)) for rank, value in values[0]["curve"]]
            for name in ("WCD", "RWMD", REFINED, EXACT)
            if (values := results.values(name, dataset)) and "curve" in values[0]
        }
        if curves:
            drawn[f"distances-{dataset}"] = line_figure(
                curves,
                title=f"Distances of one test document of {dataset}, and their bounds",
                x_label="training documents, nearest first",
                y_label="distance",
                legend="means of documents that are next to each other in the order of the WMD",
            )
    for name, measure, title, y_label in (
        ("search-error", "error", "Error of prefetch and prune against its cutoff", "error, %"),
        ("search-found", "recall", "Neighbours that prefetch and prune finds", "found, %"),
        ("search-speed", "", "Speed of prefetch and prune beside brute force", "times faster"),
    ):
        drawn[name] = line_figure(
            {dataset: _against_m(results, dataset, measure) for dataset in results.datasets},
            title=title,
            x_label="m / k: documents looked at, in the order of the centroids",
            y_label=y_label,
            log_x=True,
            log_y=not measure,
            legend="the last mark of a line is all documents: exact",
        )
    return drawn


def _ends(datasets: Sequence[str]) -> list[str]:
    """Return the first and the last set: the shortest documents and the longest."""
    return list(dict.fromkeys([*datasets[:1], *datasets[-1:]]))


def _drawn_tightness(results: Results) -> str:
    groups: dict[str, dict[str, Value]] = {}
    for dataset in results.datasets:
        bars = {}
        for name in _BOUNDS:
            mean = results.mean(name, dataset, "tightness")
            if mean is not None:
                bars[name] = Value(mean, other=_TIGHTNESS.get(name))
        if bars:
            groups[dataset] = bars
    return bar_figure(
        groups,
        title="Bound / WMD",
        legend="diamond: Kusner et al. 2015, mean over their eight sets",
        form=".2f",
        highlight=[REFINED],
    )


def _drawn_ratios(results: Results) -> str:
    bars = {}
    for name in (*RANKINGS, EXACT):
        shares = ratios_of(results, name)
        if shares:
            bars[name] = Value(*mean_and_error(shares), RATIOS[name])
    return bar_figure(
        {"mean over sets": bars} if bars else {},
        title=f"Error as a part of that of {BASE}",
        legend="diamond: Kusner et al. 2015, eight sets; line: ± one standard error over sets",
        form=".2f",
        highlight=[EXACT],
    )


def _against_m(results: Results, dataset: str, measure: str) -> list[tuple[float, float]]:
    points = []
    for name in _PREFETCH:
        m, k = (results.mean(name, dataset, each) for each in ("m", "k"))
        number = (
            results.mean(name, dataset, measure) if measure else _speed_up(results, name, dataset)
        )
        if m is not None and k and number is not None:
            points.append((m / k, number))
    return points


# ------------------------------------------------------------------ findings


def findings(results: Results) -> str:
    """Say what was reproduced, with numbers from the results alone."""
    parts = []
    beside = won(results, "WCD", "RWMD document side")
    if beside is not None:
        parts.append(
            "In the paper WCD, the loosest bound by far, ranks better than either side of the "
            f"relaxation alone; here it is better than the document side on {beside}, and than the "
            f"query side on {won(results, 'WCD', 'RWMD query side')}."
        )
    relaxed = won(results, "RWMD", "WCD")
    if relaxed is not None:
        parts.append(f"RWMD ranks better than WCD on {relaxed}.")
    solved = _range(results, _PREFETCH[-1], "solved", ".1f")
    if solved is not None:
        times = [_speed_up(results, _PREFETCH[-1], dataset) for dataset in results.datasets]
        parts.append(
            f"Exact prefetch and prune computes {solved} % of the distances (the paper prunes up "
            f"to 95 %){_times(times)}."
        )
    own = _range(results, AUTO, "solved", ".2f")
    if own is not None:
        times = [_speed_up(results, AUTO, dataset) for dataset in results.datasets]
        parts.append(f"Our search computes {own} %{_times(times)}, and finds the same.")
    changes = [
        (second - first, last - second)
        for dataset in results.datasets
        for first, second, last in [
            [results.mean(name, dataset, "error") for name in (*_PREFETCH[:2], _PREFETCH[-1])]
        ]
        if first is not None and second is not None and last is not None
    ]
    if changes:
        early, late = (sum(each) / len(changes) for each in zip(*changes, strict=True))
        parts.append(
            f"From m = k to m = 2 k the error changes by {early:+.1f} points on average, from "
            f"there to all documents by {late:+.1f}; in the paper it drops most in the first step."
        )
    return " ".join(parts)


def _range(results: Results, name: str, measure: str, form: str) -> str | None:
    found = [results.mean(name, dataset, measure) for dataset in results.datasets]
    return span([number for number in found if number is not None], form)


def _times(found: Sequence[float | None]) -> str:
    faster = span([number for number in found if number is not None], ".1f")
    return "" if faster is None else f" and is {faster} times as fast as brute force"
