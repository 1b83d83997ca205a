"""Experiment ``fisher-kernel``: retrieval and few labels with Hofmann's Fisher kernel."""

from pathlib import Path

from papers.experiments.fisher_kernel.classification import FILE, errors_with_labels
from papers.experiments.fisher_kernel.report import (
    AIMS,
    COLLECTIONS,
    REFERENCES,
    SHARES,
    figures,
    findings,
    is_news,
    tables,
)
from papers.experiments.fisher_kernel.retrieval import SCORERS, average_precisions
from papers.judged_collections import judged_files
from papers.runner import Experiment, Method

__all__ = ["EXPERIMENT"]

_NOTES = {
    "VSM": "Cosine of counts.",
    "BM25": "k1 = 1.2, b = 0.75, not tuned; for comparison.",
    "LSI": "Cosine in 25 to 300 dimensions.",
    "VSM + LSI": "(1 - w) VSM + w LSI, w from 0.1 to 0.9.",
    "PLSI": (
        "(1 - w) VSM + w cosine of the factors, with 32, 48, 64, 80, or 128 factors, or the mean "
        "over these models."
    ),
    "VSM++": (
        "(1 - w) VSM + w Fisher kernel, with 1 and 64 factors or with 1, 32, 48, 64, 80, and 128."
    ),
}


def _methods() -> dict[str, Method]:
    made = {
        name: Method(
            average_precisions,
            {"scorer": name},
            note=_NOTES.get(name, ""),
            on=lambda dataset: not is_news(dataset),
        )
        for name in SCORERS
    }
    own = "Models with 1 and 64 factors; the sum of all parts is normalized as a whole."
    chosen = (
        "Chosen among 12 kernels: models by likelihood or tempered EM; 64 factors, 1 and 64, or 1, "
        "16, 64, and 128; every K1 and K2 normalized separately; with or without words."
    )
    for name, classifier in (("SVM", "svm"), ("kNN", "knn")):
        for row, kernels, note in (
            (name, "words", "Cosine of counts."),
            (f"{name}++", "chosen", chosen),
            (f"{name}++, K = 1 and 64", "paper", own),
        ):
            made[row] = Method(
                errors_with_labels,
                {"classifier": classifier, "kernels": kernels},
                note=note,
                on=is_news,
            )
    return made


def _files(dataset: str) -> list[str]:
    return [FILE] if is_news(dataset) else judged_files(dataset)


def _splits(data: Path, dataset: str, quick: bool) -> int:
    return 1 if quick or not is_news(dataset) or dataset == SHARES[-1] else 3


_METHODS = _methods()

EXPERIMENT = Experiment(
    name="fisher-kernel",
    title="Hofmann's Fisher kernel: retrieval and few labels",
    source=(
        'Hofmann, "Learning the Similarity of Documents: An Information-Geometric Approach to '
        'Document Retrieval and Categorization", NIPS 1999, Tables 1 and 2.'
    ),
    protocol=(
        "*Retrieval*: title and text, without SMART stop words, Porter's stems; among four "
        "preparations of the texts, this one gives a plain cosine nearest to Hofmann's. Models "
        "are trained on documents by tempered EM, never on queries. Dimensions, numbers of "
        "factors, and weights w are chosen by average precision on every other query and used for "
        "the remaining queries, and vice versa, so that no query affects its own setting. Average "
        "precision covers all relevant documents, cut at rank 1000.\n\n"
        "*Few labels*: Reuters-21578, ModApte split, words without SMART stop words that occur at "
        "least 5 times. Each of the five largest categories against all others; error on the 3,299 "
        "test documents. 1/20, 1/10, and 1/5 of the 9,603 training documents have labels, sampled "
        "three times at random. Models are trained on all 21,578 texts, including the test "
        "documents, without labels. The kernel, C (1, 10, 100), and k (1 to 19) are chosen by "
        "cross-validation on the labeled documents. If all documents have labels, they are chosen "
        "once on a fifth of them, and the error is also that of the test split, while Hofmann "
        "has 10 folds of all documents."
    ),
    datasets=[*COLLECTIONS, *SHARES],
    methods=_METHODS,
    files=_files,
    splits=_splits,
    tables=lambda results: tables(results, _METHODS),
    figures=figures,
    findings=findings,
    references=REFERENCES,
    aims=AIMS,
)
