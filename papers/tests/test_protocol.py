"""Protocols, compared with reference implementations."""

import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.protocol import best_of, best_of_trials, held_out, mean_and_error, votes
from textkin.corpus import RankedRows


def slow_vote(labels, k, rule, usual):
    """Vote for one query at a time, as in METHODS 4.2."""
    labels = labels[:k]
    if not labels:
        return usual
    while True:
        counts = Counter(labels)
        best = min(counts, key=lambda label: (-counts[label], label))
        if rule == "majority" or 2 * counts[best] >= len(labels):
            return best
        labels = labels[:-2]


@given(
    st.lists(st.lists(st.integers(0, 9), max_size=9, unique=True), min_size=1, max_size=6),
    st.lists(st.sampled_from("abcd"), min_size=10, max_size=10),
    st.sampled_from(["majority", "fall-back"]),
)
def test_votes_match_one_query_at_a_time(found, labels, rule):
    near = RankedRows.of(
        [(np.array(rows, np.int64), np.arange(len(rows), dtype=float)) for rows in found]
    )
    usual = min(labels, key=lambda label: (-labels.count(label), label))
    made = votes(near, labels, 7, rule=rule)
    for k in range(1, 8):
        slow = [slow_vote([labels[row] for row in rows], k, rule, usual) for rows in found]
        assert made[k].tolist() == slow


def test_fall_back_of_the_paper():
    near = RankedRows.of([(np.arange(5), np.arange(5.0))])
    assert votes(near, list("ABCBA"), 5)[5] == ["A"]
    assert votes(near, list("ABCBB"), 5)[5] == ["B"]


@given(st.lists(st.sampled_from("abc"), min_size=4, max_size=60), st.integers(0, 5))
def test_fifth_of_every_class_is_in_the_validation_split(labels, seed):
    rest, held = held_out(labels, seed=seed)
    assert sorted([*rest, *held]) == list(range(len(labels)))
    assert len(held) >= 1
    for label in set(labels):
        n = labels.count(label)
        assert abs(sum(labels[row] == label for row in held) - n / 5) <= 1
    assert held_out(labels, seed=seed)[1].tolist() == held.tolist()


def test_mean_and_standard_error():
    numbers = [3.0, 4.5, 4.0, 6.0, 2.5]
    mean, error = mean_and_error(numbers)
    assert mean == pytest.approx(np.mean(numbers))
    assert error == pytest.approx(np.std(numbers, ddof=1) / np.sqrt(5))
    assert mean_and_error([2.0]) == (2.0, 0.0)
    with pytest.raises(ValueError, match="at least one number; got none"):
        mean_and_error([])


def test_first_of_equal_settings_is_best():
    assert best_of([3, 1, 2], lambda n: n // 2) == (1, 0)
    assert best_of("ab", lambda _: 1) == ("a", 1)
    with pytest.raises(ValueError, match="at least one setting; got none"):
        best_of([], float)


def test_bayesian_optimization_requires_optuna(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"pip install 'textkin\[evaluate\]'"):
        best_of_trials(lambda settings: 0.0, {"x": (0.0, 1.0)}, 3)


def test_bayesian_optimization_finds_a_minimum():
    pytest.importorskip("optuna")
    ranges = {"x": (-2.0, 2.0), "n": (1, 5), "kind": ["a", "b"]}
    found, least = best_of_trials(lambda s: abs(s["x"]) + s["n"] + (s["kind"] == "a"), ranges, 40)
    assert found["n"] == 1
    assert found["kind"] == "b"
    assert least == pytest.approx(abs(found["x"]) + 1)
