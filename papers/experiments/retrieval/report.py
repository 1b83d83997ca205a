"""References, tables, and findings of the experiment ``retrieval``."""

from collections.abc import Mapping

from papers.protocol import mean_and_error
from papers.results import Results
from papers.runner import Method, Reference
from papers.tables import Grid, by_dataset
from textkin.evaluate import PairedTest, paired_randomization

__all__ = ["REFERENCES", "against", "findings", "tables"]

_BASE = "BM25"
_PLUS = "BM25 + "
_SIGNIFICANT = 0.05
_MEASURES = {
    "map": "Mean average precision, percent",
    "p20": "Precision of the first 20, percent",
    "ndcg10": "nDCG of the first 10, percent",
}
_SETS = ("med", "cran", "cacm", "scifact")

# Numbers of other tools on the same files: (MAP, P@20, nDCG@10) for each set.
_TOOLS = {
    "BM25, whole words": (
        (50.9, 50.3, 67.2),
        (28.3, 15.2, 34.8),
        (29.4, 19.5, 42.3),
        (62.6, 4.6, 66.3),
    ),
    "BM25": ((54.1, 54.7, 70.2), (30.6, 15.7, 36.9), (34.7, 25.2, 49.9), (63.9, 4.8, 67.9)),
    "TF-IDF": ((54.5, 56.2, 69.3), (30.7, 16.7, 36.8), (28.8, 24.4, 40.2), (60.7, 4.8, 65.9)),
    "LSI": ((64.8, 62.1, 75.0), (35.5, 17.8, 41.0), (19.7, 19.6, 27.0), (43.6, 4.3, 47.7)),
    "pooled, built-in": (
        (31.5, 31.6, 45.9),
        (17.3, 9.1, 22.4),
        (10.5, 9.7, 19.4),
        (29.6, 2.9, 32.8),
    ),
    "0.8 BM25 + 0.2 LSI-200": (
        (57.8, 55.3, 71.5),
        (32.4, 16.7, 38.3),
        (34.0, 25.7, 49.3),
        (65.4, 4.8, 69.7),
    ),
}

# Zhang et al., Table 3: MAP and P@20 on Robust04, in percent.
_ROBUST04 = {
    "BM25": (24.1, 33.7),
    "LSI": (3.4, 3.9),
    "LDA": (4.7, 5.6),
    "cBow, neural": (7.2, 11.1),
    "FV-GMM, neural": (9.8, 12.4),
    "FV-moVMF, neural": (11.2, 13.9),
    "BM25 + LSI": (25.3, 36.6),
    "BM25 + LDA": (25.4, 36.3),
    "BM25 + cBow, neural": (25.3, 36.5),
    "BM25 + FV-GMM, neural": (25.4, 36.3),
    "BM25 + FV-moVMF, neural": (25.6, 36.7),
}

REFERENCES = tuple(
    Reference(
        "unrecorded tools",
        "Public tools on the same files; LSI with 200 dimensions, GloVe weighted by idf. Their "
        "stop words and k1 are not known.",
        {
            name: {dataset: of_set[at] for dataset, of_set in zip(_SETS, numbers, strict=True)}
            for name, numbers in _TOOLS.items()
        },
        measure,
    )
    for at, measure in enumerate(_MEASURES)
)


def against(results: Results, own: str, other: str, dataset: str) -> PairedTest | None:
    """Test two methods on the average precision of their common queries.

    Return None with fewer than two common queries.
    """
    found = [results.values(name, dataset) for name in (own, other)]
    if not all(found):
        return None
    first, second = (values[0]["by_query"] for values in found)
    both = [query for query in first if query in second]
    if len(both) < 2:
        return None
    return paired_randomization([first[query] for query in both], [second[query] for query in both])


def tables(results: Results, methods: Mapping[str, Method]) -> list[Grid]:
    """Return tables: the three measures, tests against BM25, and values relative to BM25."""
    notes = {name: method.note for name, method in methods.items()}
    made = [
        by_dataset(
            results,
            measure,
            title,
            methods=list(methods),
            references=REFERENCES,
            better="higher",
            notes=notes if measure == "map" else None,
        )
        for measure, title in _MEASURES.items()
    ]
    tests = _tests_table(results, methods)
    if tests.rows:
        made.append(tests)
    return [*made, _parts(results, methods), _chosen(results, methods)]


def _tests_table(results: Results, methods: Mapping[str, Method]) -> Grid:
    rows = []
    for name in methods:
        cells, any_ = [name], False
        for dataset in results.datasets:
            test = None if name == _BASE else against(results, name, _BASE, dataset)
            any_ = any_ or test is not None
            cells.append("–" if test is None else _shown(test))
        if any_:
            rows.append(cells)
    return Grid(
        "Mean average precision minus the value of BM25, in points",
        ["", *results.datasets],
        rows,
        [
            "Two-tailed randomization test over the queries (p). Bold: p < "
            f"{_SIGNIFICANT:g}, without correction for multiple tests."
        ],
    )


