"""What the experiment ``fisher-vectors`` is compared with, and what it tells."""

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from textkin.evaluate._experiment import Method, Reference
from textkin.evaluate._results import Results
from textkin.evaluate._significance import paired_t_test
from textkin.evaluate._tables import Grid, by_dataset

__all__ = ["REFERENCES", "Tested", "findings", "t_tests", "tables"]

_SIGNIFICANT = 0.05
_WORD_VECTORS = ("LSI", "neural", "built-in")
_CLUSTERED = {
    "ari": "Clusters: adjusted Rand index, percent",
    "nmi": "Clusters: NMI by the arithmetic mean of the entropies, percent",
    "nmi_geometric": "Clusters: NMI by their geometric mean, percent",
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
        source = f"{table}, by eq. 12 as it is printed."
        if measure.startswith("nmi"):
            source += (
                " Which mean its NMI has is not said; scikit-learn's was the geometric one then."
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
    tools = "Public tools on these very files"
    yield Reference(
        "other tools",
        f"{tools}, stop words kept; tf-idf of the 5,000 most frequent words, mean of GloVe.",
        {
            "BoW with stop words": {"subj": 90.3, "mr": 76.0},
            "mean with stop words, built-in": {"subj": 89.8, "mr": 72.7},
        },
        "accuracy",
    )
    for measure, number in {"ari": 48.1, "nmi": 63.5}.items():
        yield Reference(
            "other tools",
            f"{tools}, the training part alone.",
            {"LSI": {"20news": number}},
            measure,
        )


REFERENCES = tuple(_references())


class Tested(NamedTuple):
    """A mean difference of two methods, and how likely chance would make it as large."""

    difference: float
    p_value: float


def t_tests(results: Results) -> dict[tuple[str, str], dict[str, Tested]]:
    """Return two-tailed t-tests of von Mises-Fisher against Gaussians and means, by data set.

    Accuracies are paired by folds; NMI of starts, which have nothing in common, is not (Welch).
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
        warnings.simplefilter("ignore", RuntimeWarning)  # of samples that are all equal
        p_value = float(stats.ttest_ind(first, second, equal_var=False).pvalue)
    # Samples without any spread have no t; they differ for certain, or not at all.
    return Tested(difference, float(difference == 0) if math.isnan(p_value) else p_value)


def tables(results: Results, methods: Mapping[str, Method]) -> list[Grid]:
    """Return accuracies, agreements of clusters, and t-tests."""
    notes = {name: method.note for name, method in methods.items()}
    made = []
    for measure, title in (
        ("accuracy", "Classes: accuracy in percent"),
        ("standardised", "Classes: accuracy in percent, with columns of variance 1"),
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
    """Return the cells of data sets that have a number of this name, or nothing but reasons."""
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
        rows.append([f"{own}, less {other}", *cells])
    return Grid(
        "Differences in points, two-tailed t-tests",
        ["", *results.datasets],
        rows,
        [
            "Of accuracy, paired by folds; of NMI (arithmetic), means over the starts of k-means, "
            f"by Welch's test. Bold: p < {_SIGNIFICANT}, no correction for their number. Starts of "
            "k-means are not other data: their tests say only that the starts do not explain it."
        ],
    )


def findings(results: Results) -> str:
    """Say what was reproduced, with numbers from the results alone."""
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
            "The paper finds FV-moVMF best throughout; the replication of 2020 could not confirm "
            "it."
        )
    below, n = _below_the_paper(results, _TABLES_1_AND_2)
    trained, n_trained = _below_the_paper(results, _TRAINED)
    if n:
        parts.append(
            f"Of {n} numbers of the paper, {below} are above ours; of the {n_trained} of vectors "
            f"that are trained on the collection alone (neural, PV), {trained}. On what text the "
            'paper trained beyond "each task\'s own corpus", and which stop words it left out, '
            "cannot be told."
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
            "Documents with the bag of words of an earlier one, SMART stop words left out: "
            f"{', '.join(repeated)}; `NAME-distinct` is a set without them."
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
        f"Of {len(found)} comparisons of {own} and {other} on the same word vectors, the first is "
        f"significantly better in {better} and significantly worse in {len(sure) - better}."
    )


def _below_the_paper(results: Results, methods: Iterable[str]) -> tuple[int, int]:
    """Return how many of our numbers are below the paper's, and of how many."""
    pairs = [
        (results.mean(name, dataset, measure), number)
        for name in methods
        for (dataset, measure), number in zip(_COLUMNS, _TABLES_1_AND_2[name], strict=True)
    ]
    ours = [(own, theirs) for own, theirs in pairs if own is not None]
    return sum(own < theirs for own, theirs in ours), len(ours)
