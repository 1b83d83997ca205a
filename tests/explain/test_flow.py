"""Flows: contributions sum to the score, in descending order; the rest is summed up."""

import re

import pytest

from textkin.explain import Flow


@pytest.fixture
def flow():
    return Flow.of(
        sources=[("a", 0.5), ("b", 0.25), ("c", 0.25)],
        targets=[("x", 0.5), ("y", 0.25), ("c", 0.25)],
        moves=[(0, 0, 0.5, 1.0), (1, 1, 0.25, 4.0), (2, 2, 0.25, 0.0)],
    )


def test_moves_are_sorted_by_contribution(flow):
    assert [move.source for move in flow.moves] == ["b", "a", "c"]
    assert flow.score == 1.5
    assert [flow.share(move) for move in flow.moves] == pytest.approx([2 / 3, 1 / 3, 0])


def test_equal_contributions_are_sorted_by_mass_then_position():
    words = [("a", 0.25), ("b", 0.5), ("c", 0.25)]
    flow = Flow.of(words, words, [(0, 0, 0.25, 0), (1, 1, 0.5, 0), (2, 2, 0.25, 0)])
    assert [move.source for move in flow.moves] == ["b", "a", "c"]
    assert flow.share(flow.moves[0]) == 0  # a score of 0 has no shares


def test_rest_is_summed_up(flow):
    shown, smaller, free = flow.split(1)
    assert [move.source for move in shown] == ["b"]
    assert (smaller.count, smaller.mass, smaller.contribution) == (1, 0.5, 0.5)
    assert (free.count, free.mass, free.contribution) == (1, 0.25, 0)


def test_single_move_is_not_summed_up(flow):
    shown, smaller, free = flow.split(2)
    assert len(shown) == 3
    assert smaller.count == free.count == 0


def test_given_score_is_used():
    flow = Flow.of([("a", 1.0)], [("b", 1.0)], [(0, 0, 1.0, 0.1)], score=0.1000001)
    assert flow.score == 0.1000001


def test_equal_words_stay_separate():
    """Two tokens may be the same word; positions distinguish them."""
    flow = Flow.of([("a", 0.5), ("a", 0.5)], [("b", 1.0)], [(0, 0, 0.5, 1.0), (1, 0, 0.5, 1.0)])
    assert [move.source_at for move in flow.moves] == [0, 1]


def test_flow_without_moves():
    drawn = Flow.of([], [], []).to_svg()
    assert "<desc>Contributions sum to 0.</desc>" in drawn
    assert "no word moves" in drawn


@pytest.mark.parametrize("size", [1e-300, 1e-12, 1e-3, 1.0, 1e5, 1e12, 1e300])
def test_numbers_of_any_size_are_short(size):
    flow = Flow.of([("a", 1.0)], [("b", 0.5), ("c", 0.5)], [(0, 0, 0.5, size), (0, 1, 0.5, size)])
    shown = re.findall(r">([+]?[0-9.e+-]+)<", flow.to_svg())
    assert len(shown) >= 3
    assert max(map(len, shown)) <= 10


def test_long_word_is_truncated_before_its_number():
    lengths = []
    for cost in (0.0, 1.0, 1.234e-9):
        flow = Flow.of([("w" * 100, 1.0)], [("b", 1.0)], [(0, 0, 1.0, cost)])
        (label,) = re.findall(r"\u2068(w+…)\u2069(?= <tspan|</text>)", flow.to_svg())
        lengths.append(len(label))
    assert lengths == [20, 16, 12]


def test_very_long_words_and_moves_without_mass():
    words = [("w" * 10_000, 1.0), ("none", 0.0)]
    flow = Flow.of(words, words, [(0, 0, 1.0, 1.0), (1, 1, 0.0, 1.0)], score=0.0)
    assert len(flow.to_svg()) < 10_000
