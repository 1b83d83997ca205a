"""The evaluation of retrieval: its measures by hand, and its table from a tiny collection."""

import numpy as np
import pytest

from support import load_script

retrieval = load_script("benchmarks/retrieval.py")


def test_average_precision_of_the_reference():
    """METHODS 19.4: two relevant documents, at ranks 1 and 3."""
    scores = np.array([5.0, 4.0, 3.0, 2.0])
    average, interpolated = retrieval.precisions(scores, frozenset({0, 2}))
    assert average == pytest.approx(0.8333333, abs=5e-8)
    # recall 10 % to 50 % is reached at rank 1 with precision 1, the rest at rank 3 with 2 / 3
    assert interpolated == pytest.approx((5 * 1 + 4 * 2 / 3) / 9)


def test_equal_scores_rank_by_position_and_the_rest_is_cut():
    assert retrieval.precisions(np.zeros(4), frozenset({1}))[0] == 1 / 2
    last = retrieval.precisions(-np.arange(2000.0), frozenset({1500}))
    assert last[0] == 0
    assert last[1] > 0


def test_a_query_has_no_part_in_its_setting():
    good, bad = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    settings = {"a": np.array([good, bad, good, bad]), "b": np.array([bad, good, bad, good])}
    collection = retrieval.Collection("tiny", None, None, [frozenset({0})] * 4)
    found = retrieval.evaluate(lambda _: settings, collection)
    # "a" is perfect for the first half and chosen by it, so it is used where it is bad
    assert found["chosen_on_the_other_half"] == ["b", "a"]
    assert found["average_precision"] == 50


def test_a_tiny_collection_gives_a_table(tiny, capsys):
    scorers = {name: retrieval.SCORERS[name] for name in ("raw tf, cosine", "BM25")}
    rows = retrieval.measure(tiny, scorers)
    assert [row["queries"] for row in rows] == [3] * 6
    assert rows[0]["average_precision"] == 100
    shown = retrieval.table(rows)
    assert "| raw tf, cosine | 100.0 / 100.0 |" in shown
    assert "| *paper: VSM, raw tf* | 44.3 | 29.9 | 17.9 |" in shown
    capsys.readouterr()


def test_the_baseline_is_that_of_the_paper(shared_data):
    """A weak baseline must not make the gain: within 3 points of 44.3, 29.9 and 17.9."""
    for name in retrieval.SETS:
        collection = retrieval.read_collection(shared_data, name)
        found = retrieval.evaluate(retrieval.raw_cosine, collection)
        expected = retrieval.PAPER["VSM, raw tf"][name]
        for measure in ("average_precision", "interpolated_at_nine_levels"):
            assert found[measure] == pytest.approx(expected, abs=3)


def test_the_edits_of_plain_python_are_edits():
    peers = load_script("benchmarks/distances.py")
    assert peers.long_integer_edits(list(b"kitten"), list(b"sitting")) == 3
    assert set(peers.cases(quick=True)) >= {"sparse L1", "dense L2"}
