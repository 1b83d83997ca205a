"""The examples run, and the Python of the README does what it says."""

import re
import runpy
import sys
from pathlib import Path

import pytest

from textkin.cli import main

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_an_example_runs(path, tmp_path, monkeypatch, capsys):
    """In this process: a fresh one for each would import scikit-learn twenty times and more."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(path.parent)
    monkeypatch.setattr(sys, "argv", [str(path)])
    status = None
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as end:  # of those that leave when something is not installed
        status = end.code
    assert not status
    assert capsys.readouterr().out


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parts = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    space: dict = {}
    for code in parts:
        exec(compile(code, "README.md", "exec"), space)
    assert space["near"] < space["far"]
    assert space["index"].path.is_dir()


def test_the_readme_names_the_two_commands():
    readme = (ROOT / "README.md").read_text()
    assert "make demo" in readme
    assert "make test" in readme


def test_the_picture_of_the_readme_is_what_its_command_draws(tmp_path):
    [arguments] = re.findall(
        r'textkin compare "(.*)" "(.*)" --svg', (ROOT / "README.md").read_text()
    )
    target = tmp_path / "flow.svg"
    assert main(["compare", *arguments, "--svg", str(target)]) == 0
    assert target.read_text() == (ROOT / "docs" / "images" / "flow.svg").read_text()
