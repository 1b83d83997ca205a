"""Pairs from centroid bounds and exact search, compared with exact search alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import textkin as tk
from textkin.learn._documents import listed
from textkin.learn._measure import make_measure
from textkin.transport import _pairs

WORDS = ["cat", "dog", "purr", "bark", "stock", "share", "market", "sofa"]
SPACE = tk.WordVectors(WORDS, np.random.default_rng(3).normal(size=(8, 5)).astype(np.float32))


def found(blocks):
    return {
        (row, column): distance
        for block in blocks
        for row, column, distance in zip(
            block.rows.tolist(), block.columns.tolist(), block.distances.tolist(), strict=True
        )
    }


@settings(max_examples=60)
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=3), min_size=2, max_size=14),
    cost=st.sampled_from(["euclidean", "sqeuclidean", "cosine"]),
    place=st.integers(0, 200),
    split=st.integers(0, 14),
    few=st.sampled_from([0.0, 0.25, 1.0]),
)
def test_centroid_bounds_lose_no_pair(texts, cost, place, split, few):
    """Check documents of one word, whose centroid distance is exact: the radius is inclusive."""
    measure = make_measure(tk.WordMover(SPACE, cost=cost)).fit(listed(texts))
    rows = np.flatnonzero(~measure.empty)
    matrix = measure.between(rows, rows)
    reached = np.unique(matrix)
    if not len(reached):
        return
    threshold = float(reached[place % len(reached)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pairs, "_FEW", few)
        own = found(measure.below_among(threshold, rows))
        between = found(measure.below_among(threshold, rows[:split], rows[split:]))
    assert own == found(measure.below(threshold))
    expected = np.argwhere(matrix[:split, split:] <= threshold)
    assert set(between) == {(rows[a], rows[split:][b]) for a, b in expected}


def test_bounds_by_name_use_only_the_bound():
    texts = ["cats purr", "kittens purr", "stocks fell"]
    measure = make_measure("wcd").fit(texts)
    assert found(measure.below_among(3.0, np.arange(3))) == found(measure.below(3.0))
