"""Fits over blocks in use: kinds of blocks, errors, and the contents of the folder."""

import errno
import os
import shutil
import warnings
from contextlib import suppress
from functools import partial
from threading import Barrier, Thread

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from models.block_cases import (
    OVER_BAGS,
    OVER_ROWS,
    assert_bit_identical,
    cut,
    learned_attributes,
    names,
    quietly,
    random_bags,
    random_points,
)
from textkin.models import (
    PLSA,
    WTMF,
    DiagonalGaussianMixture,
    VonMisesFisherMixture,
    _block_passes,
    fit_blocks,
)
from textkin.models._block_passes import Passes
from textkin.weighting import TfIdf


class TestBlocks:
    def test_files_and_functions_are_read(self, tmp_path):
        from safetensors.numpy import save_file

        bags = random_bags()
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
        assert_bit_identical(fit_blocks(TfIdf(), blocks), TfIdf().fit(bags))

    def test_paths_in_a_column(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        sparse.save_npz(tmp_path / "a.npz", random_bags())
        paths = pandas.Series([str(tmp_path / "a.npz")])
        assert_bit_identical(fit_blocks(TfIdf(), paths), TfIdf().fit(random_bags()))
        with pytest.raises(TypeError, match=r"must be a list.*; got DataFrame"):
            fit_blocks(TfIdf(), pandas.DataFrame({"path": paths}))

    def test_lists_are_accepted(self):
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
            ([np.ones((0, 3)), np.ones((0, 3))], ValueError, "at least one row in total"),
            ([["a text", "another"]], TypeError, "got text"),
            (["missing.npy"], FileNotFoundError, "missing.npy"),
            (["table.csv"], ValueError, "must end in .npz"),
            ([np.ones((2, 3)), np.array([[1.0, np.nan, 0.0]])], ValueError, "NaN"),
        ],
    )
    @pytest.mark.parametrize(
        "model", [TfIdf(), OVER_BAGS[0], OVER_BAGS[2], OVER_ROWS[0]], ids=names
    )
    def test_invalid_blocks_raise(self, model, blocks, error, told):
        model = clone(model)
        with pytest.raises(error, match=told):
            fit_blocks(model, blocks)
        assert not learned_attributes(model)

    def test_errors_name_the_block(self):
        with pytest.raises(ValueError, match="Negative") as raised:
            fit_blocks(TfIdf(), [[[1.0]], [[-1.0]]])
        assert "block 1" in str(raised.value.__notes__)

    @pytest.mark.parametrize("model", [*OVER_BAGS[::2], *OVER_ROWS[::2]], ids=names)
    @pytest.mark.parametrize("change", ["values", "rows", "columns"])
    def test_changes_between_passes_raise(self, model, change):
        """Check a regression: fits used rows of both kinds, or NumPy raised its own errors."""
        rows = random_points() if model in OVER_ROWS else random_bags().toarray()
        other = {"values": rows[20:40], "rows": rows[:21], "columns": rows[:20, :-1]}[change]
        drawn = iter([rows[:20], other])
        model = clone(model)
        with pytest.raises(RuntimeError, match="Block 0 must return the same rows in every pass"):
            fit_blocks(model, [partial(next, drawn), rows[40:]])
        assert not learned_attributes(model)

    @pytest.mark.parametrize("executor", ["threads", "joblib"])
    @pytest.mark.parametrize("model", [TfIdf(), OVER_BAGS[0], OVER_ROWS[0]], ids=names)
    def test_data_frames_set_feature_names(self, model, executor):
        pandas = pytest.importorskip("pandas")
        rows = random_points() if model in OVER_ROWS else random_bags().toarray()
        frame = pandas.DataFrame(rows, columns=[f"c{n}" for n in range(rows.shape[1])])
        whole = quietly(clone(model).fit, frame)
        blocks = [frame[:30], partial(frame.__getitem__, slice(30, None))]
        parts = quietly(fit_blocks, clone(model), blocks, executor=executor, n_jobs=1)
        assert_array_equal(parts.feature_names_in_, whole.feature_names_in_)
        assert_bit_identical(parts, quietly(fit_blocks, clone(model), blocks))

    def test_data_frames_with_columns_in_another_order_raise(self):
        """Check a regression: columns were summed by position, so counts went to other words."""
        pandas = pytest.importorskip("pandas")
        one = pandas.DataFrame([[1, 2], [3, 0]], columns=["a", "b"])
        with pytest.raises(ValueError, match=r"block 0 are called \('a', 'b'\).*block 1.*'b', 'a'"):
            fit_blocks(TfIdf(), [one, one[["b", "a"]]])
        with pytest.raises(ValueError, match="of block 1 without names"):
            fit_blocks(TfIdf(), [one, one.to_numpy()])

    @pytest.mark.parametrize("model", [TfIdf(), OVER_BAGS[0], OVER_ROWS[2]], ids=names)
    @pytest.mark.parametrize(
        "given",
        [
            lambda rows: list(rows.astype(np.float32)),  # scikit-learn converts lists to float64
            lambda rows: rows.astype(object),
            lambda rows: np.asfortranarray(rows),
            lambda rows: rows.astype(np.float16),
            lambda rows: np.ma.masked_array(rows, rows > 2),
        ],
    )
    def test_blocks_sent_to_workers_equal_local_blocks(self, model, given):
        rows = random_points() if model in OVER_ROWS else random_bags().toarray()
        blocks = [given(rows[:30]), given(rows[30:])]
        here = quietly(fit_blocks, clone(model), blocks)
        assert_bit_identical(
            here, quietly(fit_blocks, clone(model), blocks, executor="joblib", n_jobs=1)
        )

    @pytest.mark.parametrize("executor", ["threads", "joblib"])
    @pytest.mark.parametrize("model", [TfIdf(), OVER_ROWS[0]], ids=names)
    def test_invalid_rows_raise_with_any_executor(self, model, executor):
        blocks = [np.ones((1, 2)), np.array([[1, None]])]
        with pytest.raises(ValueError, match="contains NaN") as raised:
            fit_blocks(clone(model), blocks, executor=executor, n_jobs=1)
        assert "In block 1" in str(raised.value.__notes__)

    def test_file_of_several_arrays_raises(self, tmp_path):
        from safetensors.numpy import save_file

        save_file({"a": np.ones((2, 2)), "b": np.ones((2, 2))}, tmp_path / "two.safetensors")
        with pytest.raises(ValueError, match="must hold one array of rows; it has 2: a, b"):
            fit_blocks(TfIdf(), [tmp_path / "two.safetensors"])

    def test_zero_rows_raise_for_directions(self):
        with pytest.raises(ValueError, match="all rows are zero"):
            fit_blocks(VonMisesFisherMixture(1), [np.zeros((2, 3))])

    def test_too_few_rows_raise(self):
        with pytest.raises(ValueError, match="n_samples = 2; got n_components = 3"):
            fit_blocks(DiagonalGaussianMixture(3), [np.ones((1, 3)), np.zeros((1, 3))])

    @pytest.mark.parametrize(
        ("model", "told"), [(PLSA(2), "all its documents are empty"), (WTMF(2), "other than 0")]
    )
    def test_bags_without_words_raise(self, model, told):
        with pytest.raises(ValueError, match=told):
            fit_blocks(model, [np.zeros((2, 3)), np.zeros((1, 3))])

    def test_singular_systems_raise_like_in_fit(self, monkeypatch):
        """Check a regression: NumPy raised "Singular matrix"."""

        def solve(_systems, _sides):  # rounding decides which systems of equal texts are singular
            raise np.linalg.LinAlgError("Singular matrix")

        monkeypatch.setattr(np.linalg, "solve", solve)
        with pytest.raises(ValueError, match=r"no finite solution.* raise regularization"):
            fit_blocks(WTMF(2, missing_weight=0, regularization=1e-300), [np.ones((8, 1))])


