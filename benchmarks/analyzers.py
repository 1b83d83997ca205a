"""CPU time of stems as an analyzer, compared with an index that counts stems.

One index counts words and ranks by stems (``language="en"``). The other counts the same stems
(``normalizer="stem"``) without the same stop words, so both return the same hits with the same
scores, which the script checks. The texts are sentences of the shared corpus, the queries 2 to 10
words of a sentence. Rounds alternate between the two indexes in one process::

    python benchmarks/analyzers.py --documents 300000

``first`` is a search in a newly opened index, which builds the postings; ``queries`` are all
searches together; ``add`` is measured once. Times are CPU times of one thread. The results go to
benchmarks/results/analyzers.json.
"""

import argparse
import lzma
import statistics
import string
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from environment import DATA, RESULTS, describe, write

from textkin import BM25, Index
from textkin.index import TermRanking
from textkin.text import stop_list, tokenize

SEED = 27
RANKING = TermRanking(BM25())


def sentences(path: Path, number: int) -> list[str]:
    """Return the first sentences of the corpus."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t", 1)[1] for line in islice(file, number)]


def queries_of(texts: list[str], number: int) -> list[str]:
    """Return 2 to 10 words of random sentences."""
    rng = np.random.default_rng(SEED)
    found = []
    for at in rng.integers(0, len(texts), number).tolist():
        words = texts[at].split()
        size = min(len(words), int(rng.integers(2, 11)))
        found.append(" ".join(rng.choice(words, size, replace=False)))
    return found


def seconds(call: Callable[[], Any]) -> float:
    """Return the CPU time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def search_all(index: Index, queries: list[str]) -> None:
    """Search for all queries."""
    for query in queries:
        index.search(query, ranking=RANKING)


def check_equal(a: Index, b: Index, queries: list[str]) -> None:
    """Stop unless both indexes return the same hits with the same scores."""
    for query in queries:
        ours, theirs = (index.search(query, ranking=RANKING) for index in (a, b))
        if ours.ids != theirs.ids or ours.scores.tolist() != theirs.scores.tolist():
            raise SystemExit(f"different results for {query!r}")


def main() -> None:
    """Measure both indexes in alternating rounds, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=300_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--result", type=Path, default=RESULTS / "analyzers.json")
    given = parser.parse_args()
    texts = sentences(DATA / "corpus" / "corpus.tsv.xz", given.documents)
    queries = queries_of(texts, given.queries)
    times: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        # The analyzer drops single letters of scripts with case.
        letters = filter(str.islower, map(chr, range(0x20000)))
        single = [letter for letter in letters if tokenize(letter) == [letter]]
        stops = [*stop_list("search"), *string.digits, *single]
        settings: dict[str, dict[str, Any]] = {
            "analyzer": {"language": "en"},
            "counted": {"language": None, "normalizer": "stem", "stop_words": stops},
        }
        paths = {name: Path(folder) / name for name in settings}
        for name, how in settings.items():
            with Index.create(paths[name], **how) as index:
                times[name] = {"add": [seconds(lambda: index.add(texts))], "first": []}
                times[name]["queries"] = []
        with Index.open(paths["analyzer"]) as a, Index.open(paths["counted"]) as b:
            check_equal(a, b, queries)
            info = a.info()
        for _ in range(given.rounds):
            opened = {name: Index.open(path) for name, path in paths.items()}
            for name, index in opened.items():
                search = partial(index.search, "history of science", ranking=RANKING)
                times[name]["first"].append(seconds(search))
            for name, index in opened.items():
                times[name]["queries"].append(seconds(partial(search_all, index, queries)))
            for index in opened.values():
                index.close()
    report: dict[str, object] = {
        **describe("textkin", "PyStemmer", "numpy"),
        "documents": given.documents,
        "queries": given.queries,
        "rounds": given.rounds,
        "words": info.words,
        "terms": info.terms,
    }
    for part in ("add", "first", "queries"):
        of = {name: times[name][part] for name in times}
        ratios = [x / y for x, y in zip(of["analyzer"], of["counted"], strict=True)]
        report[part] = {
            **{f"{name}_cpu_seconds": round(statistics.median(of[name]), 4) for name in of},
            "ratio": round(statistics.median(ratios), 3),
            "range": [round(min(ratios), 3), round(max(ratios), 3)],
        }
        print(part, report[part])
    write(given.result, report)


if __name__ == "__main__":
    main()
