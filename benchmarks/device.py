"""Bounds and the exact search on a GPU, compared with the CPU cores.

Two corpora are made from a seed. *plain* has 1,000,000 documents of about 70 distinct words,
sampled by Zipf's law from 100,000 words with random vectors of 300 dimensions, for the speed of
bounds. *news* is the corpus of workloads.py, whose words have topics, for the exact search. Queries
have 64 words. Run in the repository root, where torch has access to a GPU::

    python benchmarks/device.py
    python benchmarks/device.py --documents 100000 --parts bounds
    python benchmarks/device.py --write-bags    # of 20news, on a machine with the shared data

Every result is first compared with another computation (plain torch, or the compiled core). The
report has milliseconds per query in a batch, the minimum bytes and operations, and their time at
the rates measured in the same run. The results go to benchmarks/results/device.json, or to the
folder in the variable OUT.
"""

import argparse
import json
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from environment import RESULTS, describe
from scipy import sparse
from search_workloads import classified_corpus
from workloads import SEED, SYNTHETIC, Language

from textkin import WordMover, WordVectors
from textkin.transport.gpu import _bounds
from textkin.transport.gpu._bounds import PaddedQueries, document_side, query_side, refined
from textkin.transport.gpu._corpus import DeviceCorpus
from textkin.transport.gpu._matrices import relaxed
from textkin.transport.gpu._rows import HostRows

WORDS = 64  # words per query
BATCH = 16


def milliseconds(run: Callable[[], object], repeats: int = 7) -> float:
    """Return the median time of a call, including synchronization with the device."""
    run()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e3


def ceilings() -> dict[str, float]:
    """Return the rates of the device: copies, products in float32 and float64."""
    source = torch.rand(1 << 30, device="cuda")
    copied = 8 * source.numel() / milliseconds(source.clone) / 1e9
    rates = {"memory_terabytes_a_second": round(copied, 2)}
    for kind, name in ((torch.float32, "float32"), (torch.float64, "float64")):
        x = torch.rand(8192, 8192, device="cuda", dtype=kind)
        flops = 2 * 8192**3 / milliseconds(lambda x=x: x @ x, 3) / 1e9
        rates[f"{name}_teraflops"] = round(flops, 1)
    return rates


# ---------------------------------------------------------------------- documents


def plain_corpus(documents: int) -> tuple[np.ndarray, HostRows, HostRows]:
    """Return vectors, documents, and queries of the *plain* corpus."""
    rng = np.random.default_rng(SEED)
    words = 100_000
    vectors = rng.normal(size=(words, 300)).astype(np.float32)
    vectors *= 3 / np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths = np.clip(rng.lognormal(3.95, 0.8, documents), 4, 500).astype(np.int64)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    drawn = ((words + 1.0) ** rng.random(int(indptr[-1])) - 1).astype(np.int32).clip(0, words - 1)
    rows = HostRows(indptr, drawn, np.repeat(1 / lengths, lengths).astype(np.float32))
    asked = [np.sort(rng.choice(words, WORDS, replace=False)) for _ in range(BATCH)]
    starts = np.arange(BATCH + 1, dtype=np.int64) * WORDS
    shares = np.full(BATCH * WORDS, 1 / WORDS, dtype=np.float32)
    return vectors, rows, HostRows(starts, np.concatenate(asked).astype(np.int32), shares)


_language: Language


def _some_bags(job: tuple[int, np.ndarray]) -> sparse.csr_array:
    seed, lengths = job
    return _language.bags(np.random.default_rng([SEED, 16, seed]), lengths)


