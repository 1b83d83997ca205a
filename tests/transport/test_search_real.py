"""Real documents and vectors: searches equal the ranking of all distances."""

import gzip
import json
from functools import cache

import numpy as np
import pytest

from search_reference import EXACT, assert_same_results, by_brute_force
from textkin import WordMover, WordVectors

SETS = ("twitter", "r8", "20news", "classic")


@pytest.fixture(scope="module", params=["glove", "googlenews"])
def vectors(request, shared_data):
    if request.param == "glove":
        return WordVectors.builtin()
    with np.load(shared_data / "vectors" / "googlenews-300d-26k.npz", allow_pickle=False) as data:
        words = data["words"].tobytes().decode().split("\n")
        return WordVectors(words, data["vectors"].astype(np.float32))


@cache
def all_texts(path):
    with gzip.open(path, "rt") as lines:
        return [json.loads(line)["text"] for line in lines]


def texts(shared_data, name, count, seed=6):
    found = all_texts(shared_data / "classification" / f"{name}.jsonl.gz")
    chosen = np.random.default_rng(seed).choice(len(found), count, replace=False)
    return [found[i] for i in chosen]


def check(mover, corpus, queries, counts, algorithms=EXACT):
    """Compare with brute force over all pairs, and verify the first answer."""
    corpus = [*corpus, corpus[3], "", corpus[3]]  # duplicates and an empty document
    mover.fit(corpus)
    distances = mover.pairwise(queries, corpus)
    for algorithm in algorithms:
        for k in counts:
            found = mover.search(queries, k, algorithm=algorithm)
            assert_same_results(found, by_brute_force(distances, k))
        assert np.all(found.stats.empty >= 1)
    found = mover.search(queries, 5)
    assert found.certificate(0).verify(sample=10).exact
    radius = float(np.median(distances[np.isfinite(distances)]))
    assert_same_results(
        mover.search(queries, None, radius=radius), by_brute_force(distances, radius=radius)
    )


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    "settings", [{}, {"unit": True, "word_weights": "sif"}], ids=["raw", "unit sif"]
)
def test_part_of_a_data_set_equals_brute_force(shared_data, vectors, name, settings):
    count = 60 if name == "20news" else 120
    corpus = texts(shared_data, name, count)
    queries = [*corpus[:3], *texts(shared_data, name, 3, seed=7)]
    mover = WordMover(vectors, empty="inf", max_words_per_document=60, **settings)
    check(mover, corpus, queries, (1, 10))


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"unit": True},
        {"word_weights": "sif"},
        {"word_weights": "tfidf"},
        {"cost": "cosine"},
        {"cost": "sqeuclidean"},
    ],
    ids=str,
)
def test_larger_part_of_a_data_set_equals_brute_force(shared_data, vectors, name, settings):
    corpus = texts(shared_data, name, 600)
    queries = [*corpus[:10], *texts(shared_data, name, 20, seed=7)]
    mover = WordMover(vectors, empty="inf", n_jobs=2, **settings)
    check(mover, corpus, queries, (1, 10, len(corpus) + 3), ("auto", "prefetch"))
