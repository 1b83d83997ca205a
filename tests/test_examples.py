"""Tests of the examples, and of the commands of the README."""

import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest

from textkin.cli import main

ROOT = Path(__file__).parents[1]


SLOW = {
    "cluster_documents.py",
    "cluster_search.py",
    "few_labels.py",
    "fit_blocks.py",
    "gpu_search.py",
    "score_sentences.py",
    "store_search.py",
    "train_vectors.py",
}
EXAMPLES = [
    pytest.param(path, id=path.name, marks=[pytest.mark.slow] if path.name in SLOW else [])
    for path in sorted((ROOT / "examples").glob("*.py"))
]


@pytest.mark.parametrize("path", EXAMPLES)
def test_example_runs_without_error(path, tmp_path, monkeypatch, capsys):
    """Run an example in this process, because each new process would import scikit-learn again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(path.parent)
    monkeypatch.setattr(sys, "argv", [str(path)])
    status = None
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as end:  # examples exit with a message if a package is missing
        status = end.code
    assert not status
    assert capsys.readouterr().out


README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_commands_print_the_shown_output(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    [name] = re.findall(r"Save this as `(.*)`", README)
    [rows] = re.findall(r"```csv\n(.*?)```", README, re.DOTALL)
    (tmp_path / name).write_text(rows, encoding="utf-8")
    [session] = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    steps = session.split("$ textkin ")[1:]
    assert len(steps) == 2
    for step in steps:
        command, _, output = step.partition("\n")
        assert main(shlex.split(command)) == 0
        assert capsys.readouterr().out == output


def test_readme_names_demo_and_test_commands():
    assert "make demo" in README
    assert "make test" in README


def test_readme_figure_matches_output_of_its_command(tmp_path):
    [arguments] = re.findall(r'textkin compare "(.*)" "(.*)" --svg', README)
    target = tmp_path / "flow.svg"
    assert main(["compare", *arguments, "--svg", str(target)]) == 0
    assert target.read_text() == (ROOT / "docs" / "images" / "flow.svg").read_text()
