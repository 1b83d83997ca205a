"""Average precision of rankings of an index and of their hybrids.

Each collection is an index with the default settings of `Index.create` (no stop list, no stems,
because word vectors need whole words; the built-in vectors). If a hybrid has several weights, the
best one on half of the queries is used for the other half, and vice versa, so that no query
influences its own weight. Run in the repository root, with textkin installed::

    python benchmarks/hybrids.py
"""

import gzip
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from environment import RESULTS, asked, describe, write

from textkin import Index
from textkin.index import Cascade, IndexState, RankFusion, Scorer, WeightedSum, ranking_of
from textkin.index.search.rankings._base import Ranking, ScoredRows, ScorerOf

RESULT = RESULTS / "hybrids.json"
CUT = 1000
SETS = ("med", "cran", "cacm", "time", "lisa")
WEIGHTS = tuple(round(0.1 * step, 1) for step in range(1, 10))
SHARES = ((0.6, 0.2, 0.2), (0.5, 0.3, 0.2), (0.5, 0.2, 0.3), (0.4, 0.3, 0.3), (0.4, 0.4, 0.2))
FIRST = 10


class Remembered(Ranking):
    """Ranking that caches its results, because weights do not change the parts of a hybrid."""

    def __init__(self, by: str) -> None:
        self.by = by

    def bind(self, state: IndexState, scorer_of: ScorerOf) -> "RememberedScorer":
        """Wrap the scorer with a cache."""
        return RememberedScorer(scorer_of(ranking_of(self.by)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remembered) and self.by == other.by

    def __hash__(self) -> int:
        return hash(self.by)


class RememberedScorer(Scorer[str]):
    """Scorer of texts as queries, with one search per query."""

    of_row = of_words = words_of = explain = moved = None  # unused

    def __init__(self, scorer: Scorer[object]) -> None:
        self.state, self.ascending = scorer.state, scorer.ascending
        self.scorer = scorer
        self.found: dict[object, ScoredRows] = {}

    def of_text(self, text: str) -> str:
        """Return a text unchanged."""
        return text

    def best(
        self, query: str, limit: int, threshold: float | None = None, rows: object = None
    ) -> ScoredRows:
        """Return the cached result, or search."""
        key = query, limit, threshold, None if rows is None else rows.tobytes()
        if key not in self.found:
            asked = self.scorer.of_text(query)
            self.found[key] = self.scorer.best(asked, limit, threshold, rows)
        return self.found[key]


BM25, TFIDF, WMD, RWMD, WCD = map(Remembered, ("bm25", "tfidf", "wmd", "rwmd", "wcd"))
USUAL = ranking_of("hybrid")


def weighted(first: Ranking, second: Ranking, candidates: int) -> dict[str, Ranking]:
    """Return a weighted sum for each weight of the first ranking."""
    return {
        f"{weight} and {round(1 - weight, 1)}": WeightedSum(
            {first: weight, second: round(1 - weight, 1)}, candidates=candidates
        )
        for weight in WEIGHTS
    }


def scorers() -> dict[str, dict[str, Ranking]]:
    """Return the rankings to compare, some with several settings."""
    return {
        "bm25": {"": BM25},
        "tfidf": {"": TFIDF},
        "rwmd": {"": RWMD},
        "wmd of the best 100 of bm25": {"": Cascade(BM25, WMD, candidates=100)},
        "wmd of the best 1000 of bm25": {"": Cascade(BM25, WMD, candidates=1000)},
        "bm25 + tfidf": weighted(BM25, TFIDF, 1000),
        "bm25 + wcd": weighted(BM25, WCD, 1000),
        "bm25 + rwmd": weighted(BM25, RWMD, 1000),
        "bm25 + wmd, best 100": weighted(BM25, WMD, 100),
        "bm25 + wmd": weighted(BM25, WMD, 1000),
        "bm25 + tfidf + wmd": {
            " and ".join(map(str, shares)): WeightedSum(
                dict(zip((BM25, TFIDF, WMD), shares, strict=True))
            )
            for shares in SHARES
        },
        "hybrid, as it is": {"": USUAL},
        "fusion of bm25 and tfidf": {"": RankFusion([BM25, TFIDF])},
        "fusion of bm25 and rwmd": {"": RankFusion([BM25, RWMD])},
        "fusion of bm25 and the wmd of its best 1000": {
            "": RankFusion([BM25, Cascade(BM25, WMD, candidates=1000)])
        },
    }


def read(data: Path, name: str) -> tuple[list[dict[str, str]], list[tuple[str, set[str]]]]:
    """Return documents as records, and judged queries with the IDs of their relevant documents."""
    folder = data / "retrieval" / name
    records = [json.loads(line) for line in _lines(folder / "docs.jsonl.gz")]
    documents = [{"id": r["id"], "text": f"{r['title']} {r['text']}"} for r in records]
    relevant: dict[str, set[str]] = {}
    for line in _lines(folder / "qrels.tsv.gz"):
        query, document, grade = line.split("\t")
        if float(grade) > 0:
            relevant.setdefault(query, set()).add(document)
    queries = map(json.loads, _lines(folder / "queries.jsonl.gz"))
    return documents, [(q["text"], relevant[q["id"]]) for q in queries if q["id"] in relevant]


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as opened:
        return opened.read().splitlines()


def quality(ids: list[str], relevant: set[str]) -> tuple[float, float]:
    """Return the average precision over all relevant documents, and the precision of the first."""
    hits = np.array([id in relevant for id in ids], bool)
    found = np.cumsum(hits)
    precision = found / np.arange(1, len(hits) + 1)
    return float((precision * hits).sum() / len(relevant)), float(hits[:FIRST].sum() / FIRST)


def evaluate(
    find: Callable[[str, Ranking], list[str]],
    settings: dict[str, Ranking],
    queries: list[tuple[str, set[str]]],
) -> dict[str, object]:
    """Return the means over all queries, each with a setting chosen on other queries."""
    of_queries = {
        setting: np.array([quality(find(text, ranking), right) for text, right in queries])
        for setting, ranking in settings.items()
    }
    halves = np.arange(len(queries)) % 2
    rows, chosen = np.empty((len(halves), 2)), []
    for half in (0, 1):
        best = max(of_queries, key=lambda s: of_queries[s][halves != half, 0].mean())
        rows[halves == half] = of_queries[best][halves == half]
        chosen.append(best)
    average, first = (round(float(value), 2) for value in 100 * rows.mean(axis=0))
    found: dict[str, object] = {"average_precision": average, "precision_of_first_10": first}
    if len(settings) > 1:
        found["chosen_on_the_other_half"] = chosen
        found["average_precision_by_weights"] = {
            setting: round(100 * float(values[:, 0].mean()), 2)
            for setting, values in of_queries.items()
        }
    return found


def measure(data: Path, sets: list[str]) -> list[dict[str, object]]:
    """Return one entry for each set and ranking."""
    rows: list[dict[str, object]] = []
    for name in sets:
        documents, queries = read(data, name)
        with (
            tempfile.TemporaryDirectory() as folder,
            Index.create(Path(folder) / "test.kin", language=None) as index,
        ):
            index.add(documents)

            def find(text: str, ranking: Ranking, index: Index = index) -> list[str]:
                searcher = index._searcher()
                scorer = searcher.scorer(ranking)
                most = getattr(ranking, "candidates", CUT)
                limit = most[0] if isinstance(most, tuple) else most
                found = scorer.best(scorer.of_text(text), limit)
                return [str(documents[row]["id"]) for row in found.rows]  # noqa: B023

            for scorer, settings in scorers().items():
                facts = {"set": name, "queries": len(queries), "ranking": scorer}
                rows.append({**facts, **evaluate(find, settings, queries)})
                print(json.dumps(rows[-1]), flush=True)
    return rows


def one_for_all(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return the result of one setting for all sets, each chosen on the other sets alone."""
    of_sets: dict[str, dict[str, float]] = {}
    for row in rows:
        for setting, value in row.get("average_precision_by_weights", {}).items():
            named = f"{row['ranking']}: {setting}"
            of_sets.setdefault(named, {})[row["set"]] = value
    found = []
    for left_out in dict.fromkeys(row["set"] for row in rows):
        others = {
            named: np.mean([value for name, value in values.items() if name != left_out])
            for named, values in of_sets.items()
        }
        best = max(others, key=others.__getitem__)
        found.append(
            {
                "set": left_out,
                "chosen_on_the_other_sets": best,
                "average_precision": of_sets[best][left_out],
            }
        )
    return found


def table(rows: list[dict[str, object]]) -> str:
    """Return average precision, and precision of the first ten, as a Markdown table."""
    sets = list(dict.fromkeys(row["set"] for row in rows))
    lines = [f"| | {' | '.join(map(str, sets))} |", f"| --- |{' ---: |' * len(sets)}"]
    for ranking in dict.fromkeys(row["ranking"] for row in rows):
        cells = [
            f"{row['average_precision']:.1f} / {row['precision_of_first_10']:.1f}"
            for row in rows
            if row["ranking"] == ranking
        ]
        lines.append(f"| {ranking} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table, and write numbers, machine, and versions."""
    arguments = asked(__doc__, RESULT, sets=SETS)
    rows = measure(arguments.data, arguments.sets)
    print(table(rows))
    across = one_for_all(rows) if len(arguments.sets) > 1 else []
    print(json.dumps(across, indent=2))
    report = {
        "command": "python benchmarks/hybrids.py",
        "measure": "average precision in percent, cut at rank 1000, and precision of the first 10; "
        "weights chosen on the other half of the queries",
        **describe("numpy", "scipy", "scikit-learn"),
        "rows": rows,
        "one_setting_for_all": across,
    }
    write(arguments.result, report)


if __name__ == "__main__":
    main()
