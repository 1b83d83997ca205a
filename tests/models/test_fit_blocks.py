"""Fits over blocks compared with fits to all rows."""

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
    assert_bit_identical,
    assert_close,
    cut,
    names,
    quietly,
    random_bags,
    random_points,
    splits,
)
from textkin.models import (
    PLSA,
    WTMF,
    DiagonalGaussianMixture,
    fit_blocks,
)
from textkin.models._arrays import table_of
from textkin.models._block_passes import Passes
from textkin.models.factors._als_blocks import groups_of
from textkin.models.mixture import _initialization
from textkin.run import map_blocks


class TestEqualsFit:
    @pytest.mark.parametrize("weighting", WEIGHTINGS, ids=names)
    @settings(max_examples=20)
    @given(ends=splits(60), seed=st.integers(0, 5))
    def test_weightings_are_bit_identical(self, weighting, ends, seed):
        bags = random_bags(seed)
        assert_bit_identical(
            fit_blocks(clone(weighting), cut(bags, ends)), clone(weighting).fit(bags)
        )

    @pytest.mark.parametrize("model", OVER_BAGS, ids=names)
    @settings(max_examples=8)
    @given(ends=splits(60), seed=st.integers(0, 5))
    def test_models_over_bags_agree(self, model, ends, seed):
        bags = random_bags(seed)
        whole = quietly(clone(model).fit, bags)
        assert_close(whole, quietly(fit_blocks, clone(model), cut(bags, ends)), 1e-9)

    @pytest.mark.parametrize("mixture", OVER_ROWS, ids=names)
    @pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 1e-4)])
    @settings(max_examples=8)
    @given(ends=splits(90), seed=st.integers(0, 5))
    def test_mixtures_agree(self, mixture, dtype, tolerance, ends, seed):
        rows = random_points(seed).astype(dtype)
        whole = quietly(clone(mixture).fit, rows)
        assert_close(whole, quietly(fit_blocks, clone(mixture), cut(rows, ends)), tolerance)

    @pytest.mark.parametrize(
        "model",
        [
            PLSA(128, max_iter=2, tol=0, random_state=0),
            WTMF(64, regularization=0.5, max_iter=2, random_state=0),
        ],
        ids=names,
    )
    def test_large_float32_models_are_fitted_in_single_precision(self, model):
        rng = np.random.default_rng(0)
        n_words = 17_000
        words = np.minimum(rng.zipf(1.3, size=(200, 60)), n_words) - 1
        bags = sparse.csr_array(
            (np.ones(words.size, np.float32), words.ravel(), np.arange(0, words.size + 1, 60)),
            shape=(200, n_words),
        )
        whole = quietly(clone(model).fit, bags)
        parts = quietly(fit_blocks, clone(model), cut(bags, [90]))
        assert_close(whole, parts, 1e-4)
        double = quietly(fit_blocks, clone(model), cut(bags.astype(np.float64), [90]))
        assert not np.array_equal(parts.components_, double.components_)

    def test_blocks_of_float32_and_float64_are_fitted_in_float64(self):
        rows = random_points()
        blocks = [rows[:50].astype(np.float32), rows[50:]]
        for mixture in OVER_ROWS:
            whole = quietly(clone(mixture).fit, np.vstack(blocks))
            assert_close(whole, quietly(fit_blocks, clone(mixture), blocks), 1e-9)

    @pytest.mark.parametrize("constant", [0.1, pytest.param(7.7, marks=pytest.mark.slow)])
    def test_constant_column_over_many_blocks_is_constant(self, constant):
        """Check a regression: the rounded sum of a thousand means gave the column a variance."""
        rows = random_points(n_rows=1000)
        rows[:, 1] = constant
        mixture = DiagonalGaussianMixture(2, max_iter=5, random_state=0)
        whole = quietly(clone(mixture).fit, rows)
        assert_close(whole, quietly(fit_blocks, clone(mixture), list(rows[:, np.newaxis])), 1e-9)

    def test_empty_components_are_reseeded_like_in_fit(self):
        rows = random_points()
        mixture = DiagonalGaussianMixture(4, means_init=np.vstack([rows[:2], np.full((2, 4), 1e3)]))
        whole = quietly(clone(mixture).fit, rows)
        assert whole.n_reseeded_ > 0
        assert_close(whole, quietly(fit_blocks, clone(mixture), cut(rows, [30, 31])), 1e-9)

    def test_seeds_come_from_the_same_sample_of_many_rows(self, monkeypatch):
        monkeypatch.setattr(_initialization, "_MOST_SEEN", 20)
        rows = random_points()
        for mixture in OVER_ROWS:
            whole = quietly(clone(mixture).fit, rows)
            assert_close(whole, quietly(fit_blocks, clone(mixture), cut(rows, [7, 7, 60])), 1e-9)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_ties_of_initializations_go_to_the_first(self, dtype):
        """Check a regression: by rounding, the second won, with components in another order."""
        rows, mixture = random_points(619585).astype(dtype), OVER_ROWS[1]
        whole = quietly(clone(mixture).fit, rows)
        parts = quietly(fit_blocks, clone(mixture), cut(rows, [3, 56, 58, 66]))
        assert_close(whole, parts, 1e-4)

    @pytest.mark.parametrize("model", [OVER_BAGS[0], OVER_BAGS[2], OVER_ROWS[0]], ids=names)
    def test_generator_has_the_same_state_after_fit(self, model):
        rows = random_points() if model in OVER_ROWS else random_bags()
        after = []
        for fit in (lambda one: one.fit(rows), lambda one: fit_blocks(one, cut(rows, [20]))):
            random = np.random.RandomState(3)
            quietly(fit, clone(model).set_params(random_state=random))
            after.append(random.random_sample())
        assert after[0] == after[1]


