"""Cluster of two processes for all tests, and a separate one for each test that kills workers."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from cluster.stores import filled
from textkin import Index
from textkin.index.distributed import _cluster_ranking as _cluster
from textkin.index.distributed import _near_pairs as _pairs

if TYPE_CHECKING:
    import distributed


@contextmanager
def two_workers() -> Iterator["distributed.LocalCluster"]:
    """Start two workers, each a process with one thread, which restart after they die."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    import dask

    with (
        # A worker that takes longer to restart is removed permanently; the default is 15 seconds,
        # which a busy computer may exceed.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit="2GB",
        ) as cluster,
    ):
        yield cluster


@contextmanager
def connected(cluster: "distributed.LocalCluster") -> Iterator["distributed.Client"]:
    """Client that only its argument identifies; it is not the default client."""
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=120)
        yield client


@pytest.fixture(scope="session")
def cluster() -> Iterator["distributed.LocalCluster"]:
    """Cluster of all tests, whose workers must not be killed."""
    with two_workers() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def client(cluster) -> Iterator["distributed.Client"]:
    """Client of the cluster of all tests."""
    with connected(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Iterator[Index]:
    """Index of several segments, in a folder."""
    with filled(tmp_path_factory.mktemp("store") / "test.kin") as index:
        yield index


@pytest.fixture
def small_blocks(monkeypatch) -> None:
    """Split searches and pairs into many blocks."""
    monkeypatch.setattr(_cluster, "_ROWS", (4, 12))
    monkeypatch.setattr(_pairs, "_ROWS", (4, 9))


@pytest.fixture
def mortal() -> Iterator["distributed.Client"]:
    """Client of a separate cluster, whose workers the test may kill."""
    with two_workers() as cluster, connected(cluster) as client:
        yield client


@pytest.fixture
def kill_workers(mortal) -> Callable[[], list[int]]:
    """Return a function that kills the processes of both workers, and returns their process IDs."""

    def kill() -> list[int]:
        pids = [nanny.pid for nanny in mortal.cluster.workers.values()]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        return pids

    return kill
