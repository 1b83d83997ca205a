"""Conversion of rows to postings, compared with a reference implementation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from textkin import _core

BLOCK = _core.POSTING_BLOCK


def csr(rows):
    """Return arrays for dictionaries from words to counts."""
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    indices = np.array([key for row in rows for key in sorted(row)], dtype=np.int32)
    counts = np.array([row[key] for row in rows for key in sorted(row)], dtype=np.float32)
    return indptr, indices, counts


def slow_invert(rows, lengths):
    terms = sorted({word for row in rows for word in row})
    offsets, postings, tf = [0], [], []
    block_offsets, block_tf, block_length = [0], [], []
    for term in terms:
        having = [number for number, row in enumerate(rows) if term in row]
        postings += having
        tf += [rows[number][term] for number in having]
        offsets.append(len(postings))
        for first in range(0, len(having), BLOCK):
            block = having[first : first + BLOCK]
            block_tf.append(max(rows[number][term] for number in block))
            block_length.append(min(2**32 - 1, *(lengths[number] for number in block)))
        block_offsets.append(len(block_tf))
    return terms, offsets, postings, tf, block_offsets, block_tf, block_length


DTYPES = [np.int32, np.int64, np.int32, np.uint32, np.int64, np.uint32, np.uint32]


def check(rows, lengths, n_words):
    found = _core.invert(*csr(rows), np.array(lengths, dtype=np.int64), n_words)
    assert [array.dtype for array in found] == DTYPES
    assert [array.tolist() for array in found] == list(map(list, slow_invert(rows, lengths)))


counts = st.integers(1, 5) | st.sampled_from([2**23 + 1, 2**24, 2**32 - 256])
lengths = st.integers(0, 9) | st.sampled_from([2**32 - 2, 2**32 - 1, 2**32, 2**62])


@given(
    st.lists(st.tuples(st.dictionaries(st.integers(0, 12), counts, max_size=5), lengths)),
    st.integers(13, 1000),
)
def test_postings_match_the_reference(documents, n_words):
    check([row for row, _ in documents], [length for _, length in documents], n_words)


@pytest.mark.parametrize("n_rows", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK])
def test_blocks_have_correct_boundaries(n_rows):
    rng = np.random.default_rng(n_rows)
    rows = [{5: int(rng.integers(1, 9)), 7: 1} if i % 3 else {5: 2} for i in range(n_rows)]
    check(rows, rng.integers(0, 100, n_rows).tolist(), 8)


def test_postings_match_scipy_columns():
    rng = np.random.default_rng(1)
    bags = sparse.random_array((500, 2000), density=0.03, format="csr", rng=rng, dtype=np.float32)
    bags.data[:] = rng.integers(1, 100, bags.nnz)
    bags.sort_indices()
    terms, offsets, rows, tf, *_ = _core.invert(
        bags.indptr.astype(np.int64), bags.indices.astype(np.int32), bags.data,
        np.ones(500, dtype=np.int64), 2000,
    )  # fmt: skip
    columns = bags.tocsc()
    assert rows.tolist() == columns.indices.tolist()
    assert tf.tolist() == columns.data.tolist()
    assert np.array_equal(np.diff(offsets), np.diff(columns.indptr)[terms])


WRONG_ROWS = [
    ([], [], r"indptr must start at 0 and end at the number of entries, 0; got none"),
    ([1, 2], [0, 1], r"got 1 and 2"),
    ([0, 1], [0, 1], r"number of entries, 2; got 0 and 1"),
    ([0, 2, 1, 2], [0, 1], r"indptr must not decrease; it does after row 1\."),
    ([0, 2**62, 2], [0, 1], r"indptr must not decrease"),
    ([0, -(2**62), 2], [0, 1], r"indptr must not decrease"),
    ([0, 0, 2], [1, 9], r"at least 0 and below 9; row 1 has 9\."),
    ([0, 0, 2], [-1, 1], r"at least 0 and below 9; row 1 has -1\."),
    ([0, 2], [-(2**31), 2**31 - 1], r"row 0 has -2147483648\."),
    ([0, 1, 3], [0, 3, 3], r"must ascend; row 1 has 3 before 3\."),
    ([0, 1, 3], [0, 3, 2], r"must ascend; row 1 has 3 before 2\."),
]


@pytest.mark.parametrize(("indptr", "indices", "match"), WRONG_ROWS)
def test_invalid_rows_raise(indptr, indices, match):
    arrays = np.array(indptr, dtype=np.int64), np.array(indices, dtype=np.int32)
    with pytest.raises(ValueError, match=match):
        _core.check_rows(*arrays, 9)
    with pytest.raises(ValueError, match=match):
        _core.invert(
            *arrays, np.ones(len(indices), dtype=np.float32), np.ones(9, dtype=np.int64), 9
        )


@given(st.lists(st.lists(st.integers(-2, 12), max_size=4), max_size=4), st.integers(0, 10))
def test_any_rows_are_valid_or_raise(rows, n_columns):
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    indices = np.array([column for row in rows for column in row], dtype=np.int32)
    if all(row == sorted(set(row)) and set(row) <= set(range(n_columns)) for row in rows):
        _core.check_rows(indptr, indices, n_columns)
    else:
        with pytest.raises(ValueError, match=r"must (ascend|be at least)"):
            _core.check_rows(indptr, indices, n_columns)


@pytest.mark.parametrize("wrong", [0, -1, 0.5, 1.5, 2**32, np.inf, np.nan, 2**22 + 0.5])
def test_invalid_counts_raise(wrong):
    arrays = csr([{0: 1}, {0: 1, 1: wrong, 2: 2}])
    with pytest.raises(ValueError, match=r"whole numbers from 1 to below 2\^32; row 1 has "):
        _core.invert(*arrays, np.ones(2, dtype=np.int64), 3)


def test_inconsistent_sizes_raise():
    indptr, indices, values = csr([{0: 1}, {1: 2}])
    sizes = np.ones(2, dtype=np.int64)
    with pytest.raises(ValueError, match=r"a count for each of the 2 columns; got 1"):
        _core.invert(indptr, indices, values[:1], sizes, 2)
    with pytest.raises(ValueError, match=r"a length for each of the 2 rows; got 1"):
        _core.invert(indptr, indices, values, sizes[:1], 2)
    with pytest.raises(ValueError, match=r"Lengths must not be negative; that of row 1 is -5"):
        _core.invert(indptr, indices, values, np.array([1, -5]), 2)
    for n_words in (-1, 2**31):
        with pytest.raises(ValueError, match=r"n_words must be at least 0 and below 2\^31"):
            _core.invert(indptr, indices, values, sizes, n_words)
    with pytest.raises(TypeError):
        _core.invert(indptr.astype(np.int32), indices, values, sizes, 2)


def test_mapped_arrays_are_accepted(tmp_path):
    rows = [{0: 1, 4: 2}, {4: 1}]
    mapped = []
    for name, array in enumerate([*csr(rows), np.array([3, 1])]):
        array.tofile(tmp_path / str(name))
        mapped.append(np.memmap(tmp_path / str(name), dtype=array.dtype, mode="r"))
    _core.check_rows(*mapped[:2], 5)
    assert _core.invert(*mapped, 5)[2].tolist() == [0, 0, 1]
