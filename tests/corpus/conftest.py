"""Fixtures for the tests of `textkin.corpus`."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(20150706)