def _shown(test: PairedTest) -> str:
    text = f"{test.difference:+.1f} ({test.p_value:.2g})"
    return f"**{text}**" if test.p_value < _SIGNIFICANT else text


def _parts(results: Results, methods: Mapping[str, Method]) -> Grid:
    """Return a table of values relative to BM25, with the paper's on Robust04."""
    rows = []
    for name in methods:
        shares = [_share(results, name, measure) for measure in ("map", "p20")]
        if name == _BASE or None in shares:
            continue
        theirs = _ROBUST04.get(name)
        paper = (
            ["", ""]
            if theirs is None
            else [f"*{own / of:.2f}*" for own, of in zip(theirs, _ROBUST04[_BASE], strict=True)]
        )
        rows.append([name, *(f"{share:.2f}" for share in shares), *paper])
    base = " and ".join(f"{number:.1f}" for number in _ROBUST04[_BASE])
    return Grid(
        "Relative to BM25, mean over collections",
        ["", "MAP", "P@20", "*Zhang et al.: MAP*", "*P@20*"],
        rows,
        [
            "*Zhang et al.*: Table 3, Robust04, half a million documents. BM25 has "
            f"{base} there, and their MAP and P@20 are divided by these numbers."
        ],
    )


def _share(results: Results, name: str, measure: str) -> float | None:
    pairs = [
        (results.mean(name, dataset, measure), results.mean(_BASE, dataset, measure))
        for dataset in results.datasets
    ]
    shares = [own / base for own, base in pairs if own is not None and base]
    return mean_and_error(shares)[0] if shares else None


def _chosen(results: Results, methods: Mapping[str, Method]) -> Grid:
    rows = []
    for name, method in methods.items():
        if "weight" in method.settings:  # the setting is fixed
            continue
        cells = []
        for dataset in results.datasets:
            values = results.values(name, dataset)
            chosen = dict.fromkeys(values[0]["chosen"]) if values else {}
            cells.append("; ".join(chosen))
        if any(cells):
            rows.append([name, *cells])
    return Grid("Settings chosen on other queries", ["", *results.datasets], rows)


def findings(results: Results) -> str:
    """Summarize the findings, with numbers from the results alone."""
    models = [name for name in results.methods if f"{_PLUS}{name}" in results.methods]
    parts = []
    for kind, names in (("alone", models), ("with BM25", [f"{_PLUS}{name}" for name in models])):
        tests = [
            test
            for name in names
            for dataset in results.datasets
            if (test := against(results, name, _BASE, dataset))
        ]
        if tests:
            sure = [test for test in tests if test.p_value < _SIGNIFICANT]
            better = sum(test.difference > 0 for test in sure)
            parts.append(
                f"Models {kind}: of {len(tests)} comparisons with BM25, {better} are significantly "
                f"better and {len(sure) - better} significantly worse."
            )
    for own, other in (
        ("FV-moVMF, neural", "FV-GMM, neural"),
        ("FV-moVMF, built-in", "FV-GMM, built-in"),
        ("FV-moVMF, neural", "cBow, neural"),
        ("cBow, neural", "cBow, built-in"),
        (f"{_PLUS}FV-moVMF, neural", f"{_PLUS}FV-GMM, neural"),
        (f"{_PLUS}LSI", f"{_PLUS}FV-moVMF, neural"),
        (f"{_PLUS}WMD", _BASE),
    ):
        if told := _compared(results, own, other):
            parts.append(told)
    share = _share(results, "LSI", "map")
    if share is not None:
        theirs = _ROBUST04["LSI"][0] / _ROBUST04[_BASE][0]
        why = (
            ": a few thousand documents about one field may be easier to factorize than half a "
            "million news articles"
        )
        parts.append(
            f"LSI alone has {share:.2f} of BM25's MAP, in Zhang et al. {theirs:.2f}"
            f"{why if share > theirs else ''}."
        )
    parts.append(
        "The order of Zhang et al. on Robust04 is FV-moVMF, FV-GMM, cBow, LDA, LSI: alone, all are "
        "far below BM25; combined with BM25, all are a little above it. Our numbers may differ "
        "from the numbers of unrecorded tools because of stop words, k1, and the dimension of "
        "LSI, which is chosen here. In addition, BM25 does not return documents without any word "
        "of the query here."
    )
    return " ".join(parts)


def _compared(results: Results, own: str, other: str) -> str | None:
    tests = [
        test for dataset in results.datasets if (test := against(results, own, other, dataset))
    ]
    if not tests:
        return None
    better = sum(test.difference > 0 for test in tests)
    sure = sum(test.p_value < _SIGNIFICANT for test in tests)
    return (
        f"{own} has a larger MAP than {other} on {better} of {len(tests)} collections (significant "
        f"differences, either way: {sure})."
    )
