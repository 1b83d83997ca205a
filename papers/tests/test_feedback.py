"""Experiment ``feedback`` on tiny data, with measures checked by hand."""

import numpy as np
import pytest
from scipy import sparse

from papers.experiments import experiment
from papers.experiments import feedback as rounds
from papers.experiments.feedback import _at, growth
from papers.report import write_results
from papers.runner import run_experiment

SETS = ["med", "lisa grows", "20news grows"]


@pytest.fixture(scope="module")
def found(tiny_data, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    chosen = experiment("feedback")
    results = run_experiment(chosen, tiny_data, out, datasets=SETS, quick=True, n_jobs=1)
    return chosen, results, write_results(chosen, results, out)


def test_every_method_is_measured_on_its_sets(found):
    chosen, results, _ = found
    assert [cell.missing for cell in results.cells] == [""] * len(results.cells)
    assert len(results.cells) == (len(chosen.methods) - 1) + 2
    for cell in results.cells:
        if cell.dataset == "med":
            assert cell.values["queries"] == 4  # the other 2 of 6 have no judgments
            assert 0 < cell.values["before"] <= 100


def test_report_has_both_protocols(found):
    _, _, (page, *_) = found
    text = page.read_text()
    assert "**Average precision in percent, BM25**" in text
    assert "| *– unrecorded tools* | *54.1* |" in text
    assert "**Postings by size of the collection**" in text
    assert "one round of marks raises" in text


@pytest.fixture
def searcher(monkeypatch):
    monkeypatch.setattr(rounds, "SHOWN", 2)
    documents = sparse.csr_array(np.array([[3.0, 0], [2, 0], [1, 1], [0, 4], [0, 1]]))
    return rounds.Searcher(documents, as_scored=True)


def test_shown_documents_keep_their_ranks(searcher):
    lists = searcher.lists(np.array([1.0, 0.0]), np.array([1, 3]))
    first, second = (np.argsort(-lists[f"marked {n}"], kind="stable") for n in (1, 2))
    assert first[:2].tolist() == second[:2].tolist() == [0, 1]
    assert set(second[2:4].tolist()) == {2, 3}


def test_residual_rankings_omit_shown_documents(searcher):
    """Document 2 is relevant, shown, and has the second word; then 3 overtakes 1."""
    query, relevant = np.array([0.0, 1.0]), np.array([2, 3])
    lists = searcher.lists(query, relevant)  # 3 and 2 are shown
    assert np.isinf(lists["residual before"][[2, 3]]).all()
    assert np.isinf(lists["residual after"][[2, 3]]).all()
    # q' = (0, 1) + 0.75 (0.5, 2.5): scores of 0, 1 and 4
    expected = np.array([3 * 0.375, 2 * 0.375, 1 + 0.75 * 2.5])
    np.testing.assert_allclose(lists["residual after"][[0, 1, 4]], expected)
    measured = rounds.measured(searcher, query[None], [relevant])
    assert measured["residual queries"] == 0
    assert "residual after" not in measured
    measured = rounds.measured(searcher, query[None], [np.array([1, 3])])
    assert measured["residual queries"] == 1
    # before, 4 has score 1, and both 0 and 1 have score 0, in this order
    assert measured["residual before"] == pytest.approx(100 / 3)


def test_documents_are_scaled_to_the_query():
    rows = np.array([[3.0, 4.0], [0.0, 0.0]])
    found = rounds._as_long_as(np.array([0.0, 2]), rows)
    np.testing.assert_allclose(found, [[1.2, 1.6], [0, 0]])


def test_postings_match_hand_count():
    documents = ["cat dog", "cat", "cat bird fish", "horse"]
    row = _at(documents, ["cat fish", "horse unheard"])
    # lists: cat 3, dog 1, bird 1, fish 1, horse 1; the queries read 3 + 1 and 1
    assert row["B"] == 7 / 5
    assert row["Vq"] == 1.5
    assert row["B Vq"] == pytest.approx(1.5 * 7 / 5)
    assert row["D Vq"] == 6
    assert row["postings"] == (4 + 1) / 2
    assert 0 < row["touched"] <= row["postings"]


def test_growth_is_an_exponent():
    assert growth([1, 2, 4, 8], [5, 20, 80, 320]) == pytest.approx(2)
    assert growth([100], [1]) is None
    assert growth([1, 2], [0, 1]) is None
