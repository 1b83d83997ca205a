"""Speed of one checkout compared with another, call by call.

    python benchmarks/budgets.py --against ../base/src
    python benchmarks/budgets.py --against ../base/src --rounds 41 --only distance import

Two processes stay alive, one with each source tree, and take turns: other work on the machine
slows both down. A round measures each call once in both, in an order that alternates. Times are
CPU seconds of the process, all threads together. Imports are measured in new processes. A ratio
above 1 means that this checkout is slower than the other one. The quartiles describe the
ratios of single rounds.

Both trees need the compiled core in the package. Names of the API may differ between the trees:
a workload tries the new spelling first.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import Any, TypeAlias

from environment import RESULTS, ROOT, describe, write

SECONDS = 0.1  # duration of a measurement in seconds; at least one call
DOCUMENTS = 2000

Call: TypeAlias = Callable[[], object]


# Workloads: each prepares its data and returns the call to measure


def either(*calls: Call) -> Call:
    """Return the first of several spellings of a call that the library understands."""
    for call in calls[:-1]:
        with contextlib.suppress(TypeError):
            call()
            return call
    return calls[-1]


def texts(number: int = DOCUMENTS, seed: int = 0) -> list[str]:
    """Make texts of words that have vectors, some of them frequent."""
    import textkin as tk

    random = Random(seed)
    words = tk.WordVectors.builtin().words[100:8100]
    chosen = [int(len(words) * random.random() ** 2) for _ in range(number * 30)]
    return [" ".join(words[at] for at in chosen[i : i + 30]) for i in range(0, len(chosen), 30)]


def distance_of_texts(_folder: Path) -> Call:
    """Compute the Word Mover's Distance of two short texts."""
    import textkin as tk

    mover = tk.WordMover()
    first, second = "Obama speaks to the media", "The President greets the press"
    return lambda: mover.distance(first, second)


def distance_of_bags(_folder: Path) -> Call:
    """Compute the Word Mover's Distance of two rows of a document-term matrix."""
    import textkin as tk

    counter = tk.BagOfWords()
    bags = counter.fit_transform(texts(20))
    mover = tk.WordMover(tk.WordVectors.builtin().align(counter.vocabulary_))
    first, second = bags[[0]], bags[[1]]
    return lambda: mover.distance(first, second)


def open_index(folder: Path) -> Any:
    """Create an index of many documents in one segment."""
    import textkin as tk

    try:
        index = tk.Index.create(folder, language=None)
    except TypeError:  # earlier versions have no languages
        index = tk.Index.create(folder)
    index.add([{"id": f"{n}", "text": text} for n, text in enumerate(texts())])
    index.compact()
    return index


def search_bm25(folder: Path) -> Call:
    """Search an index by BM25."""
    index, query = open_index(folder / "a.kin"), texts(1, seed=1)[0]
    return either(
        lambda: index.search(query, ranking="bm25").ids, lambda: index.search(query, by="bm25").ids
    )


def search_wmd(folder: Path) -> Call:
    """Search an index by the Word Mover's Distance."""
    index, query = open_index(folder / "b.kin"), texts(1, seed=1)[0]
    return either(
        lambda: index.search(query, ranking="wmd").ids, lambda: index.search(query, by="wmd").ids
    )


def bag_of_words(_folder: Path) -> Call:
    """Count the words of many texts."""
    import textkin as tk

    corpus = texts()
    return lambda: tk.BagOfWords().fit_transform(corpus)


def kneighbors(_folder: Path) -> Call:
    """Find the neighbors of a text by the Word Mover's Distance."""
    import textkin as tk

    mover = tk.WordMover().fit(texts())
    query = texts(1, seed=1)
    return lambda: mover.kneighbors(query, 10)


def plsa(_folder: Path) -> Call:
    """Fit a small topic model."""
    import textkin as tk

    bags = tk.BagOfWords(min_count=2).fit_transform(texts(300))
    return lambda: tk.PLSA(8, max_iter=20, tol=0, random_state=0).fit(bags)


WORKLOADS: dict[str, Callable[[Path], Call]] = {
    "distance of two texts": distance_of_texts,
    "distance of two bags": distance_of_bags,
    "search by BM25": search_bm25,
    "search by WMD": search_wmd,
    "BagOfWords.fit_transform": bag_of_words,
    "WordMover.kneighbors": kneighbors,
    "PLSA.fit": plsa,
}
IMPORTS = {
    "import textkin": "import textkin",
    "import textkin.text, tokenize": "from textkin.text import tokenize; tokenize('Two words')",
}


# Workers: each reads a line with a request, and writes a line with the answer


def seconds_of(call: Call, loops: int) -> float:
    """Return the CPU seconds per call."""
    start = time.process_time()
    for _ in range(loops):
        call()
    return (time.process_time() - start) / loops