class TestBitIdentical:
    """Results for different executors and repeated blocks."""

    @pytest.mark.parametrize("model", [*WEIGHTINGS, *OVER_BAGS, *OVER_ROWS], ids=names)
    def test_threads_and_joblib(self, model):
        joblib = pytest.importorskip("joblib")
        blocks = cut(random_points() if model in OVER_ROWS else random_bags(), [10, 11, 11, 45])
        one = quietly(fit_blocks, clone(model), blocks)
        assert_bit_identical(one, quietly(fit_blocks, clone(model), blocks, n_jobs=3))
        with joblib.parallel_config("threading", n_jobs=2):
            assert_bit_identical(one, quietly(fit_blocks, clone(model), blocks, executor="joblib"))

    @pytest.mark.parametrize("model", [*OVER_BAGS, *OVER_ROWS], ids=names)
    def test_repeated_block(self, model, monkeypatch):
        """Simulate a cluster in which a worker dies after it wrote its result."""
        blocks = cut(random_points() if model in OVER_ROWS else random_bags(), [10, 45])
        once = quietly(fit_blocks, clone(model), blocks)

        def twice(self, work, items=None, progress=None):
            todo = list(self.blocks if items is None else items)
            for item in [*todo, *todo]:
                work(item)
            return map_blocks(work, todo)

        monkeypatch.setattr(Passes, "over", twice)
        assert_bit_identical(once, quietly(fit_blocks, clone(model), blocks))

    def test_memory_for_word_sums_does_not_matter(self):
        blocks = cut(random_bags(), [10, 45])
        much = quietly(fit_blocks, clone(OVER_BAGS[2]), blocks)
        few = quietly(fit_blocks, clone(OVER_BAGS[2]), blocks, memory=1)
        assert_array_equal(few.components_, much.components_)
        assert_allclose(few.objectives_, much.objectives_, rtol=1e-14)  # groups sum differently

    @settings(max_examples=30)
    @given(
        frequencies=st.lists(st.integers(0, 100_000), min_size=1, max_size=80),
        n_components=st.integers(1, 30),
        memory=st.sampled_from([1, 5000, 10**6]),
    )
    @example(frequencies=[1] * 80, n_components=1, memory=5000)
    def test_groups_cover_all_words_and_fit_into_memory(self, frequencies, n_components, memory):
        groups = groups_of(np.array(frequencies), n_components, memory)
        words = [word for start, end in groups for word in range(start, end)]
        assert words == list(range(len(frequencies)))
        # The texts of a rare word, in rows of 64 bytes, twice; or one system of a frequent word.
        padded = table_of(np.zeros((n_components, n_components)), np.float64).nbytes
        of_word = max(2 * padded, 8 * n_components**2)
        longest = max(end - start for start, end in groups)
        assert longest == 1 or longest * of_word <= memory
