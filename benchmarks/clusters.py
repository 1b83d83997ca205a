"""Agreement of document clusters with labels: the training part of 20news, and classic.

All methods know the number of labels, but no label. ARI and NMI (arithmetic mean) are means over
seeds. The sample of classic is small, because transport compares every pair: documents with more
than 200 characters, sampled with a fixed seed. Run in the repository root, with textkin
installed::

    OPENBLAS_NUM_THREADS=1 python benchmarks/clusters.py
"""

import gzip
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from environment import RESULTS, asked, describe, write
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.pipeline import make_pipeline

from textkin import LSI, DocumentClustering, Pooling, TfIdf

RESULT = RESULTS / "clusters.json"
SEEDS = 3
FEW = 300
# Reference values for 20news: TF-IDF and LSI, k-means of unit rows with 10 initializations.
REFERENCE = {"TF-IDF, LSI-50": (0.481, 0.635), "TF-IDF, LSI-100": (0.451, 0.652)}

Recipe = Callable[[int, int], DocumentClustering]
"""Function that makes an estimator for a number of clusters and a seed."""


def _by_means(model: Callable[[int], Any]) -> Recipe:
    return lambda k, seed: DocumentClustering(k, model=model(seed), random_state=seed)


def _by_distances(method: Any, **options: Any) -> Recipe:
    return lambda k, seed: DocumentClustering(k, method=method, random_state=seed, **options)


MEANS: dict[str, Recipe] = {
    "default": _by_means(lambda _seed: None),
    "TF-IDF, LSI-50": _by_means(lambda seed: make_pipeline(TfIdf(), LSI(50, random_state=seed))),
    "Pooling, SIF": _by_means(
        lambda _seed: Pooling(word_weights="sif", remove_components=1, stop_words=None)
    ),
    "TF-IDF, LSI-100": _by_means(lambda seed: make_pipeline(TfIdf(), LSI(100, random_state=seed))),
}
DISTANCES: dict[str, Recipe] = {
    "k-means, default": MEANS["default"],
    "k-medoids, wmd": _by_distances("kmedoids"),
    "k-medoids, wmd, 100 drawn": _by_distances("kmedoids", max_matrix=100),
    "k-medoids, cosine": _by_distances("kmedoids", metric="cosine"),
    "average, wmd": _by_distances("agglomerative"),
    "average, wmd, graph": _by_distances("agglomerative", max_matrix=100),
    "complete, wmd": _by_distances("agglomerative", linkage="complete"),
    "average, cosine": _by_distances("agglomerative", metric="cosine"),
    "average, cosine, graph": _by_distances("agglomerative", metric="cosine", max_matrix=100),
}


def measured(
    recipe: Recipe, texts: Sequence[str], labels: Sequence[str], seeds: int
) -> dict[str, Any]:
    """Return the agreement of clusters with labels, and the time of a fit."""
    rows = []
    for seed in range(seeds):
        start = time.perf_counter()
        found = recipe(len(set(labels)), seed).fit(texts)
        seconds = time.perf_counter() - start
        rows.append(
            (
                adjusted_rand_score(labels, found.labels_),
                normalized_mutual_info_score(labels, found.labels_),
                seconds,
                found.clusters_[0].size,
            )
        )
    ari, nmi, seconds, largest = (float(value) for value in np.mean(rows, axis=0))
    return {
        "ari": ari,
        "nmi": nmi,
        "seconds": seconds,
        "largest": largest,
        "by_seed": [[float(row[0]), float(row[1])] for row in rows],
    }


def documents(data: Path, name: str) -> list[dict[str, Any]]:
    """Read a set of labeled documents."""
    with gzip.open(data / "classification" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _keep(result: Path, results: dict[str, Any]) -> None:
    write(
        result,
        {
            "command": "OPENBLAS_NUM_THREADS=1 python benchmarks/clusters.py",
            "measure": "ARI and NMI (arithmetic) with the labels, means over seeds",
            **describe("textkin", "scikit-learn", "numpy", "scipy"),
            "reference": REFERENCE,
            "results": results,
        },
    )


def main() -> None:
    """Print and write the agreement."""
    arguments = asked(__doc__, RESULT, parts=("classic", "20news"))
    results: dict[str, dict[str, Any]] = {}
    if arguments.result.exists():  # keep the parts that are not measured
        results = json.loads(arguments.result.read_text(encoding="utf-8"))["results"]
    for part in arguments.parts:
        found = documents(arguments.data, part)
        if part == "20news":
            found = [document for document in found if document["split"] == "train"]
            recipes, seeds = MEANS, SEEDS
        else:
            found = [document for document in found if len(document["text"]) > 200]
            drawn = np.random.default_rng(0).permutation(len(found))[:FEW]
            found = [found[at] for at in drawn]
            recipes, seeds = DISTANCES, 1
        texts = [document["text"] for document in found]
        labels = [document["label"] for document in found]
        results[part] = {"documents": len(texts), "seeds": seeds, "rows": {}}
        for name, recipe in recipes.items():
            row = results[part]["rows"][name] = measured(recipe, texts, labels, seeds)
            print(
                f"{part:8} {name:28} ARI {row['ari']:.3f}  NMI {row['nmi']:.3f}  "
                f"largest {row['largest']:.0f}  {row['seconds']:.1f} s",
                flush=True,
            )
            _keep(arguments.result, results)  # restored after any exception


if __name__ == "__main__":
    main()