class TestEstimators:
    def test_other_estimators_raise(self):
        from textkin.models import LSI

        with pytest.raises(TypeError, match="got LSI"):
            fit_blocks(LSI(2), [np.ones((2, 3))])

    def test_parameters_are_validated(self):
        with pytest.raises(ValueError, match="n_components"):
            fit_blocks(PLSA(0), [np.ones((2, 3))])

    def test_device_raises(self):
        with pytest.raises(ValueError, match="device must be None over blocks"):
            fit_blocks(PLSA(2, device="cuda"), [np.ones((2, 3))])

    def test_tempered_raises(self):
        with pytest.raises(ValueError, match="tempered must be False over blocks"):
            fit_blocks(PLSA(2, tempered=True), [np.ones((2, 3))])

    @pytest.mark.parametrize("model", [OVER_BAGS[0], OVER_ROWS[0]], ids=names)
    def test_warnings_point_at_the_caller(self, model):
        rows = random_points() if model in OVER_ROWS else random_bags()
        model = clone(model).set_params(max_iter=1, tol=0)
        with pytest.warns(ConvergenceWarning, match="did not converge in 1 steps") as told:
            fit_blocks(model, [rows])
        assert told[0].filename == __file__

    def test_wtmf_warning_points_at_the_caller(self):
        with pytest.warns(UserWarning, match="WTMF keeps") as told:
            fit_blocks(WTMF(3, regularization=1e6, random_state=0), [random_bags()])
        assert told[0].filename == __file__

    def test_progress_equals_progress_of_fit(self):
        for model in (OVER_BAGS[1], OVER_BAGS[2], OVER_ROWS[1]):
            rows = random_points() if model in OVER_ROWS else random_bags()
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
        fit_blocks(TfIdf(), cut(random_bags(), [20]), progress=lambda *now: told.append(now))
        assert told == [(1, 2), (2, 2)]

    @pytest.mark.parametrize("model", [*OVER_BAGS, *OVER_ROWS], ids=names)
    def test_interrupted_fit_leaves_the_estimator_unchanged(self, model, tmp_path):
        rows = random_points() if model in OVER_ROWS else random_bags()
        model = clone(model)
        quietly(model.fit, rows[:40])
        before = dict(vars(model))

        def interrupt(_done, _total):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fit_blocks(model, cut(rows, [20]), folder=tmp_path, progress=interrupt)
        assert vars(model) == before
        assert not list(tmp_path.iterdir())

    def test_feature_names_of_an_earlier_fit_are_removed(self):
        pandas = pytest.importorskip("pandas")
        tfidf = TfIdf().fit(pandas.DataFrame([[1, 2]], columns=["a", "b"]))
        fit_blocks(tfidf, [np.ones((2, 3))])
        assert not hasattr(tfidf, "feature_names_in_")
        assert tfidf.n_features_in_ == 3


