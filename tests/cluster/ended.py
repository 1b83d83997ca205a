"""Calls that are ended from outside, in a process of their own.

    python ended.py killed KIND INDEX FOLDER AT         by SIGKILL, before its AT-th flush
    python ended.py waiting FOLDER ADDRESS              with blocks that run until they are told
    python ended.py interrupted KIND INDEX FOLDER N     on a cluster, by who reads what it tells

KIND is "join", "pairs" or "add"; FOLDER is where results go, for "add" where the files are. When it
was interrupted, the workers have nothing more to do, and N of them are there.
"""

import os
import signal
import sys
import time
from functools import partial

from cluster.block_functions import until_told
from cluster.stores import TEXTS
from textkin import Index, read
from textkin.index import _counted_files
from textkin.index.ranking import _cluster, _pairs
from textkin.run import map_blocks

QUERIES = TEXTS[:20]
RADIUS = 2.5


def small_blocks():
    """Let a few documents be many blocks, as in the tests."""
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
        # Long enough that the signal comes while the call goes on, however late it is sent.
        time.sleep(0.2 if done == 1 else 60)

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
        Index.open(path) as index,
    ):
        try:
            call(kind, index, folder, on=client, progress=tell)
        except KeyboardInterrupt:
            end = time.monotonic() + 30
            while any(client.processing().values()) and time.monotonic() < end:
                time.sleep(0.05)
            assert not any(client.processing().values())
            assert len(client.nthreads()) >= int(workers)
            os.write(1, b"interrupted\n")


def waiting(folder, address):
    list(map_blocks(partial(until_told, folder), range(9), on=address))


if __name__ == "__main__":
    small_blocks()
    chosen = {"killed": killed, "waiting": waiting, "interrupted": interrupted}
    chosen[sys.argv[1]](*sys.argv[2:])
