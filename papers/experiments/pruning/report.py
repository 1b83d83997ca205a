"""Tables, figures, and findings of the experiment ``pruning``."""

from collections.abc import Sequence

from papers.experiments.knn.report import BASE, RATIOS, SIDES, ratios, ratios_of, span, won
from papers.figures import Value, bar_figure, line_figure
from papers.protocol import mean_and_error
from papers.results import Results
from papers.tables import Grid, by_dataset

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
    """Return the method name of prefetch with cutoff ``factor * k``, or without cutoff."""
    if factor is None:
        return "prefetch, m = all"
    return f"prefetch, m = {'' if factor == 1 else f'{factor} '}k"


_PREFETCH = [prefetch_name(factor) for factor in (*FACTORS, None)]
_SEARCHES = [BRUTE, *_PREFETCH, AUTO, *RANKINGS]


# ------------------------------------------------------------------ tables


def tables(results: Results) -> list[Grid]:
    """Return tables: tightness, errors by a bound alone, and recall and cost of searches."""
    return [
        _tightness(results),
        by_dataset(
            results,
            "error",
            "Error in percent with neighbors ranked by a bound alone",
            methods=[*RANKINGS, EXACT, BASE],
            better="lower",
        ),
        ratios(results, [*RANKINGS, EXACT]),
        by_dataset(
            results,
            "error",
            "Error of a search in percent, with the k of the WMD",
            methods=_PREFETCH,
        ),
        by_dataset(
            results,
            "recall",
            "Recall of the exact neighbors, percent",
            methods=[*_PREFETCH, AUTO, *RANKINGS],
        ),
        by_dataset(
            results,
            "solved",
            "Exact distances computed, percent of the documents",
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
            "*Kusner et al.*: Figure 5, cited from memory, mean over eight sets with GoogleNews "
            "vectors. Query side: each word of the query goes to its nearest word of the "
            f"document. Document side: the reverse. RWMD: the larger of both. {SIDES} Refined: "
            "weight that both documents share stays in place, and the nearest distances of one "
            "side are potentials of the dual problem, completed on the other side."
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
        "Time of brute force (ms per query), and speed-up of other searches",
        ["", *results.datasets],
        rows,
        [
            f"{_neighbours(results)}One thread. A ranking by a bound alone computes this bound for "
            "every document, and no exact distance. Kusner et al. report that exact prefetch and "
            "prune is 2 to 5 times as fast."
        ],
    )


def _neighbours(results: Results) -> str:
    """Return a sentence with the numbers of neighbors, on which the pruning depends."""
    own = (BRUTE, *_PREFETCH, AUTO)  # rankings by a bound choose their own k
    told = [
        f"{k[0]:.0f} of {dataset}"
        for dataset in results.datasets
        if (k := [n for name in own for n in results.numbers(name, dataset, "k")])
    ]
    return f"k: {', '.join(told)}. " if told else ""


# ------------------------------------------------------------------ figures


def figures(results: Results) -> dict[str, str]:
    """Draw Figures 5, 6, and 7 of the paper."""
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
                title=f"Distances of one test document of {dataset}, with bounds",
                x_label="training documents, nearest first",
                y_label="distance",
                legend="means over bins of documents sorted by WMD",
            )
    for name, measure, title, y_label in (
        ("search-error", "error", "Error of prefetch and prune by cutoff", "error, %"),
        ("search-found", "recall", "Recall of prefetch and prune by cutoff", "found, %"),
        ("search-speed", "", "Speed of prefetch and prune, brute force = 1", "times faster"),
    ):
        drawn[name] = line_figure(
            {dataset: _against_m(results, dataset, measure) for dataset in results.datasets},
            title=title,
            x_label="m / k: documents compared, sorted by centroid distance",
            y_label=y_label,
            log_x=True,
            log_y=not measure,
            legend="the last mark of a line is the exact search over all documents",
        )
    return drawn


def _ends(datasets: Sequence[str]) -> list[str]:
    """Return the first and the last set, with the shortest and the longest documents."""
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
        title=f"Error relative to {BASE}",
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
    """Summarize the findings, with numbers from the results alone."""
    parts = []
    beside = won(results, "WCD", "RWMD document side")
    if beside is not None:
        parts.append(
            "In Kusner et al., WCD, the loosest bound by far, alone ranks better than either side "
            f"of the relaxation; here it is better than the document side on {beside}, and better "
            f"than the query side on {won(results, 'WCD', 'RWMD query side')}."
        )
    relaxed = won(results, "RWMD", "WCD")
    if relaxed is not None:
        parts.append(f"RWMD ranks better than WCD on {relaxed}.")
    solved = _range(results, _PREFETCH[-1], "solved", ".1f")
    if solved is not None:
        times = [_speed_up(results, _PREFETCH[-1], dataset) for dataset in results.datasets]
        parts.append(
            f"Exact prefetch and prune computes {solved} % of the distances (Kusner et al. prune "
            f"up to 95 %){_times(times)}."
        )
    own = _range(results, AUTO, "solved", ".2f")
    if own is not None:
        times = [_speed_up(results, AUTO, dataset) for dataset in results.datasets]
        parts.append(f"Our search computes {own} %{_times(times)}, and finds the same neighbors.")
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
            f"From m = k to m = 2 k the error changes by {early:+.1f} points on average, and from "
            f"there to all documents by {late:+.1f}. In Kusner et al., the first step has the "
            "largest drop."
        )
    return " ".join(parts)


def _range(results: Results, name: str, measure: str, form: str) -> str | None:
    found = [results.mean(name, dataset, measure) for dataset in results.datasets]
    return span([number for number in found if number is not None], form)


def _times(found: Sequence[float | None]) -> str:
    faster = span([number for number in found if number is not None], ".1f")
    return "" if faster is None else f" and is {faster} times as fast as brute force"
