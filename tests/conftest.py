"""What all tests share: hypothesis with a fixed seed in CI, and where the shared data lie."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Find the folder of real data sets, which a user's checkout does not have."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the shared data sets are not beside this checkout")
    return SHARED_DATA
