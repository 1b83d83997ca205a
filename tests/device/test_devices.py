"""Tests of device names, missing devices and packages, and memory errors."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch

from textkin import WordMover
from textkin._base import DEVICE
from textkin.device import torch_device
from textkin.device._torch import full_precision, memory_errors_on
from textkin.transport.gpu._bounds import refined
from textkin.transport.gpu._corpus import DeviceCorpus
from textkin.transport.gpu._rows import HostRows

TABLE, BAGS = np.eye(3, dtype=np.float32), np.array([[1, 0, 1], [0, 2, 1]])


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "cpu:0", "CUDA", ""])
def test_unknown_device_name_raises(name):
    with pytest.raises(ValueError, match="device must be None, 'cpu', 'cuda' or one of several"):
        torch_device(name)
    with pytest.raises(ValueError, match="device must be None, 'cpu', 'cuda' or one of several"):
        WordMover(TABLE, device=name).fit(BAGS).search(BAGS)


def test_device_that_is_not_a_string_raises():
    with pytest.raises(TypeError, match="device must be None"):
        WordMover(TABLE, device=torch.device("cpu")).fit(BAGS).search(BAGS)
    with pytest.raises(TypeError, match="device must be None"):
        DEVICE.check("device", 0)


def test_missing_cuda_device_raises():
    with pytest.raises(RuntimeError, match=r"finds \d+ CUDA devices. Pass device='cpu'"):
        torch_device("cuda:99")
    mover = WordMover(TABLE, device="cuda:99").fit(BAGS)
    for ask in (
        lambda: mover.search(BAGS),
        lambda: mover.pairwise(BAGS, metric="rwmd"),
        lambda: mover.pairwise(BAGS, metric="wcd"),
    ):
        with pytest.raises(RuntimeError, match="cuda:99"):
            ask()


@pytest.mark.parametrize("memory", [0, "much", -1])
def test_invalid_device_memory_raises(memory):
    with pytest.raises(ValueError, match="memory must be"):
        WordMover(TABLE, device="cpu", device_memory=memory).fit(BAGS).search(BAGS)


def test_torch_out_of_memory_raises_memory_error():
    with (
        pytest.raises(
            MemoryError, match=r"has too little memory.*smaller memory=.*Message of torch: 7"
        ),
        memory_errors_on("cpu"),
    ):
        raise torch.OutOfMemoryError("7")


@pytest.mark.parametrize(("name", "made"), [("rwmd", "relaxed"), ("wcd", "centroid")])
def test_out_of_memory_in_all_pairs_suggests_fewer_pairs(monkeypatch, name, made):
    """All pairs have neither `memory` nor `device_memory`, so the error suggests fewer pairs."""

    def raise_out_of_memory(*given):
        raise torch.OutOfMemoryError("7")

    monkeypatch.setattr(f"textkin.transport.gpu._adapter.{made}_matrix", raise_out_of_memory)
    with pytest.raises(MemoryError, match="Pass fewer documents at a time, or device=None"):
        WordMover(TABLE, device="cpu").pairwise(BAGS, metric=name)


def bounds_on_device(device):
    """Return the unit costs and tight bounds of some documents of a few words."""
    draw = np.random.default_rng(1)
    table = draw.normal(size=(50, 200)).astype(np.float32)
    words = np.argsort(draw.random((20, 50)), 1)[:, :5].astype(np.int32)
    masses = draw.dirichlet(np.ones(5), 20).astype(np.float32)
    rows = HostRows(np.arange(0, 101, 5), words.ravel(), masses.ravel())
    corpus = DeviceCorpus(table, "euclidean", rows, device=device, memory=1 << 20)
    asked = corpus.lay_out(rows, next(corpus.batches(rows)))
    pairs = torch.zeros(20, dtype=torch.int64, device=device), torch.arange(20, device=device)
    return asked.costs, refined(next(corpus.parts())[1], asked, *pairs)


def test_torch_autocast_and_default_dtype_change_no_bound(device):
    expected = bounds_on_device(device)
    with torch.autocast(torch.device(device).type, dtype=torch.bfloat16):
        inside = bounds_on_device(device)
    torch.set_default_dtype(torch.float16)
    try:
        halved = bounds_on_device(device)
    finally:
        torch.set_default_dtype(torch.float32)
    for found in (inside, halved):
        for a, b in zip(found, expected, strict=True):
            assert a.dtype == b.dtype
            torch.testing.assert_close(a, b, rtol=0, atol=0)


def run_without_packages(*modules, then):
    program = f"""
    import sys

    class Blocker:
        def find_spec(self, name, path=None, target=None):
            if name in {modules!r}:
                raise ModuleNotFoundError(f"no {{name}} here", name=name)

    sys.meta_path.insert(0, Blocker())
    """
    program = textwrap.dedent(program) + textwrap.dedent(then)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )


@pytest.mark.slow  # starts processes
def test_device_package_needs_only_torch_and_numpy():
    then = """
    import numpy as np
    from textkin.device import torch_device
    from textkin.transport.gpu._corpus import DeviceCorpus
    from textkin.transport.gpu._matrices import relaxed_matrix
    from textkin.transport.gpu._rows import HostRows
    from textkin.models.mixture import _em_torch
    from textkin.models.pooling import _pool_torch
    from textkin.transport.gpu import _ranking, _search

    rows = HostRows(np.array([0, 1, 2]), np.array([0, 1], np.int32), np.ones(2, np.float32))
    table = np.array([[1, 0], [1, 1]], np.float32)
    corpus = DeviceCorpus(table, "euclidean", rows, device="cpu", memory=1 << 20)
    print(relaxed_matrix(corpus, rows, "both").tolist())
    """
    done = run_without_packages("textkin._core", "scipy", "sklearn", then=then)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[[0.0, 1.0], [1.0, 0.0]]"


def test_missing_torch_raises_error_with_install_command():
    then = """
    import numpy as np
    from textkin import WordMover

    mover = WordMover(np.eye(2), device="cpu").fit(np.eye(2))
    try:
        mover.search(np.eye(2))
    except ImportError as error:
        print(error)
    print(WordMover(np.eye(2)).fit(np.eye(2)).search(np.eye(2)[:1], 1).indices)
    """
    done = run_without_packages("torch", then=then)
    assert done.returncode == 0, done.stderr
    assert "requires torch: pip install 'textkin[torch]'" in done.stdout
    assert "[[0]]" in done.stdout


PRECISIONS = """
import numpy as np
import torch
from textkin import WordMover

backends = torch.backends.cuda.matmul, torch.backends.mkldnn.matmul
for backend in backends:
    backend.fp32_precision = "tf32"
found = WordMover(np.eye(3), device="cpu").fit(np.eye(3)).search(np.eye(3), 1)
print(found.indices.ravel().tolist(), [backend.fp32_precision for backend in backends])
"""


@pytest.mark.slow  # starts processes that import torch
def test_precision_set_per_backend_is_restored():
    """Run in a new process, because torch remembers which of its two settings was used."""
    done = run_without_packages(then=PRECISIONS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[0, 1, 2] ['tf32', 'tf32']"


def test_full_precision_lasts_until_its_last_user_exits():
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        first, second = full_precision(), full_precision()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert torch.backends.mkldnn.matmul.fp32_precision == "ieee"
        second.__exit__(None, None, None)
        assert torch.backends.mkldnn.matmul.fp32_precision == "bf16"
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)
