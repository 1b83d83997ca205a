"""References, tables, figure, findings, and targets of the experiment ``sts``."""

from collections.abc import Iterator, Mapping, Sequence

from papers.figures import Value, bar_figure
from papers.results import Results
from papers.runner import Aim, Method, Reference
from papers.tables import Grid

__all__ = [
    "AIMS",
    "CHANGE",
    "REFERENCES",
    "VECTORS",
    "brief",
    "columns_of",
    "figures",
    "findings",
    "main_rows",
    "of_others",
    "tables",
    "triple",
]

CHANGE = "change: "
"""Prefix of the names of ablations, small models that differ in one component."""
VECTORS = {0: "GloVe", 3: "abtt3"}
"""Names of word vectors, by number of removed top components."""

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
        "Baseline of SemEval 2012, named by Guo and Diab: about .31, cited from memory.",
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
            "unrecorded tools",
            "public tools on the same files; GloVe with 165,968 words, the source of the built-in "
            "vectors.",
            {name: {STS2012: n[at], STS2013: n[at + 3]} for name, n in others.items()},
            measure,
        )


REFERENCES = tuple(_references())


def brief(number: float | None) -> str:
    """Format a correlation without the leading zero."""
    return "–" if number is None else f"{number:.3f}".replace("0.", ".", 1)


# ------------------------------------------------------------------ tables


def tables(results: Results, methods: Mapping[str, Method]) -> list[Grid]:
    """Return a table for each test, one for all poolings, and one for ablations."""
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
    """Return the measures of a test: its sets, then the overall measures."""
    for cell in results.cells:
        if cell.dataset == dataset and cell.values is not None:
            numbers = [name for name, value in cell.values.items() if isinstance(value, float)]
            left = ("training Mean", "training ALL")
            return [n for n in numbers if not n.endswith(_ELSEWHERE) and n not in left]
    return []


def _of_test(results: Results, dataset: str, methods: Mapping[str, Method], told: "_Told") -> Grid:
    """Return the table of a test; its notes omit lines that earlier tables already have."""
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
        "Several initializations: their mean, with their range in parentheses.",
        *dict.fromkeys(f"*{r.name}*: {r.source}" for r in REFERENCES if r.name in sources),
        *told.footnotes,
    ]
    return Grid(TITLES.get(dataset, dataset), ["", *columns], rows, told.new(lines))


class _Told:
    """Footnotes shared by several tables; each is printed once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._lines: set[str] = set()

    def mark(self, note: str) -> str:
        """Return the mark of a footnote, or "" for an empty note."""
        return f" [{self._numbers.setdefault(note, len(self._numbers) + 1)}]" if note else ""

    @property
    def footnotes(self) -> list[str]:
        """Footnotes with their marks."""
        return [f"[{number}] {note}" for note, number in self._numbers.items()]

    def new(self, lines: Sequence[str]) -> list[str]:
        """Return the lines that were not printed below earlier tables."""
        found = [line for line in lines if line not in self._lines]
        self._lines.update(found)
        return found


def of_others(method: str, dataset: str) -> dict[str, dict[str, float]]:
    """Return the reference values of a method on a data set, by source and measure."""
    found: dict[str, dict[str, float]] = {}
    for one in REFERENCES:
        number = one.values.get(method, {}).get(dataset)
        if number is not None:
            found.setdefault(one.name, {})[one.measure] = number
    return found


def triple(results: Results, name: str, dataset: str, where: str = "") -> str:
    """Format ALL, ALLnrm, and Mean as one table cell."""
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
    corpus = "2012 training sentences" if where else "test sentences"
    return Grid(
        f"Pooled word vectors, fitted on the {corpus}: ALL / ALLnrm / Mean",
        ["", *(f"{name}, {TITLES[test]}" for name in VECTORS.values() for test in tests)],
        rows,
        []
        if where
        else [
            "abtt3: vectors without their mean and top three components. SIF weights are by rank, "
            "except for SIF of the sentences. less n: n components of the sentence vectors are "
            "removed. These rows show the effect of each step; nothing was chosen from them."
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
        "Ablations of WTMF",
        ["change", "training: Mean", "training: ALL", *heads, "LI06"],
        rows,
        [
            "K = 100, 5 sweeps, one initialization, trained without the training sentences unless "
            "stated. Differences as small as the range of initializations in the tables above are "
            "not meaningful."
        ],
    )


def figures(results: Results) -> dict[str, str]:
    """Draw the Mean of every test, with the paper's."""
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
            title="Correlation with human scores",
            legend="diamond: Guo and Diab 2012",
            form=".3f",
            highlight=("WTMF", *LEARNT),
        )
    }


