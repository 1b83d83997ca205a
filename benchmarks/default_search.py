"""Average precision of a search in an index with default settings, compared with bm25s.

bm25s runs with its default parameters, its English stop words, and Snowball stems. The documents
are title and text of the shared collections; the queries are all judged queries (SciFact: the test
part). Both systems rank all documents with a score above 0::

    python benchmarks/default_search.py

The results go to benchmarks/results/default_search.json.
"""

import tempfile
from pathlib import Path

import bm25s
import Stemmer
from environment import RESULTS, asked, describe, write

from textkin import Index
from textkin.evaluate import RetrievalData, average_precision, read_retrieval

COLLECTIONS = ("med", "cran", "cacm", "time", "lisa", "scifact")


def ranked_by_textkin(data: RetrievalData) -> dict[str, list[str]]:
    """Rank by an index with default settings."""
    texts = zip(data.ids, data.documents, strict=True)
    with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/test.kin") as index:
        index.add([{"id": id, "text": text} for id, text in texts])
        return {
            query: index.search(data.queries[query], k=len(data), syntax="plain").ids
            for query in data.judged
        }


def ranked_by_bm25s(data: RetrievalData) -> dict[str, list[str]]:
    """Rank by bm25s with Snowball stems."""
    stemmer = Stemmer.Stemmer("english")
    options = {"stopwords": "en", "stemmer": stemmer, "show_progress": False}
    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(data.documents, **options), show_progress=False)
    texts = [data.queries[query] for query in data.judged]
    found, scores = retriever.retrieve(
        bm25s.tokenize(texts, **options), k=len(data), show_progress=False
    )
    return {
        query: [data.ids[at] for at, score in zip(rows, values, strict=True) if score > 0]
        for query, rows, values in zip(data.judged, found, scores, strict=True)
    }


def measured(folder: Path) -> dict[str, float]:
    """Return the mean average precision of both systems on a collection."""
    data = read_retrieval(folder)
    if data.splits:
        data = data.part("test")
    judged = {query: data.qrels[query] for query in data.judged}
    systems = {"textkin": ranked_by_textkin(data), "bm25s": ranked_by_bm25s(data)}
    return {
        name: round(average_precision(judged, ranked, k=len(data)).mean, 5)
        for name, ranked in systems.items()
    }


def main() -> None:
    """Measure all collections, and write the report."""
    given = asked(__doc__, RESULTS / "default_search.json", collections=COLLECTIONS)
    report: dict[str, object] = describe("textkin", "bm25s", "PyStemmer", "numpy")
    scores = {}
    for name in given.collections:
        scores[name] = measured(given.data / "retrieval" / name)
        print(name, scores[name], flush=True)
    write(given.result, {**report, "average_precision": scores})


if __name__ == "__main__":
    main()
