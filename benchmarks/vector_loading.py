"""Time and peak memory of loading word vectors, compared with gensim.

A GloVe text file and the same vectors as word2vec binary are made from a seed in a temporary
folder. In each round, every contender loads its file in its own process, in a changing order;
ratios are taken within a round. All results are compared. Run it with textkin and its bench extra
installed::

    python benchmarks/vector_loading.py

The result goes to benchmarks/results/vector_loading.json.
"""

import argparse
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from environment import RESULTS, describe

SEED = 7
POOL = 4000  # distinct rows, which are repeated under other words

# name: (file, label in the table)
CONTENDERS = {
    "textkin_text": ("glove.txt", "textkin, GloVe text, one thread"),
    "textkin_text_2_threads": ("glove.txt", "textkin, GloVe text, two threads"),
    "textkin_first_time": ("glove.txt", "textkin, GloVe text, two threads, making the cache"),
    "textkin_second_time": ("glove.txt", "textkin, GloVe text, from the cache"),
    "textkin_second_time_lookup": ("glove.txt", "the same and one word looked up"),
    "gensim_text": ("glove.txt", "gensim, GloVe text"),
    "textkin_binary": ("word2vec.bin", "textkin, word2vec binary"),
    "gensim_binary": ("word2vec.bin", "gensim, word2vec binary"),
}
PEERS = {"textkin_binary": "gensim_binary"}  # denominator: gensim_text for the text file


# ---------------------------------------------------------------------- files


def make_files(folder: Path, count: int, dimension: int) -> None:
    """Write the two files."""
    rng = np.random.default_rng(SEED)
    pool = np.round(rng.normal(scale=0.4, size=(min(POOL, count), dimension)), 5)
    matrix = pool.astype(np.float32)
    lines = [" ".join(map(repr, row)) + "\n" for row in pool.tolist()]
    with (folder / "glove.txt").open("w", encoding="utf-8") as text:
        for number in range(count):
            text.write(f"word{number} {lines[number % len(lines)]}")
    with (folder / "word2vec.bin").open("wb") as binary:
        binary.write(f"{count} {dimension}\n".encode())
        for number in range(count):
            binary.write(f"word{number} ".encode() + matrix[number % len(matrix)].tobytes())


# ---------------------------------------------------------------------- one contender


def load(name: str, path: Path) -> tuple[list[str], np.ndarray]:
    """Run the timed part."""
    if name.startswith("gensim"):
        from gensim.models import KeyedVectors

        start = time.perf_counter()
        binary = name == "gensim_binary"
        found = KeyedVectors.load_word2vec_format(path, binary=binary, no_header=not binary)
        report(time.perf_counter() - start)
        return found.index_to_key, found.vectors
    from textkin.vectors import WordVectors

    start = time.perf_counter()
    cached = "time" in name
    jobs = 2 if "2_threads" in name or name == "textkin_first_time" else 1
    vectors = WordVectors.load(path, cache=cached, n_jobs=jobs)
    if name.endswith("lookup"):
        vectors.lookup(["word5"])
    report(time.perf_counter() - start)
    return list(vectors.words), vectors.matrix


def report(seconds: float) -> None:
    """Print time and peak memory, before the result is used."""
    # VmHWM, because a process inherits ru_maxrss from its parent.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = int(status.split("VmHWM:", 1)[1].split()[0]) * 1024
    print(json.dumps({"seconds": seconds, "peak_bytes": peak}))


def child(name: str, path: Path) -> None:
    """Load, and print a summary of the result too."""
    if name == "textkin_first_time":
        path.with_name(path.name + ".textkin").unlink(missing_ok=True)
    words, matrix = load(name, path)
    digest = hashlib.sha256("\n".join(words).encode()).hexdigest()
    columns = matrix.sum(axis=0, dtype=np.float64)
    print(json.dumps({"words": digest, "shape": matrix.shape, "sums": columns[:8].tolist()}))


