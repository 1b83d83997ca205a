"""Tests of the core search: several blocks, masks, column maps, and queries with own points."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from search_reference import COSTS, EXACT, by_brute_force, corpora, random_corpus
from textkin import _core


def documents_of(bags):
    rows = sparse.csr_array(np.asarray(bags, dtype=np.float64))
    indptr, indices = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    return _core.Documents(indptr, indices, rows.data, rows.shape[1])


def block_of(bags, live=None, dtype=np.float64):
    rows = sparse.csr_array(np.asarray(bags, dtype=dtype))
    mask = None if live is None else np.asarray(live, dtype=np.uint8)
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data, mask


def searcher_of(table, cost, blocks, columns=None, words=None, weights=None):
    columns = len(table) if columns is None else columns
    return _core.Searcher(table, cost, blocks, columns, words, weights)


def hits_of(
    searcher,
    queries,
    *,
    k=None,
    radius=np.inf,
    algorithm="auto",
    points=None,
    mask=None,
    without=None,
    from_row=None,
    memory=512 << 20,
    threads=1,
):
    """Search; return indices and distances of each query, like the reference implementation."""
    starts, rows, distances, counts, _, verdicts, values = searcher.search(
        queries,
        points,
        k,
        radius,
        algorithm,
        None,
        mask,
        without,
        from_row,
        memory,
        0,
        threads,
        True,
        None,
    )
    assert verdicts.shape == values.shape == (len(queries), len(searcher))
    for row, recorded in enumerate(verdicts):
        if row not in queries.empty_rows():
            told = np.bincount(recorded, minlength=len(_core.VERDICTS))
            np.testing.assert_array_equal(told, counts[row, :-1])
    return [(rows[begin:end], distances[begin:end]) for begin, end in pairwise(starts)]


def assert_same_hits(found, expected):
    assert len(found) == len(expected)
    for (indices, distances), (others, nearest) in zip(found, expected, strict=True):
        np.testing.assert_array_equal(indices, others)
        np.testing.assert_array_equal(distances, nearest)


def matrix_of(table, queries, bags, cost):
    return _core.distance_matrix(table, queries, documents_of(bags), cost, 0, 1, None)


@given(corpora(), st.data(), st.sampled_from(COSTS), st.sampled_from(EXACT))
@settings(max_examples=60)
def test_several_blocks_equal_one_block(case, data, cost, algorithm):
    table, bags = case
    rows = len(bags)
    cuts = sorted(data.draw(st.lists(st.integers(0, rows), max_size=4)))
    live = np.array(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows)))
    k = data.draw(st.sampled_from([1, 2, None]))
    edges = [0, *cuts, rows]  # blocks may be empty
    blocks = [
        block_of(bags[a:b], live[a:b], data.draw(st.sampled_from([np.float32, np.float64])))
        for a, b in pairwise(edges)
    ]
    for at, block in enumerate(blocks):  # float32 counts must give the same results
        if block[2].dtype == np.float32:
            bags[edges[at] : edges[at + 1]] = bags[edges[at] : edges[at + 1]].astype(np.float32)
    queries = documents_of(bags)
    expected = by_brute_force(matrix_of(table, queries, bags, cost), k, allowed=live)
    searcher = searcher_of(table, cost, blocks)
    assert len(searcher) == rows
    empty = ~bags.any(axis=1) & live
    np.testing.assert_array_equal(searcher.empty_rows(), np.flatnonzero(empty))
    for threads in (1, 3):
        assert_same_hits(
            hits_of(searcher, queries, k=k, algorithm=algorithm, threads=threads), expected
        )
    whole = searcher_of(table, cost, [block_of(bags)])
    masked = hits_of(whole, queries, k=k, algorithm=algorithm, mask=live.astype(np.uint8))
    assert_same_hits(masked, expected)


@given(corpora(), st.data(), st.sampled_from(COSTS), st.sampled_from(EXACT))
@settings(max_examples=60)
def test_column_map_of_any_words(case, data, cost, algorithm):
    """Columns share words, have any order, have no word (-1), and have weights."""
    table, _ = case
    count = data.draw(st.integers(1, 2 * len(table)))
    one_column = st.integers(-1, len(table) - 1)
    words = np.array(data.draw(st.lists(one_column, min_size=count, max_size=count)), np.int32)
    weight = st.sampled_from([0.0, 0.25, 1.0, 3.0])
    weights = np.array(data.draw(st.lists(weight, min_size=count, max_size=count)))
    seed = data.draw(st.integers(0, 2**32 - 1))
    counts = np.random.default_rng(seed).integers(0, 3, size=(8, count)).astype(float)
    bags = np.zeros((8, len(table)))
    for column, word in enumerate(words):
        if word >= 0:
            bags[:, word] += counts[:, column] * weights[column]
    queries = documents_of(np.vstack([bags, np.eye(len(table))]))
    expected = by_brute_force(matrix_of(table, queries, bags, cost), 3)
    searcher = searcher_of(table, cost, [block_of(counts)], count, words, weights)
    assert_same_hits(hits_of(searcher, queries, k=3, algorithm=algorithm), expected)


@pytest.mark.parametrize("algorithm", EXACT)
def test_equal_documents_have_distance_zero_despite_rounding(algorithm):
    """4/6 - 3/6 is less than 1/6 in floating point, but the distance must be 0."""
    table = -np.ones((3, 2), np.float32)
    words = np.array([0, 0, 1], np.int32)
    weights = np.array([3.0, 1.0, 1.0])
    counts = np.array([[1.0, 0, 0], [0, 2, 2], [1, 1, 2], [2, 0, 2]])
    bags = np.array([[3.0, 0, 0], [2, 2, 0], [4, 2, 0], [6, 2, 0]])
    searcher = searcher_of(table, "euclidean", [block_of(counts)], 3, words, weights)
    ((indices, distances),) = hits_of(searcher, documents_of(bags[2:3]), k=3, algorithm=algorithm)
    np.testing.assert_array_equal(indices, [0, 1, 2])
    np.testing.assert_array_equal(distances, 0)


@pytest.mark.parametrize("algorithm", [*EXACT, "rwmd", "wcd"])
def test_columns_of_one_word_equal_a_single_column_bit_by_bit(rng, algorithm):
    """Rounded products can differ from the product of the sum; in an index, words share rows."""
    table = rng.normal(size=(30, 5)).astype(np.float32)
    words = rng.integers(0, 30, 90).astype(np.int32)
    weights = rng.random(30)
    counts = rng.integers(0, 4, size=(40, 90)).astype(float)
    bags = np.zeros((40, 30))
    np.add.at(bags.T, words, counts.T)
    queries = documents_of(bags * weights)
    whole = searcher_of(table, "euclidean", [block_of(bags)], weights=weights)
    searcher = searcher_of(table, "euclidean", [block_of(counts)], 90, words, weights[words])
    found = hits_of(searcher, queries, k=40, algorithm=algorithm)
    assert_same_hits(found, hits_of(whole, queries, k=40, algorithm=algorithm))


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("algorithm", EXACT)
def test_queries_can_have_their_own_points(rng, cost, algorithm):
    """A word beyond the table is a point; the same point twice is two words."""
    table, bags = random_corpus(rng, 40, 50, dimension=6)
    points = rng.normal(size=(7, 6)).astype(np.float32)
    points[3] = table[4]  # equals the vector of a word
    both = np.vstack([table, points])
    if cost == "cosine":
        both = (both / np.linalg.norm(both, axis=1, keepdims=True)).astype(np.float32)
        table, points = both[:50].copy(), both[50:].copy()
    asked = np.zeros((5, 57))
    asked[:, 50:] = rng.integers(0, 3, size=(5, 7))
    asked[0, 50] = asked[1, 56] = asked[2, 53] = 1
    asked[3, :10] = 1
    asked[4] = 0
    asked[4, 2] = 1  # a query without own points
    queries = documents_of(asked)
    wide = np.hstack([bags, np.zeros((40, 7))])
    expected = by_brute_force(matrix_of(both, queries, wide, cost), 6)
    searcher = searcher_of(table, cost, [block_of(bags[:25]), block_of(bags[25:])])
    assert_same_hits(hits_of(searcher, queries, k=6, algorithm=algorithm, points=points), expected)
    with pytest.raises(ValueError, match="words beyond the last vector"):
        hits_of(searcher, queries, k=6, points=points[:2])
    with pytest.raises(ValueError, match="Points must have as many numbers as the vectors"):
        hits_of(searcher, queries, k=6, points=np.ones((7, 5), dtype=np.float32))


@given(corpora(), st.data(), st.sampled_from(EXACT))
@settings(max_examples=40)
def test_excluded_row_and_first_row_per_query(case, data, algorithm):
    table, bags = case
    rows = len(bags)
    queries = documents_of(bags)
    distances = matrix_of(table, queries, bags, "euclidean")
    searcher = searcher_of(table, "euclidean", [block_of(bags)])
    number = st.lists(st.integers(-1, rows - 1), min_size=rows, max_size=rows)
    without = np.array(data.draw(number), dtype=np.int64)
    from_row = np.array(data.draw(number), dtype=np.int64) + 1
    left = distances.copy()
    left[np.arange(rows)[without >= 0], without[without >= 0]] = np.inf
    left[np.arange(rows) < from_row[:, np.newaxis]] = np.inf
    found = hits_of(searcher, queries, k=2, algorithm=algorithm, without=without, from_row=from_row)
    assert_same_hits(found, by_brute_force(left, 2))


@pytest.mark.parametrize("memory", [1, 4096, 1 << 30])
def test_memory_does_not_change_results(rng, memory):
    table, bags = random_corpus(rng, 50, 80)
    queries = documents_of(bags[:9])
    searcher = searcher_of(table, "euclidean", [block_of(bags)])
    expected = by_brute_force(matrix_of(table, queries, bags, "euclidean"), 5)
    assert_same_hits(hits_of(searcher, queries, k=5, memory=memory, threads=2), expected)


@pytest.mark.parametrize("algorithm", EXACT)
@pytest.mark.parametrize("count", [1e-45, 1.05e-45, 2.2e-45, 1e-42, 1e-320])
def test_counts_rounded_up_to_float32(algorithm, count):
    """Tiny counts are rounded to float32 steps or 0, while large weights compensate for them.

    Issue 6: bounds summed in float32 excluded the nearest document, document 0.
    """
    table = np.array([[0, 1], [1, 1], [1.02, 1], [3, 1]], dtype=np.float32)
    bags = np.zeros((3, 4))
    bags[0, 1], bags[1, 2], bags[2, 1:3] = count, 1, count
    weights = np.full(4, 1e10)
    queries = documents_of(np.eye(4)[:1])
    expected = by_brute_force(matrix_of(table, queries, bags * weights, "euclidean"), 1)
    assert expected[0][0].tolist() == [0]
    searcher = searcher_of(table, "euclidean", [block_of(bags)], weights=weights)
    assert_same_hits(hits_of(searcher, queries, k=1, algorithm=algorithm), expected)


@pytest.mark.parametrize("algorithm", EXACT)
def test_many_tiny_counts(rng, algorithm):
    table = rng.normal(size=(400, 8)).astype(np.float32)
    bags = (rng.random((20, 400)) < 0.9).astype(float)
    bags[:10] *= 1.05e-45
    queries = documents_of(np.arange(400)[np.newaxis] < 5)
    expected = by_brute_force(matrix_of(table, queries, bags, "euclidean"), 10)
    searcher = searcher_of(table, "euclidean", [block_of(bags)])
    assert_same_hits(hits_of(searcher, queries, k=10, algorithm=algorithm), expected)


@pytest.mark.parametrize("start", [2**40, -(2**40)])
def test_documents_with_a_row_start_outside_of_the_entries_raise(start):
    starts, words = np.array([0, start, 2]), np.arange(2, dtype=np.int32)
    with pytest.raises(ValueError, match="indptr must not decrease; it does after row"):
        _core.Documents(starts, words, np.ones(2), 2)


def test_invalid_blocks_raise():
    table = np.eye(3, dtype=np.float32)
    indptr, columns, counts, _ = block_of(np.eye(3))
    for blocks, message in (
        ([(indptr[1:], columns, counts, None)], "indptr of block 0 must start at 0"),
        ([(indptr, columns[1:], counts, None)], "There must be a count for each column"),
        ([(indptr[[0, 2, 1, 3]], columns, counts, None)], "must not decrease"),
        ([(indptr, columns + 1, counts, None)], "at least 0 and below 3; row 2 of block 0 has 3"),
        ([(indptr, columns, -counts, None)], "finite and not negative; row 0 of block 0"),
        ([(indptr, columns, counts * np.nan, None)], "finite and not negative"),
        ([(indptr, columns, counts, np.ones(2, np.uint8))], "a value for each row"),
        ([(indptr, columns, counts)], "A block must be"),
        ([(indptr, columns, counts.astype(np.int64), None)], "float32 or float64"),
    ):
        with pytest.raises(ValueError, match=message):
            searcher_of(table, "euclidean", blocks)
    good = [block_of(np.eye(3))]
    for arguments, message in (
        ((4,), "a vector for each of the 4 columns; got 3"),
        ((3, np.array([0, 1, 3], np.int32)), "rows of the vectors or -1; got 3"),
        ((3, np.array([0, 1], np.int32)), "a value for each of the 3 columns; got 2"),
        ((3, None, np.ones(2)), "a weight for each of the 3 columns; got 2"),
        ((3, None, np.array([1, -1, 1.0])), "finite and not negative"),
    ):
        with pytest.raises(ValueError, match=message):
            searcher_of(table, "euclidean", good, *arguments)
    searcher = searcher_of(table, "euclidean", good)
    queries = documents_of(np.eye(3))
    for arguments, message in (
        ({"mask": np.ones(2, np.uint8)}, "mask must have 3 values; got 2"),
        ({"without": np.zeros(1, np.int64)}, "without must have 3 values; got 1"),
        ({"algorithm": "tree"}, "algorithm must be 'auto'"),
    ):
        with pytest.raises(ValueError, match=message):
            hits_of(searcher, queries, **arguments)
