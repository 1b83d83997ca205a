"""Growth of the exact search with a real collection: time, memory, and solved documents.

The collection is 1,000 to 400,000 texts from five sources (Brown sentences, WordNet glosses, GCIDE
definitions, Reuters, 20news), with GloVe vectors of 100 dimensions. Each size runs in its own
process, so that its peak memory is separate. With --set 20news, the 11,314 training documents of
20news are searched for the 19 nearest of every test document. Needs the shared data next to the
checkout::

    python benchmarks/search_scaling.py
    python benchmarks/search_scaling.py --set 20news

The results go to benchmarks/results/search_scaling.json and search_20news.json.
"""

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from environment import RESULTS, describe
from numpy.typing import NDArray
from pairs import UnequalAnswersError, pin_threads, positive
from scipy import sparse
from search import largest_difference
from search_contenders import Answer, searcher_of, work_of
from search_workloads import COLLECTIONS, Corpus, classified_corpus, mixed_corpus, unique_words

from textkin import WordVectors, _core
from textkin.run import progress_bar

SIZES = (1_000, 10_000, 100_000, 400_000)
CHECKED = 2  # queries to compare with brute force
PORTION = 256  # queries of 20news per call


def resident_megabytes(which: str) -> float:
    """Return "VmRSS", the current memory of this process, or "VmHWM", the peak."""
    # VmHWM, because a process inherits ru_maxrss from its parent.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return round(int(status.split(f"{which}:", 1)[1].split()[0]) / 1024, 1)


