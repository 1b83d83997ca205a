"""What the experiment ``sts`` is compared with, its tables and its figure."""

from collections.abc import Iterator, Mapping, Sequence

from textkin.evaluate._experiment import Method, Reference
from textkin.evaluate._figures import Value, bar_figure
from textkin.evaluate._results import Results
from textkin.evaluate._tables import Grid

__all__ = [
    "CHANGE",
    "REFERENCES",
    "VECTORS",
    "brief",
    "columns_of",
    "figures",
    "main_rows",
    "of_others",
    "tables",
    "triple",
]

CHANGE = "change: "
"""What names of small models begin with, which differ in one ingredient."""
VECTORS = {0: "GloVe", 3: "abtt3"}
"""The names of word vectors by how many of their top components are removed."""

WHOLE = ("ALL", "ALLnrm", "Mean")
STS2012, STS2013, LI06 = "sts2012-test", "sts2013-test", "li06-30"
TITLES = {STS2012: "STS 2012", STS2013: "STS 2013", LI06: "LI06, 30 pairs"}
_ELSEWHERE = ", training sentences"
PAPERS = "WTMF, the paper's settings"
LEARNT = ("regression, known sets", "regression, new sets")
_SHOWN_POOLINGS = (
    "GloVe mean",
    "GloVe SIF",
    "GloVe SIF, less 1",
    "GloVe SIF, whitened",
    "abtt3 SIF, less 1",
)


def _references() -> Iterator[Reference]:
    sets = ("MSRpar", "MSRvid", "SMTeuroparl", "OnWN", "SMTnews", *WHOLE)
    wtmf = (0.411, 0.835, 0.513, 0.727, 0.438, 0.695, 0.830, 0.608)
    lda = (0.274, 0.768, 0.452, 0.619, 0.366)
    for at, measure in enumerate(sets):
        rows = {PAPERS: {STS2012: wtmf[at]}}
        if at < len(lda):
            rows["LDA"] = {STS2012: lda[at]}
        yield Reference("Guo and Diab", "Tables 2 and 3.", rows, measure)
    yield Reference(
        "the task",
        "SemEval 2012's baseline, which the paper names: about .31, as recalled.",
        {"surface words": {STS2012: 0.31}},
        "ALL",
    )
    yield Reference(
        "authors' program",
        "the release of OrMF (WTMF-pipeline), on the concatenated test pairs.",
        {"OrMF": {STS2012: 0.720}},
        "ALL",
    )
    others: dict[str, tuple[float, ...]] = {
        "surface words": (0.391, 0.688, 0.483, 0.458, 0.713, 0.429),
        "tf-idf": (0.612, 0.794, 0.607, 0.580, 0.810, 0.570),
        "GloVe mean": (0.560, 0.728, 0.492, 0.504, 0.689, 0.330),
        "GloVe SIF, less 1": (0.660, 0.811, 0.587, 0.668, 0.794, 0.541),
        "abtt3 SIF, less 1": (0.716, 0.818, 0.591, 0.695, 0.801, 0.564),
        "WMD, nBOW": (0.584, 0.747, 0.562, 0.515, 0.710, 0.459),
        "WMD, SIF": (0.648, 0.802, 0.619, 0.561, 0.769, 0.540),
        "RWMD, SIF": (0.651, 0.801, 0.620, 0.563, 0.767, 0.532),
    }
    for at, measure in enumerate(WHOLE):
        yield Reference(
            "other tools",
            "public tools on these very files; GloVe with 165,968 words, from which the built-in "
            "vectors are cut.",
            {name: {STS2012: n[at], STS2013: n[at + 3]} for name, n in others.items()},
            measure,
        )


REFERENCES = tuple(_references())


def brief(number: float | None) -> str:
    """Return a correlation without the zero before its point."""
    return "–" if number is None else f"{number:.3f}".replace("0.", ".", 1)


# ------------------------------------------------------------------ tables


def tables(results: Results, methods: Mapping[str, Method]) -> list[Grid]:
    """Return a table a test, then all recipes of pooling, then changes of one ingredient."""
    told = _Told()
    made = [_of_test(results, dataset, methods, told) for dataset in results.datasets]
    made += [_of_pooling(results, methods, where) for where in ("", _ELSEWHERE)]
    made.append(_of_changes(results))
    return [table for table in made if table.rows]


def main_rows(methods: Sequence[str]) -> list[str]:
    """Return the methods of the main tables."""
    pooled = tuple(f"{name} " for name in VECTORS.values())
    return [
        name
        for name in methods
        if not name.startswith((CHANGE, *pooled)) or name in _SHOWN_POOLINGS
    ]


def columns_of(results: Results, dataset: str) -> list[str]:
    """Return the measures of a test: its sets, then those of the whole."""
    for cell in results.cells:
        if cell.dataset == dataset and cell.values is not None:
            numbers = [name for name, value in cell.values.items() if isinstance(value, float)]
            left = ("training Mean", "training ALL")
            return [n for n in numbers if not n.endswith(_ELSEWHERE) and n not in left]
    return []


