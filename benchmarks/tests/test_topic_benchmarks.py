"""Benchmark of topic models: equal steps. Nothing is timed here."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from threadpoolctl import threadpool_limits

from support import load_script

topic_models = load_script("benchmarks/topic_models.py")


@pytest.fixture
def bags():
    rng = np.random.default_rng(0)
    return sparse.csr_array(rng.poisson(0.3, (60, 50)).astype(np.float32))


def test_contenders_take_the_same_steps(bags):
    contenders = topic_models.em_contenders(bags)
    last = topic_models.check_equal(contenders)
    assert set(last) == set(contenders) - {"sklearn_kl_nmf"}
    contenders["scipy"] = lambda: 2.0
    with pytest.raises(SystemExit, match=r"scipy: log-likelihood 2\.0"):
        topic_models.check_equal(contenders)


def test_reference_is_an_em_step(bags):
    double = bags.astype(np.float64)
    backend = topic_models.backend_of(double, 1)
    topics, words, likelihood = topic_models.scipy_step(
        double, backend.document_topics(), backend.word_topics().T
    )
    assert topic_models.stepping(backend)() == pytest.approx(likelihood)
    assert_allclose(backend.document_topics(), topics, atol=1e-12)
    assert_allclose(backend.word_topics().T, words, atol=1e-12)


def test_samplers_return_probabilities(bags):
    sweeps, topics = topic_models.gibbs_contenders(bags)
    for name, sweep in sweeps.items():
        sweep()
        assert -10 < topic_models.likelihood_a_word(bags, *topics[name]()) < 0


def test_ratios_are_computed_within_rounds():
    found = topic_models.summary({"wall_seconds": {"textkin": [1, 2, 4], "other": [2, 4, 12]}})
    assert found["wall_seconds"]["times_textkin"]["other"] == 2
    assert found["wall_seconds"]["median"] == {"textkin": 2, "other": 4}
    json.dumps(found)


class TestFactorisation:
    @pytest.fixture
    def factorisation(self):
        return load_script("benchmarks/factorisation.py")

    def test_contenders_solve_the_same_problem(self, factorisation):
        bags = factorisation.random_bags(80, 60, 700)
        assert set(bags.data) == {1}
        with threadpool_limits(1):  # implicit requires it
            contenders = factorisation.contenders_for(bags)
            apart = factorisation.check_equal(contenders)
        assert max(apart["textkin"], apart["textkin_2_threads"]) < 1e-5
        contenders["textkin"].sides.words[:] = 1
        with pytest.raises(SystemExit, match="textkin: factors differ"):
            factorisation.check_equal(contenders)

    def test_run_writes_its_result(self, factorisation, monkeypatch, tmp_path):
        result = tmp_path / "factorisation.json"
        sizes = ["--documents", "3000", "--words", "80", "--entries", "9000", "--rounds", "1"]
        monkeypatch.setattr("sys.argv", ["factorisation.py", *sizes, "--out", str(result)])
        factorisation.main()
        found = json.loads(result.read_text())
        assert found["sweep"]["summary"]["wall_seconds"]["times_textkin"]["textkin"] == 1
        assert found["placing"]["sentences_a_second"]["textkin"] > 0
