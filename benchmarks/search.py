"""Time of the k nearest documents under the exact Word Mover's Distance, compared with others.

Every round has new queries. Every contender answers them (slow contenders only some), in an order
that changes between rounds, and all results are compared. Ratios are taken within a round, over the
same queries. Run it with textkin and its bench extra installed::

    python benchmarks/search.py
    python benchmarks/search.py --documents 100000

The result goes to benchmarks/results/search.json (search-100000.json for other numbers of
documents); ``python benchmarks/table.py`` prints it.
"""

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from environment import RESULTS, describe
from numpy.typing import NDArray
from pairs import TOLERANCE, UnequalAnswersError, pin_threads, positive, spread, turn
from scipy import sparse
from search_contenders import MAKERS, SLOW, Answer, Contender, make
from search_table import render
from search_workloads import Corpus, synthetic_corpus, unique_words
from workloads import SYNTHETIC, Language

from textkin import _core
from textkin.run import progress_bar

DOCUMENTS = 10_000
MOST_FOR_SLOW = 20_000  # number of documents above which contenders without pruning are skipped
# answers all queries of a round, so all contenders are compared with it
REFERENCE = "textkin_batch"
WARMED = ("textkin", "textkin_2")
BASES = ("textkin_cold", "textkin", "textkin_batch")  # denominators of the ratios
MODULES = {"script": "POT", "gensim": "gensim"}  # packages of a contender

# Milliseconds per query, one row per round. A batch has one column, the mean. NaN: not measured.
Times = dict[str, NDArray[np.float64]]


# ---------------------------------------------------------------------- comparing


def largest_difference(
    name: str, answer: Answer, expected: Answer, where: str, of: str = REFERENCE
) -> float:
    """Return the largest relative difference of distances from the expected ones.

    Raises
    ------
    UnequalAnswersError
        If the difference exceeds the tolerance, or other documents were found. Documents whose
        distances differ by less than the tolerance may swap.
    """
    scale = np.where(expected.distances > 0, expected.distances, 1)
    relative = np.abs(answer.distances - expected.distances) / scale
    worst = float(relative.max())  # NaN, if there is one
    if not worst <= TOLERANCE:
        raise UnequalAnswersError(
            f"{where}: distances of {name} differ from distances of {of} by "
            f"{worst:.1e} (relative), more than {TOLERANCE:.0e}; no result is written."
        )
    for query, (found, wanted) in enumerate(zip(answer.indices, expected.indices, strict=True)):
        distances = expected.distances[query]
        known = dict(zip(wanted.tolist(), distances.tolist(), strict=True))
        for rank in np.flatnonzero(found != wanted):
            # An unexpected document may tie with the last expected one.
            its = known.get(int(found[rank]), distances[-1])
            if abs(its - distances[rank]) > TOLERANCE * scale[query, rank]:
                raise UnequalAnswersError(
                    f"{where}, query {query}: {name} has document {found[rank]} at rank {rank + 1} "
                    f"and {of} document {wanted[rank]}; no result is written."
                )
    return worst


# ---------------------------------------------------------------------- measuring


def timed(contender: Contender, queries: sparse.csr_array) -> tuple[float, Answer]:
    """Return the milliseconds of one call and its result."""
    contender.search.prepare()
    start = time.perf_counter()
    answer = contender.search(queries)
    return (time.perf_counter() - start) * 1e3, answer


def one_round(
    contender: Contender, queries: sparse.csr_array, n_single: int
) -> tuple[NDArray[np.float64], list[Answer]]:
    """Return the milliseconds of each query, and the results of each call."""
    if contender.batch:
        took, answer = timed(contender, queries)
        return np.array([took / queries.shape[0]]), [answer]
    asked = min(n_single, contender.queries or n_single)
    calls = [timed(contender, queries[[row]]) for row in range(asked)]
    return np.array([took for took, _ in calls]), [answer for _, answer in calls]


def joined(answers: list[Answer]) -> Answer:
    """Merge the results of several calls; the work is the mean per query."""
    indices = np.concatenate([answer.indices for answer in answers])
    names = dict.fromkeys(name for answer in answers for name in answer.work)
    totals = {name: sum(answer.work.get(name, 0.0) for answer in answers) for name in names}
    work = {name: total / len(indices) for name, total in totals.items()}
    return Answer(indices, np.concatenate([answer.distances for answer in answers]), work)


def measure(
    contenders: Mapping[str, Contender], corpus: Corpus, rounds: int, n_single: int, n_batch: int
) -> tuple[Times, dict[str, float], dict[str, list[dict[str, float]]]]:
    """Return times, largest differences, and the work of a mean query in each round."""
    # Persistent searchers have then processed many other queries, as in a service.
    for name in set(WARMED) & set(contenders):
        contenders[name].search(corpus.queries[:n_batch])
    times: Times = {
        name: np.full((rounds, 1 if one.batch else n_single), np.nan)
        for name, one in contenders.items()
    }
    differences = dict.fromkeys(contenders, 0.0)
    work: dict[str, list[dict[str, float]]] = {name: [] for name in contenders}
    gc.collect()
    gc.freeze()  # no garbage collection of prepared data while the clock runs
    with progress_bar(corpus.name) as progress:
        for number in range(rounds):
            start = (number + 1) * n_batch
            queries = corpus.queries[start : start + n_batch]
            answers = {}
            for name in turn(list(contenders), number):
                contender = contenders[name]
                if contender.rounds is None or number < contender.rounds:
                    took, found = one_round(contender, queries, n_single)
                    times[name][number, : len(took)] = took
                    answers[name] = joined(found)
                    work[name].append(answers[name].work)
            for name, answer in answers.items():
                asked = len(answer.indices)
                full = answers[REFERENCE]
                expected = Answer(full.indices[:asked], full.distances[:asked], {})
                where = f"{corpus.name}, round {number + 1}"
                apart = largest_difference(name, answer, expected, where)
                differences[name] = max(differences[name], apart)
            if progress is not None:
                progress(number + 1, rounds)
    gc.unfreeze()
    return times, differences, work


