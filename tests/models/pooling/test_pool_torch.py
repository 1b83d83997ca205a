"""Pooling on a device compared with the estimator on the CPU."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from textkin import Pooling
from textkin.exceptions import EmptyDocumentError

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.usefixtures("one_torch_thread")

from textkin.models.pooling._pool_torch import pool_on_device  # noqa: E402 (torch may be missing)

CPU = torch.device("cpu")
PLENTY, LITTLE = 2**28, 2**18
RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(80, 6)).astype(np.float32)


def bags_of(seed=0, n_documents=60, density=0.1, scale=3.0):
    bags = sparse.random(n_documents, 80, density, random_state=seed, format="csr")
    bags.data = scale * bags.data
    bags.data[::9] = 0  # stored zeros
    return sparse.csr_array(bags)


def pool(model, bags, memory):
    table, weights, shape = model._fitted_state()
    read = model._read(bags)[1]
    found, filled, fits = pool_on_device(
        table.vectors,
        read.indptr,
        read.indices,
        read.counts,
        weights,
        model.combine,
        shape.tables,
        CPU,
        memory,
    )
    assert fits.all()
    assert_array_equal(np.flatnonzero(~filled), model.empty_documents(bags))
    return found


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"combine": "sum"},
        {"combine": "max"},
        {"word_weights": "sif", "remove_components": 2},
        {"word_weights": "usif", "remove_components": 3, "whiten": 4},
        {"whiten": True},
    ],
)
def test_device_equals_estimator(settings, memory):
    bags = bags_of()
    model = Pooling(TABLE, **settings).fit(bags)
    expected = model.transform(bags)
    # Both are in float64, and rounded to float32 at the end.
    assert_allclose(pool(model, bags, memory), expected, rtol=2e-7, atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    combine=st.sampled_from(["mean", "sum", "max"]),
    density=st.sampled_from([0.0, 0.02, 0.5]),
    scale=st.sampled_from([1e-300, 1.0, 1e30]),
)
def test_device_equals_reference_for_any_weights(seed, combine, density, scale):
    bags = bags_of(seed, 7, density, scale if combine != "sum" else 1.0)
    model = Pooling(TABLE, combine=combine)
    expected = model.transform(bags)
    found = pool(model, bags, LITTLE)
    assert_allclose(found, expected, rtol=2e-7, atol=1e-9)
    assert_array_equal(found[model.empty_documents(bags)], 0)


def test_no_documents_give_no_rows():
    model = Pooling(TABLE)
    assert pool(model, bags_of()[:0], PLENTY).shape == (0, 6)


def test_too_little_memory_raises():
    bags = bags_of()
    with pytest.raises(ValueError, match=r"memory must be at least .* over 80 vectors of 6 dim"):
        pool(Pooling(TABLE), bags, 5000)


@pytest.mark.parametrize(
    "settings",
    [{}, {"combine": "max"}, {"word_weights": "sif", "remove_components": 1}, {"whiten": 3}],
)
def test_pooling_on_a_device_equals_cpu(settings, device):
    bags = bags_of()
    here = Pooling(TABLE, **settings).fit(bags)
    there = Pooling(TABLE, device=device, **settings).fit(bags)
    done = []
    expected = here.transform(bags)
    found = there.transform(bags, progress=lambda *numbers: done.append(numbers))
    assert found.dtype == np.float32
    assert_allclose(found, expected, rtol=2e-7, atol=1e-8)
    assert_allclose(there.fit_transform(bags), expected, rtol=2e-7, atol=1e-8)
    assert done[-1] == (60, 60)


def test_texts_on_a_device(device):
    texts = ["a cat and a dog", "", "the car stops"]
    expected = Pooling().transform(texts)
    assert_allclose(Pooling(device=device).transform(texts), expected, rtol=2e-7, atol=1e-9)
    assert_allclose(Pooling(device=device).fit_transform(iter(texts)), expected, atol=1e-7)


def test_empty_document_raises_on_a_device():
    with pytest.raises(EmptyDocumentError, match="Document 1 of X is empty: none of its words has"):
        Pooling(device="cpu", empty="error").transform(["cat", "qwertzish"])


def test_vectors_beyond_float32_raise_on_a_device():
    bags = sparse.csr_array(np.eye(3, 80))
    bags.data[2] = 1e39
    for device in (None, "cpu"):
        with pytest.raises(ValueError, match="vector of document 2 is too large for float32"):
            Pooling(TABLE, combine="sum", device=device).transform(bags)


def test_device_is_not_saved(tmp_path):
    model = Pooling(TABLE, whiten=True, device="cpu").fit(bags_of())
    model.save(tmp_path / "model")
    loaded = Pooling.load(tmp_path / "model")
    assert loaded.device is None
    assert_allclose(loaded.transform(bags_of()), model.transform(bags_of()), rtol=1e-6, atol=1e-8)


def test_exception_in_progress_stops_pooling():
    def stop(_done, _all):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Pooling(TABLE, device="cpu").transform(bags_of(), progress=stop)
