"""Tables of word vectors: checks of a matrix, unit length, and names of rows."""

import numpy as np
import pytest

from textkin import WordMover, WordVectors
from textkin.corpus import VectorTable

WORDS = WordVectors(["cat", "dog"], np.array([[3, 4], [0, 2]], np.float32))


def test_table_of_words_shares_their_matrix():
    table = WordMover(vectors=WORDS).fit(["cat"]).engine().table
    assert table.vectors is WORDS.matrix
    assert table.known is None
    assert len(table.vectors) == 2
    assert [table.name(0), table.name(1, ["a", "b"])] == ["cat", "b"]
    unit = WordMover(vectors=WORDS, cost="cosine").fit(["cat"]).engine().table
    np.testing.assert_allclose(unit.vectors, [[0.6, 0.8], [0, 1]], rtol=1e-6)


def test_table_of_a_matrix_is_read_only_and_shares_memory():
    matrix = np.array([[3, 4], [0, 2]], np.float32)
    table = VectorTable.of_matrix(matrix, unit=False)
    assert np.shares_memory(table.vectors, matrix)
    assert not table.vectors.flags.writeable
    assert matrix.flags.writeable
    assert table.known is None
    assert table.name(1) == "#1"


def test_row_of_nan_is_a_word_without_a_vector():
    table = VectorTable.of_matrix(np.array([[3.0, 4.0], [np.nan, np.nan]]), unit=True)
    assert table.known.tolist() == [True, False]
    np.testing.assert_allclose(table.vectors, [[0.6, 0.8], [0, 0]], rtol=1e-6)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones(3), "got shape \\(3,\\)"),
        (np.ones((0, 3)), "got shape \\(0, 3\\)"),
        (np.ones((2, 2), bool), "dtype bool"),
        (np.array([[1.0, 2.0], [np.nan, 1.0]]), "row 1 is not"),
        (np.array([[1.0, 2.0], [1e300, 1.0]]), "row 1 is not"),
        (np.array([[0.0, 0.0], [1.0, 1.0]]), "row 0 is"),
    ],
)
def test_invalid_matrix_raises(matrix, message):
    with pytest.raises(ValueError, match=message):
        VectorTable.of_matrix(matrix, unit=False)
