"""Study of built-in vectors: recipes and measures checked by hand, and runs on tiny data."""

import gzip
import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from support import load_script
from textkin.vectors import WordVectors

study = load_script("benchmarks/builtin_study.py")
documents = load_script("benchmarks/builtin_documents.py")
recipes = load_script("benchmarks/builtin_recipes.py")
shown = load_script("benchmarks/builtin_tables.py")

WORDS = ["the", "cat", "dog", "car", "bus", "sleeps", "drives", "naps", "loud", "old", "red", "sky"]


@pytest.fixture
def tables(tmp_path):
    random = np.random.default_rng(0)
    whole, inner = random.normal(size=(2, len(WORDS), 10)).astype(np.float32)
    text = np.frombuffer("\n".join(WORDS).encode(), dtype=np.uint8)
    np.savez(tmp_path / "raw.npz", words=text, whole=whole, inner=inner)
    glove = WordVectors(WORDS[:-1], random.normal(size=(len(WORDS) - 1, 6)))
    return recipes.Tables(tmp_path / "raw.npz", glove)


@pytest.fixture
def data(tmp_path):
    def write(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()))

    random = np.random.default_rng(1)
    pairs = [(a, b) for i, a in enumerate(WORDS) for b in WORDS[:i]]
    rows = [f"one\t{random.integers(9)}\t{a}\t{b}" for a, b in pairs]
    write(
        tmp_path / "wordsim" / "wordsim.tsv.gz", "\n".join(["dataset\tgold\tword1\tword2", *rows])
    )
    for name in ("sts2012-test", "sts2013-test", "sts2012-train"):
        lines = ["dataset\tgold\tsentence1\tsentence2"]
        for at in range(12):
            one, other = (" ".join(random.choice(WORDS, 3)) for _ in range(2))
            lines.append(f"x.{'ab'[at % 2]}\t{random.integers(5)}\t{one}\t{other}")
        lines.append("x.a\t0\tunknown\tcat")
        write(tmp_path / "sts" / f"{name}.tsv.gz", "\n".join(lines))
    texts = {
        "pets": ["cat dog", "dog sleeps", "cat naps"],
        "cars": ["bus car", "car drives", "red bus"],
    }
    records = [
        {"text": text, "label": label, "split": "test" if at % 4 == 0 else "train"}
        for label, of_label in texts.items()
        for at, text in enumerate(of_label * 10)
    ]
    records.append({"text": "unknown", "label": "cars", "split": "test"})
    for name in ("classic", "r8", "twitter"):
        lines = "\n".join(map(json.dumps, records))
        write(tmp_path / "classification" / f"{name}.jsonl.gz", lines)
    return tmp_path


def test_recipes_create_the_described_tables(tables):
    plain = tables(recipes.Making(4, 10))
    assert plain.words == tuple(WORDS[:10])
    assert plain.dimension == 4
    assert_allclose(plain.matrix.mean(axis=0), 0, atol=1e-6)
    without = tables(recipes.Making(3, 10, removed=1))
    assert_array_equal(without.matrix, plain.matrix[:, 1:])
    longer = tables(recipes.Making(4, 10, weighted="rank"))
    ratio = np.linalg.norm(longer.matrix, axis=1) / np.linalg.norm(plain.matrix, axis=1)
    assert_allclose(ratio, np.log(np.arange(2, 12)), rtol=1e-5)
    rounded = tables(recipes.Making(4, 10, int8=True))
    assert 0 < np.abs(rounded.matrix - plain.matrix).max() < np.abs(plain.matrix).max() / 250
    assert not np.allclose(
        np.abs(tables(recipes.Making(4, 10, marks=True)).matrix), abs(plain.matrix)
    )


def test_names_of_recipes_differ():
    names = [str(making) for making in study.MAKINGS]
    assert len(set(names)) == len(names)
    assert names[0] == "GloVe"
    assert str(recipes.SHIPPED) == "distilled 256, 60k words, int8"


def test_query_without_neighbors_gets_the_most_frequent_label():
    labels = np.array(["a", "b", "b"])
    found = documents.labels_found(np.array([[0, 1, 2], [-1, -1, -1]]), labels, 1)
    assert found.tolist() == ["a", "b"]


def test_parts_on_tiny_data(tables, data, monkeypatch):
    make = load_script("scripts/make_builtin_vectors.py")
    glove = tables(study.GLOVE)
    paths = {name: data / f"{name}.npz" for name in study.BUILTIN_PATHS}
    for path in paths.values():
        make.write_packed(path, list(glove.words), glove.matrix)
    monkeypatch.setattr(study, "BUILTIN_PATHS", paths)
    monkeypatch.setattr(documents, "NEIGHBOURS", (1, 3))
    monkeypatch.setattr(documents, "SOME", 20)
    monkeypatch.setattr(study, "RESAMPLES", 20)
    monkeypatch.setattr(study, "ROUNDS", 1)
    rows = {name: list(part(tables, data)) for name, part in study.PARTS.items()}
    weighted = sum(making.weighted is not None for making in study.MAKINGS)
    assert len(rows["words"]) == len(study.MAKINGS) - weighted
    assert rows["words"][0]["one"]["covered"] == 55
    assert rows["words"][0]["one"]["total"] == 66
    assert rows["words"][2]["one"]["covered"] == 66
    assert len(rows["sentences"]) == 5 * (len(study.MAKINGS) - weighted) + weighted
    assert all(-1 <= row["2012"]["Mean"] <= 1 for row in rows["sentences"])
    assert len(rows["documents"]) == 2 * len(documents.DOCUMENT_MAKINGS) * len(documents.FINDERS)
    assert all(0 <= row["error"] <= 100 for row in rows["documents"])
    assert len(rows["exact"]) == 2 * 2 * len(documents.EXACT_FINDERS)
    assert [row["vectors"] for row in rows["costs"]] == ["glove", "distilled"]
    assert len(rows["choices"]) == 16 * 3 + 3 * 12
    json.dumps(rows)
    facts = {"machine": "m", "numpy": "1", "commit": "c", "command": "python"}
    text = shown.render({part: {**facts, "rows": found} for part, found in rows.items()})
    assert text.count("## ") == len(study.PARTS)
    assert text.count("\n| GloVe |") == 1 + 1 + 2 + 2, "of words, of sentences, of each set"


def test_gain_over_itself_is_zero(tables, data):
    pairs = study.read_pairs(data, "sts2012-test")
    scores = study.SCORERS["mean"](tables(study.GLOVE), pairs)
    assert study.mean_gain_error(pairs, scores, scores) == 0
    better = replace(pairs, gold=scores)
    assert study.measures(better, scores)["Mean"] == 1
