"""Tests of sums over segments, blocks of rows, and their memory limits."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from textkin.device import _segments
from textkin.device._memory import memory_of, rows_that_fit, tensor_of, write_rows
from textkin.device._segments import cut_rows, segment_maxima, segment_sums

CPU = torch.device("cpu")


def starts_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=8),
    piece=st.integers(1, 5),
    seed=st.integers(0, 2**16),
)
def test_segment_sums_and_maxima_equal_a_loop(lengths, piece, seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(6, 3))
    starts = starts_of(lengths)
    columns, weights = rng.integers(6, size=starts[-1]), rng.normal(size=starts[-1])
    expected = [
        sum((weights[j] * table[columns[j]] for j in range(a, b)), np.zeros(3))
        for a, b in pairwise(starts)
    ]
    largest = [
        table[columns[a:b]].max(axis=0) if b > a else np.zeros(3) for a, b in pairwise(starts)
    ]
    tensors = [torch.from_numpy(part) for part in (table, columns, weights, starts)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_segments, "PIECE", max(2, piece))
        assert_allclose(segment_sums(*tensors), expected, atol=1e-12)
    assert_array_equal(segment_maxima(tensors[0], tensors[1], tensors[3]), largest)


def test_segment_results_do_not_depend_on_other_segments():
    rng = np.random.default_rng(0)
    table = torch.from_numpy(rng.normal(size=(50, 4)).astype(np.float32))
    columns = torch.from_numpy(rng.integers(50, size=2000))
    weights = torch.from_numpy(rng.random(2000).astype(np.float32))
    starts = torch.tensor([0, 30, 1500, 1500, 2000])
    together = segment_sums(table, columns, weights, starts)
    alone = segment_sums(table, columns[30:1500], weights[30:1500], torch.tensor([0, 1470]))
    assert_array_equal(together[1], alone[0])


@given(
    lengths=st.lists(st.integers(0, 9), max_size=12),
    rows=st.integers(1, 5),
    entries=st.integers(1, 12),
)
def test_row_blocks_respect_both_limits(lengths, rows, entries):
    starts = starts_of(lengths)
    found = list(cut_rows(starts, rows, entries))
    assert [row for part in found for row in range(part.start, part.stop)] == list(
        range(len(lengths))
    )
    for part in found:
        size = part.stop - part.start
        assert 1 <= size <= rows
        assert size == 1 or starts[part.stop] - starts[part.start] <= entries


def test_memory_limits_give_block_sizes():
    assert memory_of(CPU, "2MB") == 2**21
    assert memory_of(CPU, 100) == 100
    assert memory_of(CPU) > 0
    assert rows_that_fit(100, 10, 20, "rows") == 8
    assert rows_that_fit(100, 10, 20, "rows", most=5) == 5
    with pytest.raises(ValueError, match=r"memory must be at least 3.0 MB for rows; got 2.0 MB"):
        rows_that_fit(2 * 2**20, 2**20, 2 * 2**20, "rows")


def test_read_only_arrays_are_copied_and_others_shared():
    values = np.arange(3.0)
    tensor_of(values, CPU)[0] = 5
    assert values[0] == 5
    values.flags.writeable = False
    tensor_of(values, CPU)[0] = 7
    assert values[0] == 5


def test_rows_are_written_to_their_positions():
    out = np.zeros((5, 2), dtype=np.float32)
    write_rows(out, [(slice(2, 5), torch.ones(3, 2)), (slice(0, 2), torch.full((2, 2), 3.0))])
    assert_array_equal(out[:, 0], [3, 3, 1, 1, 1])