_WORDS = "tf-idf, lemmas"
_MSRPAR = 750 / 3108  # share of MSRpar in the test pairs


def findings(results: Results) -> str:
    """Summarize the findings, with numbers from the results alone."""
    parts = [*_on_the_paper(results), *_on_words(results), *_on_regression(results)]
    parts += [*_on_transport(results), *_on_data(results)]
    return " ".join(parts)


def _pair(results: Results, one: str, other: str, dataset: str, measure: str) -> str | None:
    """Format the numbers of two methods as "x against y". Return None if one is missing."""
    numbers = [results.mean(name, dataset, measure) for name in (one, other)]
    if None in numbers:
        return None
    return f"{brief(numbers[0])} against {brief(numbers[1])}"


def _on_the_paper(results: Results) -> Iterator[str]:
    own = {m: results.mean(PAPERS, STS2012, m) for m in (*WHOLE, "MSRpar")}
    theirs = of_others(PAPERS, STS2012)["Guo and Diab"]
    found = {m: number for m, number in own.items() if number is not None}
    if len(found) == len(own):
        told = ", ".join(
            f"{m} {brief(n)} (Guo and Diab {brief(theirs[m])})" for m, n in found.items()
        )
        yield f"With the settings of Guo and Diab, WTMF has {told}."
        lacking = theirs["Mean"] - found["Mean"]
        share = _MSRPAR * (theirs["MSRpar"] - found["MSRpar"]) / lacking if lacking > 0 else 0.0
        if share > 0.5:
            yield (
                f"MSRpar accounts for {100 * share:.0f} % of the missing Mean. Its sentences "
                "contain many names and numbers, and GCIDE, a dictionary of 1913 with additions, "
                "may have fewer of these than Wiktionary. A part-of-speech tagger was not "
                "available either."
            )
    values = results.values("WTMF", STS2012)
    if values:
        yield results.said(
            f"The size chosen on the training pairs ({values[0].get('chosen')}) has "
            "ALL {WTMF|sts2012-test|ALL:.3f} and Mean {WTMF|sts2012-test|Mean:.3f}."
        )
    low = [
        f"{name} {brief(number)}"
        for name in ("LSI", "LDA")
        if (number := results.mean(name, STS2012, "Mean")) is not None
        and number < (results.mean("WTMF", STS2012, "Mean") or 0.0) - 0.1
    ]
    if low:
        yield (
            f"Far below WTMF: {' and '.join(low)} (Mean). In Guo and Diab, LDA is below it on "
            "every set, and LSI is not measured. Function words are kept, as in the recipe, and "
            "only two priors of LDA were tried."
        )


def _on_words(results: Results) -> Iterator[str]:
    told = [
        f"{TITLES[test]} {found}"
        for test in (STS2012, STS2013)
        if (found := _pair(results, "WTMF", _WORDS, test, "Mean")) is not None
    ]
    if told:
        yield (
            "Compared with a tf-idf cosine of lemmas with the idf of the same texts, WTMF has a "
            f"Mean of {', '.join(told)}."
        )
    gains = []
    for test in (STS2012, STS2013):
        for name in columns_of(results, test):
            one, other = (results.mean(method, test, name) for method in ("WTMF", _WORDS))
            if one is not None and other is not None and name not in WHOLE:
                gains.append((one - other, f"{TITLES[test]} {name}"))
    if gains:
        (least, lost), (most, won) = min(gains), max(gains)
        yield (
            f"The difference is largest on {won} ({most:+.3f}) and smallest on {lost} "
            f"({least:+.3f})."
        )


