"""Reports: tables, figures, and pages generated from results only."""

import json
import math
import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest

from papers.cells import Outcome
from papers.environment import commit
from papers.experiments import experiment, experiment_names
from papers.figures import Value, bar_figure, line_figure
from papers.report import experiment_markdown, write_page
from papers.results import Results, joined
from papers.runner import Aim, Experiment, Method, Reference
from papers.tables import Grid, by_dataset, by_measure

PAPER = Reference("paper", "Table 1.", {"ours": {"r8": 3.5}}, "error")
SVG = "{http://www.w3.org/2000/svg}"


def some_results(quick=False):
    run = {"commit": "abc"}
    cells = [
        Outcome("r8", "ours", 0, {"error": 4.0}, seconds=90, cpu_seconds=60, run=run),
        Outcome(
            "r8",
            "ours",
            1,
            {"error": 6.0},
            seconds=150,
            cpu_seconds=80,
            warnings=("Slow: it is",),
            run=run,
        ),
        Outcome("r8", "theirs", 0, {"error": 7.0}),
        Outcome("news", "ours", 0, None, "news.gz is not in the data folder."),
        Outcome("news", "theirs", 0, {"error": 9.5}),
    ]
    return Results("toy", tuple(cells), quick, {"command": "python -m papers toy", "textkin": "1"})


def toy(**changes):
    parts = {
        "name": "toy",
        "title": "Errors | of toys",
        "source": "A paper.",
        "protocol": "Play.",
        "datasets": ["r8"],
        "methods": {"ours": Method(lambda task: {})},
        "files": lambda dataset: [],
        "tables": lambda found: [by_dataset(found, "error", "Error", references=[PAPER])],
        "findings": lambda found: found.said("Ours errs on {ours|r8|error:.2f} %."),
        "aims": [
            Aim("r8 below 6", lambda found: (found.mean("ours", "r8", "error") < 6, "5.0")),
            Aim("r8 below 1", lambda found: (found.mean("ours", "r8", "error") < 1, "5.0")),
            Aim("more", lambda found: None),
        ],
        "figures": lambda found: {"f": bar_figure({"r8": {"ours": Value(5.0)}}, title="Errors")},
    }
    return Experiment(**{**parts, **changes})


def test_table_by_data_set():
    table = by_dataset(
        some_results(),
        "error",
        "Error",
        references=[PAPER],
        better="lower",
        notes={"theirs": "Of others."},
    )
    assert table.header == ["", "r8", "news"]
    assert table.rows == [
        ["ours", "**5.0** ± 1.0", "– [1]"],
        ["*– paper*", "*3.5*", ""],
        ["theirs [2]", "7.0 [3]", "**9.5**"],
    ]
    assert list(table.notes) == [
        "*paper*: Table 1.",
        "[1] news.gz is not in the data folder.",
        "[2] Of others.",
        "[3] Mean of 1 of 2 splits.",
    ]
    best = by_dataset(some_results(), "error", "Error", better="higher", scale=0.01, form=".3f")
    assert best.rows[1] == ["theirs", "**0.070** [2]", "**0.095**"]


def test_mean_of_some_splits_is_marked():
    cells = [Outcome("r8", "ours", at, {"error": at}) for at in range(3)]
    cells[1] = Outcome("r8", "ours", 1, None, "MemoryError")
    results = Results("toy", (*cells, Outcome("r8", "theirs", 1, {"error": 5.0})))
    table = by_dataset(results, "error", "Error")
    assert table.rows == [["ours", "1.0 ± 1.0 [1]"], ["theirs", "5.0 [2]"]]
    assert list(table.notes) == [
        "[1] Mean of 2 of 3 splits: MemoryError",
        "[2] Mean of 1 of 3 splits.",
    ]
    assert by_measure(results, "ours", {"error": ".1f"}, "Sizes").rows == [["r8", "1.0 [1]"]]


def test_table_by_measure():
    table = by_measure(some_results(), "ours", {"error": ".1f"}, "Sizes", references=[PAPER])
    assert table.rows == [["r8", "5.0"], ["*– paper*", "*3.5*"], ["news", "– [1]"]]


def test_bars_and_newlines_do_not_break_a_table():
    text = Grid("T", ["", "a"], [["x|y\nz", "1"]]).to_markdown()
    assert "| x\\|y z | 1 |" in text


