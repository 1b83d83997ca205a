"""Fixtures of torch tests: the CPU and, if available, a GPU."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture(params=["cpu", *(["cuda"] if torch.cuda.is_available() else [])])
def device(request):
    return request.param


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Limit torch to one thread, because parallel tests would wait for each other's threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
