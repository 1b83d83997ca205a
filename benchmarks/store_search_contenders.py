"""Jobs of `store_search`, each in its own process; the output is JSON.

`store_search` runs ``store_search_contenders.py WHAT FOLDER K``. The first job makes the indexes in
the folder, and later ones load them.
"""

import json
import statistics
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from index_contenders import RULE, records_of

WARM_UP = 100
Answer: TypeAlias = tuple[list[str], list[float]]
Search: TypeAlias = Callable[[str], Answer]


def textkin_search(folder: Path, k: int) -> Search:
    """Open an index."""
    from textkin import Index

    path = folder / "index.kin"
    if not path.exists():
        with Index.create(path, language=None) as made:
            made.add(records_of(folder / "documents.jsonl"))
    index = Index.open(path)

    def search(query: str) -> Answer:
        hits = index.search(query, k)
        return hits.ids, hits.scores.tolist()

    return search


def bm25s_search(folder: Path, k: int) -> Search:
    """Load the index of bm25s, compiled with numba; its formula has textkin's k1, b, and idf.

    "lucene" lacks the factor k1 + 1, which is restored here, because it changes no ranking.
    """
    import bm25s
    import numpy as np

    path = folder / "bm25s"
    if not path.exists():
        texts = [record["text"] for record in records_of(folder / "documents.jsonl")]
        tokens = bm25s.tokenize(texts, stopwords=None, token_pattern=RULE, show_progress=False)
        made = bm25s.BM25(k1=1.2, b=0.75, method="lucene", backend="numba")
        made.index(tokens, show_progress=False)
        made.save(str(path))
    retriever = bm25s.BM25.load(str(path))
    retriever.activate_numba_scorer()
    most = min(k, int(retriever.scores["num_docs"]))

    def search(query: str) -> Answer:
        tokens = bm25s.tokenize(
            [query], stopwords=None, token_pattern=RULE, return_ids=False, show_progress=False
        )
        rows, scores = retriever.retrieve(tokens, k=most, n_threads=1, show_progress=False)
        found = scores[0] > 0
        return [str(row) for row in rows[0][found]], (2.2 * np.asarray(scores[0][found])).tolist()

    return search


def tantivy_search(folder: Path, k: int) -> Search:
    """Open the index of tantivy; words are combined with OR."""
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("id", stored=True, tokenizer_name="raw")
    schema.add_text_field("text")
    path = folder / "tantivy"
    there = path.exists()
    path.mkdir(exist_ok=True)
    index = tantivy.Index(schema.build(), path=str(path))
    if not there:
        writer = index.writer(heap_size=256 << 20, num_threads=1)
        for record in records_of(folder / "documents.jsonl"):
            writer.add_document(tantivy.Document(id=record["id"], text=record["text"]))
        writer.commit()
        writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(query: str) -> Answer:
        # An apostrophe is part of tantivy's query language.
        parsed = index.parse_query(query.replace("'", " "), ["text"])
        hits = searcher.search(parsed, k).hits
        return [searcher.doc(place)["id"][0] for _, place in hits], [score for score, _ in hits]

    return search


OPEN: dict[str, Callable[[Path, int], Search]] = {
    "textkin": textkin_search,
    "bm25s": bm25s_search,
    "tantivy": tantivy_search,
}


def measured(search: Search, queries: dict[str, list[str]]) -> dict[str, Any]:
    """Time each query separately, then all of them on two threads."""
    start = time.perf_counter()
    search(next(iter(queries.values()))[0])
    first = time.perf_counter() - start
    found: dict[str, Any] = {}
    for words, texts in queries.items():
        for query in texts[:WARM_UP]:
            search(query)
        answers, seconds = [], []
        for query in texts:
            start = time.perf_counter()
            answer = search(query)
            seconds.append(time.perf_counter() - start)
            answers.append({"ids": answer[0], "scores": answer[1]})
        ordered = sorted(seconds)
        found[words] = {
            "p50_microseconds": round(1e6 * statistics.median(seconds), 1),
            "p99_microseconds": round(1e6 * ordered[int(0.99 * (len(ordered) - 1))], 1),
            "queries_a_second": round(len(seconds) / sum(seconds), 1),
            "two_threads": round(on_two_threads(search, texts), 1),
            "answers": answers,
        }
    return {"first_milliseconds": round(1e3 * first, 2), "queries": found}


def on_two_threads(search: Search, queries: list[str]) -> float:
    """Return queries per second with two concurrent threads."""

    def half(which: int) -> None:
        for query in queries[which::2]:
            search(query)

    threads = [threading.Thread(target=half, args=(which,)) for which in range(2)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(queries) / (time.perf_counter() - start)


def claim(folder: Path, k: int) -> list[dict[str, Any]]:
    """Return the postings that queries touch, and documents times words."""
    from textkin import Index

    textkin_search(folder, k)
    queries = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    found = []
    with Index.open(folder / "index.kin") as index:
        for words, texts in queries.items():
            if not texts:
                continue
            stats = [index.search(query, k)._ranked.stats for query in texts]
            mean = {name: sum(one[name] for one in stats) / len(stats) for name in stats[0]}
            share = mean["touched"] / (len(index) * int(words))
            found.append({"words": int(words), "documents": len(index), **mean, "share": share})
    return found


def main() -> None:
    """Run the job named by the arguments."""
    what, folder, k = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    if what == "claim":
        print(json.dumps(claim(folder, k)))
        return
    queries = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
    print(json.dumps(measured(OPEN[what](folder, k), queries)))


if __name__ == "__main__":
    main()
