"""Pooled and Fisher vectors on tensors beside those of the estimators."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from textkin import FisherVector, Pooling
from textkin.device._fisher import fisher_vectors
from textkin.device._pooling import pooled

CPU = torch.device("cpu")
PLENTY, LITTLE = 2**28, 2**18
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(80, 6)).astype(np.float32)


def bags_of(seed=0, n_documents=60, density=0.1, scale=3.0):
    bags = sparse.random(n_documents, 80, density, random_state=seed, format="csr")
    bags.data = scale * bags.data
    bags.data[::9] = 0  # stored, but of no weight
    return sparse.csr_array(bags)


def pool(model, bags, memory):
    space, weights, shape = model._setting()
    read = model._read(bags)[1]
    after = shape.components, shape.component_weights, shape.mean, shape.whitening
    return pooled(
        space.table, read.indptr, read.indices, read.counts, weights, model.combine, after, CPU,
        memory,
    )  # fmt: skip


def encode(model, bags, memory):
    shares, scores = model._prepared()
    space, read = model._read(bags)
    tables = {field.name: getattr(scores, field.name) for field in dataclasses.fields(scores)}
    for name in ("shift", "stretch"):
        del tables[name]
    finish = model._finish()
    return fisher_vectors(
        read.indptr, read.indices, read.counts, scores.points(space.table),
        shares.of(np.arange(len(space))), len(scores.shift), tables, finish.length_power,
        finish.power, finish.unit, CPU, memory,
    )  # fmt: skip


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"combine": "sum"},
        {"combine": "max"},
        {"weights": "sif", "remove_components": 2},
        {"weights": "usif", "remove_components": 3, "whiten": 4},
        {"whiten": True},
    ],
)
def test_pooled_documents_are_those_of_the_estimator(settings, memory):
    bags = bags_of()
    model = Pooling(TABLE, **settings).fit(bags)
    expected = model.transform(bags)
    # Both in float64, and rounded to float32 in the end.
    assert_allclose(pool(model, bags, memory), expected, rtol=2e-7, atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    combine=st.sampled_from(["mean", "sum", "max"]),
    density=st.sampled_from([0.0, 0.02, 0.5]),
    scale=st.sampled_from([1e-300, 1.0, 1e30]),
)
def test_pooled_documents_of_any_weights(seed, combine, density, scale):
    bags = bags_of(seed, 7, density, scale if combine != "sum" else 1.0)
    model = Pooling(TABLE, combine=combine)
    expected = model.transform(bags)
    found = pool(model, bags, LITTLE)
    assert_allclose(found, expected, rtol=2e-7, atol=1e-9)
    assert_array_equal(found[model.empty_documents(bags)], 0)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"hard": True, "power": 0.5},
        {"normalisation": "none", "norm": None, "divide_by_length": False},
        {"parts": ("means", "weights"), "normalisation": "diagonal", "power": 0.3},
        {"model": "gmm", "parts": ("means", "variances", "weights")},
        {"model": "gmm", "parts": ("variances",), "norm": None},
        {"parts": ("weights",), "norm": None, "divide_by_length": False},
    ],
)
def test_fisher_vectors_are_those_of_the_estimator(settings, memory):
    bags = bags_of()
    model = FisherVector(TABLE, 4, random_state=0, **settings).fit(bags)
    expected = model.transform(bags)
    found, fits = encode(model, bags, memory)
    assert fits
    # Words are summed up in float32, in another order. A power below 1 makes more of small errors,
    # variances are differences of squares.
    close = 1e-3 if "power" in settings else 3e-5 if "model" in settings else 3e-6
    assert_allclose(found, expected, atol=close * np.abs(expected).max())


def test_vectors_that_do_not_fit_are_told():
    bags = bags_of(scale=1e38)
    model = FisherVector(TABLE, 4, random_state=0, norm=None, normalisation="none")
    model.set_params(divide_by_length=False).fit(bags_of())
    with pytest.raises(ValueError, match="too large for float32"):
        model.transform(bags)
    assert not encode(model, bags, PLENTY)[1]


def test_no_documents():
    model = Pooling(TABLE)
    assert pool(model, bags_of()[:0], PLENTY).shape == (0, 6)


def test_too_little_memory():
    bags = bags_of()
    with pytest.raises(ValueError, match=r"memory must be at least .* over 80 vectors of 6 dim"):
        pool(Pooling(TABLE), bags, 5000)
    model = FisherVector(TABLE, 4, random_state=0).fit(bags)
    with pytest.raises(ValueError, match=r"memory must be at least .* Fisher vectors of 24 numb"):
        encode(model, bags, 5000)
