"""How tight the lower bounds are, and what prefetch and prune gives: the paper's Figures 5 to 7.

On real labelled sets, GloVe vectors of 100 dimensions, one thread: training documents are searched
for the neighbours of test documents. Needs the shared data beside the checkout, and for the
figures the extra ``plot``::

    python benchmarks/pruning.py                 # about half an hour
    python benchmarks/pruning.py --draw          # the figures again, from the stored numbers

The numbers go to benchmarks/results/pruning.json, the figures to docs/images/pruning-*.svg;
``python benchmarks/table.py --write docs/pruning.md`` puts the tables into the page.

References
----------
Kusner, Sun, Kolkin and Weinberger, "From Word Embeddings To Document Distances", ICML 2015,
sections 4 and 5.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from contenders import Costs, masses
from environment import RESULTS, ROOT, describe
from numpy.typing import NDArray
from pairs import UnequalAnswersError, pin_threads, positive
from pruning_figures import draw, render
from scipy import sparse
from search import largest_difference
from search_contenders import Answer, searcher_of
from search_scaling import error_of_vote
from search_workloads import Corpus, classified_corpus, unique_words

from textkin import _core
from textkin.run import progress_bar

# Test documents that are asked for; all there are in the smallest set.
QUERIES = {"twitter": None, "r8": 500, "classic": 500, "20news": 200}
RANKINGS = ("wcd", "rwmd-query", "rwmd-document", "rwmd")  # by a bound alone
BINS = 40  # of the curve of sorted distances
ABOVE = 1e-6  # by how much a lower bound may exceed the distance: float32 costs
ENOUGH_SECONDS, MOST_REPEATS = 1.0, 5  # quick runs are repeated

Matrix = NDArray[np.float64]


class NotABoundError(RuntimeError):
    """A lower bound is above the distance."""


# ---------------------------------------------------------------------- bounds


def refined_bound(
    costs: Matrix, first: tuple[NDArray[np.int32], Matrix], second: tuple[NDArray[np.int32], Matrix]
) -> float:
    """Return the bound that our search refines to: common mass removed, potentials on both sides.

    Mass that two documents share stays where it is. On what remains, with masses a and b,
    u_i = min_j c_ij and v_j = min_i (c_ij - u_i) are feasible for the dual problem, so that
    sum_i a_i u_i + sum_j b_j v_j is a bound; so is the same with the sides exchanged.

    Parameters
    ----------
    costs : ndarray of shape (n, m)
        Between the words of both documents; a metric.
    first, second : tuple of ndarray
        Words, ascending, and their masses, which sum to one.
    """
    a, b = first[1].copy(), second[1].copy()
    _, in_first, in_second = np.intersect1d(
        first[0], second[0], assume_unique=True, return_indices=True
    )
    common = np.minimum(a[in_first], b[in_second])
    a[in_first] -= common
    b[in_second] -= common
    rows, columns = np.flatnonzero(a > 0), np.flatnonzero(b > 0)
    if not (len(rows) and len(columns)):
        return 0.0
    a, b, costs = a[rows], b[columns], costs[np.ix_(rows, columns)]
    return max(_dual_value(a, b, costs), _dual_value(b, a, costs.T))


def _dual_value(a: Matrix, b: Matrix, costs: Matrix) -> float:
    u = costs.min(axis=1)
    v = (costs - u[:, np.newaxis]).min(axis=0)
    return float(a @ u + b @ v)


def bound_matrices(
    mover: Any, corpus: Corpus, queries: sparse.csr_array, documents: sparse.csr_array
) -> dict[str, Matrix]:
    """Return each bound of each query and document."""
    costs = Costs(corpus)
    rows, columns = masses(queries), masses(documents)
    refined = np.array(
        [[refined_bound(costs(one[0], two[0]), one, two) for two in columns] for one in rows]
    )
    one_side = mover.rwmd(queries, documents, side="document")
    return {
        "wcd": mover.wcd(queries, documents),
        "rwmd-query": mover.rwmd(queries, documents, side="query"),
        "rwmd-document": one_side,
        "rwmd": mover.rwmd(queries, documents),
        "refined": np.maximum(refined, one_side),  # the search comes from that one
    }


def tightness(distances: Matrix, bounds: dict[str, Matrix], name: str) -> dict[str, Any]:
    """Return how much of the distance each bound is, over all pairs that differ.

    Raises
    ------
    NotABoundError
        If a bound is above the distance.
    """
    apart = distances > 0
    found = {}
    for bound, values in bounds.items():
        shares = values[apart] / distances[apart]
        if shares.max() > 1 + ABOVE or values[~apart].max(initial=0.0) > ABOVE:
            raise NotABoundError(f"{name}: {bound} is {shares.max():.9f} of a distance.")
        low, high = np.percentile(shares, [10, 90])
        found[bound] = {
            "mean": round(float(shares.mean()), 4),
            "percentile_10": round(float(low), 4),
            "percentile_90": round(float(high), 4),
        }
    return found


def sorted_curve(distances: Matrix, bounds: dict[str, Matrix]) -> dict[str, Any]:
    """Return distances and bounds of one query in the order of the distances, in bins."""
    order = np.argsort(distances, kind="stable")
    bins = np.array_split(order, min(BINS, len(order)))
    lines = {
        name: {
            part: [round(float(value), 4) for value in values]
            for part, values in (
                ("mean", [of[one].mean() for one in bins]),
                ("low", [np.percentile(of[one], 10) for one in bins]),
                ("high", [np.percentile(of[one], 90) for one in bins]),
            )
        }
        for name, of in {"wmd": distances, **bounds}.items()
    }
    ends = np.cumsum([len(one) for one in bins])
    return {"documents": len(order), "rank": ends.tolist(), "lines": lines}


# ---------------------------------------------------------------------- search


def cutoffs(k: int, n: int) -> list[int]:
    """Return k, 2k, 4k, ... and n."""
    found = []
    m = k
    while m < n:
        found.append(m)
        m *= 2
    return [*found, n]


def timed_search(
    mover: Any, queries: sparse.csr_array, k: int, algorithm: str, m: int | None
) -> tuple[float, Any]:
    """Return the seconds of a search, of several the median, and what it found."""
    times: list[float] = []
    while not times or (sum(times) < ENOUGH_SECONDS and len(times) < MOST_REPEATS):
        start = time.perf_counter()
        found = mover.search(queries, k=k, algorithm=algorithm, m=m)
        times.append(time.perf_counter() - start)
    return float(np.median(times)), found


def searches(mover: Any, corpus: Corpus, k: int) -> list[dict[str, Any]]:
    """Return error, speed-up and work of every algorithm, of prefetch for every cutoff.

    Raises
    ------
    UnequalAnswersError
        If an exact one finds other documents than brute force.
    """
    n_documents = corpus.documents.shape[0]
    runs: list[tuple[str, int | None]] = [("brute", None), ("auto", None)]
    runs += [(name, None) for name in RANKINGS]
    runs += [("prefetch", m) for m in cutoffs(k, n_documents)]
    measured: list[dict[str, Any]] = []
    exact = Answer(np.empty((0, k), dtype=np.int64), np.empty((0, k)), {})
    with progress_bar(corpus.name) as progress:
        for done, (algorithm, m) in enumerate(runs, start=1):
            seconds, found = timed_search(mover, corpus.queries, k, algorithm, m)
            answer = Answer(found.indices, found.distances, {})
            # A ranking counts the bounds it computes as solved.
            solved = 0.0 if algorithm in RANKINGS else float(np.mean(found.stats.solved))
            if algorithm == "brute":
                exact = answer
            elif algorithm == "auto" or m == n_documents:
                largest_difference(algorithm, answer, exact, corpus.name, "brute force")
            measured.append(
                {
                    "algorithm": algorithm,
                    "m": m,
                    "seconds": round(seconds, 4),
                    "speed_up": round(
                        (measured[0]["seconds"] if measured else seconds) / seconds, 3
                    ),
                    "solved_percent": round(100 * solved / n_documents, 4),
                    "error_percent": round(
                        100 * error_of_vote(corpus.labels, found.indices, corpus.query_labels), 2
                    ),
                    "recall_percent": round(100 * recall(found.indices, exact.indices), 2),
                }
            )
            if progress is not None:
                progress(done, len(runs))
    return measured


def recall(found: NDArray[np.int64], exact: NDArray[np.int64]) -> float:
    """Return the share of the exact neighbours that were found."""
    shared = [len(np.intersect1d(a, b)) for a, b in zip(found, exact, strict=True)]
    return float(np.sum(shared)) / exact.size


# ---------------------------------------------------------------------- command


def report_set(corpus: Corpus, k: int, sample: tuple[int, int], seed: int = 7) -> dict[str, Any]:
    """Measure one set."""
    mover = searcher_of(corpus.vectors, corpus.documents)
    rng = np.random.default_rng([seed, 41])
    n_queries, n_documents = corpus.queries.shape[0], corpus.documents.shape[0]
    queries = corpus.queries[rng.permutation(n_queries)[: sample[0]]]
    documents = corpus.documents[rng.permutation(n_documents)[: sample[1]]]
    found = tightness(
        mover.pairwise(queries, documents),
        bound_matrices(mover, corpus, queries, documents),
        corpus.name,
    )
    middle = np.median(np.diff(queries.indptr))  # a query that is neither short nor long
    one = queries[[int(np.argmin(np.abs(np.diff(queries.indptr) - middle)))]]
    bounds = bound_matrices(mover, corpus, one, corpus.documents)
    curve = sorted_curve(
        mover.pairwise(one, corpus.documents)[0], {name: of[0] for name, of in bounds.items()}
    )
    return {
        "name": corpus.name,
        "documents": n_documents,
        "queries": n_queries,
        "unique_words": unique_words(corpus.documents),
        "tightness": {"pairs": queries.shape[0] * documents.shape[0], "bounds": found},
        "curve": {"query_words": int(one.nnz), **curve},
        "searches": searches(mover, corpus, k),
    }


def report(
    sets: list[str],
    k: int,
    n_documents: int | None,
    n_queries: int | None,
    sample: tuple[int, int],
) -> dict[str, Any]:
    """Measure the sets; return what goes into the result file."""
    load = round(os.getloadavg()[0], 2)
    measured = []
    for name in sets:
        corpus = classified_corpus(
            name, n_documents=n_documents, n_queries=n_queries or QUERIES[name]
        )
        if corpus is not None:
            measured.append(report_set(corpus, k, sample))
    sizes = "".join(
        f" --{option} {number}"
        for option, number in (("documents", n_documents), ("queries", n_queries))
        if number is not None
    )
    return {
        "command": f"python benchmarks/pruning.py -k {k} --sample {sample[0]} {sample[1]}{sizes} "
        f"--sets {' '.join(sets)}",
        "measure": "lower bounds as shares of the distance; errors of the k nearest neighbours' "
        "vote; seconds of a batch of queries on one thread, and how many times brute force's",
        **describe("textkin", "numpy", "scipy"),
        "load_average_before": load,
        "instruction_set": _core.instruction_set(),
        "k": k,
        "vectors": "built-in GloVe, 100 dimensions",
        "sets": measured,
    }


def main() -> None:
    """Measure, write the numbers, draw and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few documents and queries: a try")
    parser.add_argument("--draw", action="store_true", help="only draw what is stored")
    parser.add_argument("--sets", nargs="+", choices=QUERIES, default=list(QUERIES))
    parser.add_argument("-k", type=positive, default=5, help="neighbours; 5")
    parser.add_argument("--documents", type=positive, help="of each set, at random; all")
    parser.add_argument("--queries", type=positive, help="of each set; 200 to 935")
    parser.add_argument(
        "--sample", nargs=2, type=positive, help="queries and documents for tightness; 50 500"
    )
    parser.add_argument("--out", type=Path, default=RESULTS / "pruning.json")
    parser.add_argument("--images", type=Path, default=ROOT / "docs" / "images")
    arguments = parser.parse_args()
    quick = arguments.quick
    pin_threads()
    if arguments.draw:
        found = json.loads(arguments.out.read_text(encoding="utf-8"))
    else:
        try:
            found = report(
                arguments.sets,
                arguments.k,
                arguments.documents or (120 if quick else None),
                arguments.queries or (15 if quick else None),
                tuple(arguments.sample or ((4, 20) if quick else (50, 500))),
            )
        except (UnequalAnswersError, NotABoundError) as error:
            sys.exit(f"pruning.py: {error}")
        if not found["sets"]:
            sys.exit("pruning.py: nothing to measure without the shared data.")
        arguments.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(render(found))
    draw(found, arguments.images)


if __name__ == "__main__":
    main()