def work() -> None:
    """Measure the workloads that standard input names, with the number of loops."""
    import warnings

    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr
    calls: dict[str, Call] = {}
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            name, loops = json.loads(line)
            if name not in calls:
                calls[name] = WORKLOADS[name](Path(folder))
                calls[name]()
            print(json.dumps(seconds_of(calls[name], loops)), file=answers, flush=True)


class Tree:
    """Source tree with the process that measures it.

    Parameters
    ----------
    source : Path
        Folder with the package.
    """

    def __init__(self, source: Path) -> None:
        self.source = source.resolve()
        if not (self.source / "textkin" / "__init__.py").is_file():
            sys.exit(f"{source} must be a folder with the package textkin, such as ../base/src")
        # A build environment may redirect imports, so this tree comes first.
        self._environment = os.environ | {"PYTHONPATH": str(self.source)}
        self._process: subprocess.Popen[str] | None = None

    def measure(self, name: str, loops: int) -> float:
        """Return the CPU seconds per call of a workload."""
        if name in IMPORTS:
            return self._import(IMPORTS[name])
        if self._process is None:
            command = [sys.executable, __file__, "--worker"]
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self._process = subprocess.Popen(
                command, env=self._environment, text=True, bufsize=1, **pipes
            )
        self._process.stdin.write(json.dumps([name, loops]) + "\n")
        answer = self._process.stdout.readline()
        if not answer:
            sys.exit(f"{name} failed on {self.source}; adapt the workload to its names")
        return json.loads(answer)

    def _import(self, code: str) -> float:
        """Return the CPU seconds of code in a new process, without the startup of Python."""
        timed = f"import time; s = time.process_time(); {code}; print(time.process_time() - s)"
        command = [sys.executable, "-c", timed]
        return float(subprocess.check_output(command, env=self._environment, text=True))

    def commit(self) -> str:
        """Return the commit of the tree, if it is a checkout."""
        command = ["git", "-C", str(self.source), "describe", "--always", "--dirty", "--abbrev=12"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout.strip() or "uncommitted"

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.stdin.close()
            self._process.wait(60)


def rounds_of(
    new: Tree, old: Tree, names: Sequence[str], rounds: int
) -> Iterator[tuple[str, float, float]]:
    """Yield name, new seconds, and old seconds of each measurement, round by round."""
    loops = {}
    for name in names:
        for tree in (new, old):
            once = tree.measure(name, 1)
        loops[name] = max(1, round(SECONDS / max(once, 1e-7)))
    for at in range(rounds):
        for name in names:
            order = (new, old) if at % 2 else (old, new)
            found = {id(tree): tree.measure(name, loops[name]) for tree in order}
            yield name, found[id(new)], found[id(old)]


def summary(pairs: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Return the medians of both sides, their ratio, and the quartiles of the rounds' ratios."""
    new, old = (median(side) for side in zip(*pairs, strict=True))
    ratios = [a / b for a, b in pairs]
    low, _, high = quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
    return {"new": new, "old": old, "ratio": new / old, "low": low, "high": high}


def table(found: dict[str, dict[str, float]]) -> list[str]:
    """Return a Markdown table of ratios."""
    lines = [
        "| call | this (ms) | other (ms) | ratio | quartiles |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, of in found.items():
        times = f"{1e3 * of['new']:.4g} | {1e3 * of['old']:.4g}"
        ratios = f"{of['ratio']:.3f} | {of['low']:.3f} to {of['high']:.3f}"
        lines.append(f"| {name} | {times} | {ratios} |")
    return lines


def main() -> None:
    """Compare two source trees, and write the result."""
    parser = argparse.ArgumentParser(description="Speed compared with another checkout.")
    parser.add_argument(
        "--against", type=Path, metavar="SRC", help="src folder of the other checkout"
    )
    parser.add_argument(
        "--source", type=Path, default=ROOT / "src", help="src folder of this checkout"
    )
    parser.add_argument("--rounds", type=int, default=21, metavar="N")
    parser.add_argument(
        "--only", nargs="+", metavar="WORD", help="only calls whose names contain a word"
    )
    parser.add_argument("--result", type=Path, default=RESULTS / "budgets.json")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work()
        return
    if arguments.against is None:
        parser.error("--against is required")
    words = arguments.only or [""]
    names = [n for n in (*WORKLOADS, *IMPORTS) if any(word in n for word in words)]
    pairs: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    new, old = Tree(arguments.source), Tree(arguments.against)
    try:
        for name, ours, theirs in rounds_of(new, old, names, arguments.rounds):
            pairs[name].append((ours, theirs))
    finally:
        new.close()
        old.close()
    found = {name: summary(measured) for name, measured in pairs.items()}
    print("\n".join(table(found)))
    report = {
        "command": f"python benchmarks/budgets.py --against SRC --rounds {arguments.rounds}",
        "measure": "CPU seconds per call; a ratio above 1 means slower than the other checkout",
        **describe("textkin", "numpy", "scipy"),
        "other_commit": old.commit(),
        "rounds": arguments.rounds,
        "calls": found,
    }
    write(arguments.result, report)


if __name__ == "__main__":
    main()
