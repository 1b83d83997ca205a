"""Indexes and checks for tests of transport rankings; loaded by path."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from textkin import Index, WordVectors
from textkin.explain import Contributions, Flow
from textkin.transport import Comparison

SHARED_MEMORY = Path("/dev/shm")  # does not wait for the disk
BUILT_IN = WordVectors.builtin()


@contextmanager
def stored(vectors: WordVectors | None = None, **settings: object) -> Iterator[Index]:
    quick = SHARED_MEMORY if os.access(SHARED_MEMORY, os.W_OK) else None
    with (
        tempfile.TemporaryDirectory(dir=quick) as folder,
        Index.create(Path(folder) / "test.kin", vectors=vectors, **settings) as index,
    ):
        yield index


def check_explanation(found, score):
    assert found.score == score
    if isinstance(found, Comparison):
        found.verify()
        found = found.flow
    if isinstance(found, Flow):
        parts = sum(move.contribution for move in found.moves)
        for column, at in ((found.sources, "source_at"), (found.targets, "target_at")):
            moved = np.bincount(
                [getattr(move, at) for move in found.moves], [move.mass for move in found.moves]
            )
            np.testing.assert_allclose(moved, [mass for _, mass in column], atol=1e-9)
            assert moved.sum() == pytest.approx(1)
    else:
        assert isinstance(found, Contributions)
        parts = sum(part.value for part in found.parts)
    assert parts == pytest.approx(score, rel=1e-6, abs=1e-9)
