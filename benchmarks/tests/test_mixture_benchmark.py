"""Benchmark of mixtures: equal fits. Nothing is timed here."""

import json

import numpy as np
import pytest

from support import load_script

mixtures = load_script("benchmarks/mixtures.py")


@pytest.fixture(scope="module")
def rows():
    return mixtures.drawn_rows(300, 12, 4)


def test_contenders_take_the_same_steps(rows):
    _, found = mixtures.timed(mixtures.from_one_start(rows, 4, 3), rows, 1)
    mixtures.check_equal(found)
    gaussian = [fit["mean_log_likelihood"] for name, fit in found.items() if "fisher" not in name]
    assert len(gaussian) == 5
    assert len(set(gaussian)) > 1
    found["sklearn"]["mean_log_likelihood"] += 1e-3
    with pytest.raises(SystemExit, match="sklearn: mean log-likelihood"):
        mixtures.check_equal(found)


def test_report_has_likelihoods(rows):
    report = mixtures.compared(rows, 4, 2, 1)
    assert report["own_starts"]["fits"]["textkin"]["converged"]
    assert np.isfinite(report["own_starts"]["fits"]["textkin"]["mean_log_likelihood"])
    assert set(report["same_start"]["processor_seconds"]["median"]) == {
        "textkin",
        "textkin_2_threads",
        "textkin_float64",
        "textkin_von_mises_fisher",
        "sklearn",
        "sklearn_float64",
    }
    json.dumps(report)