def _of_test(results: Results, dataset: str, methods: Mapping[str, Method], told: "_Told") -> Grid:
    """Return the table of a test; below it, what was not told below others."""
    columns = columns_of(results, dataset)
    shown = main_rows(results.methods)
    best = {
        measure: max((results.mean(name, dataset, measure) or -1.0 for name in shown), default=0)
        for measure in columns
    }
    rows: list[list[str]] = []
    sources: dict[str, None] = {}
    for name in shown:
        outcome = next(iter(results.outcomes(name, dataset)), None)
        if outcome is None:
            continue
        values = outcome.values or {}
        label = f"{name} ({values['chosen']})" if "chosen" in values else name
        for note in (methods[name].note if name in methods else "", outcome.missing):
            label += told.mark(note)
        cells = []
        for measure in columns:
            number = results.mean(name, dataset, measure)
            text = brief(number)
            if number is not None and number == best[measure]:
                text = f"**{text}**"
            spread = values.get("spread", {}).get(measure)
            whole = measure in (*WHOLE, "Pearson", "Spearman")
            cells.append(f"{text} ({brief(spread)})" if spread is not None and whole else text)
        rows.append([label, *cells])
        for other, of_measure in of_others(name, dataset).items():
            numbers = [of_measure.get(measure) for measure in columns]
            if any(number is not None for number in numbers):
                texts = ["" if number is None else f"*{brief(number)}*" for number in numbers]
                rows.append([f"*– {other}*", *texts])
                sources[other] = None
    lines = [
        "Several starts: their mean, in brackets how far they are apart.",
        *dict.fromkeys(f"*{r.name}*: {r.source}" for r in REFERENCES if r.name in sources),
        *told.footnotes,
    ]
    return Grid(TITLES.get(dataset, dataset), ["", *columns], rows, told.new(lines))


class _Told:
    """Footnotes of several tables, each told once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._lines: set[str] = set()

    def mark(self, note: str) -> str:
        """Return the mark of a footnote; none of an empty one."""
        return f" [{self._numbers.setdefault(note, len(self._numbers) + 1)}]" if note else ""

    @property
    def footnotes(self) -> list[str]:
        """What the marks mean."""
        return [f"[{number}] {note}" for note, number in self._numbers.items()]

    def new(self, lines: Sequence[str]) -> list[str]:
        """Return the lines that were not told before."""
        found = [line for line in lines if line not in self._lines]
        self._lines.update(found)
        return found


def of_others(method: str, dataset: str) -> dict[str, dict[str, float]]:
    """Return the numbers of others for a method, by whose they are and their measure."""
    found: dict[str, dict[str, float]] = {}
    for one in REFERENCES:
        number = one.values.get(method, {}).get(dataset)
        if number is not None:
            found.setdefault(one.name, {})[one.measure] = number
    return found


def triple(results: Results, name: str, dataset: str, where: str = "") -> str:
    """Return ALL, ALLnrm and Mean in one cell."""
    numbers = [results.mean(name, dataset, measure + where) for measure in WHOLE]
    return "–" if None in numbers else " / ".join(map(brief, numbers))


def _of_pooling(results: Results, methods: Mapping[str, Method], where: str) -> Grid:
    tests = [name for name in (STS2012, STS2013) if name in results.datasets]
    first = f"{VECTORS[0]} "
    recipes = [name.removeprefix(first) for name in methods if name.startswith(first)]
    rows = []
    for recipe in recipes:
        cells = [
            triple(results, f"{name} {recipe}", test, where)
            for name in VECTORS.values()
            for test in tests
        ]
        if any(cell != "–" for cell in cells):
            rows.append([recipe, *cells])
    learnt = "of the 2012 training pairs instead" if where else "of the test"
    return Grid(
        f"Pooled word vectors, learnt from the sentences {learnt}: ALL / ALLnrm / Mean",
        ["", *(f"{name}, {TITLES[test]}" for name in VECTORS.values() for test in tests)],
        rows,
        []
        if where
        else [
            "abtt3: the vectors without their mean and three top components. SIF by rank unless "
            "of the sentences; less n: without n of their components. Not chosen from: to see "
            "what each step does."
        ],
    )


def _of_changes(results: Results) -> Grid:
    tests = [name for name in (STS2012, STS2013) if name in results.datasets]
    rows = []
    for name in results.methods:
        if name.startswith(CHANGE):
            training = [
                brief(results.mean(name, tests[0], f"training {measure}") if tests else None)
                for measure in ("Mean", "ALL")
            ]
            own = [
                brief(results.mean(name, test, measure))
                for test in tests
                for measure in ("Mean", "ALL")
            ]
            li06 = brief(results.mean(name, LI06, "Pearson"))
            rows.append([name.removeprefix(CHANGE), *training, *own, li06])
    heads = [f"{TITLES[test]}: {measure}" for test in tests for measure in ("Mean", "ALL")]
    return Grid(
        "What one change does to WTMF",
        ["change", "training: Mean", "training: ALL", *heads, "LI06"],
        rows,
        [
            "K = 100, 5 sweeps, one start, learnt without the sentences of the training pairs but "
            "where said. Differences as small as those of starts, in the tables above, say nothing."
        ],
    )


def figures(results: Results) -> dict[str, str]:
    """Draw the Mean of every test, the paper's beside it."""
    groups = {}
    for dataset in results.datasets:
        measure = "Pearson" if dataset == LI06 else "Mean"
        bars = {}
        for name in main_rows(results.methods):
            number = results.mean(name, dataset, measure)
            if number is not None:
                of_paper = of_others(name, dataset).get("Guo and Diab", {}).get(measure)
                bars[name] = Value(max(number, 0.0), 0.0, of_paper)
        if bars:
            groups[f"{TITLES.get(dataset, dataset)}, {measure}"] = bars
    return {
        "correlations": bar_figure(
            groups,
            title="Correlation with the scores of people",
            legend="diamond: Guo and Diab 2012",
            form=".3f",
            highlight=("WTMF", *LEARNT),
        )
    }
