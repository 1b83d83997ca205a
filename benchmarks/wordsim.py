"""Quality of the built-in vectors on word pairs, and the loss by one byte per number.

The measure is the Spearman correlation between the cosine of two words and human judgments of their
similarity, over the pairs whose words are both in the built-in vectors. Run in the repository root,
with textkin installed::

    python benchmarks/wordsim.py
"""

import argparse
import json
from pathlib import Path

import numpy as np
from environment import DATA, RESULTS, describe

from textkin.evaluate import read_word_pairs, word_pairs
from textkin.vectors import WordVectors

RESULT = RESULTS / "wordsim.json"
COLUMNS = {
    "float": "source, not quantized",
    "int8": "built-in, int8",
    "int8_without_3": "int8, without_components(3)",
    "int8_unit_without_3": "int8, unit(), without_components(3)",
}


def read_unquantized(data: Path, n_words: int) -> WordVectors:
    """Return the source of the built-in vectors as float32, with the same words."""
    with np.load(data / "vectors" / "glove6b-100d.npz", allow_pickle=False) as arrays:
        words = arrays["words"].tobytes().decode("utf-8").split("\n")[:n_words]
        return WordVectors(words, arrays["vectors"][:n_words])


def measure(data: Path) -> list[dict[str, object]]:
    """Return one row of numbers for each set of pairs."""
    builtin = WordVectors.builtin()
    versions = {
        "float": read_unquantized(data, len(builtin)),
        "int8": builtin,
        "int8_without_3": builtin.without_components(3),
        "int8_unit_without_3": builtin.unit().without_components(3),
    }
    rows: list[dict[str, object]] = []
    for name, pairs in read_word_pairs(data / "wordsim" / "wordsim.tsv.gz").items():
        scores = {key: word_pairs(vectors, pairs) for key, vectors in versions.items()}
        covered = scores["int8"].covered
        found = {key: score.spearman for key, score in scores.items()}
        rows.append({"set": name, "pairs": len(pairs), "covered": covered, **found})
    return rows


def table(rows) -> str:
    """Return the rows as a Markdown table."""
    lines = [
        f"| set | pairs covered | {' | '.join(COLUMNS.values())} |",
        f"| --- | ---: |{' ---: |' * len(COLUMNS)}",
    ]
    for row in rows:
        scores = " | ".join(f"{row[key]:.4f}" for key in COLUMNS)
        lines.append(f"| {row['set']} | {row['covered']:,} of {row['pairs']:,} | {scores} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table, and write numbers, machine, and versions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--result", type=Path, default=RESULT)
    arguments = parser.parse_args()
    rows = measure(arguments.data)
    print(table(rows))
    report = {
        "command": "python benchmarks/wordsim.py",
        "measure": "Spearman correlation of cosines with human judgments",
        **describe("numpy", "scipy"),
        "rows": rows,
    }
    arguments.result.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
