"""WTMF compared with direct implementations of its equations."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from textkin import _core
from textkin.models import WTMF
from textkin.models._arrays import entries_of, table_of
from textkin.weighting import TfIdf


def solve_plainly(values, observed, factors, missing_weight, regularization):
    """Solve equation 2 with the full diagonal matrix of weights."""
    rows = []
    for x, seen in zip(values, observed, strict=True):
        weights = np.diag(np.where(seen, 1.0, missing_weight))
        system = factors.T @ weights @ factors + regularization * np.eye(factors.shape[1])
        rows.append(np.linalg.solve(system, factors.T @ weights @ x))
    return np.array(rows)


def objective(values, observed, texts, words, missing_weight, regularization):
    """Compute equation 1."""
    weights = np.where(observed, 1.0, missing_weight)
    errors = (weights * (texts @ words.T - values) ** 2).sum()
    return errors + regularization * ((texts**2).sum() + (words**2).sum())


def core_solved(bags, factors, missing_weight, regularization, dtype=np.float64, jobs=1):
    kind = _core.FactorSolver if dtype == np.float32 else _core.FineFactorSolver
    solver = kind(table_of(factors, dtype), factors.shape[1], missing_weight, regularization, jobs)
    out = table_of(np.zeros((bags.shape[0], factors.shape[1])), dtype)
    told = solver.solve(*entries_of(bags, dtype), out, jobs, None)
    return out[:, : factors.shape[1]], told


@st.composite
def problems(draw):
    n_texts, n_words = draw(st.integers(1, 12)), draw(st.integers(1, 40))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.05, 0.3, 0.9]))
    observed = random.random((n_texts, n_words)) < density
    values = random.normal(0, draw(st.sampled_from([0.1, 3])), observed.shape)
    values[random.random(observed.shape) < 0.1] = 0  # observed, with weight 0
    values *= observed
    rows, columns = np.nonzero(observed)
    bags = sparse.csr_array((values[rows, columns], (rows, columns)), shape=observed.shape)
    return bags, values, observed, random


class TestSolve:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_subset_of_factors_with_the_full_gram_matrix(self, dtype):
        """Fits over blocks rely on this: rows that are observed for only some of the factors."""
        random = np.random.default_rng(0)
        factors = random.normal(size=(30, 5)).astype(dtype)
        dense = random.poisson(0.5, (8, 10)).astype(dtype)
        few = sparse.csr_array(dense)
        all_of_them = sparse.csr_array((few.data, few.indices, few.indptr), shape=(8, 30))
        whole, told = core_solved(all_of_them, factors, 0.1, 2.0, dtype)
        kind = _core.FactorSolver if dtype == np.float32 else _core.FineFactorSolver
        gram = _core.gram_of(table_of(factors, dtype), 5, 1)
        solver = kind(table_of(factors[:10], dtype), 5, 0.1, 2.0, 1, gram)
        out = table_of(np.zeros((8, 5)), dtype)
        assert solver.solve(*entries_of(few, dtype), out, 1, None) == told
        assert_array_equal(out[:, :5], whole)
        with pytest.raises(ValueError, match="gram must have a row and a column"):
            kind(table_of(factors[:10], dtype), 5, 0.1, 2.0, 1, gram[:4])

    def test_solver_matches_worked_example(self):
        bags = sparse.csr_array([[3.0, 0.0], [0.0, 4.0]])
        found, _ = core_solved(bags, np.array([[1.0], [2.0]]), 0.01, 20)
        assert_allclose(found, [[3 / 21.04], [8 / 24.01]], rtol=1e-14)
        assert_allclose(found[:, 0], [0.1425856, 0.3331945], atol=5e-8)

    @settings(max_examples=60)
    @given(
        problem=problems(),
        dimensions=st.integers(1, 20),
        missing_weight=st.sampled_from([0, 0.01, 0.5, 1]),
        regularization=st.sampled_from([1e-3, 1, 20]),
        dtype=st.sampled_from([np.float32, np.float64]),
    )
    def test_solver_equals_the_direct_formula(
        self, problem, dimensions, missing_weight, regularization, dtype
    ):
        bags, values, observed, random = problem
        factors = random.normal(size=(bags.shape[1], dimensions)).astype(dtype)
        bags = bags.astype(dtype)
        found, told = core_solved(bags, factors, missing_weight, regularization, dtype)
        settings_ = missing_weight, regularization
        factors, values = factors.astype(np.float64), values.astype(dtype).astype(np.float64)
        expected = solve_plainly(values, observed, factors, *settings_)
        size = np.abs(expected).max() + 1e-9
        tolerance = 1e-8 if dtype == np.float64 else 2e-3  # 1e-3 is a very weak regularization
        assert_allclose(found, expected, rtol=0, atol=tolerance * size)
        assert_allclose(
            told,
            objective(values, observed, expected, factors, *settings_),
            rtol=1e-9 if dtype == np.float64 else 1e-4,
            atol=(1e-13 if dtype == np.float64 else 1e-5) * (values**2).sum(),  # the minuend
        )

    def test_single_rows_and_threads_are_bit_identical(self):
        random = np.random.default_rng(0)
        bags = sparse.random_array((300, 500), density=0.06, rng=random).tocsr()
        factors = random.normal(size=(500, 20))
        for dtype in (np.float32, np.float64):
            found, told = core_solved(bags.astype(dtype), factors, 0.1, 1, dtype)
            again, told_again = core_solved(bags.astype(dtype), factors, 0.1, 1, dtype, jobs=3)
            assert told_again == told
            assert_array_equal(again, found)
            for row in range(0, 300, 37):
                alone, _ = core_solved(bags[[row]].astype(dtype), factors, 0.1, 1, dtype)
                assert_array_equal(alone[0], found[row])

    def test_dependent_dimensions_in_single_precision(self):
        """Check a regression: rounded products were not positive definite; all rows were NaN."""
        random = np.random.default_rng(0)
        bags = sparse.random_array((5, 700), density=0.5, rng=random).tocsr().astype(np.float32)
        for _ in range(20):
            factors = np.tile(random.normal(size=32), (700, 1))
            found, told = core_solved(bags, factors, 0.5, 0.01, np.float32)
            assert np.isfinite(found).all()
            assert told == pytest.approx(core_solved(bags, factors, 0.5, 0.01)[1], rel=1e-6)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"missing_weight": 1.5}, "missing_weight must be from 0 to 1"),
            ({"regularization": 0.0}, "regularization must be above 0"),
            ({"dimensions": 9}, "dimensions must be at most the width"),
            ({"factors": np.zeros((2, 3))}, "multiple of 64 bytes"),
        ],
    )
    def test_invalid_core_arguments_raise(self, change, message):
        given_ = {
            "factors": table_of(np.ones((2, 1)), np.float64),
            "dimensions": 1,
            "missing_weight": 0.1,
            "regularization": 1.0,
            "threads": 1,
        }
        with pytest.raises(ValueError, match=message):
            _core.FineFactorSolver(**{**given_, **change})
        solver = _core.FineFactorSolver(**given_)
        out = table_of(np.zeros((1, 1)), np.float64)
        bags = sparse.csr_array([[0.0, 0.0, 1.0]])
        with pytest.raises(ValueError, match="below 2; got 2"):
            solver.solve(*entries_of(bags, np.float64), out, 1, None)
        with pytest.raises(ValueError, match="a row for each document or word"):
            solver.solve(*entries_of(bags[:, :2][[0, 0]], np.float64), out, 1, None)


class TestFit:
    @settings(max_examples=30, deadline=None)
    @given(
        problem=problems(),
        dimensions=st.integers(1, 6),
        missing_weight=st.sampled_from([0, 0.01, 1]),
        regularization=st.sampled_from([0.01, 0.3]),
    )
    def test_objective_never_rises(self, problem, dimensions, missing_weight, regularization):
        bags, values, observed, _ = problem
        wtmf = WTMF(
            dimensions,
            missing_weight=missing_weight,
            regularization=regularization,
            max_iter=8,
            random_state=0,
        )
        if not values.any():
            with pytest.raises(ValueError, match="X must have words with weights"):
                wtmf.fit(bags)
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # all vectors vanish
            wtmf.fit(bags)
        assert len(wtmf.objectives_) == 2 * wtmf.n_iter_ == 16
        objectives = np.array(wtmf.objectives_)
        assert (np.diff(objectives) <= 1e-9 * objectives[:-1]).all()
        after = objective(
            values, observed, wtmf.transform(bags), wtmf.components_.T, missing_weight,
            regularization,
        )  # fmt: skip
        assert after <= objectives[-1] * (1 + 1e-9)

    def test_half_sweeps_equal_the_formula(self):
        random = np.random.default_rng(3)
        values = random.poisson(0.5, (9, 14)) * 3.0
        wtmf = WTMF(4, missing_weight=0.05, regularization=0.5, max_iter=3, random_state=7)
        wtmf.fit(values)
        observed = values != 0
        words = np.random.RandomState(7).standard_normal((14, 4))
        expected = []
        for _ in range(3):
            texts = solve_plainly(values, observed, words, 0.05, 0.5)
            expected.append(objective(values, observed, texts, words, 0.05, 0.5))
            words = solve_plainly(values.T, observed.T, texts, 0.05, 0.5)
            expected.append(objective(values, observed, texts, words, 0.05, 0.5))
        assert_allclose(wtmf.objectives_, expected, rtol=1e-10)
        assert_allclose(wtmf.components_, words.T, atol=1e-9)
        assert_allclose(wtmf.transform(values), solve_plainly(values, observed, words, 0.05, 0.5))

    def test_equal_weights_without_regularization_give_the_best_low_rank_fit(self):
        random = np.random.default_rng(1)
        values = random.normal(size=(20, 5)) @ random.normal(size=(5, 12))
        values += 0.05 * random.normal(size=values.shape)
        wtmf = WTMF(
            3, missing_weight=1, regularization=1e-9, max_iter=500, tol=1e-13, random_state=0
        )
        places = wtmf.fit_transform(values)
        assert wtmf.converged_
        u, s, vt = np.linalg.svd(values)
        assert_allclose(places @ wtmf.components_, (u[:, :3] * s[:3]) @ vt[:3], atol=1e-4)

    def test_stored_zero_is_an_observed_word(self):
        values = np.array([[4.0, 0, 0], [4, 2, 0], [0, 3, 2]])
        stored = sparse.csr_array(values)
        stored = sparse.csr_array(
            (np.append(stored.data, 0.0), (np.append(stored.tocoo().row, 0),
             np.append(stored.tocoo().col, 1))), shape=(3, 3),
        )  # fmt: skip
        assert stored.nnz == 6
        wtmf = WTMF(2, regularization=0.1, random_state=0).fit(values)
        observed = values != 0
        observed[0, 1] = True
        assert_allclose(
            wtmf.transform(stored), solve_plainly(values, observed, wtmf.components_.T, 0.01, 0.1)
        )
        assert not np.allclose(wtmf.transform(stored)[0], wtmf.transform(values)[0])
        assert clone(wtmf).fit(stored).objectives_ != wtmf.objectives_

    def test_tfidf_keep_zeros_keeps_words_with_zero_weight(self):
        bags = [[1, 1, 0], [1, 0, 2]]
        assert TfIdf().fit_transform(bags).nnz == 2
        kept = TfIdf(keep_zeros=True).fit_transform(bags)
        assert kept.nnz == 4
        assert_array_equal(kept.toarray(), TfIdf().fit_transform(bags).toarray())

    def test_missing_words_separate_texts(self):
        """Two texts with a common word are less similar to a third text if missing words count."""
        bags = sparse.csr_array(
            np.array([[6, 5, 0, 0], [6, 5, 0, 0], [6, 0, 5, 0], [6, 0, 5, 5.0]])
        )
        near = {}
        for weight in (0, 0.05):
            wtmf = WTMF(2, missing_weight=weight, regularization=1, random_state=0).fit(bags)
            near[weight] = wtmf.similarity([[0, 5, 0, 0]], [[0, 0, 5, 0]])[0, 0]
        assert near[0.05] < near[0] - 0.1

    def test_single_precision_is_close_to_double(self):
        random = np.random.default_rng(0)
        bags = sparse.random_array((400, 12_000), density=0.002, rng=random).tocsr() * 8
        wtmf = WTMF(100, regularization=2, max_iter=3, random_state=0)
        fine = wtmf.fit(bags)
        coarse = clone(wtmf).fit(bags.astype(np.float32))
        assert coarse.components_.dtype == np.float64
        assert_array_equal(coarse.components_, coarse.components_.astype(np.float32))
        assert_allclose(coarse.objectives_, fine.objectives_, rtol=1e-5)
        assert_allclose(coarse.components_, fine.components_, atol=1e-4)
        places = coarse.transform(bags.astype(np.float32))
        assert places.dtype == np.float32
        assert_allclose(places, fine.transform(bags), atol=1e-4)
        batch = coarse.transform(bags[:5].astype(np.float32))
        assert_array_equal(batch, places[:5])

    def test_text_does_not_depend_on_a_huge_text_in_its_batch(self):
        random = np.random.default_rng(0)
        bags = sparse.random_array((50, 11_000), density=0.002, rng=random).tocsr() * 8
        bags = bags.astype(np.float32)
        wtmf = WTMF(100, regularization=2, max_iter=1, random_state=0).fit(bags)
        alone = wtmf.transform(bags[:4])
        bags.data[bags.indptr[4] :] *= np.float32(1e20)
        assert_array_equal(wtmf.transform(bags)[:4], alone)

    def test_threads_give_the_same(self):
        bags = sparse.random_array((60, 90), density=0.2, rng=np.random.default_rng(0)).tocsr()
        wtmf = WTMF(5, regularization=0.1, orthogonality=0.01, random_state=0)
        expected = wtmf.fit(bags).components_
        wtmf.set_params(n_jobs=2).fit(bags)
        assert_array_equal(wtmf.components_, expected)


class TestOrthogonality:
    def bags(self):
        random = np.random.default_rng(5)
        return random.poisson(0.6, (40, 25)) * 2.0

    def gram(self, wtmf):
        gram = wtmf.components_ @ wtmf.components_.T
        return gram / np.trace(gram) * len(gram)

    def test_orthogonal_step_equals_the_paper(self):
        bags = self.bags()
        wtmf = WTMF(4, regularization=0.5, max_iter=1, random_state=0)
        words = wtmf.fit(bags).components_  # one sweep without the orthogonal step
        gram = words @ words.T
        step = 0.1 / np.linalg.eigvalsh(gram).max()
        expected = words - step * (gram - np.trace(gram) / 4 * np.eye(4)) @ words
        found = clone(wtmf).set_params(orthogonality=step).fit(bags).components_
        assert_allclose(found, expected, rtol=1e-12, atol=1e-12)

    def test_rising_objective_is_not_convergence(self):
        wtmf = WTMF(10, regularization=0.5, orthogonality=0.01, random_state=0).fit(self.bags())
        assert np.diff(wtmf.objectives_[1::2]).max() > 0
        assert wtmf.n_iter_ == 20
        assert not wtmf.converged_

    def test_dimensions_become_more_equal_with_any_step_size(self):
        bags = self.bags()
        wtmf = WTMF(4, regularization=0.5, random_state=0)
        plain = np.abs(self.gram(wtmf.fit(bags)) - np.eye(4)).max()
        for strength in (1e-2, 1e9):
            model = clone(wtmf).set_params(orthogonality=strength).fit(bags)
            assert np.abs(self.gram(model) - np.eye(4)).max() < 0.9 * plain


class TestUse:
    @pytest.fixture
    def bags(self):
        return np.array([[5.0, 4, 0, 0], [4, 0, 0, 0], [0, 5, 0, 0], [0, 0, 4, 5], [0, 0, 0, 5]])

    @pytest.fixture
    def wtmf(self, bags):
        return WTMF(2, regularization=0.5, random_state=0).fit(bags)

    def test_empty_texts_and_unseen_words(self, bags):
        bags = np.hstack([bags, np.zeros((5, 1))])
        bags[1] = 0
        wtmf = WTMF(2, regularization=0.5, random_state=0).fit(bags)
        assert_array_equal(wtmf.components_[:, 4], 0)
        assert_array_equal(wtmf.transform(bags)[1], 0)
        with_unseen = bags[[0]].copy()
        with_unseen[0, 4] = 9
        assert_allclose(wtmf.transform(with_unseen), wtmf.transform(bags[[0]]), rtol=1e-12)
        assert_array_equal(wtmf.transform([[0, 0, 0, 0, 3.0]]), 0)
        assert_array_equal(wtmf.similarity(bags[[1]], bags), 0)

    def test_similarity_is_the_cosine(self, wtmf, bags):
        places = wtmf.transform(bags)
        places /= np.linalg.norm(places, axis=1, keepdims=True)
        assert_allclose(wtmf.similarity(bags), places @ places.T, atol=1e-12)
        assert_allclose(wtmf.similarity(bags, bags[:2]), places @ places[:2].T, atol=1e-12)

    def test_paired_is_the_diagonal_of_similarity(self, wtmf, bags):
        others = np.vstack([bags[::-1][:-1], np.zeros((1, 4))])
        found = wtmf.paired(bags, others)
        assert_allclose(found, np.diag(wtmf.similarity(bags, others)), atol=1e-12)
        assert found[-1] == 0
        for row in range(5):
            assert_array_equal(wtmf.paired(bags[[row]], others[[row]]), found[[row]])
        assert_allclose(wtmf.paired(bags * 1e-200, bags), 1)
        assert wtmf.paired(bags[:0], bags[:0]).shape == (0,)
        with pytest.raises(ValueError, match=r"same number of rows.*got 5 and 2"):
            wtmf.paired(bags, bags[:2])

    def test_word_vectors(self, wtmf):
        vectors = wtmf.word_vectors(["cat", "dog", "car", "bus"])
        assert vectors.nearest("cat", 1)[0][0] == "dog"
        assert_allclose(vectors["bus"], wtmf.components_[:, 3].astype(np.float32))
        with pytest.raises(ValueError, match="feature_names must be the names of the 4 columns"):
            wtmf.word_vectors(["cat"])

    def test_changed_settings_are_used_by_transform(self, wtmf, bags):
        before = wtmf.transform(bags)
        wtmf.set_params(regularization=5.0)
        expected = solve_plainly(bags, bags != 0, wtmf.components_.T, 0.01, 5.0)
        assert_allclose(wtmf.transform(bags), expected)
        assert not np.allclose(expected, before)
        wtmf.set_params(regularization=0.5).fit(bags[:, ::-1])
        assert_allclose(
            wtmf.transform(bags), solve_plainly(bags, bags != 0, wtmf.components_.T, 0.01, 0.5)
        )

    def test_progress_and_interruption(self, wtmf, bags):
        calls = []
        clone(wtmf).set_params(max_iter=3).fit(bags, progress=lambda *at: calls.append(at))
        assert calls == [(1, 3), (2, 3), (3, 3)]
        before = wtmf.components_

        def stop(_done, _total):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            wtmf.fit(bags[::-1], progress=stop)
        assert wtmf.components_ is before
        calls.clear()
        wtmf.transform(bags, progress=lambda *at: calls.append(at))
        assert calls[-1] == (5, 5)

    def test_tolerance_stops_and_warns(self, bags):
        wtmf = WTMF(2, regularization=0.5, tol=1e-3, max_iter=200, random_state=0).fit(bags)
        assert wtmf.converged_
        assert 1 < wtmf.n_iter_ < 200
        with pytest.warns(ConvergenceWarning, match="did not converge in 2 sweeps"):
            wtmf.set_params(tol=1e-9, max_iter=2).fit(bags)
        assert not wtmf.converged_

    def test_zero_tolerance_runs_all_sweeps(self, bags):
        wtmf = WTMF(2, regularization=0.5, max_iter=400, random_state=0).fit(bags)
        assert np.diff(wtmf.objectives_).max() > 0  # rounding moves it at the minimum
        assert wtmf.n_iter_ == 400
        assert not wtmf.converged_

    @pytest.mark.parametrize("n_components", [1, 3, 20])
    def test_transform_has_the_dimensions_of_fit(self, wtmf, bags, n_components):
        """A changed n_components applies to the next fit; a smaller one truncated vectors."""
        before = wtmf.transform(bags)
        wtmf.set_params(n_components=n_components)
        assert_array_equal(wtmf.transform(bags), before)
        assert_array_equal(clone(wtmf).fit(bags).transform(bags).shape, (5, n_components))

    def test_strong_regularization_warns(self, bags):
        with pytest.warns(UserWarning, match=r"keeps 0 of 2.*regularization=20 is too strong"):
            wtmf = WTMF(2, max_iter=30, random_state=0).fit(bags / 100)
        with pytest.raises(ValueError, match="vectors of all words are 0"):
            wtmf.word_vectors(["a", "b", "c", "d"])

    def test_single_remaining_dimension_warns(self):
        """With one dimension, all texts have the same direction, and every cosine is 1."""
        counts = np.random.default_rng(0).poisson(0.2, (300, 100))
        with pytest.warns(UserWarning, match=r"keeps 1 of 10 dimensions.*TfIdf"):
            wtmf = WTMF(10, random_state=0).fit(counts)
        assert np.abs(wtmf.similarity(counts[:20])).min() > 0.99
        WTMF(10, regularization=2, random_state=0).fit(counts)

    @pytest.mark.parametrize("scale", [1e200, 1e160])
    def test_weights_out_of_range_raise(self, wtmf, bags, scale):
        before = wtmf.components_
        with pytest.raises(ValueError, match=r"largest weight of X is 5e\+.*Scale X down"):
            wtmf.fit(bags * scale)
        assert wtmf.components_ is before

    def test_vectors_out_of_float32_range_raise(self, bags):
        wtmf = WTMF(2, regularization=0.5, random_state=0).fit(bags)
        wtmf.set_params(regularization=1e-12).components_ = wtmf.components_ / 1000
        row = np.array([[3e38, 0, 0, 0]], np.float32)
        with pytest.raises(ValueError, match=r"row 0 has no finite solution.*3e\+38.*pass float64"):
            wtmf.transform(row)
        assert np.isfinite(wtmf.transform(row.astype(np.float64))).all()

    def test_negligible_regularization_raises(self):
        """With more dimensions than texts, the system is singular."""
        with pytest.raises(ValueError, match=r"regularization=1e-28.*raise regularization"):
            WTMF(3, regularization=1e-28, random_state=0).fit([[1.0, 2.0], [1.0, 0.0]])

    @pytest.mark.parametrize("scale", [1e15, 1e-15])
    def test_large_and_tiny_weights_in_float32(self, scale):
        bags = sparse.random_array((50, 11_000), density=0.01, rng=np.random.default_rng(0))
        bags = bags.tocsr().astype(np.float32) * np.float32(scale)
        wtmf = WTMF(100, regularization=1e-3 * scale, max_iter=3, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # all vectors vanish
            wtmf.fit(bags)
        assert np.isfinite(wtmf.components_).all()
        assert np.isfinite(wtmf.transform(bags)).all()

    def test_single_text_and_single_word(self):
        wtmf = WTMF(3, regularization=0.1, random_state=0).fit([[2.0]])
        assert wtmf.similarity([[1.0]], [[5.0]])[0, 0] == pytest.approx(1)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"n_components": 0}, "n_components must be an integer at least 1"),
            ({"missing_weight": 1.1}, "missing_weight must be"),
            ({"missing_weight": float("nan")}, "missing_weight must be"),
            ({"regularization": 0}, "regularization must be a finite number above 0"),
            ({"orthogonality": -1}, "orthogonality must be"),
            ({"max_iter": 0}, "max_iter"),
            ({"tol": -1}, "tol"),
        ],
    )
    def test_invalid_parameters_raise(self, bags, parameters, message):
        with pytest.raises(ValueError, match=message):
            WTMF(**parameters).fit(bags)


def test_paired_reports_progress():
    bags = [[5, 4, 0, 0], [4, 0, 0, 0], [0, 5, 0, 0], [0, 0, 4, 5], [0, 0, 0, 5]]
    wtmf = WTMF(2, regularization=0.5, random_state=0).fit(bags)
    told = []
    found = wtmf.paired(bags, bags, progress=lambda *step: told.append(step))
    assert_array_equal(found, wtmf.paired(bags, bags))
    assert told[-1] == (100, 100)
    assert told == sorted(told)

    def enough(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        wtmf.paired(bags, bags, progress=enough)
