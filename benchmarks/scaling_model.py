"""A model of time, memory and traffic for collections that no machine here can hold.

Its parameters come from what growth.py measured (scaling_laws.py); what it says of sizes that were
measured stands beside the measurements. docs/scaling.md has the reasoning. All times are of one
thread a worker.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scaling_laws import Collection, Power

BLOCKS = 2  # that a worker searches for a query, one after another, or more of the largest size
ROWS = (2_048, 1 << 20)  # of a block, at least and at most
AHEAD = 1  # blocks that are handed to a worker before an answer is back
SEGMENT = 1 << 24  # entries of a large segment
ENTRY_BYTES = 8  # of a document's row: number of a word and its count
ROW_BYTES = 8  # of its place
CANDIDATE_BYTES = 32  # of a document in a search, at most
WORD_BYTES = 4 + 8 + 4  # of a word on every worker: row among the vectors, place, slots of a hash
FREQUENCY_BYTES = 8  # of a word, where a ranking by words needs its statistics
HIT_BYTES = 16  # a position and a score
K = 10


@dataclass(frozen=True)
class Cluster:
    """What is not measured by growth.py.

    Attributes
    ----------
    task : float
        Milliseconds of the scheduler for one block of one query; tasks pass through it in turn.
    latency : float
        Milliseconds until a block that was handed out has begun, and its answer is back.
    network : float
        Bytes a second of a link.
    disk : float
        Bytes a second that a worker reads from storage.
    query_bytes : float
        What travels with a block: the query and the limit, wrapped up.
    answer_bytes : float
        What comes back with it, beside the hits.
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
    """Return the milliseconds of a query by WMD where one process has all documents, by part."""
    parts = {
        "table": what.table,
        "scan": what.scan(n),
        "refine": what.refine * what.refined(n),
        "solve": what.solve * what.solved(n),
    }
    return {**parts, "total": sum(parts.values())}


# ---------------------------------------------------------------------- a cluster


class Cut(NamedTuple):
    """How an index is cut for its workers: blocks of so many rows, in so many rounds."""

    rows: float
    rounds: int
    blocks: int


def cut(n: float, workers: int) -> Cut:
    """Return the blocks of n documents: `BLOCKS` for a worker, unless their size is not allowed."""
    wanted = max(BLOCKS * workers, np.ceil(n / ROWS[1]))
    rows = min(n, max(ROWS[0], n / wanted))
    blocks = max(1, int(np.ceil(n / rows - 1e-9)))
    return Cut(rows, int(np.ceil(blocks / workers)), blocks)


def known_to(block: int, workers: int) -> int:
    """Return how many blocks have answered when a block is handed out; they do so in order."""
    return max(0, block - AHEAD * workers + 1)


def looked_at(law: Power, size: Cut, workers: int) -> list[float]:
    """Return how many documents a block of each round refines (or solves), on average.

    Documents lie in random order. A block that knows nothing looks at as much as a search of it
    alone. Others have the limit of the x documents of the blocks that have answered; a search of
    these looks at law(x) of them, so a block of m at m / x times as many.
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
    """Return what a query by WMD takes on workers: milliseconds by part, work and traffic.

    In a batch the tasks are shared; what one query takes beside them is taken to be the same.
    """
    size = cut(n, workers)
    refined, solved = (looked_at(law, size, workers) for law in (what.refined, what.solved))
    moved = size.blocks * (cluster.query_bytes + cluster.answer_bytes + K * HIT_BYTES)
    in_round = [min(workers, size.blocks - at) for at in range(0, size.blocks, workers)]
    parts = {
        # every block has a table of its own, for the words that its documents have
        "table": size.rounds * what.table,
        "scan": size.rounds * what.scan.start + what.scan.rate * size.rounds * size.rows,
        # a round ends with the block that has most to look at
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
    """Return the milliseconds of a query by BM25 on workers, and what travels once for a state.

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
    """Return the bytes of a worker: what it makes, and what of the files it must have at hand.

    Besides, the bytes of the index on the disk, and the milliseconds of a worker's first query.
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

    Without workers the writer does all of it.
    """
    counting = what.counting * n / max(1, workers)
    writing = what.writing * n
    moved = n * what.catalogue if workers else 0.0  # the writer keeps texts and counts
    wire = moved / cluster.network
    return {
        "counting": counting,
        "writing": writing,
        "wire": wire,
        "total": max(counting, writing, wire) if workers else counting + writing,
        "moved": moved,
    }


def best_workers(what: Collection, n: float, cluster: Cluster) -> int:
    """Return the power of two of workers with which a query by WMD is fastest."""
    numbers = [1 << power for power in range(15)]
    return min(numbers, key=lambda workers: query_on(what, n, workers, cluster)["total"])


def half_efficient(what: Collection, n: float, cluster: Cluster) -> int:
    """Return the most workers, a power of two, that give half of their number in speed."""
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
    """What an accelerator takes for a query, from one measurement.

    Attributes
    ----------
    collection : str
        Whose documents they were.
    documents : int
        How many.
    milliseconds : float
        Of a query in a batch, all of it.
    bytes : float
        Of a document on the device.
    memory : float
        Bytes of the device.
    link : float
        Bytes a second from the host to it.
    """

    collection: str
    documents: int
    milliseconds: float
    bytes: float
    memory: float
    link: float = 25e9


def query_on_devices(device: Device, n: float, devices: int, batch: int) -> dict[str, float]:
    """Return milliseconds of a query on devices, which share the documents.

    What does not fit into a device streams through it once for every batch of queries.
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
