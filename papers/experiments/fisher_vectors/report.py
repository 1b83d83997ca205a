"""References, tables, and findings of the experiment ``fisher-vectors``."""

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from papers.results import Results
from papers.runner import Method, Reference
from papers.tables import Grid, by_dataset
from textkin.evaluate import paired_t_test

__all__ = ["REFERENCES", "Tested", "findings", "t_tests", "tables"]

_SIGNIFICANT = 0.05
_WORD_VECTORS = ("LSI", "neural", "built-in")
_CLUSTERED = {
    "ari": "Clustering: adjusted Rand index, percent",
    "nmi": "Clustering: NMI with the arithmetic mean of the entropies, percent",
    "nmi_geometric": "Clustering: NMI with the geometric mean of the entropies, percent",
}

# Zhang et al., Tables 1 and 2, in percent: Subj, MR, and 20news ARI and NMI.
_TABLES_1_AND_2 = {
    "BoW": (89.5, 74.3, 9.2, 29.7),
    "LSI": (85.4, 64.2, 33.2, 43.1),
    "LDA": (72.7, 58.2, 30.8, 47.2),
    "mean, neural": (90.9, 74.8, 38.6, 53.8),
    "PV-DBOW": (90.1, 73.9, 42.6, 56.6),
    "PV-DM": (90.4, 74.4, 42.9, 56.8),
    "FV-GMM, LSI": (87.8, 68.5, 38.5, 46.7),
    "FV-GMM, neural": (90.3, 72.6, 42.3, 54.6),
    "FV-moVMF (eq. 12), LSI": (88.6, 71.5, 37.9, 51.9),
    "FV-moVMF (eq. 12), neural": (91.8, 75.7, 44.1, 57.8),
}
_TRAINED = ("mean, neural", "PV-DBOW", "PV-DM", "FV-GMM, neural", "FV-moVMF (eq. 12), neural")
_STOP_WORDS = ("", " with stop words")
_COLUMNS = (("subj", "accuracy"), ("mr", "accuracy"), ("20news", "ari"), ("20news", "nmi"))


def _references() -> Iterator[Reference]:
    for measure in ("accuracy", *_CLUSTERED):
        table = "Table 1" if measure == "accuracy" else "Table 2"
        source = f"{table}, with eq. 12 as printed."
        if measure.startswith("nmi"):
            source += (
                " They do not name the mean of their NMI; scikit-learn used the geometric "
                "mean at that time."
            )
        columns = [
            (at, dataset)
            for at, (dataset, of) in enumerate(_COLUMNS)
            if of == measure.removesuffix("_geometric")
        ]
        values = {
            name: {dataset: numbers[at] for at, dataset in columns}
            for name, numbers in _TABLES_1_AND_2.items()
        }
        yield Reference("Zhang et al.", source, values, measure)
    tools = "Public tools on the same files"
    yield Reference(
        "unrecorded tools",
        f"{tools}, with stop words; tf-idf of the 5,000 most frequent words, mean of GloVe.",
        {
            "BoW with stop words": {"subj": 90.3, "mr": 76.0},
            "mean with stop words, built-in": {"subj": 89.8, "mr": 72.7},
        },
        "accuracy",
    )
    for measure, number in {"ari": 48.1, "nmi": 63.5}.items():
        yield Reference(
            "unrecorded tools",
            f"{tools}, training part only.",
            {"LSI": {"20news": number}},
            measure,
        )


REFERENCES = tuple(_references())


class Tested(NamedTuple):
    """Mean difference of two methods, with the p-value of a t-test."""

    difference: float
    p_value: float


def t_tests(results: Results) -> dict[tuple[str, str], dict[str, Tested]]:
    """Return two-tailed t-tests of von Mises-Fisher against Gaussians and means, by data set.

    Accuracies are paired by folds. NMI values of different initializations are not paired (Welch).
    """
    found: dict[tuple[str, str], dict[str, Tested]] = {}
    for of in _WORD_VECTORS:
        for own, other in (
            ("FV-moVMF", "FV-GMM"),
            ("FV-moVMF", "mean"),
            ("FV-moVMF (eq. 12)", "FV-GMM"),
            ("FV-moVMF (eq. 12)", "mean"),
            ("FV-moVMF with weights", "FV-GMM with weights"),
            ("FV-moVMF with weights", "mean"),
        ):
            pair = f"{own}, {of}", f"{other}, {of}"
            for dataset in results.datasets:
                tested = _tested(results, *pair, dataset)
                if tested is not None:
                    found.setdefault(pair, {})[dataset] = tested
    return found


def _tested(results: Results, own: str, other: str, dataset: str) -> Tested | None:
    folds = [_by_split(results, name, dataset) for name in (own, other)]
    both = [split for split in folds[0] if split in folds[1]]
    if len(both) > 1:
        test = paired_t_test(*([numbers[split] for split in both] for numbers in folds))
        return Tested(test.difference, test.p_value)
    starts = [_of_starts(results, name, dataset) for name in (own, other)]
    return None if min(map(len, starts)) < 2 else _welch(*starts)


def _by_split(results: Results, method: str, dataset: str) -> dict[int, float]:
    return {
        cell.split: cell.values["accuracy"]
        for cell in results.outcomes(method, dataset)
        if cell.values is not None and "accuracy" in cell.values
    }


def _of_starts(results: Results, method: str, dataset: str) -> list[float]:
    return [
        start["nmi"]
        for values in results.values(method, dataset)
        for start in values.get("starts", [])
    ]


