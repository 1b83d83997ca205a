"""Average precision of BM25F by the weight of the title, compared with weight 1.

The documents of the shared collections have a title and a body; a body that begins with its title
(CRAN) is used without it. Weight 1 is BM25 of title and body as one text. Each weight is measured
with the default `k1` of 1.5, and with `k1` multiplied by the ratio of the mean weighted length to
the mean length::

    python benchmarks/text_fields.py

The results, with p-values of paired randomization tests, go to benchmarks/results/text_fields.json.
"""

import tempfile
from pathlib import Path
from typing import Any

from environment import RESULTS, asked, describe, write

from textkin import BM25, Index
from textkin.evaluate import (
    QueryScores,
    RetrievalData,
    average_precision,
    paired_randomization,
    read_retrieval,
)

COLLECTIONS = ("cran", "cacm", "lisa", "scifact")
WEIGHTS = (1, 2, 3, 5, 8)
K1 = 1.5


def records(data: RetrievalData) -> list[dict[str, str]]:
    """Return the documents with a title and a body."""
    return [
        {"id": id, "title": title, "body": text.removeprefix(title) if title else text}
        for id, title, text in zip(data.ids, data.titles, data.texts, strict=True)
    ]


def scores(index: Index, data: RetrievalData, k1: float) -> QueryScores:
    """Return the average precision of each judged query."""
    ranking = BM25(k1=k1)
    ranked = {
        query: index.search(data.queries[query], len(data), ranking=ranking, syntax="plain").ids
        for query in data.judged
    }
    return average_precision(
        {query: data.qrels[query] for query in data.judged}, ranked, k=len(data)
    )


def measured(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the mean average precision of each weight on a collection."""
    data = read_retrieval(folder)
    if data.splits:
        data = data.part("test")
    found: dict[str, dict[str, Any]] = {}
    base: QueryScores | None = None
    tokens = 0
    for weight in WEIGHTS:
        with (
            tempfile.TemporaryDirectory() as path,
            Index.create(f"{path}/test.kin", text={"title": weight, "body": 1}) as index,
        ):
            index.add(records(data))
            tokens = tokens or index.info().tokens
            ratio = index.info().tokens / tokens
            for name, k1 in ("default", K1), ("scaled", K1 * ratio):
                if base is not None and weight == 1:
                    continue
                made = scores(index, data, k1)
                base = base or made
                test = paired_randomization(made, base)
                found[f"{weight} {name}"] = {
                    "map": round(made.mean, 5),
                    "p": None if made is base else round(test.p_value, 4),
                    "k1": round(k1, 3),
                }
    return found


def main() -> None:
    """Measure all collections, and write the report."""
    given = asked(__doc__, RESULTS / "text_fields.json", collections=COLLECTIONS)
    report: dict[str, object] = describe("textkin", "PyStemmer", "numpy")
    results = {}
    for name in given.collections:
        results[name] = measured(given.data / "retrieval" / name)
        print(name, *results[name].items(), sep="\n  ", flush=True)
    write(given.result, {**report, "average_precision": results})


if __name__ == "__main__":
    main()
