"""Tests of built-in vectors by name, and of queries of several words."""

import numpy as np
import pytest

from textkin import FisherVector, Index, NearestNeighborClassifier, Pooling, WordMover
from textkin.vectors import WordVectors

VECTORS = WordVectors(["cat", "dog", "car", "bus"], [[3, 4], [4, 3], [5, 0], [6, -1]])
TEXTS = ["The cat sat on the mat", "A dog barked", "Cars and buses", "Music in the park"]


@pytest.mark.parametrize("name", ["glove", "builtin:glove", "distilled", "builtin:distilled"])
def test_word_mover_takes_builtin_vectors_by_name(name):
    named = WordMover(vectors=name).distance(*TEXTS[:2])
    vectors = WordVectors.builtin(name.removeprefix("builtin:"))
    assert named == WordMover(vectors=vectors).distance(*TEXTS[:2])


def test_models_take_builtin_vectors_by_name(tmp_path):
    expected = Pooling(WordVectors.builtin("distilled")).fit_transform(TEXTS)
    pooling = Pooling("distilled").fit(TEXTS)
    np.testing.assert_array_equal(pooling.transform(TEXTS), expected)
    pooling.save(tmp_path / "pooling")
    loaded = Pooling.load(tmp_path / "pooling")
    assert loaded.vectors == "distilled"
    np.testing.assert_array_equal(loaded.transform(TEXTS), expected)
    classifier = NearestNeighborClassifier(vectors="distilled", n_neighbors=1)
    assert classifier.fit(TEXTS, [0, 1, 2, 3]).predict(TEXTS).tolist() == [0, 1, 2, 3]


def test_an_index_takes_builtin_vectors_by_name(tmp_path):
    with Index.create(tmp_path / "index", vectors="distilled", language=None) as index:
        assert index.vectors.dimension == 256


def test_an_unknown_name_names_load():
    with pytest.raises(ValueError, match=r"got 'glove.txt'") as caught:
        WordMover(vectors="glove.txt").distance("cat", "dog")
    assert "WordVectors.load(path)" in str(caught.value)


def test_load_takes_builtin_names():
    assert WordVectors.load("builtin:distilled") is WordVectors.builtin("distilled")
    first = WordVectors.load("builtin:glove", max_words=10)
    assert first.words == WordVectors.builtin().words[:10]
    some = WordVectors.load("builtin:glove", words=["Queen", "king", "qwertzish"])
    assert sorted(some.words) == ["king", "queen"]
    with pytest.raises(FileNotFoundError, match=r"WordVectors.builtin\('glove'\)"):
        WordVectors.load("glove")


def test_load_prefers_a_file_of_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "builtin:glove").write_text("up 1 0.5\ndown -1 0.5\n")
    assert WordVectors.load("builtin:glove").words == ("up", "down")


def test_fisher_vector_takes_components_first():
    fisher = FisherVector(2, random_state=0)
    assert (fisher.n_components, fisher.vectors) == (2, None)
    with pytest.raises(TypeError, match="n_components must be an integer"):
        FisherVector(VECTORS).fit(["cat dog", "car bus"])


def test_similarity_is_the_cosine():
    assert VECTORS.similarity("cat", "Dog") == pytest.approx(0.96)
    assert VECTORS.similarity("car", "bus") == VECTORS.nearest("bus", 1)[0][1]
    with pytest.raises(KeyError, match="no vector for 'emu'"):
        VECTORS.similarity("cat", "emu")


def test_nearest_takes_several_words():
    unit = VECTORS.unit().matrix
    target = unit[0].astype(float) + unit[1]
    assert [word for word, _ in VECTORS.nearest(["cat", "dog"])] == ["car", "bus"]
    expected = VECTORS.nearest(target, exclude=["cat", "dog"])
    found = VECTORS.nearest(["cat", "dog"])
    np.testing.assert_allclose([s for _, s in found], [s for _, s in expected], rtol=1e-6)


def test_nearest_with_negative_words_is_the_analogy():
    vectors = WordVectors.builtin()
    found = vectors.nearest(["king", "woman"], 3, negative=["man"])
    asked = vectors.analogy("man", "king", "woman", 3)
    assert [word for word, _ in found] == [word for word, _ in asked]
    np.testing.assert_allclose([s for _, s in found], [s for _, s in asked], rtol=1e-6)


def test_nearest_with_one_positive_word_equals_the_word():
    many, one = VECTORS.nearest(["cat"], 2), VECTORS.nearest("cat", 2)
    assert [word for word, _ in many] == [word for word, _ in one]


@pytest.mark.parametrize(
    ("query", "negative", "message"),
    [
        ([], (), "at least one word"),
        ([1, 0], ["cat"], "words"),
        (["cat"], ["cat"], "must not be zero"),
    ],
)
def test_invalid_queries_raise(query, negative, message):
    with pytest.raises((TypeError, ValueError), match=message):
        VECTORS.nearest(query, negative=negative)