def _welch(first: Sequence[float], second: Sequence[float]) -> Tested:
    from scipy import stats

    difference = math.fsum(first) / len(first) - math.fsum(second) / len(second)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # raised for samples without variance
        p_value = float(stats.ttest_ind(first, second, equal_var=False).pvalue)
    # Without variance, t is undefined: the p-value is 1 for equal samples and 0 otherwise.
    return Tested(difference, float(difference == 0) if math.isnan(p_value) else p_value)


def tables(results: Results, methods: Mapping[str, Method]) -> list[Grid]:
    """Return tables: accuracy, agreement between clusters and classes, and t-tests."""
    notes = {name: method.note for name, method in methods.items()}
    made = []
    for measure, title in (
        ("accuracy", "Classification: accuracy in percent"),
        ("standardised", "Classification: accuracy in percent, with columns of variance 1"),
        *_CLUSTERED.items(),
    ):
        some = _having(results, measure)
        if some.cells:
            made.append(
                by_dataset(
                    some,
                    measure,
                    title,
                    methods=[
                        m
                        for m in methods
                        if any(some.numbers(m, d, measure) for d in some.datasets)
                    ],
                    references=REFERENCES,
                    better="higher",
                    notes=notes if measure in ("accuracy", "ari") else None,
                )
            )
    if tests := t_tests(results):
        made.append(_tests_table(results, tests))
    return made


def _having(results: Results, measure: str) -> Results:
    """Return the cells of the data sets that have a number of this name."""
    kept = [
        dataset
        for dataset in results.datasets
        if any(results.numbers(method, dataset, measure) for method in results.methods)
    ]
    return replace(results, cells=tuple(cell for cell in results.cells if cell.dataset in kept))


def _tests_table(results: Results, tests: Mapping[tuple[str, str], Mapping[str, Tested]]) -> Grid:
    rows = []
    for (own, other), by_set in tests.items():
        cells = []
        for dataset in results.datasets:
            if dataset not in by_set:
                cells.append("–")
                continue
            shown = f"{by_set[dataset].difference:+.1f} (p = {by_set[dataset].p_value:.2g})"
            sure = by_set[dataset].p_value < _SIGNIFICANT
            cells.append(f"**{shown}**" if sure else shown)
        rows.append([f"{own} minus {other}", *cells])
    return Grid(
        "Differences in points, two-tailed t-tests",
        ["", *results.datasets],
        rows,
        [
            "Accuracy is paired by folds. NMI (arithmetic) is the mean over initializations of "
            f"k-means, by Welch's test. Bold: p < {_SIGNIFICANT}, without correction for multiple "
            "tests. All initializations use the same data: their tests show only that the "
            "initialization does not explain the difference."
        ],
    )


def findings(results: Results) -> str:
    """Summarize the findings, with numbers from the results alone."""
    tests = t_tests(results)
    parts = [
        told
        for own, other in (
            ("FV-moVMF", "FV-GMM"),
            ("FV-moVMF (eq. 12)", "FV-GMM"),
            ("FV-moVMF with weights", "FV-GMM with weights"),
            ("FV-moVMF", "mean"),
        )
        if (told := _verdict(tests, own, other))
    ]
    if parts:
        parts.append(
            "Zhang et al. find FV-moVMF best on every task; the replication of 2020 could not "
            "confirm this."
        )
    below, n = _below_the_paper(results, _TABLES_1_AND_2)
    trained, n_trained = _below_the_paper(results, _TRAINED)
    if n:
        parts.append(
            f"{below} of {n} numbers of Zhang et al. are above ours; among the {n_trained} numbers "
            f"of vectors trained on the collection alone (neural, PV), {trained}. They do "
            'not say which text they trained on beyond "each task\'s own corpus", nor which stop '
            "words they removed."
        )
    parts += [
        results.said(
            f"Tf-idf of {dataset} has {{BoW with stop words|{dataset}|accuracy:.1f}} % with stop "
            f"words and {{BoW|{dataset}|accuracy:.1f}} % without."
        )
        for dataset in results.datasets
        if all(results.numbers(f"BoW{more}", dataset, "accuracy") for more in _STOP_WORDS)
    ]
    repeated = []
    for dataset in results.datasets:
        counts = {
            (values["repeated"], values["documents"])
            for method in results.methods
            for values in results.values(method, dataset)
            if "repeated" in values
        }
        repeated += [f"{n:,} of {documents:,} of {dataset}" for n, documents in sorted(counts)]
    if repeated:
        parts.append(
            "Documents with the same bag of words as an earlier document, without SMART stop "
            f"words: {', '.join(repeated)}. `NAME-distinct` is a set without these documents."
        )
    return " ".join(parts)


def _verdict(
    tests: Mapping[tuple[str, str], Mapping[str, Tested]], own: str, other: str
) -> str | None:
    found = [
        tested
        for (first, second), by_set in tests.items()
        if (first.partition(", ")[0], second.partition(", ")[0]) == (own, other)
        for tested in by_set.values()
    ]
    if not found:
        return None
    sure = [tested for tested in found if tested.p_value < _SIGNIFICANT]
    better = sum(tested.difference > 0 for tested in sure)
    return (
        f"In {len(found)} comparisons of {own} and {other} on the same word vectors, the first is "
        f"significantly better in {better} and significantly worse in {len(sure) - better}."
    )


def _below_the_paper(results: Results, methods: Iterable[str]) -> tuple[int, int]:
    """Return the number of comparisons in which the paper is better, and of all comparisons."""
    pairs = [
        (results.mean(name, dataset, measure), number)
        for name in methods
        for (dataset, measure), number in zip(_COLUMNS, _TABLES_1_AND_2[name], strict=True)
    ]
    ours = [(own, theirs) for own, theirs in pairs if own is not None]
    return sum(own < theirs for own, theirs in ours), len(ours)