def forget_peak() -> None:
    """Reset the peak memory."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def spread_of(values: NDArray[Any]) -> dict[str, float]:
    """Return mean, median, 95th percentile, and maximum of a number per query."""
    middle, high = np.percentile(values, [50, 95])
    return {
        "mean": round(float(np.mean(values)), 3),
        "median": round(float(middle), 3),
        "percentile_95": round(float(high), 3),
        "most": round(float(np.max(values)), 3),
    }


def per_query(found: Any) -> dict[str, object]:
    """Return the work of a search per query: the spread of the counts, the mean of the rest."""
    asked = len(found.indices)
    work = {name: round(total / asked, 3) for name, total in work_of(found).items()}
    return {
        "solved": spread_of(found.stats.solved),
        "refined": spread_of(found.stats.refined),
        "removed": {
            name[len("removed_") :]: many
            for name, many in work.items()
            if name.startswith("removed_")
        },
        "milliseconds_by_stage": {
            name[len("ms_") :]: took for name, took in work.items() if name.startswith("ms_")
        },
    }


# ---------------------------------------------------------------------- growing


def measure_size(folder: str, size: int, k: int, n_single: int) -> dict[str, object]:
    """Search one size in a separate process, and return its cost."""
    documents = sparse.load_npz(Path(folder) / "documents.npz")[:size]
    queries = sparse.load_npz(Path(folder) / "queries.npz")
    vectors = WordVectors.builtin().matrix
    forget_peak()
    before = resident_megabytes("VmRSS")
    start = time.perf_counter()
    searcher = searcher_of(vectors, documents)
    fitted = time.perf_counter() - start
    kept = resident_megabytes("VmRSS")
    times = []
    for row in range(n_single):
        start = time.perf_counter()
        searcher.search(queries[[row]], k=k)
        times.append(time.perf_counter() - start)
    start = time.perf_counter()
    found = searcher.search(queries, k=k)
    batch = time.perf_counter() - start
    peak = resident_megabytes("VmHWM")
    brute = searcher.search(queries[:CHECKED], k=k, algorithm="brute")
    return {
        "documents": documents.shape[0],
        "unique_words": unique_words(documents),
        "fit_seconds": round(fitted, 3),
        "milliseconds": {
            "single": spread_of(1e3 * np.array(times)),
            "batch": round(1e3 * batch / len(found.indices), 3),
        },
        "megabytes": {
            "vectors_and_bags": before,
            "fit_adds": round(kept - before, 1),
            "search_adds_at_most": round(peak - kept, 1),
            "peak": peak,
        },
        **per_query(found),
        "largest_relative_difference_from_brute": largest_difference(
            "the search",
            Answer(found.indices[:CHECKED], found.distances[:CHECKED], {}),
            Answer(brute.indices, brute.distances, {}),
            f"{size} documents",
            "brute force",
        ),
    }


def report_growth(
    corpus: Corpus, sizes: list[int], k: int, n_single: int, n_queries: int
) -> dict[str, object]:
    """Measure all sizes, and return the content of the result."""
    measured = []
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, progress_bar("sizes") as progress:
        sparse.save_npz(Path(folder) / "documents.npz", corpus.documents, compressed=False)
        sparse.save_npz(Path(folder) / "queries.npz", corpus.queries, compressed=False)
        for done, size in enumerate(sizes, start=1):
            with spawn.Pool(1) as pool:
                measured.append(pool.apply(measure_size, (folder, size, k, n_single)))
            if progress is not None:
                progress(done, len(sizes))
    return {
        "queries": {"single": n_single, "batch": n_queries},
        "query_words": unique_words(corpus.queries),
        "sizes": measured,
    }


def growth_table(found: dict[str, Any]) -> str:
    """Return the sizes as a Markdown table."""
    lines = [
        "| documents | ms per query, single | batch | solved per query | refined | peak MB | of it "
        "fit, search |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in found["sizes"]:
        took, memory = one["milliseconds"], one["megabytes"]
        lines.append(
            f"| {one['documents']:,} | {took['single']['mean']:.1f} | {took['batch']:.1f} | "
            f"{one['solved']['mean']:.1f} | {one['refined']['mean']:.1f} | {memory['peak']:,.0f} | "
            f"{memory['fit_adds']:,.0f}, {memory['search_adds_at_most']:,.0f} |"
        )
    return "\n".join(lines)


# ---------------------------------------------------------------------- the whole of 20news


def error_of_vote(
    labels: NDArray[np.str_], indices: NDArray[np.int64], query_labels: NDArray[np.str_]
) -> float:
    """Return the fraction of queries whose vote is wrong.

    Ties go to the class of the nearest document.
    """
    wrong = 0
    for found, label in zip(indices, query_labels, strict=True):
        votes = Counter(labels[found[found >= 0]].tolist())  # keeps the order of first votes
        wrong += not votes or votes.most_common(1)[0][0] != label
    return wrong / len(query_labels)


def report_set(corpus: Corpus, k: int, n_jobs: int) -> dict[str, object]:
    """Search for every query of a labeled set, and return totals."""
    start = time.perf_counter()
    searcher = searcher_of(corpus.vectors, corpus.documents, n_jobs)
    fitted = time.perf_counter() - start
    parts, seconds = [], 0.0
    n_queries = corpus.queries.shape[0]
    with progress_bar(corpus.name) as progress:
        for at in range(0, n_queries, PORTION):
            queries = corpus.queries[at : at + PORTION]
            start = time.perf_counter()
            parts.append(searcher.search(queries, k=k))
            seconds += time.perf_counter() - start
            if progress is not None:
                progress(at + queries.shape[0], n_queries)
    brute = searcher.search(corpus.queries[:CHECKED], k=k, algorithm="brute")
    apart = largest_difference(
        "the search",
        Answer(parts[0].indices[:CHECKED], parts[0].distances[:CHECKED], {}),
        Answer(brute.indices, brute.distances, {}),
        corpus.name,
        "brute force",
    )
    indices = np.concatenate([found.indices for found in parts])
    works = [work_of(found) for found in parts]
    names = dict.fromkeys(name for work in works for name in work)
    return {
        "documents": corpus.documents.shape[0],
        "queries": n_queries,
        "queries_a_call": PORTION,
        "unique_words": unique_words(corpus.documents),
        "query_words": unique_words(corpus.queries),
        "threads": n_jobs,
        "fit_seconds": round(fitted, 3),
        "total_seconds": round(seconds, 3),
        "milliseconds_a_query": round(1e3 * seconds / n_queries, 3),
        "solved": spread_of(np.concatenate([found.stats.solved for found in parts])),
        "refined": spread_of(np.concatenate([found.stats.refined for found in parts])),
        "work_a_query": {
            name: round(sum(work.get(name, 0.0) for work in works) / n_queries, 3) for name in names
        },
        "largest_relative_difference_from_brute": apart,
        "error_of_vote_percent": {
            str(few): round(
                100 * error_of_vote(corpus.labels, indices[:, :few], corpus.query_labels), 2
            )
            for few in range(1, k + 1, 2)
        },
    }


def set_summary(found: dict[str, Any]) -> str:
    """Return the totals as text."""
    solved, refined = found["solved"], found["refined"]
    return (
        f"{found['queries']:,} queries, {found['documents']:,} documents, exact top-{found['k']}: "
        f"{found['total_seconds']:.1f} s, {found['milliseconds_a_query']:.1f} ms per query "
        f"on {found['threads']} thread(s); solved {solved['mean']:.1f} per query (median "
        f"{solved['median']:.0f}, most {solved['most']:.0f}), refined {refined['mean']:.0f}."
    )


# ---------------------------------------------------------------------- command


def main() -> None:
    """Measure, write the numbers, and print them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", choices=["mixed", "20news"], default="mixed")
    parser.add_argument("--quick", action="store_true", help="run on few documents and queries")
    parser.add_argument(
        "--collections",
        nargs="+",
        choices=COLLECTIONS,
        default=list(COLLECTIONS),
        help="collections (default: all)",
    )
    parser.add_argument("--sizes", nargs="+", type=positive, help="sizes of the mixed collection")
    parser.add_argument("--documents", type=positive, help="random sample of 20news (default: all)")
    parser.add_argument(
        "--queries", type=positive, help="queries (default: 300 for mixed, all for 20news)"
    )
    parser.add_argument("--single", type=positive, help="queries one by one (default: 50)")
    parser.add_argument("-k", type=positive, help="documents to find (default: 10, 20news: 19)")
    parser.add_argument("--threads", type=positive, default=1, help="threads for 20news")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    pin_threads()
    quick, mixed = arguments.quick, arguments.set == "mixed"
    k = arguments.k or (10 if mixed else 19)
    load = round(os.getloadavg()[0], 2)
    if mixed:
        sizes = sorted(arguments.sizes or ([100, 300] if quick else SIZES))
        n_queries = arguments.queries or (10 if quick else 300)
        n_single = min(n_queries, arguments.single or (3 if quick else 50))
        most = sizes[-1] if quick or arguments.sizes else None
        corpus = mixed_corpus(n_queries, most=most, collections=arguments.collections)
    else:
        few = (300, 20) if quick else (None, None)
        n_documents, n_queries = arguments.documents or few[0], arguments.queries or few[1]
        corpus = classified_corpus("20news", n_documents=n_documents, n_queries=n_queries)
    if corpus is None:
        sys.exit("search_scaling.py: the shared data are required.")
    try:
        if mixed:
            found = report_growth(corpus, sizes, k, n_single, n_queries)
            found["collections"] = arguments.collections
            options = f"--sizes {' '.join(map(str, sizes))} --single {n_single}"
            if arguments.collections != list(COLLECTIONS):
                options += f" --collections {' '.join(arguments.collections)}"
        else:
            found = report_set(corpus, k, arguments.threads)
            options = f"--documents {found['documents']} --threads {arguments.threads}"
    except UnequalAnswersError as error:
        sys.exit(f"search_scaling.py: {error}")
    n_queries = corpus.queries.shape[0]
    result = {
        "command": f"python benchmarks/search_scaling.py --set {arguments.set} -k {k} "
        f"--queries {n_queries} {options}",
        "measure": "milliseconds per query, exact; one thread by default; resident memory",
        **describe("textkin", "numpy", "scipy"),
        "load_average_before": load,
        "instruction_set": _core.instruction_set(),
        "k": k,
        "dimension": corpus.vectors.shape[1],
        **found,
    }
    out = arguments.out or RESULTS / ("search_scaling.json" if mixed else "search_20news.json")
    out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(growth_table(result) if mixed else set_summary(result))


if __name__ == "__main__":
    main()
