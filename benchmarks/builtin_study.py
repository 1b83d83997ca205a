"""Comparison of the built-in vectors: GloVe, and vectors distilled from a sentence encoder.

The tables of vectors (`builtin_recipes`) are compared on judged word pairs, on the sentence pairs
of STS 2012 and 2013, and by nearest documents on R8 and CLASSIC. The weight a = 1e-3 and the single
removed component are from the SIF paper, three components from all-but-the-top. k of the neighbors
is chosen on a fifth of the training documents, as in knn_baselines.py. Constructions of vectors are
compared on the training pairs of STS 2012, by the sum of the Means of three scorers (``--parts
choices``), but test numbers influenced the choice, as docs/builtin-study.md explains.

The script needs the encodings of scripts/distil_vectors.py. Run it in the repository root, with
textkin installed. Each part can be measured separately and replaces its section of the result::

    python benchmarks/builtin_study.py --raw /tmp/distilled/minilm.npz
    python benchmarks/builtin_study.py --parts words sentences
"""

import argparse
import json
import shlex
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from builtin_documents import documents, exact, read_texts
from builtin_recipes import DISTILLED, GLOVE, SHIPPED, Making, Row, Tables
from environment import DATA, RESULTS, describe
from scipy.stats import rankdata
from sentence_pairs import Pairs, cosines, read_pairs

from textkin import WordMover
from textkin.evaluate import read_word_pairs, sts_scores, word_pairs
from textkin.models import Pooling
from textkin.vectors import WordVectors
from textkin.vectors._builtin import BUILTIN_PATHS, read_packed

RESULT = RESULTS / "builtin_study.json"
RAW = Path("/tmp/distilled/minilm.npz")
MAKINGS = (
    GLOVE,
    replace(GLOVE, removed=3),
    Making(100),
    Making(100, removed=3),
    DISTILLED,
    replace(DISTILLED, removed=3),
    replace(DISTILLED, weighted="rank"),
    replace(DISTILLED, weighted="sif"),
    Making(256, 160_000),
    replace(DISTILLED, lacking=True),
    Making(100, int8=True),
    replace(DISTILLED, int8=True),
    SHIPPED,
    replace(SHIPPED, words=30_000),
)
RESAMPLES = 500
ROUNDS = 3

# ------------------------------------------------------------------ word pairs


def word_cosines(table: WordVectors, pairs: Sequence[tuple[str, str, float]]) -> np.ndarray:
    """Return the cosine of each pair; NaN if a word has no vector."""
    sides = [table.align([pair[side] for pair in pairs]).astype(np.float64) for side in (0, 1)]
    sizes = np.linalg.norm(sides[0], axis=1) * np.linalg.norm(sides[1], axis=1)
    return np.einsum("ij,ij->i", *sides) / sizes


