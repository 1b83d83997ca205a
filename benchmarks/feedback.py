"""Does relevance feedback help? Average precision before and after, on judged collections.

*Marked*: the ten best documents are marked as right or wrong by the judgements, the query moves by
Rocchio's formula (`textkin.index.rocchio`), and the ten best of those that were not shown before
are marked in a second round. Documents that were shown keep the ranks at which they were
("freezing"), so that nothing is gained by showing them again. *Pseudo*: the ten best are taken for
right, nobody marks anything, and all documents are ranked again.

Documents enter the formula as the ranking scores with them, or brought to the length of the query
(what textkin does). No parameter is fitted. Run in the repository root, where textkin is installed
with the extra ``stem``::

    python benchmarks/feedback.py
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from environment import RESULTS, asked, describe, write
from retrieval import Collection, precisions, read_collection

from textkin.index import rocchio
from textkin.weighting import BM25, TfIdf

RESULT = RESULTS / "feedback.json"
SETS = ("med", "cran", "cacm", "time", "lisa")
SHOWN = 10
ROUNDS = 2

Vectors = np.ndarray  # (rows, words)


def bm25(collection: Collection) -> tuple[Vectors, object]:
    """Return queries as counts and documents as BM25 weights; scores are inner products."""
    weigh = BM25().fit(collection.documents)
    queries = weigh.transform_queries(collection.queries)
    return queries.toarray().astype(np.float64), weigh.transform(collection.documents)


def tfidf(collection: Collection) -> tuple[Vectors, object]:
    """Return rows of unit length; scores are cosines."""
    weigh = TfIdf().fit(collection.documents)
    queries = weigh.transform(collection.queries)
    return queries.toarray().astype(np.float64), weigh.transform(collection.documents)


RANKINGS: dict[str, Callable[[Collection], tuple[Vectors, object]]] = {
    "bm25": bm25,
    "tfidf": tfidf,
}


def as_long_as(query: Vectors, rows: Vectors) -> Vectors:
    """Bring documents to the length of a query; rows of zeros stay."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.linalg.norm(query) * rows / np.where(lengths > 0, lengths, 1)


LENGTHS: dict[str, Callable[[Vectors, Vectors], Vectors]] = {
    "as scored": lambda _query, rows: rows,
    "as the query": as_long_as,
}


@dataclass(frozen=True)
class Setting:
    """How queries move."""

    length: str = "as the query"
    beta: float = 0.75
    n_terms: int | None = 50


SETTINGS = (
    Setting(),
    Setting(n_terms=20),
    Setting(n_terms=None),
    Setting(beta=2.0),
    Setting(length="as scored"),
    Setting(length="as scored", n_terms=20),
    Setting(length="as scored", n_terms=None),
)


class Searcher:
    """The documents of a collection under one ranking, and how queries move."""

    def __init__(self, documents: object, setting: Setting) -> None:
        self.documents = documents.astype(np.float64).tocsr()
        self.setting = setting

    def scores(self, query: Vectors) -> np.ndarray:
        """Score every document."""
        return self.documents @ query

    def moved(
        self, query: Vectors, right: np.ndarray, wrong: np.ndarray, gamma: float = 0.15
    ) -> Vectors:
        """Move a query by the formula."""
        prepare = LENGTHS[self.setting.length]
        rows = [prepare(query, self.documents[marked].toarray()) for marked in (right, wrong)]
        beta, n_terms = self.setting.beta, self.setting.n_terms
        return rocchio(query, *rows, beta=beta, gamma=gamma, n_terms=n_terms)

    def pseudo(self, query: Vectors) -> np.ndarray:
        """Return the scores after the best documents were taken for right."""
        best = best_of(self.scores(query), SHOWN)
        return self.scores(self.moved(query, best, best[:0], gamma=0.0))

    def marked(self, query: Vectors, relevant: frozenset[int]) -> list[np.ndarray]:
        """Return the scores after each round, with documents frozen where they were shown."""
        shown = np.array([], np.int64)
        found = []
        for _ in range(ROUNDS):
            scores = self.scores(query)
            scores[shown] = -np.inf
            new = best_of(scores, SHOWN)
            shown = np.concatenate([shown, new])
            right = np.isin(new, list(relevant))
            query = self.moved(query, new[right], new[~right])
            after = self.scores(query)
            after[shown] = after.max() + 1 + np.arange(len(shown), 0, -1)
            found.append(after)
        return found


def best_of(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the best documents, equal ones by position."""
    return np.argsort(-scores, kind="stable")[:k]


def measure_one(searcher: Searcher, queries: Vectors, collection: Collection) -> dict[str, object]:
    """Return average precisions in percent, and for how many queries they rose and fell."""
    of_queries: dict[str, list[float]] = {}
    for query, relevant in zip(queries, collection.relevant, strict=True):
        lists = {"before": searcher.scores(query), "pseudo": searcher.pseudo(query)}
        rounds = enumerate(searcher.marked(query, relevant), 1)
        lists |= {f"marked, round {number}": scores for number, scores in rounds}
        for name, scores in lists.items():
            of_queries.setdefault(name, []).append(precisions(scores, relevant)[0])
    before = np.array(of_queries["before"])
    found: dict[str, object] = {}
    for name, values in of_queries.items():
        found[name] = round(100 * float(np.mean(values)), 2)
        if name != "before":
            change = np.array(values) - before
            found[f"{name}: queries better, worse"] = [
                int((change > 1e-9).sum()),
                int((change < -1e-9).sum()),
            ]
    return found


def measure(data: Path, sets: tuple[str, ...] = SETS) -> list[dict[str, object]]:
    """Return one entry for each set, ranking and setting."""
    rows: list[dict[str, object]] = []
    for name in sets:
        collection = read_collection(data, name)
        for ranking, weigh in RANKINGS.items():
            queries, documents = weigh(collection)
            for setting in SETTINGS:
                if ranking == "tfidf" and setting.length == "as scored":
                    continue  # its rows have the length of the query already
                facts = {"set": name, "queries": len(queries), "ranking": ranking}
                searcher = Searcher(documents, setting)
                found = measure_one(searcher, queries, collection)
                rows.append({**facts, **asdict(setting), **found})
                print(json.dumps(rows[-1]), flush=True)
    return rows


def table(rows: list[dict[str, object]]) -> str:
    """Return the average precisions as a Markdown table."""
    columns = ["before", "pseudo", *(f"marked, round {number + 1}" for number in range(ROUNDS))]
    lines = [f"| set | ranking | length of documents | beta | words | {' | '.join(columns)} |"]
    lines.append(f"| --- | --- | --- | ---: | ---: |{' ---: |' * len(columns)}")
    for row in rows:
        cells = " | ".join(f"{row[column]:.1f}" for column in columns)
        setting = f"{row['length']} | {row['beta']} | {row['n_terms'] or 'all'}"
        lines.append(f"| {row['set']} | {row['ranking']} | {setting} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table; write the numbers, the machine and the versions."""
    arguments = asked(__doc__, RESULT, sets=SETS)
    rows = measure(arguments.data, tuple(arguments.sets))
    print(table(rows))
    report = {
        "command": "python benchmarks/feedback.py",
        "measure": "average precision in percent, cut at rank 1000; alpha 1, gamma 0.15 "
        "(pseudo: 0); marked documents frozen at the ranks at which they were shown",
        **describe("numpy", "scipy", "scikit-learn", "PyStemmer"),
        "rows": rows,
    }
    write(arguments.result, report)


if __name__ == "__main__":
    main()
