"""Comparison of two checkouts: alternating runs, and the ratio of medians."""

import json
from pathlib import Path

import pytest

from support import load_script


@pytest.fixture(scope="module")
def budgets():
    return load_script("benchmarks/budgets.py")


class FixedTree:
    """Tree whose calls always take the same time."""

    def __init__(self, seconds, asked):
        self.seconds, self.asked = seconds, asked

    def measure(self, name, loops):
        self.asked.append((self.seconds, name, loops))
        return self.seconds


def test_trees_take_turns_in_alternating_order(budgets):
    asked = []
    new, old = FixedTree(0.02, asked), FixedTree(0.01, asked)
    found = list(budgets.rounds_of(new, old, ["a"], 2))
    assert found == [("a", 0.02, 0.01)] * 2
    order = [(0.02, 1), (0.01, 1), (0.01, 10), (0.02, 10), (0.02, 10), (0.01, 10)]
    assert [(seconds, loops) for seconds, _, loops in asked] == order


def test_summary_has_the_ratio_of_medians_and_quartiles_of_rounds(budgets):
    found = budgets.summary([(2.0, 1.0), (3.0, 2.0), (4.0, 1.0)])
    assert found == {"new": 3.0, "old": 1.0, "ratio": 3.0, "low": 1.75, "high": 3.0}
    assert budgets.summary([(2.0, 1.0)])["low"] == 2.0
    row = budgets.table({"a call": found})[-1]
    assert row == "| a call | 3000 | 1000 | 3.000 | 1.750 to 3.000 |"


def test_either_uses_the_first_supported_spelling(budgets):
    def search(query, *, ranking):
        return query + ranking

    call = budgets.either(lambda: search("a", by="b"), lambda: search("a", ranking="b"))
    assert call() == "ab"


def test_worker_measures_the_requested_call(budgets, monkeypatch, capsys):
    made = []
    workload = {"small": lambda folder: made.append(Path(folder).is_dir()) or (lambda: None)}
    monkeypatch.setattr(budgets, "WORKLOADS", workload)
    monkeypatch.setattr("sys.stdin", [json.dumps(["small", 2]), json.dumps(["small", 1])])
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", budgets.sys.stdout)
        budgets.work()
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert made == [True]
    assert first >= 0
    assert second >= 0


def test_folder_without_the_package_is_an_error(budgets, tmp_path):
    with pytest.raises(SystemExit, match="must be a folder with the package textkin"):
        budgets.Tree(tmp_path)
