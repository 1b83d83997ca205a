"""Construction of `WordVectors`: valid input and errors."""

import numpy as np
import pytest

from textkin.vectors import WordVectors


def test_table_has_words_and_float32_rows(tiny):
    assert tiny.words == ("cat", "dog", "car", "Paris", "New_York")
    assert len(tiny) == 5
    assert tiny.dimension == 2
    assert tiny.matrix.dtype == np.float32
    assert tiny.matrix.flags.c_contiguous
    assert list(tiny) == list(tiny.words)
    assert repr(tiny) == "WordVectors(5 words, dimension 2)"


def test_matrix_and_vectors_are_read_only(tiny):
    with pytest.raises(ValueError, match="read-only"):
        tiny.matrix[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        tiny["cat"][0] = 1


def test_float32_in_c_order_is_not_copied():
    matrix = np.eye(3, dtype=np.float32)
    vectors = WordVectors(["a", "b", "c"], matrix)
    assert np.shares_memory(vectors.matrix, matrix)
    assert matrix.flags.writeable, "the caller's own array stays writable"


def test_memory_mapped_input_stays_mapped(tmp_path):
    np.save(tmp_path / "m.npy", np.eye(3, dtype=np.float32))
    mapped = np.load(tmp_path / "m.npy", mmap_mode="r")
    vectors = WordVectors(["a", "b", "c"], mapped)
    assert np.shares_memory(vectors.matrix, mapped)


@pytest.mark.parametrize("dtype", ["f2", "f8", ">f4", "i8", "u1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_other_numeric_types_are_converted(dtype, order):
    vectors = WordVectors(["a", "b"], np.array([[1, 2, 3], [4, 5, 6]], dtype=dtype, order=order))
    assert vectors.matrix.dtype == np.float32
    assert vectors.matrix.flags.c_contiguous
    assert vectors["b"].tolist() == [4, 5, 6]


def test_numpy_strings_become_str():
    vectors = WordVectors(np.array(["a", "b"]), np.eye(2))
    assert [type(word) for word in vectors.words] == [str, str]


@pytest.mark.parametrize(
    ("words", "matrix", "error", "message"),
    [
        ([], np.empty((0, 2)), ValueError, "at least one word"),
        ("ab", np.eye(2), TypeError, "single string 'ab'"),
        (["a", 7], np.eye(2), TypeError, "int 7 at position 1"),
        (["a", None], np.eye(2), TypeError, "NoneType None at position 1"),
        (["a", "b", "c", "b", "a"], np.ones((5, 2)), ValueError, "'b' is at positions 1 and 3"),
        (["a", "b"], np.eye(3), ValueError, "each of the 2 words; got 3 rows"),
        (["a"], np.ones(3), ValueError, r"2-D.*got 1 dimension"),
        (["a"], np.ones((1, 1, 1)), ValueError, r"2-D.*got 3 dimension"),
        (["a", "b"], [[1, 2], [3]], ValueError, "rows of equal length"),
        (["a"], np.empty((1, 0)), ValueError, "at least one column"),
        (["a"], [["x"]], TypeError, "real numbers"),
        (["a"], [[1j]], TypeError, "real numbers"),
        (["a", "b", "c"], [[1], [np.nan], [np.inf]], ValueError, r"'b' \(row 1\) has NaN"),
        (["a", "b"], [[1], [-np.inf]], ValueError, r"'b' \(row 1\)"),
        (["a", "b"], [[1], [1e39]], ValueError, "finite in float32; the vector of 'b'"),
        (["a", "b"], [[1, 2], [0, 0]], ValueError, r"'b' \(row 1\) is zero"),
        (["a", "b"], [[1], [1e-60]], ValueError, "'b'.* is zero"),
    ],
)
def test_invalid_arguments_raise(words, matrix, error, message):
    with pytest.raises(error, match=message):
        WordVectors(words, matrix)


def test_invalid_row_in_a_later_block_is_named():
    """Rows are checked in blocks; the error has the overall row number."""
    matrix = np.ones((5000, 300), dtype=np.float32)
    matrix[4321, 7] = np.nan
    with pytest.raises(ValueError, match="'w4321'"):
        WordVectors([f"w{i}" for i in range(5000)], matrix)
