"""Sentence pairs with gold scores, for several benchmarks."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from textkin import evaluate

__all__ = ["Pairs", "cosines", "read_pairs"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of sentences, the set of each pair, and their human scores."""

    sets: list[str]
    gold: np.ndarray
    sentences: tuple[list[str], list[str]]

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.sets)


def read_pairs(data: Path, name: str) -> Pairs:
    """Read the pairs of a file such as ``sts2012-test``; sets are named by their last part."""
    found = evaluate.read_pairs(data / "sts" / f"{name}.tsv.gz")
    sets = [each.rsplit(".", 1)[-1] for each in found.sets]
    return Pairs(sets, found.gold, (found.first, found.second))


def cosines(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the cosine of each row with its partner; 0 if one is empty."""
    one, other = (np.asarray(side, dtype=np.float64) for side in (first, second))
    sizes = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    products = np.einsum("ij,ij->i", one, other)
    return np.divide(products, sizes, out=np.zeros_like(sizes), where=sizes > 0)
