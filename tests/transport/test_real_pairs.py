"""Real documents and vectors: distances equal POT, satisfy bounds, and are verified."""

import gzip
import json

import numpy as np
import ot
import pytest

from textkin import WordMover, WordVectors
from textkin.transport import reference_costs


@pytest.fixture(scope="module", params=["glove", "googlenews"])
def vectors(request, shared_data):
    if request.param == "glove":
        return WordVectors.builtin()
    with np.load(shared_data / "vectors" / "googlenews-300d-26k.npz", allow_pickle=False) as data:
        words = data["words"].tobytes().decode().split("\n")
        return WordVectors(words, data["vectors"].astype(np.float32))


def texts(shared_data, name, count, seed):
    with gzip.open(shared_data / "classification" / f"{name}.jsonl.gz", "rt") as lines:
        found = [json.loads(line)["text"] for line in lines]
    chosen = np.random.default_rng(seed).choice(len(found), count, replace=False)
    return [found[i] for i in chosen]


@pytest.mark.parametrize(("name", "count"), [("twitter", 40), ("r8", 24), ("20news", 12)])
@pytest.mark.parametrize("masses", ["nbow", "sif"])
def test_real_pairs_equal_pot(shared_data, vectors, name, count, masses):
    mover = WordMover(vectors, word_weights=masses, empty="inf")
    found = texts(shared_data, name, count, seed=5)
    documents = [
        text
        for text, coverage in zip(found, mover.coverage(found), strict=True)
        if coverage.known > 0
    ]
    half = len(documents) // 2
    for a, b in zip(documents[:half], documents[half:], strict=False):
        comparison = mover.explain(a, b)
        comparison.verify()
        assert comparison.distance == mover.distance(a, b)
        proof = comparison.certificate
        costs = reference_costs(proof.source_vectors, proof.target_vectors, "euclidean")
        expected = ot.emd2(proof.source_masses, proof.target_masses, costs, numItermax=10**7)
        assert comparison.distance == pytest.approx(expected, rel=1e-6)
        slack = 1e-6 * comparison.distance
        assert comparison.bounds.centroid <= comparison.distance + slack
        assert comparison.bounds.relaxed <= comparison.distance + slack
        assert comparison.method == "narrow_simplex"
