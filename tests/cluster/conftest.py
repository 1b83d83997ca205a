"""One real cluster of two processes for all tests here."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import distributed


@pytest.fixture(scope="session")
def cluster() -> Iterator["distributed.LocalCluster"]:
    """Two workers, each a process with one thread; one that dies comes back."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed here")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        memory_limit="2GB",
    ) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def connection(cluster) -> Iterator["distributed.Client"]:
    """A client that is not the default one: nothing may find it but by its argument."""
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def client(connection, cluster) -> "distributed.Client":
    """The client, when both workers are there: a test before may have killed them."""
    from distributed import Status

    end = time.monotonic() + 60
    while not all(nanny.status == Status.running for nanny in cluster.workers.values()):
        assert time.monotonic() < end, "a worker that was killed has not come back"
        time.sleep(0.05)
    connection.wait_for_workers(2, timeout=60)
    return connection


@pytest.fixture
def kill_workers(cluster, client) -> Callable[[], list[int]]:
    """A function that kills the processes of both workers, and returns their numbers."""

    def kill() -> list[int]:
        pids = [nanny.pid for nanny in cluster.workers.values()]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        return pids

    return kill
