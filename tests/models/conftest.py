"""Fixtures for tests of models on a device."""

import pytest


@pytest.fixture(scope="session")
def one_torch_thread():
    """Limit torch to one thread: tests run in parallel, and more threads would only compete."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=["cpu", "cuda"])
def device(request, one_torch_thread):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    return request.param
