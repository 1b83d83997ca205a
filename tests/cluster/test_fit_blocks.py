"""Fits over blocks on a cluster of two processes."""

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

from textkin.models import PLSA, WTMF, DiagonalGaussianMixture, VonMisesFisherMixture, fit_blocks
from textkin.weighting import TfIdf

MODELS = [
    TfIdf(),
    PLSA(3, max_iter=4, doc_topic_prior=1.1, random_state=0),
    WTMF(3, regularization=0.5, max_iter=2, random_state=0),
    DiagonalGaussianMixture(3, max_iter=4, random_state=0),
    VonMisesFisherMixture(3, max_iter=4, random_state=0),
]


def names(estimator):
    return type(estimator).__name__


def blocks_for(model):
    rng = np.random.default_rng(0)
    if isinstance(model, DiagonalGaussianMixture | VonMisesFisherMixture):
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
    """Block that ends the opening process, at a given number of openings."""

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
def test_cluster_is_bit_identical_to_one_process(model, client):
    blocks = blocks_for(model)
    assert_same_bits(fitted(model, blocks), fitted(model, blocks, executor=client))


def test_scheduler_address(cluster):
    blocks = blocks_for(MODELS[1])
    there = fitted(MODELS[1], blocks, executor=cluster.scheduler_address)
    assert_same_bits(fitted(MODELS[1], blocks), there)


@pytest.mark.slow  # starts its own cluster; test_map_blocks.py has the fast case
@pytest.mark.parametrize("model", MODELS[1:4], ids=names)
def test_dying_worker_does_not_change_the_result(model, mortal, tmp_path):
    blocks = blocks_for(model)
    killing = [*blocks[:2], Mortal(blocks[2], tmp_path, 3), blocks[3]]
    found = fitted(model, killing, executor=mortal)
    assert (tmp_path / "opened-3").exists()  # a worker has died
    assert_same_bits(fitted(model, blocks), found)


def test_interrupted_fit_leaves_nothing(client, tmp_path):
    model, told = clone(MODELS[1]), []

    def interrupt(done, _total):
        told.append(done)
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_blocks(model, blocks_for(model), executor=client, folder=tmp_path, progress=interrupt)
    assert told == [1, 2]
    assert not hasattr(model, "components_")
    assert not list(tmp_path.iterdir())


def test_error_of_a_block_has_its_number(client):
    with pytest.raises(ValueError, match="Negative") as raised:
        fit_blocks(TfIdf(), [[[1.0]], [[-1.0]]], executor=client)
    assert "block 1" in str(raised.value.__notes__)
