"""Fits over blocks beside the estimators' own fits to all rows."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from models.block_cases import (
    OVER_BAGS,
    OVER_ROWS,
    WEIGHTINGS,
    assert_near,
    assert_same_bits,
    cut,
    drawn_bags,
    drawn_rows,
    names,
    quietly,
    splits,
)
from textkin.models import (
    PLSA,
    WTMF,
    GaussianMixture,
    fit_blocks,
)
from textkin.models._em import table_of
from textkin.models.blocks._factors import groups_of
from textkin.models.blocks._passes import Passes
from textkin.models.mixture import _starts
from textkin.run import map_blocks


class TestEqualsFit:
    @pytest.mark.parametrize("weighting", WEIGHTINGS, ids=names)
    @settings(max_examples=20)
    @given(ends=splits(60), seed=st.integers(0, 5))
    def test_weightings_to_the_bit(self, weighting, ends, seed):
        bags = drawn_bags(seed)
        assert_same_bits(fit_blocks(clone(weighting), cut(bags, ends)), clone(weighting).fit(bags))

    @pytest.mark.parametrize("model", OVER_BAGS, ids=names)
    @settings(max_examples=8)
    @given(ends=splits(60), seed=st.integers(0, 5))
    def test_models_over_bags(self, model, ends, seed):
        bags = drawn_bags(seed)
        whole = quietly(clone(model).fit, bags)
        assert_near(whole, quietly(fit_blocks, clone(model), cut(bags, ends)), 1e-9)

    @pytest.mark.parametrize("mixture", OVER_ROWS, ids=names)
    @pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 1e-4)])
    @settings(max_examples=8)
    @given(ends=splits(90), seed=st.integers(0, 5))
    def test_mixtures(self, mixture, dtype, tolerance, ends, seed):
        rows = drawn_rows(seed).astype(dtype)
        whole = quietly(clone(mixture).fit, rows)
        assert_near(whole, quietly(fit_blocks, clone(mixture), cut(rows, ends)), tolerance)

    @pytest.mark.parametrize(
        "model",
        [
            PLSA(128, max_iter=2, tol=0, random_state=0),
            WTMF(64, regularization=0.5, max_iter=2, random_state=0),
        ],
        ids=names,
    )
    def test_large_models_of_float32_are_fitted_in_single_precision(self, model):
        rng = np.random.default_rng(0)
        n_words = 17_000
        words = np.minimum(rng.zipf(1.3, size=(200, 60)), n_words) - 1
        bags = sparse.csr_array(
            (np.ones(words.size, np.float32), words.ravel(), np.arange(0, words.size + 1, 60)),
            shape=(200, n_words),
        )
        whole = quietly(clone(model).fit, bags)
        parts = quietly(fit_blocks, clone(model), cut(bags, [90]))
        assert_near(whole, parts, 1e-4)
        double = quietly(fit_blocks, clone(model), cut(bags.astype(np.float64), [90]))
        assert not np.array_equal(parts.components_, double.components_)

    def test_blocks_of_float32_and_float64_are_float64_together(self):
        rows = drawn_rows()
        blocks = [rows[:50].astype(np.float32), rows[50:]]
        for mixture in OVER_ROWS:
            whole = quietly(clone(mixture).fit, np.vstack(blocks))
            assert_near(whole, quietly(fit_blocks, clone(mixture), blocks), 1e-9)

    @pytest.mark.parametrize("constant", [0.1, 7.7])
    def test_a_column_is_constant_however_many_blocks_there_are(self, constant):
        """A thousand means that are added up are rounded, and the column was taken to vary."""
        rows = drawn_rows(n_rows=1000)
        rows[:, 1] = constant
        mixture = GaussianMixture(2, max_iter=5, random_state=0)
        whole = quietly(clone(mixture).fit, rows)
        assert_near(whole, quietly(fit_blocks, clone(mixture), list(rows[:, np.newaxis])), 1e-9)

    def test_components_that_are_empty_are_seeded_alike(self):
        rows = drawn_rows()
        mixture = GaussianMixture(4, init=np.vstack([rows[:2], np.full((2, 4), 1e3)]))
        whole = quietly(clone(mixture).fit, rows)
        assert whole.n_reseeded_ > 0
        assert_near(whole, quietly(fit_blocks, clone(mixture), cut(rows, [30, 31])), 1e-9)

    def test_seeds_come_from_the_same_sample_of_very_many_rows(self, monkeypatch):
        monkeypatch.setattr(_starts, "_MOST_SEEN", 20)
        rows = drawn_rows()
        for mixture in OVER_ROWS:
            whole = quietly(clone(mixture).fit, rows)
            assert_near(whole, quietly(fit_blocks, clone(mixture), cut(rows, [7, 7, 60])), 1e-9)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_of_starts_that_end_alike_the_first_is_taken(self, dtype):
        """The second was, where rounding over blocks favoured it: components in another order."""
        rows, mixture = drawn_rows(619585).astype(dtype), OVER_ROWS[1]
        whole = quietly(clone(mixture).fit, rows)
        parts = quietly(fit_blocks, clone(mixture), cut(rows, [3, 56, 58, 66]))
        assert_near(whole, parts, 1e-4)

    @pytest.mark.parametrize("model", [OVER_BAGS[0], OVER_BAGS[2], OVER_ROWS[0]], ids=names)
    def test_a_generator_is_left_as_fit_leaves_it(self, model):
        rows = drawn_rows() if model in OVER_ROWS else drawn_bags()
        after = []
        for fit in (lambda one: one.fit(rows), lambda one: fit_blocks(one, cut(rows, [20]))):
            random = np.random.RandomState(3)
            quietly(fit, clone(model).set_params(random_state=random))
            after.append(random.random_sample())
        assert after[0] == after[1]


class TestSameBits:
    """Whatever works on the blocks, and however often."""

    @pytest.mark.parametrize("model", [*WEIGHTINGS, *OVER_BAGS, *OVER_ROWS], ids=names)
    def test_on_any_number_of_threads_and_with_joblib(self, model):
        joblib = pytest.importorskip("joblib")
        blocks = cut(drawn_rows() if model in OVER_ROWS else drawn_bags(), [10, 11, 11, 45])
        one = quietly(fit_blocks, clone(model), blocks)
        assert_same_bits(one, quietly(fit_blocks, clone(model), blocks, n_jobs=3))
        with joblib.parallel_config("threading", n_jobs=2):
            assert_same_bits(one, quietly(fit_blocks, clone(model), blocks, on="joblib"))

    @pytest.mark.parametrize("model", [*OVER_BAGS, *OVER_ROWS], ids=names)
    def test_a_block_may_be_worked_on_again_at_any_time(self, model, monkeypatch):
        """As on a cluster, where a worker dies after it has written."""
        blocks = cut(drawn_rows() if model in OVER_ROWS else drawn_bags(), [10, 45])
        once = quietly(fit_blocks, clone(model), blocks)

        def twice(self, work, items=None, progress=None):
            todo = list(self.blocks if items is None else items)
            for item in [*todo, *todo]:
                work(item)
            return map_blocks(work, todo)

        monkeypatch.setattr(Passes, "over", twice)
        assert_same_bits(once, quietly(fit_blocks, clone(model), blocks))

    def test_the_memory_for_sums_of_words_changes_none(self):
        blocks = cut(drawn_bags(), [10, 45])
        much = quietly(fit_blocks, clone(OVER_BAGS[2]), blocks)
        few = quietly(fit_blocks, clone(OVER_BAGS[2]), blocks, memory=1)
        assert_array_equal(few.components_, much.components_)
        assert_allclose(few.objectives_, much.objectives_, rtol=1e-14)  # summed up by groups

    @settings(max_examples=30)
    @given(
        frequencies=st.lists(st.integers(0, 100_000), min_size=1, max_size=80),
        n_components=st.integers(1, 30),
        memory=st.sampled_from([1, 5000, 10**6]),
    )
    @example(frequencies=[1] * 80, n_components=1, memory=5000)
    def test_groups_have_every_word_once_and_fit_into_memory(
        self, frequencies, n_components, memory
    ):
        groups = groups_of(np.array(frequencies), n_components, memory)
        words = [word for start, end in groups for word in range(start, end)]
        assert words == list(range(len(frequencies)))
        # The texts of a rare word, in rows of 64 bytes, twice; or its system, once.
        padded = table_of(np.zeros((n_components, n_components)), np.float64).nbytes
        of_word = max(2 * padded, 8 * n_components**2)
        longest = max(end - start for start, end in groups)
        assert longest == 1 or longest * of_word <= memory