def news_corpus(
    documents: int, queries: int
) -> tuple[np.ndarray, sparse.csr_array, sparse.csr_array]:
    """Return the vectors and bags (documents and queries) of the synthetic news."""
    global _language
    _language = Language()
    rng = np.random.default_rng([SEED, 17])
    lengths = SYNTHETIC["news"].draw(rng, documents)
    jobs = list(enumerate(np.array_split(lengths, max(documents // 5000, 1))))
    jobs.append((len(jobs), np.full(queries, WORDS)))
    with multiprocessing.get_context("fork").Pool() as pool:
        parts = pool.map(_some_bags, jobs, chunksize=1)
    return _language.vectors, sparse.vstack(parts[:-1], format="csr"), parts[-1]


# ---------------------------------------------------------------------- bounds


def bounds(documents: int, rates: dict[str, float], tune: bool) -> dict[str, Any]:
    """Return the times of bounds for a batch of queries over all documents."""
    vectors, rows, queries = plain_corpus(documents)
    corpus = DeviceCorpus(vectors, "euclidean", rows, device="cuda", memory=64 << 30)
    _, there = next(corpus.parts())
    batch = next(corpus.batches(queries))
    entries = len(rows.words)
    times: dict[str, float] = {}

    def timed(name: str, run: Callable[[], object], repeats: int = 7) -> None:
        times[name] = round(milliseconds(run, repeats) / len(batch), 4)
        print(f"  {name:44} {times[name]:9.3f} ms per query", flush=True)

    asked = corpus.lay_out(queries, batch)
    exact = corpus.lay_out(queries, batch, exactly=True)
    nearest = asked.costs.amin(2).T.float().contiguous()
    check_bounds(corpus, there, asked, exact)
    timed("tables, 16 bit", lambda: corpus.lay_out(queries, batch))
    timed("tables, float32 from float64", lambda: corpus.lay_out(queries, batch, exactly=True))
    timed("document side", lambda: document_side(there, nearest))
    timed("query side, 16 bit", lambda: query_side(there, asked))

    def both() -> object:
        laid_out = corpus.lay_out(queries, batch)
        least = laid_out.costs.amin(2).T.float().contiguous()
        return torch.maximum(document_side(there, least), query_side(there, laid_out))

    timed("both sides with their tables, 16 bit", both)
    timed("both sides, float32 (rwmd)", lambda: relaxed(there, exact, "both"))
    timed(
        "both sides with their tables, float32 (rwmd)",
        lambda: relaxed(there, corpus.lay_out(queries, batch, exactly=True), "both"),
    )
    few = torch.randint(0, len(there), (100_000,), device="cuda")
    which = torch.randint(0, len(batch), (100_000,), device="cuda")
    many = milliseconds(lambda: refined(there, asked, which, few))
    times["refined, 100,000 documents of a query"] = round(many, 4)
    print(f"  refined, 100,000 pairs {many:9.3f} ms")
    plain = plainly(
        lambda: (
            timed("plain torch: document side", lambda: document_side(there, nearest), 2),
            timed("plain torch: query side, 16 bit", lambda: query_side(there, asked), 2),
        )
    )
    del plain
    if tune:
        tuned(there, asked, exact, which, few)
    row = WORDS * 2
    gathered = entries * row
    table_flops = 2 * corpus.table.vectors.shape[0] * WORDS * 300
    return {
        "documents": documents,
        "entries": entries,
        "milliseconds_a_query": times,
        "floors": {
            "bytes_gathered_16_bit": gathered,
            "bytes_read_from_memory": entries * 4 // len(batch),
            "table_flops": table_flops,
            "table_milliseconds": round(table_flops / rates["float32_teraflops"] / 1e9, 4),
            "if_gathered_from_memory": round(
                gathered / rates["memory_terabytes_a_second"] / 1e9, 4
            ),
            "gathered_terabytes_a_second": round(gathered / times["query side, 16 bit"] / 1e9, 2),
        },
    }


def plainly(run: Callable[[], object]) -> object:
    """Run a call without the Triton kernels."""
    kernel = _bounds._by_kernel
    _bounds._by_kernel = lambda tensor: False  # type: ignore[assignment]
    try:
        return run()
    finally:
        _bounds._by_kernel = kernel


def check_bounds(
    corpus: DeviceCorpus, rows: Any, asked: PaddedQueries, exact: PaddedQueries
) -> None:
    """Compare the kernels with plain torch, and pruning bounds with true ones."""
    _, some = next(rows.parts(2_000_000))
    nearest = asked.costs.amin(2).T.float().contiguous()
    picked = torch.randint(0, len(some), (5000,), device="cuda")
    which = torch.randint(0, len(asked), (5000,), device="cuda")

    def answers() -> list[torch.Tensor]:
        return [
            document_side(some, nearest),
            query_side(some, asked),
            refined(some, asked, which, picked),
            relaxed(some, exact, "both"),
        ]

    ours, theirs = answers(), plainly(answers)
    for a, b in zip(ours, theirs, strict=True):  # type: ignore[call-overload]
        torch.testing.assert_close(a, b, rtol=2e-5, atol=1e-2)
    torch.testing.assert_close(ours[3], theirs[3], rtol=1e-7, atol=0)  # type: ignore[index]
    low = torch.maximum(ours[0], ours[1]) * corpus.unit
    assert bool((low * (1 - 1e-4) <= ours[3]).all()), "a bound that prunes is too high"
    assert bool((low >= ours[3] * 0.998).all()), "a bound that prunes is too low to be of use"
    print("  kernels agree with plain torch")


def tuned(rows: Any, asked: PaddedQueries, exact: PaddedQueries, which: Any, few: Any) -> None:
    """Print the times of other kernel shapes."""
    from textkin.transport.gpu import _kernels

    for warps in (1, 2, 4):
        for tile in (2, 4, 8, 16, 32):
            a = milliseconds(
                lambda t=tile, w=warps: _kernels.query_side(rows, asked, tile=t, warps=w), 3
            ) / len(asked)
            b = milliseconds(
                lambda t=tile, w=warps: _kernels.query_side(
                    rows, exact, wide=True, tile=t, warps=w
                ),
                3,
            ) / len(asked)
            c = milliseconds(
                lambda t=tile, w=warps: _kernels.refined(rows, asked, which, few, tile=t, warps=w),
                3,
            )
            print(
                f"  {warps} warps, tile {tile:2}: query side {a:.3f}, float32 {b:.3f}, "
                f"refined {c:.3f}",
                flush=True,
            )


# ---------------------------------------------------------------------- search


def exact_search(documents: int, queries: int, on_cpu: int) -> dict[str, Any]:
    """Return the time of the exact top 10 on the device and on all cores."""
    began = time.perf_counter()
    vectors, bags, asked = news_corpus(documents, queries)
    print(f"  documents made in {time.perf_counter() - began:.0f} s", flush=True)
    cpu = WordMover(vectors, n_jobs=-1, memory="4GB").fit(bags)
    gpu = WordMover(vectors, n_jobs=-1, memory="4GB", device="cuda").fit(bags)
    gpu.search(asked[:BATCH], k=10)  # compiles, and copies the documents
    times = []
    for _ in range(3):
        began = time.perf_counter()
        found = gpu.search(asked, k=10)
        times.append((time.perf_counter() - began) / queries * 1e3)
    cpu.search(asked[:2], k=10)
    began = time.perf_counter()
    truth = cpu.search(asked[:on_cpu], k=10)
    core = (time.perf_counter() - began) / on_cpu * 1e3
    assert np.array_equal(truth.indices, found.indices[:on_cpu])
    assert np.array_equal(truth.distances, found.distances[:on_cpu])
    began = time.perf_counter()
    for q in range(20):
        gpu.search(asked[q : q + 1], k=10)
    single = (time.perf_counter() - began) / 20 * 1e3
    print(found.stats, truth.stats, sep="\n")
    streamed = WordMover(
        vectors, n_jobs=-1, memory="4GB", device="cuda", device_memory="100MB"
    ).fit(bags)
    streamed.search(asked[:BATCH], k=10)
    began = time.perf_counter()
    parts = streamed.search(asked, k=10)
    in_parts = (time.perf_counter() - began) / queries * 1e3
    assert np.array_equal(parts.indices, found.indices)
    hits = found.stats
    result = {
        "documents": documents,
        "queries": queries,
        "unique_words": round(bags.nnz / documents, 1),
        "milliseconds_a_query": {
            "device, batch": round(statistics.median(times), 3),
            "device, one by one": round(single, 3),
            "device, documents in parts of 100 MB": round(in_parts, 3),
            "16 cores, batch": round(core, 3),
        },
        "solved_a_query": round(float(hits.solved.mean()), 1),
        "milliseconds_by_stage": {
            name: round(float(spent.mean()) * 1e3, 4) for name, spent in hits.seconds.items()
        },
    }
    print(json.dumps(result, indent=1), flush=True)
    return result


def newsgroups(bags: Path) -> dict[str, Any]:
    """Return the time of the exact top 19 of all of 20news, test against training documents."""
    with np.load(bags) as stored:
        kept = {name: stored[name] for name in stored}
    vectors = WordVectors.builtin().matrix
    train, test = (
        sparse.csr_array(
            (
                kept[f"{part}_counts"].astype(np.float32),
                kept[f"{part}_words"],
                kept[f"{part}_starts"],
            ),
            shape=(len(kept[f"{part}_starts"]) - 1, len(vectors)),
        )
        for part in ("train", "test")
    )
    seconds = {}
    found = {}
    for name, device in (("device", "cuda"), ("16 cores", None)):
        mover = WordMover(vectors, n_jobs=-1, memory="4GB", device=device).fit(train)
        mover.search(test[:BATCH], k=19)
        began = time.perf_counter()
        found[name] = mover.search(test, k=19)
        seconds[name] = round(time.perf_counter() - began, 2)
        print(f"  20news on {name}: {seconds[name]} s", found[name].stats, sep="\n", flush=True)
    assert np.array_equal(found["device"].indices, found["16 cores"].indices)
    assert np.array_equal(found["device"].distances, found["16 cores"].distances)
    return {
        "documents": train.shape[0],
        "queries": test.shape[0],
        "k": 19,
        "total_seconds": seconds,
        "solved_a_query": {n: round(float(f.stats.solved.mean()), 1) for n, f in found.items()},
    }


def write_newsgroups(path: Path) -> None:
    """Save the bags of 20news for a machine without the shared data."""
    corpus = classified_corpus("20news")
    if corpus is None:
        raise SystemExit(1)
    parts = {}
    for name, part in (("train", corpus.documents), ("test", corpus.queries)):
        parts |= {
            f"{name}_starts": part.indptr,
            f"{name}_words": part.indices,
            f"{name}_counts": part.data.astype(np.uint16),
        }
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **parts)


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=512)
    parser.add_argument("--on-cpu", type=int, default=64, help="queries for the CPU cores alone")
    parser.add_argument("--parts", nargs="*", default=["bounds", "search", "20news"])
    parser.add_argument("--tune", action="store_true", help="try other kernel shapes")
    parser.add_argument("--bags", type=Path, default=Path("build/20news.npz"))
    parser.add_argument(
        "--write-bags", action="store_true", help="write the bags of 20news and exit"
    )
    arguments = parser.parse_args()
    if arguments.write_bags:
        write_newsgroups(arguments.bags)
        return
    rates = ceilings()
    print(rates, flush=True)
    results = describe("numpy", "scipy", "torch", "triton") | {
        "device": torch.cuda.get_device_name(),
        "rates": rates,
    }
    if "bounds" in arguments.parts:
        results["bounds"] = bounds(arguments.documents, rates, arguments.tune)
    if "search" in arguments.parts:
        results["search"] = exact_search(arguments.documents, arguments.queries, arguments.on_cpu)
        found = results["search"]
        results["scaling"] = {  # for scaling.py
            "collection": "news",
            "documents": found["documents"],
            "milliseconds": found["milliseconds_a_query"]["device, batch"],
            "bytes": round(found["unique_words"] * 8 + 8),
            "memory": torch.cuda.get_device_properties(0).total_memory,
        }
    if "20news" in arguments.parts and arguments.bags.is_file():
        results["20news"] = newsgroups(arguments.bags)
    folder = Path(os.environ.get("OUT", str(RESULTS)))
    (folder / "device.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
