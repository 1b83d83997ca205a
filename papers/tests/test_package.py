"""Package `papers`: doctests, and imports from public names of textkin only."""

import ast
import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import papers

MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(papers.__path__, "papers.")
    if not found.name.endswith("__main__") and not found.name.startswith("papers.tests")
)
FILES = sorted(Path(papers.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_imports_of_textkin_name_subpackages(path):
    """Every import is ``from textkin.X import name``."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] != "textkin":
                continue
            assert len(parts) == 2, f"{name}: import the name from its subpackage"
