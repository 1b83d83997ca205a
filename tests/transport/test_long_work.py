"""Long calls report progress and can be stopped, and everything stays usable."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from support import interrupted
from textkin.run import stoppable
from textkin.transport import WordMover, optimal_transport
from textkin.transport._solver import reference_costs


class StopRequest(Exception):
    pass


@pytest.fixture
def work(rng):
    """An all-pairs call that takes seconds: documents of 120 words each."""
    vectors = rng.normal(size=(2000, 50)).astype(np.float32)
    bags = np.zeros((120, 2000))
    for document in bags:
        document[rng.choice(2000, 120, replace=False)] = 1
    return vectors, bags


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_counts_up_to_the_end(work, n_jobs):
    vectors, bags = work
    seen = []
    mover = WordMover(vectors, n_jobs=n_jobs)
    mover.pairwise(bags[:30], progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (900, 900)
    assert seen == sorted(seen)
    assert {total for _, total in seen} == {900}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_exception_in_progress_stops_the_call(work, n_jobs):
    vectors, bags = work
    mover = WordMover(vectors, n_jobs=n_jobs)
    seen = []

    def stop(done, total):
        seen.append(done)
        raise StopRequest("seen enough")

    with pytest.raises(StopRequest, match="seen enough"):
        mover.pairwise(bags, progress=stop)
    assert seen[0] < bags.shape[0] ** 2
    assert mover.distance(bags[0], bags[0]) == 0  # the mover is still usable


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_a_batch(work, n_jobs):
    vectors, bags = work
    mover = WordMover(vectors, n_jobs=n_jobs)
    assert interrupted(lambda: mover.pairwise(bags))
    assert mover.distance(bags[0], bags[0]) == 0


def test_ctrl_c_stops_a_single_large_solve(rng):
    size = 3000
    costs = rng.random((size, size))
    assert interrupted(lambda: optimal_transport(np.ones(size), np.ones(size), costs))


def test_stop_check_ends_an_explanation(rng):
    vectors = rng.normal(size=(3000, 20)).astype(np.float32)
    bags = np.zeros((2, 3000))
    bags[0, :1500] = bags[1, 1500:] = 1
    mover = WordMover(vectors)
    seen = []

    def stop(done, total):
        seen.append((done, total))
        raise StopRequest("seen enough")

    with stoppable(stop), pytest.raises(StopRequest):
        mover.explain(bags[0], bags[1])
    assert seen == [(0, 1)]  # the check runs while the solver works
    with stoppable(stop), pytest.raises(StopRequest):
        reference_costs(vectors[:2], vectors[:2], "euclidean")
    assert mover.distance(bags[0], bags[0]) == 0


def test_other_threads_run_while_the_core_works(work):
    """The core releases the interpreter lock: a Python thread advances during one long call."""
    vectors, bags = work
    ticks, finished = [], threading.Event()

    def tick():
        while not finished.wait(0.001):
            ticks.append(None)

    thread = threading.Thread(target=tick)
    thread.start()
    before = len(ticks)
    WordMover(vectors).pairwise(bags[:60])
    during = len(ticks) - before
    finished.set()
    thread.join()
    assert during > 5


def test_calls_work_after_a_fork(work):
    """Threads live only as long as a call, so a forked process starts without broken threads."""
    code = (
        "import os, numpy as np\n"
        "from textkin.transport import WordMover\n"
        "m = WordMover(np.eye(5, dtype=np.float32), n_jobs=2)\n"
        "bags = np.eye(5)\n"
        "first = m.pairwise(bags)\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    os._exit(0 if np.array_equal(m.pairwise(bags), first) else 1)\n"
        "_, status = os.waitpid(pid, 0)\n"
        "assert status == 0, status\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
