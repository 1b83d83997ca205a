"""Queries per second over 100,000 documents of an index, compared with bm25s and tantivy.

The documents are real texts (Brown sentences, WordNet glosses, GCIDE definitions, Reuters, 20news;
they need the shared data next to the checkout), the queries 5 or 20 distinct words of a document.
Each contender runs in its own process, in every round, in a changing order::

    python benchmarks/store_search.py

The timed part is everything that a user waits for: tokenizing the query, and reading IDs and scores
of the ten best. bm25s (numba) has the same formula (its scores must agree within 1e-4, or the
script stops); tantivy has its own k1, b, and tokenizer, so only the overlap of its results is
reported. The first query, in which textkin builds its bounds, is reported separately. A second
table shows the savings of the inverted index: touched postings compared with documents in the
collection. The results go to benchmarks/results/store_search.json.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
from environment import DATA, RESULTS, describe
from index_adding import real_texts, synthetic_texts, write_collection

from textkin.run import progress_bar
from textkin.text import tokenize

SEED = 8
CONTENDERS = Path(__file__).with_name("store_search_contenders.py")
NAMES = ("textkin", "bm25s", "tantivy")
WORDS = (5, 20)
K = 10
TOLERANCE = 1e-4
CLASSIFICATION = ("r8", "20news", "ohsumed23")


def queries_of(texts: list[str], words: int, number: int) -> list[str]:
    """Return queries with the given number of distinct words, each from one document."""
    rng = np.random.default_rng([SEED, words])
    found: list[str] = []
    for at in rng.integers(0, len(texts), 400 * number):
        kept = sorted(set(tokenize(texts[at])))
        if len(kept) >= words:
            found.append(" ".join(rng.choice(kept, words, replace=False)))
        if len(found) == number:
            break
    return found


def in_process(what: str, *arguments: object) -> Any:
    """Run a job of `store_search_contenders` in a fresh process; return its output."""
    done = subprocess.run(
        [sys.executable, str(CONTENDERS), what, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def measure(names: list[str], folder: Path, rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Run all contenders in every round, in a changing order."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    with progress_bar("searching") as progress:
        for number in range(rounds):
            for name in names[number % len(names) :] + names[: number % len(names)]:
                runs[name].append(in_process(name, folder, K))
                if progress is not None:
                    progress(sum(map(len, runs.values())), rounds * len(names))
    return runs


def agreement(ours: list[Any], theirs: list[Any], same_formula: bool) -> dict[str, float]:
    """Compare results: the share of common documents, and the differences of scores."""
    common, apart = [], 0.0
    for mine, other in zip(ours, theirs, strict=True):
        common.append(len({*mine["ids"]} & {*other["ids"]}) / max(1, len(mine["ids"])))
        if same_formula:
            if len(mine["scores"]) != len(other["scores"]):
                return {"overlap": 0.0, "largest_difference": float("inf")}
            for a, b in zip(mine["scores"], other["scores"], strict=True):
                apart = max(apart, abs(a - b) / abs(a))
    found = {"overlap": round(statistics.mean(common), 4)}
    return {**found, "largest_difference": apart} if same_formula else found


def summary(runs: dict[str, list[dict[str, Any]]], words: int) -> dict[str, Any]:
    """Return medians over rounds, ratios within them, and the agreement of results."""
    found: dict[str, Any] = {}
    ours = [run["queries"][str(words)] for run in runs["textkin"]]
    for name, all_runs in runs.items():
        of_words = [run["queries"][str(words)] for run in all_runs]
        middle = {
            part: round(statistics.median(one[part] for one in of_words), 2)
            for part in ("p50_microseconds", "p99_microseconds", "queries_a_second", "two_threads")
        }
        ratios = [
            mine["queries_a_second"] / one["queries_a_second"]
            for mine, one in zip(ours, of_words, strict=True)
        ]
        found[name] = {
            **middle,
            "textkin_is_faster": {
                "median": round(statistics.median(ratios), 3),
                "range": [round(min(ratios), 3), round(max(ratios), 3)],
            },
        }
        if name != "textkin":
            found[name]["agreement"] = agreement(
                ours[0]["answers"], of_words[0]["answers"], name == "bm25s"
            )
    return found


def check_equal(found: dict[str, Any]) -> None:
    """Stop unless bm25s finds the same scores."""
    apart = found.get("bm25s", {}).get("agreement", {}).get("largest_difference", 0.0)
    if not apart <= TOLERANCE:
        sys.exit(f"store_search.py: scores of bm25s differ by {apart:.2g} (relative).")


def table(found: dict[str, dict[str, Any]], first: dict[str, float]) -> str:
    """Return the numbers as a Markdown table."""
    lines = [
        "| words | | p50 us | p99 us | queries/s | with 2 threads | textkin is faster | "
        "same documents | first query ms |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for words, contenders in found.items():
        for name, one in contenders.items():
            overlap = one.get("agreement", {}).get("overlap")
            lines.append(
                f"| {words} | {name} | {one['p50_microseconds']:.0f} | "
                f"{one['p99_microseconds']:.0f} | {one['queries_a_second']:,.0f} | "
                f"{one['two_threads']:,.0f} | {one['textkin_is_faster']['median']:.2f} | "
                f"{'' if overlap is None else f'{overlap:.1%}'} | {first[name]:.0f} |"
            )
    return "\n".join(lines)


def claim_table(claim: list[dict[str, Any]]) -> str:
    """Return the savings of the inverted index as a Markdown table."""
    lines = [
        "| collection | documents | words per query | postings of its words | touched | documents "
        "scored | touched / (documents x words) |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {one['collection']} | {one['documents']:,} | {one['words']} | {one['postings']:,.0f} | "
        f"{one['touched']:,.0f} | {one['scored']:,.1f} | {one['share']:.3%} |"
        for one in claim
    ]
    return "\n".join(lines)


def claims(folder: Path, texts: list[str], number: int) -> list[dict[str, Any]]:
    """Measure the touched postings on the collection, also cut to the size of real sets."""
    found = [{"collection": "all texts", **one} for one in in_process("claim", folder, K)]
    for name in CLASSIFICATION if texts else ():
        path = DATA / "classification" / f"{name}.jsonl.gz"
        if not path.is_file():
            continue
        import gzip

        with gzip.open(path, "rt", encoding="utf-8") as file:
            own = [json.loads(line)["text"] for line in file][: len(texts)]
        place = folder / name
        place.mkdir()
        prepare(place, own, number)
        found += [{"collection": name, **one} for one in in_process("claim", place, K)]
    return found


def prepare(folder: Path, texts: list[str], number: int) -> None:
    """Write documents and queries, in textkin's Unicode normalization."""
    plain = [unicodedata.normalize("NFKC", text) for text in texts]
    write_collection(folder / "documents.jsonl", plain)
    queries = {str(words): queries_of(plain, words, number) for words in WORDS}
    (folder / "queries.json").write_text(json.dumps(queries), encoding="utf-8")


