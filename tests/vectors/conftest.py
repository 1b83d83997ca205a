import pytest

from textkin.vectors import WordVectors


@pytest.fixture
def tiny():
    """Five words in the plane."""
    return WordVectors(
        ["cat", "dog", "car", "Paris", "New_York"],
        [[3, 4], [4, 3], [5, 0], [0, -2], [-1, -1]],
    )
