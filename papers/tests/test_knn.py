"""Experiments on labeled texts, on tiny data."""

import numpy as np
import pytest
from scipy import sparse

from papers.cells import Cell, Keeper, Outcome, Shared, Task
from papers.experiments import experiment
from papers.experiments.knn.report import at_most
from papers.labeled_texts import Part, labelled
from papers.neighbors import Side, found_by, neighbour_error
from papers.report import write_results
from papers.results import Results
from papers.runner import run_experiment
from textkin.corpus import RankedRows


def task_of(data, tmp_path, dataset, split=0, quick=False):
    key = {"experiment": "test", "dataset": dataset}
    return Task(Cell(dataset, "m", split), data, quick, 1, Shared(), Keeper(tmp_path), key)


@pytest.fixture(scope="module")
def found(tiny_data, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    knn = experiment("knn")
    results = run_experiment(
        knn, tiny_data, out, methods=list(knn.methods), datasets=["r8"], quick=True, n_jobs=1
    )
    return knn, results, write_results(knn, results, out)


def test_every_method_has_an_error(found):
    knn, results, _ = found
    assert [cell.missing for cell in results.cells] == [""] * len(knn.methods)
    for cell in results.cells:
        assert 0 <= cell.values["error"] <= 100, cell


def test_every_method_classifies_the_same_documents(found):
    _, results, _ = found
    assert {(cell.values["n_train"], cell.values["n_test"]) for cell in results.cells} == {(30, 15)}
    for name, method in experiment("knn").methods.items():
        assert "most_asked" not in method.settings, name


def test_topics_without_common_words_are_distinguished(found):
    _, results, _ = found
    for method in ("BOW L1/L1", "TF-IDF cosine", "WMD", "naive Bayes", "Rocchio"):
        assert results.mean(method, "r8", "error") == 0, method


def test_report_has_published_rows_with_reasons(found):
    knn, _, (page, record, figure) = found
    text = page.read_text()
    assert "**Quick:" in text
    for name in knn.methods:
        assert f"\n| {name}" in text
    assert "| *– Kusner et al.* | *3.5* |" in text
    assert "WMD with tf-idf weights better" in text
    assert figure.name == "knn-quick-errors.svg"
    assert record.name == "knn-quick.json"


def test_test_documents_do_not_choose_between_ties():
    def cell(method, validation, error):
        return Outcome("r8", method, 0, {"validation_error": validation, "error": error})

    cells = cell("a", 6.0, 1.0), cell("b", 5.0, 4.6), cell("c", 5.0, 2.0)
    aim = at_most("r8", 4.5, ["a", "b", "c"])
    assert aim.check(Results("knn", cells)) == (
        False,
        "4.6 % by b, chosen on validation documents",
    )


def test_set_sizes(tiny_data, tmp_path):
    found = run_experiment(experiment("datasets"), tiny_data, tmp_path, datasets=["r8", "twitter"])
    [values] = found.values("counts", "r8")
    assert (values["train"], values["test"], values["classes"]) == (30, 15, 3)
    assert values["words"] == 30 + 3  # words of its topics, and three that are not stop words
    assert values["repeated in train"] == 1
    assert len(found.values("counts", "twitter")) == 5


def test_duplicates_of_the_real_sets(shared_data, tmp_path):
    """Other authors count 100 of 935, with their own tokenizer."""
    found = run_experiment(experiment("datasets"), shared_data, tmp_path, datasets=["twitter"])
    first = found.values("counts", "twitter")[0]
    assert first["test"] == 935
    assert abs(first["test bags in train"] - 100) <= 2


def test_sets_without_repeated_bags(tiny_data, tmp_path):
    whole = labelled(task_of(tiny_data, tmp_path, "r8"))
    distinct = labelled(task_of(tiny_data, tmp_path, "r8-distinct"))
    assert len(distinct.train) == len(whole.train) - 1
    assert len(distinct.test) == len(whole.test)


def test_splits_are_separate(tiny_data, tmp_path):
    texts = [
        labelled(task_of(tiny_data, tmp_path, "twitter", split)).test.texts for split in range(5)
    ]
    assert len({tuple(part) for part in texts}) == 5


def test_concatenated_parts_are_one_vector(tiny_data, tmp_path):
    rng = np.random.default_rng(0)
    sides = []
    for n in (40, 7):
        bags = sparse.csr_array(rng.poisson(0.4, (n, 9)).astype(np.float32))
        sides.append(Side(Part(["x"] * n, np.zeros(n)), bags))
    dense = {id(side): rng.normal(size=(side.bags.shape[0], 5)) for side in sides}
    task = task_of(tiny_data, tmp_path, "r8")
    parts = found_by(task, *sides, lambda s: [s.bags, dense[id(s)]], "l2")
    whole = found_by(task, *sides, lambda s: [np.hstack([s.bags.toarray(), dense[id(s)]])], "l2")
    assert parts.rows.tolist() == whole.rows.tolist()
    np.testing.assert_allclose(parts.scores, whole.scores)


def test_some_test_documents_are_selected(tiny_data, tmp_path):
    asked = []

    def find(task, learn, ask, settings):
        asked.append((len(learn.part), len(ask.part)))
        for setting in settings:
            yield setting, found_by(task, learn, ask, lambda side: [side.bags], "cosine")

    found = neighbour_error(task_of(tiny_data, tmp_path, "r8"), find, [{"a": 1}], most_asked=4)
    assert asked == [(24, 6), (30, 4)]
    assert found["n_test"] == 4
    assert found["setting"] == {"a": 1}


def test_setting_is_chosen_on_training_documents(tiny_data, tmp_path):
    def find(task, learn, ask, settings):
        for setting in settings:
            near = found_by(task, learn, ask, lambda side: [side.bags], "cosine")
            wrong = RankedRows(near.indptr, near.rows * 0, near.scores)  # all find the first
            yield setting, near if setting["right"] else wrong

    settings = [{"right": False}, {"right": True}]
    found = neighbour_error(task_of(tiny_data, tmp_path, "r8"), find, settings)
    assert found["setting"] == found["setting_majority"] == {"right": True}
    assert found["error"] == found["error_majority"] == 0


def test_settings_are_tuned_on_training_documents(tiny_data, tmp_path):
    asked = []

    def find(task, learn, ask, settings):
        for setting in settings:
            near = found_by(task, learn, ask, lambda side: [side.bags], "cosine")
            wrong = RankedRows(near.indptr, near.rows * 0, near.scores)
            asked.append((len(ask.part), setting))
            yield setting, near if setting["at"] > 5 else wrong

    task = task_of(tiny_data, tmp_path, "r8")
    found = neighbour_error(task, find, [{"by": "x"}], ranges={"at": (1, 10)}, n_trials=12)
    assert len(asked) == 12 + 1  # the validation documents, then the test documents once
    assert {n for n, _ in asked[:12]} == {6}
    assert asked[12] == (15, found["setting"])
    assert found["setting"]["by"] == "x"
    assert found["setting"]["at"] > 5
    assert found["error"] == 0


def test_slow_methods_are_measured_only_where_named(tiny_data, tmp_path):
    knn = experiment("knn")
    optional = [name for name, method in knn.methods.items() if method.optional]
    assert optional == [f"{n}, searched" for n in ("BM25", "LSI", "LDA", "mSDA, blocks", "CCG")]
    results = run_experiment(knn, tiny_data, tmp_path, datasets=["r8"], quick=True, n_jobs=1)
    assert set(results.methods) == set(knn.methods) - set(optional)
    assert ", searched" not in write_results(knn, results, tmp_path)[0].read_text()