def main() -> None:
    """Measure, write the numbers, and print them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="run on few documents, one round")
    parser.add_argument("--collection", choices=["real", "synthetic"], default="real")
    parser.add_argument("--contenders", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--documents", type=int, help="documents (default: 100,000)")
    parser.add_argument("--queries", type=int, help="queries per length (default: 1,000)")
    parser.add_argument("--rounds", type=int, help="rounds (default: 3)")
    parser.add_argument("--folder", type=Path, help="temporary folder for some hundred MB")
    parser.add_argument("--out", type=Path, default=RESULTS / "store_search.json")
    arguments = parser.parse_args()
    documents = arguments.documents or (300 if arguments.quick else 100_000)
    number = arguments.queries or (20 if arguments.quick else 1000)
    rounds = arguments.rounds or (1 if arguments.quick else 3)
    names = []
    for name in arguments.contenders:
        needed = (name, "numba") if name == "bm25s" else (name,)
        if any(importlib.util.find_spec(package) is None for package in needed):
            print(f"{name} is skipped: {' or '.join(needed)} is not installed.", file=sys.stderr)
        else:
            names.append(name)
    if "textkin" not in names:
        sys.exit("store_search.py: the ratios need textkin among the contenders.")
    real = arguments.collection == "real" and (DATA / "text").is_dir()
    if not real and arguments.collection == "real":
        print("synthetic texts: the shared data sets are missing.", file=sys.stderr)
    texts = real_texts(documents) if real else [*synthetic_texts(documents)]
    where = describe("textkin", "bm25s", "numba", "tantivy", "numpy", "scipy")
    load = round(os.getloadavg()[0], 2)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as place:
        folder = Path(place)
        prepare(folder, texts, number)
        runs = measure(names, folder, rounds)
        found = {str(words): summary(runs, words) for words in WORDS}
        claim = claims(folder, texts if real else [], min(number, 200))
    for of_words in found.values():
        check_equal(of_words)
    first = {
        name: round(statistics.median(run["first_milliseconds"] for run in runs[name]), 1)
        for name in names
    }
    result = {
        "command": "python benchmarks/store_search.py",
        "measure": "index.search(query, 10) with ids and scores read, one thread, one query after "
        "another; ratios of queries a second taken within rounds; first: the first query of a "
        "fresh process, indexes open",
        **where,
        "load_average_before": load,
        "documents": len(texts),
        "collection": "real" if real else "synthetic",
        "queries": number,
        "rounds": rounds,
        "first_query_milliseconds": first,
        "words": found,
        "claim": claim,
    }
    arguments.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(table(found, first))
    print()
    print(claim_table(claim))


if __name__ == "__main__":
    main()
