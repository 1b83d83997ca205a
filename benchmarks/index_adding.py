"""Documents and megabytes per second added to an index, compared with bm25s and tantivy.

Memory and disk space are measured too. There are two collections: real texts (Brown sentences,
WordNet glosses, GCIDE definitions, Reuters, 20news; they need the shared data next to the checkout)
and a million short synthetic ones (Zipf words). Each contender runs in its own process on one core,
in every round, in a changing order::

    python benchmarks/index_adding.py

textkin reads a file while it adds, and added documents are on disk and survive a power failure;
bm25s and tantivy get the texts in memory, which is not counted. The results go to
benchmarks/results/index_adding.json.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from environment import DATA, RESULTS, describe

from textkin.run import progress_bar

SEED = 7
CONTENDERS = Path(__file__).with_name("index_contenders.py")
NAMES = ("textkin", "bm25s", "tantivy")
VOCABULARY = 200_000
MEAN_WORDS = 12
SYNTHETIC = 1_000_000
OPENINGS = 7
CHUNK = 50_000
LETTERS = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))


# ---------------------------------------------------------------------- collections


def real_texts(most: int | None) -> list[str]:
    """Return the texts of all collections in one random order."""
    from search_workloads import COLLECTIONS, read_collection

    texts = [text for name in COLLECTIONS for text in read_collection(name)]
    order = np.random.default_rng([SEED, 41]).permutation(len(texts))
    return [texts[i] for i in order[:most]]


def word_of(rank: int) -> str:
    """Return a generated word; frequent words are shorter."""
    letters = []
    rank += len(LETTERS) + len(LETTERS) ** 2  # no words of one or two letters
    while rank >= 0:
        letters.append(LETTERS[rank % len(LETTERS)])
        rank = rank // len(LETTERS) - 1
    return "".join(letters)


def synthetic_texts(number: int) -> Iterator[str]:
    """Yield short texts whose words follow Zipf's law."""
    rng = np.random.default_rng([SEED, 42])
    words = np.array([word_of(rank) for rank in range(VOCABULARY)], dtype=object)
    shares = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    shares /= shares[-1]
    for start in range(0, number, CHUNK):
        lengths = 1 + rng.poisson(MEAN_WORDS - 1, min(CHUNK, number - start))
        drawn = words[np.searchsorted(shares, rng.random(lengths.sum()))]
        for one in np.split(drawn, np.cumsum(lengths)[:-1]):
            yield " ".join(one)


def write_collection(path: Path, texts: list[str] | Iterator[str]) -> dict[str, float]:
    """Write texts as JSON Lines; return their number and the megabytes of text."""
    number = size = 0
    with path.open("w", encoding="utf-8") as file:
        for text in texts:
            file.write(json.dumps({"id": str(number), "text": text}, ensure_ascii=False) + "\n")
            number += 1
            size += len(text.encode())
    return {"documents": number, "megabytes": round(size / 1e6, 3)}


# ---------------------------------------------------------------------- measuring


def measure(
    collection: Path, size: dict[str, float], names: list[str], rounds: int, folder: Path
) -> dict[str, Any]:
    """Run all contenders in every round; return their numbers and the ratios within rounds."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    with progress_bar(collection.stem) as progress:
        for number in range(rounds):
            for name in names[number % len(names) :] + names[: number % len(names)]:
                with tempfile.TemporaryDirectory(dir=folder) as place:
                    run = in_process(name, collection, place)
                    check_equal(name, run, size)
                    if name == "textkin":
                        run["open"] = opening(place, OPENINGS if rounds > 1 else 1)
                        run.update(in_process("keep", place))
                runs[name].append(run)
                if progress is not None:
                    progress(sum(map(len, runs.values())), rounds * len(names))
    return {
        **size,
        "contenders": {name: summary(runs[name], size) for name in names},
        "ratio_to_textkin": {
            name: ratios(runs[name], runs["textkin"]) for name in names if name != "textkin"
        },
    }


def in_process(what: str, *arguments: object) -> Any:
    """Run a job of `index_contenders` in a fresh process, and return its output."""
    done = subprocess.run(
        [sys.executable, str(CONTENDERS), what, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def opening(folder: str, times: int) -> dict[str, Any]:
    """Open an index in several fresh processes."""
    found = [in_process("open", folder) for _ in range(times)]
    return {
        "milliseconds": [one["open"] for one in found],
        "median_milliseconds": statistics.median(one["open"] for one in found),
        "median_milliseconds_of_first_get": statistics.median(one["first_get"] for one in found),
    }


def check_equal(name: str, found: dict[str, Any], size: dict[str, float]) -> None:
    """Stop unless all documents were added."""
    if found["documents"] != size["documents"]:
        sys.exit(f"index_adding.py: {name} has {found['documents']} of {size['documents']}.")


def summary(runs: list[dict[str, Any]], size: dict[str, float]) -> dict[str, Any]:
    """Return medians, rates, memory, and all measurements."""
    seconds = statistics.median(run["seconds"] for run in runs)
    processor = statistics.median(run["processor_seconds"] for run in runs)
    return {
        "median_seconds": round(seconds, 3),
        "median_processor_seconds": round(processor, 3),
        "documents_a_second": round(size["documents"] / seconds),
        "megabytes_a_second": round(size["megabytes"] / seconds, 2),
        "documents_a_processor_second": round(size["documents"] / processor),
        "peak_megabytes": max(run["megabytes_peak"] for run in runs),
        "bytes_a_document": {
            part: round(number / size["documents"], 1) for part, number in runs[0]["bytes"].items()
        },
        "runs": runs,
    }


def ratios(theirs: list[dict[str, Any]], ours: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the ratio of a contender's time to textkin's, within rounds."""
    found = {}
    for name in ("seconds", "processor_seconds"):
        values = [a[name] / b[name] for a, b in zip(theirs, ours, strict=True)]
        found[name] = {
            "median": round(statistics.median(values), 3),
            "range": [round(min(values), 3), round(max(values), 3)],
        }
    return found


