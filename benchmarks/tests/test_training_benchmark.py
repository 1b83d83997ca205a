"""Benchmark of training, on a corpus of a few sentences. Nothing is timed here."""

import gzip
import json

import numpy as np
import pytest

from support import load_script
from textkin.vectors import WordVectors

training = load_script("benchmarks/training.py")

SENTENCES = [
    "the man saw the cat and the dog",
    "a woman saw the dog and a cat",
    "his car is on the road and her car is off the road",
    "he and she saw a car on the road",
]


@pytest.fixture
def tiny(tmp_path):
    rows = [json.dumps({"id": str(i), "title": "the road", "text": t, "label": "x"})
            for i, t in enumerate(SENTENCES * 3)]  # fmt: skip
    pairs = ["dataset\tgold\tword1\tword2", "ws\t9\tcat\tdog", "ws\t8\the\tshe"]
    pairs += ["ws\t1\tcat\troad", "ws\t2\tman\troad", "ws\t9\tcat\tunknown"]
    files = {
        "text/brown.tsv.gz": ["category\tfile\tsentence", *(f"n\tc\t{t}" for t in SENTENCES * 3)],
        "text/reuters21578.jsonl.gz": rows,
        "classification/20news.jsonl.gz": rows,
        "classification/r8.jsonl.gz": rows,
        "wordsim/wordsim.tsv.gz": pairs,
    }
    for name, lines in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    return tmp_path


def test_the_corpus(tiny):
    documents = training.read_words(tiny)
    assert len(documents) == 36
    assert documents[0] == SENTENCES[0].split()
    assert documents[12][:3] == ["the", "road", "the"]
    assert len(training.read_words(tiny, 2)) == 6


def test_the_scores(tiny):
    words = ["cat", "dog", "he", "she", "road", "man", "his", "her", "woman"]
    matrix = np.eye(9)[[0, 0, 1, 1, 2, 3, 4, 5, 6]] + 0.1
    scores = training.scores_of(WordVectors(words, matrix), tiny)
    assert scores["ws"] == scores["mean"] > 0.8
    assert 0 <= scores["analogies_in_ten"] <= 1
    assert np.isnan(training.analogies_found(WordVectors(["cat"], [[1]])))
    assert training.found_themselves(np.eye(3), np.eye(3)) == 1
    assert training.found_themselves(np.eye(3), np.eye(3)[[0, 2, 1]]) == pytest.approx(1 / 3)


def test_run_writes_its_result(tiny, monkeypatch, tmp_path):
    result = tmp_path / "training.json"
    few = ["--rounds", "1", "--seeds", "1", "--epochs", "1"]
    monkeypatch.setattr(
        "sys.argv", ["training.py", "--data", str(tiny), *few, "--out", str(result)]
    )
    training.main()
    found = json.loads(result.read_text())
    assert set(found["speed"]) == set(found["quality"]) == {*training.MODELS, "run"}
    for model in training.MODELS:
        assert found["speed"][model]["words_a_second"]["textkin"] > 0
        assert -1 <= found["quality"][model]["means"]["textkin"]["ws"] <= 1
    assert set(found["documents_that_find_themselves"]) == {"dbow", "dm", "run"}
    assert found["speed"]["run"]["tokens"] > 300
    monkeypatch.setattr("sys.argv", [*training.sys.argv, "--parts", "themselves"])
    training.main()  # the other parts stay
    again = json.loads(result.read_text())
    assert again["speed"] == found["speed"]
    assert "themselves" in again["documents_that_find_themselves"]["run"]["command"]
