r"""Number of instructions of distances, searches, and rankings, counted by valgrind.

Times depend on other work on the machine; the number of instructions does not, so a change that
adds work to the core is visible even on a busy machine. Only the core is counted, on one thread:
exact Word Mover's Distances of the pairs of pairs.py, and, as the workloads "search" and "ranking",
nearest documents by this distance and best documents by BM25 of a synthetic corpus. Each is counted
once with each instruction set that valgrind supports (it has no AVX-512).
Needs textkin, valgrind, and a compiler::

    python benchmarks/instructions.py

The result goes to benchmarks/results/instructions.json. With ``--compare``, nothing is written, and
more than two percent above the stored result ends with exit code 1. Compilers generate different
instructions: counts of another compiler are not compared, which is printed. ``make instructions``
compares synthetic pairs and both searches with benchmarks/results/instructions-guard.json, as CI
does. To accept more instructions, write that file again::

    python benchmarks/instructions.py --pairs 30 --workloads reut twit search ranking \
      --out benchmarks/results/instructions-guard.json
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from environment import RESULTS, ROOT, describe
from workloads import NAMES, SYNTHETIC, Language, Pairs, load_pairs

from textkin import _core

WORKLOADS = ("news", "reut", "twit", "r8", "20news", "twitter", "twitter-300d")
# Functions to count, including the functions that they call.
COUNTED = "textkin::search::distance_pairs*"
SEARCHES = {
    "search": "textkin::search::Searcher::search*",
    "ranking": "textkin::ranking::TermSearch::best*",
}
QUERIES = 10  # of each search, as in count_searches.cpp
SETS = ("baseline", "avx2")
ALLOWED = 0.02
PARTS = {
    "costs": ("squared_distances", "distances_of_tile", "finish_costs", "gather"),
    "simplex": ("solve_with_words", "solve_small", "row_minima", "find_reduced", "price", "pivot"),
}


def build() -> Path:
    """Build the programs to count, with release flags and symbols, and return their folder."""
    folder = ROOT / "build" / "instructions"
    configure = ["-S", ROOT, "-B", folder, "-DTEXTKIN_TESTS=ON", "-DCMAKE_BUILD_TYPE=Release"]
    _run("cmake", *configure, "-DCMAKE_CXX_FLAGS=-g")
    _run("cmake", "--build", folder, "--target", "count_pairs", "count_searches")
    return folder


def compiler() -> str:
    """Return the name and version of the compiler that built the programs."""
    cache = (ROOT / "build" / "instructions" / "CMakeCache.txt").read_text(encoding="utf-8")
    path = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.MULTILINE)
    assert path is not None
    shown = subprocess.run([path[1], "--version"], capture_output=True, text=True, check=True)
    return shown.stdout.splitlines()[0].strip()


def write(pairs: Pairs, path: Path) -> None:
    """Write the input of count_pairs: the vectors of the occurring words, and both sides."""
    both = (pairs.first, pairs.second)
    used = np.unique(np.concatenate([side.indices for side in both]))
    with path.open("wb") as file:
        sizes = [len(used), pairs.vectors.shape[1], len(pairs)]
        np.array(sizes, dtype=np.uint64).tofile(file)
        np.ascontiguousarray(pairs.vectors[used], dtype=np.float32).tofile(file)
        for side in both:
            side.indptr.astype(np.int64).tofile(file)
            np.searchsorted(used, side.indices).astype(np.int32).tofile(file)
            side.data.astype(np.float64).tofile(file)


def count_pairs(programs: Path, pairs: Pairs, instruction_set: str) -> dict[str, object]:
    """Return the instructions per pair, in thousands, and their parts in percent."""
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "pairs.bin"
        write(pairs, given)
        functions = _count(COUNTED, instruction_set, programs / "count_pairs", given)
    total = sum(functions.values())
    parts = {
        name: round(100 * sum(n for f, n in functions.items() if stem(f) in stems) / total, 1)
        for name, stems in PARTS.items()
    }
    return {"thousands_a_pair": round(total / len(pairs) / 1e3, 2), "percent": parts}


def count_search(programs: Path, workload: str, instruction_set: str) -> dict[str, object]:
    """Return the instructions per query of a search, in thousands."""
    program = programs / "count_searches"
    total = sum(_count(SEARCHES[workload], instruction_set, program, workload).values())
    return {"thousands_a_query": round(total / QUERIES / 1e3, 2)}


def _count(counted: str, instruction_set: str, *command: object) -> dict[str, int]:
    """Return the instructions of each function that runs below the counted function."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        options = (f"--callgrind-out-file={out}", f"--toggle-collect={counted}")
        _run("valgrind", "--tool=callgrind", *options, *command, TEXTKIN_SIMD=instruction_set)
        functions = own_counts(out.read_text(encoding="utf-8", errors="replace"))
    if sum(functions.values()) == 0:
        sys.exit(f"instructions.py: nothing was counted; no function matches {counted}.")
    return functions


