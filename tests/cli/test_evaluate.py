"""``textkin evaluate``: on tiny data, with errors that say the way out."""

import gzip
import json

import pytest

from textkin.cli import main
from textkin.evaluate import experiment


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


def test_a_list_of_experiments(capsys):
    assert main(["evaluate", "list"]) == 0
    assert "knn  " in capsys.readouterr().out
    assert main(["evaluate", "list", "--json"]) == 0
    [first, *_] = json.loads(capsys.readouterr().out)["experiments"]
    assert first["name"] == "datasets"
    assert first["methods"] == ["counts"]


def test_help_is_what_comes_without_a_command(capsys):
    assert main(["evaluate"]) == 0
    assert "report" in capsys.readouterr().out


def test_an_experiment_writes_its_results(data, tmp_path, capsys):
    out = tmp_path / "out"
    asked = ["evaluate", "datasets", "--data", str(data), "--out", str(out)]
    assert main([*asked, "--datasets", "r8", "mine"]) == 0
    said = capsys.readouterr().out
    assert "| r8 | 9 | 3 |" in said
    assert "`textkin evaluate datasets --data FOLDER --datasets r8 mine`" in said
    assert str(data) not in said
    assert (
        said
        == (out / "datasets.md").read_text() + f"\nwrote {out}/datasets.md, {out}/datasets.json\n"
    )
    assert main([*asked, "--datasets", "r8", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["cells"][0]["values"]["train"] == 9
    assert told["files"][0] == str(out / "datasets.md")


def test_a_report_of_all_results(data, tmp_path, capsys):
    out = tmp_path / "out"
    for name, *more in (("datasets",), ("knn", "--quick", "--methods", "WCD", "BOW L1/L1")):
        asked = ["evaluate", name, "--data", str(data), "--out", str(out), "--datasets", "r8"]
        assert main([*asked, *more]) == 0
    capsys.readouterr()
    page = tmp_path / "docs" / "results.md"
    assert main(["evaluate", "report", str(out), "-o", str(page), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["experiments"] == ["datasets", "knn"]
    text = page.read_text()
    assert text.index("## The data sets") < text.index("## Nearest neighbours")
    assert "\n| WCD | " in text
    assert (page.parent / "results" / "knn-errors.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["magic", "--data", "."], "experiment must be one of datasets, knn"),
        (["datasets"], "Missing option '--data'"),
        (["datasets", "--data", "nowhere"], "There is no data folder nowhere."),
        (["knn", "--data", "DATA", "--methods", "magic"], "methods of knn are 'BOW none/L1', "),
        (
            ["datasets", "--data", "DATA", "--datasets", "r9"],
            "classification/r9.jsonl.gz is not in the data folder. The data folder is ",
        ),
        (["datasets", "--data", "DATA", "--jobs", "0"], "--jobs must be a number of threads, or"),
        (["report", "nowhere"], "There is no file or folder nowhere."),
        (["report", "DATA"], "holds no results: run textkin evaluate first."),
        (
            ["report", "DATA/classification/r8.jsonl.gz"],
            "holds no results of textkin evaluate",
        ),
    ],
)
def test_bad_input_is_one_clear_line(data, tmp_path, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(tmp_path)
    given = [argument.replace("DATA", str(data)) for argument in arguments]
    assert main(["evaluate", *given]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_cells_without_a_number_are_noted(data, tmp_path, capsys):
    asked = ["evaluate", "datasets", "--data", str(data), "--out", str(tmp_path)]
    assert main([*asked, "--datasets", "r8", "r9"]) == 0
    said = capsys.readouterr()
    assert "| r8 | 9 | 3 |" in said.out
    assert said.err == (
        "textkin: note: 1 of 2 cells has no number, counts on r9 first: "
        "classification/r9.jsonl.gz is not in the data folder.\n"
    )


def test_ctrl_c_says_what_is_kept(data, tmp_path, monkeypatch, capsys):
    chosen = experiment("datasets")

    def stopped(task):
        raise KeyboardInterrupt

    method = chosen.methods["counts"]
    monkeypatch.setitem(chosen.methods, "counts", type(method)(stopped))
    asked = ["evaluate", "datasets", "--data", str(data), "--out", str(tmp_path)]
    assert main([*asked, "--datasets", "r8"]) == 130
    said = capsys.readouterr().err
    assert "interrupted. 0 of 1 cells are done and kept in" in said
    assert "the same command goes on" in said