def rows_correlate(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the Pearson correlation of each pair of rows; 0 for a constant row."""
    one, other = (side - side.mean(axis=-1, keepdims=True) for side in (one, other))
    norms = np.linalg.norm(one, axis=-1) * np.linalg.norm(other, axis=-1)
    products = np.einsum("...i,...i->...", one, other)
    return np.divide(products, norms, out=np.zeros_like(norms), where=norms > 0)


def resampled(n: int) -> np.ndarray:
    """Sample positions of `n` items with replacement, one row per resample."""
    return np.random.default_rng(0).integers(n, size=(RESAMPLES, n))


def words(tables: Tables, data: Path) -> Iterator[Row]:
    """Yield the Spearman correlation by set: over covered pairs, over all pairs, and GloVe's."""
    sets = read_word_pairs(data / "wordsim" / "wordsim.tsv.gz")
    base = {name: word_cosines(tables(GLOVE), pairs) for name, pairs in sets.items()}
    for making in MAKINGS:
        if making.weighted is not None:
            continue  # lengths do not change a cosine
        table = tables(making)
        row: Row = {"vectors": str(making)}
        for name, pairs in sets.items():
            own, of_all = word_pairs(table, pairs), word_pairs(table, pairs, oov="zero")
            found = {
                "covered": own.covered,
                "total": own.total,
                "spearman": round(own.spearman, 4),
                "all_pairs": round(of_all.spearman, 4),
            }
            if making != GLOVE:
                found |= gain_on_words(pairs, word_cosines(table, pairs), base[name])
            row[name] = found
        yield row


def gain_on_words(
    pairs: Sequence[tuple[str, str, float]], own: np.ndarray, base: np.ndarray
) -> dict[str, float]:
    """Return the gain of Spearman over GloVe on pairs that both cover, and its standard error."""
    both = np.isfinite(own) & np.isfinite(base)
    gold = np.array([pair[2] for pair in pairs])[both]
    drawn = resampled(int(both.sum()))
    sides = [rankdata(each[both][drawn], axis=1) for each in (own, base)]
    wanted = rankdata(gold[drawn], axis=1)
    apart = rows_correlate(sides[0], wanted) - rows_correlate(sides[1], wanted)
    true = [rows_correlate(rankdata(each[both]), rankdata(gold)) for each in (own, base)]
    return {"gain": round(float(true[0] - true[1]), 4), "se": round(float(apart.std()), 4)}


# ------------------------------------------------------------------ sentences

SentenceScorer = Callable[[WordVectors, Pairs], np.ndarray]


def pooled(weights: str, *, removed: int = 0, a: float = 1e-3) -> SentenceScorer:
    """Cosine of pooled vectors without the first singular vectors of the file's sentences."""

    def scores(table: WordVectors, pairs: Pairs) -> np.ndarray:
        pooling = Pooling(
            table, word_weights=weights, remove_components=removed, a=a, stop_words=None
        )
        pooling.fit([*pairs.sentences[0], *pairs.sentences[1]])
        return cosines(*map(pooling.transform, pairs.sentences))

    return scores


def moved(masses: str, *, relaxed: bool = False) -> SentenceScorer:
    """Negative Word Mover's Distance of unit vectors; an empty sentence is the most distant."""

    def scores(table: WordVectors, pairs: Pairs) -> np.ndarray:
        mover = WordMover(table, word_weights=masses, unit=True, stop_words=None, empty="inf")
        if relaxed:
            far = np.array(
                [mover.bounds(*pair).relaxed for pair in zip(*pairs.sentences, strict=True)]
            )
        else:
            far = mover.paired(*pairs.sentences)
        return -np.where(np.isfinite(far), far, far[np.isfinite(far)].max())

    return scores


SCORERS: dict[str, SentenceScorer] = {
    "mean": pooled("mean"),
    "SIF": pooled("sif", removed=1),
    "WMD, nBOW": moved("nbow"),
    "WMD, SIF": moved("sif"),
    "RWMD, SIF": moved("sif", relaxed=True),
}


def measures(pairs: Pairs, scores: np.ndarray) -> dict[str, float]:
    """Return ALL, ALLnrm, and Mean."""
    found = sts_scores(pairs.sets, pairs.gold, scores)
    numbers = {"ALL": found.everything, "ALLnrm": found.normalized, "Mean": found.mean}
    return {name: round(float(number), 4) for name, number in numbers.items()}


def mean_gain_error(pairs: Pairs, own: np.ndarray, base: np.ndarray) -> float:
    """Return the standard error of the difference of two Means, by resampling within sets."""
    sets = np.array(pairs.sets)
    total = np.zeros(RESAMPLES)
    for name in dict.fromkeys(pairs.sets):
        at = np.flatnonzero(sets == name)
        drawn = at[resampled(len(at))]
        each = [rows_correlate(side[drawn], pairs.gold[drawn]) for side in (own, base)]
        total += (each[0] - each[1]) * len(at) / len(sets)
    return round(float(total.std()), 4)


def sentences(tables: Tables, data: Path) -> Iterator[Row]:
    """Yield the results of each table with each scorer on both tests."""
    tests = {year: read_pairs(data, f"sts{year}-test") for year in ("2012", "2013")}
    base: dict[tuple[str, str], np.ndarray] = {}
    for making in MAKINGS:
        table = tables(making)
        for name, scorer in SCORERS.items():
            if making.weighted is not None and name != "mean":
                continue
            row: Row = {"vectors": str(making), "scores": name}
            for year, pairs in tests.items():
                found = scorer(table, pairs)
                row[year] = measures(pairs, found)
                if making == GLOVE:
                    base[name, year] = found
                else:
                    row[year]["se"] = mean_gain_error(pairs, found, base[name, year])
            yield row


def choices(tables: Tables, data: Path) -> Iterator[Row]:
    """Yield results of other constructions on the training pairs of STS 2012."""
    pairs = read_pairs(data, "sts2012-train")
    makings = [
        replace(DISTILLED, marks=marks, unit=unit, lacking=lacking)
        for lacking in (False, True)
        for marks in (False, True)
        for unit in (True, False)
    ]
    makings += [replace(DISTILLED, removed=n) for n in (1, 2, 3)]
    makings += [Making(d) for d in (50, 100, 200, 300, 384)]
    for making in makings:
        table = tables(making)
        for name in ("mean", "SIF", "WMD, SIF"):
            row = {"vectors": str(making), "scores": name}
            yield {**row, **measures(pairs, SCORERS[name](table, pairs))}
    for making in (GLOVE, replace(GLOVE, removed=3), DISTILLED):
        for a in (1e-2, 1e-3, 1e-4):
            for removed in (0, 1, 2, 3):
                found = pooled("sif", removed=removed, a=a)(tables(making), pairs)
                scores = f"SIF, a = {a:g}, {removed} removed"
                yield {"vectors": str(making), "scores": scores, **measures(pairs, found)}


# ------------------------------------------------------------------ what they cost


def costs(_: Tables, data: Path) -> Iterator[Row]:
    """Yield size and speed of the built-in tables, the best of several rounds on one thread."""
    pairs = read_pairs(data, "sts2012-test").sentences
    texts = read_texts(data, "classic")
    queries, corpus = texts["test"][0][:200], texts["train"][0]
    found: dict[str, dict[str, list[float]]] = {name: {} for name in BUILTIN_PATHS}
    for _round in range(ROUNDS):
        for name, path in BUILTIN_PATHS.items():
            seconds = found[name]
            table = timed(seconds, "load", lambda path=path: WordVectors(*read_packed(path)))
            mover = WordMover(table, word_weights="sif", stop_words=None, empty="inf", n_jobs=1)
            timed(seconds, "pairs", lambda mover=mover: mover.paired(*pairs))
            fitted = WordMover(table, empty="inf", n_jobs=1).fit(corpus)
            timed(seconds, "search", lambda fitted=fitted: fitted.search(queries, 10))
            timed(seconds, "relaxed", lambda f=fitted: f.search(queries, 10, metric="rwmd"))
    for name, path in BUILTIN_PATHS.items():
        best = {what: min(times) for what, times in found[name].items()}
        yield {
            "vectors": name,
            "file_bytes": path.stat().st_size,
            "in_wheel_bytes": len(zlib.compress(path.read_bytes())),
            "memory_bytes": WordVectors(*read_packed(path)).matrix.nbytes,
            "load_seconds": round(best["load"], 3),
            "wmd_pairs_a_second": round(len(pairs[0]) / best["pairs"]),
            "wmd_queries_a_second": round(len(queries) / best["search"], 1),
            "rwmd_queries_a_second": round(len(queries) / best["relaxed"], 1),
        }


def timed(seconds: dict[str, list[float]], name: str, call: Callable[[], Any]) -> Any:
    """Return the result of a call and its duration."""
    started = time.perf_counter()
    answer = call()
    seconds.setdefault(name, []).append(time.perf_counter() - started)
    return answer


PARTS = {
    "choices": choices,
    "words": words,
    "sentences": sentences,
    "documents": documents,
    "exact": exact,
    "costs": costs,
}


def main() -> None:
    """Measure the parts, and write numbers, machine, and versions after each row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--raw", type=Path, default=RAW, help="file of the word encodings")
    parser.add_argument("--result", type=Path, default=RESULT)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    arguments = parser.parse_args()
    tables = Tables(arguments.raw)
    result = json.loads(arguments.result.read_text()) if arguments.result.exists() else {}
    for part in arguments.parts:
        head = {
            "command": shlex.join(["python", "benchmarks/builtin_study.py", *sys.argv[1:]]),
            **describe("textkin", "numpy", "scipy"),
        }
        rows: list[Row] = []
        for row in PARTS[part](tables, arguments.data):
            rows.append(row)
            print(json.dumps(row), flush=True)
            result[part] = {**head, "rows": rows}
            text = json.dumps(result, indent=1) + "\n"
            arguments.result.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