def test_untrusted_names_and_reasons_are_escaped():
    nasty = "<img src=x onerror=alert(1)> [a](javascript:b)\n\n# H \x1b[2J"
    run = {"command": f"x` {nasty}", "machine": nasty, "date": nasty}
    cells = (
        Outcome(nasty, "ours", 0, None, nasty, run={"commit": nasty}),
        Outcome("r8", nasty, 0, {"error": 1.0}, warnings=(nasty,), run={"commit": nasty}),
    )
    plain = toy(aims=[], findings=lambda found: "", figures=lambda found: {})
    text = experiment_markdown(plain, Results("toy", cells, run=run))
    shown = re.sub(r"`[^`]*`", "", text)
    assert "<img" not in shown
    assert "](" not in shown
    assert "\x1b" not in text
    assert "\n# H" not in text
    assert "&lt;img" in shown
    assert "| p < 0.001 |" in Grid("T", ["", "p < 0.001"], []).to_markdown()


def test_single_cell():
    text = experiment_markdown(toy(aims=[]), Results("toy", (Outcome("r8", "ours", 0, {}),)))
    assert "<sub>1 cell, 0 s" in text


STRANGE = {
    "experiment": [5, ["toy"]],
    "run": [[1], "x"],
    "quick": ["no"],
    "cells": [{"a": 1}, [1], "x"],
    "format": [2, None],
}
STRANGE_CELL = {
    "dataset": [5, ["a"], "a<b>", "a\n# b", "[a](javascript:b)"],
    "method": [None, "`x`"],
    "split": ["a", True, 0.5],
    "values": [[1], "x", {"error": math.nan}, {"error": math.inf}, {"error": 10**400}],
    "missing": [5],
    "seconds": ["a", math.nan],
    "cpu_seconds": [math.inf, None],
    "warnings": [5, [5], "abc"],
    "run": [5],
}


@pytest.mark.parametrize(
    ("of_cell", "name", "value"),
    [(False, name, value) for name, values in STRANGE.items() for value in values]
    + [(True, name, value) for name, values in STRANGE_CELL.items() for value in values],
)
def test_malformed_results_file_raises_clear_error(tmp_path, of_cell, name, value):
    record = some_results().to_dict()
    (record["cells"][0] if of_cell else record)[name] = value
    path = tmp_path / "toy.json"
    path.write_text(json.dumps(record))
    with pytest.raises(ValueError, match=r"toy\.json is not a results file of python -m papers \("):
        Results.load(path)


