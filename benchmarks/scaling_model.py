"""Model of time, memory, and transfers for collections larger than any machine here can hold.

The parameters come from measurements of growth.py (scaling_laws.py); predictions for measured sizes
are compared with the measurements. docs/scaling.md explains the model. All times assume one thread
per worker.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scaling_laws import Collection, Power

BLOCKS = 2  # blocks that a worker searches per query, one after another; more at the largest size
ROWS = (2_048, 1 << 20)  # documents of a block, minimum and maximum
AHEAD = 1  # blocks sent to a worker before a result is back
SEGMENT = 1 << 24  # entries of a large segment
ENTRY_BYTES = 8  # bytes per entry of a document's row: word ID and count
ROW_BYTES = 8  # bytes of its position
CANDIDATE_BYTES = 32  # maximum bytes per document during a search
# bytes per word on every worker: row among the vectors, position, slots of a hash table
WORD_BYTES = 4 + 8 + 4
FREQUENCY_BYTES = 8  # bytes per word for rankings that need its statistics
HIT_BYTES = 16  # bytes of a position and a score
K = 10


@dataclass(frozen=True)
class Cluster:
    """Parameters of a cluster, which growth.py does not measure.

    Attributes
    ----------
    task : float
        Milliseconds of the scheduler for one block of one query; tasks are processed in sequence.
    latency : float
        Milliseconds from sending a block to its start, plus the return of its result.
    network : float
        Bytes per second of a link.
    disk : float
        Bytes per second that a worker reads from storage.
    query_bytes : float
        Bytes sent with a block: the query and the limit, serialized.
    answer_bytes : float
        Bytes returned with it, in addition to the hits.
    memory : float
        Bytes that a worker may use for the tables of a search.
    """

    task: float = 1.0
    latency: float = 5.0
    network: float = 1.25e9
    disk: float = 1e9
    query_bytes: float = 2_000
    answer_bytes: float = 1_000
    memory: float = 512e6


# ---------------------------------------------------------------------- one machine


def query_alone(what: Collection, n: float) -> dict[str, float]:
    """Return the milliseconds of a query by WMD in one process, by part."""
    parts = {
        "table": what.table,
        "scan": what.scan(n),
        "refine": what.refine * what.refined(n),
        "solve": what.solve * what.solved(n),
    }
    return {**parts, "total": sum(parts.values())}


# ---------------------------------------------------------------------- a cluster


class Cut(NamedTuple):
    """Partition of an index for its workers: rows per block, and rounds."""

    rows: float
    rounds: int
    blocks: int


def cut(n: float, workers: int) -> Cut:
    """Return the blocks of n documents: `BLOCKS` per worker, unless their size is out of range."""
    wanted = max(BLOCKS * workers, np.ceil(n / ROWS[1]))
    rows = min(n, max(ROWS[0], n / wanted))
    blocks = max(1, int(np.ceil(n / rows - 1e-9)))
    return Cut(rows, int(np.ceil(blocks / workers)), blocks)


def known_to(block: int, workers: int) -> int:
    """Return the number of finished blocks when a block is sent; blocks finish in order."""
    return max(0, block - AHEAD * workers + 1)


def looked_at(law: Power, size: Cut, workers: int) -> list[float]:
    """Return the mean number of documents that a block of each round refines (or solves).

    Documents are in random order. A block without a limit processes as many as a search of it
    alone.
    Other blocks have the limit of the x documents of the finished blocks; a search of these
    processes
    law(x) of them, so a block of m processes m / x times as many.
    """
    blind = law(size.rows)
    found = []
    for begin in range(0, size.blocks, workers):
        blocks = np.arange(begin, min(begin + workers, size.blocks))
        before = np.maximum(0, blocks - AHEAD * workers + 1) * size.rows
        limited = law(np.maximum(before, size.rows)) * size.rows / np.maximum(before, size.rows)
        found.append(float(np.mean(np.where(before > 0, np.minimum(blind, limited), blind))))
    return found


def query_on(
    what: Collection, n: float, workers: int, cluster: Cluster, batch: int = 1
) -> dict[str, float]:
    """Return the cost of a query by WMD on workers: milliseconds by part, work, and transfers.

    In a batch, the tasks are shared; the other parts of a query are assumed to stay the same.
    """
    size = cut(n, workers)
    refined, solved = (looked_at(law, size, workers) for law in (what.refined, what.solved))
    moved = size.blocks * (cluster.query_bytes + cluster.answer_bytes + K * HIT_BYTES)
    in_round = [min(workers, size.blocks - at) for at in range(0, size.blocks, workers)]
    parts = {
        # Every block has its own table, for the words of its documents.
        "table": size.rounds * what.table,
        "scan": size.rounds * what.scan.start + what.scan.rate * size.rounds * size.rows,
        # A round ends with the block that has the most work.
        "refine": what.slowest * what.refine * sum(refined),
        "solve": what.slowest * what.solve * sum(solved),
        "tasks": (size.blocks * cluster.task + size.rounds * cluster.latency) / batch,
        "network": 1e3 * moved / cluster.network,
    }
    return {
        **parts,
        "total": sum(parts.values()),
        "blocks": size.blocks,
        "refined": float(np.dot(in_round, refined)),
        "solved": float(np.dot(in_round, solved)),
        "blind": min(size.blocks, AHEAD * workers) * what.solved(size.rows),
        "moved": moved,
        "read": n * (what.entries * ENTRY_BYTES + ROW_BYTES),
    }


def bm25_on(what: Collection, n: float, workers: int, cluster: Cluster) -> dict[str, float]:
    """Return the milliseconds of a BM25 query on workers, and the bytes sent once per state.

    Its blocks are whole segments.
    """
    segments = int(np.ceil(n * what.entries / SEGMENT))
    blocks = min(cut(n, workers).blocks, segments)
    rounds = int(np.ceil(blocks / workers))
    work = rounds * (what.bm25.start + what.bm25.rate * n / blocks)
    tasks = blocks * cluster.task + rounds * cluster.latency
    return {
        "work": work,
        "tasks": tasks,
        "total": work + tasks,
        "state": workers * what.words(n) * FREQUENCY_BYTES,
    }


def memory_on(what: Collection, n: float, workers: int, cluster: Cluster) -> dict[str, float]:
    """Return the bytes of a worker: its own data, and the files that it needs.

    Also return the bytes of the index on disk, and the milliseconds of a worker's first query.
    """
    each = n / workers
    parts = {
        "vectors": what.vectors,
        "search": cluster.memory,
        "candidates": CANDIDATE_BYTES * cut(n, workers).rows,
        "words": WORD_BYTES * what.words(n),
        "rows": each * (what.entries * ENTRY_BYTES + ROW_BYTES),
    }
    return {
        **parts,
        "total": sum(parts.values()),
        "disk": n * (what.catalogue + what.segments),
        "first": what.first(each),  # milliseconds
    }


def build_on(what: Collection, n: float, workers: int, cluster: Cluster) -> dict[str, float]:
    """Return seconds and bytes of building an index: workers read and count, one writer writes.

    Without workers, the writer does everything.
    """
    counting = what.counting * n / max(1, workers)
    writing = what.writing * n
    moved = n * what.catalogue if workers else 0.0  # the writer receives texts and counts
    wire = moved / cluster.network
    return {
        "counting": counting,
        "writing": writing,
        "wire": wire,
        "total": max(counting, writing, wire) if workers else counting + writing,
        "moved": moved,
    }


def best_workers(what: Collection, n: float, cluster: Cluster) -> int:
    """Return the number of workers, a power of two, with the fastest query by WMD."""
    numbers = [1 << power for power in range(15)]
    return min(numbers, key=lambda workers: query_on(what, n, workers, cluster)["total"])


def half_efficient(what: Collection, n: float, cluster: Cluster) -> int:
    """Return the largest number of workers, a power of two, with a speedup of half that number."""
    alone = query_alone(what, n)["total"]
    found = 1
    for power in range(15):
        workers = 1 << power
        if alone / query_on(what, n, workers, cluster)["total"] >= workers / 2:
            found = workers
    return found


# ---------------------------------------------------------------------- devices


@dataclass(frozen=True)
class Device:
    """Cost of a query on a GPU, from one measurement.

    Attributes
    ----------
    collection : str
        Collection of the measurement.
    documents : int
        Number of documents.
    milliseconds : float
        Total time per query in a batch.
    bytes : float
        Bytes per document on the GPU.
    memory : float
        Bytes of the GPU.
    link : float
        Bytes per second from the host to the GPU.
    """

    collection: str
    documents: int
    milliseconds: float
    bytes: float
    memory: float
    link: float = 25e9


def query_on_devices(device: Device, n: float, devices: int, batch: int) -> dict[str, float]:
    """Return milliseconds of a query on GPUs, which share the documents.

    Documents that do not fit into the GPUs are streamed once for every batch of queries.
    """
    each = n / devices
    work = device.milliseconds * each / device.documents
    over = max(0.0, each * device.bytes - device.memory)
    streamed = 1e3 * over / device.link / batch
    return {
        "work": work,
        "streamed": streamed,
        "total": max(work, streamed),
        "bytes": each * device.bytes,
        "fits": float(over == 0),
    }
