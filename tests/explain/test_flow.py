"""Flows: contributions sum to the score; lines show the largest first and sum up the rest."""

import pytest

from textkin.explain import Flow, Move, flow_lines


@pytest.fixture
def flow():
    moves = [Move("a", "x", 0.5, 1.0), Move("b", "y", 0.25, 4.0), Move("c", "z", 0.25, 0.0)]
    return Flow.of(moves, sources=[("a", 0.5)], targets=[("x", 0.5)])


def test_the_largest_contribution_comes_first(flow):
    assert [move.source for move in flow.moves] == ["b", "a", "c"]
    assert flow.score == 1.5
    assert [flow.share(move) for move in flow.moves] == [
        pytest.approx(2 / 3),
        pytest.approx(1 / 3),
        0,
    ]


def test_equal_contributions_come_by_mass_then_in_order():
    moves = [Move("a", "x", 0.2, 0), Move("b", "x", 0.5, 0), Move("c", "x", 0.2, 0)]
    flow = Flow.of(moves, sources=[], targets=[])
    assert [move.source for move in flow.moves] == ["b", "a", "c"]
    assert flow.share(moves[0]) == 0  # a score of 0 has no shares


def test_lines_sum_up_the_rest(flow):
    lines = flow_lines(flow, limit=1)
    assert len(lines) == 2
    assert lines[0].startswith("b -> y")
    assert lines[1] == "2 smaller moves: 75.0 % of the mass, add 0.5000"


def test_lines_of_nothing():
    assert flow_lines(Flow.of([], sources=[], targets=[])) == []


def test_the_limit_is_checked(flow):
    with pytest.raises(ValueError, match="limit must be a whole number at least 1; got 0"):
        flow_lines(flow, limit=0)
