"""Nearest words, analogies, and post-processing, compared with plain loops."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from textkin.vectors import WordVectors

whole_rows = st.lists(st.integers(-3, 3), min_size=3, max_size=3).filter(any)


def slow_nearest(words, rows, vector, n, hidden):
    """Return integer vectors; their sums are exact, and so are ties."""
    found = []
    for position, (word, row) in enumerate(zip(words, rows, strict=True)):
        if word not in hidden:
            product = sum(x * y for x, y in zip(row, vector, strict=True))
            length = math.sqrt(sum(x * x for x in row)) * math.sqrt(sum(y * y for y in vector))
            found.append((-max(-1.0, min(1.0, product / length)), position, word))
    return [(word, -cosine) for cosine, _, word in sorted(found)[:n]]


@given(
    rows=st.lists(whole_rows, min_size=1, max_size=40),
    n=st.integers(1, 45),
    query=whole_rows | st.integers(0, 39),
    hidden=st.sets(st.integers(0, 39)),
)
def test_nearest_equals_the_plain_loop(rows, n, query, hidden):
    words = [f"w{i}" for i in range(len(rows))]
    vectors = WordVectors(words, rows)
    exclude = [f"w{i}" for i in hidden]
    if isinstance(query, int):
        query %= len(rows)
        expected = slow_nearest(words, rows, rows[query], n, {*exclude, words[query]})
        assert vectors.nearest(words[query], n, exclude=exclude) == expected
    else:
        expected = slow_nearest(words, rows, query, n, set(exclude))
        assert vectors.nearest(query, n, exclude=exclude) == expected


def test_equal_rows_in_different_blocks_tie_by_row():
    """Rows in different blocks must get bit-identical scores."""
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(25_000, 100)).astype(np.float32)
    copies = [3, 10_484, 10_485, 10_486, 24_999]
    matrix[copies] = matrix[3]
    vectors = WordVectors([f"w{i}" for i in range(len(matrix))], matrix)
    found = vectors.nearest(matrix[3], 5)
    assert [word for word, _ in found] == [f"w{i}" for i in copies]
    assert len({cosine for _, cosine in found}) == 1


def test_nearest_returns_at_most_all_words(tiny):
    assert len(tiny.nearest("cat", 99)) == 4
    assert WordVectors(["a"], [[1]]).nearest("a") == []


def test_nearest_excludes_the_word_in_any_case(tiny):
    assert "cat" not in dict(tiny.nearest("CAT"))
    assert list(dict(tiny.nearest("cat", exclude=["Dog", "unicorn"]))) == [
        "car",
        "Paris",
        "New_York",
    ]


@pytest.mark.parametrize(
    ("query", "options", "error", "message"),
    [
        ("unicorn", {}, KeyError, "unicorn"),
        ("cat", {"k": 0}, ValueError, "k must be an integer at least 1; got 0"),
        ("cat", {"k": 1.5}, TypeError, "k must be an integer"),
        ("cat", {"exclude": "dog"}, TypeError, "sequence of strings"),
        ([1, 2, 3], {}, ValueError, r"shape \(2,\).*got \(3,\)"),
        ([[1, 2]], {}, ValueError, r"shape \(2,\).*got \(1, 2\)"),
        ([0, 0], {}, ValueError, "must not be zero"),
        ([np.nan, 1], {}, ValueError, "must be finite"),
        ([np.inf, 1], {}, ValueError, "must be finite"),
        ([1e200, 1], {}, ValueError, "must be finite"),
        (["cat", 1], {}, TypeError, "real numbers"),
    ],
)
def test_nearest_invalid_arguments_raise(tiny, query, options, error, message):
    with pytest.raises(error, match=message):
        tiny.nearest(query, **options)


def test_analogy_adds_unit_vectors():
    """Vector lengths must not matter: b - a + c uses unit vectors."""
    directions = np.array([[1, 0, 0], [1, 0, 1], [0, 1, 0], [0, 1, 1], [1, 1, 0]], dtype=float)
    words = ["man", "king", "woman", "queen", "child"]
    lengths = np.array([[1], [50], [7], [0.1], [3]])
    found = WordVectors(words, directions * lengths).analogy("man", "king", "woman", 99)
    assert [word for word, _ in found] == ["queen", "child"]
    target = directions[1] / math.sqrt(2) - directions[0] + directions[2]
    cosine = target @ directions[3] / (np.linalg.norm(target) * math.sqrt(2))
    assert found[0][1] == pytest.approx(cosine, abs=1e-6)


def test_analogy_needs_known_words(tiny):
    with pytest.raises(KeyError, match="unicorn"):
        tiny.analogy("cat", "dog", "unicorn")


def test_unit_rows_have_length_one_and_the_same_direction(tiny):
    unit = tiny.unit()
    assert unit.words == tiny.words
    assert_allclose(np.linalg.norm(unit.matrix, axis=1), 1, rtol=1e-6)
    assert_allclose(unit["cat"], [0.6, 0.8], rtol=1e-7)
    assert tiny["cat"].tolist() == [3, 4], "the table itself is unchanged"


def test_unit_of_very_small_and_very_large_rows():
    unit = WordVectors(["small", "large"], [[3e-40, 4e-40], [3e37, 4e37]]).unit()
    assert_allclose(unit.matrix, [[0.6, 0.8], [0.6, 0.8]], rtol=1e-4)


def some_vectors(n=200, dimension=6):
    rng = np.random.default_rng(11)
    matrix = rng.normal(size=(n, dimension)) * np.arange(dimension, 0, -1) + 3.0
    return WordVectors([f"w{i}" for i in range(n)], matrix)


@pytest.mark.parametrize("n", [0, 1, 3, 5])
@pytest.mark.parametrize("center", [True, False])
def test_without_components_equals_svd(n, center):
    vectors = some_vectors()
    centred = vectors.matrix.astype(float)
    if center:
        centred = centred - centred.mean(axis=0)
    left, values, right = np.linalg.svd(centred, full_matrices=False)
    expected = (left[:, n:] * values[n:]) @ right[n:]
    found = vectors.without_components(n, center=center)
    assert_allclose(found.matrix, expected, atol=2e-6)
    assert found.words == vectors.words


def test_without_components_is_reproducible():
    first, second = (some_vectors().without_components(2).matrix for _ in range(2))
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("n", [-1, 2, 1.5, None])
def test_without_components_requires_n_below_the_dimension(tiny, n):
    with pytest.raises((ValueError, TypeError), match="n_components must be an integer at least 0"):
        tiny.without_components(n)


def test_without_components_names_a_word_that_becomes_zero():
    with pytest.raises(ValueError, match="the vector of 'only' would become zero"):
        WordVectors(["only"], [[0.1, 0.7]]).without_components(0)
    on_a_line = WordVectors(["a", "b", "c"], [[1, 2], [2, 4], [4, 8]])
    with pytest.raises(ValueError, match="the vector of 'a' would become zero"):
        on_a_line.without_components(1)
