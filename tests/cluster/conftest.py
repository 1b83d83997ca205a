"""A real cluster of two processes for all tests here, and one for each test that kills them."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from cluster.stores import filled
from textkin import Index
from textkin.index.ranking import _cluster, _pairs

if TYPE_CHECKING:
    import distributed


@contextmanager
def two_workers() -> Iterator["distributed.LocalCluster"]:
    """Two workers, each a process with one thread; one that dies comes back."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed here")
    import dask

    with (
        # A worker that needs longer to come back is struck off for good; 15 seconds by default,
        # which a machine that is busy with other tests may well need.
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
    """A client that is not the default one: nothing may find it but by its argument."""
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=120)
        yield client


@pytest.fixture(scope="session")
def cluster() -> Iterator["distributed.LocalCluster"]:
    """The cluster of all tests, whose workers nothing may kill."""
    with two_workers() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def client(cluster) -> Iterator["distributed.Client"]:
    """A client of the cluster of all tests."""
    with connected(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Iterator[Index]:
    """An index of several segments, in a folder."""
    with filled(tmp_path_factory.mktemp("store") / "test.kin") as index:
        yield index


@pytest.fixture
def small_blocks(monkeypatch) -> None:
    """Cut searches and pairs into many blocks."""
    monkeypatch.setattr(_cluster, "_ROWS", (4, 12))
    monkeypatch.setattr(_pairs, "_ROWS", (4, 9))


@pytest.fixture
def mortal() -> Iterator["distributed.Client"]:
    """A client of a cluster of its own, whose workers the test may kill."""
    with two_workers() as cluster, connected(cluster) as client:
        yield client


@pytest.fixture
def kill_workers(mortal) -> Callable[[], list[int]]:
    """A function that kills the processes of both mortal workers, and returns their numbers."""

    def kill() -> list[int]:
        pids = [nanny.pid for nanny in mortal.cluster.workers.values()]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        return pids

    return kill
