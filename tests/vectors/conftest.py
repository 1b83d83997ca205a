import importlib.util
from pathlib import Path

import pytest

from textkin.vectors import WordVectors

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tiny():
    """Five words in the plane."""
    return WordVectors(
        ["cat", "dog", "car", "Paris", "New_York"],
        [[3, 4], [4, 3], [5, 0], [0, -2], [-1, -1]],
    )


@pytest.fixture(scope="session")
def shared_data():
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("needs ../shared/data beside the repository")
    return folder


@pytest.fixture(scope="session")
def script():
    """Return a function that imports a script of the repository by its path."""

    def load(relative):
        path = ROOT / relative
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load
