"""`map_blocks`: equal results in equal order with every executor."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from functools import partial

import joblib
import numpy as np
import pytest

from cluster.block_functions import (
    clients,
    die,
    die_once,
    refuse_three,
    refuse_unpackably,
    share,
    square,
    until_told,
)
from textkin.run import map_blocks, stop_check, stoppable

PLACES = ["one thread", "threads", "joblib", "client", "address"]


@pytest.fixture(params=PLACES)
def place(request):
    """Return arguments of `map_blocks` for an executor."""
    kind = request.param
    if kind == "one thread":
        return {}
    if kind == "threads":
        return {"executor": "threads", "n_jobs": 2}
    if kind == "joblib":
        return {"executor": "joblib", "n_jobs": 2}
    cluster = request.getfixturevalue("cluster")
    if kind == "client":
        return {"executor": request.getfixturevalue("client")}
    return {"executor": cluster.scheduler_address}


def test_results_are_in_the_order_of_the_blocks(place):
    told = []
    found = list(
        map_blocks(
            square, range(9), progress=lambda done, total: told.append((done, total)), **place
        )
    )
    assert found == [number**2 for number in range(9)]
    assert told == [(done, 9) for done in range(1, 10)]


def test_no_blocks_give_no_results(place):
    assert list(map_blocks(square, [], **place)) == []


def test_exception_propagates_with_the_block(place):
    with pytest.raises(KeyError, match="three") as caught:
        list(map_blocks(refuse_three, range(9), **place))
    assert caught.value.__notes__ == ["In block 3: 3"]


def test_exception_that_cannot_be_pickled_names_the_block(client):
    with pytest.raises(Exception, match="three") as caught:
        list(map_blocks(refuse_unpackably, range(3), executor=client))
    assert caught.value.__notes__ == ["In block 0: 0"]


@pytest.mark.parametrize("place", ["one thread", "threads", "client"], indirect=True)
def test_blocks_are_read_at_most_in_flight_ahead(place):
    taken = []

    def blocks():
        for number in range(20):
            taken.append(number)
            yield number

    told = []
    results = map_blocks(
        square, blocks(), in_flight=3, progress=lambda *now: told.append(now), **place
    )
    assert taken == []
    assert next(results) == 0
    assert len(taken) <= 3
    assert next(results) == 1
    assert len(taken) <= 4
    results.close()
    assert told == [(1, 0), (2, 0)]


def test_memory_is_shared_by_the_blocks_of_a_worker():
    assert list(map_blocks(share, [7], memory="1MB")) == [(7, 1 << 20)]
    assert list(map_blocks(share, [7], memory="1MB", n_jobs=4)) == [(7, 1 << 18)]


def test_memory_is_shared_by_threads_of_joblib():
    with joblib.parallel_config("threading", n_jobs=4):
        assert list(map_blocks(share, [7], memory="1MB", executor="joblib")) == [(7, 1 << 18)]
    assert list(map_blocks(share, [7], memory="1MB", executor="joblib", n_jobs=2)) == [(7, 1 << 20)]


def test_memory_on_a_cluster(client):
    assert list(map_blocks(share, [7], memory="1MB", executor=client)) == [(7, 1 << 20)]
    with pytest.raises(
        ValueError, match=r"at most 1\.9 GB, the memory_limit of a worker.* got 3\.0 GB"
    ):
        list(map_blocks(share, [7], memory="3GB", executor=client))


def test_memory_for_a_function_without_memory_raises():
    with pytest.raises(TypeError, match="function must accept memory="):
        map_blocks(square, [1], memory="1MB")


@pytest.mark.parametrize("executor", ["cluster", 3, object()])
def test_unknown_executor_raises(executor):
    with pytest.raises(ValueError, match="executor must be None, 'threads', 'joblib'"):
        list(map_blocks(square, [1], executor=executor))


def test_closed_or_asynchronous_client_raises(cluster):
    from distributed import Client

    with Client(cluster, set_as_default=False) as closed:
        pass
    with pytest.raises(ValueError, match=r"must be a Client that is open; <Client.* was closed"):
        list(map_blocks(square, [1], executor=closed))

    async def asked():
        async with Client(
            cluster.scheduler_address, asynchronous=True, set_as_default=False
        ) as client:
            with pytest.raises(TypeError, match="must be a Client that is not asynchronous"):
                list(map_blocks(square, [1], executor=client))

    asyncio.run(asked())


def test_no_connection_is_made_before_the_first_result(client, cluster):
    def connected():
        return {one for one in client.run_on_scheduler(clients) if one.startswith("Client")}

    before = connected()
    kept = map_blocks(square, [1], executor=cluster.scheduler_address)
    assert connected() == before
    kept.close()
    with pytest.raises(TypeError, match="pickle"):
        list(map_blocks(partial(max, threading.Lock()), [1], executor=cluster.scheduler_address))
    assert connected() == before


def test_in_flight_must_be_positive():
    with pytest.raises(ValueError, match="in_flight must be"):
        map_blocks(square, [1], in_flight=0)


def test_missing_dask_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'textkin\[dask\]'"):
        list(map_blocks(square, [1], executor="tcp://127.0.0.1:1"))


def test_dask_and_joblib_are_imported_on_use():
    code = (
        "import sys; from textkin.run import map_blocks; list(map_blocks(sum, [[1]], n_jobs=2));"
        "assert not {'dask', 'distributed', 'joblib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_threads_run_concurrently():
    barrier = threading.Barrier(2, timeout=20)
    assert sorted(map_blocks(lambda _: barrier.wait(), range(2), n_jobs=2)) == [0, 1]


def test_configured_joblib_backend_is_used():
    here = os.getpid()
    with joblib.parallel_config("threading", n_jobs=2):
        assert set(map_blocks(lambda _: os.getpid(), range(4), executor="joblib")) == {here}


def test_large_function_is_sent_once(client):
    """Ten megabytes in a function cause no warning, and are sent once for all blocks."""
    table = np.arange(2_000_000, dtype=np.float64)
    found = list(map_blocks(partial(np.take, table), [[1, 2], [3]], executor=client))
    assert [one.tolist() for one in found] == [[1.0, 2.0], [3.0]]


def test_block_may_look_like_a_task(client):
    """Dask once treated tuples that start with a callable as calls."""
    assert list(map_blocks(len, [(sum, [1, 2])], executor=client)) == [2]


def test_dying_worker_is_replaced(mortal, tmp_path):
    found = list(map_blocks(partial(die_once, tmp_path), range(6), executor=mortal))
    assert [number for number, _ in found] == list(range(6))
    assert (tmp_path / "died").exists()


def test_a_large_function_waits_for_workers():
    """Without workers, the function cannot be sent; the caller may end the wait."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    large = partial(np.take, np.arange(20_000, dtype=np.float64))
    looks = []

    def enough(done, total):
        looks.append(done)
        if len(looks) > 3:
            raise InterruptedError("enough")

    with (
        distributed.LocalCluster(
            n_workers=0, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        with stoppable(enough), pytest.raises(InterruptedError, match="enough"):
            list(map_blocks(large, [[1]], executor=client))

        async def replicate(futures, **how):
            """Act like Dask after all workers have died."""
            looks.append("none is left")
            raise ValueError("Can not use replicate to delete data")

        client.replicate = replicate
        cluster.scale(1)
        assert [one.tolist() for one in map_blocks(large, [[1]], executor=client)] == [[1.0]]
        assert looks[-1] == "none is left"


@pytest.mark.slow  # starts its own cluster, as the test before it
def test_all_workers_may_die_at_once(mortal, kill_workers):
    def kill(done, total):
        if done == 1:
            kill_workers()

    found = map_blocks(square, range(9), executor=mortal, progress=kill)
    assert list(found) == [number**2 for number in range(9)]


def test_block_that_ends_workers_raises():
    """On a separate cluster, because Dask does not restart a process that dies while starting."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        pytest.raises(RuntimeError, match=r"block 0 has ended 1 workers.*Block: 'bad'"),
    ):
        list(map_blocks(die, ["bad"], executor=client))


@pytest.mark.parametrize("place", ["threads", "client"], indirect=True)
def test_leaving_the_loop_stops_running_blocks(place, tmp_path):
    def blocks():
        yield from range(9)

    def stop_when_begun(done, total):
        raise AssertionError("no block ends")

    def interrupt(done, total):
        if len(list(tmp_path.glob("*.begun"))) >= 2:
            raise KeyboardInterrupt

    with stoppable(interrupt), pytest.raises(KeyboardInterrupt):
        list(map_blocks(partial(until_told, tmp_path), blocks(), progress=stop_when_begun, **place))
    end = time.monotonic() + 300
    while len(list(tmp_path.glob("*.stopped"))) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    begun, stopped = (sorted(p.stem for p in tmp_path.glob(f"*.{k}")) for k in ("begun", "stopped"))
    assert begun == stopped
    assert len(begun) == 2
    assert not list(tmp_path.glob("*.ended"))


def test_closing_before_the_first_result_runs_nothing():
    results = map_blocks(lambda _: pytest.fail("was run"), range(3), n_jobs=2)
    results.close()
    assert stop_check() is None
