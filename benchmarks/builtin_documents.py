"""Classification by nearest documents, for builtin_study.py.

k is chosen on a fifth of the training documents, and the vote is the one of knn_baselines.py. Two
tables are compared on the same test documents, so the standard error of a difference is computed
from pairs.
"""

import gzip
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from builtin_recipes import GLOVE, SHIPPED, Making, Row, Tables
from knn_baselines import NEIGHBOURS, Products, voted

from textkin import WordMover
from textkin.models import Pooling
from textkin.vectors import WordVectors

SOME = 1000  # documents of CLASSIC for the exact distance

Texts = Sequence[str]
# Finders: nearest neighbors of queries in a corpus, nearest first, without stop words.
Finder = Callable[[WordVectors, Texts, Texts, str | None], np.ndarray]
Labelled = dict[str, tuple[list[str], np.ndarray]]


def by_cosine(weights: str) -> Finder:
    """Find neighbors by the cosine of pooled vectors, without removed components."""

    def nearest(
        table: WordVectors, queries: Texts, corpus: Texts, stop_words: str | None
    ) -> np.ndarray:
        pooling = Pooling(table, word_weights=weights, stop_words=stop_words).fit(corpus)
        vectors = pooling.transform(queries)
        found = Products.of(vectors, pooling.transform(corpus)).nearest("cosine")
        return np.where(vectors.any(axis=1)[:, np.newaxis], found, -1)

    return nearest


def by_moving(word_weights: str, metric: str) -> Finder:
    """Find neighbors by the Word Mover's Distance or its relaxed bound, on raw vectors."""

    def nearest(
        table: WordVectors, queries: Texts, corpus: Texts, stop_words: str | None
    ) -> np.ndarray:
        mover = WordMover(table, word_weights=word_weights, stop_words=stop_words, empty="inf").fit(
            corpus
        )
        return mover.search(queries, max(NEIGHBOURS), metric=metric).indices

    return nearest


FINDERS: dict[str, Finder] = {
    "mean cosine": by_cosine("mean"),
    "SIF cosine": by_cosine("sif"),
    "RWMD, nBOW": by_moving("nbow", "rwmd"),
    "RWMD, tf-idf": by_moving("tfidf", "rwmd"),
    "RWMD, SIF": by_moving("sif", "rwmd"),
}
EXACT_FINDERS: dict[str, Finder] = {
    f"{name}, {shown}": by_moving(weights, metric)
    for name, metric in (("WMD", "wmd"), ("RWMD", "rwmd"))
    for weights, shown in (("nbow", "nBOW"), ("tfidf", "tf-idf"), ("sif", "SIF"))
}
DOCUMENT_MAKINGS = (
    GLOVE,
    SHIPPED,
    Making(100, int8=True),
    replace(GLOVE, removed=3),
)


def read_texts(data: Path, name: str) -> Labelled:
    """Read the texts and labels of a set, for training and for testing."""
    with gzip.open(data / "classification" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    parts = {part: [r for r in records if r["split"] == part] for part in ("train", "test")}
    return {
        part: ([r["text"] for r in of_part], np.array([r["label"] for r in of_part]))
        for part, of_part in parts.items()
    }


def labels_found(nearest: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """Return the label with the most votes; without neighbors, the most frequent label."""
    kinds, counts = np.unique(labels, return_counts=True)
    usual = kinds[counts.argmax()]
    return np.array(
        [usual if row[0] < 0 else voted(labels[row[row >= 0][:k]].tolist()) for row in nearest]
    )


def some(texts: Labelled, n: int) -> Labelled:
    """Sample the given numbers of training and test documents with a fixed seed."""
    found = {}
    for part, (of_part, labels) in texts.items():
        rows = np.sort(np.random.default_rng(0).permutation(len(labels))[:n])
        found[part] = [of_part[row] for row in rows], labels[rows]
    return found


def wrong_labels(
    finder: Finder, table: WordVectors, texts: Labelled, stop_words: str | None
) -> tuple[int, np.ndarray]:
    """Choose k on a fifth of the training documents; return k and which test labels are wrong."""
    (train, labels), (test, own) = texts["train"], texts["test"]
    order = np.random.default_rng(0).permutation(len(labels))
    held, rest = np.sort(order[: len(labels) // 5]), np.sort(order[len(labels) // 5 :])
    nearest = finder(table, [train[at] for at in held], [train[at] for at in rest], stop_words)
    errors = {
        k: np.mean(labels_found(nearest, labels[rest], k) != labels[held]) for k in NEIGHBOURS
    }
    k = min(errors, key=lambda k: errors[k])
    return k, labels_found(finder(table, test, train, stop_words), labels, k) != own


def neighbours(
    tables: Tables,
    sets: dict[str, Labelled],
    makings: Sequence[Making],
    finders: dict[str, Finder],
) -> Iterator[Row]:
    """Yield the error of each table with each finder, and its difference from GloVe's error."""
    base: dict[tuple[str, str], np.ndarray] = {}
    for making, (name, texts), finder in product(makings, sets.items(), finders):
        started = time.perf_counter()
        stop_words = None if name == "twitter" else "smart"
        k, wrong = wrong_labels(finders[finder], tables(making), texts, stop_words)
        error = 100 * wrong.mean()
        row: Row = {
            "set": name,
            "vectors": str(making),
            "by": finder,
            "k": k,
            "error": round(float(error), 2),
            "se": round(float(np.sqrt(error * (100 - error) / len(wrong))), 2),
        }
        if making == GLOVE:
            base[name, finder] = wrong
        else:
            apart = 100 * (wrong.astype(float) - base[name, finder])
            row["less_glove"] = round(float(apart.mean()), 2)
            row["less_glove_se"] = round(float(apart.std() / np.sqrt(len(apart))), 2)
        yield {**row, "seconds": round(time.perf_counter() - started, 1)}


def documents(tables: Tables, data: Path) -> Iterator[Row]:
    """Yield errors on all of CLASSIC and R8."""
    sets = {name: read_texts(data, name) for name in ("classic", "r8")}
    yield from neighbours(tables, sets, DOCUMENT_MAKINGS, FINDERS)


def exact(tables: Tables, data: Path) -> Iterator[Row]:
    """Yield errors by exact and relaxed distances: TWITTER, and a sample of CLASSIC."""
    twitter, classic = (read_texts(data, name) for name in ("twitter", "classic"))
    sets = {"twitter": twitter, f"classic, {SOME} documents": some(classic, SOME)}
    yield from neighbours(tables, sets, (GLOVE, SHIPPED), EXACT_FINDERS)
