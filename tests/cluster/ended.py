"""Calls that are ended from outside, in a separate process.

    python ended.py killed KIND INDEX FOLDER AT         by SIGKILL, before its AT-th flush
    python ended.py waiting FOLDER ADDRESS              with blocks that run until asked to stop
    python ended.py interrupted KIND INDEX FOLDER N     on a cluster, by the reader of its output

KIND is "join", "pairs", or "add"; FOLDER has the results, or for "add" the files. After an
interruption, the workers are idle, and N of them exist.
"""

import os
import signal
import sys
import time
from functools import partial

from cluster.block_functions import until_told
from cluster.stores import TEXTS
from textkin import Index, read
from textkin.index.distributed import _cluster_ranking as _cluster
from textkin.index.distributed import _near_pairs as _pairs
from textkin.index.store import _counted_files
from textkin.run import map_blocks

QUERIES = TEXTS[:20]
RADIUS = 2.5


def small_blocks():
    """Use many small blocks, as in the tests."""
    _cluster._ROWS = (4, 12)
    _pairs._ROWS = (4, 9)
    _counted_files._BLOCK_FILES = 3


def call(kind, index, folder, **how):
    if kind == "join":
        return index.join(QUERIES, folder, 4, part=8, **how)
    if kind == "pairs":
        return index.near_pairs(RADIUS, folder, **how)
    return index.add(read(folder), **how)


def killed(kind, path, folder, at):
    flush, left = os.fsync, [int(at)]

    def count(handle):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        flush(handle)

    os.fsync = count
    with Index.open(path) as index:
        call(kind, index, folder)


def interrupted(kind, path, folder, workers):
    from distributed import Client, LocalCluster

    def tell(done, total):
        os.write(1, f"{done}\n".encode())
        # Long enough that the signal arrives during the call, even if it is late.
        time.sleep(0.2 if done == 1 else 60)

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
        Index.open(path) as index,
    ):
        try:
            call(kind, index, folder, executor=client, progress=tell)
        except KeyboardInterrupt:
            end = time.monotonic() + 300
            while any(client.processing().values()) and time.monotonic() < end:
                time.sleep(0.05)
            assert not any(client.processing().values())
            assert len(client.nthreads()) >= int(workers)
            os.write(1, b"interrupted\n")


def waiting(folder, address):
    list(map_blocks(partial(until_told, folder), range(9), executor=address))


if __name__ == "__main__":
    small_blocks()
    chosen = {"killed": killed, "waiting": waiting, "interrupted": interrupted}
    chosen[sys.argv[1]](*sys.argv[2:])
