"""Experiment ``datasets``: sizes of the labeled sets, and their duplicates (WMD Table 1)."""

from typing import Any

import numpy as np

from papers.cells import Task
from papers.labeled_texts import (
    counter_of,
    labelled,
    labelled_files,
    labelled_splits,
    stop_words_of,
)
from papers.results import Results
from papers.runner import Experiment, Method, Reference
from papers.tables import Grid, by_measure
from textkin.evaluate import LabeledData, duplicate_counts

__all__ = ["EXPERIMENT"]

_ROW = "counts"
_COLUMNS = {
    "train": ",.0f",
    "test": ",.0f",
    "words": ",.0f",
    "words a document": ".1f",
    "classes": ".0f",
    "repeated in train": ",.0f",
    "test bags in train": ",.0f",
    "contradicting": ",.0f",
}


def counts(task: Task) -> dict[str, Any]:
    """Count the documents, words, classes, and duplicate bags of words of a set."""
    some = labelled(task)
    stop_words = stop_words_of(task.dataset)
    bags = counter_of(task).fit_transform(some.train.texts)
    n_train, n = len(some.train), len(some.train) + len(some.test)
    both = LabeledData(
        [*some.train.texts, *some.test.texts],
        [*some.train.labels, *some.test.labels],
        splits=[(np.arange(n_train), np.arange(n_train, n))],
    )
    twice = duplicate_counts(both, stop_words=stop_words)
    return {
        "train": n_train,
        "test": n - n_train,
        "words": bags.shape[1],
        "words a document": float(np.diff(bags.indptr).mean()),
        "classes": len(np.unique(some.train.labels)),
        "repeated in train": twice.train,
        "test bags in train": twice.across,
        "contradicting": twice.contradicting,
    }


_SETS = ("twitter", "recipe_substitute", "ohsumed23", "classic", "r8", "20news")
_TABLE_1 = {
    "train": (2176, 3059, 3999, 4965, 5485, 11293),
    "words": (6344, 5708, 31789, 24277, 22425, 29671),
    "words a document": (9.9, 48.5, 59.2, 38.6, 37.1, 72),
    "classes": (3, 15, 10, 4, 8, 20),
}


def _tables(results: Results) -> list[Grid]:
    return [
        by_measure(
            results,
            _ROW,
            _COLUMNS,
            "Means over splits",
            references=EXPERIMENT.references,
            notes=[
                "`ohsumed23` has 23 classes of documents with one label, OHSUMED of Kusner et al. "
                "has 10 classes. `recipe_substitute` replaces RECIPE, which was not available. "
                "Contradicting: an earlier document has the same bag of words and another label."
            ],
        )
    ]


def _findings(results: Results) -> str:
    shares = [
        (results.mean(_ROW, name, "test bags in train"), results.mean(_ROW, name, "test"), name)
        for name in results.datasets
    ]
    told = [
        f"{100 * twice / test:.1f} % of {name}" for twice, test, name in shares if twice and test
    ]
    if not told:
        return "No test document has the same bag of words as a training document."
    return (
        "Test documents with the same bag of words as a training document, as found by Sato et "
        f"al.: {', '.join(told)}. `NAME-distinct` is a set without duplicate bags; every "
        "experiment on labeled texts accepts it."
    )


EXPERIMENT = Experiment(
    name="datasets",
    title="The data sets",
    source='Kusner et al., "From Word Embeddings To Document Distances", ICML 2015, Table 1.',
    protocol=(
        "Words of the training documents, in lower case, without SMART stop words (except in "
        "twitter), and with at least 5 occurrences in 20news. *words a document* is the mean "
        "number of distinct words. Sets without a standard split have five splits, and the table "
        "shows means."
    ),
    datasets=_SETS,
    methods={_ROW: Method(counts)},
    files=labelled_files,
    splits=labelled_splits,
    tables=_tables,
    findings=_findings,
    references=[
        Reference(
            "Kusner et al.",
            "Table 1, training part.",
            {_ROW: dict(zip(_SETS, numbers, strict=True))},
            measure,
        )
        for measure, numbers in _TABLE_1.items()
    ],
)
