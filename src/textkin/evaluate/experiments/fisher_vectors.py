"""``fisher-vectors``: classes and clusters of ten kinds of document vectors (FV-moVMF Tables 1-2).

Cells of sets with folds are one fold each, and have an accuracy. Others are clustered, whole.
"""

from typing import Any

import numpy as np
from scipy import sparse

from textkin.evaluate._cells import Task
from textkin.evaluate._clustering import ari, nmi
from textkin.evaluate._duplicates import duplicate_counts
from textkin.evaluate._experiment import Experiment, Method
from textkin.evaluate._labelled import LabelledData
from textkin.evaluate.experiments._document_vectors import FISHER, FULL, QUICK, DocumentVectors
from textkin.evaluate.experiments._fisher_report import REFERENCES, findings, tables
from textkin.evaluate.experiments._labelled import labelled_files, labelled_splits, whole

__all__ = ["EXPERIMENT"]

_STARTS = 10
_QUICK_DOCUMENTS = 240


def measured(task: Task, vectors: str) -> dict[str, Any]:
    """Compute a cell: the accuracy of a fold, or the agreement of clusters with classes."""
    data = task.memo("some documents", lambda: _some(task), "dataset")
    learnt = task.memo(
        "vectors",
        lambda: DocumentVectors(data.texts, QUICK if task.quick else FULL, task.n_jobs),
        "dataset",
    )
    labels = np.array([str(label) for label in data.labels])
    repeated = task.memo("repeated", lambda: _repeated(data), "dataset")
    if len(data.splits) > 1:
        rows = task.memo(f"vectors {vectors}", lambda: learnt.of(vectors), "dataset")
        found = accuracies(rows, labels, *data.splits[task.split])
    else:
        rows = learnt.of(vectors)
        found = clusters(rows, labels, 2 if task.quick else _STARTS)
    return {**found, "numbers": int(rows.shape[1]), "documents": len(data), "repeated": repeated}


def accuracies(vectors: Any, labels: Any, train: Any, test: Any) -> dict[str, float]:  # noqa: ANN401
    """Return the accuracy of logistic regression in percent: of vectors as they are, and scaled.

    Scaled ones have variance 1 in every column of the training documents.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    plain = LogisticRegression(C=1, max_iter=1000)
    models = {"accuracy": plain}
    if not sparse.issparse(vectors):
        models["standardised"] = make_pipeline(
            StandardScaler(), LogisticRegression(C=1, max_iter=1000)
        )
    return {
        name: 100
        * float(model.fit(vectors[train], labels[train]).score(vectors[test], labels[test]))
        for name, model in models.items()
    }


def clusters(vectors: Any, labels: Any, starts: int) -> dict[str, Any]:  # noqa: ANN401
    """Return ARI and NMI of k-means in percent: of the start with the least sum of squares."""
    from sklearn.cluster import KMeans

    found: list[dict[str, float]] = []
    for start in range(starts):
        means = KMeans(len(np.unique(labels)), n_init=1, random_state=start).fit(vectors)
        found.append(
            {
                "ari": 100 * ari(labels, means.labels_),
                "nmi": 100 * nmi(labels, means.labels_),
                "nmi_geometric": 100 * nmi(labels, means.labels_, mean="geometric"),
                "sum_of_squares": float(means.inertia_),
            }
        )
    return {**min(found, key=lambda one: one["sum_of_squares"]), "starts": found}


def _some(task: Task) -> LabelledData:
    data = whole(task)
    if not task.quick:
        return data
    rows = np.random.default_rng(0).permutation(len(data))[:_QUICK_DOCUMENTS]
    return data.take(np.sort(rows))


def _repeated(data: LabelledData) -> int:
    """Return how many documents have the bag of words of an earlier one."""
    rows = np.arange(len(data))
    everything = LabelledData(data.texts, data.labels, splits=[(rows, rows[:0])])
    return duplicate_counts(everything).train


_WEIGHTS = (
    "Gradients of the weights too; added when the other rows were known on Subj, to tell why they "
    "differ."
)
_EVERY = "Stop words are kept, as other tools keep them."


def _methods() -> dict[str, Method]:
    notes = {
        "BoW": "Tf-idf of the 5,000 words with the largest sums of it.",
        "LDA": "Gibbs sampling, 200 sweeps.",
        "mean, neural": "cBow in the paper.",
    }
    names = ["BoW", "LSI", "LDA", "mean, neural", "PV-DBOW", "PV-DM"]
    of_the_paper = ("FV-GMM", "FV-moVMF", "FV-moVMF (eq. 12)")
    names += [f"{how}, {of}" for of in ("LSI", "neural") for how in of_the_paper]
    names += ["mean, LSI"]
    names += [f"{how}, {of}" for of in ("LSI", "neural") for how in FISHER if "weights" in how]
    names += [f"{how}, built-in" for how in ("mean", *FISHER)]
    names += ["BoW with stop words", "mean with stop words, built-in"]
    for name in names:
        if "with weights" in name:
            notes[name] = _WEIGHTS
        elif "with stop words" in name:
            notes[name] = _EVERY
        elif "eq. 12" in name:
            notes[name] = 'Normalised by the paper\'s equation 12; other rows by `"tangent"`.'
    return {name: Method(measured, {"vectors": name}, note=notes.get(name, "")) for name in names}


_METHODS = _methods()

EXPERIMENT = Experiment(
    name="fisher-vectors",
    title="Fisher vectors beside other vectors of documents: classes and clusters",
    source=(
        'Zhang, Guo, Lan, Xu and Cheng, "Aggregating Neural Word Embeddings for Document '
        'Representation", ECIR 2018, Tables 1 and 2; the replication: Papariello, Bampoulidis and '
        'Lupu, "On the Replicability of Combining Word Embeddings and Retrieval Models", ECIR 2020.'
    ),
    protocol=(
        "Subj and MR: accuracy in percent of logistic regression (C = 1), over the ten folds that "
        "the data give: mean ± standard error. 20news, both parts: k-means with as many clusters "
        "as classes; of 10 starts the one with the least sum of squares counts. Words in lower "
        "case, without SMART stop words, that occur twice. Word vectors have 50 dimensions: "
        "*LSI*'s of tf-idf, or *neural*, skip-gram with window 5, 5 drawn words and 20 epochs; "
        "*built-in* are GloVe's of 100. Mixtures have 15 components. Every vector of a document is "
        "divided by its length. Nothing was tuned: all of this was fixed before any number was "
        "seen. What learns nothing from labels sees the whole collection, as in the paper."
    ),
    datasets=["subj", "mr", "20news"],
    methods=_METHODS,
    files=labelled_files,
    splits=labelled_splits,
    tables=lambda results: tables(results, _METHODS),
    findings=findings,
    references=REFERENCES,
)