def _run(*command: object, **environment: str) -> None:
    done = subprocess.run(
        list(map(str, command)),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"instructions.py: {command[0]} failed:\n{(done.stdout + done.stderr)[-2000:]}")


def own_counts(profile: str) -> dict[str, int]:
    """Return the instructions of each function, excluding the functions that it calls."""
    names: dict[str, str] = {}
    counts: dict[str, int] = {}
    function, of_call = "", False
    for line in profile.splitlines():
        if found := re.match(r"fn=\((\d+)\)(?: (.*))?", line):
            names.setdefault(found[1], found[2] or "")
            function = names[found[1]]
        elif found := re.match(r"cfn=\((\d+)\)(?: (.*))?", line):
            names.setdefault(found[1], found[2] or "")
        elif line.startswith("calls="):
            of_call = True  # the next line has the inclusive cost of the call
        elif found := re.match(r"[+*\-\d]\S* (\d+)$", line):
            if not of_call:
                counts[function] = counts.get(function, 0) + int(found[1])
            of_call = False
    return counts


def stem(function: str) -> str:
    """Return the unqualified name of a C++ function."""
    plain = re.sub(r"\(anonymous namespace\)::", "", function)
    plain, found = plain.split("(")[0], 1
    while found:  # nested templates
        plain, found = re.subn(r"<[^<>]*>", "", plain)
    return plain.split("::")[-1].split(" ")[-1]


def why_incomparable(stored: dict[str, object], pairs: int, built_by: str) -> str | None:
    """Return why counts cannot be compared with a stored result, or None if they can."""
    if stored["pairs"] != pairs:
        return f"the stored result was counted with --pairs {stored['pairs']}, not {pairs}"
    if stored.get("compiler") != built_by:
        return f"the stored result is of the compiler {stored.get('compiler')!r}, not {built_by!r}"
    return None


def compare(found: dict[str, object], stored: dict[str, object]) -> int:
    """Print both numbers of each workload; return how many exceed the limit."""
    worse = 0
    for workload, sets in found.items():
        for name, now in sets.items():
            before = stored.get(workload, {}).get(name)
            if before is None:
                continue
            unit = "thousands_a_query" if workload in SEARCHES else "thousands_a_pair"
            ratio = now[unit] / before[unit]
            mark = "  WORSE" if ratio > 1 + ALLOWED else ""
            worse += bool(mark)
            print(
                f"{workload:14}{name:10}{before[unit]:12.2f} {now[unit]:12.2f} {ratio:8.3f}{mark}"
            )
    return worse


def main() -> None:
    """Count, then write or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=100, help="pairs per workload")
    known = [*NAMES, *SEARCHES]
    parser.add_argument("--workloads", nargs="+", choices=known, default=list(WORKLOADS))
    parser.add_argument("--compare", action="store_true", help="compare with the stored result")
    parser.add_argument("--out", type=Path, default=RESULTS / "instructions.json")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("instructions.py: valgrind is required (apt-get install valgrind).")
    programs = build()
    built_by = compiler()
    stored = json.loads(arguments.out.read_text(encoding="utf-8")) if arguments.compare else None
    if stored and (reason := why_incomparable(stored, arguments.pairs, built_by)):
        print(f"instructions.py: not compared: {reason}.")
        return
    language = Language() if set(arguments.workloads) & set(SYNTHETIC) else None
    sets = [name for name in SETS if name in _core.instruction_sets()]
    found = {}
    for workload in arguments.workloads:
        if workload in SEARCHES:
            found[workload] = {name: count_search(programs, workload, name) for name in sets}
        elif pairs := load_pairs(workload, arguments.pairs, language):
            found[workload] = {name: count_pairs(programs, pairs, name) for name in sets}
        else:
            continue
        print(workload, json.dumps(found[workload]))
    if stored:
        sys.exit(1 if compare(found, stored["workloads"]) else 0)
    result = {
        "command": f"python benchmarks/instructions.py --pairs {arguments.pairs}",
        "measure": "instructions of the core, in thousands: for one exact Word Mover's Distance, "
        "or for one query of a search",
        **describe("textkin", "numpy", "scipy"),
        "compiler": built_by,
        "pairs": arguments.pairs,
        "workloads": found,
    }
    arguments.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
