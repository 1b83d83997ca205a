"""Experiment on sentence pairs, on tiny data, and the training data of its models."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from papers.cells import Cell, Keeper, Outcome, Shared, Task
from papers.experiments import experiment
from papers.experiments import sts as sts
from papers.experiments.sts import models as models
from papers.experiments.sts import models as regression
from papers.experiments.sts import sentences as features
from papers.experiments.sts import sentences as texts
from papers.experiments.sts.report import LEARNT, findings
from papers.report import write_results
from papers.results import Results
from papers.runner import run_experiment
from textkin.evaluate import PairData

DATASETS = ["sts2012-test", "li06-30"]


@pytest.fixture(scope="module")
def found(tiny_data, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    results = run_experiment(
        sts.EXPERIMENT, tiny_data, out, datasets=DATASETS, quick=True, n_jobs=1
    )
    return results, write_results(sts.EXPERIMENT, results, out)


@pytest.fixture
def task(tiny_data, tmp_path):
    key = {"experiment": "test", "dataset": "sts2012-test"}
    cell = Cell("sts2012-test", "m")
    return Task(cell, tiny_data, False, 1, Shared(), Keeper(tmp_path), key)


def test_every_method_has_correlations(found):
    results, _ = found
    assert {cell.missing for cell in results.cells} == {""}
    assert len(results.cells) == len(DATASETS) * len(sts.EXPERIMENT.methods)
    for cell in results.cells:
        names = ("ALL", "ALLnrm", "Mean") if cell.dataset == DATASETS[0] else ("Pearson",)
        for name in names:
            assert -1 <= cell.values[name] <= 1, cell


def test_shared_words_follow_the_gold_scores_of_the_tiny_pairs(found):
    results, _ = found
    for method in ("surface words", "tf-idf, lemmas", "WMD, nBOW", "regression, known sets"):
        assert results.mean(method, "sts2012-test", "Mean") > 0.8, method


def test_report_has_tables_of_tests_poolings_and_changes(found):
    results, (page, _, figure) = found
    text = page.read_text()
    assert "**STS 2012**" in text
    assert "**LI06, 30 pairs**" in text
    assert "| *– Guo and Diab* | *.411* | *.835* | *.513* | *.727* | *.438* | *.695* |" in text
    assert "| *– the task* |  |  |  |  |  | *.310* |" in text  # the paper has no number for it
    assert "| uSIF, less 5 |" in text
    assert "| w_m = 0.003 |" in text
    assert "ALL of WTMF 0.69 or more" in text
    assert figure.name == "sts-quick-correlations.svg"
    wtmf = results.values("WTMF", "sts2012-test")[0]
    assert wtmf["starts"] == 2
    assert f"WTMF ({wtmf['chosen']})" in text


def test_fitted_model_is_reused_for_every_test(task, tiny_data, tmp_path):
    """Fitted for one test, and loaded for another test in another run."""
    settings = models.Settings(models.CHOOSING, 3, regularization=0.5, max_iter=2)
    first = models.scored_by_wtmf(task, settings, 0)
    key = {"experiment": "test", "dataset": "li06-30"}
    other = Task(Cell("li06-30", "n"), tiny_data, False, 1, Shared(), Keeper(tmp_path), key)
    again = models.scored(other, "WTMF", None, start=0, **models.asdict(settings))
    assert_array_equal(again["li06-30"], first["li06-30"])


def test_corpora_match_the_paper(tiny_data):
    def read(name, **options):
        return texts.read_corpus(tiny_data, name, **options)

    whole, bare = (read("wordnet", target_words=t, examples=t) for t in (True, False))
    assert whole[0].strip() == f"cat {bare[0]}"
    assert len(read("sts-train")) == 72
    assert len(read("brown", most=7)) == 7
    with pytest.raises(ValueError, match="one of wordnet, gcide, brown, sts-train; got 'x'"):
        read("x")


def test_only_some_parts_of_speech_are_trained_on(tmp_path):
    import gzip

    path = tmp_path / "text" / "gcide_definitions.tsv.gz"
    path.parent.mkdir()
    lines = ["headword\tpos\tdefinition", "Cat\tn.\tan animal", "By\tprep.\tnear"]
    lines.append("Bark\tv. t.\tto cry")
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    assert texts.read_corpus(tmp_path, "gcide") == ["Cat an animal", "Bark to cry"]


def test_settings_are_chosen_without_the_training_sentences(task):
    whole, choosing = (models.corpus_of(task, r) for r in (models.MAIN, models.CHOOSING))
    assert whole.counts.shape[0] - choosing.counts.shape[0] == 72


def test_changes_differ_in_one_ingredient():
    changes = {
        name: method.settings
        for name, method in sts.EXPERIMENT.methods.items()
        if name.startswith("change: ")
    }
    assert changes.pop("change: none") == {"recipe": {}, "settings": {}}
    for name, settings in changes.items():
        assert len(settings["recipe"]) + len(settings["settings"]) == 1, name


def test_negative_weight_becomes_an_observed_zero():
    """The paper's idf of a word in every text is negative."""
    corpus = models.Corpus(["a b", "a c", "a b"], models.Recipe(words=None, min_count=1))
    assert corpus.weights.nnz == 6
    assert corpus.weights.toarray()[:, 0].tolist() == [0, 0, 0]
    assert corpus.idf == {"a": 0.0, "b": 0.0, "c": pytest.approx(np.log(1.5))}


def test_cosines_of_vectors_and_bags_agree():
    rows = np.array([[1.0, 2, 0], [0, 0, 0], [3, 0, 4]])
    others = np.array([[2.0, 1, 0], [1, 1, 1], [3, 0, 4]])
    assert models.cosines(rows, others) == pytest.approx([0.8, 0, 1])
    assert models.bag_cosines(*map(sparse.csr_array, (rows, others))) == pytest.approx([0.8, 0, 1])


