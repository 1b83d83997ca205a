"""Names of devices, what is missing, and what the room needs to be imported."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch

from textkin import WordMover
from textkin.device import DEVICE, torch_device
from textkin.device._torch import told_if_out_of_memory

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


def in_a_process_without(*modules, then):
    program = f"""
    import sys

    class Refuses:
        def find_spec(self, name, path=None, target=None):
            if name in {modules!r}:
                raise ImportError(f"no {{name}} here")

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