class TestFolder:
    def test_folder_is_created_and_keeps_only_document_topics(self, tmp_path):
        bags, folder = random_bags(), tmp_path / "new" / "folder"
        here = quietly(fit_blocks, clone(OVER_BAGS[0]), cut(bags, [20]))
        there = quietly(fit_blocks, clone(OVER_BAGS[0]), cut(bags, [20]), folder=folder)
        assert [path.name for path in folder.iterdir()] == ["document_topics.npy"]
        assert isinstance(there.document_topics_, np.memmap)
        assert not isinstance(here.document_topics_, np.memmap)
        assert_bit_identical(here, there)
        there.save(tmp_path / "saved")
        assert_array_equal(PLSA.load(tmp_path / "saved").document_topics_, here.document_topics_)

    def test_document_topics_of_an_earlier_fit_are_not_overwritten(self, tmp_path):
        (tmp_path / "document_topics.npy").touch()
        with pytest.raises(FileExistsError, match="exists already and is not overwritten"):
            fit_blocks(PLSA(2), [random_bags()], folder=tmp_path)

    def test_warning_as_error_leaves_no_file(self, tmp_path):
        """Check a regression: the file remained, and the next fit raised because of it."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ConvergenceWarning):
                fit_blocks(PLSA(3, max_iter=1), [random_bags()], folder=tmp_path)
        assert not list(tmp_path.iterdir())

    def test_files_of_finished_initializations_are_removed(self, tmp_path):
        left = []

        def look(_done, _total):
            [shelf] = tmp_path.iterdir()
            left.append(len(list(shelf.glob("topics-0-*"))))

        model = PLSA(2, max_iter=3, tol=0, n_init=2, random_state=0)
        quietly(fit_blocks, model, cut(random_bags(), [20]), folder=tmp_path, progress=look)
        assert left == [2, 4, 4, 0, 0, 0]

    def test_relative_folder_works_in_another_directory(self, tmp_path, monkeypatch):
        """Simulate a worker that was started in another directory."""
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path)
        sparse.save_npz("bags.npz", random_bags())
        found = quietly(
            fit_blocks,
            clone(OVER_BAGS[0]),
            ["bags.npz"],
            folder="fit",
            progress=lambda *_: monkeypatch.chdir(tmp_path / "elsewhere"),
        )
        assert_bit_identical(found, quietly(fit_blocks, clone(OVER_BAGS[0]), [random_bags()]))
        assert (tmp_path / "fit" / "document_topics.npy").exists()

    def test_folder_is_removed_while_workers_write(self, tmp_path):
        """Workers of a cluster continue to write for some time after the fit stops."""

        def write(shelf, number, started):
            with suppress(FileNotFoundError):
                for at in range(500):
                    shelf.put(f"{number}-{at}", np.zeros(1))
                    if at == 5:
                        started.wait()

        for _ in range(10):
            blocks = Passes([[[1.0]]], None, executor=None, n_jobs=None, folder=tmp_path)
            started = Barrier(5)
            with blocks as passes:
                writers = [Thread(target=write, args=(passes.shelf, n, started)) for n in range(4)]
                for writer in writers:
                    writer.start()
                started.wait()
            for writer in writers:
                writer.join()
            assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("moment", ["rmdir", "unlink"])
    def test_folder_is_removed_despite_a_running_call(self, tmp_path, monkeypatch, moment):
        """A worker opened the folder before it was renamed, and its system call ends later."""
        original = getattr(os, moment)
        late = []

        def end_late(name, **keywords):
            if len(late) < 3:
                late.append(name)
                [folder] = tmp_path.iterdir()
                if moment == "rmdir":  # all files are removed, and a new file appears
                    (folder / f"late-{len(late)}").touch()
                else:  # a listed file gets its final name
                    (folder / name).rename(folder / f"late-{len(late)}")
            original(name, **keywords)

        with Passes([[[1.0]]], None, executor=None, n_jobs=None, folder=tmp_path) as passes:
            passes.shelf.put("one", np.zeros(1))
            monkeypatch.setattr(os, moment, end_late)
        monkeypatch.undo()
        assert len(late) == 3
        assert not list(tmp_path.iterdir())

    def test_threads_read_headers_one_after_another(self, tmp_path, monkeypatch):
        """Python 3.11 raised SystemError while two threads parsed headers, under load."""
        held = []

        def watched(load):
            def watch(*arguments, **options):
                held.append(_block_passes._HEADERS.locked())
                return load(*arguments, **options)

            return watch

        shelf = _block_passes.Shelf(tmp_path)
        shelf.put("one", np.zeros(1))
        bags = random_bags()
        sparse.save_npz(shelf._bags_file("block-0"), bags)
        np.save(tmp_path / "rows.npy", np.eye(2))
        sparse.save_npz(tmp_path / "rows.npz", bags)
        monkeypatch.setattr(np, "load", watched(np.load))
        monkeypatch.setattr(sparse, "load_npz", watched(sparse.load_npz))
        assert shelf.get("one").shape == shelf.map("one").shape == (1,)
        assert shelf._get_bags("block-0").shape == bags.shape
        assert _block_passes._read(tmp_path / "rows.npy").shape == (2, 2)
        assert _block_passes._read(tmp_path / "rows.npz").shape == bags.shape
        assert len(held) >= 5
        assert all(held)
        assert not _block_passes._HEADERS.locked()

    def test_folder_that_cannot_be_removed_is_not_an_error(self, tmp_path, monkeypatch):
        def fail(_path, ignore_errors=False):
            if not ignore_errors:
                raise PermissionError(errno.EACCES, "Permission denied")

        with Passes([[[1.0]]], None, executor=None, n_jobs=None, folder=tmp_path):
            monkeypatch.setattr(shutil, "rmtree", fail)
        assert len(list(tmp_path.iterdir())) == 1

    def test_folder_of_other_models_is_left_empty(self, tmp_path):
        quietly(fit_blocks, clone(OVER_BAGS[2]), cut(random_bags(), [20]), folder=tmp_path)
        assert not list(tmp_path.iterdir())

    def test_folder_that_workers_cannot_read_raises(self, tmp_path):
        from textkin.models._block_passes import Shelf

        shelf = Shelf(tmp_path / "missing")
        told = f"cannot find {tmp_path}.*all workers share"
        with pytest.raises(FileNotFoundError, match=told):
            shelf.get("topics-0-1-0")
        with pytest.raises(FileNotFoundError, match=told):
            shelf.put("topics-0-1-0", np.zeros(2))

    @pytest.mark.parametrize("rows", [np.ones((2, 3)), random_bags()], ids=["dense", "bags"])
    def test_folder_without_the_block_of_a_worker_raises(self, rows, tmp_path):
        """On most clusters without a shared folder, this error comes first."""
        from textkin.models._block_passes import Block, Shelf

        shelf = Shelf(tmp_path)
        kept = shelf.keep_block(Block(0, rows, lambda found: found))
        for file in tmp_path.iterdir():
            file.unlink()
        with pytest.raises(FileNotFoundError, match="all workers share"):
            kept.read()
