"""Runner: cells are computed once, stored, reused, and reported if missing."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from papers.cells import MissingDataError
from papers.report import write_results
from papers.results import Results
from papers.runner import Experiment, Method, run_experiment
from papers.tables import Grid
from textkin._base import hinted

calls: list[tuple] = []


@pytest.fixture(autouse=True)
def _no_calls():
    calls.clear()


def measured(task, factor=1):
    calls.append((task.dataset, task.cell.method, task.split))
    lines = task.memo("lines", lambda: read(task), "dataset")
    return {"sum": factor * sum(lines) + task.split, "quick": task.quick}


def read(task):
    calls.append(("read", task.dataset))
    return [int(line) for line in task.file(f"{task.dataset}.txt").read_text().split()]


def failing(task):
    raise RuntimeError(f"nothing\nworks on {task.dataset}")


def toy(**methods):
    return Experiment(
        name="toy",
        title="Sums",
        source="nowhere",
        protocol="Add.",
        datasets=["a", "b"],
        methods=methods or {"plain": Method(measured), "twice": Method(measured, {"factor": 2})},
        files=lambda dataset: [f"{dataset}.txt"],
        splits=lambda data, dataset, quick: 1 if quick or dataset != "b" else 2,
        tables=lambda results: [Grid("Sums", ["", "n"], [["a", "1"]])],
    )


@pytest.fixture
def data(tmp_path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.txt").write_text("1 2 3")
    (folder / "b.txt").write_text("10 20")
    return folder


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "out"


def test_every_cell_is_computed_once_and_stored(data, out):
    told = []
    first = run_experiment(toy(), data, out, progress=lambda *numbers: told.append(numbers))
    assert [(c.dataset, c.method, c.split, c.values["sum"]) for c in first.cells] == [
        ("a", "plain", 0, 6),
        ("a", "twice", 0, 12),
        ("b", "plain", 0, 30),
        ("b", "twice", 0, 60),
        ("b", "plain", 1, 31),
        ("b", "twice", 1, 61),
    ]
    assert calls.count(("read", "a")) == calls.count(("read", "b")) == 1
    assert told == [(done, 6) for done in range(1, 7)]
    calls.clear()
    again = run_experiment(toy(), data, out)
    assert calls == []
    assert again.cells == first.cells


def test_means_and_errors_are_over_splits(data, out):
    found = run_experiment(toy(), data, out)
    assert found.mean("plain", "b", "sum") == 30.5
    assert found.error("plain", "b", "sum") == pytest.approx(0.5)
    assert found.error("plain", "a", "sum") is None
    assert found.mean("plain", "c", "sum") is None


@pytest.mark.parametrize(
    ("change", "n"),
    [
        (lambda data: toy(), 0),
        (lambda data: toy(plain=Method(measured, version=2), twice=Method(measured)), 6),
        (lambda data: toy(plain=Method(measured), twice=Method(measured, {"factor": 3})), 3),
        (lambda data: (data / "a.txt").write_text("7") and toy(), 2),
    ],
)
def test_changed_dependencies_cause_recomputation(data, out, change, n):
    run_experiment(toy(), data, out)
    calls.clear()
    run_experiment(change(data), data, out)
    assert len([call for call in calls if call[0] != "read"]) == n


def test_fresh_recomputes_and_quick_is_separate(data, out):
    run_experiment(toy(), data, out)
    calls.clear()
    run_experiment(toy(), data, out, methods=["plain"], datasets=["a"], fresh=True)
    assert calls == [("a", "plain", 0), ("read", "a")]
    quick = run_experiment(toy(), data, out, quick=True)
    assert [cell.values["quick"] for cell in quick.cells] == [True] * 4


def test_subset_of_cells_is_merged_with_earlier_cells(data, out):
    run_experiment(toy(), data, out, datasets=["a"])
    found = run_experiment(toy(), data, out, methods=["twice"], datasets=["b"])
    assert [(c.dataset, c.method) for c in found.cells] == [
        ("a", "plain"),
        ("a", "twice"),
        ("b", "twice"),
        ("b", "twice"),
    ]


def test_failure_is_reported_in_its_cell_and_retried(data, out):
    experiment = toy(bad=Method(failing), plain=Method(measured))
    found = run_experiment(experiment, data, out)
    bad = found.outcomes("bad", "a")[0]
    assert bad.values is None
    assert bad.missing == "RuntimeError: nothing works on a"
    assert found.mean("plain", "a", "sum") == 6
    mended = toy(bad=Method(measured), plain=Method(measured))
    assert run_experiment(mended, data, out).mean("bad", "a", "sum") == 6


def test_failure_of_all_cells_is_an_error(data, out):
    with pytest.raises(ValueError, match=r"All cells of toy failed\. First error: Runtime"):
        run_experiment(toy(bad=Method(failing)), data, out)


def test_result_that_is_not_json_is_a_failure(data, out):
    experiment = toy(bad=Method(lambda task: {"n": float("nan")}), plain=Method(measured))
    assert "JSON" in run_experiment(experiment, data, out).outcomes("bad", "a")[0].missing


def test_warnings_are_reported_with_their_cell(data, out):
    def warned(task):
        np.log(np.zeros(1))
        return {"n": 1}

    found = run_experiment(toy(warned=Method(warned)), data, out, datasets=["a"])
    assert found.cells[0].warnings == ("RuntimeWarning: divide by zero encountered in log",)


def test_missing_set_is_reported_without_the_folder(data, out):
    (data / "b.txt").unlink()
    found = run_experiment(toy(), data, out)
    assert found.outcomes("plain", "b")[0].missing == "b.txt is not in the data folder."
    assert found.mean("plain", "a", "sum") == 6
    with pytest.raises(MissingDataError, match=r"^b.txt is not in the data folder\.\n") as told:
        run_experiment(toy(), data, out, datasets=["b"])
    assert str(data) in told.value.__notes__[0]
    with pytest.raises(MissingDataError, match="The data folder"):
        run_experiment(toy(), data / "x", out)


def test_set_with_unknown_splits_does_not_affect_others(data, out):
    def splits(folder, dataset, quick):
        if dataset == "a":
            raise ValueError("Not a gzipped file")
        return 1

    broken = replace(toy(), splits=splits)
    found = run_experiment(broken, data, out)
    told = {cell.dataset: cell.missing for cell in found.cells}
    assert told == {
        "a": "ValueError: The splits of a.txt cannot be counted: Not a gzipped file",
        "b": "",
    }
    assert run_experiment(broken, data, out, datasets=["b"]).datasets == ["b"]
    with pytest.raises(ValueError, match=r"The splits of a\.txt cannot be counted"):
        run_experiment(broken, data, out, datasets=["a"])


def test_hints_of_the_library_are_omitted_from_the_errors_of_a_run(data, out):
    def reading(task):
        hint = "Pass `errors='skip'`."
        raise hinted(ValueError, f"a, line 2: is bad. {hint}", hint)

    with pytest.raises(ValueError, match=r"First error: ValueError: a, line 2: is bad\.$"):
        run_experiment(toy(only=Method(reading)), data, out)


@pytest.mark.parametrize("jobs", [0, "two"])
def test_invalid_number_of_threads_raises_first(data, out, jobs):
    with pytest.raises((TypeError, ValueError), match="n_jobs must"):
        run_experiment(toy(), data, out, n_jobs=jobs)
    assert calls == []


def test_invalid_work_folder_raises_first(data, out, monkeypatch):
    out.write_text("a file")
    with pytest.raises(ValueError, match=r"The work folder must be a folder; .*out is a file"):
        run_experiment(toy(), data, out)
    out.unlink()
    with monkeypatch.context() as changed:
        changed.setattr("os.access", lambda path, mode: False)
        with pytest.raises(PermissionError):
            run_experiment(toy(), data, out)
    assert calls == []


def test_files_of_a_method_are_separate(data, out):
    methods = {"plain": Method(measured), "more": Method(measured, files=["v.txt"])}
    found = run_experiment(toy(**methods), data, out, datasets=["a"])
    assert found.outcomes("more", "a")[0].missing == "v.txt is not in the data folder."
    assert found.mean("plain", "a", "sum") == 6
    for content in ("1", "2"):
        (data / "v.txt").write_text(content)
        calls.clear()
        assert run_experiment(toy(**methods), data, out, datasets=["a"]).mean("more", "a", "sum")
        assert [call[1] for call in calls if call[0] != "read"] == ["more"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"methods": ["thrice"]}, "methods of toy are 'plain', 'twice'; got 'thrice'."),
        ({"methods": []}, "must name at least one"),
        ({"datasets": []}, "must name at least one"),
    ],
)
def test_invalid_choices_raise_first(data, out, wrong, said):
    with pytest.raises(ValueError, match=said):
        run_experiment(toy(), data, out, **wrong)
    assert not out.exists()


def test_method_may_apply_to_some_sets_only(data, out):
    own = Method(measured, on=lambda dataset: dataset == "a")
    experiment = toy(own=own, plain=Method(measured))
    found = run_experiment(experiment, data, out)
    assert [(c.dataset, c.method) for c in found.cells] == [
        ("a", "own"),
        ("a", "plain"),
        ("b", "plain"),
        ("b", "plain"),
    ]
    with pytest.raises(
        ValueError, match=r"toy measures none of the methods 'own' on any of .* 'b'"
    ):
        run_experiment(experiment, data, out, methods=["own"], datasets=["b"])


def test_next_run_resumes_after_ctrl_c(data, out):
    def stop(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as stopped:
        run_experiment(toy(), data, out, progress=stop)
    assert stopped.value.__notes__[0].startswith("3 of 6 cells are finished")
    calls.clear()
    run_experiment(toy(), data, out)
    assert [call for call in calls if call[0] != "read"] == [
        ("b", "twice", 0),
        ("b", "plain", 1),
        ("b", "twice", 1),
    ]


@pytest.mark.parametrize("damage", ["", "{", "[" * 100_000, '{"key": {}, "outcome": {}}', "[]"])
def test_corrupt_cell_is_recomputed(data, out, damage):
    run_experiment(toy(), data, out)
    calls.clear()
    for file in (out / "cells" / "toy").glob("a-*.json"):
        file.write_text(damage)
    run_experiment(toy(), data, out)
    assert [call[:2] for call in calls if call[0] != "read"] == [("a", "plain"), ("a", "twice")]


def test_shared_objects_are_created_once_per_scope(data, out):
    made = []

    def common(task):
        for scope in ("run", "dataset", "split"):
            task.memo(scope, lambda scope=scope: made.append(scope), scope)
        return {"n": 1}

    run_experiment(toy(one=Method(common), two=Method(common)), data, out)
    assert {scope: made.count(scope) for scope in made} == {"run": 1, "dataset": 2, "split": 3}


def test_arrays_are_stored_on_disk(data, out):
    made = []

    def dear(task, scale):
        def make():
            made.append(scale)
            return {"x": scale * np.arange(6.0).reshape(2, 3)[:, ::2]}

        found = task.arrays("x", make, scale=scale)["x"]
        return {"x": found.tolist()}

    methods = {"one": Method(dear, {"scale": 2}), "other": Method(dear, {"scale": 3})}
    first = run_experiment(toy(**methods), data, out, datasets=["a"])
    assert made == [2, 3]
    for cell in (out / "cells" / "toy").glob("*.json"):
        cell.unlink()
    again = run_experiment(toy(**methods), data, out, datasets=["a"])
    assert made == [2, 3]
    assert first.cells[0].values == again.cells[0].values == {"x": [[0, 4], [6, 10]]}
    run_experiment(toy(**methods), data, out, datasets=["a"], fresh=True)
    assert made == [2, 3, 2, 3]
    for file in (out / "cells" / "toy").iterdir():
        file.write_bytes(b"damaged")
    run_experiment(toy(**methods), data, out, datasets=["a"])
    assert made == [2, 3, 2, 3, 2, 3]


def test_methods_share_arrays_unless_their_versions_differ(data, out):
    made = []

    def dear(task):
        found = task.arrays("x", lambda: made.append(task.cell.method) or {"x": np.ones(2)})
        return {"x": found["x"].tolist()}

    methods = {"one": Method(dear), "two": Method(dear), "new": Method(dear, version=2)}
    run_experiment(toy(**methods), data, out, datasets=["a"], fresh=True)
    assert made == ["one", "new"]


def test_seeds_follow_from_names(data, out):
    methods = {"one": Method(lambda task: {"seed": task.seed})}
    methods["two"] = methods["one"]
    seeds = [c.values["seed"] for c in run_experiment(toy(**methods), data, out).cells]
    assert len(set(seeds)) == 6
    again = run_experiment(toy(**methods), data, out, fresh=True)
    assert [cell.values["seed"] for cell in again.cells] == seeds


def test_results_are_restored_from_their_file(data, out):
    found = run_experiment(toy(), data, out)
    page, record, *_ = write_results(toy(), found, out)
    assert page.read_text().startswith("# Sums\n")
    assert Results.load(record) == found
    record.write_text(json.dumps({"format": 1}))
    with pytest.raises(ValueError, match="is not a results file of python -m papers"):
        Results.load(record)
