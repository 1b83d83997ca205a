"""Experiment ``embeddings``: error of the exact WMD with different word vectors (WMD Table 2)."""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from papers.cells import Task
from papers.experiments.knn.report import at_most, span, won
from papers.figures import Value, bar_figure
from papers.labeled_texts import labelled_files, labelled_splits
from papers.neighbors import Side, moved, mover_of, neighbour_error, sides
from papers.results import Results
from papers.runner import Experiment, Method, Reference
from papers.tables import Grid, by_dataset
from textkin.corpus import RankedRows
from textkin.models import train_word_vectors
from textkin.vectors import WordVectors

__all__ = ["EXPERIMENT"]

_NEWSGROUPS = "classification/20news.jsonl.gz"
_BROWN = "text/brown.tsv.gz"
_GOOGLENEWS = "vectors/googlenews-300d-26k.npz"
_DIMENSION = 100
_QUICK_TEXTS, _QUICK_EPOCHS = 500, 2


def transport_error(
    task: Task, vectors: str, choices: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Compute the error with some word vectors, and the share of test words with a vector."""

    def find(
        task: Task, learn: Side, ask: Side, settings: Sequence[Mapping[str, Any]]
    ) -> Iterator[tuple[Mapping[str, Any], RankedRows]]:
        for setting in settings:
            mover = mover_of(task, vectors=_SOURCES[vectors](task, learn, setting))
            yield setting, moved(task, mover, learn, ask, {"vectors": vectors, **setting})

    found = neighbour_error(task, find, choices[:1] if task.quick else choices)
    train, test = sides(task)
    table = _SOURCES[vectors](task, train, found["setting"])
    known = mover_of(task, vectors=table).coverage(test.part.texts)
    tokens = sum(one.total for one in known)
    return {
        **found,
        "coverage": 100 * sum(one.known for one in known) / max(tokens, 1),
        "without words": sum(one.known == 0 for one in known),
        "words": len(table.words),
        "dimension": table.matrix.shape[1],
    }


# ------------------------------------------------------------------ vectors


def _built_in(task: Task, learn: Side, setting: Mapping[str, Any]) -> WordVectors:
    return WordVectors.builtin(setting["which"])


def _googlenews(task: Task, learn: Side, setting: Mapping[str, Any]) -> WordVectors:
    path = task.file(_GOOGLENEWS)
    # No cache, because it would be written into the data folder.
    return task.memo("googlenews", lambda: WordVectors.load(path, cache=False), "run")


def _of_this_set(task: Task, learn: Side, setting: Mapping[str, Any]) -> WordVectors:
    """Train vectors on the training documents only, so that test documents stay unseen."""
    name = f"word2vec of {len(learn.part)} with {json.dumps(setting, sort_keys=True)}"
    return task.memo(name, lambda: _trained(task, learn.part.texts, setting))


def _of_newsgroups(task: Task, learn: Side, setting: Mapping[str, Any]) -> WordVectors:
    def texts() -> Iterator[str]:
        with gzip.open(task.file(_NEWSGROUPS), "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)["text"]

    return task.memo("word2vec of 20news", lambda: _trained(task, texts(), setting), "run")


def _of_brown(task: Task, learn: Side, setting: Mapping[str, Any]) -> WordVectors:
    def sentences() -> Iterator[str]:
        with gzip.open(task.file(_BROWN), "rt", encoding="utf-8") as lines:
            next(lines)  # header
            for line in lines:
                yield line.rstrip("\n").split("\t")[2]

    return task.memo("word2vec of Brown", lambda: _trained(task, sentences(), setting), "run")


def _trained(task: Task, texts: Iterable[str], setting: Mapping[str, Any]) -> WordVectors:
    """Train skip-gram vectors on one thread, because several threads are not reproducible."""
    if task.quick:
        some = [text for text, _ in zip(texts, range(_QUICK_TEXTS), strict=False)]
        return train_word_vectors(
            some, 20, epochs=_QUICK_EPOCHS, min_count=1, subsample=0, random_state=0
        )
    return train_word_vectors(
        texts,
        _DIMENSION,
        epochs=setting["epochs"],
        min_count=setting["min_count"],
        random_state=0,
    )


_SOURCES: dict[str, Callable[[Task, Side, Mapping[str, Any]], WordVectors]] = {
    "built-in": _built_in,
    "googlenews": _googlenews,
    "this set": _of_this_set,
    "20news": _of_newsgroups,
    "brown": _of_brown,
}


# ------------------------------------------------------------------ report

_SETS = ("twitter", "recipe_substitute", "ohsumed23", "classic", "r8")
_OWN = "word2vec, this set"
_OTHERS = ("word2vec, 20news", "word2vec, Brown")
_LARGE = "GoogleNews, 26,423 words"

_METHODS = {
    "GloVe, built in": Method(
        transport_error, {"vectors": "built-in", "choices": [{"which": "glove"}]}
    ),
    "distilled, built in": Method(
        transport_error,
        {"vectors": "built-in", "choices": [{"which": "distilled"}]},
        note="Vectors of single words from a sentence encoder, all-MiniLM-L6-v2.",
    ),
    _LARGE: Method(
        transport_error,
        {"vectors": "googlenews", "choices": [{}]},
        note="Vectors of Kusner et al., but only the subset that was available: these words of "
        "three million, at unit length, in lower case, almost without names.",
        files=[_GOOGLENEWS],
    ),
    _OWN: Method(
        transport_error,
        {
            "vectors": "this set",
            "choices": [{"epochs": 20, "min_count": 1}, {"epochs": 20, "min_count": 5}],
        },
        note="Trained on training documents only. The minimum word count, 1 or 5, is chosen on "
        "validation documents.",
    ),
    _OTHERS[0]: Method(
        transport_error,
        {"vectors": "20news", "choices": [{"epochs": 5, "min_count": 5}]},
        note="Trained on all of 20news, 5 epochs.",
        files=[_NEWSGROUPS],
    ),
    _OTHERS[1]: Method(
        transport_error,
        {"vectors": "brown", "choices": [{"epochs": 20, "min_count": 5}]},
        note="Trained on the Brown corpus, one million words of 1961, 20 epochs.",
        files=[_BROWN],
    ),
}

_REFERENCES = (
    Reference(
        "Kusner et al.",
        "Table 2, NEWS w2v: all three million words, without normalization. OHSUMED and RECIPE "
        "are omitted, because our documents differ.",
        {_LARGE: {"twitter": 28.3, "classic": 3.0, "r8": 3.5}},
        "error",
    ),
    Reference(
        "unrecorded tools",
        "Exact WMD on the same files, split 0, GloVe with 100 dimensions at unit length.",
        {"GloVe, built in": {"twitter": 28.6}},
        "error",
    ),
)
_TABLE_2 = {  # percent, test error
    "TWITTER": (33.3, 33.7, 29.3, 28.1, 28.3),
    "RECIPE": (47.0, 51.6, 52.7, 47.4, 45.1),
    "OHSUMED": (52.0, 56.2, 55.6, 50.4, 44.5),
    "CLASSIC": (5.3, 5.5, 4.0, 3.8, 3.0),
    "REUTERS": (4.2, 4.6, 7.1, 9.1, 3.5),
}


def _tables(results: Results) -> list[Grid]:
    notes = {name: method.note for name, method in _METHODS.items()}
    paper = Grid(
        "Table 2 of Kusner et al.: error in percent",
        ["", *_TABLE_2],
        [
            [f"*{name}*", *(f"*{row[at]:.1f}*" for row in _TABLE_2.values())]
            for at, name in enumerate(("HLBL", "CW", "NIPS w2v", "AMZ w2v", "NEWS w2v"))
        ],
        [
            "HLBL and CW: earlier neural language models. w2v: word2vec trained on NIPS papers, "
            "Amazon reviews, or Google News. RECIPE and OHSUMED are not our data sets."
        ],
    )
    return [
        by_dataset(
            results,
            "error",
            "Error of the exact WMD in percent",
            references=_REFERENCES,
            better="lower",
            notes=notes,
        ),
        by_dataset(
            results,
            "coverage",
            "Words of test documents that have a vector, percent",
            better="higher",
        ),
        paper,
    ]


def _figures(results: Results) -> dict[str, str]:
    theirs = _REFERENCES[0].values
    groups = {}
    for dataset in results.datasets:
        bars = {}
        for name in results.methods:
            mean = results.mean(name, dataset, "error")
            if mean is not None:
                error = results.error(name, dataset, "error") or 0.0
                bars[name] = Value(mean, error, theirs.get(name, {}).get(dataset))
        if bars:
            groups[dataset] = bars
    return {
        "errors": bar_figure(
            groups,
            title="Error of the exact WMD with different word vectors, percent",
            legend="diamond: Kusner et al. 2015, all of GoogleNews; line: ± one standard error",
            highlight=[_OWN, *_OTHERS],
        )
    }


def _findings(results: Results) -> str:
    parts = []
    winners: dict[str, list[str]] = {}
    for dataset in results.datasets:
        errors = {name: results.mean(name, dataset, "error") for name in results.methods}
        measured = {name: error for name, error in errors.items() if error is not None}
        if len(measured) > 1:
            winners.setdefault(min(measured, key=lambda name: measured[name]), []).append(dataset)
    if winners:
        told = "; ".join(f"{name} on {', '.join(sets)}" for name, sets in winners.items())
        parts.append(f"Lowest error: {told}.")
    for first, second, text in (
        ("GloVe, built in", _OWN, "GloVe is better than word2vec trained on the set itself on {}."),
        (_OWN, _OTHERS[0], "Vectors of the set itself are better than vectors of 20news on {}."),
        ("distilled, built in", "GloVe, built in", "Distilled vectors beat GloVe on {}."),
        (_LARGE, "GloVe, built in", "The subset of Google News vectors beats GloVe on {}."),
    ):
        sets = won(results, first, second)
        if sets is not None:
            parts.append(text.format(sets))
    best = sum(row[-1] == min(row) for row in _TABLE_2.values())
    parts.append(
        f"In Kusner et al., vectors of the largest collection, Google News, are best on {best} of "
        f"these {len(_TABLE_2)} sets."
    )
    covered = [results.mean(_LARGE, dataset, "coverage") for dataset in results.datasets]
    shares = span([share for share in covered if share is not None], ".0f")
    if shares is not None:
        parts.append(
            f"The subset has {shares} % of the words of test documents and hardly any names, so "
            "its row says little about NEWS w2v of Kusner et al."
        )
    return " ".join(parts)


EXPERIMENT = Experiment(
    name="embeddings",
    title="Word vectors: error of the WMD by training corpus",
    source='Kusner et al., "From Word Embeddings To Document Distances", ICML 2015, Table 2.',
    protocol=(
        "Protocol of `knn`: the exact WMD, relative word counts as word weights, k in 1..19 chosen "
        "on a fifth of the training documents. Vectors are not normalized; words without a vector "
        f"are ignored. word2vec is skip-gram with {_DIMENSION} dimensions, 5 negative samples, and "
        "windows of 5, trained with seed 0 on one thread. Sets without a standard split have five "
        "splits: mean ± standard error."
    ),
    datasets=_SETS,
    methods=_METHODS,
    files=labelled_files,
    splits=labelled_splits,
    tables=_tables,
    figures=_figures,
    findings=_findings,
    references=_REFERENCES,
    aims=[
        at_most(dataset, limit, list(_METHODS))
        for dataset, limit in (("r8", 4.5), ("classic", 3.5), ("twitter", 30.0))
    ],
)
