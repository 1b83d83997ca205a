"""What blocks may be, what is refused, and what a fit over blocks leaves behind."""

import time
import warnings
from contextlib import suppress
from functools import partial
from threading import Thread

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from models.block_cases import (
    OVER_BAGS,
    OVER_ROWS,
    assert_same_bits,
    cut,
    drawn_bags,
    drawn_rows,
    learnt,
    names,
    quietly,
)
from textkin.models import (
    PLSA,
    WTMF,
    GaussianMixture,
    VonMisesFisherMixture,
    fit_blocks,
)
from textkin.models.blocks._passes import Passes
from textkin.weighting import TfIdf


class TestBlocks:
    def test_are_read_from_files_and_functions(self, tmp_path):
        from safetensors.numpy import save_file

        bags = drawn_bags()
        first, second, third, fourth = cut(bags, [10, 20, 30])
        sparse.save_npz(tmp_path / "a.npz", first)
        np.save(tmp_path / "b.npy", second.toarray())
        save_file({"rows": third.toarray()}, tmp_path / "c.safetensors")
        blocks = [
            tmp_path / "a.npz",
            str(tmp_path / "b.npy"),
            tmp_path / "c.safetensors",
            partial(fourth.copy),
        ]
        assert_same_bits(fit_blocks(TfIdf(), blocks), TfIdf().fit(bags))

    def test_may_be_paths_in_a_column(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        sparse.save_npz(tmp_path / "a.npz", drawn_bags())
        paths = pandas.Series([str(tmp_path / "a.npz")])
        assert_same_bits(fit_blocks(TfIdf(), paths), TfIdf().fit(drawn_bags()))
        with pytest.raises(TypeError, match=r"must be a list.*; got DataFrame"):
            fit_blocks(TfIdf(), pandas.DataFrame({"path": paths}))

    def test_may_be_lists(self):
        found = fit_blocks(TfIdf(norm=None), [[[2, 1, 0], [0, 1, 1]], [[1, 1, 0], [0, 1, 0]]])
        assert_array_equal(found.idf_, [1, 0, 2])

    @pytest.mark.parametrize(
        ("blocks", "error", "told"),
        [
            ([], ValueError, "at least one block"),
            ("a.npz", TypeError, "must be a list"),
            (np.ones((2, 3)), TypeError, "must be a list"),
            ({"a": np.ones((2, 3))}, TypeError, "must be a list"),
            (None, TypeError, "must be a list"),
            (partial(np.ones, (2, 3)), TypeError, "must be a list"),
            ([3], TypeError, "must be an array, a sparse array, a path"),
            ([np.ones((2, 3)), np.ones((2, 4))], ValueError, "block 0 has 3 and block 1 has 4"),
            ([np.ones((0, 3)), np.ones((0, 3))], ValueError, "at least one row together"),
            ([["a text", "another"]], TypeError, "got text"),
            (["missing.npy"], FileNotFoundError, "missing.npy"),
            (["table.csv"], ValueError, "must end in .npz"),
            ([np.ones((2, 3)), np.array([[1.0, np.nan, 0.0]])], ValueError, "NaN"),
        ],
    )
    @pytest.mark.parametrize(
        "model", [TfIdf(), OVER_BAGS[0], OVER_BAGS[2], OVER_ROWS[0]], ids=names
    )
    def test_that_are_none_are_refused(self, model, blocks, error, told):
        model = clone(model)
        with pytest.raises(error, match=told):
            fit_blocks(model, blocks)
        assert not learnt(model)

    def test_an_error_names_the_block(self):
        with pytest.raises(ValueError, match="Negative") as raised:
            fit_blocks(TfIdf(), [[[1.0]], [[-1.0]]])
        assert "block 1" in str(raised.value.__notes__)

    @pytest.mark.parametrize("model", [*OVER_BAGS[::2], *OVER_ROWS[::2]], ids=names)
    @pytest.mark.parametrize("change", ["values", "rows", "columns"])
    def test_that_change_between_passes_are_refused(self, model, change):
        """Some were fitted to rows of both kinds, others met errors of NumPy."""
        rows = drawn_rows() if model in OVER_ROWS else drawn_bags().toarray()
        other = {"values": rows[20:40], "rows": rows[:21], "columns": rows[:20, :-1]}[change]
        drawn = iter([rows[:20], other])
        model = clone(model)
        with pytest.raises(RuntimeError, match="block 0 has changed since the fit began"):
            fit_blocks(model, [partial(next, drawn), rows[40:]])
        assert not learnt(model)

    @pytest.mark.parametrize("on", ["threads", "joblib"])
    @pytest.mark.parametrize("model", [TfIdf(), OVER_BAGS[0], OVER_ROWS[0]], ids=names)
    def test_of_data_frames_have_names_as_in_fit(self, model, on):
        pandas = pytest.importorskip("pandas")
        rows = drawn_rows() if model in OVER_ROWS else drawn_bags().toarray()
        frame = pandas.DataFrame(rows, columns=[f"c{n}" for n in range(rows.shape[1])])
        whole = quietly(clone(model).fit, frame)
        blocks = [frame[:30], partial(frame.__getitem__, slice(30, None))]
        parts = quietly(fit_blocks, clone(model), blocks, on=on, n_jobs=1)
        assert_array_equal(parts.feature_names_in_, whole.feature_names_in_)
        assert_same_bits(parts, quietly(fit_blocks, clone(model), blocks))

    def test_of_data_frames_with_columns_in_another_order_are_refused(self):
        """They were summed up by their places: words got each other's counts."""
        pandas = pytest.importorskip("pandas")
        one = pandas.DataFrame([[1, 2], [3, 0]], columns=["a", "b"])
        with pytest.raises(ValueError, match=r"block 0 are called \('a', 'b'\).*block 1.*'b', 'a'"):
            fit_blocks(TfIdf(), [one, one[["b", "a"]]])
        with pytest.raises(ValueError, match="those of block 1 without names"):
            fit_blocks(TfIdf(), [one, one.to_numpy()])

    @pytest.mark.parametrize("model", [TfIdf(), OVER_BAGS[0], OVER_ROWS[2]], ids=names)
    @pytest.mark.parametrize(
        "given",
        [
            lambda rows: list(rows.astype(np.float32)),  # float64 to scikit-learn, of dense rows
            lambda rows: rows.astype(object),
            lambda rows: np.asfortranarray(rows),
            lambda rows: rows.astype(np.float16),
            lambda rows: np.ma.masked_array(rows, rows > 2),
        ],
    )
    def test_that_are_sent_away_are_those_that_are_here(self, model, given):
        rows = drawn_rows() if model in OVER_ROWS else drawn_bags().toarray()
        blocks = [given(rows[:30]), given(rows[30:])]
        here = quietly(fit_blocks, clone(model), blocks)
        assert_same_bits(here, quietly(fit_blocks, clone(model), blocks, on="joblib", n_jobs=1))

    @pytest.mark.parametrize("on", ["threads", "joblib"])
    @pytest.mark.parametrize("model", [TfIdf(), OVER_ROWS[0]], ids=names)
    def test_that_fit_refuses_are_refused_wherever_the_work_is_done(self, model, on):
        blocks = [np.ones((1, 2)), np.array([[1, None]])]
        with pytest.raises(ValueError, match="contains NaN") as raised:
            fit_blocks(clone(model), blocks, on=on, n_jobs=1)
        assert "In block 1" in str(raised.value.__notes__)

    def test_a_file_of_several_arrays_is_refused(self, tmp_path):
        from safetensors.numpy import save_file

        save_file({"a": np.ones((2, 2)), "b": np.ones((2, 2))}, tmp_path / "two.safetensors")
        with pytest.raises(ValueError, match="must hold one array of rows; it has 2: a, b"):
            fit_blocks(TfIdf(), [tmp_path / "two.safetensors"])

    def test_all_zero_rows_have_no_direction(self):
        with pytest.raises(ValueError, match="all of them are zero"):
            fit_blocks(VonMisesFisherMixture(1), [np.zeros((2, 3))])

    def test_too_few_rows_are_refused(self):
        with pytest.raises(ValueError, match="n_samples = 2; got n_components = 3"):
            fit_blocks(GaussianMixture(3), [np.ones((1, 3)), np.zeros((1, 3))])

    @pytest.mark.parametrize(
        ("model", "told"), [(PLSA(2), "all its documents are empty"), (WTMF(2), "other than 0")]
    )
    def test_bags_without_words_are_refused(self, model, told):
        with pytest.raises(ValueError, match=told):
            fit_blocks(model, [np.zeros((2, 3)), np.zeros((1, 3))])

    def test_systems_that_cannot_be_solved_are_told_as_in_fit(self, monkeypatch):
        """They were an error of NumPy: Singular matrix."""

        def solve(_systems, _sides):  # rounding decides which systems of equal texts are singular
            raise np.linalg.LinAlgError("Singular matrix")

        monkeypatch.setattr(np.linalg, "solve", solve)
        with pytest.raises(ValueError, match=r"cannot be solved.* raise regularization"):
            fit_blocks(WTMF(2, missing_weight=0, regularization=1e-300), [np.ones((8, 1))])


class TestEstimators:
    def test_others_are_refused(self):
        from textkin.models import LSI

        with pytest.raises(TypeError, match="got LSI"):
            fit_blocks(LSI(2), [np.ones((2, 3))])

    def test_parameters_are_checked(self):
        with pytest.raises(ValueError, match="n_components"):
            fit_blocks(PLSA(0), [np.ones((2, 3))])

    def test_a_device_is_refused(self):
        with pytest.raises(ValueError, match="device must be None over blocks"):
            fit_blocks(PLSA(2, device="cuda"), [np.ones((2, 3))])

    def test_tempering_is_refused(self):
        with pytest.raises(ValueError, match="tempered must be False over blocks"):
            fit_blocks(PLSA(2, tempered=True), [np.ones((2, 3))])

    @pytest.mark.parametrize("model", [OVER_BAGS[0], OVER_ROWS[0]], ids=names)
    def test_warnings_point_at_the_caller(self, model):
        rows = drawn_rows() if model in OVER_ROWS else drawn_bags()
        model = clone(model).set_params(max_iter=1, tol=0)
        with pytest.warns(ConvergenceWarning, match="did not converge in 1 steps") as told:
            fit_blocks(model, [rows])
        assert told[0].filename == __file__

    def test_a_warning_of_wtmf_points_at_the_caller(self):
        with pytest.warns(UserWarning, match="WTMF keeps") as told:
            fit_blocks(WTMF(3, regularization=1e6, random_state=0), [drawn_bags()])
        assert told[0].filename == __file__

    def test_progress_is_that_of_fit(self):
        for model in (OVER_BAGS[1], OVER_BAGS[2], OVER_ROWS[1]):
            rows = drawn_rows() if model in OVER_ROWS else drawn_bags()
            whole, parts = [], []
            quietly(clone(model).fit, rows, progress=lambda *told, out=whole: out.append(told))
            quietly(
                fit_blocks,
                clone(model),
                cut(rows, [20]),
                progress=lambda *told, out=parts: out.append(told),
            )
            assert parts == whole

    def test_progress_of_a_weighting_counts_blocks(self):
        told = []
        fit_blocks(TfIdf(), cut(drawn_bags(), [20]), progress=lambda *now: told.append(now))
        assert told == [(1, 2), (2, 2)]

    @pytest.mark.parametrize("model", [*OVER_BAGS, *OVER_ROWS], ids=names)
    def test_an_interrupted_fit_changes_nothing(self, model, tmp_path):
        rows = drawn_rows() if model in OVER_ROWS else drawn_bags()
        model = clone(model)
        quietly(model.fit, rows[:40])
        before = dict(vars(model))

        def interrupt(_done, _total):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fit_blocks(model, cut(rows, [20]), folder=tmp_path, progress=interrupt)
        assert vars(model) == before
        assert not list(tmp_path.iterdir())

    def test_names_of_columns_of_an_earlier_fit_are_gone(self):
        pandas = pytest.importorskip("pandas")
        tfidf = TfIdf().fit(pandas.DataFrame([[1, 2]], columns=["a", "b"]))
        fit_blocks(tfidf, [np.ones((2, 3))])
        assert not hasattr(tfidf, "feature_names_in_")
        assert tfidf.n_features_in_ == 3


class TestFolder:
    def test_is_made_and_keeps_the_topics_of_documents_alone(self, tmp_path):
        bags, folder = drawn_bags(), tmp_path / "new" / "folder"
        here = quietly(fit_blocks, clone(OVER_BAGS[0]), cut(bags, [20]))
        there = quietly(fit_blocks, clone(OVER_BAGS[0]), cut(bags, [20]), folder=folder)
        assert [path.name for path in folder.iterdir()] == ["document_topics.npy"]
        assert isinstance(there.document_topics_, np.memmap)
        assert not isinstance(here.document_topics_, np.memmap)
        assert_same_bits(here, there)
        there.save(tmp_path / "saved")
        assert_array_equal(PLSA.load(tmp_path / "saved").document_topics_, here.document_topics_)

    def test_topics_of_an_earlier_fit_are_kept(self, tmp_path):
        (tmp_path / "document_topics.npy").touch()
        with pytest.raises(FileExistsError, match="exists already and is kept"):
            fit_blocks(PLSA(2), [drawn_bags()], folder=tmp_path)

    def test_a_warning_that_is_an_error_leaves_none(self, tmp_path):
        """The file stayed, and the next fit was refused because of it."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ConvergenceWarning):
                fit_blocks(PLSA(3, max_iter=1), [drawn_bags()], folder=tmp_path)
        assert not list(tmp_path.iterdir())

    def test_steps_of_starts_that_are_over_do_not_stay(self, tmp_path):
        left = []

        def look(_done, _total):
            [shelf] = tmp_path.iterdir()
            left.append(len(list(shelf.glob("topics-0-*"))))

        model = PLSA(2, max_iter=3, tol=0, n_init=2, random_state=0)
        quietly(fit_blocks, model, cut(drawn_bags(), [20]), folder=tmp_path, progress=look)
        assert left == [2, 4, 4, 0, 0, 0]

    def test_a_path_stays_the_same_in_another_directory(self, tmp_path, monkeypatch):
        """As on a worker that was started elsewhere."""
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path)
        sparse.save_npz("bags.npz", drawn_bags())
        found = quietly(
            fit_blocks,
            clone(OVER_BAGS[0]),
            ["bags.npz"],
            folder="fit",
            progress=lambda *_: monkeypatch.chdir(tmp_path / "elsewhere"),
        )
        assert_same_bits(found, quietly(fit_blocks, clone(OVER_BAGS[0]), [drawn_bags()]))
        assert (tmp_path / "fit" / "document_topics.npy").exists()

    def test_goes_though_workers_still_write_to_it(self, tmp_path):
        """Those of a cluster that was told to stop: files came between, and the folder stayed."""

        def write(shelf, number):
            with suppress(FileNotFoundError):
                for at in range(500):
                    shelf.put(f"{number}-{at}", np.zeros(1))

        for _ in range(10):
            blocks = Passes([[[1.0]]], None, on=None, n_jobs=None, folder=tmp_path)
            with blocks as passes:
                writers = [Thread(target=write, args=(passes.shelf, n)) for n in range(4)]
                for writer in writers:
                    writer.start()
                time.sleep(0.01)
            for writer in writers:
                writer.join()
            assert not list(tmp_path.iterdir())

    def test_of_other_models_is_left_empty(self, tmp_path):
        quietly(fit_blocks, clone(OVER_BAGS[2]), cut(drawn_bags(), [20]), folder=tmp_path)
        assert not list(tmp_path.iterdir())

    def test_that_workers_do_not_see_is_told(self, tmp_path):
        from textkin.models.blocks._passes import Shelf

        shelf = Shelf(tmp_path / "missing")
        told = f"does not find {tmp_path}.*Give a folder= that all workers see"
        with pytest.raises(FileNotFoundError, match=told):
            shelf.get("topics-0-1-0")
        with pytest.raises(FileNotFoundError, match=told):
            shelf.put("topics-0-1-0", np.zeros(2))

    @pytest.mark.parametrize("rows", [np.ones((2, 3)), drawn_bags()], ids=["dense", "bags"])
    def test_that_has_no_block_for_a_worker_is_told(self, rows, tmp_path):
        """Most clusters without a shared folder meet this one first."""
        from textkin.models.blocks._passes import Shelf
        from textkin.models.blocks._sources import Block

        shelf = Shelf(tmp_path)
        kept = shelf.keep_block(Block(0, rows, lambda found: found))
        for file in tmp_path.iterdir():
            file.unlink()
        with pytest.raises(FileNotFoundError, match="Give a folder= that all workers see"):
            kept.opened()
