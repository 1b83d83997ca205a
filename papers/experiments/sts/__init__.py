"""Experiment ``sts``: sentence similarity compared with human scores (WTMF Tables 2 and 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from papers.cells import Task
from papers.experiments.sts.models import (
    CHOOSING,
    MAIN,
    REGRESSIONS,
    HeldOut,
    Recipe,
    Scored,
    Settings,
    cosines,
    criterion,
    regressed,
    scored_by_lda,
    scored_by_lsi,
    scored_by_words,
    scored_by_wtmf,
    surface,
)
from papers.experiments.sts.report import (
    AIMS,
    CHANGE,
    REFERENCES,
    VECTORS,
    figures,
    findings,
    tables,
)
from papers.experiments.sts.sentences import (
    TESTS,
    TRAINING,
    distances,
    pairs_of,
    repeated,
    sts_files,
)
from papers.runner import Experiment, Method
from textkin._base import Float64Array
from textkin.evaluate import pearson, spearman, sts_scores
from textkin.models import Pooling
from textkin.vectors import WordVectors
from textkin.weighting import TransportWeights

__all__ = ["EXPERIMENT"]

_MIXTURES = tuple(round(0.1 * step, 1) for step in range(11))
_SIZES = [{"n_components": 100, "max_iter": 20}, {"n_components": 200, "max_iter": 10}]
_SMALL = Settings(CHOOSING, max_iter=5)
"""Ablations use fewer sweeps, to limit the run time."""


def _measured(task: Task, runs: Sequence[Float64Array], **told: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    """Return the measures of the task's pairs: the mean over runs, and their range."""
    each = [_measures(task, task.dataset, scores) for scores in runs]
    found: dict[str, Any] = {name: float(np.mean([one[name] for one in each])) for name in each[0]}
    if len(runs) > 1:
        found["spread"] = {name: float(np.ptp([one[name] for one in each])) for name in each[0]}
        found["starts"] = len(runs)
    return {**found, **told}


def _measures(task: Task, name: str, scores: Float64Array) -> dict[str, float]:
    """Return the measures of a test: both correlations for one set, otherwise the STS scores."""
    pairs = pairs_of(task, name)
    if len(set(pairs.sets)) == 1:
        return {"Pearson": pearson(pairs.gold, scores), "Spearman": spearman(pairs.gold, scores)}
    return sts_scores(pairs.sets, pairs.gold, scores).to_dict()


def _best(task: Task, options: Mapping[Any, Scored]) -> tuple[Any, dict[str, float]]:
    """Return the option with the best Mean on the training pairs, and the Mean of each option."""
    means = {name: criterion(task, scores) for name, scores in options.items()}
    chosen = max(means, key=lambda name: means[name])
    return chosen, {str(name): round(mean, 4) for name, mean in means.items()}


# ------------------------------------------------------------------ cells


def by_words(task: Task, weighed: bool) -> dict[str, Any]:
    """Score by words without lemmas; also count overlaps of test and training data."""
    scores = surface(pairs_of(task, task.dataset), weighed=weighed)
    return _measured(task, [scores], repeated=repeated(task, task.dataset))


def by_lemmas(task: Task) -> dict[str, Any]:
    """Score by the cosine of weighted lemmas, without a model."""
    return _measured(task, [scored_by_words(task, MAIN)[task.dataset]])


def by_lsi(task: Task, dimensions: Sequence[int]) -> dict[str, Any]:
    """Score by LSI, with the number of dimensions chosen on the training pairs."""
    chosen, means = _best(task, scored_by_lsi(task, CHOOSING, dimensions))
    scores = scored_by_lsi(task, MAIN, [chosen])[chosen]
    told = {"chosen": f"{chosen} dimensions", "training": means}
    return _measured(task, [scores[task.dataset]], **told)


