"""``python -m papers`` on tiny data, and error messages with fixes."""

import gzip
import json

import pytest

from papers.command import main
from papers.experiments import experiment


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    (folder / "classification").mkdir()
    for name in ("r8", "mine"):
        records = [
            {
                "id": str(i),
                "text": "cats purr" if i % 2 else f"bread {'and cheese ' * (i % 3)}",
                "label": i % 2,
                "split": "test" if i % 4 == 3 else "train",
            }
            for i in range(12)
        ]
        lines = "\n".join(json.dumps(record) for record in records)
        path = folder / "classification" / f"{name}.jsonl.gz"
        path.write_bytes(gzip.compress(lines.encode()))
    return folder


def test_experiments_are_listed(capsys):
    assert main(["list"]) == 0
    assert "knn  " in capsys.readouterr().out
    assert main(["list", "--json"]) == 0
    [first, *_] = json.loads(capsys.readouterr().out)["experiments"]
    assert first["name"] == "datasets"
    assert first["methods"] == ["counts"]


def test_help_without_a_command(capsys):
    assert main([]) == 0
    assert "report" in capsys.readouterr().out


def test_experiment_writes_its_results(data, tmp_path, capsys):
    out = tmp_path / "out"
    asked = ["datasets", "--data", str(data), "--out", str(out)]
    assert main([*asked, "--datasets", "r8", "mine"]) == 0
    said = capsys.readouterr().out
    assert "| r8 | 9 | 3 |" in said
    assert "`python -m papers datasets --data FOLDER --datasets r8 mine`" in said
    assert str(data) not in said
    assert (
        said
        == (out / "datasets.md").read_text() + f"\nwrote {out}/datasets.md, {out}/datasets.json\n"
    )
    assert main([*asked, "--datasets", "r8", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["cells"][0]["values"]["train"] == 9
    assert told["files"][0] == str(out / "datasets.md")


def test_report_of_all_results(data, tmp_path, capsys):
    out = tmp_path / "out"
    for name, *more in (("datasets",), ("knn", "--quick", "--methods", "WCD", "BOW L1/L1")):
        asked = [name, "--data", str(data), "--out", str(out), "--datasets", "r8"]
        assert main([*asked, *more]) == 0
    capsys.readouterr()
    page = tmp_path / "docs" / "results.md"
    assert main(["report", str(out), "-o", str(page), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["experiments"] == ["datasets", "knn"]
    text = page.read_text()
    assert text.index("[The data sets](results/datasets.md)") < text.index("[Nearest neighbors")
    assert "\n| WCD | " in (page.parent / "results" / "knn.md").read_text()
    assert (page.parent / "results" / "knn-errors.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["magic", "--data", "."], "experiment must be one of datasets, knn"),
        (["datasets"], "Missing option '--data'"),
        (["datasets", "--data", "nowhere"], "The data folder nowhere does not exist."),
        (["knn", "--data", "DATA", "--methods", "magic"], "methods of knn are 'BOW none/L1', "),
        (
            ["datasets", "--data", "DATA", "--datasets", "r9"],
            "classification/r9.jsonl.gz is not in the data folder. The data folder is ",
        ),
        (["datasets", "--data", "DATA", "--jobs", "0"], "--jobs must be a number of threads, or"),
        (["report", "nowhere"], "nowhere does not exist. Pass a results file or folder."),
        (["report", "DATA"], "contains no results. Run python -m papers EXPERIMENT first."),
        (
            ["report", "DATA/classification/r8.jsonl.gz"],
            "is not a results file of python -m papers",
        ),
    ],
)
def test_invalid_input_prints_one_line(data, tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    given = [argument.replace("DATA", str(data)) for argument in arguments]
    assert main(given) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_cells_without_a_number_are_noted(data, tmp_path, capsys):
    asked = ["datasets", "--data", str(data), "--out", str(tmp_path)]
    assert main([*asked, "--datasets", "r8", "r9"]) == 0
    said = capsys.readouterr()
    assert "| r8 | 9 | 3 |" in said.out
    assert said.err == (
        "papers: note: 1 of 2 cells has no result. First: counts on r9: "
        "classification/r9.jsonl.gz is not in the data folder.\n"
    )


def test_ctrl_c_reports_kept_results(data, tmp_path, monkeypatch, capsys):
    chosen = experiment("datasets")

    def stopped(task):
        raise KeyboardInterrupt

    method = chosen.methods["counts"]
    monkeypatch.setitem(chosen.methods, "counts", type(method)(stopped))
    asked = ["datasets", "--data", str(data), "--out", str(tmp_path)]
    assert main([*asked, "--datasets", "r8"]) == 130
    said = capsys.readouterr().err
    assert "interrupted. 0 of 1 cells are finished and stored in" in said
    assert "run the same command to resume" in said
