"""Rankings of several queries: shapes, batches, and matrices of one width."""

import pickle

import numpy as np
import pytest

from textkin.corpus import RankedRows


def ranked_rows(rankings, **others):
    """Return rankings from lists of (row, score)."""
    lengths = [len(one) for one in rankings]
    pairs = [pair for one in rankings for pair in one]
    return RankedRows(
        np.cumsum([0, *lengths]),
        np.array([row for row, _ in pairs], np.int64),
        np.array([score for _, score in pairs]),
        **others,
    )


def lists_of(found):
    return [list(zip(rows.tolist(), scores.tolist(), strict=True)) for rows, scores in found]


RANKINGS = [[(4, 0.5), (1, 1.5)], [], [(0, 2.0)]]


@pytest.mark.parametrize(
    ("indptr", "n_rows", "n_scores"), [([0, 2], 2, 1), ([0, 3], 2, 2), ([], 0, 0)]
)
def test_inconsistent_shapes_raise(indptr, n_rows, n_scores):
    with pytest.raises(ValueError, match="arrays of a CSR matrix"):
        RankedRows(np.array(indptr, np.int64), np.zeros(n_rows, np.int64), np.zeros(n_scores))


def test_stats_of_wrong_length_raise():
    assert ranked_rows(RANKINGS, stats={"solved": np.arange(3)}).stats["solved"].tolist() == [
        0,
        1,
        2,
    ]
    with pytest.raises(ValueError, match="each of the 3 queries; solved has 2"):
        ranked_rows(RANKINGS, stats={"solved": np.arange(2)})


def test_rankings_are_split_by_query():
    found = ranked_rows(RANKINGS)
    assert len(found) == 3
    assert lists_of(found) == RANKINGS
    one = ranked_rows(RANKINGS, stats={"n": np.arange(3)}, notes=("note",)).of_query(2)
    assert lists_of(one) == RANKINGS[2:]
    assert one.stats["n"].tolist() == [2]
    assert one.notes == ("note",)


def test_no_queries_give_empty_arrays():
    found = ranked_rows([])
    assert len(found) == 0
    assert list(found) == []
    assert [part.shape for part in found.filled(3)] == [(0, 3), (0, 3)]


def test_joined_concatenates_batches():
    parts = [ranked_rows(RANKINGS[:1], stats={"n": np.array([7])}, notes=("a",))]
    assert RankedRows.joined(parts) is parts[0]
    parts.append(ranked_rows(RANKINGS[1:], stats={"n": np.array([8, 9])}, notes=("a", "b")))
    whole = RankedRows.joined(parts)
    assert lists_of(whole) == RANKINGS
    assert whole.indptr.dtype == np.int64
    assert whole.stats["n"].tolist() == [7, 8, 9]
    assert whole.notes == ("a", "b")


@pytest.mark.parametrize("query", [0, 1, 2])
def test_with_query_replaces_one_ranking(query):
    found = ranked_rows(RANKINGS, stats={"n": np.arange(3)})
    changed = found.with_query(
        query, ranked_rows([[(9, 0.1), (8, 0.2)]], stats={"n": np.array([5])})
    )
    expected = list(RANKINGS)
    expected[query] = [(9, 0.1), (8, 0.2)]
    assert lists_of(changed) == expected
    assert changed.stats["n"][query] == 5
    assert found.stats["n"].tolist() == [0, 1, 2]


def test_by_position_sorts_rows():
    found = ranked_rows(RANKINGS).by_position()
    assert lists_of(found) == [[(1, 1.5), (4, 0.5)], [], [(0, 2.0)]]


@pytest.mark.parametrize(("ascending", "worst"), [(True, np.inf), (False, -np.inf)])
def test_filled_pads_to_one_width(ascending, worst):
    rows, scores = ranked_rows(RANKINGS, ascending=ascending).filled(2)
    assert rows.tolist() == [[4, 1], [-1, -1], [0, -1]]
    assert scores.tolist() == [[0.5, 1.5], [worst, worst], [2.0, worst]]


def test_pickled_copy_is_equal():
    found = pickle.loads(pickle.dumps(ranked_rows(RANKINGS, stats={"n": np.arange(3)})))
    assert lists_of(found) == RANKINGS
    assert found.stats["n"].tolist() == [0, 1, 2]
