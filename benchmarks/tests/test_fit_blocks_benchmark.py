"""Benchmark of fits over blocks: equal fits and byte counts. Nothing is timed here."""

import warnings
from argparse import Namespace

import pytest

from support import load_script

benchmark = load_script("benchmarks/fit_blocks.py")


def test_bytes_of_a_step_are_counted(tmp_path):
    asked = Namespace(documents=60, words=50, blocks=3, components=2, steps=2, rounds=1, workers=[])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = benchmark.compared(asked, tmp_path)
    # Each block returns the model's statistics per word, or per component, in each step.
    assert found["TfIdf"]["bytes"]["back"] > 3 * 50 * (8 + 8)
    assert 0 < found["PLSA"]["bytes"]["back"] - 3 * 2 * 20 * 8 < 3 * (50 * 20 + 500)
    assert found["PLSA"]["bytes"]["shelf"] == 3 * 128 + 60 * 2 * 8
    assert found["WTMF"]["bytes"]["shelf"] == 3 * 128 + 60 * 2 * 8
    assert found["DiagonalGaussianMixture"]["bytes"]["shelf"] == 0
    assert found["DiagonalGaussianMixture"]["bytes"]["back"] > 3 * 2 * 2 * 100 * 8
    assert all(told["differs"] < 1e-6 for told in found.values())


def test_unequal_fits_raise(tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark, "agree", lambda *_: 0.1)
    asked = Namespace(documents=9, words=5, blocks=2, components=2, steps=1, rounds=1, workers=[])
    with pytest.raises(SystemExit, match="TfIdf: fits differ by"):
        benchmark.compared(asked, tmp_path)


def test_peak_memory_of_a_fit(tmp_path):
    files = benchmark.kept(benchmark.drawn_bags(30, 20), tmp_path / "bags", 2)
    assert len(files) == 2
    for how in benchmark.PEAKS:
        model = benchmark.PLSA(2, tol=1, random_state=0)
        assert benchmark.peak(how, tmp_path / "bags", model) > 10
        assert hasattr(model, "components_") == (how != "nothing")
