"""Models and helpers for the tests of attached models; loaded by path."""

import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import numpy as np

from support import load_script
from textkin import Index
from textkin.index import ModelRanking

model = load_script("tests/index/store_model.py")

RECORDS = model.records(Random(2), [f"d{number}" for number in range(30)])
MORE = model.records(Random(4), [f"e{number}" for number in range(12)])


def lengths(texts: list[str]) -> np.ndarray:
    """Custom model without textkin classes."""
    return np.array([[len(text), text.count("a"), 1.0] for text in texts])


class Encoder:
    """Model with the interface of sentence-transformers."""

    def encode(self, texts: list[str]) -> np.ndarray:
        return lengths(texts).astype(np.float32)


class Other(Encoder):
    """Another model with the same dimension."""

    def encode(self, texts: list[str]) -> np.ndarray:
        return -super().encode(texts)


def vectors(index: Index, name: str) -> np.ndarray:
    """Return the stored vectors of all documents, in their order."""
    scorer = index._searcher().scorer(ModelRanking(name))
    return scorer.vectors.of_rows(np.flatnonzero(scorer.state.live))


def change(path: Path, statement: str, *values: object) -> None:
    """Write values to the catalog that textkin would not write."""
    with closing(sqlite3.connect(path / "catalogue.sqlite", isolation_level=None)) as connection:
        connection.execute(statement, values)