def ratios(times: NDArray[np.float64], base: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ratio to the base in each round, over the queries of both."""
    if times.shape == base.shape:  # otherwise one of them is a batch: the mean query of each
        base = np.where(np.isfinite(times), base, np.nan)
        times = np.where(np.isfinite(base), times, np.nan)
    found = _mean(times) / _mean(base)
    return found[np.isfinite(found)]


def _mean(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the queries of each round; NaN for a round without any."""
    asked = np.isfinite(times)
    total = np.where(asked, times, 0).sum(axis=1)
    return np.divide(total, asked.sum(axis=1), out=np.full(len(times), np.nan), where=total > 0)


def report_workload(
    corpus: Corpus, names: list[str], k: int, rounds: int, n_single: int, n_batch: int
) -> dict[str, object]:
    """Measure one workload, and return its section of the result."""
    contenders = make(corpus, k, names)
    times, differences, work = measure(contenders, corpus, rounds, n_single, n_batch)
    bases = [base for base in BASES if base in contenders]
    return {
        "name": corpus.name,
        "documents": corpus.documents.shape[0],
        "dimension": corpus.vectors.shape[1],
        "unique_words": unique_words(corpus.documents),
        "query_words": unique_words(corpus.queries),
        "contenders": {
            name: {
                "milliseconds": spread(_mean(times[name])[: len(work[name])]),
                "queries": int(np.isfinite(times[name]).sum()) * (n_batch if one.batch else 1),
                "largest_relative_difference": differences[name],
                "times_slower_than": {
                    base: spread(ratios(times[name], times[base])) for base in bases
                },
                "work_a_query": _mean_work(work[name]),
                "rounds": [
                    [round(took, 3) for took in row[np.isfinite(row)].tolist()]
                    for row in times[name]
                ],
            }
            for name, one in contenders.items()
        },
    }


def _mean_work(rounds: list[dict[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for one in rounds for name in one)
    return {
        name: round(float(np.mean([one.get(name, 0.0) for one in rounds])), 3) for name in names
    }


# ---------------------------------------------------------------------- command


def report(
    workloads: list[str], n_documents: int, k: int, rounds: int, n_single: int, n_batch: int
) -> dict[str, object]:
    """Measure the workloads, and return the content of the result file."""
    slow = n_documents > MOST_FOR_SLOW
    names = [name for name in MAKERS if not (slow and name in SLOW)]
    language = Language()
    load = round(os.getloadavg()[0], 2)  # other work on the machine, over the last minute
    measured = []
    for name in workloads:
        corpus = synthetic_corpus(name, n_documents, (rounds + 1) * n_batch, language=language)
        measured.append(report_workload(corpus, names, k, rounds, n_single, n_batch))
    sizes = f"--documents {n_documents} -k {k} --rounds {rounds} --single {n_single}"
    return {
        "command": f"python benchmarks/search.py {sizes} --batch {n_batch} "
        f"--workloads {' '.join(workloads)}",
        "measure": "milliseconds per query for the k nearest documents, exact",
        **describe("textkin", "numpy", "scipy", "gensim", "POT"),
        "load_average_before": load,
        "instruction_set": _core.instruction_set(),
        "k": k,
        "rounds": rounds,
        "queries_a_round": {"single": n_single, "batch": n_batch},
        "left_out_as_too_slow": list(SLOW) if slow else [],
        "absent_peers": [
            MODULES[name]
            for name in MODULES
            if name in names and any(name not in one["contenders"] for one in measured)
        ],
        "workloads": measured,
    }


def main() -> None:
    """Measure, write the numbers, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="run on few documents and queries")
    parser.add_argument(
        "--documents", type=positive, help="documents (default: 10000, --quick: 200)"
    )
    parser.add_argument("-k", type=positive, default=10, help="documents to find per query")
    parser.add_argument("--rounds", type=positive, help="measured rounds (default: 7, --quick: 2)")
    parser.add_argument(
        "--single", type=positive, help="queries per round, one by one (default: 10)"
    )
    parser.add_argument(
        "--batch", type=positive, help="queries per round, in a batch (default: 300)"
    )
    parser.add_argument(
        "--workloads",
        nargs="+",
        choices=SYNTHETIC,
        help="workloads (default: all; above 20,000 documents: news)",
    )
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    n_documents = arguments.documents or (200 if arguments.quick else DOCUMENTS)
    single = arguments.single or (2 if arguments.quick else 10)
    batch = arguments.batch or (6 if arguments.quick else 300)
    if arguments.k > n_documents or single > batch:
        parser.error("-k must be at most --documents, and --single at most --batch")
    workloads = arguments.workloads
    if workloads is None:
        workloads = ["news"] if n_documents > MOST_FOR_SLOW else list(SYNTHETIC)
    out = arguments.out
    if out is None:
        out = RESULTS / (
            "search.json" if n_documents == DOCUMENTS else f"search-{n_documents}.json"
        )
    pin_threads()
    try:
        found = report(
            workloads,
            n_documents,
            arguments.k,
            arguments.rounds or (2 if arguments.quick else 7),
            single,
            batch,
        )
    except UnequalAnswersError as error:
        sys.exit(f"search.py: {error}")
    out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(render(found))


if __name__ == "__main__":
    main()
