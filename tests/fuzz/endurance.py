"""Repeat public calls, alone and from many threads; memory, files, and threads must not grow.

    python tests/fuzz/endurance.py                       # 10,000 calls of each, then 8 threads
    python tests/fuzz/endurance.py --calls 1000 --out run.json

Each call returns the same result each time. The growth of memory is measured after a tenth of the
calls, when caches are full.
"""

import argparse
import contextlib
import gc
import json
import os
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from fuzz.attack import commit  # noqa: E402
from fuzz.targets import RECORDS, small_vectors  # noqa: E402

GROWTH = 8 << 20  # permitted growth of memory, in bytes; the allocator keeps some
TEXTS = [record["text"] for record in RECORDS if record["text"]]


@contextmanager
def calls(folder: Path) -> Iterator[dict[str, Callable[[], Any]]]:
    """Yield public calls, each with an output that numbers and strings describe."""
    import textkin as tk
    from textkin.index import Index, parse_filter
    from textkin.text import tokenize

    vectors = small_vectors()
    lines = folder / "records.jsonl"
    lines.write_text("\n".join(map(json.dumps, RECORDS)), "utf-8")
    bags = tk.BagOfWords().fit(TEXTS)
    counts = bags.transform(TEXTS)
    weighted = tk.TfIdf().fit(counts)
    lsi = tk.LSI(2, random_state=0).fit(counts)
    plsa = tk.PLSA(2, max_iter=3, random_state=0).fit(counts)
    mover = tk.WordMover(vectors=vectors, empty="inf").fit(TEXTS)
    known = [text for text in TEXTS if set(tokenize(text)) & set(vectors.words)]
    labels = [str(number % 2) for number in range(len(TEXTS))]
    nearest = tk.NearestNeighborClassifier(metric="cosine", n_neighbors=2).fit(TEXTS, labels)
    lsi.save(folder / "lsi")
    a, b = np.full(4, 0.25), np.full(5, 0.2)
    costs = np.random.default_rng(0).random((4, 5))
    with Index.create(folder / "endurance.kin", vectors=vectors) as index:
        index.add(RECORDS)

        def update() -> int:
            index.update([RECORDS[0]])
            return len(index)

        def reopen() -> list[str]:
            with Index.open(index.path) as other:
                return sorted(other.ids)

        yield {
            "tokenize": lambda: tokenize(TEXTS[0]),
            "read": lambda: [document.id for document in tk.read(lines)],
            "BagOfWords.transform": lambda: bags.transform(TEXTS).sum(),
            "TfIdf.transform": lambda: weighted.transform(counts).sum(),
            "LSI.transform": lambda: lsi.transform(counts).tolist(),
            "PLSA.transform": lambda: plsa.transform(counts).tolist(),
            "load": lambda: tk.load(folder / "lsi").transform(counts).tolist(),
            "optimal_transport": lambda: tk.transport.optimal_transport(a, b, costs).cost,
            "WordMover.distance": lambda: mover.distance(known[0], known[1]),
            "WordMover.search": lambda: mover.search(known[:2], k=2).distances.tolist(),
            "compare": lambda: tk.compare(known[0], known[1], vectors=vectors).distance,
            "explain": lambda: mover.explain(known[0], known[1]).to_svg(),
            "classify": lambda: nearest.predict(TEXTS).tolist(),
            "parse_filter": lambda: str(parse_filter("year > 2010 and not label = 'x'")),
            "Index.search bm25": lambda: index.search("cats morning", k=3).ids,
            "Index.search wmd": lambda: index.search("cats mat", k=3, ranking="wmd").ids,
            "Index.update": update,
            "Index.open": reopen,
        }


def used() -> tuple[int, int, int]:
    """Return resident bytes, open descriptors, and threads of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    descriptors = len(os.listdir("/proc/self/fd"))
    return pages * os.sysconf("SC_PAGESIZE"), descriptors, threading.active_count()


def repeat(call: Callable[[], Any], times: int, seconds: float) -> dict[str, Any]:
    """Repeat one call; return how often, and what grew."""
    expected = call()
    end = time.monotonic() + seconds
    first = max(times // 10, 1)
    done = different = 0
    start = used()
    for done in range(1, times + 1):
        different += bool(call() != expected)
        if done == first:
            start = used()
        if time.monotonic() > end and done > first:
            break
    grown = [after - before for after, before in zip(used(), start, strict=True)]
    return {
        "calls": done,
        "different": different,
        "grown_bytes": grown[0],
        "grown_descriptors": grown[1],
        "grown_threads": grown[2],
    }


def together(made: dict[str, Callable[[], Any]], n_threads: int, times: int) -> dict[str, Any]:
    """Run read-only calls from many threads; each result must equal the single-threaded one."""
    chosen = {name: call for name, call in made.items() if name != "Index.update"}
    expected = {name: call() for name, call in chosen.items()}
    problems: list[str] = []
    counts = [0] * n_threads

    def work(number: int) -> None:
        names = list(chosen)
        try:
            for turn in range(times):
                name = names[(turn + number) % len(names)]
                if chosen[name]() != expected[name]:
                    problems.append(f"{name} differs")
                counts[number] += 1
        except BaseException as error:
            problems.append(f"{name}: {error!r}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"threads": n_threads, "calls": sum(counts), "problems": sorted(set(problems))}


def main(arguments: list[str] | None = None) -> int:
    """Run all calls; return 1 if one grows, differs, or fails."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=10_000, help="repetitions of each call")
    parser.add_argument("--seconds", type=float, default=1e9, help="most seconds per call")
    parser.add_argument("--threads", type=int, default=8, help="threads that share the objects")
    parser.add_argument("--out", type=Path, help="JSON file for the numbers")
    options = parser.parse_args(arguments)
    results, failed = {}, False
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        made = stack.enter_context(calls(folder))
        for name, call in made.items():
            results[name] = found = repeat(call, options.calls, options.seconds)
            wrong = bool(
                found["different"]
                or found["grown_bytes"] > GROWTH
                or found["grown_descriptors"] > 0
                or found["grown_threads"] > 0
            )
            failed |= wrong
            sys.stdout.write(f"{name}: {found}{' WRONG' if wrong else ''}\n")
        shared = together(made, options.threads, max(options.calls // 10, 20))
        failed |= bool(shared["problems"])
        sys.stdout.write(f"threads: {shared}\n")
    if options.out:
        facts = {"commit": commit(), "calls": results, "threads": shared}
        options.out.write_text(json.dumps(facts, indent=2) + "\n", "utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
