"""``fisher-kernel``: retrieval and few labels with Hofmann's kernel of PLSA (his Tables 1, 2)."""

from pathlib import Path

from textkin.evaluate._experiment import Experiment, Method
from textkin.evaluate.experiments._judged import judged_files
from textkin.evaluate.experiments._kernel_classifiers import errors_with_labels
from textkin.evaluate.experiments._kernel_news import FILE
from textkin.evaluate.experiments._kernel_report import (
    AIMS,
    COLLECTIONS,
    REFERENCES,
    SHARES,
    figures,
    findings,
    is_news,
    tables,
)
from textkin.evaluate.experiments._kernel_retrieval import SCORERS, average_precisions

__all__ = ["EXPERIMENT"]

_NOTES = {
    "VSM": "Cosine of counts.",
    "BM25": "k1 = 1.2, b = 0.75, not tuned; for orientation.",
    "LSI": "Cosine in 25 to 300 dimensions.",
    "VSM + LSI": "(1 - w) VSM + w LSI, w from 0.1 to 0.9.",
    "PLSI": (
        "(1 - w) VSM + w cosine of the factors, of 32, 48, 64, 80 or 128 of them, or of the mean "
        "of all."
    ),
    "VSM++": "(1 - w) VSM + w Fisher kernel, of 1 and 64 factors or of 1, 32, 48, 64, 80 and 128.",
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
    own = "Of 1 and 64 factors, the sum of all parts normalised as a whole."
    chosen = (
        "Chosen among 12 kernels: models by likelihood or tempered EM, of 64, of 1 and 64 or of 1, "
        "16, 64 and 128 factors, every K1 and K2 normalised by itself, with the words or without."
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
    title="Hofmann's Fisher kernel: retrieval, and few labels",
    source=(
        'Hofmann, "Learning the Similarity of Documents: An Information-Geometric Approach to '
        'Document Retrieval and Categorization", NIPS 1999, Tables 1 and 2.'
    ),
    protocol=(
        "*Retrieval*: title and text, SMART stop words left out, Porter's stems; of four ways to "
        "prepare texts, the one whose plain cosine comes nearest the paper's. Models learn from "
        "documents, by tempered EM, never from queries. Dimensions, numbers of factors and weights "
        "w are chosen by average precision on every other query and used for the rest, both ways "
        "round: no query has a part in its own setting. Average precision is over all relevant "
        "documents, cut at rank 1000.\n\n"
        "*Few labels*: Reuters-21578, ModApte split, words without SMART stop words that occur at "
        "least 5 times. Each of the five largest categories against all others; error on the 3,299 "
        "test documents. 1/20, 1/10 and 1/5 of the 9,603 training documents have labels, drawn at "
        "random three times; the models learn from all 21,578 texts, those of the test documents "
        "too, and no label. The kernel, C (1, 10, 100) and k (1 to 19) are chosen by "
        "cross-validation among the labelled documents; where all have labels, among a fifth of "
        "them, once, and the error is that of the test split too, where the paper has 10 folds of "
        "everything."
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