def by_lda(task: Task, alphas: Sequence[float], n_components: int, sweeps: int) -> dict[str, Any]:
    """Score by LDA, with the prior chosen on the training pairs."""

    def found(recipe: Recipe, alpha: float) -> Scored:
        options = {"n_components": n_components, "sweeps": sweeps}
        return scored_by_lda(task, recipe, alpha=alpha, **options)

    chosen, means = _best(task, {alpha: found(CHOOSING, alpha) for alpha in alphas})
    told = {"chosen": f"alpha = {chosen}", "training": means}
    return _measured(task, [found(MAIN, chosen)[task.dataset]], **told)


def _chosen(task: Task, sizes: Sequence[Mapping[str, int]]) -> tuple[Settings, dict[str, Any]]:
    """Return the settings of WTMF with the size chosen on the training pairs."""
    options = {each: Settings(CHOOSING, **size) for each, size in enumerate(sizes)}
    if len(options) == 1:
        return replace(options[0], recipe=MAIN), {}
    best, means = _best(task, {e: scored_by_wtmf(task, s, 0) for e, s in options.items()})
    chosen = options[best]
    shown = f"K = {chosen.n_components}, {chosen.max_iter} sweeps"
    return replace(chosen, recipe=MAIN), {"chosen": shown, "training": list(means.values())}


def by_wtmf(
    task: Task, sizes: Sequence[Mapping[str, int]], starts: int, orthogonality: float = 0.0
) -> dict[str, Any]:
    """Score by WTMF, or by OrMF with the size chosen for WTMF if `orthogonality` is not 0."""
    settings, told = _chosen(task, sizes)
    settings = replace(settings, orthogonality=orthogonality)
    runs = [scored_by_wtmf(task, settings, start) for start in range(_few(task, starts))]
    return _measured(task, [scores[task.dataset] for scores in runs], **told)


def by_both(task: Task, sizes: Sequence[Mapping[str, int]], starts: int) -> dict[str, Any]:
    """Score by a weighted sum of the cosines of WTMF and of lemmas."""
    settings, _ = _chosen(task, sizes)
    words = scored_by_words(task, CHOOSING)[TRAINING]
    latent = scored_by_wtmf(task, replace(settings, recipe=CHOOSING), 0)[TRAINING]
    options = {w: {TRAINING: (1 - w) * words + w * latent} for w in _MIXTURES}
    weight, means = _best(task, options)
    words = scored_by_words(task, MAIN)[task.dataset]
    runs = [
        (1 - weight) * words + weight * scored_by_wtmf(task, settings, start)[task.dataset]
        for start in range(_few(task, starts))
    ]
    shown = f"{weight:g} WTMF + {1 - weight:.1g} tf-idf"
    return _measured(task, runs, chosen=shown, training=means)


def by_regression(
    task: Task,
    sizes: Sequence[Mapping[str, int]],
    choices: Sequence[Mapping[str, Any]],
    held_out: HeldOut,
) -> dict[str, Any]:
    """Score by a regression that was fitted to the training pairs."""
    settings, _ = _chosen(task, sizes)
    latent = scored_by_wtmf(task, replace(settings, recipe=CHOOSING), 0)
    scores, told = regressed(task, latent, choices[::4] if task.quick else choices, held_out)
    return _measured(task, [scores], **told)


