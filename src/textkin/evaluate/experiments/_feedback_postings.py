"""How much of an inverted index a query reads, as the collection grows (METHODS 4.1).

The lecture's claim: B |V_q| postings, with B the mean length of a list of postings, against
|D| |V_q| for a look at every document.
"""

import gzip
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from textkin.evaluate._cells import Task
from textkin.evaluate._collections import read_retrieval
from textkin.index import Index
from textkin.text import BagOfWords

__all__ = ["growth", "postings", "postings_files", "texts_of"]

SIZES = (500, 1000, 2000, 4000, 8000, 16000)
_ASKED = 200
_FOUND = 10


def postings_files(dataset: str) -> list[str]:
    """Return the files of a growing collection."""
    name = dataset.removesuffix(" grows")
    if name == "lisa":
        return [f"retrieval/{name}/{each}.jsonl.gz" for each in ("docs", "queries")] + [
            f"retrieval/{name}/qrels.tsv.gz"
        ]
    return [
        f"text/{name}.jsonl.gz" if name == "reuters21578" else f"classification/{name}.jsonl.gz"
    ]


def texts_of(task: Task) -> tuple[list[str], list[str]]:
    """Return documents in a random order, and queries.

    The queries of LISA; of other sets 200 of the documents, which are then not searched: whole
    texts, as a classifier by neighbours asks.
    """
    first, *rest = postings_files(task.dataset)
    random = np.random.default_rng(0)
    if rest:
        data = read_retrieval(task.file(first).parent)
        documents, queries = data.documents, list(data.queries.values())
    else:
        with gzip.open(task.file(first), "rt", encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        documents = [f"{record.get('title', '')} {record['text']}".strip() for record in records]
        queries = []
    order = [documents[at] for at in random.permutation(len(documents)).tolist()]
    if not queries:
        n = min(_ASKED, len(order) // 4)
        queries, order = order[:n], order[n:]
    return (order[:150], queries[:10]) if task.quick else (order, queries)


def postings(task: Task) -> dict[str, Any]:
    """Compute a cell: means over queries at each size of the collection."""
    documents, queries = texts_of(task)
    sizes = [size for size in ((50, 100) if task.quick else SIZES) if size < len(documents)]
    rows = [_at(documents[:size], queries) for size in [*sizes, len(documents)]]
    found: dict[str, Any] = {"rows": rows}
    for name in ("B Vq", "postings", "touched"):
        slope = growth([row["documents"] for row in rows], [row[name] for row in rows])
        if slope is not None:
            found[f"{name}: exponent"] = slope
    return found | rows[-1]


def growth(sizes: Sequence[float], numbers: Sequence[float]) -> float | None:
    """Return the exponent a of numbers that grow as size to the power of a, by least squares."""
    if len(sizes) < 2 or min(numbers) <= 0:
        return None
    return float(np.polyfit(np.log(sizes), np.log(numbers), 1)[0])


def _at(documents: list[str], queries: list[str]) -> dict[str, float]:
    """Index some documents, and ask."""
    counter = BagOfWords("smart")
    bags = counter.fit_transform(documents)
    asked = counter.transform(queries)
    words = float(np.diff(asked.indptr).mean())
    with (
        tempfile.TemporaryDirectory() as folder,
        Index.create(Path(folder) / "growing.kin", stop_words="smart") as index,
    ):
        index.add(documents)
        stats = [hits.stats for hits in index.search_many(queries, _FOUND)]
    read, touched, scored = (
        float(np.mean([each.get(name, 0) for each in stats]))
        for name in ("postings", "touched", "scored")
    )
    mean = bags.nnz / bags.shape[1]
    return {
        "documents": len(documents),
        "B": mean,
        "Vq": words,
        "B Vq": mean * words,
        "D Vq": len(documents) * words,
        "postings": read,
        "touched": touched,
        "scored": scored,
    }