def test_features_match_hand_calculation_and_are_symmetric():
    pairs = PairData(
        ["Prices rose 5 percent in Paris", "a cat", ""],
        ["In Paris prices rose 7 percent", "the cats sleep", ""],
        [3, 2, 0],
    )
    found = features.aligned(pairs, {"cat": 3.0, "a": 1.0, "the": 1.0, "sleep": 2.0}, 1)
    expected = {
        "lemmas shared": [5 / 7, 1 / 4, 1],
        "stems shared": [5 / 7, 1 / 4, 1],
        "lemmas covered, less": [5 / 6, 3 / 6, 0],
        "lemmas covered, more": [5 / 6, 3 / 4, 0],
        "longest run": [2 / 6, 0, 0],
        "lengths": [1, 2 / 3, 1],
        "numbers": [0, 1, 1],
        "names": [1, 1, 1],
    }
    for name, numbers in expected.items():
        assert_allclose(found[name], numbers, err_msg=name)
    assert found["WMD"][2] == -(2**0.5)  # no words: like unit vectors with a cosine of 0
    assert (found["RWMD, farther side"] >= found["WMD"]).all()
    assert (found["RWMD, nearer side"] >= found["RWMD, farther side"]).all()
    turned = features.aligned(PairData(pairs.second, pairs.first, pairs.gold), {"cat": 3.0}, 1)
    again = features.aligned(pairs, {"cat": 3.0}, 1)
    for name, numbers in turned.items():
        assert_allclose(numbers, again[name], rtol=1e-12, err_msg=name)


def test_differences_between_sets_are_not_learned():
    """One set has high scores and low features; within both, features and scores rise together."""
    rows = np.array([[0.0], [1], [2], [10], [11], [12]])
    pairs = PairData(list("abcdef"), list("abcdef"), [8, 9, 10, 0, 1, 2], list("xxxyyy"))
    every, new = np.arange(6), np.array([[3.0], [4]])
    near = regression.predicted({"kind": "within", "alpha": 1e-9}, rows, pairs, every, new)
    assert_allclose(near[1] - near[0], 1)
    far = regression.predicted({"kind": "ridge", "alpha": 1e-9}, rows, pairs, every, new)
    assert far[1] < far[0]
    turned = PairData(pairs.first, pairs.second, pairs.gold[::-1], pairs.sets)
    flat = regression.predicted({"kind": "within", "alpha": 1.0}, rows, turned, every, new)
    assert_allclose(flat, 5)  # a negative weight counts as 0


def test_every_training_pair_is_scored_once():
    pairs = PairData(["a"] * 15, ["b"] * 15, np.arange(15), ["x", "y", "z"] * 5)
    for way in ("folds", "sets"):
        parts = list(regression._parts(pairs, way))
        assert sorted(np.concatenate([ask for _, ask in parts])) == list(range(15))
        for learn, ask in parts:
            assert not set(learn) & set(ask)
            asked = {pairs.sets[row] for row in ask}
            assert len(asked) == (3 if way == "folds" else 1)


def test_repeated_pairs_and_definitions_are_counted(task):
    assert texts.repeated(task, "sts2012-train")["in training"] == 36
    counts = texts.repeated(task, "sts2012-test")
    assert (counts["pairs"], counts["in training"], counts["WordNet, OnWN"]) == (60, 0, 0)


@pytest.mark.parametrize("chosen", ["within, alpha = 10", "ridge, alpha = 10"])
def test_report_of_gains_uses_the_chosen_method(chosen):
    def of(method, test, mean):
        values = {"ALL": mean, "ALLnrm": mean, "Mean": mean, "chosen": chosen}
        return Outcome(test, method, 0, values)

    cells = [
        of(name, test, mean)
        for test, means in (("sts2012-test", (0.7, 0.6, 0.5)), ("sts2013-test", (0.5, 0.6, 0.4)))
        for name, mean in zip((*LEARNT, "WMD, SIF"), means, strict=True)
    ]
    told = findings(Results("sts", tuple(cells)))
    assert "better in 2012, where most test pairs are of those sets" in told
    assert ("the best choice fits only differences within sets" in told) == chosen.startswith(
        "within"
    )


def test_gain_on_every_set_is_not_a_loss():
    cells = (
        Outcome("sts2012-test", method, 0, {"OnWN": mean + 0.1, "SMTnews": mean, "Mean": mean})
        for method, mean in (("WTMF", 0.6), ("tf-idf, lemmas", 0.5))
    )
    told = findings(Results("sts", tuple(cells)))
    assert "(+0.100) and smallest on STS 2012" in told
    assert "loses" not in told


def test_paper_has_no_lsi():
    means = {"WTMF": 0.6, "LSI": 0.4, "LDA": 0.55}
    cells = (Outcome("sts2012-test", m, 0, {"Mean": mean}) for m, mean in means.items())
    told = findings(Results("sts", tuple(cells)))
    assert "Far below WTMF: LSI .400 (Mean). In Guo and Diab, LDA is below it" in told


def test_baselines_match_published_numbers(shared_data, tmp_path):
    """Published numbers for the same baselines with other tools: ALL, ALLnrm, Mean."""
    rows = ["surface words", "tf-idf"]
    found = run_experiment(
        experiment("sts"), shared_data, tmp_path, methods=rows, datasets=["sts2013-test"]
    )
    for reference in sts.EXPERIMENT.references:
        if reference.name == "unrecorded tools":
            for name in rows:
                theirs = reference.values[name]["sts2013-test"]
                ours = found.mean(name, "sts2013-test", reference.measure)
                assert ours == pytest.approx(theirs, abs=0.005)
