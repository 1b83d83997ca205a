"""Experiment ``fisher-vectors``: classification and clustering of ten kinds of document vectors.

It repeats Tables 1 and 2 of the FV-moVMF paper. On sets with folds, a cell is one fold and has an
accuracy. Other sets are clustered as a whole.
"""

from typing import Any

import numpy as np
from scipy import sparse

from papers.cells import Task
from papers.document_vectors import FISHER, FULL, QUICK, DocumentVectors
from papers.experiments.fisher_vectors.report import REFERENCES, findings, tables
from papers.labeled_texts import labelled_files, labelled_splits, whole
from papers.runner import Experiment, Method
from textkin.evaluate import LabeledData, duplicate_counts

__all__ = ["EXPERIMENT"]

_STARTS = 10
_QUICK_DOCUMENTS = 240


def measured(task: Task, vectors: str) -> dict[str, Any]:
    """Compute a cell: accuracy on a fold, or agreement of clusters with classes."""
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
    """Return the accuracy of logistic regression in percent, on plain and standardized vectors.

    Standardized vectors have variance 1 in every column of the training documents.
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
    """Return ARI and NMI of the k-means run with the lowest inertia, in percent."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score
    from sklearn.metrics import normalized_mutual_info_score as nmi

    found: list[dict[str, float]] = []
    for start in range(starts):
        means = KMeans(len(np.unique(labels)), n_init=1, random_state=start).fit(vectors)
        found.append(
            {
                "ari": 100 * adjusted_rand_score(labels, means.labels_),
                "nmi": 100 * nmi(labels, means.labels_),
                "nmi_geometric": 100 * nmi(labels, means.labels_, average_method="geometric"),
                "sum_of_squares": float(means.inertia_),
            }
        )
    return {**min(found, key=lambda one: one["sum_of_squares"]), "starts": found}


def _some(task: Task) -> LabeledData:
    data = whole(task)
    if not task.quick:
        return data
    rows = np.random.default_rng(0).permutation(len(data))[:_QUICK_DOCUMENTS]
    return data.take(np.sort(rows))


def _repeated(data: LabeledData) -> int:
    """Return the number of documents with the same bag of words as an earlier document."""
    rows = np.arange(len(data))
    everything = LabeledData(data.texts, data.labels, splits=[(rows, rows[:0])])
    return duplicate_counts(everything).train


_WEIGHTS = (
    "With gradients of the mixture weights. This row was added after the other rows were known on "
    "Subj, to explain their differences."
)
_EVERY = "With stop words, as in the unrecorded tools."


def _methods() -> dict[str, Method]:
    notes = {
        "BoW": "Tf-idf of the 5,000 words with the largest sums of tf-idf.",
        "LDA": "Gibbs sampling, 200 sweeps.",
        "mean, neural": "cBow in Zhang et al.",
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
            notes[name] = 'Normalized by equation 12 of Zhang et al.; other rows use `"tangent"`.'
    return {name: Method(measured, {"vectors": name}, note=notes.get(name, "")) for name in names}


_METHODS = _methods()

EXPERIMENT = Experiment(
    name="fisher-vectors",
    title="Fisher vectors and other document vectors: classification and clustering",
    source=(
        'Zhang, Guo, Lan, Xu and Cheng, "Aggregating Neural Word Embeddings for Document '
        'Representation", ECIR 2018, Tables 1 and 2; the replication: Papariello, Bampoulidis and '
        'Lupu, "On the Replicability of Combining Word Embeddings and Retrieval Models", ECIR 2020.'
    ),
    protocol=(
        "Subj and MR: accuracy of logistic regression (C = 1) in percent, over the ten folds of "
        "the data sets: mean ± standard error. 20news, both parts: k-means with as many clusters "
        "as classes, best of 10 initializations by inertia. Words in lower case, without SMART "
        "stop words, that occur at least twice. Word vectors have 50 dimensions: *LSI* of tf-idf, "
        "or *neural*, skip-gram with window 5, 5 negative samples, and 20 epochs. *built-in* is "
        "GloVe with 100 dimensions. Mixtures have 15 components. Document vectors are "
        "L2-normalized. All settings were fixed before the first run; nothing was tuned. "
        "Unsupervised models are trained on the whole collection, as in Zhang et al."
    ),
    datasets=["subj", "mr", "20news"],
    methods=_METHODS,
    files=labelled_files,
    splits=labelled_splits,
    tables=lambda results: tables(results, _METHODS),
    findings=findings,
    references=REFERENCES,
)
