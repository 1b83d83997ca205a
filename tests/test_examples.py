"""Tests of the examples, and of the commands of the README."""

import runpy
import sys
from pathlib import Path

import pytest

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


def test_readme_names_demo_and_test_commands():
    assert "make demo" in README
    assert "make test" in README
