"""Experiment ``retrieval``: document models alone and combined with BM25 (FV-moVMF Table 3)."""

from functools import lru_cache, partial
from typing import Any

from papers.cells import Task
from papers.experiments.retrieval.report import REFERENCES, findings, tables
from papers.experiments.retrieval.scorers import MODELS, bm25, bm25_of_words
from papers.judged_collections import judged, judged_files
from papers.rankings import Scores, Settings, interpolated, measured
from papers.runner import Experiment, Method

__all__ = ["EXPERIMENT"]

_LAMBDAS = tuple(step / 10 for step in range(1, 10))
_QUICK_LAMBDAS = (0.5, 0.8)


def by_words(task: Task, stems: bool) -> dict[str, Any]:
    """Compute a cell of BM25, on stems or on whole words."""
    scores = bm25(task) if stems else bm25_of_words(task)
    return measured(judged(task), {"": lambda: scores})


def alone(task: Task, model: str) -> dict[str, Any]:
    """Compute a cell of a model; its setting, if any, is chosen on other queries."""
    return measured(judged(task), MODELS[model][0](task))


def with_bm25(
    task: Task, model: str, weight: float | None = None, setting: str | None = None
) -> dict[str, Any]:
    """Compute a cell of BM25 plus a model; other queries choose lambda and the setting."""
    settings = MODELS[model][1](task)
    if setting is not None:
        settings = {setting: settings[setting]}
    weights = [weight] if weight is not None else _QUICK_LAMBDAS if task.quick else _LAMBDAS

    @lru_cache(maxsize=1)  # the settings are tried one after another, each with all weights
    def mixed(name: str) -> Any:  # noqa: ANN401 (a function of lambda)
        return interpolated(bm25(task), settings[name]())

    def scores(name: str, weight: float) -> Scores:
        return mixed(name)(weight)

    tried: Settings = {
        f"λ = {weight:g}" + (f", {name}" if name else ""): partial(scores, name, weight)
        for name in settings
        for weight in weights
    }
    return measured(judged(task), tried)


_NOTES = {
    "TF-IDF": "1 + log tf, log2 N / df; cosine.",
    "LSI": "Input: the tf-idf of the row above. 25 to 300 dimensions.",
    "LDA": "Gibbs sampling, 200 sweeps; 50, 100, or 200 topics.",
    "cBow, neural": "Mean of word vectors.",
    "FV-GMM, neural": "15 components; gradients of means, or of means and weights.",
    "FV-moVMF, neural": '15 components; "tangent", eq. 12 of Zhang et al., or means and weights.',
    "pooled, built-in": "Without the three strongest components; tf-idf or SIF weights.",
    "WMD": "Reranks the best 20, 100, or 1,000 documents of BM25, with relative counts or tf-idf "
    "as word weights. In combination with BM25 it scores the best 1,000.",
}
for _name in ("cBow", "FV-GMM", "FV-moVMF"):
    _NOTES[f"{_name}, built-in"] = _NOTES[f"{_name}, neural"]


def _methods() -> dict[str, Method]:
    made = {
        "BM25, whole words": Method(by_words, {"stems": False}),
        "BM25": Method(by_words, {"stems": True}),
    }
    for name in MODELS:
        made[name] = Method(alone, {"model": name}, note=_NOTES[name])
        made[f"BM25 + {name}"] = Method(with_bm25, {"model": name})
        if name == "LSI":
            made["0.8 BM25 + 0.2 LSI-200"] = Method(
                with_bm25,
                {"model": name, "weight": 0.8, "setting": "k = 200"},
                note="λ of Zhang et al. and the unrecorded tools' dimension; no setting is chosen.",
            )
    return made


_METHODS = _methods()

EXPERIMENT = Experiment(
    name="retrieval",
    title="Retrieval: models alone and combined with BM25",
    source=(
        'Zhang, Guo, Lan, Xu and Cheng, "Aggregating Neural Word Embeddings for Document '
        'Representation", ECIR 2018, Table 3 (on Robust04, which is not free; six small '
        "collections replace it)."
    ),
    protocol=(
        "Average precision (cut at rank 1,000), precision of the first 20, and nDCG of the first "
        "10, in percent, over queries with a relevant document. Documents are title and text. "
        "Words are Snowball stems without SMART stop words, and whole words in models of word "
        "vectors: *neural* is skip-gram with 50 dimensions, trained on the documents (20 epochs); "
        "*built-in* is GloVe with 100 dimensions. Models rank by the cosine of query and document. "
        "*BM25 +*: λ s_BM25 + (1 - λ) s_model, each scaled to 0..1 over the 1,000 best documents "
        "of either (eq. 13). λ and the settings of a model have the largest mean average "
        "precision on other queries than the measured ones: on SciFact's training queries for its "
        "test queries; elsewhere, each half of the queries chooses for the other half. k1 = 1.2 "
        "and b = 0.75 are not tuned."
    ),
    datasets=["med", "cran", "cacm", "time", "lisa", "scifact"],
    methods=_METHODS,
    files=judged_files,
    tables=lambda results: tables(results, _METHODS),
    findings=findings,
    references=REFERENCES,
)
