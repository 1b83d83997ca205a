"""Where the tests of torch code run: on the processor, and on a GPU where there is one."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture(params=["cpu", *(["cuda"] if torch.cuda.is_available() else [])])
def device(request):
    return request.param


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Tests run side by side: threads of torch's own would only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
