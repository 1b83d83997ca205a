"""What ``textkin vectors pairs`` prints: how vectors rank the word pairs of each set of a file."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textkin.cli._printing import one_line, print_json, print_lines

if TYPE_CHECKING:
    from textkin.vectors import PairScores, WordVectors

__all__ = ["run_pairs"]

_WIDEST = 24


def run_pairs(
    path: Path, vectors: "WordVectors", *, oov: Literal["drop", "zero"], as_json: bool
) -> None:
    """Print both correlations of each set, and how many of its pairs have vectors."""
    from textkin.vectors import read_word_pairs

    sets = read_word_pairs(path)
    if not sets:
        raise ValueError(f"{str(path)!r} has no word pairs; it needs rows below its header.")
    scores = {name: vectors.evaluate_pairs(pairs, oov=oov) for name, pairs in sets.items()}
    if as_json:
        found = [{"dataset": name, **_record(score)} for name, score in scores.items()]
        print_json({"pairs": str(path), "oov": oov, "sets": found})
        return
    print_lines(_lines(scores))


def _record(score: "PairScores") -> dict[str, float | int | None]:
    return {
        "spearman": None if math.isnan(score.spearman) else score.spearman,
        "pearson": None if math.isnan(score.pearson) else score.pearson,
        "covered": score.covered,
        "total": score.total,
    }


def _lines(scores: Mapping[str, "PairScores"]) -> list[str]:
    names = [one_line([name], _WIDEST) for name in scores]
    width = max(len("set"), *map(len, names))
    lines = [f"{'set':<{width}}  Spearman  Pearson  pairs"]
    for name, score in zip(names, scores.values(), strict=True):
        of = f"{score.covered:,} of {score.total:,}"
        lines.append(
            f"{name:<{width}}  {_shown(score.spearman):>8}  {_shown(score.pearson):>7}  {of}"
        )
    return lines


def _shown(correlation: float) -> str:
    return "-" if math.isnan(correlation) else f"{correlation:.4f}"
