"""Tests of the engine: blocks, column maps, subsets, and options per query."""

import pickle

import numpy as np
import pytest

from search_reference import random_corpus
from textkin.corpus import DocumentRows, VectorTable
from textkin.transport import SearchOptions, TransportEngine, WordMover, _engine


def rows_of(bags, n_columns=None, live=None):
    bags = np.asarray(bags, dtype=np.float64)
    indptr = np.concatenate([[0], np.cumsum((bags != 0).sum(axis=1))]).astype(np.int64)
    indices = np.nonzero(bags)[1].astype(np.int32)
    n_columns = bags.shape[1] if n_columns is None else n_columns
    return DocumentRows(indptr, indices, n_columns, bags[bags != 0], live=live)


@pytest.fixture
def case():
    table, bags = random_corpus(np.random.default_rng(21), 30, 20)
    return VectorTable.of_matrix(table, unit=False), np.asarray(bags)


@pytest.fixture
def engine(case):
    table, bags = case
    return TransportEngine(table, "euclidean", blocks=[rows_of(bags)])


def assert_same(found, expected):
    for name in ("indptr", "rows", "scores"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_engine_equals_word_mover(case, engine):
    table, bags = case
    found = WordMover(table.vectors).fit(bags).search(bags[:4], k=3)
    ranked = engine.search(rows_of(bags[:4]), SearchOptions(k=3))
    np.testing.assert_array_equal(ranked.filled(3)[0], found.indices)
    np.testing.assert_array_equal(ranked.filled(3)[1], found.distances)
    assert len(engine) == len(bags)
    assert ranked.ascending


def test_blocks_and_a_column_map_do_not_change_results(case, engine):
    """Permute the columns and use two blocks, one of which has a deleted document."""
    table, bags = case
    order = np.random.default_rng(0).permutation(bags.shape[1])
    # word of each column; the last column has no vector
    columns = np.append(order, -1).astype(np.int32)
    turned = np.hstack([bags[:, order], np.ones((len(bags), 1))])
    live = np.ones(10, np.uint8)
    live[4] = 0
    stored = TransportEngine(
        table,
        "euclidean",
        blocks=[rows_of(turned[:10], live=live), rows_of(turned[10:])],
        column_map=columns,
    )
    mask = np.ones(len(bags), np.uint8)
    mask[4] = 0
    queries = rows_of(bags[[4, 12]])
    expected = engine.search(queries, SearchOptions(k=5, mask=mask))
    assert_same(stored.search(queries, SearchOptions(k=5)), expected)


def test_column_weights_apply_to_queries(case):
    table, bags = case
    weights = np.random.default_rng(1).random(bags.shape[1])
    engine = TransportEngine(table, "euclidean", weights, [rows_of(bags)])
    meant = TransportEngine(table, "euclidean", blocks=[rows_of(bags * weights)])
    assert engine.rows.weights is weights
    assert_same(
        engine.search(engine.rows[:3], SearchOptions(k=4)),
        meant.search(meant.rows[:3], SearchOptions(k=4)),
    )


def test_radius_per_query_in_batches(engine, monkeypatch):
    radii = np.linspace(0.5, 4, len(engine))
    whole = engine.search(engine.rows, SearchOptions(radii=radii))
    monkeypatch.setattr(_engine, "_BATCH", 7)
    assert_same(engine.search(engine.rows, SearchOptions(radii=radii)), whole)
    for query in range(len(engine)):
        alone = engine.search(
            engine.rows[query : query + 1], SearchOptions(radii=float(radii[query]))
        )
        np.testing.assert_array_equal(alone.rows, whole[query][0])
    with pytest.raises(ValueError, match="one radius for all queries"):
        _ = SearchOptions(radii=radii).radius


def test_subset_of_the_documents_equals_a_mask(engine):
    positions = np.array([3, 11, 5], np.int64)
    part = engine.among(positions)
    mask = np.zeros(len(engine), np.uint8)
    mask[positions] = 1
    rows, distances = part.search(engine.rows[:1], SearchOptions())[0]
    expected = engine.search(engine.rows[:1], SearchOptions(mask=mask))[0]
    np.testing.assert_array_equal(np.sort(positions[rows]), np.sort(expected[0]))
    np.testing.assert_array_equal(distances, expected[1])


@pytest.mark.parametrize("centroids_first", [False, True])
def test_pairs_within_a_radius_equal_the_matrix(engine, centroids_first):
    documents = engine.rows.documents()
    matrix = engine.matrix(documents, documents, "wmd", SearchOptions())
    radius = float(np.median(matrix[np.isfinite(matrix)]))
    after = np.arange(1, len(engine) + 1)
    found = {
        (row, column): distance
        for block in engine.pairs_within(
            engine.rows, SearchOptions(radii=radius), after, centroids_first=centroids_first
        )
        for row, column, distance in zip(
            block.rows.tolist(), block.columns.tolist(), block.distances.tolist(), strict=True
        )
    }
    expected = np.argwhere(np.triu(matrix <= radius, 1))
    assert found == {(i, j): matrix[i, j] for i, j in expected.tolist()}


def test_bounds_of_a_matrix_are_at_most_the_distance(engine):
    rows = engine.rows
    documents = rows.take(np.flatnonzero(~rows.are_empty())).documents()
    distances = engine.matrix(documents, documents, "wmd", SearchOptions())
    for metric in ("rwmd", "rwmd-query", "rwmd-document", "wcd"):
        bounds = engine.matrix(documents, documents, metric, SearchOptions())
        assert (bounds <= distances * (1 + 1e-6) + 1e-9).all()
    paired = engine.paired(documents, documents)
    np.testing.assert_array_equal(paired, np.diag(distances))
    with pytest.raises(ValueError, match="same number of documents"):
        engine.paired(documents, rows[:0].documents())


def test_certificate_of_a_query_is_exact(engine):
    query, options = engine.rows[2:3], SearchOptions(k=3)
    found = engine.search(query, options)[0]
    assert engine.certificate(query, found, options).verify(sample=None).exact


def test_pickled_engine_searches_again(engine):
    expected = engine.search(engine.rows[:2], SearchOptions(k=2))
    copy = pickle.loads(pickle.dumps(engine))
    assert not {"core", "rows"} & set(copy.__dict__)
    assert_same(copy.search(copy.rows[:2], SearchOptions(k=2)), expected)
