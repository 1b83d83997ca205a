"""Fits over blocks on a real cluster of two processes."""

import os
import signal
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from textkin.models import PLSA, WTMF, GaussianMixture, VonMisesFisherMixture, fit_blocks
from textkin.weighting import TfIdf

MODELS = [
    TfIdf(),
    PLSA(3, max_iter=4, topic_prior=1.1, random_state=0),
    WTMF(3, regularization=0.5, max_iter=2, random_state=0),
    GaussianMixture(3, max_iter=4, random_state=0),
    VonMisesFisherMixture(3, max_iter=4, random_state=0),
]


def names(estimator):
    return type(estimator).__name__


def blocks_for(model):
    rng = np.random.default_rng(0)
    if isinstance(model, GaussianMixture | VonMisesFisherMixture):
        rows = rng.normal(size=(40, 4)) + 4 * rng.integers(3, size=40)[:, np.newaxis]
    else:
        rows = sparse.csr_array(rng.poisson(0.4, (40, 15)).astype(np.float64))
    return [rows[:12], rows[12:12], rows[12:30], rows[30:]]


def fitted(model, blocks, **where):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit_blocks(clone(model), blocks, **where)


def assert_same_bits(one, other):
    for name, value in vars(one).items():
        if name.endswith("_"):
            assert_array_equal(value, getattr(other, name), err_msg=name)


@dataclass
class Mortal:
    """A block that ends the process that opens it, the so-manieth time that any does."""

    rows: object
    folder: Path
    opened: int

    def __call__(self):
        for number in range(self.opened + 1):
            try:
                (self.folder / f"opened-{number}").touch(exist_ok=False)
            except FileExistsError:
                continue
            if number == self.opened:
                os.kill(os.getpid(), signal.SIGKILL)
            break
        return self.rows


@pytest.mark.parametrize("model", MODELS, ids=names)
def test_a_cluster_gives_the_bits_of_one_process(model, client):
    blocks = blocks_for(model)
    assert_same_bits(fitted(model, blocks), fitted(model, blocks, on=client))


def test_a_scheduler_is_found_by_its_address(cluster):
    blocks = blocks_for(MODELS[1])
    there = fitted(MODELS[1], blocks, on=cluster.scheduler_address)
    assert_same_bits(fitted(MODELS[1], blocks), there)


@pytest.mark.parametrize("model", MODELS[1:4], ids=names)
def test_a_worker_that_dies_in_the_middle_changes_no_bit(model, mortal, tmp_path):
    blocks = blocks_for(model)
    killing = [*blocks[:2], Mortal(blocks[2], tmp_path, 3), blocks[3]]
    found = fitted(model, killing, on=mortal)
    assert (tmp_path / "opened-3").exists()  # somebody has died
    assert_same_bits(fitted(model, blocks), found)


def test_an_interrupted_fit_leaves_nothing(client, tmp_path):
    model, told = clone(MODELS[1]), []

    def interrupt(done, _total):
        told.append(done)
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_blocks(model, blocks_for(model), on=client, folder=tmp_path, progress=interrupt)
    assert told == [1, 2]
    assert not hasattr(model, "components_")
    assert not list(tmp_path.iterdir())


def test_what_a_block_refuses_is_told_by_its_number(client):
    with pytest.raises(ValueError, match="Negative") as raised:
        fit_blocks(TfIdf(), [[[1.0]], [[-1.0]]], on=client)
    assert "block 1" in str(raised.value.__notes__)