def by_change(task: Task, recipe: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Score by a small WTMF that differs in one component; also on the training pairs."""
    changed: dict[str, Any] = {n: tuple(v) if n == "corpora" else v for n, v in recipe.items()}
    own = replace(_SMALL.recipe, **changed)
    found = scored_by_wtmf(task, replace(_SMALL, recipe=own, **settings), 0)
    values = _measured(task, [found[task.dataset]])
    if "sts-train" not in own.corpora:  # otherwise the model was trained on their sentences
        training = _measures(task, TRAINING, found[TRAINING])
        values |= {"training Mean": training["Mean"], "training ALL": training["ALL"]}
    return values


def by_pooling(task: Task, removed: int, options: Mapping[str, Any]) -> dict[str, Any]:
    """Score by pooled word vectors, fitted on the test sentences and on the training sentences."""
    vectors = task.memo(f"vectors less {removed}", lambda: _vectors(removed), "run")
    pairs = pairs_of(task, task.dataset)
    found = {}
    for name in (task.dataset, TRAINING):
        corpus = pairs_of(task, name)
        model = Pooling(vectors, **{"stop_words": None, **options})
        model.fit([*corpus.first, *corpus.second])
        found[name] = cosines(model.transform(pairs.first), model.transform(pairs.second))
    other = _measures(task, task.dataset, found[TRAINING])
    return _measured(
        task,
        [found[task.dataset]],
        **{f"{name}, training sentences": value for name, value in other.items()},
    )


def _vectors(removed: int) -> WordVectors:
    builtin = WordVectors.builtin()
    return builtin.without_components(removed) if removed else builtin


def by_transport(task: Task, masses: TransportWeights, exact: bool) -> dict[str, Any]:
    """Score by the negative transport distance."""
    far = distances(pairs_of(task, task.dataset), task.n_jobs, masses=masses, exact=exact)
    return _measured(task, [-far])


def _few(task: Task, starts: int) -> int:
    return min(starts, 2) if task.quick else starts


# ------------------------------------------------------------------ rows

_POOLINGS: dict[str, dict[str, Any]] = {
    "mean, SMART stop words left out": {"stop_words": "smart"},
    "mean": {},
    "max": {"combine": "max"},
    "mean, less 1": {"remove_components": 1},
    "mean, whitened": {"whiten": True},
    "tf-idf": {"word_weights": "tfidf"},
    "tf-idf, less 1": {"word_weights": "tfidf", "remove_components": 1},
    "SIF": {"word_weights": "sif"},
    "SIF, less 1": {"word_weights": "sif", "remove_components": 1},
    "SIF, less 1, SMART stop words left out": {
        "word_weights": "sif",
        "remove_components": 1,
        "stop_words": "smart",
    },
    "SIF of the sentences": {"word_weights": "sif", "probabilities": "corpus"},
    "SIF of the sentences, less 1": {
        "word_weights": "sif",
        "probabilities": "corpus",
        "remove_components": 1,
    },
    "uSIF, less 5": {"word_weights": "usif", "remove_components": 5},
    "uSIF of the sentences, less 5": {
        "word_weights": "usif",
        "probabilities": "corpus",
        "remove_components": 5,
    },
    "SIF, whitened": {"word_weights": "sif", "whiten": True},
    "SIF of the sentences, whitened": {
        "word_weights": "sif",
        "probabilities": "corpus",
        "whiten": True,
    },
}


def _changes() -> dict[str, Method]:
    """Return the ablations: small models that differ in one component."""

    def method(recipe: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> Method:
        return Method(by_change, {"recipe": dict(recipe), "settings": dict(settings or {})})

    def without(name: str) -> dict[str, Any]:
        return {"corpora": [each for each in CHOOSING.corpora if each != name]}

    found = {
        "none": method({}),
        "words as they are": method({"words": None}),
        "stems (Porter 2)": method({"words": "stem"}),
        "SMART stop words left out": method({"stop_words": "smart"}),
        "without target words": method({"target_words": False}),
        "without examples of use": method({"examples": False}),
        "without WordNet": method(without("wordnet")),
        "without GCIDE": method(without("gcide")),
        "without Brown": method(without("brown")),
        "with the training sentences": method({"corpora": list(MAIN.corpora)}),
    }
    values: dict[str, tuple[str, tuple[float, ...]]] = {
        "n_components": ("K", (50, 200)),
        "regularization": ("λ", (5.0, 50.0)),
        "missing_weight": ("w_m", (0.003, 0.03)),
        "max_iter": ("sweeps", (10,)),
    }
    for parameter, (symbol, numbers) in values.items():
        for number in numbers:
            found[f"{symbol} = {number:g}"] = method({}, {parameter: number})
    return {f"{CHANGE}{name}": each for name, each in found.items()}


def _methods() -> dict[str, Method]:
    made = {
        "surface words": Method(by_words, {"weighed": False}),
        "tf-idf": Method(
            by_words, {"weighed": True}, note="idf of the test sentences, without lemmas."
        ),
        "tf-idf, lemmas": Method(by_lemmas, note="idf of the training texts of the models."),
        "LSI": Method(by_lsi, {"dimensions": [50, 100, 200]}),
        "LDA": Method(by_lda, {"alphas": [0.05, 0.5], "n_components": 100, "sweeps": 100}),
        "WTMF, the paper's settings": Method(
            by_wtmf, {"sizes": _SIZES[:1], "starts": 3}, note="Settings of Guo and Diab."
        ),
        "WTMF": Method(by_wtmf, {"sizes": _SIZES, "starts": 3}),
        "OrMF": Method(
            by_wtmf,
            {"sizes": _SIZES, "starts": 1, "orthogonality": 1e-4},
            note="Size chosen for WTMF; alpha of the authors' program; one initialization.",
        ),
        "WTMF + tf-idf": Method(
            by_both, {"sizes": _SIZES, "starts": 3}, note="Not in Guo and Diab; lemmas."
        ),
    }
    for removed, name in VECTORS.items():
        for recipe, options in _POOLINGS.items():
            made[f"{name} {recipe}"] = Method(by_pooling, {"removed": removed, "options": options})
    for name, exact in (("RWMD", False), ("WMD", True)):
        for masses, shown in (("nbow", "nBOW"), ("sif", "SIF")):
            made[f"{name}, {shown}"] = Method(
                by_transport, {"masses": masses, "exact": exact}, version=2
            )
    for name, held_out, note in (
        (
            "regression, known sets",
            "folds",
            "Features: cosines of WTMF (one initialization), tf-idf, and SIF; WMD and both sides "
            "of RWMD with SIF weights; shared lemmas and stems; covered lemmas by idf; longest "
            "common run; lengths; agreement of numbers and of names. Fitted to the training "
            "pairs, and chosen by fivefold cross-validation with all three sets in every fold.",
        ),
        (
            "regression, new sets",
            "sets",
            "The same features and candidates, chosen by leaving out one training set at a time. "
            "within: ridge regression on differences within sets, without negative coefficients.",
        ),
    ):
        settings = {"sizes": _SIZES, "choices": REGRESSIONS, "held_out": held_out}
        made[name] = Method(by_regression, settings, version=2, note=note)
    return made | _changes()


_METHODS = _methods()

EXPERIMENT = Experiment(
    name="sts",
    title="Similarity of sentences",
    source=(
        'Guo and Diab, "Weiwei: A Simple Unsupervised Latent Semantics based Approach for '
        'Sentence Similarity", SemEval 2012, Tables 2 and 3.'
    ),
    protocol=(
        "Correlation with human scores on all test pairs of STS 2012 and 2013 and the 30 pairs of "
        "LI06. ALL: Pearson over all pairs of a test; ALLnrm: after a least-squares fit within "
        "each set; Mean: mean over sets, weighted by their numbers of pairs. LSI, LDA, WTMF, and "
        "OrMF are trained on definitions of WordNet and GCIDE (instead of Wiktionary), on the "
        "sentences of the Brown corpus, and on the training sentences of 2012, with lemmas and "
        "all words that occur at least twice. **All choices are made on the 2,234 training "
        "pairs** by the Mean of their three sets, with models that were not trained on their "
        "sentences. Then all models, except the one in the regression, are trained on all texts, "
        "and test pairs are scored once. Pooling and transport use the built-in GloVe vectors "
        "(100 dimensions) and keep stop words. Transport uses unit vectors, and its score is the "
        "negative distance. Pooling estimates weights and components from the test sentences, "
        "without their scores, as in its papers."
    ),
    datasets=TESTS,
    methods=_METHODS,
    files=sts_files,
    tables=lambda results: tables(results, _METHODS),
    figures=figures,
    findings=findings,
    references=REFERENCES,
    aims=AIMS,
)
