"""Tests of the models' `device` parameter: equal answers, errors, and saving."""

import json
import sys

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from textkin.models import (
    PLSA,
    WTMF,
    DiagonalGaussianMixture,
    VonMisesFisherMixture,
    load_estimator,
)


@pytest.mark.slow  # tests/models/test_contract.py runs the same on arrays
@parametrize_with_checks(
    [
        DiagonalGaussianMixture(2, random_state=0, device="cpu"),
        VonMisesFisherMixture(2, random_state=0, device="cpu"),
        PLSA(2, random_state=0, device="cpu"),
        WTMF(2, regularization=0.01, random_state=0, device="cpu"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def rows(dtype=np.float64, n_rows=300):
    rng = np.random.default_rng(0)
    centres = 4 * rng.normal(size=(4, 5))
    values = centres[rng.integers(4, size=n_rows)] + rng.normal(size=(n_rows, 5))
    return values.astype(dtype)


@pytest.mark.parametrize(("dtype", "close"), [(np.float64, 1e-9), (np.float32, 1e-4)])
@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("kind", [DiagonalGaussianMixture, VonMisesFisherMixture])
def test_mixtures_equal_core(kind, hard, dtype, close, device):
    values, weights = rows(dtype), np.linspace(1, 2, 300)
    model = kind(4, hard=hard, random_state=0)
    here = model.fit(values, sample_weight=weights)
    there = clone(model).set_params(device=device).fit(values, sample_weight=weights)
    assert there.n_iter_ == here.n_iter_
    assert_allclose(there.means_, here.means_, rtol=0, atol=close * np.abs(values).max())
    assert_allclose(there.weights_, here.weights_, rtol=0, atol=close)
    assert_allclose(there.log_likelihoods_, here.log_likelihoods_, rtol=close)
    assert_array_equal(there.predict(values), here.predict(values))


def test_empty_component_is_moved_to_the_worst_row(device):
    values = np.concatenate([rows(), [[90.0] * 5]])
    means = np.stack([values[:300].mean(axis=0), np.full(5, 1e3)])
    model = DiagonalGaussianMixture(2, means_init=means, max_iter=30)
    here = clone(model).fit(values)
    there = model.set_params(device=device).fit(values)
    assert there.n_reseeded_ == here.n_reseeded_ > 0
    assert_allclose(there.means_, here.means_, atol=1e-8)


def test_constant_column_is_recognized_for_many_rows(device):
    """The rounded mean of many equal numbers must not look like variance."""
    values = np.random.default_rng(0).normal(size=(20_000, 3))
    values[:, 1] = 0.1
    model = DiagonalGaussianMixture(1, max_iter=5, random_state=0)
    there = clone(model).set_params(device=device).fit(values)
    assert_allclose(there.covariances_, model.fit(values).covariances_, rtol=1e-9)


def test_more_components_than_rows_raise():
    with pytest.raises(ValueError, match="n_components must be at most the number of rows"):
        DiagonalGaussianMixture(5, device="cpu").fit(rows(n_rows=3))


def bags(dtype=np.float64):
    found = sparse.random(60, 40, 0.2, random_state=0, format="csr")
    found.data = np.ceil(5 * found.data)
    return sparse.csr_array(found, dtype=dtype)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"topic_word_prior": 1.2, "doc_topic_prior": 1.1},
        {"tempered": True, "doc_topic_prior": 1.1},
        {"n_init": 2},
    ],
)
def test_plsa_equals_core(settings, device):
    model = PLSA(4, random_state=0, tol=1e-3, **settings)
    here = clone(model).fit(bags())
    there = model.set_params(device=device).fit(bags())
    assert there.n_iter_ == here.n_iter_
    assert there.inverse_temperature_ == here.inverse_temperature_
    for name in ("components_", "document_topics_", "topic_weights_"):
        assert_allclose(getattr(there, name), getattr(here, name), rtol=0, atol=1e-10)
    for name in ("log_likelihoods_", "objectives_", "held_out_log_likelihoods_"):
        assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-10)


@pytest.mark.parametrize("settings", [{}, {"orthogonality": 1e-2}, {"tol": 1e-2, "max_iter": 99}])
def test_wtmf_equals_core(settings, device):
    model = WTMF(4, regularization=0.5, random_state=0, **settings)
    here = clone(model).fit(bags())
    there = model.set_params(device=device).fit(bags())
    assert there.n_iter_ == here.n_iter_
    assert_allclose(there.components_, here.components_, rtol=0, atol=1e-9)
    assert_allclose(there.objectives_, here.objectives_, rtol=1e-10)
    assert_allclose(there.transform(bags()), here.transform(bags()), rtol=0, atol=1e-9)


def test_systems_beyond_float_range_raise():
    with pytest.raises(ValueError, match="have no finite solution"):
        WTMF(2, regularization=1e-300, missing_weight=0.0, device="cpu").fit([[1e200, 1.0]])


@pytest.mark.parametrize(
    "model",
    [PLSA(2, random_state=0, device="cpu"), WTMF(2, regularization=0.1, device="cpu")],
)
def test_device_of_bag_models_is_not_saved(model, tmp_path):
    model.fit(bags()).save(tmp_path / "model")
    loaded = load_estimator(tmp_path / "model")
    assert loaded.device is None
    assert_allclose(loaded.transform(bags()), model.transform(bags()))


def test_device_of_mixtures_is_not_saved(tmp_path):
    model = DiagonalGaussianMixture(3, random_state=0, device="cpu").fit(rows())
    assert clone(model).device == "cpu"
    model.save(tmp_path / "model")
    assert load_estimator(tmp_path / "model").device is None
    written = json.loads(next((tmp_path / "model").glob("*.json")).read_text())
    assert "device" not in json.dumps(written)


@pytest.mark.parametrize("device", ["gpu", "cuda:x", "cpu:1", ""])
def test_invalid_device_raises(device):
    with pytest.raises(ValueError, match=r"device must be None, 'cpu', 'cuda' or one of"):
        DiagonalGaussianMixture(2, device=device).fit(rows())
    with pytest.raises(TypeError, match="device must be None"):
        DiagonalGaussianMixture(2, device=0).fit(rows())


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_missing_gpu_raises():
    with pytest.raises(RuntimeError, match=r"got 'cuda', and torch .* finds 0 CUDA devices"):
        VonMisesFisherMixture(2, device="cuda").fit(rows())


def test_missing_torch_raises(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"device='cpu' requires torch: pip install 'textkin\[to"):
        DiagonalGaussianMixture(2, device="cpu").fit(rows())
    DiagonalGaussianMixture(2, random_state=0).fit(rows())


def test_too_little_memory_raises(monkeypatch):
    monkeypatch.setattr("textkin.models.mixture._em_torch.memory_of", lambda *_: 500)
    with pytest.raises(ValueError, match=r"memory must be at least .* \(device=None\)"):
        DiagonalGaussianMixture(2, device="cpu").fit(rows())


def test_too_few_iterations_warn():
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 steps"):
        DiagonalGaussianMixture(4, max_iter=1, tol=0, random_state=0, device="cpu").fit(rows())
