"""Fixtures and settings of all tests: hypothesis profiles, signals, and shared data."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# Idle threads of BLAS and OpenMP spin before they sleep, and take the cores from other processes.
# POT imports torch if it is installed, but gets arrays of NumPy only. Worker processes inherit
# these variables before they load the libraries.
for name, value in {
    "OPENBLAS_THREAD_TIMEOUT": "4",  # 2^4 cycles
    "OMP_WAIT_POLICY": "PASSIVE",
    "POT_BACKEND_DISABLE_PYTORCH": "1",
}.items():
    os.environ.setdefault(name, value)

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")
settings.load_profile(PROFILE)

# Only the profile "ci" runs the number of examples that a test states. Each run of the default
# profile draws other examples, so that many short runs cover as much.
SHARE = 1 if PROFILE == "ci" else 8
FEWEST = 5

# A shell starts background jobs with SIGINT ignored, which processes inherit. Tests of Ctrl-C need
# the default handler, in this process and in child processes.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Reduce the number of examples of each hypothesis test, unless the profile is "ci"."""
    tests = {
        getattr(item.function, "__func__", item.function)
        for item in items
        if isinstance(item, pytest.Function)
    }
    for test in tests:
        stated = getattr(test, "_hypothesis_internal_use_settings", None)
        if stated is not None:
            test._hypothesis_internal_use_settings = settings(
                stated, max_examples=share_of(stated.max_examples)
            )


def share_of(examples: int) -> int:
    """Return the number of examples to run, from the number that a test states."""
    return min(examples, max(FEWEST, examples // SHARE))


SHARED_DATA = Path(__file__).parents[1] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Find the folder of real data sets, which a user's checkout does not have."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the shared data sets are not next to this checkout")
    return SHARED_DATA
