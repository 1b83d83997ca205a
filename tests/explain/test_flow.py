"""Flows: contributions sum to the score, the largest come first, the rest is summed up."""

import pytest

from textkin.explain import Flow


@pytest.fixture
def flow():
    return Flow.of(
        sources=[("a", 0.5), ("b", 0.25), ("c", 0.25)],
        targets=[("x", 0.5), ("y", 0.25), ("c", 0.25)],
        moves=[(0, 0, 0.5, 1.0), (1, 1, 0.25, 4.0), (2, 2, 0.25, 0.0)],
    )


def test_the_largest_contribution_comes_first(flow):
    assert [move.source for move in flow.moves] == ["b", "a", "c"]
    assert flow.score == 1.5
    assert [flow.share(move) for move in flow.moves] == pytest.approx([2 / 3, 1 / 3, 0])


def test_equal_contributions_come_by_mass_then_in_order():
    words = [("a", 0.25), ("b", 0.5), ("c", 0.25)]
    flow = Flow.of(words, words, [(0, 0, 0.25, 0), (1, 1, 0.5, 0), (2, 2, 0.25, 0)])
    assert [move.source for move in flow.moves] == ["b", "a", "c"]
    assert flow.share(flow.moves[0]) == 0  # a score of 0 has no shares


def test_the_rest_is_summed_up(flow):
    shown, smaller, free = flow.split(1)
    assert [move.source for move in shown] == ["b"]
    assert (smaller.count, smaller.mass, smaller.contribution) == (1, 0.5, 0.5)
    assert (free.count, free.mass, free.contribution) == (1, 0.25, 0)


def test_a_single_move_is_not_summed_up(flow):
    shown, smaller, free = flow.split(2)
    assert len(shown) == 3
    assert smaller.count == free.count == 0


def test_a_score_that_is_known_better_is_kept():
    flow = Flow.of([("a", 1.0)], [("b", 1.0)], [(0, 0, 1.0, 0.1)], score=0.1000001)
    assert flow.score == 0.1000001


def test_words_that_look_alike_stay_apart():
    """Two tokens may be the same word; positions tell them apart."""
    flow = Flow.of([("a", 0.5), ("a", 0.5)], [("b", 1.0)], [(0, 0, 0.5, 1.0), (1, 0, 0.5, 1.0)])
    assert [move.source_at for move in flow.moves] == [0, 1]