def table(collections: dict[str, dict[str, Any]]) -> str:
    """Return the numbers as a Markdown table."""
    lines = [
        "| collection | | documents/s | MB/s | documents/s of the processor | time / textkin's, "
        "clock and processor | peak MB | bytes per document |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, found in collections.items():
        for contender, one in found["contenders"].items():
            times = found["ratio_to_textkin"].get(contender)
            ratio = "1"
            if times is not None:
                ratio = f"{times['seconds']['median']:.2f}, "
                ratio += f"{times['processor_seconds']['median']:.2f}"
            lines.append(
                f"| {name} ({found['documents']:,}, {found['megabytes']:.0f} MB) | {contender} | "
                f"{one['documents_a_second']:,} | {one['megabytes_a_second']:.1f} | "
                f"{one['documents_a_processor_second']:,} | {ratio} | "
                f"{one['peak_megabytes']:,.0f} | {one['bytes_a_document']['total']:,.0f} |"
            )
    return "\n".join(lines)


def store_lines(collections: dict[str, dict[str, Any]]) -> str:
    """Return the additional numbers of textkin's index."""
    lines = []
    for name, found in collections.items():
        runs = found["contenders"]["textkin"]["runs"]
        parts = found["contenders"]["textkin"]["bytes_a_document"]
        middle = {
            part: statistics.median(run[part] for run in runs)
            for part in ("verify_seconds", "compact_seconds")
        }
        opened = statistics.median(run["open"]["median_milliseconds"] for run in runs)
        lines.append(
            f"{name}: opens in {opened:.1f} ms, verified in {middle['verify_seconds']:.1f} s, "
            f"compacted in {middle['compact_seconds']:.1f} s; bytes per document: catalog "
            f"{parts['catalogue']:.0f}, segments {parts['segments']:.0f}."
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, write the numbers, and print them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="run on few documents, one round")
    parser.add_argument("--collections", nargs="+", choices=["real", "synthetic"])
    parser.add_argument("--contenders", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--documents", type=int, help="documents per collection (default: all)")
    parser.add_argument("--rounds", type=int, help="rounds (default: 3)")
    parser.add_argument("--folder", type=Path, help="temporary folder for 2 GB")
    parser.add_argument("--out", type=Path, default=RESULTS / "index_adding.json")
    arguments = parser.parse_args()
    most = arguments.documents or (200 if arguments.quick else None)
    rounds = arguments.rounds or (1 if arguments.quick else 3)
    names = []
    for name in arguments.contenders:
        if importlib.util.find_spec(name) is None:
            print(f"{name} is skipped: it is not installed.", file=sys.stderr)
        else:
            names.append(name)
    if "textkin" not in names:
        sys.exit("index_adding.py: the ratios need textkin among the contenders.")
    wanted = arguments.collections or ["real", "synthetic"]
    if "real" in wanted and not (DATA / "text").is_dir():
        print("real is skipped: the shared data sets are missing.", file=sys.stderr)
        wanted.remove("real")
    where = describe("textkin", "bm25s", "tantivy", "numpy", "scipy")
    load = round(os.getloadavg()[0], 2)
    measured = {}
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for name in wanted:
            collection = Path(folder) / f"{name}.jsonl"
            texts = real_texts(most) if name == "real" else synthetic_texts(most or SYNTHETIC)
            size = write_collection(collection, texts)
            del texts
            measured[name] = measure(collection, size, names, rounds, Path(folder))
            collection.unlink()
    result = {
        "command": f"python benchmarks/index_adding.py --rounds {rounds}"
        + (f" --documents {most}" if most else ""),
        "measure": "seconds to add all documents, one core; ratios taken within rounds; peak "
        "resident memory of the process; milliseconds to open in a fresh process, without the "
        "import of textkin",
        **where,
        "load_average_before": load,
        "rounds": rounds,
        "collections": measured,
    }
    arguments.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(table(measured))
    print(store_lines(measured))


if __name__ == "__main__":
    main()
