"""What the experiment ``sts`` is compared with, and what it tells."""

from collections.abc import Iterator, Mapping, Sequence

from textkin.evaluate._experiment import Aim, Method, Reference
from textkin.evaluate._figures import Value, bar_figure
from textkin.evaluate._results import Results
from textkin.evaluate._tables import Grid

__all__ = ["AIMS", "CHANGE", "REFERENCES", "VECTORS", "figures", "findings", "tables"]

CHANGE = "change: "
"""What names of small models begin with, which differ in one ingredient."""
VECTORS = {0: "GloVe", 3: "abtt3"}
"""The names of word vectors by how many of their top components are removed."""

_WHOLE = ("ALL", "ALLnrm", "Mean")
_2012, _2013, _LI06 = "sts2012-test", "sts2013-test", "li06-30"
_TITLES = {_2012: "STS 2012", _2013: "STS 2013", _LI06: "LI06, 30 pairs"}
_ELSEWHERE = ", training sentences"
_WORDS = "tf-idf, lemmas"
_PAPERS = "WTMF, the paper's settings"
_LEARNT = ("regression, known sets", "regression, new sets")
_SHOWN_POOLINGS = (
    "GloVe mean",
    "GloVe SIF",
    "GloVe SIF, less 1",
    "GloVe SIF, whitened",
    "abtt3 SIF, less 1",
)