@pytest.mark.parametrize("content", ["[" * 100_000, '{"format": 1e999}', "5", "", "\x00"])
def test_file_with_other_content_raises(tmp_path, content, monkeypatch):
    path = tmp_path / "toy.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"toy\.json is not a results file of python -m papers \("):
        Results.load(path)
    some_results().save(path)
    assert Results.load(path) == some_results()
    monkeypatch.setattr("papers.results._MOST_BYTES", 100)
    with pytest.raises(ValueError, match="it has more than 100 bytes"):
        Results.load(path)


def test_figures_stay_in_their_folder(tmp_path):
    drawn = toy(figures=lambda found: {"of ../../a set(1)": "<svg/>", "of r8_x.1": "<svg/>"})
    page, toys, _, *figures = write_page(
        [(drawn, some_results())], tmp_path / "docs" / "results.md"
    )
    assert [path.relative_to(page.parent).as_posix() for path in figures] == [
        "results/toy-of-..-..-a-set-1-.svg",
        "results/toy-of-r8_x.1.svg",
    ]
    assert "(toy-of-..-..-a-set-1-.svg)" in toys.read_text()


def test_page_in_place_of_a_folder_raises(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"is a folder\. Pass the path of a file"):
        write_page([(toy(), some_results())], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_findings_of_an_experiment():
    text = experiment_markdown(toy(), some_results(), ["f.svg"])
    assert text.startswith("# Errors | of toys\n\nFrom: A paper.\n\n## Findings\n\n")
    assert "## Measurements\n\nPlay." in text
    assert "- r8 below 6: reached (5.0)." in text
    assert "- r8 below 1: **missed** (5.0)." in text
    assert "- more: not measured." in text
    assert "Ours errs on 5.00 %." in text
    assert "- ours on r8: Slow: it is" in text
    assert "![Errors | of toys](f.svg)" in text
    assert "`python -m papers toy`; 4 cells, 2 minutes of CPU time, 4 minutes elapsed" in text
    assert "; textkin 1; commit abc" in text
    assert "Quick" not in text
    assert "**Quick:" in experiment_markdown(toy(), some_results(quick=True))


def test_page_of_several_experiments(tmp_path):
    other = toy(name="other", title="Other errors")
    page, *others = write_page(
        [(toy(), some_results()), (other, some_results())], tmp_path / "results.md"
    )
    assert "](results/toy.md): `toy`\n" in page.read_text()
    assert [path.relative_to(tmp_path).as_posix() for path in others] == [
        "results/toy.md",
        "results/other.md",
        "results/targets.md",
        "results/toy-f.svg",
        "results/other-f.svg",
    ]
    text = (tmp_path / "results" / "other.md").read_text()
    assert text.startswith("# Other errors\n")
    assert "](other-f.svg)" in text
    assert "reached" not in text
    assert "- r8 below 6: reached (5.0)." in (tmp_path / "results" / "targets.md").read_text()


def test_results_of_several_runs_are_merged():
    first = some_results()
    later = Results("toy", (Outcome("r8", "ours", 0, {"error": 8.0}),), run={"command": "later"})
    [both] = joined([first, later])
    assert both.mean("ours", "r8", "error") == 7.0
    assert both.run["command"] == "later"
    assert len(both.cells) == len(first.cells)
    [full] = joined([first, some_results(quick=True)])
    assert not full.quick
    failed = Results("toy", (Outcome("r8", "ours", 0, None, "no data"),))
    [kept] = joined([first, failed])
    assert kept.mean("ours", "r8", "error") == 5.0
    [renewed] = joined([failed, first])
    assert renewed.mean("ours", "r8", "error") == 5.0
    [quick] = joined([some_results(quick=True)])
    assert quick.quick


@pytest.mark.parametrize(
    "svg",
    [
        bar_figure(
            {'<r8> & "': {"a <b>": Value(5, 1, 3), "c": Value(0)}, "none": {}}, title="<t> & 'u'"
        ),
        line_figure(
            {"<a>": [(1, 2), (3, 4)], "b": [(1, 2)], "c": []}, title="&", x_label="<", y_label=">"
        ),
        line_figure(
            {str(n): [(0, 1), (10, n), (100, 0)] for n in range(1, 12)},
            title="t",
            x_label="m",
            y_label="error",
            log_x=True,
            log_y=True,
            legend="l" * 300,
        ),
        line_figure({}, title="nothing", x_label="x", y_label="y"),
        bar_figure({}, title="nothing"),
    ],
)
def test_figures_are_well_formed_and_self_contained(svg):
    root = ElementTree.fromstring(svg)
    assert root.find(f"{SVG}title").text
    assert "prefers-color-scheme:dark" in root.find(f"{SVG}style").text
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")


def test_bars_have_the_length_of_their_numbers():
    svg = bar_figure({"g": {"a": Value(2), "b": Value(4, 0, 8)}}, title="t")
    rects = ElementTree.fromstring(svg).findall(f"{SVG}rect")[1:]
    first, second = (float(rect.get("width")) for rect in rects)
    assert second == pytest.approx(2 * first, rel=0.01)


def test_negative_bar_is_empty():
    svg = bar_figure({"g": {"a": Value(-2), "b": Value(-1)}}, title="t")
    rects = ElementTree.fromstring(svg).findall(f"{SVG}rect")[1:]
    assert [rect.get("width") for rect in rects] == ["0.5", "0.5"]


def test_line_has_its_points_in_position():
    svg = line_figure({"a": [(3, 1), (1, 0), (2, 2)]}, title="t", x_label="x", y_label="y")
    [path] = [
        p for p in ElementTree.fromstring(svg).iter(f"{SVG}path") if "curve" in p.get("class")
    ]
    (x0, y0), (x1, y1), (x2, y2) = (
        map(float, point.split()) for point in path.get("d")[1:].split("L")
    )
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y0 - y1 == pytest.approx(2 * (y0 - y2), abs=0.2)


def test_every_experiment_is_complete():
    names = experiment_names()
    assert names[:2] == ["datasets", "knn"]
    for name in names:
        found = experiment(name)
        assert found.name == name
        assert found.methods
        assert found.datasets
        for reference in found.references:
            assert set(reference.values) <= set(found.methods), (name, reference.name)
    with pytest.raises(ValueError, match="experiment must be one of datasets, knn"):
        experiment("magic")


def test_report_without_results():
    for name in experiment_names():
        found = experiment(name)
        nothing = Results(name, (Outcome("x", next(iter(found.methods)), 0, None, "no data"),))
        assert experiment_markdown(found, nothing).startswith(f"# {found.title}")


def test_commit_of_a_checkout(tmp_path):
    assert commit(tmp_path) == ""


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_commit_with_relevant_changes_is_dirty(tmp_path):
    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    module = tmp_path / "src" / "textkin" / "module.py"
    module.parent.mkdir(parents=True)
    module.write_text("1\n")
    git("init")
    git("add", "-A")
    git("commit", "-m", "first")
    clean = commit(tmp_path)
    assert re.fullmatch("[0-9a-f]{12}", clean)
    (tmp_path / "notes.md").write_text("new")
    assert commit(module.parent) == clean
    assert commit(module.parent, (".",)) == f"{clean}-dirty"
    assert commit(module.parent, (".", ":(exclude)notes.md")) == clean
    module.write_text("2\n")
    assert commit(module.parent) == f"{clean}-dirty"