def run(name: str, folder: Path) -> tuple[dict[str, float], dict[str, object]]:
    """Run one contender in its own process."""
    path = folder / CONTENDERS[name][0]
    done = subprocess.run(
        [sys.executable, __file__, "--child", name, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"vector_loading.py: {name} failed: {done.stderr[-2000:]}")
    measured, answer = (json.loads(line) for line in done.stdout.splitlines()[-2:])
    return measured, answer


# ---------------------------------------------------------------------- all of them


def measure(names: list[str], folder: Path, rounds: int) -> dict[str, list[dict[str, float]]]:
    """Return time and memory of each contender in each round; stop if results differ."""
    from pairs import turn  # imported here, so that children do not pay for it

    found: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for number in range(rounds):
        # A second load needs a first one.
        order = turn([name for name in names if "time" not in name], number)
        place = number % (len(order) + 1)
        order[place:place] = [name for name in CONTENDERS if "time" in name]
        expected = None
        for name in order:
            measured, answer = run(name, folder)
            found[name].append(measured)
            if expected is None:
                expected = answer
            equal = answer["words"] == expected["words"] and np.allclose(
                answer["sums"], expected["sums"], rtol=1e-7, atol=1e-4
            )
            if not equal:
                sys.exit(f"vector_loading.py: {name} loads other vectors; no result is written.")
            print(f"round {number + 1}: {name} {measured['seconds']:.3f} s", file=sys.stderr)
    return found


def summary(found: dict[str, list[dict[str, float]]]) -> dict[str, object]:
    """Return medians, quartiles, ratios, and every round."""
    from pairs import spread

    seconds = {name: np.array([one["seconds"] for one in rows]) for name, rows in found.items()}
    out: dict[str, object] = {}
    for name, rows in found.items():
        out[name] = {
            "what": CONTENDERS[name][1],
            "seconds": spread(seconds[name]),
            "peak_megabytes": round(float(np.median([one["peak_bytes"] for one in rows])) / 1e6),
            "rounds": [round(one["seconds"], 6) for one in rows],
        }
        peer = PEERS.get(name, "gensim_text")
        if peer in seconds and name.startswith("textkin"):
            out[name]["times_as_fast_as_gensim"] = spread(seconds[peer] / seconds[name])
    if "textkin_text_2_threads" in out:
        ratio = seconds["textkin_text"] / seconds["textkin_text_2_threads"]
        out["textkin_text_2_threads"]["times_as_fast_as_one_thread"] = spread(ratio)
    return out


def table(result: dict) -> str:
    """Return the result as a Markdown table."""
    lines = ["| | seconds | times gensim | peak memory |", "| --- | ---: | ---: | ---: |"]
    for one in result["contenders"].values():
        ratio = one.get("times_as_fast_as_gensim", {}).get("median")
        lines.append(
            f"| {one['what']} | {one['seconds']['median']:.3f} | "
            f"{f'{ratio:.1f}' if ratio else ''} | {one['peak_megabytes']:,} MB |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, write the numbers, and print the table."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]))
        return
    from pairs import positive

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="run on a small file, one round")
    parser.add_argument("--words", type=positive, help="words (default: 400,000, --quick: 5,000)")
    parser.add_argument("--dimension", type=positive, default=300)
    parser.add_argument("--rounds", type=positive, help="rounds (default: 5, --quick: 1)")
    parser.add_argument("--out", type=Path, default=RESULTS / "vector_loading.json")
    arguments = parser.parse_args()
    words = arguments.words or (5_000 if arguments.quick else 400_000)
    rounds = arguments.rounds or (1 if arguments.quick else 5)
    gensim = importlib.util.find_spec("gensim") is not None
    names = [name for name in CONTENDERS if gensim or not name.startswith("gensim")]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make_files(folder, words, arguments.dimension)
        sizes = {file: (folder / file).stat().st_size for file in ("glove.txt", "word2vec.bin")}
        where = describe("textkin", "numpy", "gensim")
        load_before = round(os.getloadavg()[0], 2)
        found = measure(names, folder, rounds)
    result = {
        "command": "python benchmarks/vector_loading.py "
        f"--words {words} --dimension {arguments.dimension} --rounds {rounds}",
        "measure": "seconds to load word vectors, each in a process of its own, files in the "
        "page cache; peak resident memory of that process",
        **where,
        "load_average_before": load_before,
        "file_bytes": sizes,
        "absent_peers": [] if gensim else ["gensim"],
        "contenders": summary(found),
    }
    arguments.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(table(result))


if __name__ == "__main__":
    main()
