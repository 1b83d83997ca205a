"""One real cluster of two processes for all tests here."""

from collections.abc import Iterator

import pytest

distributed = pytest.importorskip("distributed", reason="Dask is not installed here")


@pytest.fixture(scope="session")
def cluster() -> Iterator["distributed.LocalCluster"]:
    """Two workers, each a process with one thread; one that dies comes back."""
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        memory_limit="2GB",
    ) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def client(cluster) -> Iterator["distributed.Client"]:
    """A client that is not the default one: nothing may find it but by its argument."""
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client
