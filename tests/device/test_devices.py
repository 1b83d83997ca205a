"""Names of devices, what is missing, and what the room needs to be imported."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch

from textkin import WordMover
from textkin.device import DEVICE, torch_device
from textkin.device._bounds import refined
from textkin.device._corpus import DeviceCorpus
from textkin.device._rows import HostRows
from textkin.device._torch import full_precision, told_if_out_of_memory

TABLE, BAGS = np.eye(3, dtype=np.float32), np.array([[1, 0, 1], [0, 2, 1]])


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:x", "cpu:0", "CUDA", ""])
def test_a_name_that_is_none(name):
    with pytest.raises(ValueError, match="device must be None, 'cpu', 'cuda' or one of several"):
        torch_device(name)
    with pytest.raises(ValueError, match="device must be None, 'cpu', 'cuda' or one of several"):
        WordMover(TABLE, device=name).fit(BAGS).search(BAGS)


def test_a_device_that_is_no_name():
    with pytest.raises(TypeError, match="device must be None"):
        WordMover(TABLE, device=torch.device("cpu")).fit(BAGS).search(BAGS)
    with pytest.raises(TypeError, match="device must be None"):
        DEVICE.check("device", 0)


def test_a_device_that_is_not_there():
    with pytest.raises(RuntimeError, match=r"sees \d+ CUDA devices here. Pass device='cpu'"):
        torch_device("cuda:99")
    mover = WordMover(TABLE, device="cuda:99").fit(BAGS)
    for ask in (lambda: mover.search(BAGS), lambda: mover.rwmd(BAGS), lambda: mover.wcd(BAGS)):
        with pytest.raises(RuntimeError, match="cuda:99"):
            ask()


@pytest.mark.parametrize("memory", [0, "much", -1])
def test_memory_that_is_none(memory):
    with pytest.raises(ValueError, match="memory must be"):
        WordMover(TABLE, device="cpu", device_memory=memory).fit(BAGS).search(BAGS)


def test_too_little_memory_is_told():
    with (
        pytest.raises(MemoryError, match=r"has too little memory.*smaller memory=.*torch says: 7"),
        told_if_out_of_memory("cpu"),
    ):
        raise torch.OutOfMemoryError("7")


@pytest.mark.parametrize(("name", "made"), [("rwmd", "relaxed"), ("wcd", "centroid")])
def test_too_little_memory_for_all_pairs(monkeypatch, name, made):
    """Neither has `memory` or `device_memory`: fewer pairs is what helps."""

    def full(*given):
        raise torch.OutOfMemoryError("7")

    monkeypatch.setattr(f"textkin.transport._device.{made}_matrix", full)
    with pytest.raises(MemoryError, match="Pass fewer documents at a time, or device=None"):
        getattr(WordMover(TABLE, device="cpu"), name)(BAGS)


def laid_out(device):
    """Return costs in units and close bounds of some documents of a few words."""
    draw = np.random.default_rng(1)
    table = draw.normal(size=(50, 200)).astype(np.float32)
    words = np.argsort(draw.random((20, 50)), 1)[:, :5].astype(np.int32)
    masses = draw.dirichlet(np.ones(5), 20).astype(np.float32)
    rows = HostRows(np.arange(0, 101, 5), words.ravel(), masses.ravel())
    corpus = DeviceCorpus(table, "euclidean", rows, device=device, memory=1 << 20)
    asked = corpus.lay_out(rows, next(corpus.batches(rows)))
    pairs = torch.zeros(20, dtype=torch.int64, device=device), torch.arange(20, device=device)
    return asked.costs, refined(next(corpus.parts())[1], asked, *pairs)


def test_what_torch_is_told_to_do_elsewhere_changes_no_bound(device):
    expected = laid_out(device)
    with torch.autocast(torch.device(device).type, dtype=torch.bfloat16):
        inside = laid_out(device)
    torch.set_default_dtype(torch.float16)
    try:
        halved = laid_out(device)
    finally:
        torch.set_default_dtype(torch.float32)
    for found in (inside, halved):
        for a, b in zip(found, expected, strict=True):
            assert a.dtype == b.dtype
            torch.testing.assert_close(a, b, rtol=0, atol=0)


def in_a_process_without(*modules, then):
    program = f"""
    import sys

    class Refuses:
        def find_spec(self, name, path=None, target=None):
            if name in {modules!r}:
                raise ModuleNotFoundError(f"no {{name}} here", name=name)

    sys.meta_path.insert(0, Refuses())
    """
    program = textwrap.dedent(program) + textwrap.dedent(then)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )


def test_torch_and_numpy_are_enough():
    then = """
    import numpy as np
    from textkin.device import torch_device
    from textkin.device._corpus import DeviceCorpus
    from textkin.device._matrices import relaxed_matrix
    from textkin.device._rows import HostRows
    from textkin.device import _mixture, _plsa, _pooling, _ranking, _search, _wtmf

    rows = HostRows(np.array([0, 1, 2]), np.array([0, 1], np.int32), np.ones(2, np.float32))
    table = np.array([[1, 0], [1, 1]], np.float32)
    corpus = DeviceCorpus(table, "euclidean", rows, device="cpu", memory=1 << 20)
    print(relaxed_matrix(corpus, rows, "both").tolist())
    """
    done = in_a_process_without("textkin._core", "scipy", "sklearn", then=then)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[[0.0, 1.0], [1.0, 0.0]]"


def test_without_torch_it_is_said_what_to_install():
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
    done = in_a_process_without("torch", then=then)
    assert done.returncode == 0, done.stderr
    assert "needs torch: pip install 'textkin[torch]'" in done.stdout
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


def test_precision_that_was_set_for_each_backend():
    """In a process of its own: torch does not forget which of its two ways was used."""
    done = in_a_process_without(then=PRECISIONS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[0, 1, 2] ['tf32', 'tf32']"


def test_full_precision_lasts_until_the_last_that_needs_it():
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