def _on_regression(results: Results) -> Iterator[str]:
    told, ahead = [], {}
    for test in (STS2012, STS2013):
        means = [results.mean(name, test, "Mean") for name in LEARNT]
        rest = [
            (number, name)
            for name in main_rows(results.methods)
            if name not in LEARNT and (number := results.mean(name, test, "Mean")) is not None
        ]
        if means[0] is None or means[1] is None or not rest:
            continue
        own = [f"{triple(results, name, test)} ({name.split(', ')[1]})" for name in LEARNT]
        name = max(rest)[1]
        told.append(
            f"{' and '.join(own)} on {TITLES[test]}, where the best Mean of the other methods is "
            f"by {name}, {triple(results, name, test)}"
        )
        ahead[test] = means[0] > means[1]
    if told:
        yield (
            "The regressions, which combine WTMF with word alignment, have ALL / ALLnrm / Mean: "
            f"{'; '.join(told)}. Only they are trained on human scores, on three sets."
        )
    if ahead == {STS2012: True, STS2013: False}:
        yield (
            "The regression chosen by folds of known sets is better in 2012, where most test pairs "
            "are of those sets, and worse on the sets of 2013, which are all new"
            + (
                "; for new sets, the best choice fits only differences within sets."
                if _learnt_within(results)
                else "."
            )
        )


def _learnt_within(results: Results) -> bool:
    """Return True if the regression for new sets fits only differences within sets."""
    chosen = [values.get("chosen", "") for values in results.values(LEARNT[1], STS2013)]
    return bool(chosen) and all(each.startswith("within") for each in chosen)


def _on_transport(results: Results) -> Iterator[str]:
    for name in ("WMD", "RWMD"):
        told = [
            f"{TITLES[test]} {found}"
            for test in (STS2012, STS2013)
            if (found := _pair(results, f"{name}, SIF", f"{name}, nBOW", test, "Mean")) is not None
        ]
        if told:
            yield f"{name}, SIF weights against relative counts: a Mean of {', '.join(told)}."
    told = [
        f"{TITLES[test]} {found}"
        for test in (STS2012, STS2013)
        if (found := _pair(results, "WMD, SIF", "tf-idf", test, "Mean")) is not None
    ]
    if told:
        yield f"Mean of WMD with SIF weights against a tf-idf cosine of words: {', '.join(told)}."


def _on_data(results: Results) -> Iterator[str]:
    twice, known = [], []
    for dataset in results.datasets:
        for values in results.values("surface words", dataset):
            counts = values["repeated"]
            twice.append(f"{counts['in training']:,.0f} of {counts['pairs']:,.0f} of {dataset}")
            known += [
                f"{100 * share:.0f} % of {TITLES.get(dataset, dataset)} {name.split(', ')[1]}"
                for name, share in counts.items()
                if name.startswith("WordNet, ") and share >= 0.05
            ]
    if twice:
        yield f"Test pairs that are also training pairs: {', '.join(twice)}."
    if known:
        yield (
            "Sentences that equal a definition of WordNet, on which the models are trained, as in "
            f"Guo and Diab: {', '.join(known)}."
        )


# ------------------------------------------------------------------ aims


def _at_least(measure: str, limit: float) -> Aim:
    def check(results: Results) -> tuple[bool, str] | None:
        number = results.mean("WTMF", STS2012, measure)
        return None if number is None else (number >= limit, brief(number))

    return Aim(f"STS 2012: {measure} of WTMF {limit:.2f} or more", check)


AIMS = (
    _at_least("ALL", 0.69),
    _at_least("ALLnrm", 0.83),
    _at_least("Mean", 0.60),
    _at_least("OnWN", 0.72),
)
