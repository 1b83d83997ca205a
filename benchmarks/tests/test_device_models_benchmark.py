"""Benchmark of models on devices: equal answers. Nothing is timed here."""

import pytest

from support import load_script

pytest.importorskip("torch", reason="torch is not installed")
script = load_script("benchmarks/device_models.py")


@pytest.fixture
def bench():
    return script.Bench(10**6, "cpu", 1)


def test_fits_on_tensors_are_compared_with_the_core(bench):
    model = script.DiagonalGaussianMixture(3, max_iter=2, tol=0, random_state=0)
    script._fits(bench, "mixture", model, script.drawn_rows(200, 4))
    bags = script.drawn_bags(60, 50, 8)
    script._fits(bench, "topics", script.PLSA(3, max_iter=2, tol=0, random_state=0), bags)
    assert [line.what for line in bench.lines] == ["mixture", "topics"]
    assert all(line.error < 1e-6 and line.device > 0 for line in bench.lines)


def test_steps_of_a_mixture(bench):
    family = script.VonMisesFisherFamily(1e5, False)
    rows = script.CoreRows(script.unit_rows(script.drawn_rows(300, 6))[0], script.np.ones(300))
    script._steps(bench, "von Mises-Fisher", family, rows, 4)
    assert [line.what.split(": ")[1] for line in bench.lines] == [
        "a step",
        "rows to the device, once",
    ]


def test_bags_have_about_the_given_number_of_words():
    bags = script.drawn_bags(400, 5000, 20)
    assert 15 < bags.nnz / 400 < 25
    assert bags.has_canonical_format


def test_unequal_answers_are_not_timed():
    assert script.checked(1e-9, 1e-6, "x") == 1e-9
    with pytest.raises(SystemExit, match=r"x: the device is 1\.0e-03 from the CPU"):
        script.checked(script.apart([1.0, 2.0], [1.0, 2.002]), 1e-6, "x")
    with pytest.raises(SystemExit, match="x: the device is nan"):
        script.checked(float("nan"), 1e-6, "x")