def _references() -> Iterator[Reference]:
    sets = ("MSRpar", "MSRvid", "SMTeuroparl", "OnWN", "SMTnews", *_WHOLE)
    wtmf = (0.411, 0.835, 0.513, 0.727, 0.438, 0.695, 0.830, 0.608)
    lda = (0.274, 0.768, 0.452, 0.619, 0.366)
    for at, measure in enumerate(sets):
        rows = {_PAPERS: {_2012: wtmf[at]}}
        if at < len(lda):
            rows["LDA"] = {_2012: lda[at]}
        if measure == "ALL":
            rows["surface words"] = {_2012: 0.31}
        yield Reference(
            "Guo and Diab", "Tables 2 and 3; ALL of surface words in the text.", rows, measure
        )
    yield Reference(
        "authors' program",
        "the release of OrMF (WTMF-pipeline), on the concatenated test pairs.",
        {"OrMF": {_2012: 0.720}},
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
    for at, measure in enumerate(_WHOLE):
        yield Reference(
            "other tools",
            "public tools on these very files; GloVe with 165,968 words, from which the built-in "
            "vectors are cut.",
            {name: {_2012: n[at], _2013: n[at + 3]} for name, n in others.items()},
            measure,
        )


REFERENCES = tuple(_references())


def _brief(number: float | None) -> str:
    """Return a correlation without the zero before its point."""
    return "–" if number is None else f"{number:.3f}".replace("0.", ".", 1)


# ------------------------------------------------------------------ tables


def tables(results: Results, methods: Mapping[str, Method]) -> list[Grid]:
    """Return a table a test, then all recipes of pooling, then changes of one ingredient."""
    made = [_of_test(results, dataset, methods) for dataset in results.datasets]
    made += [_of_pooling(results, methods, where) for where in ("", _ELSEWHERE)]
    made.append(_of_changes(results))
    return [table for table in made if table.rows]


def _main(methods: Sequence[str]) -> list[str]:
    """Return the methods of the main tables."""
    pooled = tuple(f"{name} " for name in VECTORS.values())
    return [
        name
        for name in methods
        if not name.startswith((CHANGE, *pooled)) or name in _SHOWN_POOLINGS
    ]


def _columns(results: Results, dataset: str) -> list[str]:
    """Return the measures of a test: its sets, then those of the whole."""
    for cell in results.cells:
        if cell.dataset == dataset and cell.values is not None:
            numbers = [name for name, value in cell.values.items() if isinstance(value, float)]
            left = ("training Mean", "training ALL")
            return [n for n in numbers if not n.endswith(_ELSEWHERE) and n not in left]
    return []


def _of_test(results: Results, dataset: str, methods: Mapping[str, Method]) -> Grid:
    columns = _columns(results, dataset)
    shown = _main(results.methods)
    best = {
        measure: max((results.mean(name, dataset, measure) or -1.0 for name in shown), default=0)
        for measure in columns
    }
    rows: list[list[str]] = []
    notes: dict[str, int] = {}
    sources: dict[str, None] = {}
    for name in shown:
        outcome = next(iter(results.outcomes(name, dataset)), None)
        if outcome is None:
            continue
        values = outcome.values or {}
        label = f"{name} ({values['chosen']})" if "chosen" in values else name
        for note in (methods[name].note if name in methods else "", outcome.missing):
            if note:
                label += f" [{notes.setdefault(note, len(notes) + 1)}]"
        cells = []
        for measure in columns:
            number = results.mean(name, dataset, measure)
            text = _brief(number)
            if number is not None and number == best[measure]:
                text = f"**{text}**"
            spread = values.get("spread", {}).get(measure)
            whole = measure in (*_WHOLE, "Pearson", "Spearman")
            cells.append(f"{text} ({_brief(spread)})" if spread is not None and whole else text)
        rows.append([label, *cells])
        for other, of_measure in _by_name(name, dataset).items():
            numbers = [of_measure.get(measure) for measure in columns]
            if any(number is not None for number in numbers):
                texts = ["" if number is None else f"*{_brief(number)}*" for number in numbers]
                rows.append([f"*– {other}*", *texts])
                sources[other] = None
    explained = [f"*{r.name}*: {r.source}" for r in REFERENCES if r.name in sources]
    starts = "Several starts: their mean, in brackets how far they are apart."
    return Grid(
        _TITLES.get(dataset, dataset),
        ["", *columns],
        rows,
        [
            starts,
            *dict.fromkeys(explained),
            *(f"[{number}] {note}" for note, number in notes.items()),
        ],
    )


def _by_name(method: str, dataset: str) -> dict[str, dict[str, float]]:
    """Return the numbers of others for a method, by whose they are and their measure."""
    found: dict[str, dict[str, float]] = {}
    for one in REFERENCES:
        number = one.values.get(method, {}).get(dataset)
        if number is not None:
            found.setdefault(one.name, {})[one.measure] = number
    return found


def _triple(results: Results, name: str, dataset: str, where: str = "") -> str:
    """Return ALL, ALLnrm and Mean in one cell."""
    numbers = [results.mean(name, dataset, measure + where) for measure in _WHOLE]
    return "–" if None in numbers else " / ".join(map(_brief, numbers))


def _of_pooling(results: Results, methods: Mapping[str, Method], where: str) -> Grid:
    tests = [name for name in (_2012, _2013) if name in results.datasets]
    first = f"{VECTORS[0]} "
    recipes = [name.removeprefix(first) for name in methods if name.startswith(first)]
    rows = []
    for recipe in recipes:
        cells = [
            _triple(results, f"{name} {recipe}", test, where)
            for name in VECTORS.values()
            for test in tests
        ]
        if any(cell != "–" for cell in cells):
            rows.append([recipe, *cells])
    learnt = "of the 2012 training pairs instead" if where else "of the test"
    return Grid(
        f"Pooled word vectors, learnt from the sentences {learnt}: ALL / ALLnrm / Mean",
        ["", *(f"{name}, {_TITLES[test]}" for name in VECTORS.values() for test in tests)],
        rows,
        []
        if where
        else [
            "abtt3: the vectors without their mean and three top components. SIF by rank unless "
            "of the file; less n: without n components of the sentences. Not chosen from: to see "
            "what each step does."
        ],
    )


def _of_changes(results: Results) -> Grid:
    tests = [name for name in (_2012, _2013) if name in results.datasets]
    rows = []
    for name in results.methods:
        if name.startswith(CHANGE):
            training = [
                _brief(results.mean(name, tests[0], f"training {measure}") if tests else None)
                for measure in ("Mean", "ALL")
            ]
            own = [
                _brief(results.mean(name, test, measure))
                for test in tests
                for measure in ("Mean", "ALL")
            ]
            li06 = _brief(results.mean(name, _LI06, "Pearson"))
            rows.append([name.removeprefix(CHANGE), *training, *own, li06])
    heads = [f"{_TITLES[test]}: {measure}" for test in tests for measure in ("Mean", "ALL")]
    return Grid(
        "What one change does to WTMF",
        ["change", "training: Mean", "training: ALL", *heads, "LI06"],
        rows,
        [
            "K = 100, 5 sweeps, one start, learnt without the sentences of the training pairs but "
            "where said. Starts of such a model differ by about .01, on the training pairs .02."
        ],
    )


def figures(results: Results) -> dict[str, str]:
    """Draw the Mean of every test, the paper's beside it."""
    groups = {}
    for dataset in results.datasets:
        measure = "Pearson" if dataset == _LI06 else "Mean"
        bars = {}
        for name in _main(results.methods):
            number = results.mean(name, dataset, measure)
            if number is not None:
                of_paper = _by_name(name, dataset).get("Guo and Diab", {}).get(measure)
                bars[name] = Value(max(number, 0.0), 0.0, of_paper)
        if bars:
            groups[f"{_TITLES.get(dataset, dataset)}, {measure}"] = bars
    return {
        "correlations": bar_figure(
            groups,
            title="Correlation with the scores of people",
            legend="diamond: Guo and Diab 2012",
            form=".3f",
            highlight=("WTMF", *_LEARNT),
        )
    }


# ------------------------------------------------------------------ words


def findings(results: Results) -> str:
    """Say what was reproduced, with numbers from the results alone."""
    parts = [*_on_the_paper(results), *_on_words(results), *_on_regression(results)]
    parts += [*_on_transport(results), *_on_data(results)]
    return " ".join(parts)


def _pair(results: Results, one: str, other: str, dataset: str, measure: str) -> str | None:
    """Return the two numbers of two methods in words; None if one is not there."""
    numbers = [results.mean(name, dataset, measure) for name in (one, other)]
    if None in numbers:
        return None
    return f"{_brief(numbers[0])} against {_brief(numbers[1])}"


def _on_the_paper(results: Results) -> Iterator[str]:
    own = {m: results.mean(_PAPERS, _2012, m) for m in (*_WHOLE, "MSRpar")}
    theirs = _by_name(_PAPERS, _2012)["Guo and Diab"]
    if None not in own.values():
        told = ", ".join(f"{m} {_brief(own[m])} (paper {_brief(theirs[m])})" for m in own)
        yield (
            f"With the paper's settings WTMF has {told}: what lacks is mostly MSRpar, with names "
            "and numbers that GCIDE, a dictionary of 1913 with additions, has less of than "
            "Wiktionary; the tagger before the lemmas could not be had either."
        )
    values = results.values("WTMF", _2012)
    if values:
        yield results.said(
            f"The size that training pairs choose ({values[0].get('chosen')}) has "
            "ALL {WTMF|sts2012-test|ALL:.3f}, Mean {WTMF|sts2012-test|Mean:.3f}."
        )
    low = _pair(results, "LDA", "WTMF", _2012, "Mean")
    if low is not None:
        yield (
            f"LDA (Mean {low}) and LSI are far below, as in the paper; function words stay in, "
            "which suits neither, and of LDA two priors were tried."
        )


def _on_words(results: Results) -> Iterator[str]:
    told = [
        f"{_TITLES[test]} {found}"
        for test in (_2012, _2013)
        if (found := _pair(results, "WTMF", _WORDS, test, "Mean")) is not None
    ]
    if told:
        yield (
            f"Beside a tf-idf cosine of lemmas with the idf of the same texts, WTMF has a Mean of "
            f"{' and '.join(told)}: it wins where people used other words for the same, and loses "
            "where small differences count."
        )


def _on_regression(results: Results) -> Iterator[str]:
    told = []
    for test in (_2012, _2013):
        own = [f"{_triple(results, name, test)} ({name.split(', ')[1]})" for name in _LEARNT]
        rest = [
            (number, name)
            for name in _main(results.methods)
            if name not in _LEARNT and (number := results.mean(name, test, "Mean")) is not None
        ]
        if all(results.values(name, test) for name in _LEARNT) and rest:
            name = max(rest)[1]
            told.append(
                f"{' and '.join(own)} on {_TITLES[test]}, where the other row with the best Mean "
                f"is {name}, {_triple(results, name, test)}"
            )
    if told:
        yield (
            f"The regressions that combine WTMF with word alignment have, as ALL / ALLnrm / Mean, "
            f"{'; '.join(told)}. They alone learn from scores of people, those of three sets of "
            "2012. A regression that is free to learn what tells those sets apart is the better "
            "the more the test is like them; one that learns only from differences within sets "
            "carries over."
        )


def _on_transport(results: Results) -> Iterator[str]:
    told = [
        f"{_TITLES[test]} {found}"
        for test in (_2012, _2013)
        if (found := _pair(results, "WMD, SIF", "WMD, nBOW", test, "Mean")) is not None
    ]
    if told:
        yield (
            f"Masses that fall with frequency are worth more than exact transport: WMD with SIF "
            f"masses has a Mean of {' and '.join(told)} with plain shares"
            + (
                f", the relaxed distance {found}."
                if (found := _pair(results, "RWMD, SIF", "RWMD, nBOW", _2012, "Mean")) is not None
                else "."
            )
        )


def _on_data(results: Results) -> Iterator[str]:
    twice, known = [], []
    for dataset in results.datasets:
        for values in results.values("surface words", dataset):
            counts = values["repeated"]
            twice.append(f"{counts['in training']:,.0f} of {counts['pairs']:,.0f} of {dataset}")
            known += [
                f"{100 * share:.0f} % of {_TITLES.get(dataset, dataset)} {name.split(', ')[1]}"
                for name, share in counts.items()
                if name.startswith("WordNet, ") and share >= 0.05
            ]
    if twice:
        yield f"Test pairs that are training pairs too: {', '.join(twice)}."
    if known:
        yield (
            f"Sentences that are definitions of WordNet word for word, which the models learn "
            f"from, here as in the paper: {', '.join(known)}."
        )


# ------------------------------------------------------------------ aims


def _at_least(measure: str, limit: float) -> Aim:
    def check(results: Results) -> tuple[bool, str] | None:
        number = results.mean("WTMF", _2012, measure)
        return None if number is None else (number >= limit, _brief(number))

    return Aim(f"STS 2012: {measure} of WTMF {limit:.2f} or more", check)


AIMS = (
    _at_least("ALL", 0.69),
    _at_least("ALLnrm", 0.83),
    _at_least("Mean", 0.60),
    _at_least("OnWN", 0.72),
)
