"""Blocks of an index's counts, read one by one."""

import pickle

import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from textkin import Index
from textkin.index.store import _writer
from textkin.index.store._segment import Segment
from textkin.models import PLSA, fit_blocks
from textkin.weighting import TfIdf

RECORDS = [
    {"id": f"d{n}", "text": f"word{n % 7} word{n % 5} word{n % 5} rare{n}"} for n in range(40)
]


@pytest.fixture
def index(tmp_path, monkeypatch):
    """Return an index of several segments and recent documents, with a deleted document."""
    monkeypatch.setattr(_writer, "_TAIL_DOCUMENTS", 8)
    with Index.create(tmp_path / "some.kin", language=None) as index:
        for start in range(0, 40, 9):
            index.add(RECORDS[start : start + 9])
        index.delete("d20")
        yield index


def test_blocks_have_the_rows_of_the_bags(index):
    blocks = pickle.loads(pickle.dumps(index.bag_blocks()))
    assert len(blocks) > 1
    found = sparse.vstack([block() for block in blocks])
    assert_array_equal(found.toarray(), index.bags().toarray())
    assert found.shape[0] == 39


def test_models_are_fitted_to_blocks(index):
    assert_array_equal(
        fit_blocks(TfIdf(), index.bag_blocks(), n_jobs=2).idf_, TfIdf().fit(index.bags()).idf_
    )
    whole = PLSA(2, tol=1, random_state=0).fit(index.bags())
    parts = fit_blocks(PLSA(2, tol=1, random_state=0), index.bag_blocks())
    assert_allclose(parts.components_, whole.components_, rtol=0, atol=1e-12)


def test_block_reads_only_its_segment(index, monkeypatch):
    """Each block once read and checked the whole index, in every pass."""
    blocks, read = index.bag_blocks(), []
    monkeypatch.setattr(Segment, "check", lambda segment: read.append(segment.extent))
    for block in blocks:
        block()
    assert len(read) == len(set(read)) == len(blocks) - 1  # the last block is not a segment


def test_changed_index_raises(index):
    blocks = index.bag_blocks()
    index.add([{"id": "new", "text": "more"}])
    with pytest.raises(RuntimeError, match="has changed since its blocks were made"):
        blocks[0]()


def test_empty_index_has_no_blocks(tmp_path):
    with Index.create(tmp_path / "empty.kin", language=None) as index:
        assert index.bag_blocks() == []
