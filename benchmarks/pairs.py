"""Time of one exact Word Mover's Distance, compared with gensim, POT, and pyemd.

In each round, every contender computes the distances of the same pairs, in an order that changes
between rounds. Temporary load thus affects all of them, and ratios are taken within a round. All
results are compared in the same run. Run it with textkin and its bench extra installed::

    python benchmarks/pairs.py

The result goes to benchmarks/results/pairs.json; ``python benchmarks/table.py`` prints it.
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
from contenders import PEERS, Contender, prepare, ready_problems
from environment import RESULTS, describe
from numpy.typing import NDArray
from table import render
from workloads import NAMES, SYNTHETIC, Language, Pairs, load_pairs

from textkin import WordMover, _core
from textkin.run import progress_bar

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
TOLERANCE = 1e-6  # largest relative difference of two exact results
BASES = ("textkin_distance", "textkin_batch", "textkin_solver")  # denominators of the ratios

Times = dict[str, NDArray[np.float64]]


class UnequalAnswersError(RuntimeError):
    """Two contenders disagree, so their times are not comparable."""


def pin_threads() -> None:
    """Restart with one thread for BLAS and OpenMP, which read this when they are loaded."""
    if any(os.environ.get(name) != "1" for name in THREAD_VARIABLES):
        pinned = os.environ | dict.fromkeys(THREAD_VARIABLES, "1")
        os.execve(sys.executable, sys.orig_argv, pinned)


# ---------------------------------------------------------------------- measuring


def turn(names: list[str], number: int) -> list[str]:
    """Return the order of a round: rotated each time, and reversed every other time.

    Reversing changes which contender precedes which, and so the state of the cache.
    """
    start = number % len(names)
    order = names[start:] + names[:start]
    return order[::-1] if number % 2 else order


def measure(contenders: Mapping[str, Contender], n_pairs: int, rounds: int, label: str) -> Times:
    """Return the microseconds per pair of each contender in each round."""
    times: Times = {name: np.empty(rounds) for name in contenders}
    with progress_bar(label) as progress:
        for number in range(rounds):
            for name in turn(list(contenders), number):
                start = time.perf_counter()
                contenders[name]()
                times[name][number] = (time.perf_counter() - start) * 1e6 / n_pairs
            if progress is not None:
                progress(number + 1, rounds)
    return times


def differences(contenders: Mapping[str, Contender], workload: str) -> dict[str, float]:
    """Run every contender once as a warm-up; return its largest difference from textkin.

    Raises
    ------
    UnequalAnswersError
        If the difference exceeds the tolerance.
    """
    answers = {name: np.asarray(run(), dtype=np.float64) for name, run in contenders.items()}
    expected = answers[BASES[0]]
    scale = np.where(expected > 0, expected, 1)
    found = {}
    for name, answer in answers.items():
        relative = np.abs(answer - expected) / scale
        worst = int(np.argmax(relative))  # the first NaN, if there is one
        found[name] = float(relative[worst])
        if not found[name] <= TOLERANCE:
            raise UnequalAnswersError(
                f"{workload}, pair {worst}: {name} gives {answer[worst]!r} and textkin "
                f"{expected[worst]!r}; the relative difference {found[name]:.1e} is above "
                f"{TOLERANCE:.0e}, so no result is written."
            )
    return found


def spread(values: NDArray[np.float64]) -> dict[str, float]:
    """Return the median and the quartiles."""
    low, middle, high = np.percentile(values, [25, 50, 75])
    return {"median": round(middle, 3), "quartile_1": round(low, 3), "quartile_3": round(high, 3)}


def mean_pivots(pairs: Pairs) -> float:
    """Return the mean number of simplex steps per pair."""
    mover = WordMover(pairs.vectors)
    found = [
        mover.explain(pairs.first[[row]], pairs.second[[row]]).pivots for row in range(len(pairs))
    ]
    return float(np.mean(found))


def pivots_alone(pairs: Pairs) -> float:
    """Return the steps of a problem for the solver alone, including shared words."""
    found = [_core.solve_transport(a, b, costs)[5] for a, b, costs in ready_problems(pairs)]
    return float(np.mean(found))


def report_workload(pairs: Pairs, rounds: int) -> dict[str, object]:
    """Measure one workload, and return its section of the result."""
    contenders = prepare(pairs)
    unequal = differences(contenders, pairs.name)
    gc.collect()
    gc.freeze()  # no garbage collection of prepared data while the clock runs
    times = measure(contenders, len(pairs), rounds, pairs.name)
    gc.unfreeze()
    unique = pairs.unique_words()
    alone = pivots_alone(pairs)
    return {
        "name": pairs.name,
        "documents": "synthetic" if pairs.name in SYNTHETIC else "real",
        "pairs": len(pairs),
        "dimension": pairs.vectors.shape[1],
        "unique_words": {
            "mean": round(float(unique.mean()), 1),
            "median": float(np.median(unique)),
            "most": int(unique.max()),
        },
        "mean_pivots": round(mean_pivots(pairs), 1),
        "solver_alone": {
            "mean_pivots": round(alone, 1),
            "nanoseconds_a_pivot": round(1e3 * float(np.median(times["textkin_solver"])) / alone),
        },
        "contenders": {
            name: {
                "microseconds": spread(times[name]),
                "largest_relative_difference": unequal[name],
                "times_slower_than": {base: spread(times[name] / times[base]) for base in BASES},
                "rounds": np.round(times[name], 3).tolist(),
            }
            for name in contenders
        },
    }


# ---------------------------------------------------------------------- command


def report(workloads: list[str], n_pairs: int, rounds: int) -> dict[str, object]:
    """Measure the workloads, and return the content of the result file."""
    language = Language() if set(workloads) & set(SYNTHETIC) else None
    load = round(os.getloadavg()[0], 2)  # other work on the machine, over the last minute
    measured, absent = [], []
    for name in workloads:
        pairs = load_pairs(name, n_pairs, language)
        if pairs is None:
            absent.append(name)
        else:
            measured.append(report_workload(pairs, rounds))
    chosen = "" if workloads == list(NAMES) else f" --workloads {' '.join(workloads)}"
    return {
        "command": f"python benchmarks/pairs.py --pairs {n_pairs} --rounds {rounds}{chosen}",
        "measure": "microseconds for one exact Word Mover's Distance",
        **describe("textkin", "numpy", "scipy", *PEERS),
        "load_average_before": load,
        "instruction_set": _core.instruction_set(),
        "rounds": rounds,
        "absent_peers": [
            name for name in PEERS if any(name not in one["contenders"] for one in measured)
        ],
        "absent_workloads": absent,
        "workloads": measured,
    }


def positive(text: str) -> int:
    """Parse a number of the command line that must be at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1; got {number}")
    return number


def main() -> None:
    """Measure, write the numbers, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="run on few pairs, few rounds")
    parser.add_argument(
        "--pairs", type=positive, help="pairs per workload (default: 500, --quick: 40)"
    )
    parser.add_argument("--rounds", type=positive, help="measured rounds (default: 15, --quick: 3)")
    parser.add_argument("--workloads", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--out", type=Path, default=RESULTS / "pairs.json")
    arguments = parser.parse_args()
    pin_threads()
    try:
        found = report(
            arguments.workloads,
            arguments.pairs or (40 if arguments.quick else 500),
            arguments.rounds or (3 if arguments.quick else 15),
        )
    except UnequalAnswersError as error:
        sys.exit(f"pairs.py: {error}")
    arguments.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(render(found))


if __name__ == "__main__":
    main()
