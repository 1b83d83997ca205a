"""Tests of documents as CSR rows: shapes, slices, copies, and weights."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textkin.corpus import Coverage, DocumentRows


def document_rows(dense, **others):
    """Return the rows of a dense matrix, without entries for zeros."""
    dense = np.asarray(dense, dtype=np.float64)
    indptr = np.concatenate([[0], np.cumsum((dense != 0).sum(axis=1))]).astype(np.int64)
    indices = np.nonzero(dense)[1].astype(np.int32)
    return DocumentRows(indptr, indices, dense.shape[1], dense[dense != 0], **others)


def dense_of(rows):
    dense = np.zeros((len(rows), rows.n_columns))
    of = np.repeat(np.arange(len(rows)), np.diff(rows.indptr))
    dense[of, rows.indices] = rows.counts
    return dense


matrices = st.integers(0, 5).flatmap(
    lambda n: st.lists(
        st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=n, max_size=n
    ).map(lambda rows: np.array(rows, dtype=np.float64).reshape(n, 4))
)


# ---------------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"counts": np.ones(2)}, "3 indices, and 2 counts"),
        ({"indptr": np.array([0, 2, 4])}, "arrays of a CSR matrix"),
        ({"indptr": np.array([], np.int64)}, "0 offsets"),
        ({"live": np.ones(3, np.uint8)}, "each of the 2 documents; got 3"),
        ({"weights": np.ones(4)}, "each of the 5 columns; got 4"),
        ({"points": np.ones((2, 7), np.float32)}, "each of the 3 entries; got 2"),
    ],
)
def test_inconsistent_shapes_raise(change, message):
    fields = {
        "indptr": np.array([0, 2, 3]),
        "indices": np.array([0, 4, 1], np.int32),
        "n_columns": 5,
        "counts": np.ones(3),
    }
    assert len(DocumentRows(**fields)) == 2
    with pytest.raises(ValueError, match=message):
        DocumentRows(**{**fields, **change})


def test_arrays_are_not_copied():
    counts = np.ones(3, np.float32)
    rows = DocumentRows(np.array([0, 2, 3]), np.array([0, 4, 1], np.int32), 5, counts)
    assert rows.counts is counts
    assert np.shares_memory(rows[1:].counts, counts)
    assert np.shares_memory(rows[1:].indices, rows.indices)


def test_no_documents_give_empty_results():
    rows = document_rows(np.zeros((0, 4)))
    assert len(rows) == len(rows[0:0]) == len(rows.take(np.array([], np.int64))) == 0
    assert len(rows.compact("X")) == len(rows.documents()) == len(rows.are_empty()) == 0


def test_pickled_copy_is_equal():
    rows = document_rows([[1, 0, 2, 0], [0, 0, 0, 0]], unknown=({"a": 1}, {}), weights=np.ones(4))
    copy = pickle.loads(pickle.dumps(rows))
    np.testing.assert_array_equal(dense_of(copy), dense_of(rows))
    assert copy.unknown == rows.unknown
    assert copy.n_columns == 4


# ---------------------------------------------------------------------- parts and copies


@settings(max_examples=80, deadline=None)
@given(matrices, st.integers(-6, 6), st.integers(-6, 6))
def test_slice_equals_slice_of_matrix(dense, begin, end):
    names = [{f"#{row}": 1.0} for row in range(len(dense))]
    live = np.arange(len(dense)).astype(np.uint8) % 2
    rows = document_rows(dense, unknown=names, cut=names, live=live)[begin:end]
    np.testing.assert_array_equal(dense_of(rows), dense[begin:end])
    assert rows.unknown == rows.cut == names[begin:end]
    np.testing.assert_array_equal(rows.live, live[begin:end])
    assert rows.indptr[0] == 0


def test_slice_with_a_step_raises():
    with pytest.raises(ValueError, match="step 1; got 2"):
        document_rows(np.eye(4))[::2]


def test_slice_of_points_renumbers_the_entries():
    points = np.arange(6, dtype=np.float32).reshape(3, 2)
    indices = np.arange(10, 13, dtype=np.int32)  # column numbers after a table of 10 vectors
    rows = DocumentRows(np.array([0, 1, 3]), indices, 13, np.array([5.0, 6.0, 7.0]), points=points)
    last = rows[1:2]
    assert last.indices.tolist() == [10, 11]
    assert last.n_columns == 12
    np.testing.assert_array_equal(last.points, points[1:])
    assert last.counts.tolist() == [6.0, 7.0]
    with pytest.raises(ValueError, match="with their own points"):
        rows.take(np.array([1]))


@settings(max_examples=80, deadline=None)
@given(matrices, st.data())
def test_take_copies_rows_in_any_order(dense, data):
    if not len(dense):
        return
    positions = np.array(data.draw(st.lists(st.integers(0, len(dense) - 1))), np.int64)
    names = [{f"#{row}": 1.0} for row in range(len(dense))]
    live = np.arange(len(dense)).astype(np.uint8) % 2
    rows = document_rows(dense, unknown=names, live=live, weights=np.ones(4)).take(positions)
    np.testing.assert_array_equal(dense_of(rows), dense[positions])
    assert list(rows.unknown) == [names[at] for at in positions]
    np.testing.assert_array_equal(rows.live, live[positions])
    assert rows.cut == ()


@pytest.mark.parametrize(
    ("count", "dtype"),
    [(1.0, np.float32), (0.5, np.float32), (1 / 3, np.float64), (2.0**24 + 1, np.float64)],
)
def test_compact_keeps_counts_exactly_in_little_memory(count, dtype):
    rows = document_rows(
        np.eye(4) * count, unknown=[{"a": 1}] * 4, cut=[{"b": 1}] * 4, weights=np.ones(4)
    )
    kept = rows.compact("X")
    assert kept.counts.dtype == dtype
    np.testing.assert_array_equal(dense_of(kept), np.eye(4) * count)
    for name in ("indptr", "indices", "counts"):
        assert not np.shares_memory(getattr(kept, name), getattr(rows, name))
    assert kept.unknown == kept.cut == ()
    assert kept.weights is rows.weights


@pytest.mark.parametrize("count", [-1.0, np.nan, np.inf])
def test_compact_names_an_invalid_count(count):
    rows = DocumentRows(np.array([0, 1, 2]), np.array([3, 1], np.int32), 4, np.array([1.0, count]))
    with pytest.raises(ValueError, match=f"row 1 of docs has {count} in column 1"):
        rows.compact("docs")


# ---------------------------------------------------------------------- weights


def test_weighted_counts_are_float64_products():
    rows = document_rows([[1, 2, 0, 0], [0, 0, 3, 0]], weights=np.array([0.1, 0.0, 1 / 3, 9.0]))
    assert rows.weighted_counts().tolist() == [0.1, 0.0, 3 * (1 / 3)]
    narrow = rows.compact("X")
    assert narrow.counts.dtype == np.float32
    assert narrow.weighted_counts().tolist() == rows.weighted_counts().tolist()


def test_documents_without_weight_are_empty():
    rows = document_rows(
        [[1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0]], weights=np.array([1.0, 0, 1, 1])
    )
    assert rows.are_empty().tolist() == [False, True, True]
    assert rows.documents().empty_rows().tolist() == [1, 2]
    words, masses = rows.word_shares(1)
    assert len(words) == len(masses) == 0


def test_word_shares_sum_weighted_counts():
    rows = document_rows([[0, 0, 0, 1], [1, 3, 0, 4]], weights=np.array([1.0, 0.0, 1.0, 2.0]))
    words, masses = rows.word_shares(1)
    assert words.tolist() == [0, 3]
    np.testing.assert_allclose(masses, [1 / 9, 8 / 9], rtol=1e-15)
    np.testing.assert_array_equal(rows.shares_of(1, words), masses)


def test_words_with_vanishing_weight_have_no_share():
    rows = document_rows([[1e-300, 1.0, 0, 0]])
    words, masses = rows.word_shares(0)
    assert words.tolist() == [1]
    assert masses.tolist() == [1.0]


def test_coverage_counts_unknown_and_cut_words():
    rows = document_rows([[1, 2, 0, 0], [0, 0, 0, 0]], unknown=({"a": 2}, {}), cut=({"b": 1}, {}))
    found = rows.coverage(0)
    assert (found.known, found.total, found.share) == (3.0, 6.0, 0.5)
    assert str(found) == "50 % (unknown: 'a'; cut: 'b')"
    assert rows.coverage(1) == Coverage(0.0, 0.0, {}, {})
    assert rows.coverage(1).share == 0.0
    assert document_rows(np.eye(4)).coverage(2) == Coverage(1.0, 1.0, {}, {})
