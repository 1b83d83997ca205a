"""The kernels of the benchmark with few labels are those of `FisherKernel`."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from support import load_script
from textkin import PLSA, FisherKernel

few_labels = load_script("benchmarks/few_labels.py")


@pytest.fixture
def bags():
    rng = np.random.default_rng(0)
    words = rng.dirichlet(np.full(15, 0.3), 2)
    return np.array([rng.multinomial(12, words[row % 2]) for row in range(40)]).astype(float)


@pytest.mark.parametrize("parameters", [{}, {"exact": True}, {"information": "diagonal"}], ids=str)
@pytest.mark.parametrize("normalize", [True, "each"])
@pytest.mark.parametrize("words", [0.0, 1.0])
def test_sums_of_parts_are_the_kernels(bags, monkeypatch, normalize, parameters, words):
    monkeypatch.setattr(few_labels, "FACTORS", (1, 3))
    single = few_labels._fitted(PLSA(), bags, 1)
    parameters = parameters | {"normalize": normalize, "topic_weight": 2.0}
    # A part weighs 1 there; here all of them weigh 1 together, or the whole is normalised.
    share = words / (2 * (2 + 1)) if normalize == "each" else words
    kernel = FisherKernel([1, 3], vector_space=share, random_state=0, **parameters).fit(bags)
    information = parameters.get("information", "identity")
    alone = [single[factors, information] for factors in (1, 3)]
    kernel.models_ = [one.models_[0] for one in alone]
    kernel.information_ = [squares for one in alone for squares in one.information_]

    parts = few_labels.Parts(single, bags[:30], bags[30:])
    found = parts.of(few_labels.Setting((1, 3), parameters, words))
    assert_allclose(found.known, kernel.similarity(bags[:30]) / (1 + share), rtol=1e-6)
    assert_allclose(found.test, kernel.similarity(bags[30:], bags[:30]) / (1 + share), rtol=1e-6)


def test_a_kernel_that_tells_the_classes_apart_makes_no_errors():
    labels = np.arange(12) % 2 == 0
    same = (labels[:, None] == labels).astype(float)
    assert few_labels.errors(few_labels.Matrices(same, same), labels, labels) == (0, 0)
    assert few_labels.errors(few_labels.Matrices(same, 1 - same), labels, labels) == (0, 100)


def test_the_settings_have_names_and_models():
    assert few_labels.SETTINGS["words"].factors == ()
    for setting in few_labels.SETTINGS.values():
        assert set(setting.models) <= set(few_labels.MODELS)
        assert set(setting.factors) <= set(few_labels.FACTORS)
